"""`python -m hippodrome.ladder.web.openapi > docs/openapi.json`: the contract of the read API as text, without a database."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from hippodrome.ladder.settings import Settings
from hippodrome.ladder.web.app import create_app


def contract() -> str:
    """The contract, formatted so that a change is a small difference."""
    home = Path("/nonexistent")
    settings = Settings.load({"HIPPODROME_HOME": str(home)})
    return json.dumps(create_app(settings).openapi(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(contract())
