"""The experiments of the course: the tasks that models are trained on, and the measurements too long for a notebook.

A notebook trains its central comparison in front of the reader with `train_model`. Wider sweeps (several seeds,
widths, the whole grid of scores and orders) are run once by `python -m lib experiment NAME` and stored in
`data/measured/NAME.json` with the command, the date, the versions and the machine.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from lib.attention import SCORERS, make_scorer
from lib.batching import Encoded, batches, encode_pairs
from lib.corpus import Pair, ParallelCorpus, data_path
from lib.evaluation import (
    alignment_error_rate,
    by_length,
    exact_match,
    fold_to_words,
    pointing_accuracy,
    predicted_links,
)
from lib.grammar import Grammar
from lib.search import Translator, evaluating
from lib.seq2seq import ModelConfig, Seq2Seq, count_parameters
from lib.text import PUNCTUATION, Tokenizer, WordTokenizer, normalise, words
from lib.training import History, TrainConfig, Trainer, pick_device, write_atomically
from lib.transformer import TinyTransformer, TransformerConfig


@dataclass(frozen=True)
class Task:
    """Data ready to train on: pairs, their tokenizers, and the training pairs as ids."""

    train: ParallelCorpus
    dev: ParallelCorpus
    test: ParallelCorpus
    source_tokenizer: Tokenizer | WordTokenizer
    target_tokenizer: Tokenizer | WordTokenizer
    encoded: Sequence[Encoded]


@dataclass(frozen=True)
class Trained:
    """A trained model, ready to translate, and how it got there."""

    model: nn.Module
    translator: Translator
    history: History


def make_task(
    splits: tuple[ParallelCorpus, ParallelCorpus, ParallelCorpus], tokenizer: type, **settings: Any
) -> Task:
    """Tokenizers from the training pairs alone, and those pairs as ids."""
    train, dev, test = splits
    source = tokenizer.train(train.sources, "hi", **settings)
    target = tokenizer.train(train.targets, "en", **settings)
    return Task(train, dev, test, source, target, encode_pairs(train, source, target))


@cache
def core_task(size: int = 24_000, held_out: int = 1_000, seed: int = 0) -> Task:
    """The core sub-language: about 70 Hindi words, sentences of 3 to 40 words, every length equally often.

    One token is one word here, so that a length means the same to every model.
    """
    pairs = Grammar(seed=seed, core=True).generate(size + 2 * held_out)
    parts = pairs[:held_out], pairs[held_out : 2 * held_out], pairs[2 * held_out :]
    test, dev, train = (ParallelCorpus(part) for part in parts)
    return make_task((train, dev, test), WordTokenizer)


def reversed_source(task: Task) -> Task:
    """The same task with every source sentence written back to front (Sutskever et al. 2014)."""
    turned = [ParallelCorpus(map(_turned, part)) for part in (task.train, task.dev, task.test)]
    encoded = encode_pairs(turned[0], task.source_tokenizer, task.target_tokenizer)
    return Task(*turned, task.source_tokenizer, task.target_tokenizer, encoded)


def _turned(pair: Pair) -> Pair:
    """The pair with its source words back to front; the gold links follow their words."""
    source = words(normalise(pair.source, "hi"))
    last = len(source) - 1
    sure, possible = (tuple((last - s, t) for s, t in links) for links in (pair.sure, pair.possible))
    return replace(pair, source=" ".join(reversed(source)), sure=sure, possible=possible)


def train_model(task: Task, config: TrainConfig, label: str = "training", **shape: Any) -> Trained:
    """Build a `Seq2Seq` for the task, train it, wrap it for translation. `shape` is passed on to `ModelConfig`."""
    torch.manual_seed(config.seed)
    sizes = task.source_tokenizer.vocab_size, task.target_tokenizer.vocab_size
    return _train(Seq2Seq(ModelConfig(*sizes, **shape)), task, config, label)


def train_transformer(task: Task, config: TrainConfig, label: str = "training", **shape: Any) -> Trained:
    """The same for a `TinyTransformer`; `shape` is passed on to `TransformerConfig`."""
    torch.manual_seed(config.seed)
    sizes = task.source_tokenizer.vocab_size, task.target_tokenizer.vocab_size
    return _train(TinyTransformer(TransformerConfig(*sizes, **shape)), task, config, label)


def _train(model: nn.Module, task: Task, config: TrainConfig, label: str) -> Trained:
    model = model.to(pick_device())
    history = Trainer(model, task.encoded, config, label=label).run()
    return Trained(model, Translator(model, task.source_tokenizer, task.target_tokenizer), history)


def first_losses(task: Task, config: TrainConfig, steps: int, **shape: Any) -> list[float]:
    """The losses of the first steps of `train_model`, to compare with those of a stored run."""
    torch.manual_seed(config.seed)
    sizes = task.source_tokenizer.vocab_size, task.target_tokenizer.vocab_size
    model = Seq2Seq(ModelConfig(*sizes, **shape)).to(pick_device())
    return Trainer(model, task.encoded, config).run(steps=steps, show_progress=False).losses


def solved(translator: Translator, pairs: Sequence[Pair], **settings: Any) -> np.ndarray:
    """Which pairs are translated exactly, as booleans in the order of the pairs.

    The reference is normalised as the model's training text was: a curly quote is no mistake of the model.
    """
    found = translator.translate([pair.source for pair in pairs], **settings)
    references = [normalise(pair.target, "en") for pair in pairs]
    return exact_match([translation.text for translation in found], references)


def source_lengths(pairs: Sequence[Pair]) -> list[int]:
    """Source words of each pair, punctuation not counted."""
    return [sum(word not in PUNCTUATION for word in words(pair.source)) for pair in pairs]


@torch.no_grad()
def reference_weights(translator: Translator, pairs: Sequence[Pair], batch_size: int = 128) -> list[np.ndarray]:
    """Attention of the model while it is led along the reference translation, folded from pieces to words.

    Alignments are measured along the reference, not along the model's own output: only there do gold links exist.

    Returns:
        for each pair (target words, source words).

    Raises:
        ValueError: the model has no attention.
    """
    source, target = translator.source_tokenizer, translator.target_tokenizer
    encoded = encode_pairs(pairs, source, target)
    found: list[np.ndarray] = [np.empty(0)] * len(pairs)
    device = next(translator.model.parameters()).device
    with evaluating(translator.model):
        for batch in batches(encoded, batch_size):
            batch = batch.to(device)
            _, weights = translator.model(batch.source, batch.source_mask, batch.target_in)  # (B, T, S)
            if weights is None:
                raise ValueError("this model has no attention, so it has no weights to compare with an alignment")
            for row, place in zip(weights.float().cpu().numpy(), batch.indices.tolist(), strict=True):
                pair = pairs[place]
                found[place] = fold_to_words(row, source.word_index(pair.source), target.word_index(pair.target))
    return found


# ------------------------------------------------------------------------------------------ stored measurements


# The two models of notebook 01, with as many parameters. As in the papers, the one without attention reads forwards
# (Sutskever et al. 2014), the one with attention in both directions (Bahdanau et al. 2014). `bottleneck` has the
# other two of the four as well.
WITHOUT_ATTENTION = {"order": "none", "embedding": 96, "hidden": 208}
WITH_ATTENTION = {"order": "luong", "scorer": "dot", "embedding": 96, "hidden": 192, "bidirectional": True}


# The model of notebook 03, in which only the score and the order are exchanged.
SCORER_MODEL = {"embedding": 64, "hidden": 128, "bidirectional": True}


def core_config(steps: int, seed: int = 0) -> TrainConfig:
    """How the models on the core language are trained, whatever their shape."""
    return TrainConfig(steps=steps, learning_rate=5e-3, seed=seed)


def bottleneck(steps: int = 1_400, seeds: Sequence[int] = (0, 1)) -> dict[str, Any]:
    """Exact match by source length: with and without attention, each reading one way and both; and two controls of
    the model without: the source reversed, a vector twice as wide."""
    task = core_task()
    variants: dict[str, tuple[Task, dict[str, Any]]] = {
        "no attention": (task, WITHOUT_ATTENTION),
        "no attention, both ways": (task, {**WITHOUT_ATTENTION, "hidden": 192, "bidirectional": True}),
        "attention, forwards only": (task, {**WITH_ATTENTION, "bidirectional": False}),
        "attention": (task, WITH_ATTENTION),
        "no attention, source reversed": (reversed_source(task), WITHOUT_ATTENTION),
        "no attention, twice as wide": (task, {**WITHOUT_ATTENTION, "hidden": 416}),
    }
    rows = []
    for seed in seeds:
        for name, (data, shape) in variants.items():
            trained = train_model(data, core_config(steps, seed), label=f"{name}, seed {seed}", **shape)
            hits = solved(trained.translator, data.test)
            buckets = [asdict(row) for row in by_length(hits, source_lengths(data.test))]
            rows.append({"variant": name, "seed": seed, "shape": shape, **_summary(trained), "buckets": buckets})
    return {"steps": steps, "seeds": list(seeds), "rows": rows}


def scorers(steps: int = 300, seeds: Sequence[int] = (0,)) -> dict[str, Any]:
    """The whole grid of scores and orders on the core language: loss, exact match, alignment error rate, time."""
    task, rows = core_task(), []
    for seed in seeds:
        for order in ("luong", "bahdanau"):
            for scorer in SCORERS:
                shape = {**SCORER_MODEL, "order": order, "scorer": scorer}
                begin = time.process_time()  # of the processor: what else the machine does counts little
                trained = train_model(task, core_config(steps, seed), f"{scorer}, {order}, seed {seed}", **shape)
                found = {"order": order, "scorer": scorer, "seed": seed, "shape": shape, **_summary(trained)}
                found["processor_seconds"] = round(time.process_time() - begin, 1)
                rows.append({**found, **quality(trained.translator, task.test)})
    return {"steps": steps, "seeds": list(seeds), "rows": rows}


def quality(translator: Translator, pairs: Sequence[Pair]) -> dict[str, float]:
    """Exact match, alignment error rate, pointing accuracy (on a sure link; on a sure or possible one) of a model."""
    weights = reference_weights(translator, pairs)
    links = [predicted_links(matrix) for matrix in weights]
    return {
        "exact_match": float(solved(translator, pairs).mean()),
        "alignment_error_rate": alignment_error_rate(links, pairs),
        "pointing_accuracy": pointing_accuracy(weights, pairs),
        "pointing_or_possible": pointing_accuracy(weights, pairs, possible=True),
    }


def growth(
    lengths: Sequence[int] = (10, 20, 40, 80, 160), sizes: Sequence[int] = (64, 128, 256, 512)
) -> dict[str, Any]:
    """Time and memory of each score alone as the source (and target) or the hidden size grows; batch 16."""
    rows = [score_cost(scorer, length, 256) for scorer in SCORERS for length in lengths]
    rows += [score_cost(scorer, 40, size) for scorer in SCORERS for size in sizes if size != 256]
    return {"batch": 16, "rows": rows}


def score_cost(scorer: str, length: int, hidden: int, batch: int = 16, repeats: int = 5) -> dict[str, Any]:
    """Seconds (the fastest of `repeats`) and kept floats of scoring T = S = `length`, forward and backward.

    Kept floats are those that autograd holds for the backward pass: they decide the memory of a training step.
    """
    module = make_scorer(scorer, hidden, hidden)
    query = torch.randn(batch, length, hidden, requires_grad=True)
    states = torch.randn(batch, length, hidden, requires_grad=True)
    times, kept = [], {}

    def count(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes() // tensor.element_size()  # two operations may keep the same one
        return tensor

    for _ in range(repeats):
        kept.clear()
        begin = time.perf_counter()
        with torch.autograd.graph.saved_tensors_hooks(count, lambda tensor: tensor):
            scores = module(query, module.project(states))  # (B, T, S)
        scores.sum().backward()
        times.append(time.perf_counter() - begin)
    parameters = count_parameters(module)
    return {
        "scorer": scorer,
        "length": length,
        "hidden": hidden,
        "seconds": min(times),
        "floats": sum(kept.values()),
        "parameters": parameters,
    }


def _summary(trained: Trained) -> dict[str, Any]:
    losses = trained.history.losses
    return {
        "parameters": count_parameters(trained.model),
        "seconds": round(trained.history.seconds, 1),
        "first_losses": [round(loss, 5) for loss in losses[:20]],
        "curve": [round(loss, 4) for loss in trained.history.smoothed()[24::25]],
    }


EXPERIMENTS: dict[str, Callable[..., dict[str, Any]]] = {
    "bottleneck": bottleneck,
    "scorers": scorers,
    "growth": growth,
}


def measured(name: str) -> dict[str, Any]:
    """The stored measurement `name`, as `store` wrote it."""
    path = data_path() / "measured" / f"{name}.json"
    if not path.is_file():
        raise FileNotFoundError(f"no stored measurement {name!r}: run python -m lib experiment {name}")
    return json.loads(path.read_text(encoding="utf-8"))


def store(name: str) -> Path:
    """Run the experiment `name` and store what it measured, with all that is needed to make it again."""
    if name not in EXPERIMENTS:
        raise ValueError(f"no experiment is called {name!r}: choose one of {', '.join(EXPERIMENTS)}")
    return store_result(name, f"python -m lib experiment {name}", EXPERIMENTS[name]())


def store_result(name: str, command: str, result: dict[str, Any]) -> Path:
    """Store what was measured with the command that measures it again, the date, the versions and the machine."""
    about = {
        "name": name,
        "command": command,
        "date": date.today().isoformat(),
        "versions": {"python": platform.python_version(), "torch": torch.__version__},
        "machine": f"{platform.machine()}, {torch.get_num_threads()} threads, {pick_device().type}",
    }
    path = data_path() / "measured" / f"{name}.json"
    text = json.dumps({**about, **result}, ensure_ascii=False, indent=1) + "\n"
    write_atomically(path, lambda file: file.write(text.encode()))
    return path
