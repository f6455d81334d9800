#!/usr/bin/env python3
"""Streams that Vela itself makes of TensorFlow Lite files, with the answers of TensorFlow Lite's kernels.

    npu_tflite.py OUT.zip VERSION=PYTHON...   each PYTHON has ethos-u-vela VERSION; writes test/fixture/npu/tflite.zip

One operator a file, of those whose streams have what no TOSA program makes: products of 32 bits with a multiplier, the machine's own
curves, maxima without a scale, sums of unlike scales.  For each machine, version and operator: program (as the runtime takes it), in0 ...,
out0 ....  Needs ai-edge-litert, flatbuffers and numpy here.
"""
import os
import struct
import subprocess
import sys
import tempfile
import zipfile

import npu_vela
import numpy as np
from ai_edge_litert import schema_py_generated as S
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from tflite_suite import T, TYPES, write

O = S.BuiltinOperator
MACHINES = ("ethos-u55-128", "ethos-u85-256")


def options(name, **fields):
    record = getattr(S, name + "T")()
    for k, v in fields.items():
        setattr(record, k, v)
    return record


def cases():
    def t(kind, shape, scale, zero=0):
        return T(kind, shape, None, [scale / (256 if kind == "i16" else 1)], [0 if kind == "i16" else zero])

    pool = dict(padding=0, strideW=2, strideH=2, filterWidth=3, filterHeight=3, fusedActivationFunction=0)
    for k in ("i8", "i16"):
        one = 1 / 256 if k == "i8" else 1 / 128
        yield "softmax_" + k, O.SOFTMAX, [t(k, (1, 12), .15, 3)], [t(k, (1, 12), one, -128)], options("SoftmaxOptions", beta=1.0), 2
        yield "softmax_rows_" + k, O.SOFTMAX, [t(k, (4, 9), .4, -7)], [t(k, (4, 9), one, -128)], options("SoftmaxOptions", beta=1.0), 2
        yield "leaky_relu_" + k, O.LEAKY_RELU, [t(k, (1, 4, 4, 5), .05, 3)], [t(k, (1, 4, 4, 5), .04, -5)], options("LeakyReluOptions", alpha=.1), 2
        yield "max_pool_" + k, O.MAX_POOL_2D, [t(k, (1, 5, 5, 3), .05, 3)], [t(k, (1, 3, 3, 3), .05, 3)], options("Pool2DOptions", **pool), 2
        yield "average_pool_" + k, O.AVERAGE_POOL_2D, [t(k, (1, 5, 5, 3), .05, 3)], [t(k, (1, 3, 3, 3), .05, 3)], options("Pool2DOptions", **pool), 2
        for op, name in ((O.ADD, "Add"), (O.SUB, "Sub"), (O.MUL, "Mul")):
            yield f"{name.lower()}_{k}", op, [t(k, (1, 3, 4, 5), .001, 3), t(k, (1, 3, 4, 5), .9, -4)], [t(k, (1, 3, 4, 5), .8 if name != "Mul" else .01, 5)], \
                options(name + "Options"), 2
    for op, name in ((O.TANH, "tanh"), (O.LOGISTIC, "logistic")):
        for scale in (2.0 ** -10, 2.0 ** -12, 2.0 ** -15):
            x, y = T("i16", (1, 1, 1, 512), None, [scale], [0]), T("i16", (1, 1, 1, 512), None, [2.0 ** -15], [0])
            yield f"{name}_{scale:.2g}", op, [x], [y], None, 3


def numbers(name, t):
    info = np.iinfo(TYPES[t.kind][1])
    if name.startswith(("tanh", "logistic")):
        return np.linspace(info.min, info.max, 512).reshape(t.shape).astype(np.int16)
    return np.random.default_rng(len(name)).integers(info.min, info.max + 1, t.shape).astype(TYPES[t.kind][1])


def answers(path, data):
    """What TensorFlow Lite's own kernels give."""
    it = Interpreter(path, experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    it.allocate_tensors()
    for d, v in zip(it.get_input_details(), data):
        it.set_tensor(d["index"], v)
    it.invoke()
    return [it.get_tensor(d["index"]) for d in it.get_output_details()]


def block(name, data):
    return name.encode().ljust(16, b"\0") + struct.pack("<I", len(data)) + bytes(12) + data + bytes(-len(data) % 16)


def payload(path):
    """The only operator of Vela's file, as the runtime takes it; None: Vela left it to the CPU."""
    m = S.ModelT.InitFromObj(S.Model.GetRootAsModel(open(path, "rb").read(), 0))
    g = m.subgraphs[0]
    if len(g.operators) != 1 or m.operatorCodes[g.operators[0].opcodeIndex].builtinCode != O.CUSTOM:
        return None
    plan = next(m.buffers[x.buffer].data for x in m.metadata if x.name == b"OfflineMemoryAllocation")
    at = np.frombuffer(bytes(plan), np.int32)[3:]
    op = g.operators[0]
    stream, weights = ((lambda d: b"" if d is None else bytes(d))(m.buffers[g.tensors[i].buffer].data) for i in op.inputs[:2])

    def ports(list_):
        rows = b"".join(struct.pack("<9I", *([1] * (6 - len(g.tensors[i].shape)) + list(g.tensors[i].shape)),
                                    2 if g.tensors[i].type == S.TensorType.INT16 else 1, at[i], 1) for i in list_)
        return struct.pack("<I", len(list_)) + rows

    scratch = struct.pack("<I", int(g.tensors[op.inputs[2]].shape[0]))
    blocks = (("vela_bin_stream", b""), ("cmd_data", stream), ("weight_data", weights), ("scratch_size", scratch), ("inputs", ports(op.inputs[4:])),
              ("outputs", ports(op.outputs)), ("vela_end_stream", b""))
    return b"".join(block(*b) for b in blocks)


def main():
    out, velas = sys.argv[1], [v.split("=") for v in sys.argv[2:]]
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for name, op, inputs, outputs, opt, version in cases():
            path = f"{folder}/{name}.tflite"
            write(path, op, inputs, outputs, opt, version)
            data = [numbers(name, t) for t in inputs]
            want = answers(path, data)
            for machine in MACHINES:
                for number, python in velas:
                    made = f"{folder}/{machine}-{number}"
                    run = subprocess.run([python, "-c", "from ethosu.vela.vela import main; main()", path, *npu_vela.options(machine), "--output-dir", made], capture_output=True)
                    program = payload(f"{made}/{name}_vela.tflite") if run.returncode == 0 else None
                    if program is None:
                        print(f"{machine}, Vela {number}: {name} is left to the CPU")
                        continue
                    for member, bytes_ in [("program", program)] + [(f"in{i}", d.tobytes()) for i, d in enumerate(data)] + \
                            [(f"out{i}", d.tobytes()) for i, d in enumerate(want)]:
                        z.writestr(zipfile.ZipInfo(f"{machine}/vela-{number}-{name}/{member}", (1980, 1, 1, 0, 0, 0)), bytes_, zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    main()
