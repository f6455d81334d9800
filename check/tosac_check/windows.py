# SPDX-License-Identifier: Apache-2.0
"""windows.py -- convolutions and pools."""

from __future__ import annotations

from itertools import product

import numpy as np

from .arithmetic import O, ROUNDINGS55, fits, recipv, scale, scale_each
from .output_stage import OutputStage
from .registers import BY_PARTS, DEPTHS, DILATION, MICROBLOCKS, STRIDE, field
from .stream import POOL, require
from .weights import fwd_decode, mlw_decode, order_u55, order_u85


#: registers of each core's weight stream: where, and how long
WEIGHTS = (
    ("WEIGHT_BASE", "WEIGHT_LENGTH"),
    ("WEIGHT1_BASE", "WEIGHT1_LENGTH"),
    ("WEIGHT2_BASE|SCALE1_BASE", "WEIGHT2_LENGTH|SCALE1_LENGTH"),
    ("WEIGHT3_BASE", "WEIGHT3_LENGTH"),
)
WEIGHT_REGISTERS = ("WEIGHT_BASE", "WEIGHT_LENGTH", "WEIGHT_REGION", "OFM_BLK_DEPTH_M1", "WEIGHT_FORMAT")
ENTRY = 10  # bytes of a channel's bias, factor and shift
#: in them: bytes of the bias, first byte and bytes of the factor, byte of the shift
ENTRIES = {"u55": (5, 5, 9, 9), "u85, 32 bits": (4, 4, 8, 8), "u85, 48 bits": (6, 6, 8, 8)}
FACTOR_BITS = {"u55": 32, "u85, 32 bits": 31, "u85, 48 bits": 15}
LAST, OF_IFM2 = 1, 2  # U85: where accumulators begin
FARTHEST = 1 << 40  # what a maximum begins with
BEST = {"MAX": (np.maximum, -FARTHEST), "MIN": (np.minimum, FARTHEST)}


class Windows(OutputStage):
    def ofm_dims(self):
        return self.R("OFM_HEIGHT_M1") + 1, self.R("OFM_WIDTH_M1") + 1, self.R("OFM_DEPTH_M1") + 1

    def window(self):
        """Strides, dilations, height and width of the kernel, and whether it is read in parts."""
        word = self.R("KERNEL_STRIDE")
        s = tuple(1 + field(word, *STRIDE[axis][0]) + 2 * field(word, *STRIDE[axis][1]) for axis in "yx")
        d = tuple(1 + field(word, DILATION[axis], 1) for axis in "yx")
        dilated = self.R("KERNEL_HEIGHT_M1"), self.R("KERNEL_WIDTH_M1")
        return s, d, dilated[0] // d[0] + 1, dilated[1] // d[1] + 1, field(word, BY_PARTS, 1)

    def pads(self):
        return tuple(self.R(f"IFM_PAD_{side}") for side in ("TOP", "LEFT", "BOTTOM", "RIGHT"))

    def seen(self, H, W, C):
        """The input as the window sees it, less its zero point: as it is, each row and column twice, or with zeros between."""
        up = self.R("IFM_UPSCALE") & 3
        x = self.load("IFM", -(-H // 2) if up else H, -(-W // 2) if up else W, C) - self.zero("IFM")
        if up == 1:
            return x.repeat(2, 0).repeat(2, 1)[:H, :W]
        if up == 2:
            spread = np.zeros((2 * x.shape[0], 2 * x.shape[1], C), np.int64)
            spread[::2, ::2] = x
            return spread[:H, :W]
        return x

    def taps(self, C):
        """Of each tap: its row and column, values [H, W, C] less their zero point, and which of them lie on the input [H, W]."""
        s, d, kh, kw, _ = self.window()
        top, left, bottom, right = self.pads()
        reach = (kh - 1) * d[0] + 1, (kw - 1) * d[1] + 1
        if max(top, bottom) >= reach[0] or max(left, right) >= reach[1]:
            self.warnings.append("padding not smaller than the kernel")
        OH, OW, _ = self.ofm_dims()
        H, W = (OH - 1) * s[0] + reach[0] - top - bottom, (OW - 1) * s[1] + reach[1] - left - right
        x = self.seen(H, W, C)
        for ky, kx in product(range(kh), range(kw)):
            iy, ix = np.arange(OH) * s[0] - top + ky * d[0], np.arange(OW) * s[1] - left + kx * d[1]
            on = ((iy >= 0) & (iy < H))[:, None] & ((ix >= 0) & (ix < W))[None, :]
            v = x[np.clip(iy, 0, H - 1)][:, np.clip(ix, 0, W - 1)]
            yield ky, kx, np.where(on[:, :, None], v, 0), on

    # accumulators ----------------------------------------------------------------
    def begun(self, shape):
        """U85: what accumulators begin with."""
        how = field(self.R("ACC_FORMAT"), 4, 2) if self.u85 else 0
        if how == LAST:
            return self.acc
        return self.load("IFM2", *shape) - self.zero("IFM2") if how == OF_IFM2 else np.zeros(shape, np.int64)

    def accwrap(self, a):
        bits = 32 if self.R("ACC_FORMAT") & 3 == 0 else 48
        a = np.asarray(a, dtype=np.int64)
        return ((a + (1 << bits - 1)) & ((1 << bits) - 1)) - (1 << bits - 1)

    # scales ----------------------------------------------------------------------
    def check_scales(self, channels, cores):
        base, length = self.A("SCALE_BASE"), self.r.get("SCALE_LENGTH", (0, 0))[1]
        self.cur.append((self.R("SCALE_REGION") & 7, base, base + length, "r"))
        if base % 16 or length % 16 or length < -(-channels // cores) * ENTRY:
            self.faults.append("scale base/length")
        if cores == 2 and channels > 1 and self.r.get("WEIGHT2_LENGTH|SCALE1_LENGTH", (0, 0))[1] == 0:
            self.faults.append("no scale stream for core 1")

    def scales(self, channels):
        """Bias, factor and shift of each channel: three lists; the cores of a U65 have the channels by turns."""
        cores = 1 if self.u85 else self.machine.cores
        self.check_scales(channels, cores)
        form = "u55" if not self.u85 else "u85, 32 bits" if self.R("ACC_FORMAT") & 3 == 0 else "u85, 48 bits"
        bias, begin, end, shift = ENTRIES[form]
        base, memory = [self.A("SCALE_BASE"), self.A("WEIGHT2_BASE|SCALE1_BASE")], self.mem[self.R("SCALE_REGION") & 7]
        found = []
        for c in range(channels):
            at = base[c % cores] + ENTRY * (c // cores)
            if at + ENTRY > len(memory):
                raise IndexError("scale stream out of region")
            e = memory[at : at + ENTRY]
            factor = int.from_bytes(e[begin:end], "little") & (1 << FACTOR_BITS[form]) - 1
            found.append((int.from_bytes(e[:bias], "little", signed=True), factor, e[shift] & 63))
        return tuple(zip(*found))

    def per_channel(self, acc):
        """Bias, factor and shift of each channel applied."""
        rounding = field(self.r.get("OFM_SCALE", (0, 0))[0], 13, 3) if self.u85 else ROUNDINGS55[self.prec("OFM")["rnd55"]]
        bias, factor, shift = self.scales(acc.shape[2])
        acc = acc + np.array(bias, np.int64)
        acc = self.accwrap(acc) if self.u85 else acc
        if fits(acc, max(factor), max(shift)):
            return scale_each(acc, np.array(factor, np.int64), np.array(shift, np.int64), rounding)
        return np.stack([O(scale(acc[:, :, c], factor[c], shift[c], rounding)) for c in range(acc.shape[2])], 2)

    # weights ---------------------------------------------------------------------
    def check_streams(self):
        """Bounds and alignment of each core's weight stream."""
        for name in WEIGHTS[: min(self.machine.cores, 2)]:
            at, size = self.A(name[0]), self.r.get(name[1], (0, 0))[1]
            if not size:
                continue
            region = self.R("WEIGHT_REGION") & 7
            self.cur.append((region, at, at + size, "r"))
            if at % 16 or size % 16:
                self.faults.append("weight base or length not a multiple of 16")
            if at + size > len(self.mem[region]):
                self.faults.append("weights out of region")

    def order55(self, kernel, mode, bits, d, core):
        """Places of the weights of one core, in the order of its stream."""
        cores = self.machine.cores
        own = (kernel[0] + cores - 1 - core) // cores
        order = list(order_u55((own, *kernel[1:]), self.R("OFM_BLK_DEPTH_M1") + 1, mode, bits, d, self.machine.block[2], 8, cores, core))
        return [g and (g[0] * cores + core,) + g[1:] for g in order] if cores > 1 else order

    def order85(self, kernel, mode, bits, d, s, core):
        """The same; in the fast format one stream has the cores' sequences by turns."""
        macs, cores = self.machine.macs, self.machine.cores
        word = self.R("WEIGHT_FORMAT")
        sparse, part = field(word, 4, 1), mode == "part"
        oud = DEPTHS[macs][MICROBLOCKS[field(self.R("ACC_FORMAT"), 8, 3)]]
        ibd = 16 if part else 32 if macs in (128, 256) and oud == 16 and not sparse else 128 if sparse and bits == 8 else 64
        of = lambda which: list(order_u85(kernel, self.R("OFM_BLK_DEPTH_M1") + 1, ibd, mode, bits, d, s, oud, macs, sparse, cores, which))
        if not word & 1 or cores == 1:
            return of(core)
        iud = 8 if part and bits == 16 and not sparse else ibd
        turn = oud * iud * ((5 if bits == 8 and not sparse else 10) if part else 1) // cores
        each = [of(which) for which in range(cores)]
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

    def weights(self, kernel, mode, bits, d, s):
        """[output channel, row, column, input channel]"""
        self.check_streams()
        key = (tuple(self.r.get(k) for k in WEIGHT_REGISTERS), kernel, mode, bits)
        if self.R("WEIGHT_REGION") == 0 and key in self.wcache:
            return self.wcache[key]
        w = np.zeros(kernel, np.int64)
        memory = self.mem[self.R("WEIGHT_REGION") & 7]
        for core in range(self.machine.cores):
            base, size = WEIGHTS[core]
            n = self.r.get(size, (0, 0))[1]
            if not n:
                continue
            data = bytes(memory[self.A(base) : self.A(base) + n])
            order = self.order85(kernel, mode, bits, d, s, core) if self.u85 else self.order55(kernel, mode, bits, d, core)
            places, values = self.core_weights(order, data)
            w[places[:, 0], places[:, 1], places[:, 2], places[:, 3]] = values
        self.wcache[key] = w
        return w

    # convolutions ----------------------------------------------------------------
    def second_map(self, channels, depth):
        """U85: a feature map in the weights' place."""
        _, _, kh, kw, _ = self.window()
        require(kh == kw == 1, "a product of two feature maps has a kernel")
        return (self.load("IFM2", 1, channels, depth)[0] - self.zero("IFM2"))[:, None, None, :]

    def conv(self, depthwise, of_map):
        shape, depth, bytes_ = self.ofm_dims(), self.R("IFM_DEPTH_M1") + 1, self.prec("IFM")["size"]
        s, d, kh, kw, part = self.window()
        channels = shape[2]
        acc = self.begun(shape).copy()
        if of_map:
            w = self.second_map(channels, depth)
        elif depthwise:
            w = self.weights((channels, kh, kw, 1), "dw", 8 * bytes_, d, s)
        else:
            w = self.weights((channels, kh, kw, depth), "part" if part else "depth", 8 * bytes_, d, s)
        for ky, kx, v, _ in self.taps(channels if depthwise and depth >= channels else depth):
            if depthwise:
                acc += v[:, :, :channels] * w[:, ky, kx, 0]
            elif bytes_ == 1:  # exact below 2^53
                acc += (v.astype(np.float64) @ w[:, ky, kx, :].T.astype(np.float64)).astype(np.int64)
            else:
                acc += v @ w[:, ky, kx, :].T
        return acc

    def op_conv(self, p, depthwise):
        of_map = bool(self.u85 and p & 1)
        self.kinds.add("DEPTHWISE" if depthwise else "CONV_IFM2" if of_map else "CONV")
        self.out_acc(self.conv(depthwise, of_map))

    def out_acc(self, acc):
        self.acc = acc = self.accwrap(acc) if self.u85 else acc
        if self.u85 and field(self.R("ACC_FORMAT"), 6, 1):
            return  # output disabled
        if self.prec("OFM")["glob"]:
            self.store(self.finish(acc))
        else:
            self.store(self.finish(self.per_channel(acc), do_scale=False))

    # pools -----------------------------------------------------------------------
    def op_pool(self, p):
        mode = POOL[p & 7]
        self.kinds.add("POOL_" + mode)
        POOLS[mode](self, mode, self.ofm_dims())

    def pool_sum(self, mode, shape):
        acc, n = np.zeros(shape, np.int64), np.zeros((*shape[:2], 1), np.int64)
        for _, _, v, on in self.taps(shape[2]):
            acc += v
            n += on[:, :, None]
        if mode == "AVERAGE" and (self.u85 or any(self.pads())):
            return self.out_acc(recipv(acc, n))
        self.out_acc(acc + self.begun(shape))

    def pool_best(self, mode, shape):
        better, least = BEST[mode]
        best = np.full(shape, least, np.int64)
        for _, _, v, on in self.taps(shape[2]):
            best = better(best, np.where(on[:, :, None], v, least))
        if not self.u85 and not self.prec("OFM")["glob"]:
            return self.store(self.finish(best, do_scale=False))  # no scale stream is read
        self.out_acc(best)

    def pool_reduce(self, mode, shape):
        acc = sum(v.sum(2, keepdims=True) for _, _, v, _ in self.taps(self.R("IFM_DEPTH_M1") + 1))
        self.out_acc(np.broadcast_to(acc, shape).copy())

    def pool_argmax(self, mode, shape):
        """The first of the greatest along one axis."""
        found = [(kx if mode == "ARGMAX_X" else ky, v) for ky, kx, v, _ in self.taps(shape[2])]
        numbers, values = np.array([i for i, _ in found]), np.stack([v for _, v in found])
        self.store(numbers[values.argmax(0)])


POOLS = {
    "NONE": lambda npu, _, shape: npu.out_acc(npu.begun(shape)),
    "SUM": Windows.pool_sum,
    "AVERAGE": Windows.pool_sum,
    "MAX": Windows.pool_best,
    "MIN": Windows.pool_best,
    "REDUCE_SUM": Windows.pool_reduce,
    "ARGMAX_X": Windows.pool_argmax,
    "ARGMAX_Y": Windows.pool_argmax,
}
