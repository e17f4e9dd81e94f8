"""The defaults for a small corpus: what joins the training data, and what the stored measurement claims."""

from __future__ import annotations

import json
import random

import pytest
import torch
from torch.nn import functional as F

from lib.cli import main
from lib.corpus import comparison_key, data_path, load
from lib.experiments import measured
from lib.real_pairs import AT_FULL_LENGTH, NOTHING, TAKEN_BACK, real_pairs
from lib.runs import Along, RunConfig, course_pairs, training_data
from lib.seq2seq import ModelConfig, Seq2Seq
from lib.text import Tokenizer


@pytest.fixture(scope="module")
def tokenizers() -> tuple[Tokenizer, Tokenizer]:
    everyday = load("everyday")
    return Tokenizer.train(everyday.sources, "hi", 400), Tokenizer.train(everyday.targets, "en", 400)


# ------------------------------------------------------------------------------------------------- cuts by chance


def test_a_cut_without_dropout_is_the_usual_one(tokenizers) -> None:
    everyday = load("everyday")
    for tokenizer, lines in zip(tokenizers, (everyday.sources, everyday.targets), strict=True):
        for line in [*lines, "", "  ", "((", "x. y", "🙂 a"]:
            assert tokenizer.sample(line, 0.0, random.Random(0)) == tokenizer.encode(line), line


def test_a_cut_with_dropout_is_the_same_text_in_smaller_pieces(tokenizers) -> None:
    everyday = load("everyday")
    for tokenizer, lines in zip(tokenizers, (everyday.sources, everyday.targets), strict=True):
        cuts = [tokenizer.sample(line, 0.3, random.Random(n)) for n, line in enumerate(lines)]
        usual = [tokenizer.encode(line) for line in lines]
        assert [tokenizer.decode(cut) for cut in cuts] == [tokenizer.decode(ids) for ids in usual]
        assert sum(map(len, cuts)) > 1.2 * sum(map(len, usual))
        assert cuts == [tokenizer.sample(line, 0.3, random.Random(n)) for n, line in enumerate(lines)]


def test_a_cut_where_every_join_is_left_out_has_one_piece_a_letter(tokenizers) -> None:
    assert tokenizers[1].pieces(tokenizers[1].sample("the tea.", 1.0, random.Random(0))) == [*"▁the▁tea."]


# -------------------------------------------------------------------------------------------- the training data


def test_no_pair_of_the_course_is_near_to_one_held_out() -> None:
    """Two sentences of each pool are held out, one of them with another end mark: they do not train along."""
    everyday, train = load("everyday"), load("train")
    held = [everyday[3], everyday[5], train[7], train[2]]
    along = course_pairs(50, held)
    assert len(along.everyday) <= len(everyday) - 2 and len(along.controlled) <= 48
    keys = {comparison_key(pair.source, "hi") for pair in held} | {comparison_key(pair.target, "en") for pair in held}
    for pair in [*along.everyday, *along.controlled]:
        assert not {comparison_key(pair.source, "hi"), comparison_key(pair.target, "en")} & keys
    assert len(course_pairs(50, []).controlled) == 50 and course_pairs(0, held) == Along()


def test_pairs_stand_in_the_data_as_often_as_asked(tokenizers) -> None:
    pairs, other = load("everyday")[:20], load("train")[:5]
    config = RunConfig.make({"repeats": 3, "piece_dropout": 0.2})
    data = training_data(config, pairs, Along((), other.pairs), tokenizers)
    assert len(data) == 3 * 20 + 5
    source, target = tokenizers
    for place, pair in enumerate([*pairs, *pairs, *pairs, *other]):
        hindi, english = data[place]
        assert hindi[-1] == source.eos_id and target.decode(english) == target.decode(target.encode(pair.target))
        assert source.decode(hindi) == source.decode(source.encode(pair.source))
    assert data[:20] != data[20:40] != data[40:60]
    assert data == training_data(config, pairs, Along((), other.pairs), tokenizers)


def test_a_large_corpus_is_not_repeated(tokenizers, monkeypatch) -> None:
    pairs = load("everyday")[:20]
    for most, times in ((100, 4), (79, 3), (40, 2), (39, 1), (10, 1)):
        monkeypatch.setattr("lib.runs.MOST_REPEATED", most)
        assert len(training_data(RunConfig.make({}), pairs, Along(), tokenizers)) == 20 * times


@pytest.mark.parametrize("wrong", [{"repeats": 0}, {"course": -1}, {"piece_dropout": 1.0}])
def test_settings_out_of_range_are_refused(wrong: dict) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        RunConfig.make(wrong)


# ------------------------------------------------------------------------------------------------- tied embeddings


def test_a_tied_logit_is_the_product_with_the_words_embedding() -> None:
    torch.manual_seed(0)
    model = Seq2Seq(ModelConfig(7, 9, 4, 6, tied=True)).eval()
    with torch.no_grad():
        model.word_bias.normal_()
    source, target = torch.tensor([[4, 5, 3]]), torch.tensor([[2, 4, 6]])
    mask = torch.ones_like(source, dtype=torch.bool)
    logits, _ = model(source, mask, target)
    memory = model.encode(source, mask)
    features, _, _ = model.decoder.unroll(model.embedding(target), model.start(memory), memory)
    narrow = features @ model.output.weight.T + model.output.bias  # (1, 3, 4)
    for word in range(9):
        expected = (narrow * model.embedding.weight[word]).sum(-1) + model.word_bias[word]
        torch.testing.assert_close(logits[..., word], expected)


def test_untied_models_begin_as_they_did_before() -> None:
    """Stored runs are made again: what is random must come in the old order, encoder first, decoder last."""
    torch.manual_seed(0)
    model = Seq2Seq(ModelConfig(7, 9, 4, 6))
    torch.manual_seed(0)
    old = torch.nn.Embedding(7, 4, padding_idx=0), torch.nn.LSTM(4, 6, batch_first=True)
    new = torch.nn.Embedding(9, 4, padding_idx=0), torch.nn.Linear(6, 9)
    assert torch.equal(model.encoder.embedding.weight, old[0].weight)
    assert torch.equal(model.encoder.rnn.weight_hh_l0, old[1].weight_hh_l0)
    assert torch.equal(model.embedding.weight, new[0].weight) and torch.equal(model.output.weight, new[1].weight)
    assert "word_bias" not in model.state_dict()


def test_tied_embeddings_learn_from_both_their_uses() -> None:
    torch.manual_seed(0)
    model = Seq2Seq(ModelConfig(7, 9, 4, 6, tied=True))
    source = torch.tensor([[4, 5, 3]])
    logits, _ = model(source, torch.ones_like(source, dtype=torch.bool), torch.tensor([[2, 4]]))
    F.cross_entropy(logits[0], torch.tensor([4, 3])).backward()
    assert bool((model.embedding.weight.grad[8] != 0).any())  # 8 was never read, only weighed as an answer


# ---------------------------------------------------------------------------------------------- the experiment


def test_the_experiment_runs_on_a_small_corpus_of_our_own() -> None:
    settings = {"course": 40, "embedding": 8, "hidden": 8, "vocab_size": 300, "max_words": 8, "dev": 15}
    found = real_pairs(data_path() / "everyday.tsv", steps=2, full_steps=3, again=(1,), test=20, **settings)
    assert [row["variant"] for row in found["rows"]] == [*TAKEN_BACK, "none of these choices", "the defaults"]
    assert found["corpus"]["pairs"]["dev"] == 15 and found["corpus"]["pairs"]["test"] == 20
    assert [row["variant"] for row in found["full_length"]] == ["the defaults", *AT_FULL_LENGTH]
    assert (found["test"]["best_step"], found["rows"][0]["best_step"]) == (3, 2)
    seen = {row["variant"]: row["pairs_seen"] for row in found["rows"]}
    assert seen["no pairs of the course"] < seen["the defaults"] and seen["each pair once"] < seen["the defaults"]


def test_the_command_asks_for_the_corpus(capsys) -> None:
    assert main(["experiment", "real_pairs"]) == 1
    assert "add --corpus FILE" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------ the stored measurement


def test_the_stored_measurement_reaches_what_the_course_claims() -> None:
    """On 500 pairs of a real corpus that the model has not seen: BLEU 10, chrF 26, five minutes on two cores."""
    stored = measured("real_pairs")
    assert stored["command"] == "python -m lib experiment real_pairs --corpus hin.txt"
    assert {"date", "versions", "machine"} <= set(stored) and stored["corpus"]["pairs"]["test"] == 500
    assert stored["test"]["bleu"] >= 10 and stored["test"]["chrf"] >= 26
    assert stored["test"]["processor_seconds"] <= 600


def test_the_stored_measurement_was_made_with_the_defaults_of_today() -> None:
    stored = measured("real_pairs")
    own = {"test"}  # the size that the course promises, not a default
    now = RunConfig.make({}).flat()
    assert len(stored["settings"]) > 20  # a setting that came later had no say in it
    assert all(now[name] == value for name, value in stored["settings"].items() if name not in own)
    variants = {row["variant"]: row["changes"] for row in stored["rows"]}
    assert variants == {**TAKEN_BACK, "none of these choices": NOTHING}


def test_the_choices_together_buy_more_than_chance() -> None:
    """With every seed the defaults are far above a model without them; and the dev loss agrees."""
    rows = measured("real_pairs")["rows"]
    (worst,) = (row for row in rows if row["variant"] == "none of these choices")
    defaults = [row for row in rows if row["variant"] == "the defaults"]
    assert [row["seed"] for row in defaults] == [0, 1]
    for best in defaults:
        assert best["bleu"] > worst["bleu"] + 3 and best["chrf"] > worst["chrf"] + 5
        assert best["dev_loss"] < worst["dev_loss"]


def test_dropout_costs_in_a_short_run_and_pays_in_a_whole_one() -> None:
    """What notebook 04 says of it: a table of short runs alone would have told the wrong story."""
    stored = measured("real_pairs")
    short, whole = (
        {row["variant"]: row["chrf"] for row in stored[part] if row.get("seed", 0) == 0}
        for part in ("rows", "full_length")
    )
    assert list(whole) == ["the defaults", *AT_FULL_LENGTH]
    assert short["no dropout"] > short["the defaults"] + 2 and whole["no dropout"] < whole["the defaults"] - 2
    for name in ("no pairs of the course", "each pair once", "an output layer of its own"):
        assert short[name] < short["the defaults"] - 1


def test_no_sentence_of_the_corpus_is_stored() -> None:
    text = json.dumps(measured("real_pairs"), ensure_ascii=False)
    assert not any("\u0900" <= letter <= "\u097f" for letter in text)
    assert len(text) < 20_000
