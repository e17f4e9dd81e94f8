"""What each choice of the default settings buys on a small real corpus: `python -m lib experiment real_pairs`.

The corpus is not part of the course, so the command asks for it. Choices are compared on the dev pairs, one at a time
and in a shorter run, some also in a whole one; only the defaults are measured on the test pairs.
Only figures are stored, no sentence.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from lib.batching import encode_pairs
from lib.corpus import ParallelCorpus
from lib.evaluation import bleu, chrf
from lib.runs import RunConfig, Say, course_pairs, new_model, read_corpus, split_corpus, training_data
from lib.search import Translator
from lib.seq2seq import count_parameters
from lib.training import Trainer

Splits = tuple[ParallelCorpus, ParallelCorpus, ParallelCorpus]

# Each choice taken back alone, or made otherwise; then all of them taken back.
TAKEN_BACK: dict[str, dict[str, Any]] = {
    "the defaults": {},
    "no pairs of the course": {"course": 0},
    "each pair once": {"repeats": 1},
    "no dropout": {"dropout": 0.0},
    "no label smoothing": {"label_smoothing": 0.0},
    "no averaged weights": {"average": 0.0},
    "an output layer of its own": {"tied": False},
    "pieces cut by chance": {"piece_dropout": 0.1},
    "500 pieces": {"vocab_size": 500},
    "2,000 pieces": {"vocab_size": 2_000},
}
# What keeps a model from learning its corpus by heart costs in a short run; these are compared at full length too.
AT_FULL_LENGTH = ("no dropout", "pieces cut by chance", "2,000 pieces")
NOTHING = {"course": 0, "repeats": 1, "tied": False, "dropout": 0.0, "label_smoothing": 0.0, "average": 0.0}


def real_pairs(
    corpus: str | Path,
    say: Say = lambda line: None,
    steps: int = 1_000,
    full_steps: int | None = None,
    again: Sequence[int] = (1,),
    test: int = 500,
    **settings: Any,
) -> dict[str, Any]:
    """Measure every row of `TAKEN_BACK`, and the defaults at full length on the test pairs.

    Args:
        steps: of each row.
        full_steps: of the measurement on the test pairs; None: as many as the defaults have.
        again: seeds with which the defaults are measured again, to see how much is chance.
        settings: in place of defaults, for all rows (a smaller model, to try the experiment).
    """
    settings = {"corpus": [str(corpus)], "test": test, **settings}
    whole = RunConfig.make({**settings, "steps": full_steps} if full_steps else settings)
    splits = split_corpus(read_corpus(whole, say), whole.data)
    short = {"steps": steps, "evaluate_every": min(whole.training.evaluate_every, steps)}
    variants = [(name, changes, 0) for name, changes in {**TAKEN_BACK, "none of these choices": NOTHING}.items()]
    rows = []
    for name, changes, seed in [*variants, *(("the defaults", {}, seed) for seed in again)]:
        config = RunConfig.make({**short, **changes, "seed": seed}, whole)
        rows.append({"variant": name, "changes": changes, "seed": seed, **measure(config, splits, splits[1])})
        say(f"{name}, seed {seed}: BLEU {rows[-1]['bleu']:.1f}, chrF {rows[-1]['chrf']:.1f}")
    test_scores = measure(whole, splits, splits[2], also_dev=True)
    full = [{"variant": "the defaults", "changes": {}, **test_scores.pop("dev")}]
    for name in AT_FULL_LENGTH:
        found = measure(RunConfig.make(TAKEN_BACK[name], whole), splits, splits[1])
        full.append({"variant": name, "changes": TAKEN_BACK[name], "bleu": found["bleu"], "chrf": found["chrf"]})
        say(f"{name}, full length: BLEU {found['bleu']:.1f}, chrF {found['chrf']:.1f}")
    return {
        "corpus": describe(corpus, splits),
        "steps": steps,
        "rows": rows,
        "full_length": full,
        "test": test_scores,
        "settings": whole.flat(),
    }


def describe(corpus: str | Path, splits: Splits) -> dict[str, Any]:
    """Which corpus it was, without a word of it."""
    return {
        "file": Path(corpus).name,
        "pairs": dict(zip(("train", "dev", "test"), map(len, splits), strict=True)),
    }


def measure(config: RunConfig, splits: Splits, measured: ParallelCorpus, also_dev: bool = False) -> dict[str, Any]:
    """Train as `config` says, as `python -m lib train` does, and score the best model on the pairs `measured`.

    Returns:
        BLEU and chrF (`also_dev`: those of the dev pairs too, as "dev"), the best dev loss and its step, seconds of
        processor time and by the clock for training with all that comes before it, the first losses.
    """
    began, cpu = time.perf_counter(), time.process_time()
    train, dev, test = splits
    along = course_pairs(config.data.course, [*dev, *test])
    model, tokenizers = new_model(config, train, along, lambda line: None)
    encoded, watched = training_data(config, train, along, tokenizers), encode_pairs(dev, *tokenizers)
    trainer = Trainer(model, encoded, config.training, watched, "real pairs")
    history = trainer.run(show_progress=False)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    trainer.use_best()
    translator = Translator(model, *tokenizers)
    return {
        **scores(translator, measured),
        **({"dev": scores(translator, dev)} if also_dev else {}),
        "dev_loss": round(min(history.dev_losses), 4),
        "best_step": history.dev_steps[history.best()],
        "processor_seconds": round(cpu),
        "seconds": round(seconds),
        "threads": torch.get_num_threads(),
        "parameters": count_parameters(model),
        "pairs_seen": len(encoded),
        "first_losses": [round(loss, 4) for loss in history.losses[:5]],
    }


def scores(translator: Translator, pairs: ParallelCorpus) -> dict[str, float]:
    """BLEU and chrF of the translations that a beam of 5 finds."""
    texts = [found.text for found in translator.translate(pairs.sources, 5, 64, alpha=1.0)]
    return {"bleu": round(bleu(texts, pairs.targets).value, 2), "chrf": round(chrf(texts, pairs.targets).value, 2)}
