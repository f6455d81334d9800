#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Logarithms and roots of i32 beside exact arithmetic, on every kind of machine.      wide_functions.py TOSAC

Every code up to 2^17; above, a result follows from where the code lies between two neighbours of 17 leading bits, so both ends of every
such stretch stand for all codes in it (those of 16, 17 and 18 bits: a root takes other ones than a logarithm), and results never fall.
Run are the TOSA program, command streams of U55, U65 and U85, and the C for a Cortex-M, compiled here."""
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

TOSAC = os.path.abspath(sys.argv[1])
N = 32768
# what, of numpy, scale of the operand, step and type of the result, and how far off beside its rounding: roots within two steps of 16 bits
# (src/lower/integer/wide_function.c)
FUNCTIONS = [
    ("log %0", np.log, 1e-6, 5e-4, "i16", 0.1), ("log %0", np.log, 3e-12, 0.12, "i8", 0.01), ("log2 %0", np.log2, 250, 2e-3, "i16", 0.1),
    ("log10 %0", np.log10, 1e-9, 3e-4, "i16", 0.1), ("log1p %0", np.log1p, 1e-5, 5e-4, "i16", 0.1),
    ("sqrt %0", np.sqrt, 1e-6, 1.5e-3, "i16", 1.5), ("sqrt %0", np.sqrt, 1e-6, 0.4, "i8", 0.02),
    ("rsqrt %0", lambda x: 1 / np.sqrt(x), 1e-6, 4e-3, "i16", 0.5)]
TARGETS = ["TOSA-1.0+INT+int16", "ethos-u55-128", "ethos-u65-256", "ethos-u85-256", "cortex-m55"]
MAIN = """#include <stdio.h>
#include "f.h"
static unsigned char memory[1 << 22];
static int32_t in[32768];
static TYPE out[32768];
int main(void) { while (fread(in, 4, 32768, stdin) == 32768) { f_run_in(memory, in, out); fwrite(out, sizeof *out, 32768, stdout); } return 0; }
"""


def codes():
    """Every code that stands for others, ascending, 1 up to 2^31 - 1; the last one again to fill a sample."""
    parts = [np.arange(1, 1 << 17, dtype=np.int64)]
    for top in range(17, 31):
        for width in (top - 16, top - 15, top - 14):
            ends = np.arange(1 << top, 2 << top, 1 << width, dtype=np.int64) + (1 << width) // 2
            parts += [ends - 1, ends]
    all_ = np.unique(np.concatenate([*parts, [(1 << 31) - 1]]))
    return np.concatenate([all_, np.full(-len(all_) % N, all_[-1])]).astype(np.int32).reshape(-1, 1, N)


def tosac(*words, folder):
    done = subprocess.run([TOSAC, *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def results(target, dtype, x, folder):
    if target.startswith("cortex"):
        tosac("compile", "f.ir", "-t", target, "--emit", "c", "-o", "f", folder=folder)
        c = "int8_t" if dtype == "i8" else "int16_t"
        (folder / "main.c").write_text(MAIN.replace("TYPE", c))
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-DTOSAC_ISA=0", "-o", "main", "main.c", "f.c"], cwd=folder, check=True)
        said = subprocess.run([folder / "main"], input=x.tobytes(), capture_output=True, check=True).stdout
        return np.frombuffer(said, {"i8": np.int8, "i16": np.int16}[dtype])
    tosac("compile", "f.ir", "-t", target, "-o", "f.pte", folder=folder)
    tosac("run", "f.pte", "-i", "x.npy", "-o", "out", folder=folder)
    return np.load(folder / "out" / "output_0.npy").ravel()


def main():
    passed, failed, x = 0, 0, codes()
    with tempfile.TemporaryDirectory() as t:
        folder = pathlib.Path(t)
        np.save(folder / "x.npy", x)
        for text, exact, scale, step, dtype, within in FUNCTIONS:
            (folder / "f.ir").write_text(f"graph @main(%0 \"x\": i32[1,{N}] q({scale:.9g}:0 in 0..2147483647)) {{\n"
                                         f"  %1 = {text} : {dtype}[1,{N}] q({step:.9g}:0)\n  return %1\n}}\n")
            bits = np.iinfo(np.int8 if dtype == "i8" else np.int16)
            want = np.clip(exact(np.float64(np.float32(scale)) * x.ravel()) / np.float64(np.float32(step)), bits.min, bits.max)
            for target in TARGETS:
                got = results(target, dtype, x, folder).astype(np.float64)
                off = np.abs(got - want).max()
                turns = np.diff(got) * (-1 if "rsqrt" in text else 1) < 0
                good = got.size == want.size and off <= 0.5 + within and not turns.any()
                passed, failed = passed + good, failed + (not good)
                if not good:
                    print(f"{target}, {text} to {dtype}: {off:.3f} steps off, falls {int(turns.sum())} times", file=sys.stderr)
    print(f"functions of 32 bits: {passed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
