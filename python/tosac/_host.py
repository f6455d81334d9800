# SPDX-License-Identifier: Apache-2.0
"""A model in C on this machine: compiled by its C compiler, regions of an Ethos-U executed by the library; and firmwares in the emulator."""
from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional, Sequence, Union

import numpy as np

from ._errors import ToolError, usage
from ._library import HERE, Context, lib, n, record, text, utf8

_CTYPES = {"int8_t": np.int8, "uint8_t": np.uint8, "int16_t": np.int16, "uint16_t": np.uint16, "int32_t": np.int32, "uint32_t": np.uint32,
           "int64_t": np.int64, "float": np.float32, "bool": np.bool_}


@dataclass(frozen=True)
class CPort:
    """An input or output of a program in C."""

    name: Optional[str]
    dtype: np.dtype
    shape: tuple[int, ...]
    scale: Optional[float]  #: a code stands for scale * (code - zero_point); None: it has no scale
    zero_point: int

    def codes(self, values: Any) -> np.ndarray:
        """Numbers as codes; codes, and numbers of a port without a scale, as they are."""
        x = np.asarray(values)
        if self.scale is None or x.dtype.kind not in "f":
            return np.ascontiguousarray(x.astype(self.dtype, casting="same_kind" if x.dtype.kind == "f" else "safe"))
        limits = np.iinfo(self.dtype)
        return np.clip(np.rint(x.astype(np.float64) / self.scale) + self.zero_point, limits.min, limits.max).astype(self.dtype)

    def values(self, codes: np.ndarray) -> np.ndarray:
        """Codes as the numbers that they stand for."""
        return codes if self.scale is None else ((codes.astype(np.float64) - self.zero_point) * self.scale).astype(np.float32)


def _ports(head: str, prefix: str, side: str, types: Sequence[str]) -> tuple[CPort, ...]:
    shapes = re.findall(rf"/\* \w+\[([\d,]*)\] \*/\n#define {prefix}_{side}_(\d+)_", head)
    shape_of = {int(i): tuple(int(d) for d in dims.split(",") if d) for dims, i in shapes}

    def said(i: int, word: str) -> Optional[str]:
        found = re.search(rf"#define {prefix}_{side}_{i}_{word} (.+)", head)
        return found[1] if found else None

    def port(i: int, kind: str) -> CPort:
        scale, name = said(i, "SCALE"), said(i, "NAME")
        return CPort(name.strip('"') if name else None, np.dtype(_CTYPES[kind]), shape_of.get(i, ()), float(scale) if scale else None,
                     int(said(i, "ZERO_POINT") or 0))
    return tuple(port(i, kind) for i, kind in enumerate(types))


class _Npu:
    """tosac_npu_run() of a program: each job's stream by the library's executor, in the program's own memory."""

    JOB = type("tosac_npu_job", (ctypes.Structure,), {"_fields_": [
        ("stream", ctypes.c_void_p), ("stream_bytes", ctypes.c_size_t), ("weights", ctypes.c_void_p), ("weight_bytes", ctypes.c_size_t),
        ("scratch_bytes", ctypes.c_size_t), ("fast_bytes", ctypes.c_size_t)]})
    RUN = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(JOB), ctypes.c_void_p)

    def __init__(self, machine: str):
        self._context, self._npu, self.cycles = Context(), ctypes.c_void_p(), 0.0
        options = record(n.tc_npu_options, machine=utf8(machine))
        self._context.quick("tc_npu_new", ctypes.byref(options), ctypes.byref(self._npu))
        self.call, self.wrong = self.RUN(self._run), None

    def _words(self, job: Any) -> tuple[int, int]:
        """Where the stream is behind the driver's header, and its bytes."""
        at, end = job.stream + 4, job.stream + job.stream_bytes
        while at < end:
            action = ctypes.c_uint32.from_address(at).value
            if action & 0xFF == 2:
                return at + 4, 4 * (action >> 16 | (action >> 8 & 0xFF) << 16)
            at += 12 if action & 0xFF == 1 else 4
        return 0, 0

    def _run(self, pointer: Any, scratch: int) -> int:
        job, info, ran = pointer.contents, record(n.tc_npu_load_info), record(n.tc_npu_run_info)
        at, size = self._words(job)
        fast = ctypes.create_string_buffer(job.fast_bytes) if job.fast_bytes else None
        regions = [(job.weights, job.weight_bytes), (scratch, job.scratch_bytes), (ctypes.addressof(fast) if fast else scratch, job.fast_bytes or job.scratch_bytes)]
        status = lib.tc_npu_load(self._npu, at, size, ctypes.byref(info))
        for i, (data, count) in enumerate(regions):
            status = status or lib.tc_npu_bind(self._npu, i, data if count else None, count)
        status = status or lib.tc_npu_run(self._npu, ctypes.byref(ran))
        self.cycles += info.cycles
        if status:
            fault = record(n.tc_npu_fault_info)
            lib.tc_npu_get_fault(self._npu, ctypes.byref(fault))
            self.wrong = text(fault.text)
        return int(status)


class HostProgram:
    """A model in C, compiled for this machine: the bytes that the board computes."""

    def __init__(self, sources: Path, target: str, compiler: Optional[str] = None):
        head = (sources / "model.h").read_text()
        compiler = compiler or os.environ.get("CC") or "cc"
        if not shutil.which(compiler):
            raise ToolError(f"there is no C compiler '{compiler}': compiler= names one")
        self._folder = tempfile.TemporaryDirectory(prefix="tosac-")
        made = Path(self._folder.name) / "model.so"
        self._npu = _Npu(target.split("+")[0]) if "MODEL_NPU_REGIONS" in head else None
        more = []
        if self._npu:
            more = [str(Path(self._folder.name) / "npu.c")]
            Path(more[0]).write_text('#include "tosac_npu.h"\nint (*tosac_npu_call)(const tosac_npu_job *, void *);\n'
                                     "int tosac_npu_run(const tosac_npu_job *job, void *scratch) { return tosac_npu_call(job, scratch); }\n")
        command = [compiler, "-std=c11", "-O2", "-shared", "-fPIC", f"-I{sources}", *map(str, sorted(sources.glob("*.c"))), *more,
                   "-lm", "-o", str(made)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            why = [line for line in done.stderr.splitlines() if "error" in line] or [f"exit {done.returncode}"]
            raise ToolError(f"{compiler} cannot compile the model: {why[0]}")
        self._library = ctypes.CDLL(str(made))
        if self._npu:
            ctypes.c_void_p.in_dll(self._library, "tosac_npu_call").value = ctypes.cast(self._npu.call, ctypes.c_void_p).value
        declared = re.search(r"(?:void|int) model_run_in\((.*?)\);", head, re.S)
        params = [p.strip() for p in declared[1].split(",")] if declared else []
        kinds = {side: [re.sub(r"^const ", "", p).split(" ")[0] for p in params if f"*{side}_" in p] for side in ("input", "output")}
        self.inputs = _ports(head, "MODEL", "INPUT", kinds["input"])
        self.outputs = _ports(head, "MODEL", "OUTPUT", kinds["output"])
        self._arena = ctypes.create_string_buffer(int(re.search(r"MODEL_ARENA_BYTES (\d+)", head)[1]) + 64)
        state = "model_state *state" in (declared[1] if declared else "")
        self._state = ctypes.create_string_buffer(self._state_bytes(head) + 64) if state else None
        self.reset()

    @staticmethod
    def _state_bytes(head: str) -> int:
        body = re.search(r"typedef struct model_state \{(.*?)\}", head, re.S)[1]
        return sum(16 + np.dtype(_CTYPES[kind]).itemsize * int(count) for kind, count in re.findall(r"(\w+) v\d+\[(\d+)\];", body))

    @staticmethod
    def _aligned(buffer: Any) -> int:
        return (ctypes.addressof(buffer) + 63) // 64 * 64

    def reset(self) -> None:
        """State as at the beginning."""
        if self._state is not None:
            self._library.model_start(ctypes.c_void_p(self._aligned(self._state)))

    @property
    def npu_cycles(self) -> Optional[float]:
        """Cycles that the Ethos-U is expected to have taken for all runs so far; None without one."""
        return self._npu.cycles if self._npu else None

    def run_codes(self, *codes: Any) -> list[np.ndarray]:
        """One run: codes in, codes out, as the firmware has them."""
        if len(codes) != len(self.inputs):
            raise usage(f"the program takes {len(self.inputs)} inputs, not {len(codes)}")
        given = [p.codes(c).reshape(p.shape) for p, c in zip(self.inputs, codes)]
        out = [np.empty(p.shape, p.dtype) for p in self.outputs]
        before = [ctypes.c_void_p(self._aligned(self._state))] if self._state is not None else []
        status = self._library.model_run_in(*before, ctypes.c_void_p(self._aligned(self._arena)), *(ctypes.c_void_p(a.ctypes.data) for a in (*given, *out)))
        if self._npu and status:
            raise ToolError(f"the Ethos-U refused its job: {self._npu.wrong or status}")
        return out

    def run(self, *inputs: Any) -> list[np.ndarray]:
        """Samples along the first axis, as `Compiled.run` takes them; numbers in and out."""
        data = [np.asarray(x) for x in inputs]
        if len(data) != len(self.inputs):
            raise usage(f"the program takes {len(self.inputs)} inputs, not {len(data)}")
        each = [x.reshape(-1, *p.shape) for x, p in zip(data, self.inputs)]
        results = [self.run_codes(*(p.codes(x[i]) for x, p in zip(each, self.inputs))) for i in range(len(each[0]) if each else 1)]
        return [p.values(np.concatenate([r[k] for r in results]) if p.shape else np.stack([r[k] for r in results])) for k, p in enumerate(self.outputs)]


@dataclass(frozen=True)
class EmulatedJob:
    """A job of the Ethos-U."""

    operations: int
    cycles: int
    microseconds: int  #: on this machine


@dataclass(frozen=True)
class Emulated:
    """What a firmware did in the emulator."""

    code: int  #: its exit code
    output: str  #: what it printed
    jobs: tuple[EmulatedJob, ...]

    @property
    def cycles(self) -> int:
        """Of all jobs."""
        return sum(job.cycles for job in self.jobs)


def command() -> str:
    """The command beside the library."""
    name = "tosac.exe" if os.name == "nt" else "tosac"
    for place in (HERE / "_lib" / name, Path(os.environ.get("TOSAC_LIBRARY", "")).parent / name):
        if place.is_file():
            return str(place)
    return name


def emulate(firmware: Union[str, os.PathLike], target: str = "ethos-u55-128", *, clock: int = 0, verify: bool = False, timeout: Optional[float] = 120) -> Emulated:
    """Run a firmware with an Ethos-U in QEMU (doc/emulate.md).

    firmware: an .elf for a Corstone-300
    target: the Ethos-U; what stands behind "+" is the firmware's own core
    clock: of the Ethos-U in the firmware's time, Hz; 0: 32 MHz
    verify: tell what a machine may do otherwise, in `Emulated.output`
    timeout: seconds; None: as long as it takes
    """
    path = os.fspath(firmware)
    options = ["--report", *(["--verify"] if verify else []), *(["--clock", str(clock)] if clock else [])]
    try:
        done = subprocess.run([command(), "emulate", path, "-t", target.split("+")[0], *options], capture_output=True, text=True, timeout=timeout,
                              errors="replace", stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        raise ToolError(f"{path}: the firmware has not ended within {timeout:g} seconds") from None
    said = done.stdout + done.stderr
    own = re.match(r"(tosac: error|run\.sh|[^\n]+: error): .*", done.stderr)
    if own and not done.stdout:
        raise (ToolError(own[0]) if done.returncode == 4 else usage(own[0]))
    jobs = re.findall(r"^ethos-u: job \d+: (\d+) operations, (\d+) cycles, (\d+) us on the host$", said, re.M)
    return Emulated(done.returncode, "\n".join(line for line in said.splitlines() if not line.startswith("ethos-u: job ")),
                    tuple(EmulatedJob(*map(int, j)) for j in jobs))
