"""Names, resource names and the ids of matches. Pure."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippodrome.engine.errors import FieldError
from hippodrome.ladder import ids


@pytest.mark.parametrize("name", ["ab", "quokka", "a-1", "x" * 40])
def test_good_names(name: str) -> None:
    assert ids.check_name("bot_id", name) == name


@pytest.mark.parametrize("name", ["", "a", "1a", "-a", "Ada", "a_b", "a b", "a/b", "é" * 3, "x" * 41, "ada\n", "ada@3"])
def test_bad_names_name_the_field_and_the_fix(name: str) -> None:
    with pytest.raises(FieldError, match=r"^bot_id: .* is no name; fix: use 2 to 40 lower-case letters") as caught:
        ids.check_name("bot_id", name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("greedy", ("greedy", None)),
        ("greedy@3", ("greedy", 3)),
        ("bots/greedy", ("greedy", None)),
        ("bots/greedy/versions/3", ("greedy", 3)),
        ("greedy/versions/12", ("greedy", 12)),
    ],
)
def test_every_way_to_name_a_version(text: str, found: tuple[str, int | None]) -> None:
    assert ids.parse_version(text) == found


NO_VERSION = ["", "@3", "greedy@", "greedy@0", "greedy@x", "bots/", "a/b/c", "bots/greedy/versions/", "greedy@9999999999"]


@pytest.mark.parametrize("text", NO_VERSION)
def test_what_names_no_version_is_an_error(text: str) -> None:
    with pytest.raises(FieldError, match=r"^bot_version: "):
        ids.parse_version(text)


@pytest.mark.parametrize("text", ["a\x00b", "\ud800", "x" * 11])
def test_a_text_that_no_database_keeps_names_the_field(text: str) -> None:
    with pytest.raises(FieldError, match=r"^label: "):
        ids.check_text("label", text, 10)
    assert ids.check_text("label", "é\n☃", 10) == "é\n☃"


def test_resource_names_read_back() -> None:
    assert ids.parse_name("bots", ids.bot_name("quokka"), "bot") == "quokka"
    assert ids.parse_name("tournaments", ids.tournament_name("spring"), "name") == "spring"
    assert ids.parse_token(ids.token_name("ada", 4)) == ("ada", 4)
    assert ids.parse_version(ids.version_name("quokka", 3)) == ("quokka", 3)
    assert ids.parse_match(ids.match_name(ids.match_id(7, 9))) == ids.match_id(7, 9)


@pytest.mark.parametrize("text", ["", "bots/", "tournaments/quokka", "x/quokka", "a\x00b", "a\nb", "\ud800"])
def test_a_name_of_another_collection_is_an_error(text: str) -> None:
    with pytest.raises(FieldError, match=r"^bot: .*bots/NAME"):
        ids.parse_name("bots", text, "bot")


@pytest.mark.parametrize("text", ["", "m1", "matches/", "matches/m000000000o", "m" + "1" * 11, "bots/m1111111111"])
def test_what_is_no_match_id_is_an_error(text: str) -> None:
    with pytest.raises(FieldError, match=r"^match: "):
        ids.parse_match(text)


PLACE = st.tuples(st.integers(1, 2**24 - 1), st.integers(0, ids.MAX_NUMBER))


@given(PLACE, PLACE)
def test_two_matches_never_share_an_id(one: tuple[int, int], other: tuple[int, int]) -> None:
    assert (ids.match_id(*one) == ids.match_id(*other)) == (one == other)


def test_the_ids_of_a_tournament_are_scattered_and_stay_what_they_are() -> None:
    found = [ids.match_id(1, number) for number in range(20_000)]
    assert len(set(found)) == len(found)
    assert len({match[:4] for match in found}) > 8_000
    assert found[0] == ids.match_id(1, 0)
