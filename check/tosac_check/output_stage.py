# SPDX-License-Identifier: Apache-2.0
"""output_stage.py -- what every operation does to its results: scale, zero point, clamp, table."""

from __future__ import annotations

import numpy as np

from .arithmetic import O, curve, scale, scale1, sigmoids, vmap
from .memory import Memory
from .stream import sx


class OutputStage(Memory):
    def finish(self, v, round_mode=None, mul=None, sh=None, zp=True, do_scale=True):
        """OFM scaling, zero point, clamp, table"""
        q = self.prec("OFM")
        if self.u85:
            if do_scale:
                p, d = self.r.get("OFM_SCALE", (0, 1))
                d = mul or d
                v = scale(v, d & 0x7FFFFFFF, p & 63, p >> 13 & 7, p >> 6 & 31)
            ofz = self.R("OFM_ZERO_POINT")
            ofz = sx(ofz, 16)
            act = self.R("ACTIVATION")
            fn = act & 31
            table = act >> 5 & 7
            clip = act >> 12 & 1
            lo_, hi_ = self.R("ACTIVATION_MIN"), self.R("ACTIVATION_MAX")
            lo = sx(lo_, 16)
            hi = sx(hi_, 16)
            # the table's input type decides the intermediate saturation
            if fn:
                insg = fn != 1
            else:
                insg = q["signed"]
            v = v + ofz
            if fn in (10, 11):  # the clamp is that of the result
                v = curve(v, fn == 10)
                if not np.array_equal(
                    np.frombuffer(bytes(self.lut), "<i2")[512::2], sigmoids()[:256] - 32768
                ):
                    self.warnings.append("tanh/sigmoid without its table")
            if clip == 0:
                if not insg:
                    lo, hi = lo_, hi_
                v = (
                    np.clip(v, lo, hi)
                    if v.dtype != object
                    else vmap(lambda x: min(max(int(x), lo), hi), v)
                )
            if fn:
                v = v if fn in (10, 11) else self.lookup(np.asarray(v, dtype=np.int64), fn, table)
                z = {1: 256, 4: 256, 5: 512, 7: 1024}.get(fn, 2048)
                self.cur.append(("lut", table * z, table * z + z, "r"))
            return v
        # U55 / U65
        if do_scale:
            p, d = self.r.get("OFM_SCALE", (0, 1))
            v = self.scale55(v, mul or d, p & 63)
        act = self.R("ACTIVATION")
        fn = act & 31
        clip = act >> 12 & 7
        if q["size"] <= 2 or clip:
            v = v + sx(
                self.R("OFM_ZERO_POINT"), 16
            )  # a 32-bit result has no zero point, whatever the register still holds
        if fn in (3, 4):
            v = curve(v, fn == 3)
        lo, hi = sx(self.R("ACTIVATION_MIN"), 16), sx(self.R("ACTIVATION_MAX"), 16)
        if clip == 0:
            if q["size"] <= 2:
                if not q["signed"]:
                    lo, hi = self.R("ACTIVATION_MIN"), self.R("ACTIVATION_MAX")
                v = (
                    np.clip(v, lo, hi)
                    if v.dtype != object
                    else vmap(lambda x: min(max(int(x), lo), hi), v)
                )
        else:
            if clip == 2:
                lo, hi = self.R("ACTIVATION_MIN"), self.R("ACTIVATION_MAX")
            v = (
                np.clip(v, lo, hi)
                if v.dtype != object
                else vmap(lambda x: min(max(int(x), lo), hi), v)
            )
        if fn >= 16:
            v = self.lookup55(np.asarray(v, dtype=np.int64), fn - 16, q, clip)
        elif fn not in (0, 3, 4):
            raise NotImplementedError("activation %d" % fn)
        return v

    def scale55(self, v, mul, sh):
        m = {0: 0, 1: 4, 2: 1}[self.prec("OFM")["rnd55"]]
        if isinstance(mul, int) and mul >= 1 << 31:
            return vmap(lambda x: scale1(int(x), mul, sh, m), O(v))
        return scale(v, mul, sh, m)

    def lookup55(self, v, table, q, clip):
        base = (self.shram_banks() - 2) * 1024 + table * 256
        z = 256 if q["size"] == 1 else (1024 if q["size"] == 4 else 2048)
        self.cur.append(("lut", base, base + z, "r"))
        L = bytes(self.lut[base : base + 2048])
        if q["size"] == 4 and clip == 3:
            return np.frombuffer(L[:1024], "<i4").astype(np.int64)[v + 128]
        if q["size"] == 1:
            t = np.frombuffer(L[:256], np.int8 if q["signed"] else np.uint8).astype(np.int64)
            return t[v + 128] if q["signed"] else t[v]
        b = np.frombuffer(L, "<i2")[0:1024:2].astype(np.int64)
        s = np.frombuffer(L, "<i2")[1:1024:2].astype(np.int64)
        i = (v + 32768) >> 7
        f = v & 127
        return b[i] + ((s[i] * f + 64) >> 7)

    def shram_banks(self):
        return {32: 16, 64: 16, 128: 24, 256: 48, 512: 48}[self.macs]

    def lookup(self, v, fn, table):
        L = bytes(self.lut)
        if fn in (1, 4):
            t = np.frombuffer(L, np.uint8 if fn == 1 else np.int8)[table * 256 :][:256].astype(
                np.int64
            )
            return t[v] if fn == 1 else t[v + 128]
        if fn == 5:
            t = np.frombuffer(L, "<i2")[table * 256 :][:256].astype(np.int64)
            return t[v + 128]
        if fn == 7:
            t = np.frombuffer(L, "<i4")[table * 256 :][:256].astype(np.int64)
            return t[v + 128]
        if fn in (8, 9):
            base = np.frombuffer(L, "<i2")[0:1024:2].astype(np.int64)
            slope = np.frombuffer(L, "<i2")[1:1024:2].astype(np.int64)
            i = (v + 32768) >> 7
            f = v & 127
            if fn == 9:
                return (base[i] << 7) + slope[i] * f
            return base[i] + ((slope[i] * f + 64) >> 7)
        raise NotImplementedError("table %d" % fn)

    # operations ------------------------------------------------------------------
