#!/usr/bin/env python3
"""Files of `tosac compile -o OUT.tflite` in TensorFlow Lite Micro itself.

    tflm_suite.py TOSAC                     digits in several forms, and tokens of int64, which are int32 in the file
    tflm_suite.py TOSAC run FILE.tflite INPUT.npy...   one file that is written already: what TFLM gives, beside `tosac run`

Of each file: LiteRT's schema reads it, Vela opens it; numbers begin at multiples of 16; every tensor of the arena lies within
the plan, and those alive together apart.  Then TFLM runs it: before each `ethos-u` operator it is asked for the operator's inputs, the
operator alone is run by tosac, and its results stand as constants in what TFLM runs next; offsets stay as they are written.  What TFLM
gives in the end must be what `tosac run FILE` gives, element by element.
Needs numpy, ai-edge-litert, tflite-micro; ethos-u-vela where it is installed.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as S

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KIND = {S.TensorType.FLOAT32: np.float32, S.TensorType.INT8: np.int8, S.TensorType.UINT8: np.uint8, S.TensorType.INT16: np.int16,
        S.TensorType.INT32: np.int32, S.TensorType.INT64: np.int64, S.TensorType.UINT32: np.uint32, S.TensorType.UINT64: np.uint64,
        S.TensorType.BOOL: np.bool_}
OFFLINE = b"OfflineMemoryAllocation"


def read(path):
    with open(path, "rb") as f:
        return S.ModelT.InitFromObj(S.Model.GetRootAs(f.read(), 0))


def is_npu(m, op):
    return m.operatorCodes[op.opcodeIndex].customCode == b"ethos-u"


def offsets(m):
    data = next(bytes(m.buffers[x.buffer].data) for x in m.metadata if x.name == OFFLINE)
    words = np.frombuffer(data, np.int32)
    assert words[0] == 0 and words[1] == 1 and words[2] == len(words) - 3 == len(m.subgraphs[0].tensors), words[:3]
    return words[3:]


def bytes_of(t):
    return int(np.prod(t.shape, dtype=np.int64)) * np.dtype(KIND[t.type]).itemsize


def check_layout(path):
    """Alignment in the file, and the plan."""
    raw = open(path, "rb").read()
    m, model = read(path), S.Model.GetRootAs(raw, 0)
    for i in range(model.BuffersLength()):
        b = model.Buffers(i)
        if b.DataLength():
            assert b._tab.Vector(b._tab.Offset(4)) % 16 == 0, f"buffer {i}"
    g, at = m.subgraphs[0], offsets(m)
    n = len(g.operators)
    first, last = {t: -1 for t in g.inputs}, {t: n for t in g.outputs}
    for k, op in enumerate(g.operators):
        for t in op.inputs:
            last[t] = max(last.get(t, -1), k)
        for t in op.outputs:
            first.setdefault(t, k)
            last[t] = max(last.get(t, -1), k)
    scratch = {op.inputs[i] for op in g.operators if is_npu(m, op) for i in (2, 3)}
    arena = max([at[t] + bytes_of(g.tensors[t]) for t in range(len(at)) if at[t] >= 0], default=0)
    inside = [t for t in first if at[t] >= 0 and t not in scratch]
    joined = {(op.inputs[0], op.outputs[0]) for op in g.operators
              if not is_npu(m, op) and m.operatorCodes[op.opcodeIndex].builtinCode == S.BuiltinOperator.RESHAPE}
    for t in inside:
        assert at[t] % 16 == 0
        for u in inside:
            if t < u and first[t] <= last[u] and first[u] <= last[t] and (t, u) not in joined and (u, t) not in joined:
                apart = at[t] + bytes_of(g.tensors[t]) <= at[u] or at[u] + bytes_of(g.tensors[u]) <= at[t]
                same = any(t in op.inputs and u in op.outputs and is_npu(m, op) for op in g.operators) or \
                    any(u in op.inputs and t in op.outputs and is_npu(m, op) for op in g.operators)
                assert apart or same, (g.tensors[t].name, g.tensors[u].name)
    return m, int(arena)


def pack(m):
    b = flatbuffers.Builder(1 << 16)
    b.Finish(m.Pack(b), b"TFL3")
    return bytes(b.Output())


def run_tosac(tosac, file, inputs, folder):
    out = os.path.join(folder, "out")
    words = []
    for i, x in enumerate(inputs):
        np.save(os.path.join(folder, f"x{i}.npy"), x)
        words += ["-i", os.path.join(folder, f"x{i}.npy")]
    subprocess.run(["rm", "-rf", out], check=True)
    done = subprocess.run([tosac, "run", file, *words, "-o", out], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    names = sorted(os.listdir(out), key=lambda s: int("".join(c for c in s if c.isdigit()) or 0))
    return [np.load(os.path.join(out, x)) for x in names if x.endswith(".npy")]


def run_alone(tosac, path, k, inputs, folder):
    """Operator k of the file, by tosac."""
    m = read(path)
    g = m.subgraphs[0]
    op = g.operators[k]
    g.operators, g.inputs, g.outputs = [op], list(op.inputs[4:]), list(op.outputs)
    m.signatureDefs = None
    file = os.path.join(folder, "one.tflite")
    with open(file, "wb") as f:
        f.write(pack(m))
    return run_tosac(tosac, file, inputs, folder)


def run_micro(m, keep, outputs, inputs):
    """The operators `keep`, for these tensors, in TFLM."""
    from tflite_micro.python.tflite_micro import runtime
    g = m.subgraphs[0]
    ops, outs = g.operators, g.outputs
    g.operators, g.outputs = [ops[k] for k in keep], list(outputs)
    it = runtime.Interpreter.from_bytes(pack(m))
    g.operators, g.outputs = ops, outs
    for i, x in enumerate(inputs):
        it.set_input(x, i)
    it.invoke()
    return [np.array(it.get_output(i)) for i in range(len(outputs))]


def value(m, t, inputs, done):
    """The numbers of tensor t as TFLM has them once the operators `done` ran."""
    g = m.subgraphs[0]
    if t in g.inputs:
        return inputs[list(g.inputs).index(t)]
    if m.buffers[g.tensors[t].buffer].data is not None:
        return np.frombuffer(bytes(m.buffers[g.tensors[t].buffer].data), KIND[g.tensors[t].type]).reshape(g.tensors[t].shape)
    return run_micro(m, done, [t], inputs)[0]


def in_micro(tosac, path, inputs):
    m = read(path)
    m.signatureDefs = None
    g = m.subgraphs[0]
    done = []
    with tempfile.TemporaryDirectory() as folder:
        for k, op in enumerate(g.operators):
            if not is_npu(m, op):
                done.append(k)
                continue
            given = [value(m, t, inputs, done).reshape(g.tensors[t].shape) for t in op.inputs[4:]]
            for t, x in zip(op.outputs, run_alone(tosac, path, k, given, folder)):
                b = S.BufferT()
                b.data = np.frombuffer(x.tobytes(), np.uint8)
                m.buffers.append(b)
                g.tensors[t].buffer = len(m.buffers) - 1
        return [value(m, t, inputs, done) for t in g.outputs]


def vela_opens(path):
    vela = shutil.which("vela", path=os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"])
    if not vela:
        return "there is no Vela"
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([vela, path, "--accelerator-config", "ethos-u85-256", "--output-dir", folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return "Vela opens it"


PRODUCTS = {S.BuiltinOperator.CONV_2D, S.BuiltinOperator.DEPTHWISE_CONV_2D, S.BuiltinOperator.FULLY_CONNECTED, S.BuiltinOperator.MEAN}


def meets(got, want, products):
    """Equal; sums of floats are within rounding, runtimes add in other orders."""
    if products and want.dtype == np.float32:
        return np.abs(got - want).max() <= 1e-5 * np.abs(want).max()
    return np.array_equal(got, want)


def judge(tosac, path, inputs):
    m, arena = check_layout(path)
    vela = vela_opens(path)
    with tempfile.TemporaryDirectory() as folder:
        want = run_tosac(tosac, path, inputs, folder)
    got = in_micro(tosac, path, inputs)
    ops = [m.operatorCodes[op.opcodeIndex] for op in m.subgraphs[0].operators]
    npu = sum(c.customCode == b"ethos-u" for c in ops)
    products = any(c.builtinCode in PRODUCTS for c in ops if c.customCode is None)
    same = len(got) == len(want) and all(meets(a.reshape(b.shape), b, products) for a, b in zip(got, want))
    return same, f"{npu} ethos-u, {len(ops) - npu} others, arena {arena}; {vela}"


DIGITS = os.path.join(ROOT, "test/fixture/digits")
CASES = [("whole", "ethos-u55-128", []), ("sums on the CPU", "ethos-u55-128", ["--cpu", "add"]),
         ("sums on the CPU", "ethos-u85-256", ["--cpu", "add"]), ("a layer on the CPU", "ethos-u65-256", ["--cpu", "linear"]),
         ("convolutions on the CPU", "ethos-u55-128", ["--cpu", "conv"]), ("in float", "cpu", [])]
TOKENS = """graph @main(%0 "tokens": i64[1,6]) {
  %1 "table" = const [0.1, 0.2, 0.3, -0.4, 0.5, 0.6, -0.7, 0.8, 0.9, 1.0, -1.1, 1.2, -1.3, 1.4, 1.5, 1.6] : f32[8,2]
  %2 "w" = const [0.5, -1, 0.25, 1, -0.75, 0.1] : f32[3,2]
  %3 "b" = const [0.1, -0.2, 0.3] : f32[3]
  %4 = slice %0 axis=1 start=0 end=6 step=1 : i64[1,6]
  %5 = embedding %1, %4 : f32[1,6,2]
  %6 = linear %5, %2, %3 : f32[1,6,3]
  return %6
}
"""

# int8 for a Cortex-M: one program of each kind of form that is no operator of the same name.
LEAD = 'graph @main(%0 "x": f32[1,4,3,5]) {\n'
SUMS = """  %w = const [0.5, -1, 0.25, 1, -0.75, 0.1, 0.3, -0.2, 0.9, 0.4, 0.6, -0.5, 0.7, -0.3, 0.2, 0.8] : f32[4,4,1,1]
  %c = conv %0, %w stride=[1,1] pad=[0,0,0,0] dilation=[1,1] groups=1 : f32[1,4,3,5]
"""
INT8 = {
    "the larger, the smaller": LEAD + SUMS + """  %a = sigmoid %c : f32[1,4,3,5]
  %b = maximum %a, %c : f32[1,4,3,5]
  %d = minimum %b, %0 : f32[1,4,3,5]
  return %d
}
""",
    "the largest along axes": LEAD + SUMS + """  %a = amax %c axes=[1] keepdim=false : f32[1,3,5]
  %b = amin %c axes=[2,3] keepdim=true : f32[1,4,1,1]
  return %a, %b
}
""",
    "places": LEAD + SUMS + """  %a = argmax %c axis=1 keepdim=false : i64[1,3,5]
  %b = argmin %c axis=3 keepdim=true : i64[1,4,3,1]
  return %a, %b
}
""",
    "largest and place": LEAD + SUMS + """  %a, %b = max_dim %c axis=1 keepdim=true : f32[1,1,3,5], i64[1,1,3,5]
  return %a, %b
}
""",
    "comparison and choice": LEAD + SUMS + """  %n = const 0.25 : f32[]
  %g = gt %c, %n : bool[1,4,3,5]
  %s = sigmoid %0 : f32[1,4,3,5]
  %a = where %g, %s, %c : f32[1,4,3,5]
  return %a, %g
}
""",
    "tables": LEAD + SUMS + """  %e = erf %c : f32[1,4,3,5]
  %a = gelu %e form=erf : f32[1,4,3,5]
  %b = exp %0 : f32[1,4,3,5]
  return %a, %b
}
""",
    "bounds": LEAD + SUMS + """  %a = clamp %c lo=-0.5 hi=0.7 : f32[1,4,3,5]
  %b = clamp %0 lo=-1 hi=1 : f32[1,4,3,5]
  return %a, %b
}
""",
    "padding and order": LEAD + SUMS + """  %a = pad %c pad=[0,0,0,0,1,0,2,1] mode=constant value=0.5 : f32[1,4,4,8]
  %b = flip %0 axes=[3] : f32[1,4,3,5]
  return %a, %b
}
""",
    "float between": LEAD + SUMS + """  %n = const [1, 0.5, 2, 1, -1] : f32[5]
  %m = const [0, 0.5, 0, -0.1, 0] : f32[5]
  %a = layer_norm %c, %n, %m n_axes=1 eps=1e-05 : f32[1,4,3,5]
  %b = softmax %c axis=1 : f32[1,4,3,5]
  %s = sum %0 axes=[2] keepdim=true : f32[1,4,1,5]
  %d = div %c, %s mode=exact : f32[1,4,3,5]
  return %a, %b, %d
}
""",
    "six axes moved": """graph @main(%0 "x": f32[2,3,4,1,5,2]) {
  %1 = permute %0 perm=[4,5,0,2,3,1] : f32[5,2,2,4,1,3]
  return %1
}
""",
    "twelve joined": LEAD + "  %y = cat " + ", ".join(["%0"] * 12) + " axis=1 : f32[1,48,3,5]\n  return %y\n}\n",
    "a choice of constants": """graph @main(%0 "x": f32[1,6,2]) {
  %1 = quantize %0 scale=0.02 zero=3 axis=-1 qmin=-128 qmax=127 dtype=i8 : i8[1,6,2]
  %2 = dequantize %1 scale=0.02 zero=3 axis=-1 qmin=-128 qmax=127 dtype=f32 : f32[1,6,2]
  %3 = const [true, false] : bool[2]
  %4 = const 100 : i8[]
  %5 = dequantize %4 scale=0.01 zero=0 axis=-1 qmin=-128 qmax=127 dtype=f32 : f32[]
  %6 = const -50 : i8[]
  %7 = dequantize %6 scale=0.01 zero=0 axis=-1 qmin=-128 qmax=127 dtype=f32 : f32[]
  %8 = where %3, %5, %7 : f32[2]
  %9 = quantize %8 scale=0.01 zero=0 axis=-1 qmin=-128 qmax=127 dtype=i8 : i8[2]
  %10 = dequantize %9 scale=0.01 zero=0 axis=-1 qmin=-128 qmax=127 dtype=f32 : f32[2]
  %11 = add %2, %10 alpha=1 : f32[1,6,2]
  %12 = quantize %11 scale=0.03 zero=1 axis=-1 qmin=-128 qmax=127 dtype=i8 : i8[1,6,2]
  %13 = dequantize %12 scale=0.03 zero=1 axis=-1 qmin=-128 qmax=127 dtype=f32 : f32[1,6,2]
  return %13
}
""",
    "a bias in float": """graph @main(%0 "x": f32[1,6,2]) {
  %1 = quantize %0 scale=0.02 zero=3 axis=-1 qmin=-128 qmax=127 dtype=i8 : i8[1,6,2]
  %2 = dequantize %1 scale=0.02 zero=3 axis=-1 qmin=-128 qmax=127 dtype=f32 : f32[1,6,2]
  %3 = const [100, -127, 30, 90, -50, 10] : i8[3,2]
  %4 = dequantize %3 scale=0.01 zero=0 axis=-1 qmin=-127 qmax=127 dtype=f32 : f32[3,2]
  %5 = const [0.1, -0.2, 0.3] : f32[3]
  %6 = linear %2, %4, %5 : f32[1,6,3]
  %7 = quantize %6 scale=0.03 zero=-5 axis=-1 qmin=-128 qmax=127 dtype=i8 : i8[1,6,3]
  %8 = dequantize %7 scale=0.03 zero=-5 axis=-1 qmin=-128 qmax=127 dtype=f32 : f32[1,6,3]
  return %8
}
""",
}


# Programs with buffers that they change, several runs one after the other.
STATE = {
    "a queue": """graph @main(%x "x": f32[1,4,3]) {
  %b "b" = const @ZEROS : f32[1,4,6]
  %a = cat %b, %x axis=2 : f32[1,4,9]
  %n = slice %a axis=2 start=3 end=9 step=1 : f32[1,4,6]
  %s = sum %a axes=[2] keepdim=false : f32[1,4]
  mutate %b -> %n
  return %s
}
""",
    "one after the other, from numbers": """graph @main(%x "x": f32[1,4,6]) {
  %b "b1" = const @NUMBERS : f32[1,4,6]
  %c "b2" = const @ZEROS : f32[1,4,6]
  %d = add %x, %c alpha=1 : f32[1,4,6]
  %e = mul %d, %b : f32[1,4,6]
  mutate %b -> %x
  mutate %c -> %b
  return %e
}
""",
    "an image's mean, a count": """graph @main(%x "x": f32[1,3,8,8]) {
  %b "b" = const [0.5, -0.25, 1] : f32[1,3,1,1]
  %w = const [1, 0, 0, 0, 1, 0.5, 0, -1, 1] : f32[3,3,1,1]
  %n "n" = const [0] : f32[1]
  %one = const [1] : f32[1]
  %m = add %n, %one alpha=1 : f32[1]
  %a = add %x, %b alpha=1 : f32[1,3,8,8]
  %c = conv %a, %w stride=[1,1] pad=[0,0,0,0] dilation=[1,1] groups=1 : f32[1,3,8,8]
  %r = relu %c : f32[1,3,8,8]
  %y = mean %r axes=[2,3] keepdim=true : f32[1,3,1,1]
  %z = mul %y, %m : f32[1,3,1,1]
  mutate %b -> %y
  mutate %n -> %m
  return %z
}
""",
}


def filled(text):
    rng = np.random.default_rng(2)
    return re.sub(r"@(ZEROS|NUMBERS)", lambda m: str([round(float(v), 2) * (m[1] != "ZEROS") for v in rng.standard_normal(24)]), text)


def in_turn(tosac, path, runs):
    """All runs in one interpreter, beside `tosac run` of all."""
    from tflite_micro.python.tflite_micro import runtime
    with open(path, "rb") as f:
        it = runtime.Interpreter.from_bytes(f.read())
    got = []
    for x in runs:
        it.set_input(x, 0)
        it.invoke()
        got.append(np.array(it.get_output(0)))
    with tempfile.TemporaryDirectory() as folder:
        want = run_tosac(tosac, path, [np.stack(runs)], folder)[0]
    got = np.stack(got)
    return want.size == got.size and np.array_equal(want.reshape(got.shape), got) and not np.array_equal(got[0], got[-1])


def remembering(tosac):
    """int8 programs for a Cortex-M that remember: whether TFLM gives the bytes of `tosac run`, run after run."""
    for name, text in STATE.items():
        with tempfile.TemporaryDirectory() as folder:
            model, out = os.path.join(folder, "p.ir"), os.path.join(folder, "p.tflite")
            with open(model, "w") as f:
                f.write(numbered(filled(text)))
            done = subprocess.run([tosac, "compile", model, "-t", "cortex-m4", "-o", out, "--calib", "random:8"], capture_output=True, text=True)
            shape = [int(d) for d in re.search(r"f32\[([\d,]+)\]", text)[1].split(",")]
            runs = list(np.random.default_rng(1).standard_normal([8, *shape]).astype(np.float32))
            same = done.returncode == 0 and in_turn(tosac, out, runs)
            print(f"int8, state, {name}: {'equal' if same else 'different'} {done.stderr[-300:] if done.returncode else ''}")
            yield same


def numbered(text):
    """Values by number, as the format has them, of values by name."""
    names = {}
    return re.sub(r"%(\w+)", lambda m: "%" + str(names.setdefault(m[1], len(names))), text)


def programs(tosac):
    """int8 programs for a Cortex-M: whether TFLM gives the bytes that `tosac run` does."""
    for name, text in INT8.items():
        with tempfile.TemporaryDirectory() as folder:
            model, out = os.path.join(folder, "p.ir"), os.path.join(folder, "p.tflite")
            with open(model, "w") as f:
                f.write(numbered(text))
            data = [] if "quantize %0" in text else ["--calib", "random:8"]
            done = subprocess.run([tosac, "compile", model, "-t", "cortex-m4", "-o", out, *data], capture_output=True, text=True)
            shape = [int(d) for d in re.search(r"f32\[([\d,]+)\]", text)[1].split(",")]
            x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
            same, said = judge(tosac, out, [x]) if done.returncode == 0 else (False, done.stderr[-300:])
            print(f"int8, {name}: {'equal' if same else 'different'}: {said}")
            yield same


def tokens(tosac):
    """A table of rows by number: whether each target's file computes the same in both."""
    with tempfile.TemporaryDirectory() as folder:
        model, calib, out = (os.path.join(folder, name) for name in ("tokens.ir", "calib.npy", "tokens.tflite"))
        data = np.arange(48, dtype=np.int64).reshape(8, 6) % 8
        np.save(calib, data)
        with open(model, "w") as f:
            f.write(TOKENS)
        for target in ("cpu", "cortex-m4", "ethos-u55-128"):
            done = subprocess.run([tosac, "compile", model, "-t", target, "-o", out, *(["--calib", calib] if target != "cpu" else [])],
                                  capture_output=True, text=True)
            same, said = judge(tosac, out, [data[:1].astype(np.int32)]) if done.returncode == 0 else (False, done.stderr[-300:])
            print(f"tokens, {target}: {'equal' if same else 'different'}: {said}")
            yield same


def main():
    tosac = os.path.abspath(sys.argv[1])
    if sys.argv[2:3] == ["run"]:
        same, words = judge(tosac, sys.argv[3], [np.load(x) for x in sys.argv[4:]])
        print(f"{sys.argv[3]}: {'equal' if same else 'different'}: {words}")
        return not same
    good = bad = 0
    x = np.load(os.path.join(DIGITS, "test.npz"))
    x = x[x.files[0]][:1].astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        for name, target, words in CASES:
            out = os.path.join(folder, "d.tflite")
            npu = ["--calib", os.path.join(DIGITS, "calib.npz")] if target != "cpu" else []
            done = subprocess.run([tosac, "compile", os.path.join(DIGITS, "model.pt2"), "-t", target, "-o", out, *npu, *words],
                                  capture_output=True, text=True)
            same, said = judge(tosac, out, [x]) if done.returncode == 0 else (False, done.stderr[-300:])
            print(f"digits, {name}, {target}: {'equal' if same else 'different'}: {said}")
            good, bad = good + same, bad + (not same)
    for same in (*tokens(tosac), *programs(tosac), *remembering(tosac)):
        good, bad = good + same, bad + (not same)
    print(f"TensorFlow Lite Micro: {good} passed, {bad} failed")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
