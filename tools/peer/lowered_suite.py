#!/usr/bin/env python3
"""Regions that we compiled, before the judges.        lowered_suite.py TOSAC DIR [--every N] [--vela TARGET,...]

build/conformance lowered --written DIR or build/models --written DIR comes first; a file's name ends in the target it was
compiled for.  Asked are

  the reference model   on random inputs: the same bits as `tosac run --raw`, or, in a program with floats, every operator within
                        the specification's accuracy rule (tosa_rule.py);
  tosa-opt              profile, extensions and level of that target;
  Vela                  whether it takes the file: one that was compiled for an Ethos-U, and with --vela others of integers.

Run it with a Python that has tosa-tools (tools/setup.sh judges).  Ends with "N passed, N failed, N skipped";
skipped are regions of which only the profile was asked.
"""
import argparse, concurrent.futures, glob, os, re, subprocess, sys, tempfile
import numpy as np
import tosa_reference_model as model
from tosa import DType, TosaGraph

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import npu_vela  # noqa: E402
import tosa_rule  # noqa: E402

ap = argparse.ArgumentParser()
ap.add_argument("tosac"); ap.add_argument("dir"); ap.add_argument("--every", type=int, default=1)
ap.add_argument("--vela", default="")
A = ap.parse_args()
NUMPY = {DType.DType.BOOL: np.bool_, DType.DType.INT8: np.int8, DType.DType.INT16: np.int16, DType.DType.INT32: np.int32,
         DType.DType.FP32: np.float32, DType.DType.FP16: np.float16}
FLOATS = {DType.DType.FP32, DType.DType.FP16, DType.DType.BF16, DType.DType.FP8E4M3, DType.DType.FP8E5M2}
EXTENSION = {"var": "variable", "cf": "controlflow"}


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


def has_floats(data):
    block = TosaGraph.TosaGraph.GetRootAs(data, 0).Regions(0).Blocks(0)
    return any(block.Tensors(i).Type() in FLOATS for i in range(block.TensorsLength()))


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
    try:
        with tempfile.TemporaryDirectory() as t:
            got = tosa_rule.ours(A.tosac, file, t, arrays, len(want))
        differ = [i for i, (g, w) in enumerate(zip(got, want)) if g.tobytes() != w.tobytes()]
        if not differ:
            return "", False
        if has_floats(data):
            return tosa_rule.wrong_operator(A.tosac, file, arrays, got), False
        return f"output {differ[0]}: {np.sum(got[differ[0]] != want[differ[0]])} of {want[differ[0]].size} differ", False
    except RuntimeError as e:
        return str(e), False


def profile(file):
    words = re.search(r"for_(TOSA-1\.[01][^.]*(?:\.[01][^.]*)?)\.\d+\.tosa$", os.path.basename(file)).group(1).split("+")[1:]
    profiles = ",".join("pro_" + w.lower() for w in words if w in ("INT", "FP"))
    extensions = ",".join(EXTENSION.get(w, w) for w in words if w not in ("INT", "FP", "u55"))
    with tempfile.TemporaryDirectory() as t:
        open(f"{t}/empty.mlir", "w").write("module {}")
        done = subprocess.run([os.path.join(tosa_rule.BIN, "tosa-opt"), f"{t}/empty.mlir", f"--tosa-deserialize=tosa-flatbuffer-filename={os.path.abspath(file)}",
                               f"--tosa-attach-target=profiles={profiles} extensions={extensions} level=8k specification_version=1.0",
                               "--tosa-validate=strict-op-spec-alignment"], capture_output=True, text=True)
        lines = [line for line in done.stderr.splitlines() if "error" in line] or [done.stderr[-200:]]
        return "" if done.returncode == 0 else f"tosa-opt: {lines[0][-220:]}"


def vela(file, target):
    with tempfile.TemporaryDirectory() as t:  # for U55 it makes a copy of each repeat of a TILE, 35,000 in one model: minutes, and all memory
        done = subprocess.run(["prlimit", f"--as={4 << 30}", "timeout", "60", os.path.join(os.path.dirname(sys.executable), "vela"), *npu_vela.options(target), "--output-format=raw",
                               f"--output-dir={t}", file], capture_output=True, text=True)
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
