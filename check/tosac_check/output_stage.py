# SPDX-License-Identifier: Apache-2.0
"""output_stage.py -- what every operation does to its results: scale, zero point, clamp, table."""

from __future__ import annotations

import numpy as np

from .arithmetic import O, ROUNDINGS55, TOP, curve, scale, scale1, sigmoids, vmap
from .memory import Memory
from .registers import field
from .stream import sx

#: U85's tables of 256 entries by the function: bytes of an entry, its type, the code of the first entry
TABLES = {1: (1, "u1", 0), 4: (1, "i1", -128), 5: (2, "<i2", -128), 7: (4, "<i4", -128)}
LINES, LINES_WIDE = 8, 9  # U85: tables of 512 lines; results of 16 bits, and of 23
TANH, SIGMOID = 10, 11
TANH55, SIGMOID55, LOOKUP55 = 3, 4, 16
OF_BYTES = 1  # a function of U85 whose operand has no sign
WIDE_CLAMP, UNSIGNED_CLAMP = 3, 2  # U55: what the clamp's ends are


def clamped(v, lo, hi):
    return np.clip(v, lo, hi) if v.dtype != object else vmap(lambda x: min(max(int(x), lo), hi), v)


class OutputStage(Memory):
    def entry(self, entries: np.ndarray, i: np.ndarray) -> np.ndarray:
        """Entries of a table; which of them were ever read is noted by the table's bytes."""
        seen = self.entries_read.setdefault(entries.tobytes(), np.zeros(len(entries), bool))
        seen[i] = True
        return entries[i].astype(np.int64)

    def lines(self, table: bytes, v):
        """Entry and slope of each code, and how far it is into its line."""
        pairs = self.entry(np.frombuffer(table, "<i2")[:1024].reshape(512, 2), v + 32768 >> 7)
        return pairs[..., 0], pairs[..., 1], v & 127

    def finish(self, v, mul=None, do_scale=True):
        """OFM scaling, zero point, clamp, table; mul: a factor in place of the register's"""
        return self.finish85(v, mul, do_scale) if self.u85 else self.finish55(v, mul, do_scale)

    def ends(self, signed):
        """Of the clamp."""
        found = self.R("ACTIVATION_MIN"), self.R("ACTIVATION_MAX")
        lo, hi = (sx(e, 16) for e in found) if signed else found
        if lo > hi:
            self.faults.append(f"a clamp from {lo} to {hi} keeps nothing")
        return lo, hi

    # U85 -------------------------------------------------------------------------
    def finish85(self, v, mul, do_scale):
        if do_scale:
            p, d = self.r.get("OFM_SCALE", (0, 1))
            v = scale(v, (mul or d) & TOP - 1, field(p, 0, 6), field(p, 13, 3), field(p, 6, 5))
        act = self.R("ACTIVATION")
        function, table, unclamped = field(act, 0, 5), field(act, 5, 3), field(act, 12, 1)
        v = v + self.zero("OFM")
        if function in (TANH, SIGMOID):  # the clamp is that of the result
            v = curve(v, function == TANH)
            if not np.array_equal(np.frombuffer(self.lut, "<i2")[512::2], sigmoids()[:256] - 32768):
                self.warnings.append("tanh/sigmoid without its table")
        if not unclamped:
            v = clamped(v, *self.ends(function != OF_BYTES if function else self.prec("OFM")["signed"]))
        if not function:
            return v
        size = 256 * TABLES[function][0] if function in TABLES else 2048
        self.cur.append(("lut", table * size, table * size + size, "r"))
        return v if function in (TANH, SIGMOID) else self.lookup(np.asarray(v, dtype=np.int64), function, table)

    def lookup(self, v, function, table):
        if function in (LINES, LINES_WIDE):
            base, slope, rest = self.lines(self.lut, v)
            return (base << 7) + slope * rest if function == LINES_WIDE else base + (slope * rest + 64 >> 7)
        if function not in TABLES:
            raise NotImplementedError(f"table {function}")
        _, kind, first = TABLES[function]
        return self.entry(np.frombuffer(self.lut, kind)[table * 256 :][:256], v - first)

    # U55, U65 --------------------------------------------------------------------
    def finish55(self, v, mul, do_scale):
        q = self.prec("OFM")
        if do_scale:
            p, d = self.r.get("OFM_SCALE", (0, 1))
            v = self.scale55(v, mul or d, field(p, 0, 6))
        act = self.R("ACTIVATION")
        function, clip = field(act, 0, 5), field(act, 12, 3)
        if q["size"] <= 2 or clip:  # a 32-bit result has no zero point, whatever the register still holds
            v = v + self.zero("OFM")
        if function in (TANH55, SIGMOID55):
            v = curve(v, function == TANH55)
        if clip or q["size"] <= 2:
            v = clamped(v, *self.ends(clip != UNSIGNED_CLAMP if clip else q["signed"]))
        if function >= LOOKUP55:
            return self.lookup55(np.asarray(v, dtype=np.int64), function - LOOKUP55, q, clip)
        if function not in (0, TANH55, SIGMOID55):
            raise NotImplementedError(f"activation {function}")
        return v

    def scale55(self, v, factor, shift):
        mode = ROUNDINGS55[self.prec("OFM")["rnd55"]]
        if isinstance(factor, int) and factor >= TOP:
            return vmap(lambda x: scale1(int(x), factor, shift, mode), O(v))
        return scale(v, factor, shift, mode)

    def lookup55(self, v, table, q, clip):
        size = {1: 256, 4: 1024}.get(q["size"], 2048)
        base = (self.machine.banks - 2) * 1024 + table * 256
        self.cur.append(("lut", base, base + size, "r"))
        entries = bytes(self.lut[base : base + 2048])
        if q["size"] == 4 and clip == WIDE_CLAMP:
            return self.entry(np.frombuffer(entries[:1024], "<i4"), v + 128)
        if q["size"] == 1:
            return self.entry(np.frombuffer(entries[:256], "i1" if q["signed"] else "u1"), v + 128 if q["signed"] else v)
        start, slope, rest = self.lines(entries, v)
        return start + (slope * rest + 64 >> 7)
