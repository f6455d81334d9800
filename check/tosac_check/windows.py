# SPDX-License-Identifier: Apache-2.0
"""windows.py -- convolutions and pools."""

from __future__ import annotations

import numpy as np

from .arithmetic import O, recipv, scale, scale1, vmap
from .output_stage import OutputStage
from .stream import POOL, require, sx
from .weights import fwd_decode, mlw_decode, order_u55, order_u85


#: registers of each core's weight stream: where, and how long
WEIGHTS = (
    ("WEIGHT_BASE", "WEIGHT_LENGTH"),
    ("WEIGHT1_BASE", "WEIGHT1_LENGTH"),
    ("WEIGHT2_BASE|SCALE1_BASE", "WEIGHT2_LENGTH|SCALE1_LENGTH"),
    ("WEIGHT3_BASE", "WEIGHT3_LENGTH"),
)
WEIGHT_REGISTERS = ("WEIGHT_BASE", "WEIGHT_LENGTH", "WEIGHT_REGION", "OFM_BLK_DEPTH_M1", "WEIGHT_FORMAT")

#: U85: height and width of a microblock by ACC_FORMAT, and its depth by those and the number of multipliers
MICROBLOCKS = {0: (1, 1), 1: (1, 2), 2: (1, 4), 3: (2, 2), 4: (2, 4), 5: (4, 4)}
DEPTHS = {
    128: {(1, 2): 8, (1, 1): 16},
    256: {(1, 2): 16, (1, 4): 8, (2, 2): 8},
    512: {(2, 2): 16, (1, 4): 16},
    1024: {(2, 2): 32, (1, 4): 32, (2, 4): 16},
    2048: {(2, 2): 64, (1, 4): 64, (4, 4): 16},
}


class Windows(OutputStage):
    def ofm_dims(self):
        return self.R("OFM_HEIGHT_M1") + 1, self.R("OFM_WIDTH_M1") + 1, self.R("OFM_DEPTH_M1") + 1

    def window(self):
        ks = self.R("KERNEL_STRIDE")
        s = (1 + (ks >> 1 & 1) + 2 * (ks >> 9 & 1), 1 + (ks & 1) + 2 * (ks >> 6 & 1))
        d = (1 + (ks >> 4 & 1), 1 + (ks >> 3 & 1))
        part = ks >> 2 & 1
        kh, kw = self.R("KERNEL_HEIGHT_M1") + 1, self.R("KERNEL_WIDTH_M1") + 1  # dilated
        kh, kw = (kh - 1) // d[0] + 1, (kw - 1) // d[1] + 1
        return s, d, kh, kw, part

    def pads(self):
        return (
            self.R("IFM_PAD_TOP"),
            self.R("IFM_PAD_LEFT"),
            self.R("IFM_PAD_BOTTOM"),
            self.R("IFM_PAD_RIGHT"),
        )

    def taps(self, C, depth_reg=True):
        """all window taps: yields (ky, kx, values HxWxC int64 minus zero point, valid HxW bool)"""
        OH, OW, OC = self.ofm_dims()
        s, d, kh, kw, part = self.window()
        pt, pl, pb, pr = self.pads()
        up = self.R("IFM_UPSCALE") & 3
        if (
            pb >= (kh - 1) * d[0] + 1
            or pr >= (kw - 1) * d[1] + 1
            or pt >= (kh - 1) * d[0] + 1
            or pl >= (kw - 1) * d[1] + 1
        ):
            self.warnings.append("padding not smaller than the kernel")
        IH = (OH - 1) * s[0] + (kh - 1) * d[0] + 1 - pt - pb
        IW = (OW - 1) * s[1] + (kw - 1) * d[1] + 1 - pl - pr
        sh = -(-IH // 2) if up else IH
        sw = -(-IW // 2) if up else IW
        x = self.load("IFM", sh, sw, C) - (sx(self.R("IFM_ZERO_POINT"), 16))
        if up == 1:
            x = x.repeat(2, 0).repeat(2, 1)[:IH, :IW]
        elif up == 2:
            z = np.zeros((sh * 2, sw * 2, C), np.int64)
            z[::2, ::2] = x
            x = z[:IH, :IW]
        for ky in range(kh):
            for kx in range(kw):
                iy = np.arange(OH) * s[0] - pt + ky * d[0]
                ix = np.arange(OW) * s[1] - pl + kx * d[1]
                ok = ((iy >= 0) & (iy < IH))[:, None] & ((ix >= 0) & (ix < IW))[None, :]
                v = x[np.clip(iy, 0, IH - 1)][:, np.clip(ix, 0, IW - 1)]
                yield ky, kx, np.where(ok[:, :, None], v, 0), ok

    def accin(self, shape):
        """U85: initial accumulator by ACC_FORMAT.acc_input"""
        m = self.R("ACC_FORMAT") >> 4 & 3
        if m == 1:
            return self.acc
        if m == 2:
            return self.load("IFM2", *shape) - sx(self.R("IFM2_ZERO_POINT"), 16)
        return np.zeros(shape, np.int64)

    def accwrap(self, a):
        bits = 32 if self.R("ACC_FORMAT") & 3 == 0 else 48
        a = np.asarray(a, dtype=np.int64)
        return ((a + (1 << bits - 1)) & ((1 << bits) - 1)) - (1 << bits - 1)

    def scales(self, OC):
        base = [self.A("SCALE_BASE"), self.A("WEIGHT2_BASE|SCALE1_BASE")]
        ln = self.r.get("SCALE_LENGTH", (0, 0))[1]
        self.cur.append((self.R("SCALE_REGION") & 7, base[0], base[0] + ln, "r"))
        if base[0] % 16 or ln % 16 or ln < -(-OC // (1 if self.u85 else self.cores)) * 10:
            self.faults.append("scale base/length")
        m = self.mem[self.R("SCALE_REGION") & 7]
        out = []
        k = 1 if self.u85 else self.cores
        if k == 2 and OC > 1 and self.r.get("WEIGHT2_LENGTH|SCALE1_LENGTH", (0, 0))[1] == 0:
            self.faults.append("no scale stream for core 1")
        for c in range(OC):
            o = base[c % k] + 10 * (c // k)
            if o + 10 > len(m):
                raise IndexError("scale stream out of region")
            e = m[o : o + 10]
            if self.u85:
                if self.R("ACC_FORMAT") & 3 == 0:
                    out.append(
                        (
                            int.from_bytes(e[0:4], "little", signed=True),
                            int.from_bytes(e[4:8], "little") & 0x7FFFFFFF,
                            e[8] & 63,
                        )
                    )
                else:
                    out.append(
                        (
                            int.from_bytes(e[0:6], "little", signed=True),
                            int.from_bytes(e[6:8], "little") & 0x7FFF,
                            e[8] & 63,
                        )
                    )
            else:
                out.append(
                    (
                        int.from_bytes(e[0:5], "little", signed=True),
                        int.from_bytes(e[5:9], "little"),
                        e[9] & 63,
                    )
                )
        return out

    def check_streams(self):
        """Bounds and alignment of each core's weight stream."""
        for name in WEIGHTS[: min(self.cores, 2)]:
            at, size = self.A(name[0]), self.r.get(name[1], (0, 0))[1]
            if not size:
                continue
            region = self.R("WEIGHT_REGION") & 7
            self.cur.append((region, at, at + size, "r"))
            if at % 16 or size % 16:
                self.faults.append("weight base or length not a multiple of 16")
            if at + size > len(self.mem[region]):
                self.faults.append("weights out of region")

    def order55(self, OC, kh, kw, IC, mode, bits, d, core):
        """Places of the weights of one core, in the order of its stream."""
        n_oc = (OC + self.cores - 1 - core) // self.cores
        blk = self.R("OFM_BLK_DEPTH_M1") + 1
        order = list(order_u55(n_oc, kh, kw, IC, blk, mode, bits, d, self.ublk[2], 8, self.cores, core))
        return [g and (g[0] * self.cores + core,) + g[1:] for g in order] if self.cores > 1 else order

    def order85(self, OC, kh, kw, IC, mode, bits, d, s, core):
        """The same; in the fast format one stream has the cores' sequences by turns."""
        fmt = self.R("WEIGHT_FORMAT")
        sparse = fmt >> 4 & 1
        oud = DEPTHS[self.macs][MICROBLOCKS[self.R("ACC_FORMAT") >> 8 & 7]]
        ibd = 16 if mode == "part" else 32 if self.macs in (128, 256) and oud == 16 and not sparse else 128 if sparse and bits == 8 else 64
        rest = (self.R("OFM_BLK_DEPTH_M1") + 1, ibd, mode, bits, d, s, oud, self.macs, sparse, self.cores)
        of = lambda which: list(order_u85(OC, kh, kw, IC, *rest, which))
        if not fmt & 1 or self.cores == 1:
            return of(core)
        part = mode == "part"
        iud = 8 if part and bits == 16 and not sparse else ibd
        turn = oud * iud * ((5 if bits == 8 and not sparse else 10) if part else 1) // self.cores
        each = [of(which) for which in range(self.cores)]
        return [place for i in range(0, max(map(len, each)), turn) for one in each for place in one[i : i + turn]]

    def core_weights(self, order, data):
        """Places and values; what fills a block up is zero."""
        fast = self.u85 and self.R("WEIGHT_FORMAT") & 1
        values = fwd_decode(data, len(order)) if fast else mlw_decode(data)
        require(len(values) >= len(order), f"weights: {len(values)} decoded, {len(order)} needed")
        require(not any(values[len(order) :]), "a weight past the kernel's is not zero")
        values = np.array(values[: len(order)], np.int64)
        places = np.array([(-1, 0, 0, 0) if x is None else x for x in order], np.int64).reshape(-1, 4)
        between = places[:, 0] < 0
        require(not values[between].any(), "a weight between the kernel's is not zero")
        return places[~between], values[~between]

    def weights(self, OC, kh, kw, IC, mode, bits, d, s):
        self.check_streams()
        registers = tuple(self.r.get(k) for k in WEIGHT_REGISTERS)
        key = (registers, OC, kh, kw, IC, mode, bits)
        if self.R("WEIGHT_REGION") == 0 and key in self.wcache:
            return self.wcache[key]
        w = np.zeros((OC, kh, kw, IC), np.int64)
        memory = self.mem[self.R("WEIGHT_REGION") & 7]
        for core in range(self.cores):
            base, size = WEIGHTS[core]
            n = self.r.get(size, (0, 0))[1]
            if not n:
                continue
            data = bytes(memory[self.A(base) : self.A(base) + n])
            order = self.order85(OC, kh, kw, IC, mode, bits, d, s, core) if self.u85 else self.order55(OC, kh, kw, IC, mode, bits, d, core)
            places, values = self.core_weights(order, data)
            w[places[:, 0], places[:, 1], places[:, 2], places[:, 3]] = values
        self.wcache[key] = w
        return w

    def conv(self, dw, w2):
        OH, OW, OC = self.ofm_dims()
        s, d, kh, kw, part = self.window()
        q = self.prec("IFM")
        IC = self.R("IFM_DEPTH_M1") + 1
        acc = self.accin((OH, OW, OC)) if self.u85 else np.zeros((OH, OW, OC), np.int64)
        acc = acc.copy()
        if w2:
            require(kh == kw == 1, "a product of two feature maps has a kernel")
            w = self.load("IFM2", 1, OC, IC)[0] - sx(self.R("IFM2_ZERO_POINT"), 16)
            w = w[:, None, None, :]
        elif dw:
            w = self.weights(OC, kh, kw, 1, "dw", 8 * q["size"], d, s)
        else:
            w = self.weights(OC, kh, kw, IC, "part" if part else "depth", 8 * q["size"], d, s)
        for ky, kx, v, ok in self.taps(OC if dw and IC >= OC else IC):
            if dw:
                acc += v[:, :, :OC] * w[:, ky, kx, 0]
            elif q["size"] == 1:
                acc += (v.astype(np.float64) @ w[:, ky, kx, :].T.astype(np.float64)).astype(
                    np.int64
                )  # exact below 2^53
            else:
                acc += v @ w[:, ky, kx, :].T
        return acc

    def per_channel(self, acc):
        """bias, scale, shift from the scale stream"""
        OC = acc.shape[2]
        out = []
        p, _ = self.r.get("OFM_SCALE", (0, 0))
        mode = p >> 13 & 7 if self.u85 else None
        if not self.u85:
            mode = {0: 0, 1: 4, 2: 1}[self.prec("OFM")["rnd55"]]
        sc = self.scales(OC)
        b = np.array([x[0] for x in sc], np.int64)
        acc = acc + b
        if self.u85:
            acc = self.accwrap(acc)
        if (
            acc.size
            and max(abs(int(acc.max())), abs(int(acc.min()))) < (1 << 30)
            and max(x[1] for x in sc) < 1 << 31
            and max(x[2] for x in sc) < 62
        ):
            m = np.array([x[1] for x in sc], np.int64)
            sh = np.array([x[2] for x in sc], np.int64)
            r = np.where(sh > 0, np.int64(1) << np.maximum(sh - 1, 0), 0)
            r = np.broadcast_to(r, acc.shape).copy()
            p = acc * m
            D = np.where(sh > 31, 1 << 30, 0)
            if mode == 0:
                r += np.where(acc >= 0, D, -D)
            elif mode == 2:
                r += D
            elif mode == 3:
                r -= (acc < 0) & (sh > 0)
            elif mode == 4:
                r = np.where(p >= 0, 0, (np.int64(1) << sh) - 1)
            elif mode == 5:
                r[:] = 0
            return (p + r) >> sh
        for c, (b, m, sh) in enumerate(sc):
            out.append(
                scale(acc[:, :, c], m, sh, mode)
                if m < 1 << 31
                else vmap(lambda x: scale1(int(x), m, sh, mode), O(acc[:, :, c]))
            )
        return np.stack([O(o) for o in out], 2)

    def op_conv(self, p, dw):
        self.kinds.add("DEPTHWISE" if dw else ("CONV_IFM2" if p & 1 and self.u85 else "CONV"))
        acc = self.conv(dw, self.u85 and p & 1)
        self.out_acc(acc)

    def out_acc(self, acc):
        acc = self.accwrap(acc) if self.u85 else acc
        self.acc = acc
        if self.u85 and self.R("ACC_FORMAT") >> 6 & 1:
            return  # output disabled
        if self.prec("OFM")["glob"]:
            self.store(self.finish(acc))
        else:
            self.store(self.finish(self.per_channel(acc), do_scale=False))

    def op_pool(self, p):
        mode = POOL[p & 7]
        self.kinds.add("POOL_" + mode)
        OH, OW, OC = self.ofm_dims()
        IC = self.R("IFM_DEPTH_M1") + 1
        if mode == "NONE":
            return self.out_acc(self.accin((OH, OW, OC)))
        if mode in ("SUM", "AVERAGE"):
            acc = np.zeros((OH, OW, OC), np.int64)
            n = np.zeros((OH, OW, 1), np.int64)
            for ky, kx, v, ok in self.taps(OC):
                acc += v
                n += ok[:, :, None]
            if mode == "AVERAGE" and (self.u85 or any(self.pads())):
                acc = recipv(acc, n)
            elif self.u85 and self.R("ACC_FORMAT") >> 4 & 3:
                acc += self.accin((OH, OW, OC))
            return self.out_acc(acc)
        if mode in ("MAX", "MIN"):
            best = None
            for ky, kx, v, ok in self.taps(OC):
                v = np.where(ok[:, :, None], v, -(1 << 40) if mode == "MAX" else 1 << 40)
                best = v if best is None else (np.maximum if mode == "MAX" else np.minimum)(best, v)
            if not self.u85 and not self.prec("OFM")["glob"]:
                return self.store(self.finish(best, do_scale=False))  # no scale stream is read
            return self.out_acc(best)
        if mode == "REDUCE_SUM":
            acc = np.zeros((OH, OW, 1), np.int64)
            for ky, kx, v, ok in self.taps(IC):
                acc += v.sum(2, keepdims=True)
            return self.out_acc(np.broadcast_to(acc, (OH, OW, OC)).copy())
        if mode in ("ARGMAX_X", "ARGMAX_Y"):
            best = None
            for ky, kx, v, ok in self.taps(OC):
                i = kx if mode == "ARGMAX_X" else ky
                if best is None:
                    best = v.copy()
                    idx = np.zeros_like(v)
                else:
                    m = v > best
                    best = np.where(m, v, best)
                    idx = np.where(m, i, idx)
            return self.store(idx)
        raise NotImplementedError(mode)
