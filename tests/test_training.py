"""The loss by hand, the schedule, resuming, interrupting, and files that are whole or absent."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from lib import training
from lib.batching import encode_pairs
from lib.corpus import Pair
from lib.search import Translator
from lib.seq2seq import ModelConfig, Seq2Seq
from lib.text import Tokenizer, WordTokenizer
from lib.training import (
    History,
    TrainConfig,
    Trainer,
    dev_loss,
    learning_rate,
    load_checkpoint,
    pick_device,
    save_checkpoint,
    token_loss,
    write_atomically,
)
from lib.transformer import TinyTransformer, TransformerConfig

NOUNS = {"किताब": "book", "चाय": "tea", "रोटी": "bread", "चिट्ठी": "letter", "पानी": "water", "फल": "fruit"}
WHO = {"राम": "Ram", "सीता": "Sita", "मोहन": "Mohan", "लड़का": "boy"}
PAIRS = [Pair(f"{who} {noun} लाया", f"{en} brought {n}") for who, en in WHO.items() for noun, n in NOUNS.items()]


def make(dropout: float = 0.0, seed: int = 1):
    torch.manual_seed(seed)
    source = WordTokenizer.train([pair.source for pair in PAIRS], "hi")
    target = WordTokenizer.train([pair.target for pair in PAIRS], "en")
    model = Seq2Seq(ModelConfig(source.vocab_size, target.vocab_size, 16, 24, dropout=dropout))
    return model, source, target, encode_pairs(PAIRS, source, target)


def test_uniform_logits_cost_the_log_of_the_vocabulary() -> None:
    target, mask = torch.tensor([[1, 2, 3]]), torch.tensor([[True, True, False]])
    assert float(token_loss(torch.zeros(1, 3, 7), target, mask)) == pytest.approx(2 * math.log(7), rel=1e-6)


def test_loss_of_one_word_by_hand() -> None:
    # p = softmax(0, ln 3) = (1/4, 3/4), so -ln p = ln(4/3) for the second word.
    logits = torch.tensor([[[0.0, math.log(3)]]])
    loss = token_loss(logits, torch.tensor([[1]]), torch.tensor([[True]]))
    assert float(loss) == pytest.approx(math.log(4 / 3), rel=1e-5)
    # Smoothing 0.2 over two words: 0.9 of the weight on the right one, 0.1 on the other.
    smoothed = token_loss(logits, torch.tensor([[1]]), torch.tensor([[True]]), 0.2)
    assert float(smoothed) == pytest.approx(0.9 * math.log(4 / 3) + 0.1 * math.log(4), rel=1e-5)


def test_padding_costs_nothing_and_only_padding_is_not_nan() -> None:
    torch.manual_seed(0)
    logits, target = torch.randn(2, 4, 5), torch.randint(0, 5, (2, 4))
    mask = torch.tensor([[True] * 4, [True, True, False, False]])
    wide = torch.cat([logits, torch.full((2, 10, 5), torch.nan)], dim=1)
    wide_target, wide_mask = torch.zeros(2, 14, dtype=torch.long), torch.zeros(2, 14, dtype=torch.bool)
    wide_target[:, :4], wide_mask[:, :4] = target, mask
    assert torch.equal(token_loss(logits, target, mask), token_loss(wide, wide_target, wide_mask))
    assert float(token_loss(logits, target, torch.zeros_like(mask))) == 0.0


def test_dev_loss_is_the_mean_over_tokens_not_over_batches() -> None:
    model, _, _, data = make()
    data = [*data[:3], (data[0][0] * 4, data[0][1] * 4)]
    sums, count = 0.0, 0
    for pair in data:
        tokens = len(pair[1]) + 1
        sums += dev_loss(model, [pair]) * tokens
        count += tokens
    for size in (1, 2, 4):
        assert dev_loss(model, data, size) == pytest.approx(sums / count, rel=1e-5)


def test_the_schedule_rises_then_falls_to_a_twentieth() -> None:
    config = TrainConfig(steps=110, warmup=10, learning_rate=1.0)
    assert learning_rate(0, config) == pytest.approx(0.1)
    assert learning_rate(9, config) == pytest.approx(1.0)
    assert learning_rate(60, config) == pytest.approx(0.05 + 0.95 / 2)  # half way down the cosine
    assert learning_rate(110, config) == pytest.approx(0.05)


def test_it_learns_and_the_history_says_so() -> None:
    model, source, target, data = make()
    config = TrainConfig(steps=300, batch_size=8, learning_rate=1e-2, warmup=10, evaluate_every=100)
    history = Trainer(model, data, config, dev=data).run(show_progress=False)
    assert len(history.losses) == 300 and history.dev_steps == [100, 200, 300]
    assert history.dev_losses[-1] == pytest.approx(dev_loss(model, data), rel=1e-4)
    found = Translator(model, source, target).translate([pair.source for pair in PAIRS])
    assert [translation.text for translation in found] == [pair.target for pair in PAIRS]


def test_smoothed_history_by_hand() -> None:
    assert History(losses=[4.0, 2.0, 6.0]).smoothed(2) == [4.0, 3.0, 4.0]


@pytest.mark.parametrize("stop", [1, 7, 13])
def test_a_stopped_run_goes_on_as_if_never_stopped(tmp_path: Path, stop: int) -> None:
    config = TrainConfig(steps=20, batch_size=8)
    model, source, target, data = make(dropout=0.3)
    torch.manual_seed(9)
    whole = Trainer(model, data, config).run(show_progress=False)

    first, *_ = make(dropout=0.3)
    torch.manual_seed(9)
    trainer = Trainer(first, data, config)
    trainer.run(steps=stop, show_progress=False)
    save_checkpoint(tmp_path / "last.pt", first, source, target, trainer)

    torch.manual_seed(12345)
    saved = load_checkpoint(tmp_path / "last.pt")
    second = Trainer(saved.model, data, config)
    second.load_state_dict(saved.trainer)
    resumed = second.run(show_progress=False)
    assert resumed.losses == whole.losses
    for a, b in zip(model.parameters(), saved.model.parameters(), strict=True):
        assert torch.equal(a, b)


def stop_at(trainer: Trainer, step: int, act) -> None:
    """Call `act` in the middle of the step with this number."""
    plain = trainer._forward

    def forward(*batch):
        if trainer.step == step:
            act()
        return plain(*batch)

    trainer._forward = forward


def test_ctrl_c_ends_the_step_keeps_the_model_and_a_second_run_goes_on() -> None:
    """As in a notebook: the signal comes in the middle of step 7, which is finished; the end is as if nothing was."""
    config = TrainConfig(steps=10, batch_size=8)
    whole, _, _, data = make(dropout=0.3)
    expected = Trainer(whole, data, config).run(show_progress=False).losses
    model, *_ = make(dropout=0.3)
    trainer, before = Trainer(model, data, config), signal.getsignal(signal.SIGINT)
    stop_at(trainer, 7, lambda: os.kill(os.getpid(), signal.SIGINT))
    history = trainer.run(show_progress=False)
    assert history.interrupted and trainer.step == 8 and len(history.losses) == 8
    assert signal.getsignal(signal.SIGINT) is before
    history = trainer.run(show_progress=False)
    assert not history.interrupted and trainer.step == 10 and history.losses == expected
    assert all(torch.equal(a, b) for a, b in zip(whole.parameters(), model.parameters(), strict=True))


def test_a_second_ctrl_c_stops_at_once() -> None:
    model, _, _, data = make()
    trainer = Trainer(model, data, TrainConfig(steps=10, batch_size=8))
    stop_at(trainer, 7, lambda: [os.kill(os.getpid(), signal.SIGINT) for _ in range(2)])
    with pytest.raises(KeyboardInterrupt):
        trainer.run(show_progress=False)
    assert trainer.step == 7 and len(trainer.history.losses) == 7


def test_an_interrupt_from_elsewhere_keeps_the_model_too() -> None:
    """Without a signal, as in a thread that is not the main one."""
    model, _, _, data = make()
    trainer = Trainer(model, data, TrainConfig(steps=10, batch_size=8))

    def interrupt() -> None:
        raise KeyboardInterrupt

    stop_at(trainer, 7, interrupt)
    assert trainer.run(show_progress=False).interrupted and trainer.step == 7


class Notes:
    """A keeper that only notes what it is told, and can play a given course of dev losses."""

    def __init__(self) -> None:
        self.better: list[bool] = []
        self.saved: list[int] = []

    def evaluated(self, trainer: Trainer, better: bool) -> None:
        self.better.append(better)

    def save(self, trainer: Trainer) -> None:
        self.saved.append(trainer.step)


def with_dev_losses(monkeypatch, losses: list[float], **settings) -> tuple[Trainer, Notes, dict[int, torch.Tensor]]:
    """A trainer whose looks at the dev set find these losses; and the weights that each look saw."""
    model, _, _, data = make()
    seen: dict[int, torch.Tensor] = {}

    def measure(model, dev, batch_size) -> float:
        seen[len(seen)] = model.output.weight.detach().clone()
        return losses[len(seen) - 1]

    monkeypatch.setattr(training, "dev_loss", measure)
    notes = Notes()
    config = TrainConfig(batch_size=8, evaluate_every=2, **settings)
    return Trainer(model, data, config, dev=data, keeper=notes, save_every=3), notes, seen


def test_the_best_weights_are_those_of_the_best_look(monkeypatch) -> None:
    trainer, notes, seen = with_dev_losses(monkeypatch, [5.0, 3.0, 4.0, 3.0, 6.0], steps=9)
    trainer.run(show_progress=False)
    assert trainer.history.dev_steps == [2, 4, 6, 8, 9]  # the end is looked at too
    assert notes.better == [True, True, False, False, False] and notes.saved == [3, 6, 9]
    assert trainer.best["step"] == 4 and trainer.best["loss"] == 3.0
    trainer.use_best()
    assert torch.equal(trainer.model.output.weight, seen[1]) and not torch.equal(seen[1], seen[4])


def test_early_stopping_counts_looks_without_a_better_one(monkeypatch) -> None:
    trainer, notes, _ = with_dev_losses(monkeypatch, [5.0, 3.0, 4.0, 3.5, 3.0, 1.0], steps=100, patience=3)
    trainer.run(show_progress=False)
    assert trainer.step == 10 and trainer.stopped_early and trainer.finished and len(notes.better) == 5
    trainer.run(show_progress=False)
    assert trainer.step == 10  # it stays stopped, after resuming too


def test_the_average_by_hand_is_what_is_looked_at_and_training_goes_on_without_it(monkeypatch) -> None:
    """d = min(0.5, (1 + t) / (10 + t)): 1/10, 2/11, 3/12, 4/13 for the first four steps."""
    trainer, _, seen = with_dev_losses(monkeypatch, [2.0, 1.0], steps=4, average=0.5)
    plain, *_ = make()
    other = Trainer(plain, trainer.data, TrainConfig(steps=4, batch_size=8))
    average = plain.output.weight.detach().clone()
    for decay in (1 / 10, 2 / 11, 3 / 12, 4 / 13):
        other.run(steps=1, show_progress=False)
        average = decay * average + (1 - decay) * plain.output.weight.detach()
    trainer.run(show_progress=False)
    torch.testing.assert_close(seen[1], average)
    assert torch.equal(trainer.model.output.weight, plain.output.weight)
    trainer.use_best()
    torch.testing.assert_close(trainer.model.output.weight, average)


def test_a_gradient_that_is_no_number_changes_no_weight() -> None:
    """The loss is finite, its gradient is not: without a look at the norm all weights would be lost."""
    model, _, _, data = make()
    model.output.bias.register_hook(lambda gradient: gradient * torch.nan)
    before = [value.detach().clone() for value in model.parameters()]
    with pytest.raises(FloatingPointError, match=r"step 0 the loss is \d.* norm of its gradient nan; no weight was"):
        Trainer(model, data, TrainConfig(steps=3)).run(show_progress=False)
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))


def test_bfloat16_products_change_the_loss_by_little() -> None:
    """What mixed precision does on a GPU, shown on the CPU: near the exact loss, with GRUs:
    the fused LSTM of a CPU knows bfloat16 on some machines only."""
    for order, scorer in (("luong", "dot"), ("bahdanau", "additive"), ("none", "dot")):
        _, source, target, data = make()
        torch.manual_seed(1)
        shape = {"order": order, "scorer": scorer, "cell": "gru"}
        model = Seq2Seq(ModelConfig(source.vocab_size, target.vocab_size, 16, 24, **shape))
        exact = dev_loss(model, data)
        with torch.autocast("cpu", torch.bfloat16):
            assert dev_loss(model, data) == pytest.approx(exact, rel=0.02)


def test_other_data_than_in_the_checkpoint_is_refused() -> None:
    model, _, _, data = make()
    state = Trainer(model, data, TrainConfig(steps=5)).state_dict()
    with pytest.raises(ValueError, match="trained on 24 pairs, this trainer has 23, and they are not the same"):
        Trainer(model, data[1:], TrainConfig(steps=5)).load_state_dict(state)


def test_a_loss_that_is_no_number_stops_with_the_step() -> None:
    model, _, _, data = make()
    with torch.no_grad():
        model.output.bias[:] = torch.nan
    with pytest.raises(FloatingPointError, match="step 0 the loss is nan.*learning_rate"):
        Trainer(model, data, TrainConfig(steps=3)).run(show_progress=False)


def test_a_run_must_have_steps() -> None:
    with pytest.raises(ValueError, match="steps=0: give a whole number, 1 or more"):
        TrainConfig(steps=0)


@pytest.mark.parametrize("kind", ["words", "pieces", "transformer"])
def test_a_checkpoint_translates_the_same_in_a_fresh_process(tmp_path: Path, kind: str) -> None:
    model, source, target, _ = make()
    if kind == "pieces":
        source = Tokenizer.train([pair.source for pair in PAIRS], "hi", vocab_size=200)
        model = Seq2Seq(ModelConfig(source.vocab_size, target.vocab_size, 16, 24, order="bahdanau"))
    if kind == "transformer":
        model = TinyTransformer(TransformerConfig(source.vocab_size, target.vocab_size, size=16, heads=2, layers=1))
    path = tmp_path / "model.pt"
    save_checkpoint(path, model, source, target)
    expected = Translator(model, source, target).translate(["राम चाय लाया"])[0].text
    code = (
        "import sys; from lib.search import Translator; from lib.training import load_checkpoint\n"
        "c = load_checkpoint(sys.argv[1])\n"
        "t = Translator(c.model, c.source_tokenizer, c.target_tokenizer)\n"
        "print(t.translate(['राम चाय लाया'])[0].text)"
    )
    run = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", code, str(path)], capture_output=True, text=True, encoding="utf-8"
    )
    assert (run.stdout.strip(), run.stderr) == (expected, "")
    torch.load(path, weights_only=True)  # default-safe: plain types and tensors


@pytest.mark.parametrize("content", [b"", b"version https://git-lfs.github.com/spec/v1\n", b"PK\x03\x04junk"])
def test_a_foreign_file_is_one_clear_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.pt"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="not a whole checkpoint"):
        load_checkpoint(path)


def test_a_truncated_checkpoint_is_one_clear_error(tmp_path: Path) -> None:
    model, source, target, _ = make()
    path = tmp_path / "model.pt"
    save_checkpoint(path, model, source, target)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="not a whole checkpoint"):
        load_checkpoint(path)


def test_a_missing_checkpoint_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no checkpoint at"):
        load_checkpoint(tmp_path / "nothing.pt")


def test_a_writer_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail(file) -> None:
        file.write(b"half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, fail)
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
    write_atomically(path, lambda file: file.write(b"new"))
    assert path.read_bytes() == b"new" and path.stat().st_mode & 0o044


def test_resuming_with_another_configuration_is_refused() -> None:
    model, _, _, data = make()
    state = Trainer(model, data, TrainConfig(steps=5)).state_dict()
    with pytest.raises(ValueError, match="was trained with"):
        Trainer(model, data, TrainConfig(steps=6)).load_state_dict(state)


def test_the_device_is_never_mps() -> None:
    assert pick_device().type in ("cpu", "cuda")
