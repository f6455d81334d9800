# SPDX-License-Identifier: Apache-2.0
"""elements.py -- elementwise operations, RESIZE, and copies."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

from .arithmetic import O, ROUNDINGS55, TOP, scale, scale1, vmap
from .registers import NOWHERE, field
from .stream import EW, sx
from .windows import Windows

UNARY = ("ABS", "CLZ", "NOT", "LRELU")
ONLY_U85 = ("LSR", "DIV", "AND", "OR", "XOR", "NOT", "AND_NOT", "CMP_EQ", "CMP_NE", "CMP_GE", "CMP_GT", "LRELU")
SCALED55 = ("ADD", "SUB", "MUL", "ABS")
OPERAND_SCALE = {"IFM": "IFM_SCALE|OPA_SCALE", "IFM2": "IFM2_SCALE|OPB_SCALE"}
ALONG = {"H": 1, "W": 2, "C": 4}  # bits of BROADCAST


class How(NamedTuple):
    rounding: int
    bytes: int  # of an operand


def quotient(x, y):
    """To zero; 0 where the divisor is."""
    return (abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)) if y else 0


def each(f):
    """Of two numbers of Python."""
    return lambda a, b, how: vmap(lambda x, y: f(int(x), int(y), how), O(a), O(b))


#: results before the output stage
FUNCTIONS = {
    "ADD": lambda a, b, how: a + b,
    "SUB": lambda a, b, how: a - b,
    "MUL": lambda a, b, how: O(a) * O(b) if how.bytes == 4 else a * b,
    "MIN": lambda a, b, how: np.minimum(a, b),
    "MAX": lambda a, b, how: np.maximum(a, b),
    "ABS": lambda a, b, how: np.abs(a),
    "CLZ": lambda a, b, how: vmap(lambda x: 32 - (int(x) & 0xFFFFFFFF).bit_length(), a),
    "SHL": each(lambda x, y, how: sx(x << min(y, 63), 32)),
    "SHR": each(lambda x, y, how: scale1(x, 1, min(y, 63), how.rounding)),
    "LSR": each(lambda x, y, how: (x & (1 << 8 * how.bytes) - 1) >> min(y, 63)),
    "DIV": each(lambda x, y, how: quotient(x, y)),
    "AND": lambda a, b, how: a & b,
    "OR": lambda a, b, how: a | b,
    "XOR": lambda a, b, how: a ^ b,
    "NOT": lambda a, b, how: ~a,
    "AND_NOT": lambda a, b, how: a & ~b,
    "CMP_EQ": lambda a, b, how: -(a == b).astype(np.int64),
    "CMP_NE": lambda a, b, how: -(a != b).astype(np.int64),
    "CMP_GE": lambda a, b, how: -(a >= b).astype(np.int64),
    "CMP_GT": lambda a, b, how: -(a > b).astype(np.int64),
}


class Elements(Windows):
    def broadcast(self, pre, how, shape):
        """An operand in the result's shape: some of its axes are repeated."""
        own = [1 if how & bit else n for bit, n in zip(ALONG.values(), shape)]
        return np.broadcast_to(self.load(pre, *own), shape)

    def number(self, word, q, shape):
        return np.full(shape, word, np.int64) if q["signed"] else np.full(shape, word & (1 << 8 * q["size"]) - 1, np.int64)

    def op_ew(self, p):
        mode = EW[p & 63]
        self.kinds.add("EW_" + mode)
        bytes_ = self.prec("IFM")["size"]
        product_ = 1 if mode == "MUL" and bytes_ == 4 else None  # a 32-bit product takes the multiplier's place
        if self.u85:
            v, scaled = self.element85(mode, self.ofm_dims(), bytes_), mode != "SHR"
        else:
            v, scaled = self.element55(mode, self.ofm_dims(), bytes_), mode in SCALED55
        self.store(self.finish(v, mul=product_, do_scale=scaled))

    # U85 -------------------------------------------------------------------------
    def operand85(self, pre, shape):
        how, q = self.R(pre + "_BROADCAST"), self.prec(pre)
        if how & 8 or q["store"] == NOWHERE:
            x = self.number(sx(self.r.get("OP_SCALAR", (0, 0))[1], 32), q, shape)
        else:
            x = self.broadcast(pre, how, shape)
        return x.astype(np.int64) - self.zero(pre)

    def scaled85(self, pre, x):
        p, d = self.r.get(OPERAND_SCALE[pre], (0, 1))
        return scale(x, d & TOP - 1, field(p, 0, 6), field(p, 13, 1), field(p, 6, 5))

    def element85(self, mode, shape, bytes_):
        x = self.operand85("IFM", shape)
        a = self.scaled85("IFM", x)
        if mode == "LRELU":
            p, d = self.r.get(OPERAND_SCALE["IFM2"], (0, 1))
            return np.where(x >= 0, a, scale(x, d & TOP - 1, field(p, 0, 6), field(p, 13, 1)))
        b = None if mode in UNARY else self.scaled85("IFM2", self.operand85("IFM2", shape))
        return FUNCTIONS[mode](a, b, How(field(self.r.get("OFM_SCALE", (0, 1))[0], 13, 3), bytes_))

    # U55, U65 --------------------------------------------------------------------
    def second55(self, shape):
        """The second operand: a number, or a map that is repeated along some axes."""
        how, q = self.R("IFM2_BROADCAST"), self.prec("IFM2")
        if how >> 7 & 1:
            number = self.R("IFM2_SCALAR")
            b = np.full(shape, sx(number, 16) if q["signed"] else number, np.int64)
        else:
            b = self.broadcast("IFM2", how, shape)
        return b - self.zero("IFM2")

    def scaled55(self, a, b):
        """Operands of a sum in one scale: by two factors, or one of them by its factor and the other by a shift."""
        q = self.prec("IFM")
        shift, factor = self.r.get(OPERAND_SCALE["IFM"], (0, 1))
        _, other = self.r.get(OPERAND_SCALE["IFM2"], (0, 1))
        more, how = 19 if q["size"] == 1 else 14, ROUNDINGS55[q["rnd55"]]
        self.kinds.add(f"EWSCALE{q['mode']}")
        if q["mode"] and not shift & 63 and factor < 1 << 15:
            self.faults.append(f"ADD/SUB: 32-bit operand scaling with two integer factors ({factor}, {other})")
        if q["mode"] == 0:
            return a * (factor & 0xFFFF), b * (other & 0xFFFF)
        if q["mode"] == 1:
            return scale(a, factor, shift & 63, how, more + 1), b << more
        if q["mode"] == 2:
            return a << more, scale(b, factor, shift & 63, how, more + 1)
        return a, b

    def element55(self, mode, shape, bytes_):
        if mode in ONLY_U85:
            raise NotImplementedError(mode)
        a, b = self.load("IFM", *shape) - self.zero("IFM"), None
        if mode not in UNARY:
            b = self.second55(shape)
            if self.R("IFM2_BROADCAST") >> 6 & 1:
                a, b = b, a  # operand order; OPA and OPB are the operands after it
            if mode in ("ADD", "SUB"):
                a, b = self.scaled55(a, b)
        rounding = self.prec("OFM")["rnd55"]
        if mode == "SHR" and rounding == 0:
            self.faults.append("SHR with rounding mode 0")
        return FUNCTIONS[mode](a, b, How(ROUNDINGS55[rounding], bytes_))

    # copies ----------------------------------------------------------------------
    def op_dma(self):
        """Rows of planes; a row is where its number says, or where a list of indices says."""
        modes = {side: self.R(f"DMA0_{side}_REGION") for side in ("SRC", "DST")}
        kind = field(modes["SRC"], 9, 2)
        indexed = {side: field(mode, 11, 1) for side, mode in modes.items()}
        self.kinds.add(f"DMA{kind + 1}")
        if not self.u85 and kind:
            raise NotImplementedError("2D/3D DMA on U55/U65")
        if any(indexed.values()):
            self.kinds.add("DMA_INDEXED")
        rows = self.R("DMA0_SIZE0", 1) if kind >= 1 or any(indexed.values()) else 1
        planes = self.R("DMA0_SIZE1", 1) if kind >= 2 else 1
        strides = {"SRC": [self.SA(f"DMA0_SRC_STRIDE{i}|SKIP{i}") for i in (0, 1)], "DST": [self.SA(f"DMA0_DST_STRIDE{i}") for i in (0, 1)]}
        for plane, row in product(range(planes), range(rows)):
            found = self.index(plane, row, rows) if any(indexed.values()) else row
            at = {side: self.A(f"DMA0_{side}") + plane * s[1] + (found if indexed[side] else row) * s[0] for side, s in strides.items()}
            self.copy_row(modes, at, self.A("DMA0_LEN"))

    def index(self, plane, row, rows):
        at = self.A("DMA0_IDX") + 4 * row + plane * (4 * rows + self.A("DMA0_IDX_SKIP1"))
        found = int.from_bytes(self.mem[self.R("DMA0_IDX_REGION") & 7][at : at + 4], "little", signed=True)
        if not 0 <= found <= self.r["DMA0_IDX_MAX"][1]:
            raise IndexError(f"DMA index {found}")
        return found

    def copy_row(self, modes, at, n):
        side = {}
        for name, how in (("SRC", "r"), ("DST", "w")):
            region = "lut" if field(modes[name], 8, 1) else modes[name] & 7
            side[name] = region, self.lut if region == "lut" else self.mem[region], at[name]
            if at[name] < 0 or at[name] + n > len(side[name][1]):
                raise IndexError(f"DMA out of region: {name} {at[name]}, {n} bytes of {len(side[name][1])}")
            self.cur.append((region, at[name], at[name] + n, how))
        (source, src, a), (to, dst, b) = side["SRC"], side["DST"]
        dst[b : b + n] = src[a : a + n]
        if to != "lut":
            self.known[to][b : b + n] = b"\1" * n if source == "lut" else self.known[source][a : a + n]

    # RESIZE ----------------------------------------------------------------------
    def along(self, axis, n_out):
        """Of each result: the element before it, and how far it is towards the next, in parts of how many."""
        parts = self.R(f"RESIZE_{axis}_SCALE_N_M1") + 1
        offset = sx(self.R("RESIZE_Y_OFFSET|AB_START" if axis == "Y" else "RESIZE_X_OFFSET"), 12)
        high, low = self.r[f"RESIZE_{axis}_STEP"]
        step = (high & 15) * parts + (low & 0x7FF)
        return [divmod(i * step + offset, parts) for i in range(n_out)], parts

    def op_resize(self, p):
        self.kinds.add(f"RESIZE_{p & 3}")
        OH, OW, C = self.ofm_dims()
        kh, kw = self.R("KERNEL_HEIGHT_M1") + 1, self.R("KERNEL_WIDTH_M1") + 1
        x = self.load("IFM", kh, kw, C) - self.zero("IFM")
        (rows, ny), (columns, nx) = self.along("Y", OH), self.along("X", OW)
        at = lambda i, j: x[min(max(i, 0), kh - 1), min(max(j, 0), kw - 1)]
        out = np.zeros((OH, OW, C), object)
        for (y, (i, fy)), (xx, (j, fx)) in product(enumerate(rows), enumerate(columns)):
            if p & 3 == 0:
                above = at(i, j) * (nx - fx) + at(i, j + 1) * fx
                below = at(i + 1, j) * (nx - fx) + at(i + 1, j + 1) * fx
                out[y, xx] = above * (ny - fy) + below * fy
            else:
                out[y, xx] = at(i + (2 * fy >= ny), j + (2 * fx >= nx))
        self.acc = None
        self.store(self.finish(out * 65536))
