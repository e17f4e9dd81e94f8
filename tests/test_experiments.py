"""Stored measurements: a small slice of each is made again and compared; and what the experiments promise."""

from __future__ import annotations

import math
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from lib import experiments
from lib.attention import SCORERS
from lib.corpus import Pair
from lib.seq2seq import ModelConfig, Seq2Seq, count_parameters

CLOSE = 5e-5  # relative, between machines


@pytest.mark.parametrize("name", list(experiments.EXPERIMENTS))
def test_every_stored_measurement_says_how_to_make_it_again(name: str) -> None:
    stored = experiments.measured(name)
    assert stored["command"] == f"python -m lib experiment {name}"
    assert stored["rows"] and {"date", "versions", "machine"} <= set(stored)


def test_growth_made_again_keeps_as_many_numbers() -> None:
    """The numbers that training keeps are counted, so they are the same on every machine."""
    rows = [row for row in experiments.measured("growth")["rows"] if row["length"] <= 20 and row["hidden"] == 256]
    assert {row["scorer"] for row in rows} == set(SCORERS)
    for row in rows:
        again = experiments.score_cost(row["scorer"], row["length"], row["hidden"], repeats=1)
        assert (again["floats"], again["parameters"]) == (row["floats"], row["parameters"])


def test_additive_scores_grow_with_the_square_and_dot_scores_do_not() -> None:
    kept = {name: [experiments.score_cost(name, n, 32, repeats=1)["floats"] for n in (20, 40)] for name in SCORERS}
    assert kept["dot"][1] / kept["dot"][0] == pytest.approx(2, rel=0.05)
    assert kept["additive"][1] / kept["additive"][0] > 3.5


def test_growth_has_each_case_once() -> None:
    cases = [(row["scorer"], row["length"], row["hidden"]) for row in experiments.measured("growth")["rows"]]
    assert len(cases) == len(set(cases))


STORED = [
    (name, row["variant"] if name == "bottleneck" else f"{row['scorer']} {row['order']}", number)
    for name in ("bottleneck", "scorers")
    for number, row in enumerate(experiments.measured(name)["rows"])
    if row["seed"] == 0
]


@pytest.mark.parametrize(("name", "variant", "number"), STORED)
def test_the_first_losses_of_a_stored_run_come_again(name: str, variant: str, number: int) -> None:
    stored = experiments.measured(name)
    row, task = stored["rows"][number], experiments.core_task()
    if "reversed" in variant:
        task = experiments.reversed_source(task)
    config = experiments.core_config(stored["steps"], row["seed"])
    losses = experiments.first_losses(task, config, len(row["first_losses"]), **row["shape"])
    assert losses == pytest.approx(row["first_losses"], rel=CLOSE)


@pytest.mark.parametrize("name", ["bottleneck", "scorers"])
def test_stored_runs_differ_by_more_than_what_that_test_allows(name: str) -> None:
    """Else it would take one model for another."""
    rows = [row["first_losses"] for row in experiments.measured(name)["rows"]]
    for a, b in combinations(rows, 2):
        assert a != pytest.approx(b, rel=CLOSE)


def test_a_reversed_source_keeps_its_gold_links() -> None:
    """घर0 जाता1 था2 ।3 reversed is ।0 था1 जाता2 घर3."""
    pair = Pair("घर जाता था।", "used to go home .", sure=((0, 3), (1, 2)), possible=((2, 0), (0, 3), (1, 2)))
    turned = experiments._turned(pair)
    assert turned.source == "। था जाता घर"
    assert turned.sure == ((3, 3), (2, 2)) and turned.possible == ((1, 0), (3, 3), (2, 2))


def test_a_reference_is_compared_as_the_model_was_taught_it() -> None:
    class Perfect:
        def translate(self, lines: list[str]) -> list[SimpleNamespace]:
            return [SimpleNamespace(text='It\'s "fine".') for _ in lines]

    assert experiments.solved(Perfect(), [Pair("ठीक है।", "It’s “fine”.")]).tolist() == [True]


def test_a_model_without_attention_has_no_alignment_to_measure() -> None:
    task = experiments.core_task()
    plain = experiments.train_model(task, experiments.core_config(1), order="none", embedding=8, hidden=8)
    with pytest.raises(ValueError, match="no attention"):
        experiments.quality(plain.translator, task.test[:3])


def test_models_that_differ_in_the_scorer_start_alike_everywhere_else() -> None:
    def start(scorer: str) -> dict[str, torch.Tensor]:
        torch.manual_seed(0)
        model = Seq2Seq(ModelConfig(30, 30, **experiments.SCORER_MODEL, scorer=scorer))
        return {name: weight for name, weight in model.state_dict().items() if "scorer" not in name}

    dot = start("dot")
    for scorer in SCORERS:
        other = start(scorer)
        assert other.keys() == dot.keys() and all(torch.equal(other[name], dot[name]) for name in dot), scorer


def test_a_missing_measurement_names_the_command() -> None:
    with pytest.raises(FileNotFoundError, match="python -m lib experiment nothing"):
        experiments.measured("nothing")
    with pytest.raises(ValueError, match="bottleneck, scorers, growth"):
        experiments.store("nothing")


def test_the_two_models_of_notebook_01_have_as_many_parameters() -> None:
    task = experiments.core_task()
    sizes = task.source_tokenizer.vocab_size, task.target_tokenizer.vocab_size
    without, with_ = (
        count_parameters(Seq2Seq(ModelConfig(*sizes, **shape)))
        for shape in (experiments.WITHOUT_ATTENTION, experiments.WITH_ATTENTION)
    )
    assert max(without, with_) / min(without, with_) <= 1.05


def test_reversing_twice_gives_the_task_back() -> None:
    task = experiments.core_task()
    once = experiments.reversed_source(task)
    assert once.train[0].source.split() == task.train[0].source.split()[::-1]
    assert experiments.reversed_source(once).test.sources == task.test.sources
    assert once.encoded[0][0][:-1] == task.encoded[0][0][:-1][::-1]


def test_reference_weights_have_a_row_for_each_word_of_the_reference() -> None:
    task = experiments.core_task()
    trained = experiments.train_model(task, experiments.core_config(1), order="luong", embedding=8, hidden=8)
    pairs = task.test[:5]
    for matrix, pair in zip(experiments.reference_weights(trained.translator, pairs), pairs, strict=True):
        assert matrix.shape == (len(pair.target.split()), len(pair.source.split()))
        assert np.all(matrix.sum(1) <= 1 + 1e-6) and not math.isnan(matrix.sum())


def test_lengths_count_words_without_the_stop() -> None:
    task = experiments.core_task()
    assert experiments.source_lengths(task.test[:3]) == [len(pair.source.split()) for pair in task.test[:3]]
