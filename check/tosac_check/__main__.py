# SPDX-License-Identifier: Apache-2.0
"""Checks an Ethos-U command stream without the compiler.

    python3 -m tosac_check STREAM.npz [--inputs A.npy ...] [--outputs B.npy ...] [--json]

Container, borders, bounds, alignment, waits, and bytes that are read before they are written; with inputs the stream is
executed on them, with outputs its results must be these, bit for bit.  Without inputs they are drawn from a fixed seed.
Exit status: 0 nothing wrong, 1 something is, 2 the file cannot be judged.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path

import numpy as np

from .borders import TYPES, borders, check_borders, outputs, put_inputs, within
from .npu import Npu
from .stream import Bad, Raw

#: what reading or executing a damaged stream raises
WRONG = (Bad, IndexError, KeyError, ValueError, AssertionError, OverflowError, RuntimeError)


def drawn(raw: Raw) -> list[np.ndarray]:
    dice = np.random.default_rng(1)
    return [dice.integers(-128, 128, b.shape).astype(TYPES[b.bytes]) for b in borders(raw, "input")]


def judge(
    path: Path,
    given: list[np.ndarray] | None,
    want: list[np.ndarray] | None,
    bounds: list[np.ndarray | None] | None = None,
) -> dict:
    """bounds: where a result is implementation-defined, what else it may be; None: equal alone."""
    report = {
        "file": path.name,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "faults": [],
    }
    try:
        raw = Raw(path)
        npu = Npu(raw)
        check_borders(npu, raw)
        put_inputs(npu, raw, drawn(raw) if given is None else given)
        npu.run()
        got = outputs(npu, raw)
    except NotImplementedError as error:
        return report | {"not_checked": f"no rule for {error}"}
    except WRONG as error:
        report["faults"] = [f"{type(error).__name__}: {error}"]
        return report
    report["faults"] = sorted(set(npu.faults))
    report["operations"] = sorted(npu.kinds)
    if want is not None:
        same = len(got) == len(want) and all(map(within, got, want, bounds or [None] * len(want)))
        report["numbers"] = "equal" if same else "different"
        report["faults"] += [] if same else ["the results differ from the expected ones"]
    return report


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="tosac-check",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("stream", type=Path)
    parser.add_argument("--inputs", nargs="*", type=Path)
    parser.add_argument("--outputs", nargs="*", type=Path)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    try:
        given = None if args.inputs is None else [np.load(p) for p in args.inputs]
        want = None if args.outputs is None else [np.load(p) for p in args.outputs]
        report = judge(args.stream, given, want)
    except (OSError, ValueError) as error:
        print(f"tosac-check: {error}", file=sys.stderr)
        return 2
    if args.json:
        print(json.dumps(report, indent=1))
    else:
        for fault in report["faults"]:
            print(f"{args.stream}: {fault}")
        words = report.get("not_checked") or report.get("numbers") or "executed"
        print(f"{args.stream}: {len(report['faults'])} faults; {words}")
    return 2 if "not_checked" in report else int(bool(report["faults"]))


if __name__ == "__main__":
    sys.exit(main())
