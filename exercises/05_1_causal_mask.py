"""5.1 · The causal mask · easy · 5 minutes

Write `causal_mask(steps, past)` in PyTorch, without a loop: who may look at whom in the target.

- `steps`: T new words. `past`: how many words were there before them (0 in training; more with a key cache).
- Result: shape (T, past + T), boolean. Entry [t, i] is True where new word t may look at word i: all of the past,
  the new words before it, and itself.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

NAME = "causal_mask"
HINTS = (
    "Draw it for 3 steps and past 0: which corner is True?",
    "`tril` keeps the lower left corner, `triu` the upper right. Both take a number that moves the diagonal.",
    "With past 2, the first new word may see three words. By how much must the diagonal move to the right?",
)


def stub(steps: int, past: int) -> Tensor:
    """True where a new word may look."""
    ...


def solution(steps: int, past: int) -> Tensor:
    return torch.ones(steps, past + steps, dtype=torch.bool).tril(past)


def reference(steps: int, past: int) -> Tensor:
    return torch.tensor([[i <= past + t for i in range(past + steps)] for t in range(steps)])


def violation(result: Tensor, steps: int, past: int) -> str | None:
    for t, row in enumerate(result.tolist()):
        if any(row[past + t + 1 :]):
            return f"new word {t} sees word {row.index(True, past + t + 1)}, which comes after it"
        if not row[past + t]:
            return f"new word {t} does not see itself, word {past + t}"
        if not all(row[: past + t]):
            return f"new word {t} does not see word {row.index(False)}, which came before it"
    return None


def wrong_way_round(steps, past):
    """The mask is the wrong way round: every word sees itself and the *future*. That is what it is to prevent."""
    return torch.ones(steps, past + steps, dtype=torch.bool).triu(past)


def wrong_true_is_hidden(steps, past):
    """Your True means "hidden", as in some of PyTorch's own arguments. In this course True is what may be seen."""
    return ~torch.ones(steps, past + steps, dtype=torch.bool).tril(past)


def wrong_without_itself(steps, past):
    """No word sees itself. The first word of a sentence would have nothing to look at."""
    return torch.ones(steps, past + steps, dtype=torch.bool).tril(past - 1)


def wrong_past_ignored(steps, past):
    """The diagonal does not move with the past: the first new word sees only the very first word."""
    return torch.ones(steps, past + steps, dtype=torch.bool).tril()


def wrong_past_hidden(steps, past):
    """The past is hidden: the new words see each other only. With a key cache each word would forget all before
    it."""
    return torch.cat(
        [torch.zeros(steps, past, dtype=torch.bool), torch.ones(steps, steps, dtype=torch.bool).tril()], dim=1
    )


def wrong_one_too_far(steps, past):
    """Every word sees one word of the future: the one it should write. Training loss would fall to zero."""
    return torch.ones(steps, past + steps, dtype=torch.bool).tril(past + 1)


def wrong_numbers(steps, past):
    """You return numbers, 1 and 0. A mask is boolean here; added to scores, ones and zeros hide nothing."""
    return torch.ones(steps, past + steps).tril(past)


def wrong_square(steps, past):
    """There are no columns for the past: your mask is square. The keys of earlier words are there too."""
    return torch.ones(steps, steps, dtype=torch.bool).tril()


def cases() -> Iterator[tuple[str, tuple]]:
    for steps, past in ((1, 0), (2, 0), (3, 0), (1, 2), (2, 1), (2, 3), (5, 4)):
        yield f"{steps} steps, past {past}", (steps, past)
