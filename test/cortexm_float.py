#!/usr/bin/env python3
"""Programs in C that compute in float between integers, that branch and loop, and that do not use an input.

    cortexm_float.py TOSAC [WORK [NAME...]]

Small graphs with random weights become C for three cores, are compiled with every warning and with sanitizers for this machine, and are run
beside `tosac run` of the same program, fast Fourier transforms on the core in QEMU too: integers are equal, or one step off where float functions are between them (another libm).
Ends with "N passed, N failed".
"""

import math
import os
import random
import re
import shutil
import struct
import sys
import zipfile

from cortexm import on_core, outputs as outputs_of, run, try_cases

WARN = "-std=c11 -O2 -ffp-contract=off -Wall -Wextra -Wconversion -Wshadow -Werror -g -fsanitize=address,undefined -fno-sanitize-recover=all"
TARGETS = ("cortex-m55", "cortex-m4", "cortex-m0plus")
SAMPLES = 16
LETTER = {"i8": "b", "i16": "h", "i32": "i", "i64": "q", "f32": "f", "bool": "B", "u8": "B"}
NUMPY = {"f": "<f4", "B": "|b1", "q": "<i8", "i": "<i4"}


def weights(numbers, *dims):
    count = 1
    for d in dims:
        count *= d
    return "[" + ", ".join(f"{numbers.uniform(-0.5, 0.5):.6f}" for _ in range(count)) + "] : f32[" + ",".join(map(str, dims)) + "]"


def between(middle, shape="[1,8]", wide=8):
    """linear, something on the CPU, linear."""
    n = random.Random(7)
    return f"""graph @main(%0 "x": f32[1,8]) {{
  %1 = const {weights(n, 8, 8)}
  %2 = const {weights(n, 8)}
  %3 = linear %0, %1, %2 : f32[1,8]
  %4 = {middle} : f32{shape}
  %5 = const {weights(n, 4, wide)}
  %6 = const {weights(n, 4)}
  %7 = linear %4, %5, %6 : f32[1,4]
  return %7
}}
"""


def branches(condition, takes):
    n = random.Random(8)
    return f"""graph @main({takes}) {{
  {condition}
  %3 = cond %2, %0 then_graph="then" else_graph="else" : f32[1,8]
  %4 = const {weights(n, 4, 8)}
  %5 = const {weights(n, 4)}
  %6 = linear %3, %4, %5 : f32[1,4]
  return %6
}}
graph @then(%0: f32[1,8]) {{
  %1 = const {weights(n, 8, 8)}
  %2 = const {weights(n, 8)}
  %3 = linear %0, %1, %2 : f32[1,8]
  %4 = relu %3 : f32[1,8]
  return %4
}}
graph @else(%0: f32[1,8]) {{
  %1 = neg %0 : f32[1,8]
  return %1
}}
"""


def loop():
    n = random.Random(10)
    return f"""graph @main(%0 "x": f32[1,8], %1 "times": i32[]) {{
  %2 = const {weights(n, 8, 8)}
  %3 = const {weights(n, 8)}
  %4 = linear %0, %2, %3 : f32[1,8]
  %5, %6 = while_loop %1, %4 cond_graph="goes_on" body_graph="once" : i32[], f32[1,8]
  %7 = linear %6, %2, %3 : f32[1,8]
  return %7
}}
graph @goes_on(%0: i32[], %1: f32[1,8]) {{
  %2 = const 0 : i32[]
  %3 = gt %0, %2 : bool[]
  return %3
}}
graph @once(%0: i32[], %1: f32[1,8]) {{
  %2 = const 1 : i32[]
  %3 = sub %0, %2 alpha=1 : i32[]
  %4 = const {weights(n, 8, 8)}
  %5 = const {weights(n, 8)}
  %6 = linear %1, %4, %5 : f32[1,8]
  %7 = relu %6 : f32[1,8]
  return %3, %7
}}
"""


PICTURE = """graph @main(%0 "x": f32[1,3,7,7]) {{
  %1 = const {w}
  %2 = const {b}
  %3 = conv %0, %1, %2 stride=[1,1] pad=[0,0,0,0] dilation=[1,1] groups=1 : f32[1,4,5,5]
  %4 = {middle}
  %5 = const {v}
  %6 = const {c}
  %7 = conv %4, %5, %6 stride=[1,1] pad=[0,0,0,0] dilation=[1,1] groups=1 : f32[1,2,{h},{h}]
  return %7
}}
"""


def picture(middle, high):
    n = random.Random(9)
    return PICTURE.format(w=weights(n, 4, 3, 3, 3), b=weights(n, 4), v=weights(n, 2, 4, 2, 2), c=weights(n, 2), middle=middle, h=high)


def spectrum(points, length, hop, frames, bins, parts):
    """Windows, their transform, squares, bands, a logarithm and a layer: both parts in one convolution or in two, or after framing."""
    n = random.Random(11)
    window = [0.5 - 0.5 * math.cos(2 * math.pi * i / length) for i in range(length)]
    row = lambda k, wave: [w * wave(2 * math.pi * (k * i % points) / points) for i, w in enumerate(window)]
    re = [v for k in range(bins) for v in row(k, math.cos)]
    im = [-v for k in range(bins) for v in row(k, math.sin)]
    const = lambda v, *dims: f"const [{', '.join(f'{x:.9g}' for x in v)}] : f32[{','.join(map(str, dims))}]"
    conv = f"stride=[{hop}] pad=[0,0] dilation=[1] groups=1 : f32[1,"
    samples = length + hop * (frames - 1)
    if parts == "one":
        first = f"""  %1 = {const(re + im, 2 * bins, 1, length)}
  %2 "both" = conv %0, %1, none {conv}{2 * bins},{frames}]
  %3 = slice %2 axis=1 start=0 end={bins} step=1 : f32[1,{bins},{frames}]
  %4 = slice %2 axis=1 start={bins} end={2 * bins} step=1 : f32[1,{bins},{frames}]"""
    else:
        first = f"""  %1 = {const(re, bins, 1, length)}
  %2 = {const(im, bins, 1, length)}
  %3 "re" = conv %0, %1, none {conv}{bins},{frames}]
  %4 "im" = conv %0, %2, none {conv}{bins},{frames}]"""
    taken, input_shape, rows = "%7", f"1,1,{samples}", f"1,{bins},{frames}"
    turn = f"\n  %8 = permute %7 perm=[0,2,1] : f32[1,{frames},{bins}]"
    if parts == "framed":
        first = f"""  %1 = {const(re, bins, length)}
  %2 = {const(im, bins, length)}
  %3 "re" = linear %0, %1, none : f32[{frames},{bins}]
  %4 "im" = linear %0, %2, none : f32[{frames},{bins}]"""
        input_shape, rows, turn = f"{frames},{length}", f"{frames},{bins}", ""
    else:
        taken = "%8"
    outer = f"1,{frames}" if turn else f"{frames}"
    return f"""graph @main(%0 "x": f32[{input_shape}]) {{
{first}
  %5 = mul %3, %3 : f32[{rows}]
  %6 = mul %4, %4 : f32[{rows}]
  %7 = add %5, %6 alpha=1 : f32[{rows}]{turn}
  %9 = {const([n.random() for _ in range(12 * bins)], 12, bins)}
  %10 = linear {taken}, %9, none : f32[{outer},12]
  %11 = clamp %10 lo=1e-05 hi=inf : f32[{outer},12]
  %12 = log %11 : f32[{outer},12]
  %13 = const {weights(n, 4, 12)}
  %14 = linear %12, %13, none : f32[{outer},4]
  return %14
}}
"""


# name: graph, operators that stay outside the regions, or settings, whether float functions of a libm are in it
CASES = {
    "pad": (picture("clamp %8 lo=-2 hi=2 : f32[1,4,6,6]", 5).replace("  %4", "  %8 = pad %3 pad=[0,0,0,0,0,1,0,1] mode=constant value=-inf : f32[1,4,6,6]\n  %4"), "", False),
    "abs": (between("abs %3"), "abs", False),
    "relu": (between("relu %3"), "relu", False),
    "mul": (between("mul %3, %0"), "mul", False),
    "maximum": (between("maximum %3, %0"), "maximum", False),
    "clamp": (between("clamp %3 lo=-0.25 hi=0.5"), "clamp", False),
    "floor": (between("floor %3"), "floor", False),
    "exp": (between("exp %3"), "exp", True),
    "tanh": (between("tanh %3"), "tanh", True),
    "sigmoid": (between("sigmoid %3"), "sigmoid", True),
    "softmax": (between("softmax %3 axis=1"), "softmax", True),
    "sum": (between("sum %3 axes=[1] keepdim=true", "[1,1]", 1), "sum", False),
    "amax": (between("amax %3 axes=[1] keepdim=true", "[1,1]", 1), "amax", False),
    "flip": (between("flip %3 axes=[1]"), "flip", False),
    "linear": (between("linear %3, %1, %2"), "linear", False),
    "max_pool": (picture("max_pool %3 kernel=[2,2] stride=[1,1] pad=[0,0] dilation=[1,1] ceil=false : f32[1,4,4,4]", 3), "max_pool", False),
    "avg_pool": (picture("avg_pool %3 kernel=[2,2] stride=[1,1] pad=[0,0] ceil=false include_pad=true divisor=0 : f32[1,4,4,4]", 3), "avg_pool", False),
    "branch_asked": (branches("", '%0 "x": f32[1,8], %2 "p": bool[]'), "", False),
    "branch_sum": (branches("%1 = sum %0 axes=[0,1] keepdim=false : f32[]\n  %7 = const 0 : f32[]\n  %2 = gt %1, %7 : bool[]", '%0 "x": f32[1,8]'), "", False),
    "loop": (loop(), "", False),
    "unused": (between("add %3, %0 alpha=1").replace('%0 "x": f32[1,8])', '%0 "x": f32[1,8], %8 "mask": f32[1,3], %9 "steps": i64[2])'), "", False),
    "transform_two": (spectrum(64, 64, 32, 5, 33, "two"), "-q int8,transform=float", True),
    "transform_one": (spectrum(75, 50, 20, 4, 38, "one"), "-q int8,transform=float", True),
    "transform_framed": (spectrum(60, 60, 0, 3, 20, "framed"), "-q a16w8,transform=float", True),
    "transform_float": (spectrum(64, 64, 32, 5, 33, "two"), "-q int8,float=front-end,transform=float", True),
    "twice": (between("add %3, %0 alpha=1").replace("return %7", "%8 = exp %0 : f32[1,8]\n  return %7, %8"), "exp", True),
}


def npy(letter, shape, values):
    head = f"{{'descr': '{NUMPY[letter]}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    head = head.ljust(117 - len(head) % 64 + len(head) // 64 * 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}{letter}", *values)


def ports(head, side):
    """(type, count, name, scale, zero) of each."""
    found = []
    for i, (kind, rest) in enumerate(re.findall(rf"/\* (\w+)\[[\d,]*\][^\n]*\*/\n((?:#define \w+_{side}_[^\n]*\n)+)", head)):
        word = dict(re.findall(rf"_{side}_{i}_(\w+) (\S+)", rest))
        found.append((LETTER[kind], int(word["ELEMENTS"]), word["NAME"].strip('"'), float(word.get("SCALE", 0)), int(word.get("ZERO_POINT", 0))))
    return found


def model_inputs(graph):
    """(name, letter, dims) as the graph has them."""
    head = re.search(r"@main\((.*?)\) \{", graph)[1]
    return [(name, LETTER[kind], [int(d) for d in dims.split(",") if d]) for name, kind, dims in re.findall(r'"(\w+)": (\w+)\[([\d,]*)\]', head)]


def draw(numbers, letter):
    return {"f": numbers.gauss(0, 1), "B": numbers.randrange(2), "q": numbers.randrange(5), "i": numbers.randrange(5)}[letter]


def data(graph, path, samples, numbers):
    """Random inputs as .npz, samples in front; by input and sample."""
    values = {}
    with zipfile.ZipFile(path, "w") as z:
        for name, letter, dims in model_inputs(graph):
            count = 1
            for d in dims:
                count *= d
            values[name] = [[draw(numbers, letter) for _ in range(count)] for _ in range(samples)]
            z.writestr(name + ".npy", npy(letter, [samples, *dims], [v for s in values[name] for v in s]))
    return values


def harness(name, head):
    """A program that reads a sample's inputs from a file and writes its outputs to another."""
    text = [f'#include "{name}.h"', "#include <stdio.h>", "int main(void)", "{", '    FILE *in = fopen("in.bin", "rb"), *out = fopen("out.bin", "wb");']
    call = []
    for side in ("INPUT", "OUTPUT"):
        for i, (letter, *_) in enumerate(ports(head, side)):
            kind = {"b": "int8_t", "h": "int16_t", "i": "int32_t", "q": "int64_t", "f": "float", "B": "uint8_t"}[letter]
            text.append(f"    static {kind} {side.lower()}_{i}[{name.upper()}_{side}_{i}_ELEMENTS];")
            call.append(f"{side.lower()}_{i}")
    text.append("    for (;;) {")
    text += [f"        if (fread({c}, sizeof {c}, 1, in) != 1)\n            break;" for c in call if c.startswith("input")]
    text.append(f"        {name}_run({', '.join(call)});")
    text += [f"        fwrite({c}, sizeof {c}, 1, out);" for c in call if c.startswith("output")]
    text += ["    }", "    return fclose(in) | fclose(out);", "}", ""]
    return "\n".join(text)


def encode(port, values):
    letter, _, _, scale, zero = port
    if not scale:
        return struct.pack(f"<{len(values)}{letter}", *values)
    bits = 8 * struct.calcsize(letter) - 1
    return struct.pack(f"<{len(values)}{letter}", *(min(max(round(v / scale) + zero, -(1 << bits)), (1 << bits) - 1) for v in values))


def check_transform(name, target, folder, got):
    """There is one fast transform; without functions of a libm the core gives the bytes of this machine."""
    with open(f"{folder}/{name}.c", encoding="utf-8") as f:
        calls = f.read().count("tosac_transform_f32(")
    if calls != 1:
        raise RuntimeError(f"{name} for {target}: {calls} fast transforms")
    if name not in ("transform_two", "transform_one") or not (shutil.which("arm-none-eabi-gcc") and shutil.which("qemu-system-arm")):
        return
    os.remove(f"{folder}/main.c")
    os.replace(f"{folder}/in.bin", f"{folder}/inputs.bin")
    on_core(name, target, folder)
    if outputs_of(folder) != got:
        raise RuntimeError(f"{name} on {target}: other bytes than here")


def check(tosac, name, target, folder):
    graph, cpu, loose = CASES[name]
    with open(f"{folder}/{name}.in", "w", encoding="utf-8") as f:
        f.write(graph)
    data(graph, f"{folder}/calib.npz", 40, random.Random(1))
    for kind in ("c", "ir"):
        run([tosac, "compile", f"{name}.in", "-t", target, "--calib", "calib.npz", *(cpu.split() if cpu.startswith("-") else ["--cpu", cpu] if cpu else []), "--emit", kind, "-o", f"{name}.{kind}"], folder)
    with open(f"{folder}/{name}.h", encoding="utf-8") as f:
        head = f.read()
    inputs = ports(head, "INPUT")
    if [p[2] for p in inputs] != [n for n, _, _ in model_inputs(graph)]:
        raise RuntimeError(f"{name}: the function's inputs are {[p[2] for p in inputs]}")
    numbers = random.Random(2)
    values = data(graph, f"{folder}/test.npz", SAMPLES, numbers)
    with open(f"{folder}/in.bin", "wb") as f:
        for s in range(SAMPLES):
            for p in inputs:
                f.write(encode(p, values[p[2]][s]))
    with open(f"{folder}/main.c", "w", encoding="utf-8") as f:
        f.write(harness(name, head))
    run(["gcc", *WARN.split(), *sorted(f for f in os.listdir(folder) if f.endswith(".c")), "-lm", "-o", "host"], folder)
    run(["./host"], folder)
    run([tosac, "run", f"{name}.ir", "-i", "test.npz", "-o", "out"], folder)
    with open(f"{folder}/out.bin", "rb") as f:
        got = f.read()
    if name.startswith("transform"):
        check_transform(name, target, folder, got)
    outputs, at, each = ports(head, "OUTPUT"), 0, len(got) // SAMPLES
    for i, (letter, count, _, scale, zero) in enumerate(outputs):
        with open(f"{folder}/out/output_{i}.npy", "rb") as f:
            raw = f.read()
        want = struct.unpack(f"<{SAMPLES * count}f", raw[10 + struct.unpack("<H", raw[8:10])[0] :])
        size = struct.calcsize(letter) * count
        for s in range(SAMPLES):
            ours = struct.unpack(f"<{count}{letter}", got[s * each + at : s * each + at + size])
            theirs = want[s * count : (s + 1) * count]
            off = max(abs(a - (round(b / scale) + zero)) if scale else 1e5 * abs(a - b) / (1 + abs(b)) for a, b in zip(ours, theirs))
            if off > (1 if loose else 0 if scale else 1):
                raise RuntimeError(f"{name} for {target}: output {i} of sample {s} is {off} steps off: {ours}, {theirs}")
        at += size


if __name__ == "__main__":
    sys.exit(try_cases(CASES, TARGETS, check))
