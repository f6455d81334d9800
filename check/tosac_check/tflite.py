# SPDX-License-Identifier: Apache-2.0
"""tflite.py -- a file for TensorFlow Lite Micro: its arena, and the command streams of its `ethos-u` operators."""

from __future__ import annotations

import math
import struct
from typing import NamedTuple

import numpy as np

from .arena import Place, check_plan
from .flatbuffer import Buffer, Table
from .pte import Region, merged
from .stream import require

CUSTOM, ETHOSU, OPTION = 32, "ethos-u", b"\x01\x04\x01"
SIZES = {0: 4, 1: 2, 2: 4, 3: 1, 4: 8, 6: 1, 7: 2, 9: 1, 10: 8, 12: 8, 15: 4, 16: 2}
PLAN = "OfflineMemoryAllocation"
ALIGN = 16


class Tensor(NamedTuple):
    name: str
    dims: list[int]
    each: int
    data: bytes
    variable: bool
    at: int  # -1: not planned
    scale: tuple | None  # and zero point, where there is one of each

    @property
    def bytes(self) -> int:
        return self.each * self.elements

    @property
    def elements(self) -> int:
        return math.prod(self.dims)


def plan_of(model: Table, buffers: list[bytes], n: int) -> list[int]:
    for entry in model.tables(6):
        if entry.text(0) == PLAN:
            index = entry.scalar(1, "I")
            require(index < len(buffers), "the plan's buffer is not there")
            words = buffers[index]
            require(len(words) == 4 * (3 + n), "the plan has another number of tensors")
            version, graphs, tensors, *at = struct.unpack(f"<{len(words) // 4}i", words)
            require((version, graphs, tensors) == (0, 1, n), "the plan's head is not one")
            return at
    return [-1] * n


def tensors_of(model: Table, graph: Table) -> list[Tensor]:
    buffers = [b.octets(0) for b in model.tables(4)]
    rows = graph.tables(0)
    at = plan_of(model, buffers, len(rows))
    found = []
    for row, place in zip(rows, at):
        kind, buffer = row.scalar(1, "b"), row.scalar(2, "I")
        require(kind in SIZES, f"a tensor of type {kind}")
        require(buffer < len(buffers), "a tensor's buffer is not there")
        q = row.table(4)
        scales, zeros = (q.vector(2, "f"), q.vector(3, "q")) if q else ([], [])
        scale = (scales[0], zeros[0]) if len(scales) == len(zeros) == 1 else None
        t = Tensor(row.text(3), row.vector(0, "i"), SIZES[kind], buffers[buffer], bool(row.scalar(5, "?")), place, scale)
        require(all(d >= 0 for d in t.dims), f"'{t.name}' has an extent below 0")
        require(not t.data or len(t.data) == t.bytes, f"'{t.name}' has data of another size")
        found.append(t)
    return found


def check_arena(graph: Table, tensors: list[Tensor], ops: list[tuple[list[int], list[int]]]) -> int:
    """Planned tensors, from the operator that makes them to the last that reads them; scratch lives in its operator alone."""
    far = len(ops)
    span: dict[int, list[int]] = {i: [-1, -1] for i in graph.vector(1, "i")}
    for at, (takes, gives) in enumerate(ops):
        for i in takes + gives:
            span.setdefault(i, [at, at])[1] = at
    for i in graph.vector(2, "i"):
        span.setdefault(i, [far, far])[1] = far
    planned = [(i, t) for i, t in enumerate(tensors) if t.at >= 0 and i in span and not t.data and not t.variable]
    size = max((t.at + t.bytes for _, t in planned), default=0)
    scratch = {i for takes, _ in ops for i in takes[2:4] if takes and tensors[takes[0]].name.endswith("command_stream")}
    for i, t in planned:
        require(t.at % ALIGN == 0 or i not in scratch, f"'{t.name}' is not aligned")
    places = [Place(t.name, 0, t.at, t.bytes, *span[i]) for i, t in planned if t.bytes and i not in scratch]
    return check_plan(merged(places), {0: size})


def region_of(tensors: list[Tensor], takes: list[int], gives: list[int], number: int) -> Region:
    """Its borders are inside of its scratch, where the arena has them."""
    require(len(takes) >= 4, "an `ethos-u` operator has less than four operands")
    stream, constants, scratch, fast = (tensors[i] for i in takes[:4])
    program = {"cmd_data": stream.data, "weight_data": constants.data, "scratch_size": np.int64(scratch.bytes),
               "scratch_fast_size": np.int64(0 if takes[3] == takes[2] else fast.bytes)}
    require(stream.data[:3] == b"COP", "an `ethos-u` operator's first operand is no command stream")
    for kind, ids in (("input", takes[4:]), ("output", gives)):
        ports = [tensors[i] for i in ids]
        for t in ports:
            inside = scratch.at <= t.at and t.at + t.bytes <= scratch.at + scratch.bytes
            require(inside, f"'{t.name}' is not in its operator's scratch")
        program |= {f"{kind}_shape": [t.dims for t in ports], f"{kind}_elem_size": [t.each for t in ports],
                    f"{kind}_region": [1] * len(ports), f"{kind}_offset": [t.at - scratch.at for t in ports]}
    each = lambda ids: [(tensors[i].each, tensors[i].elements) for i in ids]
    scales = {(kind, k): tensors[i].scale for kind, ids in (("input", takes[4:]), ("output", gives)) for k, i in enumerate(ids) if tensors[i].scale}
    return Region(f"operator {number}", program, each(takes[4:]), each(gives), scales)


def codes_of(model: Table) -> list[tuple[int, str]]:
    return [(max(c.scalar(0, "b"), c.scalar(3, "i")), c.text(1)) for c in model.tables(1)]


def read(data: bytes) -> tuple[list[Region], dict]:
    require(data[4:8] == b"TFL3", "not a TFLite file")
    model = Buffer(data).root()
    require(model.scalar(0, "I") == 3, "another version of the format")
    graphs, codes = model.tables(2), codes_of(model)
    require(len(graphs) == 1, f"{len(graphs)} graphs")
    tensors, regions, ops = tensors_of(model, graphs[0]), [], []
    for number, op in enumerate(graphs[0].tables(3)):
        code, takes, gives = op.scalar(0, "I"), op.vector(1, "i"), op.vector(2, "i")
        require(code < len(codes), "an operator's code is not there")
        require(all(-1 <= i < len(tensors) for i in takes + gives), "an operator's tensor is not there")
        ops.append(([i for i in takes if i >= 0], gives))
        if codes[code] == (CUSTOM, ETHOSU):
            require(op.octets(5) == OPTION, "an `ethos-u` operator's options are not the integer 1")
            require(all(i >= 0 for i in takes), "an `ethos-u` operator lacks an operand")
            regions.append(region_of(tensors, takes, gives, number))
    seen = {"operators": len(ops), "delegates": len(regions), "pairs": check_arena(graphs[0], tensors, ops)}
    return regions, seen
