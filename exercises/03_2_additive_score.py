"""3.2 · The additive score · medium · 15 minutes

Write `additive_score(query, keys, query_weight, key_weight, v)` in PyTorch, without a loop: entry [b, t, i] is vᵀ
tanh(W_s q_t + W_h k_i).

- `query`: shape (B, T, Dq). `keys`: shape (B, S, Dk). `query_weight`, which is W_s: shape (A, Dq). `key_weight`,
  which is W_h: shape (A, Dk). `v`: shape (A).
- Result: shape (B, T, S).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from lib.exercise_files import draw

NAME = "additive_score"
HINTS = (
    "Project first: what are the shapes of W_s q and W_h k, for all queries and keys at once?",
    "Every projected query meets every projected key. Give one of them a new axis for S and the other one for T; "
    "adding then does the rest.",
    "From (B, T, S, A) to (B, T, S): which product takes v away with the last axis?",
)


def stub(query: Tensor, keys: Tensor, query_weight: Tensor, key_weight: Tensor, v: Tensor) -> Tensor:
    """vᵀ tanh(W_s q_t + W_h k_i) for every t and i."""
    ...


def solution(query: Tensor, keys: Tensor, query_weight: Tensor, key_weight: Tensor, v: Tensor) -> Tensor:
    queries = (query @ query_weight.T).unsqueeze(2)  # (B, T, 1, A)
    projected = (keys @ key_weight.T).unsqueeze(1)  # (B, 1, S, A)
    return torch.tanh(queries + projected) @ v  # (B, T, S)


def reference(query: Tensor, keys: Tensor, query_weight: Tensor, key_weight: Tensor, v: Tensor) -> Tensor:
    """Number by number."""
    (batch, steps, _), length = query.shape, keys.shape[1]
    scores = torch.zeros(batch, steps, length, dtype=query.dtype)
    for b in range(batch):
        left, right = [query_weight @ q for q in query[b]], [key_weight @ k for k in keys[b]]
        for t in range(steps):
            for i in range(length):
                sums = (left[t] + right[i]).tolist()
                scores[b, t, i] = sum(a * math.tanh(x) for a, x in zip(v.tolist(), sums, strict=True))
    return scores


def violation(
    result: Tensor, query: Tensor, keys: Tensor, query_weight: Tensor, key_weight: Tensor, v: Tensor
) -> str | None:
    most = float(v.abs().sum())
    if float(result.abs().max()) > most + 1e-6:
        return (
            f"a score is {float(result.abs().max()):.3g}; tanh lies between -1 and 1, so no score can be larger "
            f"than the sum of |v|, {most:.3g}"
        )
    return None


def wrong_swapped(query, keys, query_weight, key_weight, v):
    """Steps and source words have changed places: your scores have the shape (B, S, T). A softmax over the last axis
    would share out weight among the questions."""
    return torch.tanh((keys @ key_weight.T)[:, :, None] + (query @ query_weight.T)[:, None]) @ v


def wrong_no_tanh(query, keys, query_weight, key_weight, v):
    """The tanh is missing. Without it the query adds the same number to all scores of a row, and the softmax takes no
    notice of it: every question gets the same answer."""
    return ((query @ query_weight.T)[:, :, None] + (keys @ key_weight.T)[:, None]) @ v


def wrong_tanh_last(query, keys, query_weight, key_weight, v):
    """tanh comes after v: you squash the finished score. It belongs to the hidden layer, before v weighs its
    units."""
    return torch.tanh(((query @ query_weight.T)[:, :, None] + (keys @ key_weight.T)[:, None]) @ v)


def wrong_two_tanhs(query, keys, query_weight, key_weight, v):
    """You squash query and key one by one and add afterwards. Then they never meet inside the tanh, and the query
    again adds the same number to every score of a row."""
    return (torch.tanh(query @ query_weight.T)[:, :, None] + torch.tanh(keys @ key_weight.T)[:, None]) @ v


def wrong_multiplied(query, keys, query_weight, key_weight, v):
    """You multiply the two projections. The additive score *adds* them, that is where its name comes from."""
    return torch.tanh((query @ query_weight.T)[:, :, None] * (keys @ key_weight.T)[:, None]) @ v


def wrong_no_v(query, keys, query_weight, key_weight, v):
    """v is not used: all hidden units count the same. It is v that learns which of them matter."""
    return torch.tanh((query @ query_weight.T)[:, :, None] + (keys @ key_weight.T)[:, None]).sum(-1)


def wrong_softmax(query, keys, query_weight, key_weight, v):
    """You give weights, not scores: the softmax comes later, together with the mask."""
    return torch.softmax(
        torch.tanh((query @ query_weight.T)[:, :, None] + (keys @ key_weight.T)[:, None]) @ v, dim=-1
    )


def wrong_not_transposed(query, keys, query_weight, key_weight, v):
    """A transpose is missing. The matrices have the shape (A, D), as in `nn.Linear`, so W q for rows q is `q @ W.T`.
    Yours only runs where A and D happen to be equal."""
    return torch.tanh((query @ query_weight)[:, :, None] + (keys @ key_weight)[:, None]) @ v


def wrong_same_place(query, keys, query_weight, key_weight, v):
    """You add query t to key t only, and the result is spread over a row. Every query must meet *every* key: one
    needs an axis of length 1 where the other has its places."""
    meeting = torch.tanh(query @ query_weight.T + keys @ key_weight.T) @ v  # (B, T), where T and S are equal
    return meeting[:, None].expand(-1, query.shape[1], -1).clone()


def cases() -> Iterator[tuple[str, tuple]]:
    for label, *sizes in (
        ("every size 1", 1, 1, 1, 1, 1, 1),
        ("one query, one key", 1, 1, 1, 2, 3, 4),
        ("one query, three keys", 1, 1, 3, 2, 2, 2),
        ("three queries, one key", 1, 3, 1, 2, 2, 2),
        ("as many queries as keys", 1, 2, 2, 2, 2, 2),
        ("a batch of two, all sizes different", 2, 4, 3, 5, 6, 7),
    ):
        yield label, _case(1, *sizes)
    query, keys, *weights = _case(2, 2, 3, 4, 3, 2, 5)
    yield "states around 1000", (1000 * query, 1000 * keys, *weights)


def _case(seed: int, b: int, t: int, s: int, dq: int, dk: int, a: int) -> tuple[Tensor, ...]:
    shapes = (b, t, dq), (b, s, dk), (a, dq), (a, dk), (a,)
    return tuple(torch.tensor(draw(10 * seed + i, *shape), dtype=torch.float64) for i, shape in enumerate(shapes))
