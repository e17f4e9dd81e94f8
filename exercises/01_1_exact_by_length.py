"""1.1 · Exact matches by length · easy · 10 minutes

Write `exact_by_length(lengths, translations, references, edges)`: the share of sentences that are translated
exactly, in each group of lengths.

- `lengths`, `translations`, `references`: lists of shape (N), one entry a sentence: source words, and two texts.
- `edges`: a rising list of shape (G + 1). Group g holds the lengths with `edges[g] <= length < edges[g + 1]`.
- Result: a list of shape (G) with a share between 0 and 1 for each group, and `None` for a group without a
  sentence: nothing was measured there. Sentences outside all groups count nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator

NAME = "exact_by_length"
HINTS = (
    "Two loops, one inside the other: over the groups, and over the sentences of a group. `zip(edges, edges[1:])`"
    " gives both ends of every group.",
    "For one group, collect `True` or `False` for each of its sentences. By what must the number of `True` be "
    "divided?",
    "Take a group without a sentence: what is its list, and what does Python say to dividing by its length?",
)


def stub(
    lengths: list[int],
    translations: list[str],
    references: list[str],
    edges: list[int],
) -> list[float | None]:
    """The share of exact matches in each group of lengths, None where a group is empty."""
    ...


def solution(
    lengths: list[int],
    translations: list[str],
    references: list[str],
    edges: list[int],
) -> list[float | None]:
    rows = list(zip(lengths, translations, references, strict=True))
    shares = []
    for low, high in zip(edges, edges[1:], strict=False):
        exact = [mine == right for length, mine, right in rows if low <= length < high]
        shares.append(sum(exact) / len(exact) if exact else None)
    return shares


def reference(
    lengths: list[int], translations: list[str], references: list[str], edges: list[int]
) -> list[float | None]:
    import numpy as np

    exact = np.array([a == b for a, b in zip(translations, references, strict=True)], dtype=float)
    group = np.digitize(lengths, edges) - 1 if lengths else np.array([], dtype=int)
    return [float(exact[group == g].mean()) if (group == g).any() else None for g in range(len(edges) - 1)]


def wrong_upper_end(lengths, translations, references, edges):
    """A sentence on the border of two groups is in the wrong one: the lower end belongs to a group, the upper end
    does not. Yours counts it the other way round, so a length of `edges[0]` is nowhere."""
    rows = list(zip(lengths, translations, references, strict=True))
    shares = []
    for low, high in zip(edges, edges[1:], strict=False):
        exact = [mine == right for length, mine, right in rows if low < length <= high]
        shares.append(sum(exact) / len(exact) if exact else None)
    return shares


def wrong_both_ends(lengths, translations, references, edges):
    """A sentence on the border of two groups counts twice: both ends belong to your groups. Only the lower one
    should."""
    rows = list(zip(lengths, translations, references, strict=True))
    shares = []
    for low, high in zip(edges, edges[1:], strict=False):
        exact = [mine == right for length, mine, right in rows if low <= length <= high]
        shares.append(sum(exact) / len(exact) if exact else None)
    return shares


def wrong_share_of_all(lengths, translations, references, edges):
    """You divide by the number of all sentences. Then a group looks bad only because it is small; the share asked for
    is that of the group's own sentences."""
    rows = list(zip(lengths, translations, references, strict=True))
    shares = []
    for low, high in zip(edges, edges[1:], strict=False):
        exact = [mine == right for length, mine, right in rows if low <= length < high]
        shares.append(sum(exact) / len(rows) if exact else None)
    return shares


def wrong_count(lengths, translations, references, edges):
    """You give the number of exact matches, not their share. Numbers from groups of different size cannot be
    compared."""
    rows = list(zip(lengths, translations, references, strict=True))
    shares = []
    for low, high in zip(edges, edges[1:], strict=False):
        exact = [mine == right for length, mine, right in rows if low <= length < high]
        shares.append(sum(exact) if exact else None)
    return shares


def wrong_empty_is_zero(lengths, translations, references, edges):
    """A group without a sentence gets 0. In a plot that reads "all wrong", while nothing was measured there."""
    rows = list(zip(lengths, translations, references, strict=True))
    shares = []
    for low, high in zip(edges, edges[1:], strict=False):
        exact = [mine == right for length, mine, right in rows if low <= length < high]
        shares.append(sum(exact) / max(1, len(exact)))
    return shares


def wrong_empty_crashes(lengths, translations, references, edges):
    """A group without a sentence makes you divide by zero. What should be reported where nothing was measured?"""
    rows = list(zip(lengths, translations, references, strict=True))
    shares = []
    for low, high in zip(edges, edges[1:], strict=False):
        exact = [mine == right for length, mine, right in rows if low <= length < high]
        shares.append(sum(exact) / len(exact))
    return shares


def wrong_same_words(lengths, translations, references, edges):
    """You compare the words without their order. "the dog sees the boy" is no exact match for "the boy sees the
    dog"."""
    rows = list(zip(lengths, translations, references, strict=True))
    shares = []
    for low, high in zip(edges, edges[1:], strict=False):
        exact = [sorted(mine.split()) == sorted(right.split()) for n, mine, right in rows if low <= n < high]
        shares.append(sum(exact) / len(exact) if exact else None)
    return shares


def cases() -> Iterator[tuple[str, tuple]]:
    yield "one sentence, right", ([4], ["I go"], ["I go"], [3, 6])
    yield "one sentence, wrong", ([4], ["I go"], ["I went"], [3, 6])
    yield "lengths on the borders", ([3, 6, 6, 9], ["a", "b", "x", "d"], ["a", "b", "c", "d"], [3, 6, 9, 12])
    yield "a group without a sentence", ([3, 9], ["a", "b"], ["a", "b"], [3, 6, 9, 12])
    yield "no sentence at all", ([], [], [], [3, 6])
    yield "a sentence outside all groups", ([2, 4, 40], ["a", "b", "c"], ["a", "b", "c"], [3, 6])
    yield "the right words in another order", ([5], ["the dog sees the boy"], ["the boy sees the dog"], [3, 6])
    yield (
        "groups of different size",
        ([3, 4, 5, 3, 8], ["a", "b", "x", "d", "e"], ["a", "b", "c", "d", "e"], [3, 6, 9]),
    )
