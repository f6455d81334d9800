"""What test programs of cases in Python share: a case is a function of the program, a folder and more; it says what it found, and raises where
that is wrong."""
import os
import subprocess
import sys
import tempfile


def expect(truth, *words):
    if not truth:
        raise RuntimeError(" ".join(map(str, words)))


def tried(tosac, work, cases, missing=lambda case: None, apart=False):
    """Runs the cases but for those of which missing() says what they lack, each in its own folder (apart) or in one; ends with "N passed,
    N failed, N skipped".  Whether one failed."""
    good, bad, skipped = 0, 0, 0
    for case, *arguments in cases:
        name = f"{case.__name__:16} {' '.join(map(str, arguments)):24}"
        why = missing(case)
        if why:
            skipped += 1
            print(f"{name} skipped: {why}", flush=True)
            continue
        folder = f"{work}/{case.__name__}" if apart else work
        os.makedirs(folder, exist_ok=True)
        try:
            print(f"{name} {case(tosac, folder, *arguments)}", flush=True)
            good += 1
        except (RuntimeError, KeyError, ValueError, subprocess.TimeoutExpired) as error:
            bad += 1
            print(f"FAILED {name}: {error}", flush=True)
    print(f"{good} passed, {bad} failed, {skipped} skipped")
    return bad > 0


def run_main(main):
    """main(tosac, work) of PROGRAM TOSAC [WORK]; without WORK in a folder that goes when it is done."""
    tosac = os.path.realpath(sys.argv[1])
    if len(sys.argv) > 2:
        sys.exit(main(tosac, os.path.realpath(sys.argv[2])))
    with tempfile.TemporaryDirectory() as scratch:
        sys.exit(main(tosac, scratch))
