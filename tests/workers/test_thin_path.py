"""Two random bots play a tournament through Celery, engine node and worker to results in SQL."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from hippodrome.engine.record import loads
from hippodrome.engine.verify import verify
from hippodrome.games.registry import get_game

RunRig = Callable[..., AbstractContextManager[Any]]


def test_a_tournament_of_two_random_bots_is_played_to_its_end(run_rig: RunRig, database_url: str) -> None:
    with run_rig(database_url, lease=15.0) as rig:
        name = rig.plan(blocks=5)
        rig.check_finished(name, 10)
        assert [row.state for row in rig.rows("tournament")] == ["finished"]
        assert {row.outcome for row in rig.rows("attempt")} == {"completed"}
        for row in rig.rows("result"):
            record = loads(gzip.decompress(row.record).decode())
            assert record.header["match"] == f"matches/{row.match_id}"
            result = verify(record, get_game("antiquity")).result
            assert result is not None
            assert result.places == tuple(row.places)
        assert {row.matches for row in rig.rows("rating")} == {10}


def test_prefork_children_play_too(run_rig: RunRig) -> None:
    with run_rig(pool="prefork", slots=2, lease=15.0) as rig:
        rig.check_finished(rig.plan(blocks=2), 4)
