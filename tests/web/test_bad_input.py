"""Bad addresses and bad values: never an error of the program, always a line that names the field and the fix."""

from __future__ import annotations

import gzip
import random
import sqlite3
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from fastapi.routing import APIRoute
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from hippodrome.ladder.db import upgrade
from hippodrome.ladder.paging import write_token
from hippodrome.ladder.settings import Settings
from hippodrome.ladder.web import api, create_app, pages

WEIRD = (
    "nope", "NOPE", "a", "a" * 5000, "..", "%2e%2e", "-1", "0", "9" * 400, "1e999", "nan", "null", "true", "quokka@1",
    "quokka;drop", "bots/quokka", "bots%2Fquokka", "accounts/ada", "' OR 1=1 --", "<script>alert(1)</script>", "{{7*7}}",
    "\x00", "a\x00b", "%00", "käfer", "馬", "\u202eevil", "🐎" * 50, "\ufffd", " ", "\t", "quokka ", "m" + "1" * 10,
    "m7qk2xw4c9h", "matches/m7qk2xw4c9h", "antiquity-9p", "antiquity-2p.power=perhaps", "antiquity-2p.", ".antiquity",
    "-2p", "=", "mi0ol", "\ud800",
)  # fmt: skip
PARAMETERS = ("ply", "page_size", "page_token", "tournament", "bot", "opponent", "nonsense")


def routes() -> list[str]:
    """Every path with its parameters in braces; streams of events apart, for they do not end."""
    paths = {route.path for router in (api.router, pages.router) for route in router.routes if isinstance(route, APIRoute)}
    return sorted(path for path in paths | {"/openapi.json"} if not path.endswith("/events"))


def well_formed(answer: httpx.Response, asked: str) -> None:
    """A page or an answer in good order, or a problem that says what to do."""
    assert answer.status_code in (200, 404, 405, 422), (asked, answer.status_code, answer.text[:300])
    if answer.status_code == 200:
        return
    if asked.startswith("/api/"):
        problem = answer.json()
        assert answer.headers["content-type"] == "application/problem+json"
        assert (problem["status"], problem["type"]) == (answer.status_code, "about:blank"), asked
        assert "fix:" in problem["detail"], asked
        assert all(item["field"] and item["problem"] and item["fix"] for item in problem["errors"]), asked
    else:
        assert answer.headers["content-type"].startswith("text/html"), asked
        assert "<h1>" in answer.text, asked
        assert "<script>alert" not in answer.text, asked


async def test_every_route_is_found_by_the_walk(client: httpx.AsyncClient) -> None:
    found = routes()
    assert len(found) >= 30
    assert {"/", "/ladders/{ladder}", "/matches/{match}/board.svg", "/api/v1/matches/{match}/moves"} <= set(found)


async def test_weird_names_are_not_found(client: httpx.AsyncClient) -> None:
    for path in routes():
        for name in WEIRD if "{" in path else ():
            asked = fill(path, name)
            well_formed(await client.get(asked), asked)


async def test_weird_values_are_refused(town: Any, client: httpx.AsyncClient) -> None:
    names = {
        "{match}": town.done[0],
        "{bot}": "quokka",
        "{ladder}": "antiquity-2p",
        "{tournament}": "spring",
        "{game}": "antiquity",
    }
    for path in routes():
        whole = path
        for part, name in names.items():
            whole = whole.replace(part, name)
        for parameter in PARAMETERS:
            for value in random.Random(path + parameter).sample(WEIRD, 5):
                asked = f"{whole}?{parameter}={quote(value, safe='', errors='replace')}"
                well_formed(await client.get(asked), asked)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
async def test_no_address_breaks_it(client: httpx.AsyncClient, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(routes()))
    asked = fill(path, data.draw(st.text(min_size=1, max_size=60)))
    query = data.draw(st.dictionaries(st.sampled_from(PARAMETERS) | st.text(max_size=10), st.text(max_size=40), max_size=4))
    answer = await client.get(asked, params=query, follow_redirects=True)
    well_formed(answer, str(answer.request.url.raw_path, "ascii"))


def fill(path: str, name: str) -> str:
    """`path` with every parameter replaced by `name`, escaped as a browser would."""
    head, brace, rest = path.partition("{")
    while brace:
        head += quote(name, safe="%", errors="replace") + rest.partition("}")[2].partition("{")[0]
        brace, rest = ("{", rest.partition("}")[2].partition("{")[2]) if "{" in rest.partition("}")[2] else ("", "")
    return head


@pytest.mark.parametrize(
    ("path", "status", "field", "words"),
    [
        ("/bots/quoka", 404, "bot", "did you mean 'quokka'"),
        ("/tournaments/sping", 404, "tournament", "did you mean 'spring'"),
        ("/ladders/antiquity-2", 404, "ladder", "did you mean 'antiquity-2p'"),
        ("/games/antiqity", 404, "game", "did you mean 'antiquity'"),
        ("/matches/m1", 404, "match", "copy the id"),
        ("/matches?bot=quoka", 404, "bot", "did you mean 'quokka'"),
        ("/matches?tournament=sping", 404, "tournament", "did you mean 'spring'"),
        ("/matches?opponent=quokka", 422, "opponent", "give bot too"),
        ("/matches?bot=quokka&opponent=greedy&tournament=spring", 422, "opponent", "leave one of them out"),
        ("/matches?page_size=0", 422, "page_size", "of at least 1"),
        ("/matches?page_size=1001", 422, "page_size", "of at most 1000"),
        ("/matches?page_size=many", 422, "page_size", "give a whole number"),
        ("/matches?page_size=" + "9" * 5000, 422, "page_size", "give a smaller number"),
        ("/bots?page_token=abc", 422, "page_token", "next_page_token"),
        ("/bots?page_token=" + "a" * 501, 422, "page_token", "at most"),
        ("/tournaments?page_token=" + write_token("tournaments", [10**40]), 422, "page_token", "next_page_token"),
        ("/matches?page_token=" + write_token("matches", [1 << 31, 1]), 422, "page_token", "next_page_token"),
        ("/bots?page_token=" + write_token("bots", ["a\0b"]), 422, "page_token", "next_page_token"),
        ("/bots?page_token=" + write_token("ladders", ["a"]), 422, "page_token", "next_page_token"),
    ],
)
async def test_the_problem_names_field_and_fix(
    client: httpx.AsyncClient, path: str, status: int, field: str, words: str
) -> None:
    answer = await client.get("/api/v1" + path)
    problem = answer.json()
    assert answer.status_code == status, problem
    assert [item["field"] for item in problem["errors"]] == [field]
    assert words in problem["errors"][0]["fix"]
    assert field in problem["detail"]
    assert words in problem["detail"]
    page = await client.get(path)
    assert page.status_code == status
    assert f"<code>{field}</code>" in page.text


async def test_the_ply_must_be_in_the_match(town: Any, client: httpx.AsyncClient) -> None:
    plies = (await client.get(f"/api/v1/matches/{town.done[0]}/board")).json()["plies"]
    for value in (plies + 1, 10**30, -1):
        for path in (f"/matches/{town.done[0]}", f"/matches/{town.done[0]}/board.svg", f"/api/v1/matches/{town.done[0]}/board"):
            answer = await client.get(f"{path}?ply={value}")
            assert answer.status_code == 422
            assert "ply" in answer.text


async def test_unknown_and_doubled_parameters_of_the_api_are_refused(client: httpx.AsyncClient) -> None:
    unknown = (await client.get("/api/v1/bots?pagesize=3")).json()
    assert unknown["detail"].startswith("pagesize: no such parameter; fix: did you mean 'page_size'?")
    doubled = (await client.get("/api/v1/bots?page_size=3&page_size=4")).json()
    assert doubled["detail"] == "page_size: given more than once; fix: give it once"


async def test_pages_do_not_mind_marks_of_those_who_share_links(client: httpx.AsyncClient) -> None:
    assert (await client.get("/matches?utm_source=letter&bot=")).status_code == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
async def test_nothing_can_be_written(client: httpx.AsyncClient, method: str) -> None:
    answer = await client.request(method, "/api/v1/bots")
    assert answer.status_code == 405
    assert answer.json()["detail"] == f"method: {method} is not possible here; fix: use GET, everything here is read-only"


async def test_a_database_that_is_gone_is_said_and_survived(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'hippodrome.db'}"
    app = create_app(Settings.load({"HIPPODROME_HOME": str(tmp_path), "HIPPODROME_DATABASE_URL": url}))
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        sqlite3.connect(tmp_path / "hippodrome.db").close()
        answer = await client.get("/api/v1/bots")
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        assert "database" in answer.json()["detail"]
        assert (await client.get("/bots")).status_code == 503
        upgrade(url)
        assert (await client.get("/api/v1/bots")).json() == {"bots": [], "next_page_token": ""}


async def test_what_is_no_ones_doing_but_ours_says_so_and_is_survived(fresh_town: Any, tmp_path: Path) -> None:
    """A record that the disk has spoiled: no page of it can be made, everything else goes on."""
    block = fresh_town.open_matches("live")
    match = block[0]
    with fresh_town.database.write() as session:
        for other in block:
            fresh_town.finish(session, other)
        session.execute(text("UPDATE result SET record = :junk"), {"junk": gzip.compress(b"junk")})
    app = create_app(fresh_town.settings)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        problem = await client.get(f"/api/v1/matches/{match}/moves")
        assert (problem.status_code, problem.headers["content-type"]) == (500, "application/problem+json")
        assert "not by your doing" in problem.json()["detail"]
        assert "junk" not in problem.text
        assert "<h1>Internal Server Error</h1>" in (await client.get(f"/matches/{match}")).text
        assert (await client.get("/tournaments/live")).status_code == 200


async def test_an_empty_installation_has_all_its_pages(database_url: str, tmp_path: Path) -> None:
    app = create_app(Settings.load({"HIPPODROME_HOME": str(tmp_path), "HIPPODROME_DATABASE_URL": database_url}))
    transport = httpx.ASGITransport(app)
    async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        for path in ("/", "/ladders", "/bots", "/tournaments", "/matches", "/games", "/games/antiquity", "/api"):
            assert (await client.get(path)).status_code == 200, path
        assert (await client.get("/api/v1/home")).json() == {"ladders": [], "running": []}
