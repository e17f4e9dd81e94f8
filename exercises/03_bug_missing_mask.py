"""3.bug · The model that translates differently in company · easy · 10 minutes

Alone, a sentence gets one context; beside a longer sentence it gets another. The symptom is measured below.

- `query`: shape (B, T, D). `keys`: shape (B, S, D). `values`: shape (B, S, Dv). `mask`: shape (B, S), boolean, True
  for a real word.
- Result: the context, shape (B, T, Dv), and the weights, shape (B, T, S). A sentence without a real word has
  weights and a context of zeros.

Say first where the weight of the real words has gone. Then repair the function.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from lib.exercise_files import draw

NAME = "careless_attend"
HINTS = (
    "Which of the four arguments is never read?",
    "The weight on padding has to go back to the real words, in their own proportions. Who decides about "
    "proportions: scores, weights or values?",
    "You have written this part already, in exercise 3.1.",
)
SYMPTOM = "the largest change of a sentence's context when a longer sentence stands beside it"


def stub(query: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ keys.transpose(1, 2)  # (B, T, S)
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


def solution(query: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ keys.transpose(1, 2)  # (B, T, S)
    padding = ~mask.unsqueeze(1)  # (B, 1, S)
    weights = torch.softmax(scores.masked_fill(padding, torch.finfo(scores.dtype).min), dim=-1)
    weights = weights.masked_fill(padding, 0.0)
    return weights @ values, weights


def reference(query: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """PyTorch's own attention over the real words of each sentence; over unit vectors it gives the weights."""
    attention = torch.nn.functional.scaled_dot_product_attention
    context = torch.zeros(*query.shape[:2], values.shape[-1], dtype=query.dtype)
    weights = torch.zeros(*query.shape[:2], keys.shape[1], dtype=query.dtype)
    for b, real in enumerate(mask):
        if real.any():
            units = torch.eye(int(real.sum()), dtype=query.dtype)
            context[b] = attention(query[b], keys[b, real], values[b, real], scale=1.0)
            weights[b, :, real] = attention(query[b], keys[b, real], units, scale=1.0)
    return context, weights


def violation(result: tuple, query: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> str | None:
    context, weights = result
    if weights.isnan().any() or context.isnan().any():
        return f"{int(weights.isnan().sum())} weights and {int(context.isnan().sum())} numbers of the context are nan"
    if weights[~mask[:, None].expand_as(weights)].any():
        most = float(weights.sum(-1, keepdim=True).sub((weights * mask[:, None]).sum(-1, keepdim=True)).max())
        return f"up to {most:.3g} of a row's weight lies on padding; it must be 0"
    sums = weights.sum(-1)[mask.any(1)]
    if (sums - 1).abs().max() > 1e-4:
        return f"a row of weights sums to {float(sums[(sums - 1).abs() > 1e-4][0]):.3g}; it must sum to 1"
    return None


def wrong_mask_after(query, keys, values, mask):
    """You mask after the softmax. Nothing is read from padding any more, but the weight it had is lost: the rows do
    not sum to 1, and the context is too small, by an amount that still depends on the neighbours."""
    weights = torch.softmax(query @ keys.transpose(1, 2), dim=-1) * mask[:, None]
    return weights @ values, weights


def wrong_values_zeroed(query, keys, values, mask):
    """You set the values of padding to zero. What is read there is nothing now, but it still takes weight away from
    the real words."""
    weights = torch.softmax(query @ keys.transpose(1, 2), dim=-1)
    return weights @ (values * mask[:, :, None]), weights


def wrong_keys_zeroed(query, keys, values, mask):
    """You set the keys, or the scores, of padding to zero. A score of 0 is not low: exp(0) is 1."""
    weights = torch.softmax(query @ (keys * mask[:, :, None]).transpose(1, 2), dim=-1)
    return weights @ values, weights


def wrong_inverted(query, keys, values, mask):
    """The mask is the wrong way round: only padding is looked at. True is a real word."""
    scores = (query @ keys.transpose(1, 2)).masked_fill(mask[:, None], torch.finfo(query.dtype).min)
    weights = torch.softmax(scores, dim=-1).masked_fill(mask[:, None], 0.0)
    return weights @ values, weights


def wrong_nan(query, keys, values, mask):
    """With a sentence that has no real word you get nan: all its scores are minus infinity."""
    weights = torch.softmax((query @ keys.transpose(1, 2)).masked_fill(~mask[:, None], -torch.inf), dim=-1)
    return weights @ values, weights


def wrong_uniform_when_empty(query, keys, values, mask):
    """With a sentence that has no real word the weight is spread evenly over padding: equally low scores are still
    equal."""
    scores = (query @ keys.transpose(1, 2)).masked_fill(~mask[:, None], torch.finfo(query.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


def cases() -> Iterator[tuple[str, tuple]]:
    yield "one word", _case(1, 1, 1, 1, 1, [1])
    yield "one real word, one of padding", _case(2, 1, 2, 2, 2, [1])
    yield "a sentence without a real word", _case(3, 1, 2, 2, 2, [0])
    yield "as many steps as source words", _case(4, 3, 3, 2, 2, [2])
    yield "all sizes different", _case(5, 3, 4, 5, 6, [4, 2])
    yield "a full, a short and an empty sentence", _case(6, 2, 4, 3, 2, [4, 1, 0])
    query, *rest = _case(7, 2, 4, 3, 2, [4, 2])
    yield "scores around 1000", (1000 * query, *rest)


def _case(seed: int, t: int, s: int, d: int, dv: int, lengths: list[int]) -> tuple[Tensor, ...]:
    b, mask = len(lengths), torch.arange(s)[None] < torch.tensor(lengths)[:, None]
    shapes = (b, t, d), (b, s, d), (b, s, dv)
    drawn = (torch.tensor(draw(10 * seed + i, *shape), dtype=torch.float64) for i, shape in enumerate(shapes))
    return *drawn, mask


def symptom(function) -> float:
    query, states, _, mask = _case(8, 1, 4, 8, 1, [4])
    beside = torch.cat([states, torch.zeros(1, 6, 8, dtype=states.dtype)], dim=1)
    alone, _ = function(query, states, states, mask)
    company, _ = function(query, beside, beside, torch.arange(10)[None] < 4)
    return float((alone - company).abs().max())
