"""4.3 · The length penalty · easy · 10 minutes

Write `rescore(scores, lengths, alpha)` in plain Python: the score of each finished translation after the length
penalty of GNMT, `log P(Y) / lp(Y)` with `lp(Y) = ((5 + |Y|) / 6) ** alpha`.

- `scores`: a list of shape (N), the log-probability of each translation, never above 0. `lengths`: a list of shape
  (N), its words, `</s>` included. `alpha`: the strength, 0 or more.
- Result: a list of shape (N), higher is better. With `alpha=0` nothing changes; a translation of one word is never
  changed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

NAME = "rescore"
HINTS = (
    "Compute one on paper: a score of -2.4 and 7 words at alpha 1 give -1.2.",
    "Log-probabilities are negative, and a longer translation has a lower one. Which way does a division by a "
    "number above 1 move a negative number?",
    "What does the exponent apply to, the sum or the whole fraction?",
)


def stub(scores: list[float], lengths: list[int], alpha: float) -> list[float]:
    """log P(Y) / lp(Y) for each translation."""
    ...


def solution(scores: list[float], lengths: list[int], alpha: float) -> list[float]:
    return [score / ((5 + length) / 6) ** alpha for score, length in zip(scores, lengths, strict=True)]


def reference(scores: list[float], lengths: list[int], alpha: float) -> list[float]:
    """With logarithms: dividing by a power is taking away a multiple of the logarithm."""
    return [s * math.exp(-alpha * (math.log(5 + n) - math.log(6))) for s, n in zip(scores, lengths, strict=True)]


def violation(result: list[float], scores: list[float], lengths: list[int], alpha: float) -> str | None:
    for i, (new, old, length) in enumerate(zip(result, scores, lengths, strict=True)):
        if new > 0 > old:
            return f"score {i} became {new:.4g}; a log-probability over a positive number stays negative"
        if length == 1 and abs(new - old) > 1e-6:
            return f"score {i} belongs to one word and changed from {old:.4g} to {new:.4g}; lp(1) is 1"
        if alpha == 0 and abs(new - old) > 1e-6:
            return f"alpha is 0, and score {i} changed from {old:.4g} to {new:.4g}"
        if abs(new) > abs(old) + 1e-6:
            return f"score {i} fell from {old:.4g} to {new:.4g}; the penalty should make up for length"
    return None


def wrong_multiplied(scores, lengths, alpha):
    """You multiply by lp. Scores are negative, so that makes long translations worse still; the penalty should make
    up for their length."""
    return [score * ((5 + length) / 6) ** alpha for score, length in zip(scores, lengths, strict=True)]


def wrong_plain_length(scores, lengths, alpha):
    """You divide by |Y| ** alpha. That was there before GNMT; the 5 and the 6 make it gentler for short
    translations."""
    return [score / length**alpha for score, length in zip(scores, lengths, strict=True)]


def wrong_exponent_inside(scores, lengths, alpha):
    """The exponent applies to |Y| alone: (5 + |Y| ** alpha) / 6. It belongs to the whole fraction."""
    return [score / ((5 + length**alpha) / 6) for score, length in zip(scores, lengths, strict=True)]


def wrong_six_outside(scores, lengths, alpha):
    """The exponent applies to 5 + |Y| only, and the 6 stays outside. With alpha 0 every score is then 6 times as
    large."""
    return [score / ((5 + length) ** alpha / 6) for score, length in zip(scores, lengths, strict=True)]


def wrong_times_alpha(scores, lengths, alpha):
    """alpha is a factor in yours. It is an exponent: with alpha 0 the penalty is 1, and nothing is divided by
    zero."""
    return [score / (((5 + length) / 6 * alpha) or math.inf) for score, length in zip(scores, lengths, strict=True)]


def wrong_subtracted(scores, lengths, alpha):
    """You subtract lp. The formula divides by it: a fixed amount means little beside a score of -40."""
    return [score - ((5 + length) / 6) ** alpha for score, length in zip(scores, lengths, strict=True)]


def wrong_end_not_counted(scores, lengths, alpha):
    """You take one word off each length. `</s>` was predicted too, and |Y| counts it."""
    return [score / ((4 + length) / 6) ** alpha for score, length in zip(scores, lengths, strict=True)]


def wrong_penalty_only(scores, lengths, alpha):
    """You return the penalty alone. What is asked for is the score divided by it."""
    return [((5 + length) / 6) ** alpha for _, length in zip(scores, lengths, strict=True)]


def cases() -> Iterator[tuple[str, tuple]]:
    yield "no translation", ([], [], 0.6)
    yield "one word", ([-0.7], [1], 1.0)
    yield "alpha 0", ([-2.0], [4], 0.0)
    yield "7 words, alpha 1", ([-2.4], [7], 1.0)
    yield "a short and a long one, alpha 0", ([-2.0, -2.4], [4, 8], 0.0)
    yield "a short and a long one, alpha 0.6", ([-2.0, -2.4], [4, 8], 0.6)
    yield "a short and a long one, alpha 2", ([-2.0, -2.4], [4, 8], 2.0)
    yield "a sure one and three others", ([0.0, -1.0, -7.5, -40.0], [2, 3, 12, 40], 0.6)
