"""A bot as a process: options, messages, signals and exit codes, against a fake engine in this process."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import grpc
import pytest

from hippodrome.bot import bot, run_live
from hippodrome.bot._session import Options
from hippodrome.bot.testing import Ask, FakeEngine, FakeStream, decision, ended, scripted, started

Start = Callable[..., "subprocess.Popen[str]"]
Write = Callable[[str, str], Path]
BOT = """
    from hippodrome.bot import bot
    @bot
    def mine(turn):
        {body}
    mine.run()
"""
LIMIT = 60


async def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Exit code, stdout and stderr."""
    out, err = await asyncio.to_thread(process.communicate, timeout=LIMIT)
    return process.returncode, out, err


async def test_the_smallest_bot_plays_as_a_process_and_ends_with_0(start: Start, write: Write) -> None:
    path = write("mine.py", BOT.format(body="return turn.legal[0]"))
    async with FakeEngine(scripted([Ask("ab"), Ask("c")])) as engine:
        words = (str(path), "--server", engine.address, "--bot", "me", "--token", "s3cret", "--matches", "1")
        code, out, err = await finish(start(*words))
    assert (code, out) == (0, "")
    assert "connected to fake as bots/me/versions/1" in err
    assert engine.moves("matches/test") == [["a"], ["c"]]
    assert engine.asked == [("me", "Bearer s3cret")]
    assert "s3cret" not in err


async def test_the_environment_gives_what_the_command_line_does_not(start: Start, write: Write) -> None:
    path = write("mine.py", BOT.format(body="return turn.legal[0]"))
    async with FakeEngine(scripted([Ask("ab")])) as engine:
        env = {"HIPPODROME_SERVER": engine.address, "HIPPODROME_BOT": "wrong", "HIPPODROME_TOKEN": "t"}
        assert (await finish(start(str(path), "--bot", "right", "--matches", "1", "-qq", **env)))[0] == 0
    assert engine.asked == [("right", "Bearer t")]


async def test_a_launched_bot_goes_straight_to_its_node(start: Start) -> None:
    async with FakeEngine(scripted([Ask("ab")])) as engine:
        env = {"HIPPODROME_ADDRESS": engine.address, "HIPPODROME_TICKET": "ticket", "HIPPODROME_SERVER": "127.0.0.1:1"}
        words = ("-m", "hippodrome.bot", "hippodrome.bots.random", "--matches", "1", "-q")
        assert await finish(start(*words, **env)) == (0, "", "")
    assert (engine.asked, len(engine.answers)) == ([], 1)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "server: not given; fix: give --server"),
        (("--server", "127.0.0.1:1"), "bot: not given; fix: give --bot"),
        (("--sever", "x"), "unrecognized arguments: --sever x"),
        (("--server", "x", "--bot", "b"), "address: 'x' has no port; fix:"),
        (("--matches", "many"), "argument --matches: invalid int value: 'many'"),
    ],
)
async def test_wrong_usage_ends_with_2(start: Start, write: Write, words: tuple[str, ...], message: str) -> None:
    code, out, err = await finish(start(str(write("mine.py", BOT.format(body="return turn.legal[0]"))), *words))
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ((), 2, "usage: python -m hippodrome.bot FILE.py"),
        (("nobody.py",), 2, "error: bot: no file 'nobody.py'; fix: check the path"),
        (("hippodrome.bots.random", "--help"), 0, ""),
    ],
)
async def test_the_runner_of_files_and_modules(start: Start, words: tuple[str, ...], code: int, message: str) -> None:
    given, out, err = await finish(start("-m", "hippodrome.bot", *words))
    assert given == code
    assert message in err
    assert ("exit codes: 0 done" in out) == (code == 0)


async def test_a_server_that_is_not_there_ends_with_3(start: Start, write: Write) -> None:
    path = write("mine.py", BOT.format(body="return turn.legal[0]"))
    code, _, err = await finish(start(str(path), "--server", "127.0.0.1:1", "--bot", "b", "--patience", "0.2", "-qq"))
    assert code == 3
    assert err.startswith("error: 127.0.0.1:1: ")
    assert "RpcError" not in err


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return 'z'", "error[illegal_move] move: 'z' is not legal"),
        ("return turn.legal[9]", "IndexError: tuple index out of range"),
    ],
)
async def test_a_bot_that_misbehaves_ends_with_4_and_one_message(start: Start, write: Write, body: str, message: str) -> None:
    gone = asyncio.Event()

    async def script(stream: FakeStream) -> None:
        try:
            await stream.open()
            await stream.send(started(), decision(1, Ask("ab")))
            assert await stream.receive() is None
        finally:
            gone.set()

    path = write("mine.py", BOT.format(body=body))
    async with FakeEngine(script) as engine:
        process = start(str(path), "-q", HIPPODROME_ADDRESS=engine.address, HIPPODROME_TICKET="t")
        code, _, err = await finish(process)
        await asyncio.wait_for(gone.wait(), LIMIT)
    assert code == 4
    assert err.count(message) == 1 + (message.startswith("IndexError") and 1)
    assert f"{path}, line " in err
    assert engine.answers == []


async def test_a_token_that_is_not_accepted_ends_with_5(start: Start, write: Write) -> None:
    async def script(stream: FakeStream) -> None:
        await stream.abort(grpc.StatusCode.UNAUTHENTICATED, "ticket: expired; fix: ask for a new one", "TICKET_EXPIRED")

    path = write("mine.py", BOT.format(body="return turn.legal[0]"))
    async with FakeEngine(script) as engine:
        code, _, err = await finish(start(str(path), HIPPODROME_ADDRESS=engine.address, HIPPODROME_TICKET="t"))
    assert code == 5
    assert err.splitlines()[-1] == f"error[ticket_expired]: {engine.address}: ticket: expired; fix: ask for a new one"


async def test_another_protocol_ends_with_1(start: Start, write: Write) -> None:
    async def script(stream: FakeStream) -> None:
        code = grpc.StatusCode.FAILED_PRECONDITION
        await stream.abort(code, "protocol_version: 1 is not spoken here", "PROTOCOL_UNSUPPORTED")

    path = write("mine.py", BOT.format(body="return turn.legal[0]"))
    async with FakeEngine(script) as engine:
        code, _, err = await finish(start(str(path), HIPPODROME_ADDRESS=engine.address, HIPPODROME_TICKET="t"))
    assert code == 1
    assert err.splitlines()[-1].startswith("error[protocol_unsupported]: ")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
async def test_the_first_signal_says_goodbye_and_plays_the_match_to_its_end(
    start: Start, write: Write, number: signal.Signals, code: int
) -> None:
    goodbyes: list[str] = []
    process: list[subprocess.Popen[str]] = []

    async def script(stream: FakeStream) -> None:
        await stream.open()
        await stream.send(started(), decision(1, Ask("ab")))
        await stream.answer()
        process[0].send_signal(number)
        event = await stream.receive()
        assert event is not None
        goodbyes.append(event.goodbye.reason)
        await stream.send(decision(2, Ask("ab")))
        await stream.answer()
        await stream.send(ended())

    path = write("mine.py", BOT.format(body="return turn.legal[0]"))
    async with FakeEngine(script) as engine:
        process.append(start(str(path), HIPPODROME_ADDRESS=engine.address, HIPPODROME_TICKET="t"))
        given, _, err = await finish(process[0])
    assert (given, goodbyes) == (code, [number.name])
    assert "matches/test: rules, place 1 of 2" in err
    assert "leaving after the matches under way" in err


@pytest.mark.parametrize("body", ["return turn.legal[0]", "[None for _ in iter(int, 1)]"], ids=["idle", "in an endless loop"])
async def test_the_second_signal_ends_the_process_at_once(start: Start, write: Write, body: str) -> None:
    process: list[subprocess.Popen[str]] = []
    told = asyncio.Event()

    async def script(stream: FakeStream) -> None:
        await stream.open()
        await stream.send(started(), decision(1, Ask("ab")))
        told.set()
        while await stream.receive() is not None:
            pass

    path = write("mine.py", BOT.format(body=body))
    async with FakeEngine(script) as engine:
        process.append(start(str(path), HIPPODROME_ADDRESS=engine.address, HIPPODROME_TICKET="t"))
        await told.wait()
        for _ in range(600):
            if process[0].poll() is not None:
                break
            process[0].send_signal(signal.SIGINT)
            await asyncio.sleep(0.1)
        code, _, err = await finish(process[0])
    assert code == 130, err
    assert "Traceback" not in err


def test_run_live_works_in_a_thread_too(capsys: pytest.CaptureFixture[str]) -> None:
    @bot
    def first(turn: object) -> str:
        return "a"

    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(run_live(first, Options(server="127.0.0.1:1"))))
    thread.start()
    thread.join(LIMIT)
    assert codes == [2]
    assert "bot: not given" in capsys.readouterr().err
