# SPDX-License-Identifier: Apache-2.0
"""borders.py -- inputs and outputs of a stream: where they are, of which type, and their numbers in and out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .npu import Npu
from .stream import Bad, Raw, require

FIELDS = ("_shape", "_elem_size", "_region", "_offset")
TYPES = {1: np.int8, 2: np.dtype("<i2"), 4: np.dtype("<i4"), 8: np.dtype("<i8")}


class Border(NamedTuple):
    shape: tuple[int, ...]
    bytes: int  # of an element
    region: int
    at: int

    @property
    def end(self) -> int:
        return self.at + self.bytes * int(np.prod(self.shape))


def borders(raw: Raw, kind: str) -> list[Border]:
    """kind: input, output."""
    lists = [raw[kind + field] for field in FIELDS]
    require(len({len(x) for x in lists}) == 1, f"the lists of {kind}s differ in length")
    return [Border(tuple(map(int, s)), int(e), int(r), int(o)) for s, e, r, o in zip(*lists)]


def check_borders(npu: Npu, raw: Raw) -> None:
    """Within their regions, aligned to their elements; no two inputs and no two outputs overlap."""
    for kind in ("input", "output"):
        all_of = borders(raw, kind)
        for i, b in enumerate(all_of):
            require(b.bytes in TYPES, f"{kind} {i} has elements of {b.bytes} bytes")
            require(b.region in npu.mem, f"{kind} {i} is in region {b.region}, which is not there")
            require(
                0 <= b.at and b.end <= len(npu.mem[b.region]), f"{kind} {i} is outside its region"
            )
            require(b.at % b.bytes == 0, f"{kind} {i} is not aligned")
            for k, c in enumerate(all_of[:i]):
                apart = npu.mem[b.region] is not npu.mem[c.region] or b.end <= c.at or c.end <= b.at
                require(apart, f"{kind}s {k} and {i} overlap")


def put_inputs(npu: Npu, raw: Raw, arrays: list[np.ndarray]) -> None:
    wanted = borders(raw, "input")
    require(len(wanted) == len(arrays), f"{len(arrays)} inputs, the stream has {len(wanted)}")
    for b, array in zip(wanted, arrays):
        require(array.size == int(np.prod(b.shape)), f"an input has {array.size} elements")
        kind = np.int8 if array.dtype == bool else TYPES[b.bytes]
        data = array.astype(kind).tobytes()
        npu.mem[b.region][b.at : b.end] = data
        npu.known[b.region][b.at : b.end] = b"\1" * len(data)


def outputs(npu: Npu, raw: Raw) -> list[np.ndarray]:
    """Each as the bytes of its elements with a sign; its bytes must all have been written."""
    found = []
    for i, b in enumerate(borders(raw, "output")):
        require(all(npu.known[b.region][b.at : b.end]), f"output {i} has bytes that nothing wrote")
        data = bytes(npu.mem[b.region][b.at : b.end])
        found.append(np.frombuffer(data, TYPES[b.bytes]).reshape(b.shape))
    return found


def equal(got: np.ndarray, want: np.ndarray) -> bool:
    """The same codes: what is unsigned outside is the same bytes."""
    if got.size != want.size:
        return False
    if want.dtype == bool:
        want = want.astype(np.int8)
    if want.dtype.kind == "u" and want.itemsize == got.itemsize:
        got = got.view(want.dtype)
    return np.array_equal(got.ravel().astype(np.int64), want.ravel().astype(np.int64))


def within(got: np.ndarray, want: np.ndarray, bound: np.ndarray | None) -> bool:
    """Equal, or, where the result is implementation-defined, between it and its bound."""
    if equal(got, want) or bound is None or got.size != want.size:
        return equal(got, want)
    lo, hi = np.minimum(want, bound).ravel(), np.maximum(want, bound).ravel()
    return bool(((got.ravel() >= lo) & (got.ravel() <= hi)).all())


__all__ = ["Bad", "borders", "check_borders", "equal", "outputs", "put_inputs", "within"]
