# SPDX-License-Identifier: Apache-2.0
"""What there is: targets, boards and operators."""
from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Optional

from ._library import Context, lib, n, record, text, utf8


@dataclass(frozen=True)
class Target:
    """Something to compile for."""

    name: str  #: as it is asked for: "ethos-u85-256"
    title: str
    tosa: Optional[str]  #: the profile and extensions of TOSA that it takes
    integers: bool
    floats: bool
    takes_stream: bool
    takes_c: bool  #: its programs are C source


@dataclass(frozen=True)
class Board:
    """A board that is known: doc/boards.md."""

    name: str
    title: str
    npu: Optional[str]  #: "ethos-u55-128"
    core: Optional[str]  #: "cortex-m55"
    npu_clock: float  #: Hz; 0: the system description's
    core_clock: float
    system_config: Optional[str]
    memory_mode: Optional[str]
    memories: dict[str, int]  #: bytes, by kind: "sram", "flash", "dram"
    text: str  #: as a file of one's own, with the source of each fact


@dataclass(frozen=True)
class Operator:
    """An operator of PyTorch's that is read, overloads normalized."""

    name: str
    computes: str
    quantized: bool  #: becomes TOSA on quantized values
    plain: bool  #: becomes TOSA on floats, integers and bools
    cpu: bool  #: ExecuTorch's kernels compute it


def targets() -> list[Target]:
    """What can be compiled for, by name; of TOSA its profiles."""
    out, info = [], record(n.tc_target_info)
    while lib.tc_target_at(len(out), ctypes.byref(info)):
        out.append(Target(info.name.decode(), text(info.title) or "", info.spec.decode() or None, bool(info.integers), bool(info.floats),
                          bool(info.takes_stream), bool(info.takes_c)))
    return out


def boards() -> list[Board]:
    """What `board=` takes by name."""
    context, info, memory, more = Context(), record(n.tc_board_info), record(n.tc_board_memory_info), ctypes.c_bool()
    out: list[Board] = []
    while True:
        context.quick("tc_board_at", len(out), ctypes.byref(more), ctypes.byref(info))
        if not more.value:
            return out
        memories = {}
        for i in range(info.n_memory):
            context.quick("tc_board_memory_at", info.name, i, ctypes.byref(memory))
            memories[text(memory.kind) or ""] = memory.bytes
        out.append(Board(text(info.name) or "", text(info.title) or "", text(info.npu), text(info.core), info.npu_clock, info.core_clock,
                         text(info.system_config), text(info.memory_mode), memories, text(info.text) or ""))


def ops(target: Optional[str] = None) -> list[Operator]:
    """The operators that are read; with a target those that it can take, types and shapes allowing."""
    out, info, i = [], record(n.tc_operator_info), 0
    there = record(n.tc_target_info)
    if target is not None:
        Context().quick("tc_target_find", utf8(target), ctypes.byref(there))
    while lib.tc_operator_at(i, ctypes.byref(info)):
        i += 1
        taken = target is None or (info.quantized and there.integers) or (info.plain and there.floats) or (not there.spec and info.cpu)
        if not info.is_tosa and taken:
            out.append(Operator(text(info.name) or "", text(info.doc) or "", bool(info.quantized), bool(info.plain), bool(info.cpu)))
    return out
