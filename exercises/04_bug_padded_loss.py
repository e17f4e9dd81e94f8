"""4.bug · The loss that depends on the neighbours · easy · 10 minutes

A colleague reports the perplexity of a model, exp of the loss per word. The same two words "improve" when the batch
gets wider. The symptom is measured below.

- `logits`: shape (B, T, V). `target`: shape (B, T), the right ids. `mask`: shape (B, T), boolean, True for a real
  word; in this corpus padding is done with `</s>`, so an id does not tell.
- Result: a tensor of shape (): exp of the mean of -log p(y_t) over the real words of the batch, all sentences
  together. A batch without a real word has perplexity 1.

Say first what is so easy to predict. Then repair the function.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional as F

from lib.exercise_files import draw

NAME = "perplexity"
HINTS = (
    "How many numbers go into the mean, and how many of them are words?",
    "A mean has a sum and a number. Both have to leave out padding.",
    "`logits[mask]` takes the real places only. What is the mean of nothing?",
)
SYMPTOM = "the change of the perplexity of two words when their batch grows from 2 to 40 places"


def stub(logits: Tensor, target: Tensor, mask: Tensor) -> Tensor:
    losses = F.cross_entropy(logits.flatten(0, 1), target.flatten(), reduction="none")  # (B * T)
    return losses.mean().exp()


def solution(logits: Tensor, target: Tensor, mask: Tensor) -> Tensor:
    losses = F.cross_entropy(logits[mask], target[mask], reduction="none")  # (N), the real words
    return (losses.sum() / mask.sum().clamp(min=1)).exp()


def reference(logits: Tensor, target: Tensor, mask: Tensor) -> Tensor:
    """The geometric mean of 1 / p over the real words."""
    found = [float(torch.softmax(logits[b, t], 0)[target[b, t]]) for b, t in mask.nonzero().tolist()]
    mean = math.prod(found) ** (-1 / len(found)) if found else 1.0
    return torch.tensor(mean, dtype=logits.dtype)


def violation(result: Tensor, logits: Tensor, target: Tensor, mask: Tensor) -> str | None:
    if not result.isfinite():
        return f"the perplexity is {float(result)}"
    if result < 1 - 1e-6:
        return f"the perplexity is {float(result):.3g}; it is never below 1"
    return None


def _losses(logits, target):
    return F.cross_entropy(logits.flatten(0, 1), target.flatten(), reduction="none").view(target.shape)


def wrong_divided_by_all(logits, target, mask):
    """The losses of padding are zero now, but you still divide by all places. The more padding, the better the model
    looks."""
    return (_losses(logits, target) * mask).mean().exp()


def wrong_not_divided(logits, target, mask):
    """You take exp of the sum. It grows with every word; a perplexity is per word."""
    return (_losses(logits, target) * mask).sum().exp()


def wrong_by_sentence(logits, target, mask):
    """You average within each sentence and then over the sentences. A word in a short sentence then counts more than
    one in a long sentence."""
    means = (_losses(logits, target) * mask).sum(1) / mask.sum(1).clamp(min=1)
    return (means.sum() / mask.any(1).sum().clamp(min=1)).exp()


def wrong_by_id(logits, target, mask):
    """You know padding by its id. Here it is the id of `</s>`, so all real ends are lost as well; the mask knows."""
    real = target != 2
    return ((_losses(logits, target) * real).sum() / real.sum().clamp(min=1)).exp()


def wrong_zeroed_logits(logits, target, mask):
    """You set the logits of padding to zero. That is a guess among all words, which costs log V at every place of
    padding."""
    return _losses(logits * mask[..., None], target).mean().exp()


def wrong_nan_when_empty(logits, target, mask):
    """The mean over no word at all is nan. A batch without a real word should change nothing."""
    return F.cross_entropy(logits[mask], target[mask]).exp()


def wrong_exp_first(logits, target, mask):
    """You average the perplexities of the words. exp comes after the mean: one very unlikely word would outweigh all
    others."""
    return (_losses(logits, target).exp() * mask).sum() / mask.sum() if mask.any() else logits.new_ones(())


def cases() -> Iterator[tuple[str, tuple]]:
    yield "one word", _case(1, 3, [1], 1)
    yield "one word, one place of padding", _case(2, 3, [1], 2)
    yield "no real word", _case(3, 3, [0], 2)
    yield "two words, no padding", _case(4, 4, [2], 2)
    yield "a long and a short sentence", _case(5, 4, [4, 1], 5)
    yield "three sentences, one empty", _case(6, 5, [3, 0, 2], 4)


def _case(seed: int, vocabulary: int, lengths: list[int], width: int) -> tuple[Tensor, ...]:
    logits = torch.tensor(draw(seed, len(lengths), width, vocabulary), dtype=torch.float64)
    logits[..., 2] += 2  # a model that has learned to write </s> after </s>
    mask = torch.arange(width)[None] < torch.tensor(lengths)[:, None]
    last = torch.arange(width)[None] == torch.tensor(lengths)[:, None] - 1
    words = torch.arange(mask.numel()).view(mask.shape) % 2
    return logits, words.masked_fill(last | ~mask, 2), mask


def symptom(function) -> float:
    logits, target, mask = _case(7, 4, [2], 40)
    logits[:, 2:, 2] += 4
    return abs(float(function(logits[:, :2], target[:, :2], mask[:, :2]) - function(logits, target, mask)))
