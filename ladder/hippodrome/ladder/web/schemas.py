"""The JSON of the read API: fields named as in the protobuf messages, read from the attributes of the query rows."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Row(BaseModel):
    """Made from any object with these attributes."""

    model_config = ConfigDict(from_attributes=True)


class LadderRow(Row):
    """One row of a ladder."""

    rank: int | None = Field(description="From 1; null while provisional.")
    rank_best: int | None = Field(description="The best rank that the interval allows; null while provisional.")
    rank_worst: int | None = Field(description="The worst rank that the interval allows; null while provisional.")
    bot: str = Field(description="The bot.", examples=["bots/quokka"])
    bot_version: str = Field(description="The bot version.", examples=["bots/quokka/versions/3"])
    account: str = Field(description="The account it belongs to.", examples=["accounts/ada"])
    rating: float = Field(description="Elo.")
    interval: float = Field(description="Half of the 95 % interval.")
    matches: int = Field(description="Rated matches.")
    blocks: int = Field(description="Blocks of these matches: the unit of the interval.")
    score: float = Field(description="Mean pair score of all its matches, 0 to 1.")
    faults: int = Field(description="Matches in which it failed.")
    provisional: bool = Field(description="Too few blocks or too wide an interval to rank it.")
    anchor: bool = Field(description="A shipped reference bot with a pinned number.")


class LadderSummary(Row):
    """A ladder without its rows."""

    name: str = Field(description="The ladder: its ruleset.", examples=["antiquity-2p"])
    matches: int = Field(description="Rated matches in all.")


class Ladder(LadderSummary):
    """A ladder."""

    pending: int = Field(description="Results that are not in these ratings yet.")
    fit_time: datetime | None = Field(description="When these ratings were computed; null before the first time.")

    rows: list[LadderRow] = Field(description="Best first, provisional rows last.")


class LadderList(Row):
    """A page of ladders."""

    ladders: list[LadderSummary] = Field(description="By name.")
    next_page_token: str = Field(description="Empty at the end.")


class BotRating(Row):
    """A rating of a version on one ladder."""

    ladder: str = Field(description="The ladder.", examples=["antiquity-2p"])
    rating: float = Field(description="Elo.")
    interval: float = Field(description="Half of the 95 % interval.")
    matches: int = Field(description="Rated matches.")
    provisional: bool = Field(description="Too few blocks or too wide an interval to rank it.")


class BotVersion(Row):
    """What plays and is rated."""

    name: str = Field(description="The version.", examples=["bots/quokka/versions/3"])
    create_time: datetime = Field(description="When it was made.")
    description: str = Field(description="What changed.")
    ratings: list[BotRating] = Field(description="One for each ladder it has played on.")


class Bot(Row):
    """A bot."""

    name: str = Field(description="The bot.", examples=["bots/quokka"])
    account: str = Field(description="The account it belongs to.")
    description: str = Field(description="What it is, in its author's words.")
    create_time: datetime = Field(description="When it was registered.")
    versions: list[BotVersion] = Field(description="Oldest first.")


class BotList(Row):
    """A page of bots."""

    bots: list[Bot] = Field(description="By name.")
    next_page_token: str = Field(description="Empty at the end.")


class HeadToHead(Row):
    """A bot against one opponent, all versions of both together."""

    opponent: str = Field(description="The other bot.", examples=["bots/greedy"])
    ladder: str = Field(description="The ruleset they met on.")
    meetings: int = Field(description="Pairs of their seats in finished matches.")
    wins: int = Field(description="Meetings in which it was placed ahead of the opponent.")
    ties: int = Field(description="Meetings in which both shared a place.")
    losses: int = Field(description="Meetings in which it was placed behind.")
    score: float = Field(description="(wins + ties / 2) / meetings.")


class HeadToHeadList(Row):
    """A bot against everyone it has met."""

    head_to_head: list[HeadToHead] = Field(description="By opponent, then ladder.")


class Standing(Row):
    """The row of one entry of a tournament."""

    place: int = Field(description="From 1; equal rows share a place.")
    bot_version: str = Field(description="The bot version.")
    points: float = Field(description="Mean pair score of a match, summed.")
    matches: int = Field(description="Matches played.")
    faults: int = Field(description="Matches in which this entry failed.")
    against: list[float] = Field(description="Points against each entry, in entry order; its own is 0.")
    meetings: list[int] = Field(description="Meetings with each entry, in entry order.")
    direct: float = Field(description="First tie-break: points against those level on points.")
    berger: float = Field(description="Second tie-break: points against each entry times that entry's points.")


class TournamentSummary(Row):
    """A tournament without its standings."""

    name: str = Field(description="The tournament.", examples=["tournaments/spring"])
    ruleset: str = Field(description="The ruleset; also its ladder.")
    pairing: str = Field(description="The pairing system.", examples=["round-robin"])
    blocks: int = Field(description="Blocks for each pairing; a block is one seed in all seat rotations.")
    clock: str = Field(description="Bank + increment, then cap and start-up allowance if set.", examples=["60s+100ms"])
    policy: str = Field(description="What happens to a seat that fails.", examples=["forfeit"])
    state: str = Field(description="running, finished or cancelled.")
    entries: list[str] = Field(description="The bot versions that play, in entry order.")
    matches_planned: int = Field(description="Planned matches.")
    matches_done: int = Field(description="Matches with a result.")
    matches_running: int = Field(description="Matches being played now.")
    matches_parked: int = Field(description="Matches parked after too many failed attempts; an operator must look.")
    create_time: datetime = Field(description="When it was created.")
    end_time: datetime | None = Field(description="When the last match was done; null before.")
    rated: bool = Field(description="Whether its matches are rated.")
    account: str = Field(description="The account that created it.")


class Tournament(TournamentSummary):
    """A tournament."""

    standings: list[Standing] = Field(description="Best first.")


class TournamentList(Row):
    """A page of tournaments."""

    tournaments: list[TournamentSummary] = Field(description="Newest first.")
    next_page_token: str = Field(description="Empty at the end.")


class Seat(Row):
    """Who sits there."""

    bot: str = Field(description="The bot's name.", examples=["quokka"])
    bot_version: str = Field(description="The bot version.", examples=["bots/quokka/versions/3"])


class Fault(Row):
    """A seat failed."""

    seat: int = Field(description="The seat, from 0.")
    n: int = Field(description="The number of the decision.")
    kind: str = Field(description="illegal_move, timeout, crash or disconnect.")
    reason: str = Field(description="What happened.")


class Match(Row):
    """A planned or played match."""

    name: str = Field(description="The match.", examples=["matches/m7qk2xw4c9h"])
    tournament: str = Field(description="The tournament.")
    ruleset: str = Field(description="The ruleset.")
    number: int = Field(description="Its number in the schedule of the tournament.")
    block: int = Field(description="The block: its matches share one seed.")
    rotation: int = Field(description="Which rotation of the seats it is within its block.")
    seats: list[Seat] = Field(description="In the order of the table.")
    state: str = Field(description="pending, running, done, parked or cancelled.")
    ending: str = Field(description="rules, illegal_move, timeout, crash or disconnect; empty before.")
    reason: str = Field(description="The ending in one sentence.")
    places: list[int] = Field(description="By seat, 1 is best; empty before.")
    scores: list[int] = Field(description="Points of the game by seat; may stay empty after a fault.")
    faults: list[Fault] = Field(description="The answers that made a seat fail; empty when none did.")
    moves: int = Field(description="Moves made, so far or in all.")
    waiting: dict[str, str] = Field(description="Bot versions that are not there, and since when.")
    attempts: int = Field(description="Attempts, void ones included.")
    end_time: datetime | None = Field(description="When it got its result; null before.")
    commitment: str = Field(description="SHA-256 of the seed in hex.")
    block_open: int = Field(
        description="Matches of its block, this one included, still to be played; records are published when none is."
    )


class MatchList(Row):
    """A page of matches."""

    matches: list[Match] = Field(description="The newest planned first.")
    next_page_token: str = Field(description="Empty at the end.")


class MoveLine(Row):
    """A move, or an answer that failed. Times in microseconds, null for moves of the neutral policy."""

    ply: int = Field(description="The number of moves made with this one.")
    number: int = Field(description="The number of the decision.")
    seat: int = Field(description="The seat, from 0.")
    move: str = Field(description="The move in the game's notation; empty for an answer that failed.")
    neutral: bool = Field(description="Chosen by the neutral policy, because the seat had failed.")
    fault: str = Field(description="How the answer failed; empty for a move.")
    reason: str = Field(description="Why it failed; empty for a move.")
    sent: int | None = Field(description="When the decision was sent, since the match began.")
    received: int | None = Field(description="When the answer arrived, since the match began.")
    charged: int | None = Field(description="What the clock took.")
    bank: int | None = Field(description="What the clock held after it.")


class ChanceResult(Row):
    """A result of chance."""

    chance: str = Field(description="What it decided.", examples=["deck"])
    result: Any = Field(description="What came out.")


class MoveList(Row):
    """All moves of a published match."""

    moves: list[MoveLine] = Field(description="In order, failed answers included.")
    chance: list[ChanceResult] = Field(description="All results of chance, in order.")
    seed: str = Field(description="The seed in hex.")
    clock: str = Field(description="The clock of every seat.")
    policy: str = Field(description="What happens to a seat that fails.")


class Board(Row):
    """The position of a published match after some moves."""

    ply: int = Field(description="Moves made.")
    plies: int = Field(description="Moves of the whole match.")
    banks: list[int | None] = Field(description="By seat: microseconds on its clock; null before its first answer.")
    view: dict[str, Any] = Field(
        description="What the whole table is, hidden parts included; fields as in the game's view message."
    )
    text: str = Field(description="The same as plain text.")
    svg: str = Field(description="Path of the same as a picture.")


class GameSummary(Row):
    """A game."""

    name: str = Field(description="The game.", examples=["antiquity"])
    title: str = Field(description="Its title.")
    rules_version: str = Field(description="Changes whenever the same seed and moves could give another result.")
    players: list[int] = Field(description="Possible numbers of players.")
    hidden: bool = Field(description="Whether seats see different things.")
    chance: bool = Field(description="Whether chance plays a part after the set-up.")
    rulesets: list[str] = Field(description="Rulesets without options.")


class GameList(Row):
    """All games."""

    games: list[GameSummary] = Field(description="By name.")


class Option(Row):
    """An option of a game."""

    name: str = Field(description="The option.")
    default: str = Field(description="Its default.")
    choices: list[str] = Field(description="All its values.")
    help: str = Field(description="What it means.")


class Rule(Row):
    """A rule of a game."""

    section: str = Field(description="Section of the rulebook.")
    rule: str = Field(description="What it says.")
    function: str = Field(description="The function that plays it.")


class Game(GameSummary):
    """A game in full."""

    options: list[Option] = Field(description="Its options.")
    notation: str = Field(description="How moves are written.")
    first_moves: list[str] = Field(description="Legal moves of a first position.")
    rules: list[Rule] = Field(description="The index of its rules.")


class Home(Row):
    """What is going on."""

    ladders: list[LadderSummary] = Field(description="All ladders, by name, at most 50.")
    running: list[TournamentSummary] = Field(description="Running tournaments, newest first, at most 50.")
