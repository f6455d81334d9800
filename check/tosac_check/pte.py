# SPDX-License-Identifier: Apache-2.0
"""pte.py -- an ExecuTorch program: its segments, its plan of memory, and the payloads of its Ethos-U regions."""

from __future__ import annotations

import struct
from collections import Counter
from typing import NamedTuple

from .arena import Place, check_plan
from .backend import program_of
from .flatbuffer import Buffer, Table
from .stream import require

ETHOSU = "EthosUBackend"
HEADER = 64  # bytes in which the extended header is looked for
INT, DOUBLE, TENSOR = 2, 4, 5  # of the union of values
QUANTIZE, DEQUANTIZE = "quantized_decomposed::quantize_per_tensor", "quantized_decomposed::dequantize_per_tensor"
TENSOR_LIST, OPTIONAL_LIST, INT_LIST = 10, 11, 7
KERNEL, DELEGATE, MOVE, JUMP, FREE = 1, 2, 3, 4, 5
SIZES = {0: 1, 1: 1, 2: 2, 3: 4, 4: 8, 5: 2, 6: 4, 7: 8, 11: 1, 12: 1, 13: 1, 14: 4, 15: 2, 27: 2, 28: 4, 29: 8}


class Region(NamedTuple):
    name: str
    program: dict
    inputs: list  # of the call: (bytes of an element, elements)
    outputs: list
    scales: dict = {}  # by ("input" or "output", its number): scale and zero point that the caller converts with


class Constants(NamedTuple):
    """Where the numbers of tensors begin, by their index, in a segment."""

    data: bytes
    at: list[int]

    @staticmethod
    def of(table: Table | None, segments: list[bytes]) -> "Constants":
        at = table.vector(1, "Q") if table else []
        which = table.scalar(0, "I") if table else 0
        require(not at or which < len(segments), "the segment of constants is not there")
        return Constants(segments[which] if at else b"", at)


class Tensor(NamedTuple):
    each: int
    elements: int
    memory: int  # 0: none is planned
    at: int
    index: int  # of its data; 0: none
    kind: int
    elsewhere: bool  # its data are in another file

    @property
    def bytes(self) -> int:
        return self.each * self.elements


def segments_of(data: bytes, program: Table) -> list[bytes]:
    rows = [(s.scalar(0, "Q"), s.scalar(1, "Q")) for s in program.tables(4)]
    if data[8:12] != b"eh00":
        require(not any(size for _, size in rows), "segments without a header that says where")
        return [b"" for _ in rows]
    length, end, base, total = struct.unpack_from("<IQQQ", data, 12)
    require(length >= 24 and end <= len(data) and base % 128 == 0, "the header is not one")
    require(base == 0 or base >= end, "the segments begin inside of the program")
    require(base + total <= len(data), "the segments end outside of the file")
    before = 0
    for at, size in rows:
        require(at % 16 == 0 and at >= before, "segments overlap, or are not aligned")
        require(at + size <= total, "a segment ends outside of the file")
        before = at + size
    return [data[base + at : base + at + size] for at, size in rows]


def tensor_of(value: Table) -> Tensor:
    kind = value.scalar(0, "b")
    sizes, order = value.vector(2, "i"), value.vector(3, "B")
    require(kind in SIZES, f"a tensor of type {kind}")
    require(all(s >= 0 for s in sizes) and sorted(order) == list(range(len(sizes))), "a tensor's axes are not an order")
    require(value.scalar(1, "i") == 0, "a tensor begins inside of its storage")
    elements = 1
    for s in sizes:
        elements *= s
    place = value.table(6)
    low, high = (place.scalar(1, "I"), place.scalar(2, "I")) if place else (0, 0)
    return Tensor(SIZES[kind], elements, place.scalar(0, "I") if place else 0, low | high << 32, value.scalar(5, "I"), kind, bool(value.table(9) and value.table(9).scalar(2, "b")))


class Method:
    """One execution plan."""

    def __init__(self, plan: Table):
        self.name = plan.text(0)
        self.values = [(v.scalar(0, "B"), v.table(1)) for v in plan.tables(2)]
        self.tensors = {i: tensor_of(t) for i, (tag, t) in enumerate(self.values) if tag == TENSOR and t}
        self.inputs, self.outputs = plan.vector(3, "i"), plan.vector(4, "i")
        self.operators, self.delegates = plan.tables(6), plan.tables(7)
        self.memory = plan.vector(8, "q")
        chains = plan.tables(5)
        require(len(chains) == 1, f"{len(chains)} chains")
        self.steps = [self.step(s) for s in chains[0].tables(2)]

    def kernels(self) -> Counter:
        """By name, in how many places each is called."""
        called = (self.operators[callee] for kind, callee, _ in self.steps if kind == KERNEL)
        return Counter(".".join(filter(None, (op.text(0), op.text(1)))) for op in called)

    def check_constants(self, constants: Constants, buffers: Constants) -> None:
        for i, t in self.tensors.items():
            held = buffers if t.memory else constants
            ends = t.index < len(held.at) and held.at[t.index] + t.bytes <= len(held.data)
            require(not t.index or t.elsewhere or ends, f"the numbers of value {i} are not in the file")

    def index(self, i: int) -> int:
        require(0 <= i < len(self.values), f"value {i} is not there")
        return i

    def step(self, step: Table) -> tuple[int, int, list[int]]:
        """Kind, what is called, values."""
        kind, call = step.scalar(0, "B"), step.table(1)
        require(kind in (KERNEL, DELEGATE, MOVE, JUMP, FREE) and call, "an instruction of an unknown kind")
        if kind in (KERNEL, DELEGATE):
            callee = call.scalar(0, "i")
            known = self.operators if kind == KERNEL else self.delegates
            require(0 <= callee < len(known), "a call of what is not there")
            return kind, callee, [self.index(i) for i in call.vector(1, "i")]
        if kind == MOVE:
            return kind, 0, [self.index(call.scalar(0, "i")), self.index(call.scalar(1, "i"))]
        if kind == JUMP:
            require(0 <= call.scalar(1, "i"), "a jump to before the program")
            return kind, call.scalar(1, "i"), [self.index(call.scalar(0, "i"))]
        return kind, 0, [self.index(call.scalar(0, "i"))]

    def reached(self, i: int) -> list[int]:
        """The tensors that a value names."""
        tag, table = self.values[i]
        if tag == TENSOR:
            return [i]
        if tag in (TENSOR_LIST, OPTIONAL_LIST) and table:
            return [self.index(k) for k in table.vector(0, "i") if k >= 0]
        return []

    def number(self, i: int):
        """Of a value that is an integer or a real number."""
        tag, table = self.values[i]
        return table.scalar(0, "q") if tag == INT else table.scalar(0, "d") if tag == DOUBLE else None

    def conversions(self, call: int, args: list[int], n: int) -> dict:
        """Scale and zero point by which what a delegate takes is quantized, and what it gives is dequantized."""
        found = {}
        for at, (kind, callee, values) in enumerate(self.steps):
            name = self.operators[callee].text(0) if kind == KERNEL else ""
            if name == QUANTIZE and at < call and values[-1] in args[:n]:
                found["input", args.index(values[-1])] = (self.number(values[1]), self.number(values[2]))
            if name == DEQUANTIZE and at > call and values[0] in args[n:]:
                found["output", args.index(values[0], n) - n] = (self.number(values[1]), self.number(values[2]))
        return found

    def spans(self) -> dict[int, list[int]]:
        """The first and the last step that names a tensor; inputs live before all steps, outputs behind them."""
        far, span = len(self.steps), {}
        for at, (_, _, args) in enumerate(self.steps):
            for t in (t for i in args for t in self.reached(i)):
                span.setdefault(t, [at, at])[1] = at
        for i in self.inputs:
            span.setdefault(self.index(i), [-1, -1])[0] = -1
        for i in self.outputs:
            span.setdefault(self.index(i), [far, far])[1] = far
        return span

    def check_memory(self) -> int:
        """Every planned tensor while it lives; tensors at one address are one (views).  -1: which steps follow each other is known at run time."""
        require(bool(self.memory) and self.memory[0] == 0, "the sizes of memories do not begin with an empty one")
        if any(kind == JUMP for kind, _, _ in self.steps):
            return -1
        span = self.spans()
        planned = {i: t for i, t in self.tensors.items() if t.memory and i in span and not t.index}
        for i, t in planned.items():
            require(t.at % 16 == 0, f"value {i} is not aligned")
        places = [Place(f"value {i}", t.memory, t.at, t.bytes, *span[i]) for i, t in planned.items() if t.bytes]
        return check_plan(merged(places), dict(enumerate(self.memory)))


def merged(places: list[Place]) -> list[Place]:
    """Values of one place and size that follow each other without a gap are one value: a view, or a result in its operand's place."""
    found: dict[tuple, list[Place]] = {}
    for p in sorted(places, key=lambda p: p.first):
        same = found.setdefault((p.memory, p.at, p.bytes), [])
        if same and p.first <= same[-1].last:
            same[-1] = same[-1]._replace(last=max(same[-1].last, p.last))
        else:
            same.append(p)
    return [p for same in found.values() for p in same]


def payload_of(delegate: Table, segments: list[bytes], inline: list[Table]) -> bytes:
    where = delegate.table(1)
    require(where, "a delegate without data")
    index = where.scalar(1, "I")
    if where.scalar(0, "b"):
        require(index < len(segments), "a delegate's segment is not there")
        return segments[index]
    require(index < len(inline), "a delegate's data is not there")
    return inline[index].octets(0)


def read(data: bytes) -> tuple[list[Region], dict]:
    """The Ethos-U regions in the order of their calls, and what was looked at."""
    require(data[4:8] == b"ET12", "not an ExecuTorch program")
    program = Buffer(data).root()
    segments, regions = segments_of(data, program), []
    constants = Constants.of(program.table(5), segments)
    buffers = Constants.of(next(iter(program.tables(6)), None), segments)
    seen = {"methods": 0, "steps": 0, "pairs": 0, "delegates": 0, "branches": 0, "kernels": Counter()}
    for plan in program.tables(1):
        method = Method(plan)
        pairs = method.check_memory()
        method.check_constants(constants, buffers)
        seen["kernels"] += method.kernels()
        seen["methods"] += 1
        seen["steps"] += len(method.steps)
        seen["pairs"] += max(pairs, 0)
        seen["branches"] += pairs < 0
        for at, (kind, callee, args) in enumerate(method.steps):
            delegate = method.delegates[callee] if kind == DELEGATE else None
            if not delegate:
                continue
            seen["delegates"] += 1
            if delegate.text(0) != ETHOSU:
                continue
            payload = program_of(payload_of(delegate, segments, program.tables(3)))
            n = len(payload["input_elem_size"])
            require(len(args) == n + len(payload["output_elem_size"]), "a delegate is called with another number of tensors than it takes")
            require(all(i in method.tensors for i in args), "a delegate is given what is no tensor")
            ports = [(method.tensors[i].each, method.tensors[i].elements) for i in args]
            regions.append(Region(f"{method.name} {len(regions)}", payload, ports[:n], ports[n:], method.conversions(at, args, n)))
    return regions, seen
