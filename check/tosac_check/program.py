# SPDX-License-Identifier: Apache-2.0
"""program.py -- one program of the machine: its borders, then its numbers on given inputs."""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np

from .borders import TYPES, borders, check_borders, outputs, put_inputs, within
from .npu import Npu
from .stream import Bad

#: what reading or executing a damaged stream raises
WRONG = (Bad, IndexError, KeyError, ValueError, AssertionError, OverflowError, RuntimeError, struct.error)


class Outcome(NamedTuple):
    faults: list[str]
    operations: set[str]
    results: list[np.ndarray]
    entries_read: dict[bytes, np.ndarray]  # of each table, which entries


def drawn(program) -> list[np.ndarray]:
    """Inputs of a fixed seed."""
    dice = np.random.default_rng(1)
    return [dice.integers(-128, 128, b.shape).astype(TYPES[b.bytes]) for b in borders(program, "input")]


def execute(program, given: list | None, want: list | None, bounds: list | None = None) -> Outcome:
    """given None: drawn; want: what must come out, bit for bit, but where bounds say what else it may be.  NotImplementedError: there
    is no rule for an operation."""
    try:
        npu = Npu(program)
        check_borders(npu, program)
        put_inputs(npu, program, drawn(program) if given is None else given)
        npu.run()
        got = outputs(npu, program)
    except NotImplementedError:
        raise
    except WRONG as error:
        return Outcome([f"{type(error).__name__}: {error}"], set(), [], {})
    faults = sorted(set(npu.faults))
    if want is not None and not (len(got) == len(want) and all(map(within, got, want, bounds or [None] * len(want)))):
        faults.append("the results differ from the expected ones")
    return Outcome(faults, npu.kinds, got, npu.entries_read)
