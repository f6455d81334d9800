# SPDX-License-Identifier: Apache-2.0
"""How far the work is: told to a callback, on a terminal, or in a notebook."""
from __future__ import annotations

import contextlib
import html
import sys
import time
from typing import Any, Callable, Iterator, Optional, Union

#: a function of (what, done, total); True: always shown; False: never; None: on terminals and in notebooks, after a second
Progress = Union[None, bool, Callable[[str, int, int], Any]]
Tell = Callable[[str, int, int], Any]


def _line(what: str, done: int, total: int, began: float, latest: float) -> str:
    """As the command line has it: what is left is told by what is done; once all is done, what follows takes nobody knows how long."""
    now = time.monotonic()
    if total <= 1:
        return f"{what}, {now - began:.0f} s"
    if done >= total:
        return f"after {total} {what}: {now - latest:.0f} s"
    left = (latest - began) / done * (total - done) - (now - latest) if done else 0
    return f"{done} of {total} {what}, " + (f"{left:.0f} s left" if left >= 1 else f"{now - began:.0f} s")


class _Shown:
    """A line that is drawn anew, at most five times a second, from the first second on."""

    def __init__(self, always: bool):
        self.always, self.began, self.last = always, time.monotonic(), 0.0
        self.now: tuple[str, int, int] = ("", 0, 0)
        self.stage_began = self.latest = self.began
        self.visible = False

    def __call__(self, what: str, done: int, total: int) -> None:
        if what != self.now[0] or total != self.now[2]:
            self.stage_began = self.latest = time.monotonic()
        elif done != self.now[1]:
            self.latest = time.monotonic()
        self.now = (what, done, total)
        if time.monotonic() - self.last >= 0.2 or (self.always and done >= total):
            self.tick()

    def tick(self) -> None:
        """The time that has passed is news too."""
        now = time.monotonic()
        if self.now[0] and (self.always or now - self.began >= 1):
            self.last, self.visible = now, True
            self.draw(*self.now)

    def draw(self, what: str, done: int, total: int) -> None: ...

    def end(self) -> None: ...


class _Terminal(_Shown):
    def draw(self, what: str, done: int, total: int) -> None:
        sys.stderr.write(f"\r{_line(what, done, total, self.stage_began, self.latest)} \x1b[K")
        sys.stderr.flush()

    def end(self) -> None:
        if self.visible:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


class _Notebook(_Shown):
    handle: Any = None

    def draw(self, what: str, done: int, total: int) -> None:
        from IPython.display import HTML, display

        words = html.escape(_line(what, done, total, self.stage_began, self.latest))
        bar = f'<progress value="{done}" max="{max(total, 1)}" style="width:16em"></progress> {words}'
        if self.handle is None:
            self.handle = display(HTML(bar), display_id=True)
        else:
            self.handle.update(HTML(bar))

    def end(self) -> None:
        if self.handle is not None:
            from IPython.display import HTML

            self.handle.update(HTML(""))


def in_notebook() -> bool:
    """Whether a Jupyter kernel runs us; IPython is asked only when it is there already."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


@contextlib.contextmanager
def shown(progress: Progress) -> Iterator[Optional[Tell]]:
    if callable(progress) and not isinstance(progress, bool):
        yield progress
        return
    display: Optional[_Shown] = None
    if progress is not False:
        if in_notebook():
            display = _Notebook(bool(progress))
        elif progress or (sys.stderr is not None and sys.stderr.isatty()):
            display = _Terminal(bool(progress))
    try:
        yield display
    finally:
        if display:
            display.end()
