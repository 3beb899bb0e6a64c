"""The Celery application. Its messages are doorbells: they carry a match id, and SQL decides what follows.

Settings come from the reliability study: late acknowledgement and a prefetch of one, so that no match waits behind a long
one; no result backend, canvas, eta or beat; a message lost with its worker stays lost, for the reconciler rings again.
Prefork children are spawned, because a forked child cannot use gRPC safely. Importing this makes no gRPC channel.
"""

from __future__ import annotations

from typing import Any, Final

from celery import Celery

from hippodrome.ladder.settings import Settings
from hippodrome.workers.broker import socket_path, socket_url

QUEUE: Final = "matches"
PLAY: Final = "hippodrome.play"
"""The name of the one task."""
VISIBILITY: Final = 3600
"""Seconds after which an unacknowledged doorbell rings again; early or late, it changes nothing."""

CONFIG: Final[dict[str, Any]] = {
    "task_acks_late": True,
    "task_reject_on_worker_lost": False,
    "task_ignore_result": True,
    "task_store_errors_even_if_ignored": False,
    "task_default_queue": QUEUE,
    "task_serializer": "json",
    "accept_content": ["json"],
    "task_publish_retry": False,
    "worker_prefetch_multiplier": 1,
    "worker_pool_start_method": "spawn",
    "worker_max_tasks_per_child": 200,
    "worker_cancel_long_running_tasks_on_connection_loss": False,
    "worker_enable_remote_control": False,
    "worker_send_task_events": False,
    "worker_redirect_stdouts": False,
    "worker_hijack_root_logger": False,
    "broker_connection_max_retries": None,
    "broker_connection_retry_on_startup": True,
    "broker_transport_options": {
        "visibility_timeout": VISIBILITY,
        "unacked_restore_interval": 5,
        "unacked_restore_throttle": 1,
        "socket_timeout": 30,
        "socket_keepalive": True,
        "health_check_interval": 5,
    },
}


def broker_url(settings: Settings) -> str:
    """The broker of the settings, else the one that `up` runs in the home."""
    return settings.broker_url or socket_url(socket_path(settings.home))


def make_app(settings: Settings) -> Celery:
    """The application for an installation."""
    made = Celery("hippodrome", include=["hippodrome.workers.tasks"], broker=broker_url(settings), set_as_current=True)
    made.conf.update(CONFIG)
    return made


app = make_app(Settings.load())
