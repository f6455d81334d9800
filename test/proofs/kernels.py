# SPDX-License-Identifier: Apache-2.0
"""kernels.py -- that arithmetic.py, which lemmas are stated in, is what the compiler computes: its own C, read from its sources, is
proved equal by z3, for all values, all factors and all shifts in range.  Beside each: that C leaves nothing open there.
"""
from __future__ import annotations

from typing import Iterator, NamedTuple

import z3

from arithmetic import Claim, clip, leading_zeros, rounded_shift, saturated, tosa_shift, wrapped
from c_text import Number, Source, number

TOP = (1 << 31) - 1
ROUNDS = {"TC_ROUND_DOUBLE": 0, "TC_ROUND_NATURAL": 1, "TC_ROUND_DOUBLE_UP": 2, "TC_ROUND_SYMMETRIC": 3, "TC_ROUND_TO_ZERO": 4, "TC_ROUND_DOWN": 5}
SCALES = Source("src/num/fixed.h", "src/npu/scale.h", "src/num/tosa_eltwise.c")
LONG, WORD, PLAIN = (64, True), (32, True), (32, False)


class Kernel(NamedTuple):
    name: str
    where: str
    domain: str
    claims: object


def wide(x: Number):
    return z3.SignExt(64 - x.bits, x.term) if x.bits < 64 and x.signed else z3.ZeroExt(64 - x.bits, x.term) if x.bits < 64 else x.term


def agreed(words: str, given: list, run, want) -> Iterator[Claim]:
    yield Claim(words, given, wide(run.value) == want)
    for what, holds in run.claims():
        yield Claim(f"{words}: {what}", given, holds)


def operands(shift: int, bits: int):
    """A value below 2^bits, a factor, and their product: any number of its sign and size."""
    v, m, p = z3.BitVec("v", 64), z3.BitVec("m", 64), z3.BitVec("p", 64)
    most = 1 << bits
    given = [v >= -most, v < most, m >= 0, m <= TOP, p >= -most * TOP, p <= most * TOP, z3.Implies(v >= 0, p >= 0), z3.Implies(v < 0, p <= 0),
             z3.Implies(m == 0, p == 0)]
    return Number(v, *LONG), Number(m, *LONG), Number(p, *LONG), given


def scale32(name: str, mode: str):
    def claims() -> Iterator[Claim]:
        for shift in range(2, 63):
            v, m, p, given = operands(shift, min(shift - 1, 31))
            yield from agreed(f"shift {shift}", given, SCALES.call(name, v, m, number(shift), product=p), rounded_shift(p.term, v.term < 0, shift, mode))
    return claims


def machine(mode: str):
    def claims() -> Iterator[Claim]:
        for shift in range(0, 63):
            v, m, p, given = operands(shift, 31)
            run = SCALES.call("ti_npu_scaled", v, m, number(shift), number(ROUNDS[f"TC_ROUND_{mode.upper()}"]), number(0), product=p, fields=ROUNDS)
            yield from agreed(f"shift {shift}", given, run, rounded_shift(p.term, v.term < 0, shift, mode))
    return claims


def shift_right() -> Iterator[Claim]:
    v = z3.BitVec("v", 64)
    given = [v >= -1 << 31, v <= TOP]
    for shift in range(32):
        run = SCALES.call("arithmetic_right_shift", None, Number(v, *LONG), number(shift, LONG), fields={"round": 1}, stubs={"shift_fits": number(1)})
        yield from agreed(f"shift {shift}", given, run, tosa_shift(v, shift))


def shift_left() -> Iterator[Claim]:
    v = z3.BitVec("v", 64)
    for shift in range(32):
        run = SCALES.call("logical_left_shift", None, Number(v, *LONG), number(shift, LONG), stubs={"shift_fits": number(1)})
        stored = z3.SignExt(32, z3.Extract(31, 0, run.value.term))  # an i32 tensor keeps the low bits
        yield Claim(f"shift {shift}", [v >= -1 << 31, v <= TOP], stored == wrapped(v << shift))


def zeros() -> Iterator[Claim]:
    v = z3.BitVec("v", 64)
    run = SCALES.call("leading_zeros", None, Number(v, *LONG), number(0, LONG), fields={"dtype": 0, "TC_i64": 1})
    yield from agreed("32 bits", [v >= -1 << 31, v <= TOP], run, leading_zeros(v))


def clips() -> Iterator[Claim]:
    v, lo, hi = (z3.BitVec(n, 64) for n in ("v", "lo", "hi"))
    yield from agreed("64 bits", [], SCALES.call("ti_clip", *(Number(x, *LONG) for x in (v, lo, hi))), clip(v, lo, hi))
    for bits in (8, 16, 32):
        ends = [number(e, LONG) for e in (-1 << bits - 1, (1 << bits - 1) - 1)]
        yield from agreed(f"saturated to {bits} bits", [], SCALES.call("ti_clip", Number(v, *LONG), *ends), saturated(v, bits))


def wraps() -> Iterator[Claim]:
    v = z3.BitVec("v", 64)
    for bits in (8, 16, 32, 48):
        yield from agreed(f"{bits} bits", [], SCALES.call("ti_npu_wrapped", Number(v, *LONG), number(bits), number(1)), wrapped(v, bits))


KERNELS = [
    Kernel("RESCALE", "src/num/fixed.h (ti_scale32)", "shifts 2..62, |v| <= 2^(shift-1)", scale32("ti_scale32", "natural")),
    Kernel("RESCALE, two roundings", "src/num/fixed.h (ti_scale32_double)", "the same", scale32("ti_scale32_double", "double")),
    *(Kernel(f"the machines' {mode} rounding", "src/npu/scale.h (ti_npu_scaled)", "32 bits, shifts 0..62", machine(mode))
      for mode in ("natural", "double", "symmetric", "down")),
    Kernel("ARITHMETIC_RIGHT_SHIFT", "src/num/tosa_eltwise.c (arithmetic_right_shift)", "32 bits, shifts 0..31", shift_right),
    Kernel("LOGICAL_LEFT_SHIFT", "src/num/tosa_eltwise.c (logical_left_shift)", "32 bits, shifts 0..31", shift_left),
    Kernel("CLZ", "src/num/tosa_eltwise.c (leading_zeros)", "32 bits", zeros),
    Kernel("clamps", "src/num/fixed.h (ti_clip)", "64 bits", clips),
    Kernel("accumulators that wrap", "src/npu/scale.h (ti_npu_wrapped)", "8, 16, 32, 48 bits", wraps),
]
