#!/usr/bin/env python3
"""TOSA's integer cases as C for a Cortex-M, compiled and run on this machine, beside the suite's results.

    cortexm_suite.py TOSAC CASES [NAME...] [--target T] [--every N] [--per-operator N] [--qemu] [--work DIR]

Every case becomes C source; many of them are one translation unit.  Where the suite allows several results
(INEXACT_ROUND) they are between the suite's two.  With --qemu they run on the target itself.  A target with an
Ethos-U (ethos-u55-128+cortex-m55) has its streams run by build/libethosu-driver.so, beside TOSAC.  Ends with
"N passed, N failed".
"""

import argparse
import concurrent.futures
import csv
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../examples/cortex-m")
FLAGS = "-std=c11 -O1 -Wall -Wextra -Wconversion -Wshadow -Werror -fsanitize=undefined -fno-sanitize-recover=all"
BARE = "-std=c11 -O2 -Wall -Wextra -Wconversion -Wshadow -Werror -ffunction-sections -fdata-sections -mthumb"
QEMU = "qemu-system-arm -display none -monitor none -serial null -semihosting-config enable=on,target=native -M"
CORES = {
    "cortex-m55": ("-mcpu=cortex-m55 -mfloat-abi=hard", "mps3-an547", "mps3.ld"),
    "cortex-m4": ("-mcpu=cortex-m4 -mfloat-abi=hard -mfpu=auto", "mps2-an386", "mps2.ld"),
    "cortex-m0plus": ("-mcpu=cortex-m0plus", "mps2-an385", "mps2.ld"),
}
MAIN = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* A .npy file's numbers. */
static void *load(const char *path, size_t bytes)
{
    unsigned char head[10];
    FILE *f = fopen(path, "rb");
    char *data = malloc(bytes + 1);
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
__attribute__((unused)) static long long element(const void *a, size_t i, size_t bytes, int is_signed)
{
    unsigned long long v = 0;
    memcpy(&v, (const char *)a + i * bytes, bytes);
    return is_signed && v >> (8 * bytes - 1) ? (long long)v - (1LL << (8 * bytes)) : (long long)v;
}
/* Every element from the one result to the other. */
__attribute__((unused)) static int between(const char *name, const void *a, const void *lo, const void *hi, size_t n, size_t bytes, int is_signed)
{
    for (size_t i = 0; i < n / bytes; i++)
        if (element(a, i, bytes, is_signed) < element(lo, i, bytes, is_signed) ||
            element(a, i, bytes, is_signed) > element(hi, i, bytes, is_signed))
            return same(name, a, lo, n);
    return 1;
}
"""


def cases_of(folder, names, every, most):
    """Folders of the integer cases that are to succeed."""
    floats = {"FP16", "FP32", "BF16", "FP8E4M3", "FP8E5M2"}
    with open(os.path.join(folder, "index.csv"), encoding="utf-8") as f:
        rows = [r for r in csv.DictReader(f)]
    good = [
        r
        for r in rows
        if r["expected"] == "pass" and r["tosa_version"] == "1.0" and not floats & set(re.split(r"[^A-Z0-9]+", r["all_dtypes"]))
    ]
    good = sorted((r for r in good if os.path.isdir(os.path.join(folder, r["case"]))), key=lambda r: r["case"])
    if most:
        by_size = sorted(good, key=lambda r: int(r["bytes"]))
        kept = {id(r) for op in {r["op"] for r in good} for r in [r for r in by_size if r["op"] == op][:most]}
        good = [r for r in good if id(r) in kept]
    good = [r["case"] for r in good]
    return [c for i, c in enumerate(good) if (not names and i % every == 0) or any(n in c for n in names)]


def generate(tosac, target, folder, work, case):
    """The case as C: its symbol, or None and why not."""
    symbol = "m" + re.sub(r"[^A-Za-z0-9]", "_", case)
    done = subprocess.run(
        [tosac, "compile", f"{folder}/{case}/test.tosa", "-t", target, "--emit", "c", "--no-execute", "-o", f"{work}/{symbol}.c"],
        capture_output=True, text=True, check=False)
    return (symbol, None) if done.returncode == 0 else (None, (done.stderr or done.stdout).strip().split("\n")[0])


def is_open(desc):
    """Whether the suite has two results, and all between them are right."""
    return {t["mode"] for t in desc["meta"]["compliance"]["tensors"].values()} == {"RESCALE_INEXACT"}


def caller(folder, work, case, symbol):
    """A function that runs the case and compares."""
    with open(f"{folder}/{case}/desc.json", encoding="utf-8") as f:
        desc = json.load(f)
    with open(f"{work}/{symbol}.h", encoding="utf-8") as f:
        head = f.read()
    lines, args = [], []
    for side, key in (("INPUT", "ifm"), ("OUTPUT", "ofm")):
        files = dict(zip(desc[f"{key}_name"], desc[f"{key}_file"]))
        for i, name in re.findall(rf"_{side}_(\d+)_NAME \"(.*)\"", head):
            size = f"{symbol.upper()}_{side}_{i}_BYTES"
            file = files.get(name, desc[f"{key}_file"][int(i)])  # a result that is constant has another name
            path = f"{folder}/{case}/{file}"
            if side == "INPUT":
                lines.append(f'    void *i{i} = load("{path}", {size});')
                args.append(f"i{i}")
            else:
                lines.append(f'    void *w{i} = load("{path}", {size}), *o{i} = malloc({size});')
                if is_open(desc):
                    lines.append(f'    void *h{i} = load("{folder}/{case}/bounds_{file}", {size});')
                args.append(f"o{i}")
    state = ""
    if "_state;" in head:
        state = f"    {symbol}_state state;\n    {symbol}_start(&state);\n"
        args.insert(0, "&state")
    outs = [a[1:] for a in args if a.startswith("o")]
    same = " && ".join(f'same("{case}", o{i}, w{i}, {symbol.upper()}_OUTPUT_{i}_BYTES)' for i in outs)
    if is_open(desc):
        kind = next(iter(desc["meta"]["compliance"]["tensors"].values()))
        bytes_each, is_signed = int(re.sub(r"\D", "", kind["data_type"])) // 8, int(not kind["rescale_inexact_info"]["unsigned_data"])
        same = f'between("{case}", o0, w0, h0, {symbol.upper()}_OUTPUT_0_BYTES, {bytes_each}, {is_signed})'
    body = "\n".join(lines)
    call = f"{symbol}_run({', '.join(args)})"
    if "_NPU_REGIONS" in head:
        call = f"if ({call} != 0)\n        return 0"
    return f"int try_{symbol}(void)\n{{\n{body}\n{state}    {call};\n    return {same};\n}}\n"


def build(args, work, group, number):
    """One translation unit of many cases."""
    path = f"{work}/unit{number}.c"
    with open(path, "w", encoding="utf-8") as f:
        f.write(MAIN)
        for case, symbol in group:
            f.write(f'#include "{symbol}.c"\n' + f"int try_{symbol}(void);\n" + caller(args.cases, work, case, symbol))
    command = [args.cc, *shlex.split(args.flags), "-c", path, "-o", f"{work}/unit{number}.o"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def on_host(args, work, ready):
    """All cases in one program: how many are equal."""
    groups = [ready[i : i + 60] for i in range(0, len(ready), 60)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for done in pool.map(lambda g: build(args, work, g[1], g[0]), enumerate(groups)):
            if done.returncode:
                print(done.stderr[:3000])
                return 0
    write_main(work, ready)
    units = [f"{work}/unit{n}.o" for n in range(len(groups))]
    npu = npu_of(args.tosac, work) if "+" in args.target else []
    command = [args.cc, *shlex.split(args.flags), "-o", f"{work}/suite", f"{work}/main.c", *kernels(work), *units, *npu]
    return equal_in(subprocess.run(command, capture_output=True, text=True, check=False), [f"{work}/suite"])


def npu_of(tosac, work):
    """The Ethos-U's side of the program, and its driver on this machine."""
    build = os.path.dirname(os.path.abspath(tosac))
    return [f"-I{work}", f"-I{EXAMPLE}/../../test/ethosu", '-DNPU_DEVICE_HEADER="device.h"', f"{EXAMPLE}/npu_ethosu.c", f"-L{build}", "-lethosu-driver", f"-Wl,-rpath,{build}"]


def on_core(args, work, ready):
    """The same on the target in QEMU, some cases at a time: its memory is small."""
    flags, machine, script = CORES[args.target]
    args.cc, args.flags, equal = "arm-none-eabi-gcc", f"{BARE} {flags}", 0
    for i in range(0, len(ready), 10):
        group = ready[i : i + 10]
        done = build(args, work, group, 0)
        if done.returncode:
            print(done.stderr[:3000])
            continue
        write_main(work, group)
        command = [args.cc, *shlex.split(args.flags), f"-I{EXAMPLE}", f"{work}/main.c", *kernels(work), f"{work}/unit0.o", f"{EXAMPLE}/startup.c",
                   f"{EXAMPLE}/board.c", "-DWITH_STDIO", "-nostartfiles", "--specs=rdimon.specs", "-Wl,--gc-sections,--defsym=end=bss_end", "-T",
                   f"{EXAMPLE}/{script}", "-o", f"{work}/app"]
        equal += equal_in(subprocess.run(command, capture_output=True, text=True, check=False), f"{QEMU} {machine} -kernel {work}/app".split())
    return equal


def kernels(work):
    return sorted(f"{work}/{f}" for f in os.listdir(work) if re.fullmatch(r"tosac_.*\.c", f))


def equal_in(link, command):
    if link.returncode:
        print(link.stderr[:3000])
        return 0
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
    text = done.stdout + done.stderr
    print(text.rsplit("equal", 1)[0][:2000], end="")
    equal = re.findall(r"^equal (\d+)$", text, re.M)
    return int(equal[0]) if equal else 0


def write_main(work, ready):
    with open(f"{work}/main.c", "w", encoding="utf-8") as f:
        f.write("#include <stdio.h>\n")
        for _, symbol in ready:
            f.write(f"int try_{symbol}(void);\n")
        f.write("#ifdef WITH_STDIO\nvoid initialise_monitor_handles(void);\n#endif\n")
        f.write("int main(void)\n{\n    int passed = 0;\n#ifdef WITH_STDIO\n    initialise_monitor_handles();\n#endif\n")
        for _, symbol in ready:
            f.write(f"    passed += try_{symbol}();\n")
        f.write('    printf("equal %d\\n", passed);\n    fflush(stdout);\n    return 0;\n}\n')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tosac")
    parser.add_argument("cases")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--target", default="cortex-m4")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--per-operator", type=int, default=0)
    parser.add_argument("--qemu", action="store_true")
    parser.add_argument("--work")
    parser.add_argument("--cc", default="gcc")
    parser.add_argument("--flags", default=FLAGS)
    args = parser.parse_args()
    args.cases = os.path.abspath(args.cases)
    work = args.work or tempfile.mkdtemp(prefix="cortexm")
    os.makedirs(work, exist_ok=True)
    cases = cases_of(args.cases, args.names, args.every, args.per_operator)
    if args.qemu and not (shutil.which("arm-none-eabi-gcc") and shutil.which("qemu-system-arm")):
        print("0 passed, 0 failed, 1 skipped: no arm-none-eabi-gcc or qemu-system-arm")
        return 0
    failed, ready = 0, []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        made = list(pool.map(lambda c: generate(args.tosac, args.target, args.cases, work, c), cases))
    for case, (symbol, why) in zip(cases, made):
        if symbol:
            ready.append((case, symbol))
        else:
            failed += 1
            print(f"{case}: refused: {why}")
    passed = (on_core if args.qemu else on_host)(args, work, ready)
    failed += len(ready) - passed
    print(f"{args.target}: {passed} of {len(cases)} cases equal")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
