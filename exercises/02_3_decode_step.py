"""2.3 · A whole decode step · medium · 20 minutes

Write `decode_step(state, states, mask, output)` in NumPy: score, normalise, combine, generate.

- `state`: shape (D), the decoder's state, the question. `states`: shape (S, D), the encoder's states, keys and
  values.
- `mask`: shape (S), boolean, True for a real word. Weights on padding are exactly 0; a sentence without a real word
  has weights of zero, and a context of zeros.
- `output`: shape (V, 2 D), the matrix of the output layer, which reads [state; context] as in section 9.
- Result: three things, `(word, context, weights)`: the number of the most likely target word (an `int`), shape (D),
  shape (S).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lib.exercise_files import draw

NAME = "decode_step"
HINTS = (
    "Four lines, one for each move. Write the shape behind each line before you run it.",
    "The mask belongs to the scores: a padding position gets a score of minus infinity, before the softmax. What "
    "is then the largest score of a sentence without a real word?",
    "The most likely word needs no second softmax, since a softmax does not change which number is the largest.",
)


def stub(
    state: np.ndarray, states: np.ndarray, mask: np.ndarray, output: np.ndarray
) -> tuple[int, np.ndarray, np.ndarray]:
    """One step of the decoder: the word it writes, the context, the weights."""
    ...


def solution(
    state: np.ndarray, states: np.ndarray, mask: np.ndarray, output: np.ndarray
) -> tuple[int, np.ndarray, np.ndarray]:
    weights = np.zeros(len(states), dtype=states.dtype)  # (S)
    if mask.any():
        scores = states[mask] @ state  # of the real words only
        powers = np.exp(scores - scores.max())
        weights[mask] = powers / powers.sum()
    context = weights @ states  # (D)
    logits = output @ np.concatenate([state, context])  # (V)
    return int(logits.argmax()), context, weights


def reference(
    state: np.ndarray, states: np.ndarray, mask: np.ndarray, output: np.ndarray
) -> tuple[int, np.ndarray, np.ndarray]:
    """A loop over the real words, each weight as one over a sum of ratios."""
    size, real = len(state), np.flatnonzero(mask)
    weights, context = np.zeros(len(states)), np.zeros(size)
    with np.errstate(over="ignore"):
        for i in real:
            weights[i] = 1 / sum(np.exp((states[j] - states[i]) @ state) for j in real)
            context += weights[i] * states[i]
    logits = [row[:size] @ state + row[size:] @ context for row in output]
    return int(np.argmax(logits)), context, weights


def violation(
    result: tuple, state: np.ndarray, states: np.ndarray, mask: np.ndarray, output: np.ndarray
) -> str | None:
    _, context, weights = result
    if np.isnan(weights).any():
        return f"{int(np.isnan(weights).sum())} of {weights.size} weights are nan"
    if weights[~mask].any():
        return f"{weights[~mask].sum():.3g} of the weight lies on padding; it must be 0"
    if mask.any() and abs(weights.sum() - 1) > 1e-4:
        return f"the weights sum to {weights.sum():.3g}; they must sum to 1"
    if mask.any() and np.abs(context - weights @ states).max() > 1e-3:
        return "the context is not the average of the states with your own weights"
    return None


def _step(state, states, mask, output, score=None, weigh=None, join=None, choose=np.argmax):
    """The right step, with one part exchanged: the wrong solutions differ from it in that part only."""
    scores = states @ state if score is None else score(states, state)
    weights = (weigh or _weigh)(scores, mask).astype(states.dtype)
    context = weights @ states
    joined = np.concatenate([state, context] if join is None else join(state, context))
    return int(choose(output @ joined)), context, weights


def _weigh(scores, mask):
    if not mask.any():
        return np.zeros(len(scores))
    powers = np.exp(np.where(mask, scores - scores[mask].max(), -np.inf))
    return powers / powers.sum()


def wrong_mask_ignored(state, states, mask, output):
    """The mask is not used: padding gets weight, and part of the context is read from it."""
    return _step(state, states, mask, output, weigh=lambda scores, mask: _weigh(scores, np.ones_like(mask)))


def wrong_mask_after(state, states, mask, output):
    """You mask after the softmax. The weights on padding are 0, but what they had is lost: the rest no longer sums to
    1."""
    return _step(state, states, mask, output, weigh=lambda scores, mask: mask * _weigh(scores, np.ones_like(mask)))


def wrong_mask_times_score(state, states, mask, output):
    """You multiply the scores by the mask. A score of 0 is not low: exp(0) is 1, and where all real scores are
    negative, padding even wins."""
    return _step(state, states, mask, output, weigh=lambda scores, mask: _weigh(scores * mask, np.ones_like(mask)))


def wrong_nan_when_empty(state, states, mask, output):
    """A sentence without a real word gives nan: its scores are all minus infinity, and so is the largest. Its weights
    should be zeros."""

    def weigh(scores, mask):
        scores = np.where(mask, scores, -np.inf)
        powers = np.exp(scores - scores.max())
        return powers / powers.sum()

    return _step(state, states, mask, output, weigh=weigh)


def wrong_uniform_when_empty(state, states, mask, output):
    """A sentence without a real word spreads its weight evenly over padding. All its scores are equally low, and a
    softmax sees differences only."""
    return _step(
        state,
        states,
        mask,
        output,
        weigh=lambda scores, mask: _weigh(np.where(mask, scores, -1e9), np.ones_like(mask)),
    )


def wrong_order_of_parts(state, states, mask, output):
    """The output layer is given [context; state]. Its first D columns were made for the state."""
    return _step(state, states, mask, output, join=lambda state, context: [context, state])


def wrong_context_only(state, states, mask, output):
    """The word is chosen from the context alone. Section 10 showed a step that this cannot get right: the state says
    how far the sentence is."""
    return _step(state, states, mask, output, join=lambda state, context: [0 * state, context])


def wrong_hard_choice(state, states, mask, output):
    """You take the state with the largest score and leave the others out. Attention is an average: a softmax never
    gives one state everything."""
    return _step(
        state,
        states,
        mask,
        output,
        weigh=lambda scores, mask: np.eye(len(scores))[_weigh(scores, mask).argmax()] * mask.any(),
    )


def wrong_uniform(state, states, mask, output):
    """All real states get the same weight: the question has no influence. Where do the scores come in?"""
    return _step(state, states, mask, output, weigh=lambda scores, mask: mask / max(1, mask.sum()))


def wrong_scaled(state, states, mask, output):
    """You divide the scores by the root of D. The step of this notebook uses the plain dot product."""
    return _step(state, states, mask, output, score=lambda states, state: states @ state / np.sqrt(len(state)))


def cases() -> Iterator[tuple[str, tuple]]:
    all_real = np.ones(3, dtype=bool)
    yield "one source word", _case(1, 1, 2, 3, np.array([True]))
    yield "one real word, one of padding", _case(2, 2, 2, 3, np.array([True, False]))
    yield "no real word", _case(3, 2, 2, 3, np.array([False, False]))
    yield "three words, no padding", _case(4, 3, 3, 4, all_real)
    yield "as many words as entries in a state", _case(5, 3, 3, 3, np.array([True, True, False]))
    yield "padding on the left", _case(6, 4, 3, 5, np.array([False, True, True, True]))
    state, states, mask, output = _case(7, 3, 2, 4, all_real)
    yield "scores of 1000", (1000 * state, states, mask, output)
    for seed in range(8, 13):
        yield "five words, two of padding", _case(seed, 7, 4, 6, np.arange(7) < 5)


def _case(seed: int, length: int, size: int, words: int, mask: np.ndarray) -> tuple:
    state, states = np.array(draw(seed, size)), np.array(draw(seed + 100, length, size))
    return state, states, mask, np.array(draw(seed + 200, words, 2 * size))
