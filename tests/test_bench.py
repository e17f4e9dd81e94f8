"""The bench: all its lines are there, its arithmetic is right, and its yardsticks do the same work as the models.

No time is asserted: how fast a machine is, is no property of the code.
"""

from __future__ import annotations

import contextlib
import io
import math
import re

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from lib.bench import (
    QUICK,
    Line,
    Sizes,
    course_loss,
    growth,
    interleaved,
    main,
    make_model,
    ratio,
    step,
)
from lib.yardsticks import PeakMemory, Product, products_alone, random_batch, step_products, tutorial_loss

ORDERS = ("luong", "bahdanau")


@pytest.fixture(scope="module")
def table() -> list[str]:
    """What `python -m lib bench --quick` prints, line by line."""
    before, out = torch.get_num_threads(), io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(["--quick", "--threads", "1"]) == 0
    assert torch.get_num_threads() == before
    return out.getvalue().splitlines()


# --------------------------------------------------------------------------------------------------- the table


def test_every_line_is_there(table: list[str]) -> None:
    for name in ("dot, Luong order", "additive, Bahdanau order"):
        assert sum(line.startswith(f"matrix products alone, {name}") for line in table) == 1
        assert sum(line.startswith(f"training step, {name}") for line in table) == 1
        for what in ("time", "memory"):
            for variable in ("S", "B", "S · T"):
                assert sum(line.startswith(f"{what} ~ ({variable})^p, {name}: p") for line in table) == 1
    for figure, times in (
        ("  as a loop over target words", 2),
        ("  that loop, sentence by sentence", 2),
        ("  clipping and Adam", 2),
        ("  target tokens a second, update included", 2),
        ("  products: 10^9 operations a second", 4),
        ("greedy decoding, 6 sentences, batched", 1),
        ("  2 of them one at a time", 1),
        ("  all with beam 5", 1),
        ("additive score, most held", 1),
        ("real tokens / computed tokens, bucketed", 1),
    ):
        assert sum(line.startswith(figure) for line in table) == times, figure
    assert table[0].startswith("torch ") and "threads 1, cores " in table[0]
    assert "far too small" in table[1]


def test_ratios_are_positive_and_goals_are_judged(table: list[str]) -> None:
    row = next(line for line in table if line.startswith("training step, dot"))
    floor, loop = map(float, re.search(r"ms +([\d.]+) +([\d.]+)  ≥ 5: (?:yes|no), ≤ 1.3: (?:yes|no)$", row).groups())
    assert floor > 0 and loop > 0
    assert sum("≥ 10: " in line for line in table) == sum("≥ 3: " in line for line in table) == 1
    assert sum("≤ 4: " in line for line in table) == sum("≥ 0.9: " in line for line in table) == 1
    assert sum("≤ 1.1: " in line for line in table) == 12


def test_a_line_by_hand() -> None:
    line = str(Line("a", "2 ms", 1.25, 5.0, ((5.0, "≥", 5), (1.25, "≤", 1.2))))
    assert line.split() == ["a", "2", "ms", "1.25", "5.00", "≥", "5:", "yes,", "≤", "1.2:", "no"]
    assert str(Line("a", "2 ms")).split() == ["a", "2", "ms"]


@pytest.mark.parametrize(
    "options",
    [
        ["--threads", "0"],
        ["--repeats", "0"],
        ["--sizes", "4", "5", "6", "4", "8"],
        ["--sizes", "0", "5", "6", "9", "8"],
    ],
)
def test_senseless_options_end_with_2(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(options)
    assert stopped.value.code == 2
    assert "at least" in capsys.readouterr().err


# ---------------------------------------------------------------------------------------------------- arithmetic


def test_jobs_take_turns_after_a_warm_up() -> None:
    calls: list[str] = []
    times = interleaved({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, 2)
    assert calls == ["a", "b"] * 3
    assert [len(seconds) for seconds in times.values()] == [2, 2]


def test_ratio_is_taken_within_a_turn() -> None:
    """The machine was five times slower in the last two turns; the ratio does not see that: 2, 2, 3, not 10 / 1."""
    assert ratio({"a": [2.0, 10.0, 15.0], "b": [1.0, 5.0, 5.0]}, "a", "b") == 2.0


def test_growth_by_hand() -> None:
    assert math.isclose(growth([10, 20, 40], [3, 12, 48]), 2.0)
    assert math.isclose(growth([1, 2, 4], [7, 7, 7]), 0.0, abs_tol=1e-12)


# ---------------------------------------------------------------------------------------------------- yardsticks


def test_products_by_hand() -> None:
    """B 2, S 3, T 4, V 5, H 1: multiplications and additions forward; three times that with both gradients."""
    luong = {product.name: product.flops for product in step_products("luong", 2, 3, 4, 5, 1)}
    forward = {
        "encoder, input": 2 * 6 * 1 * 4,
        "encoder, hidden": 2 * 6 * 1 * 4,
        "decoder, input": 2 * 8 * 1 * 4,
        "decoder, hidden": 2 * 8 * 1 * 4,
        "score": 2 * 2 * 4 * 1 * 3,
        "context": 2 * 2 * 4 * 3 * 1,
        "combine": 2 * 8 * 2 * 1,
        "output layer": 2 * 8 * 1 * 5,
    }
    assert luong == {name: 3 * count for name, count in forward.items()}
    bahdanau = {product.name: product.flops for product in step_products("bahdanau", 2, 3, 4, 5, 1)}
    forward |= {
        "decoder, context": 2 * 8 * 1 * 4,
        "keys": 2 * 6 * 1 * 1,
        "queries": 2 * 8 * 1 * 1,
        "combine": 2 * 8 * 3 * 1,
    }
    assert bahdanau == {name: 3 * count for name, count in forward.items()}


@pytest.mark.parametrize("order", ORDERS)
def test_products_alone_are_those_of_the_list(order: str) -> None:
    products = step_products(order, 2, 3, 4, 5, 6)
    run = products_alone(products)
    with FlopCounterMode(display=False) as counter:
        run()
    # torch counts what is a product of matrices; (6, 6) @ (6, 1) is one here too, with one column
    assert counter.get_total_flops() == sum(product.flops for product in products)


def test_products_of_the_bahdanau_model() -> None:
    """torch counts the same products in the model itself, but for the LSTM encoder, which is one closed operation."""
    sizes = Sizes(batch=2, source=3, target=4, vocabulary=6, hidden=8)
    batch = random_batch(2, 3, 4, 6)
    with FlopCounterMode(display=False) as counter:
        step(course_loss, make_model("bahdanau", sizes), [batch])
    listed = [p for p in step_products("bahdanau", 2, 3, 4, 6, 8) if not p.name.startswith("encoder")]
    seen = [p for p in listed if p.name != "score"]  # with v the score is a product with a vector: torch counts none
    assert counter.get_total_flops() == sum(product.flops for product in seen)


@pytest.mark.parametrize("order", ORDERS)
def test_the_tutorial_loop_computes_the_same(order: str) -> None:
    """The same loss and the same gradients from the same weights: only the order of work differs."""
    torch.manual_seed(0)
    sizes, batch = Sizes(batch=3, source=4, target=5, vocabulary=11, hidden=8), random_batch(3, 4, 5, 11)
    model = make_model(order, sizes)
    gradients = []
    for loss in (course_loss, tutorial_loss):
        step(loss, model, [batch])
        gradients.append([part.grad.clone() for part in model.parameters()])
    torch.testing.assert_close(course_loss(model, batch), tutorial_loss(model, batch))
    torch.testing.assert_close(*gradients)


def test_peak_memory_by_hand() -> None:
    model = torch.nn.Linear(10, 10)
    with PeakMemory(model) as memory:
        first = torch.zeros(100)  # 400 bytes
        second = first + 1
        assert memory.now == memory.peak == 800
        view = model.weight.t(), first[:50]  # neither is new memory
        del first, second, view
        third = torch.zeros(50)
        assert (memory.now, memory.peak) == (200, 800)
        del third
    assert memory.now == 0


def test_a_product_holds_its_shapes() -> None:
    assert Product("a", 2, 3, 4, steps=5, batch=6).flops == 6 * 6 * 5 * 2 * 3 * 4
    assert QUICK.hidden < 64  # so that the table says what it is worth
