# SPDX-License-Identifier: Apache-2.0
"""elements.py -- elementwise operations, RESIZE, and DMA."""

from __future__ import annotations

import numpy as np

from .arithmetic import O, scale, scale1, vmap
from .stream import EW, sx
from .windows import Windows


UNARY55 = ("ABS", "CLZ", "LRELU")
ROUNDINGS55 = {0: 0, 1: 4, 2: 1}
FUNCTIONS55 = {
    "ADD": lambda a, b, how: a + b,
    "SUB": lambda a, b, how: a - b,
    "MUL": lambda a, b, how: a * b,
    "MIN": lambda a, b, how: np.minimum(a, b),
    "MAX": lambda a, b, how: np.maximum(a, b),
    "ABS": lambda a, b, how: np.abs(a),
    "CLZ": lambda a, b, how: vmap(lambda x: 32 - (int(x) & 0xFFFFFFFF).bit_length(), a),
    "SHL": lambda a, b, how: vmap(lambda x, y: sx(int(x) << min(int(y), 63), 32), O(a), O(b)),
    "SHR": lambda a, b, how: vmap(lambda x, y: scale1(int(x), 1, min(int(y), 63), how), O(a), O(b)),
}


class Elements(Windows):
    def operand(self, pre, bc, H, W, C):
        q = self.prec(pre)
        if bc & 8 or q["store"] == 3:
            v = sx(self.r.get("OP_SCALAR", (0, 0))[1], 32)
            if not q["signed"]:
                v &= (1 << 8 * q["size"]) - 1
            x = np.full((1, 1, 1), v, np.int64)
        else:
            x = self.load(pre, 1 if bc & 1 else H, 1 if bc & 2 else W, 1 if bc & 4 else C)
        return np.broadcast_to(x, (H, W, C)).astype(np.int64) - sx(self.R(pre + "_ZERO_POINT"), 16)

    def second55(self, H, W, C):
        """The second operand: a number, or a map that is repeated along some axes."""
        bc, q = self.R("IFM2_BROADCAST"), self.prec("IFM2")
        if bc >> 7 & 1:
            number = self.R("IFM2_SCALAR")
            b = np.full((H, W, C), sx(number, 16) if q["signed"] else number, np.int64)
        else:
            b = self.load("IFM2", 1 if bc & 1 else H, 1 if bc >> 1 & 1 else W, 1 if bc >> 2 & 1 else C)
            b = np.broadcast_to(b, (H, W, C))
        return b - sx(self.R("IFM2_ZERO_POINT"), 16)

    def scaled55(self, a, b):
        """Operands of a sum in one scale: by two factors, or one of them by its factor and the other by a shift."""
        q = self.prec("IFM")
        shift, factor = self.r.get("IFM_SCALE|OPA_SCALE", (0, 1))
        _, other = self.r.get("IFM2_SCALE|OPB_SCALE", (0, 1))
        more, how = 19 if q["size"] == 1 else 14, ROUNDINGS55[q["rnd55"]]
        self.kinds.add("EWSCALE%d" % q["mode"])
        if q["mode"] and not shift & 63 and factor < 1 << 15:
            self.faults.append("ADD/SUB: 32-bit operand scaling with two integer factors (%d, %d)" % (factor, other))
        if q["mode"] == 0:
            return a * (factor & 0xFFFF), b * (other & 0xFFFF)
        if q["mode"] == 1:
            return scale(a, factor, shift & 63, how, more + 1), b << more
        if q["mode"] == 2:
            return a << more, scale(b, factor, shift & 63, how, more + 1)
        return a, b

    def op_ew55(self, mode, H, W, C):
        q = self.prec("IFM")
        a, b = self.load("IFM", H, W, C) - sx(self.R("IFM_ZERO_POINT"), 16), None
        if mode not in UNARY55:
            b = self.second55(H, W, C)
            if self.R("IFM2_BROADCAST") >> 6 & 1:
                a, b = b, a  # operand order; OPA and OPB are the operands after it
            if mode in ("ADD", "SUB"):
                a, b = self.scaled55(a, b)
        how = ROUNDINGS55[self.prec("OFM")["rnd55"]]
        if mode == "SHR" and how == 0:
            self.faults.append("SHR with rounding mode 0")
        if mode not in FUNCTIONS55:
            raise NotImplementedError(mode)
        v = FUNCTIONS55[mode](O(a) if mode == "MUL" and q["size"] == 4 else a, O(b) if mode == "MUL" and q["size"] == 4 else b, how)
        product = 1 if mode == "MUL" and q["size"] == 4 else None  # a 32-bit product takes the multiplier's place
        self.store(self.finish(v, mul=product, do_scale=mode in ("ADD", "SUB", "MUL", "ABS")))

    def op_ew(self, p):
        mode = EW[p & 63]
        self.kinds.add("EW_" + mode)
        H, W, C = self.ofm_dims()
        if not self.u85:
            return self.op_ew55(mode, H, W, C)
        a = self.operand("IFM", self.R("IFM_BROADCAST"), H, W, C)
        unary = mode in ("ABS", "CLZ", "NOT", "LRELU")
        size = self.prec("IFM")["size"]
        ip, im = self.r.get("IFM_SCALE|OPA_SCALE", (0, 1))
        jp, jm = self.r.get("IFM2_SCALE|OPB_SCALE", (0, 1))
        a = scale(a, im & 0x7FFFFFFF, ip & 63, ip >> 13 & 1, ip >> 6 & 31)
        if not unary:
            b = self.operand("IFM2", self.R("IFM2_BROADCAST"), H, W, C)
            b = scale(b, jm & 0x7FFFFFFF, jp & 63, jp >> 13 & 1, jp >> 6 & 31)
        rm = self.r.get("OFM_SCALE", (0, 1))[0] >> 13 & 7
        w32 = lambda v: ((np.asarray(v, dtype=np.int64) + (1 << 31)) & 0xFFFFFFFF) - (1 << 31)
        if mode == "ADD":
            v = a + b
        elif mode == "SUB":
            v = a - b
        elif mode == "MUL":
            v = O(a) * O(b) if size == 4 else a * b
        elif mode == "MIN":
            v = np.minimum(a, b)
        elif mode == "MAX":
            v = np.maximum(a, b)
        elif mode == "ABS":
            v = np.abs(a)
        elif mode == "CLZ":
            v = vmap(lambda x: 32 - (int(x) & 0xFFFFFFFF).bit_length(), a)
        elif mode == "SHL":
            v = w32(
                vmap(lambda x, y: int(x) << min(int(y), 63), O(a), O(b)).astype(object) & 0xFFFFFFFF
            )
        elif mode == "SHR":
            v = vmap(lambda x, y: scale1(int(x), 1, min(int(y), 63), rm), O(a), O(b))
        elif mode == "LSR":
            v = vmap(lambda x, y: (int(x) & ((1 << 8 * size) - 1)) >> min(int(y), 63), O(a), O(b))
        elif mode == "DIV":
            v = vmap(
                lambda x, y: (
                    (abs(int(x)) // abs(int(y)) * (1 if (x < 0) == (y < 0) else -1)) if y else 0
                ),
                O(a),
                O(b),
            )
        elif mode == "AND":
            v = a & b
        elif mode == "OR":
            v = a | b
        elif mode == "XOR":
            v = a ^ b
        elif mode == "NOT":
            v = ~a
        elif mode == "AND_NOT":
            v = a & ~b
        elif mode == "CMP_EQ":
            v = -(a == b).astype(np.int64)
        elif mode == "CMP_NE":
            v = -(a != b).astype(np.int64)
        elif mode == "CMP_GE":
            v = -(a >= b).astype(np.int64)
        elif mode == "CMP_GT":
            v = -(a > b).astype(np.int64)
        elif mode == "LRELU":
            x = self.operand("IFM", self.R("IFM_BROADCAST"), H, W, C)
            v = np.where(x >= 0, a, scale(x, jm & 0x7FFFFFFF, jp & 63, jp >> 13 & 1))
        self.store(
            self.finish(
                v, mul=1 if mode == "MUL" and size == 4 else None, do_scale=mode not in ("SHR",)
            )
        )

    def op_dma(self):
        sr, dr = self.R("DMA0_SRC_REGION"), self.R("DMA0_DST_REGION")
        src = self.lut if sr >> 8 & 1 else self.mem[sr & 7]
        dst = self.lut if dr >> 8 & 1 else self.mem[dr & 7]
        sm = sr >> 9 & 3
        n = self.A("DMA0_LEN")
        s0, d0 = self.A("DMA0_SRC"), self.A("DMA0_DST")
        self.kinds.add("DMA%d" % (sm + 1))
        si, di = sr >> 11 & 1, dr >> 11 & 1
        if not self.u85 and sm:
            raise NotImplementedError("2D/3D DMA on U55/U65")
        z0 = self.R("DMA0_SIZE0", 1) if sm >= 1 or si or di else 1
        z1 = self.R("DMA0_SIZE1", 1) if sm >= 2 else 1
        ss0, ss1 = self.SA("DMA0_SRC_STRIDE0|SKIP0"), self.SA("DMA0_SRC_STRIDE1|SKIP1")
        ds0, ds1 = self.SA("DMA0_DST_STRIDE0"), self.SA("DMA0_DST_STRIDE1")
        if si or di:
            self.kinds.add("DMA_INDEXED")
        for j in range(z1):
            for i in range(z0):
                k = None
                if si or di:
                    ib = self.A("DMA0_IDX") + 4 * i + j * (4 * z0 + self.A("DMA0_IDX_SKIP1"))
                    k = int.from_bytes(
                        self.mem[self.R("DMA0_IDX_REGION") & 7][ib : ib + 4], "little", signed=True
                    )
                    if not 0 <= k <= self.r["DMA0_IDX_MAX"][1]:
                        raise IndexError("DMA index %d" % k)
                a = s0 + j * ss1 + (k if si else i) * ss0
                b = d0 + j * ds1 + (k if di else i) * ds0
                if a < 0 or a + n > len(src) or b < 0 or b + n > len(dst):
                    raise IndexError(
                        "DMA out of region: src %d dst %d len %d of %d, %d"
                        % (a, b, n, len(src), len(dst))
                    )
                dst[b : b + n] = src[a : a + n]
                if not dr >> 8 & 1:
                    self.known[dr & 7][b : b + n] = (
                        bytes(b"\1" * n) if sr >> 8 & 1 else self.known[sr & 7][a : a + n]
                    )
                self.cur.append(("lut" if sr >> 8 & 1 else sr & 7, a, a + n, "r"))
                self.cur.append(("lut" if dr >> 8 & 1 else dr & 7, b, b + n, "w"))

    def op_resize(self, p):
        self.kinds.add("RESIZE_%d" % (p & 3))
        OH, OW, C = self.ofm_dims()
        kh, kw = self.R("KERNEL_HEIGHT_M1") + 1, self.R("KERNEL_WIDTH_M1") + 1
        x = self.load("IFM", kh, kw, C) - sx(self.R("IFM_ZERO_POINT"), 16)
        ny, nx = self.R("RESIZE_Y_SCALE_N_M1") + 1, self.R("RESIZE_X_SCALE_N_M1") + 1
        oy, ox = sx(self.R("RESIZE_Y_OFFSET|AB_START"), 12), sx(self.R("RESIZE_X_OFFSET"), 12)

        def st(n, nn):
            p_, d_ = self.r[n]
            return (p_ & 15) * nn + (d_ & 0x7FF)

        dy, dx = st("RESIZE_Y_STEP", ny), st("RESIZE_X_STEP", nx)
        out = np.zeros((OH, OW, C), object)
        for y in range(OH):
            iy, fy = divmod(y * dy + oy, ny)
            for xx in range(OW):
                ix, fx = divmod(xx * dx + ox, nx)
                c = lambda v, n: min(max(v, 0), n - 1)
                if p & 3 == 0:
                    v = (
                        x[c(iy, kh), c(ix, kw)] * (ny - fy) * (nx - fx)
                        + x[c(iy, kh), c(ix + 1, kw)] * (ny - fy) * fx
                        + x[c(iy + 1, kh), c(ix, kw)] * fy * (nx - fx)
                        + x[c(iy + 1, kh), c(ix + 1, kw)] * fy * fx
                    )
                else:
                    v = x[c(iy + (2 * fy >= ny), kh), c(ix + (2 * fx >= nx), kw)]
                out[y, xx] = v
        self.acc = None
        self.store(self.finish(out * 65536))
