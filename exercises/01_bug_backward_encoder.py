"""1.bug · The encoder that reads padding · medium · 15 minutes

A colleague's backward encoder translates a sentence differently when a longer one stands beside it. This is the
function that computes its final state; the symptom is measured below.

- `words`: shape (B, S, E), the vectors of the words, padding on the right, which may hold any numbers. `mask`:
  shape (B, S), boolean, True for a real word.
- `W`: shape (H, E), `U`: shape (H, H), `b`: shape (H). One step is `tanh(W x + U state + b)`, from a state of
  zeros.
- Result: shape (B, H), the state after the *first* word, since it reads from right to left. A sentence without a
  real word leaves the state at zero.

Say first what the encoder has read before it comes to the last real word. Then repair the function.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lib.exercise_files import draw

NAME = "read_backwards"
HINTS = (
    "Which element of a short sentence does the loop see first?",
    "Padding may be zeros, and still a step changes the state. Which term of the step is to blame?",
    "At a padding position the state should stay what it was. `np.where(condition, a, b)` chooses row by row; "
    "give the condition the shape (B, 1).",
)
SYMPTOM = "the largest change of a sentence's final state when a longer sentence stands beside it"


def stub(words: np.ndarray, mask: np.ndarray, W: np.ndarray, U: np.ndarray, b: np.ndarray) -> np.ndarray:
    state = np.zeros((len(words), len(b)), dtype=words.dtype)  # (B, H)
    for i in reversed(range(words.shape[1])):
        state = np.tanh(words[:, i] @ W.T + state @ U.T + b)
    return state


def solution(words: np.ndarray, mask: np.ndarray, W: np.ndarray, U: np.ndarray, b: np.ndarray) -> np.ndarray:
    state = np.zeros((len(words), len(b)), dtype=words.dtype)  # (B, H)
    for i in reversed(range(words.shape[1])):
        new = np.tanh(words[:, i] @ W.T + state @ U.T + b)
        state = np.where(mask[:, i, None], new, state)  # padding leaves the state as it is
    return state


def reference(words: np.ndarray, mask: np.ndarray, W: np.ndarray, U: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Each sentence on its own, without its padding."""
    found = np.zeros((len(words), len(b)))
    for row in range(len(words)):
        for word in words[row][mask[row]][::-1]:
            found[row] = np.tanh(W @ word + U @ found[row] + b)
    return found


def wrong_zeroed_words(words, mask, W, U, b):
    """You set the padding to zero. The bias and the old state still change the state at every step."""
    state = np.zeros((len(words), len(b)), dtype=words.dtype)
    for i in reversed(range(words.shape[1])):
        state = np.tanh((words[:, i] * mask[:, i, None]) @ W.T + state @ U.T + b)
    return state


def wrong_cut_to_longest(words, mask, W, U, b):
    """You cut the batch where its longest sentence ends. All shorter sentences still start in padding."""
    state = np.zeros((len(words), len(b)), dtype=words.dtype)
    for i in reversed(range(mask.sum(1).max())):
        state = np.tanh(words[:, i] @ W.T + state @ U.T + b)
    return state


def wrong_forward(words, mask, W, U, b):
    """You read from left to right. That leaves out padding as it should, but it is the forward encoder."""
    state = np.zeros((len(words), len(b)), dtype=words.dtype)
    for i in range(words.shape[1]):
        state = np.where(mask[:, i, None], np.tanh(words[:, i] @ W.T + state @ U.T + b), state)
    return state


def wrong_mask_inverted(words, mask, W, U, b):
    """The mask is the wrong way round: you read the padding and skip the words. True is a real word."""
    state = np.zeros((len(words), len(b)), dtype=words.dtype)
    for i in reversed(range(words.shape[1])):
        state = np.where(mask[:, i, None], state, np.tanh(words[:, i] @ W.T + state @ U.T + b))
    return state


def wrong_no_bias(words, mask, W, U, b):
    """You took away the bias, so that zeros stay zeros. The symptom is gone, and the model is another one: it needs
    its bias at the real words."""
    state = np.zeros((len(words), len(b)), dtype=words.dtype)
    for i in reversed(range(words.shape[1])):
        state = np.tanh((words[:, i] * mask[:, i, None]) @ W.T + state @ U.T)
    return state


def wrong_cleared_at_end(words, mask, W, U, b):
    """You clear the final state where the *first* place is padding. The padding that does the harm is at the other
    end, and was read long before."""
    state = np.zeros((len(words), len(b)), dtype=words.dtype)
    for i in reversed(range(words.shape[1])):
        state = np.tanh(words[:, i] @ W.T + state @ U.T + b)
    return state * mask[:, :1]


def cases() -> Iterator[tuple[str, tuple]]:
    for label, lengths, size, hidden in (
        ("one sentence of one word, no padding", [1], 1, 1),
        ("one word and one place of padding", [1], 2, 1),
        ("a sentence without a real word", [0], 2, 2),
        ("two sentences, no padding", [2, 2], 2, 3),
        ("three sentences of different length", [3, 1, 0], 4, 2),
    ):
        width = size if len(lengths) == 1 else max(lengths) + size % 2
        mask = np.arange(width)[None] < np.array(lengths)[:, None]
        words = np.array(draw(1, len(lengths), width, 3)) * mask[:, :, None]
        yield label, (words, mask, *_weights(3, hidden))
    mask = np.arange(5)[None] < np.array([[5], [2]])
    words = np.array(draw(7, 1, 2, 2))
    yield "padding that is not zero", (words, np.array([[True, False]]), *_weights(2, 2))
    yield "a long sentence beside a short one", (np.array(draw(4, 2, 5, 3)) * mask[:, :, None], mask, *_weights(3, 4))


def _weights(inputs: int, hidden: int) -> tuple[np.ndarray, ...]:
    return np.array(draw(2, hidden, inputs)), np.array(draw(3, hidden, hidden)), np.array(draw(5, hidden))


def symptom(function) -> float:
    words, weights = np.array(draw(6, 1, 3, 3)), _weights(3, 4)
    wide = np.concatenate([words, np.zeros((1, 4, 3))], axis=1)
    alone = function(words, np.ones((1, 3), dtype=bool), *weights)
    return np.abs(alone - function(wide, np.arange(7)[None] < 3, *weights)).max()
