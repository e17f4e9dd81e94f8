"""Search against brute force over a toy table, and what a user may ask of `translate`."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import pytest
import torch
from torch import Tensor, nn

from lib.batching import pad
from lib.search import (
    Translator,
    beam,
    coverage_penalty,
    evaluating,
    greedy,
    length_limit,
    length_penalty,
)
from lib.seq2seq import ModelConfig, Seq2Seq
from lib.text import WordTokenizer
from lib.transformer import TinyTransformer, TransformerConfig

BOS, EOS, VOCABULARY = 2, 3, 6  # 0 pad, 1 unknown, 4 and 5 are words


@dataclass
class Rows:
    """Memory and state of the table model: one row a hypothesis."""

    values: Tensor

    def select(self, rows: Tensor) -> Rows:
        return Rows(self.values[rows])


class TableModel:
    """p(next | last word, first source id) read from a table; attention looks at position (steps so far) mod S."""

    def __init__(self, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        table = torch.randn(10, VOCABULARY, VOCABULARY, generator=generator) * 2
        table[:, :, :3] = -30.0  # never pad, unknown or begin
        self.log_p = table.log_softmax(-1)

    def encode(self, source: Tensor, source_mask: Tensor) -> Rows:
        return Rows(source)

    def start(self, memory: Rows) -> Rows:
        return Rows(torch.zeros(len(memory.values), dtype=torch.long))

    def step(self, tokens: Tensor, state: Rows, memory: Rows) -> tuple[Tensor, Rows, Tensor]:
        source = memory.values
        weights = nn.functional.one_hot(state.values % source.shape[1], source.shape[1]).float()
        return self.log_p[source[:, 0], tokens], Rows(state.values + 1), weights


def every_translation(model: TableModel, source_id: int, limit: int) -> dict[tuple[int, ...], float]:
    """log P of each word sequence that ends with </s> within the limit, by enumeration."""
    found = {}
    for length in range(limit):
        for words in itertools.product((4, 5), repeat=length):
            path = [BOS, *words, EOS]
            found[words] = sum(float(model.log_p[source_id, a, b]) for a, b in zip(path, path[1:], strict=False))
    return found


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("alpha", [0.0, 0.6])
def test_a_wide_beam_finds_what_brute_force_finds(seed: int, alpha: float) -> None:
    model, limit = TableModel(seed), 6
    source = torch.tensor([[4, 7], [9, 7]])
    mask = torch.ones_like(source, dtype=torch.bool)
    hypotheses = beam(model, source, mask, BOS, EOS, size=64, alpha=alpha, max_length=limit)
    for row, hypothesis in zip(source, hypotheses, strict=True):
        scores = {
            words: log_p / ((5 + len(words) + 1) / 6) ** alpha
            for words, log_p in every_translation(model, int(row[0]), limit).items()
        }
        # A beginning cut off at the limit competes too; it has as many words as the limit.
        for words in itertools.product((4, 5), repeat=limit):
            path = [BOS, *words]
            log_p = sum(float(model.log_p[int(row[0]), a, b]) for a, b in zip(path, path[1:], strict=False))
            scores[words] = log_p / ((5 + limit) / 6) ** alpha
        best = max(scores, key=scores.get)
        assert tuple(hypothesis.tokens) == best
        assert hypothesis.score == pytest.approx(scores[best], abs=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_beam_of_one_is_greedy(seed: int) -> None:
    model = TableModel(seed)
    source = torch.arange(10)[:, None].repeat(1, 3)
    mask = torch.ones_like(source, dtype=torch.bool)
    one = greedy(model, source, mask, BOS, EOS)
    for a, b in zip(one, beam(model, source, mask, BOS, EOS, size=1), strict=True):
        assert (a.tokens, a.finished) == (b.tokens, b.finished)
        assert a.score == pytest.approx(b.score, abs=1e-4)


def test_a_wider_beam_is_never_worse_on_the_table() -> None:
    model = TableModel(3)
    source = torch.arange(10)[:, None]
    mask = torch.ones_like(source, dtype=torch.bool)
    scores = [[found.score for found in beam(model, source, mask, BOS, EOS, size=size)] for size in (1, 64)]
    assert all(wide >= narrow - 1e-6 for narrow, wide in zip(*scores, strict=True))


def test_penalties_by_hand() -> None:
    assert length_penalty(1, 0.7) == pytest.approx(1.0)  # (5 + 1) / 6
    assert length_penalty(7, 1.0) == pytest.approx(2.0)  # (5 + 7) / 6
    weights = torch.tensor([[0.5, 0.25, 0.25], [0.5, 0.5, 0.0]])
    # Columns sum to 1, 0.75 and 0.25; the third is padding.
    mask = torch.tensor([True, True, False])
    assert float(coverage_penalty(weights, mask, 0.2)) == pytest.approx(0.2 * math.log(0.75), abs=1e-6)


def test_coverage_prefers_the_translation_that_looked_everywhere() -> None:
    """The table model looks at the next source position with each step, so coverage favours longer outputs."""
    source = torch.tensor([[4, 4, 4, 4]])
    mask = torch.ones_like(source, dtype=torch.bool)
    for seed in range(20):
        model = TableModel(seed)
        short = beam(model, source, mask, BOS, EOS, size=16, max_length=6)[0]
        covering = beam(model, source, mask, BOS, EOS, size=16, beta=50.0, max_length=6)[0]
        looked = len(covering.tokens) + covering.finished  # steps, each on another of four positions
        assert looked >= min(4, len(short.tokens) + short.finished)
        assert looked >= 4


def test_one_weight_row_for_each_token_and_the_end() -> None:
    model = TableModel(0)
    source = torch.tensor([[4, 7, 8]])
    mask = torch.ones_like(source, dtype=torch.bool)
    for found in (*greedy(model, source, mask, BOS, EOS), *beam(model, source, mask, BOS, EOS, size=4)):
        steps = len(found.tokens) + found.finished
        expected = nn.functional.one_hot(torch.arange(steps) % 3, 3).float()
        assert torch.equal(found.weights, expected)


def test_the_length_limit_belongs_to_the_sentence() -> None:
    mask = torch.tensor([[True, True, True], [True, False, False]])
    assert length_limit(mask).tolist() == [16, 12]
    assert length_limit(mask, 14).tolist() == [14, 12]


def test_bad_beam_settings_are_refused() -> None:
    source = torch.tensor([[4]])
    with pytest.raises(ValueError, match="size ≥ 1"):
        beam(TableModel(0), source, source > 0, BOS, EOS, size=0)


# ------------------------------------------------------------------------------------------- translating text

LINES = ["मैं स्कूल जाता हूँ", "वह गया", "राम सीता और मोहन कल बाज़ार में किताब पढ़ते थे", "वह", "वह स्कूल जाता है"]
TARGETS = ["I go to school", "he went", "Ram Sita and Mohan read a book", "he", "he goes"]


def make_translator(kind: str) -> Translator:
    torch.manual_seed(5)
    source, target = WordTokenizer.train(LINES, "hi"), WordTokenizer.train(TARGETS, "en")
    if kind == "transformer":
        model: nn.Module = TinyTransformer(
            TransformerConfig(source.vocab_size, target.vocab_size, size=16, heads=2, layers=1, dropout=0.5)
        )
    else:
        config = ModelConfig(source.vocab_size, target.vocab_size, 8, 12, order=kind, bidirectional=True, dropout=0.5)
        model = Seq2Seq(config)
    return Translator(model, source, target)


@pytest.mark.parametrize("kind", ["none", "fixed", "bahdanau", "luong", "transformer"])
@pytest.mark.parametrize("size", [1, 3])
def test_company_changes_no_translation(kind: str, size: int) -> None:
    translator = make_translator(kind)
    together = translator.translate(LINES, beam_size=size)
    assert [found.source for found in together] == LINES
    for line, found in zip(LINES, together, strict=True):
        alone = translator.translate([line], beam_size=size)[0]
        assert alone.text == found.text
        assert alone.score == pytest.approx(found.score, abs=1e-4)
        assert found.source_pieces == [*line.split(), "</s>"]
        if kind in ("bahdanau", "luong", "transformer"):
            assert found.weights.shape == (len(found.target_pieces), len(found.source_pieces))
            assert torch.allclose(found.weights.sum(1), torch.ones(len(found.target_pieces)), atol=1e-5)
    small = translator.translate(LINES, beam_size=size, batch_size=2)
    assert [found.text for found in small] == [found.text for found in together]


@pytest.mark.parametrize("kind", ["bahdanau", "luong", "transformer"])
@pytest.mark.parametrize("beta", [0.0, 0.3])
def test_the_rows_of_a_beam_are_those_of_its_own_words(kind: str, beta: float) -> None:
    """The rows, and the score with its coverage, are what teacher forcing along the found words gives."""
    translator, seen = make_translator(kind), set()
    model = translator.model.eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3)  # a model that is not of one mind
    sources = [[*translator.source_tokenizer.encode(line), EOS] for line in LINES]
    source, mask = pad(sources, 0)
    for row, found in enumerate(beam(model, source, mask, BOS, EOS, size=4, alpha=0.6, beta=beta)):
        words, width = found.tokens + [EOS] * found.finished, len(sources[row])
        alone = torch.tensor([sources[row]])
        with torch.no_grad():
            logits, rows = model(alone, torch.ones_like(alone, dtype=torch.bool), torch.tensor([[BOS, *words[:-1]]]))
        assert torch.allclose(found.weights[:, :width], rows[0], atol=1e-5) and not found.weights[:, width:].any()
        gained = logits[0].log_softmax(-1)[torch.arange(len(words)), words].sum()
        score = gained / ((5 + len(words)) / 6) ** 0.6 + beta * rows[0].sum(0).clamp(1e-9, 1).log().sum()
        assert found.score == pytest.approx(float(score), abs=1e-3)
        seen |= {tuple(words)}
    assert len(seen) == len(LINES) and len(set().union(*seen)) >= 4


def test_without_attention_there_is_nothing_to_cover() -> None:
    translator = make_translator("fixed")
    one, other = (translator.translate(LINES, beam_size=3, beta=beta) for beta in (0.0, 0.5))
    assert [found.score for found in one] == [found.score for found in other]


@pytest.mark.parametrize("line", ["", "   ", "ॐ Ω 漢字 🙂", "वह " * 500, "</s>", "<pad>", "\u200c", "a|b"])
def test_any_text_gives_a_translation(line: str) -> None:
    found = make_translator("luong").translate([line, "वह गया"])
    assert found[0].source == line
    if not line.strip(" \u200c"):
        assert found[0].text == "" and found[0].finished
    assert len(found) == 2


def test_no_lines_no_translations() -> None:
    assert make_translator("luong").translate([]) == []


def test_one_string_is_refused() -> None:
    with pytest.raises(TypeError, match="list of lines"):
        make_translator("luong").translate("वह गया")


def test_the_mode_comes_back_even_after_an_error() -> None:
    translator = make_translator("luong")
    translator.model.train()
    translator.translate(LINES)
    assert translator.model.training
    with pytest.raises(RuntimeError, match="stop"), evaluating(translator.model):
        assert not translator.model.training
        raise RuntimeError("stop")
    assert translator.model.training


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_length": 0}, "max_length=0"),
        ({"max_length": -3, "beam_size": 2}, "max_length=-3"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"beam_size": 0}, "beam_size=0"),
        ({"beam_size": 2, "alpha": float("nan")}, "alpha=nan"),
        ({"beam_size": 2, "beta": float("inf")}, "beta=inf"),
    ],
)
def test_settings_that_make_no_sense_are_named(settings: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        small_translator().translate(["घर"], **settings)


def test_a_line_that_is_no_text_is_named() -> None:
    with pytest.raises(TypeError, match="NoneType"):
        small_translator().translate(["घर", None])


def test_a_part_that_was_frozen_stays_so_after_translating() -> None:
    translator = small_translator()
    translator.model.train()
    translator.model.encoder.eval()
    translator.translate(["घर"])
    assert translator.model.training and not translator.model.encoder.training


def small_translator() -> Translator:
    tokenizers = WordTokenizer.train(["घर"], "hi"), WordTokenizer.train(["home"], "en")
    model = Seq2Seq(ModelConfig(*(t.vocab_size for t in tokenizers), embedding=4, hidden=4))
    return Translator(model, *tokenizers)
