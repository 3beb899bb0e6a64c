"""What a tournament costs beyond its matches.

    python bench/tournament.py [--matches 500] [--slots 12] [--database URL] [--json]

The same number of short matches (two random bots, antiquity-2p, clocks never matter) is played by the local runner in one
process, by the local runner with a process for each core, and by the whole service: broker, Celery worker, engine node, two
bots over gRPC, every record verified, every result committed. Prints matches/s, the ratios, for each stage of an attempt the
mean time and the share of all slots, and for each process its CPU time per match. Starting the service is not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean

import psutil

from hippodrome.engine.errors import HippodromeError
from hippodrome.games.registry import read_ruleset
from hippodrome.ladder.db import open_database
from hippodrome.ladder.settings import Settings
from hippodrome.workers.botfiles import read_bots
from hippodrome.workers.local_pool import play_many
from hippodrome.workers.local_series import SeriesSpec
from hippodrome.workers.programs import HouseBot, Options
from hippodrome.workers.server import Server
from hippodrome.workers.supervise import service
from hippodrome.workers.tournament import Plan, play_tournament

RULESET = "antiquity-2p"
STAGES = ("claim", "play", "verify", "commit")
_LINE = re.compile(r" stored play=([\d.]+)ms verify=([\d.]+)ms commit=([\d.]+)ms all=([\d.]+)ms")


@dataclass(frozen=True)
class Figures:
    """`rates` in matches/s by way of playing; `stages` in milliseconds; `shares` of the slots' time; `cpu` in ms per match."""

    matches: int
    rates: dict[str, float]
    stages: dict[str, float]
    shares: dict[str, float]
    cpu: dict[str, float]


def local_rate(matches: int, jobs: int) -> float:
    """Matches/s of the local runner."""
    series = SeriesSpec(read_ruleset(RULESET), read_bots(("random", "random")), games=matches, seed="bench")
    begun = time.perf_counter()
    played = sum(1 for _ in play_many(series, jobs))
    return played / (time.perf_counter() - begun)


def through_service(matches: int, slots: int, database: str) -> tuple[float, list[tuple[float, ...]], dict[str, float]]:
    """Matches/s of the service, the stages of each attempt in ms, the CPU seconds of each process."""
    home = Path(tempfile.mkdtemp(prefix="hd-bench-"))
    env = {"HIPPODROME_HOME": str(home), "HIPPODROME_DATABASE_URL": database}
    bots = (HouseBot("random", "random"), HouseBot("random-2", "random"))
    try:
        settings = Settings.load(env)
        with service(Options(web="127.0.0.1:0", slots=slots, bots=bots), settings) as server:
            play(settings, 20)
            before, begun = cpu_seconds(server), time.perf_counter()
            play(settings, matches)
            took, after = time.perf_counter() - begun, cpu_seconds(server)
        return matches / took, read_stages(home / "log")[-matches:], {name: after[name] - before[name] for name in after}
    finally:
        shutil.rmtree(home)


def play(settings: Settings, matches: int) -> None:
    """One tournament to its end."""
    database = open_database(settings.database_url)
    try:
        play_tournament(lambda _: None, Plan(RULESET, ("random", "random-2"), blocks=matches // 2), database)
    finally:
        database.close()


def cpu_seconds(server: Server) -> dict[str, float]:
    """CPU seconds of each process of the service so far."""
    times = {name: psutil.Process(pid).cpu_times() for name, pid in server.pids.items()}
    return {name: spent.user + spent.system for name, spent in times.items()}


def read_stages(logs: Path) -> list[tuple[float, ...]]:
    """(claim, play, verify, commit) in ms of every completed attempt in the workers' logs."""
    found = [_LINE.search(line) for log in sorted(logs.glob("worker-*.log")) for line in log.read_text().splitlines()]
    times = [tuple(map(float, match.groups())) for match in found if match]
    return [(total - play - verify - commit, play, verify, commit) for play, verify, commit, total in times]


def measure(matches: int, slots: int, database: str) -> Figures:
    """All three ways, one after the other."""
    cores = os.cpu_count() or 1
    rates = {"local, 1 process": local_rate(matches, 1), f"local, {cores} processes": local_rate(matches, cores)}
    rates["service"], attempts, cpu = through_service(matches, slots, database)
    stages = {name: fmean(attempt[place] for attempt in attempts) for place, name in enumerate(STAGES)}
    slot_time = slots * 1000 / rates["service"]
    shares = {name: spent / slot_time for name, spent in stages.items()}
    shares["waiting for a doorbell"] = 1 - sum(shares.values())
    return Figures(matches, rates, stages, shares, {name: 1000 * spent / matches for name, spent in cpu.items()})


def show(figures: Figures, say: Callable[[str], object] = print) -> None:
    """The figures as text."""
    service_rate = figures.rates["service"]
    say(f"{figures.matches} matches of {RULESET}, two random bots")
    for way, rate in figures.rates.items():
        say(f"  {way:<22}{rate:9.1f} matches/s{service_rate / rate:8.2f} = service : this")
    say("an attempt, and its share of the time of all slots")
    for name, share in figures.shares.items():
        spent = f"{figures.stages[name]:9.1f} ms" if name in figures.stages else " " * 12
        say(f"  {name:<24}{spent}{100 * share:8.0f} %")
    say("CPU per match")
    for name, cpu in sorted(figures.cpu.items(), key=lambda item: -item[1]):
        say(f"  {name:<22}{cpu:9.2f} ms")
    say(f"  {'all':<22}{sum(figures.cpu.values()):9.2f} ms")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--matches", type=int, default=500, help="matches of each way, an even number (default %(default)s)")
    parser.add_argument("--slots", type=int, default=Options.slots, help="matches at once in the service (default %(default)s)")
    parser.add_argument("--database", default="", help="database URL (default: a new SQLite file)")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    read = parser.parse_args(arguments)
    if read.matches < 2 or read.matches % 2:
        parser.error(f"--matches: {read.matches} is not an even number from 2 on; fix: give for example 500")
    try:
        figures = measure(read.matches, read.slots, read.database)
    except HippodromeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if read.json:
        print(json.dumps({"schema": "hippodrome.bench.tournament/1", **asdict(figures)}))
    else:
        show(figures)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
