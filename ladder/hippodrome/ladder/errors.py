"""The errors of the ladder.

HippodromeError
 |- DatabaseUnavailable          the database cannot be reached, or its schema is not this program's
 |- FieldError
     |- NotFound                 the named thing is not there; `legal` holds near names
     |- AlreadyExists            the name is taken
     |- WrongState               the thing is not in a state that allows this
"""

from __future__ import annotations

from hippodrome.engine.errors import FieldError, HippodromeError


class DatabaseUnavailable(HippodromeError):
    """The database cannot be used now; the message names its address without the password, and the fix."""


class NotFound(FieldError):
    """The field names something that is not there."""


class AlreadyExists(FieldError):
    """The field gives a name that is taken."""


class WrongState(FieldError):
    """The thing the field names is in a state that does not allow what was asked."""
