"""The phases: what the seat to move has to choose. The table of their moves and steps ends `rules.py`."""

from __future__ import annotations

from typing import Final

TURN, BUILDING, IMPROVING, REORDERING = range(4)
SCORING, SCORING_SECOND, BUYING, BUYING_SECOND = range(4, 8)
GIVING, SWAPPING, OVER = range(8, 11)

PHASE_NAMES: Final = (
    "turn", "build", "improve", "reorder", "score", "score_second", "buy", "buy_second", "give", "swap", "over",
)  # fmt: skip
"""By phase: its word in a view."""
