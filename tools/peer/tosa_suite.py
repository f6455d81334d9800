#!/usr/bin/env python3
"""The TOSA suite before Arm's own tools.        tosa_suite.py SUITE REWRITTEN RESULTS [--every N]

build/conformance-tosa SUITE --rewrite REWRITTEN --results RESULTS comes first.  Then this script asks

  the reference model   whether a file that we read and wrote gives the same bits as the original;
  tosa_verify           whether our floating-point results keep the specification's accuracy rule.

Run it with a Python that has tosa-tools (tools/setup.sh judges); cases of TOSA 1.1 need 2026.8 (tools/setup.sh tosa11).  Ends with "N passed, N failed".
"""
import argparse, concurrent.futures, importlib.metadata, importlib.util, json, os, subprocess, tempfile
import numpy as np
import tosa_reference_model as model

ap = argparse.ArgumentParser()
ap.add_argument("suite"); ap.add_argument("rewritten"); ap.add_argument("results")
ap.add_argument("--every", type=int, default=1)
A = ap.parse_args()
BIN = os.path.join(importlib.util.find_spec("tosa_reference_model").submodule_search_locations[0], "..", "bin")


def call(program, *arguments):
    # With an empty PATH the reference model cannot start a debugger when it fails.
    done = subprocess.run([os.path.join(BIN, program), *arguments], capture_output=True, text=True, env={"PATH": ""})
    return done.returncode, (done.stdout + done.stderr).strip()[-300:]


def by_file(case, tosa, d):
    """Bytes of the outputs, by the program's file interface: it takes every type."""
    with tempfile.TemporaryDirectory() as t:
        desc = os.path.join(t, "desc.json")
        out = [f"out{i}.npy" for i in range(len(d["ofm_name"]))]
        json.dump({"tosa_file": os.path.abspath(tosa), "ifm_name": d["ifm_name"], "ifm_file": [os.path.abspath(os.path.join(case, f)) for f in d["ifm_file"]],
                   "ofm_name": d["ofm_name"], "ofm_file": out, "expected_failure": False}, open(desc, "w"))
        rc, words = call("tosa_reference_model", "--test_desc", desc, "--flatbuffer_dir", "/", "--output_dir", t)
        return words if rc else [open(os.path.join(t, f), "rb").read() for f in out]


def evaluate(case, tosa, d):
    try:
        arrays = [np.load(os.path.join(case, f)) for f in d["ifm_file"]]
        outputs, status = model.run(open(tosa, "rb").read(), arrays, tosa_level="EIGHTK")
        return [o.tobytes() for o in outputs] + [int(status)]
    except (ValueError, TypeError, RuntimeError):
        return by_file(case, tosa, d)


def rewritten(name, d):
    case = os.path.join(A.suite, name)
    was = evaluate(case, os.path.join(case, d.get("tosa_file", "test.tosa")), d)
    now = evaluate(case, os.path.join(A.rewritten, name + ".tosa"), d)
    if not isinstance(was, list):
        return f"the reference model refuses the original: {was}"
    return "" if was == now else f"the reference model: {str(was)[:80]} became {str(now)[:80]}"


def accurate(name, d):
    for i, (tensor, file) in enumerate(zip(d["ofm_name"], d["ofm_file"])):
        mine = os.path.join(A.results, f"{name}.{i}.npy")
        if not os.path.exists(mine):
            continue  # integers have been compared bit for bit
        bound = os.path.join(A.suite, name, "bounds_" + file)
        rc, words = call("tosa_verify", "--test_desc", os.path.join(A.suite, name, "desc.json"), "--ofm_name", tensor, "--imp_result_file", mine,
                         "--ref_result_file", os.path.join(A.suite, name, file), *(["--bnd_result_file", bound] if os.path.exists(bound) else []))
        if rc:
            return f"tosa_verify: {words}"
    return ""


def judge(name):
    d = json.load(open(os.path.join(A.suite, name, "desc.json")))
    return [f"{name}: {words}" for words in (rewritten(name, d), accurate(name, d)) if words]


words_to = os.fdopen(os.dup(1), "w")  # the reference model warns of every file that is older than itself
silence = os.open(os.devnull, os.O_WRONLY)
os.dup2(silence, 1), os.dup2(silence, 2)
newest = tuple(int(v) for v in importlib.metadata.version("tosa-tools").split(".")[:2]) >= (2026, 8)  # knows TOSA 1.1
names = [n for n in sorted(f[:-5] for f in os.listdir(A.rewritten) if f.endswith(".tosa")) if newest or not n.startswith("1.1")][::A.every]
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    found = list(pool.map(judge, names))
for words in found:
    print("\n".join(words), end="\n" if words else "", file=words_to)
wrong = sum(bool(w) for w in found)
print(f"{len(names) - wrong} passed, {wrong} failed", file=words_to, flush=True)
raise SystemExit(wrong != 0 or not names)
