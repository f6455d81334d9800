#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A method of a .pte in ExecuTorch's runtime (runner) beside tosac run, number for number.

  compare.py RUNNER TOSAC FILE.pte METHOD DATA.npz [CALLS [file|mmap]]     DATA: one member per input, samples along the first axis"""
import os, subprocess, sys, tempfile
import numpy as np


def main(runner, tosac, program, method, data, calls="8", *how):
    arrays = list(np.load(data).values())
    n = min(int(calls), len(arrays[0]))
    with tempfile.TemporaryDirectory() as d:
        for k in range(n):
            for i, a in enumerate(arrays):
                open(f"{d}/in_{k}_{i}.bin", "wb").write(np.ascontiguousarray(a[k]).tobytes())
        np.savez(d + "/some.npz", **{f"a{i}": a[:n] for i, a in enumerate(arrays)})
        ran = subprocess.run([runner, program, method, d, str(n), *how], capture_output=True, text=True)
        words = [line for line in (ran.stdout + ran.stderr).splitlines() if line]
        print(*[w for w in words if w.startswith("EthosU:")][:3], *[w for w in words if "execut" in w.lower() and "E 0" in w[:4]][:2], f"exit {ran.returncode}")
        if ran.returncode:
            return 1
        subprocess.run([tosac, "run", program, "--method", method, "-i", d + "/some.npz", "-o", d + "/ours"], check=True, capture_output=True)
        same = True
        for i, name in enumerate(sorted(os.listdir(d + "/ours"))):
            ours = np.load(f"{d}/ours/{name}")
            theirs = np.concatenate([np.fromfile(f"{d}/out_{k}_{i}.bin", dtype=ours.dtype) for k in range(n)])
            equal = theirs.size == ours.size and np.array_equal(theirs, ours.reshape(-1), equal_nan=ours.dtype.kind == "f")
            same = same and equal
            far = "" if equal or theirs.size != ours.size else f", at most {np.abs(theirs - ours.reshape(-1)).max():.3g} of {np.abs(ours).max():.3g}"
            print(f"{method} {name}: {theirs.size} numbers of {n} calls, {'all equal' if equal else 'DIFFERENT'}{far}")
    return not same


if not 6 <= len(sys.argv) <= 8:
    sys.exit(__doc__)
sys.exit(main(*sys.argv[1:]))
