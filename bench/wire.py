"""Moves a second over the wire against a bare grpc.aio echo of messages of the same sizes.

`python bench/wire.py [--seconds S]`. Three processes play: a node, one bot process that holds both seats, and this one,
which asks for matches as a worker does. Echo and wire take turns (A B A B ..), so that a busy machine disturbs both; it
disturbs the rates, which need two free cores, far more than the work done in a second of CPU.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

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
"""Matches at once -> the ratio to reach."""


def spec(number: int) -> MatchSpec:
    """A match of antiquity with two players."""
    seats = tuple(SeatSpec(name, f"bots/{name}/versions/1") for name in NAMES)
    seed = number.to_bytes(32, "big")
    return MatchSpec(f"matches/m{number}", read_ruleset("antiquity-2p"), seats, TimeControl.parse("600s+1s"), Policy(), seed)


def mean_sizes() -> tuple[int, int]:
    """Bytes of an answer and of a decision, each in a frame of its own, over one match of first legal moves."""
    game = get_game("antiquity")
    referee, writer, asked, answered = Referee(spec(1), game), convert.Decisions("matches/m1", game.name), [], []
    while (decision := referee.decision) is not None:
        move = decision.legal[decision.number % len(decision.legal)].text
        view = referee.state.view(decision.seat)
        asked.append(len(convert.frame([writer.event(decision, view, decision.bank, decision.limit)])))
        answer = play_v1.Answer(match="matches/m1", decision=decision.number, moves=[move])
        answered.append(play_v1.PlayRequest(events=[play_v1.BotEvent(answer=answer)]).ByteSize())
        referee.answer(move, Receipt(0, 0))
    return round(statistics.mean(answered)), round(statistics.mean(asked))


@dataclass(frozen=True, slots=True)
class Rate:
    """Round trips or moves: of a second, and of a second of CPU of both sides together."""

    wall: float
    cpu: float


@contextmanager
def echo_server() -> Iterator[tuple[int, psutil.Process]]:
    """The port of an echo server, and its process."""
    process = subprocess.Popen([sys.executable, str(HERE / "echo.py"), "server"], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline()), psutil.Process(process.pid)
    finally:
        process.kill()
        process.wait()


def echo(port: int, server: psutil.Process, streams: int, sizes: tuple[int, int], seconds: float) -> Rate:
    """Measure with an echo client process."""
    arguments, before = map(str, ("client", port, streams, *sizes, seconds)), cpu(server)
    done = subprocess.run([sys.executable, str(HERE / "echo.py"), *arguments], stdout=subprocess.PIPE, text=True, check=True)
    wall, client_cpu = map(float, done.stdout.split())
    return Rate(wall, wall * seconds / (client_cpu + cpu(server) - before))


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
    async for event in stub.RunMatch(request, metadata=(("x-hippodrome-key", tickets.internal_key(SECRET)),)):
        if event.HasField("missing"):
            raise RuntimeError("the bots were not there")


def compare(matches: int, sizes: tuple[int, int], seconds: float, rounds: int) -> None:
    """Print echo, wire and ratios of each round, and the median ratios."""
    ratios: list[tuple[float, float]] = []
    with echo_server() as (port, server), tempfile.TemporaryDirectory() as folder:
        players = Players(Path(folder), matches)
        for _ in range(rounds):
            bare = echo(port, server, matches, sizes, seconds)
            played = asyncio.run(wire(players, matches, seconds))
            ratios.append((played.wall / bare.wall, played.cpu / bare.cpu))
            print(
                f"{matches:9} {bare.wall:9,.0f} {played.wall:9,.0f} {ratios[-1][0]:7.2f}"
                f" {bare.cpu:12,.0f} {played.cpu:12,.0f} {ratios[-1][1]:7.2f}"
            )
        players.close()
    wall, used = (statistics.median(kind) for kind in zip(*ratios, strict=True))
    print(f"{matches:9} at once: median ratio {wall:.2f} (aim {AIMS[matches]:.1f}), of CPU {used:.2f}")


def main() -> None:
    """Both comparisons."""
    parser = argparse.ArgumentParser(description="moves a second over gRPC against a bare echo")
    parser.add_argument("--seconds", type=float, default=5.0, help="of each measurement (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="echo and wire in turn (default: %(default)s)")
    options = parser.parse_args()
    sizes = mean_sizes()
    print(f"messages: answer {sizes[0]} bytes, decision {sizes[1]} bytes; trips and moves a second, and of a CPU second")
    print("  matches    echo/s   moves/s   ratio     echo/cpu    moves/cpu   ratio")
    for matches in AIMS:
        compare(matches, sizes, options.seconds, options.rounds)


if __name__ == "__main__":
    main()
