"""Splits that do not leak: near-duplicates are found in almost linear time, and a group of them is never divided."""

from __future__ import annotations

import hashlib
import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from lib.pairs import Pair
from lib.text import normalise

ONE_WORD_FROM = 8  # words of a sentence from which on one other word does not make it another sentence
NEARLY = 0.9  # a part so full need not take a group that is more than half of it
PARTS = ("test", "dev")


class _Letters(dict[int, str | None]):
    """For `str.translate`, filled as characters come: letters, marks and digits stay, what parts words is a space."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        # The nukta goes with what it is typed for; an apostrophe does not part a word: it's, its.
        kept = None if character in "\u093c'’`" else character if unicodedata.category(character)[0] in "LMN" else " "
        self[code] = kept
        return kept


_LETTERS = _Letters()


def comparison_key(text: str, language: str) -> str:
    """What is left of a text without case, spaces, punctuation and nukta: equal keys are near-duplicates.

    Letters, marks and digits stay: in Hindi a mark is a vowel. A text without any of them is its own key.
    """
    plain = _plain(text, language)
    return plain.replace(" ", "") or normalise(text, language)


def _plain(text: str, language: str) -> str:
    """The key with spaces between words; NFD, for ऩ is one character and न with nukta two."""
    return unicodedata.normalize("NFD", normalise(text, language).casefold()).translate(_LETTERS)


def find_groups(
    pairs: Sequence[Pair], one_word_from: int | None = ONE_WORD_FROM
) -> tuple[list[list[int]], list[str]]:
    """Places of the pairs that belong together, and a key for each pair that does not depend on its place.

    Two pairs belong together if their sources, or their targets, have the same `comparison_key`; or if both sentences
    have `one_word_from` words or more and the same words, in any order, once one word is left out of each: one was
    replaced, added, left out, or moved. What belongs to the same sentence belongs together (union–find).

    Shorter sentences may differ by a word: "I like tea" and "I like milk" are two sentences, which a test may well
    ask for; and were they one, groups would chain from "I like" to "I want", "You want" and so on without an end.

    Args:
        one_word_from: None: equal keys only.
    """
    parent = list(range(len(pairs)))
    seen: dict[tuple[str, str], int] = {}
    keys = [""] * len(pairs)
    near = {"hi": _NearBags(one_word_from), "en": _NearBags(one_word_from)}
    for place, pair in enumerate(pairs):
        for language, text in (("hi", pair.source), ("en", pair.target)):
            plain = _plain(text, language)
            key = plain.replace(" ", "") or normalise(text, language)
            keys[place] += f"\t{key}"
            _join(parent, place, seen.setdefault((language, key), place))
            near[language].add(place, plain)
    del seen
    for bags in near.values():
        for one, other in bags.links():
            _join(parent, one, other)
    return _gathered(parent), keys


def _gathered(parent: list[int]) -> list[list[int]]:
    groups: dict[int, list[int]] = {}
    for place in range(len(parent)):
        groups.setdefault(_root(parent, place), []).append(place)
    return list(groups.values())


def _root(parent: list[int], place: int) -> int:
    while parent[place] != place:
        parent[place] = parent[parent[place]]
        place = parent[place]
    return place


def _join(parent: list[int], one: int, other: int) -> None:
    parent[_root(parent, one)] = _root(parent, other)


class _NearBags:
    """Sentences as sums of word hashes: a sum without one of them is the sentence without that word, in any order.

    Two sentences that differ by one word share such a sum. Equal sums are found by sorting them all: n log n, about
    12 bytes for each word.
    """

    def __init__(self, least: int | None) -> None:
        self._least = least
        self._hashes: dict[str, int] = {}
        self._words, self._places, self._lengths = array("Q"), array("q"), array("q")

    def add(self, place: int, plain: str) -> None:
        """Take in a sentence; shorter ones are not compared."""
        if self._least is None or len(found := plain.split()) < self._least:
            return
        for word in found:
            if (number := self._hashes.get(word)) is None:
                digest = hashlib.blake2b(word.encode(errors="replace"), digest_size=8).digest()
                number = self._hashes[word] = int.from_bytes(digest, "little")
            self._words.append(number)
        self._places.append(place)
        self._lengths.append(len(found))

    def links(self) -> Iterator[tuple[int, int]]:
        """Pairs of places that differ by one word at most; enough of them to connect all."""
        if not self._places:
            return
        import numpy as np

        hashes, lengths = np.frombuffer(self._words, dtype=np.uint64), np.frombuffer(self._lengths, dtype=np.int64)
        places = np.frombuffer(self._places, dtype=np.int64)
        sums = np.add.reduceat(hashes, np.concatenate([[0], np.cumsum(lengths)[:-1]]))  # modulo 2⁶⁴, as all below
        bags = np.concatenate([sums, np.repeat(sums, lengths) - hashes])
        owners = np.concatenate([places, np.repeat(places, lengths)])
        order = np.argsort(bags, kind="stable")
        bags, owners = bags[order], owners[order]
        equal = np.flatnonzero((bags[1:] == bags[:-1]) & (owners[1:] != owners[:-1]))
        yield from zip(owners[equal].tolist(), owners[equal + 1].tolist(), strict=True)


def allot(
    groups: Iterable[list[int]], keys: Sequence[str], wanted: dict[str, int], seed: int
) -> dict[str, list[int]]:
    """Whole groups to "test", "dev" and "train": exactly as many places as wanted, or as near as possible below.

    The order in which groups are asked depends on texts and seed alone. More than half of a part in one group would
    be a test of one sentence: it goes to training, unless the part would be less than `NEARLY` full without it.

    Raises:
        ValueError: a part that should have pairs can have none.
    """
    ordered = sorted(groups, key=lambda group: min(_order(keys[place], seed) for place in group))
    parts = _first_fit(ordered, wanted)
    if _missing(parts, wanted)[1]:
        orders = (PARTS, PARTS[::-1])
        parts = min(
            [parts, *(_nearest(ordered, wanted, order) for order in orders)], key=lambda p: _missing(p, wanted)
        )
    if any(size and not parts[name] for name, size in wanted.items()):
        found = ", ".join(f"{name} {len(parts[name])}" for name in ("dev", "test"))
        raise ValueError(
            f"dev={wanted['dev']} and test={wanted['test']} cannot be filled: pairs that share a sentence stay "
            f"together, and their {len(ordered)} groups are too large or too few ({found}); ask for other sizes"
        )
    return parts


def _order(key: str, seed: int) -> str:
    return hashlib.sha256(f"{seed}{key}".encode(errors="replace")).hexdigest()


def _first_fit(groups: list[list[int]], wanted: dict[str, int]) -> dict[str, list[int]]:
    parts: dict[str, list[int]] = {"train": [], **{name: [] for name in PARTS}}
    for group in groups:
        free = (
            name
            for name in PARTS
            if len(parts[name]) + len(group) <= wanted[name] and len(group) <= max(1, wanted[name] // 2)
        )
        parts[next(free, "train")] += group
    return parts


def _missing(parts: dict[str, list[int]], wanted: dict[str, int]) -> tuple[int, int]:
    """How far parts are from what was wanted: how many are empty, and how many places are missing."""
    short = {name: size - len(parts[name]) for name, size in wanted.items()}
    return sum(wanted[name] > 0 and not parts[name] for name in PARTS), sum(short.values())


def _nearest(groups: list[list[int]], wanted: dict[str, int], order: Sequence[str]) -> dict[str, list[int]]:
    """One part after the other, each as full as the groups allow that are left."""
    parts: dict[str, list[int]] = {"train": [], **{name: [] for name in PARTS}}
    for name in order:
        limit, sizes = wanted[name], Counter(map(len, groups))
        take = fill({size: n for size, n in sizes.items() if size <= max(1, limit // 2)}, limit)
        if sum(size * n for size, n in take.items()) < NEARLY * limit:
            take = fill(sizes, limit)
        left = []
        for group in groups:
            chosen = take[len(group)] > 0
            take[len(group)] -= chosen
            (parts[name].extend if chosen else left.append)(group)
        groups = left
    parts["train"] = [place for group in groups for place in group]
    return parts


def fill(sizes: dict[int, int], limit: int) -> Counter[int]:
    """How many groups of each size make the largest sum up to `limit` (bounded subset sum, on the bits of integers).

    Args:
        sizes: how many groups there are of each size.
    """
    reach, steps = 1, []  # bit n of `reach`: n pairs can be had
    for size, count in sorted(sizes.items()):
        count, chunk = min(count, limit // size), 1
        while count > 0:
            chunk = min(chunk, count)
            steps.append((size, chunk, reach))
            reach |= (reach << (size * chunk)) & ((1 << (limit + 1)) - 1)
            count, chunk = count - chunk, chunk * 2
    total, chosen = reach.bit_length() - 1, Counter()
    for size, chunk, before in reversed(steps):
        if not before >> total & 1:
            chosen[size] += chunk
            total -= size * chunk
    return chosen
