"""5.3 · Multi-head attention from three projections · hard · 25 minutes

Write `multi_head(queries, memory, W_q, W_k, W_v, W_o, heads)` in PyTorch. Queries, keys and values are projections:
`queries @ W_q.T`, `memory @ W_k.T` and `memory @ W_v.T`. Slice n of a query looks up slice n of the keys and values
by the scaled dot product; what the heads find is joined again and goes through `W_o`.

- `queries`: shape (B, T, D). `memory`: shape (B, S, D). The four matrices: shape (D, D), no bias. `heads`: N, which
  divides D.
- Result: shape (B, T, D).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional as F

from lib.exercise_files import draw

NAME = "multi_head"
HINTS = (
    "Use your `split_heads` of exercise 5.2 three times. The scores then have the shape (B, N, T, S).",
    "How long are the vectors whose dot product you scale? Not D any more.",
    "Merging undoes both moves of splitting, in the opposite order: exchange the axes first, then flatten the "
    "last two.",
)


def stub(
    queries: Tensor,
    memory: Tensor,
    W_q: Tensor,
    W_k: Tensor,
    W_v: Tensor,
    W_o: Tensor,
    heads: int,
) -> Tensor:
    """Several small lookups side by side."""
    ...


def solution(
    queries: Tensor,
    memory: Tensor,
    W_q: Tensor,
    W_k: Tensor,
    W_v: Tensor,
    W_o: Tensor,
    heads: int,
) -> Tensor:
    q, k, v = (
        projected.unflatten(-1, (heads, -1)).transpose(1, 2)  # (B, N, T or S, D / N)
        for projected in (queries @ W_q.T, memory @ W_k.T, memory @ W_v.T)
    )
    weights = torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, dim=-1)  # (B, N, T, S)
    return (weights @ v).transpose(1, 2).flatten(2) @ W_o.T  # (B, T, D)


def reference(
    queries: Tensor, memory: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor, heads: int
) -> Tensor:
    """PyTorch's own multi-head attention, which wants the places first."""
    found, _ = F.multi_head_attention_forward(
        queries.transpose(0, 1),
        memory.transpose(0, 1),
        memory.transpose(0, 1),
        queries.shape[-1],
        heads,
        torch.cat([W_q, W_k, W_v]),
        None,
        None,
        None,
        False,
        0.0,
        W_o,
        None,
        training=False,
        need_weights=False,
    )
    return found.transpose(0, 1)


def _attend(q, k, v, heads, scale=None, axis=-1):
    q, k, v = (part.unflatten(-1, (heads, -1)).transpose(1, 2) for part in (q, k, v))
    scale = math.sqrt(q.shape[-1]) if scale is None else scale
    return torch.softmax(q @ k.transpose(-1, -2) / scale, dim=axis) @ v  # (B, N, T, D / N)


def _merge(found):
    return found.transpose(1, 2).flatten(2)


def wrong_no_scale(queries, memory, W_q, W_k, W_v, W_o, heads):
    """The scores are not scaled. The longer the vectors, the larger their dot products, and the softmax soon gives
    one place everything."""
    return _merge(_attend(queries @ W_q.T, memory @ W_k.T, memory @ W_v.T, heads, scale=1.0)) @ W_o.T


def wrong_scale_of_state(queries, memory, W_q, W_k, W_v, W_o, heads):
    """You scale by the root of D. The vectors that meet in a head have D / N numbers, and their dot product is
    smaller accordingly."""
    scale = math.sqrt(queries.shape[-1])
    return _merge(_attend(queries @ W_q.T, memory @ W_k.T, memory @ W_v.T, heads, scale=scale)) @ W_o.T


def wrong_scaled_without_root(queries, memory, W_q, W_k, W_v, W_o, heads):
    """The root is missing: you divide by D / N itself. The *variance* of the dot product is D / N, its usual size is
    the root of that."""
    scale = queries.shape[-1] / heads
    return _merge(_attend(queries @ W_q.T, memory @ W_k.T, memory @ W_v.T, heads, scale=scale)) @ W_o.T


def wrong_values_not_projected(queries, memory, W_q, W_k, W_v, W_o, heads):
    """The values are the memory itself, W_v is not used. What a place shows when it is looked for and what it gives
    are two projections."""
    return _merge(_attend(queries @ W_q.T, memory @ W_k.T, memory, heads)) @ W_o.T


def wrong_keys_as_values(queries, memory, W_q, W_k, W_v, W_o, heads):
    """You average the keys. Keys are for being found; the values are what is read."""
    return _merge(_attend(queries @ W_q.T, memory @ W_k.T, memory @ W_k.T, heads)) @ W_o.T


def wrong_no_output(queries, memory, W_q, W_k, W_v, W_o, heads):
    """The last projection, W_o, is missing. It lets the heads' findings mix."""
    return _merge(_attend(queries @ W_q.T, memory @ W_k.T, memory @ W_v.T, heads))


def wrong_not_transposed(queries, memory, W_q, W_k, W_v, W_o, heads):
    """The matrices are turned round: `x @ W` instead of `x @ W.T`. They are kept as in `nn.Linear`, a row for each
    number that comes out."""
    return _merge(_attend(queries @ W_q, memory @ W_k, memory @ W_v, heads)) @ W_o


def wrong_merged_by_reshape(queries, memory, W_q, W_k, W_v, W_o, heads):
    """The heads are joined by `reshape` alone. Each row then holds several places of one head, not all heads of one
    place: exchange the axes first."""
    found = _attend(queries @ W_q.T, memory @ W_k.T, memory @ W_v.T, heads)
    return found.reshape(queries.shape) @ W_o.T


def wrong_axis(queries, memory, W_q, W_k, W_v, W_o, heads):
    """The softmax runs over the wrong axis: for each place of the memory your weights sum to 1 over the questions."""
    return _merge(_attend(queries @ W_q.T, memory @ W_k.T, memory @ W_v.T, heads, axis=-2)) @ W_o.T


def wrong_one_head(queries, memory, W_q, W_k, W_v, W_o, heads):
    """There is one head only: all D numbers make one score. Several heads can look at several places at once."""
    return _merge(_attend(queries @ W_q.T, memory @ W_k.T, memory @ W_v.T, 1)) @ W_o.T


def wrong_projections_exchanged(queries, memory, W_q, W_k, W_v, W_o, heads):
    """Query and key have exchanged their matrices. For queries that are not the memory itself this is another
    question."""
    return _merge(_attend(queries @ W_k.T, memory @ W_q.T, memory @ W_v.T, heads)) @ W_o.T


def cases() -> Iterator[tuple[str, tuple]]:
    for b, t, s, size, heads in (
        (1, 1, 1, 1, 1),
        (1, 1, 2, 2, 1),
        (1, 2, 2, 2, 2),
        (1, 3, 1, 4, 2),
        (1, 3, 3, 4, 2),
        (2, 3, 4, 6, 3),
        (3, 2, 5, 8, 2),
    ):
        yield f"B={b}, T={t}, S={s}, D={size}, {heads} heads", _case(b, t, s, size, heads)


def _case(b: int, t: int, s: int, size: int, heads: int) -> tuple:
    shapes = (b, t, size), (b, s, size), *[(size, size)] * 4
    return *(torch.tensor(draw(i, *shape), dtype=torch.float64) for i, shape in enumerate(shapes)), heads
