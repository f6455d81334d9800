# SPDX-License-Identifier: Apache-2.0
"""Looking at files, comparing programs, holding files to the rules."""
from __future__ import annotations

import ctypes
import json
import math
import os
from dataclasses import dataclass
from typing import Any, Iterator, Optional, Union

from ._library import Context, lib, n, record, text, utf8
from ._model import Dims, Fixed, Model, make_context, read_model, settled
from ._progress import Progress, shown


@dataclass(frozen=True)
class ComparedValue:
    """One value that both programs have; SQNR is 10 log10 (sum a^2 / sum (a - b)^2)."""

    name: str
    dtype: str  #: as the second program has it
    sqnr_db: float  #: infinite: equal
    cosine: float
    max_error: float
    max_steps: Optional[float]  #: in steps of the second's scale; None: it has none
    saturated: Optional[float]  #: the part of the numbers at the least or greatest code
    alone_db: Optional[float]  #: SQNR of the reference's outputs with this value alone on the other's grid; None: not measured
    cut: bool  #: its ends are cut on purpose: hardly any of that reaches the outputs
    place: Optional[str]
    module: Optional[str]


class Comparison:
    """Two forms of a program on the same data, value by value, what contributes most to the error of the outputs first."""

    def __init__(self, values: list[ComparedValue], samples: int):
        self.values, self.samples = values, samples

    def __iter__(self) -> Iterator[ComparedValue]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, name: Union[int, str]) -> ComparedValue:
        return self.values[name] if isinstance(name, int) else next(v for v in self.values if v.name == name)

    @property
    def worst(self) -> ComparedValue:
        return self.values[0]

    def __str__(self) -> str:
        rows = [f"{'value':28} {'type':5} {'SQNR dB':>8} {'cosine':>9} {'max error':>12} {'in steps':>9} {'alone dB':>8}  from"]
        for v in self.values:
            steps = "-" if v.max_steps is None else f"{v.max_steps:.2f}"
            alone = "-" if v.alone_db is None else f"{v.alone_db:.2f}"
            rows.append(f"{v.name:28} {v.dtype:5} {v.sqnr_db:8.2f} {v.cosine:9.6f} {v.max_error:12.6g} {steps:>9} {alone:>8}  {v.place or ''}"
                        + " (cut on purpose)" * v.cut)
        return "\n".join(rows + [f"{len(self.values)} values compared on {self.samples} sample{'' if self.samples == 1 else 's'}"])

    def __repr__(self) -> str:
        return f"<tosac.Comparison of {len(self.values)} values on {self.samples} samples>"


def compare(reference: Any, other: Any, data: Any, *, example_inputs: Any = None, dims: Optional[Dims] = None, set: Optional[Fixed] = None,
            threads: int = 0, reference_kernels: bool = False, progress: Progress = None) -> Comparison:
    """Run two forms of a program on the same data and see where they differ, value by value: first what contributes most to the error of the outputs.

    reference: such as the float model; other: such as the typed or compiled one.  Both: whatever `tosac.load` takes.
    """
    data = settled(data)
    context = make_context(threads, reference_kernels, dims, set)
    a = read_model(reference, context, data, example_inputs)
    if hasattr(other, "to_bytes"):  # compiled
        other = other.to_bytes("pte+tosa" if other.target.startswith("ethos") else "pte")[0]
    b = read_model(other, context, data, example_inputs)
    out = ctypes.c_void_p()
    with shown(progress) as tell:
        context.call("tc_compare_models", a._handle, b._handle, a._dataset(data), ctypes.byref(out), progress=tell)
    values, v = [], record(n.tc_compared_value)
    while lib.tc_comparison_value(out, len(values), ctypes.byref(v)):
        loc = v.loc.contents if v.loc else n.tc_loc()
        known = lambda x: None if math.isnan(x) else x
        values.append(ComparedValue(text(v.name) or "", text(lib.tc_dtype_name(v.type.contents.dtype)) or "", v.sqnr_db, v.cosine, v.max_error,
                                    known(v.max_steps), known(v.saturated), known(v.alone_db), bool(v.cut), text(loc.place), text(loc.module)))
    return Comparison(values, lib.tc_comparison_samples(out))


def _told(name: str, path: Union[str, os.PathLike, bytes], as_json: bool) -> Any:
    context, out = Context(), ctypes.c_char_p()
    form = n.TC_FORM_JSON if as_json else n.TC_FORM_TEXT
    if isinstance(path, (bytes, bytearray)):
        raw = bytes(path)
        given = n.tc_bytes(ctypes.cast(ctypes.c_char_p(raw), ctypes.POINTER(ctypes.c_uint8)), len(raw))
        context.call("tc_inspect_bytes", b"bytes", given, form, ctypes.byref(out))
    else:
        context.call(name, utf8(os.fspath(path)), form, ctypes.byref(out))
    said = text(out.value) or ""
    return json.loads(said) if as_json else said


def inspect(path: Union[str, os.PathLike, bytes]) -> dict[str, Any]:
    """What a .pt2, .tosa, .vgf, .pte, .ir, .npy or .npz holds, as records; `describe` is for people."""
    return _told("tc_inspect_file", path, True)


def describe(path: Union[str, os.PathLike, bytes]) -> str:
    """The same as a page for people, as `tosac inspect` prints it."""
    return _told("tc_inspect_file", path, False)


def disassemble(path: Union[str, os.PathLike]) -> str:
    """The Ethos-U command streams of a .pte, or of Vela's output, one line an operation."""
    return _told("tc_disassemble_file", path, False)


def verify(path: Union[str, os.PathLike], target: Optional[str] = None) -> None:
    """Every rule of TOSA 1.0 and 1.1, with a target also its profiles and extensions; of a .pte for Ethos-U its command streams;
    a .bpte is also run on its test vectors.

    Raises ModelError with everything that was found.
    """
    context, where = Context(), os.fspath(path)
    if where.endswith(".bpte"):
        context.call("tc_verify_streams", utf8(where), ctypes.byref(record(n.tc_streams_report)))
        context.call("tc_verify_vectors", utf8(where), ctypes.byref(record(n.tc_vectors_report)))
        return
    if where.endswith((".pte", ".npz")):
        report = record(n.tc_streams_report)
        context.call("tc_verify_streams", utf8(where), ctypes.byref(report))
        if report.holds_streams:
            return
    out, options = ctypes.c_void_p(), record(n.tc_model_options, unchecked=1)
    context.call("tc_model_open", utf8(where), ctypes.byref(options), ctypes.byref(out))
    context.call("tc_verify_model", Model(context, out)._handle, utf8(target))
