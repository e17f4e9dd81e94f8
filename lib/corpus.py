"""Parallel corpora: pairs with alignments and tags, readers that lose nothing in silence, splits that do not leak.

Reading is by bytes and by line feed alone: no quoting rules, no locale, no special words. A line that cannot be used
is dropped as a whole and reported with its number; one side is never dropped alone.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import overload

from lib.text import normalise, words

HEADER = "hindi\tenglish\talignment\ttags"
Link = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Pair:
    """A Hindi sentence and its English translation.

    Links are (source word, target word), counted from 0 over `words(normalise(…))`. `possible` links are those that an
    annotator may or may not draw; the sure ones need not be repeated there.
    """

    source: str
    target: str
    sure: tuple[Link, ...] = ()
    possible: tuple[Link, ...] = ()
    tags: tuple[str, ...] = ()
    attribution: str = ""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A line that was left out: its number, counted from 1, and why."""

    line: int
    reason: str


class ParallelCorpus(Sequence[Pair]):
    """Pairs in order, and the lines that were left out while reading."""

    def __init__(self, pairs: Iterable[Pair], dropped: Iterable[Dropped] = ()) -> None:
        self.pairs, self.dropped = list(pairs), list(dropped)

    def __len__(self) -> int:
        return len(self.pairs)

    @overload
    def __getitem__(self, place: int) -> Pair: ...
    @overload
    def __getitem__(self, place: slice) -> ParallelCorpus: ...
    def __getitem__(self, place: int | slice) -> Pair | ParallelCorpus:
        return ParallelCorpus(self.pairs[place]) if isinstance(place, slice) else self.pairs[place]

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.pairs)

    def __repr__(self) -> str:
        return f"ParallelCorpus({len(self.pairs):,} pairs, {len(self.dropped):,} lines dropped)"

    @property
    def sources(self) -> list[str]:
        return [pair.source for pair in self.pairs]

    @property
    def targets(self) -> list[str]:
        return [pair.target for pair in self.pairs]

    def with_tag(self, tag: str) -> ParallelCorpus:
        """The pairs that show one phenomenon."""
        return ParallelCorpus(pair for pair in self.pairs if tag in pair.tags)

    @classmethod
    def read(cls, path: str | Path) -> ParallelCorpus:
        """Read a file of pairs: the course's own format if it begins with its header, else ManyThings columns."""
        first = next(_lines(Path(path)), (1, ""))[1]
        return cls.read_tsv(path) if first == HEADER else cls.read_manythings(path)

    @classmethod
    def read_tsv(cls, path: str | Path) -> ParallelCorpus:
        """Read the course's own format, as `write_tsv` writes it."""
        lines = _lines(Path(path))
        if next(lines, (1, ""))[1] != HEADER:
            raise ValueError(f"{path} does not begin with the line {HEADER!r}: use read_manythings for other files")
        return cls._collect(lines, _own_row)

    @classmethod
    def read_manythings(cls, path: str | Path, source_column: int | None = None) -> ParallelCorpus:
        """Read tab-separated pairs as ManyThings and Tatoeba distribute them: two sides, then an attribution.

        Args:
            source_column: 0 or 1, which of the first two columns is Hindi; None: found out by the letters.
        """
        if source_column not in (None, 0, 1):
            raise ValueError(f"source_column={source_column}: the Hindi side is in column 0 or 1")
        return cls._collect(_lines(Path(path)), lambda line: _manythings_row(line, source_column))

    @classmethod
    def read_parallel(cls, source_path: str | Path, target_path: str | Path) -> ParallelCorpus:
        """Read two files whose lines belong together, Hindi and English."""
        sources, targets = list(_lines(Path(source_path))), list(_lines(Path(target_path)))
        if len(sources) != len(targets):
            raise ValueError(
                f"{source_path} has {len(sources)} lines and {target_path} has {len(targets)}: the lines of two parallel "
                "files belong together one by one"
            )
        joined = ((number, f"{a}\t{b}") for (number, a), (_, b) in zip(sources, targets, strict=True))
        return cls._collect(joined, lambda line: Pair(*line.split("\t", 1)))

    @classmethod
    def _collect(cls, lines: Iterable[tuple[int, str]], parse) -> ParallelCorpus:
        pairs, dropped = [], []
        for number, line in lines:
            try:
                pair = parse(line)
                if not normalise(pair.source, "hi") or not normalise(pair.target, "en"):
                    raise ValueError("one side is empty")
                pairs.append(pair)
            except ValueError as error:
                dropped.append(Dropped(number, str(error)))
        return cls(pairs, dropped)

    def write_tsv(self, path: str | Path) -> None:
        """Write the course's own format: UTF-8, one header line, four columns."""
        rows = [HEADER, *(_own_line(pair) for pair in self.pairs)]
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(("\n".join(rows) + "\n").encode())

    def split(self, dev: int, test: int, seed: int = 0) -> tuple[ParallelCorpus, ParallelCorpus, ParallelCorpus]:
        """Split into (train, dev, test) so that no sentence stands on both sides, not even slightly changed.

        Pairs that share a source or a target, compared by `comparison_key`, stay together. Where a pair goes depends on
        its text and the seed, not on its place in the file.
        """
        groups = self._groups()
        largest = max(map(len, groups), default=0)
        if dev + test + 1 > len(self.pairs):
            raise ValueError(f"{len(self.pairs)} pairs are too few for dev={dev} and test={test}")
        groups.sort(key=lambda group: min(_order(self.pairs[i], seed) for i in group))
        parts: dict[str, list[int]] = {"test": [], "dev": [], "train": []}
        wanted = {"test": test, "dev": dev}
        for group in groups:
            free = (name for name in wanted if len(parts[name]) + len(group) <= wanted[name])
            # A very large group would be a test of one sentence: it goes to training.
            name = next(free, "train") if len(group) < max(2, largest) or largest < 3 else "train"
            parts[name] += group
        train, dev_part, test_part = (sorted(parts[name]) for name in ("train", "dev", "test"))
        return tuple(ParallelCorpus(self.pairs[i] for i in part) for part in (train, dev_part, test_part))

    def _groups(self) -> list[list[int]]:
        """Places of pairs that belong together: connected by an equal source or target key (union–find)."""
        parent = list(range(len(self.pairs)))

        def root(place: int) -> int:
            while parent[place] != place:
                parent[place] = parent[parent[place]]
                place = parent[place]
            return place

        seen: dict[tuple[str, str], int] = {}
        for place, pair in enumerate(self.pairs):
            for language, text in (("hi", pair.source), ("en", pair.target)):
                first = seen.setdefault((language, comparison_key(text, language)), place)
                parent[root(place)] = root(first)
        groups: dict[int, list[int]] = {}
        for place in range(len(self.pairs)):
            groups.setdefault(root(place), []).append(place)
        return list(groups.values())


def comparison_key(text: str, language: str) -> str:
    """What is left of a text without case, spaces, punctuation and nukta: equal keys are near-duplicates.

    Letters, marks and digits stay: in Hindi a mark is a vowel.
    """
    return "".join(
        c for c in normalise(text, language).casefold() if c != "\u093c" and unicodedata.category(c)[0] in "LMN"
    )


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


def _order(pair: Pair, seed: int) -> str:
    key = f"{seed}\t{comparison_key(pair.source, 'hi')}\t{comparison_key(pair.target, 'en')}"
    return hashlib.sha256(key.encode()).hexdigest()


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines with their number from 1, without line ends; split at line feeds only."""
    with open(path, "rb") as file:
        for number, raw in enumerate(file, start=1):
            if number == 1 and raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
                raise ValueError(f"{path}, line 1: this is a UTF-16 file; save it as UTF-8")
            try:
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise ValueError(
                    f"{path}, line {number}: not UTF-8 ({error.reason}); save the file as UTF-8"
                ) from None
            yield number, line.rstrip("\r\n")


def _own_line(pair: Pair) -> str:
    links = sorted(
        [(s, t, "-") for s, t in pair.sure] + [(s, t, "?") for s, t in set(pair.possible) - set(pair.sure)]
    )
    alignment = " ".join(f"{s}{mark}{t}" for s, t, mark in links)
    return f"{pair.source}\t{pair.target}\t{alignment}\t{','.join(pair.tags)}"


def _own_row(line: str) -> Pair:
    columns = line.split("\t")
    if len(columns) != 4:
        raise ValueError(f"{len(columns)} columns, expected 4")
    source, target, alignment, tags = columns
    sure, possible = [], []
    for link in alignment.split():
        match = re.fullmatch(r"(\d+)([-?])(\d+)", link)
        if not match:
            raise ValueError(f"the link {link!r} is not like 0-0 or 1?3")
        (sure if match[2] == "-" else possible).append((int(match[1]), int(match[3])))
    shape = len(words(normalise(source, "hi"))), len(words(normalise(target, "en")))
    if any(s >= shape[0] or t >= shape[1] for s, t in (*sure, *possible)):
        raise ValueError(f"a link points outside {shape[0]} source and {shape[1]} target words")
    return Pair(source, target, tuple(sure), tuple(possible), tuple(filter(None, tags.split(","))))


def _manythings_row(line: str, source_column: int | None) -> Pair:
    columns = line.split("\t")
    if len(columns) < 2:
        raise ValueError("blank line" if not line.strip() else "1 column, expected at least 2")
    hindi = source_column
    if hindi is None:
        counts = [len(re.findall("[\u0900-\u097f]", column)) for column in columns[:2]]
        if counts[0] == counts[1]:
            raise ValueError("neither side is clearly Hindi")
        hindi = int(counts[1] > counts[0])
    return Pair(columns[hindi], columns[1 - hindi], attribution=" ".join(columns[2:]).strip())
