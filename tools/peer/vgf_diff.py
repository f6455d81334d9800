#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tosac's VGF files beside Arm's tools, on random TOSA graphs.        vgf_diff.py TOSAC [--count N] [--seed S] [--only OP,OP] [--keep DIR]

A case is one operator or a few (tosa_cases.py); the reference model says which are unpredictable, and they are left out.  The
others go into files by the dozen: `tosac compile` writes each as VGF, vgf_dump reads it, it describes the same resources as
the model converter's, and the scenario runner on the emulation layer gives what `tosac run` gives: integers bit for bit,
floats within the few units in the last place that two good implementations may differ by.
Run it with the judges' Python (tools/setup.sh judges).  Ends with "N passed, N failed".
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import vgf_tools as vgf  # noqa: E402

SPEC = "vgf:TOSA-1.0+INT+FP+int16+int4+bf16+fp8e4m3+fp8e5m2+fft+doubleround+inexactround"
SLACK = {"exact": 0, "close": 2, "few": 64, "dot": None, "loose": None, "between": None}  # units in the last place; None: not compared
BATCH = 12
ap = argparse.ArgumentParser()
ap.add_argument("tosac")
ap.add_argument("--count", type=int, default=40)
ap.add_argument("--seed", type=int, default=1)
ap.add_argument("--only", default="")
ap.add_argument("--keep")
A = ap.parse_args()
A.tosac = os.path.abspath(A.tosac)
sys.argv = sys.argv[:1]
import tosa_diff as diff  # noqa: E402
from tosa_cases import CASES, WEIGHT  # noqa: E402

SKIP = {"cond_if", "while_loop", "variable", "custom"}


def differs(case, ours, theirs):
    """Words about the first result of a case that is not right, or nothing."""
    for i, ((dtype, shape), a, b) in enumerate(zip(case.types, ours, theirs)):
        slack = SLACK[case.how]
        if a.tobytes() == b.tobytes() or (slack is None):
            continue
        if dtype not in diff.FRACTION:
            at = np.flatnonzero(a.reshape(-1) != b.reshape(-1))
            return f"result {i}, {dtype}: {b.reshape(-1)[at][:4]}, ours {a.reshape(-1)[at][:4]}"
        x, y = diff.as_reals(dtype, a).reshape(-1), diff.as_reals(dtype, b).reshape(-1)
        with np.errstate(all="ignore"):
            unit = np.exp2(np.maximum(np.floor(np.log2(np.abs(x))), diff.LEAST[dtype]) - diff.FRACTION[dtype])
            same = (x == y) | (np.isnan(x) & np.isnan(y)) | (np.abs(x - y) <= slack * unit)
        if not same.all():
            return f"result {i}, {dtype}: {y[~same][:4]}, ours {x[~same][:4]}"
    return ""


def tosac(*arguments):
    vgf.call(A.tosac, *arguments)


def try_file(cases, folder):
    """The words of each case, in one file."""
    whole, data = diff.join(cases)
    tosa, ours, theirs = (os.path.join(folder, n) for n in ("case.tosa", "ours.vgf", "theirs.vgf"))
    open(tosa, "wb").write(data)
    inputs = []
    for i, feed in enumerate(whole.feeds):
        inputs.append(os.path.join(folder, f"in_{i}.npy"))
        np.save(inputs[-1], feed)
    tosac("compile", tosa, "-t", SPEC, "-o", ours)
    tosac("run", ours, "-o", os.path.join(folder, "out"), "--raw", *sum((["-i", p] for p in inputs), []))
    vgf.convert(tosa, theirs)
    words = vgf.same_resources(ours, theirs)
    if words:
        raise vgf.Refused(words)
    vgf.run(ours, folder, inputs, ENVIRONMENT)
    ours, theirs = ([np.load(os.path.join(d, f"output_{i}.npy")) for i in range(len(whole.outputs))] for d in (os.path.join(folder, "out"), folder))
    ours, theirs = iter(ours), iter(theirs)
    return [differs(c, [next(ours) for _ in c.types], [next(theirs) for _ in c.types]) for c in cases]


def compare(cases):
    """Cases with their words; one that spoils a file is found by taking each by itself."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            return list(zip(cases, try_file(cases, folder)))
        except vgf.Refused as no:
            if len(cases) == 1:
                return [(cases[0], str(no))]
    return [pair for c in cases for pair in compare([c])]


def keep(case):
    if A.keep:
        os.makedirs(A.keep, exist_ok=True)
        open(os.path.join(A.keep, case.name + ".tosa"), "wb").write(case.file)


def sample():
    names = A.only.split(",") if A.only else [n for n in CASES if n not in SKIP]
    weights = np.array([WEIGHT.get(n, 1) for n in names], float)
    number = 0
    while True:
        case = diff.Case(A.seed, number, names, weights / weights.sum())
        number += 1
        try:
            status = diff.quietly(case.judge)[1]
        except Exception:  # not a graph that the reference model takes: tosa_diff.py tells of it
            continue
        if status.name == "TOSA_VALID" and not case.graph.regions:
            yield case


lacking = vgf.missing()
if lacking:
    print(f"not asked: {lacking} is not there\n0 passed, 0 failed, 1 skipped")
    raise SystemExit
FOLDER, ENVIRONMENT = vgf.vulkan()
source, passed, failed = sample(), 0, 0
while passed + failed < A.count:
    for case, words in compare([next(source) for _ in range(min(BATCH, A.count - passed - failed))]):
        passed, failed = passed + (not words), failed + bool(words)
        if words:
            print(f"{case.name}: {words}", flush=True)
            keep(case)
shutil.rmtree(FOLDER)
print(f"{passed} passed, {failed} failed")
raise SystemExit(failed != 0)
