"""Parallel corpora in memory: pairs in order, what was left out and why, filters, and splits that do not leak.

For a file larger than memory, `lib.readers.stream` gives its pairs one at a time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, overload

from lib import readers
from lib.lines import writer
from lib.pairs import Dropped, Filter, Link, Pair, describe
from lib.readers import HEADER, PairStream, stream
from lib.splitting import ONE_WORD_FROM, allot, comparison_key, find_groups

__all__ = [
    "HEADER",
    "Dropped",
    "Filter",
    "Link",
    "Pair",
    "PairStream",
    "ParallelCorpus",
    "comparison_key",
    "data_path",
    "load",
    "stream",
]
_AUTHOR = re.compile(r"#\d+ \(([^)]+)\)")


class ParallelCorpus(Sequence[Pair]):
    """Pairs in order, the number of the line each came from, and the lines that were left out.

    All readers take files plain or packed with gzip, and the same three settings: `keep`, a `Filter` (what it leaves
    out is in `dropped`, with line and reason); `clean`, True for texts as `normalise` leaves them, in place of texts
    as they were typed; `on_drop`, called with each `Dropped` as it is found.

    Attributes:
        note: what is to be known about these pairs, for example that a split is smaller than was asked for.
    """

    def __init__(
        self,
        pairs: Iterable[Pair],
        dropped: Iterable[Dropped] = (),
        lines: Iterable[int] | None = None,
        note: str = "",
    ) -> None:
        self.pairs, self.dropped, self.note = list(pairs), list(dropped), note
        self.lines: Sequence[int] = range(1, len(self.pairs) + 1) if lines is None else list(lines)
        if len(self.lines) != len(self.pairs):
            raise ValueError(f"{len(self.lines)} line numbers for {len(self.pairs)} pairs: expected one for each")

    def __len__(self) -> int:
        return len(self.pairs)

    @overload
    def __getitem__(self, place: int) -> Pair: ...
    @overload
    def __getitem__(self, place: slice) -> ParallelCorpus: ...
    def __getitem__(self, place: int | slice) -> Pair | ParallelCorpus:
        if isinstance(place, slice):
            return ParallelCorpus(self.pairs[place], lines=self.lines[place])
        return self.pairs[place]

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.pairs)

    def __repr__(self) -> str:
        note = f"; {self.note}" if self.note else ""
        return f"ParallelCorpus({len(self.pairs):,} pairs, {len(self.dropped):,} lines dropped{note})"

    @property
    def sources(self) -> list[str]:
        return [pair.source for pair in self.pairs]

    @property
    def targets(self) -> list[str]:
        return [pair.target for pair in self.pairs]

    def report(self) -> str:
        """One line: how many pairs there are, and how many lines were dropped for which reason."""
        return f"{len(self.pairs):,} pair{'s' * (len(self.pairs) != 1)}; {describe(self.dropped)}"

    def credits(self) -> Counter[str]:
        """Who is to be thanked for how many sentences: the authors that attributions name, or else all they say."""
        found: Counter[str] = Counter()
        for pair in self.pairs:
            if pair.attribution:
                found.update(_AUTHOR.findall(pair.attribution) or [pair.attribution])
        return found

    def with_tag(self, tag: str) -> ParallelCorpus:
        """The pairs that show one phenomenon."""
        return self._at([place for place, pair in enumerate(self.pairs) if tag in pair.tags])

    def filtered(self, keep: Filter | None = None, **limits: Any) -> ParallelCorpus:
        """The pairs within limits; the others are added to `dropped`, each with its line and reason.

        Args:
            keep: the limits; in place of it, name those that are not to have the defaults of `Filter`:
                `filtered(max_words=50, max_ratio=2.5)`.
        """
        if keep is not None and limits:
            raise ValueError(f"filtered() got a Filter and {', '.join(limits)}: give one or the other")
        keep = Filter(**limits) if keep is None else keep
        reasons = [keep.reason(pair) for pair in self.pairs]
        kept = self._at([place for place, reason in enumerate(reasons) if not reason])
        broken = [Dropped(line, reason) for line, reason in zip(self.lines, reasons, strict=True) if reason]
        kept.dropped = sorted([*self.dropped, *broken], key=lambda drop: drop.line)
        return kept

    @classmethod
    def read(cls, path: str | Path, *, columns: tuple[int, int] | None = None, **settings: Any) -> ParallelCorpus:
        """Read a file of pairs: the course's own format if it begins with its header, else tab-separated columns.

        Args:
            columns: where (Hindi, English) are, counted from 0; None: found out by the letters.
        """
        return cls._collect(stream, path, columns=columns, **settings)

    @classmethod
    def read_tsv(cls, path: str | Path, **settings: Any) -> ParallelCorpus:
        """Read the course's own format, as `write_tsv` writes it."""
        return cls._collect(readers.own, path, **settings)

    @classmethod
    def read_manythings(
        cls,
        path: str | Path,
        source_column: int | None = None,
        *,
        columns: tuple[int, int] | None = None,
        **settings: Any,
    ) -> ParallelCorpus:
        """Read tab-separated pairs: two sides, then an attribution (ManyThings), or an id before each side (Tatoeba).

        Args:
            source_column: 0 or 1, which of the two sides is Hindi; None: found out by the letters, line by line.
            columns: where (Hindi, English) are among all columns, counted from 0; None: found out by the letters.
        """
        return cls._collect(readers.manythings, path, source_column=source_column, columns=columns, **settings)

    @classmethod
    def read_parallel(cls, source_path: str | Path, target_path: str | Path, **settings: Any) -> ParallelCorpus:
        """Read two files whose lines belong together, Hindi and English."""
        return cls._collect(readers.parallel, source_path, target_path, **settings)

    @classmethod
    def _collect(cls, read: Any, *paths: str | Path, on_drop: Any = None, **settings: Any) -> ParallelCorpus:
        dropped: list[Dropped] = []

        def drop(line: Dropped) -> None:
            dropped.append(line)
            if on_drop is not None:
                on_drop(line)

        found = read(*paths, on_drop=drop, **settings)
        pairs, lines = [], []
        for pair in found:
            pairs.append(pair)
            lines.append(found.line)
        return cls(pairs, dropped, lines)

    def write_tsv(self, path: str | Path) -> None:
        """Write the course's own format: UTF-8, one header line, four columns; packed if the name ends in .gz."""
        with writer(path) as file:
            file.write(f"{HEADER}\n".encode())
            file.writelines(f"{readers.own_line(pair)}\n".encode() for pair in self.pairs)

    def split(
        self, dev: int, test: int, seed: int = 0, one_word_from: int | None = ONE_WORD_FROM
    ) -> tuple[ParallelCorpus, ParallelCorpus, ParallelCorpus]:
        """Split into (train, dev, test) so that no sentence stands on both sides, not even slightly changed.

        Near-duplicates stay together: pairs whose sources or targets have the same `comparison_key` (they differ by
        case, spaces, punctuation or nukta), and those whose source or target is a sentence of `one_word_from` words
        or more that differs by one word, or by the order of its words; see `find_groups`. Shorter sentences that
        differ by a word are different sentences. Groups chain: what is near to a near-duplicate stays with it.

        Where a pair goes depends on its text and the seed, not on its place in the file. Where whole groups do not
        make up exactly `dev` or `test` pairs, the part is as near as possible below, and its `note` says so.

        Raises:
            ValueError: too few pairs, or groups so large that dev or test would be empty.
        """
        if min(dev, test) < 0 or dev + test + 1 > len(self.pairs):
            raise ValueError(f"{len(self.pairs)} pairs are too few for dev={dev} and test={test}")
        wanted = {"test": test, "dev": dev}
        parts = allot(*find_groups(self.pairs, one_word_from), wanted, seed)
        train, dev_part, test_part = (self._at(sorted(parts[name])) for name in ("train", "dev", "test"))
        for name, part in (("dev", dev_part), ("test", test_part)):
            if len(part) < wanted[name]:
                part.note = (
                    f"{name} has {len(part):,} pairs, not {wanted[name]:,}: near-duplicates stay together, and "
                    "no group of them fits in the rest"
                )
        return train, dev_part, test_part

    def _at(self, places: list[int]) -> ParallelCorpus:
        return ParallelCorpus([self.pairs[place] for place in places], lines=[self.lines[place] for place in places])


def data_path() -> Path:
    """The folder `data/` of the course, wherever Python was started."""
    return Path(__file__).resolve().parent.parent / "data"


def load(name: str) -> ParallelCorpus:
    """One of the corpora of the course: train, dev, test, long, everyday, or challenge/TAG."""
    folder = data_path() if name == "everyday" else data_path() / "controlled"
    path = folder / f"{name}.tsv"
    if not path.is_file():
        raise FileNotFoundError(f"there is no corpus {name!r} ({path}): try train, dev, test, long or everyday")
    return ParallelCorpus.read_tsv(path)
