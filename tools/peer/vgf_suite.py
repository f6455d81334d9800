#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""VGF files of the TOSA suite before Arm's own tools.      vgf_suite.py SUITE WRITTEN [--every N | --count N] [--refused FILE]

build/conformance-tosa SUITE --vgf WRITTEN comes first: WRITTEN/CASE.vgf and, as WRITTEN/CASE.N.npy, what our interpreter
makes of it.  For each case

  the model converter   describes the same resources: shape, format, binding, category.  What it refuses is counted and, with
                        --refused, listed; ours is run all the same;
  vgf_dump              reads ours;
  the scenario runner   on the emulation layer gives our interpreter's integers bit for bit, and floats and RESCALE with
                        INEXACT_ROUND within the specification's rule (tosa_verify).  A case that fails there with the converter's own file too, or that the converter
                        refuses, is the layer's fault: it is counted apart and, with --refused, listed.

Run it with a Python that has the tools (tools/setup.sh judges).  Ends with "N passed, N failed".
"""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import shutil
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import vgf_tools as vgf  # noqa: E402

ap = argparse.ArgumentParser()
ap.add_argument("suite")
ap.add_argument("written")
ap.add_argument("--every", type=int, default=0)
ap.add_argument("--count", type=int, default=0)
ap.add_argument("--only", default="")
ap.add_argument("--refused")
ap.add_argument("--jobs", type=int, default=1)
A = ap.parse_args()
VERIFY = os.path.join(vgf.package("tosa_reference_model"), "..", "bin", "tosa_verify")


def patch_type(path, name):
    """numpy writes raw bits as |V2, which tosa_verify does not take."""
    data = open(path, "rb").read()
    open(path, "wb").write(re.sub(rb"'descr': '[^']*'", lambda m: f"'descr': '{name}'".encode().ljust(len(m.group())), data, count=1))


STEPS = {2: 10, 4: 23}  # of a floating-point type, by its size: bits behind the point; bf16 comes as raw bits


def near(ours, theirs):
    """Of cases that were recorded with their bits: sums that are added in another order, within eight steps of the largest."""
    if ours.dtype.kind == "V" and ours.dtype.itemsize == 2:
        a, b = ((x.view(np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64) for x in (ours, theirs))
        steps = 7
    elif ours.dtype.kind == "f":
        a, b, steps = ours.astype(np.float64), theirs.astype(np.float64), STEPS[ours.dtype.itemsize]
    else:
        return False
    with np.errstate(all="ignore"):
        top = np.abs(a[np.isfinite(a)]).max(initial=0)
        return bool(((a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= top * 2.0 ** (3 - steps))).all())


def right(case, d, i, got):
    """Words about result i, or nothing."""
    tensor = d["ofm_name"][i]
    rule = d["meta"]["compliance"]["tensors"][tensor]
    ours = np.load(os.path.join(A.written, f"{os.path.basename(case)}.{i}.npy"))
    theirs = np.load(got)
    if theirs.tobytes() == ours.tobytes():
        return ""
    if rule["mode"] == "BITS":
        theirs = theirs.reshape(ours.shape)
        return "" if near(ours, theirs) else f"{theirs.reshape(-1)[:4]}, ours {ours.reshape(-1)[:4]}"
    if rule["mode"] == "EXACT" and not rule["data_type"].startswith(("FP", "BF")):
        at = np.flatnonzero(theirs.reshape(-1) != ours.reshape(-1))
        return f"{len(at)} of {ours.size} differ: {theirs.reshape(-1)[at][:4]}, ours {ours.reshape(-1)[at][:4]}"
    raw = {"BF16": "<V2", "FP8E4M3": "<V1", "FP8E5M2": "|u1"}.get(rule["data_type"])
    shaped = got + ".shaped.npy"
    np.save(shaped, theirs.reshape(ours.shape))
    if raw:
        patch_type(shaped, raw)
    bound = os.path.join(case, "bounds_" + d["ofm_file"][i])
    try:
        vgf.call(VERIFY, "--test_desc", os.path.join(case, "desc.json"), "--ofm_name", tensor, "--imp_result_file", shaped,
                 "--ref_result_file", os.path.join(case, d["ofm_file"][i]), *(["--bnd_result_file", bound] if os.path.exists(bound) else []))
    except vgf.Refused as words:
        return str(words)
    return ""


def judge(name):
    """What is wrong, why the converter refuses the case, and what the emulation layer does with the converter's own file."""
    case, file = os.path.join(A.suite, name), os.path.join(A.written, name + ".vgf")
    d = json.load(open(os.path.join(case, "desc.json")))
    inputs = [os.path.join(case, f) for f in d["ifm_file"]]
    words = refused = fault = ""
    with tempfile.TemporaryDirectory() as folder:
        theirs = os.path.join(folder, "theirs.vgf")
        try:
            vgf.dump(file)
            try:
                vgf.convert(os.path.join(case, "test.tosa"), theirs)
                words = vgf.same_resources(file, theirs)
            except vgf.Refused as no:
                refused = str(no)
            results = vgf.run(file, folder, inputs, ENVIRONMENT)
            words = words or next(filter(None, (right(case, d, i, r) for i, r in enumerate(results))), "")
        except vgf.Refused as no:
            words = str(no)
        if words and not refused:
            fault = same_fault(case, d, theirs, folder, inputs)
    return name, words, refused, fault


def same_fault(case, d, theirs, folder, inputs):
    """Words when the converter's own file does not run rightly either."""
    try:
        results = vgf.run(theirs, folder, inputs, ENVIRONMENT)
        return next(filter(None, (right(case, d, i, r) for i, r in enumerate(results))), "")
    except vgf.Refused as no:
        return str(no)


def sample():
    names = sorted(f[:-4] for f in os.listdir(A.written) if f.endswith(".vgf") and A.only in f)
    every = A.every or (max(1, len(names) // A.count) if A.count else 1)
    return names[::every]


lacking = vgf.missing()
if lacking:
    print(f"not asked: {lacking} is not there\n0 passed, 0 failed, 1 skipped")
    raise SystemExit
FOLDER, ENVIRONMENT = vgf.vulkan()
wrong, refusals, faults, n = 0, collections.Counter(), 0, 0
listed = open(A.refused, "w") if A.refused else None
with concurrent.futures.ThreadPoolExecutor(A.jobs) as pool:
    for name, words, refused, fault in pool.map(judge, sample()):
        n += 1
        refusals[name.split("__")[1].split("_")[0]] += bool(refused)
        if words and not refused and not fault:
            wrong += 1
            print(f"{name}: {words}", flush=True)
        faults += bool(fault) or bool(words and refused)
        if listed and (refused or fault):
            print(f"{name}: {'refused: ' + refused if refused else 'fault: ' + fault}{' and: ' + words if refused else ''}".replace("\n", " "), file=listed, flush=True)
shutil.rmtree(FOLDER)
print(f"the model converter refuses {sum(refusals.values())} of {n}: {dict(+refusals)}; the emulation layer cannot run {faults}, as little as the converter's")
print(f"{n - wrong - faults} passed, {wrong} failed, {faults} skipped")
raise SystemExit(wrong != 0 or n == 0)
