"""1.3 · The final states of two directions · medium · 10 minutes

An encoder that reads in both directions ends with a state for each layer and direction, in this order: layer 0
forwards, layer 0 backwards, layer 1 forwards, and so on. Write `join_directions(final, directions)` in PyTorch: one
state a layer, forwards first, to hand over to the decoder.

- `final`: shape (L * directions, B, D / directions), as `nn.LSTM` gives it. `directions`: 1 or 2.
- Result: shape (L, B, D).
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from lib.exercise_files import draw

NAME = "join_directions"
HINTS = (
    "The first axis counts two things at once. Which of them, layer or direction, changes faster?",
    "Cut the first axis in two: (L, directions, B, D / directions). Where must the directions stand, so that the two "
    "halves of one sentence's state lie side by side?",
    "`reshape` alone never moves numbers: the axes must be exchanged (`transpose`, `permute`) before two of them are "
    "made into one.",
)


def stub(final: Tensor, directions: int) -> Tensor:
    """(L * directions, B, D / directions) -> (L, B, D)"""
    ...


def solution(final: Tensor, directions: int) -> Tensor:
    by_layer = final.unflatten(0, (-1, directions))  # (L, directions, B, D / directions)
    return by_layer.transpose(1, 2).flatten(2)


def reference(final: Tensor, directions: int) -> Tensor:
    return torch.cat([final[i::directions] for i in range(directions)], dim=-1)


def wrong_reshape_only(final, directions):
    """The shape is right, but the halves of a state come from two sentences: `reshape` or `view` alone goes through
    the batch before it comes to the other direction. An exchange of axes is missing."""
    return final.reshape(len(final) // directions, final.shape[1], -1)


def wrong_directions_outside(final, directions):
    """You take the first half of the states for the forward ones. The directions alternate: a layer's two states are
    neighbours, and you join those of different layers."""
    return torch.cat(final.chunk(directions), dim=-1)


def wrong_backwards_first(final, directions):
    """The backward half comes first. The decoder would not mind, but everything here says forwards first."""
    return torch.cat([final[i::directions] for i in reversed(range(directions))], dim=-1)


def wrong_interleaved(final, directions):
    """The numbers of the two directions alternate within a state. They should follow each other as two halves."""
    return torch.stack([final[i::directions] for i in range(directions)], dim=-1).flatten(2)


def wrong_added(final, directions):
    """You add the directions. Then the decoder cannot tell what was read forwards from what was read backwards; put
    the two side by side."""
    return final.unflatten(0, (-1, directions)).sum(1)


def wrong_forwards_only(final, directions):
    """You keep the forward states only. What was read from right to left is lost."""
    return final[::directions]


def wrong_last_layer(final, directions):
    """You keep the last layer only. A decoder of L layers needs a state for each."""
    return torch.cat(list(final[-directions:]), dim=-1)[None]


def cases() -> Iterator[tuple[str, tuple]]:
    for layers, directions, b, half in (
        (1, 1, 1, 1),
        (1, 2, 1, 1),
        (1, 2, 1, 3),
        (1, 2, 3, 1),
        (2, 1, 2, 2),
        (2, 2, 1, 2),
        (2, 2, 3, 2),
        (3, 2, 2, 3),
    ):
        final = torch.tensor(draw(1, layers * directions, b, half, digits=2), dtype=torch.float64)
        yield (
            f"L={layers}, directions={directions}, B={b}",
            (final, directions),
        )
