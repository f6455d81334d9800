# SPDX-License-Identifier: Apache-2.0
"""prove.py -- replays the table of lemmas (lemmas.py).        prove.py UNIT_LEMMAS [-k WORD] [--table]

First the arithmetic that lemmas are stated in is proved equal to the compiler's own C (kernels.py), then each lemma is decided: by z3, or
by every code through UNIT_LEMMAS, which is build/unit-lemmas.  Needs z3-solver and pycparser (tools/setup.sh proofs).
"""
from __future__ import annotations

import argparse
import subprocess
import sys
from collections import Counter

import z3

from arithmetic import Claim
from kernels import KERNELS
from lemmas import LEMMAS, Lemma

SECONDS = 120  # for one claim


def holds(claim: Claim) -> str:
    """Empty, or why it is not proved."""
    solver = z3.Solver()
    solver.set("timeout", SECONDS * 1000)
    solver.add(*claim.given)
    if solver.check() != z3.sat:
        return "its premises never hold"
    solver.add(z3.Not(claim.holds))
    answer = solver.check()
    return "" if answer == z3.unsat else str(solver.model()) if answer == z3.sat else "undecided"


def proved(row) -> int:
    """How many claims of it hold; 0: not all of them."""
    n = 0
    for claim in row.claims():
        why = holds(claim)
        if why:
            print(f"{row.name}, {claim.words}: {why}")
            return 0
        n += 1
    return n


def decided(lemma: Lemma, program: str) -> bool:
    if lemma.how == "exhaustive":
        return subprocess.run([program, lemma.claims], stdout=subprocess.DEVNULL).returncode == 0
    return proved(lemma) > 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("-k", default="", help="lemmas and kernels whose names contain this")
    parser.add_argument("--table", action="store_true", help="print the table and end")
    args = parser.parse_args()
    if args.table:
        for row in LEMMAS:
            print(f"| {row.name} | `{row.where}` | {row.formula} | {row.domain} | {row.how} |")
        return 0
    count: Counter = Counter()
    for kernel in KERNELS:
        if args.k in kernel.name:
            n = proved(kernel)
            count["passed" if n else "failed"] += 1
            print(f"{kernel.name}, {kernel.where}: {f'proved, {n} claims' if n else 'NOT PROVED'} ({kernel.domain})", flush=True)
    for lemma in LEMMAS:
        if args.k in lemma.name:
            good = decided(lemma, args.program)
            count[lemma.how] += 1
            count["passed" if good else "failed"] += 1
            print(f"{lemma.name}: {'proved' if good else 'NOT PROVED'} ({lemma.how})", flush=True)
    print(f"{count['exhaustive']} by every code, {count['z3']} by z3")
    print(f"{count['passed']} passed, {count['failed']} failed")
    return count["failed"] != 0


if __name__ == "__main__":
    sys.exit(main())
