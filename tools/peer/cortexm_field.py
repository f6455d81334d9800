#!/usr/bin/env python3
"""Quantized TFLite files as plain C on Cortex-M cores in QEMU, beside TFLM.

    cortexm_field.py TOSAC WORK FILE.tflite... [--samples N] [--data NAME=FILE.npz:ARRAY] [--only CORE] [--cmsis-nn FOLDER]

Each file becomes C for every core; its outputs on N random samples, and on as many of the data's, must be the
bytes of TensorFlow Lite Micro (pip tflite-micro) and of `tosac run`.  Prints flash, RAM and instructions (QEMU's
count).  With CMSIS-NN (its Include and Source) each file is made once more with `--kernels cmsis-nn`, beside our own kernels, and
the library's own functions must ask for no more scratch than the C gives them.  Needs arm-none-eabi-gcc,
qemu-system-arm, numpy.
"""

import argparse
import glob
import os
import re
import shutil
import subprocess
import sys

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLE = os.path.join(HERE, "../../examples/cortex-m")
SEMI = "-display none -monitor none -serial null -semihosting-config enable=on,target=native -icount shift=0"
# core: target, compiler flags, machine, linker script, instructions a tick
CORES = {
    "m55": ("cortex-m55", "-mcpu=cortex-m55 -mthumb -mfloat-abi=hard", "mps3-an547", "mps3.ld", 31.25),
    "m4": ("cortex-m4", "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16", "mps2-an386", "mps2.ld", 40),
    "m0": ("cortex-m0plus", "-mcpu=cortex-m0 -mthumb", "mps2-an385", "mps2.ld", 40),
}
FLAGS = "-std=c11 -O2 -Wall -Wextra -Wconversion -Werror -ffunction-sections -fdata-sections -nostartfiles --specs=nano.specs -Wl,--gc-sections"


def samples_of(model, count, data):
    """Inputs of the one input: random, then those of the data."""
    from tflite_micro.python.tflite_micro import runtime

    with open(model, "rb") as f:
        content = f.read()
    micro = runtime.Interpreter.from_bytes(content)
    detail = micro.get_input_details(0)
    shape = tuple(detail["shape"])
    random = numpy.random.default_rng(1)
    samples = [random.integers(-128, 128, shape).astype(numpy.int8) for _ in range(count)]
    if data is not None:
        scale, zero = detail["quantization_parameters"]["scales"][0], detail["quantization_parameters"]["zero_points"][0]
        for x in data[:count]:
            x = x.reshape(shape)
            samples.append(x if x.dtype == numpy.int8 else numpy.clip(numpy.rint(x / scale) + zero, -128, 127).astype(numpy.int8))
    results = []
    for x in samples:
        micro.set_input(x, 0)
        micro.invoke()
        results.append(micro.get_output(0).copy())
    return samples, results


def run(command, folder, **more):
    done = subprocess.run(command if isinstance(command, list) else command.split(), cwd=folder, capture_output=True, text=True, check=False, **more)
    if done.returncode:
        sys.exit(f"{command}: {done.stdout[-2000:]}{done.stderr[-3000:]}")
    return done.stdout + done.stderr


def sizes(folder, objects):
    """Flash of the model and its kernels as linked, from the map; RAM without them."""
    out = run(["arm-none-eabi-size", "-A", "app"], folder)
    return {m[0]: int(m[1]) for m in re.findall(r"^(\.\S+)\s+(\d+)", out, re.M)}


def library(args, core):
    """CMSIS-NN for the core: made once."""
    folder = os.path.join(args.work, f"cmsis-nn-{core}")
    if not os.path.exists(f"{folder}/libcmsis-nn.a"):
        os.makedirs(folder, exist_ok=True)
        files = [f for f in glob.glob(f"{args.cmsis_nn}/Source/**/*.c", recursive=True) if not re.search(r"_(f16|f32|flt)\.c$", f)]
        run(["arm-none-eabi-gcc", "-O3", "-ffunction-sections", "-fdata-sections", *CORES[core][1].split(), f"-I{args.cmsis_nn}/Include", "-c", *files], folder)
        run(["arm-none-eabi-ar", "rcs", "libcmsis-nn.a", *sorted(f for f in os.listdir(folder) if f.endswith(".o"))], folder)
    return ["-isystem", f"{args.cmsis_nn}/Include"], [f"{folder}/libcmsis-nn.a"]


# Functions that need scratch: what says how much, of which of the call's records.
SIZES = {
    "arm_convolve_wrapper_s8": "arm_convolve_wrapper_s8_get_buffer_size(&p, &x, &w, &y)",
    "arm_depthwise_conv_wrapper_s8": "arm_depthwise_conv_wrapper_s8_get_buffer_size(&p, &x, &w, &y)",
    "arm_avgpool_s8": "arm_avgpool_s8_get_buffer_size(y.w, x.c)",
    "arm_batch_matmul_s8": "arm_fully_connected_s8_get_buffer_size(&b)",
}


def ask_sizes(source):
    """The C with a question before each call: a call whose scratch is too small fails."""
    with open(source, encoding="utf-8") as f:
        text = f.read()
    for name, size in SIZES.items():
        text = text.replace(f"        arm_cmsis_nn_status status = {name}(", f"        if ({size} > context.size)\n            return -99;\n"
                            f"        arm_cmsis_nn_status status = {name}(")
    with open(source, "w", encoding="utf-8") as f:
        f.write(text)


def try_core(args, name, path, core, samples, results, cmsis_nn=False):
    target, flags, machine, script, per_tick = CORES[core]
    folder = os.path.join(args.work, f"{name}-{core}" + ("-cmsis-nn" if cmsis_nn else ""))
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    said = run([args.tosac, "compile", path, "-t", target, "--emit", "c", "-o", f"{folder}/{name}.c", *(["--kernels", "cmsis-nn"] if cmsis_nn else [])], folder)
    include, archive = library(args, core) if cmsis_nn else ([], [])
    calls = re.search(r"(\d+) calls of CMSIS-NN \S+, \d+ layers?", said)
    sources = sorted(f for f in os.listdir(folder) if f.endswith(".c"))
    defines = [f"-DMODEL={name}", f"-DMODEL_UPPER={name.upper()}", f'-DMODEL_HEADER="{name}.h"', *(["-DWITH_LIBRARY"] if cmsis_nn else [])]
    board = [os.path.join(EXAMPLE, f) for f in ("startup.c", "board.c", "replay.c")]
    build = ["arm-none-eabi-gcc", *FLAGS.split(), *args.flags.split(), *flags.split(), *defines, f"-I{EXAMPLE}", "-I.", *include, *sources, *board,
             *archive, "-T", os.path.join(EXAMPLE, script), "-o"]
    run([*build, "app"], folder)
    if cmsis_nn:
        samples[0].tofile(f"{folder}/inputs.bin")
        ask_sizes(f"{folder}/{name}.c")
        run([*build, "asks"], folder)
        run(f"qemu-system-arm -M {machine} {SEMI} -kernel asks", folder, timeout=900)
    numpy.concatenate([x.ravel() for x in samples]).tofile(f"{folder}/inputs.bin")
    said = run(f"qemu-system-arm -M {machine} {SEMI} -kernel app", folder, timeout=900)
    got = numpy.fromfile(f"{folder}/outputs.bin", dtype=numpy.int8).reshape(len(samples), -1)
    equal = sum(numpy.array_equal(g, r.ravel()) for g, r in zip(got, results))
    size = sizes(folder, sources)
    ticks = int(re.search(r"ticks (\d+)", said)[1])
    with open(f"{folder}/{name}.h", encoding="utf-8") as f:
        arena = int(re.search(r"_ARENA_BYTES (\d+)", f.read())[1])
    ram = arena + samples[0].size + results[0].size
    print(f"{name:6} {core:4} equal {equal}/{len(samples)}  flash {size['.text']:7}  .data {size.get('.data', 0)}  arena {arena:6}  RAM {ram:6}"
          f"  instructions {ticks * per_tick:12,.0f}" + (f"  {calls[0]} ours" if calls else ""), flush=True)
    return equal == len(samples)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tosac")
    parser.add_argument("work")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--samples", type=int, default=5)
    parser.add_argument("--data", action="append", default=[])
    parser.add_argument("--only", action="append")
    parser.add_argument("--flags", default="")
    parser.add_argument("--cmsis-nn", metavar="FOLDER")
    args = parser.parse_args()
    args.tosac, args.work = os.path.abspath(args.tosac), os.path.abspath(args.work)
    args.cmsis_nn = args.cmsis_nn and os.path.abspath(args.cmsis_nn)
    data = dict(d.split("=", 1) for d in args.data)
    good = True
    for path in args.files:
        path = os.path.abspath(path)
        name = re.sub(r"\W", "_", os.path.basename(path).split(".")[0]).replace("_int8", "")
        array = None
        if name in data:
            file, key = data[name].rsplit(":", 1)
            array = numpy.load(file)[key]
        samples, results = samples_of(path, args.samples, array)
        for core in args.only or CORES:
            good = try_core(args, name, path, core, samples, results) and good
            if args.cmsis_nn:
                good = try_core(args, name, path, core, samples, results, True) and good
    return not good


if __name__ == "__main__":
    sys.exit(main())
