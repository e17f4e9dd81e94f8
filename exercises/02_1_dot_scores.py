"""2.1 · Dot scores, all at once · easy · 5 minutes

Write `dot_scores(queries, keys)` in NumPy, without a loop: entry [t, i] is the dot product of query t and key i.

- `queries`: shape (T, D), one decoder state a row. `keys`: shape (S, D), one encoder state a row.
- Result: shape (T, S): a row for each question, a column for each source word.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lib.exercise_files import draw

NAME = "dot_scores"
HINTS = (
    "Section 2 computed `H @ s1` for one question. Here there is one more axis.",
    "A product of matrices takes rows of the left with columns of the right. The keys lie in rows: what turns them?",
)


def stub(queries: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """The dot product of every query with every key."""
    ...


def solution(queries: np.ndarray, keys: np.ndarray) -> np.ndarray:
    return queries @ keys.T  # (T, D) @ (D, S)


def reference(queries: np.ndarray, keys: np.ndarray) -> np.ndarray:
    return np.array([[sum(a * b for a, b in zip(q, k, strict=True)) for k in keys] for q in queries])


def wrong_swapped(queries, keys):
    """Query and key have changed places: you have a row for each source word and a column for each question. Softmax
    would run over the questions."""
    return keys @ queries.T


def wrong_not_transposed(queries, keys):
    """The transpose is missing: `queries @ keys` takes the rows of the queries with the *columns* of the keys. It
    only runs where S and D happen to be equal."""
    return queries @ keys


def wrong_scaled(queries, keys):
    """You divide by the root of D. That is the scaled dot product of notebook 05; here the plain one is asked for."""
    return queries @ keys.T / np.sqrt(keys.shape[-1]).astype(keys.dtype)


def wrong_cosine(queries, keys):
    """You compare directions only: that is the cosine. In a dot product a longer state gets a larger score."""

    def unit(rows):
        return rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-9).astype(rows.dtype)

    return unit(queries) @ unit(keys).T


def wrong_softmax(queries, keys):
    """You give weights, not scores: the softmax comes later. Scores may be negative and need not sum to 1."""
    scores = queries @ keys.T
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def wrong_distance(queries, keys):
    """You measure the distance of query and key. A dot product is large where they agree, a distance is small
    there."""
    return np.sqrt(((queries[:, None] - keys[None]) ** 2).sum(-1))


def cases() -> Iterator[tuple[str, tuple]]:
    for t, s, d in ((1, 1, 1), (1, 1, 3), (1, 4, 3), (2, 1, 3), (3, 3, 3), (2, 3, 3), (5, 4, 6)):
        yield f"T={t}, S={s}, D={d}", (np.array(draw(1, t, d)), np.array(draw(2, s, d)))
    yield "numbers around 1000", (1000 * np.array(draw(3, 2, 3)), np.array(draw(4, 4, 3)))
