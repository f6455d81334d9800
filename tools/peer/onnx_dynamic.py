#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes small ONNX models with open sizes (dim_param), samples of several sizes, and what NumPy computes of them.

    onnx_dynamic.py OUT

OUT/NAME/model.onnx, calib.npz (arr_0, arr_1, ... of several sizes), and for each of some sizes xSIZES.npy and ySIZES.npy.  The files are written
field by field (https://onnx.ai/onnx/repo-docs/IR.html): no package is needed but NumPy."""
import struct
import sys
from pathlib import Path

import numpy as np


def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def field(number, value):
    """Of a message: an integer, or bytes, text, messages."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def attribute(name, value):
    kind = {int: 2, list: 7, float: 1}[type(value)]
    body = field(3, value) if kind == 2 else b"".join(field(8, v) for v in value) if kind == 7 else varint(2 << 3 | 5) + struct.pack("<f", value)
    return field(1, name) + body + field(20, kind)


def node(op, inputs, output, **attributes):
    body = b"".join(field(1, i) for i in inputs) + field(2, output) + field(3, output) + field(4, op)
    return field(1, body + b"".join(field(5, attribute(k, v)) for k, v in attributes.items()))


def tensor(name, array):
    kind = {"float32": 1, "int64": 7}[str(array.dtype)]
    body = b"".join(field(1, d) for d in array.shape) + field(2, kind) + field(8, name) + field(9, array.tobytes())
    return field(5, body)


def value(number, name, shape):
    dims = b"".join(field(1, field(1, d) if isinstance(d, int) else field(2, d)) for d in shape)
    return field(number, field(1, name) + field(2, field(1, field(1, 1) + field(2, dims))))


def model(nodes, constants, inputs, outputs):
    graph = b"".join(nodes) + field(2, "g") + b"".join(tensor(k, v) for k, v in constants.items())
    graph += b"".join(value(11, *i) for i in inputs) + b"".join(value(12, *o) for o in outputs)
    return field(1, 8) + field(2, "onnx_dynamic.py") + field(7, graph) + field(8, field(1, "") + field(2, 17))


rng = np.random.default_rng(11)


def weights(*shape):
    return (rng.standard_normal(shape) / np.sqrt(np.prod(shape[:-1]))).astype(np.float32)


def numbers(shape):
    return (np.round(rng.standard_normal(shape) * 16) / 16).astype(np.float32)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def pooled():
    """The mean over an open sequence."""
    a, b, head = 2 * weights(4, 8), weights(8), weights(8, 2)
    nodes = [node("MatMul", ["x", "a"], "m"), node("Add", ["m", "b"], "s"), node("Tanh", ["s"], "t"),
             node("ReduceMean", ["t"], "r", axes=[1], keepdims=0), node("MatMul", ["r", "head"], "y")]
    file = model(nodes, {"a": a, "b": b, "head": head}, [("x", (1, "seq", 4))], [("y", (1, 2))])
    return file, lambda x: np.tanh(x @ a + b).mean(1) @ head, lambda s: (1, s[0], 4), [(2,), (7,), (40,)], [(40,), (2,), (9,)]


def picture():
    """A strided convolution over open rows and columns, and an open batch."""
    w, b, head = weights(6, 3, 3, 3) * 2, weights(6), weights(6, 4)

    def run(x):
        p = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        rows, cols = (x.shape[2] - 1) // 2 + 1, (x.shape[3] - 1) // 2 + 1
        y = np.zeros((x.shape[0], 6, rows, cols), np.float32)
        for i in range(3):
            for j in range(3):
                y += np.einsum("nchw,oc->nohw", p[:, :, i:i + 2 * rows - 1:2, j:j + 2 * cols - 1:2], w[:, :, i, j])
        return np.maximum(y + b[:, None, None], 0).mean((2, 3)) @ head

    nodes = [node("Conv", ["x", "w", "b"], "c", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]), node("Relu", ["c"], "r"),
             node("GlobalAveragePool", ["r"], "p"), node("Flatten", ["p"], "f", axis=1), node("MatMul", ["f", "head"], "y")]
    file = model(nodes, {"w": w, "b": b, "head": head}, [("x", ("batch", 3, "rows", "cols"))], [("y", ("batch", 4))])
    return file, run, lambda s: (s[0], 3, s[1], s[2]), [(1, 8, 8), (2, 9, 14), (3, 20, 16)], [(1, 12, 12), (1, 8, 8), (1, 20, 20)]


def attention():
    """Shapes are computed by the model itself: Shape, Gather, Concat, Reshape."""
    qkv, out = weights(8, 24), weights(8, 8)
    one, axis, seq = np.array([1], np.int64), np.array(1, np.int64), np.array([2, 4], np.int64)
    zero = np.array([0], np.int64)
    nodes = [node("Shape", ["x"], "shape"), node("Gather", ["shape", "axis"], "n", axis=0), node("Unsqueeze", ["n", "zero"], "n1"),
             node("Concat", ["one", "n1", "seq"], "split", axis=0), node("MatMul", ["x", "qkv"], "all"),
             node("Slice", ["all", "s0", "s1", "last"], "q"), node("Slice", ["all", "s1", "s2", "last"], "k"),
             node("Slice", ["all", "s2", "s3", "last"], "v")]
    for name in "qkv":
        nodes += [node("Reshape", [name, "split"], name + "r"), node("Transpose", [name + "r"], name + "t", perm=[0, 2, 3, 1] if name == "k" else [0, 2, 1, 3])]
    nodes += [node("MatMul", ["qt", "kt"], "score"), node("Mul", ["score", "half"], "scaled"), node("Softmax", ["scaled"], "p", axis=-1),
              node("MatMul", ["p", "vt"], "o"), node("Transpose", ["o"], "ot", perm=[0, 2, 1, 3]), node("Shape", ["x"], "back"),
              node("Reshape", ["ot", "back"], "or"), node("MatMul", ["or", "out"], "y")]
    constants = {"qkv": qkv, "out": out, "one": one, "axis": axis, "zero": zero, "seq": seq, "half": np.array(0.5, np.float32),
                 "last": np.array([2], np.int64), **{f"s{i}": np.array([8 * i], np.int64) for i in range(4)}}
    file = model(nodes, constants, [("x", (1, "seq", 8))], [("y", (1, "seq", 8))])

    def run(x):
        q, k, v = (t.reshape(1, -1, 2, 4).transpose(0, 2, 1, 3) for t in np.split(x @ qkv, 3, -1))
        return (softmax(q @ k.transpose(0, 1, 3, 2) * np.float32(0.5)) @ v).transpose(0, 2, 1, 3).reshape(x.shape) @ out

    return file, run, lambda s: (1, s[0], 8), [(2,), (7,), (24,)], [(24,), (2,), (9,)]


def recurrent():
    """An LSTM along an open sequence."""
    w, r, head = weights(1, 12, 4) * 4, weights(1, 12, 3) * 4, weights(3, 2)
    nodes = [node("LSTM", ["x", "w", "r"], "all", hidden_size=3), node("Squeeze", ["all", "axis"], "h"), node("MatMul", ["h", "head"], "y")]
    file = model(nodes, {"w": w, "r": r, "head": head, "axis": np.array([1], np.int64)}, [("x", ("seq", 1, 4))], [("y", ("seq", 1, 2))])

    def run(x):
        h = c = np.zeros((1, 3), np.float32)
        out = []
        for step in x:
            i, o, f, g = np.split(step @ w[0].T + h @ r[0].T, 4, -1)
            c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
            h = np.tanh(c) / (1 + np.exp(-o))
            out.append(h @ head)
        return np.stack(out)

    return file, run, lambda s: (s[0], 1, 4), [(2,), (5,), (12,)], [(12,), (2,), (5,)]


def main():
    for make in (pooled, picture, attention, recurrent):
        file, run, shape, sizes, calib = make()
        folder = Path(sys.argv[1]) / make.__name__
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "model.onnx").write_bytes(file)
        np.savez(folder / "calib.npz", *(numbers(shape(size)) for size in calib for _ in range(8)))
        for size in sizes:
            x = numbers(shape(size))
            np.save(folder / f"x{'x'.join(map(str, size))}.npy", x)
            np.save(folder / f"y{'x'.join(map(str, size))}.npy", run(x).astype(np.float32))


main()
