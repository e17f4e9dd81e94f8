"""Progress of a long loop, in the place where the reader looks: a notebook cell, a terminal, or nowhere.

In a notebook the bar is one output that is rewritten in place, and at the end it is again the line that it
began with (`training: 1,000 steps`). So the saved notebook shows a plain sentence, holds no widget, needs no
kernel to be read, and is the same after every run.
"""

from __future__ import annotations

import html
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

Item = TypeVar("Item")

MOST_UPDATES = 120  # for one bar: a front end that reads late must not be flooded
SHORTEST, LONGEST = 0.5, 2.0  # seconds between two updates


def progress(
    iterable: Iterable[Item],
    total: int | None = None,
    start: int = 0,
    label: str = "progress",
    note: Callable[[], str] | None = None,
    unit: str = "steps",
) -> Iterator[Item]:
    """Yield the items of `iterable` unchanged, and show how far the loop is.

    Args:
        total: how many there are in all, the `start` ones included; by default `start + len(iterable)`.
        start: how many were done before, when a stopped run goes on.
        label: what is being done; one word or two.
        note: called at each update, its text is shown behind the numbers, for example the loss.
        unit: what is counted.
    """
    if total is None and hasattr(iterable, "__len__"):
        total = start + len(iterable)
    if _in_notebook():
        return _with_bar(iterable, _NotebookBar(label, total, unit), start, total, note)
    if sys.stderr is not None and sys.stderr.isatty():
        return _in_terminal(iterable, total, start, label, note, unit)
    return iter(iterable)


def _in_notebook() -> bool:
    """True in a Jupyter kernel; IPython is never imported for this."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    return getattr(shell, "kernel", None) is not None


def _in_terminal(
    iterable: Iterable[Item],
    total: int | None,
    start: int,
    label: str,
    note: Callable[[], str] | None,
    unit: str,
) -> Iterator[Item]:
    from tqdm import tqdm

    with tqdm(total=total, initial=start, desc=label, unit=f" {unit}", leave=False) as bar:
        for item in iterable:
            yield item
            if note is not None:
                bar.set_postfix_str(note(), refresh=False)
            bar.update()


def _with_bar(
    iterable: Iterable[Item],
    bar: _NotebookBar,
    start: int,
    total: int | None,
    note: Callable[[], str] | None,
) -> Iterator[Item]:
    begin = shown = time.perf_counter()
    done, wait = start, SHORTEST
    try:
        for item in iterable:
            yield item
            done += 1
            now = time.perf_counter()
            if now - shown >= wait:
                left = (now - begin) / (done - start) * (total - done) if total else 0.0
                wait = min(LONGEST, max(SHORTEST, (now - begin + left) / MOST_UPDATES))
                bar.update(done, left, note() if note is not None else "")
                shown = now
    finally:
        bar.finish(done)


class _NotebookBar:
    """One output of a cell. What it says first and last is the same text; in between it is a bar."""

    def __init__(self, label: str, total: int | None, unit: str) -> None:
        from IPython.display import display

        self.label, self.total, self.unit = label, total, unit
        self.handle = display(_bundle(self.sentence(total)), raw=True, display_id=True)

    def sentence(self, done: int | None) -> str:
        """`training: 1,000 steps`; of a loop that was left early, `training: 7 of 1,000 steps`."""
        if done is None or self.total is None:
            return self.label
        of_all = "" if done == self.total else f"{done:,} of "
        return f"{self.label}: {of_all}{self.total:,} {self.unit}"

    def update(self, done: int, seconds_left: float, note: str) -> None:
        """Draw the bar at `done` with the time that is left."""
        words = f"{self.label}: {done:,}"
        if self.total is not None:
            words += f" of {self.total:,} {self.unit}, about {_clock(seconds_left)} left"
        self.handle.update(_bundle(words + (f", {note}" if note else ""), done, self.total), raw=True)

    def finish(self, done: int) -> None:
        """Take the bar away and leave the sentence."""
        self.handle.update(_bundle(self.sentence(done)), raw=True)


def _bundle(text: str, done: int | None = None, total: int | None = None) -> dict[str, Any]:
    """The text alone, or with a bar before it that a screen reader can tell as well."""
    bar = ""
    if done is not None:
        value = f' value="{done}" max="{total}"' if total else ""
        bar = f'<progress{value} aria-label="{html.escape(text)}" style="width: 16em"></progress> '
    return {"text/plain": text, "text/html": f"<div>{bar}{html.escape(text)}</div>"}


def _clock(seconds: float) -> str:
    """125.2 -> '2:05'."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"
