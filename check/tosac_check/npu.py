# SPDX-License-Identifier: Apache-2.0
"""npu.py -- a command stream executed, with the waits it needs between operations."""

from __future__ import annotations

import numpy as np

from .elements import Elements
from .rules import faults_of
from .stream import CMD0, CMD1, require

MOST_STEPS = 2000000


def still_open(operations: list, n: int) -> list:
    """After a wait until n of them are open."""
    return operations[len(operations) - n :] if 0 < n < len(operations) else operations if n else []


class Npu(Elements):
    def conflicts(self, A, B):
        return any(
            x[0] == y[0] and x[1] < y[2] and y[1] < x[2] and "w" in (x[3], y[3])
            for x in A
            for y in B
        )

    def hazard(self, n):
        A = self.cur
        self.cur = []
        if n == "OP_DMA_START":
            if any(self.conflicts(A, B) for B in self.okern):
                self.faults.append("DMA runs into a kernel that may still run")
            if any(self.conflicts(A, B) for B in self.odma):
                self.faults.append("DMA runs into a DMA that may still run")
            self.odma.append(A)
            self.odma = self.odma[-self.machine.copies :]
        else:
            if any(self.conflicts(A, B) for B in self.odma):
                self.faults.append("kernel runs into a DMA that may still run")
            if self.group is not None:
                self.group.extend(A)
            else:
                self.okern.append(A)
                self.okern = self.okern[-2:]
            self.group = self.okern[-1] if self.u85 and self.prec("OFM")["store"] == 2 else None

    # main loop -------------------------------------------------------------------
    def run(self):
        """To OP_STOP, or to the end of the words."""
        at = 0
        for _ in range(MOST_STEPS):
            if at >= len(self.stream):
                return
            word = self.stream[at]
            if word >> 14 & 3 == 1:
                at = self.long(at, word)
            elif CMD0[word & 0x3FF] == "OP_STOP":
                return
            else:
                self.short(CMD0[word & 0x3FF], word >> 16)
                at += 1
        raise RuntimeError("too many steps")

    def long(self, at, word):
        """A command of two words; the next one's place."""
        name, p, data = CMD1[word & 0x3FF], word >> 16, self.stream[at + 1]
        if name != "OP_BRANCH":
            self.r[name] = (p, data)
            return at + 2
        require(self.u85, "a branch, which this machine has not")
        self.kinds.add("BRANCH")
        if self.okern or self.odma:
            self.faults.append("a branch is taken while an operation or a DMA may still run")
        if p & 1 and not self.branch_flag():
            return at + 2
        if data // 4 <= at:
            state = self.state(data // 4)
            require(state not in self.states, "a loop that never ends")
            self.states.add(state)
        return data // 4

    def state(self, at):
        """All that what follows hangs on."""
        parts = [bytes(m) for _, m in sorted(self.mem.items())] + [bytes(self.lut), b"" if self.acc is None else np.asarray(self.acc, np.int64).tobytes()]
        return hash((at, self.last, tuple(sorted(self.r.items())), *parts))

    def short(self, name, p):
        if not name.startswith("OP_"):
            self.r[name] = (p, 0)
        elif name in OPERATIONS:
            OPERATIONS[name](self, p)
            self.faults += faults_of(self, name, p, self.cur)
            self.hazard(name)
        elif name == "OP_DMA_WAIT":
            self.odma = still_open(self.odma, p & 3)
        elif name == "OP_KERNEL_WAIT":
            self.okern = still_open(self.okern, p & 3)
        elif name not in ("OP_IRQ", "OP_PMU_MASK"):
            raise NotImplementedError(name)

    def branch_flag(self):
        return bool(self.last != 0)


OPERATIONS = {
    "OP_CONV": lambda npu, p: npu.op_conv(p, False),
    "OP_DEPTHWISE": lambda npu, p: npu.op_conv(p, True),
    "OP_POOL": Npu.op_pool,
    "OP_ELEMENTWISE": Npu.op_ew,
    "OP_RESIZE": Npu.op_resize,
    "OP_DMA_START": lambda npu, _: npu.op_dma(),
}
