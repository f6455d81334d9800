# SPDX-License-Identifier: Apache-2.0
"""harmless.py -- whether damage changes anything that a user could see: what our own executor gives on several inputs, and what `tosac verify`
says, of the damaged file and of the one it was made of."""
from __future__ import annotations

import hashlib
import re
import subprocess
import tempfile
from pathlib import Path

import numpy as np

SECONDS = 60


class Facts:
    """Of one file: inputs are drawn once for it, `samples` of each between the least and the greatest number of an example, from a fixed seed."""

    def __init__(self, tosac: str, examples: list[np.ndarray], samples: int = 6):
        self.tosac, self.work = tosac, tempfile.TemporaryDirectory()
        dice, self.inputs = np.random.default_rng(7), []
        for number, example in enumerate(examples):
            path = Path(self.work.name) / f"in{number}.npy"
            ends = (int(example.min()), int(example.max())) if example.size else (0, 0)
            np.save(path, dice.integers(ends[0], ends[1] + 1, (samples, *example.shape)).astype(example.dtype))
            self.inputs += ["-i", str(path)]

    def said(self, *words: str) -> tuple[int, str]:
        try:
            done = subprocess.run([self.tosac, *words], capture_output=True, timeout=SECONDS)
            return done.returncode, re.sub(r"\d+ bytes|[\w./-]*\.(npz|pte|tflite)", "", done.stdout.decode(errors="replace"))
        except subprocess.TimeoutExpired:
            return -1, ""

    def of(self, path: Path) -> tuple:
        out = Path(self.work.name) / "out"
        for old in out.glob("*") if out.exists() else []:
            old.unlink()
        drawn = self.inputs or ["--steps", "1"]
        ran = self.said("run", str(path), *drawn, "-o", str(out), "--quiet")[0]
        results = tuple(hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(out.glob("*.npy"))) if out.exists() else ()
        return ran, results, self.said("verify", str(path))
