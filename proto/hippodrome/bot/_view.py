"""From a view message to the engine's view tree."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

_Step = tuple[str, bool, Callable[[Any], Any] | None]


def view_dict(message: Message) -> dict[str, Any]:
    """The tree of dicts, lists, strings and numbers that the engine made `message` of, keyed by field name.

    Optional fields and messages that are not set are absent; lists and plain fields are always there. What comes out can be
    given to `Game.sample`, `Game.text` and `Game.svg`.
    """
    tree: dict[str, Any] = {}
    for name, optional, convert in _steps(message.DESCRIPTOR):
        if optional and not message.HasField(name):
            continue
        value = getattr(message, name)
        tree[name] = value if convert is None else convert(value)
    return tree


@cache
def _steps(descriptor: Descriptor) -> tuple[_Step, ...]:
    return tuple(_step(field) for field in descriptor.fields)


def _step(field: FieldDescriptor) -> _Step:
    kind = field.message_type
    nested = kind is not None
    if not field.is_repeated:
        return field.name, field.has_presence, view_dict if nested else None
    if kind is not None and kind.GetOptions().map_entry:
        values = kind.fields_by_name["value"].message_type
        return field.name, False, _mapping if values is not None else dict
    return field.name, False, _messages if nested else list


def _messages(values: Any) -> list[dict[str, Any]]:
    return [view_dict(value) for value in values]


def _mapping(values: Any) -> dict[Any, dict[str, Any]]:
    return {key: view_dict(value) for key, value in values.items()}
