# SPDX-License-Identifier: Apache-2.0
"""places.py -- places of src/lower and src/codegen that can be changed, and what each becomes."""
from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

TOP = Path(__file__).resolve().parent.parent.parent
FOLDERS = ("src/lower", "src/codegen")

#: kind, what is changed, into what
CHANGES = [
    ("condition", r"(?<![<>=!-])<(?![<=])(?= )", "<="), ("condition", r"<=", "<"), ("condition", r"(?<![->])>(?![>=])(?= )", ">="),
    ("condition", r"(?<!>)>=", ">"), ("condition", r"==", "!="), ("condition", r"!=", "=="), ("condition", r" && ", " || "),
    ("condition", r" \|\| ", " && "), ("condition", r"(?<=[( ])!(?=[a-z_])", ""), ("condition", r"\btrue\b", "false"), ("condition", r"\bfalse\b", "true"),
    ("operator", r"(?<=[\w)\]]) \+ (?=[\w(])", " - "), ("operator", r"(?<=[\w)\]]) - (?=[\w(])", " + "), ("operator", r"(?<=[\w)\]]) \* (?=[\w(])", " + "),
    ("operator", r" / (?=[\w(])", " * "), ("operator", r" << ", " >> "), ("operator", r" >> ", " << "), ("operator", r"\bfmax\(", "fmin("),
    ("operator", r"\bti_max_i64\(", "ti_min_i64("), ("operator", r"\bti_min_i64\(", "ti_max_i64("),
    ("constant", r"(?<![\w.\"])(\d+)(?![\w.\"xX])", lambda m: str(int(m[0]) + 1)),
]
HIDDEN = re.compile(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|^[ \t]*#[^\n]*|//[^\n]*|\'(?:[^\'\\]|\\.)+\'|^(?:typedef|enum)\b.*?;', re.S | re.M)


class Place(NamedTuple):
    path: Path
    at: int
    kind: str
    old: str
    new: str


class Mutant:
    """A file with one place changed."""

    def __init__(self, place: Place):
        text = place.path.read_text()
        self.path, self.kind = place.path, place.kind
        self.line = text.count("\n", 0, place.at) + 1
        self.source = text[:place.at] + place.new + text[place.at + len(place.old):]
        name, shown = place.path.relative_to(TOP), text.splitlines()[self.line - 1].strip()
        column = place.at - text.rfind("\n", 0, place.at)
        self.words = f"{name}:{self.line}:{column}: '{place.old.strip()}' is '{place.new.strip()}': {shown}"


def masked(text: str) -> str:
    """The same length, with comments, texts and directives as blanks."""
    return HIDDEN.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def body_starts(text: str) -> int:
    found = re.search(r"^\{", text, re.M)
    return found.start() if found else len(text)


def places() -> list[Place]:
    """All behind the head of a file, in one order on every machine."""
    found = []
    for folder in FOLDERS:
        for path in sorted((TOP / folder).rglob("*.c")):
            text = masked(path.read_text())
            first = body_starts(text)
            for kind, pattern, new in CHANGES:
                found += [Place(path, m.start(), kind, m[0], m.expand(new) if isinstance(new, str) else new(m))
                          for m in re.finditer(pattern, text) if m.start() > first]
    return found
