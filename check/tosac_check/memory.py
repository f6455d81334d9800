# SPDX-License-Identifier: Apache-2.0
"""memory.py -- registers, feature maps in memory, and which bytes an operation reads and writes."""

from __future__ import annotations

import numpy as np

from .stream import parse_payload, sx


class Memory:
    """The machine of a stream, its memories, and what was found wrong: faults."""

    def __init__(self, raw):
        self.raw = raw
        p = parse_payload(raw["cmd_data"])
        self.p = p
        self.stream = p["stream"]
        self.product = p["config"] >> 28
        self.u85 = self.product == 2
        if self.u85:
            self.macs = 1 << (p["config"] & 15)
            self.cores = {128: 1, 256: 1, 512: 2, 1024: 4, 2048: 4}[self.macs]
        else:
            self.macs = 1 << (p["config"] & 15)
            self.cores = 2 if self.macs == 512 else 1
        if not self.u85:
            self.ublk = {
                32: (1, 1, 4),
                64: (1, 1, 8),
                128: (1, 2, 8),
                256: (2, 2, 8),
                512: (2, 2, 8),
            }[self.macs]
        self.r = {}
        self.mem = {
            0: bytearray(raw["weight_data"]),
            1: bytearray(b"\xa5" * int(raw["scratch_size"])),
            2: bytearray(b"\x5a" * int(raw["scratch_fast_size"])),
        }
        if int(raw["scratch_fast_size"]) == 0:
            self.mem[2] = self.mem[1]
        for k in ("input", "output"):  # separate regions for inputs and outputs
            for sh, es, rg, of in zip(
                *(raw[k + x] for x in ("_shape", "_elem_size", "_region", "_offset"))
            ):
                rg = int(rg)
                need = int(np.prod(sh)) * int(es) + int(of)
                if rg > 2 and len(self.mem.get(rg, b"")) < need:
                    self.mem[rg] = bytearray(b"\x5a" * need)
        #: by region: 1 for every byte that holds a value; the model's constants do from the start
        self.known = {k: bytearray(len(v)) for k, v in self.mem.items()}
        self.known[0] = bytearray(b"\1" * len(self.mem[0]))
        if self.mem[2] is self.mem[1]:
            self.known[2] = self.known[1]
        self.lut = bytearray(2048 if self.u85 else 65536)
        self.acc = None
        self.chain = {}
        self.kinds = set()
        self.wcache = {}
        self.faults = []
        self.warnings = []
        self.cur = []
        self.okern = []
        self.odma = []
        self.group = None
        self.maxdma = 4 if self.u85 else (2 if self.product == 1 else 1)

    def R(self, n, d=0):
        return self.r.get(n, (d, 0))[0]

    def S(self, n):
        return sx(self.R(n), 16)

    def A(self, n):
        p, d = self.r.get(n, (0, 0))
        return ((p & 0xFF) << 32) | d

    def SA(self, n):
        return sx(self.A(n), 40)

    # feature maps ------------------------------------------------------------
    def addr(self, pre, H, W, C, es, nhcwb16):
        b = [self.A(pre + "_BASE%d" % i) for i in range(4)]
        h0, h1, w0 = (
            self.R(pre + "_HEIGHT0_M1") + 1,
            self.R(pre + "_HEIGHT1_M1") + 1,
            self.R(pre + "_WIDTH0_M1") + 1,
        )
        sxx, sy, sc = (
            self.SA(pre + "_STRIDE_X"),
            self.SA(pre + "_STRIDE_Y"),
            self.SA(pre + "_STRIDE_C"),
        )
        y = np.arange(H)[:, None, None]
        x = np.arange(W)[None, :, None]
        c = np.arange(C)[None, None, :]
        right = x >= w0
        hh = np.where(right, h1, h0)
        low = y >= hh
        base = np.where(right, np.where(low, b[3], b[1]), np.where(low, b[2], b[0]))
        yy = np.where(low, y - hh, y)
        xx = np.where(right, x - w0, x)
        if nhcwb16:
            return base + yy * sy + xx * (16 * es) + (c // 16) * sc + (c % 16) * es
        return base + yy * sy + xx * sxx + c * es

    def prec(self, pre):
        v = self.R(pre + "_PRECISION")
        if pre == "OFM":
            return dict(
                signed=v & 1,
                size=1 << (v >> 1 & 3),
                fmt=v >> 6 & 3,
                glob=v >> 8 & 1,
                rev=v >> 9 & 3,
                tr=v >> 11 & 7,
                store=v >> 14 & 3,
                rnd55=v >> 14 & 3,
            )
        return dict(
            signed=v & 1,
            size=1 << (v >> 2 & 3),
            fmt=v >> 6 & 3,
            mode=v >> 8 & 3,
            store=v >> 14 & 3,
            rnd55=v >> 14 & 3,
        )

    def load(self, pre, H, W, C):
        q = self.prec(pre)
        if self.u85 and q["store"] == 2:
            return self.chain[self.R(pre + "_REGION") & 7][:H, :W, :C]
        a = self.addr(pre, H, W, C, q["size"], q["fmt"] == 1)
        m = np.frombuffer(bytes(self.mem[self.R(pre + "_REGION") & 7]), np.uint8)
        self.cur.append((self.R(pre + "_REGION") & 7, int(a.min()), int(a.max()) + q["size"], "r", a, q["size"]))
        if q["fmt"] == 1 and any(self.A(pre + "_BASE%d" % i) % 16 for i in range(4)):
            self.faults.append(pre + " NHCWB16 base not 16-aligned")
        if a.size and (a.min() < 0 or a.max() + q["size"] > len(m)):
            raise IndexError(
                "%s out of region: %d..%d of %d" % (pre, a.min(), a.max() + q["size"], len(m))
            )
        known = np.frombuffer(bytes(self.known[self.R(pre + "_REGION") & 7]), np.uint8)
        if a.size and not all(known[a + i].all() for i in range(q["size"])):
            self.faults.append(pre + " reads bytes that nothing wrote")
        v = np.zeros(a.shape, np.uint64)
        for i in range(q["size"]):
            v |= m[a + i].astype(np.uint64) << np.uint64(8 * i)
        dt = {
            (1, 1): np.int8,
            (1, 0): np.uint8,
            (2, 1): np.int16,
            (2, 0): np.uint16,
            (4, 1): np.int32,
            (4, 0): np.uint32,
            (8, 1): np.int64,
            (8, 0): np.uint64,
        }[(q["size"], q["signed"])]
        return (
            v.astype({1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[q["size"]])
            .view(dt)
            .astype(np.int64)
        )

    def store(self, val):
        q = self.prec("OFM")
        self.last = int(val.ravel()[-1])
        H, W, C = val.shape
        if self.u85:
            if q["store"] == 2:
                self.chain[self.R("OFM_REGION") & 7] = val
                return
            if q["store"] == 3:
                return
            if q["rev"]:
                val = np.flip(val, q["rev"] - 1)
            if q["tr"]:
                perm = {1: (1, 0, 2), 2: (0, 2, 1), 3: (1, 2, 0), 6: (2, 0, 1), 7: (2, 1, 0)}[
                    q["tr"]
                ]
                val = np.transpose(val, perm)
                H, W, C = val.shape
        a = self.addr("OFM", H, W, C, q["size"], q["fmt"] == 1)
        reg = self.mem[self.R("OFM_REGION") & 7]
        self.cur.append((self.R("OFM_REGION") & 7, int(a.min()), int(a.max()) + q["size"], "w", a, q["size"]))
        if self.R("OFM_REGION") & 7 == 0:
            self.faults.append("write to the read-only region")
        if a.size and (a.min() < 0 or a.max() + q["size"] > len(reg)):
            raise IndexError(
                "OFM out of region: %d..%d of %d" % (a.min(), a.max() + q["size"], len(reg))
            )
        m = np.frombuffer(reg, np.uint8).copy()
        if val.dtype == object:
            v = np.array([int(x) & (2**64 - 1) for x in val.ravel()], np.uint64).reshape(val.shape)
        else:
            v = np.ascontiguousarray(val, dtype=np.int64).view(np.uint64)
        for i in range(q["size"]):
            m[a + i] = (v >> np.uint64(8 * i)).astype(np.uint8)
        reg[:] = m.tobytes()
        known = np.frombuffer(self.known[self.R("OFM_REGION") & 7], np.uint8).copy()
        for i in range(q["size"]):
            known[a + i] = 1
        self.known[self.R("OFM_REGION") & 7][:] = known.tobytes()
