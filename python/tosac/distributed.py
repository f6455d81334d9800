# SPDX-License-Identifier: Apache-2.0
"""tosac.distributed: calibration and evaluation on an engine that is already there.

    import ray, tosac.distributed
    typed = tosac.distributed.quantize("model.pt2", ["part0.npz", "part1.npz"], engine=ray)

An engine is the module `ray`, a `dask.distributed.Client`, or any `concurrent.futures.Executor`; None works here, one part
after the other.  A part is whatever `calibration=` takes, or a function without arguments that gives it where it is called.
Models and files are named by paths that every worker can read; a model that is no path is sent along.

Parts are counted apart and merged: the result has the bytes of one run over all the data.  A part whose worker is lost
is done again, alone; what others did stays.
"""
from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional, Sequence, Union

import numpy as np

from ._data import is_path, items
from ._errors import TosacError, usage
from ._model import Model, Program, TypedModel, load, observe, quantize as _quantize
from ._progress import Progress, Tell, shown


class _Here:
    """One part after the other, in this process."""

    def share(self, value: Any) -> Any:
        return value

    def submit(self, work: Callable[..., Any], *args: Any) -> Any:
        return _Now(work, args)


class _Now:
    def __init__(self, work: Callable[..., Any], args: Sequence[Any]):
        self._work, self._args = work, args

    def done(self) -> bool:
        return True

    def result(self) -> Any:
        return self._work(*self._args)


class _Executor(_Here):
    """concurrent.futures: submit() gives a future."""

    def __init__(self, executor: Any):
        self._executor = executor

    def submit(self, work: Callable[..., Any], *args: Any) -> Any:
        return self._executor.submit(work, *args)


class _Dask(_Executor):
    """A dask.distributed.Client; what all parts read goes to every worker once."""

    def share(self, value: Any) -> Any:
        return self._executor.scatter([value], broadcast=True, hash=False)[0]  # a list is taken apart

    def submit(self, work: Callable[..., Any], *args: Any) -> Any:
        return self._executor.submit(work, *args, pure=False)


class _Ray(_Here):
    """The module ray, connected to its cluster."""

    def __init__(self, ray: Any):
        self._ray = ray
        if not ray.is_initialized():
            ray.init()

    def share(self, value: Any) -> Any:
        return self._ray.put(value)

    def submit(self, work: Callable[..., Any], *args: Any) -> Any:
        return _RayFuture(self._ray, self._ray.remote(work).remote(*args))


class _RayFuture:
    def __init__(self, ray: Any, reference: Any):
        self._ray, self._reference = ray, reference

    def done(self) -> bool:
        return bool(self._ray.wait([self._reference], timeout=0)[0])

    def result(self) -> Any:
        try:
            return self._ray.get(self._reference)
        except self._ray.exceptions.RayTaskError as error:
            raise getattr(error, "cause", None) or error


def _engine_of(engine: Any) -> Any:
    if engine is None:
        return _Here()
    if getattr(engine, "__name__", None) == "ray":
        return _Ray(engine)
    if hasattr(engine, "scatter") and hasattr(engine, "submit"):
        return _Dask(engine)
    if hasattr(engine, "submit"):
        return _Executor(engine)
    raise usage(f"a {type(engine).__name__} is no engine", "give the module ray, a dask.distributed.Client, or a concurrent.futures.Executor")


def _each(engine: Any, work: Callable[..., Any], parts: Sequence[Any], shared: Sequence[Any], what: str, tell: Optional[Tell], tries: int) -> list[Any]:
    """work(part, *shared) for every part, in their order; one that fails other than by a message of tosac's is tried again."""
    submit = lambda i: engine.submit(work, parts[i], *shared)
    waiting = {i: submit(i) for i in range(len(parts))}
    results: list[Any] = [None] * len(parts)
    left = [tries - 1] * len(parts)
    done = 0
    while waiting:
        ready = [i for i, future in waiting.items() if future.done()]
        if not ready:
            time.sleep(0.02)
        for i in ready:
            try:
                results[i] = waiting.pop(i).result()
            except TosacError:
                raise
            except Exception:
                if not left[i]:
                    raise
                left[i] -= 1
                waiting[i] = submit(i)
                continue
            done += 1
            if tell and tell(what, done, len(parts)):
                raise KeyboardInterrupt
    return results


def _given(part: Any) -> Any:
    return part() if callable(part) else part


def _seen(part: Any, model: Any, merge: Sequence[bytes], config: Any, settings: Mapping[str, Any]) -> bytes:
    return observe(model, _given(part), config, merge=merge, **settings)


def _joined(parts: Sequence[Any]) -> Any:
    """The data of all parts, as one."""
    given = [_given(p) for p in parts]
    paths = [p if isinstance(p, (list, tuple)) else [p] for p in given]
    if all(is_path(path) for some in paths for path in some):
        return [path for some in paths for path in some]
    return [item for part in given for item in items(part)]


def _sent(model: Any) -> Any:
    """A model as a worker can take it."""
    if isinstance(model, Model):
        return model.text().encode()
    return model


def quantize(model: Any, parts: Sequence[Any], engine: Any = None, config: Any = None, *, biases: Any = None, keep_odd_samples: bool = False, reset: bool = False,
             dims: Optional[Mapping[str, int]] = None, threads: int = 1, reference_kernels: bool = False, tries: int = 3,
             progress: Progress = None) -> TypedModel:
    """`tosac.quantize` with the passes over the data on an engine; the same bytes as `tosac.quantize(model, all the data)`.

    parts: the calibration data, in any split
    biases: the samples on which biases are corrected, here; all the data unless told, of which 64 samples are run at most
    threads: of each worker, and of the last step here.  tries: how often a part is begun before its failure is yours
    """
    if not len(parts):
        raise usage("there are no parts of data")
    engine = _engine_of(engine)
    settings = dict(keep_odd_samples=keep_odd_samples, reset=reset, dims=dims, threads=threads, reference_kernels=reference_kernels, progress=False)
    source = model if is_path(model) else engine.share(_sent(model))
    with shown(progress) as tell:
        rounds: list[bytes] = []
        for what in ("first pass", "second pass"):
            rounds = _each(engine, _seen, parts, (source, engine.share(rounds), config, settings), what, tell, tries)
    data = _joined(parts) if biases is None else biases
    return _quantize(_sent(model), data, config, merge=rounds, keep_odd_samples=keep_odd_samples, reset=reset, dims=dims, threads=threads,
                     reference_kernels=reference_kernels, progress=progress)


@dataclass(frozen=True)
class Evaluated:
    """One program on all parts, beside the first of them."""

    name: str
    n: int
    right: int  #: the label has the highest score
    right5: int  #: it is among the five highest
    agree: int  #: the first program's class has the highest score
    signal: float  #: sum of squares of the first program's scores
    noise: float  #: and of what this one's are apart from them

    @property
    def accuracy(self) -> float:
        return self.right / self.n

    @property
    def sqnr_db(self) -> float:
        """Of all scores beside the first program's; infinite: equal."""
        return float("inf") if self.noise == 0 else float(10 * np.log10(self.signal / self.noise))


def _scored(part: Any, programs: Sequence[Any], settings: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    data, labels = _given(part)
    if is_path(data):
        file = np.load(data)
        data = file[file.files[0]] if hasattr(file, "files") else file
    labels = np.asarray(np.load(labels) if is_path(labels) else labels).reshape(-1)
    rows, first = [], None
    for program in programs:
        scores = Program(load(program, **settings))(data, dequantize=True)[0]
        scores = np.asarray(scores, np.float64).reshape(len(labels), -1)
        first = scores if first is None else first
        order = np.argsort(-scores, axis=1, kind="stable")
        rows.append((len(labels), int((order[:, 0] == labels).sum()), int((order[:, :5] == labels[:, None]).any(1).sum()),
                     int((order[:, 0] == np.argsort(-first, axis=1, kind="stable")[:, 0]).sum()),
                     float((first * first).sum()), float(((scores - first) ** 2).sum())))
    return rows


def evaluate(programs: Union[Sequence[Any], Mapping[str, Any]], parts: Sequence[Any], engine: Any = None, *,
             dims: Optional[Mapping[str, int]] = None, threads: int = 1, reference_kernels: bool = False, tries: int = 3,
             progress: Progress = None) -> list[Evaluated]:
    """How often classifiers are right, each part of the data on a worker; counts add up, so the split does not matter.

    programs: paths or bytes of what `tosac.run` takes, the reference first; or a dictionary by names
    parts: pairs of data and labels (arrays, or paths of .npy and .npz), or functions that give such a pair
    """
    if not isinstance(programs, Mapping):
        programs = {str(p) if is_path(p) else f"program {i}": p for i, p in enumerate(programs)}
    engine = _engine_of(engine)
    settings = dict(dims=dims, threads=threads, reference_kernels=reference_kernels)
    shared = (engine.share([_sent(p) for p in programs.values()]), settings)
    with shown(progress) as tell:
        rows = _each(engine, _scored, parts, shared, "evaluate", tell, tries)
    return [Evaluated(name, *(sum(part[i][k] for part in rows) for k in range(6))) for i, name in enumerate(programs)]


__all__ = ["quantize", "evaluate", "Evaluated"]
