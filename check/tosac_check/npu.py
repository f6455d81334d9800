# SPDX-License-Identifier: Apache-2.0
"""npu.py -- a command stream executed, with the waits it needs between operations."""

from __future__ import annotations

from .elements import Elements
from .stream import CMD0, CMD1


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
            self.odma = self.odma[-self.maxdma :]
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
        i = 0
        s = self.stream
        steps = 0
        while i < len(s):
            steps += 1
            if steps > 2000000:
                raise RuntimeError("too many steps")
            w = s[i]
            op = w & 0x3FF
            p = w >> 16
            if w >> 14 & 3 == 1:
                d = s[i + 1]
                i += 2
                n = CMD1[op]
                if n == "OP_BRANCH":
                    self.kinds.add("BRANCH")
                    take = True
                    if p & 1:
                        take = self.branch_flag()
                    if take:
                        i = d // 4
                else:
                    self.r[n] = (p, d)
                continue
            i += 1
            n = CMD0[op]
            if op >= 256:
                self.r[n] = (p, 0)
            elif n == "OP_STOP":
                return
            elif n == "OP_CONV":
                self.op_conv(p, False)
            elif n == "OP_DEPTHWISE":
                self.op_conv(p, True)
            elif n == "OP_POOL":
                self.op_pool(p)
            elif n == "OP_ELEMENTWISE":
                self.op_ew(p)
            elif n == "OP_RESIZE":
                self.op_resize(p)
            elif n == "OP_DMA_START":
                self.op_dma()
            elif n == "OP_DMA_WAIT":
                k = p & 3
                self.odma = (
                    self.odma[len(self.odma) - k :]
                    if k and k < len(self.odma)
                    else ([] if k == 0 else self.odma)
                )
            elif n == "OP_KERNEL_WAIT":
                k = p & 3
                self.okern = (
                    self.okern[len(self.okern) - k :]
                    if k and k < len(self.okern)
                    else ([] if k == 0 else self.okern)
                )
            elif n in ("OP_IRQ", "OP_PMU_MASK"):
                pass
            else:
                raise NotImplementedError(n)
            if n in (
                "OP_CONV",
                "OP_DEPTHWISE",
                "OP_POOL",
                "OP_ELEMENTWISE",
                "OP_RESIZE",
                "OP_DMA_START",
            ):
                self.hazard(n)

    def branch_flag(self):
        return bool(self.last != 0)
