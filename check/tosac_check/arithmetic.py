# SPDX-License-Identifier: Apache-2.0
"""arithmetic.py -- factors with every rounding of the machines, reciprocals, and their two built-in curves."""

from __future__ import annotations

import numpy as np


def O(a):
    """An array of Python's integers, which do not overflow."""
    return a.astype(object) if isinstance(a, np.ndarray) else a


def vmap(f, *a):
    return np.vectorize(f, otypes=[object])(*a)


def chosen(holds, yes, no):
    """np.where of single numbers."""
    return yes if holds else no


#: What is added before a shift to the right by n > 0, in U85's codes: half = 2^(n-1), D = n > 31 - k ? 2^(30-k) : 0
ROUNDINGS = {
    0: lambda half, D, down, _, pick: half + pick(down, -D, D),  # double
    1: lambda half, D, down, _, pick: half,  # natural
    2: lambda half, D, down, _, pick: half + D,  # double up
    3: lambda half, D, down, _, pick: half - down,  # symmetric
    4: lambda half, D, _, below, pick: pick(below, 2 * half - 1, 0),  # to zero
    5: lambda half, D, down, _, pick: 0 * half,  # down
}
ROUNDINGS55 = {0: 0, 1: 4, 2: 1}  # U55's codes in U85's
TOP = 1 << 31


def scale1(v, factor, shift, mode, k=0):
    """v * factor / 2^shift, of one number."""
    p = v * factor
    if shift == 0:
        return p
    D = 1 << 30 - k if shift > 31 - k else 0
    return p + ROUNDINGS[mode](1 << shift - 1, D, v < 0, p < 0, chosen) >> shift


def scale_each(a, factor, shift, mode, k=0):
    """The same of int64 whose products fit; factors and shifts by element."""
    p = a * factor
    half = np.where(shift > 0, np.int64(1) << np.maximum(shift - 1, 0), 0)
    D = np.where(shift > 31 - k, 1 << 30 - k, 0)
    add = ROUNDINGS[mode](half, D, a < 0, p < 0, np.where)
    return np.where(shift > 0, p + add >> shift, p)


def fits(a, factor, shift) -> bool:
    """Whether all of it stays within int64."""
    return bool(a.size) and max(abs(int(a.max())), abs(int(a.min()))) < 1 << 30 and factor < TOP and shift < 62


def scale(a, factor, shift, mode, k=0):
    if factor == 1 and shift == 0:
        return a
    if fits(a, factor, shift):
        return scale_each(a.astype(np.int64), np.int64(factor), np.int64(shift), mode, k)
    return vmap(lambda v: scale1(int(v), factor, shift, mode, k), O(a))


def recip(a, n):
    if n <= 1:
        return a
    k = (n - 1).bit_length()
    m = (((1 << 30) + 1) << k) // n
    shift = 30 + k
    return (a * m + (1 << shift - 1)) >> shift


def recipv(acc, n):
    out = np.empty_like(acc)
    n = np.broadcast_to(n, acc.shape)
    for k in np.unique(n):
        i = n == k
        out[i] = [recip(int(x), int(k)) for x in acc[i]]
    return out


def sigmoids():
    """65536 s(i / 24), raised by half of what a straight line misses in the middle of a step: TensorFlow Lite's 16-bit table"""
    s = 1 / (1 + np.exp(-np.arange(257) / 24))
    t = np.floor(65536 * (s - s * (1 - s) * (1 - 2 * s) / (16 * 24 * 24)) + 0.5).astype(np.int64)
    t[255:] = 65535
    return t


def curve(v, tanh):
    """built-in functions: steps of 1/12288, not held to 16 bits, to steps of 1/32768; tanh x = 2 s(2x) - 1"""
    T = sigmoids()
    k = 8 if tanh else 9
    v = np.asarray(v, dtype=np.int64)
    a = np.abs(v)
    i = np.minimum(a >> k, 255)
    end = 0xFFFF << 8 if tanh else 0x7FFF << 10
    r = np.where(i >= 255, end, (T[i] << k) + (a & (1 << k) - 1) * (T[i + 1] - T[i]))
    if tanh:
        return np.where(v >= 0, r - (1 << 23) + 128, (1 << 23) - r + 127) >> 8
    return np.where(v >= 0, r + 512, (1 << 25) - r + 511) >> 10
