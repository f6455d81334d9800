# SPDX-License-Identifier: Apache-2.0
"""A model becomes what a target loads; what went where, and why."""
from __future__ import annotations

import contextlib
import ctypes
import html
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator, Mapping, Optional, Sequence, Union

import numpy as np

from ._data import is_path
from ._errors import UnsupportedError, usage
from ._host import Emulated, HostProgram, emulate
from ._library import Context, lib, n, record, text, utf8
from ._model import Dims, Fixed, Model, config_of, make_context, read_model, settled
from ._progress import Progress, shown
from ._tensor import Port, port_of


@dataclass(frozen=True)
class Region:
    """A part of the model that the accelerator runs; the figures of its command stream are there once files were made."""

    name: str
    operators: int  #: of the model
    tosa_operators: int  #: that they became
    transposes: int
    bytes_in: int
    bytes_out: int
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    cycles: Optional[float] = None
    macs: Optional[float] = None
    sram_kib: Optional[float] = None
    inferences_per_second: Optional[float] = None
    scratch: Optional[int] = None
    weights: Optional[int] = None

    def __str__(self) -> str:
        cost = f", {self.cycles:.0f} cycles" if self.cycles is not None else ""
        return f"{self.name}: {self.operators} operators, {self.tosa_operators} of TOSA, {self.bytes_in} bytes in, {self.bytes_out} bytes out{cost}"


@dataclass(frozen=True)
class CpuNode:
    """An operator that stays on the CPU, and why."""

    node: str
    op: str
    place: Optional[str]  #: the Python line
    module: Optional[str]
    why: str

    def __str__(self) -> str:
        return f"{self.node} ({self.op}{', ' + self.place if self.place else ''}) stays on the CPU: {self.why}"


@dataclass(frozen=True)
class Accuracy:
    """An output of what was made, beside that of the model as it was read, on samples of the calibration data or invented ones."""

    output: str
    real: bool  #: of real numbers `sqnr_db` counts, of integers and bools `agreement`
    sqnr_db: Optional[float]  #: None for integers; infinite where nothing differs
    agreement: float  #: share of numbers that are equal
    lost: int  #: numbers that are NaN or infinite, and finite in the model
    typed_sqnr_db: Optional[float] = None  #: what the typed program promises; None where nothing is quantized
    typed_agreement: Optional[float] = None
    aside_sqnr_db: Optional[float] = None  #: on samples that calibration set aside; None where there are none
    aside_agreement: Optional[float] = None

    def __str__(self) -> str:
        return f"{self.output}: {f'{self.sqnr_db:.1f} dB' if self.real else f'{100 * self.agreement:.1f} % equal'}"


@dataclass(frozen=True)
class BoardMemory:
    """A memory of a board, and what a program takes of it."""

    name: str  #: "MRAM"
    kind: str  #: "sram", "flash" or "dram"
    size: int  #: bytes
    used: int
    left: int  #: below 0: so many too many


@dataclass(frozen=True)
class Alternative:
    """Another way to compile what does not fit, which was really tried."""

    options: str  #: as on the command line: "--optimise Size"
    why: Optional[str]  #: it could not be compiled so; None: it was
    fits: bool
    sram: int  #: bytes that it takes of each
    flash: int
    dram: int
    milliseconds: float
    sqnr_db: Optional[float]
    milliseconds_low: float = 0.0  #: the band around milliseconds
    milliseconds_high: float = 0.0


@dataclass(frozen=True)
class Verdict:
    """Whether a program fits its board: doc/boards.md."""

    board: str
    fits: bool
    memories: tuple[BoardMemory, ...]
    milliseconds: Optional[float]  #: by the cost model, at the board's clock; None: not known
    inferences_per_second: Optional[float]
    not_counted: str  #: what is not in them
    bound: Optional[str]  #: where most working memory is needed, where it does not fit
    alternatives: tuple[Alternative, ...]  #: those that `Compiled.alternatives()` tried
    milliseconds_low: Optional[float] = None  #: the band around milliseconds
    milliseconds_high: Optional[float] = None

    def __str__(self) -> str:
        memories = "; ".join(f"{m.name} {-(-m.used // 1024)} of {m.size // 1024} KiB" for m in self.memories)
        return f"{self.board}: {'fits' if self.fits else 'does not fit'}: {memories}" + \
            (f"; {self.milliseconds:.3g} ms ({self.milliseconds_low or 0:.3g} to {self.milliseconds_high or 0:.3g})" if self.milliseconds else "")


class Explanation:
    """What went where, and why."""

    def __init__(self, context: Context, handle: Any, target: str):
        self._context, self._handle, self.target = context, handle, target

    def _info(self) -> Any:
        info = record(n.tc_compiled_info)
        lib.tc_compiled_get_info(self._handle, ctypes.byref(info))
        return info

    @property
    def regions(self) -> list[Region]:
        """What the accelerator takes."""
        out, info = [], record(n.tc_region_info)
        while lib.tc_compiled_region(self._handle, len(out), ctypes.byref(info)):
            i = len(out)
            ports = [tuple(port_of(None, lib.tc_compiled_region_port(self._handle, i, side, k)) for k in range(count))
                     for side, count in ((0, info.n_in), (1, info.n_out))]
            v = info.stream if info.has_stream else None
            out.append(Region(text(info.name) or "", info.operators, info.tosa_operators, info.transposes, info.bytes_in, info.bytes_out,
                              *ports, *((v.cycles, v.macs, v.sram_kib, v.inferences_per_second, v.scratch, v.weights) if v else ())))
        return out

    @property
    def cpu_nodes(self) -> list[CpuNode]:
        """What stays on the CPU, each with its reason and its line of Python."""
        out, info = [], record(n.tc_cpu_node_info)
        while lib.tc_compiled_cpu_node(self._handle, len(out), ctypes.byref(info)):
            loc = info.loc.contents if info.loc else n.tc_loc()
            out.append(CpuNode(text(info.node) or "", text(info.op) or "", text(loc.place), text(loc.module), text(info.why) or ""))
        return out

    @property
    def on_target(self) -> int:
        """Operators of the model that the target runs."""
        return self._info().on_target

    def _report(self, kind: int) -> str:
        out = ctypes.c_char_p()
        self._context.quick("tc_compiled_report", self._handle, kind, ctypes.byref(out))
        return text(out.value) or ""

    def certificate(self, path: Union[str, os.PathLike, None] = None) -> dict[str, Any]:
        """What was proved about what was made or saved last, by what, and what was not (doc/schema/certificate.json); makes the program when
        there is none yet.  With a path it is written, and beside it the typed program (.program.ir) and the samples (.samples.npz)."""
        with self._program(()), shown(self._progress) as tell:
            if path is not None:
                self._context.call("tc_compiled_write_certificate", self._handle, utf8(os.fspath(path)), progress=tell)
                return json.loads(Path(path).read_bytes())
            record_of = record(n.tc_certificate)
            self._context.call("tc_compiled_certificate", self._handle, ctypes.byref(record_of), progress=tell)
            return json.loads(ctypes.string_at(record_of.json.data, record_of.json.size))

    def json(self) -> dict[str, Any]:
        """All of it for programs: doc/schema/explain.json."""
        return json.loads(self._report(n.TC_REPORT_EXPLAIN_JSON))

    def __str__(self) -> str:
        return self._report(n.TC_REPORT_EXPLAIN)

    def __repr__(self) -> str:
        info = self._info()
        return f"<tosac.{type(self).__name__} {self.target}: {info.n_region} regions, {info.on_target} operators there, {info.on_cpu} on the CPU>"

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td>{html.escape(r.name)}</td><td>{r.operators}</td><td>{r.tosa_operators}</td><td>{r.bytes_in}</td>"
                       f"<td>{r.bytes_out}</td><td>{'' if r.cycles is None else f'{r.cycles:.0f}'}</td></tr>" for r in self.regions)
        left = "".join(f"<tr><td>{html.escape(c.node)}</td><td>{html.escape(c.op)}</td><td>{html.escape(c.place or '')}</td>"
                       f"<td>{html.escape(c.why)}</td></tr>" for c in self.cpu_nodes)
        table = lambda head, body: f"<table><tr>{''.join(f'<th>{h}</th>' for h in head)}</tr>{body}</table>"
        out = f"<p><b>{html.escape(self.target)}</b></p>"
        out += table(("region", "operators", "of TOSA", "bytes in", "bytes out", "cycles"), rows) if rows else ""
        return out + (table(("on the CPU", "operator", "line", "why"), left) if left else "")


class Compiled(Explanation):
    """A compiled model: `save()` writes it; `regions`, `cpu_nodes`, `memory` and `cycles` say what it takes."""

    def __init__(self, context: Context, handle: Any, target: str, progress: Progress, source: Model, samples: Any, config: Any,
                 options: Any = None):
        super().__init__(context, handle, target)
        self._progress, self._made, self._runner, self._path = progress, None, None, None
        self._source, self._samples, self._config, self._options = source, samples, config, options

    def _kind(self, path: str, emit: Optional[str]) -> int:
        kinds, i = [], 0
        while (name := lib.tc_output_name(i)) is not None:
            kinds.append((text(name), text(lib.tc_output_extension(i))))
            i += 1
        for i, (name, extension) in enumerate(kinds):
            if emit == name or (emit is None and extension and path.endswith(extension)):
                return i
        if emit is None:
            raise usage(f"what to write into '{path}' does not follow from its name: say it with emit=",
                        f"names end in one of {', '.join(extension for _, extension in kinds if extension)}")
        raise usage(f"emit='{emit}': no such kind of file", f"there are {', '.join(name for name, _ in kinds)}")

    def save(self, path: Union[str, os.PathLike], emit: Optional[str] = None) -> "Compiled":
        """Write it: .pte, .bpte, .tosa, .vgf, .tflite, .c, .ir by the name's end, a pack (VENDOR.NAME.1.0.0.pack), a library (NAME-1.0.0.zip), or
        what `emit` says ("pte+tosa", "stream")."""
        path = os.fspath(path)
        kind = self._kind(path, emit)
        with shown(self._progress) as tell:
            self._context.call("tc_compiled_write", self._handle, kind, utf8(path), progress=tell)
        self._made, self._runner, self._path = kind, None, path
        return self

    def _make(self, kind: int) -> int:
        count = ctypes.c_size_t()
        with shown(self._progress) as tell:
            self._context.call("tc_compiled_make", self._handle, kind, ctypes.byref(count), progress=tell)
        self._made, self._runner, self._path = kind, None, None
        return count.value

    def to_bytes(self, emit: str = "pte") -> list[bytes]:
        """The files of a kind, in memory."""
        count = self._make(self._kind("", emit))
        spans = [lib.tc_compiled_bytes(self._handle, i) for i in range(count)]
        return [ctypes.string_at(s.data, s.size) for s in spans]

    @contextlib.contextmanager
    def _program(self, without: Sequence[int] = (n.TC_OUTPUT_TOSA, n.TC_OUTPUT_IR)) -> Iterator[int]:
        """Inside, the program is what was made last, and its kind is given: one is made where there is none yet, or one of the
        kinds in `without`, which is what was made last again afterwards."""
        before, path = self._made, self._path
        if before is None or before in without:
            self._make(n.TC_OUTPUT_C if "cortex-m" in self.target else n.TC_OUTPUT_PTE)
        yield self._made
        if before is not None and before in without:
            self._make(before)
            self._named(path)

    def _named(self, path: Optional[str]) -> None:
        if path is not None:
            self._context.quick("tc_compiled_set_name", self._handle, utf8(path))
        self._path = path

    @property
    def memory(self) -> int:
        """Bytes of the block that the program's values live in; makes the program when there is none yet."""
        with self._program((n.TC_OUTPUT_TOSA, n.TC_OUTPUT_IR, n.TC_OUTPUT_VGF, n.TC_OUTPUT_STREAM)):
            return self._info().memory

    @property
    def size(self) -> int:
        """Bytes of what was made or written last, of C those of its constants; makes the program when there is none yet."""
        with self._program(()):
            return self._info().bytes

    @property
    def accuracy(self) -> list[Accuracy]:
        """How far each output is from the model's, as compile has seen it; makes the program when there is none yet.  Empty where
        nothing was run: without calibration data for integers, or with execute=False."""
        with self._program(()):
            pass
        out, info, known = [], record(n.tc_accuracy), lambda x: None if x != x else x
        while lib.tc_compiled_accuracy(self._handle, len(out), ctypes.byref(info)):
            out.append(Accuracy(text(info.output) or "", bool(info.real), known(info.sqnr_db), info.agreement, info.lost, known(info.typed_sqnr_db),
                                known(info.typed_agreement), known(info.aside_sqnr_db), known(info.aside_agreement)))
        return out

    @property
    def cycles(self) -> Optional[float]:
        """What all regions of an Ethos-U, or the C on a Cortex-M, are expected to take; None for other targets."""
        if self.target.startswith("cortex-m"):
            return self._profile().total.cycles
        if not self.target.startswith("ethos"):
            return None
        if all(r.cycles is None for r in self.regions):
            with self._program():
                pass
        return float(sum(r.cycles or 0 for r in self.regions))

    def _profile(self) -> Any:
        """The totals of `tosac profile`."""
        out, info = ctypes.c_void_p(), record(n.tc_profile_info)
        with self._program():
            self._context.quick("tc_profile_new", self._handle, ctypes.byref(out))
        lib.tc_profile_get_info(out, ctypes.byref(info))
        return info

    @property
    def flash(self) -> int:
        """Bytes that lie on the board for good: of C its constants and its code (about), else the file.  `memory` is what it works in."""
        return int(self._profile().flash) if self.target.startswith("cortex-m") else self.size

    def host(self, compiler: Optional[str] = None) -> HostProgram:
        """The C of a program for a Cortex-M, compiled for this machine: `host().run(x)` gives what the board computes, from the very source that
        `save("model.c")` writes.  Regions of an Ethos-U beside it are executed by the library.  compiler: its command; else $CC, else cc."""
        if "cortex-m" not in self.target:
            raise usage(f"'{self.target}' has no program in C", "targets cortex-m... have, and an Ethos-U beside one: ethos-u55-128+cortex-m55")
        with tempfile.TemporaryDirectory() as folder:
            before, path = self._made, self._path
            self.save(os.path.join(folder, "model.c"))
            program = HostProgram(Path(folder), self.target, compiler)
            if before is not None:
                self._make(before)
                self._named(path)
            return program

    def emulate(self, firmware: Union[str, os.PathLike], *, clock: int = 0, verify: bool = False, timeout: Optional[float] = 120) -> Emulated:
        """Run a firmware that this program was built into, on its Ethos-U in QEMU: `tosac.emulate`."""
        if not self.target.startswith("ethos"):
            raise usage(f"'{self.target}' has no Ethos-U: the emulated board is one with it")
        return emulate(firmware, self.target, clock=clock, verify=verify, timeout=timeout)

    @property
    def verdict(self) -> Optional[Verdict]:
        """Whether what was made last fits its board; makes the program when there is none yet.  None without `board=`."""
        info, memory, other, known = record(n.tc_board_verdict), record(n.tc_board_verdict_memory), record(n.tc_alternative), lambda x: x or None
        if self._options is None or not self._options.board:
            return None
        with self._program():
            pass
        if not lib.tc_compiled_verdict(self._handle, ctypes.byref(info)):
            return None
        memories, others = [], []
        while lib.tc_compiled_verdict_memory(self._handle, len(memories), ctypes.byref(memory)):
            memories.append(BoardMemory(text(memory.name) or "", text(memory.kind) or "", memory.bytes, memory.used, memory.left))
        while lib.tc_compiled_alternative(self._handle, len(others), ctypes.byref(other)):
            others.append(Alternative(text(other.options) or "", text(other.why), bool(other.fits), other.sram, other.flash, other.dram,
                                      other.milliseconds, None if other.sqnr_db != other.sqnr_db else other.sqnr_db,
                                      other.milliseconds_low, other.milliseconds_high))
        return Verdict(text(info.board) or "", bool(info.fits), tuple(memories), known(info.milliseconds), known(info.inferences_per_second),
                       text(info.not_counted) or "", text(info.bound), tuple(others), known(info.milliseconds_low), known(info.milliseconds_high))

    def alternatives(self) -> tuple[Alternative, ...]:
        """Where it does not fit its board: compile it in other ways (less scratch, Size, memory modes, 4-bit weights) and say what came of each."""
        if self.verdict is None:
            return ()
        with self._program() as kind, shown(self._progress) as tell:
            self._context.call("tc_compiled_try_alternatives", self._source._handle, ctypes.byref(self._options), self._handle, kind, progress=tell)
        return self.verdict.alternatives

    def json(self) -> dict[str, Any]:
        """All of it for programs, with what was written: doc/schema/compile.json."""
        return json.loads(self._report(n.TC_REPORT_JSON))

    def summary(self) -> str:
        """One line: what was written, and its sizes."""
        return self._report(n.TC_REPORT_LINE).strip()

    def run(self, *inputs: Any, dequantize: bool = False, reset: bool = False, **named: Any) -> list[np.ndarray]:
        """Run what was made or saved last on this machine, regions bit for bit as the target would (of C: what the C computes); makes
        the program when there is none yet.  See `tosac.run`."""
        if self._runner is None:
            with self._program(()):
                pass
            made = ctypes.c_void_p()
            self._context.quick("tc_compiled_made", self._handle, ctypes.byref(made))
            self._runner = Model(self._context, made)
        return self._runner.run(*inputs, dequantize=dequantize, reset=reset, **named)

    def report(self, path: Union[str, os.PathLike, None] = None) -> str:
        """What went where, as text; with a path also as a page (.html) or for programs (.json): doc/report.md.

        The page shows errors on the calibration data, and a cost for every operator."""
        if path is None:
            return str(self)
        path = os.fspath(path)
        if not path.endswith((".html", ".json")):
            raise usage(f"a report ends in .html or .json, not as '{path}'")
        options = record(n.tc_report_options, model=self._source._handle, compiled=self._handle, samples=self._samples,
                         command=b"tosac.compile() of the Python package", config=self._config)
        with self._program(), shown(self._progress) as tell:
            self._context.call("tc_report_write", ctypes.byref(options), utf8(path), progress=tell)
        return path


def _read(model: Any, context: Context, calibration: Any, example_inputs: Any) -> Model:
    """Operators of a .tflite that cannot be read stay as they are: a .tflite can be made of it."""
    try:
        return read_model(model, context, calibration, example_inputs, open_sizes=True)
    except UnsupportedError as refused:
        if not (is_path(model) and os.fspath(model).endswith(".tflite")) and not (isinstance(model, bytes) and model[4:8] == b"TFL3"):
            raise
        try:
            return read_model(model, context, calibration, example_inputs, keep_unread=True)
        except UnsupportedError:
            raise refused from None


def _target_of(context: Context, target: Optional[str], board: Union[str, os.PathLike, None]) -> str:
    """The target, or the board's: its NPU, else its core."""
    if target is None and board is None:
        raise usage("the target is missing: target= or board=")
    if target is None:
        info = record(n.tc_board_info)
        context.quick("tc_board_find", utf8(os.fspath(board)), ctypes.byref(info))
        target = text(info.npu) or text(info.core) or ""
    if not isinstance(target, str):
        raise usage(f"target={target!r}: a name is expected, such as 'ethos-u85-256'", "tosac.targets() lists them")
    context.quick("tc_target_check", utf8(target))
    return target


def asked(model: Any, target: Optional[str], calibration: Any, config: Any, only_if_needed: bool, *, example_inputs: Any,
          cpu: Union[str, Sequence[str]], dims: Optional[Dims], set: Optional[Fixed], threads: int, reference_kernels: bool, beside: Any = None,
          vectors: Any = None, images: Optional[Mapping[str, str]] = None, **fields: Any) -> tuple[Context, Model, Any, str]:
    """The context, the model, the record of options, and the target."""
    calibration = settled(calibration)
    if beside is not None and not isinstance(beside, Compiled):
        raise usage(f"beside={beside!r}: what tosac.compile() gave for the method before is expected")
    names = [cpu] if isinstance(cpu, str) else cpu
    if not isinstance(names, Sequence) or not all(isinstance(c, str) for c in names):
        raise usage(f"cpu={cpu!r}: names of nodes or operators are expected, such as 'softmax'")
    context = beside._context if beside is not None else make_context(threads, reference_kernels, dims, set)
    target = _target_of(context, target, fields.get("board"))
    settings = config_of(context, config)
    source = _read(model, context, calibration, example_inputs)
    stay = [utf8(c) for c in names]
    fields = {k: utf8(v) if isinstance(v, str) else v for k, v in fields.items() if v is not None}
    quant = n.tc_compile_quant(settings=settings, only_if_needed=only_if_needed, keep_odd=fields.pop("keep_odd", False),
                               all_samples=fields.pop("all_samples", False), reset=fields.pop("reset", False))
    ethosu = n.tc_compile_ethosu(**{k: fields.pop(k) for k, _ in n.tc_compile_ethosu._fields_ if k in fields})
    options = record(n.tc_compile_options, target=utf8(target), quant=quant, ethosu=ethosu, n_cpu=len(stay), **fields)
    options.cpu = (ctypes.c_char_p * max(len(stay), 1))(*stay)
    ports = [utf8(f"{port}={format}") for port, format in (images or {}).items()]
    options.images, options.n_images = (ctypes.c_char_p * max(len(ports), 1))(*ports), len(ports)
    if beside is not None:
        options.beside = beside._handle
    if vectors is not None:
        options.vectors = source._dataset(vectors)
    if calibration is not None:
        options.quant.samples = source._dataset(calibration)
    return context, source, options, target


def _compiled(model: Any, target: Optional[str], calibration: Any, config: Any, only_if_needed: bool, progress: Progress, kind: Any, **fields: Any) -> Any:
    context, source, options, target = asked(model, target, calibration, config, only_if_needed, **fields)
    out = ctypes.c_void_p()
    with shown(progress) as tell:
        context.call("tc_compile", source._handle, ctypes.byref(options), ctypes.byref(out), progress=tell)
    context.kept += [source, options]
    if kind is not Compiled:
        return kind(context, out, target)
    named = utf8(os.fspath(config)) if isinstance(config, (str, os.PathLike)) else None
    return Compiled(context, out, target, progress, source, options.quant.samples, named, options)


def compile(model: Any, target: Optional[str] = None, calibration: Any = None, config: Any = None, *, example_inputs: Any = None,
            cpu: Union[str, Sequence[str]] = (), check: bool = False, strict: bool = False, execute: bool = True,
            keep_odd_samples: bool = False, all_samples: bool = False, reset: bool = False, dims: Optional[Dims] = None, set: Optional[Fixed] = None, threads: int = 0, reference_kernels: bool = False, progress: Progress = None, system: Optional[str] = None,
            optimise: Optional[str] = None,
            u55_products: bool = False, share_weights: bool = False, max_scratch: int = 0, method: Optional[str] = None,
            beside: Optional[Compiled] = None, kernels: Optional[str] = None, board: Union[str, os.PathLike, None] = None, vectors: Any = None,
            shaders: Optional[str] = None, images: Optional[Mapping[str, str]] = None, marks: Optional[str] = None) -> Compiled:
    """Compile a model for a target, or for a board.

    model: a path, bytes, a torch.nn.Module (exported for you, in eval mode), an ExportedProgram, or a tosac.Model
    target: "ethos-u85-256", "ethos-u55-128", "vgf", "TOSA-1.0+INT", "cpu" ...; `tosac.targets()` lists them
    calibration: arrays, any iterable of samples (a torch DataLoader, (x, label) pairs, dictionaries), or paths;
        "random:SEED" invents numbers
    config: "int8" (the default where the target computes with integers), "a16w8", "a8w4", "a16w4", "int8+16:K", "mxfp8", "none", a JSON file or a dict
    example_inputs: what forward takes, where it does not follow from the calibration data
    cpu: names or operators that stay on the CPU
    set: inputs that are constants, by name: a number, a bool, an array or the path of a .npy; the program does not have them
    check: run the program before and after every step, and compare
    strict: a part that the target refuses is an error; else it goes to the CPU with a warning
    execute: run what is written beside the float model, on a few samples (`Compiled.accuracy`); Ethos-U: and every command stream on one
        beside the program that it was made of.  False leaves it out, streams are verified only
    keep_odd_samples: set no calibration sample aside, however far it is from the others
    all_samples: keep none back to measure `Compiled.accuracy` on: quicker, and optimistic (doc/calibration.md)
    reset: start every calibration sample from the model's initial state
    system: Ethos-U: the system around it, "CONFIG,MODE", "MODE" or "FILE:CONFIG,MODE" (doc/compile.md); else the board's or the target's
    u55_products: Ethos-U55 and U65: products of two activations as convolutions; not tried on silicon
    share_weights: Ethos-U, several methods: this one takes the weights of those before it, and a .pte has them once; all methods must say so
    progress: a function of (what, done, total), or True or False; by default shown on terminals and in notebooks
    method, beside: its name in a .pte of several methods, and the method compiled before it: buffers that share a name are one, and what is
        saved of the last method holds them all
    kernels: "cmsis-nn": C for a Cortex-M calls CMSIS-NN where it computes the same bits
    board: a board's name or file, in place of a target: `tosac.boards()` lists them; `Compiled.verdict` says whether it fits
    vectors: data as `calibration`: the test vectors of a .bpte; else some of the samples that the result is run on
    shaders: .vgf: what becomes compute shaders: "auto" (what no region takes), "all" (the same, and a .pte is one delegate), "resample"
        (grid_sample and upsampling too), "samplers" (and those read images by samplers, in a .vgf) or "none"
    images: .vgf: inputs and outputs that the caller has as images, by name: {"x": "r8g8b8a8_unorm"}; doc/vgf.md has the formats
    marks: Ethos-U: "irq" or "wait": every operation ends by itself, for `tosac profile --pmu` (doc/profile.md)
    """
    return _compiled(model, target, calibration, config, False, progress, Compiled, example_inputs=example_inputs, cpu=cpu, dims=dims, set=set,
                     threads=threads, reference_kernels=reference_kernels, check=check, strict=strict, no_execute=not execute,
                     keep_odd=keep_odd_samples, all_samples=all_samples, reset=reset, u55_products=u55_products, share_weights=share_weights, system=system,
                     optimise=optimise, max_scratch=max_scratch, method=method,
                     beside=beside, kernels=kernels, board=os.fspath(board) if board is not None else None, vectors=vectors,
                     shaders=shaders, images=images, marks=marks)


def explain(model: Any, target: Optional[str] = None, calibration: Any = None, config: Any = None, *, example_inputs: Any = None,
            cpu: Union[str, Sequence[str]] = (), dims: Optional[Dims] = None, set: Optional[Fixed] = None, threads: int = 0,
            reference_kernels: bool = False, progress: Progress = None, u55_products: bool = False,
            board: Union[str, os.PathLike, None] = None) -> Explanation:
    """What goes where and why, before anything is written.  Without calibration data numbers are invented: only ranges follow from them."""
    invented = calibration is None
    return _compiled(model, target, "random:1" if invented else calibration, config, invented, progress, Explanation,
                     example_inputs=example_inputs, cpu=cpu, dims=dims, set=set, threads=threads, reference_kernels=reference_kernels, no_execute=True,
                     u55_products=u55_products, board=os.fspath(board) if board is not None else None)
