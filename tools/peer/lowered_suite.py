#!/usr/bin/env python3
"""Regions that we compiled, before the judges.        lowered_suite.py TOSAC DIR [--every N] [--vela TARGET,...]

build/conformance lowered --written DIR or build/models --written DIR comes first; a file's name ends in the target it was
compiled for.  Asked are

  the reference model   on random inputs: the same bits as `tosac run --raw` for integers, within 1e-5 of the largest for floats, or
                        as near to the model's own f64 as its f32 is (a sum of 140,000 terms depends on their order);
  tosa-opt              profile, extensions and level of that target;
  Vela                  whether it takes the file: one that was compiled for an Ethos-U, and with --vela others of integers.

Run it with a Python that has tosa-tools (tools/setup.sh judges).  Ends with "N passed, N failed, N skipped";
skipped are regions of which only the profile was asked.
"""
import argparse, concurrent.futures, glob, importlib.util, json, os, re, subprocess, sys, tempfile
import numpy as np
import tosa_reference_model as model
from tosa import DType, TosaGraph

ap = argparse.ArgumentParser()
ap.add_argument("tosac"); ap.add_argument("dir"); ap.add_argument("--every", type=int, default=1)
ap.add_argument("--vela", default="")
A = ap.parse_args()
BIN = os.path.join(importlib.util.find_spec("tosa_reference_model").submodule_search_locations[0], "..", "bin")
NUMPY = {DType.DType.BOOL: np.bool_, DType.DType.INT8: np.int8, DType.DType.INT16: np.int16, DType.DType.INT32: np.int32,
         DType.DType.FP32: np.float32, DType.DType.FP16: np.float16}
EXTENSION = {"var": "variable", "cf": "controlflow"}
SYSTEM = {"u55": ("Ethos_U55_High_End_Embedded", "Shared_Sram"), "u65": ("Ethos_U65_High_End", "Dedicated_Sram_384KB"),
          "u85": ("Ethos_U85_SYS_DRAM_Mid", "Sram_Only")}


def signature(data):
    block = TosaGraph.TosaGraph.GetRootAs(data, 0).Regions(0).Blocks(0)
    tensors = {block.Tensors(i).Name(): block.Tensors(i) for i in range(block.TensorsLength())}
    return [tensors[block.Inputs(i)] for i in range(block.InputsLength())]


def invent(rng, tensor):
    dtype = NUMPY.get(tensor.Type())
    shape = [tensor.Shape(i) for i in range(tensor.ShapeLength())]
    if dtype is None:
        return None
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(dtype)
    if np.issubdtype(dtype, np.floating):
        return rng.uniform(0.05, 0.95, shape).astype(dtype)
    if dtype == np.int32:  # an index, most often
        return rng.integers(0, 2, shape).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max + 1, shape).astype(dtype)


def precise(file, data, arrays):
    """The reference model's outputs in f64: its program writes them, its binding does not hand them out."""
    block = TosaGraph.TosaGraph.GetRootAs(data, 0).Regions(0).Blocks(0)
    outputs = [block.Outputs(i).decode() for i in range(block.OutputsLength())]
    with tempfile.TemporaryDirectory() as t:
        for i, a in enumerate(arrays):
            np.save(f"{t}/in{i}.npy", a)
        json.dump({"tosa_file": os.path.abspath(file), "ifm_name": [block.Inputs(i).decode() for i in range(block.InputsLength())],
                   "ifm_file": [f"in{i}.npy" for i in range(len(arrays))], "ofm_name": outputs,
                   "ofm_file": [f"out{i}.npy" for i in range(len(outputs))], "expected_failure": False}, open(f"{t}/desc.json", "w"))
        subprocess.run([os.path.join(BIN, "tosa_reference_model"), "--test_desc", f"{t}/desc.json", "--flatbuffer_dir", t, "--output_dir", t,
                        "--precise_mode", "1"], check=True, capture_output=True)
        return [np.load(f"{t}/out{i}.npy") for i in range(len(outputs))]


def apart(a, b):
    """The largest difference of two arrays; infinite where only one is NaN or infinite."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(invalid="ignore"):
        difference = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0, np.abs(a - b))
    return np.nan_to_num(difference, nan=np.inf, posinf=np.inf).max(initial=0)


def numbers(file, data):
    rng = np.random.default_rng(1)
    arrays = [invent(rng, t) for t in signature(data)]
    if not arrays or any(a is None for a in arrays):  # without inputs the model's binding crashes
        return "", True
    try:
        want, status = model.run(data, arrays, tosa_level="EIGHTK")
    except (ValueError, TypeError, RuntimeError) as e:
        return ("", True) if "upport" in str(e) else (f"the reference model: {e}", False)
    if "UNPREDICTABLE" in str(status):  # a shift by more bits than there are, say: our inputs are random
        return "", True
    if int(status):
        return f"the reference model: status {status}", False
    with tempfile.TemporaryDirectory() as t:
        for i, a in enumerate(arrays):
            np.save(f"{t}/in{i}.npy", a)
        done = subprocess.run([A.tosac, "run", file, "--raw", "-o", t, *[x for i in range(len(arrays)) for x in ("-i", f"{t}/in{i}.npy")]],
                              capture_output=True, text=True)
        if done.returncode:
            return f"tosac run: {done.stderr.strip()[-200:]}", False
        for i, w in enumerate(want):
            got = np.load(f"{t}/output_{i}.npy")
            if np.issubdtype(w.dtype, np.floating):
                top = np.abs(w[np.isfinite(w)].astype(np.float64)).max(initial=1e-3)
                if apart(got, w) > top * (1e-5 if w.dtype == np.float32 else 2 ** -8):
                    exact = precise(file, data, arrays)[i]
                    if not apart(got, exact) <= apart(w, exact):
                        return f"output {i} differs by {apart(got, w):.3g}; from f64 by {apart(got, exact):.3g}, the model by {apart(w, exact):.3g}", False
            elif got.tobytes() != w.tobytes():
                return f"output {i}: {np.sum(got != w)} of {w.size} differ", False
    return "", False


def profile(file):
    words = re.search(r"for_(TOSA-1\.[01][^.]*(?:\.[01][^.]*)?)\.\d+\.tosa$", os.path.basename(file)).group(1).split("+")[1:]
    profiles = ",".join("pro_" + w.lower() for w in words if w in ("INT", "FP"))
    extensions = ",".join(EXTENSION.get(w, w) for w in words if w not in ("INT", "FP", "u55"))
    with tempfile.TemporaryDirectory() as t:
        open(f"{t}/empty.mlir", "w").write("module {}")
        done = subprocess.run([os.path.join(BIN, "tosa-opt"), f"{t}/empty.mlir", f"--tosa-deserialize=tosa-flatbuffer-filename={os.path.abspath(file)}",
                               f"--tosa-attach-target=profiles={profiles} extensions={extensions} level=8k specification_version=1.0",
                               "--tosa-validate=strict-op-spec-alignment"], capture_output=True, text=True)
        lines = [line for line in done.stderr.splitlines() if "error" in line] or [done.stderr[-200:]]
        return "" if done.returncode == 0 else f"tosa-opt: {lines[0][-220:]}"


def vela(file, target):
    system, memory = SYSTEM[target.split("-")[1]]
    with tempfile.TemporaryDirectory() as t:  # random models may hold a sum of 140,000 terms, on which it spends minutes and all memory
        done = subprocess.run(["timeout", "60", os.path.join(os.path.dirname(sys.executable), "vela"), f"--accelerator-config={target}", "--config=Arm/vela.ini", "--output-format=raw",
                               f"--system-config={system}", f"--memory-mode={memory}", f"--output-dir={t}", file], capture_output=True, text=True)
        lines = [line for line in (done.stdout + done.stderr).splitlines() if "rror" in line] or [f"exit {done.returncode}"]
        return "" if done.returncode == 0 else f"{target}: {lines[-1][-200:]}"


def judge(file):
    data = open(file, "rb").read()
    words, untried = numbers(file, data)
    machine = re.search(r"for_(ethos-u\d+-\d+)\.\d+\.tosa$", file)
    if machine:  # a random model: what Vela refuses is listed, as refusals are
        refused = vela(file, machine.group(1))
        if refused:
            print(f"refused: {os.path.basename(file)}: {refused}", file=tell)
        return file, [w for w in (words,) if w], untried or bool(refused)
    if "for_vgf." in file:
        return file, [w for w in (words,) if w], untried
    found = [words, profile(file)]
    if "FP" not in os.path.basename(file).split("for_TOSA")[1]:
        found += [vela(file, t) for t in A.vela.split(",") if t]
    return file, [w for w in found if w], untried


tell = os.fdopen(os.dup(1), "w")  # the model makes remarks about versions on both streams
for stream in (1, 2):
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
passed = failed = skipped = 0
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    for file, words, untried in pool.map(judge, sorted(glob.glob(os.path.join(A.dir, "*.tosa")))[::A.every]):
        passed += not words and not untried
        failed += bool(words)
        skipped += untried and not words
        for w in words:
            print(f"{os.path.basename(file)}: {w}", file=tell)
if skipped:
    print(f"{skipped} have no inputs, or ones that the model does not take (int4, int48, bf16, fp8) or calls unpredictable, or are refused by Vela", file=tell)
print(f"{passed} passed, {failed} failed, {skipped} skipped", file=tell, flush=True)
sys.exit(failed > 0)
