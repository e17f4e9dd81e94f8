"""2.2 · A softmax that survives 1000 · easy · 10 minutes

Write `tempered_softmax(scores, temperature)` in NumPy: over the last axis, entry i is exp(e_i / temperature),
divided by the sum of these over the row.

- `scores`: shape (S), (T, S) or (B, T, S), any size of numbers, ±1000 as well. `temperature`: a number above 0.
- Result: the shape and the type of `scores`; every row sums to 1. `scores` itself stays as it was.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lib.exercise_files import draw

NAME = "tempered_softmax"
HINTS = (
    "Section 6 showed something that changes all scores and none of the weights. It can keep the powers small.",
    "`axis=-1` names the last axis whatever their number is; `keepdims=True` keeps it, so that a row can be "
    "divided by its sum.",
    "The largest power of each row should be exp(0). Which number must be taken from each row, and from each row "
    "its own?",
)


def stub(scores: np.ndarray, temperature: float) -> np.ndarray:
    """Softmax over the last axis, at a temperature."""
    ...


def solution(scores: np.ndarray, temperature: float) -> np.ndarray:
    powers = np.exp((scores - scores.max(axis=-1, keepdims=True)) / temperature)
    return powers / powers.sum(axis=-1, keepdims=True)


def reference(scores: np.ndarray, temperature: float) -> np.ndarray:
    """Each weight as one over a sum of ratios: 1 / sum_j exp((e_j - e_i) / temperature)."""
    with np.errstate(over="ignore"):
        ratios = np.exp((scores[..., None, :] - scores[..., :, None]) / temperature)  # (…, S, S)
    return 1 / ratios.sum(axis=-1)


def violation(result: np.ndarray, scores: np.ndarray, temperature: float) -> str | None:
    return _rows(result)


def _rows(result: np.ndarray) -> str | None:
    if np.isnan(result).any():
        return f"{int(np.isnan(result).sum())} of {result.size} weights are nan"
    if result.min() < 0:
        return f"a weight is {result.min():.3g}; no weight may be negative"
    sums = result.sum(axis=-1).reshape(-1)
    off = np.flatnonzero(np.abs(sums - 1) > 1e-4)
    return f"row {off[0]} sums to {sums[off[0]]:.3g}; every row must sum to 1" if len(off) else None


def wrong_overflow(scores, temperature):
    """exp of a large score is infinite, and infinite divided by infinite is nan. Something must be taken from the
    scores before the power."""
    powers = np.exp(scores / temperature)
    return powers / powers.sum(axis=-1, keepdims=True)


def wrong_axis(scores, temperature):
    """The softmax runs over the wrong axis: your *columns* sum to 1. The source words lie along the last axis."""
    axis = max(-2, -scores.ndim)
    powers = np.exp((scores - scores.max(axis=axis, keepdims=True)) / temperature)
    return powers / powers.sum(axis=axis, keepdims=True)


def wrong_all_axes(scores, temperature):
    """All rows together sum to 1. Each row is a question of its own and shares out a weight of 1; which argument of
    `sum` says so?"""
    powers = np.exp((scores - scores.max()) / temperature)
    return powers / powers.sum()


def wrong_one_maximum(scores, temperature):
    """You take the same number from all rows, the largest score of all. In a row far below it every power becomes 0,
    and 0 / 0 is nan. Each row needs its own largest score."""
    powers = np.exp((scores - scores.max()) / temperature)
    return powers / powers.sum(axis=-1, keepdims=True)


def wrong_temperature_multiplied(scores, temperature):
    """The temperature works the wrong way round: you multiply by it. A high one should make the weights more
    alike."""
    powers = np.exp((scores - scores.max(axis=-1, keepdims=True)) * temperature)
    return powers / powers.sum(axis=-1, keepdims=True)


def wrong_temperature_after(scores, temperature):
    """You divide the powers, not the scores, by the temperature. It then cancels, and changes nothing."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True)) / temperature
    return powers / powers.sum(axis=-1, keepdims=True)


def wrong_in_place(scores, temperature):
    """`-=` and `/=` write into the caller's array. Whoever wants to look at the scores after you finds others."""
    scores -= scores.max(axis=-1, keepdims=True)
    scores /= temperature
    powers = np.exp(scores)
    return powers / powers.sum(axis=-1, keepdims=True)


def wrong_linear(scores, temperature):
    """The exponential is missing: you divide the scores by their sum. Negative scores then give negative weights."""
    return scores / temperature / (scores / temperature).sum(axis=-1, keepdims=True)


def cases() -> Iterator[tuple[str, tuple]]:
    yield "one score", (np.array([2.0]), 1.0)
    yield "two scores", (np.array([1.0, -0.5]), 1.0)
    yield "two scores, temperature 2", (np.array([1.0, -0.5]), 2.0)
    yield "two rows", (np.array(draw(1, 2, 3)), 1.0)
    yield "as many rows as columns, temperature 0.5", (np.array(draw(2, 3, 3)), 0.5)
    yield "scores of 1000 and more", (np.array([[1000.0, 999.0, 1001.0]]), 1.0)
    yield "one row at 1000, one at -1000", (np.array([[1000.0, 999.0], [-1000.0, -1001.0]]), 1.0)
    yield "three axes", (np.array(draw(3, 2, 3, 4)), 1.5)
