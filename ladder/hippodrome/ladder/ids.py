"""Names: checks of the names people choose, resource names (`bots/quokka/versions/3`), the ids of matches."""

from __future__ import annotations

import re
from typing import Final

from hippodrome.engine.errors import FieldError

HOUSE: Final = "house"
"""The account of the shipped reference bots."""
_NAME: Final = re.compile(r"[a-z][a-z0-9-]{1,39}")
_ALPHABET: Final = "123456789abcdefghjkmnpqrstuvwxyz"
_MATCH: Final = re.compile(rf"m[{_ALPHABET}]{{10}}")
_BITS: Final = 50
_MASK: Final = (1 << _BITS) - 1
_NUMBER_BITS: Final = 26
MAX_NUMBER: Final = (1 << _NUMBER_BITS) - 1
"""The highest schedule number of a tournament."""


def check_name(field: str, text: str) -> str:
    """`text` itself, if it may name an account, a bot or a tournament. Raises FieldError."""
    if not _NAME.fullmatch(text):
        raise FieldError(
            field, f"{text[:60]!r} is no name", "use 2 to 40 lower-case letters, digits and dashes, starting with a letter"
        )
    return text


def check_text(field: str, text: str, longest: int) -> str:
    """`text` itself, if both databases can keep it: not too long, no NUL, no half of a surrogate pair. Raises FieldError."""
    if len(text) > longest:
        raise FieldError(field, f"{len(text)} characters", f"use at most {longest}")
    if clean_text(text) != text:
        raise FieldError(field, "it has a character that is no text", "leave out NUL and lone surrogates")
    return text


def clean_text(text: str) -> str:
    """`text` with what no database keeps replaced by question marks."""
    return text.replace("\x00", "?").encode("utf-8", errors="replace").decode("utf-8")


def account_name(name: str) -> str:
    """`accounts/ada`"""
    return f"accounts/{name}"


def token_name(account: str, token: int) -> str:
    """`accounts/ada/tokens/4`"""
    return f"accounts/{account}/tokens/{token}"


def bot_name(name: str) -> str:
    """`bots/quokka`"""
    return f"bots/{name}"


def version_name(bot: str, number: int) -> str:
    """`bots/quokka/versions/3`"""
    return f"bots/{bot}/versions/{number}"


def tournament_name(name: str) -> str:
    """`tournaments/spring`"""
    return f"tournaments/{name}"


def match_name(match: str) -> str:
    """`matches/m7qk2xw4c9h`"""
    return f"matches/{match}"


def parse_name(collection: str, text: str, field: str) -> str:
    """The last part of a resource name: `bots/quokka` or just `quokka` -> `quokka`. Raises FieldError."""
    head, slash, tail = text.rpartition("/")
    if (slash and head != collection) or not tail or not tail.isprintable():
        raise FieldError(
            field,
            f"{text[:80]!r} is not of the form {collection}/NAME",
            f"write for example {collection}/{_EXAMPLES[collection]}",
        )
    return tail


_EXAMPLES: Final = {"accounts": "ada", "bots": "quokka", "tournaments": "spring", "matches": "m7qk2xw4c9h"}


def parse_token(text: str, field: str = "name") -> tuple[str, int]:
    """`accounts/ada/tokens/4` -> (`ada`, 4). Raises FieldError."""
    found = re.fullmatch(r"accounts/([^/]+)/tokens/(\d{1,18})", text)
    if not found:
        raise FieldError(
            field, f"{text[:80]!r} is not of the form accounts/NAME/tokens/NUMBER", "write for example accounts/ada/tokens/4"
        )
    return found[1], int(found[2])


def parse_version(text: str, field: str = "bot_version") -> tuple[str, int | None]:
    """`greedy`, `greedy@3`, `bots/greedy`, `bots/greedy/versions/3` -> (bot, number; None: the newest). Raises FieldError."""
    found = re.fullmatch(r"(?:bots/)?([^/@]+)(?:(?:@|/versions/)([1-9]\d{0,8}))?", text)
    if not found:
        raise FieldError(field, f"{text[:80]!r} names no bot version", "write a bot, quokka, or one version of it, quokka@3")
    return found[1], int(found[2]) if found[2] else None


def match_id(tournament: int, number: int) -> str:
    """The id of match `number` of the tournament with database key `tournament`: always the same, never another's.

    (tournament, number) is one 50-bit number; two bijections of 50 bits scatter it, so that ids look unlike their neighbours.
    """
    mixed = ((tournament << _NUMBER_BITS) | number) & _MASK
    for odd in (0x2545F4914F6CD, 0x1F123BB5159A5):
        mixed = (mixed * odd) & _MASK
        mixed ^= mixed >> 27
    return "m" + "".join(_ALPHABET[(mixed >> shift) & 31] for shift in range(45, -1, -5))


def parse_match(text: str, field: str = "match") -> str:
    """`matches/m7qk2xw4c9h` or the id alone -> the id. Raises FieldError."""
    name = parse_name("matches", text, field)
    if not _MATCH.fullmatch(name):
        raise FieldError(field, f"{text[:80]!r} is no match", "copy the id of a match, for example matches/m7qk2xw4c9h")
    return name
