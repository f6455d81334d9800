# SPDX-License-Identifier: Apache-2.0
"""A typed program's text (doc/ir.md) as Python objects, and back: values with their types, nodes with their attributes."""
from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass, field
from typing import Any, Optional

import numpy as np

STORED = {"bool": np.uint8, "i4": np.int8, "i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16, "i32": np.int32, "u32": np.uint32,
          "i48": np.int64, "i64": np.int64, "u64": np.uint64, "shape": np.int64, "f16": np.float16, "bf16": np.uint16, "f32": np.float32,
          "f64": np.float64, "c64": np.complex64}
_BITS = {"i4": 4, "i8": 8, "i16": 16, "i32": 32, "i48": 48}


def _split(text: str, mark: str, most: int = -1) -> list[str]:
    """The parts between marks that are in no string and no bracket."""
    out, depth, start, i, quoted = [], 0, 0, 0, False
    while i < len(text):
        c = text[i]
        if quoted:
            i += 1 if c == "\\" else 0
            quoted = c != '"'
        elif c == '"':
            quoted = True
        elif depth == 0 and text.startswith(mark, i) and most:
            out.append(text[start:i])
            start, most, i = i + len(mark), most - 1, i + len(mark) - 1
        elif c in "([":
            depth += 1
        elif c in ")]":
            depth -= 1
        i += 1
    return out + [text[start:]]


@dataclass
class Quant:
    """real = scale (code - zero), by channel of `axis` or for all; codes from lo to hi."""

    axis: Optional[int]
    scale: np.ndarray
    zero: np.ndarray
    lo: int
    hi: int
    said: bool  # the range stands in the text

    def __str__(self) -> str:
        pairs = ", ".join(f"{float(np.float32(s))!r}:{int(z)}" for s, z in zip(self.scale, self.zero))
        return f" q({'' if self.axis is None else f'axis={self.axis}; '}{pairs}{f' in {self.lo}..{self.hi}' if self.said else ''})"


def _quant_of(text: str, dtype: str) -> Quant:
    bits = _BITS.get(dtype, 8)
    lo, hi = (0, 2 ** bits - 1) if dtype[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    said = re.search(r" in (-?\d+)\.\.(-?\d+)$", text)
    if said:
        lo, hi, text = int(said[1]), int(said[2]), text[: said.start()]
    by = re.match(r"axis=(\d+); ", text)
    pairs = [p.split(":") for p in (text[by.end():] if by else text).split(", ")]
    return Quant(int(by[1]) if by else None, np.array([float(s) for s, _ in pairs]), np.array([int(z) for _, z in pairs]), lo, hi, bool(said))


@dataclass
class Value:
    number: int
    name: Optional[str] = None
    dtype: str = ""
    dims: tuple[int, ...] = ()
    quant: Optional[Quant] = None
    body: Optional[str] = None  # a constant's numbers as text
    data: Optional[np.ndarray] = None  # or as an array

    def typed(self, text: str) -> "Value":
        found = re.fullmatch(r"(\w+)\[([\d,]*)\](?: q\((.*)\))?", text.strip(), re.S)
        if not found:
            raise ValueError(f"a type is not understood: {text}")
        self.dtype, self.dims = found[1], tuple(int(d) for d in found[2].split(",") if d)
        self.quant = _quant_of(found[3], found[1]) if found[3] else None
        return self

    def type_text(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.dims))}]{self.quant or ''}"

    def __str__(self) -> str:
        return f"%{self.number}" + (f' "{self.name}"' if self.name is not None else "")

    @property
    def constant(self) -> bool:
        return self.body is not None or self.data is not None

    def array(self) -> np.ndarray:
        """A constant's stored numbers."""
        if self.data is None:
            words = re.sub(r"\btrue\b", "1", re.sub(r"\bfalse\b", "0", self.body))
            words = re.sub(r"\binf\b", "Infinity", re.sub(r"-?\bnan\b(\(0x\w+\))?", "NaN", words))
            numbers = json.loads(words)
            if self.dtype == "bf16":
                self.data = (np.array(numbers, np.float32).view(np.uint32) >> 16).astype(np.uint16).reshape(self.dims)
            else:
                self.data = np.array(numbers, STORED[self.dtype]).reshape(self.dims)
        return self.data


@dataclass
class Node:
    op: str
    out: list[int]
    ins: list[Optional[int]]
    attrs: dict[str, Any]
    said: str = ""  # operands and attributes as they stand in the text
    place: str = ""


def _attribute(text: str) -> Any:
    if text[:1] == '"':
        return ast.literal_eval(text)
    if text[:1] == "[":
        return [_attribute(t) for t in text[1:-1].split(",") if t]
    if text in ("true", "false", "none"):
        return {"true": True, "false": False, "none": None}[text]
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return text


@dataclass
class Graph:
    name: str
    ins: list[int]
    values: dict[int, Value]
    nodes: list[Node] = field(default_factory=list)
    outs: list[int] = field(default_factory=list)
    mutations: list[tuple[int, int]] = field(default_factory=list)
    ports: list[str] = field(default_factory=list)  # takes, gives, image: as they stand

    def text(self, store: Any, ins: list[int], outs: list[int], whole: bool) -> str:
        """whole: with its signature and mutations; store: a constant's array to its text."""
        lines = [f"graph @{self.name}(" + ", ".join(f"{self.values[v]}: {self.values[v].type_text()}" for v in ins) + ") {"]
        for node in self.nodes:
            made = [self.values[v] for v in node.out]
            if node.op == "const" and node.out[0] in ins:
                continue
            said = store(made[0]) if node.op == "const" else node.said
            lhs = ", ".join(map(str, made)) + " = " if made else ""
            types = " : " + ", ".join(v.type_text() for v in made) if made else ""
            lines.append(f"  {lhs}{node.op}{' ' if said else ''}{said}{types}{node.place}")
        if whole:
            lines += self.ports + [f"  mutate %{a} -> %{b}" for a, b in self.mutations]
        return "\n".join([*lines, f"  return {', '.join(f'%{v}' for v in outs)}".rstrip(), "}"])


class Program:
    """A module in text form: the first graph is the program."""

    def __init__(self, text: str, side: bytes = b""):
        self.headers: list[str] = []
        self.graphs: dict[str, Graph] = {}
        graph: Optional[Graph] = None
        for line in text.splitlines():
            if line.startswith("graph "):
                graph = self._open(line)
            elif line.startswith("}") or not line.strip() or line.startswith("#"):
                continue
            elif graph is None:
                self.headers += [] if line.startswith("bin ") else [line]
            else:
                self._statement(graph, line, side)
        self.main = next(iter(self.graphs.values()))

    def _open(self, line: str) -> Graph:
        name, rest = re.match(r'graph @("(?:[^"\\]|\\.)*"|[\w.]+)\((.*)\) \{$', line).groups()
        graph = Graph(name, [], {})
        for port in (p for p in _split(rest, ", ") if p):
            value, kind = _split(port, ": ", 1)
            graph.ins.append(self._value(graph, value).typed(kind).number)
        self.graphs[name.strip('"')] = graph
        return graph

    @staticmethod
    def _value(graph: Graph, text: str) -> Value:
        number, name = re.match(r'\s*%(\d+)(?: "((?:[^"\\]|\\.)*)")?', text).groups()
        return graph.values.setdefault(int(number), Value(int(number), name))

    def _statement(self, graph: Graph, line: str, side: bytes) -> None:
        line = line.strip()
        word = line.split(" ", 1)[0]
        if word == "return":
            graph.outs = [int(v) for v in re.findall(r"%(\d+)", line)]
        elif word == "mutate":
            graph.mutations.append(tuple(int(v) for v in re.findall(r"%(\d+)", line)))
        elif word in ("takes", "gives", "image"):
            graph.ports.append("  " + line)
        else:
            self._node(graph, line, side)

    def _node(self, graph: Graph, line: str, side: bytes) -> None:
        made, _, rest = ("", "", line) if line[0] != "%" else (*_split(line, " = ", 1)[:1], "", _split(line, " = ", 1)[1])
        parts = _split(rest, " loc(", 1)
        place = " loc(" + parts[1] if len(parts) > 1 else ""
        body, *types = _split(parts[0], " : ", 1)
        op, _, said = body.partition(" ")
        values = [self._value(graph, m) for m in _split(made, ", ")] if made else []
        for value, kind in zip(values, _split(types[0], ", ") if types else []):
            value.typed(kind)
        node = Node(op, [v.number for v in values], [], {}, said, place)
        graph.nodes.append(node)
        if op == "const":
            self._constant(values[0], said, side)
            return
        for word in _split(said, " "):
            word = word.rstrip(",") if word[:1] == "%" or word.startswith("none") else word
            if word == "none" or word[:1] == "%":
                node.ins.append(None if word == "none" else int(word[1:]))
            elif "=" in word:
                key, _, value = word.partition("=")
                node.attrs[key] = _attribute(value)

    @staticmethod
    def _constant(value: Value, said: str, side: bytes) -> None:
        at = re.fullmatch(r"@bin\((\d+)\)", said.strip())
        if at and value.dtype not in STORED:
            raise ValueError(f"constants of type {value.dtype}")
        if at:
            count = int(np.prod(value.dims, dtype=np.int64))
            value.data = np.frombuffer(side, STORED[value.dtype], count, int(at[1])).reshape(value.dims)
        else:
            value.body = said

    def write(self, ins: Optional[list[int]] = None, outs: Optional[list[int]] = None) -> tuple[str, bytes]:
        """Its text and the bytes of its constants; with other inputs (constants may be some) and outputs than its own, without signature."""
        side = bytearray()

        def store(value: Value) -> str:
            if value.data is None:
                return value.body
            side.extend(b"\0" * (-len(side) % 64))
            at = len(side)
            side.extend(np.ascontiguousarray(value.data).tobytes())
            return f"@bin({at})"

        whole, main = ins is None and outs is None, self.main
        headers = [h for h in self.headers if whole or not h.startswith(("in_tree", "out_tree"))]
        graphs = [main.text(store, main.ins if ins is None else ins, main.outs if outs is None else outs, whole)]
        graphs += [g.text(store, g.ins, g.outs, True) for g in self.graphs.values() if g is not main]
        return "\n".join([*headers, *graphs]) + "\n", bytes(side)
