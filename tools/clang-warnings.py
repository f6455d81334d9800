#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every source file of a build once more by clang, which warns of other things than gcc: warnings are errors, nothing is written.

    clang-warnings.py BUILD

The commands are those of the build, without optimization: what clang says in C it says before that."""
import json, shlex, subprocess, sys

GCC_ALONE = ("-O", "-fvect-cost-model", "-fno-trapping-math", "-ftree-vectorize")
WRITES = {"-MD": 0, "-MT": 1, "-MF": 1, "-o": 1, "-c": 0}


def by_clang(command):
    words, out = iter(shlex.split(command)), ["clang", "-fsyntax-only", "-Werror"]
    for word in words:
        if word in WRITES:
            for _ in range(WRITES[word]):
                next(words)
        elif not word.startswith(GCC_ALONE) and not word.endswith(("ccache", "/cc", "/gcc")) and word not in ("cc", "gcc"):
            out.append(word)
    return out


said = subprocess.run(["ninja", "-C", sys.argv[1], "-t", "compdb"], capture_output=True, text=True, check=True).stdout
rows = {row["file"] + row["output"]: row for row in json.loads(said[said.index("[") :]) if row["file"].endswith(".c") and row["output"].endswith(".o")}
passed = failed = 0
for row in rows.values():
    done = subprocess.run(by_clang(row["command"]), cwd=row["directory"], capture_output=True, text=True)
    passed, failed = passed + (done.returncode == 0), failed + (done.returncode != 0)
    if done.returncode:
        print(done.stderr.strip()[-2000:], flush=True)
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0 or not passed)
