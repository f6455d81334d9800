# SPDX-License-Identifier: Apache-2.0
"""tosa_operators.py -- TOSA's operators on integers, bit for bit, as the specification has them."""

from __future__ import annotations

import numpy as np

from .typed_text import ENDS, Type


def ends(t: Type) -> tuple[int, int]:
    if t.dtype not in ENDS:
        raise NotImplementedError(f"results of {t.dtype}")
    return ENDS[t.dtype]


def scaled(v, factor, shift, double: bool):
    """value * factor / 2^shift, halves up; double: to 2^31 first where the shift is larger."""
    half = np.int64(1) << (shift - 1)
    more = np.where(v >= 0, np.int64(1) << 30, -(np.int64(1) << 30)) if double else 0
    return v * factor + half + np.where(shift > 31, more, 0) >> shift


def one(x) -> int:
    return int(np.asarray(x).reshape(-1)[0])


def rescale(a, t, x, factor, shift, zero, out_zero):
    bits = 8 * x.dtype.itemsize
    v, z, to = x.astype(np.int64), one(zero), one(out_zero)
    if a["input_unsigned"]:
        v, z = v & (1 << bits) - 1, z & (1 << bits) - 1
    lo, hi = ends(t)
    if a["output_unsigned"]:
        lo, hi, to = 0, hi - lo, to & hi - lo
    v = scaled(v - z, factor.astype(np.int64), shift.astype(np.int64), a["rounding_mode"] == "double")
    return np.clip(v + to, lo, hi)


def windows(x, kernel, stride, dilation, pad, value=0):
    """[n, h, w, c] -> [n, oh, ow, kh, kw, c]; pad: top, bottom, left, right."""
    x = np.pad(x, ((0, 0), pad[:2], pad[2:], (0, 0)), constant_values=value)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    found = np.lib.stride_tricks.sliding_window_view(x, reach, axis=(1, 2))
    found = found[:, :: stride[0], :: stride[1], :, :: dilation[0], :: dilation[1]]
    return found.transpose(0, 1, 2, 4, 5, 3)


def exact(v):
    """Sums in f64 that are integers below 2^53."""
    return np.rint(v).astype(np.int64)


def conv2d(a, t, x, w, b, zero, w_zero):
    x, w = x.astype(np.float64) - one(zero), w.astype(np.float64) - one(w_zero)
    seen = windows(x, w.shape[1:3], a["stride"], a["dilation"], a["pad"])
    return exact(np.tensordot(seen, w, ((3, 4, 5), (1, 2, 3)))) + b.astype(np.int64)


def depthwise_conv2d(a, t, x, w, b, zero, w_zero):
    x, w = x.astype(np.float64) - one(zero), w.astype(np.float64) - one(w_zero)
    seen = windows(x, w.shape[:2], a["stride"], a["dilation"], a["pad"])
    v = exact(np.einsum("nhwabc,abcm->nhwcm", seen, w))
    return v.reshape(*v.shape[:3], -1) + b.astype(np.int64)


def matmul(a, t, x, y, x_zero, y_zero):
    return exact((x.astype(np.float64) - one(x_zero)) @ (y.astype(np.float64) - one(y_zero)))


def avg_pool2d(a, t, x, zero, out_zero):
    v = x.astype(np.int64) - one(zero)
    sums = windows(v, a["kernel"], a["stride"], (1, 1), a["pad"]).sum((3, 4))
    count = windows(np.ones_like(v), a["kernel"], a["stride"], (1, 1), a["pad"]).sum((3, 4))
    k = np.array([int(n - 1).bit_length() for n in count.reshape(-1)]).reshape(count.shape)
    return np.clip(scaled(sums, (((1 << 30) + 1) << k) // count, 30 + k, False) + one(out_zero), *ends(t))


def max_pool2d(a, t, x):
    return windows(x.astype(np.int64), a["kernel"], a["stride"], (1, 1), a["pad"], -(1 << 31)).max((3, 4))


def table(a, t, x, entries):
    v, entries = x.astype(np.int64), entries.astype(np.int64)
    if x.dtype == np.int8:
        return entries[v + 128]
    at = v + 32768 >> 7
    return entries[at] * 128 + (entries[at + 1] - entries[at]) * (v & 127)


def right_shift(a, t, x, by):
    x, by = np.broadcast_arrays(x.astype(np.int64), by.astype(np.int64))
    return (x >> by) + (np.where(by > 0, x >> np.maximum(by - 1, 0) & 1, 0) if a["round"] else 0)


def mul(a, t, x, y, shift):
    v, s = x.astype(np.int64) * y.astype(np.int64), one(shift)
    return v + (1 << s >> 1) >> s


def wrapped(v):
    """In 32 bits."""
    return v.astype(np.uint32).astype(np.int32)


def wide(f):
    return lambda a, t, *x: f(*(v.astype(np.int64) for v in x))


OPERATORS = {
    "rescale": rescale, "conv2d": conv2d, "depthwise_conv2d": depthwise_conv2d, "matmul": matmul, "avg_pool2d": avg_pool2d, "max_pool2d": max_pool2d,
    "table": table, "arithmetic_right_shift": right_shift, "mul": mul,
    "add": wide(np.add), "sub": wide(np.subtract), "maximum": wide(np.maximum), "minimum": wide(np.minimum), "abs": wide(np.abs),
    "logical_left_shift": wide(lambda x, y: wrapped(x << y)), "clz": wide(np.vectorize(lambda x: 32 - (int(x) & 0xFFFFFFFF).bit_length(), otypes=[np.int64])),
    "equal": wide(np.equal), "greater": wide(np.greater), "greater_equal": wide(np.greater_equal),
    "bitwise_and": wide(np.bitwise_and), "bitwise_or": wide(np.bitwise_or), "bitwise_xor": wide(np.bitwise_xor), "bitwise_not": wide(np.invert),
    "logical_and": lambda a, t, x, y: x & y, "logical_or": lambda a, t, x, y: x | y, "logical_not": lambda a, t, x: ~x,
    "select": lambda a, t, c, x, y: np.where(c, x, y),
    "clamp": lambda a, t, x: np.clip(x.astype(np.int64), int(a["min_val"]), int(a["max_val"])),
    "reduce_max": lambda a, t, x: x.max(a["axis"], keepdims=True), "reduce_min": lambda a, t, x: x.min(a["axis"], keepdims=True),
    "reduce_sum": lambda a, t, x: x.astype(np.int64).sum(a["axis"], keepdims=True), "argmax": lambda a, t, x: x.argmax(a["axis"]),
    "transpose": lambda a, t, x: x.transpose(a["perms"]), "reverse": lambda a, t, x: np.flip(x, a["axis"]),
    "concat": lambda a, t, *x: np.concatenate(x, a["axis"]), "reshape": lambda a, t, x, *_: x.reshape(t.dims), "identity": lambda a, t, x: x,
}
