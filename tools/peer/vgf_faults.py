#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the emulation layer does with the smallest files that it gets wrong.        vgf_faults.py TOSAC [FILE.ir...]

The files are test/fixture/vgf/*.ir.  Each is compiled, run by tosac and by the scenario runner, and a line says what came
of it.  doc/vgf.md tells of the faults; one that is gone can leave that page.  Run it with the judges' Python.
"""
import glob
import os
import shutil
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import vgf_tools as vgf  # noqa: E402

SPEC = "vgf:TOSA-1.0+INT+FP+int16+int4+bf16+fp8e4m3+fp8e5m2+fft+dynamic"
KIND = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "f32": np.float32, "e4m3": "V1"}
tosac = os.path.abspath(sys.argv[1])
files = sys.argv[2:] or sorted(glob.glob(os.path.join(os.path.dirname(__file__), "..", "..", "test", "fixture", "vgf", "*.ir")))


def feeds(path, folder):
    """Small numbers for every input, from the graph's first line."""
    line = next(text for text in open(path) if text.startswith("graph"))
    paths = []
    for i, text in enumerate(line[line.index("(") + 1:line.rindex(")")].split("%")[1:]):
        dtype, shape = text.split(":")[1].strip(" ,").rstrip("]").split("[")
        array = np.ones([int(d) for d in shape.split(",")], np.int8 if dtype == "e4m3" else KIND[dtype])
        paths.append(os.path.join(folder, f"in_{i}.npy"))
        np.save(paths[-1], array.view("V1") if dtype == "e4m3" else array)
    return paths


def try_one(path, folder):
    file, inputs = os.path.join(folder, "case.vgf"), feeds(path, folder)
    vgf.call(tosac, "compile", path, "-t", SPEC, "-o", file)
    vgf.call(tosac, "run", file, "-o", os.path.join(folder, "ours"), "--raw", *sum((["-i", p] for p in inputs), []))
    try:
        got = np.load(vgf.run(file, folder, inputs, ENVIRONMENT)[0])
    except vgf.Refused as no:
        return "fault: " + str(no).split(":")[1].strip()
    want = np.load(os.path.join(folder, "ours", "output_0.npy"))
    return "right" if got.tobytes() == want.tobytes() else f"fault: {got.tobytes().hex()} is not {want.tobytes().hex()}"


FOLDER, ENVIRONMENT = vgf.vulkan()
for f in files:
    with tempfile.TemporaryDirectory() as d:
        print(f"{os.path.basename(f):24} {try_one(f, d)}", flush=True)
shutil.rmtree(FOLDER)
