"""The errors of the engine.

    HippodromeError (ValueError)     every error a user can cause; catch this one to print one line
     |- FieldError                   a setting, option or argument: field, what was wrong, fix
     |- InvalidMove                  the text is no move of this game's notation
     |- IllegalMove                  a move of the game, but not now; carries the section and the reason
     |- RecordError                  a match record that cannot be read or does not verify
"""


class HippodromeError(ValueError):
    """Base of all errors that bad input can cause."""


class FieldError(HippodromeError):
    """One field is wrong: `field` names it, `problem` says what is wrong, `fix` what to do, `legal` what is allowed."""

    def __init__(self, field: str, problem: str, fix: str, legal: tuple[str, ...] = ()) -> None:
        super().__init__(f"{field}: {problem}; fix: {fix}")
        self.field, self.problem, self.fix, self.legal = field, problem, fix, legal


class InvalidMove(HippodromeError):
    """`text` cannot be read as a move of the game."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(f"move: {text[:80]!r} {reason}")
        self.text, self.reason = text, reason


class IllegalMove(HippodromeError):
    """`text` is a move, but the rules do not allow it now; `section` is the rulebook's."""

    def __init__(self, text: str, section: str, reason: str) -> None:
        super().__init__(f"move: {text!r} is not legal: {reason} ({section})")
        self.text, self.section, self.reason = text, section, reason


class RecordError(HippodromeError):
    """A record that cannot be read, or whose line `line` (1-based, 0 for the whole) differs from its re-execution."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"record line {line}: {problem}" if line else f"record: {problem}")
        self.line, self.problem = line, problem
