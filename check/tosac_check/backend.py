# SPDX-License-Identifier: Apache-2.0
"""backend.py -- the payload of an Ethos-U region: named blocks with the stream, its constants, sizes and borders."""

from __future__ import annotations

import struct

import numpy as np

from .stream import Bad, require

NAME, HEAD, ALIGN = 16, 32, 16
BEGIN, END = "vela_bin_stream", "vela_end_stream"
NUMBERS = 9  # of a border: six extents, bytes of an element, address, region


def blocks(payload: bytes) -> dict[str, bytes]:
    found, at = {}, 0
    while True:
        require(at + HEAD <= len(payload), "a block's head is cut off")
        name = payload[at : at + NAME].rstrip(b"\0").decode("ascii", "replace")
        size, outside = struct.unpack_from("<IB", payload, at + NAME)
        require(not any(payload[at + NAME + 5 : at + HEAD]), f"the head of block '{name}' has more than a size")
        require(not outside, f"block '{name}' is elsewhere in the file")
        require(at + HEAD + size <= len(payload), f"block '{name}' is cut off")
        require(bool(found) or name == BEGIN, "the payload does not begin as one")
        require(name not in found, f"block '{name}' stands twice")
        found[name] = payload[at + HEAD : at + HEAD + size]
        end = at + HEAD + size
        at = -(-end // ALIGN) * ALIGN
        require(not any(payload[end:at]), f"the padding after block '{name}' is not zero")
        if name == END:
            require(at == len(payload), "bytes follow the last block")
            return found


def borders_of(block: bytes, kind: str) -> dict:
    count = struct.unpack_from("<i", block)[0] if len(block) >= 4 else -1
    require(0 <= count and len(block) == 4 + 4 * NUMBERS * count, f"the list of {kind}s has another length than it says")
    rows = np.frombuffer(block, "<i4", NUMBERS * count, 4).reshape(count, NUMBERS)
    return {f"{kind}_shape": rows[:, :6], f"{kind}_elem_size": rows[:, 6], f"{kind}_offset": rows[:, 7], f"{kind}_region": rows[:, 8]}


def program_of(payload: bytes) -> dict:
    """As the archive of a stream has it (stream.Raw)."""
    parts = blocks(payload)
    wanted = [BEGIN, "cmd_data", "weight_data", "scratch_size", "inputs", "outputs", END]
    missing = [name for name in wanted if name not in parts]
    unknown = [name for name in parts if name not in wanted + ["fast_size"]]
    require(not missing and not unknown, f"blocks {missing} are missing, {unknown} are not known")
    sizes = {name: parts.get(name, bytes(4)) for name in ("scratch_size", "fast_size")}
    for name, value in sizes.items():
        require(len(value) == 4, f"block '{name}' is not one number")
    if any(struct.unpack("<I", v)[0] > 1 << 30 for v in sizes.values()):
        raise Bad("the payload asks for more than 1 GiB of memory")
    return {
        "cmd_data": parts["cmd_data"],
        "weight_data": parts["weight_data"],
        "scratch_size": np.frombuffer(sizes["scratch_size"], "<u4")[0],
        "scratch_fast_size": np.frombuffer(sizes["fast_size"], "<u4")[0],
    } | borders_of(parts["inputs"], "input") | borders_of(parts["outputs"], "output")
