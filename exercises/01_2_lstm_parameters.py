"""1.2 · The parameters of an LSTM · easy · 10 minutes

Write `lstm_parameters(inputs, hidden, layers)`: the number of parameters of an LSTM in one direction, as PyTorch
builds it.

- One layer has four gates (input, forget, cell, output). Each gate has a matrix of shape (hidden, inputs) for the
  input, one of shape (hidden, hidden) for the state, and two bias vectors of shape (hidden).
- A second layer reads the states of the first, a third those of the second.
- Result: a whole number. For `inputs=1, hidden=1, layers=1` it is 16: count it on paper first.
"""

from __future__ import annotations

from collections.abc import Iterator

NAME = "lstm_parameters"
HINTS = (
    "Count one gate of one layer first, then multiply.",
    "How long is a state of the first layer? That is what the second layer reads in place of a word.",
    "Two kinds of layer: the first, whose input has the size `inputs`, and `layers - 1` others. Add them up.",
)


def stub(inputs: int, hidden: int, layers: int) -> int:
    """How many parameters an LSTM has."""
    ...


def solution(inputs: int, hidden: int, layers: int) -> int:
    sizes = [inputs] + [hidden] * (layers - 1)  # what each layer reads
    return sum(4 * hidden * (size + hidden + 2) for size in sizes)


def reference(inputs: int, hidden: int, layers: int) -> int:
    from torch import nn

    return sum(parameter.numel() for parameter in nn.LSTM(inputs, hidden, layers).parameters())


def wrong_one_bias(inputs, hidden, layers):
    """You count one bias vector a gate. PyTorch has two, one beside each matrix: one would do for the mathematics,
    but the numbers are there."""
    return sum(4 * hidden * (size + hidden + 1) for size in [inputs] + [hidden] * (layers - 1))


def wrong_no_bias(inputs, hidden, layers):
    """The bias vectors are missing. There are two for each gate."""
    return sum(4 * hidden * (size + hidden) for size in [inputs] + [hidden] * (layers - 1))


def wrong_three_gates(inputs, hidden, layers):
    """You count three gates. That is a GRU; an LSTM has input, forget and output gate and a fourth block for what is
    written into the cell."""
    return sum(3 * hidden * (size + hidden + 2) for size in [inputs] + [hidden] * (layers - 1))


def wrong_one_gate(inputs, hidden, layers):
    """You count a plain recurrent layer, with one matrix for the input and one for the state. An LSTM has four such
    blocks."""
    return sum(hidden * (size + hidden + 2) for size in [inputs] + [hidden] * (layers - 1))


def wrong_same_input(inputs, hidden, layers):
    """Every layer of yours reads the words. From the second layer on, the input is the state of the layer below, of
    another size."""
    return layers * 4 * hidden * (inputs + hidden + 2)


def wrong_first_only(inputs, hidden, layers):
    """You count the first layer only."""
    return 4 * hidden * (inputs + hidden + 2)


def wrong_no_recurrence(inputs, hidden, layers):
    """The matrix from the last state to the next is missing. Without it nothing would be remembered."""
    return sum(4 * hidden * (size + 2) for size in [inputs] + [hidden] * (layers - 1))


def cases() -> Iterator[tuple[str, tuple]]:
    for inputs, hidden, layers in ((1, 1, 1), (3, 2, 1), (2, 3, 2), (5, 2, 3), (7, 7, 2), (64, 96, 2)):
        yield f"inputs {inputs}, hidden {hidden}, layers {layers}", (inputs, hidden, layers)
