#!/usr/bin/env python3
"""What `tosac profile` says of Cortex-M programs beside QEMU's count, step by step.

    cortexm_cost.py TOSAC WORK MODEL[,CALIB[,QUANT]]... [--core v6m|v7m|dsp|mve] [--fit] [--table]

Each model becomes C with a mark before every step; QEMU says how many instructions each step takes.  Prints the error of the
estimate by model and by kernel.  --fit finds the prices of src/cortexm/prices.def from these counts (least squares of relative
errors, none below zero) and prints the rows, --table the code sizes of src/cortexm/kernels.def.  Needs arm-none-eabi-gcc,
qemu-system-arm, numpy.
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

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../..")
EXAMPLE = os.path.join(ROOT, "examples/cortex-m")
SEMI = "-display none -monitor none -serial null -semihosting-config enable=on,target=native -icount shift=0"
FLAGS = "-std=c11 -O2 -ffunction-sections -fdata-sections -nostartfiles --specs=nano.specs -Wl,--gc-sections"
# pace: target, compiler flags, machine, linker script, instructions a tick
CORES = {
    "v6m": ("cortex-m0plus", "-mcpu=cortex-m0plus -mthumb", "mps2-an385", "mps2.ld", 40),
    "v7m": ("cortex-m3", "-mcpu=cortex-m3 -mthumb", "mps2-an385", "mps2.ld", 40),
    "dsp": ("cortex-m4", "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16", "mps2-an386", "mps2.ld", 40),
    "mve": ("cortex-m55", "-mcpu=cortex-m55 -mthumb -mfloat-abi=hard", "mps3-an547", "mps3.ld", 31.25),
}
MAIN = """
#include "board.h"
#include "model.h"
static uint32_t at[%(most)d];
static uint32_t n;
void cost_mark(void);
void cost_mark(void) { at[n++] = board_ticks(); }
%(ports)s
int main(void)
{
    board_start_ticks();
    %(start)s
    model_run(%(arguments)s);
    cost_mark();
    for (uint32_t i = 0; i + 1 < n; i++)
        board_print_number("step", (at[i + 1] - at[i]) & 0xFFFFFF);
    return 0;
}
"""


def run(command, folder, timeout=900):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=timeout)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)[:200]}: {done.stdout[-500:]}{done.stderr[-1500:]}")
    return done.stdout + done.stderr


def marked(source):
    """The program's function with a call before each step."""
    begin = source.index("void model_run_in(")
    end = source.index("\n}\n", begin)
    body = re.sub(r"^( +)\{ // (?!\d+ times)", r"\1{ cost_mark(); // ", source[begin:end], flags=re.M)
    return source[:begin] + "void cost_mark(void);\n" + body + source[end:]


def main_of(head, steps):
    sides, arguments = [], []
    for side in ("INPUT", "OUTPUT"):
        for i, kind in enumerate(re.findall(rf"(?:const )?(\w+) \*{side.lower()}_\d+", head.split("void model_run(")[1].split(";")[0])):
            sides.append(f"static _Alignas(16) {kind} {side.lower()}_{i}[MODEL_{side}_{i}_ELEMENTS + 1];")
            arguments.append(f"{side.lower()}_{i}")
    start = ""
    if "model_state;" in head:
        sides.append("static model_state state;")
        arguments.insert(0, "&state")
        start = "model_start(&state);"
    return MAIN % {"most": steps + 2, "ports": "\n".join(sides), "arguments": ", ".join(arguments), "start": start}


def measure(args, model, core):
    """Steps of a model: (estimate, count in QEMU, counts by kind); bytes of code, estimated and linked."""
    target, flags, machine, script, per_tick = CORES[core]
    path, *settings = model.split(",", 2)
    folder = os.path.join(args.work, f"{re.sub(r'[^a-zA-Z0-9]', '_', path)[-40:]}-{core}")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    options = [path, "-t", target]
    if settings:
        options += ["--calib", settings[0]]
    if len(settings) > 1:
        options += ["-q", settings[1]]
    run([args.tosac, "compile", *options, "--no-execute", "--emit", "c", "-o", f"{folder}/model.c"], folder)
    profile = json.loads(subprocess.run([args.tosac, "profile", *options, "--json"], capture_output=True, text=True, check=True).stdout)
    with open(f"{folder}/model.c", encoding="utf-8") as f:
        source = marked(f.read())
    with open(f"{folder}/model.c", "w", encoding="utf-8") as f:
        f.write(source)
    with open(f"{folder}/model.h", encoding="utf-8") as f:
        head = f.read()
    with open(f"{folder}/main.c", "w", encoding="utf-8") as f:
        f.write(main_of(head, len(profile["operations"])))
    files = sorted(glob.glob(f"{folder}/*.c")) + [f"{EXAMPLE}/startup.c", f"{EXAMPLE}/board.c"]
    run(["arm-none-eabi-gcc", *FLAGS.split(), *flags.split(), f"-I{EXAMPLE}", "-I.", *files, "-T", os.path.join(EXAMPLE, script), "-lm", "-o", "app"], folder)
    said = run(["qemu-system-arm", "-M", machine, *SEMI.split(), "-kernel", "app"], folder)
    ticks = [int(v) * per_tick for v in re.findall(r"step (\d+)", said)]
    operations = profile["operations"]
    if len(ticks) != len(operations):
        raise RuntimeError(f"{model}: {len(ticks)} steps in C, {len(operations)} in the profile")
    text = int(re.search(r"^\.text\s+(\d+)", run(["arm-none-eabi-size", "-A", "app"], folder), re.M)[1])
    code = (profile["flash"]["code"], text - profile["flash"]["constants"])
    return [(o["instructions"], t, o["counts"]) for o, t in zip(operations, ticks)], code


def nonnegative(a, b):
    """Least squares with no coefficient below zero: what would be goes, one at a time."""
    keep = list(range(a.shape[1]))
    while keep:
        x = numpy.linalg.lstsq(a[:, keep], b, rcond=None)[0]
        if (x >= 0).all():
            break
        keep.pop(int(numpy.argmin(x)))
    full = numpy.zeros(a.shape[1])
    if keep:
        full[keep] = x
    return full


def fit(steps):
    """Prices by kind from steps of one core, a kernel at a time; what control flow does is left out."""
    prices = {}
    by_kernel = collections.defaultdict(list)
    for _, ticks, counts in steps:
        if counts:
            by_kernel[next(iter(counts)).split()[0]].append((ticks, counts))
    for kernel, rows in by_kernel.items():
        if kernel == "control":
            continue
        kinds = sorted({k for _, c in rows for k in c})
        weight = numpy.array([1 / max(t, 400) ** 0.75 for t, _ in rows])
        a = numpy.array([[c.get(k, 0) for k in kinds] for _, c in rows], dtype=float)
        b = numpy.array([t for t, _ in rows])
        prices.update(zip(kinds, nonnegative(a * weight[:, None], b * weight)))
    return prices


def error(estimate, count):
    return 100 * (estimate / count - 1) if count else 0


def report(core, name, steps, code):
    estimate, count = sum(s[0] for s in steps), sum(s[1] for s in steps)
    print(f"{core:4} {name:40} {count:13,.0f} counted {estimate:13,.0f} estimated {error(estimate, count):+6.1f} %   code {code[1]:6} linked"
          f" {code[0]:6} estimated {error(*code):+6.1f} %", flush=True)


def by_kernel(core, steps):
    total = collections.defaultdict(lambda: [0, 0.0, 0.0])
    for estimate, ticks, counts in steps:
        row = total[next(iter(counts)).split()[0] if counts else "nothing"]
        row[0] += 1
        row[1] += estimate
        row[2] += ticks
    for kernel, (n, estimate, ticks) in sorted(total.items(), key=lambda r: -r[1][2]):
        print(f"{core:4} {kernel:12} {n:4} steps {ticks:14,.0f} counted {estimate:14,.0f} estimated {error(estimate, ticks):+6.1f} %")


def table(work):
    for path in sorted(glob.glob(f"{ROOT}/src/cortexm/kernels/*.c")):
        sizes = []
        for _, flags, *_ in CORES.values():
            run(["arm-none-eabi-gcc", "-std=c11", "-O2", *flags.split(), "-c", path, "-o", "kernel.o"], work)
            sizes.append(int(run(["arm-none-eabi-size", "kernel.o"], work).split("\n")[1].split()[0]))
        print(f"{os.path.basename(path):24} " + ", ".join(f"{s:4}" for s in sizes))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tosac")
    parser.add_argument("work")
    parser.add_argument("models", nargs="*")
    parser.add_argument("--core", action="append")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    args.tosac, args.work = os.path.abspath(args.tosac), os.path.abspath(args.work)
    if args.table:
        os.makedirs(args.work, exist_ok=True)
        table(args.work)
    prices = {}
    for core in args.core or CORES:
        everything = []
        for model in args.models:
            try:
                steps, code = measure(args, model, core)
            except (RuntimeError, subprocess.SubprocessError) as e:
                print(f"{core:4} {model}: {e}", flush=True)
                continue
            report(core, model.split(",")[0][-40:], steps, code)
            everything += steps
        by_kernel(core, everything)
        prices[core] = fit(everything) if args.fit else {}
    for kind in sorted({k for p in prices.values() for k in p}):
        kernel, what = kind.split()
        print(f"PRICE( {kernel + ',':11} {what + ',':12} " + ", ".join(f"{prices.get(c, {}).get(kind, 0):9.2f}" for c in CORES) + " )")
    return 0


if __name__ == "__main__":
    sys.exit(main())
