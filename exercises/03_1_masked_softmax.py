"""3.1 · Masked softmax · medium · 15 minutes

Write `masked_weights(scores, mask)` in PyTorch: softmax over the source words, as if padding were not there.

- `scores`: shape (B, T, S), any size of numbers. `mask`: shape (B, S), boolean, True for a real word; the same
  source words are real for every target step.
- Result: shape (B, T, S), the type of `scores`. Weights on padding are exactly 0; every other row sums to 1; a
  sentence without a single real word gets zeros, never nan. `scores` stays as it was.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from lib.exercise_files import draw

NAME = "masked_weights"
HINTS = (
    "The shapes (B, T, S) and (B, S) do not fit each other. Where does the mask need an axis of length 1?",
    "Who gets weight is decided by the scores. Which score has a power of 0?",
    "Minus infinity everywhere in a row gives nan. Either use the lowest finite number, `torch.finfo(…).min`, or "
    "repair the rows without a real word at the end. In both cases: what do these rows look like before the last "
    "line?",
)


def stub(scores: Tensor, mask: Tensor) -> Tensor:
    """Softmax over the last axis, real words only."""
    ...


def solution(scores: Tensor, mask: Tensor) -> Tensor:
    mask = mask.unsqueeze(1)  # (B, 1, S)
    lowest = torch.finfo(scores.dtype).min
    weights = torch.softmax(scores.masked_fill(~mask, lowest), dim=-1)  # (B, T, S)
    return weights.masked_fill(~mask, 0.0)  # for a row without any real word


def reference(scores: Tensor, mask: Tensor) -> Tensor:
    """Each row on its own, over its real words only."""
    weights = torch.zeros_like(scores)
    for b in range(scores.shape[0]):
        for t in range(scores.shape[1]):
            real = mask[b].nonzero().flatten()
            for i in real:
                weights[b, t, i] = 1 / torch.exp(scores[b, t, real] - scores[b, t, i]).sum()
    return weights


def violation(result: Tensor, scores: Tensor, mask: Tensor) -> str | None:
    if result.isnan().any():
        return f"{int(result.isnan().sum())} of {result.numel()} weights are nan"
    real = mask[:, None].expand_as(scores)
    if result[~real].any():
        return f"padding has weights of up to {result[~real].max():.3g}; they must be exactly 0"
    for b, t in mask.any(1)[:, None].expand(scores.shape[:2]).nonzero().tolist():
        if abs(float(result[b, t].sum()) - 1) > 1e-4:
            return f"row [{b}, {t}] sums to {float(result[b, t].sum()):.3g}; it must sum to 1"
    return None


def wrong_no_mask(scores, mask):
    """The mask is not used: padding gets its share of the weight."""
    return torch.softmax(scores, dim=-1)


def wrong_mask_after(scores, mask):
    """You mask after the softmax. The weights on padding are 0, but what they had is lost, and the rows no longer sum
    to 1."""
    return torch.softmax(scores, dim=-1) * mask[:, None]


def wrong_mask_times_score(scores, mask):
    """You multiply the scores by the mask. A score of 0 is not low: exp(0) is 1, so padding still gets weight."""
    return torch.softmax(scores * mask[:, None], dim=-1)


def wrong_inverted(scores, mask):
    """The mask is the wrong way round: the real words are hidden and padding is looked at. True is a real word."""
    mask = ~mask[:, None]
    return torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), dim=-1).masked_fill(~mask, 0.0)


def wrong_nan(scores, mask):
    """A sentence without a real word gives nan: all its scores are minus infinity. One nan spoils every parameter at
    the next step of training."""
    return torch.softmax(scores.masked_fill(~mask[:, None], -torch.inf), dim=-1)


def wrong_uniform_when_empty(scores, mask):
    """A sentence without a real word spreads its weight evenly over padding. All its scores are equally low, and a
    softmax sees differences only."""
    return torch.softmax(scores.masked_fill(~mask[:, None], torch.finfo(scores.dtype).min), dim=-1)


def wrong_axis(scores, mask):
    """The softmax runs over the wrong axis, the target steps: your columns sum to 1, not your rows."""
    scores = scores.masked_fill(~mask[:, None], torch.finfo(scores.dtype).min)
    return torch.softmax(scores, dim=1).masked_fill(~mask[:, None], 0.0)


def wrong_in_place(scores, mask):
    """`masked_fill_`, with an underscore at its end, writes into the caller's scores. Whoever draws them after you
    finds your lowest numbers there."""
    scores.masked_fill_(~mask[:, None], torch.finfo(scores.dtype).min)
    return torch.softmax(scores, dim=-1).masked_fill(~mask[:, None], 0.0)


def wrong_overflow(scores, mask):
    """You compute the powers yourself: exp of a large score is infinite, and the row becomes nan. `torch.softmax`
    takes the largest score away first."""
    powers = torch.exp(scores) * mask[:, None]
    return powers / powers.sum(-1, keepdim=True).clamp(min=torch.finfo(scores.dtype).tiny)


def cases() -> Iterator[tuple[str, tuple]]:
    yield "one word", _case(1, 1, 1, [1])
    yield "a sentence without a real word", _case(2, 1, 2, [0])
    yield "one real word, one of padding", _case(3, 1, 2, [1])
    yield "two steps, no padding", _case(4, 2, 3, [3])
    yield "as many steps as source words", _case(5, 3, 3, [2, 3])
    yield "all sizes different", _case(6, 3, 5, [5, 2])
    yield "one full and one empty sentence", _case(7, 2, 4, [4, 0])
    yield "padding on the left", (_tensor(8, 1, 2, 3), torch.tensor([[False, True, True]]))
    scores, mask = _case(9, 2, 4, [4, 2])
    yield "scores around 1000", (1000 + scores, mask)
    yield "scores around -1000", (scores - 1000, mask)


def _tensor(seed: int, *shape: int) -> Tensor:
    return torch.tensor(draw(seed, *shape), dtype=torch.float64)


def _case(seed: int, steps: int, length: int, lengths: list[int]) -> tuple[Tensor, Tensor]:
    return _tensor(seed, len(lengths), steps, length), torch.arange(length)[None] < torch.tensor(lengths)[:, None]
