"""The trainer: it knows batches, a loss and a schedule, and nothing of what is inside a model.

A run is made of steps, not of seconds, so that two machines train the same thing. It can be stopped at any step
(Ctrl-C too) and goes on where it was: the place in the data follows from the step number alone. Started by torchrun,
several processes take the steps that one would take, each with its share of every batch.

Letters: B batch, T target length, V vocabulary.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lib.batching import Batch, Encoded, batches, batches_per_epoch, fingerprint
from lib.checkpoint import Checkpoint, load_checkpoint, save_checkpoint, write_atomically
from lib.distributed import (
    agree,
    gather,
    pick_device,
    random_state,
    rank,
    set_random_state,
    sum_over_processes,
    synchronised,
    world,
)
from lib.interrupt import Stop
from lib.progress import progress
from lib.search import evaluating
from lib.settings import require, whole

__all__ = [  # files and devices have rooms of their own; the names that go with a trainer are known here too
    "Checkpoint",
    "History",
    "TrainConfig",
    "Trainer",
    "dev_loss",
    "learning_rate",
    "load_checkpoint",
    "pick_device",
    "save_checkpoint",
    "token_loss",
    "write_atomically",
]

# Once a model is sure of its words, gradients and Adam's averages decay to numbers so small (below 1e-38) that a CPU
# computes with them many times more slowly. They are as good as zero: make them zero.
torch.set_flush_denormal(True)


@dataclass(frozen=True)
class TrainConfig:
    """How to train. The learning rate rises over `warmup` steps and falls along a cosine to a twentieth."""

    steps: int
    batch_size: int = 64  # sentences in a step, those of all processes together
    learning_rate: float = 2e-3
    warmup: int = 100
    clip: float = 1.0  # largest norm of the gradient
    label_smoothing: float = 0.0
    evaluate_every: int = 0  # steps between two looks at the dev set; 0: never
    patience: int = 0  # stop after so many looks without a better one; 0: never
    average: float = 0.0  # 0.999: evaluate and keep a running average of the weights; 0: the weights themselves
    mixed_precision: bool = False  # on a GPU: products in bfloat16, weights and sums in float32
    seed: int = 0

    def __post_init__(self) -> None:
        require(self, "steps batch_size", whole(1), "a whole number, 1 or more")
        require(self, "learning_rate", lambda rate: 0 < rate < math.inf, "a number above 0, for example 0.002")
        require(self, "clip", lambda norm: norm > 0, "a number above 0")
        require(self, "warmup evaluate_every patience", whole(0), "a whole number, 0 or more")
        require(self, "seed", whole(0, 2**63 - 1), "a whole number from 0 to 2**63 - 1")
        require(self, "label_smoothing average", lambda share: 0 <= share < 1, "at least 0 and less than 1")
        if self.patience and not self.evaluate_every:
            raise ValueError(f"patience={self.patience} counts looks at the dev set: set evaluate_every too")


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

    def best(self) -> int | None:
        """Which look at the dev set, counted from 0, found the smallest loss; None without any."""
        return min(range(len(self.dev_losses)), key=self.dev_losses.__getitem__, default=None)


class Keeper(Protocol):
    """Whoever keeps a run on disk: called by every process at the same steps."""

    def evaluated(self, trainer: Trainer, better: bool) -> None:
        """The dev loss was measured; `better`: it is the best so far, and `trainer.best` holds the weights."""

    def save(self, trainer: Trainer) -> None:
        """It is time to save where the run is."""


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
    >>> history = trainer.run()          # Ctrl-C stops it after the step, a second run() goes on
    >>> trainer.use_best()               # the weights of the best look at the dev set
    """

    def __init__(
        self,
        model: nn.Module,
        data: Sequence[Encoded],
        config: TrainConfig,
        dev: Sequence[Encoded] | None = None,
        label: str = "training",
        keeper: Keeper | None = None,
        save_every: int = 0,
    ) -> None:
        self.model, self.data, self.config, self.dev, self.label = model, data, config, dev, label
        self.keeper, self.save_every = keeper, save_every
        self.step, self.history, self.stop = 0, History(), Stop(patient=world() > 1)
        self.best: dict[str, Any] | None = None  # step, loss and weights of the best look at the dev set
        self.parameters = [value for value in model.parameters() if value.requires_grad]
        self.optimiser = torch.optim.Adam(self.parameters, lr=config.learning_rate, betas=(0.9, 0.98), fused=True)
        self.average = [value.detach().clone() for value in self.parameters] if config.average else None
        self.device = self.parameters[0].device
        self.fingerprint = fingerprint(data)
        agree("data or settings", (self.fingerprint, str(config)))
        self._forward = synchronised(model)

    def run(self, steps: int | None = None, show_progress: bool = True) -> History:
        """Train up to the configured number of steps, or `steps` further ones; return the history so far.

        Raises:
            FloatingPointError: the loss or its gradient is no finite number; the weights are as before that step.
        """
        goal = self.config.steps if steps is None else min(self.config.steps, self.step + steps)
        remaining = self._batches(goal)
        if show_progress and rank() == 0:
            remaining = progress(remaining, total=goal, start=self.step, label=self.label, note=self._note)
        self.history.interrupted = False
        self.model.train()
        begin = time.perf_counter() - self.history.seconds
        try:
            with self.stop, closing(remaining):
                for batch in remaining:
                    self.history.losses.append(self._train_on(batch.to(self.device)))
                    self.step += 1
                    self.history.seconds = time.perf_counter() - begin
                    self._look_and_keep()
                    if self.history.interrupted or self.stopped_early:
                        break
        except KeyboardInterrupt:
            if self.stop.asked:  # the second one: now, whatever state the weights are in
                raise
            self.history.interrupted = True
        return self.history

    @property
    def stopped_early(self) -> bool:
        """Whether the last `patience` looks at the dev set were no better than one before them."""
        best, patience = self.history.best(), self.config.patience
        return bool(patience) and best is not None and len(self.history.dev_losses) - 1 - best >= patience

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to do."""
        return self.step >= self.config.steps or self.stopped_early

    def use_best(self) -> None:
        """Give the model the weights of the best look at the dev set; without any, the average if there is one."""
        if self.best is not None:
            self.model.load_state_dict(self.best["weights"])
        elif self.average is not None:
            _copy(self.average, self.parameters)

    def _train_on(self, batch: Batch) -> float:
        """One step. The loss is L = sum of -log p over the real tokens of all processes / their number.

        DistributedDataParallel takes the mean of the gradients over W processes, so each one's sum counts W-fold.
        """
        rate = learning_rate(self.step, self.config)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        mixed = self.config.mixed_precision and self.device.type == "cuda"
        with torch.autocast(self.device.type, torch.bfloat16, enabled=mixed):
            logits, _ = self._forward(batch.source, batch.source_mask, batch.target_in)  # (B, T, V)
            total = token_loss(logits, batch.target_out, batch.target_mask, self.config.label_smoothing)
        tokens = batch.target_mask.sum()
        sums = sum_over_processes(torch.stack([total.detach().double(), tokens, tokens.new_tensor(self.stop.asked)]))
        loss = total / tokens.clamp(min=1) if world() == 1 else total * (world() / sums[1].clamp(min=1)).float()
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.parameters, self.config.clip)
        found, count, asked, norm = torch.cat([sums, norm.double()[None]]).tolist()
        if not math.isfinite(found + norm):
            raise FloatingPointError(self._why_not_finite(found / max(1, count), norm, rate))
        self.optimiser.step()
        self._update_average()
        self.history.interrupted = asked > 0  # agreed by all processes: they stop after the same step
        return loss.item() if world() == 1 else found / max(1, count)

    def _why_not_finite(self, loss: float, norm: float, rate: float) -> str:
        self.optimiser.zero_grad(set_to_none=True)
        where = f"at step {self.step} the loss is {loss} and the norm of its gradient {norm}; no weight was changed. "
        if not all(bool(torch.isfinite(value).all()) for value in self.parameters):
            return where + (
                f"Weights are no numbers any more: an earlier step was too long. Go back to a saved file and take a "
                f"smaller learning_rate (it is {rate:g} here) or clip, or a longer warmup"
            )
        return where + (
            f"Most often the learning rate is too high ({rate:g} here): try a smaller learning_rate or clip, or a "
            "longer warmup" + ("; or train without mixed_precision" if self.config.mixed_precision else "")
        )

    def _look_and_keep(self) -> None:
        every = self.config.evaluate_every
        if self.dev and every and (self.step % every == 0 or self.step == self.config.steps):
            with self._averaged():
                loss = dev_loss(self.model, self.dev, self.config.batch_size)
                self.history.dev_steps.append(self.step)
                self.history.dev_losses.append(loss)
                if better := self.history.best() == len(self.history.dev_losses) - 1:
                    weights = {name: value.cpu().clone() for name, value in self.model.state_dict().items()}
                    self.best = {"step": self.step, "loss": loss, "weights": weights}
            if self.keeper:
                self.keeper.evaluated(self, better)
        if self.keeper and self.save_every and self.step % self.save_every == 0:
            self.keeper.save(self)

    @torch.no_grad()
    def _update_average(self) -> None:
        """a ← d a + (1 - d) w, with d = min(average, (1 + t) / (10 + t)), so that it forgets the first weights."""
        if self.average is not None:
            decay = min(self.config.average, (1 + self.step) / (10 + self.step))
            torch._foreach_lerp_(self.average, self.parameters, 1 - decay)

    @contextmanager
    def _averaged(self) -> Iterator[None]:
        """Within this context the model has the averaged weights, if it has any."""
        if self.average is None:
            yield
            return
        own = [value.detach().clone() for value in self.parameters]
        try:
            _copy(self.average, self.parameters)
            yield
        finally:
            _copy(own, self.parameters)

    def _batches(self, goal: int) -> Iterator[Batch]:
        """The batches of steps self.step … goal - 1, the same ones whether or not the run was ever stopped."""
        size, shares = self.config.batch_size, {"rank": rank(), "world": world()}
        per_epoch = batches_per_epoch(len(self.data), size, world())
        while self.step < goal and not self.stopped_early:
            epoch, done = divmod(self.step, max(1, per_epoch))
            for batch in batches(self.data, size, self.config.seed, epoch, first=done, **shares):
                yield batch
                if self.step >= goal:
                    return

    def _note(self) -> str:
        recent = self.history.losses[-50:]
        return f"loss {sum(recent) / len(recent):.3f}" if recent else ""

    def state_dict(self) -> dict[str, Any]:
        """Everything needed to go on: plain values and tensors. Of several processes, all must ask for it."""
        return {
            "step": self.step,
            "config": asdict(self.config),
            "data": self.fingerprint,
            "history": asdict(self.history),
            "optimiser": self.optimiser.state_dict(),
            "average": self.average,
            "best": self.best,
            "random_states": gather(random_state()),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a saved state; the weights of the model are loaded apart."""
        given = asdict(self.config)
        if state["config"] != given:
            raise ValueError(f"the checkpoint was trained with {state['config']}, this trainer has {given}")
        if state["data"] != self.fingerprint:
            raise ValueError(
                f"the checkpoint was trained on {state['data'][0]:,} pairs, this trainer has "
                f"{self.fingerprint[0]:,}, and they are not the same ones: give it the same corpus and tokenizers"
            )
        self.step, self.best = state["step"], state["best"]
        self.history = History(**state["history"])
        self.optimiser.load_state_dict(state["optimiser"])
        if self.average is not None:
            _copy(state["average"], self.average)
        set_random_state(state["random_states"], fallback=self.config.seed + self.step)


@torch.no_grad()
def _copy(source: Sequence[Tensor], target: Sequence[Tensor]) -> None:
    for old, new in zip(target, source, strict=True):
        old.copy_(new)


@torch.no_grad()
def dev_loss(model: nn.Module, data: Sequence[Encoded], batch_size: int = 128) -> float:
    """Loss per real token over all of `data` under teacher forcing, dropout off; exp of it is the perplexity.

    It is the sum over all tokens divided by their number: the mean of batch means would weigh short batches more.
    Of several processes each takes its share of the data, and all get the same result.
    """
    device = next(model.parameters()).device
    sums = torch.zeros(2, dtype=torch.float64, device=device)  # loss, tokens
    own = data[rank() :: world()]
    with evaluating(model):
        for batch in batches(own, batch_size, seed=0, epoch=0) if own else ():
            batch = batch.to(device)
            logits, _ = model(batch.source, batch.source_mask, batch.target_in)
            total = token_loss(logits, batch.target_out, batch.target_mask)
            sums += torch.stack([total.double(), batch.target_mask.sum()])
    total, count = sum_over_processes(sums).tolist()
    return total / max(1, count)
