"""How fast pairs are read on the machine at hand, as pairs a second and against reading the lines alone."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

from lib.corpus import Filter, load
from lib.readers import stream


@dataclass(frozen=True, slots=True)
class ReadingSpeed:
    """Lines or pairs for each second of processor time, the best of several runs.

    `lines`: Python's own loop over the lines of the file, decoded, and nothing done with them. `read`: pairs without
    cleaning. `cleaned`: pairs with both sides normalised, and filtered.
    """

    lines: float
    read: float
    cleaned: float

    @property
    def ratio(self) -> float:
        """How many times longer cleaned pairs take than the lines alone."""
        return self.lines / self.cleaned

    def __str__(self) -> str:
        rows = (("lines alone", self.lines), ("pairs", self.read), ("pairs, cleaned and filtered", self.cleaned))
        return "\n".join(f"{name:28}{rate:12,.0f} /s{self.lines / rate:8.1f} ×" for name, rate in rows)


def measure_reading(path: str | Path | None = None, runs: int = 3) -> ReadingSpeed:
    """Read a file of pairs in three ways; without a path, 20,000 lines in ManyThings columns from `everyday`.

    Raises:
        ValueError: the file has no line.
    """
    if path is None:
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            return measure_reading(_sample(Path(folder) / "pairs.txt"), runs)

    def lines() -> Iterable[str]:
        with open(path, encoding="utf-8", newline="\n") as file:
            yield from file

    total = sum(1 for _ in lines())
    if not total:
        raise ValueError(f"{path} is empty: there is nothing to measure")
    ways = (lines, lambda: stream(path), lambda: stream(path, keep=Filter(), clean=True))
    return ReadingSpeed(*(total / min(_seconds(way) for _ in range(runs)) for way in ways))


def _seconds(way: Callable[[], Iterable[object]]) -> float:
    begin = time.process_time()
    deque(way(), maxlen=0)
    return max(time.process_time() - begin, 1e-9)


def _sample(path: Path, count: int = 20_000) -> Path:
    credit = "CC-BY 2.0 (France) Attribution: tatoeba.org #1 (one) & #2 (two)"
    rows = (f"{pair.target}\t{pair.source}\t{credit}\n" for pair in cycle(load("everyday")))
    path.write_bytes("".join(islice(rows, count)).encode())
    return path
