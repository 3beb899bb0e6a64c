"""Pages and the read API over real results, on SQLite and on PostgreSQL."""

from __future__ import annotations

import gzip
import json
import random
import re
import string
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from sqlalchemy import select
from starlette.requests import Request

from hippodrome.engine import record as records
from hippodrome.engine.verify import verify
from hippodrome.games.registry import get_game
from hippodrome.ladder.models import TABLES
from hippodrome.ladder.pages import LadderPage, LadderRow
from hippodrome.ladder.web import pages

API, RESULT = "/api/v1", TABLES["result"]


def links(html: str) -> set[str]:
    """The addresses of this site that a page names, fragments cut off."""
    found = re.findall(r'(?:href|src|data-live)="([/?][^"]*)"', html)
    return {link.replace("&amp;", "&").partition("#")[0] for link in found}


def text_of(html: str) -> str:
    """The text of a page, white space collapsed."""
    return " ".join(re.sub(r"<[^>]+>", " ", html).replace("&amp;", "&").split())


async def get(client: httpx.AsyncClient, path: str, **headers: str) -> httpx.Response:
    answer = await client.get(path, headers=headers)
    assert answer.status_code == 200, (path, answer.text[:500])
    return answer


async def fetch(client: httpx.AsyncClient, path: str) -> Any:
    return (await get(client, API + path)).json()


async def test_every_page_has_the_parts_that_a_reader_needs(town: Any, client: httpx.AsyncClient) -> None:
    for path in town.pages():
        html = (await get(client, path)).text
        assert html.count("<h1>") == 1, path
        assert all(part in html for part in ('<html lang="en">', 'id="main"', 'class="skip"')), path
        assert all(table.count("<caption") == 1 for table in html.split("<table")[1:]), path
        assert "style=" not in html.partition("<main")[0], path


async def test_every_link_of_every_page_leads_somewhere(town: Any, client: httpx.AsyncClient) -> None:
    """A few of each kind: ids and numbers say nothing about the kind."""
    seen: Counter[str] = Counter()
    for path in town.pages():
        for link in sorted(links((await get(client, path)).text)):
            whole = path.partition("?")[0] + link if link.startswith("?") else link
            kind = re.sub(r"m[0-9a-z]{10}|\d+", "*", whole)
            seen[kind] += 1
            if seen[kind] <= 4 and not whole.endswith("/events"):
                await get(client, whole)
    assert len(seen) > 40


async def test_the_json_twin_of_a_page_is_named_in_it(town: Any, client: httpx.AsyncClient) -> None:
    for path in town.pages():
        html = (await get(client, path)).text
        twin = re.search(r'<link rel="alternate" type="application/json" href="([^"]+)"', html)
        assert twin or path == "/api", path
        if twin:
            (await get(client, twin[1].replace("&amp;", "&"))).json()


async def test_texts_of_authors_are_never_markup(town: Any, client: httpx.AsyncClient) -> None:
    html = (await get(client, "/bots/quokka")).text
    assert "The bot quokka &amp; &lt;i&gt;friends&lt;/i&gt;" in html
    assert "plays &lt;b&gt;better&lt;/b&gt;" in html
    assert "<b>better" not in html


async def test_the_ladder_ranks_and_bands(town: Any, client: httpx.AsyncClient) -> None:
    ladder = await fetch(client, f"/ladders/{town.SETTLED}")
    ranked = [row for row in ladder["rows"] if row["rank"]]
    assert [row["rank"] for row in ranked] == sorted(row["rank"] for row in ranked)
    assert len(ranked) == 3
    assert all(row["interval"] > 0 for row in ranked)
    html = (await get(client, f"/ladders/{town.SETTLED}")).text
    text = text_of(html)
    for row in ranked:
        assert f"{row['bot_version'].split('/')[1]} v" in text
        assert f"{round(row['rating'])} ± {round(row['interval'])}" in text
    assert html.count('class="whisker"') == 3
    assert "cannot be told apart" in text
    assert "95 % interval" in text


async def test_provisional_rows_stand_below_without_a_rank(town: Any, client: httpx.AsyncClient) -> None:
    ladder = await fetch(client, "/ladders/antiquity-2p")
    assert ladder["matches"] > 0
    assert all(row["provisional"] and row["rank"] is None for row in ladder["rows"])
    assert "Provisional: not ranked yet" in (await get(client, "/ladders/antiquity-2p")).text


async def test_the_bot_shows_versions_opponents_and_matches(town: Any, client: httpx.AsyncClient) -> None:
    bot = await fetch(client, "/bots/quokka")
    assert [version["name"] for version in bot["versions"]] == ["bots/quokka/versions/1", "bots/quokka/versions/2"]
    assert {rating["ladder"] for rating in bot["versions"][1]["ratings"]} == {"antiquity-2p", "antiquity-3p", town.SETTLED}
    heads = (await fetch(client, "/bots/quokka/head-to-head"))["head_to_head"]
    assert all(head["wins"] + head["ties"] + head["losses"] == head["meetings"] for head in heads)
    text = text_of((await get(client, "/bots/quokka")).text)
    assert "hippodrome bot run quokka.py --bot quokka" in text
    assert "hippodrome play antiquity greedy random" in text_of((await get(client, "/bots/greedy")).text)


async def test_the_matches_of_two_bots_are_those_of_both(town: Any, client: httpx.AsyncClient) -> None:
    both, token = [], ""
    while True:
        page = await fetch(client, f"/matches?bot=quokka&opponent=greedy&page_size=7&page_token={token}")
        both += page["matches"]
        token = page["next_page_token"]
        if not token:
            break
    everything = (await fetch(client, "/matches?page_size=1000"))["matches"]
    wanted = [
        m["name"] for m in everything if {"quokka", "greedy"} <= {seat["bot_version"].split("/")[1] for seat in m["seats"]}
    ]
    assert [match["name"] for match in both] == wanted
    assert len(wanted) > 40


async def test_lists_come_in_pages_that_miss_and_double_nothing(town: Any, client: httpx.AsyncClient) -> None:
    for path, field in (("/bots", "bots"), ("/tournaments", "tournaments"), ("/ladders", "ladders"), ("/matches", "matches")):
        whole = [item["name"] for item in (await fetch(client, f"{path}?page_size=1000"))[field]]
        size = 50 if field == "matches" else 2
        got, token = [], ""
        for _ in range(len(whole) + 1):
            page = await fetch(client, f"{path}?page_size={size}&page_token={token}")
            got += [item["name"] for item in page[field]]
            token = page["next_page_token"]
            if not token:
                break
        assert got == whole, path
        assert len(set(got)) == len(got) > size, path


async def test_a_finished_tournament_shows_standings_and_crosstable(town: Any, client: httpx.AsyncClient) -> None:
    spring = await fetch(client, "/tournaments/spring")
    assert (spring["state"], spring["matches_done"], spring["matches_planned"]) == ("finished", 20, 20)
    rows = {row["bot_version"]: row for row in spring["standings"]}
    assert rows["bots/wombat/versions/1"]["faults"] == 8
    assert rows["bots/wombat/versions/1"]["points"] == 0
    assert sum(row["points"] for row in rows.values()) == 20
    text = text_of((await get(client, "/tournaments/spring")).text)
    assert "20 of 20 matches done" in text
    assert "http-equiv" not in text
    for row in spring["standings"]:
        assert f"{row['bot_version'].split('/')[1]} v" in text
    assert text.count("illegal move") >= 16, "in the faults and in the schedule"


async def test_a_running_tournament_refreshes_itself(town: Any, client: httpx.AsyncClient) -> None:
    html = (await get(client, "/tournaments/summer")).text
    assert '<noscript><meta http-equiv="refresh" content="5"></noscript>' in html
    assert "live.js" in html
    assert "1 of 20 matches done" in text_of(html)
    assert "1 parked" in text_of(html)
    assert "live.js" not in (await get(client, "/tournaments/spring")).text


async def test_a_cancelled_tournament_says_how_to_go_on(town: Any, client: httpx.AsyncClient) -> None:
    assert "hippodrome tournament resume stopped" in (await get(client, "/tournaments/stopped")).text


async def test_the_record_is_the_one_that_verifies(town: Any, client: httpx.AsyncClient) -> None:
    for match in (town.done[0], town.done[-1], town.faulty[0]):
        answer = await get(client, f"/matches/{match}/record")
        assert answer.headers["content-disposition"] == f'attachment; filename="{match}.jsonl"'
        assert answer.headers["content-type"].startswith("application/jsonl")
        record = records.loads(answer.text)
        assert verify(record, get_game("antiquity")).record == record
        assert answer.text == (await get(client, f"{API}/matches/{match}/record")).text


async def test_a_match_keeps_its_deal_back_while_a_match_of_its_block_is_open(town: Any, client: httpx.AsyncClient) -> None:
    match = town.kept_back
    with town.database.read() as session:
        [stored] = session.execute(select(RESULT.c.record).where(RESULT.c.match_id == match)).scalars()
    record = records.loads(gzip.decompress(stored).decode())
    html = (await get(client, f"/matches/{match}")).text
    text, answer = text_of(html), await fetch(client, f"/matches/{match}")
    assert "published with its block, which has one seed: 1 match of its block is still to be played" in text
    assert f"{len(record.moves)} moves" in text
    assert (answer["state"], answer["ending"], answer["block_open"]) == ("done", "rules", 1)
    assert answer["places"] == record.closing["places"]
    assert record.closing["seed"] not in html + str(answer)
    for path in ("/record", "/board.svg"):
        assert (await client.get(f"/matches/{match}{path}")).status_code == 404
    for path in ("/record", "/board", "/moves"):
        refused = await client.get(f"{API}/matches/{match}{path}")
        assert refused.status_code == 404
        assert "1 match of its block is still to be played" in refused.json()["detail"]


async def test_a_match_shows_every_move_with_its_times(town: Any, client: httpx.AsyncClient) -> None:
    match = town.done[0]
    record = records.loads((await get(client, f"/matches/{match}/record")).text)
    moves = await fetch(client, f"/matches/{match}/moves")
    shown = [(line["seat"], line["move"], line["charged"], line["bank"]) for line in moves["moves"] if line["move"]]
    assert shown == [(line["seat"], line["move"], line.get("charged"), line.get("bank")) for line in record.moves]
    assert moves["seed"] == record.closing["seed"]
    assert [line["chance"] for line in moves["chance"]] == [line["chance"] for line in record.body if "chance" in line]
    text = text_of((await get(client, f"/matches/{match}")).text)
    assert all(line["move"] in text for line in record.moves)
    assert f"hippodrome match verify {match}.jsonl" in text


async def test_the_board_of_each_ply_is_that_position(town: Any, client: httpx.AsyncClient) -> None:
    match = town.done[0]
    record = records.loads((await get(client, f"/matches/{match}/record")).text)
    plies = len(record.moves)
    pictures = []
    for ply in (0, 1, plies // 2, plies):
        board = await fetch(client, f"/matches/{match}/board?ply={ply}")
        assert (board["ply"], board["plies"]) == (ply, plies)
        svg = (await get(client, board["svg"])).text
        assert svg == get_game("antiquity").svg(board["view"])
        assert 'role="img"' in svg
        assert svg in (await get(client, f"/matches/{match}?ply={ply}")).text
        pictures.append(svg)
    assert len(set(pictures)) == 4
    assert await fetch(client, f"/matches/{match}/board") == board, "the last one without ?ply"


async def test_the_steps_lead_from_the_first_position_to_the_last(town: Any, client: httpx.AsyncClient) -> None:
    match, at = town.faulty[0], f"/matches/{town.faulty[0]}?ply=0"
    plies = (await fetch(client, f"/matches/{match}/board"))["plies"]
    for ply in range(plies + 1):
        html = (await get(client, at)).text
        assert f"Board after move {ply} of {plies}" in html
        following = re.search(r'href="(\?ply=\d+)#board" rel="next"', html)
        assert bool(following) == (ply < plies)
        at = f"/matches/{match}{following[1]}" if following else at


async def test_a_fault_is_explained_where_it_happened(town: Any, client: httpx.AsyncClient) -> None:
    match = await fetch(client, f"/matches/{town.faulty[0]}")
    assert match["ending"] == "illegal_move"
    assert match["faults"][0]["kind"] == "illegal_move"
    html = (await get(client, f"/matches/{town.faulty[0]}")).text
    assert "<b>and run" not in html
    assert "malformed" in text_of(html)


async def test_a_running_match_keeps_its_seed_and_moves(town: Any, client: httpx.AsyncClient) -> None:
    match = await fetch(client, f"/matches/{town.running_match}")
    assert (match["state"], match["moves"]) == ("running", 17)
    assert len(match["commitment"]) == 64
    html = (await get(client, f"/matches/{town.running_match}")).text
    assert "17 moves so far" in text_of(html)
    assert "<svg" not in html
    assert "Seed" not in html
    for path in ("moves", "board", "record"):
        answer = await client.get(f"{API}/matches/{town.running_match}/{path}")
        assert answer.status_code == 404
        assert "when it is done" in answer.json()["detail"]


async def test_a_match_says_which_bot_it_waits_for(town: Any, client: httpx.AsyncClient) -> None:
    match = await fetch(client, f"/matches/{town.pending_match}")
    assert list(match["waiting"]) == [match["seats"][0]["bot_version"]]
    text = text_of((await get(client, f"/matches/{town.pending_match}")).text)
    bot, number = match["seats"][0]["bot_version"].split("/")[1::2]
    assert f"{bot} v{number} is not online" in text


async def test_a_parked_match_blames_no_bot(town: Any, client: httpx.AsyncClient) -> None:
    text = text_of((await get(client, f"/matches/{town.parked_match}")).text)
    assert "Parked after 5 attempts" in text
    assert "No bot is blamed" in text


async def test_the_game_shows_options_notation_and_rules(town: Any, client: httpx.AsyncClient) -> None:
    game = await fetch(client, "/games/antiquity")
    assert {"power", "power_variant", "unused"} == {option["name"] for option in game["options"]}
    assert len(game["rules"]) > 60
    assert game["notation"]
    assert game["first_moves"]
    text = text_of((await get(client, "/games/antiquity")).text)
    assert all(rule["function"] in text for rule in game["rules"])


async def test_times_are_utc(town: Any, client: httpx.AsyncClient) -> None:
    for tournament in (await fetch(client, "/tournaments"))["tournaments"]:
        offset = datetime.fromisoformat(tournament["create_time"]).utcoffset()
        assert offset is not None
        assert not offset


async def test_an_unchanged_answer_costs_no_bytes(town: Any, client: httpx.AsyncClient) -> None:
    for path in [*town.pages(), *(API + path for path in town.answers())]:
        first = await get(client, path)
        again = await client.get(path, headers={"If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b""), path
        assert (await client.get(path, headers={"If-None-Match": '"else"'})).status_code == 200


async def test_head_answers_as_get_without_a_body(town: Any, client: httpx.AsyncClient) -> None:
    for path in ("/", "/ladders/antiquity-2p", f"{API}/bots", "/bots/nope"):
        got, head = await client.get(path), await client.head(path)
        assert (head.status_code, head.content) == (got.status_code, b"")
        assert head.headers["content-type"] == got.headers["content-type"]


@pytest.mark.parametrize("path", ["/", "/bots/nope", "/api/v1/bots", "/api/v1/nope", "/static/style.css"])
async def test_every_answer_keeps_to_this_site(client: httpx.AsyncClient, path: str) -> None:
    headers = (await client.get(path)).headers
    assert headers["content-security-policy"].startswith("default-src 'self'")
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"


def test_a_ladder_of_a_hundred_bots_is_small() -> None:
    """At most 30 KB compressed, with names and numbers that do not repeat."""
    luck = random.Random(5)
    names = ["".join(luck.choices(string.ascii_lowercase, k=luck.randrange(4, 20))) for _ in range(100)]
    ratings = sorted((luck.gauss(1500, 200) for _ in names), reverse=True)
    rows = []
    for rank, (name, rating) in enumerate(zip(names, ratings, strict=True), 1):
        version, account = f"bots/{name}/versions/{luck.randrange(1, 40)}", f"accounts/{name[::-1]}"
        counts = luck.randrange(9999), luck.randrange(5000), luck.random(), luck.randrange(99)
        measured = rating, luck.uniform(20, 90), *counts, False, False
        rows.append(LadderRow(rank, f"bots/{name}", version, account, *measured, rank, rank))
    found = LadderPage("antiquity-2p", tuple(rows), 123456, 0, datetime.now(UTC))
    scope = {"type": "http", "path": "/", "headers": [], "server": ("test", 80), "scheme": "http", "query_string": b""}
    request = Request(scope)
    html = bytes(pages.ladder_page(request, found).body)
    assert html.count(b'class="whisker"') == 100
    assert len(gzip.compress(html, 6)) < 30_000


async def test_static_files_are_kept_by_browsers_for_as_long_as_they_are_the_same(client: httpx.AsyncClient) -> None:
    html = (await get(client, "/tournaments/summer")).text
    files = sorted(link for link in links(html) if link.startswith("/static/"))
    assert [file.partition("?")[0] for file in files] == ["/static/icon.svg", "/static/live.js", "/static/style.css"]
    for file in files:
        assert "immutable" in (await get(client, file)).headers["cache-control"]
    assert (await get(client, "/static/style.css")).headers["cache-control"] == "no-cache"


async def test_json_of_the_api_is_what_openapi_says(town: Any, client: httpx.AsyncClient) -> None:
    """Each answer has exactly the fields of its schema, down to the last list."""
    contract = (await get(client, "/openapi.json")).json()
    for path in town.answers():
        if path.endswith("/record"):
            continue
        operation = next(item for name, item in contract["paths"].items() if _is_path(name, path))["get"]
        schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
        _check(await fetch(client, path), schema, contract, path)


def _is_path(pattern: str, path: str) -> bool:
    return bool(
        re.fullmatch(API + re.sub(r"\\\{\w+\\\}", "[^/?]+", re.escape(pattern.removeprefix(API))) + r"(\?.*)?", API + path)
    )


def _check(value: Any, schema: dict[str, Any], contract: dict[str, Any], where: str) -> None:
    if "$ref" in schema:
        schema = contract["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    if schema.get("type") == "array":
        for item in value:
            _check(item, schema["items"], contract, where)
    elif "properties" in schema:
        assert set(value) == set(schema["properties"]), where
        for name, item in value.items():
            _check(item, schema["properties"][name], contract, f"{where}.{name}")


async def test_json_is_stable_text(client: httpx.AsyncClient) -> None:
    answer = await get(client, f"{API}/bots/quokka")
    assert json.loads(answer.text)["name"] == "bots/quokka"
    assert answer.headers["content-type"] == "application/json"
