# SPDX-License-Identifier: Apache-2.0
"""flatbuffer.py -- tables, vectors and strings of a flatbuffer; whatever points outside of the file is Bad."""

from __future__ import annotations

import struct

from .stream import Bad, require


class Buffer:
    def __init__(self, data: bytes):
        self.data = data

    def number(self, at: int, form: str):
        require(0 <= at and at + struct.calcsize(form) <= len(self.data), "the flatbuffer points outside of its file")
        return struct.unpack_from("<" + form, self.data, at)[0]

    def target(self, at: int) -> int:
        distance = self.number(at, "I")
        require(distance, "the flatbuffer has an offset of 0")
        return at + distance

    def root(self) -> "Table":
        return Table(self, self.target(0))


class Table:
    def __init__(self, buffer: Buffer, at: int):
        self.buffer, self.at = buffer, at
        self.fields = at - buffer.number(at, "i")
        self.bytes = buffer.number(self.fields, "H")

    def place(self, field: int) -> int | None:
        entry = 4 + 2 * field
        offset = self.buffer.number(self.fields + entry, "H") if entry + 2 <= self.bytes else 0
        return self.at + offset if offset else None

    def scalar(self, field: int, form: str, default=0):
        place = self.place(field)
        return default if place is None else self.buffer.number(place, form)

    def table(self, field: int) -> "Table | None":
        place = self.place(field)
        return None if place is None else Table(self.buffer, self.buffer.target(place))

    def vector(self, field: int, form: str) -> list:
        at, n = self.span(field)
        size = struct.calcsize(form)
        require(at + n * size <= len(self.buffer.data), "a vector ends outside of its file")
        return list(struct.unpack_from(f"<{n}{form}", self.buffer.data, at)) if n else []

    def span(self, field: int) -> tuple[int, int]:
        """Where the elements of a vector begin, and how many there are."""
        place = self.place(field)
        if place is None:
            return 0, 0
        at = self.buffer.target(place)
        return at + 4, self.buffer.number(at, "I")

    def octets(self, field: int) -> bytes:
        at, n = self.span(field)
        require(at + n <= len(self.buffer.data), "bytes end outside of their file")
        return self.buffer.data[at : at + n]

    def text(self, field: int) -> str:
        at, n = self.span(field)
        words = self.octets(field)
        require(not at or self.buffer.number(at + n, "B") == 0, "a text does not end in NUL")
        try:
            return words.decode()
        except UnicodeDecodeError as error:
            raise Bad(f"a text is not UTF-8: {error}") from None

    def tables(self, field: int) -> list["Table"]:
        at, n = self.span(field)
        require(at + 4 * n <= len(self.buffer.data), "a vector ends outside of its file")
        return [Table(self.buffer, self.buffer.target(at + 4 * i)) for i in range(n)]
