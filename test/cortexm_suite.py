#!/usr/bin/env python3
"""TOSA's integer cases as C for a Cortex-M, compiled and run on this machine, beside the suite's results.

    cortexm_suite.py TOSAC CASES [--target T] [--every N] [--work DIR] [--flags "..."] [NAME...]

Every case becomes C source; many of them are one translation unit.  Where the suite allows several results
(INEXACT_ROUND) they are those of `tosac run`.  Ends with "N passed, N failed".
"""

import argparse
import concurrent.futures
import csv
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

FLAGS = "-std=c11 -O1 -Wall -Wextra -Wconversion -Wshadow -Werror -fsanitize=undefined -fno-sanitize-recover=all"
MAIN = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* A .npy file's numbers. */
static void *load(const char *path, size_t bytes)
{
    unsigned char head[10];
    FILE *f = fopen(path, "rb");
    char *data = aligned_alloc(16, (bytes + 31) / 16 * 16);
    if (!f || fread(head, 1, 10, f) != 10 || fseek(f, 10 + head[8] + 256 * head[9], SEEK_SET) ||
        fread(data, 1, bytes + 1, f) != bytes) {
        printf("%s: not %zu bytes\n", path, bytes);
        exit(2);
    }
    fclose(f);
    return data;
}
static int same(const char *name, const void *a, const void *b, size_t n)
{
    if (memcmp(a, b, n) == 0)
        return 1;
    printf("%s: WRONG\n", name);
    return 0;
}
"""


def cases_of(folder, names, every):
    """Folders of the integer cases that are to succeed."""
    floats = {"FP16", "FP32", "BF16", "FP8E4M3", "FP8E5M2"}
    with open(os.path.join(folder, "index.csv"), encoding="utf-8") as f:
        rows = [r for r in csv.DictReader(f)]
    good = [
        r["case"]
        for r in rows
        if r["expected"] == "pass" and r["tosa_version"] == "1.0" and not floats & set(re.split(r"[^A-Z0-9]+", r["all_dtypes"]))
    ]
    good = sorted(c for c in good if os.path.isdir(os.path.join(folder, c)))
    return [c for i, c in enumerate(good) if (not names and i % every == 0) or any(n in c for n in names)]


def generate(tosac, target, folder, work, case):
    """The case as C: its symbol, or None and why not."""
    symbol = "m" + re.sub(r"[^A-Za-z0-9]", "_", case)
    done = subprocess.run(
        [tosac, "compile", f"{folder}/{case}/test.tosa", "-t", target, "--emit", "c", "--no-execute", "-o", f"{work}/{symbol}.c"],
        capture_output=True, text=True, check=False)
    return (symbol, None) if done.returncode == 0 else (None, (done.stderr or done.stdout).strip().split("\n")[0])


def expected(tosac, folder, work, case, desc):
    """The folder with the results."""
    modes = {t["mode"] for t in desc["meta"]["compliance"]["tensors"].values()}
    if modes == {"EXACT"}:
        return f"{folder}/{case}"
    inputs = [word for file in desc["ifm_file"] for word in ("-i", f"{folder}/{case}/{file}")]
    subprocess.run([tosac, "run", f"{folder}/{case}/test.tosa", *inputs, "-o", f"{work}/{case}"], capture_output=True, check=False)
    for i, file in enumerate(desc["ofm_file"]):
        os.rename(f"{work}/{case}/output_{i}.npy", f"{work}/{case}/{file}")
    return f"{work}/{case}"


def caller(tosac, folder, work, case, symbol):
    """A function that runs the case and compares."""
    with open(f"{folder}/{case}/desc.json", encoding="utf-8") as f:
        desc = json.load(f)
    results = expected(tosac, folder, work, case, desc)
    with open(f"{work}/{symbol}.h", encoding="utf-8") as f:
        head = f.read()
    lines, args = [], []
    for side, key in (("INPUT", "ifm"), ("OUTPUT", "ofm")):
        files = dict(zip(desc[f"{key}_name"], desc[f"{key}_file"]))
        for i, name in re.findall(rf"_{side}_(\d+)_NAME \"(.*)\"", head):
            size = f"{symbol.upper()}_{side}_{i}_BYTES"
            path = f"{folder if side == 'INPUT' else os.path.dirname(results)}/{case}/{files[name]}"
            if side == "INPUT":
                lines.append(f'    void *i{i} = load("{path}", {size});')
                args.append(f"i{i}")
            else:
                lines.append(f'    void *w{i} = load("{path}", {size}), *o{i} = malloc({size});')
                args.append(f"o{i}")
    state = ""
    if "_state;" in head:
        state = f"    {symbol}_state state;\n    {symbol}_start(&state);\n"
        args.insert(0, "&state")
    outs = [a[1:] for a in args if a.startswith("o")]
    same = " && ".join(f'same("{case}", o{i}, w{i}, {symbol.upper()}_OUTPUT_{i}_BYTES)' for i in outs)
    body = "\n".join(lines)
    return f"int try_{symbol}(void)\n{{\n{body}\n{state}    {symbol}_run({', '.join(args)});\n    return {same};\n}}\n"


def build(args, work, group, number):
    """One translation unit of many cases."""
    path = f"{work}/unit{number}.c"
    with open(path, "w", encoding="utf-8") as f:
        f.write(MAIN)
        for case, symbol in group:
            f.write(f'#include "{symbol}.c"\n' + f"int try_{symbol}(void);\n" + caller(args.tosac, args.cases, work, case, symbol))
    command = [args.cc, *shlex.split(args.flags), "-c", path, "-o", f"{work}/unit{number}.o"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tosac")
    parser.add_argument("cases")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--target", default="cortex-m4")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--work")
    parser.add_argument("--cc", default="gcc")
    parser.add_argument("--flags", default=FLAGS)
    args = parser.parse_args()
    args.cases = os.path.abspath(args.cases)
    work = args.work or tempfile.mkdtemp(prefix="cortexm")
    os.makedirs(work, exist_ok=True)
    cases = cases_of(args.cases, args.names, args.every)
    failed, passed, ready = 0, 0, []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        made = list(pool.map(lambda c: generate(args.tosac, args.target, args.cases, work, c), cases))
    for case, (symbol, why) in zip(cases, made):
        if symbol:
            ready.append((case, symbol))
        else:
            failed += 1
            print(f"{case}: refused: {why}")
    groups = [ready[i : i + 60] for i in range(0, len(ready), 60)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for n, done in enumerate(pool.map(lambda g: build(args, work, g[1], g[0]), enumerate(groups))):
            if done.returncode:
                print(done.stderr[:3000])
                failed += len(groups[n])
    with open(f"{work}/main.c", "w", encoding="utf-8") as f:
        f.write("#include <stdio.h>\n")
        for _, symbol in ready:
            f.write(f"int try_{symbol}(void);\n")
        f.write("int main(void)\n{\n    int passed = 0;\n")
        for _, symbol in ready:
            f.write(f"    passed += try_{symbol}();\n")
        f.write('    printf("equal %d\\n", passed);\n    return 0;\n}\n')
    kernels = sorted(f"{work}/{f}" for f in os.listdir(work) if re.fullmatch(r"tosac_.*\.c", f))
    units = [f"{work}/unit{n}.o" for n in range(len(groups))]
    link = subprocess.run([args.cc, *shlex.split(args.flags), "-o", f"{work}/suite", f"{work}/main.c", *kernels, *units],
                          capture_output=True, text=True, check=False)
    if link.returncode:
        print(link.stderr[:3000])
        failed += 1
    else:
        done = subprocess.run([f"{work}/suite"], capture_output=True, text=True, check=False)
        print(done.stdout.rsplit("equal", 1)[0] + done.stderr[:2000], end="")
        equal = re.findall(r"^equal (\d+)$", done.stdout, re.M)
        passed = int(equal[0]) if equal else 0
        failed += len(ready) - passed
    print(f"{args.target}: {passed} of {len(cases)} cases equal")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
