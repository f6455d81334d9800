#!/usr/bin/env python3
"""Quantized TensorFlow Lite operators on Ethos-U, one a file: integers beside the runtimes', cycles beside Vela's.

    tflite_ops.py TOSAC FOLDER [--on MACHINE,...] [--only WORD,...] [--with "further words for compile"] [--list] [--prices]

FOLDER keeps the files, the runtimes' answers and Vela's streams, so that only tosac runs again.  Cycles of both streams are the timing model's.  --prices: nothing is run.  An operator is equal where every integer is TensorFlow
Lite Micro's or one of LiteRT's two sets of kernels', which the line says where Micro has other ones.  Verdicts: equal, expensive (above 1.02 of Vela's cycles where Vela
leaves nothing to the CPU and its program, executed, is right), wrong, refused, foreign (refused, but no runtime takes it either); exit 1 where one is wrong or refused.  Needs ai-edge-litert, tflite-micro, flatbuffers, ethos-u-vela.
"""
import argparse
import collections
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import npu_vela
import numpy as np
from tflite_suite import B, T, TYPES, opt, write

RNG = np.random.default_rng(29)
SAMPLES, EXPENSIVE = 3, 1.02


class Kind:
    """int8, uint8 or int16 codes: tensors whose scales and zeros are said once for all."""

    def __init__(self, kind):
        self.kind, self.wide = kind, kind == "i16"

    def t(self, shape, scale, zero=0, data=None):
        up = 128 if self.kind == "u8" else 0
        return T(self.kind, shape, data, scale / (256 if self.wide else 1), 0 if self.wide else zero + up)

    def weights(self, shape, axis):
        if self.kind == "u8":
            return T("u8", shape, RNG.integers(0, 256, shape), .01, 120), np.float32(.01)
        s = RNG.uniform(.002, .01, shape[axis]).astype(np.float32)
        return T("i8", shape, RNG.integers(-127, 128, shape), s, 0, axis), s

    def bias(self, n, x, s):
        return T("i64" if self.wide else "i32", [n], RNG.integers(-2000, 2000, n), np.float32(x.scale) * s, 0)


def ints(*v):
    return T("i32", [len(v)], v)


def pairs(*v):
    return T("i32", [len(v) // 2, 2], np.reshape(v, (-1, 2)))


def windows(k):
    def conv(name, size, stride, high, pad, ic=8, oc=16, dilation=1, deep=0, fused=0):
        reach = (size - 1) * dilation + 1
        out = -(-high // stride) if pad == 0 else (high - reach) // stride + 1
        x = k.t([1, high, high, ic], .05, 3)
        w, s = k.weights([1, size, size, ic * deep] if deep else [oc, size, size, ic], 3 if deep else 0)
        n = ic * deep or oc
        fields = dict(padding=pad, strideW=stride, strideH=stride, dilationWFactor=dilation, dilationHFactor=dilation, fusedActivationFunction=fused)
        return (name, B.DEPTHWISE_CONV_2D if deep else B.CONV_2D, [x, w, k.bias(n, x, s)], [k.t([1, out, out, n], .1, -4)],
                opt("DepthwiseConv2DOptions", depthMultiplier=deep, **fields) if deep else opt("Conv2DOptions", **fields), 3)

    yield conv("conv3s1", 3, 1, 8, 0)
    yield conv("conv3s2_relu6", 3, 2, 17, 0, fused=3)
    yield conv("conv1s2", 1, 2, 16, 0)
    yield conv("conv3s4", 3, 4, 17, 0)
    yield conv("conv5s5", 5, 5, 25, 1)
    yield conv("conv3d2", 3, 1, 16, 0, dilation=2)
    yield conv("conv3d4", 3, 1, 16, 0, dilation=4)
    yield conv("depthwise3s1", 3, 1, 8, 0, deep=1)
    yield conv("depthwise3s2", 3, 2, 17, 0, deep=1)
    yield conv("depthwise3m2", 3, 1, 8, 0, deep=2)
    yield conv("depthwise3d2", 3, 1, 16, 0, deep=1, dilation=2)
    yield conv("depthwise3s4", 3, 4, 17, 0, deep=1)

    def up(name, size, stride, high, pad):
        out = high * stride if pad == 0 else (high - 1) * stride + size
        x = k.t([1, high, high, 8], .05, 3)
        w, s = k.weights([16, size, size, 8], 0)
        return name, B.TRANSPOSE_CONV, [ints(1, out, out, 16), w, x, k.bias(16, x, s)], [k.t([1, out, out, 16], .1, -4)], opt("TransposeConvOptions", padding=pad, strideW=stride, strideH=stride), 3

    yield up("tconv3s1", 3, 1, 8, 0)
    yield up("tconv3s2", 3, 2, 8, 0)
    yield up("tconv4s2v", 4, 2, 8, 1)
    yield up("tconv3s3", 3, 3, 8, 0)
    for name, rows, n, oc in (("fc", 1, 32, 10), ("fc_rows", 4, 64, 24)):
        x = k.t([rows, n], .05, 3)
        w = k.t([oc, n], .01, 0, RNG.integers(-127, 128, [oc, n])) if k.kind != "u8" else T("u8", [oc, n], RNG.integers(0, 256, [oc, n]), .01, 120)
        if k.wide:
            w = T("i8", [oc, n], w.data, .01, 0)
        yield name, B.FULLY_CONNECTED, [x, w, k.bias(oc, x, np.float32(.01))], [k.t([rows, oc], .1, -4)], opt("FullyConnectedOptions"), 4
    yield "bmm", B.BATCH_MATMUL, [k.t([1, 4, 8, 16], .05, 3), k.t([1, 4, 16, 8], .07, -3)], [k.t([1, 4, 8, 8], .2, -4)], opt("BatchMatMulOptions"), 3


def pools(k):
    for code, word, sizes in ((B.AVERAGE_POOL_2D, "avg", ((2, 2, 8, 1), (3, 1, 8, 0), (3, 2, 9, 0), (2, 1, 7, 0), (4, 4, 8, 1), (8, 8, 16, 1), (7, 7, 7, 1), (16, 16, 16, 1), (5, 5, 25, 1), (8, 1, 16, 0),
                                                          (25, 25, 25, 1), (4, 5, 23, 0))),
                              (B.MAX_POOL_2D, "max", ((3, 2, 9, 0), (8, 8, 16, 1), (4, 4, 8, 1), (2, 1, 7, 0), (4, 5, 23, 0)))):
        for size, stride, high, pad in sizes:
            out = -(-high // stride) if pad == 0 else (high - size) // stride + 1
            yield (f"{word}{size}s{stride}{'' if pad else 'same'}", code, [k.t([1, high, high, 16], .05, 3)], [k.t([1, out, out, 16], .05, 3)],
                   opt("Pool2DOptions", padding=pad, strideW=stride, strideH=stride, filterWidth=size, filterHeight=size), 3)


def resizes(k):
    for code, word in ((B.RESIZE_BILINEAR, "Bilinear"), (B.RESIZE_NEAREST_NEIGHBOR, "NearestNeighbor")):
        for tail, corners, half in (("", False, False), ("_corners", True, False), ("_half", False, True)):
            for by, high in ((2, 8), (4, 4), (8, 4)):
                out = (high - 1) * by + 1 if corners else high * by
                yield (f"{word.lower()}{by}x{tail}", code, [k.t([1, high, high, 8], .05, 3), ints(out, out)], [k.t([1, out, out, 8], .05, 3)],
                       opt(f"Resize{word}Options", alignCorners=corners, halfPixelCenters=half), 3)
        for tail, high, out, corners in (("_from1", 1, 8, True), ("_same", 8, 8, True), ("_odd", 8, 13, False), ("_down", 12, 6, False), ("_x16", 9, 129, True)):
            yield (f"{word.lower()}{tail}", code, [k.t([1, high, high, 8], .05, 3), ints(out, out)], [k.t([1, out, out, 8], .05, 3)],
                   opt(f"Resize{word}Options", alignCorners=corners, halfPixelCenters=False), 3)


def curves(k):
    flat = [1, 8, 8, 16]
    one = lambda name, code, options=None, so=.05, zo=-5, si=.05, zi=3, version=1: (name, code, [k.t(flat, si, zi)], [k.t(flat, so, zo)], options, version)
    yield one("leaky", B.LEAKY_RELU, opt("LeakyReluOptions", alpha=.1), version=2)
    yield one("leaky_same", B.LEAKY_RELU, opt("LeakyReluOptions", alpha=.3), zo=3, version=2)
    yield one("leaky_unlike", B.LEAKY_RELU, opt("LeakyReluOptions", alpha=.1), so=.04, version=2)
    yield one("hard_swish", B.HARD_SWISH)
    yield one("exp", B.EXP, so=.5)
    yield one("log", B.LOG, zi=-128)
    yield one("rsqrt", B.RSQRT, zi=-128)
    yield one("sqrt", B.SQRT, zi=-128)
    yield one("abs", B.ABS)
    yield one("abs_same", B.ABS, zo=3)
    yield one("neg", B.NEG, zo=3)
    yield one("elu", B.ELU)
    yield one("gelu", B.GELU, opt("GeluOptions"))
    for word in ("RELU", "RELU6", "RELU_N1_TO_1"):
        yield one(word.lower(), getattr(B, word))
        yield one(word.lower() + "_same", getattr(B, word), zo=3)
    yield one("quantize", B.QUANTIZE, so=.08)
    for word, unit, zero in (("TANH", 1 / 128, 0), ("LOGISTIC", 1 / 256, -128)):
        name = word.lower()
        if not k.wide:
            yield one(name, getattr(B, word), so=unit, zo=zero)
            continue
        for tail, scale in (("", .0002), ("_coarse", .0007), ("_pow10", 2.0 ** -10), ("_pow12", 2.0 ** -12), ("_pow15", 2.0 ** -15)):
            yield name + tail, getattr(B, word), [T("i16", flat, None, scale)], [T("i16", flat, None, 2.0 ** -15)], None, 3
    if k.kind == "i8":
        yield "softmax_to_i16", B.SOFTMAX, [k.t([1, 12], .15, 3)], [T("i16", [1, 12], None, 2.0 ** -16, -32768)], opt("SoftmaxOptions", beta=1.0), 2
    for name, shape in (("softmax", [1, 12]), ("softmax_rows", [1, 6, 6, 21])):
        yield name, B.SOFTMAX, [k.t(shape, .15 if not k.wide else .25, 3)], [k.t(shape, 1 / 256 if not k.wide else 1 / 128, -128)], opt("SoftmaxOptions", beta=1.0), 2
    if not k.wide:
        yield "log_softmax", B.LOG_SOFTMAX, [k.t([1, 12], .15, 3)], [k.t([1, 12], 16 / 256, 127)], None, 2


def pairwise(k):
    flat = [1, 8, 8, 16]

    def two(name, code, options=None, shape=flat, sa=.05, sb=.07, so=.1, za=3, zb=-4, zo=5):
        return name, code, [k.t(flat, sa, za), k.t(shape, sb, zb)], [k.t(flat, so, zo)], options, 2

    for code, word in ((B.ADD, "Add"), (B.SUB, "Sub"), (B.MUL, "Mul")):
        yield two(word.lower(), code, opt(word + "Options"))
        yield two(word.lower() + "_channel", code, opt(word + "Options"), [1, 1, 1, 16])
        yield two(word.lower() + "_same", code, opt(word + "Options"), sb=.05, so=.05, zb=3, zo=3)
        yield two(word.lower() + "_relu", code, opt(word + "Options", fusedActivationFunction=1))
    yield two("add_far", B.ADD, opt("AddOptions"), sa=.001, sb=.9, so=.8)
    yield two("squared_difference", B.SQUARED_DIFFERENCE, so=.3)
    yield two("minimum", B.MINIMUM, sb=.05, so=.05, zb=3, zo=3)
    yield two("maximum", B.MAXIMUM, sb=.05, so=.05, zb=3, zo=3)
    slope = Kind("i8" if k.wide else k.kind).t([1, 1, 16], .01, -4)
    slope.data = RNG.integers(*{"u8": (0, 256)}.get(slope.kind, (-128, 128)), slope.shape)
    yield "prelu", B.PRELU, [k.t(flat, .05, 3), slope], [k.t(flat, .04, 5)], None, 1


def reductions(k):
    for name, shape, axes, keep, so, zo in (("mean_hw", [1, 7, 7, 16], (1, 2), True, .05, 3), ("mean_hw_unlike", [1, 7, 7, 16], (1, 2), False, .03, -7), ("mean_8x8", [1, 8, 8, 32], (1, 2), False, .05, 3),
                                            ("mean_40x40", [1, 40, 40, 8], (1, 2), False, .03, 3), ("mean_13x80", [1, 13, 80, 8], (1, 2), False, .03, 3), ("mean_c", [1, 8, 8, 16], (3,), True, .05, 3),
                                            ("mean_w", [1, 8, 8, 16], (2,), True, .05, 3), ("mean_h", [1, 8, 8, 16], (1,), False, .03, 3), ("mean_hwc", [1, 8, 8, 16], (1, 2, 3), True, .03, 3),
                                            ("mean_rows", [1, 12, 40], (1,), False, .03, 3)):
        out = [1 if i in axes else n for i, n in enumerate(shape) if keep or i not in axes]
        yield name, B.MEAN, [k.t(shape, .05, 3), ints(*axes)], [k.t(out, so, zo)], opt("ReducerOptions", keepDims=keep), 2
    yield "reduce_max", B.REDUCE_MAX, [k.t([1, 8, 8, 16], .05, 3), ints(1, 2)], [k.t([1, 1, 1, 16], .05, 3)], opt("ReducerOptions", keepDims=True), 2
    yield "argmax", B.ARG_MAX, [k.t([1, 8, 8, 16], .05, 3), ints(3)], [T("i32", [1, 8, 8])], opt("ArgMaxOptions", outputType=TYPES["i32"][0]), 1


def moves(k):
    x = lambda *d: k.t(list(d), .05, 3)
    yield "strided_slice", B.STRIDED_SLICE, [x(1, 8, 8, 16), ints(0, 1, 0, 0), ints(1, 7, 8, 16), ints(1, 2, 2, 1)], [x(1, 3, 4, 16)], opt("StridedSliceOptions"), 2
    yield "slice", B.SLICE, [x(1, 8, 8, 16), ints(0, 1, 2, 4), ints(1, 4, 4, 8)], [x(1, 4, 4, 8)], None, 2
    yield "pad", B.PAD, [x(1, 8, 8, 16), pairs(0, 0, 1, 2, 2, 2, 0, 0)], [x(1, 11, 12, 16)], None, 2
    yield "mirror_pad", B.MIRROR_PAD, [x(1, 8, 8, 16), pairs(0, 0, 1, 2, 2, 2, 0, 0)], [x(1, 11, 12, 16)], opt("MirrorPadOptions", mode=0), 2
    yield "transpose", B.TRANSPOSE, [x(1, 8, 6, 16), ints(0, 2, 1, 3)], [x(1, 6, 8, 16)], None, 2
    yield "transpose_c", B.TRANSPOSE, [x(1, 8, 6, 16), ints(0, 3, 1, 2)], [x(1, 16, 8, 6)], None, 2
    yield "reshape", B.RESHAPE, [x(1, 8, 8, 16), ints(1, 64, 16)], [x(1, 64, 16)], opt("ReshapeOptions", newShape=[1, 64, 16]), 1
    yield "tile", B.TILE, [x(1, 4, 4, 16), ints(1, 2, 1, 1)], [x(1, 8, 4, 16)], None, 2
    yield "reverse", B.REVERSE_V2, [x(1, 8, 8, 16), ints(1)], [x(1, 8, 8, 16)], None, 2
    yield "space_to_depth", B.SPACE_TO_DEPTH, [x(1, 8, 8, 4)], [x(1, 4, 4, 16)], opt("SpaceToDepthOptions", blockSize=2), 2
    yield "depth_to_space", B.DEPTH_TO_SPACE, [x(1, 4, 4, 16)], [x(1, 8, 8, 4)], opt("DepthToSpaceOptions", blockSize=2), 1
    yield "split", B.SPLIT, [T("i32", [], 3), x(1, 8, 8, 16)], [x(1, 8, 8, 8), x(1, 8, 8, 8)], opt("SplitOptions", numSplits=2), 2
    yield "pack", B.PACK, [x(1, 8, 16), x(1, 8, 16)], [x(1, 2, 8, 16)], opt("PackOptions", valuesCount=2, axis=1), 2
    yield "unpack", B.UNPACK, [x(1, 2, 8, 16)], [x(1, 8, 16), x(1, 8, 16)], opt("UnpackOptions", num=2, axis=1), 2
    yield "concat", B.CONCATENATION, [x(1, 8, 8, 16), x(1, 8, 8, 16)], [x(1, 8, 8, 32)], opt("ConcatenationOptions", axis=3), 2
    yield "concat_unlike", B.CONCATENATION, [x(1, 8, 8, 16), k.t([1, 8, 8, 16], .03, -9)], [x(1, 8, 8, 32)], opt("ConcatenationOptions", axis=3), 2


def memory(k):
    """int8: SVDF with time weights of 16 and of 8 bits; LSTM with a cell of 16 bits.  int16: LSTM with activations of 16 bits."""
    c8 = lambda *d: T("i8", d, RNG.integers(-127, 128, d), .008)
    if k.kind == "i8":
        for name, kind, zero in (("svdf_i16", "i16", 0), ("svdf_i8", "i8", 0), ("svdf_zero", "i8", -7)):
            time = T("i16", [8, 6], RNG.integers(-20000, 20001, [8, 6]), .4 / 32768) if kind == "i16" else c8(8, 6)
            step = 1 / 4000 if kind == "i16" else .03
            yield (name, B.SVDF, [T("i8", [1, 8], None, .03, 5), c8(8, 8), time, T("i32", [4], RNG.integers(-4000, 4000, 4), step * time.scale),
                                           T(kind, [1, 48], None, step, zero, variable=True)],
                   [T("i8", [1, 4], None, .04, 7)], opt("SVDFOptions", rank=2, fusedActivationFunction=1), 3)
    if k.kind != "u8":
        zero, wide = (0, "i64") if k.wide else (-7, "i32")
        x, h = k.t([1, 3, 6], .02, 9), k.t([1, 8], .01, zero)
        h.variable = True
        a = [c8(8, 6) for _ in range(4)] + [c8(8, 8) for _ in range(4)] + [None] * 3 + [T("i32", [8], RNG.integers(-4000, 4000, 8), 1e-4) for _ in range(4)] + [None] * 2
        a += [h, T("i16", [1, 8], None, 2.0 ** -11, variable=True)] + [None] * 4
        inside = [T("i16", [0], None, 2.0 ** -12) for _ in range(4)] + [k.t([0], .01, zero)]
        yield ("lstm", B.UNIDIRECTIONAL_SEQUENCE_LSTM, [x] + a, [k.t([1, 3, 8], .01, zero)], opt("UnidirectionalSequenceLSTMOptions", fusedActivationFunction=4), 3, inside)


def cases():
    for kind in ("i8", "u8", "i16"):
        for part in (windows, pools, resizes, curves, pairwise, reductions, moves, memory):
            for name, *rest in part(Kind(kind)):
                yield f"{name}_{kind}", rest


# ---- answers ----

CHILD = """
import sys, numpy as np
road, model, out, n = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
from ai_edge_litert.interpreter import Interpreter, OpResolverType
kernels = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES if road == "optimized" else OpResolverType.BUILTIN_REF
it = Interpreter(model_path=model, experimental_op_resolver_type=kernels, num_threads=1)
it.allocate_tensors()
ports = it.get_input_details()
if road == "micro":
    from tflite_micro.python.tflite_micro import runtime
rng, kept = np.random.default_rng(5), {}
for k in range(n):
    given = [rng.integers(np.iinfo(p["dtype"]).min, np.iinfo(p["dtype"]).max + 1, p["shape"]).astype(p["dtype"]) for p in ports]
    if road == "micro":
        small = runtime.Interpreter.from_file(model)
        for i, x in enumerate(given): small.set_input(x, i)
        small.invoke()
        found = [small.get_output(i) for i in range(len(it.get_output_details()))]
    else:
        for p, x in zip(ports, given): it.set_tensor(p["index"], x)
        it.reset_all_variables(); it.invoke()
        found = [np.array(it.get_tensor(p["index"])) for p in it.get_output_details()]
    kept.update({f"in{k}_{i}": x for i, x in enumerate(given)}); kept.update({f"out{k}_{i}": x for i, x in enumerate(found)})
np.savez(out, **kept)
"""


def answers(model):
    """The runtimes' answers by name, from a process of its own each: what a runtime dies of is its own affair."""
    found = {}
    for road in ("micro", "reference", "optimized"):
        kept = f"{model[:-7]}.{road}.npz"
        if not os.path.exists(kept) and not os.path.exists(kept + ".none"):
            part = f"{kept}.{os.getpid()}.npz"
            done = subprocess.run([sys.executable, "-c", CHILD, road, model, part, str(SAMPLES)], capture_output=True)
            if done.returncode:
                open(kept + ".none", "w").close()
            else:
                os.replace(part, kept)
        if os.path.exists(kept):
            found[road] = np.load(kept)
    return found


def vela(model, machine):
    """Vela's stream of the file; None where it makes none, or leaves operators to the CPU."""
    kept = f"{model[:-7]}.{machine}.vela"
    if not os.path.exists(kept):
        with tempfile.TemporaryDirectory() as t:
            made = npu_vela.compile(model, machine, t, "tflite")
            cpu = re.search(r"CPU operators = (\d+)", open(os.path.join(t, "said")).read())
            stream = open(made, "rb").read() if made and not (cpu and int(cpu[1])) else b""
        with open(kept, "wb") as f:
            f.write(stream)
    return kept if os.path.getsize(kept) else None


def priced(a, program, machine):
    """Cycles of a stream by the timing model, and how many operators are left to the CPU."""
    system = ",".join(npu_vela.SYSTEM[machine.split("-")[1]])
    with tempfile.TemporaryDirectory() as t:
        shutil.copy(program, os.path.join(t, "m" + (".tflite" if program.endswith(".vela") else ".pte")))
        done = subprocess.run([a.tosac, "profile", *glob.glob(t + "/m*"), "--system", system, "--json"], capture_output=True, text=True)
    return json.loads(done.stdout).get("cycles") if done.returncode == 0 else None


def runs(a, program, wanted, folder):
    """Of every set of answers how many integers the program has otherwise; a message where it does not run."""
    first, off = next(iter(wanted.values())), collections.Counter({j: 0 for j in wanted})
    for k in range(SAMPLES):
        given = []
        for i in range(sum(x.startswith(f"in{k}_") for x in first.files)):
            given += ["-i", os.path.join(folder, f"i{i}.npy")]
            np.save(given[-1], first[f"in{k}_{i}"])
        ran = subprocess.run([a.tosac, "run", program, *given, "-o", folder], capture_output=True, text=True)
        if ran.returncode:
            return "run: " + ran.stderr[-200:]
        for i in range(sum(x.startswith(f"out{k}_") for x in first.files)):
            got = np.load(os.path.join(folder, f"output_{i}.npy")).reshape(-1)
            for j, w in wanted.items():
                want = w[f"out{k}_{i}"].reshape(-1)
                off[j] += int((got != want).sum()) if got.size == want.size else max(got.size, want.size)
    return off


def vela_is_off(stream, wanted, a):
    """In how many integers Vela's own program differs from all answers."""
    with tempfile.TemporaryDirectory() as t:
        made = os.path.join(t, "m_vela.tflite")
        shutil.copy(stream, made)
        off = runs(a, made, wanted, t) if wanted else {}
        return min(off.values()) if isinstance(off, collections.Counter) else 0


def try_one(model, machine, wanted, a):
    with tempfile.TemporaryDirectory() as t:
        out = os.path.join(t, "m.pte")
        done = subprocess.run([a.tosac, "compile", model, "-t", machine, "-o", out, *a.more.split()], capture_output=True, text=True)
        said = done.stdout + done.stderr
        if done.returncode:
            if not wanted:
                return "foreign", "refused, and no runtime takes it"
            return "refused", next((x for x in said.splitlines() if "error" in x), said[-200:]).split("error: ")[-1]
        left = re.search(r"(\d+) on the CPU", said)
        off = runs(a, out, wanted, t) if wanted else {}
        if isinstance(off, str) or (wanted and min(off.values())):
            return "wrong", off if isinstance(off, str) else f"{min(off.values())} integers differ"
        own, theirs = priced(a, out, machine) or 0, vela(model, machine)
        words = f"{own:.0f} cycles" + (f", {left.group(1)} on the CPU" if left and left.group(1) != "0" else "") + ("" if wanted or a.prices else ", no runtime takes it") + (", as LiteRT, not as Micro" if off.get("micro") else "")
        other = theirs and priced(a, theirs, machine)
        if other:
            words += f"; Vela {other:.0f}: {own / other:.2f}"
            if own > EXPENSIVE * other:
                wrong = vela_is_off(theirs, wanted, a)
                return ("equal", words + f", but Vela's differs in {wrong} integers") if wrong else ("expensive", words)
        return "equal", words


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("tosac"), ap.add_argument("folder"), ap.add_argument("--on", default="ethos-u55-128,ethos-u55-256,ethos-u65-256,ethos-u85-256")
    ap.add_argument("--only", default=""), ap.add_argument("--with", dest="more", default=""), ap.add_argument("--list", action="store_true", help="say the equal ones too")
    ap.add_argument("--prices", action="store_true")
    a = ap.parse_args()
    os.makedirs(a.folder, exist_ok=True)
    total = collections.defaultdict(collections.Counter)
    for name, (code, inputs, outputs, options, version, *inside) in cases():
        if a.only and not any(re.search(w, name) for w in a.only.split(",")):
            continue
        model = os.path.join(a.folder, name + ".tflite")
        if not os.path.exists(model):
            write(model, code, inputs, outputs, options, version, inside=inside[0] if inside else ())
        wanted = {} if a.prices else answers(model)
        for machine in a.on.split(","):
            verdict, words = try_one(model, machine, wanted, a)
            total[machine][verdict] += 1
            if a.list or verdict != "equal":
                print(f"{name} {machine}: {verdict}: {words}", flush=True)
    for machine, n in total.items():
        print(f"{machine}: " + ", ".join(f"{n[v]} {v}" for v in ("equal", "expensive", "wrong", "refused", "foreign")))
    sys.exit(any(n[v] for n in total.values() for v in ("wrong", "refused")))


if __name__ == "__main__":
    main()
