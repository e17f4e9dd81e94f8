"""Notebook 02 computes attention in NumPy by hand; the library must agree with it to the last printed digit.

The functions `softmax` and `attend` are taken from the notebook's source, so the two cannot drift apart.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from lib.attention import additive_score, attend, masked_softmax

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "source" / "02_hand_traced_attention.py"
H = [[1.0, 0, 1], [0, 1, 1], [1, 1, 0], [-1, 0, 1]]  # मैं स्कूल जाता हूँ


@pytest.fixture(scope="module")
def traced() -> dict[str, Callable]:
    """The functions that the notebook defines, without running its cells."""
    tree = ast.parse(NOTEBOOK.read_text(encoding="utf-8"))
    tree.body = [
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in ("softmax", "attend")
    ]
    names: dict[str, Callable] = {"np": np}
    exec(compile(tree, str(NOTEBOOK), "exec"), names)
    return names


def digits(numbers: torch.Tensor) -> list[float]:
    return [round(x, 4) for x in numbers.flatten().tolist()]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_library_gives_the_digits_of_the_hand_trace(dtype: torch.dtype) -> None:
    states = torch.tensor(H, dtype=dtype)[None]  # (1, S, D)
    context, weights = attend(torch.tensor([[[1.0, 0, 0]]], dtype=dtype), states, states)
    assert digits(weights) == [0.3995, 0.1470, 0.3995, 0.0541]
    assert digits(context) == [0.7449, 0.5464, 0.6005]
    assert weights[0, 0, 0] == weights[0, 0, 2]  # equal scores, so equal to the last bit


def test_the_next_state_has_a_tie_of_three() -> None:
    states = torch.tensor(H)[None]
    context, weights = attend(torch.tensor([[[0.0, 0, 1]]]), states, states)
    assert digits(weights) == [0.2969, 0.2969, 0.1092, 0.2969]  # e / (3 e + 1) and 1 / (3 e + 1)
    assert digits(context) == [0.1092, 0.4062, 0.8908]


def test_two_places_of_padding_change_nothing_under_a_mask_and_take_0_2272_without() -> None:
    padded = torch.tensor([*H, [0, 0, 0], [0, 0, 0]])[None]
    query, real = torch.tensor([[[1.0, 0, 0]]]), torch.tensor([[True] * 4 + [False] * 2])
    context, weights = attend(query, padded, padded, real)
    assert digits(context) == [0.7449, 0.5464, 0.6005]
    assert weights[0, 0, 4:].tolist() == [0, 0]
    _, weights = attend(query, padded, padded)
    assert round(weights[0, 0, 4:].sum().item(), 4) == 0.2272  # 2 / (6.80444 + 2)


def test_the_additive_score_of_section_14() -> None:
    # W_s s = (1, 0) and W_h h = (1, 1); tanh of the sum (2, 1) is (0.9640, 0.7616); v takes the difference.
    W_s, W_h = torch.tensor([[1.0, 0, 0], [0, 1, 0]]), torch.tensor([[0.0, 0, 1], [1, -1, 0]])
    score = additive_score(torch.tensor([[1.0, 0, 0]]), torch.tensor(H[:1]), W_s, W_h, torch.tensor([1.0, -1.0]))
    assert digits(score) == [0.2024]


@pytest.mark.parametrize("source", [1, 2, 7])
def test_the_functions_of_the_notebook_equal_those_of_the_library(traced: dict[str, Callable], source: int) -> None:
    rng = np.random.default_rng(source)
    states, state = rng.normal(size=(source, 5)), rng.normal(size=5)
    context, weights = traced["attend"](state, states)
    theirs, their_weights = attend(torch.tensor(state)[None], torch.tensor(states), torch.tensor(states))
    np.testing.assert_allclose(weights, their_weights[0].numpy(), atol=1e-14)
    np.testing.assert_allclose(context, theirs[0].numpy(), atol=1e-14)
    scores = 1000 * rng.normal(size=(3, source))
    np.testing.assert_allclose(traced["softmax"](scores), masked_softmax(torch.tensor(scores)).numpy(), atol=1e-14)


def test_the_notebook_does_without_torch() -> None:
    tree = ast.parse(NOTEBOOK.read_text(encoding="utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    own = {"lib.plots", "lib.explore", "lib.exercises", "lib.recall"}  # none of them loads torch by itself
    assert imported == {"numpy", *own}
