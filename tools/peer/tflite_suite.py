#!/usr/bin/env python3
"""Operator files for the TensorFlow Lite reader, with the answers of LiteRT's reference kernels.

    tflite_suite.py FOLDER [PART...]  writes FOLDER/cases.txt and FOLDER/CASE/{model.tflite, in_N.npy, want_N.npy}
    tflite_suite.py FOLDER fixtures   writes the files of test/fixture/tflite

One operator a file, in each of float, int8, uint8 and int16 (weights int8) that the runtime takes; what it refuses is left out.
Where TensorFlow Lite Micro has another arithmetic (an LSTM on codes, FULLY_CONNECTED and LEAKY_RELU of int16, states of int8), its answers.
Needs ai-edge-litert, tflite-micro and flatbuffers.
"""
import os
import shutil
import sys
import tempfile

import flatbuffers
import numpy as np
from flatbuffers import flexbuffers
from ai_edge_litert import schema_py_generated as S
from ai_edge_litert.interpreter import Interpreter, OpResolverType

TYPES = {"f32": (S.TensorType.FLOAT32, np.float32), "i8": (S.TensorType.INT8, np.int8), "u8": (S.TensorType.UINT8, np.uint8),
         "i16": (S.TensorType.INT16, np.int16), "i32": (S.TensorType.INT32, np.int32), "i64": (S.TensorType.INT64, np.int64),
         "bool": (S.TensorType.BOOL, np.bool_), "f16": (S.TensorType.FLOAT16, np.float16), "u32": (S.TensorType.UINT32, np.uint32), "u64": (S.TensorType.UINT64, np.uint64),
         "c64": (S.TensorType.COMPLEX64, np.complex64)}
RNG = np.random.default_rng(2026)


def by_micro(model, shape, given, runs):
    """The answer of TensorFlow Lite Micro, which asks for the result's shape, and for none of what is inside."""
    from tflite_micro.python.tflite_micro import runtime
    m = S.ModelT.InitFromObj(S.Model.GetRootAs(open(model, "rb").read(), 0))
    g = m.subgraphs[0]
    g.tensors[g.outputs[0]].shape = list(shape)
    for i in () if g.operators[0].intermediates is None else g.operators[0].intermediates:
        g.tensors[i].shape = [0]
    b = flatbuffers.Builder(1 << 16)
    b.Finish(m.Pack(b), b"TFL3")
    it = runtime.Interpreter.from_bytes(bytes(b.Output()), arena_size=1 << 20)
    for _ in range(runs):
        for i, x in enumerate(given):
            it.set_input(x, i)
        it.invoke()
    return it.get_output(0)


class T:
    """A tensor: type, shape, maybe numbers (a constant), maybe scale(s) and zero(s)."""

    def __init__(self, kind, shape, data=None, scale=None, zero=0, axis=0, variable=False):
        self.kind, self.shape, self.data, self.scale, self.zero, self.axis = kind, list(shape), data, scale, zero, axis
        self.variable = variable


def put_options(op, options):
    """Of a builtin a record; of an operator with a name of its own a dict."""
    if isinstance(options, dict):
        op.customOptions = list(flexbuffers.Dumps(options))
        return
    name = type(options).__name__[:-1]
    if hasattr(S.BuiltinOptions2, name):
        op.builtinOptions2Type, op.builtinOptions2 = getattr(S.BuiltinOptions2, name), options
    elif options is not None:
        op.builtinOptionsType, op.builtinOptions = getattr(S.BuiltinOptions, name), options


def write(path, code, inputs, outputs, options=None, version=1, custom=None, inside=()):
    m = S.ModelT()
    m.version, m.description = 3, "tosac"
    m.buffers, m.operatorCodes = [S.BufferT()], [S.OperatorCodeT()]
    c = m.operatorCodes[0]
    c.builtinCode, c.deprecatedBuiltinCode, c.version, c.customCode = code, min(code, 127), version, custom
    g = S.SubGraphT()
    g.name, g.tensors, g.inputs, g.outputs = "main", [], [], []
    op = S.OperatorT()
    op.opcodeIndex, op.inputs, op.outputs = 0, [], []
    if inside:
        op.intermediates = []
    for k, t in enumerate(list(inputs) + list(outputs) + list(inside)):
        if t is None:
            op.inputs.append(-1)
            continue
        w = S.TensorT()
        w.shape, w.type, w.name, w.buffer = t.shape, TYPES[t.kind][0], f"t{k}", 0
        w.isVariable = t.variable
        if t.scale is not None:
            q = S.QuantizationParametersT()
            q.scale = np.atleast_1d(np.float32(t.scale))
            q.zeroPoint = np.broadcast_to(np.int64(t.zero), q.scale.shape)
            q.quantizedDimension = t.axis
            w.quantization = q
        if t.data is not None:
            b = S.BufferT()
            b.data = np.frombuffer(np.ascontiguousarray(t.data, TYPES[t.kind][1]).tobytes(), np.uint8)
            w.buffer = len(m.buffers)
            m.buffers.append(b)
        index = len(g.tensors)
        g.tensors.append(w)
        if k < len(inputs):
            op.inputs.append(index)
            if t.data is None and not t.variable:
                g.inputs.append(index)
        elif k < len(inputs) + len(outputs):
            op.outputs.append(index)
            g.outputs.append(index)
        else:
            op.intermediates.append(index)
    put_options(op, options)
    g.operators = [op]
    m.subgraphs = [g]
    b = flatbuffers.Builder(1024)
    b.Finish(m.Pack(b), b"TFL3")
    with open(path, "wb") as f:
        f.write(b.Output())


def numbers(t):
    shape, d = t.shape, TYPES[t.kind][1]
    if t.kind == "bool":
        return RNG.integers(0, 2, shape).astype(bool)
    if t.kind in ("f32", "f16"):
        return RNG.normal(0, 1.5, shape).astype(d)
    if t.kind in ("i32", "i64"):
        return RNG.integers(-20, 20, shape).astype(d)
    lo, hi = np.iinfo(d).min, np.iinfo(d).max
    return RNG.integers(lo + (t.kind == "i16"), hi + 1, shape).astype(d)


class Suite:
    def __init__(self, folder):
        self.folder, self.list, self.count = folder, [], {}

    def case(self, name, kind, code, inputs, outputs, options=None, version=1, data=None, runs=1, make=None, inside=(), micro=False):
        """make: writes the file itself.  micro: TensorFlow Lite Micro has the answer.  runs: the answer is that of the last of so many.  inside: tensors with the scales of what an operator keeps to itself."""
        if any(name.startswith(a) and kind == b for a, b in LEFT_OUT):
            return
        where = os.path.join(self.folder, f"{name}_{kind}")
        os.makedirs(where, exist_ok=True)
        model = os.path.join(where, "model.tflite")
        try:
            if make:
                make(model)
            else:
                write(model, code, inputs, outputs, options, version, inside=inside)
            m = Interpreter(model, experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
            m.allocate_tensors()
            given = data or [numbers(t) for t in inputs if t is not None and t.data is None and not t.variable]
            for _ in range(runs):
                for d, x in zip(m.get_input_details(), given):
                    m.set_tensor(d["index"], x)
                m.invoke()
            want = [m.get_tensor(d["index"]) for d in m.get_output_details()]
            if micro:
                want = [by_micro(model, want[0].shape, given, runs)]
        except (RuntimeError, ValueError, OverflowError) as e:
            os.system(f"rm -r '{where}'")
            if os.environ.get("VERBOSE"):
                print(f"{name}_{kind}: {str(e)[:150]}")
            return
        for i, x in enumerate(given):
            np.save(os.path.join(where, f"in_{i}.npy"), x)
        top = 0.0
        for i, x in enumerate(want):
            np.save(os.path.join(where, f"want_{i}.npy"), x)
            if x.dtype.kind in "fc" and x.size:
                top = max(top, float(np.abs(x[np.isfinite(x)]).max(initial=0)))
        exact = all(x.dtype.kind not in "fc" for x in want)
        self.list.append(f"{name}_{kind} {len(given)} {len(want)} 0 {0 if exact else 1e-5 * max(top, 1e-3):.3g}" + (f" {runs}" if runs > 1 else ""))
        self.count[kind] = self.count.get(kind, 0) + 1


QUANT = ["i8", "u8", "i16"]
# Not recorded: no quantized form is read (REDUCE_PROD); the runtime computes in f32 and we in integers, a step apart at times (RESIZE_BILINEAR of
# uint8); LiteRT 2.3's reference kernel reads all codes of SUM as uint8, and its optimized one rounds otherwise.
LEFT_OUT = {("reduce_prod", "i8"), ("reduce_prod", "i16"), ("resize_bilinear_10_5", "u8"), ("sum", "i8"), ("sum", "i16")}


def act(kind, shape, scale=None, zero=None, data=None):
    """An activation: codes of a random domain, or real numbers."""
    if kind not in QUANT:
        return T(kind, shape, data)
    s = float(scale) if scale else float(RNG.uniform(0.01, 0.1)) / (200 if kind == "i16" else 1)
    z = 0 if kind == "i16" else int(zero if zero is not None else RNG.integers(-100, 100)) + (128 if kind == "u8" and zero is None else 0)
    return T(kind, shape, data, s, z)


def opt(name, **fields):
    o = getattr(S, name + "T")()
    for k, v in fields.items():
        setattr(o, k, v)
    return o


B = S.BuiltinOperator
ALL = ["f32"] + QUANT


def weights(kind, shape, axis, scale=0.02):
    """Weights, and the scale(s) of their codes."""
    if kind == "f32":
        return T("f32", shape, RNG.normal(0, .4, shape)), None
    if kind == "u8":
        return T("u8", shape, RNG.integers(0, 256, shape), scale, 121), np.float32(scale)
    s = RNG.uniform(.5, 1.5, shape[axis]).astype(np.float32) * np.float32(scale)
    return T("i8", shape, RNG.integers(-127, 128, shape), s, 0, axis), s


def bias(kind, n, x, s):
    if kind == "f32":
        return T("f32", [n], RNG.normal(0, 1, n))
    wide = "i64" if kind == "i16" else "i32"
    return T(wide, [n], RNG.integers(-2000, 2000, n), np.float32(x.scale) * s, 0)


def products(s):
    k = 0
    for kind in ALL:
        for n, (h, w, c, o, kh, kw, sh, sw, dil, pad, fused) in enumerate([
                (7, 8, 3, 5, 3, 3, 1, 1, 1, 0, 0), (9, 9, 4, 6, 3, 3, 2, 2, 1, 0, 1), (8, 6, 2, 4, 1, 1, 1, 1, 1, 1, 3), (10, 10, 3, 4, 5, 3, 2, 1, 1, 1, 2),
                (12, 11, 3, 4, 3, 3, 1, 1, 2, 0, 0), (6, 6, 8, 8, 2, 2, 2, 2, 1, 1, 1), (5, 5, 16, 3, 1, 1, 2, 2, 1, 0, 0)]):
            x = act(kind, [1, h, w, c], .03 if kind != "i16" else .0002)
            f, fs = weights(kind, [o, kh, kw, c], 0)
            y = act(kind, [1], .05 if kind != "i16" else .0003)
            s.case(f"conv_{n}", kind, B.CONV_2D, [x, f, bias(kind, o, x, fs) if n % 3 else None], [y],
                   opt("Conv2DOptions", padding=pad, strideH=sh, strideW=sw, dilationHFactor=dil, dilationWFactor=dil, fusedActivationFunction=fused))
            for mult in (1, 2):
                f, fs = weights(kind, [1, kh, kw, c * mult], 3)
                s.case(f"depthwise_{n}_{mult}", kind, B.DEPTHWISE_CONV_2D, [x, f, bias(kind, c * mult, x, fs)], [y],
                       opt("DepthwiseConv2DOptions", padding=pad, strideH=sh, strideW=sw, depthMultiplier=mult, dilationHFactor=dil, dilationWFactor=dil,
                           fusedActivationFunction=fused))
        for n, (rows, c, o, fused, keep) in enumerate([(1, 16, 8, 0, False), (4, 10, 3, 1, True), (3, 64, 12, 3, False)]):
            x = act(kind, [rows, c], .02 if kind != "i16" else .0002)
            f, fs = weights(kind, [o, c], 0)
            if fs is not None and fs.ndim:
                f.scale, f.zero, fs = f.scale[0], 0, fs[0]
            y = act(kind, [1], .06 if kind != "i16" else .0005)
            s.case(f"fully_connected_{n}", kind, B.FULLY_CONNECTED, [x, f, bias(kind, o, x, fs)], [y],
                   opt("FullyConnectedOptions", fusedActivationFunction=fused, keepNumDims=keep), 4, micro=kind == "i16")
        for n, (h, c, o, k2, st, pad, fused) in enumerate([(4, 3, 5, 3, 2, 0, 0), (5, 4, 2, 2, 2, 1, 0), (3, 2, 3, 4, 2, 0, 1), (4, 3, 3, 3, 1, 0, 0)]):
            x = act(kind, [1, h, h, c], .03 if kind != "i16" else .0002)
            f, fs = weights(kind, [o, k2, k2, c], 0)
            out = h * st if pad == 0 else (h - 1) * st + k2
            y = act(kind, [1], .05 if kind != "i16" else .0003)
            s.case(f"transpose_conv_{n}", kind, B.TRANSPOSE_CONV, [T("i32", [4], [1, out, out, o]), f, x, bias(kind, o, x, fs)], [y],
                   opt("TransposeConvOptions", padding=pad, strideH=st, strideW=st, fusedActivationFunction=fused), 3)
        for n, (a, b, ax, ay) in enumerate([([2, 3, 4], [2, 4, 5], False, False), ([2, 4, 3], [2, 5, 4], True, True), ([1, 2, 3, 4], [3, 1, 4, 2], False, False)]):
            s.case(f"batch_matmul_{n}", kind, B.BATCH_MATMUL, [act(kind, a, .02 if kind != "i16" else .0002), act(kind, b, .02 if kind != "i16" else .0002)],
                   [act(kind, [1], .05 if kind != "i16" else .0003)], opt("BatchMatMulOptions", adjX=ax, adjY=ay))
        for n, (h, k2, st, pad, fused) in enumerate([(8, 2, 2, 1, 0), (7, 3, 2, 0, 1), (9, 3, 1, 0, 0), (6, 2, 1, 0, 3), (8, 4, 4, 1, 0)]):
            for op, word in ((B.AVERAGE_POOL_2D, "average"), (B.MAX_POOL_2D, "max"), (B.L2_POOL_2D, "l2")):
                x = act(kind, [1, h, h, 3], .05 if kind != "i16" else .0003)
                s.case(f"{word}_pool_{n}", kind, op, [x], [T(kind, [1], None, x.scale, x.zero)],
                       opt("Pool2DOptions", padding=pad, strideH=st, strideW=st, filterHeight=k2, filterWidth=k2, fusedActivationFunction=fused), 3)
    # weights of codes, real activations
    for n, per in enumerate((False, True)):
        x = T("f32", [1, 7, 7, 4])
        f, fs = weights("i8", [5, 3, 3, 4], 0)
        if not per:
            f.scale, f.zero = f.scale[0], 0
        s.case(f"conv_{n}", "dynamic", B.CONV_2D, [x, f, T("f32", [5], RNG.normal(0, 1, 5))], [T("f32", [1])], opt("Conv2DOptions", strideH=1, strideW=1))
        f, fs = weights("i8", [1, 3, 3, 4], 3)
        s.case(f"depthwise_{n}", "dynamic", B.DEPTHWISE_CONV_2D, [x, f, T("f32", [4], RNG.normal(0, 1, 4))], [T("f32", [1])],
               opt("DepthwiseConv2DOptions", strideH=1, strideW=1, depthMultiplier=1))
        f, fs = weights("i8", [6, 20], 0)
        if not per:
            f.scale, f.zero = f.scale[0], 0
        for asym in (False, True):
            s.case(f"fully_connected_{n}{asym:d}", "dynamic", B.FULLY_CONNECTED, [T("f32", [3, 20]), f, T("f32", [6], RNG.normal(0, 1, 6))], [T("f32", [1])],
                   opt("FullyConnectedOptions", asymmetricQuantizeInputs=asym), 9)
        f, fs = weights("i8", [3, 3, 3, 2], 0)
        s.case(f"transpose_conv_{n}", "dynamic", B.TRANSPOSE_CONV, [T("i32", [4], [1, 8, 8, 3]), f, T("f32", [1, 4, 4, 2])], [T("f32", [1])],
               opt("TransposeConvOptions", strideH=2, strideW=2))
        # steps of a half, one code a step: halves are rounded before the zero is added
        halves = lambda *d: np.clip(RNG.integers(-6, 521, d) / 2, -1, 254).astype(np.float32)
        f, fs = weights("i8", [5, 1, 1, 40], 0)
        s.case(f"conv_halves_{n}", "dynamic", B.CONV_2D, [T("f32", [1, 4, 4, 40]), f, T("f32", [5], RNG.normal(0, 1, 5))], [T("f32", [1])],
               opt("Conv2DOptions", strideH=1, strideW=1), 1, [halves(1, 4, 4, 40)])
        f, fs = weights("i8", [1, 3, 3, 40], 3)
        s.case(f"depthwise_halves_{n}", "dynamic", B.DEPTHWISE_CONV_2D, [T("f32", [1, 5, 5, 40]), f, T("f32", [40], RNG.normal(0, 1, 40))], [T("f32", [1])],
               opt("DepthwiseConv2DOptions", strideH=1, strideW=1, depthMultiplier=1), 1, [halves(1, 5, 5, 40)])
        s.case(f"embedding_{n}", "dynamic", B.EMBEDDING_LOOKUP, [T("i32", [4]), weights("i8", [6, 5], 0)[0]], [T("f32", [1])], None, 2,
               [np.array([1, 5, 0, 3], np.int32)])


def elementwise(s):
    shapes = [([2, 3, 4, 5], [2, 3, 4, 5]), ([1, 4, 4, 3], [3]), ([4, 1, 5], [1, 3, 1]), ([6], [1])]
    for kind in ALL:
        for n, (a, b) in enumerate(shapes):
            for fused in (0, 1, 3):
                for op, word in ((B.ADD, "Add"), (B.SUB, "Sub"), (B.MUL, "Mul"), (B.DIV, "Div")):
                    if fused and n > 1:
                        continue
                    fields = {"fusedActivationFunction": fused}
                    if word in ("Add", "Sub"):
                        fields["potScaleInt16"] = False
                    x, y, data = act(kind, a), act(kind, b), None
                    if word == "Div" and kind in QUANT:  # where the runtime's shifts are defined: no small number by a large one
                        near = RNG.integers(1, 32, b) * RNG.choice([-1, 1], b)
                        y.zero, x.scale, y.scale = {"i8": 3, "u8": 130, "i16": 0}[kind], .06 if kind != "i16" else .0003, .05 if kind != "i16" else .0003
                        data = [numbers(x), (near + y.zero).astype(TYPES[kind][1])]
                    s.case(f"{word.lower()}_{n}_{fused}", kind, op, [x, y], [act(kind, [1], .12 if kind != "i16" else .0006)],
                           opt(word + "Options", **fields), 2 if word == "Div" else 3, data)
            for op, word in ((B.MAXIMUM, "maximum"), (B.MINIMUM, "minimum")):
                x = act(kind, a)
                s.case(f"{word}_{n}", kind, op, [x, T(kind, b, None, x.scale, x.zero)], [T(kind, [1], None, x.scale, x.zero)], None, 3)
            for op, word in ((B.EQUAL, "equal"), (B.NOT_EQUAL, "not_equal"), (B.GREATER, "greater"), (B.GREATER_EQUAL, "greater_equal"), (B.LESS, "less"),
                             (B.LESS_EQUAL, "less_equal")):
                if n < 2:
                    s.case(f"{word}_{n}", kind, op, [act(kind, a), act(kind, b)], [T("bool", [1])], None, 2)
            s.case(f"squared_difference_{n}", kind, B.SQUARED_DIFFERENCE, [act(kind, a), act(kind, b)], [act(kind, [1], .3)], None, 2)
        for op, word in ((B.ABS, "abs"), (B.EXP, "exp"), (B.LOG, "log"), (B.RSQRT, "rsqrt"), (B.SQRT, "sqrt"), (B.SIN, "sin"), (B.COS, "cos"), (B.NEG, "neg"),
                         (B.FLOOR, "floor"), (B.CEIL, "ceil"), (B.ROUND, "round"), (B.SQUARE, "square"), (B.SIGN, "sign"), (B.ELU, "elu"), (B.HARD_SWISH, "hard_swish"),
                         (B.RELU, "relu"), (B.RELU6, "relu6"), (B.RELU_N1_TO_1, "relu_n1_to_1"), (B.RELU_0_TO_1, "relu_0_to_1"), (B.GELU, "gelu"), (B.TANH, "tanh"),
                         (B.LOGISTIC, "logistic")):
            for n in range(3):
                x, y = act(kind, [2, 3, 40]), act(kind, [1], (.05 + .05 * n) / (300 if kind == "i16" else 1))
                if word in ("log", "rsqrt", "sqrt") and kind in QUANT:
                    x.zero = {"i8": -128, "u8": 0, "i16": 0}[kind]
                if kind in QUANT and word in ("tanh", "logistic"):
                    y.scale, y.zero = {("tanh", "i8"): (1 / 128, 0), ("tanh", "u8"): (1 / 128, 128), ("logistic", "i8"): (1 / 256, -128),
                                       ("logistic", "u8"): (1 / 256, 0)}.get((word, kind), (1 / 32768, 0))
                if n == 2 and kind == "i16":
                    x.scale = 1 / 4096
                data = None
                if word in ("log", "rsqrt", "sqrt"):
                    data = [np.abs(numbers(x)).astype(TYPES[kind][1]) if kind != "i8" else numbers(x)]
                s.case(f"{word}_{n}", kind, op, [x], [y], opt("GeluOptions", approximate=n == 1) if word == "gelu" else None, 2 if word in ("gelu", "exp") else 1, data)
        for n, alpha in enumerate((.1, .3, 1.5)):
            s.case(f"leaky_relu_{n}", kind, B.LEAKY_RELU, [act(kind, [2, 50])], [act(kind, [1])], opt("LeakyReluOptions", alpha=alpha), 2, micro=kind == "i16")
        for n, shape in enumerate(([1, 1, 6], [6])):
            x = act(kind, [1, 4, 5, 6])
            a = T(kind if kind != "i16" else "i8", shape, None) if kind == "f32" else act(kind if kind != "i16" else "i8", shape, .01)
            a.data = numbers(a)
            s.case(f"prelu_{n}", kind, B.PRELU, [x, a], [act(kind, [1])])


def moves(s):
    for kind in ALL + ["i32"]:
        x = act(kind, [2, 4, 6, 3])
        y = lambda: T(kind, [1], None, x.scale, x.zero)
        ints = lambda *v: T("i32", [len(v)], v)
        pairs = lambda *v: T("i32", [len(v) // 2, 2], np.reshape(v, (-1, 2)))
        s.case("reshape_0", kind, B.RESHAPE, [x, ints(2, -1)], [y()], opt("ReshapeOptions", newShape=[2, 72]))
        s.case("reshape_1", kind, B.RESHAPE, [x, ints(4, 3, 12)], [y()], opt("ReshapeOptions", newShape=[4, 3, 12]))
        s.case("squeeze", kind, B.SQUEEZE, [act(kind, [1, 3, 1, 2], x.scale, x.zero)], [y()], opt("SqueezeOptions", squeezeDims=[0]))
        s.case("expand_dims", kind, B.EXPAND_DIMS, [x, T("i32", [], -2)], [y()])
        s.case("transpose_0", kind, B.TRANSPOSE, [x, ints(0, 3, 1, 2)], [y()])
        s.case("transpose_1", kind, B.TRANSPOSE, [act(kind, [3, 5], x.scale, x.zero), ints(1, 0)], [y()])
        for axis in (1, -1):
            s.case(f"concatenation_{axis % 4}", kind, B.CONCATENATION, [x, T(kind, x.shape, None, x.scale, x.zero)], [y()], opt("ConcatenationOptions", axis=axis))
        s.case("concatenation_unlike", kind, B.CONCATENATION, [x, act(kind, [2, 4, 6, 2])], [y()], opt("ConcatenationOptions", axis=3))
        s.case("pack", kind, B.PACK, [x, T(kind, x.shape, None, x.scale, x.zero)], [y()], opt("PackOptions", valuesCount=2, axis=1), 2)
        s.case("unpack", kind, B.UNPACK, [x], [y() for _ in range(4)], opt("UnpackOptions", num=4, axis=1), 2)
        s.case("split", kind, B.SPLIT, [T("i32", [], 2), x], [y() for _ in range(3)], opt("SplitOptions", numSplits=3), 2)
        s.case("split_v", kind, B.SPLIT_V, [x, ints(1, -1, 2), T("i32", [], 2)], [y() for _ in range(3)], opt("SplitVOptions", numSplits=3), 2)
        s.case("slice", kind, B.SLICE, [x, ints(0, 1, 2, 0), ints(-1, 2, 3, 2)], [y()], None, 2)
        for n, (b, e, st, bm, em, el, na, sh) in enumerate([((0, 1, 0, 0), (2, 3, 6, 3), (1, 1, 2, 1), 0, 0, 0, 0, 0), ((0, -1, 5, 0), (2, 0, -7, 3), (1, -1, -2, 1), 0, 0, 0, 0, 0),
                                                            ((0, 0, 1, 0), (0, 0, 2, 0), (1, 1, 1, 1), 11, 11, 0, 0, 4), ((1, 0, 0, 0), (2, 4, 6, 3), (1, 1, 1, 1), 0, 0, 0, 0, 1)]):
            s.case(f"strided_slice_{n}", kind, B.STRIDED_SLICE, [x, ints(*b), ints(*e), ints(*st)], [y()],
                   opt("StridedSliceOptions", beginMask=bm, endMask=em, ellipsisMask=el, newAxisMask=na, shrinkAxisMask=sh), 2)
        s.case("pad", kind, B.PAD, [x, pairs(0, 0, 1, 2, 0, 1, 0, 0)], [y()], None, 2)
        v = T(kind, [], numbers(T(kind, [])), x.scale, x.zero)
        s.case("padv2", kind, B.PADV2, [x, pairs(0, 0, 1, 2, 0, 1, 0, 0), v], [y()], None, 2)
        for mode in (0, 1):
            s.case(f"mirror_pad_{mode}", kind, B.MIRROR_PAD, [x, pairs(0, 0, 1, 2, 2, 1, 0, 1)], [y()], opt("MirrorPadOptions", mode=mode), 2)
        v = T(kind, [], numbers(T(kind, [])), x.scale, x.zero)
        for n, step in enumerate(((1, 2, 3, 1), (2, 1, 1, 4))):
            s.case(f"dilate_{n}", kind, B.DILATE, [x, ints(*step), v], [y()])
        s.case("tile", kind, B.TILE, [act(kind, [2, 3], x.scale, x.zero), ints(2, 3)], [y()], None, 3)
        s.case("broadcast_to", kind, B.BROADCAST_TO, [act(kind, [3, 1], x.scale, x.zero), ints(2, 3, 4)], [y()], None, 3)
        s.case("reverse", kind, B.REVERSE_V2, [x, ints(2)], [y()], None, 3)
        s.case("reverse_sequence", kind, B.REVERSE_SEQUENCE, [act(kind, [3, 5, 2], x.scale, x.zero), T("i32", [3], [2, 5, 1])], [y()],
               opt("ReverseSequenceOptions", seqDim=1, batchDim=0))
        s.case("depth_to_space", kind, B.DEPTH_TO_SPACE, [act(kind, [1, 3, 2, 8], x.scale, x.zero)], [y()], opt("DepthToSpaceOptions", blockSize=2))
        s.case("space_to_depth", kind, B.SPACE_TO_DEPTH, [act(kind, [1, 4, 6, 3], x.scale, x.zero)], [y()], opt("SpaceToDepthOptions", blockSize=2), 2)
        s.case("space_to_batch", kind, B.SPACE_TO_BATCH_ND, [act(kind, [1, 4, 5, 3], x.scale, x.zero), ints(2, 2), pairs(0, 0, 1, 0)], [y()], None, 2)
        s.case("batch_to_space", kind, B.BATCH_TO_SPACE_ND, [act(kind, [4, 2, 3, 3], x.scale, x.zero), ints(2, 2), pairs(0, 1, 1, 0)], [y()], None, 2)
        s.case("gather_0", kind, B.GATHER, [x, T("i32", [3], [2, 0, 3])], [y()], opt("GatherOptions", axis=1), 2)
        s.case("gather_1", kind, B.GATHER, [act(kind, [2, 5, 3], x.scale, x.zero), T("i32", [2, 2], [[1, 4], [0, 2]])], [y()],
               opt("GatherOptions", axis=1, batchDims=1), 5)
        s.case("gather_nd", kind, B.GATHER_ND, [x, T("i32", [3, 2], [[0, 1], [1, 3], [0, 0]])], [y()], None, 2)
        s.case("dynamic_update_slice", kind, B.DYNAMIC_UPDATE_SLICE, [act(kind, [5, 4], x.scale, x.zero), act(kind, [2, 2], x.scale, x.zero), T("i32", [2])], [y()], None, 1, None)
        for op in (B.SELECT, B.SELECT_V2):
            s.case(f"select_{op}", kind, op, [T("bool", x.shape), x, T(kind, x.shape, None, x.scale, x.zero)], [y()])
        for op, word in ((B.ARG_MAX, "argmax"), (B.ARG_MIN, "argmin")):
            s.case(word, kind, op, [x, T("i32", [], -1)], [T("i32", [1])], opt(word[:3].capitalize() + word[3:].capitalize() + "Options", outputType=S.TensorType.INT32), 2)
        s.case("topk", kind, B.TOPK_V2, [act(kind, [3, 9], x.scale, x.zero), T("i32", [], 4)], [y(), T("i32", [1])], None, 2)
        for half, align, size in ((True, False, [8, 12]), (False, True, [7, 11]), (False, False, [8, 12]), (True, False, [5, 9]), (False, False, [2, 3])):
            n = f"{half:d}{align:d}_{size[0]}"
            s.case(f"resize_bilinear_{n}", kind, B.RESIZE_BILINEAR, [x, ints(*size)], [y()], opt("ResizeBilinearOptions", halfPixelCenters=half, alignCorners=align), 4)
            s.case(f"resize_nearest_{n}", kind, B.RESIZE_NEAREST_NEIGHBOR, [x, ints(*size)], [y()],
                   opt("ResizeNearestNeighborOptions", halfPixelCenters=half, alignCorners=align), 4)


def reductions(s):
    for kind in ALL:
        for axes in ((1, 2), (3,), (0, 1, 2, 3), (-1, 1)):
            for keep in (False, True):
                n = f"{len(axes)}{axes[0] % 4}_{keep:d}"
                for op, word in ((B.SUM, "sum"), (B.MEAN, "mean"), (B.REDUCE_MAX, "reduce_max"), (B.REDUCE_MIN, "reduce_min"), (B.REDUCE_PROD, "reduce_prod")):
                    x = act(kind, [2, 4, 3, 5])
                    y = act(kind, [1], x.scale * (8 if word == "sum" else .8) if x.scale else None) if word in ("sum", "mean") else T(kind, [1], None, x.scale, x.zero)
                    s.case(f"{word}_{n}", kind, op, [x, T("i32", [len(axes)], axes)], [y], opt("ReducerOptions", keepDims=keep), 2)
        for n, (shape, beta) in enumerate((([2, 10], 1.0), ([1, 3, 4, 7], 1.0), ([3, 100], .5), ([1, 2], 1.0))):
            x = act(kind, shape, .08 if kind != "i16" else .0004)
            y = T(kind, [1]) if kind == "f32" else T(kind, [1], None, 1 / 32768 if kind == "i16" else 1 / 256, {"i8": -128, "u8": 0, "i16": 0}[kind])
            s.case(f"softmax_{n}", kind, B.SOFTMAX, [x], [y], opt("SoftmaxOptions", beta=beta), 2)
            y = T(kind, [1]) if kind == "f32" else T(kind, [1], None, 16 / 256, 127 if kind == "i8" else 255)
            s.case(f"log_softmax_{n}", kind, B.LOG_SOFTMAX, [x], [y], None, 2)
            y = T(kind, [1]) if kind == "f32" else T(kind, [1], None, 1 / 128, 0 if kind == "i8" else 128)
            s.case(f"l2_norm_{n}", kind, B.L2_NORMALIZATION, [x], [y], opt("L2NormOptions"), 2)
        s.case("local_norm", kind, B.LOCAL_RESPONSE_NORMALIZATION, [act(kind, [1, 3, 3, 8])], [act(kind, [1])],
               opt("LocalResponseNormalizationOptions", radius=2, bias=1.0, alpha=.1, beta=.75))
        for n, other in enumerate(QUANT + ["f32"]):
            s.case(f"quantize_{other}", kind, B.QUANTIZE, [act(kind, [3, 40])], [act(other, [1])], None, 3)
            s.case(f"dequantize_{n}", kind, B.DEQUANTIZE, [act(kind, [3, 40])], [T("f32", [1])], None, 3)
        for ex in (False, True):
            s.case(f"cumsum_{ex:d}", kind, B.CUMSUM, [act(kind, [3, 6]), T("i32", [], 1)], [act(kind, [1])], opt("CumsumOptions", exclusive=ex, reverse=ex))


def others(s):
    """Operators that have no quantized form."""
    f, i = lambda *d: T("f32", list(d)), lambda *d: T("i32", list(d))
    s.case("pow", "f32", B.POW, [T("f32", [3, 4]), T("f32", [4], [2, 3, 1, 2])], [f(1)])
    s.case("pow", "i32", B.POW, [i(3, 4), T("i32", [4], [2, 3, 1, 2])], [i(1)])
    s.case("floor_div", "f32", B.FLOOR_DIV, [f(3, 4), f(4)], [f(1)], None, 2)
    s.case("floor_div", "i32", B.FLOOR_DIV, [i(3, 4), T("i32", [4], [2, -3, 5, 7])], [i(1)], None, 2)
    s.case("floor_mod", "f32", B.FLOOR_MOD, [f(3, 4), f(4)], [f(1)], None, 1)
    s.case("floor_mod", "i32", B.FLOOR_MOD, [i(3, 4), T("i32", [4], [2, -3, 5, 7])], [i(1)], None, 1)
    s.case("div", "i32", B.DIV, [i(3, 4), T("i32", [4], [2, -3, 5, 7])], [i(1)], opt("DivOptions"))
    for kind in ("i8", "i16"):  # codes as plain integers
        x, at = act(kind, [3, 4]), T("i32", [3, 2], [[0, 0], [1, 2], [2, 1]])
        y = lambda *d: T(kind, list(d), None, x.scale, x.zero)
        small = [numbers(x), (RNG.integers(1, 5, [3, 4]) * (1, -1, 2, 1)).astype(TYPES[kind][1])]
        s.case("floor_div", kind, B.FLOOR_DIV, [x, y(3, 4)], [y(1)], None, 1, small)
        s.case("floor_mod", kind, B.FLOOR_MOD, [x, y(3, 4)], [y(1)], None, 1, small)
        s.case("bitwise_xor", kind, B.BITWISE_XOR, [x, y(3, 4)], [y(1)])
        s.case("right_shift", kind, B.RIGHT_SHIFT, [x, y(3, 4)], [y(1)], None, 1, [small[0], np.abs(small[1])])
        s.case("scatter_nd", kind, B.SCATTER_ND, [T("i32", [3, 1], [[4], [3], [1]]), y(3, 4), T("i32", [2], [8, 4])], [y(1)])
        s.case("sparse_to_dense", kind, B.SPARSE_TO_DENSE, [at, T("i32", [2], [3, 3]), y(3), y()], [y(1)], opt("SparseToDenseOptions"))
        s.case("matrix_diag", kind, B.MATRIX_DIAG, [x], [y(1)], opt("MatrixDiagOptions"))
        s.case("matrix_set_diag", kind, B.MATRIX_SET_DIAG, [y(2, 4, 4), y(2, 4)], [y(1)], opt("MatrixSetDiagOptions"))
    s.case("atan2", "f32", B.ATAN2, [f(3, 4), f(3, 4)], [f(1)])
    s.case("add_n", "f32", B.ADD_N, [f(3, 4), f(3, 4), f(3, 4)], [f(1)])
    s.case("logical", "and", B.LOGICAL_AND, [T("bool", [9]), T("bool", [9])], [T("bool", [1])])
    s.case("logical", "or", B.LOGICAL_OR, [T("bool", [9]), T("bool", [9])], [T("bool", [1])])
    s.case("logical", "not", B.LOGICAL_NOT, [T("bool", [9])], [T("bool", [1])])
    s.case("reduce_any", "bool", B.REDUCE_ANY, [T("bool", [3, 4]), T("i32", [1], [1])], [T("bool", [1])], opt("ReducerOptions"))
    s.case("reduce_all", "bool", B.REDUCE_ALL, [T("bool", [3, 4]), T("i32", [1], [1])], [T("bool", [1])], opt("ReducerOptions"))
    for a, b in (("f32", "i32"), ("i32", "f32"), ("f32", "bool"), ("i64", "f32"), ("f32", "i64"), ("bool", "f32"), ("f16", "f32")):
        s.case(f"cast_{a}", b, B.CAST, [T(a, [3, 5])], [T(b, [1])], opt("CastOptions", inDataType=TYPES[a][0], outDataType=TYPES[b][0]), 6)
    s.case("shape", "i32", B.SHAPE, [f(3, 4, 5)], [i(1)], opt("ShapeOptions", outType=S.TensorType.INT32))
    s.case("rank", "i32", B.RANK, [f(3, 4, 5)], [i(1)])
    s.case("zeros_like", "f32", B.ZEROS_LIKE, [f(3, 4)], [f(1)])
    s.case("fill", "f32", B.FILL, [T("i32", [2], [3, 4]), T("f32", [])], [f(1)])
    s.case("range", "i32", B.RANGE, [T("i32", [], 2), T("i32", [], 11), T("i32", [], 3)], [i(1)])
    s.case("broadcast_args", "i32", B.BROADCAST_ARGS, [T("i32", [2], [3, 1]), T("i32", [1], [4])], [i(1)])
    s.case("scatter_nd", "f32", B.SCATTER_ND, [T("i32", [4, 1], [[4], [3], [1], [7]]), f(4, 2), T("i32", [2], [8, 2])], [f(1)])
    s.case("sparse_to_dense", "f32", B.SPARSE_TO_DENSE, [T("i32", [3, 2], [[0, 0], [1, 2], [2, 1]]), T("i32", [2], [3, 3]), f(3), T("f32", [], 0.5)], [f(1)],
           opt("SparseToDenseOptions"))
    for axis in (-1, 0, 1):
        s.case(f"one_hot_{axis + 1}", "f32", B.ONE_HOT, [T("i32", [2, 3], [[0, 2, 1], [3, 9, -1]]), T("i32", [], 4), T("f32", [], 2), T("f32", [], -1)], [f(1)],
               opt("OneHotOptions", axis=axis))
    s.case("embedding", "f32", B.EMBEDDING_LOOKUP, [T("i32", [3]), f(6, 4)], [f(1)], None, 1, [np.array([5, 0, 2], np.int32), numbers(f(6, 4))])
    for op, word in ((B.SEGMENT_SUM, "segment_sum"),):
        s.case(word, "f32", op, [f(5, 3), T("i32", [5], [0, 0, 1, 2, 2])], [f(1)])
    for op, word in ((B.UNSORTED_SEGMENT_SUM, "sum"), (B.UNSORTED_SEGMENT_PROD, "prod"), (B.UNSORTED_SEGMENT_MAX, "max"), (B.UNSORTED_SEGMENT_MIN, "min")):
        s.case("unsorted_segment", word, op, [f(5, 3), T("i32", [5], [2, 0, 1, 2, 0]), T("i32", [], 3)], [f(1)])
    for n, (count, most, overlap, least, sigma) in enumerate(((12, 5, .5, .2, 0), (6, 8, .3, -9, 0), (20, 12, .4, .1, .5), (9, 4, .5, 2, .3), (15, 15, .9, .05, 1.5))):
        corner = RNG.uniform(0, 10, (count, 2))
        data = [np.concatenate([corner, corner + RNG.uniform(-1, 4, (count, 2))], 1).astype(np.float32), RNG.uniform(0, 1, count).astype(np.float32)]
        one = lambda v: T("f32", [], v)
        first = [f(count, 4), f(count), T("i32", [], most), one(overlap), one(least)]
        s.case(f"nms4_{n}", "f32", B.NON_MAX_SUPPRESSION_V4, first, [i(1), T("i32", [])], opt("NonMaxSuppressionV4Options"), 1, data)
        s.case(f"nms5_{n}", "f32", B.NON_MAX_SUPPRESSION_V5, first + [one(sigma)], [i(1), f(1), T("i32", [])], opt("NonMaxSuppressionV5Options"), 1, data)
    s.case("bucketize", "f32", B.BUCKETIZE, [f(3, 5)], [i(1)], opt("BucketizeOptions", boundaries=[-1.0, 0.0, .5, 2.0]))
    s.case("matrix_diag", "f32", B.MATRIX_DIAG, [f(2, 4)], [f(1)], opt("MatrixDiagOptions"))
    s.case("matrix_set_diag", "f32", B.MATRIX_SET_DIAG, [f(2, 4, 4), f(2, 4)], [f(1)], opt("MatrixSetDiagOptions"))
    s.case("rfft2d", "f32", B.RFFT2D, [f(1, 4, 8), T("i32", [2], [4, 8])], [T("c64", [1])], opt("Rfft2dOptions"))
    s.case("fake_quant", "f32", B.FAKE_QUANT, [f(5, 7)], [f(1)], opt("FakeQuantOptions", min=-2.0, max=3.0, numBits=8), 2)
    s.case("conv_3d", "f32", B.CONV_3D, [f(1, 4, 5, 6, 2), T("f32", [2, 3, 3, 2, 4], RNG.normal(0, 1, [2, 3, 3, 2, 4])), T("f32", [4], RNG.normal(0, 1, 4))], [f(1)],
           opt("Conv3DOptions", strideD=1, strideH=2, strideW=1))
    s.case("conv_3d_transpose", "f32", B.CONV_3D_TRANSPOSE, [T("i32", [5], [1, 4, 8, 8, 3]), T("f32", [2, 2, 2, 3, 2], RNG.normal(0, 1, [2, 2, 2, 3, 2])), f(1, 2, 4, 4, 2)], [f(1)],
           opt("Conv3DOptions", strideD=2, strideH=2, strideW=2))


def memory(s, kind="f32", asymmetric=False):
    """Operators whose states are variable tensors; the answer is that of the third run.  kind "dynamic": weights are codes."""
    codes = kind == "dynamic"
    w = lambda *d: T("i8", d, RNG.integers(-127, 128, d), float(RNG.uniform(.004, .012))) if codes and len(d) == 2 else T("f32", d, RNG.normal(0, .5, d))
    cells = lambda *d: T("i8", d, RNG.integers(-127, 128, d), .006) if codes else w(*d)
    also = {"asymmetricQuantizeInputs": asymmetric} if codes else {}
    tail = f"_{asymmetric:d}" if codes else ""
    hold = lambda *d: T("f32", d, None, variable=True)
    out = lambda: T("f32", [1])

    def gates(x, cell, h, full, peep, proj):
        """Weights of a direction: input, state, peepholes, biases, projection."""
        one = lambda *d: w(*d) if full else None
        return ([one(cell, x)] + [w(cell, x) for _ in range(3)] + [one(cell, h)] + [w(cell, h) for _ in range(3)]
                + [cells(cell) if peep and full else None] + [cells(cell) if peep else None for _ in range(2)]
                + [one(cell)] + [w(cell) for _ in range(3)] + [w(h, cell) if proj else None, w(h) if proj == 2 else None])

    n = 0
    for full in (True, False):
        for peep, proj, norm, clip, fused in ((0, 0, 0, 0, 4), (1, 0, 0, 0, 4), (0, 2, 0, .5, 4), (1, 1, 1, 0, 4), (0, 0, 1, .4, 1), (0, 0, 0, 0, 3)):
            h = 4 if proj else 6
            a = gates(5, 6, h, full, peep, proj) + [hold(2, h), hold(2, 6)]
            if norm:
                a += [w(6) if full else None] + [w(6) for _ in range(3)]
            for major in (False, True):
                s.case(f"sequence_lstm{tail}_{n}{major:d}", kind, B.UNIDIRECTIONAL_SEQUENCE_LSTM, [T("f32", [3, 2, 5] if major else [2, 3, 5])] + a, [out()],
                       opt("UnidirectionalSequenceLSTMOptions", fusedActivationFunction=fused, cellClip=clip, projClip=clip, timeMajor=major, **also), 1, None, 3)
            s.case(f"lstm{tail}_{n}", kind, B.LSTM, [T("f32", [2, 5])] + a, [out()], opt("LSTMOptions", fusedActivationFunction=fused, cellClip=clip, projClip=clip, **also), 1, None, 3)
            n += 1
    codes or s.case("lstm_basic", kind, B.LSTM, [T("f32", [2, 3]), hold(2, 4), w(16, 7), w(16), hold(2, 4)], [out() for _ in range(4)],
           opt("LSTMOptions", fusedActivationFunction=4, kernelType=1), 2, None, 3)
    for full in (True, False):
        for second in (0, 1, 2):
            for major, merged in ((True, False), (True, True), (False, False)):
                x = T("f32", [3, 2, 5] if major else [2, 3, 5])
                a = gates(5, 6, 6, full, 0, 0) + gates(5, 6, 6, full, second == 1, 0) + [hold(2, 6) for _ in range(4)]
                a += [T("f32", x.shape) if second else None]
                a += ([w(6, 5) if full else None] + [w(6, 5) for _ in range(3)]) * 2 if second == 2 else [None] * 8
                s.case(f"both_lstm{tail}_{full:d}{second}{merged:d}{major:d}", kind, B.BIDIRECTIONAL_SEQUENCE_LSTM, [x] + a, [out()] if merged else [out(), out()],
                       opt("BidirectionalSequenceLSTMOptions", fusedActivationFunction=4, timeMajor=major, mergeOutputs=merged, **also), 1, None, 3)
    for fused in (0, 1, 3, 4):
        a = lambda: [w(4, 5), w(4, 4), w(4), hold(2, 4)]
        s.case(f"rnn{tail}_{fused}", kind, B.RNN, [T("f32", [2, 5])] + a(), [out()], opt("RNNOptions", fusedActivationFunction=fused, **also), 1, None, 3)
        for major in (False, True):
            x = T("f32", [3, 2, 5] if major else [2, 3, 5])
            s.case(f"sequence_rnn{tail}_{fused}{major:d}", kind, B.UNIDIRECTIONAL_SEQUENCE_RNN, [x] + a(), [out()],
                   opt("SequenceRNNOptions", fusedActivationFunction=fused, timeMajor=major, **also), 1, None, 3)
            for second in ((0, 1, 2) if major else (0, 2)) if not codes else ():  # with codes the runtime ends here
                more = [T("f32", x.shape) if second else None] + ([w(4, 5), w(4, 5)] if second == 2 else [None, None])
                s.case(f"both_rnn{tail}_{fused}{major:d}{second}", kind, B.BIDIRECTIONAL_SEQUENCE_RNN, [x] + a() + a() + more, [out()] if major else [out(), out()],
                       opt("BidirectionalSequenceRNNOptions", fusedActivationFunction=fused, timeMajor=major, mergeOutputs=major, **also), 1, None, 3)
        for rank in (1, 2):
            s.case(f"svdf{tail}_{fused}{rank}", kind, B.SVDF, [T("f32", [2, 5]), w(4 * rank, 5), w(4 * rank, 6), w(4) if fused else None, hold(2, 4 * rank * 6)], [out()],
                   opt("SVDFOptions", rank=rank, fusedActivationFunction=fused, **also), 1, None, 3)


def memory_codes(s):
    for asymmetric in (False, True):
        memory(s, "dynamic", asymmetric)


def memory8(s):
    """The same on codes: int8 with gates and cells of 16 bits; the answer is that of the third run."""
    c8 = lambda *d, top=127: T("i8", d, RNG.integers(-top, top + 1, d), float(RNG.uniform(.004, .012)))
    c16 = lambda *d: T("i16", d, RNG.integers(-20000, 20001, d), float(RNG.uniform(.2, .6)) / 32768)
    b32 = lambda n, top=4000: T("i32", [n], RNG.integers(-top, top + 1, n), 1e-4)
    n = 0
    for full in (True, False):
        for peep, proj, clip, cell in ((0, 0, 0, -11), (1, 0, 0, -12), (0, 2, 0, -11), (0, 1, .4, -10), (0, 0, .7, -13), (0, 2, .3, -15), (1, 0, 0, -9)):
            w, h = 6, 4 if proj else 6
            hz, zx = int(RNG.integers(-20, 20)), int(RNG.integers(-50, 50))
            one = lambda make: make() if full else None
            state = lambda: T("i8", [2, h], None, 1 / 100, hz, variable=True)
            hidden = T("i8", [1], None, 1 / 110, int(RNG.integers(-10, 10))) if proj else T("i8", [1], None, 1 / 100, hz)
            a = ([one(lambda: c8(w, 5))] + [c8(w, 5) for _ in range(3)] + [one(lambda: c8(w, h))] + [c8(w, h) for _ in range(3)]
                 + [c16(w) if peep and full else None] + [c16(w) if peep else None for _ in range(2)]
                 + [one(lambda: b32(w))] + [b32(w) for _ in range(3)] + [c8(h, w) if proj else None, b32(h) if proj == 2 else None]
                 + [state(), T("i16", [2, w], None, 2.0 ** cell, variable=True)] + [None] * 4)
            inside = [T("i16", [1], None, 2.0 ** -12) for _ in range(4)] + [hidden]
            out = lambda: T("i8", [1], None, 1 / 100, hz)
            for major in (False, True):
                s.case(f"sequence_lstm_{n}{major:d}", "i8", B.UNIDIRECTIONAL_SEQUENCE_LSTM, [T("i8", [3, 2, 5] if major else [2, 3, 5], None, .02, zx)] + a, [out()],
                       opt("UnidirectionalSequenceLSTMOptions", fusedActivationFunction=4, cellClip=clip, projClip=clip, timeMajor=major), 3, None, 3, inside=inside,
                       micro=full and not peep and not proj)
            s.case(f"lstm_{n}", "i8", B.LSTM, [T("i8", [2, 5], None, .02, zx)] + a, [out()],
                   opt("LSTMOptions", fusedActivationFunction=4, cellClip=clip, projClip=clip), 4, None, 3, inside=inside)
            n += 1
    for rank in (1, 2, 4):
        for bias in (True, False):
            s.case(f"svdf_{rank}{bias:d}", "i8", B.SVDF, [T("i8", [2, 5], None, .03, int(RNG.integers(-60, 60))), c8(4 * rank, 5), c16(4 * rank, 6), b32(4, 1 << 20) if bias else None,
                   T("i16", [2, 4 * rank * 6], None, 1 / 4000, variable=True)], [T("i8", [1], None, .04, 7)], opt("SVDFOptions", rank=rank, fusedActivationFunction=1), 3, None, 3)


class Model:
    """A file of several graphs."""

    def __init__(self):
        self.m = S.ModelT()
        self.m.version, self.m.buffers, self.m.operatorCodes, self.m.subgraphs = 3, [S.BufferT()], [], []

    def graph(self):
        g = S.SubGraphT()
        g.name, g.tensors, g.operators = f"g{len(self.m.subgraphs)}", [], []
        self.m.subgraphs.append(g)
        return g

    def tensor(self, g, kind, shape, data=None):
        t = S.TensorT()
        t.shape, t.name, t.buffer = list(shape), f"{g.name}_{len(g.tensors)}", 0
        t.type = S.TensorType.RESOURCE if kind == "resource" else TYPES[kind][0]
        if data is not None:
            b = S.BufferT()
            b.data = np.frombuffer(np.ascontiguousarray(data, TYPES[kind][1]).tobytes(), np.uint8)
            t.buffer = len(self.m.buffers)
            self.m.buffers.append(b)
        g.tensors.append(t)
        return len(g.tensors) - 1

    def op(self, g, code, inputs, outputs, options=None):
        c = S.OperatorCodeT()
        c.builtinCode, c.deprecatedBuiltinCode, c.version = code, min(code, 127), 1
        o = S.OperatorT()
        o.opcodeIndex, o.inputs, o.outputs = len(self.m.operatorCodes), list(inputs), list(outputs)
        self.m.operatorCodes.append(c)
        put_options(o, options)
        g.operators.append(o)

    def ports(self, g, inputs, outputs):
        g.inputs, g.outputs = list(inputs), list(outputs)

    def sign(self, inputs, outputs, key="serve", graph=0):
        """Names for a graph's inputs and results."""
        d = S.SignatureDefT()
        d.signatureKey, d.subgraphIndex, d.inputs, d.outputs = key, graph, [], []
        for names, into in ((inputs, d.inputs), (outputs, d.outputs)):
            for name, index in names.items():
                t = S.TensorMapT()
                t.name, t.tensorIndex = name, index
                into.append(t)
        self.m.signatureDefs = (self.m.signatureDefs or []) + [d]

    def save(self, path):
        b = flatbuffers.Builder(1024)
        b.Finish(self.m.Pack(b), b"TFL3")
        with open(path, "wb") as f:
            f.write(b.Output())


def two_ways(m, code):
    """A graph with one operator on its two inputs."""
    g = m.graph()
    a, b, y = (m.tensor(g, "f32", [3]) for _ in range(3))
    m.op(g, code, [a, b], [y], opt({B.ADD: "Add", B.MUL: "Mul"}[code] + "Options"))
    m.ports(g, [a, b], [y])


def branch(path, known=None):
    """IF: the sum or the product of two inputs; known: the condition is a constant."""
    m = Model()
    g = m.graph()
    c = m.tensor(g, "bool", [], known)
    a, b, y = (m.tensor(g, "f32", [3]) for _ in range(3))
    m.op(g, B.IF, [c, a, b], [y], opt("IfOptions", thenSubgraphIndex=1, elseSubgraphIndex=2))
    m.ports(g, [a, b] if known is not None else [c, a, b], [y])
    two_ways(m, B.ADD)
    two_ways(m, B.MUL)
    m.save(path)


def loop(path, start=None):
    """WHILE: i < 5: i + 1, x + x * .5; start: where i begins, else it is an input."""
    m = Model()
    g = m.graph()
    i, x, j, y = m.tensor(g, "i32", [], start), m.tensor(g, "f32", [3]), m.tensor(g, "i32", []), m.tensor(g, "f32", [3])
    m.op(g, B.WHILE, [i, x], [j, y], opt("WhileOptions", condSubgraphIndex=1, bodySubgraphIndex=2))
    m.ports(g, [x] if start is not None else [i, x], [j, y])
    g = m.graph()
    i, x, five, go = m.tensor(g, "i32", []), m.tensor(g, "f32", [3]), m.tensor(g, "i32", [], 5), m.tensor(g, "bool", [])
    m.op(g, B.LESS, [i, five], [go], opt("LessOptions"))
    m.ports(g, [i, x], [go])
    g = m.graph()
    i, x, one, half = m.tensor(g, "i32", []), m.tensor(g, "f32", [3]), m.tensor(g, "i32", [], 1), m.tensor(g, "f32", [], .5)
    j, part, y = m.tensor(g, "i32", []), m.tensor(g, "f32", [3]), m.tensor(g, "f32", [3])
    m.op(g, B.ADD, [i, one], [j], opt("AddOptions"))
    m.op(g, B.MUL, [x, half], [part], opt("MulOptions"))
    m.op(g, B.ADD, [x, part], [y], opt("AddOptions"))
    m.ports(g, [i, x], [j, y])
    m.save(path)


def counter(path):
    """A resource that begins as 1, 2, 3 and takes up each input; its old numbers are the second result."""
    m = Model()
    g = m.graph()
    x, h, old, new = m.tensor(g, "f32", [3]), m.tensor(g, "resource", []), m.tensor(g, "f32", [3]), m.tensor(g, "f32", [3])
    handle = opt("VarHandleOptions", container="", sharedName="sum")
    m.op(g, B.CALL_ONCE, [], [], opt("CallOnceOptions", initSubgraphIndex=1))
    m.op(g, B.VAR_HANDLE, [], [h], handle)
    m.op(g, B.READ_VARIABLE, [h], [old], opt("ReadVariableOptions"))
    m.op(g, B.ADD, [old, x], [new], opt("AddOptions"))
    m.op(g, B.ASSIGN_VARIABLE, [h, new], [], opt("AssignVariableOptions"))
    m.ports(g, [x], [new, old])
    m.sign({"step": x}, {"total": new, "before": old})
    g = m.graph()
    h, start = m.tensor(g, "resource", []), m.tensor(g, "f32", [3], [1, 2, 3])
    m.op(g, B.VAR_HANDLE, [], [h], handle)
    m.op(g, B.ASSIGN_VARIABLE, [h, start], [], opt("AssignVariableOptions"))
    m.ports(g, [], [])
    m.save(path)


def hybrid_net(path, resized):
    """Weights of codes before and behind RESIZE_BILINEAR or MEAN, whose last bits decide codes."""
    m = Model()
    g = m.graph()

    def codes(shape, axis):
        t = m.tensor(g, "i8", shape, RNG.integers(-127, 128, shape))
        q = g.tensors[t].quantization = S.QuantizationParametersT()
        q.scale = RNG.uniform(.005, .015, shape[axis]).astype(np.float32)
        q.zeroPoint, q.quantizedDimension = np.zeros(shape[axis], np.int64), axis
        return t

    x, first, none = m.tensor(g, "f32", [1, 7, 7, 8]), m.tensor(g, "f32", [1, 7, 7, 24]), m.tensor(g, "f32", [24], RNG.normal(0, 1, 24))
    conv = lambda: opt("Conv2DOptions", strideH=1, strideW=1)
    m.op(g, B.CONV_2D, [x, codes([24, 3, 3, 8], 0), none], [first], conv())
    if resized:
        middle, y = m.tensor(g, "f32", [1, 16, 18, 24]), m.tensor(g, "f32", [1, 16, 18, 8])
        m.op(g, B.RESIZE_BILINEAR, [first, m.tensor(g, "i32", [2], [16, 18])], [middle], opt("ResizeBilinearOptions", halfPixelCenters=True))
        m.op(g, B.CONV_2D, [middle, codes([8, 1, 1, 24], 0), m.tensor(g, "f32", [8], RNG.normal(0, 1, 8))], [y], conv())
    else:
        middle, y = m.tensor(g, "f32", [1, 24]), m.tensor(g, "f32", [1, 8])
        m.op(g, B.MEAN, [first, m.tensor(g, "i32", [2], [1, 2])], [middle], opt("ReducerOptions"))
        m.op(g, B.FULLY_CONNECTED, [middle, codes([8, 24], 0), m.tensor(g, "f32", [8], RNG.normal(0, 1, 8))], [y], opt("FullyConnectedOptions"))
    m.ports(g, [x], [y])
    m.save(path)


def window_net(path, kind, code, fields):
    """STABLEHLO_REDUCE_WINDOW with a body of one operator."""
    m = Model()
    g = m.graph()
    x, first, y = m.tensor(g, kind, [2, 7, 6]), m.tensor(g, kind, [], 1), m.tensor(g, kind, [1])
    m.op(g, B.STABLEHLO_REDUCE_WINDOW, [x, first], [y], opt("StablehloReduceWindowOptions", bodySubgraphIndex=1, **fields))
    m.ports(g, [x], [y])
    g = m.graph()
    a, b, c = (m.tensor(g, kind, []) for _ in range(3))
    m.op(g, code, [a, b], [c])
    m.ports(g, [a, b], [c])
    m.save(path)


def hlo(s):
    """StableHLO's operators that the runtime has kernels for."""
    for kind in ("f32", "i32", "i8"):
        plain = lambda *d: T(kind, list(d))
        one = lambda: T(kind, [], 3)
        for n, (lo, hi, gap) in enumerate((([1, 0, 2], [0, 3, 1], [0, 0, 0]), ([0, 1, 0], [1, 0, 0], [1, 0, 2]), ([-1, 0, 1], [2, -2, 0], [0, 1, 0]))):
            s.case(f"hlo_pad_{n}", kind, B.STABLEHLO_PAD, [plain(3, 4, 2), one()], [plain(1)],
                   opt("StablehloPadOptions", edgePaddingLow=lo, edgePaddingHigh=hi, interiorPadding=gap))
        for n, (which, size, stride, dilation) in enumerate(((1, [1, 2, 3], [1, 1, 1], [1, 1, 1]), (2, [1, 3, 2], [1, 2, 1], [1, 1, 2]), (3, [2, 2, 2], [1, 2, 2], [1, 2, 1]), (4, [1, 3, 3], [2, 2, 1], [1, 1, 1]))):
            longs = lambda v: T("i64", [3], v)
            s.case(f"reduce_window_{n}", kind, B.REDUCE_WINDOW, [plain(2, 7, 6), one(), longs(size), longs(stride), longs(dilation)], [plain(1)],
                   opt("ReduceWindowOptions", reduceFunction=which))
            code = (None, B.STABLEHLO_ADD, B.STABLEHLO_MULTIPLY, B.STABLEHLO_MINIMUM, B.STABLEHLO_MAXIMUM)[which]
            fields = {"windowDimensions": size, "windowStrides": stride, "baseDilations": [1, 1 + n % 2, 1], "windowDilations": dilation, "padding": [0, 0, 1, n % 3, n % 2, 1]}
            s.case(f"hlo_reduce_window_{n}", kind, None, [plain(2, 7, 6)], [], make=lambda path: window_net(path, kind, code, fields))
        for n, (shape, start, offset, gone, where, at, size, out) in enumerate((
                ([5, 4], [[1], [4], [0]], [1], [0], [0], 1, [1, 4], [3, 4]), ([3, 4, 2], [[[0, 0], [1, 0], [2, 1]], [[0, 1], [1, 1], [0, 9]]], [2, 3], [0], [1, 0], 2, [1, 2, 2], [2, 3, 2, 2]),
                ([6], [[2], [0], [5]], [1], [], [0], 1, [2], [3, 2]), ([4, 5], [[1, 2], [3, 4]], [0, 2], [], [0, 1], 1, [2, 2], [2, 2, 2]))):
            start = np.array(start)
            s.case(f"hlo_gather_{n}", kind, B.STABLEHLO_GATHER, [plain(*shape), T("i32", start.shape)], [plain(*out)],
                   opt("StablehloGatherOptions", offsetDims=offset, collapsedSliceDims=gone, startIndexMap=where, indexVectorDim=at, sliceSizes=size), 1,
                   [numbers(plain(*shape)), start.astype(np.int32)])


def padded_net(path, kind, deep, before, after, stride):
    """PAD in front of CONV_2D or DEPTHWISE_CONV_2D without borders of its own."""
    m = Model()
    g = m.graph()

    def scaled(t, scale, zero, axis=0):
        q = g.tensors[t].quantization = S.QuantizationParametersT()
        q.scale, q.zeroPoint, q.quantizedDimension = np.float32(scale).reshape(-1), np.int64(zero).reshape(-1), axis
        return t

    high, zero = 7 + before + after, 0 if kind == "i16" else -9
    out = (high - 3) // stride + 1
    x, wide, y = m.tensor(g, kind, [1, 7, 7, 4]), m.tensor(g, kind, [1, high, high, 4]), m.tensor(g, kind, [1, out, out, 4])
    shape, axis = ([1, 3, 3, 4], 3) if deep else ([4, 3, 3, 4], 0)
    if kind == "f32":
        w, b = m.tensor(g, kind, shape, RNG.normal(0, .3, shape)), m.tensor(g, kind, [4], RNG.normal(0, 1, 4))
    else:
        steps = RNG.uniform(.005, .015, 4)
        scaled(x, .05, zero), scaled(wide, .05, zero), scaled(y, .07, 0 if kind == "i16" else 3)
        w = scaled(m.tensor(g, "i8", shape, RNG.integers(-127, 128, shape)), steps, np.zeros(4), axis)
        b = scaled(m.tensor(g, "i64" if kind == "i16" else "i32", [4], RNG.integers(-900, 900, 4)), .05 * steps, np.zeros(4))
    borders = m.tensor(g, "i32", [4, 2], [[0, 0], [before, after], [before, after], [0, 0]])
    m.op(g, B.PAD, [x, borders], [wide], opt("PadOptions"))
    fields = {"strideH": stride, "strideW": stride, "padding": S.Padding.VALID}
    m.op(g, B.DEPTHWISE_CONV_2D if deep else B.CONV_2D, [wide, w, b], [y],
         opt("DepthwiseConv2DOptions", depthMultiplier=1, **fields) if deep else opt("Conv2DOptions", **fields))
    m.ports(g, [x], [y])
    m.save(path)


def borders(s):
    for kind in ("f32", "i8", "i16"):
        for n, (deep, before, after, stride) in enumerate(((False, 1, 1, 2), (True, 1, 1, 2), (True, 0, 1, 2), (False, 2, 2, 1), (True, 3, 4, 2), (False, 1, 0, 3))):
            data = RNG.normal(0, 1.5, [1, 7, 7, 4]) * (1 if kind == "f32" else 30)
            s.case(f"padded_{n}", kind, None, [], [], data=[data.astype(TYPES[kind][1])], make=lambda path: padded_net(path, kind, deep, before, after, stride))


def graphs(s):
    for n in range(4):
        s.case(f"net_{n}", "dynamic", None, [], [], data=[RNG.normal(0, 1.5, [1, 7, 7, 8]).astype(np.float32)], make=lambda path: hybrid_net(path, n % 2 == 0))
    x = [np.float32([.5, -1, 2]), np.float32([3, .25, -2])]
    for word in (False, True):
        s.case(f"if_{word:d}", "f32", None, [], [], data=[np.bool_(word)] + x, make=branch)
        s.case(f"if_known_{word:d}", "f32", None, [], [], data=x, make=lambda path: branch(path, word))
    s.case("while", "f32", None, [], [], data=[np.int32(2), x[0]], make=loop)
    s.case("while_none", "f32", None, [], [], data=[np.int32(7), x[0]], make=loop)
    s.case("while_known", "f32", None, [], [], data=[x[0]], make=lambda path: loop(path, 1))
    for runs in (1, 3):
        s.case(f"variable_{runs}", "f32", None, [], [], data=[x[0]], make=counter, runs=runs)


def norms(s):
    """Rows of few and many squares, of nothing but zeros, and of a single one."""
    for kind in ("i8", "u8"):
        y = lambda: T(kind, [1], None, 1 / 128, 0 if kind == "i8" else 128)
        for n, (rows, width, top) in enumerate(((8, 1, 127), (6, 3, 2), (6, 20, 127), (4, 300, 127), (2, 10000, 255), (2, 5, 0))):
            x = act(kind, [rows, width], .03, -3 if kind == "i8" else 125)
            if top == 255:
                x.zero = -128 if kind == "i8" else 0
            lo, hi = np.iinfo(TYPES[kind][1]).min, np.iinfo(TYPES[kind][1]).max
            v = np.clip(RNG.integers(-top, top + 1, x.shape) + x.zero, lo, hi) if top < 255 else RNG.integers(hi - 3, hi + 1, x.shape)
            s.case(f"l2_norm_rows_{n}", kind, B.L2_NORMALIZATION, [x], [y()], opt("L2NormOptions"), 2, [v.astype(TYPES[kind][1])])
        for n, (shape, scale) in enumerate((([2, 10], .08), ([1, 3, 4, 7], .3), ([3, 100], .02), ([4, 2], .01), ([2, 1], .1), ([2, 1500], .001))):
            s.case(f"log_softmax_rows_{n}", kind, B.LOG_SOFTMAX, [act(kind, shape, scale)], [T(kind, [1], None, 1 / 16, 127 if kind == "i8" else 255)], None, 2)


def boards(s):
    """What TensorFlow Lite Micro takes beside the rest: int8 states of SVDF, SOFTMAX to int16, QUANTIZE from and to int16 with a zero point; windows that are
    cut off at borders, one window, RESIZE_BILINEAR by other factors, means of large planes."""
    c8 = lambda *d: T("i8", d, RNG.integers(-127, 128, d), .008)
    for n, zero in enumerate((0, -7)):
        s.case(f"svdf_bytes_{n}", "i8", B.SVDF, [T("i8", [1, 8], None, .005, 5), c8(8, 8), c8(8, 6), T("i32", [4], RNG.integers(-4000, 4000, 4), .03 * .008),
               T("i8", [1, 48], None, .03, zero, variable=True)], [T("i8", [1, 4], None, .04, 7)], opt("SVDFOptions", rank=2, fusedActivationFunction=1), 3, None, 3, micro=True)
    for n, (shape, scale) in enumerate((([1, 12], .15), ([3, 40], .02), ([2, 1], .1))):
        s.case(f"softmax_wide_{n}", "i8", B.SOFTMAX, [act("i8", shape, scale)], [T("i16", shape, None, 2.0 ** -16, -32768)], opt("SoftmaxOptions", beta=1.0), 2, micro=True)
    s.case("quantize_zero", "i16", B.QUANTIZE, [T("i16", [3, 40], None, 2.0 ** -16, -32768)], [T("i8", [3, 40], None, 1 / 256, -128)], None, 1)
    for kind in QUANT:
        x = act(kind, [1, 9, 7, 3], .05 if kind != "i16" else .0003)
        y = lambda: T(kind, [1], None, x.scale, x.zero)
        pool = lambda kh, kw, step, pad: opt("Pool2DOptions", padding=pad, strideH=step, strideW=step, filterHeight=kh, filterWidth=kw)
        for n, size in enumerate(((2, 3, 1, 0), (4, 4, 5, 0), (9, 7, 7, 1), (6, 6, 1, 0), (5, 2, 4, 1))):
            s.case(f"average_pool_border_{n}", kind, B.AVERAGE_POOL_2D, [x], [y()], pool(*size), 2)
            s.case(f"max_pool_border_{n}", kind, B.MAX_POOL_2D, [x], [y()], pool(*size), 2)
        x = act(kind, [1, 5, 4, 2], x.scale, x.zero)
        for n, (size, align, half) in enumerate((((20, 16), False, False), ((40, 8), False, True), ((65, 49), True, False), ((17, 13), True, False), ((5, 4), True, False), ((20, 32), False, True))):
            s.case(f"resize_bilinear_by_{n}", kind, B.RESIZE_BILINEAR, [x, T("i32", [2], size)], [y()], opt("ResizeBilinearOptions", halfPixelCenters=half, alignCorners=align), 4)
        one = act(kind, [1, 1, 4, 3], x.scale, x.zero)
        s.case("resize_bilinear_spread", kind, B.RESIZE_BILINEAR, [one, T("i32", [2], (6, 7))], [y()], opt("ResizeBilinearOptions", alignCorners=True), 4)
        for n, (shape, axes) in enumerate((([1, 40, 40, 2], (1, 2)), ([1, 3, 130, 2], (2,)), ([1, 70, 6, 2], (1,)))):
            x = act(kind, shape)
            s.case(f"mean_large_{n}", kind, B.MEAN, [x, T("i32", [len(axes)], axes)], [act(kind, [1], x.scale * .8)], opt("ReducerOptions"), 2)
        s.case("squared_difference_like", kind, B.SQUARED_DIFFERENCE, [act(kind, [2, 30], 2.0 ** -7), act(kind, [2, 30], 2.0 ** -7)], [act(kind, [1], .3)], None, 2)


def detection(path, kind, count, classes, background, **options):
    """TFLite_Detection_PostProcess, whose results have no shapes in the file; what goes in."""
    anchors = np.concatenate([RNG.uniform(0, 1, (count, 2)), RNG.uniform(.05, .5, (count, 2))], 1)
    boxes, scores = [1, count, 4], [1, count, classes + background]
    distinct = RNG.permutation(max(256, int(np.prod(scores))))[:np.prod(scores)].reshape(scores)  # the order of equal ones is the runtime's own
    if kind == "u8":
        inputs = [T(kind, boxes, None, .0323, 117), T(kind, scores, None, 1 / 256, 0), T(kind, [count, 4], np.round(anchors / .00386), .00386, 0)]
        data = [numbers(inputs[0]), distinct.astype(np.uint8)]
    else:
        inputs = [T(kind, boxes), T(kind, scores), T(kind, [count, 4], anchors)]
        data = [2 * numbers(inputs[0]), (distinct / distinct.size).astype(np.float32)]
    write(path, B.CUSTOM, inputs, [T("f32", []) for _ in range(4)], {"num_classes": classes, "y_scale": 10.0, "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0, **options},
          custom="TFLite_Detection_PostProcess")
    return data


def detections(s):
    """All places of a result are filled: what is not is left to chance by the fast kernel."""
    for n, (count, classes, background, most, places, regular, least, overlap) in enumerate((
            (40, 3, 1, 4, 1, False, -20.0, .6), (64, 1, 0, 6, 1, False, 0.0, .1), (30, 6, 0, 3, 3, False, .2, .5),
            (40, 3, 1, 9, 1, True, .3, .6), (20, 1, 1, 30, 1, True, 0.0, .2), (12, 5, 0, 7, 1, True, .7, 1.0))):
        for kind in ("f32", "u8"):
            with tempfile.NamedTemporaryFile() as f:
                data = detection(f.name, kind, count, classes, background, max_detections=most, max_classes_per_detection=places, use_regular_nms=regular,
                                 detections_per_class=5, nms_score_threshold=least, nms_iou_threshold=overlap)
                s.case(f"detection_{n}", kind, None, [], [], data=data, make=lambda path: shutil.copy(f.name, path))


def detection_fixtures(folder):
    """Two files with what goes in and what LiteRT's reference kernels make of it."""
    os.makedirs(folder, exist_ok=True)
    for name, most, places, regular, least in (("fast", 5, 2, False, .1), ("regular", 12, 1, True, .8)):
        path = os.path.join(folder, name)
        data = detection(path + ".tflite", "u8", 16, 3, 1, max_detections=most, max_classes_per_detection=places, use_regular_nms=regular,
                         nms_score_threshold=least, nms_iou_threshold=.1)
        m = Interpreter(path + ".tflite", experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
        m.allocate_tensors()
        for d, x, word in zip(m.get_input_details(), data, ("boxes", "scores")):
            m.set_tensor(d["index"], x)
            np.save(f"{path}_{word}.npy", x)
        m.invoke()
        for d, word in zip(m.get_output_details(), ("corners", "classes", "best", "count")):
            np.save(f"{path}_{word}.npy", m.get_tensor(d["index"]))


def fixtures(s):
    """Files for test/fixture/tflite: a counter with named ports; an open axis; what is turned down."""
    counter(os.path.join(s.folder, "counter.tflite"))
    detection_fixtures(os.path.join(s.folder, "detection"))
    m = Model()
    g = m.graph()
    x, y = m.tensor(g, "f32", [1, 3]), m.tensor(g, "f32", [1, 3])
    g.tensors[x].shapeSignature = g.tensors[y].shapeSignature = [-1, 3]
    m.op(g, B.ABS, [x], [y], opt("AbsOptions"))
    m.ports(g, [x], [y])
    m.sign({"rows": x}, {"sizes": y})
    m.save(os.path.join(s.folder, "open.tflite"))
    m = Model()  # weights in blocks of two, each with a scale: the reference kernel does not read them
    g = m.graph()
    x, w, scale, y = m.tensor(g, "f32", [1, 4]), m.tensor(g, "i8", [2, 4], [[1, 2, 3, 4], [-1, -2, -3, -4]]), m.tensor(g, "f16", [2, 2], [[.5, .25], [1, 2]]), m.tensor(g, "f32", [1, 2])
    q = g.tensors[w].quantization = S.QuantizationParametersT()
    q.details, q.detailsType = S.BlockwiseQuantizationT(), S.QuantizationDetails.BlockwiseQuantization
    q.details.scales, q.details.zeroPoints, q.details.blockSize = scale, -1, 2
    m.op(g, B.FULLY_CONNECTED, [x, w, -1], [y], opt("FullyConnectedOptions"))
    m.ports(g, [x], [y])
    m.save(os.path.join(s.folder, "blocks.tflite"))
    m = Model()  # two signatures, of codes
    for k, (code, word) in enumerate(((B.ADD, "Add"), (B.MUL, "Mul"))):
        g = m.graph()
        a, b, y = (m.tensor(g, "i8", [4]) for _ in range(3))
        for t, scale, zero in ((a, .5, 3), (b, .25, -7), (y, .75, 1)):
            q = g.tensors[t].quantization = S.QuantizationParametersT()
            q.scale, q.zeroPoint = np.float32([scale]), np.int64([zero])
        m.op(g, code, [a, b], [y], opt(word + "Options"))
        m.ports(g, [a, b], [y])
        m.sign({"left": a, "right": b}, {"sum" if word == "Add" else "product": y}, word.lower(), k)
    m.save(os.path.join(s.folder, "two.tflite"))
    m = Model()  # uint8: sums that the factor's last bits decide, as LiteRT's reference kernels round them
    g, xs, ws, ys = m.graph(), np.float32(.229392245), np.float32(.00415090844), np.float32(.0935564712)

    def codes(kind, shape, scale, zero, data=None):
        t = m.tensor(g, kind, shape, data)
        q = g.tensors[t].quantization = S.QuantizationParametersT()
        q.scale, q.zeroPoint = np.float32([scale]), np.int64([zero])
        return t

    x, y, z = codes("u8", [1, 1, 1, 1], xs, 128), codes("u8", [1, 1, 1, 2], ys, 128), codes("u8", [1, 2], ys, 128)
    bias = codes("i32", [2], xs * ws, 0, [8793, -8793])
    m.op(g, B.CONV_2D, [x, codes("u8", [2, 1, 1, 1], ws, 120, [[[[120]]], [[[120]]]]), bias], [y], opt("Conv2DOptions", strideW=1, strideH=1))
    m.op(g, B.FULLY_CONNECTED, [x, codes("u8", [2, 1], ws, 120, [[120], [120]]), bias], [z], opt("FullyConnectedOptions"))
    m.ports(g, [x], [y, z])
    m.save(os.path.join(s.folder, "uint8.tflite"))
    m = Model()  # uint8 sums between convolutions, which both the next one and a later one read
    g = m.graph()
    v = [codes("u8", [1, 4, 4, 8], .05 + .01 * k, 120 + k) for k in range(8)]
    x = v[0]

    def conv(a, y, k):
        w = codes("u8", [8, 1, 1, 8], .02, 128, (np.arange(64).reshape(8, 1, 1, 8) * (7 + k) % 99 + 80).tolist())
        m.op(g, B.CONV_2D, [a, w, codes("i32", [8], .001, 0, [100 * k] * 8)], [y], opt("Conv2DOptions", strideW=1, strideH=1))

    conv(x, v[1], 1)
    m.op(g, B.ADD, [v[1], x], [v[2]], opt("AddOptions"))
    conv(v[2], v[3], 2)
    m.op(g, B.ADD, [v[3], v[2]], [v[4]], opt("AddOptions"))
    m.op(g, B.ADD, [v[4], v[2]], [v[5]], opt("AddOptions"))
    conv(v[4], v[6], 3)
    conv(v[5], v[7], 4)
    m.ports(g, [x], [v[6], v[7]])
    m.save(os.path.join(s.folder, "uint8_sums.tflite"))
    m = Model()  # int16: what f32 would lose of LEAKY_RELU's factors, and of GELU's small tail
    g = m.graph()
    x, y, z = codes("i16", [1, 4], 1.9e-4, 0), codes("i16", [1, 4], 1.57391e-4, 0), codes("i16", [1, 4], 1.9e-4, 0)
    m.op(g, B.LEAKY_RELU, [x], [y], opt("LeakyReluOptions", alpha=.137))
    m.op(g, B.GELU, [x], [z], opt("GeluOptions"))
    m.ports(g, [x], [y, z])
    m.save(os.path.join(s.folder, "curves16.tflite"))
    write(os.path.join(s.folder, "dynamic.tflite"), B.FULLY_CONNECTED,  # int8 weights, float activations, an open batch
          [T("f32", [-1, 4]), T("i8", [3, 4], [[1, -2, 3, 127], [-127, 5, 6, 0], [7, 8, -127, 9]], [.01, .02, .005], [0, 0, 0]), T("f32", [3], [.5, 0, -1])],
          [T("f32", [-1, 3])], opt("FullyConnectedOptions"))
    # steps of a result that are finer than the product's by 2^102: the runtimes shift by more than 31 places, and differ
    write(os.path.join(s.folder, "fine.tflite"), B.MUL, [T("u8", [4], None, .0235, 128), T("u8", [4], None, .0039, 128)], [T("u8", [4], None, 3e-35, 100)], opt("MulOptions"), 2)
    write(os.path.join(s.folder, "corners.tflite"), B.RESIZE_NEAREST_NEIGHBOR, [T("i16", [1, 3, 4, 2], None, .01), T("i32", [2], [5, 10])], [T("i16", [1, 5, 10, 2], None, .01)],
          opt("ResizeNearestNeighborOptions", alignCorners=True), 3)  # 2 and 3 times as large
    # a state of int8 whose zero takes it past the end: on boards it comes back at the other one
    write(os.path.join(s.folder, "wraps.tflite"), B.SVDF, [T("i8", [1, 1], None, .1, 0), T("i8", [1, 1], [[100]], .01), T("i8", [1, 2], [[3, 50]], .01), T("i32", [1], [0], .0005),
          T("i8", [1, 2], None, .05, -7, variable=True)], [T("i8", [1, 1], None, .05, 0)], opt("SVDFOptions", rank=1), 3)
    for name, steps, batch, kind in (("codes", 3, 2, "u8"), ("steps", 2000000, 2, "f32"), ("state", 3, 1, "f32")):  # each is turned down
        w = lambda *d: T(kind, d, np.ones(d), None if kind == "f32" else .1)
        write(os.path.join(s.folder, name + ".tflite"), B.UNIDIRECTIONAL_SEQUENCE_RNN,
              [T("f32", [2, steps, 5]), w(4, 5), w(4, 4), T("f32", [4], np.ones(4)), T("f32", [batch, 4], variable=True)], [T("f32", [1])], opt("SequenceRNNOptions"))


def main():
    if sys.argv[2:] == ["fixtures"]:
        fixtures(Suite(sys.argv[1]))
        return
    s = Suite(sys.argv[1])
    for part in (products, elementwise, moves, reductions, others, memory, memory_codes, memory8, hlo, graphs, norms, borders, boards, detections):
        if len(sys.argv) < 3 or part.__name__ in sys.argv[2:]:
            part(s)
    with open(os.path.join(s.folder, "cases.txt"), "w") as f:
        f.write("\n".join(s.list) + "\n")
    print(", ".join(f"{k} {n}" for k, n in sorted(s.count.items())))


if __name__ == "__main__":
    main()
