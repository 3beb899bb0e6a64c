"""The errors of the engine.

    HippodromeError (ValueError)     every error a user can cause; catch this one to print one line
     |- FieldError                   a setting, option or argument: field, what was wrong, fix
     |- InvalidMove                  the text is no move of this game's notation
     |- IllegalMove                  a move of the game, but not now; carries the section and the reason
     |- RecordError                  a match record that cannot be read or does not verify

Each keeps its constructor's arguments as `args`, so that it survives a copy and the way back from another process.
"""


class HippodromeError(ValueError):
    """Base of all errors that bad input can cause."""


class FieldError(HippodromeError):
    """One field is wrong: `field` names it, `problem` says what is wrong, `fix` what to do, `legal` what is allowed."""

    def __init__(self, field: str, problem: str, fix: str, legal: tuple[str, ...] = ()) -> None:
        super().__init__(field, problem, fix, legal)
        self.field, self.problem, self.fix, self.legal = field, problem, fix, legal

    def __str__(self) -> str:
        return f"{self.field}: {self.problem}; fix: {self.fix}"


class InvalidMove(HippodromeError):
    """`text` cannot be read as a move of the game."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(text, reason)
        self.text, self.reason = text, reason

    def __str__(self) -> str:
        return f"move: {self.text[:80]!r} {self.reason}"


class IllegalMove(HippodromeError):
    """`text` is a move, but the rules do not allow it now; `section` is the rulebook's."""

    def __init__(self, text: str, section: str, reason: str) -> None:
        super().__init__(text, section, reason)
        self.text, self.section, self.reason = text, section, reason

    def __str__(self) -> str:
        return f"move: {self.text!r} is not legal: {self.reason} ({self.section})"


class RecordError(HippodromeError):
    """A record that cannot be read, or whose line `line` (1-based, 0 for the whole) differs from its re-execution."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(line, problem)
        self.line, self.problem = line, problem

    def __str__(self) -> str:
        return f"record line {self.line}: {self.problem}" if self.line else f"record: {self.problem}"
