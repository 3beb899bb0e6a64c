"""The Celery application: its settings, and what importing it does not do."""

from __future__ import annotations

import subprocess
import sys

from hippodrome.workers.app import CONFIG, PLAY, app, broker_url, make_app


def test_importing_the_workers_makes_no_grpc_channel() -> None:
    """A channel that exists before a fork hangs after it, so the modules that a worker loads must make none."""
    script = """
import grpc, sys
def refuse(*_, **__):
    raise SystemExit("a channel was made at import")
grpc.insecure_channel = grpc.secure_channel = grpc.aio.insecure_channel = grpc.aio.secure_channel = refuse
import hippodrome.workers.app, hippodrome.workers.tasks, hippodrome.workers.run, hippodrome.workers.worker
import gc
assert not [o for o in gc.get_objects() if isinstance(o, grpc.Channel)]
assert not hippodrome.workers.context._CONTEXTS
print("none")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "none\n"), done.stderr


def test_the_application_has_the_settings_of_the_design() -> None:
    for name, value in CONFIG.items():
        assert app.conf[name] == value, name
    assert app.conf.result_backend is None


def test_there_is_one_task() -> None:
    import hippodrome.workers.tasks  # noqa: F401

    assert [name for name in app.tasks if not name.startswith("celery.")] == [PLAY]


def test_the_broker_is_the_given_one_else_that_of_the_home() -> None:
    from hippodrome.ladder.settings import Settings

    given = Settings.load({"HIPPODROME_BROKER_URL": "redis://127.0.0.1:6379/3"})
    own = Settings.load({"HIPPODROME_HOME": "/srv/hd"})
    assert broker_url(given) == "redis://127.0.0.1:6379/3"
    assert broker_url(own) == "redis+socket:///srv/hd/run/broker.sock"
    assert make_app(own).conf.broker_url == broker_url(own)
