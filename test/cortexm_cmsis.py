#!/usr/bin/env python3
"""C that calls CMSIS-NN (`--kernels cmsis-nn`), on this machine, with plain loops in the library's place: the bytes of `tosac run`.

    cortexm_cmsis.py TOSAC [WORK]

Networks of cortexm.py and small TOSA programs, each for three cores, in which certain functions must be called.  The loops
(cmsis-nn/arm_nnfunctions.h) look at arguments, too.  Ends with "N passed, N failed".
"""

import os
import random
import re
import struct
import subprocess
import sys

import cortexm
from cortexm import EXAMPLE, HERE, MODELS, SANITIZE, WARN, expected, outputs, read_npy, run, sources, write_npy

# What the library's own header says of the core.
MACROS = {"cortex-m55": ["-DARM_MATH_MVEI", "-DARM_MATH_DSP"], "cortex-m4": ["-DARM_MATH_DSP"], "cortex-m0plus": []}
NETWORKS = {
    "digits": {"arm_convolve_wrapper_s8", "arm_depthwise_conv_wrapper_s8", "arm_elementwise_add_s8"},
    "spotter": {"arm_convolve_wrapper_s8", "arm_depthwise_conv_wrapper_s8"},
    "lstm": {"arm_convolve_wrapper_s8", "arm_elementwise_add_s8", "arm_elementwise_mul_s8"},
}


def const(kind, dims, values):
    return f"const [{', '.join(map(str, values))}] : {kind}[{','.join(map(str, dims))}]"


def weights(numbers, dims):
    count = 1
    for d in dims:
        count *= d
    return const("i8", dims, [numbers.randrange(-127, 128) for _ in range(count)])


def program(shape, steps, out):
    """steps: text of a node each, %N: the one before it by number; the input is %0."""
    lines = [f"  %{i + 1} = {s}" for i, s in enumerate(steps)]
    return f'graph @main(%0 "x": i8[{",".join(map(str, shape))}]) {{\n' + "\n".join(lines) + f"\n  return %{len(steps)}\n}}\n", out


def finished(steps, dims, channels=1):
    """The steps and a RESCALE of the last one's sums to int8."""
    n = len(steps)
    numbers = random.Random(n)
    multiplier = const("i32", [channels], [numbers.randrange(1 << 30, (1 << 31) - 1) for _ in range(channels)])
    shift = const("i8", [channels], [numbers.randrange(38, 41) for _ in range(channels)])
    rescale = (f"tosa.rescale %{n}, %{n + 1}, %{n + 2}, %{n + 3}, %{n + 4} scale32=true rounding_mode=double per_channel={'true' if channels > 1 else 'false'} "
               f"input_unsigned=false output_unsigned=false : i8[{','.join(map(str, dims))}]")
    return [*steps, multiplier, shift, const("i32", [1], [0]), const("i8", [1], [-7]), rescale]


def conv(name, kernel, stride, pad, dims, bias=2000):
    numbers = random.Random(7)
    channels = dims[3]
    return finished([weights(numbers, kernel), const("i32", [channels], [numbers.randrange(-bias, bias + 1) for _ in range(channels)]), const("i8", [1], [5]),
                     const("i8", [1], [0]),
                     f"tosa.{name} %0, %1, %2, %3, %4 pad={pad} stride={stride} dilation=[1,1] acc_type=i32 local_bound=false : "
                     f"i32[{','.join(map(str, dims))}]"], dims, channels)


def pieces():
    """Name: the program, and the functions that it must call by core; None: none."""
    row = conv("conv2d", [6, 1, 5, 4], [1, 3], [0, 0, 2, 2], [1, 1, 5, 6])
    same = conv("conv2d", [5, 3, 3, 3], [2, 2], [0, 1, 0, 1], [1, 4, 4, 5])
    deep = conv("depthwise_conv2d", [3, 3, 3, 2], [2, 2], [0, 1, 0, 1], [1, 4, 4, 6])
    wide = conv("depthwise_conv2d", [3, 3, 130, 1], [1, 1], [1, 1, 1, 1], [1, 4, 4, 130], 0)
    linear = finished(conv("conv2d", [4, 1, 1, 8], [1, 1], [0, 0, 0, 0], [3, 1, 1, 4])[:5], [3, 1, 1, 4])
    product = finished([const("shape", [3], [2, 3, 8]), "tosa.reshape %0, %1 : i8[2,3,8]", const("shape", [3], [2, 8, 3]), "tosa.reshape %0, %3 : i8[2,8,3]",
                        const("i8", [1], [3]), const("i8", [1], [-2]), "tosa.matmul %2, %4, %5, %6 : i32[2,3,3]"], [2, 3, 3])
    zero = conv("conv2d", [5, 3, 3, 3], [2, 2], [0, 1, 0, 1], [1, 4, 4, 5])
    zero[3] = const("i8", [1], [1])
    pool = "tosa.max_pool2d %0 kernel=[3,3] stride=[3,3] pad=[1,2,0,1] nan_mode=propagate : i8[1,4,4,5]"
    mean = "tosa.avg_pool2d %0, %1, %1 kernel=[{0},3] stride=[2,2] pad=[0,0,0,0] acc_type=i32 : i8[1,{1},5,5]"
    return {
        "row": (*program([1, 1, 13, 4], row, [1, 1, 5, 6]), "arm_convolve_wrapper_s8"),
        "same": (*program([1, 8, 8, 3], same, [1, 4, 4, 5]), "arm_convolve_wrapper_s8"),
        "deep": (*program([1, 8, 8, 3], deep, [1, 4, 4, 6]), "arm_depthwise_conv_wrapper_s8"),
        "wide": (*program([1, 4, 4, 130], wide, [1, 4, 4, 130]), "arm_depthwise_conv_wrapper_s8"),
        "linear": (*program([3, 1, 1, 8], linear, [3, 1, 1, 4]), "arm_fully_connected_s8"),
        "product": (*program([2, 24], product, [2, 3, 3]), "arm_batch_matmul_s8"),
        "pool": (*program([1, 9, 11, 5], [pool], [1, 4, 4, 5]), "arm_max_pool_s8"),
        "mean": (*program([1, 9, 11, 5], [const("i8", [1], [4]), mean.format(3, 4)], [1, 4, 5, 5]), "arm_avgpool_s8"),
        "halves": (*program([1, 8, 11, 5], [const("i8", [1], [4]), mean.format(2, 4)], [1, 4, 5, 5]), None),
        "zero": (*program([1, 8, 8, 3], zero, [1, 4, 4, 5]), None),
    }


def write_piece(name, text, folder):
    """The program, random codes for its input, and what `tosac run` gives for them."""
    path = f"{folder}/{name}.ir"
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    shape = [int(d) for d in re.search(r"i8\[([\d,]+)\]\)", text)[1].split(",")]
    count = 1
    for d in shape:
        count *= d
    numbers = random.Random(2)
    codes = [numbers.randrange(-128, 128) for _ in range(count)]
    write_npy(f"{folder}/in.npy", "b", "|i1", shape, codes)
    with open(f"{folder}/inputs.bin", "wb") as f:
        f.write(struct.pack(f"<{count}b", *codes))
    return path


def called(name, folder):
    with open(f"{folder}/{name}.c", encoding="utf-8") as f:
        return set(re.findall(r"\b(arm_\w+_s8)\(", f.read()))


def on_host(name, target, folder):
    """Without the library's header for this core it must not compile."""
    library = ["-DWITH_LIBRARY", *MACROS[target], "-isystem", f"{HERE}/cmsis-nn"]
    run(["gcc", *WARN.split(), *SANITIZE.split(), *library, *sources(name, folder), f"{EXAMPLE}/board_host.c", "-o", "host"], folder)
    run("./host", folder)
    other = "cortex-m0plus" if target == "cortex-m55" else "cortex-m55"
    wrong = subprocess.run(["gcc", "-fsyntax-only", *MACROS[other], "-isystem", f"{HERE}/cmsis-nn", f"{name}.c"], cwd=folder, capture_output=True, text=True, check=False)
    if "calls CMSIS-NN as it is built for" not in wrong.stderr:
        raise RuntimeError(f"{name} for {target} compiles with another core's library")


def try_network(tosac, name, target, folder):
    run([tosac, "compile", *MODELS[name], "-t", target, "--emit", "ir", "-o", f"{folder}/{name}.ir"], HERE)
    run([tosac, "compile", *MODELS[name], "-t", target, "--emit", "c", "--kernels", "cmsis-nn", "-o", f"{folder}/{name}.c"], HERE)
    return expected(tosac, name, folder), NETWORKS[name]


def try_piece(tosac, name, target, folder):
    text, _, function = pieces()[name]
    path = write_piece(name, text, folder)
    said = run([tosac, "compile", path, "-t", target, "--emit", "c", "--kernels", "cmsis-nn", "-o", f"{folder}/{name}.c"], folder)
    if not function and " by our own kernel: " not in said:
        raise RuntimeError(f"{name}: it is not said why it is ours: {said}")
    run([tosac, "run", path, "-i", "in.npy", "-o", "out"], folder)
    return read_npy(f"{folder}/out/output_0.npy"), {function} if function else set()


def attempt(tosac, name, target, folder):
    want, functions = (try_network if name in NETWORKS else try_piece)(tosac, name, target, folder)
    if called(name, folder) != functions:
        raise RuntimeError(f"{name} for {target} calls {called(name, folder)}, not {functions}")
    on_host(name, target, folder)
    if outputs(folder) != want:
        raise RuntimeError(f"{name} for {target}: other bytes than 'tosac run'")


if __name__ == "__main__":
    sys.exit(cortexm.try_cases((*NETWORKS, *pieces()), cortexm.CORES, attempt))
