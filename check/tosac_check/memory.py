# SPDX-License-Identifier: Apache-2.0
"""memory.py -- registers, feature maps in memory, and which bytes an operation reads and writes."""

from __future__ import annotations

import numpy as np

from .registers import BRICKS, CHAINED, NOWHERE, U55, U85, machine, precision
from .stream import parse_payload, sx

CONSTANTS, SCRATCH, FAST = 0, 1, 2  # regions
UNWRITTEN = {SCRATCH: b"\xa5", FAST: b"\x5a"}
TURNS = {1: (1, 0, 2), 2: (0, 2, 1), 3: (1, 2, 0), 6: (2, 0, 1), 7: (2, 1, 0)}  # axes of a result, by OFM_PRECISION
INTEGERS = {1: "u1", 2: "<u2", 4: "<u4", 8: "<u8"}


class Memory:
    """The machine of a stream, its memories, and what was found wrong: faults."""

    def __init__(self, raw):
        payload = parse_payload(raw["cmd_data"])
        self.stream = payload["stream"]
        product, self.machine = machine(payload["config"])
        self.u85, self.u55 = product == U85, product == U55
        self.r = {}
        self.mem = regions_of(raw)
        #: by region: 1 for every byte that holds a value; the model's constants do from the start
        self.known = {k: bytearray(len(v)) for k, v in self.mem.items()}
        self.known[CONSTANTS] = bytearray(b"\1" * len(self.mem[CONSTANTS]))
        if self.mem[FAST] is self.mem[SCRATCH]:
            self.known[FAST] = self.known[SCRATCH]
        self.lut = bytearray(self.machine.table_bytes)
        self.acc, self.last = None, 0  # accumulators; the last element that was stored
        self.states = set()  # at which a loop began again
        self.chain = {}
        self.kinds = set()
        self.wcache = {}
        self.faults = []
        self.warnings = []
        self.entries_read = {}  # of tables, by their bytes
        self.cur = []  # what the operation at hand reads and writes
        self.okern = []
        self.odma = []
        self.group = None

    # registers ---------------------------------------------------------------
    def R(self, name, default=0):
        return self.r.get(name, (default, 0))[0]

    def A(self, name):
        """An address of 40 bits."""
        high, low = self.r.get(name, (0, 0))
        return ((high & 0xFF) << 32) | low

    def SA(self, name):
        return sx(self.A(name), 40)

    def zero(self, pre):
        return sx(self.R(pre + "_ZERO_POINT"), 16)

    def region(self, pre):
        return self.R(pre + "_REGION") & 7

    def prec(self, pre):
        return precision(pre, self.R(pre + "_PRECISION"))

    # feature maps ------------------------------------------------------------
    def addr(self, pre, H, W, C, size, bricks):
        """Of each element: four tiles, of which three begin where a height or the width ends."""
        tile = [self.A(f"{pre}_BASE{i}") for i in range(4)]
        h0, h1, w0 = (self.R(f"{pre}_{name}_M1") + 1 for name in ("HEIGHT0", "HEIGHT1", "WIDTH0"))
        stride = {axis: self.SA(f"{pre}_STRIDE_{axis}") for axis in "XYC"}
        y, x, c = np.arange(H)[:, None, None], np.arange(W)[None, :, None], np.arange(C)[None, None, :]
        right = x >= w0
        height = np.where(right, h1, h0)
        low = y >= height
        base = np.where(right, np.where(low, tile[3], tile[1]), np.where(low, tile[2], tile[0]))
        y, x = np.where(low, y - height, y), np.where(right, x - w0, x)
        if bricks:
            return base + y * stride["Y"] + x * (16 * size) + (c // 16) * stride["C"] + (c % 16) * size
        return base + y * stride["Y"] + x * stride["X"] + c * size

    def places(self, pre, how, shape, q) -> np.ndarray:
        """Where the elements of a map are, within its region; noted for waits and rules."""
        at = self.addr(pre, *shape, q["size"], q["fmt"] == BRICKS)
        first, end, region = int(at.min()), int(at.max()) + q["size"], self.region(pre)
        self.cur.append((region, first, end, how, at, q["size"]))
        if first < 0 or end > len(self.mem[region]):
            raise IndexError(f"{pre} out of region: {first}..{end} of {len(self.mem[region])}")
        return at

    def load(self, pre, H, W, C):
        q = self.prec(pre)
        if self.u85 and q["store"] == CHAINED:
            val, kind = self.chain[self.region(pre)]
            if kind != (q["signed"], q["size"]):
                self.faults.append(pre + " reads a chained result as another type than it has")
            return val[:H, :W, :C]
        at = self.places(pre, "r", (H, W, C), q)
        if q["fmt"] == BRICKS and any(self.A(f"{pre}_BASE{i}") % 16 for i in range(4)):
            self.faults.append(pre + " NHCWB16 base not 16-aligned")
        known = np.frombuffer(self.known[self.region(pre)], np.uint8)
        if not all(known[at + i].all() for i in range(q["size"])):
            self.faults.append(pre + " reads bytes that nothing wrote")
        memory = np.frombuffer(self.mem[self.region(pre)], np.uint8)
        bytes_ = np.stack([memory[at + i] for i in range(q["size"])], -1)
        kind = INTEGERS[q["size"]].replace("u", "i") if q["signed"] else INTEGERS[q["size"]]
        return np.ascontiguousarray(bytes_).view(kind)[..., 0].astype(np.int64)

    def turned(self, val, q):
        """U85: a result is written with its axes in another order."""
        val = np.flip(val, q["rev"] - 1) if q["rev"] else val
        return np.transpose(val, TURNS[q["tr"]]) if q["tr"] else val

    def store(self, val):
        q = self.prec("OFM")
        self.last = int(val.ravel()[-1])
        if self.u85 and q["store"] == CHAINED:
            self.chain[self.region("OFM")] = val, (q["signed"], q["size"])
            return
        if self.u85 and q["store"] == NOWHERE:
            return
        val = self.turned(val, q) if self.u85 else val
        at = self.places("OFM", "w", val.shape, q)
        if self.region("OFM") == CONSTANTS:
            self.faults.append("write to the read-only region")
        if val.dtype == object:
            low = np.array([int(x) & (1 << 64) - 1 for x in val.ravel()], np.uint64).reshape(val.shape)
        else:
            low = np.ascontiguousarray(val, dtype=np.int64).view(np.uint64)
        memory, known = (np.frombuffer(m[self.region("OFM")], np.uint8) for m in (self.mem, self.known))
        for i in range(q["size"]):
            memory[at + i] = (low >> np.uint64(8 * i)).astype(np.uint8)
            known[at + i] = 1


def regions_of(raw) -> dict[int, bytearray]:
    """The memories of a program; inputs and outputs may have regions of their own."""
    found = {CONSTANTS: bytearray(raw["weight_data"])} | {
        region: bytearray(UNWRITTEN[region] * int(raw[name])) for region, name in ((SCRATCH, "scratch_size"), (FAST, "scratch_fast_size"))}
    if not found[FAST]:
        found[FAST] = found[SCRATCH]
    for kind in ("input", "output"):
        for shape, each, region, at in zip(*(raw[kind + name] for name in ("_shape", "_elem_size", "_region", "_offset"))):
            need = int(np.prod(shape)) * int(each) + int(at)
            if int(region) > FAST and len(found.get(int(region), b"")) < need:
                found[int(region)] = bytearray(UNWRITTEN[FAST] * need)
    return found
