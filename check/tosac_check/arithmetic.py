# SPDX-License-Identifier: Apache-2.0
"""arithmetic.py -- factors with every rounding of the machines, reciprocals, and their two built-in curves."""

from __future__ import annotations

import numpy as np


def O(a):
    return a.astype(object) if isinstance(a, np.ndarray) else a


def vmap(f, *a):
    return np.vectorize(f, otypes=[object])(*a)


def scale1(v, mul, sh, mode, dbl=0):
    """one value; mode: 0 double symmetric 1 natural 2 double asymmetric 3 symmetric 4 to zero 5 to lower"""
    p = v * mul
    if sh == 0:
        return p
    r = 1 << (sh - 1)
    D = 1 << (30 - dbl) if sh > 31 - dbl else 0
    if mode == 0:
        r += D if v >= 0 else -D
    elif mode == 2:
        r += D
    elif mode == 3:
        r -= v < 0
    elif mode == 4:
        r = 0 if p >= 0 else (1 << sh) - 1
    elif mode == 5:
        r = 0
    return (p + r) >> sh


def scale(a, mul, sh, mode, dbl=0):
    if mul == 1 and sh == 0:
        return a
    if (
        a.size
        and max(abs(int(a.max())), abs(int(a.min()))) < (1 << 30)
        and mul < (1 << 31)
        and sh < 62
    ):
        a = a.astype(np.int64)
        p = a * np.int64(mul)
        if sh == 0:
            return p
        r = np.full(a.shape, 1 << (sh - 1), np.int64)
        D = 1 << (30 - dbl) if sh > 31 - dbl else 0
        if mode == 0:
            r += np.where(a >= 0, D, -D)
        elif mode == 2:
            r += D
        elif mode == 3:
            r -= a < 0
        elif mode == 4:
            r = np.where(p >= 0, 0, (1 << sh) - 1)
        elif mode == 5:
            r = np.zeros_like(p)
        return (p + r) >> sh
    return vmap(lambda v: scale1(int(v), mul, sh, mode, dbl), O(a))


def recip(a, n):
    if n <= 1:
        return a
    k = (n - 1).bit_length()
    m = (((1 << 30) + 1) << k) // n
    sh = 30 + k
    return (a * m + (1 << sh - 1)) >> sh


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
    r = np.where(
        i >= 255,
        0xFFFF << 8 if tanh else 0x7FFF << 10,
        (T[i] << k) + (a & (1 << k) - 1) * (T[i + 1] - T[i]),
    )
    if tanh:
        return np.where(v >= 0, r - (1 << 23) + 128, (1 << 23) - r + 127) >> 8
    return np.where(v >= 0, r + 512, (1 << 25) - r + 511) >> 10
