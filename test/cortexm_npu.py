#!/usr/bin/env python3
"""An Ethos-U beside a Cortex-M: models as C with regions of both, on this machine, beside `tosac run`.

    cortexm_npu.py TOSAC [WORK]

Networks whose operators go to the core and to the Ethos-U in turns, with values that several regions read and with state; recurrent layers, whose
steps the core calls, beside the same unrolled.  The C
calls examples/cortex-m/npu_ethosu.c, and that a driver that runs command streams on this machine (build/libethosu-driver.so, beside TOSAC) and looks
at what it is given.  Where arm-none-eabi-gcc is installed the same files are compiled for the core.  Ends with "N passed, N failed, N skipped".
"""

import os
import random
import re
import shutil
import sys

from cortexm import BARE, CORES, EXAMPLE, HERE, SANITIZE, WARN, expected, run, try_cases

DRIVER = os.path.join(HERE, "ethosu")
NPU = ["-DWITH_NPU", f"-I{DRIVER}", '-DNPU_DEVICE_HEADER="device.h"']
FLAGS = {"cortex-m55": CORES["cortex-m55"][0], "cortex-m85": "-march=armv8.1-m.main+mve.fp+fp.dp -mthumb -mfloat-abi=hard"}
PAIRS = ("ethos-u55-128+cortex-m55", "ethos-u85-256+cortex-m85")


def weights(numbers, *shape):
    count = 1
    for d in shape:
        count *= d
    text = ", ".join(f"{numbers.uniform(-0.5, 0.5):.3f}" for _ in range(count))
    return f"const [{text}] : f32[{','.join(map(str, shape))}]"


def turns():
    """Two regions of the core between three of the Ethos-U; what the first of those gives, the second and the third read, too."""
    n = random.Random(7)
    conv = "stride=[1,1] pad=[1,1,1,1] dilation=[1,1] groups=1 : f32[1,8,12,12]"
    return f"""graph @main(%0 "x": f32[1,3,12,12]) {{
  %1 = {weights(n, 8, 3, 3, 3)}
  %2 = {weights(n, 8)}
  %3 = conv %0, %1, %2 {conv}
  %4 = relu %3 : f32[1,8,12,12]
  %5 = flip %4 axes=[2] : f32[1,8,12,12]
  %6 = {weights(n, 8, 8, 3, 3)}
  %7 = conv %5, %6, %2 {conv}
  %8 = add %7, %4 alpha=1 : f32[1,8,12,12]
  %9 = flip %8 axes=[3] : f32[1,8,12,12]
  %10 = {weights(n, 8, 8, 3, 3)}
  %11 = conv %9, %10, %2 {conv}
  %12 = add %11, %4 alpha=1 : f32[1,8,12,12]
  return %12
}}
"""


def memory():
    """A buffer of 16 bits that the core reads and the Ethos-U writes."""
    n = random.Random(8)
    conv = "stride=[1,1] pad=[1,1,1,1] dilation=[1,1] groups=1 : f32[1,4,8,8]"
    zeros = ", ".join(["0"] * 256)
    return f"""graph @main(%0 "x": f32[1,4,8,8]) {{
  %1 "kept" = const [{zeros}] : f32[1,4,8,8]
  %2 = {weights(n, 4, 4, 3, 3)}
  %3 = {weights(n, 4)}
  %4 = flip %1 axes=[2] : f32[1,4,8,8]
  %5 = add %0, %4 alpha=1 : f32[1,4,8,8]
  %6 = conv %5, %2, %3 {conv}
  %7 = tanh %6 : f32[1,4,8,8]
  mutate %1 -> %7
  %8 = flip %7 axes=[3] : f32[1,4,8,8]
  %9 = conv %8, %2, %3 {conv}
  return %9
}}
"""


def recurrent(op, gates, layers=1, ways=1, batch_first=True, batch=1, steps=12, given=8, hidden=16, more=""):
    """A recurrent layer whose states are zeros, and all that it shows."""
    n, lines, names = random.Random(9), [], []
    shape = [batch, steps] if batch_first else [steps, batch]
    states = 2 if op == "lstm" else 1
    state = f"[{layers * ways},{batch},{hidden}]"

    def const(text):
        names.append(f"%{len(names) + 1}")
        lines.append(f"  {names[-1]} = {text}")

    for _ in range(states):
        const(f"const [{', '.join(['0'] * (layers * ways * batch * hidden))}] : f32{state}")
    for layer in range(layers):
        for _ in range(ways):
            const(weights(n, gates * hidden, given if layer == 0 else ways * hidden))
            const(weights(n, gates * hidden, hidden))
            const(weights(n, gates * hidden))
            const(weights(n, gates * hidden))
    out = [f"%{len(names) + 1 + i}" for i in range(1 + states)]
    types = ", ".join([f"f32[{shape[0]},{shape[1]},{ways * hidden}]"] + [f"f32{state}"] * states)
    flags = " ".join(f"{k}={str(bool(v)).lower()}" for k, v in (("bidirectional", ways - 1), ("batch_first", batch_first), ("has_bias", True)))
    return "\n".join([f'graph @main(%0 "x": f32[{shape[0]},{shape[1]},{given}]) {{', *lines,
                      f"  {', '.join(out)} = {op} %0, {', '.join(names)} layers={layers} {flags}{more} : {types}", f"  return {out[0]}", "}", ""])


def cells(steps=12, given=8, hidden=16):
    """Steps of an LSTM as the model's own loop has them."""
    n = random.Random(11)
    lines = [f"  %1 = const [{', '.join(['0'] * hidden)}] : f32[1,{hidden}]", *(f"  %{2 + k} = {weights(n, *w)}" for k, w in enumerate(
        ((4 * hidden, given), (4 * hidden, hidden), (4 * hidden,), (4 * hidden,))))]
    h = c = "%1"
    for t in range(steps):
        x, now = 6 + 3 * t, (f"%{7 + 3 * t}", f"%{8 + 3 * t}")
        lines += [f"  %{x} = select %0 axis=1 index={t} : f32[1,{given}]",
                  f"  {now[0]}, {now[1]} = lstm_cell %{x}, {h}, {c}, %2, %3, %4, %5 : f32[1,{hidden}], f32[1,{hidden}]"]
        h, c = now
    return "\n".join([f'graph @main(%0 "x": f32[1,{steps},{given}]) {{', *lines, f"  return {h}", "}", ""])


def same_unrolled(tosac, name, target, source, options, folder):
    """The NPU's own program, with every step in its stream, gives the same numbers."""
    run([tosac, "compile", *source, "-t", target.split("+")[0], *options, "-o", f"{folder}/{name}.pte"], HERE)
    run([tosac, "run", f"{folder}/{name}.pte", "-i", f"{folder}/in.npy", "-o", f"{folder}/unrolled"], folder)
    for kind in ("out", "unrolled"):
        with open(f"{folder}/{kind}/output_0.npy", "rb") as f:
            if kind == "out":
                want = f.read()
            elif f.read() != want:
                raise RuntimeError(f"{name} for {target}: other numbers than the unrolled program")


DIGITS = ["fixture/digits/model.pt2", "--calib", "fixture/digits/calib.npz"]
LSTM = ["fixture/lstm/stream.pt2", "--calib", "fixture/lstm/samples.npy"]
SIZE = ["--calib", "random:4", "--optimise", "Size"]
# name: model, options, NPU regions, those that are run several times
MODELS = {
    "turns": (turns, ["--calib", "random:4", "--cpu", "flip"], 3),
    "digits": (DIGITS, ["--cpu", "conv2d_9,conv2d_14"], 3),
    "lstm": (LSTM, ["--cpu", "tanh"], 3),
    "kept": (memory, ["--calib", "random:4", "--cpu", "flip"], 2),
    "kept16": (memory, ["--calib", "random:4", "--cpu", "flip", "-q", "a16w8"], 2),
    "steps": (lambda: recurrent("lstm", 4), SIZE, 1, 1),
    "steps16": (lambda: recurrent("lstm", 4), [*SIZE, "-q", "a16w8"], 2, 1),
    "some": (lambda: recurrent("lstm", 4, steps=60, hidden=8), SIZE[:2], 1, 1),
    "ways": (lambda: recurrent("gru", 3, ways=2, batch_first=False, batch=2), SIZE, 2, 2),
    "resets": (lambda: recurrent("gru", 3, more=" reset_first=true"), SIZE, 1, 1),
    "cells": (cells, SIZE, 2, 1),
    "layers": (lambda: recurrent("lstm", 4, layers=2, ways=2), SIZE, 4, 4),
    "all": (lambda: recurrent("lstm", 4, layers=2, ways=2, steps=50, given=12, hidden=24), SIZE[:2], 4, 4),
    "plain": (lambda: recurrent("rnn_tanh", 1, steps=40, batch=2), SIZE, 3, 1),
}


def on_host(tosac, name, folder, state):
    build = os.path.dirname(tosac)
    files = sorted(f for f in os.listdir(folder) if f.endswith(".c"))
    run(["gcc", *WARN.split(), *SANITIZE.split(), *NPU, *state, f"-DMODEL={name}", f"-DMODEL_UPPER={name.upper()}", f'-DMODEL_HEADER="{name}.h"', f"-I{EXAMPLE}", "-I.",
         *(f"{EXAMPLE}/{f}" for f in ("replay.c", "npu_ethosu.c", "board_host.c")), *files, "-o", "host", f"-L{build}", "-lethosu-driver", f"-Wl,-rpath,{build}"], folder)
    run("./host", folder)
    with open(f"{folder}/outputs.bin", "rb") as f:
        return f.read()


def for_core(name, target, folder):
    """Compiles without a word, and no byte of it is to be copied into RAM before it runs."""
    core = target.split("+")[1]
    run(["arm-none-eabi-gcc", *WARN.split(), *BARE.split()[:2], *FLAGS[core].split(), *NPU, "-I.", "-c", f"{EXAMPLE}/npu_ethosu.c",
         *sorted(f for f in os.listdir(folder) if f.endswith(".c"))], folder)
    sizes = run(["arm-none-eabi-size", "-A", f"{name}.o"], folder)
    if re.search(r"^\.data\S*\s+[1-9]", sizes, re.M):
        raise RuntimeError(f"{name} for {target} has bytes in .data:\n{sizes}")


def attempt(tosac, name, target, folder):
    model, options, regions, *loops = MODELS[name]
    source = [f"{folder}/model.ir"] if callable(model) else model
    if callable(model):
        with open(source[0], "w", encoding="utf-8") as f:
            f.write(model())
    for kind in ("c", "ir"):
        run([tosac, "compile", *source, "-t", target, *options, "--emit", kind, "-o", f"{folder}/{name}.{kind}"], HERE)
    with open(f"{folder}/{name}.h", encoding="utf-8") as f:
        head = f.read()
    with open(f"{folder}/{name}.c", encoding="utf-8") as f:
        text = f.read()
    if f"_NPU_REGIONS {regions}\n" not in head or text.count("tosac_npu_run(") != regions:
        raise RuntimeError(f"{name} for {target}: not {regions} regions")
    if text.count("// call_times") != sum(loops):
        raise RuntimeError(f"{name} for {target}: not {sum(loops)} loops")
    want = expected(tosac, name, folder)
    if loops:
        same_unrolled(tosac, name, target, source, options, folder)
    if on_host(tosac, name, folder, ["-DWITH_STATE"] if f"{name}_state;" in head else []) != want:
        raise RuntimeError(f"{name} for {target}: other bytes than 'tosac run'")
    copies = len(re.findall(r"memcpy\(.*arena", text))
    sizes = [re.search(rf"_{word}_BYTES (\d+)", head)[1] for word in ("ARENA", "CONSTANT")]
    print(f"{name:8} {target:26} arena {sizes[0]:>6}  constants {sizes[1]:>6}  copies {copies}", flush=True)
    if not shutil.which("arm-none-eabi-gcc"):
        return 1, 1
    for_core(name, target, folder)
    return 2, 0


if __name__ == "__main__":
    sys.exit(try_cases(MODELS, PAIRS, attempt, "no arm-none-eabi-gcc"))
