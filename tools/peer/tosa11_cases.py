# SPDX-License-Identifier: Apache-2.0
"""Graphs of TOSA 1.1: every operator it adds, and every type it adds to older ones.

cases() yields (name, graph, how) with how the results are compared: "exact" bit for bit; "ulp" within two units in the last place (sums
that the reference model rounds at every step, of numbers of one sign); "error": an ERROR_IF is broken; "require": a REQUIRE is.
build(rng) makes one random graph of several operators.
"""
import itertools

import numpy as np

import tosa11_detours as detours
from tosa_write import DTYPE, Graph, VALUES

PLAIN = ("e4m3", "e5m2", "f16", "bf16", "f32")
MX = tuple(f"bs32_{v}" for v in VALUES)
I64_MOST = 2 ** 63 - 1


def whole(rng, dtype, shape, lo=-100, hi=100):
    kind = DTYPE[dtype][1]
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    x = rng.integers(lo, hi + 1, shape)
    if dtype == "i64":
        x = np.where(rng.random(shape) < 0.3, rng.integers(-2 ** 62, 2 ** 62, shape), x)
    return x.astype(kind)


def codes(rng, value, shape, top=None):
    """Codes of a block's values: no infinity, no NaN."""
    most = {"e4m3": 0x7e, "e5m2": 0x7b, "e2m3": 0x1f, "e3m2": 0x1f, "e2m1": 7, "mxint8": 0x7f}[value]
    sign = {"e2m3": 0x20, "e3m2": 0x20, "e2m1": 8}.get(value, 0x80)
    code = rng.integers(0, (top or most) + 1, shape)
    if value == "mxint8":
        return np.where(rng.random(shape) < 0.5, code, (256 - code) & 255).astype(np.uint8)
    return (code | np.where(rng.random(shape) < 0.5, sign, 0)).astype(np.uint8)


def blocks(rng, dtype, shape):
    """Block-scaled numbers: scales of many sizes."""
    scale = np.repeat(rng.integers(110, 140, (*shape[:-1], shape[-1] // 32)), 32, axis=-1)
    return (codes(rng, dtype[5:], shape).astype(np.uint16) | scale.astype(np.uint16) << 8)


def reals(rng, dtype, shape, positive=False):
    if dtype in MX:
        return blocks(rng, dtype, shape)
    x = rng.standard_normal(shape)
    return np.asarray(np.abs(x) + 0.1 if positive else x).astype(DTYPE[dtype][1])


def values(rng, dtype, shape):
    if dtype in PLAIN or dtype in MX:
        return reals(rng, dtype, shape)
    if dtype in VALUES:
        return codes(rng, dtype, shape)
    if dtype == "ue8m0":
        return rng.integers(100, 150, shape).astype(np.uint8)
    return whole(rng, dtype, shape)


def given(rng, g, dtype, shape, array=None):
    """An input where the reference model reads such a file, else a constant."""
    array = values(rng, dtype, shape) if array is None else array
    if dtype in ("bool", "i8", "i16", "i32", "i64", "f16", "f32", "bf16", "e4m3", "e5m2") and rng.random() < 0.7:
        return g.input(dtype, np.shape(array), array)
    return g.const(dtype, array)


def zero(g, dtype, v=0):
    dtype = "f32" if dtype in MX else dtype
    return g.const(dtype, np.array([v]).astype(DTYPE[dtype][1]))


def number(g, v):
    return g.const("i32", np.array([v], np.int32))


# --- shapes --------------------------------------------------------------------------------------------------------------------

SHAPES = {"ADD_SHAPE": np.add, "SUB_SHAPE": np.subtract, "MUL_SHAPE": np.multiply, "MAX_SHAPE": np.maximum, "MIN_SHAPE": np.minimum,
          "MOD_SHAPE": np.mod, "DIV_FLOOR_SHAPE": np.floor_divide, "DIV_CEIL_SHAPE": lambda a, b: -(-a // b),
          "EXP2_SHAPE": lambda a, b: 1 << a, "LOG2_FLOOR_SHAPE": lambda a, b: np.array([int(v).bit_length() - 1 for v in a]),
          "LOG2_CEIL_SHAPE": lambda a, b: np.array([int(v - 1).bit_length() for v in a])}


def passed(rng, g):
    """Something for the graph to give back."""
    g.output(g.op("ABS", [given(rng, g, "i32", (3,))], [("i32", (3,))]))


def claim(g, shape, want):
    """An error unless the shape is what NumPy says."""
    g.op("ASSERT_EQUAL_SHAPE", [shape, g.shape([int(v) for v in want])], [], allow_broadcast=False)


def shape_case(rng, op, a, b, want):
    def make(g):
        unary = op.startswith(("EXP2", "LOG2"))
        r = g.op(op, [g.shape(a)] + ([] if unary else [g.shape(b)]), [("shape", (len(a),))])
        claim(g, r, want)
        passed(rng, g)
    return make


def shape_cases(rng):
    for op, f in SHAPES.items():
        for n in (1, 2, 5, 16):
            lo = 1 if op.startswith(("LOG2", "MOD", "DIV")) else 0
            a = rng.integers(lo, 31 if op.startswith("EXP2") else 10 ** int(rng.integers(1, 7)), n)
            b = rng.integers(1, 10 ** int(rng.integers(1, 4)), n)
            want = f(a, b)
            yield f"{op.lower()}_{n}", shape_case(rng, op, a, b, want), "exact"
            wrong = np.array(want)
            wrong[-1] += 1
            yield f"{op.lower()}_{n}_claim", shape_case(rng, op, a, b, wrong), "error"
        yield f"{op.lower()}_17", shape_case(rng, op, [1] * 17, [1] * 17, f(np.ones(17, int), np.ones(17, int))), "level"
    for op in ("EXP2_SHAPE", "LOG2_CEIL_SHAPE", "LOG2_FLOOR_SHAPE"):
        yield f"{op.lower()}_range", shape_case(rng, op, [31 if op[0] == "E" else 0], [1], [1]), "require"
    for op in ("ADD_SHAPE", "MAX_SHAPE", "MOD_SHAPE"):
        yield f"{op.lower()}_lengths", shape_case(rng, op, [1, 2], [1], [1, 2]), "error"

    def concat(parts, extra=0):
        def make(g):
            all_ = [v for p in parts for v in p]
            claim(g, g.op("CONCAT_SHAPE", [g.shape(p) for p in parts], [("shape", (len(all_) + extra,))]), all_)
            passed(rng, g)
        return make
    for n in range(1, 6):
        yield f"concat_shape_{n}", concat([list(rng.integers(1, 99, int(rng.integers(1, 4)))) for _ in range(n)]), "exact"
    yield "concat_shape_empty", concat([[1], []]), "error"
    yield "concat_shape_17", concat([[1] * 9, [2] * 8]), "level"

    def slice_(values_, start, size):
        def make(g):
            claim(g, g.op("SLICE_SHAPE", [g.shape(values_), number(g, start), number(g, size)], [("shape", (max(size, 1),))]),
                  values_[start:start + size] if start >= 0 else [0] * max(size, 1))
            passed(rng, g)
        return make
    for start, size in ((0, 1), (1, 2), (0, 4), (3, 1)):
        yield f"slice_shape_{start}_{size}", slice_([5, 6, 7, 8], start, size), "exact"
    for start, size in ((-1, 2), (3, 2), (0, 5), (0, 0)):
        yield f"slice_shape_{start}_{size}_out".replace("-", "m"), slice_([5, 6, 7, 8], start, size), "error"

    def assert_(a, b, broadcast):
        def make(g):
            g.op("ASSERT_EQUAL_SHAPE", [g.shape(a), g.shape(b)], [], allow_broadcast=broadcast)
            passed(rng, g)
        return make
    for i, (a, b, w, how) in enumerate([([3, 4], [3, 4], False, "exact"), ([3, 1], [3, 4], True, "exact"), ([1, 4], [3, 4], True, "exact"),
                                        ([3, 1], [3, 4], False, "error"), ([2, 4], [3, 4], True, "error"), ([2], [2, 2], True, "error")]):
        yield f"assert_equal_shape_{i}", assert_(a, b, w), how

    def dim(dtype, axis):
        def make(g):
            shape = (3, 2, 64)
            claim(g, g.op("DIM", [given(rng, g, dtype, shape)], [("shape", (1,))], axis=axis), [shape[min(max(axis, 0), 2)]])
            passed(rng, g)
        return make
    for dtype in ("bool", "i8", "i16", "i32", "i64", "ue8m0", "e2m3", "e3m2", "e2m1", "mxint8") + PLAIN + MX:
        yield f"dim_{dtype}", dim(dtype, int(rng.integers(3))), "exact"
    yield "dim_past", dim("i8", 3), "error"
    yield "dim_before", dim("i8", -1), "error"

    def reshaped(g):
        x = given(rng, g, "i8", (4, 6))
        d = g.op("DIM", [x], [("shape", (1,))], axis=0)
        m = g.op("MUL_SHAPE", [d, g.shape([2])], [("shape", (1,))])
        c = g.op("CONCAT_SHAPE", [m, g.shape([3])], [("shape", (2,))])
        g.output(g.op("RESHAPE", [x, c], [("i8", (8, 3))]))
    yield "reshape_by_dim", reshaped, "exact"

    def moved(g):
        x = given(rng, g, "i32", (2, 3))
        two = g.op("DIM", [x], [("shape", (1,))], axis=0)
        three = g.op("DIM", [x], [("shape", (1,))], axis=1)
        both = g.op("CONCAT_SHAPE", [two, three], [("shape", (2,))])
        t = g.op("TILE", [x, both], [("i32", (4, 9))])
        s = g.op("SLICE", [t, both, both], [("i32", (2, 3))])
        four = g.op("CONCAT_SHAPE", [both, both], [("shape", (4,))])
        g.output(g.op("PAD", [s, four, g.const("i32", np.array([7], np.int32))], [("i32", (7, 8))]))
    yield "move_by_dim", moved, "exact"

    def wrong(g):
        x = given(rng, g, "i8", (4, 6))
        d = g.op("DIM", [x], [("shape", (1,))], axis=0)
        g.output(g.op("RESHAPE", [x, g.op("CONCAT_SHAPE", [d, g.shape([3])], [("shape", (2,))])], [("i8", (8, 3))]))
    yield "reshape_by_wrong_dim", wrong, "error"


# --- EXT-INT64 -----------------------------------------------------------------------------------------------------------------

def int64_cases(rng):
    def binary(op, a, b, out="i64", **more):
        def make(g):
            g.output(g.op(op, [given(rng, g, "i64", (4, 5), a), given(rng, g, "i64", (4, 1), b)] + ([zero(g, "i8")] if op == "MUL" else []),
                          [(out, (4, 5))], **more))
        return make
    small = {"ADD": 2 ** 61, "SUB": 2 ** 61, "MUL": 2 ** 31}
    for op in "ADD SUB MUL INTDIV MAXIMUM MINIMUM EQUAL GREATER GREATER_EQUAL BITWISE_AND BITWISE_OR BITWISE_XOR".split():
        top = small.get(op, 2 ** 62)
        a, b = rng.integers(-top, top, (4, 5)), rng.integers(-top, top, (4, 1))
        more = {"nan_mode": 1} if op in ("MAXIMUM", "MINIMUM") else {}
        yield f"{op.lower()}_i64", binary(op, a, b, "bool" if op in ("EQUAL", "GREATER", "GREATER_EQUAL") else "i64", **more), "exact"
    a = rng.integers(-I64_MOST, I64_MOST, (4, 5))
    for op, more in (("LOGICAL_LEFT_SHIFT", {}), ("LOGICAL_RIGHT_SHIFT", {}), ("ARITHMETIC_RIGHT_SHIFT", {"round": False}),
                     ("ARITHMETIC_RIGHT_SHIFT", {"round": True})):
        name = op.lower() + ("_round" if more.get("round") else "")
        yield f"{name}_i64", binary(op, a, rng.integers(0, 64, (4, 1)), **more), "exact"
        yield f"{name}_i64_past", binary(op, a, np.full((4, 1), 64), **more), "require"
    yield "intdiv_i64_by_zero", binary("INTDIV", a, np.zeros((4, 1), int)), "require"

    def unary(op, extra=False, **more):
        def make(g):
            x = np.concatenate([rng.integers(-2 ** 62, 2 ** 62, 6), [0, 1, -1, I64_MOST]]).reshape(2, 5)
            g.output(g.op(op, [given(rng, g, "i64", (2, 5), x)] + [zero(g, "i64")] * 2 * extra, [("i64", (2, 5))], **more))
        return make
    for op in ("ABS", "CLZ", "BITWISE_NOT", "IDENTITY"):
        yield f"{op.lower()}_i64", unary(op), "exact"
    yield "negate_i64", unary("NEGATE", True), "exact"
    yield "reverse_i64", unary("REVERSE", axis=1), "exact"

    def reduce_(op, **more):
        def make(g):
            g.output(g.op(op, [given(rng, g, "i64", (3, 4))], [("i64", (1, 4))], axis=0, **more))
        return make
    for op, more in (("REDUCE_SUM", {}), ("REDUCE_MAX", {"nan_mode": 1}), ("REDUCE_MIN", {"nan_mode": 1})):
        yield f"{op.lower()}_i64", reduce_(op, **more), "exact"

    def argmax(dtype):
        def make(g):
            x = rng.integers(-I64_MOST, I64_MOST, (3, 4)) if dtype == "i64" else values(rng, dtype, (3, 4))
            g.output(g.op("ARGMAX", [given(rng, g, dtype, (3, 4), x)], [("i64", (3,))], axis=1, nan_mode=1))
        return make
    for dtype in ("i8", "i16", "i32", "i64") + PLAIN:
        yield f"argmax_{dtype}_i64", argmax(dtype), "exact"

    def near(g):  # numbers that an f64 cannot tell apart
        x = np.array([[2 ** 60, 2 ** 60 + 1, 2 ** 60 - 1]])
        g.output(g.op("ARGMAX", [given(rng, g, "i64", (1, 3), x)], [("i64", (1,))], axis=1, nan_mode=1))
    yield "argmax_i64_near", near, "exact"

    def select(g):
        g.output(g.op("SELECT", [given(rng, g, "bool", (2, 3)), given(rng, g, "i64", (2, 3)), given(rng, g, "i64", (2, 1))], [("i64", (2, 3))]))
    yield "select_i64", select, "exact"

    def move(op, operands, shape, **more):
        def make(g):
            g.output(g.op(op, operands(g), [("i64", shape)], **more))
        return make
    x = lambda g: given(rng, g, "i64", (2, 3))  # noqa: E731
    yield "concat_i64", move("CONCAT", lambda g: [x(g), x(g)], (4, 3), axis=0), "exact"
    yield "pad_i64", move("PAD", lambda g: [x(g), g.shape([1, 0, 0, 2]), zero(g, "i64", 9)], (3, 5)), "exact"
    yield "reshape_i64", move("RESHAPE", lambda g: [x(g), g.shape([6])], (6,)), "exact"
    yield "slice_i64", move("SLICE", lambda g: [x(g), g.shape([0, 1]), g.shape([2, 2])], (2, 2)), "exact"
    yield "tile_i64", move("TILE", lambda g: [x(g), g.shape([1, 2])], (2, 6)), "exact"
    yield "transpose_i64", move("TRANSPOSE", lambda g: [x(g)], (3, 2), perms=[1, 0]), "exact"

    def cast(a, b):
        def make(g):
            x = whole(rng, a, (4, 4))
            g.output(g.op("CAST", [given(rng, g, a, (4, 4), x)], [(b, (4, 4))]))
        return make
    for a, b in (("i64", "bool"), ("i64", "i32"), ("bool", "i64"), ("i32", "i64")):
        yield f"cast_{a}_{b}", cast(a, b), "exact"
    for a, b in (("i64", "i8"), ("i64", "f32"), ("i16", "i64"), ("f32", "i64")):
        yield f"cast_{a}_{b}_not", cast(a, b) if a != "f32" else (lambda g: g.output(g.op("CAST", [given(rng, g, "f32", (4,))], [("i64", (4,))]))), "error"


# --- casts, gathers, windows -----------------------------------------------------------------------------------------------------

def changed_cases(rng):
    def cast(a, b, x):
        def make(g):
            g.output(g.op("CAST", [given(rng, g, a, np.shape(x), x)], [(b, np.shape(x))]))
        return make
    odd = np.array([0.0, -0.0, 1, -1, 0.1, np.nan, np.inf, 1e-45], np.float32)
    yield "cast_bool_f32", cast("bool", "f32", whole(rng, "bool", (8,))), "exact"
    yield "cast_f32_bool", cast("f32", "bool", odd), "exact"

    def gather(dtype, index, op="GATHER", at=None):
        def make(g):
            n, k, c, w = 2, 6, 3, 4
            idx = np.stack([rng.permutation(k)[:w] for _ in range(n)]) if at is None else np.full((n, w), at)
            v, i = given(rng, g, dtype, (n, k, c)), given(rng, g, index, (n, w), idx.astype(DTYPE[index][1]))
            if op == "GATHER":
                g.output(g.op(op, [v, i], [(dtype, (n, w, c))]))
            else:
                g.output(g.op(op, [v, i, given(rng, g, dtype, (n, w, c))], [(dtype, (n, k, c))]))
        return make
    for op in ("GATHER", "SCATTER"):
        for dtype in ("bool", "i8", "i16", "i32", "i64") + PLAIN:
            for index in ("i32", "i64"):
                bad = dtype == "i64" and index == "i32"
                yield f"{op.lower()}_{dtype}_{index}", gather(dtype, index, op), "error" if bad else "exact"
        yield f"{op.lower()}_past", gather("i8", "i64", op, 6), "require"

    def row_gather(dtype, index, count=2, at=None):
        def make(g):
            n, k, c, w = 2, 6, 64 if dtype in MX else 3, 3
            idx = rng.integers(0, k - max(count, 1) + 1, (n, w)) if at is None else np.full((n, w), at)
            g.output(g.op("ROW_GATHER", [given(rng, g, dtype, (n, k, c)), given(rng, g, index, (n, w), idx.astype(DTYPE[index][1])), number(g, count)],
                          [(dtype, (n, w * max(count, 1), c))]))
        return make
    for dtype in ("bool", "i8", "i16", "i32", "i64") + PLAIN + MX:
        for index in ("i32", "i64"):
            yield f"row_gather_{dtype}_{index}", row_gather(dtype, index, int(rng.integers(1, 5))), "exact"
    yield "row_gather_none", row_gather("i8", "i32", 0), "error"
    yield "row_gather_past", row_gather("i8", "i32", 2, 5), "require"
    yield "row_gather_before", row_gather("i8", "i32", 2, -1), "require"

    def pool(op, dtype, pad=(0, 1, 1, 0), acc=None):
        def make(g):
            x = given(rng, g, dtype, (2, 7, 6, 3))
            lists = [g.shape([2, 3]), g.shape([2, 2]), g.shape(list(pad))]
            if op == "MAX":
                g.output(g.op("MAX_POOL2D_ADAPTIVE", [x, *lists], [(dtype, (2, 4, 3, 3))], nan_mode=1))
            else:
                zps = [zero(g, dtype, v if dtype == "i8" else 0) for v in (3, -2)]
                g.output(g.op("AVG_POOL2D_ADAPTIVE", [x, *zps, *lists], [(dtype, (2, 4, 3, 3))], acc_type=acc))
        return make
    for dtype in ("i8", "i16") + PLAIN:
        yield f"max_pool2d_adaptive_{dtype}", pool("MAX", dtype), "exact"
        for acc in {"f16": ("f16", "f32"), "e4m3": ("f16",), "e5m2": ("f16",), "f32": ("f32",), "bf16": ("f32",)}.get(dtype, ("i32",)):
            yield f"avg_pool2d_adaptive_{dtype}_{acc}", pool("AVG", dtype, acc=acc), "exact" if dtype[0] == "i" else "near"
    yield "max_pool2d_adaptive_pad", pool("MAX", "i8", (2, 0, 1, 0)), "error"
    yield "avg_pool2d_adaptive_pad", pool("AVG", "i8", (0, 2, 1, 0), "i32"), "error"

    def resize(dtype, mode, scale=(4, 2), size=5):
        def make(g):
            c = 32 if dtype in MX else 3
            g.output(g.op("RESIZE", [given(rng, g, dtype, (1, 3, 3, c)), g.shape([*scale, *scale]), g.shape([0, 0]), g.shape([0, 0])],
                          [(dtype, (1, size, size, c))], mode=mode))
        return make
    for dtype in ("e4m3", "e5m2") + MX:
        yield f"resize_{dtype}_nearest", resize(dtype, 1), "exact"
        yield f"resize_{dtype}_bilinear", resize(dtype, 2), "error" if dtype in MX else "exact"
        if dtype not in MX:
            yield f"resize_{dtype}_thirds", resize(dtype, 2, (3, 1), 7), "exact"


# --- products ------------------------------------------------------------------------------------------------------------------

def product_cases(rng):
    def matmul(a, b, out):
        def make(g):
            x, y = (reals(rng, t, s, positive=True) for t, s in ((a, (2, 3, 9)), (b, (2, 9, 5))))
            g.output(g.op("MATMUL", [given(rng, g, a, x.shape, x), given(rng, g, b, y.shape, y), zero(g, a), zero(g, b)], [(out, (2, 3, 5))]))
        return make
    for a, b in itertools.product(("e4m3", "e5m2"), repeat=2):
        for out in ("f16", "f32"):
            yield f"matmul_{a}_{b}_{out}", matmul(a, b, out), "ulp"
    yield "matmul_e4m3_f16_f32_not", matmul("e4m3", "f16", "f32"), "error"

    def matmul_t(a, b, out, d=2, zps=(0, 0), n=2):
        def make(g):
            c = 64 if a in MX or b in MX else 9
            x, y = values(rng, a, (n, 3, c)), values(rng, b, (d, 5, c))
            g.output(g.op("MATMUL_T", [given(rng, g, a, x.shape, x), given(rng, g, b, y.shape, y), zero(g, a, zps[0]), zero(g, b, zps[1])],
                          [(out, (n, 3, 5))]))
        return make
    yield "matmul_t_i8", matmul_t("i8", "i8", "i32", zps=(3, -4)), "exact"
    yield "matmul_t_i8_shared", matmul_t("i8", "i8", "i32", 1, (3, -4)), "exact"
    yield "matmul_t_i16", matmul_t("i16", "i16", "i48"), "exact"
    yield "matmul_t_f16", matmul_t("f16", "f16", "f16"), "exact"
    for a, b in itertools.product(PLAIN + MX, repeat=2):
        yield f"matmul_t_{a}_{b}_f32", matmul_t(a, b, "f32", int(rng.integers(1, 3))), "exact"
        if "f32" not in (a, b):
            both = (a, b) == ("f16", "f16")
            yield f"matmul_t_{a}_{b}_bf16", matmul_t(a, b, "bf16", int(rng.integers(1, 3))), "error" if both else "exact"
    yield "matmul_t_e4m3_f16_not", matmul_t("e4m3", "e4m3", "f16"), "error"
    yield "matmul_t_batch", matmul_t("i8", "i8", "i32", 2, n=3), "error"
    yield "matmul_t_zero_point", matmul_t("f32", "f32", "f32", zps=(1, 0)), "error"

    def conv(op, a, b, out, acc):
        def make(g):
            c = 32 if a in MX or b in MX else 5
            x_shape = {"CONV3D": (1, 2, 3, 4, c)}.get(op, (1, 4, 4, c))
            w_shape = {"CONV3D": (3, 1, 2, 2, c), "DEPTHWISE_CONV2D": (2, 2, c, 2)}.get(op, (3, 2, 2, c))
            oc = 2 * c if op == "DEPTHWISE_CONV2D" else 3
            x, w = (reals(rng, t, s, positive=True) for t, s in ((a, x_shape), (b, w_shape)))
            bias = reals(rng, out, (oc,), positive=True)
            operands = [given(rng, g, a, x_shape, x), given(rng, g, b, w_shape, w), g.const(out, bias), zero(g, a), zero(g, b)]
            if op == "TRANSPOSE_CONV2D":
                result, more = (1, 8, 8, oc), {"out_pad": [0, 0, 0, 0], "stride": [2, 2]}
            elif op == "CONV3D":
                result, more = (1, 2, 2, 3, oc), {"pad": [0] * 6, "stride": [1] * 3, "dilation": [1] * 3}
            else:
                result, more = (1, 5, 3, oc), {"pad": [1, 1, 0, 0], "stride": [1, 1], "dilation": [1, 1]}
            more = {**more, "local_bound": False, "acc_type": acc}
            g.output(g.op(op, operands, [(out, result)], **more))
            if op == "CONV2D":
                g.detour = detours.conv2d(a, b, out, acc, x, w, bias, more["pad"])
            elif out == "f32":
                g.detour = detours.in_f32(op, (a, b, out), (x, w, bias), lambda h: [zero(h, "f32"), zero(h, "f32")], result, more)
        return make
    for a, b in itertools.product(PLAIN + MX, repeat=2):
        if (a, b) != ("f32", "f32"):
            yield f"conv2d_{a}_{b}_f32", conv("CONV2D", a, b, "f32", "f32"), "exact"
    for a, b in itertools.product(("e4m3", "e5m2", "f16", "bf16") + MX, repeat=2):
        for acc in ("f32", "bf16"):
            if (a, b, acc) != ("f16", "f16", "f32"):
                yield f"conv2d_{a}_{b}_f16_{acc}", conv("CONV2D", a, b, "f16", acc), "exact"
    for op in ("CONV3D", "TRANSPOSE_CONV2D"):
        for a, b in itertools.product(PLAIN, repeat=2):
            if (a, b) != ("f32", "f32"):
                yield f"{op.lower()}_{a}_{b}_f32", conv(op, a, b, "f32", "f32"), "exact" if op == "CONV3D" else "ulp"
    for a in ("e4m3", "e5m2"):
        yield f"depthwise_conv2d_{a}_f32", conv("DEPTHWISE_CONV2D", a, a, "f32", "f32"), "exact"


# --- block-scaled numbers --------------------------------------------------------------------------------------------------------

def edges(rng, dtype, n):
    """Blocks whose largest number is of every size, at limits and beside them; zeros; what is not finite."""
    kind = DTYPE[dtype][1]
    most = {"f32": 126, "bf16": 126, "f16": 14, "e4m3": 7, "e5m2": 14}[dtype]
    rows = []
    for i in range(n):
        top = 2.0 ** rng.integers(-most, most)
        x = rng.uniform(-top, top, 32) * rng.choice([1, 2.0 ** -9], 32)
        limit = float(rng.choice([464, 448, 61440, 57344, 7.75, 7.5, 30, 28, 7, 6, 127.5 / 64, 127 / 64, 1]))
        if i % 3:
            x[int(rng.integers(32))] = limit * 2.0 ** rng.integers(-most // 2, max(1, most - 16))
        rows.append(x)
    rows += [np.zeros(32), np.full(32, -0.0), np.array([1.0] + [1e-9] * 31), 1.7 * np.exp2(-2.0 * np.arange(32))]
    with np.errstate(all="ignore"):
        x = np.array(rows).astype(kind)
    f = x.astype(np.float64)
    x[~np.isfinite(f)] = 1
    return x


def not_too_small(x):
    """Without the numbers of which the reference model makes +-1 of MXINT8 where the nearest is 0: less than 2^-42 of its steps."""
    f = np.abs(x.astype(np.float64))
    mantissa, power = np.frexp(f.max(axis=1, keepdims=True))
    at, limit = np.frexp(127.5 / 64)
    step = np.exp2(power - limit + (mantissa >= at)) / 64  # of the block's scale, 2^(floor(log2(m / limit)) + 1)
    return np.where(f < step * 2.0 ** -42, np.zeros_like(x), x)


def block_cases(rng):
    def to(a, b):
        def make(g):
            x = edges(rng, a, 21)
            x = not_too_small(x) if b == "bs32_mxint8" else x
            g.output(g.op("CAST", [given(rng, g, a, x.shape, x)], [(b, x.shape)]))
        return make

    def from_(a, b):
        def make(g):
            code = np.arange(256 if a[5:] not in ("e2m3", "e3m2", "e2m1") else {"e2m1": 16}.get(a[5:], 64))
            x = np.resize(code, (16, 32)).astype(np.uint16)
            scale = np.array([0, 1, 254, 255, 127, 126, 128, 100, 150, 2, 253, 200, 60, 20, 120, 135], np.uint16)[:, None]
            g.output(g.op("CAST", [g.const(a, x | scale << 8)], [(b, x.shape)]))
        return make
    for plain, mx in itertools.product(PLAIN, MX):
        yield f"cast_{plain}_{mx}", to(plain, mx), "exact"
        yield f"cast_{mx}_{plain}", from_(mx, plain), "exact"

    def not_finite(b):
        def make(g):
            x = rng.standard_normal((3, 32)).astype(np.float32)
            x[0, 5], x[2, 31] = np.inf, np.nan
            g.output(g.op("CAST", [g.const("f32", x)], [(b, x.shape)]))
        return make
    for mx in MX:
        yield f"cast_f32_{mx}_not_finite", not_finite(mx), "exact"

    def concat(mx, axis):
        def make(g):
            a, b = (3, 64), ((2, 64) if axis == 0 else (3, 32))
            g.output(g.op("CONCAT", [g.const(mx, blocks(rng, mx, a)), g.const(mx, blocks(rng, mx, b))], [(mx, (5, 64) if axis == 0 else (3, 96))], axis=axis))
        return make

    def move(op, mx, shape, extra, **more):
        def make(g):
            x = blocks(rng, mx, (2, 3, 64))
            g.output(g.op(op, [g.const(mx, x), *extra(g)], [(mx, shape)], **more))
            g.detour = detours.in_f32(op, (mx,), (x,), extra, shape, more)
        return make
    for mx in MX:
        for axis in (0, 1):
            yield f"concat_{mx}_{axis}", concat(mx, axis), "exact"
        yield f"reshape_{mx}", move("RESHAPE", mx, (4, 3, 32), lambda g: [g.shape([4, 3, 32])]), "exact"
        yield f"identity_{mx}", move("IDENTITY", mx, (2, 3, 64), lambda g: []), "exact"
        yield f"reverse_{mx}", move("REVERSE", mx, (2, 3, 64), lambda g: [], axis=2), "exact"
        yield f"slice_{mx}", move("SLICE", mx, (1, 2, 32), lambda g: [g.shape([1, 0, 32]), g.shape([1, 2, 32])]), "exact"
        yield f"tile_{mx}", move("TILE", mx, (2, 6, 64), lambda g: [g.shape([1, 2, 1])]), "exact"
        yield f"transpose_{mx}", move("TRANSPOSE", mx, (3, 2, 64), lambda g: [], perms=[1, 0, 2]), "exact"
    yield "reshape_half_block", move("RESHAPE", MX[0], (24, 16), lambda g: [g.shape([24, 16])]), "error"
    yield "slice_inside_block", move("SLICE", MX[0], (2, 3, 32), lambda g: [g.shape([0, 0, 16]), g.shape([2, 3, 32])]), "error"
    yield "transpose_last_axis", move("TRANSPOSE", MX[0], (64, 3, 2), lambda g: [], perms=[2, 1, 0]), "error"

    # The deprecated form: scales beside the values.
    def old_to(a, v, size=32):
        def make(g):
            x = edges(rng, a, 21)
            x = not_too_small(x) if v == "mxint8" else x
            for r in g.op("CAST_TO_BLOCK_SCALED", [given(rng, g, a, x.shape, x)], [(v, x.shape), ("ue8m0", (x.shape[0], 1))], block_size=size):
                g.output(r)
        return make

    def old_from(v, b, size=32):
        def make(g):
            x, s = codes(rng, v, (16, 64)), rng.integers(0, 256, (16, 2)).astype(np.uint8)
            g.output(g.op("CAST_FROM_BLOCK_SCALED", [g.const(v, x), g.const("ue8m0", s)], [(b, x.shape)], block_size=size))
        return make

    def old_matmul(v, d, c=96, size=32):
        def make(g):
            a, b = codes(rng, v, (2, 3, c)), codes(rng, v, (d, 5, c))
            s, t = (rng.integers(110, 140, (*x.shape[:2], c // 32)).astype(np.uint8) for x in (a, b))
            g.output(g.op("MATMUL_T_BLOCK_SCALED", [g.const(v, a), g.const("ue8m0", s), g.const(v, b), g.const("ue8m0", t)], [("f32", (2, 3, 5))], block_size=size))
        return make

    def old_conv(v, size=32):
        def make(g):
            x, w = codes(rng, v, (1, 5, 5, 64)), codes(rng, v, (3, 3, 3, 64))
            s, t = (rng.integers(120, 132, (*a.shape[:3], 2)).astype(np.uint8) for a in (x, w))
            bias = rng.standard_normal(3).astype(np.float32)
            g.output(g.op("CONV2D_BLOCK_SCALED", [g.const(v, x), g.const("ue8m0", s), g.const(v, w), g.const("ue8m0", t), g.const("f32", bias),
                                                  g.shape([1, 1, 1, 1]), g.shape([2, 2]), g.shape([1, 1])], [("f32", (1, 3, 3, 3))], block_size=size))
        return make

    def old_move(op, v, dtype=None):
        def make(g):
            if dtype:
                operands, results, size = [given(rng, g, dtype, (2, 6, 64))], [dtype], 1
            else:
                operands, results, size = [g.const(v, codes(rng, v, (2, 6, 64))), g.const("ue8m0", values(rng, "ue8m0", (2, 6, 2)))], [v, "ue8m0"], 32
            last = [64, 2]
            if op == "RESHAPE_BLOCK_SCALED":
                operands.append(g.shape([3, 4, 64]))
                out = [(t, (3, 4, last[i])) for i, t in enumerate(results)]
            else:
                operands += [given(rng, g, "i32", (2, 3), np.array([[0, 4, 2], [1, 1, 3]], np.int32)), number(g, 2)]
                out = [(t, (2, 6, last[i])) for i, t in enumerate(results)]
            r = g.op(op, operands, out, block_size=size)
            for name in ([r] if isinstance(r, str) else r):
                g.output(name)
        return make
    for v in VALUES:
        for a in ("f32", "bf16"):
            yield f"cast_to_block_scaled_{a}_{v}", old_to(a, v), "exact"
            yield f"cast_from_block_scaled_{v}_{a}", old_from(v, a), "exact"
        for d in (1, 2):
            yield f"matmul_t_block_scaled_{v}_{d}", old_matmul(v, d), "exact"
        yield f"conv2d_block_scaled_{v}", old_conv(v), "error" if v == "mxint8" else "exact"
        for op in ("RESHAPE_BLOCK_SCALED", "ROW_GATHER_BLOCK_SCALED"):
            yield f"{op.lower()}_{v}", old_move(op, v), "exact"
    for op in ("RESHAPE_BLOCK_SCALED", "ROW_GATHER_BLOCK_SCALED"):
        for dtype in ("i8", "f32"):
            yield f"{op.lower()}_{dtype}", old_move(op, None, dtype), "exact"
    yield "cast_to_block_scaled_size", old_to("f32", "e4m3", 1), "error"
    yield "cast_from_block_scaled_size", old_from("e4m3", "f32", 1), "error"
    yield "cast_to_block_scaled_f16", old_to("f16", "e4m3"), "error"
    yield "matmul_t_block_scaled_size", old_matmul("e4m3", 1, size=1), "error"
    yield "matmul_t_block_scaled_batch", old_matmul("e4m3", 3), "error"


def cases(seed=11):
    rng = np.random.default_rng(seed)
    for part in (shape_cases, int64_cases, changed_cases, product_cases, block_cases):
        for name, make, how in part(rng):
            g = Graph("main")
            make(g)
            yield name, g, how


# --- random graphs ---------------------------------------------------------------------------------------------------------------

class Walk:
    """A graph that grows by one operator after the other; `now` are values that may be read, by name with type and shape."""

    def __init__(self, rng):
        self.rng, self.g = rng, Graph("main")
        n, h, w = (int(v) for v in rng.integers(1, 4, 3))
        self.now = [(self.given("f32", (n, h, 32 * w)), "f32", (n, h, 32 * w)), (self.given("i64", (n, h, w)), "i64", (n, h, w)),
                    (self.given("i8", (n, h, w)), "i8", (n, h, w))]

    def given(self, dtype, shape):
        return self.g.input(dtype, shape, values(self.rng, dtype, shape))

    def pick(self, types):
        fit = [v for v in self.now if v[1] in types]
        return fit[int(self.rng.integers(len(fit)))] if fit else None

    def add(self, op, operands, dtype, shape, **more):
        self.now.append((self.g.op(op, operands, [(dtype, shape)], **more), dtype, tuple(shape)))

    def shape_of(self, value, shape):
        """The shape of a tensor, made of its dimensions."""
        parts = [self.g.op("DIM", [value], [("shape", (1,))], axis=i) for i in range(len(shape))]
        return self.g.op("CONCAT_SHAPE", parts, [("shape", (len(shape),))])

    def step(self):
        g, rng = self.g, self.rng
        kind = int(rng.integers(8))
        if kind == 0 and (v := self.pick(PLAIN)) and v[2] and v[2][-1] % 32 == 0:
            mx = MX[int(rng.integers(6))]
            self.add("CAST", [v[0]], mx, v[2])
        elif kind == 1 and (v := self.pick(MX)):
            self.add("CAST", [v[0]], "f32", v[2])
        elif kind == 2 and (v := self.pick(MX)) and len(v[2]) == 3:
            w = int(rng.integers(1, 5))
            other = MX[int(rng.integers(6))]
            b = g.const(other, blocks(rng, other, (1, w, v[2][2])))
            self.add("MATMUL_T", [v[0], b, zero(g, v[1]), zero(g, other)], "f32", (v[2][0], v[2][1], w))
        elif kind == 3 and (v := self.pick(("f32", "i8", "i64") + MX)) and len(v[2]) == 3:
            whole_ = self.shape_of(v[0], v[2])
            twice = g.op("MUL_SHAPE", [g.op("SLICE_SHAPE", [whole_, number(g, 0), number(g, 1)], [("shape", (1,))]), g.shape([v[2][1]])], [("shape", (1,))])
            last = g.op("SLICE_SHAPE", [whole_, number(g, 2), number(g, 1)], [("shape", (1,))])
            new = (1, v[2][0] * v[2][1], v[2][2])
            self.add("RESHAPE", [v[0], g.op("CONCAT_SHAPE", [g.shape([1]), twice, last], [("shape", (3,))])], v[1], new)
        elif kind == 4 and (v := self.pick(("i64",))):
            op = ("ADD", "SUB", "MAXIMUM", "BITWISE_XOR")[int(rng.integers(4))]
            small = g.const("i64", rng.integers(-9, 9, (1,) * len(v[2])))
            self.add(op, [v[0], small], "i64", v[2], **({"nan_mode": 1} if op == "MAXIMUM" else {}))
        elif kind == 5 and (v := self.pick(("f32", "i8", "i64") + MX)) and len(v[2]) == 3:
            n, k, c = v[2]
            count, w = int(rng.integers(1, k + 1)), int(rng.integers(1, 4))
            index = ("i32", "i64")[int(rng.integers(2))]
            idx = g.const(index, rng.integers(0, k - count + 1, (n, w)).astype(DTYPE[index][1]))
            self.add("ROW_GATHER", [v[0], idx, number(g, count)], v[1], (n, w * count, c))
        elif kind == 6 and (v := self.pick(("f32", "i8", "i64") + MX)) and len(v[2]) == 3:
            axis = int(rng.integers(3))
            shape = list(v[2])
            shape[axis] *= 2
            self.add("CONCAT", [v[0], v[0]], v[1], shape, axis=axis)
        elif kind == 7 and (v := self.pick(("i8", "f32"))) and len(v[2]) == 3:
            self.add("ARGMAX", [v[0]], "i64", (v[2][0], v[2][1]), axis=2, nan_mode=1)


def random_graph(rng):
    walk = Walk(rng)
    while len(walk.now) < 10 and sum(int(np.prod(v[2])) for v in walk.now) < 40000:
        walk.step()
    used = {name for op in walk.g.operators for name in op[1]}
    for name, _, _ in walk.now:
        if name not in used and name not in walk.g.inputs:
            walk.g.output(name)
    for i, name in reversed(list(enumerate(walk.g.inputs))):
        if name not in used:
            del walk.g.inputs[i], walk.g.feeds[i]
            walk.g.tensors = [t for t in walk.g.tensors if t[0] != name]
    return walk.g, "exact"
