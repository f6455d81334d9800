# SPDX-License-Identifier: Apache-2.0
"""typed_text.py -- of the typed program as text: types of inputs, outputs and named values, and the ranges they stand for."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from .stream import require

TYPE = r'\w+\[[\d,]*\](?: q\([^)]*\))?'
INPUT = re.compile(rf'(%\d+)(?: "((?:[^"\\]|\\.)*)")?: ({TYPE})')
NODE = re.compile(rf'^  (%\d+)(?: "((?:[^"\\]|\\.)*)")? = ([\w.]+) .*? : ({TYPE})(?: loc\(.*)?$', re.M)
MANY = re.compile(rf'^  ((?:%\d+(?: "(?:[^"\\]|\\.)*")?(?:, )?)+) = [\w.]+ .*? : \(?({TYPE}(?:, {TYPE})+)\)?(?: loc\(.*)?$', re.M)
BYTES = {"bool": 1, "i4": 1, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "i32": 4, "u32": 4, "f32": 4, "f16": 2, "bf16": 2, "i48": 8, "i64": 8, "u64": 8, "f64": 8, "c64": 8}
ENDS = {"i4": (-8, 7), "i8": (-128, 127), "u8": (0, 255), "i16": (-32768, 32767), "u16": (0, 65535), "i32": (-(1 << 31), (1 << 31) - 1)}


class Type(NamedTuple):
    dtype: str
    dims: list[int]
    quant: str

    @property
    def elements(self) -> int:
        return math.prod(self.dims)


def type_of(text: str) -> Type:
    found = re.fullmatch(r"(\w+)\[([\d,]*)\](?: q\((.*)\))?", text)
    require(found, f"'{text}' is no type")
    dims = [int(d) for d in found[2].split(",") if d]
    return Type(found[1], dims, found[3] or "")


def range_of(text: str) -> tuple[float, float] | None:
    """What the least and the greatest code of a type with one scale stand for."""
    t = type_of(text)
    found = re.fullmatch(r"([-+.e\d]+):(-?\d+)(?: in (-?\d+)\.\.(-?\d+))?", t.quant)
    if not found or t.dtype not in ENDS:
        return None
    lo, hi = (int(found[3]), int(found[4])) if found[3] else ENDS[t.dtype]
    return float(found[1]) * (lo - int(found[2])), float(found[1]) * (hi - int(found[2]))


def scale_of(t: Type) -> tuple[float, int] | None:
    """Scale and zero point of a type that has one of each."""
    found = re.match(r"([-+.e\d]+):(-?\d+)", t.quant)
    return (float(found[1]), int(found[2])) if found else None


class Program:
    def __init__(self, text: str):
        head = re.search(r"^graph @\w+\((.*)\) \{$", text, re.M)
        require(head, "the typed program has no graph")
        body = text[head.end() : text.index("\n}", head.end())]
        last = re.search(r"^  return (.*)$", body, re.M)
        require(last, "the typed program returns nothing")
        self.inputs = [t for _, _, t in INPUT.findall(head[1])]
        self.types = {v: t for v, _, t in INPUT.findall(head[1])}
        self.named: dict[str, str] = {name: t for _, name, t in INPUT.findall(head[1]) if name}
        for value, name, _, kind in NODE.findall(body):
            self.types[value] = kind
            if name:
                self.named[name] = kind
        for values, kinds in MANY.findall(body):
            for (value, name), kind in zip(re.findall(r'(%\d+)(?: "((?:[^"\\]|\\.)*)")?', values), re.findall(TYPE, kinds)):
                self.types[value] = kind
                if name:
                    self.named[name] = kind
        self.outputs = [self.types.get(v, "") for v in re.findall(r"%\d+", last[1])]
