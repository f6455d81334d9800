#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch programs compiled for VGF before Arm's tools.

    vgf_programs.py operators TOSAC SHARED [--every N] [--only TEXT]     the judges' Python (tools/setup.sh judges)
    vgf_programs.py pte       TOSAC SHARED [--only TEXT] [--images N]    a Python with torch and ExecuTorch 1.4.1
    vgf_programs.py whole     TOSAC [--only TEXT]                        the same

operators: each case of SHARED/suites/aten that becomes one region, float and quantized, as .vgf: it describes the same resources as
what the model converter makes of the same region's .tosa, where it does (not of control flow), and the emulation layer gives what `tosac run` gives, integers
bit for bit.  pte: SHARED/fixtures (seed 1 and 2) within one step of PyTorch's result, and trained models with the same first
choice as `tosac run`, as .pte with a VgfBackend in ExecuTorch's own runtime.  whole: test/fixture/shaders and the digits, float and int8, as .pte
of one delegate with several segments (--shaders resample): within 1e-5 of the largest number of `tosac run`, int8 bit for bit.  Ends with "N passed, N failed".
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
import tempfile

import ml_dtypes
import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import vgf_tools as vgf  # noqa: E402

ap = argparse.ArgumentParser()
ap.add_argument("what", choices=["operators", "pte", "whole"])
ap.add_argument("tosac")
ap.add_argument("shared", nargs="?")
ap.add_argument("--every", type=int, default=1)
ap.add_argument("--only", default="")
ap.add_argument("--images", type=int, default=20)
A = ap.parse_args()
A.tosac = os.path.abspath(A.tosac)
KIND = {"bool": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i48": np.int64, "f16": np.float16, "f32": np.float32}
LOOSE = {"float32": 1e-4, "float16": 2.0 ** -7, "bfloat16": 2.0 ** -4}  # of the largest magnitude
ZOO = [("small/digits_mbv2", "calib.npy", "test_x.npy"), ("mobilenetv2_100", "calib.npz", "test.npz"), ("convnext_atto", "calib.npz", "test.npz")]


class Several(Exception):
    """More than one region, or none."""


def tosac(*arguments):
    done = subprocess.run([A.tosac, *arguments], capture_output=True, text=True)
    if done.returncode:
        text = done.stderr.strip()
        raise Several(text) if "regions" in text else vgf.Refused(f"tosac {arguments[0]}: {text[-300:]}")


def stored(text, array, rng):
    """An array for an input of that type: the case's own numbers, as codes where it is quantized."""
    dtype, shape = re.match(r"(\w+)\[([\d,]*)\]", text).groups()
    shape = [int(d) for d in shape.split(",") if d]
    quant = re.search(r"q\(([\d.e+-]+):(-?\d+)", text)
    if array is None or list(array.shape) != shape:
        array = np.zeros(shape, int) if dtype.startswith("i") and not quant else rng.standard_normal(shape)
    if dtype == "bf16":
        return array.astype(ml_dtypes.bfloat16).view("V2")
    if array.dtype.kind != "f":
        return array.astype(KIND[dtype])
    if dtype.startswith("i"):
        scale, zero = (float(quant[1]), int(quant[2])) if quant else (0.05, 0)
        info = np.iinfo(KIND[dtype])
        array = np.clip(np.round(array / scale) + zero, info.min, info.max)
    return array.astype(KIND[dtype])


def feeds(file, case, meta, folder):
    ports = json.loads(subprocess.run([A.tosac, "inspect", file, "--json"], capture_output=True, text=True).stdout)["inputs"]
    own = [np.load(os.path.join(case, i["file"])) for i in meta["inputs"] if "file" in i]
    rng, paths = np.random.default_rng(1), []
    for i, port in enumerate(ports):
        paths.append(os.path.join(folder, f"in_{i}.npy"))
        np.save(paths[-1], stored(port["type"], taken(port["type"], own), rng))
    return paths


def taken(text, own):
    """The first of the case's arrays that has the input's shape and is of its kind, removed from the list; else nothing.  A
    region's inputs come in an order of their own, and the CPU may have narrowed them."""
    shape = [int(d) for d in re.search(r"\[([\d,]*)\]", text)[1].split(",") if d]
    real = "q(" in text or not text.startswith(("i", "bool"))
    for i, array in enumerate(own):
        if list(array.shape) == shape and (array.dtype.kind == "f") == real:
            return own.pop(i)
    return None


def compare(ours, theirs):
    for i, path in enumerate(theirs):
        a, b = np.load(os.path.join(ours, f"output_{i}.npy")), np.load(path)
        if a.tobytes() == b.tobytes():
            continue
        if a.dtype.kind == "V":  # the bits of bf16
            a, b = (np.frombuffer(v.tobytes(), ml_dtypes.bfloat16) for v in (a, b))
        elif a.dtype.kind != "f":
            return f"output {i}: {np.count_nonzero(a.reshape(-1) != b.reshape(-1))} of {a.size} differ"
        slack = LOOSE[str(a.dtype)]
        a, b = a.astype(np.float64).reshape(-1), b.astype(np.float64).reshape(-1)
        finite = a[np.isfinite(a)]
        slack *= max(1e-3, np.abs(finite).max() if finite.size else 0)
        bad = ~((a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= slack))
        if bad.any():
            return f"output {i}: {b[bad][:3]}, ours {a[bad][:3]}"
    return ""


def operator(case, model, spec, meta, environment, tally):
    with tempfile.TemporaryDirectory() as folder:
        file, tosa, theirs = (os.path.join(folder, n) for n in ("ours.vgf", "region.tosa", "theirs.vgf"))
        tosac("compile", model, "-t", "vgf:" + spec, "-o", file)
        tosac("compile", model, "-t", "vgf:" + spec, "-o", tosa)
        words = ""
        try:
            vgf.convert(tosa, theirs)
            words = vgf.same_resources(file, theirs)
        except vgf.Refused:
            tally["refused"] += 1
        inputs = feeds(file, case, meta, folder)
        tosac("run", file, "-o", os.path.join(folder, "ours"), "--raw", *sum((["-i", p] for p in inputs), []))
        return words or compare(os.path.join(folder, "ours"), vgf.run(file, folder, inputs, environment))


def operators():
    folder, environment = vgf.vulkan()
    tally = collections.Counter()
    found = sorted(glob.glob(os.path.join(A.shared, "suites/aten/*/*/meta.json")))
    for path in [f for f in found if A.only in f][::A.every]:
        case, meta = os.path.dirname(path), json.load(open(path))
        models = [("model.pt2", "TOSA-1.0+FP+bf16")] if "VGF_FP" in meta["labels"] else []
        models += [(q["file"], q["tosa_spec"]) for q in meta["quantized"] if q.get("has_qdq") and "VGF_INT" in meta["labels"]][:1]
        for model, spec in models:
            try:
                words = operator(case, os.path.join(case, model), spec, meta, environment, tally)
            except Several:
                tally["several"] += 1
                continue
            except (vgf.Refused, KeyError) as no:
                words = f"{type(no).__name__}: {no}"
            tally["wrong" if words else "right"] += 1
            if words:
                print(f"{'/'.join(case.split('/')[-2:])} {model}: {words}", flush=True)
    shutil.rmtree(folder)
    print(f"{tally['several']} are not one region; the model converter refuses {tally['refused']}")
    return tally["right"], tally["wrong"]


def method(program):
    import executorch.kernels.quantized  # noqa: F401  registers the quantized_decomposed kernels
    from executorch.runtime import Runtime, Verification
    return Runtime.get().load_program(program, verification=Verification.InternalConsistency).load_method("forward")


def execute(program, arrays):
    import torch
    return [t.numpy() for t in program.execute([torch.from_numpy(a) for a in arrays])]


def fixture(case, file):
    tosac("compile", os.path.join(case, "quantized.pt2"), "-t", "vgf", "-o", file)
    program = method(file)
    for t in (0, 1):
        results = execute(program, [np.load(p) for p in sorted(glob.glob(f"{case}/t{t}_in*.npy"))])
        for k, got in enumerate(results):
            want, codes = np.load(f"{case}/t{t}_quant{k}.npy"), np.load(f"{case}/t{t}_q{k}.npy").astype(np.float64)
            steps = np.abs(np.diff(np.unique(want.astype(np.float64)))) if codes.size > 1 else [1]
            if np.abs(got - want).max() > (min(steps) if len(steps) else 0) * 1.01:
                return f"t{t}: {np.abs(got - want).max()} from PyTorch's result"
    return ""


def trained(model, calib, test, file, folder):
    tosac("compile", os.path.join(model, "model.pt2"), "-t", "vgf", "-q", "int8", "--calib", os.path.join(model, calib), "-o", file)
    x = np.load(os.path.join(model, test))
    x = (x[x.files[0]] if hasattr(x, "files") else x)[:A.images].astype(np.float32)
    np.save(os.path.join(folder, "x.npy"), x)
    tosac("run", file, "-i", os.path.join(folder, "x.npy"), "-o", folder)
    ours, program = np.load(os.path.join(folder, "output_0.npy")).reshape(len(x), -1), method(file)
    same = sum(execute(program, [x[i:i + 1]])[0].argmax() == ours[i].argmax() for i in range(len(x)))
    return "" if same == len(x) else f"{len(x) - same} of {len(x)} first choices differ"


def see_layers():
    """The loader looks for them when the process starts: begin again where they are not named yet."""
    environment = vgf.vulkan()[1]
    if os.environ.get("VK_LAYER_PATH") is None:
        os.execve(sys.executable, [sys.executable, *sys.argv], environment)


# Networks, and what --shaders resample keeps out of their regions; of the digits nothing, so that an operator is taken out.
WHOLE = {"shaders/transformer.pt2": ["grid_sample"], "shaders/flow.pt2": ["grid_sample", "upsample_cubic"], "shaders/unet.pt2": ["upsample_linear"],
         "digits/model.pt2": []}
NEAR = 1e-5  # of the largest number: the layer's convolutions sum in another order than ours


def delegates(file):
    (method_,) = json.loads(subprocess.run([A.tosac, "inspect", file, "--json"], capture_output=True, text=True).stdout)["methods"]
    return method_["delegate_calls"], sum(method_["kernels"].values())


def whole_program(model, resampling, words, folder):
    """Largest difference to `tosac run`, relative to the largest number, and what the file is made of, without and with --shaders."""
    file, parts = os.path.join(folder, "whole.pte"), os.path.join(folder, "parts.pte")
    words = words if resampling else [*words, "--cpu", "hardtanh_5"]
    tosac("compile", model, *words, *sum((["--cpu", op] for op in resampling), []), "-o", parts)
    tosac("compile", model, *words, "--shaders", "resample", "-o", file)
    before, kernels = delegates(parts)
    (after,), none = delegates(file)
    if none:
        return 1.0, f"{none} kernels are left"
    ports = json.loads(subprocess.run([A.tosac, "inspect", model, "--json"], capture_output=True, text=True).stdout)["inputs"]
    rng = np.random.default_rng(1)
    arrays = [rng.standard_normal([int(d) for d in re.search(r"\[([\d,]*)\]", p["type"])[1].split(",")]).astype(np.float32) for p in ports]
    paths = [os.path.join(folder, f"in_{i}.npy") for i in range(len(arrays))]
    for path, array in zip(paths, arrays):
        np.save(path, array)
    tosac("run", file, "-o", folder, *sum((["-i", p] for p in paths), []))
    far = 0.0
    for i, got in enumerate(execute(method(file), arrays)):
        want = np.load(os.path.join(folder, f"output_{i}.npy")).astype(np.float64)
        far = max(far, np.abs(got.astype(np.float64) - want).max() / np.abs(want).max())
    return far, (f"{len(before)} delegates and {kernels} kernels become 1 delegate of {after['graph_segments']} graphs and "
                 f"{after['compute_segments']} shaders")


def whole():
    see_layers()
    fixtures = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "test", "fixture")
    right = wrong = 0
    for name, words in [(n, w) for n in WHOLE for w in (["-t", "vgf"], ["-t", "vgf:TOSA-1.0+INT", "--calib", "random:1"]) if A.only in n]:
        with tempfile.TemporaryDirectory() as folder:
            far, what = whole_program(os.path.join(fixtures, name), WHOLE[name], words, folder)
        ok = far == 0 if "--calib" in words else far <= NEAR
        right, wrong = right + ok, wrong + (not ok)
        print(f"{name} {' '.join(words)}: {what}; largest difference {far:.2g}", flush=True)
    return right, wrong


def programs():
    see_layers()
    work = [(d, fixture, (d,)) for s in ("seed1", "seed2") for d in sorted(glob.glob(os.path.join(A.shared, "fixtures", s, "")) + glob.glob(os.path.join(A.shared, "fixtures", s, "*", "")))]
    work += [(m, trained, (os.path.join(A.shared, "zoo", m), calib, test)) for m, calib, test in ZOO]
    right = wrong = 0
    for name, function, arguments in [w for w in work if A.only in w[0]]:
        with tempfile.TemporaryDirectory() as d:
            more = (d,) if function is trained else ()
            words = function(*arguments, os.path.join(d, "program.pte"), *more)
        right, wrong = right + (not words), wrong + bool(words)
        print(f"{name}: {words or 'right'}", flush=True)
    return right, wrong


right, wrong = {"operators": operators, "pte": programs, "whole": whole}[A.what]()
print(f"{right} passed, {wrong} failed")
raise SystemExit(wrong != 0 or right == 0)
