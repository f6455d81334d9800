# SPDX-License-Identifier: Apache-2.0
"""Other roads to what the reference model of TOSA 1.1 does not take.

A case of tosa11_cases.py that it may refuse has `detour`, a function that puts the same sums in the same order, in operators that it does
take, into another graph:

  CONV2D               the patches of the input as rows of MATMUL_T, whose result has the type of the accumulator; then the cast to the
                       result's type and the bias, as the specification has them
  other convolutions   the same operator on operands that were cast to f32
  movements of blocks  the same operator on f32

What block-scaled numbers stand for is compared where the detour has f32 in their place."""
import itertools

import ml_dtypes
import numpy as np

CODE = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "e2m3": ml_dtypes.float6_e2m3fn, "e3m2": ml_dtypes.float6_e3m2fn,
        "e2m1": ml_dtypes.float4_e2m1fn}


def decoded(dtype, codes):
    """Block-scaled numbers, value in the low byte and scale in the high one, as f32."""
    value = (codes & 255).astype(np.uint8)
    number = value.view(np.int8) / np.float32(64) if dtype == "bs32_mxint8" else value.view(CODE[dtype[5:]]).astype(np.float32)
    with np.errstate(all="ignore"):
        scale = np.where(codes >> 8 == 255, np.nan, np.exp2((codes >> 8).astype(np.float64) - 127))
        return (number.astype(np.float64) * scale).astype(np.float32)


def as_type(g, name, to):
    """CAST, by way of f32 where there is no other."""
    dtype, shape = g.type[name]
    if dtype == to:
        return name
    if "f32" not in (dtype, to):
        name = g.op("CAST", [name], [("f32", shape)])
    return g.op("CAST", [name], [(to, shape)])


def patches(x, zero, kernel, pad):
    """[1, places, ky * kx * ic] of the codes of [1, y, x, ic], stride 1."""
    (top, bottom, left, right), (ky, kx) = pad, kernel
    wide = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)), constant_values=zero)
    oy, ox = wide.shape[1] - ky + 1, wide.shape[2] - kx + 1
    rows = [wide[0, y:y + ky, x0:x0 + kx].reshape(-1) for y, x0 in itertools.product(range(oy), range(ox))]
    return np.stack(rows)[None]


def conv2d(a, b, out, acc, x, w, bias, pad):
    """Of stride and dilation 1."""
    def make(g):
        columns = patches(x, np.array(127 << 8 if a.startswith("bs32") else 0).astype(x.dtype), w.shape[1:3], pad)
        names = [g.const(a, columns), g.const(b, w.reshape(1, w.shape[0], -1))]
        if acc == "bf16" and (a, b) == ("f16", "f16"):
            names = [as_type(g, n, "bf16") for n in names]
        zeros = [g.const("f32" if g.type[n][0].startswith("bs32") else g.type[n][0], np.zeros(1)) for n in names]
        total = g.op("MATMUL_T", names + zeros, [(acc, (1, columns.shape[1], w.shape[0]))])
        total = as_type(g, total, out)
        g.output(g.op("ADD", [total, g.const(out, bias.reshape(1, 1, -1))], [g.type[total]]))
    return make


def in_f32(op, types, arrays, rest, result, attributes):
    """The operator on f32; rest: a function to its other operands."""
    def make(g):
        names = [as_type(g, g.const(t, v), "f32") for t, v in zip(types, arrays)]
        g.output(g.op(op, names + rest(g), [("f32", result)], **attributes))
    return make
