"""2.bug · The picture that is one row off · easy · 10 minutes

A colleague draws where the decoder looks. No error, no warning: as many rows as labels, every row sums to 1. Yet
the picture says that *I* looks at जाता and *school* at हूँ. This function prepares the rows of the picture.

- `read`: a list of shape (T), the word that the decoder takes in at each step; the first is `<s>`.
- `written`: a list of shape (T), the word that it gives out at each step. In training the two lists do not follow
  from each other: the decoder reads the reference, whatever it writes.
- `weights`: shape (T, S), where it looked at each step.
- Result: the labels, a list of shape (T), and the rows, shape (T, S), so that each row explains the word beside it.

Say first at which end of the decoder each list is found. Then repair the function.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lib.exercise_files import draw

NAME = "picture_rows"
HINTS = (
    "Are the numbers wrong, or the names? Compare one row with the list of weights in section 10.",
    "At step t the decoder takes in one word, looks, and gives out another. Which of the two words was it looking"
    " for?",
    "A finished translation gives you a check: which label must the last row have, and which may the first never "
    "have?",
)
SYMPTOM = "the share of rows that stand beside the wrong word, in a forced decoding where the model makes a mistake"


def stub(read: list[str], written: list[str], weights: np.ndarray) -> tuple[list[str], np.ndarray]:
    return read, weights


def solution(read: list[str], written: list[str], weights: np.ndarray) -> tuple[list[str], np.ndarray]:
    return written, weights  # a row says where the decoder looked to find the word that it then wrote


def reference(read: list[str], written: list[str], weights: np.ndarray) -> tuple[list[str], np.ndarray]:
    pairs = [(written[step], weights[step]) for step in range(len(weights))]
    return [word for word, _ in pairs], np.array([row for _, row in pairs])


def wrong_shifted_reading(read, written, weights):
    """You move the words that were *read* by one place and add `</s>`. That is the same only while the model reads
    what it wrote: not in training, not where it was cut off before `</s>`."""
    return [*read[1:], "</s>"], weights


def wrong_first_dropped(read, written, weights):
    """You drop `<s>` and then have one label less than rows. The label is gone, and the last row stands without
    one."""
    return read[1:], weights


def wrong_row_dropped(read, written, weights):
    """You drop the first row together with `<s>`. Now every label fits its row no better, and the look that found the
    first word is lost."""
    return read[1:], weights[1:]


def wrong_rows_moved(read, written, weights):
    """You move the rows and keep the labels. The words that were read still stand there, `<s>` among them, and
    nothing is ever looked up for `<s>`."""
    return read, np.roll(weights, 1, axis=0)


def wrong_moved_too_far(read, written, weights):
    """The labels are the right ones, moved by one place: a word stands beside the look that came after it. Both lists
    already have one entry a step."""
    return ["<s>", *written[:-1]], weights


def wrong_transposed(read, written, weights):
    """You turned the picture: now the rows are source words. What was wrong are the labels of the target."""
    return written, weights.T


def cases() -> Iterator[tuple[str, tuple]]:
    yield "one step", (["<s>"], ["</s>"], _weights(1, 1, 2))
    yield "two steps", (["<s>", "I"], ["I", "</s>"], _weights(2, 2, 2))
    yield "cut off before </s>", (["<s>", "I", "go"], ["I", "go", "to"], _weights(3, 3, 2))
    yield "a mistake in training", (["<s>", "I", "go"], ["I", "see", "</s>"], _weights(4, 3, 4))
    words = ["I", "go", "to", "school"]
    yield "the sentence of this notebook", (["<s>", *words], [*words, "</s>"], _weights(5, 5, 4))


def _weights(seed: int, steps: int, length: int) -> np.ndarray:
    powers = np.exp(np.array(draw(seed, steps, length)))
    return powers / powers.sum(axis=1, keepdims=True)


def symptom(function) -> float:
    read, written, weights = ["<s>", "I", "go", "to", "school"], ["I", "see", "to", "school", "</s>"], np.eye(5)
    labels, rows = function(read, written, weights)
    right = [label == written[int(row.argmax())] for label, row in zip(labels, rows, strict=False)]
    return 1 - sum(right) / len(weights)
