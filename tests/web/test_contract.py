"""The contract of the read API: the committed snapshot is what the program says, and says enough."""

from __future__ import annotations

import json
from pathlib import Path

from hippodrome.ladder.web.openapi import contract

SNAPSHOT = Path(__file__).parents[2] / "docs" / "openapi.json"


def test_the_snapshot_is_the_contract() -> None:
    """After a wanted change: python -m hippodrome.ladder.web.openapi > docs/openapi.json"""
    assert contract() == SNAPSHOT.read_text(encoding="utf-8")


def test_every_reference_resolves_and_every_field_is_described() -> None:
    schema = json.loads(contract())
    known = schema["components"]["schemas"]
    used = {part.partition('"')[0] for part in contract().split("#/components/schemas/")[1:]}
    assert used == set(known)
    for name, model in known.items():
        assert model["description"], name
        assert all(field["description"] for field in model["properties"].values()), name


def test_every_path_says_what_it_gives_and_how_it_fails() -> None:
    for path, item in json.loads(contract())["paths"].items():
        assert list(item) == ["get"], path
        assert item["get"]["description"], path
        codes = set(item["get"]["responses"])
        assert {"200", "422", "503"} <= codes, path
        assert ("404" in codes) == ("{" in path or path == "/api/v1/matches"), path
