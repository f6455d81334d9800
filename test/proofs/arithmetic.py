# SPDX-License-Identifier: Apache-2.0
"""arithmetic.py -- the integer arithmetic of TOSA and of the machines, for numbers and for z3's bit vectors alike.

Values are 64-bit with a sign.  kernels.py proves these definitions equal to the compiler's own C (src/num/fixed.h, src/npu/scale.h, ...).
"""
from __future__ import annotations

from typing import NamedTuple

import z3

BITS = 64


class Claim(NamedTuple):
    """`holds` for all numbers of which everything of `given` is true."""

    words: str
    given: list
    holds: object


def choose(condition, yes, no):
    if isinstance(condition, bool):
        return yes if condition else no
    return z3.If(condition, wide(yes), wide(no))


def wide(v):
    return z3.BitVecVal(v, BITS) if isinstance(v, int) else v


def clip(v, lo, hi):
    return choose(v < lo, lo, choose(v > hi, hi, v))


def rounded_shift(product, negative, shift: int, mode: str = "natural"):
    """(product + rounding) / 2^shift, down; negative: the value before its factor is below zero."""
    if shift == 0:
        return product
    more = 1 << 30 if shift > 31 else 0
    add = {"natural": 1 << shift - 1,
           "double": (1 << shift - 1) + choose(negative, -more, more),
           "symmetric": (1 << shift - 1) - choose(negative, 1, 0),
           "down": 0}[mode]
    return (product + add) >> shift


def scaled(v, factor, shift: int, mode: str = "natural"):
    return rounded_shift(v * factor, v < 0, shift, mode)


def tosa_shift(v, shift: int):
    """ARITHMETIC_RIGHT_SHIFT with rounding."""
    return v if shift == 0 else (v >> shift) + ((v >> shift - 1) & 1)


def leading_zeros(v):
    """Of 32 bits."""
    low = v & 0xffffffff
    zeros = 32
    for bit in range(32):
        zeros = choose(low >> bit & 1 == 1, 31 - bit, zeros)
    return zeros


def wrapped(v, bits: int = 32):
    half = 1 << bits - 1
    return ((v + half) & ((1 << bits) - 1)) - half


def saturated(v, bits: int = 32):
    return clip(v, -(1 << bits - 1), (1 << bits - 1) - 1)
