"""What a parallel corpus is made of: pairs, lines that were left out and why, and the limits that leave them out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

Link = tuple[int, int]


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
    """A line that was left out, both sides of it: its number, counted from 1, and why.

    What follows a colon in the reason belongs to this line alone; what comes before it is the same for all its kind.
    """

    line: int
    reason: str

    @property
    def kind(self) -> str:
        return self.reason.partition(": ")[0]


@dataclass(frozen=True, slots=True)
class Filter:
    """Limits for a pair; `reason(pair)` says which one it breaks. A limit of None is off.

    Lengths are words between spaces. Hindi and English have about as many words as each other: in `everyday` the mean
    ratio is 1.0, and the longer side never has 2.5 times the words of the shorter. Between short sides a ratio says
    little ("Help!", "मेरी मदद करो!"), so it counts only where the longer has more than `free` words.

    Args:
        min_words, max_words: for each side.
        max_ratio: words of the longer side for each word of the shorter.
        max_characters: for each side; a web address or an undivided page is one word and no sentence.
        translated: leave out pairs whose two sides are the same text.
    """

    min_words: int = 1
    max_words: int | None = 100
    max_ratio: float | None = 3.0
    max_characters: int | None = 1_000
    free: int = 5
    translated: bool = True

    def __post_init__(self) -> None:
        if self.max_words is not None and not 0 <= self.min_words <= self.max_words:
            raise ValueError(f"min_words={self.min_words}, max_words={self.max_words}: expected 0 ≤ min ≤ max")
        if self.max_ratio is not None and self.max_ratio < 1:
            raise ValueError(f"max_ratio={self.max_ratio}: the longer side divided by the shorter is at least 1")
        if self.max_characters is not None and self.max_characters < 1:
            raise ValueError(f"max_characters={self.max_characters}: expected 1 or more, or None")

    def reason(self, pair: Pair) -> str:
        """Why the pair is to be left out; an empty text if it may stay."""
        source, target = pair.source, pair.target
        short, long = sorted((len(source.split()), len(target.split())))
        if short < self.min_words:
            return f"a side has fewer than {self.min_words} words"
        if self.max_words is not None and long > self.max_words:
            return f"a side has more than {self.max_words} words"
        if self.max_ratio is not None and long > self.free and long > self.max_ratio * short:
            return f"one side has more than {self.max_ratio:g} times the words of the other"
        if self.max_characters is not None and max(len(source), len(target)) > self.max_characters:
            return f"a side has more than {self.max_characters} characters"
        return "both sides are the same text" if self.translated and source == target else ""


def describe(dropped: Iterable[Dropped]) -> str:
    """One line on what was left out: how many of each kind, the most frequent first, and where the first one is."""
    counts: Counter[str] = Counter()
    first: dict[str, int] = {}
    for drop in dropped:
        counts[drop.kind] += 1
        first.setdefault(drop.kind, drop.line)
    return tell(counts, first)


def tell(counts: Counter[str], first: dict[str, int]) -> str:
    """As `describe`, from counts and first lines."""
    if not counts:
        return "no line dropped"
    total = sum(counts.values())
    kinds = "; ".join(f"{count:,} × {kind} (first: line {first[kind]:,})" for kind, count in counts.most_common())
    return f"{total:,} line{'s' * (total > 1)} dropped: {kinds}"
