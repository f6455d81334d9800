# SPDX-License-Identifier: Apache-2.0
"""What to change in a model or in its settings, and what that saves."""
from __future__ import annotations

import ctypes
import json
import os
from dataclasses import dataclass
from typing import Any, Iterator, Optional, Sequence, Union

from ._compile import asked
from ._library import Context, n, record, text
from ._model import Dims, Fixed
from ._progress import Progress, shown


@dataclass(frozen=True)
class AdviceFigures:
    """A program in figures; None: not known for the target, or not measured."""

    flash: float  #: bytes of constants and command streams, or of constants and code
    on_cpu: int  #: operators of the model that the target leaves to the CPU
    converts: int  #: conversions between floats and integers on the CPU
    regions: int
    cycles: Optional[float] = None  #: estimated by the cost model
    cycles_low: Optional[float] = None  #: the band around cycles
    cycles_high: Optional[float] = None
    sram: Optional[float] = None  #: bytes of working memory
    sqnr_db: Optional[float] = None  #: measured on the calibration data


@dataclass(frozen=True)
class AdviceItem:
    """One change, and the whole program without and with it."""

    kind: str  #: doc/advise.md lists them
    change: str
    why: str
    basis: str  #: where the figures come from
    retrain: bool  #: the network computes something else: it must be trained again
    before: AdviceFigures
    then: AdviceFigures
    node: Optional[str] = None
    place: Optional[str] = None  #: the Python line
    option: Optional[str] = None  #: of a setting, for the command line

    def __str__(self) -> str:
        return self.change


class Advice:
    """What is worth changing, what saves most first."""

    def __init__(self, context: Context, handle: ctypes.c_void_p):
        self._context, self._handle = context, handle
        found = self.json()
        self.target: str = found["target"]
        self.tried: int = found["tried"]
        self.left: int = found["left"]
        self.now = AdviceFigures(**found["now"])
        self.items = [_item(i) for i in found["advice"]]
        self.rejected = [_item(i) for i in found["rejected"]]  #: tried, and not worth it

    def __iter__(self) -> Iterator[AdviceItem]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, i: int) -> AdviceItem:
        return self.items[i]

    def _report(self, form: int) -> str:
        out = ctypes.c_char_p()
        self._context.quick("tc_advice_report", self._handle, form, ctypes.byref(out))
        return text(out.value)

    def json(self) -> dict[str, Any]:
        """All of it for programs: doc/schema/advise.json."""
        return json.loads(self._report(n.TC_FORM_JSON))

    def __str__(self) -> str:
        return self._report(n.TC_FORM_TEXT).rstrip("\n")


def _item(found: dict[str, Any]) -> AdviceItem:
    return AdviceItem(**{**found, "before": AdviceFigures(**found["before"]), "then": AdviceFigures(**found["then"])})


def advise(model: Any, target: Optional[str] = None, calibration: Any = None, config: Any = None, *, tries: int = 0, example_inputs: Any = None,
           cpu: Union[str, Sequence[str]] = (), dims: Optional[Dims] = None, set: Optional[Fixed] = None, threads: int = 0,
           reference_kernels: bool = False, progress: Progress = None, system: Optional[str] = None, optimise: Optional[str] = None,
           u55_products: bool = False, board: Union[str, os.PathLike, None] = None) -> Advice:
    """What to change in a model or in its settings, each change compiled with the whole program.

    model, target, config, ...: as `compile` takes them
    calibration: likewise; without it numbers are invented, and nothing is said of accuracy
    tries: changes that are tried at most; 0: 24
    """
    invented = calibration is None
    context, source, options, _ = asked(model, target, "random:1" if invented else calibration, config, invented, example_inputs=example_inputs,
                                     cpu=cpu, dims=dims, set=set, threads=threads, reference_kernels=reference_kernels, system=system,
                                     optimise=optimise,
                                     u55_products=u55_products, board=None if board is None else os.fspath(board))
    how = record(n.tc_advise_options, tries=tries)
    out = ctypes.c_void_p()
    with shown(progress) as tell:
        context.call("tc_advise", source._handle, ctypes.byref(options), ctypes.byref(how), ctypes.byref(out), progress=tell)
    context.kept += [source, options]
    return Advice(context, out)
