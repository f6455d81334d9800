#!/usr/bin/env python3
"""Bytes that a compiler makes of the functions of models in C, as rows of src/cortexm/code_sizes.def.

    cortexm_code.py TOSAC WORK MODEL[,CALIB[,QUANT]]...

Each model becomes C for four cores and is compiled with arm-none-eabi-gcc -O2; what its functions take beyond constants and records is
divided among the texts of code_sizes.def: least squares of relative errors, none below zero, drawn a little towards the rows that are there.
Prints the error of each model before and after, then the rows.  Needs arm-none-eabi-gcc, numpy.
"""

import os
import re
import shutil
import subprocess
import sys

import numpy

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
CORES = {
    "cortex-m0plus": "-mcpu=cortex-m0plus -mthumb",
    "cortex-m3": "-mcpu=cortex-m3 -mthumb",
    "cortex-m4": "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16",
    "cortex-m55": "-mcpu=cortex-m55 -mthumb -mfloat-abi=hard",
}
PULL = 0.004  # towards the rows that are there


def rows():
    """Text and bytes by core; records are exact and stay."""
    with open(f"{ROOT}/src/cortexm/code_sizes.def", encoding="utf-8") as f:
        found = re.findall(r'^CODE\( "(.*)",\s+(\d+), +(\d+), +(\d+), +(\d+) \)', f.read(), re.M)
    return [(text, [int(v) for v in bytes_]) for text, *bytes_ in found]


def left(text, mve):
    """What the preprocessor leaves of it."""
    kept, out = True, []
    for line in text.split("\n"):
        if line.startswith("#"):
            kept = True if line.startswith("#endif") else (not mve if line.startswith("#else") else mve)
        elif kept:
            out.append(line)
    return "\n".join(out)


def measure(tosac, work, model, target):
    """Functions of the model as text; bytes that they take, tables of places aside."""
    path, *settings = model.split(",")
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    options = [v for pair in zip(("--calib", "-q"), settings) for v in pair]
    subprocess.run([tosac, "compile", path, *options, "-t", target, "--no-execute", "--quiet", "--emit", "c", "-o", f"{work}/model.c"], check=True)
    subprocess.run(["arm-none-eabi-gcc", "-std=c11", "-O2", *CORES[target].split(), "-c", "model.c", "-o", "model.o"], cwd=work, check=True)
    size = subprocess.run(["arm-none-eabi-size", "model.o"], cwd=work, capture_output=True, text=True, check=True).stdout
    with open(f"{work}/model.c", encoding="utf-8") as f:
        source = f.read()
    with open(f"{work}/model.h", encoding="utf-8") as f:
        constants = int(re.search(r"_CONSTANT_BYTES (\d+)", f.read())[1])
    text = left(source[re.search(r"\n(static )?(void|int) model_", source).start() :], target == "cortex-m55")
    tables = sum(int(b) // 8 * int(n) * int(c) for b, n, c in re.findall(r"static const uint(\d+)_t at\[(\d+)\]\[(\d+)\]", text))
    return text, int(size.split("\n")[1].split()[0]) - constants - tables


def fit(counts, made, prior, exact):
    """Bytes by text: those of records stay, none is below zero."""
    weight = 1 / numpy.maximum(made, 300) ** 0.75
    keep = [i for i in range(len(prior)) if not exact[i]]
    rest = made - counts[:, exact] @ prior[exact]
    while True:
        a = numpy.vstack([counts[:, keep] * weight[:, None], PULL * numpy.eye(len(keep))])
        x = numpy.linalg.lstsq(a, numpy.concatenate([rest * weight, PULL * prior[keep]]), rcond=None)[0]
        if (x >= 0).all():
            break
        keep.pop(int(numpy.argmin(x)))
    result = numpy.where(exact, prior, 0.0)
    result[keep] = x
    return numpy.round(result)


def main():
    tosac, work, models, table = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3:], rows()
    exact = numpy.array([len(set(b)) == 1 for _, b in table])
    columns = []
    for core, target in enumerate(CORES):
        measured = [measure(tosac, work, m, target) for m in models]
        counts = numpy.array([[text.count(t) for t, _ in table] for text, _ in measured], dtype=float)
        made = numpy.array([bytes_ for _, bytes_ in measured], dtype=float)
        prior = numpy.array([b[core] for _, b in table], dtype=float)
        columns.append(fit(counts, made, prior, exact))
        for model, row, bytes_ in zip(models, counts, made):
            errors = [100 * (row @ x / bytes_ - 1) for x in (prior, columns[-1])]
            print(f"{target:14} {model.split(',')[0][-40:]:40} {bytes_:7.0f} bytes, estimated {errors[0]:+6.1f} %, fitted {errors[1]:+6.1f} %")
    for (text, _), *fitted in zip(table, *columns):
        quoted = f'"{text}",'
        print(f"CODE( {quoted:36} " + ", ".join(f"{v:3.0f}" for v in fitted) + " )")
    return 0


if __name__ == "__main__":
    sys.exit(main())
