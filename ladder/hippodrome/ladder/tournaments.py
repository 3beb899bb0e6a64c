"""Tournaments: planned in one transaction, stopped and resumed at any moment. Locks: the tournament first, then matches."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, Final

from sqlalchemy import func, insert, select, update
from sqlmodel import Session, col
from sqlmodel import select as select_rows

from hippodrome.engine.clock import TimeControl
from hippodrome.engine.errors import FieldError
from hippodrome.engine.game import Ruleset
from hippodrome.engine.referee import Policy
from hippodrome.games.registry import read_ruleset
from hippodrome.ladder import bots, ids, requests, schedules
from hippodrome.ladder.db import insert_into
from hippodrome.ladder.errors import AlreadyExists, NotFound, WrongState
from hippodrome.ladder.models import TABLES, Account, Entry, Tournament, add_unique, key, utcnow

MAX_MATCHES: Final = 200_000
"""The longest schedule that is planned as rows."""
MAX_ENTRIES: Final = 2_000
DEFAULT_CLOCK: Final = TimeControl(bank=60_000_000, increment=100_000)
_CHUNK: Final = 500
_MATCH, _SEAT, _ATTEMPT = TABLES["match"], TABLES["seat"], TABLES["attempt"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How many matches of a tournament are in each state."""

    pending: int
    leased: int
    done: int
    parked: int
    cancelled: int

    @property
    def planned(self) -> int:
        return self.pending + self.leased + self.done + self.parked + self.cancelled

    @property
    def open(self) -> int:
        """Matches that workers will still play by themselves."""
        return self.pending + self.leased


def create_tournament(
    session: Session,
    *,
    name: str = "",
    ruleset: str | Ruleset,
    entries: Sequence[str],
    blocks: int = 1,
    clock: str | TimeControl = DEFAULT_CLOCK,
    policy: str | Policy = "forfeit",
    pairing: str = "round-robin",
    seed: str = "",
    rated: bool = True,
    account: Account,
    request_id: str = "",
) -> Tournament:
    """Plan a tournament: all its matches, in this transaction. Told again with the same `request_id`: that tournament.

    `entries` name bots (their newest version) or versions, in order; without `name` or `seed` one is drawn; the seed stays
    secret. Raises FieldError, NotFound, AlreadyExists.
    """
    made = requests.recall(session, account, "tournament", request_id)
    if made is not None:
        return get_tournament(session, made, field="request_id")
    rules = read_ruleset(ruleset) if isinstance(ruleset, str) else ruleset
    name = ids.check_name("tournament_id", name or f"t-{secrets.token_hex(4)}")
    versions = _versions(session, entries)
    planned = _plan(pairing, len(versions), rules.players, blocks)
    tournament = Tournament(
        name=name,
        ruleset=str(rules),
        pairing=pairing,
        blocks=blocks,
        clock=str((TimeControl.parse(clock) if isinstance(clock, str) else clock).checked()),
        policy=str(Policy.parse(policy) if isinstance(policy, str) else policy),
        seed=ids.check_text("seed", seed, 200) or secrets.token_hex(32),
        rated=rated,
        account_id=key(account),
    )
    requests.remember(session, account, "tournament", request_id, name)
    _store(session, tournament, versions)
    plan_matches(session, tournament, versions, planned)
    return tournament


def plan_matches(
    session: Session, tournament: Tournament, versions: Sequence[int], planned: Iterator[schedules.Planned]
) -> int:
    """Insert the matches of `planned` that are not there yet, `versions` by entry; how many were new."""
    tournament_id, fresh = key(tournament), 0
    known = set(session.execute(select(_MATCH.c.number).where(_MATCH.c.tournament_id == tournament_id)).scalars())
    missing = (match for match in planned if match.number not in known)
    while chunk := list(islice(missing, _CHUNK)):
        session.execute(insert(_MATCH), [_match_row(tournament, match) for match in chunk])
        session.execute(insert(_SEAT), [row for match in chunk for row in _seat_rows(tournament_id, match, versions)])
        fresh += len(chunk)
    return fresh


def block_seed(seed: str, block: int) -> bytes:
    """The seed of all matches of a block, 32 bytes: HMAC-SHA256(key = the tournament's seed, message = "block/<number>")."""
    return hmac.digest(seed.encode("utf-8"), f"block/{block}".encode("ascii"), "sha256")


def cancel(session: Session, name: str, *, now: datetime | None = None) -> Tournament:
    """Stop a tournament: matches under way are dropped (their attempts become void), results stay. Again does no harm.

    Raises NotFound; WrongState when it is finished.
    """
    tournament = _locked(session, name)
    if tournament.state == "finished":
        raise WrongState("tournament", f"{tournament.name} is finished", "there is nothing left to cancel")
    moment = now or utcnow()
    mine = _MATCH.c.tournament_id == key(tournament)
    session.execute(select(_MATCH.c.id).where(mine, _MATCH.c.state != "done").order_by(_MATCH.c.id).with_for_update()).all()
    under_way = select(_MATCH.c.id).where(mine, _MATCH.c.state == "leased")
    session.execute(
        update(_ATTEMPT)
        .where(_ATTEMPT.c.match_id.in_(under_way), _ATTEMPT.c.outcome.is_(None))
        .values(outcome="void", reason="the tournament was cancelled", ended_at=moment)
    )
    session.execute(
        update(_MATCH)
        .where(mine, _MATCH.c.state.in_(("pending", "leased", "parked")))
        .values(state="cancelled", fence=_MATCH.c.fence + 1, owner=None, lease_until=None, dispatched_at=None, waiting={})
    )
    return _enter(session, tournament, "cancelled")


def resume(session: Session, name: str) -> Tournament:
    """Go on with a tournament: its cancelled and its parked matches are pending again, their strikes forgotten.

    One that runs without either stays as it is: again does no harm. Raises NotFound; WrongState when it is finished.
    """
    tournament = _locked(session, name)
    if tournament.state == "finished":
        raise WrongState("tournament", f"{tournament.name} is finished", "plan a new one")
    stopped = (_MATCH.c.tournament_id == key(tournament)) & _MATCH.c.state.in_(("cancelled", "parked"))
    session.execute(select(_MATCH.c.id).where(stopped).order_by(_MATCH.c.id).with_for_update()).all()
    session.execute(update(_MATCH).where(stopped).values(state="pending", strikes=0, not_before=None, moves=0))
    return _enter(session, tournament, "running")


def get_tournament(session: Session, name: str, *, field: str = "name") -> Tournament:
    """The tournament called `spring` or `tournaments/spring`. Raises NotFound with the nearest name."""
    wanted = ids.parse_name("tournaments", name, field)
    found = session.exec(select_rows(Tournament).where(Tournament.name == wanted)).first()
    if found is None:
        names = list(session.exec(select_rows(Tournament.name).order_by(col(Tournament.id).desc()).limit(200)))
        hint = bots.near(wanted[:60], names, "hippodrome tournament status")
        raise NotFound(field, f"no tournament {wanted[:60]!r}", hint, tuple(names[:50]))
    return found


def list_tournaments(session: Session) -> list[Tournament]:
    """All tournaments, newest first. `queries.list_tournaments` pages."""
    return list(session.exec(select_rows(Tournament).order_by(col(Tournament.id).desc())))


def entry_versions(session: Session, tournament: Tournament) -> list[int]:
    """The database keys of the versions that play, in entry order."""
    rows = select_rows(Entry.version_id).where(Entry.tournament_id == key(tournament)).order_by(col(Entry.number))
    return list(session.exec(rows))


def progress(session: Session, name: str) -> Progress:
    """How far a tournament is. Raises NotFound."""
    return progress_of(session, get_tournament(session, name))


def progress_of(session: Session, tournament: Tournament) -> Progress:
    """How far `tournament` is."""
    states = select(_MATCH.c.state, func.count()).where(_MATCH.c.tournament_id == key(tournament)).group_by(_MATCH.c.state)
    counts: dict[str, int] = {row[0]: row[1] for row in session.execute(states)}
    return Progress(*(counts.get(state, 0) for state in ("pending", "leased", "done", "parked", "cancelled")))


def _versions(session: Session, entries: Sequence[str]) -> list[int]:
    if len(entries) > MAX_ENTRIES:
        raise FieldError("entries", f"{len(entries)} given", f"give at most {MAX_ENTRIES}")
    found: list[int] = []
    for text in entries:
        version = key(bots.find_version(session, text, field="entries")[1])
        if version in found:
            raise FieldError("entries", f"{text[:80]!r} is there twice", "name each version once")
        found.append(version)
    return found


def _plan(pairing: str, entries: int, seats: int, blocks: int) -> Iterator[schedules.Planned]:
    system = schedules.get_pairing(pairing)
    total = schedules.count(entries, seats, blocks)
    if total > MAX_MATCHES:
        raise FieldError("blocks", f"{entries} entries and {blocks} blocks make {total} matches", f"plan at most {MAX_MATCHES}")
    return system(entries, seats, blocks)


def _match_row(tournament: Tournament, match: schedules.Planned) -> dict[str, Any]:
    return {
        "id": ids.match_id(key(tournament), match.number),
        "tournament_id": key(tournament),
        "number": match.number,
        "block": match.block,
        "rotation": match.rotation,
        "ruleset": tournament.ruleset,
        "seed": block_seed(tournament.seed, match.block),
        "state": "pending",
        "fence": 0,
        "attempts": 0,
        "strikes": 0,
        "moves": 0,
        "lease_seconds": 0.0,
        "waiting": {},
    }


def _seat_rows(tournament: int, match: schedules.Planned, versions: Sequence[int]) -> list[dict[str, Any]]:
    match_id = ids.match_id(tournament, match.number)
    return [{"match_id": match_id, "seat": seat, "version_id": versions[entry]} for seat, entry in enumerate(match.seats)]


def _store(session: Session, tournament: Tournament, versions: Sequence[int]) -> None:
    """The tournament's own row, its entries, and its ladder if it is rated."""
    taken = AlreadyExists("tournament_id", f"{tournament.name!r} is taken", "choose another name")
    add_unique(session, tournament, taken)
    session.add_all(Entry(tournament_id=key(tournament), number=n, version_id=v) for n, v in enumerate(versions))
    session.flush()
    if tournament.rated:
        _ensure_ladder(session, tournament.ruleset)


def _ensure_ladder(session: Session, name: str) -> None:
    """Make the ladder's row; two transactions may do so at once."""
    row = {"name": name, "events": 0, "fitted": 0, "matches": 0}
    session.execute(insert_into(session, TABLES["ladder"]).values(row).on_conflict_do_nothing())


def _locked(session: Session, name: str) -> Tournament:
    tournament = get_tournament(session, name)
    return session.exec(
        select_rows(Tournament)
        .where(Tournament.id == tournament.id)
        .with_for_update()
        .execution_options(populate_existing=True)
    ).one()


def _enter(session: Session, tournament: Tournament, state: str) -> Tournament:
    tournament.state = state
    session.add(tournament)
    session.flush()
    return tournament
