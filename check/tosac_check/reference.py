# SPDX-License-Identifier: Apache-2.0
"""reference.py -- what streams must give by a third program: the TOSA of each region before Arm's reference model (package tosa-tools).

A certificate's results are those of the compiler's own TOSA kernels.  Where the regions' .tosa files are at hand (compile --dump-dir), which the
certificate has the hashes of, the reference model computes the same from the same inputs: bit for bit, or the certificate is wrong.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from .certificate import Beside, samples_of, sha256
from .stream import Bad, require


def programs_of(beside: Beside, folder: Path) -> dict[str, bytes]:
    """By region, the file that has the hash which the certificate says."""
    found = {sha256(data): data for data in (path.read_bytes() for path in sorted(folder.rglob("*.tosa")))}
    return {row["name"]: found[row["tosa"]["sha256"]] for row in beside.record["regions"] if row.get("tosa", {}).get("sha256") in found}


@contextlib.contextmanager
def silent():
    """Nothing that is written to standard output or error meanwhile is seen: the model warns of each file."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [(stream, os.dup(stream)) for stream in (1, 2)]
    with open(os.devnull, "w") as nothing:
        for stream, _ in kept:
            os.dup2(nothing.fileno(), stream)
    try:
        yield
    finally:
        for stream, own in kept:
            os.dup2(own, stream)
            os.close(own)


def judge(beside: Beside, folder: Path) -> dict:
    """Regions, samples and elements that are equal, and faults."""
    import tosa_reference_model as model

    report = {"reference_regions": 0, "reference_samples": 0, "reference_elements": 0, "faults": []}
    programs = programs_of(beside, folder)
    require(bool(programs), f"no .tosa of {folder} is one of the certificate's regions")
    for name, program in programs.items():
        report["reference_regions"] += 1
        for k, (given, want) in enumerate(samples_of(beside, name)):
            with silent():
                results, status = model.run(program, given, tosa_level="EIGHTK")
            if int(status):
                raise Bad(f"the reference model refuses '{name}': {status}")
            same = len(results) == len(want) and all(r.tobytes() == w.tobytes() for r, w in zip(results, want))
            report["faults"] += [] if same else [f"{name}: the reference model gives other results for sample {k}"]
            report["reference_samples"] += 1
            report["reference_elements"] += sum(w.size for w in want)
    return report
