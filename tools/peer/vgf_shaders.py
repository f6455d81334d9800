#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The compute shaders of a .vgf before Arm's tools: every family of src/lower/compute, in random shapes and types.

    vgf_shaders.py operators TOSAC [--every N] [--only TEXT] [--seed N]    the judges' Python (tools/setup.sh judges)
    vgf_shaders.py chains    TOSAC [--every N] [--only TEXT] [--seed N]
    vgf_shaders.py networks  TOSAC [--only TEXT] [--times]

operators: a graph of one operator, kept out of the regions by --cpu, becomes a file of compute segments; the emulation layer gives what
`tosac run` gives of the graph.  Integers, bools and what only moves or resamples are the same bits; other floats are within the tolerance
beside the case.  chains: random programs of operators that keep their bits, whose values are made where they are read: bit for bit, in fewer segments than
they have operators.  networks: test/fixture/shaders, programs of several regions with grid_sample and resizing, whole; --times prints
what the layer measured of each TOSA operator (it has no statistics of neural accelerators).  Ends with "N passed, N failed".
"""
import argparse
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import vgf_tools as vgf  # noqa: E402

ap = argparse.ArgumentParser()
ap.add_argument("what", choices=["operators", "chains", "networks"])
ap.add_argument("tosac")
ap.add_argument("--every", type=int, default=1)
ap.add_argument("--only", default="")
ap.add_argument("--seed", type=int, default=1)
ap.add_argument("--times", action="store_true")
A = ap.parse_args()
A.tosac = os.path.abspath(A.tosac)
KIND = {"bool": np.bool_, "i8": np.int8, "u8": np.uint8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "f16": np.float16, "f32": np.float32}
FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "test", "fixture", "shaders")
EXACT, LOOSE = 0.0, 2e-5  # of the largest magnitude: what the driver's own functions (exp, log, sin, ...) are held to


def dims(shape):
    return "[" + ",".join(map(str, shape)) + "]"


SAMPLED = 2e-6  # of the largest magnitude: Mesa's samplers weigh in f32


class Case:
    """One operator: operands as (type, shape, how they are drawn), attributes, results as (type, shape)."""

    def __init__(self, op, operands, attributes, results, slack=EXACT, sampled=False):
        self.op, self.operands, self.attributes, self.results, self.slack, self.sampled = op, operands, attributes, results, slack, sampled

    def __str__(self):
        return f"{'sampled ' if self.sampled else ''}{self.op} {' '.join(t + dims(s) for t, s, _ in self.operands)} {self.attributes}".strip()

    def text(self):
        n = len(self.operands)
        ports = ", ".join(f"%{i}: {t}{dims(s)}" for i, (t, s, _) in enumerate(self.operands))
        out = [f"%{n + i}" for i in range(len(self.results))]
        types = ", ".join(t + dims(s) for t, s in self.results)
        return (f"graph @main({ports}) {{\n  {', '.join(out)} = {self.op} {', '.join(f'%{i}' for i in range(n))} {self.attributes} : {types}\n"
                f"  return {', '.join(out)}\n}}\n")

    def draw(self, rng):
        arrays = []
        for t, shape, how in self.operands:
            if callable(how):
                a = how(rng, shape)
            elif isinstance(how, tuple):
                a = rng.integers(how[0], how[1], shape) if t[0] in "iub" else rng.uniform(how[0], how[1], shape)
            elif t == "bool":
                a = rng.integers(0, 2, shape)
            elif t[0] == "f":
                a = rng.standard_normal(shape) * 3
            else:
                wide = {"i64": 1 << 40, "i32": 1 << 20}.get(t, 100)
                a = rng.integers(0 if t[0] == "u" else -wide, wide, shape)
            arrays.append(np.asarray(a).astype(KIND[t]))
        return arrays


def shape_of(rng, low=1, high=4, most=7):
    return [int(d) for d in rng.integers(1, most, rng.integers(low, high + 1))]


def broadcast(rng, shape):
    """A shape that broadcasts to it."""
    cut = int(rng.integers(0, len(shape) + 1)) if rng.random() < 0.3 else 0
    return [d if rng.random() < 0.7 else 1 for d in shape[cut:]]


def elementwise(rng):
    ints, floats = ["i8", "i16", "i32", "i64"], ["f16", "f32"]
    for op, attributes in (("abs", ""), ("neg", ""), ("sign", ""), ("relu", ""), ("square", ""), ("floor", ""), ("clamp", "lo=-3 hi=40")):
        for t in ints + floats:
            s = shape_of(rng)
            yield Case(op, [(t, s, (-120, 120))], attributes, [(t, s)])
    for t in ints + ["u8", "bool"]:
        s = shape_of(rng)
        yield Case("bitwise_not", [(t, s, None)], "", [(t, s)])
        yield Case("logical_not", [(t, s, None)], "", [("bool", s)])
        for op in ("bitwise_and", "bitwise_or", "bitwise_xor"):
            yield Case(op, [(t, s, None), (t, broadcast(rng, s), None)], "", [(t, s)])
    for op, attributes in (("add", "alpha=1"), ("sub", "alpha=1"), ("add", "alpha=3"), ("mul", ""), ("maximum", ""), ("minimum", "")):
        for t in ints + floats:
            s = shape_of(rng)
            yield Case(op, [(t, s, None), (t, broadcast(rng, s), None)], attributes, [(t, s)])
    for op, attributes in (("div", "mode=trunc"), ("div", "mode=floor"), ("remainder", ""), ("fmod", "")):
        for t in ints:
            s = shape_of(rng)
            yield Case(op, [(t, s, (-120, 120)), (t, s, lambda r, n: r.integers(1, 9, n) * r.choice([-1, 1], n))], attributes, [(t, s)])
    for t in ints:
        s = shape_of(rng)
        yield Case("pow", [(t, s, (-4, 5)), (t, s, (-2, 5))], "", [(t, s)])
        yield Case("shift_left", [(t, s, (-9, 9)), (t, s, (-2, 70))], "", [(t, s)])
        yield Case("shift_right", [(t, s, (-120, 120)), (t, s, (-2, 70))], "", [(t, s)])
    for op in ("eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor"):
        for t in ints + floats + ["bool"]:
            s = shape_of(rng)
            yield Case(op, [(t, s, (-2, 3) if t != "bool" else None), (t, broadcast(rng, s), (-2, 3) if t != "bool" else None)], "", [("bool", s)])
    for t in ints + floats + ["bool"]:
        s = shape_of(rng)
        yield Case("where", [("bool", broadcast(rng, s), None), (t, s, None), (t, broadcast(rng, s), None)], "", [(t, s)])
    for a, b in itertools.product(ints + floats + ["bool", "u8"], repeat=2):
        if a != b:
            s = shape_of(rng)
            yield Case("cast", [(a, s, (0, 100) if a != "bool" else None)], f"dtype={b}", [(b, s)])
    for op in ("isnan", "isinf", "isfinite"):
        s = shape_of(rng)
        yield Case(op, [("f32", s, lambda r, n: r.choice([1.0, np.nan, np.inf, -np.inf], n))], "", [("bool", s)])
    exact = ("ceil", "trunc", "frac", "sqrt", "reciprocal", "hardswish", "hardsigmoid")
    for op in exact + ("exp", "expm1", "log", "log1p", "log2", "log10", "rsqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh",
                       "asinh", "acosh", "atanh", "erf", "erfc", "sigmoid", "log_sigmoid", "silu", "mish", "softsign"):
        span = {"log": (0.1, 9), "sqrt": (0.1, 9), "rsqrt": (0.1, 9), "log2": (0.1, 9), "log10": (0.1, 9), "log1p": (0.01, 9), "reciprocal": (0.2, 9),
                "acosh": (1.1, 9), "sin": (-6, 6), "cos": (-6, 6), "hardswish": (-5, 5), "hardsigmoid": (-5, 5)}.get(op, (-0.95, 0.95))
        s = shape_of(rng)
        yield Case(op, [("f32", s, span)], "", [("f32", s)], EXACT if op in exact else LOOSE)
    for op, attributes in (("gelu", "form=erf"), ("gelu", "form=tanh"), ("elu", "alpha=1 scale=1 input_scale=1"), ("leaky_relu", "slope=0.1"),
                           ("softplus", "beta=1 threshold=20"), ("hardshrink", "lambda=0.5"), ("softshrink", "lambda=0.5"),
                           ("threshold", "threshold=0.1 value=20"), ("round", "decimals=0"), ("nan_to_num", "nan=0 posinf=1 neginf=-1")):
        s = shape_of(rng)
        yield Case(op, [("f32", s, (-3, 3))], attributes, [("f32", s)], LOOSE if op in ("gelu", "elu", "softplus") else EXACT)
    for op in ("div mode=exact", "atan2", "hypot", "copysign", "fmax", "fmin", "pow", "logaddexp", "xlogy"):
        op, _, attributes = op.partition(" ")
        s = shape_of(rng)
        yield Case(op, [("f32", s, (0.1, 4)), ("f32", broadcast(rng, s), (0.1, 4))], attributes, [("f32", s)],
                   EXACT if op in ("div", "copysign", "fmax", "fmin") else LOOSE)
    s = shape_of(rng)
    yield Case("lerp", [("f32", s, None), ("f32", s, None), ("f32", s, (0, 1))], "", [("f32", s)])
    yield Case("addcmul", [("f32", s, None), ("f32", s, None), ("f32", s, None)], "value=0.5", [("f32", s)])
    yield Case("addcdiv", [("f32", s, None), ("f32", s, None), ("f32", s, (0.5, 2))], "value=0.5", [("f32", s)], LOOSE)


def movement(rng):
    for t in ("i8", "i64", "bool", "f32", "f16"):
        a, b, c, d = (int(v) for v in rng.integers(2, 6, 4))
        x = (t, [a, b, c, d], None)
        yield Case("reshape", [x], f"shape={dims([a * b, c, d])}", [(t, [a * b, c, d])])
        perm = [int(p) for p in rng.permutation(4)]
        yield Case("permute", [x], f"perm={dims(perm)}", [(t, [x[1][p] for p in perm])])
        yield Case("expand", [(t, [a, 1, d], None)], f"shape={dims([b, a, c, d])}", [(t, [b, a, c, d])])
        yield Case("slice", [x], f"axis=2 start=1 end={c} step=2", [(t, [a, b, c // 2, d])])
        yield Case("select", [x], "axis=1 index=1", [(t, [a, c, d])])
        yield Case("split", [x], f"axis=3 sizes={dims([1, d - 1])}", [(t, [a, b, c, 1]), (t, [a, b, c, d - 1])])
        yield Case("unbind", [(t, [2, b, c], None)], "axis=0", [(t, [b, c]), (t, [b, c])])
        yield Case("repeat", [(t, [b, c], None)], "repeats=[2,1,3]", [(t, [2, b, 3 * c])])
        yield Case("repeat_interleave", [(t, [b, c], None)], "axis=1 repeats=2", [(t, [b, 2 * c])])
        yield Case("flip", [x], "axes=[1,3]", [(t, x[1])])
        yield Case("diagonal", [(t, [a, c, c], None)], "offset=1 axis1=1 axis2=2", [(t, [a, c - 1])])
        yield Case("roll", [x], "shifts=[1,-2] axes=[1,3]", [(t, x[1])])
        yield Case("pixel_shuffle", [(t, [a, 4 * b, c, d], None)], "factor=2", [(t, [a, b, 2 * c, 2 * d])])
        yield Case("tril", [x], "diagonal=1", [(t, x[1])])
        yield Case("triu", [x], "diagonal=-1", [(t, x[1])])
        yield Case("pad", [(t, [b, c], None)], "pad=[1,2,0,3] mode=constant value=1", [(t, [b + 3, c + 3])])
        yield Case("pad", [(t, [b, 3, 5], None)], "pad=[0,0,1,1,2,1] mode=reflect value=0", [(t, [b, 5, 8])])
        yield Case("cat", [(t, [a, 2, c], None), (t, [a, 3, c], None), (t, [a, 1, c], None)], "axis=1", [(t, [a, 6, c])])
        n = int(rng.integers(12, 15))  # nearly as many as a shader has: with 16 tensors the scenario runner crashes at its end
        yield Case("cat", [(t, [a, 1, c], None)] * n, "axis=1", [(t, [a, n, c])])
        yield Case("stack", [(t, [a, c], None), (t, [a, c], None)], "axis=1", [(t, [a, 2, c])])
        yield Case("slice_scatter", [(t, [a, 7], None), (t, [a, 3], None)], "axis=1 start=1 end=6 step=2", [(t, [a, 7])])
        yield Case("select_scatter", [(t, [a, 4, c], None), (t, [a, c], None)], "axis=1 index=2", [(t, [a, 4, c])])


def indexing(rng):
    for t, i in itertools.product(("i64", "f32", "i8"), ("i64", "i32")):
        a, b, c = (int(v) for v in rng.integers(2, 6, 3))
        x = (t, [a, b, c], None)
        yield Case("index_select", [x, (i, [4], (0, b))], "axis=1", [(t, [a, 4, c])])
        yield Case("embedding", [(t, [9, c], None), (i, [a, b], (0, 9))], "", [(t, [a, b, c])])
        yield Case("gather", [x, (i, [a, 3, c], (0, b))], "axis=1", [(t, [a, 3, c])])
        yield Case("index", [x, (i, [3, 1], (-a, a)), (i, [2], (-b, b))], "", [(t, [3, 2, c])])
        yield Case("index_put", [(t, [a, c], None), (t, [3, c], None), (i, [3], (-a, a))], "accumulate=false", [(t, [a, c])])
        yield Case("index_copy", [x, (i, [2], lambda r, n: r.permutation(2)), (t, [a, 2, c], None)], "axis=1", [(t, [a, b, c])])
        yield Case("index_add", [x, (i, [3], (0, b)), (t, [a, 3, c], None)], "axis=1 alpha=1", [(t, [a, b, c])])
        yield Case("scatter", [x, (i, [a, 1, c], (0, b)), (t, [a, 1, c], None)], "axis=1 combine=set include_self=true", [(t, [a, b, c])])
        yield Case("scatter", [x, (i, [a, 3, c], (0, b)), (t, [a, 3, c], (-9, 9))], "axis=1 combine=add include_self=true", [(t, [a, b, c])])
    yield Case("bucketize", [("f32", [3, 5], None), ("f32", [4], lambda r, n: np.sort(r.standard_normal(n)))], "right=true", [("i64", [3, 5])])


def reducing(rng):
    for t in ("i64", "i32", "f32", "i8"):
        a, b, c = (int(v) for v in rng.integers(2, 7, 3))
        x, wide = (t, [a, b, c], (-3, 4)), t if t[0] == "f" else "i64"
        slack = LOOSE if t[0] == "f" else EXACT
        yield Case("sum", [x], "axes=[0,2] keepdim=false", [(wide, [b])], slack)
        yield Case("prod", [x], "axes=[1] keepdim=true", [(wide, [a, 1, c])], slack)
        yield Case("amax", [x], "axes=[1,2] keepdim=false", [(t, [a])])
        yield Case("amin", [x], "axes=[0] keepdim=true", [(t, [1, b, c])])
        yield Case("any", [x], "axes=[2] keepdim=false", [("bool", [a, b])])
        yield Case("all", [x], "axes=[2] keepdim=false", [("bool", [a, b])])
        yield Case("argmax", [x], "axis=1 keepdim=false", [("i64", [a, c])])
        yield Case("argmin", [x], "axis=2 keepdim=true", [("i64", [a, b, 1])])
        yield Case("max_dim", [x], "axis=1 keepdim=false", [(t, [a, c]), ("i64", [a, c])])
        yield Case("cumsum", [x], "axis=1", [(wide, [a, b, c])], slack)
        yield Case("cumprod", [x], "axis=2", [(wide, [a, b, c])], slack)
        yield Case("sort", [x], "axis=1 descending=false", [(t, [a, b, c]), ("i64", [a, b, c])])
        yield Case("sort", [x], "axis=2 descending=true", [(t, [a, b, c]), ("i64", [a, b, c])])
        yield Case("topk", [x], "k=2 axis=1 largest=true", [(t, [a, 2, c]), ("i64", [a, 2, c])])


def wild(low, high):
    """Between them, but now and then far beyond, infinite or no number."""
    def draw(rng, shape):
        a = rng.uniform(low, high, shape)
        return np.where(rng.random(shape) < 0.1, rng.choice([1e4, -1e9, np.inf, -np.inf, np.nan], shape), a)
    return draw


def resampling(rng):
    for mode, pad, align in itertools.product(("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"), ("true", "false")):
        n, c, h, w, p, q = (int(v) for v in rng.integers(1, 6, 6))
        yield Case("grid_sample", [("f32", [n, c, h + 1, w + 1], None), ("f32", [n, p, q, 2], wild(-1.6, 1.6))], f"mode={mode} pad={pad} align_corners={align}",
                   [("f32", [n, c, p, q])])
    for mode, pad in itertools.product(("bilinear", "nearest"), ("zeros", "border")):
        yield Case("grid_sample", [("f32", [1, 2, 3, 4, 5], None), ("f32", [1, 2, 3, 4, 3], wild(-1.2, 1.2))], f"mode={mode} pad={pad} align_corners=false",
                   [("f32", [1, 2, 2, 3, 4])])
    for op, align in itertools.product(("upsample_nearest", "upsample_nearest_exact", "upsample_linear", "upsample_cubic"), ("true", "false")):
        if align == "true" and "nearest" in op:
            continue
        for t in ("f32", "i8") if "nearest" in op else ("f32",):
            c, h, w, p, q = (int(v) for v in rng.integers(2, 9, 5))
            yield Case(op, [(t, [1, c, h, w], None)], f"size={dims([p, q])} scale=[] align_corners={align}", [(t, [1, c, p, q])])
            if op != "upsample_cubic":
                yield Case(op, [(t, [1, c, w], None)], f"size={dims([q])} scale=[] align_corners={align}", [(t, [1, c, q])])


def sampling(rng):
    for mode, pad, align in itertools.product(("bilinear", "nearest"), ("zeros", "border", "reflection"), ("true", "false")):
        c, h, w, p, q = (int(v) for v in rng.integers(1, 7, 5))
        if pad != "reflection" or align == "false":
            yield Case("grid_sample", [("f32", [1, c, h + 1, w + 1], None), ("f32", [1, p, q, 2], (-1.6, 1.6))],
                       f"mode={mode} pad={pad} align_corners={align}", [("f32", [1, c, p, q])], SAMPLED, True)
    for align in ("true", "false"):
        c, h, w, p, q = (int(v) for v in rng.integers(2, 9, 5))
        yield Case("upsample_linear", [("f32", [1, c, h, w], None)], f"size={dims([p, q])} scale=[] align_corners={align}", [("f32", [1, c, p, q])], SAMPLED, True)


def compile_case(case, folder):
    """The .vgf, and whether it has compute segments only."""
    model, file = os.path.join(folder, "model.ir"), os.path.join(folder, "model.vgf")
    open(model, "w").write(case.text())
    how = ["--shaders", "samplers"] if case.sampled else ["--cpu", case.op]
    done = subprocess.run([A.tosac, "compile", model, "-t", "vgf", *how, "-o", file], capture_output=True, text=True)
    if done.returncode or "no shader" in done.stderr:
        raise vgf.Refused("tosac compile: " + done.stderr.strip()[-300:])
    if any(s["type"] != "COMPUTE" for s in vgf.dump(file)["model_sequence"]["segments"]):
        raise vgf.Refused("a segment is not a shader")
    if case.sampled and not any(r["vk_descriptor_type"] == "VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER" for r in vgf.dump(file)["resources"]):
        raise vgf.Refused("nothing is sampled")
    return model, file


def difference(ours, theirs, slack):
    if ours.tobytes() == theirs.tobytes():
        return ""
    a, b = (v.astype(np.float64).reshape(-1) for v in (ours, theirs))
    if a.shape != b.shape:
        return f"{theirs.shape}, ours {ours.shape}"
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    finite = a[np.isfinite(a)]
    if slack:
        same |= np.abs(a - b) <= slack * max(1e-3, np.abs(finite).max() if finite.size else 0)
    return "" if same.all() else f"{np.count_nonzero(~same)} of {a.size} differ: {b[~same][:3]}, ours {a[~same][:3]}"


def execute(model, file, arrays, folder, environment, slack):
    paths = []
    for i, array in enumerate(arrays):
        paths.append(os.path.join(folder, f"in_{i}.npy"))
        np.save(paths[-1], array)
    ours = os.path.join(folder, "ours")
    done = subprocess.run([A.tosac, "run", model, "-o", ours, "--raw", *sum((["-i", p] for p in paths), [])], capture_output=True, text=True)
    if done.returncode:
        raise vgf.Refused("tosac run: " + done.stderr.strip()[-300:])
    for i, path in enumerate(vgf.run(file, folder, paths, environment)):
        words = difference(np.load(os.path.join(ours, f"output_{i}.npy")), np.load(path), slack)
        if words:
            return f"output {i}: {words}"
    return ""


def operators(environment):
    rng, right, wrong = np.random.default_rng(A.seed), 0, 0
    cases = [c for family in (elementwise, movement, indexing, reducing, resampling, sampling) for c in family(rng)]
    for case in [c for c in cases if A.only in str(c)][::A.every]:
        with tempfile.TemporaryDirectory() as folder:
            try:
                model, file = compile_case(case, folder)
                words = execute(model, file, case.draw(rng), folder, environment, case.slack)
            except vgf.Refused as no:
                words = str(no)
        right, wrong = right + (not words), wrong + bool(words)
        if words:
            print(f"{case}: {words}", flush=True)
    return right, wrong


class Chain:
    """A random program: values of one type, joined, moved and now and then read twice."""

    def __init__(self, rng, t, steps):
        self.t, self.lines, self.shapes, self.ops = t, [], {}, set()
        self.n_in = int(rng.integers(1, 4))
        shape = [int(d) for d in rng.integers(2, 7, 2)]
        self.inputs = [shape if i == 0 or rng.random() < 0.6 else broadcast(rng, shape) for i in range(self.n_in)]
        for i, s in enumerate(self.inputs):
            self.shapes[i] = s
        loose = [0]
        for _ in range(steps):
            loose.append(self.step(rng, loose))
        self.out = loose[-1]

    def put(self, op, operands, attributes, shape):
        number = len(self.shapes)
        self.ops.add(op)
        self.lines.append(f"  %{number} = {op} {', '.join(f'%{v}' for v in operands)} {attributes} : {self.t}{dims(shape)}")
        self.shapes[number] = shape
        return number

    def step(self, rng, loose):
        v = loose[-1] if rng.random() < 0.85 else loose[int(rng.integers(0, len(loose)))]
        shape = self.shapes[v]
        kind = rng.random()
        others = [k for k, s in self.shapes.items() if list(np.broadcast_shapes(tuple(s), tuple(shape)) if self.fits(s, shape) else []) == shape]
        if kind < 0.3:
            op, attributes = [("abs", ""), ("neg", ""), ("relu", ""), ("clamp", "lo=-7 hi=50"), ("square", "")][int(rng.integers(0, 5))]
            return self.put(op, [v], attributes, shape)
        if kind < 0.65:
            op, attributes = [("add", "alpha=1"), ("sub", "alpha=3"), ("mul", ""), ("maximum", ""), ("minimum", "")][int(rng.integers(0, 5))]
            return self.put(op, [v, others[int(rng.integers(0, len(others)))]], attributes, shape)
        if kind < 0.75 and len(shape) == 2:
            return self.put("permute", [v], "perm=[1,0]", shape[::-1])
        if kind < 0.83 and len(shape) == 2 and shape[0] > 2:
            return self.put("slice", [v], f"axis=0 start=1 end={shape[0]} step=1", [shape[0] - 1, shape[1]])
        if kind < 0.9:
            return self.put("flip", [v], "axes=[0]", shape)
        if kind < 0.95 and len(shape) == 2:
            return self.put("reshape", [v], f"shape={dims([shape[0] * shape[1]])}", [shape[0] * shape[1]])
        return self.put("pad", [v], "pad=" + dims([1, 0] + [0, 0] * (len(shape) - 1)) + " mode=constant value=2", [shape[0] + 1] + shape[1:])

    @staticmethod
    def fits(s, shape):
        try:
            return list(np.broadcast_shapes(tuple(s), tuple(shape))) == list(shape)
        except ValueError:
            return False

    def __str__(self):
        return f"{self.t} " + " ".join(line.split("= ")[1].split()[0] for line in self.lines)

    def text(self):
        ports = ", ".join(f"%{i}: {self.t}{dims(s)}" for i, s in enumerate(self.inputs))
        return f"graph @main({ports}) {{\n" + "\n".join(self.lines) + f"\n  return %{self.out}\n}}\n"

    def draw(self, rng):
        real = self.t[0] == "f"
        return [(rng.standard_normal(s) * 2 if real else rng.integers(-9, 9, s)).astype(KIND[self.t]) for s in self.inputs]


def compile_chain(model, ops, file):
    """All of them outside of regions; what simplification leaves none of cannot be named."""
    while True:
        done = subprocess.run([A.tosac, "compile", model, "-t", "vgf", *sum((["--cpu", op] for op in sorted(ops)), []), "-o", file],
                              capture_output=True, text=True)
        gone = done.stderr.split("no node or operator '")[1:]
        if not gone:
            break
        ops = ops - {gone[0].split("'")[0]}
    if done.returncode or "no shader" in done.stderr:
        raise vgf.Refused("tosac compile: " + done.stderr.strip()[-300:])


def chains(environment):
    rng, right, wrong, steps, segments = np.random.default_rng(A.seed), 0, 0, 0, 0
    cases = [Chain(rng, t, int(rng.integers(2, 16))) for _ in range(12) for t in ("i8", "i16", "i32", "i64", "f16", "f32")]
    for case in [c for c in cases if A.only in str(c)][::A.every]:
        with tempfile.TemporaryDirectory() as folder:
            model, file = os.path.join(folder, "model.ir"), os.path.join(folder, "model.vgf")
            open(model, "w").write(case.text())
            try:
                compile_chain(model, case.ops, file)
                words = execute(model, file, case.draw(rng), folder, environment, EXACT)
                steps += len(case.lines)
                segments += len(vgf.dump(file)["model_sequence"]["segments"])
            except vgf.Refused as no:
                words = str(no)
        right, wrong = right + (not words), wrong + bool(words)
        if words:
            print(f"{case}: {words}", flush=True)
    print(f"{steps} operators in {segments} segments")
    return right, wrong


NETWORKS = {"transformer": (1, 1, 28, 28), "flow": (1, 3, 24, 32), "unet": (1, 3, 24, 32)}
# What a float network may differ by, relative to its largest number: the layer's convolutions sum in another order than ours.
NEAR = 1e-5


def network(name, words, environment):
    """One file of a network, its segments, and the largest difference to `tosac run` of the model, relative to the largest number; of a
    quantized one, to `tosac run` of the file."""
    model, quantized = os.path.join(FIXTURES, name + ".pt2"), "--calib" in words
    rng = np.random.default_rng(A.seed)
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, name + ".vgf")
        done = subprocess.run([A.tosac, "compile", model, *words, "-o", file], capture_output=True, text=True)
        if done.returncode:
            raise vgf.Refused("tosac compile: " + done.stderr.strip()[-300:])
        ports = json.loads(subprocess.run([A.tosac, "inspect", model, "--json"], capture_output=True, text=True).stdout)["inputs"]
        arrays = [rng.random(NETWORKS[name]).astype(np.float32) for _ in ports]
        paths = []
        for i, array in enumerate(arrays):
            paths.append(os.path.join(folder, f"in_{i}.npy"))
            np.save(paths[-1], array)
        ours, again = os.path.join(folder, "ours"), os.path.join(folder, "again")
        for program, out in ((file if quantized else model, ours), (file, again)):
            done = subprocess.run([A.tosac, "run", program, "-o", out, "--raw", *sum((["-i", p] for p in paths), [])], capture_output=True, text=True)
            if done.returncode:
                raise vgf.Refused("tosac run: " + done.stderr.strip()[-300:])
        kinds = [s["type"] for s in vgf.dump(file)["model_sequence"]["segments"]]
        far = {"the layer": 0.0, "tosac run of the file": 0.0}
        profile = os.path.join(folder, "times") if A.times else None
        if profile:
            os.mkdir(profile)
        results = vgf.run(file, folder, paths, environment, profile)
        for operator, (total, count) in sorted(vgf.times(profile).items(), key=lambda t: -t[1][0]) if profile else ():
            print(f"  {operator:20} {count:4} times {total:10.3f} ms")
        for i, path in enumerate(results):
            want = np.load(os.path.join(ours, f"output_{i}.npy"))
            for who, got in (("the layer", np.load(path)), ("tosac run of the file", np.load(os.path.join(again, f"output_{i}.npy")))):
                gap = np.abs(want.astype(np.float64) - got.astype(np.float64)).max()
                far[who] = max(far[who], gap / np.abs(want.astype(np.float64)).max() if want.dtype.kind == "f" else float(gap > 0))
        return kinds, far


def networks(environment):
    right = wrong = 0
    for name in NETWORKS:
        for words, near in ((["-t", "vgf", "--shaders", "resample"], NEAR), (["-t", "vgf", "--shaders", "samplers"], NEAR), (["-t", "vgf"], NEAR),
                            (["-t", "vgf:TOSA-1.0+INT", "--calib", "random:1", "--shaders", "resample"], EXACT)):
            if A.only not in name:
                continue
            try:
                kinds, far = network(name, words, environment)
            except vgf.Refused as no:
                kinds, far = [], {str(no): 1.0}
            ok = max(far.values()) <= near
            right, wrong = right + ok, wrong + (not ok)
            print(f"{name} {' '.join(words)}: {kinds.count('GRAPH')} graph and {kinds.count('COMPUTE')} compute segments; largest difference: "
                  + ", ".join(f"{who} {gap:.2g}" for who, gap in far.items()), flush=True)
    return right, wrong


def main():
    missing = vgf.missing()
    if missing:
        print(f"{missing} is missing\n0 passed, 0 failed, 1 skipped")
        return 0
    folder, environment = vgf.vulkan()
    right, wrong = {"operators": operators, "chains": chains, "networks": networks}[A.what](environment)
    shutil.rmtree(folder)
    print(f"{right} passed, {wrong} failed")
    return bool(wrong)


sys.exit(main())
