"""Tickets: only this installation's, only until they expire."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippodrome.engine.errors import FieldError
from hippodrome.engine.tickets import Ticket, check, internal_key, issue

SECRET = b"0123456789abcdef"
TICKET = Ticket("anna", "bots/anna/versions/3", 2_000_000_000)


@given(st.binary(max_size=40), st.text(max_size=40), st.text(max_size=40), st.integers(0, 2**40))
def test_a_ticket_reads_back(secret: bytes, bot: str, version: str, expires: int) -> None:
    ticket = Ticket(bot, version, expires)
    text = issue(secret, ticket)
    assert text.isascii()
    assert check(secret, text, now=expires) == ticket


def test_a_ticket_expires() -> None:
    text = issue(SECRET, TICKET)
    assert check(SECRET, text, now=TICKET.expires + 0.0) == TICKET
    with pytest.raises(FieldError, match="ticket: expired; fix: ask for a new one"):
        check(SECRET, text, now=TICKET.expires + 0.5)


def test_another_installation_refuses_it() -> None:
    with pytest.raises(FieldError, match="not issued by this installation"):
        check(b"another secret", issue(SECRET, TICKET), now=0)


def test_a_change_of_any_character_is_refused() -> None:
    text = issue(SECRET, TICKET)
    for at, old in enumerate(text):
        changed = text[:at] + ("A" if old != "A" else "B") + text[at + 1 :]
        with pytest.raises(FieldError, match="not issued"):
            check(SECRET, changed, now=0)


def test_a_payload_of_ones_own_is_refused() -> None:
    raw = json.dumps({"bot": "anna", "version": "bots/anna/versions/9", "expires": 2**40}).encode()
    payload = base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
    with pytest.raises(FieldError, match="not issued"):
        check(SECRET, payload + "." + issue(SECRET, TICKET).split(".")[1], now=0)


@pytest.mark.parametrize("text", ["", ".", "..", "a.b", "\u00e9.\u00e9", "\udc80.x", "x" * 100_000])
def test_a_text_that_is_no_ticket_is_refused(text: str) -> None:
    with pytest.raises(FieldError, match="not issued"):
        check(SECRET, text, now=0)


def test_the_internal_key_follows_from_the_secret_alone() -> None:
    assert internal_key(SECRET) == internal_key(SECRET)
    assert internal_key(SECRET) != internal_key(b"another secret")
    assert len(internal_key(SECRET)) == 64
