# SPDX-License-Identifier: Apache-2.0
"""Torch objects become bytes of a .pt2.  Torch is imported by whoever made the object, never by us."""
from __future__ import annotations

import inspect
import io
import sys
from collections.abc import Mapping
from typing import Any, Optional, Sequence

from ._data import first_tensors, is_path, items
from ._errors import ExportError, usage


def is_exported(model: Any) -> bool:
    return type(model).__name__ == "ExportedProgram" and "torch" in sys.modules


def is_module(model: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


#: words in export's own message, and what to change
_ADVICE = (
    (("Input type (unsigned char)", "Byte but got", "expected scalar type Byte", "not implemented for 'Byte'", "dtype: unsigned char", "torch.uint8"),
     "the data is uint8, the module takes floats: hand over what it was trained on, such as x.float() / 255; no conversion or scaling is guessed"),
    (("GuardOnDataDependent", "data-dependent", "Could not guard", "dynamic control flow"),
     "the module decides by the numbers it sees (an `if` or a loop over a tensor's value): use torch.where or torch.cond, or a size that is fixed"),
    (("fake tensor", "FakeTensor", "meta kernel"),
     "a custom operator has no shape rule: register one with torch.library.register_fake"),
    (("Unsupported", "graph break", "dynamo"), "the module runs Python that cannot be traced: keep print, numpy and .item() out of forward"),
    (("device", "cuda"), "the module or the example inputs are on another device: model.cpu() and tensors on the CPU"),
    (("mat1 and mat2", "size mismatch", "shape", "expected input"), "the example inputs do not fit the module: hand over example_inputs=(...) as forward takes them"),
)


def _advice(words: str) -> list[str]:
    found = [advice for keys, advice in _ADVICE if any(k in words for k in keys)]
    return found[:2] or ["try torch.export.export(model.eval(), example_inputs) by itself; what it returns can be compiled"]


def examples_of(model: Any, data: Any) -> tuple[tuple, dict]:
    """Arguments of forward, from the first sample of the calibration data."""
    torch = sys.modules["torch"]

    def tensor(value: Any) -> Any:
        value = value if isinstance(value, torch.Tensor) else torch.as_tensor(value)
        return value.float() if value.dtype == torch.float64 else value

    if data is None or is_path(data):
        raise usage("a module is exported by calling it once: it needs example inputs",
                    "hand over calibration data as arrays or a loader, or example_inputs=(tensor, ...)")
    signature = inspect.signature(model.forward).parameters.values()
    accepted = {p.name for p in signature if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    needed = sum(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in signature)
    first = next(iter(items(data)), None)
    if isinstance(first, (tuple, list)) and first and isinstance(first[0], Mapping):
        first = first[0]
    if isinstance(first, Mapping):
        return (), {k: tensor(v[:1]) for k, v in first.items() if k in accepted}
    return tuple(tensor(v) for v in first_tensors(data)[: max(needed, 1)]), {}


def exported(model: Any, data: Any, example_inputs: Optional[Sequence[Any]], dynamic_shapes: Any = None) -> Any:
    """The module's ExportedProgram, in eval mode; the module is left as it was."""
    torch = sys.modules["torch"]
    if example_inputs is not None:
        args, kwargs = tuple(example_inputs) if isinstance(example_inputs, (tuple, list)) else (example_inputs,), {}
    else:
        args, kwargs = examples_of(model, data)
    was = {m: m.training for m in model.modules()}
    model.eval()
    try:
        with torch.no_grad():
            return torch.export.export(model, args, kwargs or None, dynamic_shapes=dynamic_shapes)
    except Exception as error:
        words = f"{type(error).__name__}: {error}"
        shown = words if len(words) < 2000 else words[:2000] + " ..."
        raise ExportError(f"torch.export does not take this {type(model).__name__}: {shown}", _advice(words)) from error
    finally:
        for module, training in was.items():
            module.training = training


def pt2_bytes(program: Any) -> bytes:
    torch, out = sys.modules["torch"], io.BytesIO()
    torch.export.save(program, out)
    return out.getvalue()
