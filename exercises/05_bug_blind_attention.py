"""5.bug · Attention that never sees the encoder · medium · 10 minutes

A popular kind of program computes its weights from the decoder alone. It trains, its loss falls, its heat maps look
neat. The symptom is measured below: exchange the source sentence for another, and the weights stay exactly the
same.

- `query`: shape (B, T, D), decoder states. `keys`: shape (B, S, D) and `values`: shape (B, S, Dv), of the encoder.
  `weight`: shape (D, D), a learned matrix.
- Result: the context, shape (B, T, Dv), and the weights, shape (B, T, S). The score must be that of Luong's
  *general* attention, q_tᵀ W k_i.

Say first which argument the weights do not depend on. Then repair the function.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from lib.exercise_files import draw

NAME = "look_up"
HINTS = (
    "Follow `keys` through the function. Which of its numbers are used?",
    "`query @ weight` is qᵀ W. What is missing to make it qᵀ W k?",
    "The product with the keys takes (B, T, D) to (B, T, S); then nothing has to be cut off, and a sentence may "
    "be as long as it likes.",
)
SYMPTOM = "the largest change of a weight when the source sentence is exchanged for another; it must not be zero"


def stub(query: Tensor, keys: Tensor, values: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ weight  # (B, T, D): a score for each of D places
    weights = torch.softmax(scores[..., : keys.shape[1]], dim=-1)  # (B, T, S): as many as the sentence has
    return weights @ values, weights


def solution(query: Tensor, keys: Tensor, values: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ weight @ keys.transpose(1, 2)  # (B, T, S)
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


def reference(query: Tensor, keys: Tensor, values: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """PyTorch's own attention for the context; over unit vectors it gives the weights."""
    attention = torch.nn.functional.scaled_dot_product_attention
    projected = torch.einsum("qk,bsk->bsq", weight, keys)
    units = torch.eye(keys.shape[1], dtype=keys.dtype).expand(len(keys), -1, -1)
    return attention(query, projected, values, scale=1.0), attention(query, projected, units, scale=1.0)


def violation(result: tuple, query: Tensor, keys: Tensor, values: Tensor, weight: Tensor) -> str | None:
    sums = result[1].sum(-1).flatten()
    if (sums - 1).abs().max() > 1e-4:
        return f"a row of weights sums to {float(sums[(sums - 1).abs() > 1e-4][0]):.3g}; it must sum to 1"
    return None


def wrong_dot(query, keys, values, weight):
    """Query and key meet now, but without the matrix: that is the plain dot score, and the parameters in W are never
    trained."""
    weights = torch.softmax(query @ keys.transpose(1, 2), dim=-1)
    return weights @ values, weights


def wrong_keys_only(query, keys, values, weight):
    """Your weights depend on the source only: each step of the decoder looks at the same place. Perhaps you *add*
    something from the query: that is the same for every place, and a softmax takes no notice of it. Query and key
    must be multiplied."""
    scores = (keys @ weight.T).sum(-1)[:, None].expand(-1, query.shape[1], -1)
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


def wrong_weight_transposed(query, keys, values, weight):
    """W is turned round: you score k_iᵀ W q_t. Its rows belong to the query, its columns to the key."""
    weights = torch.softmax(query @ weight.T @ keys.transpose(1, 2), dim=-1)
    return weights @ values, weights


def wrong_axis(query, keys, values, weight):
    """The softmax runs over the target steps: your columns sum to 1, not your rows."""
    weights = torch.softmax(query @ weight @ keys.transpose(1, 2), dim=1)
    return weights @ values, weights


def wrong_scaled(query, keys, values, weight):
    """You divide the scores by the root of D. The general score has no scale; its matrix can learn one."""
    weights = torch.softmax(query @ weight @ keys.transpose(1, 2) / query.shape[-1] ** 0.5, dim=-1)
    return weights @ values, weights


def wrong_context_from_query(query, keys, values, weight):
    """The weights are right, but the context is an average of the keys. What is read are the values."""
    weights = torch.softmax(query @ weight @ keys.transpose(1, 2), dim=-1)
    return weights @ keys, weights


def cases() -> Iterator[tuple[str, tuple]]:
    yield "one word", _case(1, 1, 1, 1, 2, 2)
    yield "one step, two words", _case(2, 1, 1, 2, 2, 2)
    yield "as many steps as words", _case(3, 1, 3, 3, 3, 3)
    yield "a sentence longer than a state", _case(4, 1, 2, 5, 3, 3)
    yield "all sizes different", _case(5, 2, 3, 4, 5, 6)


def _case(seed: int, b: int, t: int, s: int, d: int, dv: int) -> tuple[Tensor, ...]:
    shapes = (b, t, d), (b, s, d), (b, s, dv), (d, d)
    return tuple(torch.tensor(draw(10 * seed + i, *shape), dtype=torch.float64) for i, shape in enumerate(shapes))


def symptom(function) -> float:
    query, keys, values, weight = _case(6, 1, 1, 4, 5, 2)
    other = torch.tensor(draw(70, 1, 4, 5), dtype=torch.float64)
    return float((function(query, keys, values, weight)[1] - function(query, other, values, weight)[1]).abs().max())
