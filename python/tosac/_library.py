# SPDX-License-Identifier: Apache-2.0
"""The shared library, its records and functions, and contexts.

A context belongs to one piece of work and is freed with the last object that was made in it.  What may take long is done
by a thread of its own, without the interpreter's lock, while the calling thread tells progress and listens for ^C.
"""
from __future__ import annotations

import ctypes
import os
import queue
import sys
import threading
import weakref
from pathlib import Path
from typing import Any, Callable, Iterator, Optional

from . import _native as n
from ._errors import Diagnostic, TosacError, TosacWarning, error_of

HERE = Path(__file__).resolve().parent


def _open() -> ctypes.CDLL:
    path = os.environ.get("TOSAC_LIBRARY") or str(HERE / "_lib" / ("libtosac.dll" if os.name == "nt" else "libtosac.so"))
    library = ctypes.CDLL(path)
    for name, (returns, params) in n.FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = returns, params
    return library


lib = _open()


def text(value: Optional[bytes]) -> Optional[str]:
    return None if value is None else value.decode("utf-8", "replace")


def version() -> str:
    return text(lib.tc_version()).split()[-1]


def record(kind: type, **fields: Any) -> Any:
    """A record with its size set."""
    return kind(size=ctypes.sizeof(kind), **fields)


ProgressCallback = Callable[[str, int, int], Any]


class Context:
    """Where the library keeps what it makes."""

    def __init__(self, threads: int = 0, reference_kernels: bool = False, memory_limit: int = 0):
        self._events: queue.SimpleQueue = queue.SimpleQueue()
        self._lock = threading.RLock()
        self._told = 0  # messages that were turned into warnings or errors
        self.kept: list[Any] = []  # what C holds pointers to
        events = self._events

        def on_progress(_user: Any, what: bytes, done: int, total: int) -> int:
            events.put((what, done, total))
            return 0

        options = record(n.tc_ctx_options, threads=threads, reference_kernels=int(reference_kernels), memory_limit=memory_limit)
        options.on_progress = n.tc_on_progress(on_progress)
        self.kept.append(options)
        self.handle = lib.tc_ctx_new_with(ctypes.byref(options))
        if not self.handle:
            raise MemoryError("tosac: out of memory")
        self._end = weakref.finalize(self, lib.tc_ctx_free, self.handle)

    # ---- messages ----

    def diagnostics(self, first: int = 0) -> Iterator[Diagnostic]:
        for i in range(first, lib.tc_diagnostic_count(self.handle)):
            d = lib.tc_diagnostic_at(self.handle, i).contents
            loc = d.loc.contents if d.loc else None
            yield Diagnostic(
                severity=("note", "warning", "error")[d.severity], id=text(d.id) or "", status=d.status,
                file=text(loc.file) if loc else None, place=text(loc.place) if loc else None,
                node=text(loc.node) if loc else None, module=text(loc.module) if loc else None,
                text=text(d.text) or "", notes=tuple(text(d.note[k]) or "" for k in range(d.n_note)))

    def settle(self, status: int) -> None:
        """New messages become warnings, and a failure an exception."""
        fresh = list(self.diagnostics(self._told))
        self._told += len(fresh)
        if status != n.TC_OK:
            raise error_of(status, text(lib.tc_status_text(status)) or "", fresh)
        for d in fresh:
            if d.severity != "error":
                _warn(d)

    # ---- calls ----

    def quick(self, name: str, *args: Any) -> None:
        """A call that takes no time worth telling."""
        with self._lock:
            self.settle(getattr(lib, name)(self.handle, *args))

    def call(self, name: str, *args: Any, progress: Optional[ProgressCallback] = None) -> None:
        """A call that may take long; ^C and exceptions of the callback call it off."""
        function, answer = getattr(lib, name), []

        def work() -> None:
            answer.append(function(self.handle, *args))
            self._events.put(None)

        with self._lock:
            while not self._events.empty():
                self._events.get()
            worker = threading.Thread(target=work, name="tosac", daemon=True)
            worker.start()
            tick = getattr(progress, "tick", None)  # a line that moves on by itself
            try:
                while True:
                    try:
                        event = self._events.get(timeout=0.2 if tick else None)
                    except queue.Empty:
                        tick()
                        continue
                    if event is None:
                        break
                    if progress:
                        progress(text(event[0]) or "", event[1], event[2])
            except BaseException:
                lib.tc_ctx_cancel(self.handle)
                worker.join()
                lib.tc_ctx_resume(self.handle)
                self._told = lib.tc_diagnostic_count(self.handle)
                raise
            worker.join()
            self.settle(answer[0])


def _warn(d: Diagnostic) -> None:
    import warnings

    level, frame = 1, sys._getframe(0)
    while frame and frame.f_code.co_filename.startswith(str(HERE)):  # up to the user's own line
        level, frame = level + 1, frame.f_back
    warnings.warn(TosacWarning(d), stacklevel=level)


def utf8(value: Optional[str]) -> Optional[bytes]:
    return None if value is None else os.fsencode(value)


__all__ = ["Context", "TosacError", "lib", "n", "record", "text", "utf8", "version"]
