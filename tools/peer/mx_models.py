#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models with block-scaled layers beside the reference model of TOSA 1.1.

    mx_models.py TOSAC MODEL DATA.npz [--samples N]

Run it with a Python that has tosa-tools 2026.8 or newer (tools/setup.sh tosa11).  MODEL is compiled for TOSA-1.1+FP+mxfp with every
block-scaled setting; tosac and the reference model run the program on the same samples.  Between layers both compute in float, in orders
of their own, so a number may round to the next code in one of them: results are asked for 40 dB beside each other.
Ends with "N passed, N failed".
"""
import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

PROGRAM = os.path.join(importlib.util.find_spec("tosa_reference_model").submodule_search_locations[0], "..", "bin", "tosa_reference_model")
SETTINGS = ("mxfp8", "mxfp8e5m2", "mxfp6", "mxfp6e3m2", "mxfp4", "mxint8", "mxfp8/mxfp4", "float/mxfp4")


def compared(tosac, model, setting, x, folder):
    """dB between the two, and how many numbers have the same bits."""
    file = os.path.join(folder, "case.tosa")
    done = subprocess.run([tosac, "compile", model, "-t", "TOSA-1.1+FP+mxfp", "-q", setting, "-o", file], capture_output=True, text=True)
    if done.returncode:
        return done.stderr.strip()[-300:]
    shown = json.loads(subprocess.run([tosac, "inspect", file, "--json"], capture_output=True, text=True, check=True).stdout)
    signal = noise = same = n = 0
    for sample in x:
        given = os.path.join(folder, "x.npy")
        np.save(given, sample.reshape(json.loads("[" + shown["inputs"][0]["type"].split("[")[1])))
        desc = {"tosa_file": "case.tosa", "ifm_name": [shown["inputs"][0]["name"]], "ifm_file": ["x.npy"],
                "ofm_name": [shown["outputs"][0]["name"]], "ofm_file": ["y.npy"], "expected_failure": False}
        json.dump(desc, open(os.path.join(folder, "desc.json"), "w"))
        rm = subprocess.run([PROGRAM, "--test_desc", os.path.join(folder, "desc.json"), "--flatbuffer_dir", folder, "--output_dir", folder],
                            capture_output=True, text=True, env={"PATH": ""})
        if rm.returncode:
            return (rm.stdout + rm.stderr).strip()[-300:]
        subprocess.run([tosac, "run", file, "-i", given, "-o", os.path.join(folder, "ours")], capture_output=True, check=True)
        want = np.load(os.path.join(folder, "y.npy")).astype(np.float64).ravel()
        got = np.load(os.path.join(folder, "ours", "output_0.npy")).astype(np.float64).ravel()
        signal, noise = signal + (want ** 2).sum(), noise + ((want - got) ** 2).sum()
        same, n = same + (want == got).sum(), n + want.size
    return (10 * np.log10(signal / noise) if noise else np.inf), same, n


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("tosac")
    ap.add_argument("model")
    ap.add_argument("data")
    ap.add_argument("--samples", type=int, default=4)
    a = ap.parse_args()
    data = np.load(a.data)
    x = (data[data.files[0]] if hasattr(data, "files") else data)[:a.samples]
    failed = 0
    for setting in SETTINGS:
        with tempfile.TemporaryDirectory() as folder:
            found = compared(a.tosac, a.model, setting, x, folder)
        good = not isinstance(found, str) and found[0] >= 40
        failed += not good
        print(f"{setting}: {found if isinstance(found, str) else f'{found[0]:.1f} dB, {found[1]} of {found[2]} numbers the same'}", flush=True)
    print(f"{len(SETTINGS) - failed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
