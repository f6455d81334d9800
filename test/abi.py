# SPDX-License-Identifier: Apache-2.0
"""The public interface against the last release, and that tools/abi.py knows a break from an addition."""
import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP / "tools"))
import abi  # noqa: E402

BEFORE = """\
enum tc_status
  TC_OK 0
  TC_E_MODEL 1
record tc_sized 16
  size 0 size_t
  seed 8 uint64_t
record tc_inner 40
  bits 0 int
  reserved 8 uint64_t [4]
record tc_plain 8
  count 0 size_t
function tc_run: tc_status (tc_ctx *, const char *)
"""
# what is changed, into what, and how many breaks and additions that is
CASES = [
    ("nothing", r"$^", "", 0, 0),
    ("a function is gone", r"function tc_run.*\n", "", 1, 0),
    ("a function has another argument", r"const char \*\)", "const char *, int)", 1, 0),
    ("a function returns something else", r": tc_status", ": int", 1, 0),
    ("a new function", r"\Z", "function tc_walk: void (tc_ctx *)\n", 0, 1),
    ("a new enumerator", r"TC_E_MODEL 1\n", "TC_E_MODEL 1\n  TC_E_DATA 2\n", 0, 1),
    ("an enumerator in between", r"  TC_E_MODEL 1\n", "  TC_E_DATA 1\n  TC_E_MODEL 2\n", 1, 1),
    ("a record with its size grows at its end", r"tc_sized 16\n(.*\n)(.*\n)", r"tc_sized 24\n\1\2  more 16 int\n", 0, 1),
    ("it grows in between", r"tc_sized 16\n(.*\n).*\n", r"tc_sized 24\n\1  more 8 int\n  seed 16 uint64_t\n", 1, 0),
    ("a field has another type", r"seed 8 uint64_t", "seed 8 int64_t", 1, 0),
    ("a field has another name", r"seed 8", "salt 8", 1, 0),
    ("a record without its size grows", r"tc_plain 8\n(.*\n)", r"tc_plain 16\n\1  more 8 int\n", 1, 0),
    ("reserved words get a name", r"reserved 8 uint64_t \[4\]", "scale 8 double\n  reserved 16 uint64_t [3]", 0, 1),
    ("reserved words are lost", r"tc_inner 40\n(.*\n).*\n", r"tc_inner 8\n\1", 1, 0),
    ("a record is gone", r"record tc_plain 8\n.*\n", "", 1, 0),
]


def main() -> int:
    good = bad = 0
    for words, pattern, to, breaks, more in CASES:
        found = abi.compare(BEFORE, re.sub(pattern, to, BEFORE, count=1))
        if [len(part) for part in found] == [breaks, more]:
            good += 1
        else:
            bad += 1
            print(f"{words}: {found}, not {breaks} and {more}")
    said = subprocess.run([sys.executable, TOP / "tools" / "abi.py"], capture_output=True, text=True)
    print(said.stdout, said.stderr, end="", sep="")
    good, bad = good + (said.returncode == 0), bad + (said.returncode != 0)
    print(f"{good} passed, {bad} failed")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
