"""4.2 · The loss of the real words · medium · 15 minutes

Write `token_loss(logits, target, mask)` in PyTorch: the sum of -log p(y_t) over the real target words.

- `logits`: shape (B, T, V), the scores of all words of the vocabulary, ±1000 as well. `target`: shape (B, T), the
  right ids. `mask`: shape (B, T), boolean, True for a real word; padding may have any id.
- Result: a tensor of shape (), the type of `logits`. It is a sum, so that batches can be joined; 0 if no word is
  real.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional as F

from lib.exercise_files import draw

NAME = "token_loss"
HINTS = (
    "`logits[mask]` and `target[mask]` have the shapes (N, V) and (N), with N real words. Padding is gone before "
    "anything is computed.",
    "The logarithm of a softmax overflows, or is log 0, where `log_softmax` does not.",
    "What does `reduction` mean in `F.cross_entropy`, and what is its default?",
)


def stub(logits: Tensor, target: Tensor, mask: Tensor) -> Tensor:
    """-log p(y_t), summed over the real words."""
    ...


def solution(logits: Tensor, target: Tensor, mask: Tensor) -> Tensor:
    return F.cross_entropy(logits[mask], target[mask], reduction="sum")


def reference(logits: Tensor, target: Tensor, mask: Tensor) -> Tensor:
    """Word by word, with the largest logit taken away."""
    total = 0.0
    for b, t in mask.nonzero().tolist():
        row = logits[b, t].tolist()
        top = max(row)
        total += top + math.log(sum(math.exp(x - top) for x in row)) - row[int(target[b, t])]
    return torch.tensor(total, dtype=logits.dtype)


def violation(result: Tensor, logits: Tensor, target: Tensor, mask: Tensor) -> str | None:
    if not result.isfinite():
        return f"the loss is {float(result)}; with finite logits it is finite"
    if result < -1e-6:
        return f"the loss is {float(result):.3g}; -log of a probability is never negative"
    if not mask.any() and result != 0:
        return f"no word is real, and the loss is {float(result):.3g}; it must be 0"
    return None


def wrong_padding_counted(logits, target, mask):
    """Padding is counted in the loss. It is easy to predict, so the loss looks better the more of it there is, and
    the model spends its effort on it."""
    return F.cross_entropy(logits.flatten(0, 1), target.flatten(), reduction="sum")


def wrong_mean(logits, target, mask):
    """You return the mean, which is what `F.cross_entropy` does when it is not told otherwise. A sum is asked for:
    means of batches of different size cannot be joined."""
    return F.cross_entropy(logits[mask], target[mask])


def wrong_mean_of_rectangle(logits, target, mask):
    """You divide by all places of the batch, padding included. The same sentence then has another loss in a wider
    batch. A sum is asked for."""
    return F.cross_entropy(logits[mask], target[mask], reduction="sum") / mask.numel()


def wrong_zeroed_logits(logits, target, mask):
    """You set the logits of padding to zero. Equal logits are a guess among all words, and cost log V at every place
    of padding."""
    return F.cross_entropy((logits * mask[..., None]).flatten(0, 1), target.flatten(), reduction="sum")


def wrong_sign(logits, target, mask):
    """The sign is missing: your loss is the log-probability. An optimiser that makes it smaller would make the right
    words less likely."""
    return -F.cross_entropy(logits[mask], target[mask], reduction="sum")


def wrong_log_of_softmax(logits, target, mask):
    """You take the logarithm of a finished softmax. An unlikely word has a probability that is rounded to 0, and its
    loss is infinite."""
    chosen = torch.softmax(logits[mask], dim=-1).gather(-1, target[mask][:, None])
    return -chosen.log().sum()


def wrong_overflow(logits, target, mask):
    """exp of a large logit is infinite, and the loss with it. `log_softmax` takes the largest logit away first."""
    real = logits[mask]
    return (real.exp().sum(-1).log() - real.gather(-1, target[mask][:, None])[:, 0]).sum()


def wrong_axis(logits, target, mask):
    """The softmax runs over the wrong axis, the target steps. The words of the vocabulary compete for one place, the
    places do not compete for a word."""
    losses = -torch.log_softmax(logits, dim=1).gather(-1, target[..., None])[..., 0]
    return losses[mask].sum()


def wrong_pad_by_id(logits, target, mask):
    """You know padding by its id 0. The mask decides: another corpus has another id for it, and a real word may have
    this one."""
    return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=0, reduction="sum")


def cases() -> Iterator[tuple[str, tuple]]:
    yield "one word", _case(1, 2, [1])
    yield "no real word", _case(2, 2, [0])
    yield "one real word, one of padding", _case(3, 3, [1], width=2)
    yield "two words", _case(4, 3, [2])
    yield "two sentences", _case(5, 4, [3, 1])
    yield "three sentences, one empty", _case(6, 5, [4, 0, 2])
    logits, target, mask = _case(7, 3, [2, 1])
    yield "logits around 1000", (1000 + logits, target, mask)
    yield "logits between -1000 and 1000", (1000 * logits, logits.argmin(-1), mask)
    yield "a real word with the id 0", (logits, torch.tensor([[0, 1], [2, 1]]), mask)


def _case(seed: int, vocabulary: int, lengths: list[int], width: int = 0) -> tuple[Tensor, ...]:
    width = max(1, width, *lengths)
    logits = torch.tensor(draw(seed, len(lengths), width, vocabulary), dtype=torch.float64)
    mask = torch.arange(width)[None] < torch.tensor(lengths)[:, None]
    target = (torch.arange(mask.numel()).view(mask.shape) + seed) % (vocabulary - 1) + 1  # 1 … V - 1
    return logits, target * mask, mask
