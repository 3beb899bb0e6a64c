"""Moves a second over the wire against bare grpc.aio echoes of the same messages.

`python bench/wire.py [--seconds S]`. Three processes play: a node, one bot process that holds both seats, and this one,
which asks for matches as a worker does. There are two echoes, see `echo.py`: one of protobuf messages, which are built and
read at both ends, and one of bytes of the same length. Echoes and wire take turns (A B C A B C ..), so that a busy machine
disturbs all; it disturbs the rates, which need two free cores, far more than the work done in a second of CPU.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import psutil

from hippodrome.engine import tickets
from hippodrome.engine.clock import TimeControl
from hippodrome.engine.referee import MatchSpec, Policy, Receipt, Referee, SeatSpec
from hippodrome.games.registry import get_game, read_ruleset
from hippodrome.service import convert
from hippodrome.v1 import engine_service_pb2 as engine_v1
from hippodrome.v1 import match_pb2
from hippodrome.v1 import play_service_pb2 as play_v1
from hippodrome.v1.engine_service_pb2_grpc import EngineServiceStub

HERE = Path(__file__).parent
SECRET = bytes(range(32))
NAMES = ("ann", "ben")
AIMS = {1: 0.6, 32: 1.0}
"""Matches at once -> the ratio to reach against the bare echo of bytes, the stricter one."""
KINDS = ("messages", "bytes")
"""The echoes."""


def spec(number: int) -> MatchSpec:
    """A match of antiquity with two players."""
    seats = tuple(SeatSpec(name, f"bots/{name}/versions/1") for name in NAMES)
    seed = number.to_bytes(32, "big")
    return MatchSpec(f"matches/m{number}", read_ruleset("antiquity-2p"), seats, TimeControl.parse("600s+1s"), Policy(), seed)


def samples() -> tuple[bytes, bytes]:
    """An answer and a decision, each in a frame of its own: those of about the mean length in one match."""
    game = get_game("antiquity")
    referee, writer, asked, answered = Referee(spec(1), game), convert.Decisions("matches/m1", game.name), [], []
    while (decision := referee.decision) is not None:
        move = decision.legal[decision.number % len(decision.legal)].text
        view = referee.state.view(decision.seat)
        asked.append(convert.frame([writer.event(decision, view, decision.bank, decision.limit)]))
        answer = play_v1.Answer(match="matches/m1", decision=decision.number, moves=[move])
        answered.append(play_v1.PlayRequest(events=[play_v1.BotEvent(answer=answer)]).SerializeToString())
        referee.answer(move, Receipt(0, 0))
    return _middle(answered), _middle(asked)


def _middle(frames: list[bytes]) -> bytes:
    mean = statistics.mean(map(len, frames))
    return min(frames, key=lambda frame: abs(len(frame) - mean))


@dataclass(frozen=True, slots=True)
class Rate:
    """Round trips or moves: of a second, and of a second of CPU of both sides together."""

    wall: float
    cpu: float


class Echo:
    """An echo server. `answer` and `decision` are the frames that go to and fro."""

    def __init__(self, folder: Path, answer: bytes, decision: bytes) -> None:
        frame, self._answer = folder / "decision", folder / "answer"
        frame.write_bytes(decision)
        self._answer.write_bytes(answer)
        command = [sys.executable, str(HERE / "echo.py"), "server", str(frame)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self._port = self._process.stdout.readline().strip()
        self._server = psutil.Process(self._process.pid)

    def measure(self, kind: str, streams: int, seconds: float) -> Rate:
        """Round trips with a client process."""
        arguments, before = (kind, self._port, str(streams), str(self._answer), str(seconds)), cpu(self._server)
        command = [sys.executable, str(HERE / "echo.py"), "client", *arguments]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        wall, client_cpu = map(float, done.stdout.split())
        return Rate(wall, wall * seconds / (client_cpu + cpu(self._server) - before))

    def close(self) -> None:
        """End the server."""
        self._process.kill()
        self._process.wait()


def cpu(*processes: psutil.Process) -> float:
    """CPU seconds used so far."""
    return float(sum(used.user + used.system for used in (process.cpu_times() for process in processes)))


class Players:
    """A node and a bot process that plays both seats of up to `matches` matches."""

    def __init__(self, folder: Path, matches: int) -> None:
        secret, address = folder / "secret", folder / "address"
        secret.write_text(SECRET.hex())
        options = ["--secret-file", str(secret), "--address-file", str(address)]
        self.node = subprocess.Popen([sys.executable, "-m", "hippodrome.service", *options], stdout=subprocess.DEVNULL)
        while not address.exists():
            time.sleep(0.02)
        self.address = address.read_text().strip()
        shown = [tickets.issue(SECRET, tickets.Ticket(n, f"bots/{n}/versions/1", int(time.time()) + 3600)) for n in NAMES]
        command = [sys.executable, str(HERE / "wire_bot.py"), self.address, str(matches), *shown]
        self.bot = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def moves(self) -> int:
        """How many moves the bot has made."""
        assert self.bot.stdin is not None
        assert self.bot.stdout is not None
        self.bot.stdin.write("\n")
        self.bot.stdin.flush()
        return int(self.bot.stdout.readline())

    def close(self) -> None:
        """End the node; the bot ends with its streams."""
        self.node.terminate()
        self.node.wait()
        self.bot.wait()


async def wire(players: Players, matches: int, seconds: float) -> Rate:
    """Measure `seconds` in the middle of `matches` lanes, each with one match after another."""
    processes = [psutil.Process(process.pid) for process in (players.node, players.bot)]
    async with grpc.aio.insecure_channel(players.address) as channel:
        lanes = [asyncio.create_task(_lane(EngineServiceStub(channel), 1 + lane * 100_000)) for lane in range(matches)]
        while players.moves() < 10 * matches:
            await asyncio.sleep(0.1)
        began, moves, used = time.monotonic(), players.moves(), cpu(*processes)
        await asyncio.sleep(seconds)
        moves, used = players.moves() - moves, cpu(*processes) - used
        rate = Rate(moves / (time.monotonic() - began), moves / used)
        for lane in lanes:
            lane.cancel()
        await asyncio.gather(*lanes, return_exceptions=True)
    return rate


async def _lane(stub: EngineServiceStub, number: int) -> None:
    while True:
        await _run(stub, number)
        number += 1


async def _run(stub: EngineServiceStub, number: int) -> None:
    plan = spec(number)
    request = engine_v1.RunMatchRequest(
        match=plan.match,
        fence=1,
        ruleset=str(plan.ruleset),
        seats=[match_pb2.SeatInfo(bot=seat.bot, bot_version=seat.version) for seat in plan.seats],
        clock=convert.time_control(plan.clock),
        policy="forfeit",
        seed=plan.seed,
    )
    call: Any = stub.RunMatch(request, metadata=(("x-hippodrome-key", tickets.internal_key(SECRET)),))
    async for event in call:
        if event.HasField("missing"):
            raise RuntimeError("the bots were not there")


def compare(matches: int, frames: tuple[bytes, bytes], seconds: float, rounds: int) -> None:
    """Print echoes, wire and ratios of each round, and the median ratios."""
    ratios: list[tuple[float, ...]] = []
    with tempfile.TemporaryDirectory() as folder:
        server, players = Echo(Path(folder), *frames), Players(Path(folder), matches)
        for _ in range(rounds):
            bare = [server.measure(kind, matches, seconds) for kind in KINDS]
            played = asyncio.run(wire(players, matches, seconds))
            walls, used = [rate.wall for rate in bare], [rate.cpu for rate in bare]
            ratios.append((*(played.wall / wall for wall in walls), *(played.cpu / work for work in used)))
            print(f"{matches:7}  {_row(walls, played.wall, ratios[-1][:2])}  {_row(used, played.cpu, ratios[-1][2:])}")
        players.close()
        server.close()
    median = [f"{statistics.median(kind):.2f}" for kind in zip(*ratios, strict=True)]
    print(f"{matches:7} at once, median ratios: to bytes {median[1]} (aim {AIMS[matches]:.1f}), to messages {median[0]};")
    print(f"        of CPU: to messages {median[2]}, to bytes {median[3]}")


def _row(bare: list[float], played: float, ratios: tuple[float, ...]) -> str:
    return "".join(f"{rate:10,.0f}" for rate in (*bare, played)) + "".join(f"{ratio:6.2f}" for ratio in ratios)


def main() -> None:
    """Both comparisons."""
    parser = argparse.ArgumentParser(description="moves a second over gRPC against bare echoes")
    parser.add_argument("--seconds", type=float, default=5.0, help="of each measurement (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="echoes and wire in turn (default: %(default)s)")
    options = parser.parse_args()
    frames = samples()
    print(f"messages: answer {len(frames[0])} bytes, decision {len(frames[1])} bytes")
    head = "".join(f"{word:>10}" for word in (*KINDS, "wire")) + " ratio ratio"
    print(f"{'':9}{'a second':>42}  {'a second of CPU':>42}\nmatches  {head}  {head}")
    for matches in AIMS:
        compare(matches, frames, options.seconds, options.rounds)


if __name__ == "__main__":
    main()
