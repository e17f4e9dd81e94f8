"""How good is a translation, how sure are we, and does attention look where an annotator would?

Pure functions of strings and arrays. Letters: S source length, T target length, counted in pieces until
`fold_to_words` makes them words. A link is (source word, target word), both counted from 0, as in `Pair.sure`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence, Sized
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist
from typing import Any

import numpy as np

from lib.corpus import Link, Pair
from lib.text import normalise, words

Statistic = Callable[[np.ndarray], float]
FEW_LINES = 100
LENGTH_EDGES = (8, 16, 24, 32)  # words: < 8, 8–15, 16–23, 24–31, ≥ 32
MARKERS = re.compile(r"▁|</?s>|<(?:pad|unk|bos|eos|sos)>", re.IGNORECASE)

# The closed classes of English. Often no single Hindi word decides them: an article has none, and "he" takes
# its gender from the verb. What is left are nouns, main verbs, adjectives, adverbs and numbers.
_CLOSED = """a an the this that these those some any no every each all both i you he she it we they me him
her us them my your his its our their who whom whose which what when where why how am is are was were be
been being do does did have has had will would shall should can could may might must not never to of in on
at by for with from into about over under after before since until as than between through during without
near up down out off if then because so and or but nor while though although there"""
FUNCTION_WORDS = frozenset(_CLOSED.split())


@dataclass(frozen=True)
class Score:
    """A corpus score with the signature that makes it comparable; `note` says when to be careful."""

    value: float
    signature: str
    note: str = ""
    name: str = "BLEU"

    def __str__(self) -> str:
        return f"{self.name} {self.value:.1f} ({self.signature})" + (f", {self.note}" if self.note else "")


@dataclass(frozen=True)
class Row:
    """One line of a table of results: `n` sentences, their mean, and the interval [low, high] around it."""

    label: str
    n: int
    mean: float
    low: float
    high: float


def bleu(hypotheses: Sequence[str], references: Sequence[str]) -> Score:
    """Corpus BLEU, 0 to 100: geometric mean of 1- to 4-gram precisions, brevity penalty (Papineni 2002).

    Over the whole corpus at once, not a mean over sentences; cased; on text as a reader sees it: sacrebleu
    tokenises it. It is 0 where the hypotheses have no run of four words at all; else the smoothing named in the
    signature keeps it above 0: look at `chrf` too. Errors: see `check_texts`.
    """
    from sacrebleu.metrics import BLEU

    # force: sacrebleu would complain about tokenised text on stderr; here it becomes the note.
    return _score(BLEU(force=True), "BLEU", *check_texts(hypotheses, references))


def chrf(hypotheses: Sequence[str], references: Sequence[str]) -> Score:
    """Corpus chrF2, 0 to 100: F-score of character 1- to 6-grams, recall weighted double (Popović 2015)."""
    from sacrebleu.metrics import CHRF

    return _score(CHRF(), "chrF2", *check_texts(hypotheses, references))


def _score(metric: Any, name: str, hypotheses: list[str], references: list[str]) -> Score:
    value, lines = metric.corpus_score(hypotheses, [references]).score, len(hypotheses)
    notes = [f"only {lines} line{'s' * (lines > 1)}: unstable on so few"] if lines < FEW_LINES else []
    if 2 * sum(text.endswith((" .", " ?", " !")) for text in hypotheses) > lines:
        notes.append("most lines end in a space and a stop: join punctuation to its word first")
    return Score(value, str(metric.get_signature()), "; ".join(notes), name)


def exact_match(hypotheses: Sequence[str], references: Sequence[str]) -> np.ndarray:
    """Which sentences equal their reference letter for letter, runs of spaces aside. (N) booleans"""
    both = zip(*check_texts(hypotheses, references), strict=True)
    return np.array([hypothesis.split() == reference.split() for hypothesis, reference in both], dtype=bool)


def check_texts(hypotheses: Sequence[str], references: Sequence[str]) -> tuple[list[str], list[str]]:
    """Both as lists of text that may be scored. An empty hypothesis is allowed and keeps its place.

    Raises:
        TypeError: not a list of strings (one string, None, references in lists of their own).
        ValueError: nothing to score, unequal lengths, an empty reference, or text still in pieces.
    """
    hypotheses, references = _texts(hypotheses, "hypotheses"), _texts(references, "references")
    _one_each(hypotheses, references, "hypotheses", "references")
    if not references:
        raise ValueError("there are no sentences: a score needs at least one hypothesis and its reference")
    for place, text in enumerate(references):
        if not text.strip():
            raise ValueError(f"references[{place}] is empty: drop sentences that have no reference")
    return hypotheses, references


def _texts(lines: Any, name: str) -> list[str]:
    if lines is None or isinstance(lines, str | bytes):
        raise TypeError(f"{name} is {type(lines).__name__}: give a list with one string for each sentence")
    lines = list(lines)
    for place, text in enumerate(lines):
        if not isinstance(text, str):
            kind = type(text).__name__
            raise TypeError(f"{name}[{place}] is {kind}: give a flat list with one string for each sentence")
        if found := MARKERS.search(text):
            raise ValueError(f"{name}[{place}] contains {found[0]!r}: score plain text, decode the ids first")
    return lines


def _one_each(first: Sized, second: Sized, name: str, other: str) -> None:
    if len(first) != len(second):
        raise ValueError(f"{len(first)} {name} and {len(second)} {other}: give one for each, in order")


def length_groups(lengths: Sequence[int], edges: Sequence[int] = LENGTH_EDGES) -> list[tuple[str, Any]]:
    """Sort sentences into length groups: (label, places in `lengths`), shortest first, empty groups left out.

    Edges (8, 16) make "<8", "8–15" and "≥16". With the places a group can also be scored by `bleu`.
    """
    edges = list(edges)
    if not edges or edges != sorted(set(edges)):
        raise ValueError(f"edges are {edges}: give one length or more, each larger than the one before")
    middle = [f"{a}–{b - 1}" if b - a > 1 else f"{a}" for a, b in pairwise(edges)]
    labels = [f"<{edges[0]}", *middle, f"≥{edges[-1]}"]
    group = np.searchsorted(edges, np.asarray(lengths), side="right")
    return [(label, places) for k, label in enumerate(labels) if (places := np.flatnonzero(group == k)).size]


def by_length(values: Sequence, lengths: Sequence[int], edges: Sequence[int] = LENGTH_EDGES) -> list[Row]:
    """The mean of `values` in each length group, with a 95 % interval (see `mean_row`)."""
    _one_each(values, lengths, "values", "lengths")
    values = np.asarray(values)
    return [mean_row(label, values[places]) for label, places in length_groups(lengths, edges)]


def by_tag(values: Sequence, pairs: Sequence[Pair]) -> list[Row]:
    """The mean of `values` for each tag, alphabetically; pairs without a tag come last, as "untagged".

    A pair with three tags counts in three rows, so the rows overlap.
    """
    _one_each(values, pairs, "values", "pairs")
    values, tagged = np.asarray(values), [set(pair.tags) or {"untagged"} for pair in pairs]
    tags = sorted(set().union(*tagged), key=lambda tag: (tag == "untagged", tag))
    return [mean_row(tag, values[[tag in found for found in tagged]]) for tag in tags]


def mean_row(label: str, values: Sequence) -> Row:
    """Mean with a 95 % interval: Wilson's for booleans or zeros and ones, else the bootstrap."""
    values = np.asarray(values, dtype=float)
    share = np.isin(values, (0.0, 1.0)).all()
    low, high = wilson_interval(int(values.sum()), len(values)) if share else bootstrap_interval(values)
    return Row(label, len(values), float(values.mean()), low, high)


def wilson_interval(successes: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval for a share p (1927): (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n).

    Honest at 0 and 1 as well: 20 right of 20 is [0.84, 1], not [1, 1].
    """
    if not 0 <= successes <= n or n == 0:
        raise ValueError(f"{successes} successes in {n} tries: give 0 ≤ successes ≤ tries and tries ≥ 1")
    z, p = NormalDist().inv_cdf((1 + level) / 2), successes / n
    centre, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low, high = (centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)
    return (low if successes else 0.0), (high if successes < n else 1.0)  # exact where rounding is not


def bootstrap_interval(
    values: Sequence,
    statistic: Statistic | None = None,
    samples: int = 2_000,
    level: float = 0.95,
    seed: int = 0,
) -> tuple[float, float]:
    """Percentile bootstrap (Efron 1979): draw all N values anew with replacement, take the middle `level`.

    It knows only the values it was given: equal values give width 0, however few they are. For a share of
    right answers `wilson_interval` has no such fault. `statistic` maps drawn values to a number (None: their
    mean). A corpus score resamples places: `bootstrap_interval(range(n), lambda places: …)`.
    """
    values = np.asarray(values)
    if values.size == 0 or values.ndim == 0:
        raise ValueError(f"values have shape {values.shape}: give a list with at least one value")
    n, generator, results = len(values), np.random.default_rng(seed), []
    while len(results) < samples:
        rows = min(samples - len(results), max(1, 2_000_000 // n))  # a part at a time: memory stays small
        places = generator.integers(0, n, size=(rows, n))
        results += list(values[places].mean(axis=1)) if statistic is None else map(statistic, values[places])
    low, high = np.quantile(results, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def paired_bootstrap_difference(a: Sequence, b: Sequence, **settings: Any) -> tuple[float, float, float]:
    """Mean of a − b over the same sentences and its bootstrap interval: (difference, low, high) (Koehn 2004).

    Both keep the same drawn sentences, so easy and hard ones do not blur the comparison. An interval
    without 0 is unlikely to come from the choice of sentences; it says nothing about another training seed.
    """
    _one_each(a, b, "values of a", "values of b")
    difference = np.asarray(a, dtype=float) - np.asarray(b, dtype=float)
    return float(difference.mean()), *bootstrap_interval(difference, **settings)


def fold_to_words(weights: Any, source_words: Sequence[int], target_words: Sequence[int]) -> np.ndarray:
    """Attention over pieces (T, S) as attention over words (target words, source words).

    Sum over the pieces of a source word, mean over the pieces of a target word (Clark et al. 2019), so that
    a row still sums to 1, or to less where </s> held weight.

    Args:
        weights: (T, S), array or tensor; rows and columns beyond the indices (</s>, padding) are dropped.
        source_words, target_words: for each piece its word, as from `Tokenizer.word_index`.
    """
    matrix, rows, columns = as_array(weights), len(target_words), len(source_words)
    if matrix.ndim != 2 or matrix.shape[0] < rows or matrix.shape[1] < columns:
        given = f"weights have shape {matrix.shape} for {rows} target and {columns} source pieces"
        raise ValueError(f"{given}: give a row for each target piece and a column for each source piece")
    onto_source, onto_target = _membership(source_words), _membership(target_words)
    total = onto_target @ matrix[:rows, :columns] @ onto_source.T
    return total / np.maximum(onto_target.sum(axis=1, keepdims=True), 1)


def _membership(index: Sequence[int]) -> np.ndarray:
    """(words, pieces): 1 where the piece is part of the word."""
    return (np.arange(max(index, default=-1) + 1)[:, None] == np.array(index, dtype=int)).astype(float)


def as_array(weights: Any) -> np.ndarray:
    """Nested list, array or tensor, on any device and with or without gradient, as an array of float."""
    return np.asarray(weights.detach().cpu().double() if hasattr(weights, "detach") else weights, dtype=float)


def predicted_links(word_weights: Any, threshold: float = 0.0) -> set[Link]:
    """One link for each target word, to the source word with most weight, the first of equals (Luong 2015).

    No link for a word whose weight on words is all zero (it was on </s>) or nowhere reaches `threshold`.
    `word_weights` (target words, source words) must come from leading the model along the *reference*: only
    then are its target words those of the gold alignment.
    """
    rows = [(row, row.max(initial=0.0)) for row in as_array(word_weights)]
    return {(int(row.argmax()), t) for t, (row, top) in enumerate(rows) if top > 0 and top >= threshold}


def alignment_error_rate(predicted: Sequence[Iterable[Link]], pairs: Sequence[Pair]) -> float:
    """AER = 1 − (|A∩S| + |A∩P|) / (|A| + |S|), counted over the whole corpus (Och & Ney 2003). 0 is perfect.

    A the predicted links, S the sure ones, P the possible ones, S ⊆ P. To leave out a sure link costs; to add
    a possible one does not. A pair without gold links is a ValueError.
    """
    _one_each(predicted, pairs, "sets of links", "pairs")
    hits = size = 0
    for place, (links, pair) in enumerate(zip(predicted, pairs, strict=True)):
        found, sure, possible = set(links), set(pair.sure), {*pair.sure, *pair.possible}
        if not possible:
            raise ValueError(f"pairs[{place}] has no gold alignment: keep only pairs that have one")
        hits += len(found & sure) + len(found & possible)
        size += len(found) + len(sure)
    if size == 0:
        raise ValueError("no link is predicted and none is sure: these pairs have no alignment error rate")
    return 1 - hits / size


def is_content_word(word: str) -> bool:
    """Whether an English word is neither punctuation nor of a closed class (`FUNCTION_WORDS`)."""
    return any(letter.isalnum() for letter in word) and word.lower() not in FUNCTION_WORDS


def pointing_counts(
    word_weights: Sequence[Any],
    pairs: Sequence[Pair],
    keep: Callable[[str], bool] = is_content_word,
    possible: bool = False,
) -> tuple[int, int]:
    """(hits, total): of the target words with a sure link, how many have most weight on a sure source word.

    Narrower and easier than AER: it leaves out words without a sure link and, by default, closed classes and
    punctuation. That choice looks at the word only, never at the model; `keep=lambda word: True` counts all.
    A tie with a wrong word is no hit, so uniform weights earn nothing. Report the total with it.
    `word_weights`: one (target words, source words) for each pair, made along the reference. `possible`: whether a
    look at a word that is linked as possible, the auxiliary or the postposition of the right phrase, counts too.
    """
    _one_each(word_weights, pairs, "weight matrices", "pairs")
    outcomes: list[bool] = []
    for weights, pair in zip(word_weights, pairs, strict=True):
        matrix, target = as_array(weights), words(normalise(pair.target, "en"))
        if matrix.ndim != 2 or len(matrix) != len(target):
            given = f"weights have shape {matrix.shape}, but {pair.target!r} has {len(target)} words"
            raise ValueError(f"{given}: give one row for each word of the reference")
        for t, (word, row) in enumerate(zip(target, matrix, strict=True)):
            sure = {source for source, place in pair.sure if place == t}
            right = sure | {source for source, place in pair.possible if place == t} if possible else sure
            if sure and keep(word):
                outcomes.append(row.max() > 0 and set(np.flatnonzero(row == row.max()).tolist()) <= right)
    return sum(map(bool, outcomes)), len(outcomes)


def pointing_accuracy(word_weights: Sequence[Any], pairs: Sequence[Pair], **settings: Any) -> float:
    """The share hits / total of `pointing_counts`; nan where no word counts."""
    hits, total = pointing_counts(word_weights, pairs, **settings)
    return hits / total if total else math.nan
