# SPDX-License-Identifier: Apache-2.0
"""Random TOSA graphs: every operator in every type of both profiles and their extensions, with edge values.

CASES maps an operator (or "chain", several of them in a row) to a function (rng, graph) that builds one graph and says how its
results are compared: "exact" bit for bit, "close" within an ulp of the f64 result, "dot" the same beside the sum of magnitudes,
"few" within a few ulp, "loose" near it, "between" the two results that the reference model gives for INEXACT_ROUND.
"""
import math

import ml_dtypes
import numpy as np

from tosa_write import DTYPE, Graph

RANGE = {"bool": (0, 1), "i4": (-7, 7), **{f"i{b}": (-2 ** (b - 1), 2 ** (b - 1) - 1) for b in (8, 16, 32, 48)}}
FLOATS = ("f16", "f32", "bf16")
FP8 = ("e4m3", "e5m2")
FINITE = {"f16": 65504.0, "f32": 3.4028234663852886e38, "bf16": 3.3895313892515355e38, "e4m3": 448.0, "e5m2": 57344.0}
MOVES = ("bool", "i8", "i16", "i32") + FLOATS + FP8
PROPAGATE, IGNORE = 1, 2


def pick(rng, items):
    return items[int(rng.integers(len(items)))]


def chance(rng, p):
    return rng.random() < p


def ints(rng, dtype, shape, lo=None, hi=None):
    """Uniform, small, or full of edges: the ends of the range, zero and its neighbours, powers of two and theirs."""
    low, high = RANGE[dtype]
    lo, hi = max(low, low if lo is None else lo), min(high, high if hi is None else hi)
    style = rng.integers(4)
    if style == 0:
        return rng.integers(max(lo, -10), min(hi, 10), size=shape, endpoint=True) if lo <= 10 and hi >= -10 else np.full(shape, lo)
    uniform = rng.integers(lo, hi, size=shape, endpoint=True)
    if style == 1:
        return uniform
    powers = [s * 2 ** k + d for k in range(0, 48) for s in (1, -1) for d in (-1, 0, 1)]
    edges = [v for v in [lo, lo + 1, hi - 1, hi, 0, 1, -1] * 8 + powers if lo <= v <= hi]
    chosen = rng.choice(np.array(edges, np.int64), size=shape)
    return np.where(rng.random(shape) < (0.5 if style == 2 else 1.1), chosen, uniform)


def reals(rng, dtype, shape, special=False, most=None):
    """Ordinary numbers, numbers of every magnitude, or special ones among them."""
    kind = DTYPE[dtype][1]
    x = rng.standard_normal(shape) * pick(rng, [0.1, 1, 10])
    if special and chance(rng, 0.7):
        limit = math.log2(FINITE[dtype])
        x = np.ldexp(np.sign(x) + x, rng.uniform(-limit - 3, limit, shape).astype(int))
        odd = [0.0, -0.0, np.inf, -np.inf, np.nan, FINITE[dtype], -FINITE[dtype], 1.0, -1.0, 0.5, 1.5, 2.5, -0.5]
        x = np.where(rng.random(shape) < 0.4, rng.choice(odd, size=shape), x)
    if most:
        x = np.clip(x, -most, most)
    with np.errstate(all="ignore"):
        return np.asarray(x).astype(kind)


def values(rng, dtype, shape, **more):
    return reals(rng, dtype, shape, **more) if dtype in FINITE else ints(rng, dtype, shape)


def dims(rng, low=0, high=5, most=6):
    rank = int(rng.integers(low, high, endpoint=True))
    while True:
        shape = tuple(int(rng.integers(1, most, endpoint=True)) for _ in range(rank))
        if math.prod(shape) <= 600:
            return shape


def operand(rng, g, dtype, array):
    """An input of the graph, which is computed by the quick kernels, or a constant, which is folded by the reference ones."""
    array = np.asarray(array)
    if dtype in ("bool", "i8", "i16", "i32", "f32", "f16") and chance(rng, 0.6):
        return g.input(dtype, array.shape, array)
    return g.const(dtype, array)


def zero(g, dtype, v=0):
    return g.const(dtype, np.array([v]).astype(DTYPE[dtype][1]))


def zero_point(rng, g, dtype):
    """Only i8 has zero points."""
    return zero(g, dtype, int(ints(rng, "i8", ())) if dtype == "i8" and chance(rng, 0.8) else 0)


def nan_mode(rng, dtype):
    return pick(rng, [PROPAGATE, IGNORE]) if dtype in FINITE else PROPAGATE


# --- elementwise ---------------------------------------------------------------------------------------------------------------

def broadcast(rng, n):
    """The result's shape, and n shapes that broadcast to it."""
    shape = dims(rng)
    parts = [tuple(1 if chance(rng, 0.25) else d for d in shape) for _ in range(n)]
    parts[int(rng.integers(n))] = shape
    return shape, parts


def binary(op, types, how="exact", result=None, data=None, **attributes):
    def build(rng, g):
        dtype = pick(rng, types)
        shape, (s, t) = broadcast(rng, 2)
        x, y = data(rng, dtype, s, t) if data else (values(rng, dtype, s, special=True), values(rng, dtype, t, special=True))
        extra = {k: v(rng, dtype) for k, v in attributes.items()}
        g.output(g.op(op, [operand(rng, g, dtype, x), operand(rng, g, dtype, y)], [(result or dtype, shape)], **extra))
        return how
    return build


def tame(rng, dtype, s, t):
    """Sums of i32 that mostly stay inside."""
    if dtype != "i32":
        return values(rng, dtype, s, special=True), values(rng, dtype, t, special=True)
    half = 2 ** 30 if chance(rng, 0.7) else 2 ** 31 - 1
    return ints(rng, "i32", s, -half, half), ints(rng, "i32", t, -half + 1, half - 1)


def dividing(rng, dtype, s, t):
    y = ints(rng, "i32", t)
    return ints(rng, "i32", s), np.where(y == 0, 1, y)


def shifting(rng, dtype, s, t):
    bits = RANGE[dtype][1].bit_length() + 1
    return ints(rng, dtype, s), ints(rng, dtype, t, 0, bits - 1) if chance(rng, 0.97) else ints(rng, dtype, t, -1, bits)


def raising(rng, dtype, s, t):
    x = np.abs(reals(rng, dtype, s).astype(np.float64)) + 0.01
    return x.astype(DTYPE[dtype][1]), reals(rng, dtype, t, most=4)


def mul(rng, g):
    dtype = pick(rng, ("i8", "i16", "i32", "i32", "i32") + FLOATS)
    shape, (s, t) = broadcast(rng, 2)
    shift = int(rng.choice([0, 0, 1, 2, 7, 15, 30, 31, 32, 33, 47, 61, 62, 63, rng.integers(64)])) if dtype == "i32" else 0
    x, y = values(rng, dtype, s, special=True), values(rng, dtype, t, special=True)
    if dtype == "i32" and shift < 31 and chance(rng, 0.8):
        x, y = ints(rng, dtype, s, -2 ** 15, 2 ** 15 - 1), ints(rng, dtype, t, -2 ** 15, 2 ** 15 - 1)
    if shift == 63:  # where the half that rounds leaves 64 bits, TOSA has no number
        x = np.maximum(x, 1 - 2 ** 31)
    out = "i32" if dtype in RANGE else dtype
    g.output(g.op("MUL", [operand(rng, g, dtype, x), operand(rng, g, dtype, y), zero(g, "i8", shift)], [(out, shape)]))
    return "exact"


def unary(op, types, how="exact", data=None):
    def build(rng, g):
        dtype, shape = pick(rng, types), dims(rng)
        x = data(rng, dtype, shape) if data else values(rng, dtype, shape, special=how == "exact")
        g.output(g.op(op, [operand(rng, g, dtype, x)], [(dtype, shape)]))
        return how
    return build


def absolute(rng, dtype, shape):
    return ints(rng, "i32", shape, -2 ** 31 + chance(rng, 0.95)) if dtype == "i32" else values(rng, dtype, shape, special=True)


def positive(rng, dtype, shape):
    return (np.abs(reals(rng, dtype, shape).astype(np.float64)) + 0.001).astype(DTYPE[dtype][1])


def away_from_zero(rng, dtype, shape):
    x = reals(rng, dtype, shape).astype(np.float64)
    return (x + np.where(x < 0, -0.01, 0.01)).astype(DTYPE[dtype][1])


def negate(rng, g):
    dtype, shape = pick(rng, ("i8", "i8", "i16", "i32") + FLOATS), dims(rng)
    x = operand(rng, g, dtype, absolute(rng, dtype, shape) if dtype == "i32" else values(rng, dtype, shape, special=True))
    g.output(g.op("NEGATE", [x, zero_point(rng, g, dtype), zero_point(rng, g, dtype)], [(dtype, shape)]))
    return "exact"


def clamp(rng, g):
    dtype, shape = pick(rng, ("i8", "i16") + FLOATS), dims(rng)
    bounds = reals(rng, dtype, (2,)) if dtype in FINITE else ints(rng, dtype, (2,))
    lo, hi = sorted(bounds.astype(DTYPE[dtype][1]).tolist())
    raw = [np.array([v]).astype(DTYPE[dtype][1]).tobytes() for v in (lo, hi)]
    x = operand(rng, g, dtype, values(rng, dtype, shape, special=True))
    g.output(g.op("CLAMP", [x], [(dtype, shape)], min_val=raw[0], max_val=raw[1], nan_mode=nan_mode(rng, dtype)))
    return "exact"


def select(rng, g):
    dtype = pick(rng, ("bool", "i8", "i16", "i32") + FLOATS)
    shape, (c, s, t) = broadcast(rng, 3)
    operands = [operand(rng, g, "bool", ints(rng, "bool", c))]
    operands += [operand(rng, g, dtype, values(rng, dtype, p, special=True)) for p in (s, t)]
    g.output(g.op("SELECT", operands, [(dtype, shape)]))
    return "exact"


def table(rng, g):
    dtype, shape = pick(rng, ("i8", "i16")), dims(rng)
    size, out = (256, "i8") if dtype == "i8" else (513, "i32")
    steep = dtype == "i16" and chance(rng, 0.1)  # a slope past 16 bits
    entries = ints(rng, dtype, (size,)) if dtype == "i8" or steep else ints(rng, dtype, (size,), -2 ** 14, 2 ** 14 - 1)
    g.output(g.op("TABLE", [operand(rng, g, dtype, ints(rng, dtype, shape)), g.const(dtype, entries)], [(out, shape)]))
    return "exact"


CASTS = [("bool", t) for t in ("i8", "i16", "i32")] + [(s, t) for s in ("i8", "i16", "i32") for t in ("bool", "i8", "i16", "i32") if s != t]
CASTS += [(s, t) for s in ("i8", "i16", "i32") for t in FLOATS] + [(t, s) for s in ("i8", "i16", "i32") for t in FLOATS]
CASTS += [("f16", "f32"), ("f32", "f16"), ("bf16", "f32"), ("f32", "bf16")]
CASTS += [(s, t) for s in FP8 for t in FLOATS] + [(t, s) for s in FP8 for t in FLOATS]


def cast(rng, g):
    (dtype, out), shape = pick(rng, CASTS), dims(rng)
    x = values(rng, dtype, shape, special=True)
    if dtype in FINITE and out in RANGE:  # what NaN becomes is open
        x = np.where(np.isnan(x.astype(np.float64)), np.ones_like(x), x)
        if chance(rng, 0.5):  # halves
            x = (ints(rng, "i16", shape) / 2).astype(DTYPE[dtype][1])
    g.output(g.op("CAST", [operand(rng, g, dtype, x)], [(out, shape)]))
    return "close" if out in FLOATS and dtype in RANGE else "exact"


def rescale(rng, g):
    dtype = pick(rng, ("i8", "i8", "i16", "i16", "i32", "i32", "i48"))
    out, shape = pick(rng, ("i8", "i16", "i32")), dims(rng)
    scale32 = dtype != "i48" and chance(rng, 0.7)
    unsigned_in = dtype in ("i8", "i16") and out != "i32" and chance(rng, 0.25)
    unsigned_out = out in ("i8", "i16") and dtype in ("i8", "i16") and not unsigned_in and chance(rng, 0.25)
    per_channel = len(shape) > 0 and chance(rng, 0.4)
    mode = pick(rng, (1, 1, 2, 3, 3) if scale32 else (1, 1, 2))
    n = shape[-1] if per_channel else 1
    wide = {"i8": 10, "i16": 18, "i32": 24, "i48": 24}[dtype]
    shift = rng.integers(max(2, wide), 62, size=n, endpoint=True)
    if chance(rng, 0.3) and mode != 2:  # the reference model computes INEXACT_ROUND in f32, and wraps
        shift = rng.choice([2, 3, wide, 30, 31, 32, 33, 46, 47, 61, 62], size=n)
    top = 2 ** 31 - 1 if scale32 else 2 ** 15 - 1
    multiplier = rng.integers(0, top, size=n, endpoint=True)
    if chance(rng, 0.3):
        multiplier = rng.choice([0, 1, 2, top // 2, top // 2 + 1, top - 1, top], size=n)
    x = ints(rng, dtype, shape)
    if dtype in ("i32", "i48"):  # mostly inside what the shift allows, and 32 bits after scale_16
        limit = 2 ** min(47, int(shift.min()) + (-1 if scale32 else 15))
        if chance(rng, 0.9) or mode == 2:
            x = ints(rng, dtype, shape, -limit, limit - 1)

    def point(type_, is_unsigned):
        if type_ == "i8":
            return zero_point(rng, g, "i8")
        return zero(g, type_, -32768 if type_ == "i16" and is_unsigned and chance(rng, 0.5) else 0)
    g.output(g.op("RESCALE", [operand(rng, g, dtype, x), g.const("i32" if scale32 else "i16", multiplier), g.const("i8", shift),
                              point(dtype, unsigned_in), point(out, unsigned_out)], [(out, shape)], scale32=scale32, rounding_mode=mode,
                  per_channel=per_channel, input_unsigned=unsigned_in, output_unsigned=unsigned_out))
    return "between" if mode == 2 else "exact"


# --- windows and products ------------------------------------------------------------------------------------------------------

MACS = [("i8", "i8", "i32", "i32"), ("i8", "i4", "i32", "i32"), ("i16", "i8", "i48", "i48"), ("e4m3", "e4m3", "f16", "f16"),
        ("e5m2", "e5m2", "f16", "f16"), ("f16", "f16", "f16", "f16"), ("f16", "f16", "f16", "f32"), ("f32", "f32", "f32", "f32"),
        ("bf16", "bf16", "bf16", "f32")]
MACS = MACS[:3] * 3 + MACS


def few(rng, axis):
    """An extent of a window, its step, its dilation."""
    return int(rng.integers(1, 4)), int(rng.integers(1, 4)), int(rng.integers(1, 3))


def at_limits(rng, axis):
    """The same, next to what machines count to."""
    if axis and chance(rng, 0.7):
        return few(rng, axis)
    return pick(rng, (1, 4, 7, 8, 9, 16, 17, 31, 32, 33, 34, 63, 64, 65)), int(rng.integers(1, 6)), int(rng.integers(1, 5))


def steps(rng, n, dilated=True, extents=few):
    """kernel, stride, dilation, [before, after]... and extents in and out that fit together exactly."""
    kernel, stride, dilation, pad, extent, result = [], [], [], [], [], []
    while len(kernel) < n:
        k, s, d = extents(rng, len(kernel))
        d = d if dilated else 1
        before, after, o = (int(rng.integers(0, 3)) for _ in range(3))
        size = o * s + 1 + (k - 1) * d - before - after
        if size >= 1 and (dilated or (before < k and after < k)):
            for part, v in zip((kernel, stride, dilation, extent, result), (k, s, d, size, o + 1)):
                part.append(v)
            pad += [before, after]
    return kernel, stride, dilation, pad, extent, result


def mac_operands(rng, g, types, x_shape, w_shape, channels):
    x_type, w_type, out, acc = types
    bias_shape = (channels,) if chance(rng, 0.8) else (1,)
    if x_type in FINITE:
        x, w, b = (reals(rng, t, s, most=8) for t, s in ((x_type, x_shape), (w_type, w_shape), (out, bias_shape)))
    else:
        x, w = ints(rng, x_type, x_shape), ints(rng, w_type, w_shape)
        room = math.prod(w_shape) << 24 if out == "i48" else 0  # of 48 bits the reference model does not say that a sum leaves them
        lo, hi = (-2 ** 30, 2 ** 30) if chance(rng, 0.97) else (RANGE[out][0] + room, RANGE[out][1] - room)
        b = ints(rng, out, bias_shape, lo, hi)
    w_zp = zero_point(rng, g, w_type) if w_type == "i8" else zero(g, w_type)
    return [operand(rng, g, x_type, x), operand(rng, g, w_type, w), g.const(out, b), zero_point(rng, g, x_type), w_zp]


def conv(op, extents=few):
    def build(rng, g):
        types = pick(rng, MACS)
        n = 3 if op == "CONV3D" else 2
        kernel, stride, dilation, pad, extent, result = steps(rng, n, extents=extents)
        c, oc, batch = (int(rng.integers(1, 5)) for _ in range(3))
        if op == "DEPTHWISE_CONV2D":
            w_shape, oc = (*kernel, c, oc), c * oc
        else:
            w_shape = (oc, *kernel, c)
        operands = mac_operands(rng, g, types, (batch, *extent, c), w_shape, oc)
        g.output(g.op(op, operands, [(types[2], (batch, *result, oc))], pad=pad, stride=stride, dilation=dilation,
                      local_bound=chance(rng, 0.5), acc_type=types[3]))
        return "dot" if types[0] in FINITE else "exact"
    return build


def transpose_conv2d(rng, g):
    types = pick(rng, MACS)
    kernel, stride = ([int(rng.integers(1, 4)) for _ in range(2)] for _ in range(2))
    extent = [int(rng.integers(1, 4)) for _ in range(2)]
    while True:
        pad = [int(rng.integers(1 - kernel[i // 2], 4)) for i in range(4)]
        result = [(extent[i] - 1) * stride[i] + pad[2 * i] + pad[2 * i + 1] + kernel[i] for i in range(2)]
        if min(result) >= 1:
            break
    c, oc, batch = (int(rng.integers(1, 5)) for _ in range(3))
    operands = mac_operands(rng, g, types, (batch, *extent, c), (oc, *kernel, c), oc)
    g.output(g.op("TRANSPOSE_CONV2D", operands, [(types[2], (batch, *result, oc))], out_pad=pad, stride=stride,
                  local_bound=chance(rng, 0.5), acc_type=types[3]))
    return "dot" if types[0] in FINITE else "exact"


def matmul(rng, g):
    dtype, out = pick(rng, [("i8", "i32"), ("i8", "i32"), ("i16", "i48"), ("e4m3", "f16"), ("e5m2", "f16"), ("f16", "f16"), ("f16", "f32"),
                            ("f32", "f32"), ("bf16", "f32")])
    n, h, c, w = (int(rng.integers(1, 7)) for _ in range(4))
    more = {"most": 8} if dtype in FINITE else {}
    a, b = (operand(rng, g, dtype, values(rng, dtype, s, **more)) for s in ((n, h, c), (n, c, w)))
    g.output(g.op("MATMUL", [a, b, zero_point(rng, g, dtype), zero_point(rng, g, dtype)], [(out, (n, h, w))]))
    return "dot" if dtype in FINITE else "exact"


def pool(op, extents=few):
    def build(rng, g):
        dtype, acc = pick(rng, [("i8", "i32")] * 3 + [("i16", "i32")] * 2 + [("e4m3", "f16"), ("e5m2", "f16"), ("f16", "f16"), ("f16", "f32"),
                                                                             ("f32", "f32"), ("bf16", "f32")])
        kernel, stride, _, pad, extent, result = steps(rng, 2, dilated=False, extents=extents)
        n, c = int(rng.integers(1, 3)), int(rng.integers(1, 6))
        average = op == "AVG_POOL2D"
        x = operand(rng, g, dtype, values(rng, dtype, (n, *extent, c), special=not average))
        points = [zero_point(rng, g, dtype), zero_point(rng, g, dtype)] if average else []
        attributes = {"acc_type": acc} if average else {"nan_mode": nan_mode(rng, dtype)}
        g.output(g.op(op, [x] + points, [(dtype, (n, *result, c))], kernel=kernel, stride=stride, pad=pad, **attributes))
        return "dot" if average and dtype in FINITE else "exact"
    return build


def resize(rng, g):
    dtype = pick(rng, ("i8", "i8", "i16", "i16") + FLOATS)
    linear = chance(rng, 0.6)
    out = {"i8": "i32", "i16": "i48"}.get(dtype, dtype) if linear else dtype
    n, c = int(rng.integers(1, 3)), int(rng.integers(1, 4))
    scale, offset, border, extent, result = [], [], [], [], []
    while len(extent) < 2:
        up, down, size = int(rng.choice([1, 2, 3, 4, 7, 16, 31, 256])), int(rng.integers(1, 9)), int(rng.integers(1, 7))
        shift = int(rng.integers(-up, min(16 * up, 3 * up)))
        room = (size - 1) * up - shift
        last = int(rng.integers(-up, up))
        last -= (room + last) % down
        places = (room + last) // down + 1
        if down < 16 * up and -16 * up <= last < up and 1 <= places <= 12 and up <= 256 * down:
            scale += [up, down]
            offset.append(shift)
            border.append(last)
            extent.append(size)
            result.append(places)
    x = operand(rng, g, dtype, values(rng, dtype, (n, *extent, c)))
    shapes = [g.shape(v) for v in (scale, offset, border)]
    g.output(g.op("RESIZE", [x] + shapes, [(out, (n, *result, c))], mode=2 if linear else 1))
    return "dot" if dtype in FINITE and linear else "exact"


def fft2d(rng, g):
    shape = (int(rng.integers(1, 3)), 2 ** int(rng.integers(0, 5)), 2 ** int(rng.integers(0, 5)))
    real, imag = (g.const("f32", reals(rng, "f32", shape)) for _ in range(2))
    for out in g.op("FFT2D", [real, imag], [("f32", shape)] * 2, inverse=chance(rng, 0.5), local_bound=chance(rng, 0.5)):
        g.output(out)
    return "dot"


def rfft2d(rng, g):
    shape = (int(rng.integers(1, 3)), 2 ** int(rng.integers(0, 5)), 2 ** int(rng.integers(0, 5)))
    half = (*shape[:2], shape[2] // 2 + 1)
    for out in g.op("RFFT2D", [g.const("f32", reals(rng, "f32", shape))], [("f32", half)] * 2, local_bound=chance(rng, 0.5)):
        g.output(out)
    return "dot"


# --- reductions ----------------------------------------------------------------------------------------------------------------

def reduce(op, types, how="exact", nan=False):
    def build(rng, g):
        dtype, shape = pick(rng, types), dims(rng, low=1)
        axis = int(rng.integers(len(shape)))
        if op == "REDUCE_SUM" and dtype == "i32":
            x = ints(rng, dtype, shape, -2 ** 28, 2 ** 28) if chance(rng, 0.9) else ints(rng, dtype, shape)
        else:
            x = values(rng, dtype, shape, special=how == "exact")
        result = shape[:axis] + (1,) + shape[axis + 1:]
        more = {"nan_mode": nan_mode(rng, dtype)} if nan else {}
        g.output(g.op(op, [operand(rng, g, dtype, x)], [(dtype, result)], axis=axis, **more))
        return how if dtype in FINITE else "exact"
    return build


def argmax(rng, g):
    dtype, shape = pick(rng, ("i8", "i16") + FLOATS + FP8), dims(rng, low=1)
    axis = int(rng.integers(len(shape)))
    x = values(rng, dtype, shape, special=True)
    g.output(g.op("ARGMAX", [operand(rng, g, dtype, x)], [("i32", shape[:axis] + shape[axis + 1:])], axis=axis, nan_mode=nan_mode(rng, dtype)))
    return "exact"


# --- movement ------------------------------------------------------------------------------------------------------------------

def moving(build):
    def wrapped(rng, g):
        dtype, shape = pick(rng, MOVES), dims(rng, low=1)
        build(rng, g, dtype, shape, operand(rng, g, dtype, values(rng, dtype, shape, special=True)))
        return "exact"
    return wrapped


@moving
def concat(rng, g, dtype, shape, x):
    axis, parts = int(rng.integers(len(shape))), [x]
    total = shape[axis]
    for _ in range(int(rng.integers(0, 4))):
        n = int(rng.integers(1, 4))
        total += n
        parts.append(operand(rng, g, dtype, values(rng, dtype, shape[:axis] + (n,) + shape[axis + 1:], special=True)))
    g.output(g.op("CONCAT", parts, [(dtype, shape[:axis] + (total,) + shape[axis + 1:])], axis=axis))


@moving
def pad(rng, g, dtype, shape, x):
    padding = [int(rng.integers(0, 3)) for _ in range(2 * len(shape))]
    result = tuple(padding[2 * i] + d + padding[2 * i + 1] for i, d in enumerate(shape))
    fill = g.const(dtype, np.asarray(values(rng, dtype, (1,), special=True)))
    g.output(g.op("PAD", [x, g.shape(padding), fill], [(dtype, result)]))


@moving
def reshape(rng, g, dtype, shape, x):
    result = list(shape)
    rng.shuffle(result)
    if chance(rng, 0.5):
        result = [math.prod(result[:2]), *result[2:]]
    g.output(g.op("RESHAPE", [x, g.shape([int(d) for d in result])], [(dtype, tuple(int(d) for d in result))]))


@moving
def reverse(rng, g, dtype, shape, x):
    g.output(g.op("REVERSE", [x], [(dtype, shape)], axis=int(rng.integers(len(shape)))))


@moving
def slice_(rng, g, dtype, shape, x):
    start = [int(rng.integers(d)) for d in shape]
    size = [int(rng.integers(1, d - s, endpoint=True)) for d, s in zip(shape, start)]
    g.output(g.op("SLICE", [x, g.shape(start), g.shape(size)], [(dtype, tuple(size))]))


@moving
def tile(rng, g, dtype, shape, x):
    times = [int(rng.integers(1, 3)) for _ in shape]
    g.output(g.op("TILE", [x, g.shape(times)], [(dtype, tuple(d * t for d, t in zip(shape, times)))]))


@moving
def transpose(rng, g, dtype, shape, x):
    perms = [int(p) for p in rng.permutation(len(shape))]
    g.output(g.op("TRANSPOSE", [x], [(dtype, tuple(shape[p] for p in perms))], perms=perms))


def identity(rng, g):
    dtype, shape = pick(rng, MOVES + ("i4", "i48")), dims(rng)
    g.output(g.op("IDENTITY", [operand(rng, g, dtype, values(rng, dtype, shape, special=True))], [(dtype, shape)]))
    return "exact"


INDEXED = ("i8", "i16", "i32") + FLOATS + FP8


def gather(rng, g):
    dtype = pick(rng, INDEXED)
    n, k, c, w = (int(rng.integers(1, 6)) for _ in range(4))
    x = operand(rng, g, dtype, values(rng, dtype, (n, k, c), special=True))
    g.output(g.op("GATHER", [x, operand(rng, g, "i32", rng.integers(0, k, size=(n, w)))], [(dtype, (n, w, c))]))
    return "exact"


def scatter(rng, g):
    dtype = pick(rng, INDEXED)
    n, k, c = (int(rng.integers(1, 6)) for _ in range(3))
    w = int(rng.integers(1, k, endpoint=True))
    at = np.stack([rng.permutation(k)[:w] for _ in range(n)])
    x, y = (operand(rng, g, dtype, values(rng, dtype, s, special=True)) for s in ((n, k, c), (n, w, c)))
    g.output(g.op("SCATTER", [x, operand(rng, g, "i32", at), y], [(dtype, (n, k, c))]))
    return "exact"


# --- several operators ---------------------------------------------------------------------------------------------------------

def rescale_to(rng, g, x, out, bits):
    """A sensible RESCALE of x (i32 or i48, about `bits` wide) into i8 or i16."""
    dtype, shape = g.type[x]
    scale32 = dtype != "i48"
    channels = shape[-1] if len(shape) and chance(rng, 0.5) else 1
    if scale32:
        multiplier = rng.integers(2 ** 30, 2 ** 31, size=channels)
        shift = np.clip(31 + bits - RANGE[out][1].bit_length() + rng.integers(-1, 2, size=channels), bits + 2, 62)
    else:
        multiplier = rng.integers(2 ** 14, 2 ** 15, size=channels)
        shift = np.clip(15 + bits - RANGE[out][1].bit_length() + rng.integers(-1, 2, size=channels), 2, 62)
    return g.op("RESCALE", [x, g.const("i32" if scale32 else "i16", multiplier), g.const("i8", shift), zero(g, dtype), zero_point(rng, g, out)],
                [(out, shape)], scale32=scale32, rounding_mode=pick(rng, (1, 3)) if scale32 else 1, per_channel=channels > 1 or len(shape) > 0 and shape[-1] == 1,
                input_unsigned=False, output_unsigned=False)


def step_conv(rng, g, x):
    dtype, (n, h, w, c) = g.type[x]
    depthwise = chance(rng, 0.4)
    k = 3 if chance(rng, 0.5) else 1
    oc = c if depthwise else int(rng.integers(1, 9))
    w_shape = (k, k, c, 1) if depthwise else (oc, k, k, c)
    acc = "i32" if dtype == "i8" else "i48"
    bias = ints(rng, acc, (oc,), -2 ** 12, 2 ** 12)
    y = g.op("DEPTHWISE_CONV2D" if depthwise else "CONV2D", [x, g.const("i8", ints(rng, "i8", w_shape)), g.const(acc, bias),
                                                             zero_point(rng, g, dtype), zero(g, "i8")],
             [(acc, (n, h, w, oc))], pad=[k // 2] * 4, stride=[1, 1], dilation=[1, 1], local_bound=False, acc_type=acc)
    return rescale_to(rng, g, y, dtype, (16 if dtype == "i8" else 24) + 4)


def step_add(rng, g, x):
    dtype, shape = g.type[x]
    a = g.op("CAST", [x], [("i32", shape)])
    b = g.const("i32", ints(rng, "i32", tuple(1 if chance(rng, 0.5) else d for d in shape), -2 ** 15, 2 ** 15))
    op = pick(rng, ["ADD", "SUB", "MAXIMUM", "MINIMUM"])
    more = {"nan_mode": PROPAGATE} if op in ("MAXIMUM", "MINIMUM") else {}
    return rescale_to(rng, g, g.op(op, [a, b], [("i32", shape)], **more), dtype, 17)


def step_move(rng, g, x):
    dtype, shape = g.type[x]
    n, h, w, c = shape
    kind = rng.integers(4)
    if kind == 0:
        return g.op("TRANSPOSE", [x], [(dtype, (n, w, h, c))], perms=[0, 2, 1, 3])
    if kind == 1:
        return g.op("CONCAT", [x, x], [(dtype, (n, h, w, 2 * c))], axis=3)
    if kind == 2:
        return g.op("PAD", [x, g.shape([0, 0, 1, 0, 0, 1, 0, 0]), zero_point(rng, g, dtype)], [(dtype, (n, h + 1, w + 1, c))])
    return g.op("REVERSE", [x], [(dtype, shape)], axis=int(rng.integers(4)))


def step_pool(rng, g, x):
    dtype, (n, h, w, c) = g.type[x]
    if chance(rng, 0.5):
        return g.op("MAX_POOL2D", [x], [(dtype, (n, h, w, c))], kernel=[3, 3], stride=[1, 1], pad=[1] * 4, nan_mode=PROPAGATE)
    return g.op("AVG_POOL2D", [x, zero_point(rng, g, dtype), zero_point(rng, g, dtype)], [(dtype, (n, h, w, c))], kernel=[3, 3], stride=[1, 1],
                pad=[1] * 4, acc_type="i32")


def step_table(rng, g, x):
    dtype, shape = g.type[x]
    if dtype == "i8":
        return g.op("TABLE", [x, g.const("i8", ints(rng, "i8", (256,)))], [("i8", shape)])
    y = g.op("TABLE", [x, g.const("i16", ints(rng, "i16", (513,), -2 ** 14, 2 ** 14 - 1))], [("i32", shape)])
    return rescale_to(rng, g, y, "i16", 23)


def chain(rng, g):
    """Two to six steps of a quantized network, in i8 or i16."""
    dtype = pick(rng, ("i8", "i8", "i16"))
    shape = tuple(int(rng.integers(1, 5)) for _ in range(4))
    x = operand(rng, g, dtype, ints(rng, dtype, shape))
    for _ in range(int(rng.integers(2, 7))):
        x = pick(rng, [step_conv, step_conv, step_add, step_move, step_pool, step_table])(rng, g, x)
        if math.prod(g.type[x][1]) > 4000:
            break
    if chance(rng, 0.3):
        x = g.op("ARGMAX", [x], [("i32", g.type[x][1][:3])], axis=3, nan_mode=PROPAGATE)
    g.output(x)
    return "exact"


def float_chain(rng, g):
    """matmul, add, clamp: sums of f32 that are rounded where the graph says so."""
    n, h, c, w = (int(rng.integers(1, 6)) for _ in range(4))
    z = zero(g, "f32")
    y = g.op("MATMUL", [g.const("f32", reals(rng, "f32", (n, h, c))), g.const("f32", reals(rng, "f32", (n, c, w))), z, z], [("f32", (n, h, w))])
    y = g.op("ADD", [y, g.const("f32", reals(rng, "f32", (1, 1, w)))], [("f32", (n, h, w))])
    g.output(g.op("REDUCE_MAX", [y], [("f32", (n, h, 1))], axis=2, nan_mode=PROPAGATE))
    return "loose"


def cond_if(rng, g):
    """Two graphs on a pair of i32 numbers."""
    shape, name = dims(rng, low=1), g.prefix
    branches = []
    for which, op in (("then", "ADD"), ("else", "SUB")):
        b = Graph(f"{name}{which}")
        p, q = b.input("i32", shape), b.input("i32", shape)
        b.output(b.op(op, [p, q], [("i32", shape)]))
        branches.append(b)
    x, y = (operand(rng, g, "i32", ints(rng, "i32", shape, -2 ** 30, 2 ** 30 - 1)) for _ in range(2))
    flag = operand(rng, g, "bool", ints(rng, "bool", (1,)))
    g.output(g.op("COND_IF", [flag, x, y], [("i32", shape)], then_graph=branches[0].name, else_graph=branches[1].name))
    g.regions = branches
    return "exact"


def while_loop(rng, g):
    """Adds y to x while a counter lasts."""
    shape, name = dims(rng, low=1), g.prefix
    cond, body = Graph(f"{name}cond"), Graph(f"{name}body")
    for b in (cond, body):
        b.args = [b.input("i32", (1,)), b.input("i32", shape), b.input("i32", shape)]
    cond.output(cond.op("GREATER", [cond.args[0], cond.const("i32", np.array([0]))], [("bool", (1,))]))
    i, x, y = body.args
    body.output(body.op("SUB", [i, body.const("i32", np.array([1]))], [("i32", (1,))]))
    body.output(body.op("ADD", [x, y], [("i32", shape)]))
    body.output(body.op("IDENTITY", [y], [("i32", shape)]))
    n = operand(rng, g, "i32", np.array([int(rng.integers(0, 6))]))
    x, y = (operand(rng, g, "i32", ints(rng, "i32", shape, -2 ** 27, 2 ** 27)) for _ in range(2))
    for out in g.op("WHILE_LOOP", [n, x, y], [("i32", (1,)), ("i32", shape), ("i32", shape)], cond_graph=cond.name, body_graph=body.name):
        g.output(out)
    g.regions = [cond, body]
    return "exact"


def nan(rng, dtype):
    return nan_mode(rng, dtype)


NUMERIC = ("i32",) + FLOATS
BITS = ("i8", "i16", "i32")
CASES = {
    "ARGMAX": argmax, "AVG_POOL2D": pool("AVG_POOL2D"), "CONV2D": conv("CONV2D"), "CONV3D": conv("CONV3D"),
    "DEPTHWISE_CONV2D": conv("DEPTHWISE_CONV2D"), "FFT2D": fft2d, "MATMUL": matmul, "MAX_POOL2D": pool("MAX_POOL2D"), "RFFT2D": rfft2d,
    "TRANSPOSE_CONV2D": transpose_conv2d, "CLAMP": clamp, "ERF": unary("ERF", FLOATS, "few"), "SIGMOID": unary("SIGMOID", FLOATS, "few"),
    "TANH": unary("TANH", FLOATS, "few"), "ADD": binary("ADD", NUMERIC, data=tame), "SUB": binary("SUB", NUMERIC, data=tame),
    "ARITHMETIC_RIGHT_SHIFT": binary("ARITHMETIC_RIGHT_SHIFT", BITS, data=shifting, round=lambda rng, _: chance(rng, 0.5)),
    "BITWISE_AND": binary("BITWISE_AND", BITS), "BITWISE_OR": binary("BITWISE_OR", BITS), "BITWISE_XOR": binary("BITWISE_XOR", BITS),
    "INTDIV": binary("INTDIV", ("i32",), data=dividing), "LOGICAL_AND": binary("LOGICAL_AND", ("bool",)),
    "LOGICAL_LEFT_SHIFT": binary("LOGICAL_LEFT_SHIFT", BITS, data=shifting), "LOGICAL_OR": binary("LOGICAL_OR", ("bool",)),
    "LOGICAL_RIGHT_SHIFT": binary("LOGICAL_RIGHT_SHIFT", BITS, data=shifting), "LOGICAL_XOR": binary("LOGICAL_XOR", ("bool",)),
    "MAXIMUM": binary("MAXIMUM", NUMERIC, nan_mode=nan), "MINIMUM": binary("MINIMUM", NUMERIC, nan_mode=nan), "MUL": mul,
    "POW": binary("POW", FLOATS, "few", data=raising), "TABLE": table, "ABS": unary("ABS", NUMERIC, data=absolute),
    "BITWISE_NOT": unary("BITWISE_NOT", BITS), "CEIL": unary("CEIL", FLOATS), "CLZ": unary("CLZ", ("i32",)),
    "COS": unary("COS", FLOATS, "few"), "EXP": unary("EXP", FLOATS, "few"), "FLOOR": unary("FLOOR", FLOATS),
    "LOG": unary("LOG", FLOATS, "few", data=positive), "LOGICAL_NOT": unary("LOGICAL_NOT", ("bool",)), "NEGATE": negate,
    "RECIPROCAL": unary("RECIPROCAL", FLOATS, "close", data=away_from_zero), "RSQRT": unary("RSQRT", FLOATS, "close", data=positive),
    "SIN": unary("SIN", FLOATS, "few"), "SELECT": select, "EQUAL": binary("EQUAL", NUMERIC, result="bool"),
    "GREATER": binary("GREATER", NUMERIC, result="bool"), "GREATER_EQUAL": binary("GREATER_EQUAL", NUMERIC, result="bool"),
    "REDUCE_ALL": reduce("REDUCE_ALL", ("bool",)), "REDUCE_ANY": reduce("REDUCE_ANY", ("bool",)),
    "REDUCE_MAX": reduce("REDUCE_MAX", BITS + FLOATS, nan=True), "REDUCE_MIN": reduce("REDUCE_MIN", BITS + FLOATS, nan=True),
    "REDUCE_PRODUCT": reduce("REDUCE_PRODUCT", FLOATS, "close"), "REDUCE_SUM": reduce("REDUCE_SUM", ("i32", "i32") + FLOATS, "dot"),
    "CONCAT": concat, "PAD": pad, "RESHAPE": reshape, "REVERSE": reverse, "SLICE": slice_, "TILE": tile, "TRANSPOSE": transpose,
    "GATHER": gather, "SCATTER": scatter, "RESIZE": resize, "CAST": cast, "RESCALE": rescale, "IDENTITY": identity, "COND_IF": cond_if,
    "WHILE_LOOP": while_loop, "chain": chain, "float_chain": float_chain,
}
LIMITS = {op: make(op, at_limits) for op, make in (("CONV2D", conv), ("DEPTHWISE_CONV2D", conv), ("AVG_POOL2D", pool), ("MAX_POOL2D", pool))}
# Arithmetic that is easy to get wrong is tried more often.
WEIGHT = {"RESCALE": 12, "chain": 10, "CONV2D": 4, "DEPTHWISE_CONV2D": 3, "TRANSPOSE_CONV2D": 3, "CONV3D": 3, "AVG_POOL2D": 6, "RESIZE": 6,
          "MUL": 5, "CAST": 5, "TABLE": 3, "MATMUL": 3, "NEGATE": 2, "ARITHMETIC_RIGHT_SHIFT": 3}
