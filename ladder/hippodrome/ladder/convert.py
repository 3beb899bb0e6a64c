"""Between the ladder's rows and read models and the messages of hippodrome.v1, both ways. Only here and in the servicers
do ladder objects meet protobuf."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from hippodrome.engine.clock import TimeControl
from hippodrome.engine.errors import FieldError
from hippodrome.ladder import ids
from hippodrome.ladder.pages import (
    AccountPage,
    BotPage,
    BotRating,
    LadderPage,
    LadderRow,
    MatchPage,
    SeatInfo,
    Standing,
    TokenPage,
    TournamentPage,
    VersionPage,
)
from hippodrome.v1 import (
    account_service_pb2,
    bot_service_pb2,
    ladder_service_pb2,
    match_pb2,
    match_service_pb2,
    tournament_service_pb2,
)

if TYPE_CHECKING:
    from hippodrome.ladder.models import Account, Token

_STATE: Final = "STATE_"
_MICROSECOND: Final = timedelta(microseconds=1)


def timestamp(moment: datetime | None) -> Timestamp | None:
    """A moment in UTC; None stays unset."""
    if moment is None:
        return None
    made = Timestamp()
    made.FromDatetime(moment)
    return made


def moment(message: Timestamp) -> datetime:
    """The moment of a timestamp, in UTC."""
    return message.ToDatetime(UTC)


def clock_message(clock: TimeControl) -> match_pb2.TimeControl:
    """No cap and no start-up time are unset fields on the wire."""
    return match_pb2.TimeControl(
        bank=_duration(clock.bank),
        increment=_duration(clock.increment),
        cap=_duration(clock.cap) if clock.cap else None,
        startup=_duration(clock.startup) if clock.startup else None,
    )


def clock(message: match_pb2.TimeControl) -> TimeControl:
    """The clock of a message. Raises FieldError."""
    return TimeControl(*(_microseconds(message, name) for name in ("bank", "increment", "cap", "startup"))).checked()


def account_page(account: Account) -> AccountPage:
    """What may be shown of an account."""
    return AccountPage(ids.account_name(account.name), account.admin, account.created_at)


def account_message(page: AccountPage) -> account_service_pb2.Account:
    """An account on the wire."""
    return account_service_pb2.Account(name=page.name, admin=page.admin, create_time=timestamp(page.create_time))


def account(message: account_service_pb2.Account) -> AccountPage:
    """An account from the wire."""
    return AccountPage(message.name, message.admin, moment(message.create_time))


def token_page(account: str, token: Token) -> TokenPage:
    """What may be shown of a token of the account called `account`."""
    return TokenPage(ids.token_name(account, token.id or 0), token.label, token.created_at, token.revoked_at)


def token_message(page: TokenPage) -> account_service_pb2.Token:
    """A token on the wire."""
    times = {"create_time": timestamp(page.create_time), "revoke_time": timestamp(page.revoke_time)}
    return account_service_pb2.Token(name=page.name, label=page.label, **times)


def token(message: account_service_pb2.Token) -> TokenPage:
    """A token from the wire."""
    return TokenPage(message.name, message.label, moment(message.create_time), _maybe(message, "revoke_time"))


def bot_message(page: BotPage) -> bot_service_pb2.Bot:
    """A bot on the wire."""
    return bot_service_pb2.Bot(
        name=page.name,
        account=page.account,
        description=page.description,
        create_time=timestamp(page.create_time),
        versions=[version_message(version) for version in page.versions],
    )


def bot(message: bot_service_pb2.Bot) -> BotPage:
    """A bot from the wire."""
    versions = tuple(version(one) for one in message.versions)
    return BotPage(message.name, message.account, message.description, moment(message.create_time), versions)


def version_message(page: VersionPage) -> bot_service_pb2.BotVersion:
    """A version on the wire."""
    return bot_service_pb2.BotVersion(
        name=page.name,
        create_time=timestamp(page.create_time),
        description=page.description,
        ratings=[
            bot_service_pb2.BotRating(**{name: getattr(one, name) for name in BotRating.__slots__}) for one in page.ratings
        ],
    )


def version(message: bot_service_pb2.BotVersion) -> VersionPage:
    """A version from the wire."""
    ratings = tuple(BotRating(**{name: getattr(one, name) for name in BotRating.__slots__}) for one in message.ratings)
    return VersionPage(message.name, moment(message.create_time), message.description, ratings)


def ladder_message(page: LadderPage) -> ladder_service_pb2.GetLadderResponse:
    """A ladder on the wire."""
    rows = [ladder_service_pb2.LadderRow(**{name: getattr(row, name) for name in _LADDER_ROW}) for row in page.rows]
    return ladder_service_pb2.GetLadderResponse(
        name=page.name, rows=rows, matches=page.matches, pending=page.pending, fit_time=timestamp(page.fit_time)
    )


def ladder(message: ladder_service_pb2.GetLadderResponse) -> LadderPage:
    """A ladder from the wire."""
    rows = tuple(_ladder_row(row) for row in message.rows)
    return LadderPage(message.name, rows, message.matches, message.pending, _maybe(message, "fit_time"))


def _ladder_row(message: ladder_service_pb2.LadderRow) -> LadderRow:
    values = {name: getattr(message, name) for name in _LADDER_ROW}
    values |= {name: None for name in _RANKS if not message.HasField(name)}
    return LadderRow(bot=ids.bot_name(ids.parse_version(message.bot_version)[0]), **values)


_RANKS: Final = ("rank", "rank_best", "rank_worst")
"""Unset while provisional."""
_LADDER_ROW: Final = tuple(name for name in LadderRow.__slots__ if name != "bot")
"""The fields that a row has on the wire; its bot is part of the version's name."""


def tournament_message(page: TournamentPage) -> tournament_service_pb2.Tournament:
    """A tournament on the wire."""
    return tournament_service_pb2.Tournament(
        **{name: getattr(page, name) for name in _TOURNAMENT},
        clock=clock_message(TimeControl.parse(page.clock)),
        state=tournament_service_pb2.Tournament.State.Value(_STATE + page.state.upper()),
        create_time=timestamp(page.create_time),
        end_time=timestamp(page.end_time),
        standings=[
            tournament_service_pb2.Standing(**{n: getattr(row, n) for n in Standing.__slots__}) for row in page.standings
        ],
    )


def tournament(message: tournament_service_pb2.Tournament) -> TournamentPage:
    """A tournament from the wire."""
    values = {name: getattr(message, name) for name in _TOURNAMENT}
    return TournamentPage(
        **values | {"entries": tuple(message.entries)},
        clock=str(clock(message.clock)),
        state=tournament_service_pb2.Tournament.State.Name(message.state).removeprefix(_STATE).lower(),
        create_time=moment(message.create_time),
        end_time=_maybe(message, "end_time"),
        standings=tuple(_standing(row) for row in message.standings),
    )


def _values(row: Standing) -> dict[str, Any]:
    return {name: getattr(row, name) for name in Standing.__slots__}


def _standing(message: tournament_service_pb2.Standing) -> Standing:
    values = {name: getattr(message, name) for name in Standing.__slots__}
    return Standing(**values | {"against": tuple(message.against), "meetings": tuple(message.meetings)})


_TOURNAMENT: Final = tuple(
    name for name in TournamentPage.__slots__ if name not in ("clock", "state", "create_time", "end_time", "standings")
)
"""The fields that are the same on the wire."""


def match_message(page: MatchPage) -> match_service_pb2.Match:
    """A match on the wire."""
    seats = [match_pb2.SeatInfo(bot=seat.bot.removeprefix("bots/"), bot_version=seat.bot_version) for seat in page.seats]
    faults = [
        match_service_pb2.MatchFault(seat=fault["seat"], decision=fault["n"], kind=fault["kind"], reason=fault["reason"])
        for fault in page.faults
    ]
    message = match_service_pb2.Match(
        **{name: getattr(page, name) for name in _MATCH},
        seats=seats,
        state=match_service_pb2.Match.State.Value(_STATE + page.state.upper()),
        faults=faults,
        end_time=timestamp(page.end_time),
    )
    for version_name, since in page.waiting.items():
        message.waiting[version_name].FromDatetime(datetime.fromisoformat(since))
    return message


def match(message: match_service_pb2.Match) -> MatchPage:
    """A match from the wire."""
    values = {name: getattr(message, name) for name in _MATCH}
    return MatchPage(
        **values | {"places": tuple(message.places), "scores": tuple(message.scores)},
        seats=tuple(SeatInfo(ids.bot_name(seat.bot), seat.bot_version) for seat in message.seats),
        state=match_service_pb2.Match.State.Name(message.state).removeprefix(_STATE).lower(),
        faults=tuple({"seat": f.seat, "n": f.decision, "kind": f.kind, "reason": f.reason} for f in message.faults),
        waiting={name: moment(since).isoformat() for name, since in message.waiting.items()},
        end_time=_maybe(message, "end_time"),
    )


_MATCH: Final = tuple(name for name in MatchPage.__slots__ if name not in ("seats", "state", "faults", "waiting", "end_time"))
"""The fields that are the same on the wire."""


def _duration(microseconds: int) -> Duration:
    made = Duration()
    made.FromTimedelta(timedelta(microseconds=microseconds))
    return made


def _microseconds(message: match_pb2.TimeControl, name: str) -> int:
    """A span of a clock, 0 when unset. Raises FieldError when it is out of range, or no whole number of microseconds."""
    span: Duration = getattr(message, name)
    if not -315_576_000_000 <= span.seconds <= 315_576_000_000:
        raise FieldError(f"clock.{name}", f"{span.seconds} s is out of range", "give at most a day")
    if span.nanos % 1000 or abs(span.nanos) >= 1_000_000_000 or span.seconds * span.nanos < 0:
        raise FieldError(f"clock.{name}", f"{span.nanos} ns is no part of a second", "give whole microseconds of the same sign")
    return round(span.ToTimedelta() / _MICROSECOND)


def _maybe(message: Message, name: str) -> datetime | None:
    """The moment in a field; None when it is unset."""
    return moment(getattr(message, name)) if message.HasField(name) else None
