"""Readers of pairs that lose nothing in silence: the course's own format, ManyThings and Tatoeba, parallel files.

No quoting rules and no special words: a lone `"` and `NA` are text. A line that cannot be used is dropped as a whole
and reported with its number; one side is never dropped alone, so the sides cannot slip against each other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain, combinations, islice, zip_longest
from pathlib import Path
from typing import Any

from lib.lines import Line, numbered_lines
from lib.pairs import Dropped, Filter, Link, Pair, tell
from lib.text import normalise, words

HEADER = "hindi\tenglish\talignment\ttags"
SAMPLE = 200  # lines looked at to find out which columns hold the two sides
_DEVANAGARI, _LETTER, _LINK = re.compile("[\u0900-\u097f]"), re.compile(r"\w"), re.compile(r"(\d+)([-?])(\d+)")
_ALPHABETIC, _CODE = re.compile(r"[^\W\d_]"), re.compile(r"\s*[a-z]{2,3}\s*")  # hin, eng
_CREDIT = re.compile(r"CC[- ]?BY|CC0|tatoeba\.org|https?://|#\d")
Parse = Callable[[Any], Pair]


class PairStream(Iterator[Pair]):
    """Pairs one at a time; memory does not grow with the file. `stream` makes one.

    Attributes:
        line: the number of the line that the last pair came from.
        count: pairs given so far.
        dropped: the first `KEPT` lines that were left out; `on_drop` is told of every one.
        counts: how many lines were left out so far, all of them, by reason.
    """

    KEPT = 1_000

    def __init__(
        self,
        lines: Iterator[tuple[int, Any, str]],
        parse: Parse,
        *,
        keep: Filter | None = None,
        clean: bool = False,
        on_drop: Callable[[Dropped], object] | None = None,
    ) -> None:
        self.line, self.count, self.dropped, self.counts = 0, 0, [], Counter()
        self._first: dict[str, int] = {}
        self._on_drop = on_drop or (lambda drop: None)
        self._pairs = self._run(lines, parse, keep, clean)

    def __next__(self) -> Pair:
        return next(self._pairs)

    def report(self) -> str:
        """One line: how many pairs so far, and how many lines were dropped for which reason."""
        return f"{self.count:,} pair{'s' * (self.count != 1)}; {tell(self.counts, self._first)}"

    def _run(
        self, lines: Iterator[tuple[int, Any, str]], parse: Parse, keep: Filter | None, clean: bool
    ) -> Iterator[Pair]:
        tidy = _cleaned if clean else _checked
        for number, line, problem in lines:
            try:
                if problem:
                    raise ValueError(problem)
                pair = tidy(parse(line))
                if keep is not None and (reason := keep.reason(pair)):
                    raise ValueError(reason)
            except ValueError as error:
                self._drop(Dropped(number, str(error)))
            else:
                self.line = number
                self.count += 1
                yield pair

    def _drop(self, drop: Dropped) -> None:
        self.counts[drop.kind] += 1
        self._first.setdefault(drop.kind, drop.line)
        if len(self.dropped) < self.KEPT:
            self.dropped.append(drop)
        self._on_drop(drop)


def stream(
    path: str | Path,
    target_path: str | Path | None = None,
    *,
    columns: tuple[int, int] | None = None,
    **settings: Any,
) -> PairStream:
    """Read pairs one at a time from a file of any kind known here, or from two parallel files; plain or gzip.

    Args:
        path: a file in the course's own format (found out by its header), or with ManyThings or Tatoeba columns; with
            `target_path`, the Hindi half of two files whose lines belong together.
        columns: as in `manythings`.
        settings: `keep`, a `Filter`; `clean`, True for texts as `normalise` leaves them; `on_drop`, called with each
            `Dropped`.

    Raises:
        ValueError, OSError: the file cannot be read. What is wrong further on in it is raised when that line is
        reached, a different number of lines at the end.
    """
    if target_path is not None:
        return parallel(path, target_path, **settings)
    lines = numbered_lines(path)
    first = list(islice(lines, 1))
    lines = chain(first, lines)
    if columns is None and first and first[0][1] == HEADER:
        return own(path, lines, **settings)
    return manythings(path, lines, columns=columns, **settings)


def own(path: str | Path, lines: Iterator[Line] | None = None, **settings: Any) -> PairStream:
    """The course's own format: a header, then Hindi, English, alignment, tags, and possibly an attribution."""
    lines = lines or numbered_lines(path)
    if next(lines, (1, "", ""))[1] != HEADER:
        raise ValueError(f"{path} does not begin with the line {HEADER!r}: use read_manythings for other files")
    return PairStream(lines, _own_row, **settings)


def manythings(
    path: str | Path,
    lines: Iterator[Line] | None = None,
    *,
    columns: tuple[int, int] | None = None,
    source_column: int | None = None,
    **settings: Any,
) -> PairStream:
    """Tab-separated pairs in any order of columns; what is not a side becomes the attribution.

    Args:
        columns: (Hindi, English), counted from 0. None: found out by the letters of the first `SAMPLE` lines (which
            two columns) and of each line (which of the two is Hindi).
        source_column: 0 or 1, which of the two sides is Hindi; None: found out line by line.
    """
    if source_column not in (None, 0, 1):
        raise ValueError(f"source_column={source_column}: the Hindi side is in column 0 or 1")
    if columns is not None and (len(columns) != 2 or min(columns) < 0 or columns[0] == columns[1]):
        raise ValueError(f"columns={columns}: expected two different numbers from 0, Hindi and English")
    if columns is not None and source_column is not None:
        raise ValueError("columns and source_column both say where Hindi is: give one of them")
    lines = lines or numbered_lines(path)
    if columns is not None:
        return PairStream(lines, lambda line: _told_row(line, columns), **settings)
    sample = list(islice(lines, SAMPLE))
    sides = find_sides([text for _, text, _ in sample])
    return PairStream(chain(sample, lines), lambda line: _found_row(line, sides, source_column), **settings)


def parallel(source_path: str | Path, target_path: str | Path, **settings: Any) -> PairStream:
    """Two files whose lines belong together, Hindi and English; ValueError at the end if one has more lines."""
    return PairStream(_joined(source_path, target_path), lambda sides: Pair(*sides), **settings)


def find_sides(lines: list[str]) -> tuple[int, int]:
    """The two columns that most often hold a sentence with Devanagari and one without; (0, 1) if none do."""
    votes: Counter[tuple[int, int]] = Counter({(0, 1): 0})
    for line in lines:
        cells = [(bool(_DEVANAGARI.search(cell)), cell) for cell in line.split("\t")[:12]]
        able = [(place, hindi) for place, (hindi, cell) in enumerate(cells) if hindi or _may_be_english(cell)]
        votes.update((a, b) for (a, one), (b, other) in combinations(able, 2) if one != other)
    return max(votes, key=lambda sides: (votes[sides], -sides[0], -sides[1]))


def _may_be_english(cell: str) -> bool:
    """Not a number, a language code or a credit."""
    return bool(_ALPHABETIC.search(cell) and not _CODE.fullmatch(cell) and not _CREDIT.search(cell))


def own_line(pair: Pair) -> str:
    """A pair as a line of the course's own format; what would break its columns becomes a space."""
    links = sorted(
        [(s, t, "-") for s, t in pair.sure] + [(s, t, "?") for s, t in set(pair.possible) - set(pair.sure)]
    )
    alignment = " ".join(f"{s}{mark}{t}" for s, t, mark in links)
    cells = (pair.source, pair.target, alignment, ",".join(pair.tags), pair.attribution)
    cells = [re.sub(r"[\t\r\n\0]+", " ", cell) for cell in cells]
    return "\t".join(cells if pair.attribution else cells[:4])


def _joined(source_path: str | Path, target_path: str | Path) -> Iterator[tuple[int, tuple[str, str], str]]:
    counts, paths = [0, 0], (source_path, target_path)
    for rows in zip_longest(*map(numbered_lines, paths)):
        for side, row in enumerate(rows):
            counts[side] += row is not None
        if None not in rows:  # after the end of one, the rest of the other is only counted
            (number, source, problem), (_, target, other) = rows
            yield number, (source, target), problem or other
    if counts[0] != counts[1]:
        raise ValueError(
            f"{source_path} has {counts[0]} lines and {target_path} has {counts[1]}: the lines of two parallel "
            "files belong together one by one"
        )


def _own_row(line: str) -> Pair:
    columns = line.split("\t")
    if len(columns) not in (4, 5):
        raise ValueError(_columns(line, "4, or 5 with an attribution"))
    source, target, alignment, tags, attribution = (*columns, "")[:5]
    links: dict[str, list[Link]] = {"-": [], "?": []}
    for link in alignment.split():
        match = _LINK.fullmatch(link)
        if not match:
            raise ValueError(f"a link is not like 0-0 or 1?3: {link!r}")
        links[match[2]].append((int(match[1]), int(match[3])))
    if drawn := links["-"] + links["?"]:
        shape = len(words(normalise(source, "hi"))), len(words(normalise(target, "en")))
        if any(s >= shape[0] or t >= shape[1] for s, t in drawn):
            raise ValueError(f"a link points outside the sentence: {shape[0]} source and {shape[1]} target words")
    named = tuple(tag for name in tags.split(",") if (tag := name.strip()))
    return Pair(source, target, tuple(links["-"]), tuple(links["?"]), named, attribution)


def _told_row(line: str, columns: tuple[int, int]) -> Pair:
    cells = line.split("\t")
    if len(cells) <= max(columns):
        raise ValueError(_columns(line, f"at least {max(columns) + 1}"))
    rest = " ".join(cell for place, cell in enumerate(cells) if place not in columns)
    return Pair(cells[columns[0]], cells[columns[1]], attribution=rest.strip())


def _found_row(line: str, found: tuple[int, int], source_column: int | None) -> Pair:
    cells = line.split("\t")
    if len(cells) < 2:
        raise ValueError(_columns(line, "at least 2"))
    a, b = found if found[1] < len(cells) else (0, 1)
    if len(cells) == 4 and cells[0].isdecimal() and cells[2].isdecimal():  # Tatoeba: id, text, id, text
        a, b, attribution = 1, 3, f"tatoeba.org #{cells[0]} & #{cells[2]}"
    else:
        attribution = " ".join(cells[:a] + cells[a + 1 : b] + cells[b + 1 :]).strip()
    one, two = cells[a], cells[b]
    if _second_is_hindi(one, two) if source_column is None else source_column:
        one, two = two, one
    return Pair(one, two, (), (), (), attribution)


def _second_is_hindi(one: str, two: str) -> bool:
    hindi = bool(_DEVANAGARI.search(one)), bool(_DEVANAGARI.search(two))
    if hindi[0] != hindi[1]:
        return hindi[1]
    counts = len(_DEVANAGARI.findall(one)), len(_DEVANAGARI.findall(two))
    if counts[0] == counts[1]:
        raise ValueError(
            "neither side is clearly Hindi: say which columns the sides are in (--source-column, --target-column)"
        )
    return counts[1] > counts[0]


def _columns(line: str, expected: str) -> str:
    count = line.count("\t") + 1
    return f"{count} column{'s' * (count > 1)}, expected {expected}" if line.strip() else "blank line"


def _checked(pair: Pair) -> Pair:
    """The pair; ValueError if nothing is left of a side after cleaning. One letter shows that something is."""
    for text, language in ((pair.source, "hi"), (pair.target, "en")):
        if not _LETTER.search(text) and not normalise(text, language):
            raise ValueError("one side is empty")
    return pair


def _cleaned(pair: Pair) -> Pair:
    """The pair as the models see it, NFC and so on; links still fit, for they count words after cleaning."""
    source, target = normalise(pair.source, "hi"), normalise(pair.target, "en")
    if not source or not target:
        raise ValueError("one side is empty")
    if source == pair.source and target == pair.target:
        return pair
    return Pair(source, target, pair.sure, pair.possible, pair.tags, pair.attribution)
