"""The trainer: it knows batches, a loss and a schedule, and nothing of what is inside a model.

A run is made of steps, not of seconds, so that two machines train the same thing. It can be stopped at any step
(Ctrl-C too) and goes on where it was: the place in the data follows from the step number alone.

Letters: B batch, T target length, V vocabulary.
"""

from __future__ import annotations

import math
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lib.batching import Batch, Encoded, batches
from lib.progress import progress
from lib.search import evaluating
from lib.seq2seq import ModelConfig, Seq2Seq
from lib.text import Tokenizer, WordTokenizer, load_tokenizer
from lib.transformer import TinyTransformer, TransformerConfig

MODELS = {"Seq2Seq": (Seq2Seq, ModelConfig), "TinyTransformer": (TinyTransformer, TransformerConfig)}
CHECKPOINT_FORMAT = 1

# Once a model is sure of its words, gradients and Adam's averages decay to numbers so small (below 1e-38) that a CPU
# computes with them many times more slowly. They are as good as zero: make them zero.
torch.set_flush_denormal(True)


@dataclass(frozen=True)
class TrainConfig:
    """How to train. The learning rate rises over `warmup` steps and falls along a cosine to a twentieth."""

    steps: int
    batch_size: int = 64
    learning_rate: float = 2e-3
    warmup: int = 100
    clip: float = 1.0  # largest norm of the gradient
    label_smoothing: float = 0.0
    evaluate_every: int = 0  # steps between two looks at the dev set; 0: never
    seed: int = 0

    def __post_init__(self) -> None:
        if self.steps < 1 or self.batch_size < 1 or self.learning_rate <= 0 or self.clip <= 0:
            raise ValueError(f"steps, batch_size, learning_rate and clip must be positive, got {self}")


@dataclass
class History:
    """What happened: the training loss of every step, and the dev loss where it was measured."""

    losses: list[float] = field(default_factory=list)
    dev_steps: list[int] = field(default_factory=list)
    dev_losses: list[float] = field(default_factory=list)
    seconds: float = 0.0
    interrupted: bool = False

    def smoothed(self, window: int = 50) -> list[float]:
        """The training loss averaged over the last `window` steps, for drawing."""
        means = []
        for end in range(1, len(self.losses) + 1):
            last = self.losses[max(0, end - window) : end]
            means.append(sum(last) / len(last))
        return means


def pick_device() -> torch.device:
    """CUDA where there is one, else the CPU. Apple's MPS is not chosen: packed RNNs are unreliable there."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def token_loss(logits: Tensor, target: Tensor, mask: Tensor, label_smoothing: float = 0.0) -> Tensor:
    """Cross-entropy summed over the real target tokens, in nats: -sum_t log p(y_t).

    Divide by `mask.sum()` for the loss per token; a sum lets batches be joined without favouring short ones.

    logits (B, T, V), target (B, T), mask (B, T) -> scalar; 0 if no token is real
    """
    losses = F.cross_entropy(logits[mask], target[mask], reduction="none", label_smoothing=label_smoothing)
    return losses.sum()


def learning_rate(step: int, config: TrainConfig) -> float:
    """The rate at `step` (from 0): linear warm-up, then half a cosine down to 1/20 of the top."""
    if step < config.warmup:
        return config.learning_rate * (step + 1) / config.warmup
    done = (step - config.warmup) / max(1, config.steps - config.warmup)
    return config.learning_rate * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * min(1.0, done))))


class Trainer:
    """One model in training.

    >>> trainer = Trainer(model, train_data, TrainConfig(steps=1000), dev_data)
    >>> history = trainer.run()          # Ctrl-C stops it, a second run() goes on
    """

    def __init__(
        self,
        model: nn.Module,
        data: Sequence[Encoded],
        config: TrainConfig,
        dev: Sequence[Encoded] | None = None,
        label: str = "training",
    ) -> None:
        self.model, self.data, self.config, self.dev, self.label = model, data, config, dev, label
        self.step = 0
        self.history = History()
        self.optimiser = torch.optim.Adam(model.parameters(), lr=config.learning_rate, betas=(0.9, 0.98), fused=True)
        self.device = next(model.parameters()).device

    def run(self, steps: int | None = None, show_progress: bool = True) -> History:
        """Train up to the configured number of steps, or `steps` further ones; return the history so far."""
        goal = self.config.steps if steps is None else min(self.config.steps, self.step + steps)
        remaining = self._batches(goal)
        if show_progress:
            remaining = progress(remaining, total=goal, start=self.step, label=self.label, note=self._note)
        self.history.interrupted = False
        self.model.train()
        begin = time.perf_counter()
        try:
            for batch in remaining:
                self.history.losses.append(self._train_on(batch.to(self.device)))
                self.step += 1
                if self.dev and self.config.evaluate_every and self.step % self.config.evaluate_every == 0:
                    self.history.dev_steps.append(self.step)
                    self.history.dev_losses.append(dev_loss(self.model, self.dev, self.config.batch_size))
        except KeyboardInterrupt:
            self.history.interrupted = True
        self.history.seconds += time.perf_counter() - begin
        return self.history

    def _train_on(self, batch: Batch) -> float:
        for group in self.optimiser.param_groups:
            group["lr"] = learning_rate(self.step, self.config)
        logits, _ = self.model(batch.source, batch.source_mask, batch.target_in)  # (B, T, V)
        total = token_loss(logits, batch.target_out, batch.target_mask, self.config.label_smoothing)
        loss = total / batch.target_mask.sum().clamp(min=1)
        value = loss.item()
        if not math.isfinite(value):
            raise FloatingPointError(
                f"the loss at step {self.step} is {value}: the weights are those of the step before. "
                "Most often the learning rate is too high: try a smaller learning_rate or clip, or a longer warmup"
            )
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip)
        self.optimiser.step()
        return value

    def _batches(self, goal: int) -> Iterator[Batch]:
        """The batches of steps self.step … goal - 1, the same ones whether or not the run was ever stopped."""
        per_epoch = -(-len(self.data) // self.config.batch_size)
        while self.step < goal:
            epoch, done = divmod(self.step, per_epoch)
            stream = batches(self.data, self.config.batch_size, seed=self.config.seed, epoch=epoch)
            for number, batch in enumerate(stream):
                if number >= done:
                    yield batch
                if self.step >= goal:
                    return

    def _note(self) -> str:
        recent = self.history.losses[-50:]
        return f"loss {sum(recent) / len(recent):.3f}" if recent else ""

    def state_dict(self) -> dict[str, Any]:
        """Everything needed to go on: plain values and tensors."""
        return {
            "step": self.step,
            "config": asdict(self.config),
            "history": asdict(self.history),
            "optimiser": self.optimiser.state_dict(),
            "random_state": torch.get_rng_state(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a saved state; the weights of the model are loaded apart."""
        if state["config"] != asdict(self.config):
            raise ValueError(
                f"the checkpoint was trained with {state['config']}, this trainer has {asdict(self.config)}"
            )
        self.step = state["step"]
        self.history = History(**state["history"])
        self.optimiser.load_state_dict(state["optimiser"])
        torch.set_rng_state(state["random_state"])


@torch.no_grad()
def dev_loss(model: nn.Module, data: Sequence[Encoded], batch_size: int = 128) -> float:
    """Loss per real token over all of `data` under teacher forcing, dropout off; exp of it is the perplexity.

    It is the sum over all tokens divided by their number: the mean of batch means would weigh short batches more.
    """
    device = next(model.parameters()).device
    total, count = 0.0, 0
    with evaluating(model):
        for batch in batches(data, batch_size, seed=0, epoch=0):
            batch = batch.to(device)
            logits, _ = model(batch.source, batch.source_mask, batch.target_in)
            total += token_loss(logits, batch.target_out, batch.target_mask).item()
            count += int(batch.target_mask.sum())
    return total / max(1, count)


@dataclass
class Checkpoint:
    """What `load_checkpoint` gives back."""

    model: nn.Module
    source_tokenizer: Tokenizer | WordTokenizer
    target_tokenizer: Tokenizer | WordTokenizer
    trainer: dict[str, Any] | None  # for Trainer.load_state_dict


def save_checkpoint(
    path: str | os.PathLike[str],
    model: nn.Module,
    source_tokenizer: Tokenizer | WordTokenizer,
    target_tokenizer: Tokenizer | WordTokenizer,
    trainer: Trainer | None = None,
) -> None:
    """Write a model with all it needs into one file: whole, or not at all.

    The file holds plain types and tensors only, so `torch.load(weights_only=True)` reads it.
    """
    content = {
        "format": CHECKPOINT_FORMAT,
        "model": type(model).__name__,
        "config": asdict(model.config),
        "weights": model.state_dict(),
        "source_tokenizer": source_tokenizer.to_bytes(),
        "target_tokenizer": target_tokenizer.to_bytes(),
        "trainer": trainer.state_dict() if trainer else None,
    }
    write_atomically(Path(path), lambda file: torch.save(content, file))


def write_atomically(path: Path, write: Any) -> None:
    """Call `write(file)` on a temporary file beside `path`, then put it in its place in one move.

    Whatever goes wrong, the earlier file stays as it was and no temporary one is left behind.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)  # a temporary file is for its owner alone; this one is to be shared
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def load_checkpoint(path: str | os.PathLike[str], device: torch.device | None = None) -> Checkpoint:
    """Read what `save_checkpoint` wrote, onto `device` (by default the one `pick_device` chooses).

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is not a whole checkpoint of this course.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no checkpoint at {path}: train first, or give the path of a saved one")
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
        if content["format"] != CHECKPOINT_FORMAT:
            raise ValueError(f"format {content['format']}")
        model_class, config_class = MODELS[content["model"]]
        model = model_class(config_class(**content["config"]))
        model.load_state_dict(content["weights"])
        tokenizers = [load_tokenizer(content[f"{side}_tokenizer"]) for side in ("source", "target")]
    except Exception as error:
        raise ValueError(
            f"{path} ({path.stat().st_size} bytes) is not a whole checkpoint of this course "
            f"({type(error).__name__}): it may be truncated, or another kind of file. Use another copy or train again"
        ) from error
    return Checkpoint(model.to(device or pick_device()), *tokenizers, content["trainer"])
