# SPDX-License-Identifier: Apache-2.0
"""registers.py -- what the bits of a register mean, and what there is of each machine."""

from __future__ import annotations

from typing import NamedTuple

#: field: lowest bit, how many
PRECISION = {
    "OFM": {"signed": (0, 1), "size": (1, 2), "fmt": (6, 2), "glob": (8, 1), "rev": (9, 2), "tr": (11, 3), "store": (14, 2), "rnd55": (14, 2)},
    "IFM": {"signed": (0, 1), "size": (2, 2), "fmt": (6, 2), "mode": (8, 2), "store": (14, 2), "rnd55": (14, 2)},
}
STRIDE = {"x": ((0, 1), (6, 1)), "y": ((1, 1), (9, 1))}  # low and high bit of the stride less one
DILATION = {"x": 3, "y": 4}
BY_PARTS = 2  # bit: the kernel is read in parts
BRICKS = 1  # of fmt: NHCWB16
CHAINED, NOWHERE = 2, 3  # of store


def field(word: int, at: int, bits: int) -> int:
    return word >> at & (1 << bits) - 1


def precision(kind: str, word: int) -> dict[str, int]:
    """kind: OFM, or any input."""
    found = {name: field(word, *where) for name, where in PRECISION["OFM" if kind == "OFM" else "IFM"].items()}
    return found | {"size": 1 << found["size"]}


class Machine(NamedTuple):
    macs: int
    cores: int
    block: tuple[int, int, int]  # U55, U65: the smallest block of a result
    banks: int  # U55, U65: of the memory that tables are in
    copies: int  # that may run at a time
    table_bytes: int


U55, U65, U85 = 0, 1, 2
CORES85 = {128: 1, 256: 1, 512: 2, 1024: 4, 2048: 4}
BLOCK55 = {32: (1, 1, 4), 64: (1, 1, 8), 128: (1, 2, 8), 256: (2, 2, 8), 512: (2, 2, 8)}
BANKS55 = {32: 16, 64: 16, 128: 24, 256: 48, 512: 48}
COPIES = {U55: 1, U65: 2, U85: 4}


def machine(config: int) -> tuple[int, Machine]:
    """The product, and the machine of a payload's configuration word."""
    product, macs = config >> 28, 1 << (config & 15)
    if product == U85:
        return product, Machine(macs, CORES85[macs], (0, 0, 0), 0, COPIES[U85], 2048)
    return product, Machine(macs, 2 if macs == 512 else 1, BLOCK55[macs], BANKS55[macs], COPIES[product], 65536)


#: U85: height and width of a microblock by ACC_FORMAT, and its depth by those and the number of multipliers
MICROBLOCKS = {0: (1, 1), 1: (1, 2), 2: (1, 4), 3: (2, 2), 4: (2, 4), 5: (4, 4)}
DEPTHS = {
    128: {(1, 2): 8, (1, 1): 16},
    256: {(1, 2): 16, (1, 4): 8, (2, 2): 8},
    512: {(2, 2): 16, (1, 4): 16},
    1024: {(2, 2): 32, (1, 4): 32, (2, 4): 16},
    2048: {(2, 2): 64, (1, 4): 64, (4, 4): 16},
}
