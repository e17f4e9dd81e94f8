"""A training run in a folder: what it was asked to do, where it stands, and the best that it has found.

| file          | what it holds                                                                        |
|---------------|--------------------------------------------------------------------------------------|
| `config.json` | every setting, to be read by people and by `--config`                                |
| `last.pt`     | where the run stands, with all that is needed to go on                               |
| `best.pt`     | the model of the best look at the dev pairs, ready to translate                      |
| `dev.tsv`, `test.tsv` | the pairs held out: one part to watch, one to measure at the end             |
"""

from __future__ import annotations

import json
import random
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from lib.batching import Encoded, encode_pairs
from lib.checkpoint import (
    AnyTokenizer,
    Checkpoint,
    load_checkpoint,
    remove_leftovers,
    save_checkpoint,
    write_atomically,
)
from lib.corpus import Pair, ParallelCorpus, data_path, find_groups, load, stream
from lib.distributed import pick_device, rank, world
from lib.interrupt import Stop
from lib.lock import locked
from lib.seq2seq import ModelConfig, Seq2Seq, count_parameters
from lib.settings import require, whole
from lib.text import Tokenizer
from lib.training import TrainConfig, Trainer

CONFIG, LAST, BEST, LOCK = "config.json", "last.pt", "best.pt", ".lock"
Say = Callable[[str], None]


@dataclass(frozen=True)
class DataConfig:
    """Which pairs are used, how they are divided, and how often the run is saved."""

    source_column: int | None = None  # of a file with tabs, counted from 1; None: found out by the letters
    target_column: int | None = None
    vocab_size: int = 1_000  # at most so many pieces on each side
    max_words: int = 60  # longer pairs are left out; 0: none
    max_ratio: float = 4.0  # so are pairs with so many times more words on one side; 0: none
    dev: int | None = None  # pairs to watch while training; None: a tenth, at most 500
    test: int | None = None  # pairs to measure at the end; None: a tenth, at most 500
    split_seed: int = 0
    course: int = 8_000  # pairs of the controlled language that train along, with the everyday ones; 0: none
    repeats: int = 4  # how often each pair stands in the training data, beside the pairs of the course
    piece_dropout: float = 0.0  # share of joins left out by chance when a repeated pair is cut into pieces
    save_every: int = 200  # steps between two saves

    def __post_init__(self) -> None:
        require(
            self, "vocab_size repeats save_every source_column target_column", whole(1), "a whole number, 1 or more"
        )
        require(self, "max_words dev test course split_seed", whole(0), "a whole number, 0 or more")
        require(self, "max_ratio", lambda ratio: ratio >= 0, "0 or more")
        require(self, "piece_dropout", lambda share: 0 <= share < 1, "at least 0 and less than 1")
        if (self.source_column is None) != (self.target_column is None):
            raise ValueError("source_column and target_column belong together: give both")
        if self.columns and self.source_column == self.target_column:
            raise ValueError(f"source_column and target_column are both {self.source_column}: give two columns")

    @property
    def columns(self) -> tuple[int, ...]:
        """Where source and target are, counted from 0; empty: to be found out."""
        return () if self.source_column is None else (self.source_column - 1, self.target_column - 1)


# What a small corpus of one's own begins with; `lib.real_pairs` measures what each choice buys.
MODEL = {
    "embedding": 128,
    "hidden": 192,
    "bidirectional": True,
    "order": "luong",
    "scorer": "dot",
    "dropout": 0.3,
    "tied": True,
}
TRAINING = TrainConfig(
    steps=3_000,
    learning_rate=6e-3,
    label_smoothing=0.1,
    evaluate_every=250,
    patience=4,
    average=0.999,
    mixed_precision=True,
)
SHOWN = 2_000  # of the controlled pairs, to the tokenizers: pieces are for the corpus first
MOST_REPEATED = 50_000  # pairs after repeating; a corpus as large as this is not repeated
FROM_DATA = ("source_vocab", "target_vocab", "pad_id")  # of ModelConfig: they follow from the tokenizers


@dataclass(frozen=True)
class RunConfig:
    """All settings of a run, as they stand in `config.json`."""

    corpus: tuple[str, ...]  # one file of pairs, or two parallel files
    data: DataConfig = field(default_factory=DataConfig)
    model: dict[str, Any] = field(default_factory=lambda: dict(MODEL))
    training: TrainConfig = TRAINING

    @classmethod
    def make(cls, settings: dict[str, Any], base: RunConfig | None = None) -> RunConfig:
        """`base` (by default the defaults) with some settings changed, each named as in its part.

        Raises:
            ValueError: a setting that is not known, or has a value that its part refuses.
        """
        base, parts = base or cls(()), {"data": {}, "model": {}, "training": {}}
        for name, value in settings.items():
            part = next((part for part, names in settings_by_part().items() if name in names), None)
            if part is None and name != "corpus":
                raise ValueError(f"there is no setting {name!r}: python -m lib train --help names them all")
            if part:
                parts[part][name] = value
        try:
            ModelConfig(1_000, 1_000, **{**base.model, **parts["model"]})
            return cls(
                tuple(settings.get("corpus", base.corpus)),
                replace(base.data, **parts["data"]),
                {**base.model, **parts["model"]},
                replace(base.training, **parts["training"]),
            )
        except TypeError as error:  # "60" where 60 belongs
            raise ValueError(f"a setting has a value of the wrong kind: {error}") from error

    def flat(self) -> dict[str, Any]:
        """All settings by name, without the corpus."""
        return {**asdict(self.data), **self.model, **asdict(self.training)}

    def write(self, path: Path) -> None:
        """As JSON, in parts."""
        content = {**asdict(self), "corpus": list(self.corpus)}
        text = json.dumps(content, ensure_ascii=False, indent=2) + "\n"
        write_atomically(path, lambda file: file.write(text.encode()))

    @classmethod
    def read(cls, path: Path) -> RunConfig:
        """What `write` wrote, or a part of it; what is missing has its default. ValueError for anything else."""
        try:
            content = dict(json.loads(path.read_text(encoding="utf-8")))
            flat = {"corpus": content.pop("corpus", [])}
            for part in content.values():
                flat |= part
        except (ValueError, AttributeError, TypeError) as error:
            raise ValueError(f"{path} is not a config.json as a training run writes it ({error})") from error
        return cls.make(flat)


def settings_by_part() -> dict[str, dict[str, Any]]:
    """The names of all settings and their defaults, for each part of `config.json`."""
    shape = {part.name: MODEL.get(part.name, part.default) for part in fields(ModelConfig)}
    model = {name: value for name, value in shape.items() if name not in FROM_DATA}
    return {"data": asdict(DataConfig()), "model": model, "training": asdict(TRAINING)}


class RunFolder:
    """The files of one run. It is the `Keeper` of a trainer: process 0 writes, the others only take part."""

    def __init__(self, folder: str | Path, say: Say = lambda line: None) -> None:
        self.folder, self.say = Path(folder), say
        self.last, self.best, self.config = (self.folder / name for name in (LAST, BEST, CONFIG))
        self.tokenizers: Sequence[AnyTokenizer] = ()
        if self.folder.is_file():
            raise ValueError(f"{folder} is a file: --out names a folder for the run, name another")

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other runs out of the folder meanwhile. ValueError: one is at work in it."""
        with ExitStack() as held:
            if rank() == 0:
                try:
                    self.folder.mkdir(parents=True, exist_ok=True)
                    held.enter_context(locked(self.folder / LOCK))
                except TimeoutError:
                    raise ValueError(f"another process trains in {self.folder}: name another --out") from None
                except OSError as error:
                    raise OSError(f"{self.folder} could not be written: {error.strerror}") from error
            yield

    def claim(self, config: RunConfig, dev: ParallelCorpus, test: ParallelCorpus) -> None:
        """Write what is known before the first step: a folder that cannot be written shows before the work."""
        if rank() == 0:
            config.write(self.config)
            dev.write_tsv(self.folder / "dev.tsv")
            test.write_tsv(self.folder / "test.tsv")

    def tidy(self) -> None:
        """Remove what a run that was killed while it saved has left."""
        if rank() == 0:
            for path in (self.last, self.best, self.config):
                remove_leftovers(path)

    def evaluated(self, trainer: Trainer, better: bool) -> None:
        """Report a look at the dev pairs, and keep the model if it is the best so far."""
        history = trainer.history
        recent = history.losses[-trainer.config.evaluate_every :]
        self.say(
            f"step {trainer.step:,} of {trainer.config.steps:,}: loss {sum(recent) / len(recent):.3f}, "
            f"dev {history.dev_losses[-1]:.3f}{' (best so far)' if better else ''}, {history.seconds:,.0f} s"
        )
        if better and rank() == 0:
            about = {"step": trainer.step, "dev_loss": trainer.best["loss"]}
            save_checkpoint(self.best, trainer.model, *self.tokenizers, about=about, weights=trainer.best["weights"])

    def save(self, trainer: Trainer) -> None:
        """Keep where the run stands."""
        state = trainer.state_dict()  # of all processes
        if rank() == 0:
            about = {"step": trainer.step, "torch": str(torch.__version__)}
            save_checkpoint(self.last, trainer.model, *self.tokenizers, trainer=state, about=about)


def check_free(folder: Path, corpus: Sequence[str]) -> None:
    """Raise a ValueError if a run in `folder` would overwrite a file that no run wrote, or its own corpus."""
    there = [folder / name for name in (CONFIG, "dev.tsv", "test.tsv") if (folder / name).exists()]
    try:
        of_a_run = bool(RunConfig.read(folder / CONFIG).corpus)
    except (OSError, ValueError):
        of_a_run = False
    given = {Path(path).resolve() for path in corpus}
    taken = [path for path in there if not of_a_run or path.resolve() in given]
    if taken:
        raise ValueError(f"{taken[0]} is not of a run and would be overwritten: name another folder with --out")


def find_checkpoint(path: str | Path) -> Path:
    """The file meant by a path: itself, or of a run's folder the best model, or without one the last."""
    path = Path(path)
    if not path.is_dir():
        return path
    found = next((path / name for name in (BEST, LAST) if (path / name).is_file()), None)
    if found is None:
        raise FileNotFoundError(f"there is no model in {path}: expected {BEST} or {LAST}; train one there first")
    return found


def read_corpus(config: RunConfig, say: Say) -> ParallelCorpus:
    """Read the pairs and leave out those that are too long or too uneven, with a count of each.

    Raises:
        ValueError: nothing is left.
    """
    if len(config.corpus) == 2:
        corpus = ParallelCorpus.read_parallel(*config.corpus)
        note = doubtful_order(corpus)
    else:
        corpus, note = ParallelCorpus.read(config.corpus[0], columns=config.data.columns or None), ""
    limits = {"max_words": config.data.max_words or None, "max_ratio": config.data.max_ratio or None}
    kept = corpus.filtered(**limits)
    name = " and ".join(config.corpus)
    first = f"; the first: line {corpus.dropped[0].line}, {corpus.dropped[0].reason}" if corpus.dropped else ""
    counts = f"{len(corpus):,} pairs read, {len(corpus.dropped):,} lines dropped{first}"
    filtered = f"{len(corpus) - len(kept):,} pairs too long, too uneven or untranslated"
    if not kept:
        raise ValueError(f"{name} has no pair to train on: {counts}; {filtered}")
    say(f"{name}: {counts}; {filtered}")
    if note:
        say(note)
    return kept


def doubtful_order(corpus: ParallelCorpus) -> str:
    """A warning if the second of two files is in Devanagari and the first is not; else nothing."""
    first, second = (
        sum("\u0900" <= text[:1] <= "\u097f" for text in side) for side in (corpus.sources, corpus.targets)
    )
    if second > len(corpus) / 2 > first:
        return (
            "the second file is Hindi, so this learns to translate into Hindi: name the Hindi file first if not meant"
        )
    return ""


def split_corpus(corpus: ParallelCorpus, data: DataConfig) -> tuple[ParallelCorpus, ParallelCorpus, ParallelCorpus]:
    """(train, dev, test), leak-free; a size that was not asked for is a tenth of the pairs, at most 500."""
    tenth = min(500, len(corpus) // 10)
    dev, test = (tenth if size is None else size for size in (data.dev, data.test))
    return corpus.split(dev=dev, test=test, seed=data.split_seed)


@dataclass(frozen=True)
class Along:
    """Pairs of the course that train along with a corpus; none of them is near to a pair held out."""

    everyday: Sequence[Pair] = ()
    controlled: Sequence[Pair] = ()


def course_pairs(count: int, held_out: Sequence[Pair]) -> Along:
    """The everyday pairs and the first `count` of the controlled language, less what is near to a pair held out."""
    if not count:
        return Along()
    controlled = stream(data_path() / "controlled" / "train.tsv")
    pools = [load("everyday").pairs, list(islice(controlled, count))]
    pairs = [*held_out, *(pair for pool in pools for pair in pool)]
    groups, _ = find_groups(pairs)
    leaks = {place for group in groups if min(group) < len(held_out) for place in group}
    kept = [[], []]
    for place in range(len(held_out), len(pairs)):
        if place not in leaks:
            kept[place >= len(held_out) + len(pools[0])].append(pairs[place])
    return Along(*kept)


def training_data(
    config: RunConfig, train: Sequence[Pair], along: Along, tokenizers: Sequence[Tokenizer]
) -> list[Encoded]:
    """The corpus and the everyday pairs as ids, repeated unless they are many, and the controlled pairs once."""
    real, data = [*train, *along.everyday], config.data
    encoded, generator = encode_pairs(real, *tokenizers), random.Random(config.training.seed)
    again = min(data.repeats, max(1, MOST_REPEATED // len(real))) - 1
    if not data.piece_dropout:
        return encoded * (1 + again) + encode_pairs(along.controlled, *tokenizers)
    hindi, english = tokenizers
    for pair in real * again:
        source = hindi.sample(pair.source, data.piece_dropout, generator)
        encoded.append(([*source, hindi.eos_id], english.sample(pair.target, data.piece_dropout, generator)))
    return encoded + encode_pairs(along.controlled, *tokenizers)


def train_run(config: RunConfig, out: str | Path, resume: bool, say: Say) -> Trainer:
    """Train as `config` says into the folder `out`, or go on there; return the trainer, finished or interrupted."""
    folder = RunFolder(out, say)
    with folder.alone():
        return _train_run(config, folder, resume, say)


def _train_run(config: RunConfig, folder: RunFolder, resume: bool, say: Say) -> Trainer:
    check_free(folder.folder, config.corpus)
    train, dev, test = split_corpus(read_corpus(config, say), config.data)
    for part in (dev, test):
        if part.note:
            say(part.note)
    along = course_pairs(config.data.course, [*dev, *test])
    saved = load_checkpoint(folder.last) if resume and folder.last.is_file() else None
    folder.tidy()
    if saved is None:  # a run that goes on keeps the pairs that it has held out
        folder.claim(config, dev, test)
        model, folder.tokenizers = new_model(config, train, along, say)
    else:
        model, folder.tokenizers = saved.model, (saved.source_tokenizer, saved.target_tokenizer)
    encoded, watched = training_data(config, train, along, folder.tokenizers), encode_pairs(dev, *folder.tokenizers)
    trainer = Trainer(model, encoded, config.training, watched, "training", folder, config.data.save_every)
    trainer.stop = Stop(stop_signals(), patient=world() > 1)
    _go_on(trainer, saved, folder, say)
    say(
        f"{len(train):,} pairs to train on, with {len(along.everyday) + len(along.controlled):,} of the course; "
        f"{len(dev):,} to watch, {len(test):,} to measure at the end; "
        f"{count_parameters(model):,} parameters on {world()} × {pick_device().type}"
    )
    trainer.run()
    folder.save(trainer)
    return trainer


def stop_signals() -> list[int]:
    """Ctrl-C, a cluster's SIGTERM, and the end of the terminal, unless `nohup` has made the run deaf to that."""
    hang_up = getattr(signal, "SIGHUP", None)
    deaf = hang_up is None or signal.getsignal(hang_up) == signal.SIG_IGN
    return [signal.SIGINT, signal.SIGTERM, *([] if deaf else [hang_up])]


def _go_on(trainer: Trainer, saved: Checkpoint | None, folder: RunFolder, say: Say) -> None:
    if saved is None:
        if rank():
            torch.manual_seed(trainer.config.seed + rank())  # each process has dropout of its own
        return
    if saved.trainer is None:
        raise ValueError(f"{folder.last} holds a model without its run: it can translate, but not be resumed")
    trainer.load_state_dict(saved.trainer)
    say(f"going on at step {trainer.step:,} of {trainer.config.steps:,}")


def new_model(
    config: RunConfig, train: Sequence[Pair], along: Along, say: Say
) -> tuple[Seq2Seq, tuple[Tokenizer, Tokenizer]]:
    """Tokenizers from the training pairs, and a model that knows nothing yet."""
    size, seen = config.data.vocab_size, [*train, *along.everyday, *along.controlled[:SHOWN]]
    sides = (([pair.source for pair in seen], "hi"), ([pair.target for pair in seen], "en"))
    tokenizers = tuple(Tokenizer.train(lines, language, vocab_size=size) for lines, language in sides)
    for tokenizer in tokenizers:
        if tokenizer.vocab_size < size:
            say(f"{tokenizer.language}: {tokenizer.vocab_size:,} pieces, the text gives no more (allowed: {size:,})")
    torch.manual_seed(config.training.seed)
    sizes = (tokenizer.vocab_size for tokenizer in tokenizers)
    return Seq2Seq(ModelConfig(*sizes, **config.model)).to(pick_device()), tokenizers


def to_stderr(line: str) -> None:
    """Say a line to whoever started the run; of several processes only the first one speaks."""
    if rank() == 0:
        clear = "\r\033[K" if sys.stderr.isatty() else ""  # over the progress bar
        print(clear + line, file=sys.stderr, flush=True)
