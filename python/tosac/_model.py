# SPDX-License-Identifier: Apache-2.0
"""Models: read from anywhere, asked about, run, written as text."""
from __future__ import annotations

import ctypes
import json
import os
import tempfile
import weakref
from dataclasses import dataclass
from typing import Any, Iterator, Mapping, Optional, Sequence, Union

import numpy as np

from . import _torch
from ._data import collect, dataset, is_path
from ._errors import usage
from ._library import Context, lib, n, record, text, utf8
from ._progress import Progress, shown
from ._tensor import Port, dequantized, fit, load as load_tensor, port_of, store

STAGE = ("float", "pt2e", "typed", "lowered")


def _ports(of: str, handle: Any, kind: str) -> list[Any]:
    """The inputs or outputs (kind) of a model or a program (of)."""
    out = []
    for i in range(getattr(lib, f"tc_{of}_{kind}_count")(handle)):
        info = record(n.tc_port_info)
        getattr(lib, f"tc_{of}_{kind}")(handle, i, ctypes.byref(info))
        out.append(info)
    return out


@dataclass(frozen=True)
class Node:
    """One operator at its place."""

    op: str
    name: Optional[str]  #: PyTorch's node
    target: Optional[str]  #: "aten.conv2d.default"
    module: Optional[str]
    place: Optional[str]  #: the Python line


Fixed = Mapping[str, Any]  # an input that is a constant, by its name: a number, a bool, an array or the path of a .npy
# a size by its name ("1..64": open in these bounds, "16,32": a method of each), or an input's shape by the input's
Dims = Mapping[str, Union[int, str, Sequence[int]]]


class Model:
    """A model that the library holds; `tosac.load()` reads one."""

    def __init__(self, context: Context, handle: Any):
        self._context, self._handle = context, handle
        self._program: Optional[Program] = None

    @property
    def stage(self) -> str:
        """How far it has come: "float", "pt2e", "typed" or "lowered"."""
        return STAGE[lib.tc_model_get_stage(self._handle)]

    @property
    def producer(self) -> Optional[str]:
        """What wrote it: "torch 2.13.0", or None."""
        return text(lib.tc_model_producer(self._handle))

    @property
    def inputs(self) -> list[Port]:
        return [port_of(i.name, i.type) for i in _ports("model", self._handle, "input")]

    @property
    def outputs(self) -> list[Port]:
        return [port_of(i.name, i.type) for i in _ports("model", self._handle, "output")]

    @property
    def nodes(self) -> Iterator[Node]:
        """Every operator of every graph, in order."""
        info = record(n.tc_node_info)
        for g in range(lib.tc_model_graph_count(self._handle)):
            for i in range(lib.tc_model_node_count(self._handle, g)):
                lib.tc_model_node(self._handle, g, i, ctypes.byref(info))
                loc = info.loc.contents if info.loc else n.tc_loc()
                yield Node(text(info.op) or "", text(loc.node), text(loc.target), text(loc.module), text(loc.place))

    def text(self, places: bool = True) -> str:
        """The graph as text: doc/ir.md."""
        out = n.tc_bytes()
        self._context.quick("tc_model_text", self._handle, int(places), ctypes.byref(out))
        return ctypes.string_at(out.data, out.size).decode()

    def save(self, path: Union[str, os.PathLike]) -> None:
        """The graph as text, large constants in PATH.bin."""
        self._context.call("tc_model_write", self._handle, utf8(os.fspath(path)))

    @property
    def qparams(self) -> dict[str, dict[str, Any]]:
        """Scale and zero point of every quantized value, by PyTorch's names."""
        out = n.tc_bytes()
        self._context.quick("tc_model_qparams", self._handle, ctypes.byref(out))
        return json.loads(ctypes.string_at(out.data, out.size))

    def run(self, *args: Any, dequantize: bool = False, reset: bool = False, **named: Any) -> list[np.ndarray]:
        """Run it on data; see `tosac.run`."""
        if self._program is None:
            self._program = Program(self)
        return self._program(*args, dequantize=dequantize, reset=reset, **named)

    def _dataset(self, data: Any) -> Any:
        ports = _ports("model", self._handle, "input")
        return dataset(self._context, data, [port_of(p.name, p.type) for p in ports], [p.type for p in ports])

    def __repr__(self) -> str:
        io = [", ".join(map(str, ports)) for ports in (self.inputs, self.outputs)]
        return f"<tosac.Model {self.stage}: {io[0]} -> {io[1]}>"


class _Course:
    """Samples on their way through a program: the two functions that C calls."""

    def __init__(self, dtypes: Sequence[int], n_out: int):
        self.ready: list[list[np.ndarray]] = []
        self.results: list[list[np.ndarray]] = []
        self.raised: Optional[BaseException] = None
        me = weakref.proxy(self)  # what C keeps must not keep the course

        def read(_user: Any, k: int, tensors: Any, count: int) -> int:
            try:
                for i in range(count):
                    if me.ready[k][i].nbytes:
                        store(me.ready[k][i], dtypes[i], tensors[i].type, tensors[i].data)
                return n.TC_OK
            except BaseException as error:
                me.raised = error
                return n.TC_BUG

        def take(_user: Any, result: Any) -> int:
            try:
                me.results.append([load_tensor(result.contents.out[i]) for i in range(n_out)])
                return n.TC_OK
            except BaseException as error:
                me.raised = error
                return n.TC_BUG

        self.reader, self.taker = n.tc_sample_read(read), n.tc_on_result(take)


class Program:
    """A model made ready to run again and again; what it remembers is carried from call to call."""

    def __init__(self, model: Union[Model, str, os.PathLike], **settings: Any):
        self._model = model if isinstance(model, Model) else load(model, **settings)
        self._context, out = self._model._context, ctypes.c_void_p()
        self._context.call("tc_program_new", self._model._handle, None, ctypes.byref(out))
        self._handle = out
        self._in = _ports("program", self._handle, "input")
        self._out = _ports("program", self._handle, "output")
        self.inputs = [port_of(i.name, i.type) for i in self._in]
        self.outputs = [port_of(i.name, i.type) for i in self._out]
        self._courses: dict[int, tuple[_Course, Any]] = {}  # by number of samples

    def reset(self) -> None:
        """Forget: the state as it was before the first run."""
        lib.tc_program_reset(self._handle)

    def _one(self, sample: Sequence[np.ndarray], dequantize: bool) -> list[np.ndarray]:
        for i, (array, info, port) in enumerate(zip(sample, self._in, self.inputs)):
            address = lib.tc_program_input_buffer(self._handle, i)
            dtype = info.type.contents.dtype
            ready = fit(array, port, dtype, dequantize)
            if ready.nbytes:
                store(ready, dtype, info.type, address)
        with self._context._lock:
            self._context.settle(lib.tc_program_run(self._handle))
        results = [load_tensor(lib.tc_program_result(self._handle, i)) for i in range(len(self._out))]
        return [self._real(r, p) for r, p in zip(results, self.outputs)] if dequantize else results

    @staticmethod
    def _real(result: np.ndarray, port: Any) -> np.ndarray:
        return dequantized(result, port.quantization) if port.quantization and result.dtype.kind in "iu" else result

    def _all(self, samples: Sequence[Sequence[np.ndarray]], dequantize: bool, reset: bool) -> list[list[np.ndarray]]:
        """Every sample, on as many threads as the context has; what each gave, in their order."""
        dtypes = [info.type.contents.dtype for info in self._in]
        ready = [[fit(a, p, d, dequantize) for a, p, d in zip(sample, self.inputs, dtypes)] for sample in samples]
        course, data = self._courses.get(len(ready)) or self._course(len(ready))
        course.ready, course.results, course.raised = ready, [], None
        options = record(n.tc_run_data_options, reset=int(reset), on_result=course.taker)
        with self._context._lock:
            self._context.settle(lib.tc_program_bind_data(self._handle, data, None, None, None))
            status = lib.tc_program_run_data(self._handle, data, ctypes.byref(options))
            if course.raised:
                raise course.raised
            self._context.settle(status)
        results, course.ready, course.results = course.results, [], []
        return [[self._real(r, p) for r, p in zip(outs, self.outputs)] for outs in results] if dequantize else results

    def _course(self, count: int) -> tuple[_Course, Any]:
        course, data = _Course([info.type.contents.dtype for info in self._in], len(self._out)), ctypes.c_void_p()
        self._context.quick("tc_dataset_new", count, course.reader, None, ctypes.byref(data))
        self._courses[count] = course, data
        return course, data

    def __call__(self, *args: Any, dequantize: bool = False, reset: bool = False, **named: Any) -> list[np.ndarray]:
        """Arrays for the inputs, in order or by name; several samples along a longer first axis, or one axis more."""
        if named and args:
            raise usage("inputs come in their order or by name, not both")
        shown = ", ".join(p.name or str(i) for i, p in enumerate(self.inputs)) or "none"
        if len(args) > len(self.inputs):
            raise usage(f"{len(args)} arrays for {len(self.inputs)} input{'' if len(self.inputs) == 1 else 's'}: {shown}",
                        "several samples are one array, along a longer first axis or one axis more")
        unknown = sorted(set(named) - {p.name for p in self.inputs}) if all(p.name for p in self.inputs) else []
        if unknown:
            raise usage(f"the program has no input '{unknown[0]}'", f"its inputs are {shown}")
        given: Any = named or (args if len(self.inputs) != 1 or len(args) != 1 else args[0])
        if not named and len(self.inputs) > 1 and len(args) == 1 and isinstance(args[0], (Mapping, tuple, list)):
            given = args[0]
        if not self.inputs:
            return self._one([], dequantize)
        samples, first_axis = collect([given] if isinstance(given, (tuple, list)) else given, self.inputs)
        if reset:
            self.reset()
        if len(samples) == 1:
            return self._one(samples[0], dequantize)
        results = self._all(samples, dequantize, reset)
        extent = self.inputs[0].shape[0] if first_axis else None
        join = lambda parts: np.concatenate(parts) if first_axis and parts[0].ndim and parts[0].shape[0] == extent else np.stack(parts)
        return [join([r[i] for r in results]) for i in range(len(self._out))]


def read_model(source: Any, context: Context, data: Any = None, example_inputs: Any = None, name: Optional[str] = None,
               prefer_tosa: bool = False, dynamic_shapes: Any = None, dequantize: bool = False, method: Optional[str] = None,
               keep_unread: bool = False, open_sizes: bool = False) -> Model:
    """A model from a path, bytes, a module or an exported program, in that context."""
    out = ctypes.c_void_p()
    if isinstance(source, Model):
        if source._context is not context:
            raw = source.text().encode()
            return read_model(raw, context, name=text(lib.tc_model_file(source._handle)))
        return source
    options = record(n.tc_model_options, prefer_tosa=int(prefer_tosa), dequantize=int(dequantize), method=utf8(method) if method else None,
                     keep_unread=int(keep_unread), open_sizes=int(open_sizes))
    if is_path(source):
        context.call("tc_model_open", utf8(os.fspath(source)), ctypes.byref(options), ctypes.byref(out))
        return Model(context, out)
    if hasattr(source, "tosac_model"):  # tosac.qat: the program as it was trained
        return source.tosac_model(context)
    if _torch.is_module(source):
        name = name or type(source).__name__
        source = _torch.exported(source, data, example_inputs, dynamic_shapes)
    if _torch.is_exported(source):
        name = name or "model"
        source = _torch.pt2_bytes(source)
    if not isinstance(source, (bytes, bytearray, memoryview)):
        raise usage(f"a {type(source).__name__} is not a model", "give a path, bytes, a torch.nn.Module or a torch.export.ExportedProgram")
    buffer = bytes(source)
    given = n.tc_bytes(ctypes.cast(ctypes.c_char_p(buffer), ctypes.POINTER(ctypes.c_uint8)), len(buffer))
    options.borrow = 1
    context.kept.append(buffer)
    context.call("tc_model_read", utf8(name or "model"), given, ctypes.byref(options), ctypes.byref(out))
    return Model(context, out)


def _said(value: Any, context: Context) -> str:
    """A fixed input as --set has it: true, 16000, 0.5, or the name of a .npy."""
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    array = np.asarray(value)
    if array.size == 1:
        number = array.reshape(()).item()
        return str(number).lower() if isinstance(number, bool) else repr(number)
    folder = tempfile.TemporaryDirectory(prefix="tosac-")
    context.kept.append(folder)  # goes with the context
    path = os.path.join(folder.name, "value.npy")
    np.save(path, array)
    return path


def make_context(threads: int = 0, reference_kernels: bool = False, dims: Optional[Dims] = None, set: Optional[Fixed] = None) -> Context:
    if not isinstance(threads, (int, np.integer)) or threads < 0:
        raise usage(f"threads={threads!r}: a number of threads is expected, or 0 for as many as there are processors")
    for argument, value in (("dims", dims), ("set", set)):
        if value is not None and not isinstance(value, Mapping):
            raise usage(f"{argument}={value!r}: a dictionary by name is expected, such as {{'batch': 4}}")
    context = Context(threads=int(threads), reference_kernels=reference_kernels)
    for name, value in (set or {}).items():
        context.quick("tc_ctx_set_input", utf8(f"{name}={_said(value, context)}"))
    for name, value in (dims or {}).items():
        whole = not isinstance(value, (int, np.integer, str))  # all sizes of an input
        said = value if isinstance(value, str) else ",".join(str(int(size)) for size in value) if whole else str(int(value))
        context.quick("tc_ctx_set_shape" if whole else "tc_ctx_set_dim", utf8(f"{name}={said}"))
    return context


def load(source: Any, *, example_inputs: Any = None, dims: Optional[Dims] = None, set: Optional[Fixed] = None, threads: int = 0,
         reference_kernels: bool = False, prefer_tosa: bool = False, dequantize: bool = False, method: Optional[str] = None) -> Model:
    """Read a model: a path (.pt2, .onnx, .tflite, .tosa, .vgf, .pte, .ir, _vela.npz), bytes, a module or an exported program.

    example_inputs: for a module, what forward takes.  dims: sizes that the model leaves open, by name,
    or all sizes of an ONNX model's input by the input's name.
    set: inputs that are constants, by name: a number, a bool, an array or the path of a .npy; the program does not have them.
    dequantize: a file's borders in float where they are quantized, by their types or by what FILE.json beside it says.
    method: which method of a .pte (without it forward, else the first), or which signature or graph of a .tflite (without it the first graph).
    """
    return read_model(source, make_context(threads, reference_kernels, dims, set), None, example_inputs, prefer_tosa=prefer_tosa, dequantize=dequantize,
                      method=method)


def run(program: Any, *inputs: Any, dequantize: bool = False, reset: bool = False, dims: Optional[Dims] = None, set: Optional[Fixed] = None,
        threads: int = 0, reference_kernels: bool = False, prefer_tosa: bool = False, **named: Any) -> list[np.ndarray]:
    """Run a program on data: arrays in the order of its inputs, or by name.

    An array with a longer first axis, or with one axis more, holds several samples; results are joined the same way.
    dequantize: real numbers in and out where the program's own inputs and outputs are integers with a scale; a bare .tosa's
    stand in the .json beside it.
    """
    if not hasattr(program, "run"):
        beside = dequantize and is_path(program) and os.path.exists(f"{os.fspath(program)}.json")
        program = load(program, dims=dims, set=set, threads=threads, reference_kernels=reference_kernels, prefer_tosa=prefer_tosa, dequantize=beside)
    return program.run(*inputs, dequantize=dequantize, reset=reset, **named)


@dataclass(frozen=True)
class QuantizeReport:
    """What quantizing came to; seconds are processor time of all threads."""

    quantized: int
    float: int
    samples: int
    first_pass: float
    second_pass: float


class TypedModel(Model):
    """A quantized model; `.report` has what it came to."""

    report: QuantizeReport


def config_of(context: Context, config: Any) -> Optional[Any]:
    """A tc_config of a preset, a path, or a dictionary as doc/quantization.md has it."""
    if config is None:
        return None
    out = ctypes.c_void_p()
    if isinstance(config, Mapping):
        try:
            raw = json.dumps(config).encode()
        except TypeError as why:
            raise usage(f"config: {why}", "it holds what JSON holds: dictionaries, lists, text, numbers, True, False and None") from None
        given = n.tc_bytes(ctypes.cast(ctypes.c_char_p(raw), ctypes.POINTER(ctypes.c_uint8)), len(raw))
        context.quick("tc_config_parse", b"config", given, ctypes.byref(out))
    elif is_path(config):
        context.quick("tc_config_open", utf8(os.fspath(config)), ctypes.byref(out))
    else:
        raise usage(f"config={config!r}: a preset such as 'int8', the path of a JSON file, or a dictionary is expected")
    return out


def settled(data: Any) -> Any:
    """Data that can be gone through again: an iterator is gone through once, now."""
    return list(data) if hasattr(data, "__next__") else data


def _observations(context: Context, merge: Sequence[Union[bytes, str, os.PathLike]]) -> Any:
    """The array of tc_observations for what `observe()` gave, or for files of it."""
    array = (n.tc_observations * len(merge))()
    for i, part in enumerate(merge):
        array[i].name = utf8(os.fspath(part) if is_path(part) else f"observations {i}")
        if not is_path(part):
            array[i].bytes = n.tc_bytes(ctypes.cast(ctypes.c_char_p(bytes(part)), ctypes.POINTER(ctypes.c_uint8)), len(part))
    context.kept.append((array, list(merge)))
    return array


def _quantize_options(context: Context, source: Model, calibration: Any, config: Any, keep_odd: bool, reset: bool, merge: Sequence[Any], every: bool = False) -> Any:
    options = record(n.tc_quantize_options, config=config_of(context, config), keep_odd=int(keep_odd), reset=int(reset), all_samples=int(every))
    if calibration is not None:
        options.samples = source._dataset(calibration)
    if merge:
        options.merge, options.n_merge = _observations(context, merge), len(merge)
    return options


def observe(model: Any, calibration: Any, config: Any = None, *, merge: Sequence[Union[bytes, str, os.PathLike]] = (),
            keep_odd_samples: bool = False, reset: bool = False, dims: Optional[Dims] = None, set: Optional[Fixed] = None, threads: int = 0,
            reference_kernels: bool = False, progress: Progress = None) -> bytes:
    """What is seen on a part of the calibration data: bytes that may be stored and sent, for `quantize(merge=...)`.

    merge: nothing in the first round; in the second, what the first round gave for every part (doc/calibration.md).
    The other arguments are those of `quantize`, the same for every part.
    """
    context = make_context(threads, reference_kernels, dims, set)
    source = read_model(model, context)
    options, out = _quantize_options(context, source, settled(calibration), config, keep_odd_samples, reset, merge), n.tc_bytes()
    with shown(progress) as tell:
        context.call("tc_observe_model", source._handle, ctypes.byref(options), ctypes.byref(out), progress=tell)
    return ctypes.string_at(out.data, out.size)


def quantize(model: Any, calibration: Any = None, config: Any = None, *, example_inputs: Any = None, keep_odd_samples: bool = False, all_samples: bool = False, reset: bool = False,
             merge: Sequence[Union[bytes, str, os.PathLike]] = (), dims: Optional[Dims] = None, set: Optional[Fixed] = None, threads: int = 0,
             reference_kernels: bool = False, budget: float = 0, target: Optional[str] = None, progress: Progress = None) -> TypedModel:
    """Quantize a float model: every value gets its scale and zero point from the calibration data.

    model: a path, bytes, a torch.nn.Module, an ExportedProgram, or a Model
    calibration: arrays, any iterable of samples (a DataLoader), or paths; none for a model that went through PT2E
    config: "int8", "int8+16:K", "a16w8", "a8w4", "a16w4", "anchor", a JSON file, or a dictionary (doc/quantization.md)
    reset: start every sample from the model's initial state
    merge: what `observe()` gave for all parts of the data; calibration is then for correcting biases alone
    all_samples: keep none back to measure the report's sqnr_db on: quicker, and optimistic
    budget: seconds; methods that have not begun by then are left out (0: no limit)
    target: what it will be compiled for; `compile` then gives the same bytes as it does for the float model (default: TOSA-1.0+INT)
    """
    calibration = settled(calibration)
    context = make_context(threads, reference_kernels, dims, set)
    source = read_model(model, context, calibration, example_inputs)
    options = _quantize_options(context, source, calibration, config, keep_odd_samples, reset, merge, all_samples)
    options.budget_seconds = budget
    options.target = utf8(target) if target else None
    report, out = record(n.tc_quantize_report), ctypes.c_void_p()
    with shown(progress) as tell:
        context.call("tc_quantize_model", source._handle, ctypes.byref(options), ctypes.byref(out), ctypes.byref(report), progress=tell)
    typed = TypedModel(context, out)
    typed.report = QuantizeReport(report.quantized, report.real, report.samples, report.first_pass, report.second_pass)
    return typed
