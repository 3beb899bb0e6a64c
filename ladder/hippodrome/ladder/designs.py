"""Balanced designs for tables of 3 and 4."""

from __future__ import annotations

from typing import Final

Design = tuple[int, tuple[tuple[int, ...], ...]]
DESIGNS: Final[dict[int, dict[int, Design]]] = {3: {}, 4: {}}


def develop(entries: int, design: Design) -> list[tuple[int, ...]]:
    """All tables of a design."""
    modulus, starters = design
    return [
        tuple(entry if entry == modulus and modulus < entries else (entry + shift) % modulus for entry in starter)
        for shift in range(modulus)
        for starter in starters
    ]
