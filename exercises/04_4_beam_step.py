"""4.4 · One step of beam search · hard · 25 minutes

Write `beam_step(scores, log_probabilities, size)` in PyTorch: of all beginnings, each extended by every word, keep
the `size` most likely.

- `scores`: shape (K), the log-probability of each beginning so far. `log_probabilities`: shape (K, V), of every
  next word after each beginning. `size`: how many to keep, at most K · V. (`</s>` is a word like the others here.)
- Result: three tensors of shape (size), the best first: `parents`, the number of the beginning that is extended;
  `words`, the next word; both `torch.long`; and `totals`, the new log-probability.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from lib.exercise_files import draw

NAME = "beam_step"
HINTS = (
    "All K · V candidates compete with each other. One beginning may have several children, another none.",
    "The logarithm of a product is a sum. Which shape must `scores` have to be added to (K, V)?",
    "`topk` on the flattened (K · V) numbers places as one long row. How do you get the beginning and the word "
    "back from such a place, with `//` and `%`, and by which of K and V?",
)


def stub(scores: Tensor, log_probabilities: Tensor, size: int) -> tuple[Tensor, Tensor, Tensor]:
    """The `size` best continuations: parents, words, totals."""
    ...


def solution(scores: Tensor, log_probabilities: Tensor, size: int) -> tuple[Tensor, Tensor, Tensor]:
    vocabulary = log_probabilities.shape[1]
    candidates = (scores[:, None] + log_probabilities).flatten()  # (K * V)
    totals, places = candidates.topk(size)
    return places // vocabulary, places % vocabulary, totals


def reference(scores: Tensor, log_probabilities: Tensor, size: int) -> tuple[Tensor, Tensor, Tensor]:
    """All candidates in a list, sorted."""
    rows = log_probabilities.tolist()
    found = [(score + p, k, word) for k, score in enumerate(scores.tolist()) for word, p in enumerate(rows[k])]
    best = sorted(found, reverse=True)[:size]
    parents, words = torch.tensor([k for _, k, _ in best]), torch.tensor([word for _, _, word in best])
    return parents, words, torch.tensor([total for total, _, _ in best], dtype=scores.dtype)


def violation(result: tuple, scores: Tensor, log_probabilities: Tensor, size: int) -> str | None:
    parents, words, totals = result
    if parents.min() < 0 or parents.max() >= len(scores):
        return f"a parent is {int(parents.max())}; beginnings are numbered from 0 to {len(scores) - 1}"
    if words.min() < 0 or words.max() >= log_probabilities.shape[1]:
        return f"a word is {int(words.max())}; words are numbered from 0 to {log_probabilities.shape[1] - 1}"
    if (totals[1:] > totals[:-1]).any():
        return "a later candidate has a higher total; the best comes first"
    if (scores[parents] + log_probabilities[parents, words] - totals).abs().max() > 1e-4:
        return "a total is not the score of its parent plus the log-probability of its word"
    return None


def _pick(candidates, size, vocabulary):
    totals, places = candidates.flatten().topk(size)
    return places // vocabulary, places % vocabulary, totals


def wrong_scores_forgotten(scores, log_probabilities, size):
    """What the beginnings have cost so far is forgotten: only the last word counts. A hopeless beginning with an easy
    next word wins."""
    return _pick(log_probabilities, size, log_probabilities.shape[1])


def wrong_multiplied(scores, log_probabilities, size):
    """You multiply log-probabilities. Probabilities are multiplied, their logarithms are added; and the product of
    two negative numbers is positive."""
    return _pick(scores[:, None] * log_probabilities, size, log_probabilities.shape[1])


def wrong_each_its_best(scores, log_probabilities, size):
    """Every beginning gets its own best word first. That is several greedy searches side by side: a good beginning
    may take several places, a bad one none."""
    totals, words = (scores[:, None] + log_probabilities).max(dim=1)  # (K)
    totals, parents = totals.topk(min(size, len(scores)))
    missing = size - len(parents)
    totals = torch.nn.functional.pad(totals, (0, missing), value=-torch.inf)
    return (*(torch.nn.functional.pad(part, (0, missing)) for part in (parents, words[parents])), totals)


def wrong_exchanged(scores, log_probabilities, size):
    """Parents and words have changed places. In the flattened row V places belong to the first beginning: `//` by V
    counts beginnings, `%` finds the word."""
    parents, words, totals = _pick(scores[:, None] + log_probabilities, size, log_probabilities.shape[1])
    return words, parents, totals


def wrong_divisor(scores, log_probabilities, size):
    """You divide the places by K, the number of beginnings. In the flattened row each beginning takes up V places."""
    return _pick(scores[:, None] + log_probabilities, size, len(scores))


def wrong_worst(scores, log_probabilities, size):
    """You keep the *least* likely candidates. Log-probabilities are negative; the best is the one nearest to 0."""
    totals, places = (scores[:, None] + log_probabilities).flatten().topk(size, largest=False)
    return places // log_probabilities.shape[1], places % log_probabilities.shape[1], totals


def wrong_best_last(scores, log_probabilities, size):
    """The right candidates in the wrong order: the best comes first."""
    return tuple(
        part.flip(0) for part in _pick(scores[:, None] + log_probabilities, size, log_probabilities.shape[1])
    )


def wrong_along_words(scores, log_probabilities, size):
    """You add the scores along the words, not along the beginnings: an axis is missing. It only runs where K and V
    happen to be equal, or K is 1."""
    return _pick(scores + log_probabilities, size, log_probabilities.shape[1])


def cases() -> Iterator[tuple[str, tuple]]:
    yield "one beginning, one word", _case(1, 1, 1, 1)
    yield "the first step: one beginning", _case(2, 1, 3, 2)
    yield "two beginnings, keep one", _case(3, 2, 3, 1)
    yield "as many beginnings as words", _case(4, 3, 3, 3)
    yield "two beginnings, keep all", _case(5, 2, 2, 4)
    yield "three beginnings, five words", _case(6, 3, 5, 3)
    scores, log_probabilities, _ = _case(7, 3, 4, 3)
    yield "one good beginning, two hopeless", (torch.tensor([-9.0, -0.5, -8.0]).double(), log_probabilities, 3)
    yield "an impossible beginning", (torch.tensor([-0.5, -torch.inf, -8.0]).double(), log_probabilities, 3)


def _case(seed: int, beginnings: int, words: int, size: int) -> tuple[Tensor, Tensor, int]:
    scores = -torch.tensor(draw(seed, beginnings, digits=2), dtype=torch.float64).abs() - 0.1
    logits = torch.tensor(draw(seed + 50, beginnings, words, digits=2), dtype=torch.float64)
    return scores, torch.log_softmax(logits, dim=-1), size
