# SPDX-License-Identifier: Apache-2.0
"""arena.py -- a plan of memory: each value has its place while it lives, and no two that live at one time overlap."""

from __future__ import annotations

from typing import NamedTuple

from .stream import require


class Place(NamedTuple):
    name: str
    memory: int
    at: int
    bytes: int
    first: int  # step that writes it
    last: int  # step that reads it last

    def meets(self, other: "Place") -> bool:
        apart = self.at + self.bytes <= other.at or other.at + other.bytes <= self.at
        return self.memory == other.memory and not apart


def lives_with(a: Place, b: Place) -> bool:
    """A step may write its result over an operand only where it is said to: at one place, as one value."""
    return a.first < b.last and b.first < a.last


def check_plan(places: list[Place], sizes: dict[int, int]) -> int:
    """The number of pairs that were compared."""
    pairs = 0
    for p in places:
        require(p.memory in sizes, f"'{p.name}' is in memory {p.memory}, which is not there")
        require(0 <= p.at and p.at + p.bytes <= sizes[p.memory], f"'{p.name}' is outside of its memory")
    ordered = sorted(places, key=lambda p: (p.memory, p.at))
    for i, a in enumerate(ordered):
        for b in ordered[i + 1 :]:
            if b.memory != a.memory or b.at >= a.at + a.bytes:
                break
            pairs += 1
            same = a.at == b.at and a.bytes == b.bytes and (a.last == b.first or b.last == a.first)
            require(same or not (a.meets(b) and lives_with(a, b)), f"'{a.name}' and '{b.name}' overlap while both are alive")
    return pairs
