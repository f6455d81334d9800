#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A TOSA file to VGF, process against process: tosac beside Arm's model converter.        vgf.py TOSAC FILE.tosa... [--runs N]

The converter turns down files of newer writers, so both are given the file as tosac writes it.  A row has the best wall
time of each, how many times faster tosac is, and both sizes.  Run it with the judges' Python (tools/setup.sh judges).
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools", "peer"))
import vgf_tools as vgf  # noqa: E402

ap = argparse.ArgumentParser()
ap.add_argument("tosac")
ap.add_argument("files", nargs="+")
ap.add_argument("--runs", type=int, default=10)
A = ap.parse_args()
SPEC = "TOSA-1.0+INT+FP+int16+int4+bf16"


def best(runs, *command):
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        if subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
            return None
        times.append(time.perf_counter() - begin)
    return min(times)


print(f"{'TOSA to VGF':40} {'ms':>9} {'converter ms':>13} {'aim 50x':>8} {'bytes':>10} {'converter':>10}")
for file in A.files:
    with tempfile.TemporaryDirectory() as d:
        tosa, ours, theirs = (os.path.join(d, n) for n in ("model.tosa", "ours.vgf", "theirs.vgf"))
        subprocess.run([A.tosac, "compile", file, "-t", SPEC, "-o", tosa], stdout=subprocess.DEVNULL, check=True)
        mine = best(A.runs, A.tosac, "compile", tosa, "-t", "vgf:" + SPEC, "-o", ours)
        other = best(max(1, A.runs // 3), vgf.program("model_converter", "binaries", "bin", "model-converter"), "-i", tosa, "-o", theirs)
        name = "/".join(file.split("/")[-3:])
        if mine is None or other is None or not os.path.exists(theirs):
            print(f"{name:40} not by both")
            continue
        print(f"{name:40} {mine * 1e3:9.2f} {other * 1e3:13.1f} {other / mine:7.1f}x {os.path.getsize(ours):10} {os.path.getsize(theirs):10}")
