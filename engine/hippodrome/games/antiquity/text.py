"""A view as plain text for a terminal, at most 80 columns."""

from __future__ import annotations

import textwrap
from typing import Any, Final

from hippodrome.engine.game import View
from hippodrome.games.antiquity.components import BOX, CARD_OF, SYMBOL_OF, SYMBOL_WORDS

_WIDTH: Final = 80


def text(view: View) -> str:
    """The table: whose turn it is, the board with each colour's piles, stories, face-up cards, hands."""
    lines = [_head(view), "", *_board(view), "", *_colours(view), "", *_rest(view)]
    return "\n".join(line for part in lines for line in _wrapped(part) or [""]) + "\n"


def card_words(names: list[str]) -> str:
    """Cards with the first letter of their symbol: `petra-1s` shows a ship (h helmet, c scroll)."""
    return " ".join(name + symbol_letter(name) for name in names) or "none"


def symbol_letter(name: str) -> str:
    """`s`, `h` or `c`: the sign of the symbol a card shows."""
    return "shc"[SYMBOL_OF[CARD_OF[name]]]


def _head(view: View) -> str:
    if view["phase"] == "over":
        return "Antiquity: the game is over"
    left = f"{view['actions']} action{'s' * (view['actions'] != 1)} left"
    return f"Antiquity: seat {view['to_move']} to move, {left}{_doing(view.get('pending'), view['phase'])}"


def _doing(pending: dict[str, Any] | None, phase: str) -> str:
    if pending is None:
        return ""
    object_ = pending["monument"] or pending["symbol"]
    picked = f" after {' '.join(pending['picked'])}" if pending["picked"] else ""
    return f", {phase.replace('_', ' ')} {object_}".rstrip() + picked


def _board(view: View) -> list[str]:
    """One line a monument: marker space and value, cards of each pile from the bottom up, who may still build."""
    head = f"{'monument':<14}{'space':>5}{'value':>9}  " + "".join(f"{c['colour']:<12}" for c in view["colours"])
    return [head.rstrip(), *(_row(view, row) for row in view["monuments"])]


def _row(view: View, row: dict[str, Any]) -> str:
    space, name = row["space"], row["monument"]
    value = f"{BOX.sole[space]}/{BOX.primary[space]}-{BOX.secondary[space]}"
    piles = "".join(f"{_pile(colour, name):<12}" for colour in view["colours"])
    return f"{name:<14}{space:>5}{value:>9}  {piles}".rstrip()


def _pile(colour: dict[str, Any], monument: str) -> str:
    for pile in colour["piles"]:
        if pile["monument"] == monument:
            return "".join(name.rpartition("-")[2] for name in pile["cards"]) or "new"
    return "."


def _colours(view: View) -> list[str]:
    return [line for colour in view["colours"] for line in _colour(view, colour)]


def _colour(view: View, colour: dict[str, Any]) -> list[str]:
    shown = [name for pile in colour["piles"] for name in pile["cards"]]
    counts = "  ".join(f"{word} {sum(symbol_letter(n) == 'shc'[i] for n in shown)}" for i, word in enumerate(SYMBOL_WORDS))
    powers = [card["card"] for card in view["power_cards"] if card["holder"] == colour["colour"]]
    holds = f"  holds {' '.join(powers)}" if powers else ""
    head = f"{colour['colour']:<7}seat {colour['seat']}  {colour['points']:>3} VP  historians {colour['historians']}"
    return [f"{head}  {counts}{holds}", *_score(view, colour["colour"])]


def _score(view: View, colour: str) -> list[str]:
    for score in view.get("scores", []):
        if score["colour"] == colour:
            parts = ("track", "monuments", "stories", "bonus", "unused", "powers")
            return [f"       total {score['total']}: " + ", ".join(f"{part} {score[part]}" for part in parts)]
    return []


def _rest(view: View) -> list[str]:
    stories = [f"{t['colour']} {len(t['cards'])}" for t in view["stories"]]
    rows = [
        ("stories", ", ".join(stories) or "none"),
        ("face up", card_words(view["face_up"])),
        ("deck", f"{view['deck_count']} cards; {len(view['discards'])} removed"),
        *((f"seat {hand['seat']}", _hand(view, hand)) for hand in view["hands"]),
    ]
    return [f"{name:<9}{words}" for name, words in rows]


def open_hand(view: View, hand: dict[str, Any]) -> bool:
    """Whether `view` shows the whole hand: the own one of the looking seat, every one in the view of the table. A view that
    has come over the wire holds an empty list of cards for the others."""
    return bool(view.get("seat", hand["seat"]) == hand["seat"])


def _hand(view: View, hand: dict[str, Any]) -> str:
    if open_hand(view, hand):
        return f"{hand['count']} cards: {card_words(hand['cards'])}"
    return f"{hand['count']} cards, known: {card_words(hand['known'])}"


def _wrapped(line: str) -> list[str]:
    return textwrap.wrap(line, _WIDTH, subsequent_indent=" " * 9, break_long_words=False, break_on_hyphens=False)
