# SPDX-License-Identifier: Apache-2.0
"""What the library says, as records, warnings and exceptions."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional, Sequence


@dataclass(frozen=True)
class Diagnostic:
    """One message: where, what was found, what was expected, and what to do."""

    severity: str  #: "error", "warning" or "note"
    id: str  #: a stable word for what it is about; doc/errors.md lists them
    status: int  #: what the call came to; the command line's exit code
    file: Optional[str]  #: the file as it was named
    place: Optional[str]  #: "attention.py:41", "7:14", "byte 1042"
    node: Optional[str]  #: PyTorch's node
    module: Optional[str]  #: the innermost module's path
    text: str
    notes: tuple[str, ...] = ()  #: what to do about it

    def __str__(self) -> str:
        where = ": ".join(p for p in (self.file or "tosac", self.place) if p)
        lines = [f"{where}: {self.severity}: {self.text} [{self.id}]"]
        return "\n".join(lines + [f"{where}: note: {note}" for note in self.notes])


class TosacWarning(UserWarning):
    """A message that is no error; `.diagnostic` has its parts."""

    def __init__(self, diagnostic: Diagnostic):
        super().__init__(str(diagnostic))
        self.diagnostic = diagnostic


class TosacError(Exception):
    """Something went wrong.

    `id`, `place`, `file`, `node` and `note` are those of the first error; `diagnostics` has every message of the call.
    """

    status = 1

    def __init__(self, words: str, diagnostics: Sequence[Diagnostic] = ()):
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)
        first = next((d for d in self.diagnostics if d.severity == "error"), None)
        self.id: str = first.id if first else ""
        self.file: Optional[str] = first.file if first else None
        self.place: Optional[str] = first.place if first else None
        self.node: Optional[str] = first.node if first else None
        self.text: str = first.text if first else words
        self.notes: tuple[str, ...] = first.notes if first else ()
        super().__init__("\n".join(map(str, self.diagnostics)) or words)

    def __reduce__(self) -> Any:
        """As it is, to another process."""
        return _again, (type(self), self.args, self.__dict__)

    @property
    def note(self) -> str:
        """What to do about it; "" when there is nothing to say."""
        return "; ".join(self.notes)


class ModelError(TosacError):
    """The model, a file or the data is not valid."""


class UsageError(TosacError, ValueError):
    """An argument or a setting is mistaken."""

    status = 2


class UnsupportedError(TosacError, NotImplementedError):
    """It is valid but not supported yet."""

    status = 3


class ToolError(TosacError):
    """A library that is needed is missing."""

    status = 4


class OutOfMemoryError(TosacError, MemoryError):
    """Out of memory."""

    status = 5


class CancelledError(TosacError):
    """The work was cancelled."""

    status = 6


class BugError(TosacError):
    """A mistake in tosac itself; please report it."""

    status = 70


class ExportError(TosacError):
    """torch.export could not take the module; `__cause__` is its own exception."""

    def __init__(self, words: str, notes: Sequence[str]):
        super().__init__(words, [Diagnostic("error", "export", 1, None, None, None, None, words, tuple(notes))])


def _again(kind: type, args: tuple, parts: dict) -> TosacError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(parts)
    return error


_KIND = {k.status: k for k in (ModelError, UsageError, UnsupportedError, ToolError, OutOfMemoryError, CancelledError, BugError)}


def error_of(status: int, words: str, diagnostics: Sequence[Diagnostic]) -> TosacError:
    return _KIND.get(status, BugError)(words, diagnostics)


def usage(words: str, *notes: str) -> UsageError:
    return UsageError(words, [Diagnostic("error", "usage", 2, None, None, None, None, words, tuple(notes))])
