# SPDX-License-Identifier: Apache-2.0
"""statements.py -- the typed program as statements: operators with operands, attributes and types, and its constants."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .stream import require
from .typed_text import TYPE, Type, type_of

WORD = r'"(?:[^"\\]|\\.)*"'
HEAD = re.compile(rf"^  ((?:%\d+(?: {WORD})?(?:, )?)+) = ([\w.]+) (.*)$", re.M)
RESULT = re.compile(r'(%\d+)(?: "((?:[^"\\]|\\.)*)")?')
PLACE = re.compile(rf" loc\((?:[^\"()]|{WORD}|\((?:[^\"()]|{WORD})*\))*\)$")
ATTRIBUTE = re.compile(rf"(\w+)=({WORD}|\[[^\]]*\]|\S+)")
SIDE = re.compile(r'^bin "(\d+):([0-9a-f]{16})"$', re.M)
STORAGE = {"bool": np.bool_, "i4": np.int8, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i48": np.int64, "i64": np.int64, "shape": np.int64,
           "f32": np.float32, "f64": np.float64, "f16": np.float16}
NAMED = {"true": True, "false": False, "inf": np.inf, "-inf": -np.inf, "nan": np.nan}


class Statement(NamedTuple):
    results: list[str]
    names: list[str]
    op: str
    operands: list[str]
    attributes: dict
    types: list[Type]
    body: str  # what stands between the operator and its types


def fnv1a(data: bytes) -> int:
    found = 0xCBF29CE484222325
    for byte in data:
        found = (found ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return found


def value_of(text: str):
    """Of an attribute: a number, a list of numbers, a word."""
    if text in NAMED:
        return NAMED[text]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def constant(text: str, t: Type, side: bytes | None) -> np.ndarray | None:
    """None: the file of constants is not at hand."""
    dtype = STORAGE.get(t.dtype)
    if dtype is None:
        raise NotImplementedError(f"constants of {t.dtype}")
    where = re.match(r"@bin\((\d+)\)", text)
    if where:
        return None if side is None else np.frombuffer(side, dtype, t.elements, int(where[1])).reshape(t.dims)
    numbers = re.match(r"\[[^\]]*\]|\S+", text)[0]
    return np.array([NAMED.get(w, None) if w in NAMED else float(w) if t.dtype[0] == "f" else int(w) for w in numbers.strip("[]").split(", ") if w], dtype).reshape(t.dims)


def statements(text: str) -> list[Statement]:
    found = []
    for results, op, rest in HEAD.findall(text):
        rest = PLACE.sub("", rest)
        body, _, kinds = rest.partition(" : ") if op == "const" else rest.rpartition(" : ")
        operands = re.match(r"(?:%\d+|none)(?:, (?:%\d+|none))*", body)
        attributes = {} if op == "const" else {name: value_of(value) for name, value in ATTRIBUTE.findall(body)}
        values = RESULT.findall(results)
        found.append(Statement([v for v, _ in values], [name for _, name in values], op, operands[0].split(", ") if operands else [], attributes,
                               [type_of(t) for t in re.findall(TYPE, kinds)], body))
    return found


def side_of(text: str, folder: Path | None) -> bytes | None:
    """The file of constants that the text names, from a folder of `compile --dump-dir`."""
    said = SIDE.search(text)
    if not said:
        return b""
    for path in sorted(folder.rglob("*.bin")) if folder else []:
        data = path.read_bytes()
        if len(data) == int(said[1]) and fnv1a(data) == int(said[2], 16):
            return data
    require(folder is None, f"no file of {folder} has the constants of the typed program")
    return None
