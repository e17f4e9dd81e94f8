"""Parallel corpora: pairs with alignments and tags, readers that lose nothing in silence, splits that do not leak.

Reading is by bytes and by line feed alone: no quoting rules, no locale, no special words. A line that cannot be used
is dropped as a whole and reported with its number; one side is never dropped alone.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, overload

from lib.text import normalise, words

HEADER = "hindi\tenglish\talignment\ttags"
Link = tuple[int, int]
Row = TypeVar("Row")
_DEVANAGARI, _LETTER, _LINK = re.compile("[\u0900-\u097f]"), re.compile(r"\w"), re.compile(r"(\d+)([-?])(\d+)")


@dataclass(frozen=True, slots=True)
class Pair:
    """A Hindi sentence and its English translation.

    Links are (source word, target word), counted from 0 over `words(normalise(…))`. `possible` links are those that
    an annotator may or may not draw; the sure ones need not be repeated there.
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
        """Read tab-separated pairs: two sides, then an attribution (ManyThings), or an id before each side (Tatoeba).

        Args:
            source_column: 0 or 1, which of the two sides is Hindi; None: found out by the letters, line by line.
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
                f"{source_path} has {len(sources)} lines and {target_path} has {len(targets)}: the lines of two "
                "parallel files belong together one by one"
            )
        joined = ((number, (a, b)) for (number, a), (_, b) in zip(sources, targets, strict=True))
        return cls._collect(joined, lambda sides: Pair(*sides))

    @classmethod
    def _collect(cls, lines: Iterable[tuple[int, Row]], parse: Callable[[Row], Pair]) -> ParallelCorpus:
        pairs, dropped = [], []
        for number, line in lines:
            try:
                pair = parse(line)
                if _empty(pair.source, "hi") or _empty(pair.target, "en"):
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

        Pairs that share a source or a target, compared by `comparison_key`, stay together. Where a pair goes depends
        on its text and the seed, not on its place in the file.

        Raises:
            ValueError: dev or test cannot have exactly so many pairs.
        """
        if min(dev, test) < 0 or dev + test + 1 > len(self.pairs):
            raise ValueError(f"{len(self.pairs)} pairs are too few for dev={dev} and test={test}")
        groups = sorted(self._groups(), key=lambda group: min(_order(self.pairs[i], seed) for i in group))
        parts: dict[str, list[int]] = {"test": [], "dev": [], "train": []}
        wanted = {"test": test, "dev": dev}
        for group in groups:
            # More than half of a part in one group would be a test of one sentence: it goes to training.
            free = (
                name
                for name, size in wanted.items()
                if len(parts[name]) + len(group) <= size and len(group) <= max(1, size // 2)
            )
            parts[next(free, "train")] += group
        if any(len(parts[name]) < size for name, size in wanted.items()):
            found = ", ".join(f"{name} {len(parts[name])}" for name in ("dev", "test"))
            raise ValueError(
                f"dev={dev} and test={test} cannot be filled: pairs that share a sentence stay together, and their "
                f"groups are too large or too few ({found}); ask for other sizes"
            )
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

    Letters, marks and digits stay: in Hindi a mark is a vowel. A text without any of them is its own key.
    """
    text = normalise(text, language)
    apart = unicodedata.normalize("NFD", text.casefold())  # ऩ is one character, न and nukta are two
    return "".join(c for c in apart if c != "\u093c" and unicodedata.category(c)[0] in "LMN") or text


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
            if number == 1 and (raw[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in raw):
                raise ValueError(f"{path}, line 1: this looks like a UTF-16 file; save it as UTF-8")
            if number == 1 and b"\r" in raw.rstrip(b"\r\n") and not raw.endswith(b"\n"):
                raise ValueError(f"{path}, line 1: lines end with a carriage return alone; save it with line feeds")
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
    source, target = (re.sub(r"[\t\r\n]+", " ", text) for text in (pair.source, pair.target))
    tags, attribution = (re.sub(r"[\t\r\n]+", " ", text) for text in (",".join(pair.tags), pair.attribution))
    line = f"{source}\t{target}\t{alignment}\t{tags}"
    return f"{line}\t{attribution}" if attribution else line


def _own_row(line: str) -> Pair:
    columns = line.split("\t")
    if len(columns) not in (4, 5):
        raise ValueError(_columns(line, "4, or 5 with an attribution"))
    source, target, alignment, tags, attribution = (*columns, "")[:5]
    links: dict[str, list[Link]] = {"-": [], "?": []}
    for link in alignment.split():
        match = _LINK.fullmatch(link)
        if not match:
            raise ValueError(f"the link {link!r} is not like 0-0 or 1?3")
        links[match[2]].append((int(match[1]), int(match[3])))
    if drawn := links["-"] + links["?"]:
        shape = len(words(normalise(source, "hi"))), len(words(normalise(target, "en")))
        if any(s >= shape[0] or t >= shape[1] for s, t in drawn):
            raise ValueError(f"a link points outside {shape[0]} source and {shape[1]} target words")
    named = tuple(tag for name in tags.split(",") if (tag := name.strip()))
    return Pair(source, target, tuple(links["-"]), tuple(links["?"]), named, attribution)


def _manythings_row(line: str, source_column: int | None) -> Pair:
    columns = line.split("\t")
    if len(columns) < 2:
        raise ValueError(_columns(line, "at least 2"))
    sides, rest = columns[:2], columns[2:]
    if len(columns) == 4 and columns[0].isdecimal() and columns[2].isdecimal():  # id, text, id, text
        sides, rest = columns[1::2], [f"tatoeba.org #{columns[0]} & #{columns[2]}"]
    hindi = source_column
    if hindi is None:
        counts = [len(_DEVANAGARI.findall(side)) for side in sides]
        if counts[0] == counts[1]:
            raise ValueError("neither side is clearly Hindi: name its column with source_column")
        hindi = int(counts[1] > counts[0])
    return Pair(sides[hindi], sides[1 - hindi], attribution=" ".join(rest).strip())


def _columns(line: str, expected: str) -> str:
    count = line.count("\t") + 1
    return f"{count} column{'s' * (count > 1)}, expected {expected}" if line.strip() else "blank line"


def _empty(text: str, language: str) -> bool:
    """Whether nothing is left of a text after cleaning; one letter or digit shows at once that something is."""
    return not _LETTER.search(text) and not normalise(text, language)
