# SPDX-License-Identifier: Apache-2.0
"""prove.py -- replays the table of lemmas (lemmas.py).        prove.py UNIT_LEMMAS [-k WORD] [--table]

UNIT_LEMMAS is build/unit-lemmas: it decides the exhaustive lemmas, and prints samples of the compiler's own arithmetic, which
arithmetic.py is compared with first.  Needs z3-solver (tools/setup.sh proofs).
"""
from __future__ import annotations

import argparse
import subprocess
import sys

import z3

from arithmetic import clip, leading_zeros, saturated, scaled, tosa_shift, wrapped
from lemmas import LEMMAS, Lemma

SECONDS = 120  # for one claim

#: what unit-lemmas prints beside scaling: every other definition that lemmas use
OTHERS = {
    "tosa_shift": tosa_shift,
    "leading_zeros": lambda v, _: leading_zeros(v),
    "wrapped_left": lambda v, by: wrapped(v << by),
    "clip": lambda v, _: clip(v, -70000, 12345),
    "saturated": lambda v, _: saturated(clip(v, -(1 << 28), (1 << 28) - 1), 16),
}


def compare_samples(program: str) -> tuple[int, int]:
    """Samples that agree, and those that do not: MODE VALUE FACTOR SHIFT RESULT, or FUNCTION VALUE PARAMETER RESULT."""
    good = bad = 0
    for line in subprocess.run([program, "--samples"], capture_output=True, text=True, check=True).stdout.splitlines():
        mode, *rest = line.split()
        *given, result = map(int, rest)
        if (OTHERS[mode](*given) if mode in OTHERS else scaled(*given, mode)) == result:
            good += 1
        else:
            bad += 1
            print(f"arithmetic.py differs from the compiler: {line}")
    return good, bad


def proved(lemma: Lemma) -> bool:
    for claim in lemma.claims():
        solver = z3.Solver()
        solver.set("timeout", SECONDS * 1000)
        solver.add(*claim.given)
        if solver.check() != z3.sat:
            print(f"{lemma.name}, {claim.words}: its premises never hold")
            return False
        solver.add(z3.Not(claim.holds))
        answer = solver.check()
        if answer != z3.unsat:
            print(f"{lemma.name}, {claim.words}: {solver.model() if answer == z3.sat else 'undecided'}")
            return False
    return True


def decided(lemma: Lemma, program: str) -> bool:
    if lemma.how == "exhaustive":
        return subprocess.run([program, lemma.claims], stdout=subprocess.DEVNULL).returncode == 0
    return proved(lemma)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("-k", default="", help="lemmas whose names contain this")
    parser.add_argument("--table", action="store_true", help="print the table and end")
    args = parser.parse_args()
    if args.table:
        for row in LEMMAS:
            print(f"| {row.name} | `{row.where}` | {row.formula} | {row.domain} | {row.how} |")
        return 0
    samples, wrong = compare_samples(args.program)
    print(f"{samples} samples of the compiler's arithmetic agree, {wrong} differ")
    anchored = samples > 0 and wrong == 0
    good, bad, count = int(anchored), int(not anchored), {"z3": 0, "exhaustive": 0, "measured": 0}
    for lemma in LEMMAS:
        if args.k not in lemma.name:
            continue
        count[lemma.how] += 1
        if lemma.how == "measured":
            continue
        holds = decided(lemma, args.program)
        good, bad = good + holds, bad + (not holds)
        print(f"{lemma.name}: {'proved' if holds else 'NOT PROVED'} ({lemma.how})", flush=True)
    print(f"{count['exhaustive']} exhaustively, {count['z3']} by z3, {count['measured']} measured only")
    print(f"{good} passed, {bad} failed")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
