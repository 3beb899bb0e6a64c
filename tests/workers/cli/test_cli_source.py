"""Commands that look at the ladder: the same from the database and from a server, in 80 columns, with stable JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hippodrome.ladder import lifecycle
from hippodrome.ladder.db import open_database
from hippodrome.ladder.models import utcnow
from hippodrome.workers.cli.output import Column, table

LOOKING = [
    "ladder",
    "ladder antiquity-2p",
    "bot list",
    "bot show quokka",
    "tournament list",
    "tournament status summer",
    "tournament results spring",
    "tournament watch spring",
    "match list",
    "match list --tournament summer --bot quokka --limit 3",
    "account list",
]
SCHEMAS: dict[str, tuple[str, set[str]]] = {
    "games": ("hippodrome.games/1", {"games"}),
    "games antiquity": (
        "hippodrome.game/1",
        {"name", "title", "rules_version", "players", "hidden", "chance", "options", "notation"},
    ),
    "ladder": ("hippodrome.ladders/1", {"ladders"}),
    "ladder antiquity-2p": ("hippodrome.ladder/1", {"name", "matches", "rows"}),
    "bot list": ("hippodrome.bots/1", {"bots"}),
    "bot show quokka": ("hippodrome.bot/1", {"bot", "matches"}),
    "tournament list": ("hippodrome.tournaments/1", {"tournaments"}),
    "tournament status summer": ("hippodrome.tournament/1", {"tournament"}),
    "tournament results spring": ("hippodrome.tournament/1", {"tournament"}),
    "match list": ("hippodrome.matches/1", {"matches"}),
    "account list": ("hippodrome.accounts/1", {"accounts"}),
    "doctor": ("hippodrome.doctor/1", {"findings"}),
}
ROW = {
    *("rank", "bot", "bot_version", "account", "rating", "interval", "matches", "blocks", "score", "faults", "provisional"),
    *("anchor", "rank_best", "rank_worst"),
}


def _matches(cli: Any, *words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = cli("match", "list", *words, "--json").json["matches"]
    return found


@pytest.mark.usefixtures("source")
@pytest.mark.parametrize("line", LOOKING)
def test_a_command_fits_80_columns_and_says_what_to_do_next(cli: Any, line: str) -> None:
    said = cli(*line.split())
    assert said.code == 0, said.err
    assert said.out
    assert "Traceback" not in said.err
    assert max(map(len, said.out.splitlines())) <= 80, said.out
    assert "…" not in said.out
    assert "\x1b" not in said.out
    assert said.err.splitlines()[-1].startswith("next: hippodrome "), said.err


@pytest.mark.usefixtures("installation")
@pytest.mark.parametrize("line", LOOKING)
def test_a_server_and_the_database_say_the_same(
    cli: Any, line: str, server: str, installation: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = cli(*line.split(), "--json"), cli(*line.split())
    monkeypatch.setenv("HIPPODROME_TOKEN", installation.secrets["root"])
    there = cli(*line.split(), "--json", "--server", server), cli(*line.split(), "--server", server)
    assert there[0].json == here[0].json
    assert there[1].out == here[1].out


@pytest.mark.usefixtures("installation")
@pytest.mark.parametrize("line", SCHEMAS)
def test_the_json_of_a_command_is_one_document_of_a_stable_schema(cli: Any, line: str) -> None:
    said = cli(*line.split(), "--json")
    assert said.out.count("\n") == 1
    assert said.out.startswith('{"schema": ')
    schema, keys = SCHEMAS[line]
    document = said.json
    assert document.pop("schema") == schema
    assert set(document) == keys


@pytest.mark.usefixtures("source")
def test_a_ladder_row_tells_rating_interval_and_how_many_matches(cli: Any) -> None:
    rows = cli("ladder", "antiquity-2p", "--json").json["rows"]
    assert [set(row) for row in rows] == [ROW] * 3
    assert {row["bot"] for row in rows} == {"bots/quokka", "bots/wombat", "bots/dingo"}
    assert sum(row["matches"] for row in rows) == 2 * (15 - 4), "the 4 matches between bots of one owner are not rated"
    text = cli("ladder", "antiquity-2p").out
    assert "± 95%" in text
    assert f"{rows[0]['rating']:.0f}" in text


@pytest.mark.usefixtures("source")
def test_a_crosstable_adds_up(cli: Any) -> None:
    tournament = cli("tournament", "results", "spring", "--json").json["tournament"]
    assert sum(row["points"] for row in tournament["standings"]) == tournament["matches_done"] == 12
    assert sum(row["faults"] for row in tournament["standings"]) == 1
    lines = cli("tournament", "results", "spring").out.splitlines()
    assert lines[1].split() == ["#", "bot", "1", "2", "3", "points", "faults"]
    assert [line.split()[0] for line in lines[2:5]] == ["1", "2", "3"]


@pytest.mark.usefixtures("source")
def test_a_match_is_shown_at_any_move_drawn_and_exported(cli: Any) -> None:
    match = next(m for m in _matches(cli, "--tournament", "spring") if m["ending"] == "rules")["name"]
    shown = cli("match", "show", match)
    assert "ended: rules" in shown.out
    assert f"move {cli('match', 'show', match, '--json').json['ply']} of" in shown.out
    start = cli("match", "show", match.removeprefix("matches/"), "--ply", "0", "--svg", "start.svg")
    assert "before the first of" in start.out
    assert Path("start.svg").read_text().startswith("<svg")
    assert max(map(len, start.out.splitlines())) <= 80
    assert cli("match", "export", match, "--out", "m.jsonl").code == 0
    assert cli("match", "export", match).out == Path("m.jsonl").read_text()
    assert cli("match", "verify", "m.jsonl").out == f"m.jsonl: ok, {cli('match', 'show', match, '--json').json['ply']} moves\n"
    assert cli("match", "show", "m.jsonl", "--ply", "7").out == cli("match", "show", match, "--ply", "7").out


@pytest.mark.usefixtures("source")
def test_a_fault_is_shown_with_its_reason(cli: Any) -> None:
    match = next(m for m in _matches(cli, "--limit", "100") if m["ending"] == "illegal_move")
    assert [fault["kind"] for fault in match["faults"]] == ["illegal_move"]
    shown = cli("match", "show", match["name"])
    assert "ended: illegal_move: seat 0: malformed" in shown.out
    assert max(map(len, shown.out.splitlines())) <= 80


@pytest.mark.usefixtures("source")
def test_a_match_that_is_not_done_shows_progress_and_no_board(cli: Any) -> None:
    match = next(m for m in _matches(cli, "--tournament", "summer") if m["state"] == "pending")["name"]
    assert "pending, 0 moves" in cli("match", "show", match).out
    for more in (("--ply", "1"), ("--svg", "x.svg")):
        refused = cli("match", "show", match, *more)
        assert refused.code == 2
        assert "there is no board to show" in refused.err
    assert cli("match", "export", match).code == 2


@pytest.mark.usefixtures("source")
def test_a_match_whose_block_goes_on_shows_its_result_and_no_board(cli: Any) -> None:
    listed = _matches(cli, "--tournament", "summer")
    match = next(m for m in listed if m["state"] == "done" and m["block_open"])["name"]
    shown = cli("match", "show", match)
    assert "ended: rules: " in shown.out
    assert "its record is published with its block: 1 match of its block is still to be played" in " ".join(shown.out.split())
    assert max(map(len, shown.out.splitlines())) <= 80
    assert cli("match", "show", match, "--json").json["match"]["places"]
    refused = cli("match", "show", match, "--ply", "1")
    assert (refused.code, "is done, but 1 match of its block is still to be played" in refused.err) == (2, True)
    refused = cli("match", "export", match)
    assert (refused.code, "its record is published with its block" in refused.err) == (2, True)


@pytest.mark.usefixtures("source")
def test_a_tournament_is_started_stopped_and_resumed(cli: Any, source: str) -> None:
    words = ("--name", "winter", "--blocks", "3", "--clock", "5s+10ms", "--policy", "retry:2", "--unrated", "--seed", "s")
    made = cli("tournament", "start", "antiquity-3p", "quokka", "wombat@1", "dingo", *words, "--json").json["tournament"]
    assert (made["name"], made["ruleset"], made["clock"], made["policy"]) == (
        "tournaments/winter", "antiquity-3p", "5s+10ms", "retry:2",
    )  # fmt: skip
    assert (made["rated"], made["blocks"], made["matches_planned"]) == (False, 3, 9)
    assert made["entries"] == ["bots/quokka/versions/2", "bots/wombat/versions/1", "bots/dingo/versions/1"]
    assert made["account"] == ("accounts/operator" if source == "database" else "accounts/root")
    stopped = cli("tournament", "cancel", "winter")
    assert "cancelled  0/9 matches" in stopped.out
    assert stopped.err == "next: hippodrome tournament resume winter\n"
    assert cli("tournament", "watch", "winter", "--json").json["tournament"]["state"] == "cancelled"
    if source == "server":
        assert cli("tournament", "resume", "winter", "--json").json["tournament"]["state"] == "running"


def test_a_tournament_with_only_parked_matches_left_asks_to_be_resumed(cli: Any, source: str, installation: Any) -> None:
    match = next(m for m in _matches(cli, "--tournament", "summer") if m["state"] == "pending")["name"]
    database = open_database(installation.url)
    with database.write() as session:
        for _ in range(lifecycle.STRIKES):
            claimed = lifecycle.claim(session, match.removeprefix("matches/"), "test", utcnow(), 60)
            assert isinstance(claimed, lifecycle.Claim)
            lifecycle.void(session, match.removeprefix("matches/"), claimed.fence, "the engine was killed")
    database.close()
    said = cli("tournament", "status", "summer")
    assert "3/4 matches  1 parked" in said.out
    assert said.err == "next: hippodrome tournament resume summer\n"
    if source == "server":
        said = cli("tournament", "resume", "summer")
        assert "parked" not in said.out
        assert said.err == "next: hippodrome tournament watch summer\n"


@pytest.mark.usefixtures("source")
def test_bots_accounts_and_tokens_are_made(cli: Any) -> None:
    assert cli("bot", "create", "numbat", "--description", "striped").out == "registered numbat@1\n"
    assert cli("bot", "create", "numbat", "--new-version", "--description", "more", "--json").json["bot_version"] == (
        "bots/numbat/versions/2"
    )
    made = cli("account", "create", "eve", "--json").json
    assert (made["account"]["name"], made["account"]["admin"]) == ("accounts/eve", False)
    token = cli("token", "create", "eve", "--label", "laptop")
    assert token.out.startswith("hippo_")
    assert token.out.count("\n") == 1, "only the secret is on stdout"
    name = token.err.split()[0]
    assert cli("token", "revoke", name).out == f"{name} is revoked\n"


def test_a_command_without_an_installation_says_what_to_do(cli: Any) -> None:
    said = cli("ladder")
    assert (said.code, said.out) == (3, "")
    assert "fix: hippodrome db upgrade" in said.err
    assert cli("db", "upgrade").code == 0
    assert cli("ladder").out == "no rated matches yet\n"
    assert cli("bot", "list").out == "no bots yet\n"
    assert cli("match", "list").out == "no matches yet\n"
    assert cli("tournament", "list").out == "no tournaments yet\n"
    assert cli("account", "list").out == "no accounts yet\n"


def test_the_database_is_brought_up_to_date_again_and_again(
    cli: Any, empty_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIPPODROME_DATABASE_URL", empty_database_url)
    for _ in range(2):
        said = cli("db", "upgrade", "--json")
        assert said.code == 0
        assert set(said.json) == {"schema", "database"}
    assert cli("ladder").code == 0


def test_doctor_tells_problems_with_their_fix_and_a_healthy_installation(cli: Any, request: pytest.FixtureRequest) -> None:
    ill = cli("doctor")
    assert ill.code == 1
    assert "fix: hippodrome db upgrade" in ill.out
    request.getfixturevalue("installation")
    well = cli("doctor", "--json")
    states = {finding["name"]: finding["state"] for finding in well.json["findings"]}
    assert states == {
        "python": "ok", "packages": "ok", "games": "ok", "settings": "ok", "database": "ok",
        "broker": "ok", "service": "skipped", "engines": "skipped",
    }  # fmt: skip
    assert well.code == 0


def test_doctor_finds_a_broker_that_does_not_answer(cli: Any, installation: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIPPODROME_BROKER_URL", "redis://127.0.0.1:9/0")
    said = cli("doctor", "--json")
    assert said.code == 1
    broker = next(finding for finding in said.json["findings"] if finding["name"] == "broker")
    assert broker["state"] == "problem"
    assert broker["fix"]


def test_a_table_leaves_out_columns_rather_than_cut_a_cell() -> None:
    columns = (Column("bot"), Column("note", drop=3), Column("Elo", right=True), Column("more", drop=1))
    rows = [("a-long-name-of-a-bot", "a long note about it", "1500", "some more words")]
    wide, middle, narrow = (table(columns, rows, width) for width in (80, 45, 30))
    assert wide.splitlines()[1].split("  ") == ["a-long-name-of-a-bot", "a long note about it", "1500", "some more words"]
    assert middle.splitlines()[1:] == ["a-long-name-of-a-bot  1500  some more words", "left out for lack of room: note"]
    assert narrow.splitlines()[1:] == ["a-long-name-of-a-bot  1500", "left out for lack of room: note, more"]


def test_watch_prints_a_line_of_json_at_each_change(cli: Any, installation: Any) -> None:
    lines = cli("tournament", "watch", "spring", "--json").out.splitlines()
    assert [json.loads(line)["tournament"]["state"] for line in lines] == ["finished"]
