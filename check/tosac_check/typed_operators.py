# SPDX-License-Identifier: Apache-2.0
"""typed_operators.py -- operators of the typed program in real numbers, and those that move codes."""

from __future__ import annotations

import re
from math import erf, prod

import numpy as np

from .typed_text import ENDS, Type

erf_of = np.vectorize(erf, otypes=[np.float64])


def spatial(x, rank: int):
    """With a batch: the last `rank` axes are places, before them channels."""
    return x if x.ndim == rank + 2 else x[None]


def windows(x, kernel, stride, dilation, pad, value=0.0):
    """[n, c, places] -> [n, c, places, kernel]; pad: before and after of each axis."""
    axes = tuple(range(2, x.ndim))
    pairs = list(zip(pad[::2], pad[1::2]))
    x = np.pad(x, [(0, 0), (0, 0), *((max(b, 0), max(a, 0)) for b, a in pairs)], constant_values=value)
    x = x[(slice(None), slice(None), *(slice(max(-b, 0), n - max(-a, 0)) for (b, a), n in zip(pairs, x.shape[2:])))]
    seen = np.lib.stride_tricks.sliding_window_view(x, [(k - 1) * d + 1 for k, d in zip(kernel, dilation)], axis=axes)
    return seen[(slice(None), slice(None), *(slice(None, None, s) for s in stride), *(slice(None, None, d) for d in dilation))]


def conv(a, t, x, w, b=None):
    rank, groups = w.ndim - 2, a["groups"]
    seen = windows(spatial(x, rank), w.shape[2:], a["stride"], a["dilation"], a["pad"])
    n, c, places = seen.shape[0], seen.shape[1], seen.shape[2 : 2 + rank]
    rows = seen.reshape(n, groups, c // groups, prod(places), -1).transpose(1, 0, 3, 2, 4).reshape(groups, n * prod(places), -1)
    v = rows @ w.reshape(groups, w.shape[0] // groups, -1).transpose(0, 2, 1)
    v = v.reshape(groups, n, prod(places), -1).transpose(1, 0, 3, 2).reshape(n, w.shape[0], *places)
    return (v if b is None else v + b.reshape(-1, *[1] * rank)).reshape(t.dims)


def pool(a, x, value, ceil_to):
    rank = len(a["kernel"])
    stride, pad = a["stride"], [p for p in a["pad"] for _ in (0, 1)]
    if a["ceil"]:  # what lies behind the end is padded, too
        for k, n in enumerate(ceil_to):
            reach = (n - 1) * stride[k] + (a["kernel"][k] - 1) * a.get("dilation", [1] * rank)[k] + 1
            pad[2 * k + 1] = max(reach - x.shape[2 + k] - pad[2 * k], pad[2 * k + 1])
    return windows(x, a["kernel"], stride, a.get("dilation", [1] * rank), pad, value)


def avg_pool(a, t, x):
    rank = len(a["kernel"])
    if a["ceil"] and a["include_pad"]:
        raise NotImplementedError("avg_pool with ceil and include_pad")
    axes, x = tuple(range(-rank, 0)), spatial(x, rank)
    sums = pool(a, x, 0.0, t.dims[-rank:]).sum(axes)
    count = prod(a["kernel"]) if a["include_pad"] else pool(a, np.ones_like(x), 0.0, t.dims[-rank:]).sum(axes)
    return (sums / (a["divisor"] or count)).reshape(t.dims)


def max_pool(a, t, x):
    rank = len(a["kernel"])
    return pool(a, spatial(x, rank), -np.inf, t.dims[-rank:]).max(tuple(range(-rank, 0))).reshape(t.dims)


def adaptive_avg_pool(a, t, x):
    for k, size in enumerate(a["size"]):
        axis = x.ndim - len(a["size"]) + k
        n = x.shape[axis]
        parts = [x.take(range(i * n // size, -(-(i + 1) * n // size)), axis).mean(axis, keepdims=True) for i in range(size)]
        x = np.concatenate(parts, axis)
    return x


def softmax(a, t, x):
    e = np.exp(x - x.max(a["axis"], keepdims=True))
    return e / e.sum(a["axis"], keepdims=True)


def layer_norm(a, t, x, w=None, b=None):
    axes = tuple(range(x.ndim - a["n_axes"], x.ndim))
    v = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + a["eps"])
    v = v if w is None else v * w
    return v if b is None else v + b


def gelu(a, t, x):
    phi = np.tanh((x**3 * 0.044715 + x) * np.sqrt(2 / np.pi)) if a["form"] == "tanh" else erf_of(x * np.sqrt(0.5))
    return x * 0.5 * (phi + 1)


def split(a, t, x):
    return np.split(x, np.cumsum(a["sizes"])[:-1], a["axis"])


def pad(a, t, x):
    if a["mode"] != "constant" or min(a["pad"]) < 0:
        raise NotImplementedError("pad that repeats or crops")
    return np.pad(x, list(zip(a["pad"][::2], a["pad"][1::2])), constant_values=a["value"])


def expand(a, t, x):
    return np.broadcast_to(x, t.dims)


def whole(a, x) -> tuple[int, ...]:
    return tuple(a["axes"]) or tuple(range(x.ndim))


def slice_(a, t, x):
    return x[(slice(None),) * a["axis"] + (slice(a["start"], a["end"], a["step"]),)]


#: the same codes elsewhere where operands and results have one type of numbers; else real numbers
MOVES = {
    "reshape": lambda a, t, x: x.reshape(t.dims), "permute": lambda a, t, x: x.transpose(a["perm"]), "cat": lambda a, t, *x: np.concatenate(x, a["axis"]),
    "slice": slice_, "select": lambda a, t, x: x.take(a["index"], a["axis"]), "split": split, "expand": expand,
    "unbind": lambda a, t, x: [x.take(i, a["axis"]) for i in range(x.shape[a["axis"]])],
    "roll": lambda a, t, x: np.roll(x, a["shifts"], tuple(a["axes"])), "identity": lambda a, t, x: x, "flip": lambda a, t, x: np.flip(x, tuple(a["axes"])),
}

REAL = {
    **MOVES,
    "conv": conv, "linear": lambda a, t, x, w, b=0.0: x @ w.T + b, "matmul": lambda a, t, x, y: x @ y,
    "add": lambda a, t, x, y: x + a.get("alpha", 1) * y, "sub": lambda a, t, x, y: x - a.get("alpha", 1) * y, "mul": lambda a, t, x, y: x * y,
    "div": lambda a, t, x, y: x / y, "maximum": lambda a, t, x, y: np.maximum(x, y), "minimum": lambda a, t, x, y: np.minimum(x, y),
    "neg": lambda a, t, x: -x, "abs": lambda a, t, x: np.abs(x), "square": lambda a, t, x: x * x, "sqrt": lambda a, t, x: np.sqrt(x), "rsqrt": lambda a, t, x: x**-0.5,
    "exp": lambda a, t, x: np.exp(x), "log": lambda a, t, x: np.log(x), "reciprocal": lambda a, t, x: 1 / x,
    "rescale": lambda a, t, x: x, "clamp": lambda a, t, x: np.clip(x, a["lo"], a["hi"]), "relu": lambda a, t, x: np.maximum(x, 0),
    "leaky_relu": lambda a, t, x: np.where(x > 0, x, x * a["slope"]),
    "sigmoid": lambda a, t, x: 1 / (1 + np.exp(-x)), "tanh": lambda a, t, x: np.tanh(x), "silu": lambda a, t, x: x / (1 + np.exp(-x)), "gelu": gelu,
    "hardsigmoid": lambda a, t, x: np.clip(x + 3, 0, 6) / 6, "hardswish": lambda a, t, x: x * np.clip(x + 3, 0, 6) / 6,
    "softmax": softmax, "layer_norm": layer_norm, "pad": pad,
    "mean": lambda a, t, x: x.mean(whole(a, x), keepdims=a["keepdim"]), "sum": lambda a, t, x: x.sum(whole(a, x), keepdims=a["keepdim"]),
    "amax": lambda a, t, x: x.max(whole(a, x), keepdims=a["keepdim"]), "amin": lambda a, t, x: x.min(whole(a, x), keepdims=a["keepdim"]),
    "avg_pool": avg_pool, "max_pool": max_pool, "adaptive_avg_pool": adaptive_avg_pool,
}


def scales_of(t: Type) -> tuple[np.ndarray, np.ndarray, int, int] | None:
    """Scale, zero point (along the axis that they are of), least and greatest code; None: plain numbers."""
    if not t.quant:
        return None
    found = re.fullmatch(r"(?:axis=(\d+); )?([-+.e\d:, ]+?)(?: in (-?\d+)\.\.(-?\d+))?", t.quant)
    if not found:
        raise NotImplementedError(f"quantization {t.quant[:40]}")
    pairs = [p.split(":") for p in found[2].split(", ")]
    shape = [1] * len(t.dims)
    if found[1]:
        shape[int(found[1])] = -1
    elif len(pairs) > 1:
        raise NotImplementedError(f"quantization {t.quant[:40]}")
    s, z = (np.array([float(p[k]) for p in pairs]) for k in (0, 1))
    lo, hi = (int(found[3]), int(found[4])) if found[3] else ENDS.get(t.dtype, (-(1 << 62), 1 << 62))
    return (s.reshape(shape), z.reshape(shape), lo, hi) if found[1] else (s[0], z[0], lo, hi)


def real_of(codes: np.ndarray, t: Type) -> np.ndarray:
    """real = scale * (code - zero)."""
    q = scales_of(t)
    v = codes.astype(np.float64)
    return v if q is None else q[0] * (v - q[1])
