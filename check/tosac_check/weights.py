# SPDX-License-Identifier: Apache-2.0
"""weights.py -- weight streams of both formats decoded, and the order in which the machines read weights."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

from .stream import require, sx


class Bits:
    def __init__(self, b):
        self.b = bytes(b) + bytes(32)
        self.n = len(b) * 8
        self.p = 0

    def get(self, k):
        i = self.p >> 3
        r = (int.from_bytes(self.b[i : i + (k + 14 >> 3)], "little") >> (self.p & 7)) & ((1 << k) - 1)
        self.p += k
        require(self.p <= self.n, "the weight stream is cut off")
        return r


def unfolded(v):
    """The lowest bit is the sign."""
    return -(v >> 1) if v & 1 else v >> 1


# ---- the standard format ----

END, NO_RUNS, PLAIN = 7, 6, 7  # of a section: its zeros' divisor, its weights' divisor
UNITS = 12  # codes of a slice of weights


class Palette(NamedTuple):
    """Weights by index; what lies beyond is an index less their number, from `beyond` on."""

    values: list[int]
    bits: int
    beyond: int

    @staticmethod
    def read(b: Bits) -> "Palette":
        beyond, n = b.get(5), b.get(5)
        n += n > 0
        bits = b.get(3) + 2
        return Palette([b.get(bits) for _ in range(n)], bits, beyond)

    def value(self, index):
        return unfolded(self.values[index] if index < len(self.values) else index - len(self.values) + self.beyond)

    @property
    def index_bits(self):
        return (len(self.values) - 1).bit_length() if self.values else self.bits


class Quotients:
    """Unary numbers that may run over from one slice into the next."""

    def __init__(self):
        self.open = 0

    def close(self):
        done, self.open = self.open, 0
        return done


class Section:
    def __init__(self, b: Bits, zdiv: int, palette: Palette):
        self.b, self.zdiv, self.runs = b, zdiv, zdiv != NO_RUNS
        self.n = b.get(15) + 1
        self.wdiv, self.truncated, self.new = b.get(3), b.get(1), b.get(1)
        self.palette = Palette.read(b) if self.new else palette
        self.plain = self.wdiv == PLAIN
        if self.plain:
            self.wdiv = self.palette.index_bits
        self.indices: list[int] = []
        self.zeros: list[int] = []

    def zero_quotients(self, state: Quotients) -> list[int]:
        n = 12 if self.zdiv < 3 else 8
        bits, found = self.b.get(n), []
        for i in range(n):
            if bits >> i & 1:
                state.open += 1
            else:
                found.append(state.close())
        return found

    def weight_quotients(self, first: int, state: Quotients, left: int) -> list[int]:
        n = 8 if self.plain and self.wdiv > 5 else UNITS
        count = bin(first & (1 << n) - 1).count("1")
        more, found = self.b.get(count) if count else 0, []
        for i in range(n):
            if len(found) >= left:
                break
            code = 0
            if first >> i & 1:
                code = 1 + (more & 1)
                more >>= 1
            state.open += code
            if code < 2 or self.truncated:
                found.append(state.close())
        return found

    def rest(self, quotients, found: list[int], most: int, div: int) -> None:
        """The low bits of what the slice before began."""
        for q in quotients or []:
            if len(found) < most:
                found.append((q << div) + (self.b.get(div) if div else 0))

    def read(self) -> None:
        """Slices of weights and of runs of zeros by turns, so that neither is eight ahead; their low bits are one slice later."""
        weights, zeros = Quotients(), Quotients()
        n_zeros, n_weight, n_zero, before = self.n + self.new, 0, 0, (None, None)
        while True:
            ahead = n_weight - n_zero if self.runs else 0
            takes_weights = (ahead < 8 or not self.runs) and n_weight < self.n
            takes_zeros = self.runs and ahead >= 0 and n_zero < n_zeros
            first = self.b.get(UNITS) if takes_weights and not self.plain else 0
            now_zeros = self.zero_quotients(zeros) if takes_zeros else None
            now_weights = self.weight_quotients(first, weights, self.n - n_weight) if takes_weights else None
            self.rest(before[0], self.indices, self.n, self.wdiv)
            self.rest(before[1], self.zeros, n_zeros, self.zdiv)
            n_weight, n_zero = n_weight + len(now_weights or []), n_zero + len(now_zeros or [])
            before = now_weights, now_zeros
            if before == (None, None):
                return

    def values(self) -> list[int]:
        found = [0] * self.zeros[0] if self.runs and self.new else []
        for i, index in enumerate(self.indices):
            found.append(self.palette.value(index))
            if self.runs:
                found += [0] * self.zeros[i + self.new]
        return found


def mlw_decode(data):
    """The weights of a stream, with their signs."""
    b, found, palette = Bits(data), [], Palette([], 0, 0)
    while b.n - b.p >= 3:
        zdiv = b.get(3)
        if zdiv == END:  # to a byte's end; more may follow
            b.p = b.p + 7 & ~7
            continue
        section = Section(b, zdiv, palette)
        section.read()
        found += section.values()
        palette = section.palette
    return found


# ---- the fast format ----

HEADER = 256  # bits


def fwd_decode(data, count):
    """U85: a header, then bytes, or indices of 4 or 2 bits into its table."""
    b = Bits(data)
    raw, small = b.get(1), b.get(1)
    b.get(102)
    zero = sx(b.get(8), 8)
    table = [unfolded(b.get(9)) for _ in range(16)]
    require(b.p == HEADER, "the header of fast weights is cut")
    if raw:
        return [sx(b.get(8), 8) - zero for _ in range(count)]
    return [table[b.get(2 if small else 4)] for _ in range(count)]


# ---- the order of weights ----


def pieces(n, most):
    """Where each piece begins, and its size."""
    return [(at, min(most, n - at)) for at in range(0, n, most)]


def order_u55(kernel, block, mode, bits, d, ou, iu, cores=1, core=0):
    """Places (output channel, row, column, input channel) of kernel = (output channels of this core, height, width, depth) in the order of
    a stream, None where it is filled up; mode: 'depth', 'part', 'dw'."""
    oc, kh, kw, ic = kernel
    part, dw = mode == "part", mode == "dw"
    ib = 16 if part or bits == 16 else 32
    round_to = 4 if dw else (2 if bits == 16 else 4) if part else 1
    own_block = (block + cores - 1 - core) // cores
    for (ob, cob), ibz in product(pieces(oc, own_block), range(0, 1 if dw else ic, ib)):
        cib = iu if dw else min(ib, ic - ibz) if part else ib
        outer, inner = (cib, 1) if part else (1, cib)
        for (sy, sh), (sx_, sw) in product(pieces(kh, 8 // d[0]), pieces(kw, 8 // d[1])):
            taps = range(-(-sh * sw // round_to) * round_to)
            units = product(range(0, outer, iu), range(0, cob, ou), taps, range(0, inner, iu), range(ou), range(1 if dw else iu))
            for uo, ofu, tap, ui, oz, iz in units:
                ky, kx = divmod(tap, sw)
                z, o = ibz + ui + uo + iz, ob + ofu + oz
                # channels past the block belong to the next block: it ends at the stream's depth only
                yield (o, sy + ky, sx_ + kx, z) if z < ic and o < oc and ky < sh else None


def snake(sh, sw, st):
    """U85: taps of a piece of the kernel, by phases of the stride, every other row backwards."""
    for ty, tx in product(range(st[0]), range(st[1])):
        rows, columns = (sh + st[0] - 1 - ty) // st[0], (sw + st[1] - 1 - tx) // st[1]
        for ky, kx in product(range(rows), range(columns)):
            yield ty + ky * st[0], tx + (kx if ky % 2 == 0 else columns - 1 - kx) * st[1]


#: U85, by mode: how many taps are filled up to (16 bits or sparse, else), whether the stride's phases are apart
TAPS85 = {"part": (10, 5, True), "dw": (10, 10, True), "depth": (1, 1, False)}


def order_u85(kernel, block, ibd, mode, bits, d, stride, ou, macs, sparse=False, cores=1, core=0):
    """The same for a U85: blocks of input channels forth and back."""
    oc, kh, kw, ic = kernel
    part, dw, wide = mode == "part", mode == "dw", bits == 16
    *rounds, phases = TAPS85[mode]
    round_to, st = rounds[0 if wide or sparse else 1], stride if phases else (1, 1)
    iud = 1 if dw else 8 if part and wide and not sparse else ibd
    more = 0 if not dw or (not wide and macs <= 256) else 2 if macs <= 512 else 6
    step = 1 if dw else 16 if sparse else 8
    inputs = pieces(1 if dw else ic, ibd)
    for number, (ob, cob) in enumerate(pieces(oc, block)):
        for (ibz, _), (sx_, sw), (sy, sh) in product(inputs[:: -1 if number % 2 else 1], pieces(kw, 8 // d[1]), pieces(kh, 8 // d[0])):
            cib = min(ibd, ic - ibz)
            for uo, ofo in product(range(0, 1 if dw else cib, iud), range(0, cob, ou)):
                left = -(-sw * sh // round_to) * round_to
                for ky, kx in snake(sh, sw, st):
                    left -= 1
                    for ui, oz, oi, iz in product(range(0, iud, step), range(core * 4, ou, 4 * cores), range(4), range(step)):
                        z, o = ibz + uo + ui + iz, ob + ofo + oi + oz
                        yield (o, sy + ky, sx_ + kx, z) if z < ic and o < oc else None
                    if left % round_to == 0:
                        yield from [None] * (more * ou // cores)
                if left > 0:
                    yield from [None] * ((left + more) * iud * ou // cores)
