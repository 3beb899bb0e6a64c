"""A view as one SVG picture: the turn, board, displays, story track, face-up cards and hands, from top to bottom.

Everything that a colour says is also said by a word, a letter or a shape. The picture is 360 units wide, so its text is
readable on a phone; its colours follow the reader's light or dark scheme.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any, Final

from hippodrome.engine.game import View
from hippodrome.games.antiquity.components import BOX, SYMBOL_WORDS
from hippodrome.games.antiquity.text import open_hand, symbol_letter

_WIDTH: Final = 360
_ROW: Final = 22
_TITLES: Final = {m.id: m.name for m in BOX.monuments}
_DOING: Final = {
    "build": "builds",
    "improve": "improves",
    "reorder": "reorders",
    "score": "discards two cards to score",
    "score_second": "discards a second card to score",
    "buy": "discards two cards to buy an action with",
    "buy_second": "discards a second card to buy an action with",
    "give": "exchanges a card, which one to give",
    "swap": "exchanges a card, which one to take",
}

STYLE: Final = (
    ".ha{--ink:#1d1d1f;--soft:#5a5a60;--paper:#fffdf7;--line:#b9b3a4;--chip:#f1ead9;--mark:#8a4b00;"
    "--red:#b3261e;--blue:#1f5fa8;--green:#22703a;--yellow:#8a6a00;font-family:system-ui,sans-serif;font-size:11px}"
    "@media (prefers-color-scheme:dark){.ha{--ink:#f2efe8;--soft:#b5b0a6;--paper:#1c1b19;--line:#5b564c;--chip:#2f2c26;"
    "--mark:#ffb968;--red:#ff8a80;--blue:#8ab8ff;--green:#7fd39a;--yellow:#e8c95a}}"
    ".ha text{fill:var(--ink)}.ha .soft{fill:var(--soft)}.ha .head{font-weight:600;font-size:12px}"
    ".ha .paper{fill:var(--paper)}.ha .cell{fill:none;stroke:var(--line)}.ha .chip{fill:var(--chip);stroke:var(--line)}"
    ".ha .top{stroke:var(--mark);stroke-width:2}.ha .marker{fill:var(--mark)}"
    ".ha .red{fill:var(--red)}.ha .blue{fill:var(--blue)}.ha .green{fill:var(--green)}.ha .yellow{fill:var(--yellow)}"
    ".ha .disc+text{fill:var(--paper);font-weight:600}"
)


def svg(view: View) -> str:
    """The picture of `view`; its `desc` says in words what it shows."""
    parts: list[str] = []
    y = 20
    for section in (_now, _board, _displays, _stories, _cards):
        drawn, y = section(view, y)
        parts += drawn
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="ha" role="img" viewBox="0 0 {_WIDTH} {y}" width="100%">'
        f"<title>{escape(title(view))}</title><desc>{escape(description(view))}</desc><style>{STYLE}</style>"
        f'<rect class="paper" width="{_WIDTH}" height="{y}" rx="8"/>{"".join(parts)}</svg>'
    )


def title(view: View) -> str:
    """One line: the game and whose turn it is."""
    if view["phase"] == "over":
        return "Antiquity, the game is over"
    return f"Antiquity, seat {view['to_move']} to move, actions left: {view['actions']}"


def description(view: View) -> str:
    """The position in a few sentences."""
    colours = "; ".join(_colour_words(view, colour) for colour in view["colours"])
    face_up = ", ".join(view["face_up"]) or "none"
    return f"{colours}. Stories written: {len(view['stories'])}. Face up: {face_up}. Deck: {view['deck_count']} cards."


def _colour_words(view: View, colour: dict[str, Any]) -> str:
    piles = ", ".join(f"{_TITLES[p['monument']]} {'-'.join(map(_value, p['cards'])) or 'begun'}" for p in colour["piles"])
    score = next((s["total"] for s in view.get("scores", []) if s["colour"] == colour["colour"]), None)
    points = f"{colour['points']} VP" if score is None else f"{score} VP in the end"
    owner = f"{colour['colour']} (seat {colour['seat']})"
    return f"{owner} has {points}, {colour['historians']} historians and {piles or 'no monument'}"


def _value(card: str) -> str:
    return card.rpartition("-")[2]


def _text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    mark = f' class="{kind}"' if kind else ""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{mark}>{escape(words)}</text>'


def _rect(x: float, y: float, width: float, height: float, kind: str) -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="3" class="{kind}"/>'


def symbol(letter: str, x: float, y: float) -> str:
    """The sign of a symbol, 8 units high around (x, y): ship a sail, helmet a dome, scroll a rolled sheet."""
    paths = {
        "s": "M-4 2H4L2 4H-2ZM0 -4V1H-3.5Z",
        "h": "M-4 4V0A4 4 0 0 1 4 0V4H1.5V0H-1.5V4Z",
        "c": "M-3 -4H3V4H-3ZM-1.5 -2V-1H1.5V-2ZM-1.5 0V1H1.5V0Z",
    }
    return f'<path transform="translate({x:g} {y:g})" d="{paths[letter]}" fill-rule="evenodd" class="soft"/>'


def _disc(colour: str, x: float, y: float) -> str:
    """A colour's disc with its first letter."""
    return f'<circle cx="{x:g}" cy="{y:g}" r="7" class="disc {colour}"/>{_text(x, y + 4, colour[0].upper(), anchor="middle")}'


def _now(view: View, y: int) -> tuple[list[str], int]:
    """Whose turn it is and how far an unfinished choice has come."""
    parts = [_text(8, y, title(view), "head")]
    if "pending" in view:
        y += 16
        parts.append(_text(8, y, pending_words(view)))
        for line in _lines(view["pending"]["picked"], 3):
            parts += _chips(line, 8, y + 6, short=False)
            y += _ROW
    return parts, y + 26


def pending_words(view: View) -> str:
    """What the seat to move is doing: `improves Petra for red, 1 more at least`."""
    pending = view["pending"]
    words = [_DOING[view["phase"]], _TITLES.get(pending["monument"], pending["symbol"])]
    words += ["for", pending["colour"]] if pending["colour"] else []
    least = f", {pending['need']} more at least" if pending["need"] else ""
    return " ".join(filter(None, words)) + least


def _board(view: View, y: int) -> tuple[list[str], int]:
    """The monument tracks: a row each, the marker on its space, then how many may still build."""
    size = 200 // len(BOX.sole)
    left = 96
    parts = [_text(8, y, "Monuments", "head"), _text(_WIDTH - 8, y, "may build", "soft", "end")]
    for i, sole in enumerate(BOX.sole):
        parts.append(_text(left + i * size + size / 2, y, str(sole), "soft", "middle"))
        parts.append(_text(left + i * size + size / 2, y + 12, f"{BOX.primary[i]}/{BOX.secondary[i]}", "soft", "middle"))
    y += 18
    for row in view["monuments"]:
        parts.append(_text(8, y + 14, _TITLES[row["monument"]]))
        parts += [_rect(left + i * size, y + 2, size, _ROW - 4, "cell") for i in range(len(BOX.sole))]
        parts.append(f'<circle cx="{left + (row["space"] + 0.5) * size:g}" cy="{y + _ROW / 2:g}" r="6" class="marker"/>')
        parts.append(_text(_WIDTH - 8, y + 14, str(row["available"]), anchor="end"))
        y += _ROW
    return parts, y + 18


def _displays(view: View, y: int) -> tuple[list[str], int]:
    parts: list[str] = []
    for colour in view["colours"]:
        drawn, y = _display(view, colour, y)
        parts += drawn
    return parts, y


def _display(view: View, colour: dict[str, Any], y: int) -> tuple[list[str], int]:
    """One colour: points, historians, power cards, then its piles, bottom card left, top card framed."""
    powers = [card["card"] for card in view["power_cards"] if card["holder"] == colour["colour"]]
    score = [f"total {s['total']} VP" for s in view.get("scores", []) if s["colour"] == colour["colour"]]
    points = score or [f"{colour['points']} VP"]
    words = [colour["colour"], f"seat {colour['seat']}", *points, f"historians {colour['historians']}"]
    parts = [_disc(colour["colour"], 15, y - 4), _text(28, y, ", ".join(words), "head")]
    if powers:
        y += 16
        parts.append(_text(12, y, "holds " + ", ".join(powers)))
    y += 8
    for pile in colour["piles"]:
        parts.append(_text(12, y + 14, _TITLES[pile["monument"]]))
        parts += _chips(pile["cards"], 96, y, short=True, framed=len(pile["cards"]) - 1)
        y += _ROW
    if not colour["piles"]:
        parts.append(_text(12, y + 14, "no monument", "soft"))
        y += _ROW
    return parts, y + 18


def _chips(cards: list[str], x: float, y: float, *, short: bool, framed: int = -1) -> list[str]:
    """Cards in a row; `short` shows the value and the symbol only."""
    width = 26 if short else 112
    parts = []
    for i, card in enumerate(cards):
        left = x + i * (width + 2)
        words = _value(card) if short else f"{_TITLES[card.rpartition('-')[0]]} {_value(card)}"
        parts.append(_rect(left, y + 1, width, _ROW - 3, "chip top" if i == framed else "chip"))
        parts.append(_text(left + 4, y + 14, words))
        parts.append(symbol(symbol_letter(card), left + width - 7, y + 10))
    return parts


def _stories(view: View, y: int) -> tuple[list[str], int]:
    """The story track: occupied spaces from the left, oldest historian first on each."""
    parts = [_text(8, y, "Stories by pages, the oldest first", "head")]
    spaces: dict[int, list[str]] = {}
    for story in view["stories"]:
        spaces.setdefault(len(story["cards"]), []).append(story["colour"])
    for pages in sorted(spaces, reverse=True):
        y += _ROW
        parts.append(_text(12, y, f"{pages} page{'s' * (pages != 1)}"))
        parts += [_disc(colour, 75 + 18 * i, y - 4) for i, colour in enumerate(spaces[pages])]
    if not spaces:
        y += _ROW
        parts.append(_text(12, y, "none yet", "soft"))
    return parts, y + 26


def _cards(view: View, y: int) -> tuple[list[str], int]:
    """The face-up cards, the deck, every hand as far as the view shows it."""
    rows = [("Face up", view["face_up"]), *(_hand(view, hand) for hand in view["hands"])]
    parts = [_text(_WIDTH - 8, y, f"deck {view['deck_count']}, removed {len(view['discards'])}", "soft", "end")]
    for words, cards in rows:
        parts.append(_text(8, y, words, "head"))
        y += 6
        for line in _lines(cards, 3):
            parts += _chips(line, 8, y, short=False)
            y += _ROW
        y += 18
    legend = [(i, word) for i, word in enumerate(SYMBOL_WORDS)]
    parts += [_text(20 + 70 * i, y, word, "soft") + symbol(word_letter(word), 12 + 70 * i, y - 4) for i, word in legend]
    return parts, y + 12


def word_letter(word: str) -> str:
    """The letter of a symbol's word, as in the text form of a view."""
    return "shc"[SYMBOL_WORDS.index(word)]


def _hand(view: View, hand: dict[str, Any]) -> tuple[str, list[str]]:
    """The heading of a hand and its cards, as far as the view shows them."""
    head = f"Seat {hand['seat']}: {hand['count']} cards"
    if open_hand(view, hand):
        return head, hand["cards"]
    return head + (", known to all" if hand["known"] else ""), hand["known"]


def _lines(cards: Iterable[str], size: int) -> list[list[str]]:
    row = list(cards)
    return [row[i : i + size] for i in range(0, len(row), size)]
