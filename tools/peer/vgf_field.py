#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""VGF files that others have published, run by tosac and on the emulation layer.        vgf_field.py TOSAC [--all]

They are the two examples of the Python package vgf-adapter-model-explorer 0.5.1, of format 0.3.0: a person detector and, with --all,
MobileNetV2.  `tosac verify` finds nothing; `tosac run` gives the layer's numbers; written again as VGF and run there, still the same.
Run it with the judges' Python (tools/setup.sh judges).  Ends with "N passed, N failed".
"""
import importlib.util
import os
import shutil
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import vgf_tools as vgf  # noqa: E402

TOSAC = os.path.abspath(sys.argv[1])
TARGET = "vgf:TOSA-1.0+INT+FP+int16+int4+doubleround"
MODELS = {"vww4": (1, 128, 128, 1), "mobilenet_v2": (1, 224, 224, 3)}
package = importlib.util.find_spec("vgf_adapter_model_explorer")
lacking = vgf.missing() or ("" if package else "the Python package vgf-adapter-model-explorer")
if lacking:
    print(f"not asked: {lacking} is not there\n0 passed, 0 failed, 1 skipped")
    raise SystemExit


def judge(name, folder):
    """Words about what differs, or nothing."""
    file = os.path.join(package.submodule_search_locations[0], "tests", "fixtures", name, "input.vgf")
    data, again = os.path.join(folder, "in.npy"), os.path.join(folder, "again.vgf")
    np.save(data, np.random.default_rng(3).integers(-128, 128, MODELS[name]).astype(np.int8))
    vgf.call(TOSAC, "inspect", file)
    vgf.call(TOSAC, "verify", file)
    vgf.call(TOSAC, "compile", file, "-t", TARGET, "-o", again)
    vgf.call(TOSAC, "run", file, "-i", data, "-o", os.path.join(folder, "ours"), "--raw")
    ours = np.load(os.path.join(folder, "ours", "output_0.npy"))
    for each in (file, again):
        got = np.load(vgf.run(each, folder, [data], ENVIRONMENT)[0])
        if got.tobytes() != ours.tobytes():
            return f"{os.path.basename(each)}: {(got.reshape(-1) != ours.reshape(-1)).sum()} of {ours.size} numbers differ"
    return ""


FOLDER, ENVIRONMENT = vgf.vulkan()
passed = failed = 0
for model in list(MODELS)[:None if "--all" in sys.argv else 1]:
    with tempfile.TemporaryDirectory() as d:
        try:
            words = judge(model, d)
        except vgf.Refused as no:
            words = str(no)
    passed, failed = passed + (not words), failed + bool(words)
    if words:
        print(f"{model}: {words}")
shutil.rmtree(FOLDER)
print(f"{passed} passed, {failed} failed")
raise SystemExit(failed != 0)
