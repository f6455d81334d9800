# SPDX-License-Identifier: Apache-2.0
"""rules.py -- what the machines ask of one operation's registers, beyond bounds and waits."""

from __future__ import annotations

from .stream import POOL


def covers_one_block(npu) -> bool:
    of = lambda name: npu.R(f"OFM_{name}_M1") <= npu.R(f"OFM_BLK_{name}_M1")
    return of("HEIGHT") and of("WIDTH") and of("DEPTH")


def in_place(npu) -> bool:
    """Each element is written where it was read: then no block overwrites what a later one reads."""
    same = all(npu.A(f"IFM_BASE{i}") == npu.A(f"OFM_BASE{i}") for i in range(1))
    same &= all(npu.SA(f"IFM_STRIDE_{axis}") == npu.SA(f"OFM_STRIDE_{axis}") for axis in "XYC")
    return same and npu.prec("IFM")["size"] == npu.prec("OFM")["size"] and npu.R("KERNEL_WIDTH_M1") == npu.R("KERNEL_HEIGHT_M1") == 0


def overwrites(npu, accesses: list[tuple]) -> bool:
    reads, writes = ([a for a in accesses if a[3] == how and isinstance(a[0], int)] for how in "rw")
    meet = any(r[0] == w[0] and r[1] < w[2] and w[1] < r[2] for r in reads for w in writes)
    return meet and not covers_one_block(npu) and not in_place(npu)


def faults_of(npu, name: str, p: int, accesses: list[tuple]) -> list[str]:
    found = []
    if name == "OP_POOL" and POOL[p & 7] in ("MAX", "MIN", "AVERAGE", "SUM") and npu.R("IFM_DEPTH_M1") != npu.R("OFM_DEPTH_M1"):
        found.append("a pool has another number of channels than its input")
    if name in ("OP_CONV", "OP_DEPTHWISE", "OP_POOL") and overwrites(npu, accesses):
        found.append("a result lies on an operand of which blocks are still to be read")
    return found
