# SPDX-License-Identifier: Apache-2.0
"""Types of the library beside numpy's, and numbers from one into the other."""
from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ._errors import usage
from ._library import lib, n, text

#: numpy's element type for each of ours; bf16 and narrower floats are float32 of the same values
NUMPY = {
    n.TC_bool: np.bool_, n.TC_i4: np.int8, n.TC_i8: np.int8, n.TC_u8: np.uint8, n.TC_i16: np.int16, n.TC_u16: np.uint16,
    n.TC_i32: np.int32, n.TC_u32: np.uint32, n.TC_i48: np.int64, n.TC_i64: np.int64, n.TC_u64: np.uint64, n.TC_f16: np.float16,
    n.TC_f32: np.float32, n.TC_f64: np.float64, n.TC_c64: np.complex64, n.TC_shape: np.int64,
}
BY_VALUE = {n.TC_bf16, n.TC_e4m3, n.TC_e5m2} | set(range(n.TC_e2m3, n.TC_bs32_mxint8 + 1))


@dataclass(frozen=True)
class Quantization:
    """real = scale * (stored - zero_point), qmin <= stored <= qmax, along `axis` when it is not None."""

    scale: tuple[float, ...]
    zero_point: tuple[int, ...]
    qmin: int
    qmax: int
    axis: Optional[int]


@dataclass(frozen=True)
class Port:
    """One tensor that goes in or comes out."""

    name: Optional[str]
    dtype: str  #: "f32", "i8": doc/ir.md
    shape: tuple[int, ...]
    quantization: Optional[Quantization]

    def __str__(self) -> str:
        q = self.quantization
        extra = f" q({q.scale[0]:g}:{q.zero_point[0]}{', ...' if len(q.scale) > 1 else ''})" if q else ""
        return f"{self.name or '-'}: {self.dtype}[{','.join(map(str, self.shape))}]{extra}"


def called(port: Port, place: Optional[int] = None) -> str:
    """An input in a message: by its name, else by its place."""
    return f"input '{port.name}'" if port.name else "the input" if place is None else f"input {place}"


def quantization_of(type_: Any) -> Optional[Quantization]:
    if not type_.quant:
        return None
    q = type_.quant.contents
    return Quantization(tuple(q.scale[: q.count]), tuple(q.zero[: q.count]), q.lo, q.hi, q.axis if q.axis >= 0 else None)


def port_of(name: Optional[bytes], pointer: Any) -> Port:
    t = pointer.contents
    return Port(text(name), text(lib.tc_dtype_name(t.dtype)) or "none", tuple(t.dim[: t.rank]), quantization_of(t))


def to_numpy(value: Any) -> np.ndarray:
    """An array of anything that holds numbers: numpy, torch, lists."""
    if hasattr(value, "detach"):  # a torch tensor, on whatever device
        value = value.detach().cpu()
        if str(value.dtype) in ("torch.bfloat16", "torch.float8_e4m3fn", "torch.float8_e5m2"):
            value = value.float()
        return np.ascontiguousarray(value.numpy())
    array = np.asarray(value)
    if array.dtype == object:
        raise usage(f"a {type(value).__name__} holds no numbers of one type")
    return array


def quantized(array: np.ndarray, q: Quantization) -> np.ndarray:
    """Real numbers as the codes nearest to them, halves to even."""
    along = [1] * array.ndim
    if q.axis is not None:
        along[q.axis] = -1
    scale, zero = (np.asarray(v, np.float64).reshape(along) if q.axis is not None else v[0] for v in (q.scale, q.zero_point))
    return np.clip(np.rint(array / scale) + zero, q.qmin, q.qmax)


def dequantized(array: np.ndarray, q: Quantization) -> np.ndarray:
    along = [1] * array.ndim
    if q.axis is not None:
        along[q.axis] = -1
    scale, zero = (np.asarray(v, np.float64).reshape(along) if q.axis is not None else v[0] for v in (q.scale, q.zero_point))
    return (scale * (array.astype(np.float64) - zero)).astype(np.float32)


def fit(array: np.ndarray, port: Port, dtype: int, dequantize: bool = False) -> np.ndarray:
    """Numbers for an input: of its type, or exactly representable in it; floats may be rounded to a narrower float."""
    want = np.float64 if dtype in BY_VALUE else NUMPY[dtype]
    if dequantize and port.quantization and array.dtype.kind == "f":
        array = quantized(array, port.quantization)
    if array.dtype == want:
        return np.ascontiguousarray(array)
    if array.dtype.kind == "f" and np.dtype(want).kind in "fc":
        return np.ascontiguousarray(array, want)
    if array.dtype == np.uint8 and np.dtype(want).kind == "f":
        raise usage(f"the data is uint8, {called(port)} needs {port.dtype}",
                    "hand over what the float model was trained on, such as x.astype(np.float32) / 255: no conversion or scaling is guessed")
    with np.errstate(invalid="ignore"):
        made = array.astype(want)
    if array.size and not np.array_equal(made.astype(array.dtype), array):
        hint = "dequantize=True takes real numbers and rounds them to its codes" if port.quantization else "its codes are wanted, and the file names no scale for them; load(FILE, dequantize=True) takes it from the FILE.json beside it"
        raise usage(f"{called(port)} is {port.dtype}: {array.dtype} data has numbers that are none of it", hint)
    return np.ascontiguousarray(made)


def store(array: np.ndarray, dtype: int, type_pointer: Any, address: int) -> None:
    """The array's numbers into memory of the library's."""
    if dtype in BY_VALUE:
        tensor = n.tc_tensor(type=type_pointer, data=address)
        values = np.ascontiguousarray(array, np.float64)
        lib.tc_tensor_put_f64(ctypes.byref(tensor), 0, values.size, values.ctypes.data_as(ctypes.POINTER(ctypes.c_double)))
    else:
        ctypes.memmove(address, array.ctypes.data, array.nbytes)


def load(tensor: Any) -> np.ndarray:
    """A copy of a tensor of the library's."""
    t = tensor.type.contents
    shape, dtype = tuple(t.dim[: t.rank]), t.dtype
    if dtype in BY_VALUE:
        values = np.empty(shape, np.float32)
        lib.tc_tensor_get_f32(ctypes.byref(tensor), 0, values.size, values.ctypes.data_as(ctypes.POINTER(ctypes.c_float)))
        return values
    array = np.empty(shape, NUMPY[dtype])
    if array.nbytes:
        ctypes.memmove(array.ctypes.data, tensor.data, array.nbytes)
    return array
