# SPDX-License-Identifier: Apache-2.0
"""rules.py -- what the machines ask of one operation's registers, beyond bounds and waits."""

from __future__ import annotations

import numpy as np

from .stream import POOL


def bytes_of(access: tuple) -> np.ndarray:
    at, size = access[4], access[5]
    return np.unique(at.reshape(-1, 1) + np.arange(size))


def same_elements(a: tuple, b: tuple) -> bool:
    """Each element is written where it was read."""
    return a[5] == b[5] and a[4].shape == b[4].shape and bool((a[4] == b[4]).all())


def shares_bytes(access: tuple) -> bool:
    """Two elements of a map lie on one byte: which of them is written last is open."""
    at, size = access[4], access[5]
    return bool((np.diff(np.sort(at, axis=None)) < size).any())


def overwrites(npu, name: str, accesses: list[tuple]) -> bool:
    """A map is written where an operand is read: only an operation of single elements may, and only element by element."""
    single = name == "OP_ELEMENTWISE" or (name == "OP_POOL" and npu.R("KERNEL_WIDTH_M1") == npu.R("KERNEL_HEIGHT_M1") == 0)
    reads, writes = ([a for a in accesses if a[3] == how and len(a) > 4] for how in "rw")
    return any(
        r[0] == w[0] and r[1] < w[2] and w[1] < r[2] and not (single and same_elements(r, w)) and np.intersect1d(bytes_of(r), bytes_of(w)).size
        for r in reads
        for w in writes
    )


def faults_of(npu, name: str, p: int, accesses: list[tuple]) -> list[str]:
    found = []
    if name == "OP_POOL" and POOL[p & 7] in ("MAX", "MIN", "AVERAGE", "SUM") and npu.R("IFM_DEPTH_M1") != npu.R("OFM_DEPTH_M1"):
        found.append("a pool has another number of channels than its input")
    if name != "OP_DMA_START" and overwrites(npu, name, accesses):
        found.append("a result lies on an operand of which blocks are still to be read")
    if any(a[3] == "w" and len(a) > 4 and shares_bytes(a) for a in accesses):
        found.append("elements of a result share bytes")
    return found
