# SPDX-License-Identifier: Apache-2.0
"""Calibration and other data: from files, arrays, dictionaries, loaders, or anything that can be gone through.

One item is a tensor, a tuple, or a dictionary by input names; what a tuple has beyond the inputs (labels) is left aside.
An array that has the input's own shape is a sample; one with a longer first axis, or one axis more, holds several.
For a model that leaves sizes open items may be of several sizes.
"""
from __future__ import annotations

import ctypes
import os
import tempfile
from typing import Any, Iterable, Iterator, Mapping, Optional, Sequence

import numpy as np

from ._errors import usage
from ._library import Context, lib, n, utf8
from ._tensor import Port, called, fit, store, to_numpy


def is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def _is_tensor(value: Any) -> bool:
    return isinstance(value, np.ndarray) or hasattr(value, "detach") or np.isscalar(value)


def items(data: Any) -> Iterator[Any]:
    """What is gone through: an array or a dictionary of arrays is a single item that holds samples."""
    if _is_tensor(data) or isinstance(data, Mapping):
        yield data
    elif _is_torch_dataset(data):
        for i in range(len(data)):
            yield _with_batch(data[i])
    elif hasattr(data, "__iter__"):
        yield from data
    else:
        raise usage(f"a {type(data).__name__} is no data", "give arrays, an iterable of samples, a DataLoader, or paths of .npy and .npz files")


def _is_torch_dataset(data: Any) -> bool:
    return any(k.__module__ == "torch.utils.data.dataset" for k in type(data).__mro__) and hasattr(data, "__getitem__") and hasattr(data, "__len__")


def _with_batch(item: Any) -> Any:
    """A dataset's item has no batch axis yet."""
    if isinstance(item, Mapping):
        return {k: _with_batch(v) for k, v in item.items()}
    if isinstance(item, (tuple, list)):
        return tuple(_with_batch(v) for v in item)
    return to_numpy(item)[None]


def tensors_of(item: Any, ports: Sequence[Port]) -> list[np.ndarray]:
    """One item as an array for each input."""
    names = [p.name for p in ports]
    shown = ", ".join(p.name or str(i) for i, p in enumerate(ports))
    if isinstance(item, Mapping):
        if len(ports) > 1 and None in names:
            raise usage("the data is a dictionary, and the model's inputs have no names", f"give tuples of {len(ports)} arrays, in the inputs' order")
        if all(name in item for name in names):
            return [to_numpy(item[name]) for name in names]
        if len(ports) == 1 and len(item) == 1:
            return [to_numpy(next(iter(item.values())))]
        missing = next(name for name in names if name not in item)
        raise usage(f"the data has no '{missing}': it has {', '.join(map(str, item))}", f"the inputs are {shown}")
    if isinstance(item, (tuple, list)) and not (item and np.isscalar(item[0])):
        if item and isinstance(item[0], (tuple, list, Mapping)) and not _is_tensor(item[0]):
            return tensors_of(item[0], ports)  # ((a, b), label)
        if len(item) < len(ports):
            raise usage(f"an item of the data has {len(item)} tensor{'' if len(item) == 1 else 's'}, the model {len(ports)} inputs: {shown}")
        return [to_numpy(v) for v in item[: len(ports)]]
    if len(ports) != 1:
        raise usage(f"an item of the data is a single tensor, the model has {len(ports)} inputs: {shown}",
                    "give tuples in their order, or dictionaries by their names")
    return [to_numpy(item)]


def samples_of(array: np.ndarray, port: Port) -> Optional[np.ndarray]:
    """The samples that an array holds, along a new first axis; None: it does not fit."""
    shape = port.shape
    if array.shape == shape:
        return array[None]
    if array.ndim == len(shape) + 1 and array.shape[1:] == shape:
        return array
    if array.ndim == len(shape) and shape and array.shape[1:] == shape[1:] and shape[0] and array.shape[0] % shape[0] == 0:
        return array.reshape((array.shape[0] // shape[0],) + shape)
    return None


def collect(data: Any, ports: Sequence[Port], limit: Optional[int] = None) -> tuple[list[list[np.ndarray]], bool]:
    """Every sample, as one array for each input; whether they were joined along an axis that the inputs have."""
    samples: list[list[np.ndarray]] = []
    first_axis = False
    for item in items(data):
        parts = []
        for i, (array, port) in enumerate(zip(tensors_of(item, ports), ports)):
            split = samples_of(array, port)
            if split is None:
                last = port.shape[2:] + port.shape[1:2]
                turned = len(port.shape) > 2 and array.shape[-len(last):] == last
                raise usage(f"{called(port, i if len(ports) > 1 else None)} is {port.dtype}{list(port.shape)}, the data {array.dtype}{list(array.shape)}",
                            f"the array looks like NHWC, channels last, and the input is NCHW: numpy.moveaxis(array, -1, {1 - len(port.shape)})" if turned
                            else "its own shape is a sample; a longer first axis or one axis more holds several")
            first_axis = first_axis or (array.ndim == len(port.shape) and array.shape != port.shape)
            parts.append(split)
        count = max((len(p) for p in parts), default=0)
        if any(len(p) not in (1, count) for p in parts):
            raise usage(f"the inputs come in different numbers of samples: {', '.join(str(len(p)) for p in parts)}")
        for k in range(count):
            samples.append([p[k if len(p) > 1 else 0] for p in parts])
            if limit is not None and len(samples) >= limit:
                return samples, first_axis
    return samples, first_axis


def _of_several_sizes(context: Context, data: Sequence[Any], ports: Sequence[Port], types: Sequence[Any]) -> Optional[str]:
    """Items whose shapes differ beyond their first axes, as a folder of files, from which their sizes are read; None: they do not."""
    parts = [tensors_of(item, ports) for item in data]
    if any(a.ndim not in (len(p.shape), len(p.shape) + 1) for arrays in parts for a, p in zip(arrays, ports)):
        return None
    if len({tuple(a.shape[max(1, a.ndim - len(p.shape)):] for a, p in zip(arrays, ports)) for arrays in parts}) < 2:
        return None
    folder = tempfile.TemporaryDirectory(prefix="tosac-")
    context.kept.append(folder)  # it goes with the context
    for k, arrays in enumerate(parts):
        np.savez(os.path.join(folder.name, f"sample {k:06d}.npz"), *[fit(a, p, t.contents.dtype) for a, p, t in zip(arrays, ports, types)])
    return folder.name


def dataset(context: Context, data: Any, ports: Sequence[Port], types: Sequence[Any]) -> Any:
    """A tc_dataset of whatever was given; it lives as long as the context."""
    out = ctypes.c_void_p()
    if is_path(data) or (isinstance(data, (list, tuple)) and data and all(map(is_path, data))):
        paths = [data] if is_path(data) else list(data)
        array = (ctypes.c_char_p * len(paths))(*[utf8(os.fspath(p)) for p in paths])
        context.quick("tc_dataset_open", array, len(paths), ctypes.byref(out))
        return out
    data = data if _is_tensor(data) or isinstance(data, Mapping) else list(items(data))
    folder = _of_several_sizes(context, data, ports, types) if isinstance(data, list) else None
    if folder:
        return dataset(context, folder, ports, types)
    samples, _ = collect(data, ports)
    if not samples:
        raise usage("the data has no sample", "an iterator can be gone through once: was it used before?")
    dtypes = [t.contents.dtype for t in types]
    ready = [[fit(a, p, d) for a, p, d in zip(sample, ports, dtypes)] for sample in samples]

    def read(_user: Any, k: int, tensors: Any, count: int) -> int:
        try:
            for i in range(count):
                store(ready[k][i], dtypes[i], tensors[i].type, tensors[i].data)
            return n.TC_OK
        except Exception:
            return n.TC_BUG

    function = n.tc_sample_read(read)
    context.kept += [function, ready]
    context.quick("tc_dataset_new", len(ready), function, None, ctypes.byref(out))
    return out


def first_tensors(data: Any) -> list[Any]:
    """The tensors of the first sample as they came, the batch cut to one: what torch.export wants to see."""
    for item in items(data):
        if isinstance(item, Mapping):
            return [v[:1] if getattr(v, "ndim", 0) else v for v in item.values()]
        if isinstance(item, (tuple, list)) and not (item and np.isscalar(item[0])):
            if item and isinstance(item[0], (tuple, list)):
                item = item[0]
            return [v[:1] if getattr(v, "ndim", 0) else v for v in item]
        return [item[:1] if getattr(item, "ndim", 0) else item]
    raise usage("the data has no sample")


__all__: Iterable[str] = ["collect", "dataset", "first_tensors", "is_path", "items"]
