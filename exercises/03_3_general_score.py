"""3.3 · The general score, keys projected once · hard · 20 minutes

Write `general_scorer(keys, weight)` in PyTorch. It does all that can be done once for a sentence, and returns a
*function* `score(query)` for every step that follows: entry [b, t, i] is q_tᵀ W k_i.

- `keys`: shape (B, S, Dk). `weight`, which is W: shape (Dq, Dk). Query and keys differ in size.
- Result: a function. Given a `query` of shape (B, T, Dq) it returns scores of shape (B, T, S). It must not use
  `weight` any more: the check destroys that matrix in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from lib.exercise_files import draw

NAME = "general_scorer"
HINTS = (
    "Put brackets into qᵀ W k. One way needs W at every step, the other only once.",
    "W k for keys that lie in rows is `keys @ weight.T`, of shape (B, S, Dq). It should be computed before the "
    "inner function begins.",
    "Define `def score(query): …` inside, return `score` without brackets after it. Which axes of the projected "
    "keys must change places for (B, T, Dq) @ (B, Dq, S)?",
)


def stub(keys: Tensor, weight: Tensor) -> Callable[[Tensor], Tensor]:
    """A function of the query: q_tᵀ W k_i, with W k_i computed once."""
    ...


def solution(keys: Tensor, weight: Tensor) -> Callable[[Tensor], Tensor]:
    projected = (keys @ weight.T).transpose(1, 2)  # (B, Dq, S), once for a sentence

    def score(query: Tensor) -> Tensor:
        return query @ projected  # (B, T, S), at every step

    return score


def reference(keys: Tensor, weight: Tensor) -> Callable[[Tensor], Tensor]:
    kept = weight.clone()
    return lambda query: torch.einsum("btq,qk,bsk->bts", query, kept, keys)


def call(function: Callable, keys: Tensor, weight: Tensor, query: Tensor) -> object:
    """Make the scorer, destroy the weight, score twice: a first query and the one that counts."""
    own = weight.clone()
    score = function(keys, own)
    own.fill_(torch.nan)
    if not callable(score):
        return score
    score(torch.zeros_like(query))
    return score(query)


def violation(result: Tensor, keys: Tensor, weight: Tensor, query: Tensor) -> str | None:
    if result.isnan().all():
        return "every score is nan: the matrix was destroyed after your scorer had been made, and it is still in use"
    return None


def wrong_late(keys, weight):
    """The matrix is used inside the inner function, so you project again for every word of the translation. The keys
    stay the same for a sentence: project *them*, once, outside."""
    return lambda query: query @ (keys @ weight.T).transpose(1, 2)


def wrong_no_weight(keys, weight):
    """The matrix is not used: that is the plain dot score. It only runs where query and key have the same size."""
    return lambda query: query @ keys.transpose(1, 2)


def wrong_weight_transposed(keys, weight):
    """W is turned round: you compute W^T k. Rows of W go with the query, columns with the key; it only runs where
    both have the same size."""
    projected = (keys @ weight).transpose(1, 2)
    return lambda query: query @ projected


def wrong_swapped(keys, weight):
    """Steps and source words have changed places: your scores have the shape (B, S, T)."""
    projected = keys @ weight.T
    return lambda query: projected @ query.transpose(1, 2)


def wrong_scaled(keys, weight):
    """You divide by the root of the size. The general score has a learned matrix, which can take care of the scale;
    the formula has no division."""
    projected = (keys @ weight.T).transpose(1, 2) / weight.shape[0] ** 0.5
    return lambda query: query @ projected


def wrong_first_answer_kept(keys, weight):
    """Your scorer keeps the scores of its first query and gives them again. What stays the same for a sentence are
    the keys; the question is new each time."""
    projected, kept = (keys @ weight.T).transpose(1, 2), []

    def score(query):
        kept.append(query @ projected)
        return kept[0]

    return score


def cases() -> Iterator[tuple[str, tuple]]:
    for label, b, t, s, dq, dk in (
        ("every size 1", 1, 1, 1, 1, 1),
        ("one query, one key", 1, 1, 1, 2, 3),
        ("one query, three keys", 1, 1, 3, 2, 2),
        ("as many queries as keys, square matrix", 1, 2, 2, 2, 2),
        ("three queries, one key", 2, 3, 1, 3, 2),
        ("all sizes different", 2, 4, 3, 5, 6),
    ):
        shapes = (b, s, dk), (dq, dk), (b, t, dq)
        yield label, tuple(torch.tensor(draw(i, *shape), dtype=torch.float64) for i, shape in enumerate(shapes))
