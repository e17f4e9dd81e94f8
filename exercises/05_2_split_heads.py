"""5.2 · Split into heads, and back · medium · 10 minutes

Write `split_heads(states, heads)` in PyTorch: cut each state into equal slices, one a head. Head n gets the n-th
slice of every state, neighbouring numbers together, so that joining the slices again gives the state.

- `states`: shape (B, L, D). `heads`: N, which divides D.
- Result: shape (B, N, L, D / N).
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from lib.exercise_files import draw

NAME = "split_heads"
HINTS = (
    "Two moves: cut the last axis in two, then bring the heads forward.",
    "Cutting D into (N, D / N) gives (B, L, N, D / N). Which two axes must change places now?",
    "`reshape` never moves numbers, it only counts them anew; `transpose` moves them. A shape can be right and "
    "the numbers in the wrong place: try it with `torch.arange(12.).view(1, 2, 6)`.",
)


def stub(states: Tensor, heads: int) -> Tensor:
    """(B, L, D) -> (B, N, L, D / N)"""
    ...


def solution(states: Tensor, heads: int) -> Tensor:
    return states.unflatten(-1, (heads, -1)).transpose(1, 2)


def reference(states: Tensor, heads: int) -> Tensor:
    size = states.shape[-1] // heads
    return torch.stack([states[:, :, n * size : (n + 1) * size] for n in range(heads)], dim=1)


def violation(result: Tensor, states: Tensor, heads: int) -> str | None:
    if torch.equal(torch.cat(list(result.unbind(1)), dim=-1), states):
        return None
    first, size = states[0, 0], states.shape[-1] // heads
    mine = torch.cat(list(result[0, :, 0]))
    if not torch.equal(mine, first):
        return "the slices of the first state, joined again, are not that state"
    return f"the slices of {size} of some state, joined again, are not that state"


def wrong_reshape_only(states, heads):
    """The shape is right and the numbers are in the wrong place: `reshape` or `view` alone cuts across the words, so
    a head gets whole states of some places and nothing of others. An exchange of axes is missing."""
    return states.reshape(states.shape[0], heads, states.shape[1], -1)


def wrong_interleaved(states, heads):
    """Head n gets every N-th number, not a slice of neighbours: you cut D into (D / N, N) instead of (N, D / N)."""
    return states.unflatten(-1, (-1, heads)).permute(0, 3, 1, 2)


def wrong_not_moved(states, heads):
    """The heads stand after the places: (B, L, N, D / N). A product of matrices takes the last two axes, so the heads
    must come before the places."""
    return states.unflatten(-1, (heads, -1))


def wrong_heads_first(states, heads):
    """The heads stand before the batch. Sentences come first everywhere in this course."""
    return states.unflatten(-1, (heads, -1)).permute(2, 0, 1, 3)


def wrong_copied(states, heads):
    """Every head gets the whole state. Then N heads cost N times as much; each should work on its own slice."""
    return states[:, None].repeat(1, heads, 1, 1)


def wrong_transposed(states, heads):
    """Places and numbers have changed places: (B, N, D / N, L). That is how keys are turned just before the product,
    not how heads are kept."""
    return states.unflatten(-1, (heads, -1)).permute(0, 2, 3, 1)


def wrong_order(states, heads):
    """The heads are in the wrong order: the first slice should go to head 0."""
    return states.unflatten(-1, (heads, -1)).transpose(1, 2).flip(1)


def cases() -> Iterator[tuple[str, tuple]]:
    for b, length, size, heads in (
        (1, 1, 1, 1),
        (1, 1, 4, 2),
        (1, 3, 4, 1),
        (1, 2, 4, 2),
        (2, 2, 4, 2),
        (1, 3, 9, 3),
        (2, 3, 8, 4),
        (3, 5, 12, 2),
    ):
        yield (
            f"B={b}, L={length}, D={size}, {heads} heads",
            (
                torch.tensor(draw(1, b, length, size, digits=2), dtype=torch.float64),
                heads,
            ),
        )
