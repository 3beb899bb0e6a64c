"""The live session against scripted engines: frames, lost streams, moving elsewhere, leaving."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import timedelta

import grpc
import pytest
from google.protobuf.any_pb2 import Any as Packed

from hippodrome.bot import (
    Bot,
    BotError,
    ConnectionLost,
    MatchInfo,
    MatchResult,
    NotAllowed,
    Options,
    ProtocolError,
    Summary,
    Turn,
    UsageError,
    bot,
    connect,
)
from hippodrome.bot._session import Session
from hippodrome.bot.testing import Ask, FakeEngine, FakeStream, Script, decision, ended, started
from hippodrome.v1.bot_service_pb2 import CreateBotSessionResponse
from hippodrome.v1.errors_pb2 import BadRequest, ErrorStatus
from hippodrome.v1.play_service_pb2 import DecisionExpired, Draining, EngineEvent, MoveRejected

SHORT = timedelta(seconds=1)
LONG = timedelta(seconds=60)


@bot
def first(turn: Turn) -> str:
    return turn.legal[0]


class Counts(Bot):
    """Plays its own count of decisions, and notes how matches end."""

    max_matches = 8
    results: list[MatchResult]
    made = 0

    def start(self, match: MatchInfo) -> None:
        type(self).made += 1
        self.asked = 0

    def move(self, turn: Turn) -> str:
        self.asked += 1
        return turn.legal[self.asked - 1]

    def end(self, result: MatchResult) -> None:
        self.results.append(result)


@pytest.fixture
def counts() -> type[Counts]:
    return type("Fresh", (Counts,), {"results": [], "made": 0})


async def live(kind: type[Bot], script: Script, **changes: object) -> tuple[FakeEngine, Summary]:
    async with FakeEngine(script) as engine:
        return engine, await connect(kind, replace(engine.options(), patience=LONG, **changes))  # type: ignore[arg-type]


async def test_answers_to_one_frame_go_out_in_one_frame() -> None:
    frames: list[int] = []

    async def script(stream: FakeStream) -> None:
        hello = await stream.open()
        assert (hello.protocol_version, hello.max_matches, hello.sdk) == (1, 16, "python/0.1.0")
        names = [f"matches/{n}" for n in range(32)]
        await stream.send(*[started(name) for name in names], *[decision(1, Ask(["a"]), name) for name in names])
        request = await anext(stream._requests)
        frames.append(len(request.events))
        await stream.send(*[ended(name) for name in names])
        await stream.goodbye()

    _, summary = await live(first, script, matches=32)
    assert frames == [32]
    assert summary == Summary({"rules": 32}, 0)


async def test_a_repeated_decision_gets_the_same_answer_without_asking_the_bot_again(counts: type[Counts]) -> None:
    async def script(stream: FakeStream) -> None:
        await stream.open()
        await stream.send(started())
        for _ in range(3):
            await stream.send(decision(1, Ask(["a", "b", "c"])))
            assert list((await stream.answer()).moves) == ["a"]
        await stream.send(decision(2, Ask(["a", "b", "c"])))
        assert list((await stream.answer()).moves) == ["b"]
        await stream.send(ended())
        await stream.goodbye()

    engine, _ = await live(counts, script, matches=1)
    assert engine.moves("matches/test") == [["a"], ["a"], ["a"], ["b"]]


async def test_a_lost_stream_is_resumed_and_the_match_goes_on_with_the_same_instance(counts: type[Counts]) -> None:
    tokens = []

    async def script(stream: FakeStream) -> None:
        hello = await stream.open(token="t", resumed=stream.number > 1)
        tokens.append(hello.session_token)
        await stream.send(started())
        await stream.send(decision(stream.number, Ask("abcdef")))
        await stream.answer()
        if stream.number < 5:
            await stream.abort(grpc.StatusCode.UNAVAILABLE, "cut")
        await stream.send(ended())
        await stream.goodbye()

    engine, summary = await live(counts, script, matches=1)
    assert tokens == ["", "t", "t", "t", "t"]
    assert engine.moves("matches/test") == [["a"], ["b"], ["c"], ["d"], ["e"]]
    assert (summary.reconnects, counts.made) == (4, 1)


async def test_the_decision_that_was_open_when_the_stream_broke_is_answered_again(counts: type[Counts]) -> None:
    async def script(stream: FakeStream) -> None:
        await stream.open(token="t", resumed=stream.number > 1)
        await stream.send(started(), decision(1, Ask("ab")))
        await stream.answer()
        if stream.number == 1:
            await stream.abort(grpc.StatusCode.UNAVAILABLE, "cut")
        await stream.send(ended())
        await stream.goodbye()

    engine, _ = await live(counts, script, matches=1)
    assert engine.moves("matches/test") == [["a"], ["a"]]


async def test_what_a_new_session_does_not_know_is_dropped(counts: type[Counts]) -> None:
    async def script(stream: FakeStream) -> None:
        await stream.open(token=f"t{stream.number}")
        name = f"matches/{stream.number}"
        await stream.send(started(name), decision(1, Ask("ab"), name))
        await stream.answer()
        if stream.number == 1:
            await stream.abort(grpc.StatusCode.UNAVAILABLE, "the node was started anew")
        await stream.send(ended(name))
        await stream.goodbye()

    _, summary = await live(counts, script, matches=2)
    assert [(r.match, r.ending, r.place) for r in counts.results] == [("matches/1", "lost", None), ("matches/2", "rules", 1)]
    assert summary.endings == {"lost": 1, "rules": 1}


async def test_a_bot_that_thinks_while_the_stream_is_cut_answers_on_the_new_one() -> None:
    class Slow(Bot):
        calls = 0

        async def move(self, turn: Turn) -> str:
            Slow.calls += 1
            await asyncio.sleep(1.0)
            return turn.legal[0]

    async def script(stream: FakeStream) -> None:
        await stream.open(token="t", resumed=stream.number > 1)
        await stream.send(started(), decision(1, Ask("ab")))
        if stream.number == 1:
            await stream.abort(grpc.StatusCode.UNAVAILABLE, "cut")
        await stream.answer()
        await stream.send(ended())
        await stream.goodbye()

    engine, _ = await live(Slow, script, matches=1)
    assert engine.moves("matches/test") == [["a"]]
    assert Slow.calls == 1


async def test_the_server_is_asked_each_time_and_the_bot_follows_to_another_node(counts: type[Counts]) -> None:
    async def second(stream: FakeStream) -> None:
        hello = await stream.open(token="b")
        assert hello.ticket == "ticket of b"
        await stream.send(started("matches/2"), decision(1, Ask("ab"), "matches/2"))
        await stream.answer()
        await stream.send(ended("matches/2"))
        await stream.goodbye()

    async def busy(stream: FakeStream) -> None:
        await stream.open(token="a")
        await stream.send(started("matches/1"), EngineEvent(draining=Draining(reason="update")))
        await stream.send(decision(1, Ask("ab"), "matches/1"))
        await stream.answer()
        await stream.send(ended("matches/1"))

    async with FakeEngine(busy) as old, FakeEngine(second) as new:
        where = iter([(old.address, "ticket of a"), (new.address, "ticket of b")])

        def place(request: object) -> CreateBotSessionResponse:
            address, ticket = next(where)
            return CreateBotSessionResponse(address=address, ticket=ticket)

        async with FakeEngine(busy, elsewhere=place) as server:
            summary = await connect(counts, Options(server=f"http://{server.address}", bot="quokka", token="s3cret", matches=2))
        assert server.asked == [("quokka", "Bearer s3cret")] * 2
    assert (old.streams, new.streams) == (1, 1)
    assert summary.endings == {"rules": 2}


async def test_with_a_match_under_way_the_version_that_plays_it_is_asked_for(counts: type[Counts]) -> None:
    async def script(stream: FakeStream) -> None:
        await stream.open(token="t", resumed=stream.number > 1)
        await stream.send(started(), decision(1, Ask("ab")))
        await stream.answer()
        if stream.number == 1:
            await stream.abort(grpc.StatusCode.UNAVAILABLE, "cut")
        await stream.send(ended())
        await stream.goodbye()

    async with FakeEngine(script) as engine:
        await connect(counts, Options(server=engine.address, bot="me", token="x", matches=1))
    assert [name for name, _ in engine.asked] == ["me", "bots/me/versions/1"]


async def test_a_token_of_another_version_is_given_up(counts: type[Counts]) -> None:
    tokens = []

    async def script(stream: FakeStream) -> None:
        event = await stream.receive()
        assert event is not None
        tokens.append(event.hello.session_token)
        if event.hello.session_token:
            await stream.abort(grpc.StatusCode.PERMISSION_DENIED, "session_token: of another version", "SESSION_FOREIGN")
        stream._ready.append(event)
        await stream.open(token="old")
        if len(tokens) == 1:
            await stream.abort(grpc.StatusCode.UNAVAILABLE, "cut")
        await stream.send(started(), ended())
        await stream.goodbye()

    await live(counts, script, matches=1)
    assert tokens == ["", "old", ""]


async def test_leaving_says_goodbye_and_plays_the_matches_under_way_to_their_end(counts: type[Counts]) -> None:
    seen: list[str] = []
    playing = asyncio.Event()

    async def script(stream: FakeStream) -> None:
        await stream.open()
        await stream.send(started())
        playing.set()
        event = await stream.receive()
        assert event is not None
        seen.append(event.goodbye.reason)
        await stream.send(decision(1, Ask("ab")))
        await stream.answer()
        await stream.send(ended())

    async with FakeEngine(script) as engine:
        session = Session(counts, engine.options())
        running = asyncio.create_task(session.run())
        await playing.wait()
        while not session.player.places:
            await asyncio.sleep(0.01)
        session.leave("enough")
        session.leave("again")
        summary = await running
    assert seen == ["enough"]
    assert summary.endings == {"rules": 1}


async def test_goodbye_is_said_again_on_a_new_stream(counts: type[Counts]) -> None:
    came: list[Counter[str]] = []

    async def script(stream: FakeStream) -> None:
        await stream.open(token="t", resumed=stream.number > 1)
        await stream.send(started(), decision(1, Ask("ab")))
        came.append(Counter())
        while came[-1].keys() != {"answer", "goodbye"}:
            event = await stream.receive()
            assert event is not None
            came[-1][event.WhichOneof("event") or ""] += 1
        if stream.number == 1:
            await stream.abort(grpc.StatusCode.UNAVAILABLE, "cut")
        await stream.send(ended())

    async with FakeEngine(script) as engine:
        session = Session(counts, engine.options())
        running = asyncio.create_task(session.run())
        while not session.player.places:
            await asyncio.sleep(0.01)
        session.leave("enough")
        await running
    assert came == [{"answer": 1, "goodbye": 1}] * 2


async def test_leaving_ends_a_pause_before_the_next_try() -> None:
    session = Session(first, Options(address="127.0.0.1:1", ticket="t", patience=LONG))
    running = asyncio.create_task(session.run())
    await asyncio.sleep(0.3)
    session.leave("no more")
    assert await asyncio.wait_for(running, 30) == Summary({}, 0)


async def test_a_rejected_answer_is_not_sent_again(counts: type[Counts]) -> None:
    async def script(stream: FakeStream) -> None:
        await stream.open()
        await stream.send(started(), decision(1, Ask("abc")))
        await stream.answer()
        rejected = MoveRejected(match="matches/test", number=1, move="a", kind="illegal", section="5", reason="not now")
        await stream.send(EngineEvent(move_rejected=rejected), decision(1, Ask("abc")))
        await stream.answer()
        expired = DecisionExpired(match="matches/test", number=1, reason="no answer within 10 s")
        await stream.send(EngineEvent(decision_expired=expired), ended(ending="timeout"))
        await stream.goodbye()

    engine, summary = await live(counts, script, matches=1)
    assert engine.moves("matches/test") == [["a"], ["b"]]
    assert summary.endings == {"timeout": 1}


async def test_events_and_fields_of_a_later_protocol_are_passed_over() -> None:
    async def script(stream: FakeStream) -> None:
        await stream.open()
        unknown = EngineEvent.FromString(b"\xfa\x07\x03abc")
        later = EngineEvent.FromString(started().SerializeToString())
        later.match_started.MergeFromString(b"\xfa\x07\x03abc")
        await stream.send(unknown, later, decision(1, Ask("a")), unknown)
        await stream.answer()
        await stream.send(ended(), ended("matches/nobody-knows"), decision(1, Ask("a"), "matches/nobody-knows"))
        await stream.goodbye()

    engine, summary = await live(first, script, matches=1)
    assert engine.moves("matches/test") == [["a"]]
    assert summary.endings == {"rules": 1}


async def test_a_fault_of_the_bot_ends_the_session_and_with_keep_going_only_the_match() -> None:
    class Picky(Bot):
        max_matches = 2

        def start(self, match: MatchInfo) -> None:
            self.bad = match.match == "matches/1"

        def move(self, turn: Turn) -> str:
            return "z" if self.bad else turn.legal[0]

    async def script(stream: FakeStream) -> None:
        await stream.open()
        await stream.send(*[event for n in "12" for event in (started(f"matches/{n}"), decision(1, Ask("a"), f"matches/{n}"))])
        await stream.answer()
        await stream.send(ended("matches/1", ending="timeout"), ended("matches/2"))
        await stream.goodbye()

    async with FakeEngine(script) as engine:
        with pytest.raises(BotError, match="matches/1"):
            await connect(Picky, engine.options())
        assert engine.answers == []
        with pytest.raises(BotError, match="matches/1"):
            await connect(Picky, replace(engine.options(), keep_going=True, matches=2))
        assert (engine.moves("matches/1"), engine.moves("matches/2")) == ([], [["a"]])


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (grpc.StatusCode.UNAUTHENTICATED, NotAllowed),
        (grpc.StatusCode.PERMISSION_DENIED, NotAllowed),
        (grpc.StatusCode.INVALID_ARGUMENT, UsageError),
        (grpc.StatusCode.NOT_FOUND, UsageError),
        (grpc.StatusCode.FAILED_PRECONDITION, ProtocolError),
        (grpc.StatusCode.UNIMPLEMENTED, ProtocolError),
    ],
)
async def test_a_refusal_becomes_an_error_of_the_tree_with_its_details(code: grpc.StatusCode, kind: type[Exception]) -> None:
    async def script(stream: FakeStream) -> None:
        await stream.abort(code, "ticket: expired; fix: ask again", "SOME_REASON")

    with pytest.raises(kind, match="ticket: expired; fix: ask again") as caught:
        await live(first, script)
    error = caught.value
    assert isinstance(error, (NotAllowed, UsageError, ProtocolError))
    assert (error.reason, error.metadata) == ("SOME_REASON", {"reason": "SOME_REASON"})
    assert error.report().startswith("error[some_reason]: 127.0.0.1:")


async def test_the_wrong_fields_of_a_request_are_kept() -> None:
    violation = BadRequest.FieldViolation(field="bot", description="no bot 'qokka'")
    wrong = Packed(
        type_url="type.googleapis.com/google.rpc.BadRequest",
        value=BadRequest(field_violations=[violation]).SerializeToString(),
    )
    unknown = Packed(type_url="type.googleapis.com/google.rpc.Help", value=b"xyz")
    details = ErrorStatus(code=3, details=[unknown, wrong]).SerializeToString()

    async def script(stream: FakeStream) -> None:
        await stream._context.abort(grpc.StatusCode.INVALID_ARGUMENT, "bot: wrong", (("grpc-status-details-bin", details),))

    with pytest.raises(UsageError, match="bot: wrong") as caught:
        await live(first, script)
    assert caught.value.fields == (("bot", "no bot 'qokka'"),)


async def test_an_error_without_details_or_with_garbage_for_details_is_told_too() -> None:
    async def script(stream: FakeStream) -> None:
        await stream._context.abort(grpc.StatusCode.NOT_FOUND, "no bot", (("grpc-status-details-bin", b"\xff\xff\xff"),))

    with pytest.raises(UsageError, match="no bot") as caught:
        await live(first, script)
    assert caught.value.reason == ""


async def test_a_server_that_cannot_be_reached_is_tried_for_a_while() -> None:
    with pytest.raises(ConnectionLost, match=r"127\.0\.0\.1:1: .*; fix: check the address") as caught:
        await connect(first, Options(address="127.0.0.1:1", ticket="t", patience=SHORT))
    assert caught.value.exit_code == 3
    with pytest.raises(ConnectionLost):
        await connect(first, Options(server="127.0.0.1:1", bot="b", patience=SHORT))


async def test_a_node_that_ends_the_session_of_a_launched_bot_ends_the_bot(counts: type[Counts]) -> None:
    async def script(stream: FakeStream) -> None:
        await stream.open()
        await stream.send(started(), decision(1, Ask("ab")))
        await stream.answer()
        await stream.send(ended())

    _, summary = await live(counts, script)
    assert summary == Summary({"rules": 1}, 0)


async def test_a_session_that_ends_well_in_the_middle_of_a_match_breaks_the_protocol(counts: type[Counts]) -> None:
    async def script(stream: FakeStream) -> None:
        await stream.open()
        await stream.send(started())

    with pytest.raises(ProtocolError, match="in the middle of a match"):
        await live(counts, script)


async def test_a_seed_that_is_not_the_committed_one_is_noticed(caplog: pytest.LogCaptureFixture) -> None:
    async def script(stream: FakeStream) -> None:
        await stream.open()
        for n, commitment in enumerate(("00" * 32, "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925")):
            begin, end = started(f"matches/{n}"), ended(f"matches/{n}")
            begin.match_started.commitment = commitment
            end.match_ended.seed = "00" * 32
            await stream.send(begin, end)
        await stream.goodbye()

    await live(first, script, matches=2)
    assert [r.getMessage() for r in caplog.records if r.levelname == "ERROR"] == [
        "matches/0: the seed is not the one that was committed to"
    ]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (Options(), "server: not given; fix: give --server"),
        (Options(server="h:1"), "bot: not given; fix: give --bot"),
        (Options(address="h:1"), "ticket: not given; fix: set HIPPODROME_TICKET"),
        (Options(address="h:1", ticket="t", max_matches=0), "max_matches: 0 is too few; fix: give 1 or more"),
        (Options(address="h:1", ticket="t", matches=-1), "matches: -1 is too few"),
        (Options(address="nohost", ticket="t"), "address: 'nohost' has no port; fix: write host:port"),
        (Options(address="h:99999", ticket="t"), "address: 'h:99999' has no port"),
        (Options(address="ftp://h:1", ticket="t"), "address: 'ftp://h:1' has the scheme 'ftp'; fix:"),
    ],
)
async def test_wrong_options_name_the_field_and_the_fix(options: Options, problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        await connect(first, options)
    assert str(caught.value).startswith(problem)


def test_secrets_do_not_show_in_options() -> None:
    assert "s3cret" not in repr(Options(server="h:1", bot="b", token="s3cret", ticket="s3cret"))
