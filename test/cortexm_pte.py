#!/usr/bin/env python3
"""TOSA's integer cases, or TFLite's of int8, as programs for ExecuTorch's kernels on a Cortex-M, read back and run.

    cortexm_pte.py TOSAC CASES [NAME...] [--target T] [--every N]

Every case becomes a .pte; what `tosac run` makes of the file, its cortex_m:: calls by our own kernels, must be the suite's
result, or that of `tosac run` on the case where several are allowed, and of TFLite's.  What is refused must be refused by name; such
cases are counted as skipped, by operator.  Ends with "N passed, N failed, N skipped".
"""

import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

import cortexm_suite


def numbers(path):
    """A .npy file without its header."""
    with open(path, "rb") as f:
        content = f.read()
    return content[10 + content[8] + 256 * content[9] :]


def run(tosac, program, inputs, work):
    words = [word for file in inputs for word in ("-i", file)]
    return subprocess.run([tosac, "run", program, *words, "-o", work], capture_output=True, text=True, check=False)


def kernels(tosac, program):
    """How often each kernel of the file is called."""
    shown = subprocess.run([tosac, "inspect", program], capture_output=True, text=True, check=False).stdout
    return {name: int(n) for n, name in re.findall(r"^ +(\d+)  (\S+::\S+)$", shown, re.M)}


def expected(tosac, folder, work, case, desc):
    """The folder with the results: the suite's, or where it allows several (INEXACT_ROUND) those of `tosac run`."""
    modes = {t["mode"] for t in desc["meta"]["compliance"]["tensors"].values()}
    if modes == {"EXACT"}:
        return f"{folder}/{case}"
    inputs = [word for file in desc["ifm_file"] for word in ("-i", f"{folder}/{case}/{file}")]
    subprocess.run([tosac, "run", f"{folder}/{case}/test.tosa", *inputs, "-o", f"{work}/{case}"], capture_output=True, check=False)
    for i, file in enumerate(desc["ofm_file"]):
        os.rename(f"{work}/{case}/output_{i}.npy", f"{work}/{case}/{file}")
    return f"{work}/{case}"


def tosa_case(args, case, work):
    """The model, its inputs, and the results that are wanted."""
    folder = os.path.join(args.cases, case)
    with open(f"{folder}/desc.json", encoding="utf-8") as f:
        desc = json.load(f)
    results = expected(args.tosac, args.cases, work, case, desc)
    return f"{folder}/test.tosa", [f"{folder}/{file}" for file in desc["ifm_file"]], [f"{results}/{file}" for file in desc["ofm_file"]]


def tflite_case(args, case, work):
    """The results are those of `tosac run`: the suite has them of the last of several runs where there is state."""
    folder = os.path.join(args.cases, case)
    inputs = [f"{folder}/{file}" for file in sorted(os.listdir(folder)) if file.startswith("in_")]
    run(args.tosac, f"{folder}/model.tflite", inputs, f"{work}/model")
    return f"{folder}/model.tflite", inputs, [f"{work}/model/{file}" for file in sorted(os.listdir(f"{work}/model"))]


def try_case(args, case, work):
    """What came of it: "", a refusal ("refused tosa_resize"), or what is wrong; and its kernels."""
    model, inputs, want = (tosa_case if is_tosa(args) else tflite_case)(args, case, work)
    program = f"{work}/case.pte"
    done = subprocess.run([args.tosac, "compile", model, "-t", args.target, "-o", program], capture_output=True, text=True, check=False)
    if done.returncode == 3:
        named = re.search(r"'(tosa_\w+)' has no kernel|takes and gives no (i48)", done.stderr)
        return ("refused " + (named.group(1) or named.group(2)), {}) if named else (f"refused without a name: {done.stderr}", None)
    if done.returncode:
        return f"compile: {done.stderr}", None
    done = run(args.tosac, program, inputs, f"{work}/out")
    if done.returncode:
        return f"run: {done.stderr}", None
    for i, file in enumerate(want):
        if numbers(f"{work}/out/output_{i}.npy") != numbers(file):
            return f"output {i} differs", None
    return "", kernels(args.tosac, program)


def is_tosa(args):
    return os.path.exists(os.path.join(args.cases, "index.csv"))


def cases_of(args):
    if is_tosa(args):
        return cortexm_suite.cases_of(args.cases, args.names, args.every, 0)
    every = [c for c in sorted(os.listdir(args.cases)) if c.endswith("_i8")]
    return [c for i, c in enumerate(every) if (not args.names and i % args.every == 0) or any(n in c for n in args.names)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tosac")
    parser.add_argument("cases")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--target", default="cortex-m55")
    parser.add_argument("--every", type=int, default=1)
    args = parser.parse_args()
    args.tosac = os.path.abspath(args.tosac)
    passed, failed = 0, 0
    refused, used = collections.Counter(), collections.Counter()
    for case in cases_of(args):
        with tempfile.TemporaryDirectory() as work:
            what, calls = try_case(args, case, work)
        if re.fullmatch(r"refused \w+", what):
            refused[what.split()[1]] += 1
        elif what:
            failed += 1
            print(f"{case}: {what}")
        else:
            passed += 1
            used.update(calls)
    for name, n in sorted(refused.items()):
        print(f"refused {name}: {n}")
    own = sorted(name for name in used if name.startswith("cortex_m::"))
    print(f"{sum(used[name] for name in own)} calls of {len(own)} cortex_m:: operators, "
          f"{sum(used.values()) - sum(used[name] for name in own)} of other kernels")
    print(f"{passed} passed, {failed} failed, {sum(refused.values())} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
