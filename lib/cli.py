"""The commands of `python -m lib`: train, translate, evaluate, inspect, experiment (beside them: `review`, `bench`).

Exit codes: 0 done; 1 something given cannot be used (one line on stderr says what and why); 2 the command itself is
not understood; 130 stopped by Ctrl-C, 143 by a scheduler's SIGTERM, in both cases after saving.
Results go to stdout, everything else to stderr.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lib.commands import add_evaluate, add_inspect, add_translate

EPILOG = """\
examples
  python -m lib train --corpus hin.txt --out runs/hin
  python -m lib train --corpus hin.txt --out runs/hin --resume      go on after Ctrl-C, a crash or a time limit
  python -m lib translate --model runs/hin < hindi.txt > english.txt
  python -m lib evaluate --model runs/hin
  python -m lib inspect --model runs/hin
  python -m lib review            answer what is due today (review --help)
  python -m lib bench             measure speed on this machine (bench --help)
  torchrun --nproc-per-node 2 -m lib train --corpus hin.txt --out runs/hin     two processes, or two GPUs

exit codes: 0 done, 1 something given cannot be used, 2 wrong usage, 130 stopped by Ctrl-C (after saving)
"""
HELP = {
    "vocab_size": "at most so many subwords on each side",
    "max_words": "leave out pairs with more words than this on a side; 0: none",
    "max_ratio": "leave out pairs with so many times more words on one side; 0: none",
    "dev": "pairs to watch while training (default: a tenth, at most 500)",
    "test": "pairs held out to be measured at the end (default: a tenth, at most 500)",
    "source_column": "the column of the side to translate from, counted from 1 (default: found by the letters)",
    "target_column": "the column of the side to translate into, counted from 1",
    "split_seed": "another number divides the pairs in another way",
    "course": "pairs of the course's controlled language that train along, with its everyday ones; 0: none",
    "repeats": "how often each pair stands in the training data, beside the pairs of the course",
    "piece_dropout": "share of joins left out by chance when a repeated pair is cut into pieces, e.g. 0.1",
    "save_every": "steps between two saves of where the run is",
    "embedding": "width of a word's vector",
    "hidden": "width of a decoder state, and of an encoder state if --encoder-hidden is not given",
    "encoder_hidden": "width of an encoder state, both directions together",
    "layers": "LSTM or GRU layers, in the encoder and in the decoder",
    "bidirectional": "the encoder reads the sentence from both ends",
    "input_feeding": "what attention found enters the next step too; only with --order luong",
    "warmup": "steps in which the learning rate rises",
    "label_smoothing": "share of the probability that goes to all words alike, e.g. 0.1",
    "seed": "of weights, order of the pairs and dropout",
    "steps": "length of the whole run",
    "batch_size": "sentences in a step, those of all processes together",
    "learning_rate": "highest rate, reached after the warm-up",
    "clip": "largest norm of the gradient",
    "evaluate_every": "steps between two looks at the dev pairs",
    "patience": "stop after so many looks without a better one; 0: never",
    "average": "keep a running average of the weights with this decay, e.g. 0.999; 0: none",
    "mixed_precision": "bfloat16 on a GPU; without effect on a CPU",
    "order": "when attention looks: luong, bahdanau; without attention: none, fixed",
    "scorer": "how attention compares, e.g. dot, general, additive",
    "cell": "lstm or gru",
    "tied": "the output layer uses the embeddings of the target words",
    "dropout": "share of values set to zero while training",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; what a person can put right is one line, not a traceback."""
    options = build_parser().parse_args(arguments)
    try:
        return options.run(options)
    except KeyboardInterrupt:
        return _complain("stopped", 130)
    except BrokenPipeError:  # `| head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except (OSError, ValueError, ArithmeticError, RuntimeError) as error:
        if options.traceback:
            raise
        return _complain(explain(error), 1)


def _complain(sentence: str, code: int) -> int:
    several = int(os.environ.get("WORLD_SIZE", "1")) > 1
    who = f" (process {os.environ.get('RANK')})" if several else ""
    print(f"python -m lib{who}: {sentence}", file=sys.stderr, flush=True)
    return code


def explain(error: BaseException) -> str:
    """What went wrong in one line."""
    import torch

    from lib.distributed import LostProcess

    text = " ".join(str(error).split())
    if isinstance(error, torch.OutOfMemoryError):
        return "the GPU's memory is full: take a smaller --batch-size or --max-words"
    if isinstance(error, LostProcess):
        return f"{text}. Nothing saved is lost: start the same command again with --resume"
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    return error.strerror if isinstance(error, OSError) and error.strerror else text


def build_parser() -> argparse.ArgumentParser:
    """All commands and their flags; the flags of `train` follow from the settings of `lib.runs`."""
    parser = argparse.ArgumentParser(
        prog="python -m lib",
        description="Train a Hindi-English translator on your own pairs, use it, measure it.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--traceback", action="store_true", help="show where in the code an error came from")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for add in (_add_train, add_translate, add_evaluate, add_inspect, _add_experiment):
        add(commands)
    return parser


# ------------------------------------------------------------------------------------------------------------ train


def _add_train(commands: Any) -> None:
    from lib.runs import settings_by_part

    parser = commands.add_parser("train", help="train a model on a file of pairs, into a folder")
    parser.add_argument(
        "--corpus",
        nargs="+",
        metavar="FILE",
        help="one file with a tab between the sides (ManyThings, Tatoeba, or the course's own format), or two files "
        "whose lines belong together: Hindi, English",
    )
    parser.add_argument("--out", required=True, metavar="FOLDER", help="where config.json, last.pt and best.pt go")
    parser.add_argument("--resume", action="store_true", help="go on with the run in --out; if there is none, begin")
    parser.add_argument("--config", metavar="FILE", help="take settings from this file, as a run writes it")
    for part, settings in settings_by_part().items():
        group = parser.add_argument_group(f"{part} (in config.json too)")
        for name, default in settings.items():
            _add_setting(group, name, default)
    parser.set_defaults(run=_train, parser=parser)


def _add_setting(group: Any, name: str, default: Any) -> None:
    flag, text = f"--{name.replace('_', '-')}", HELP.get(name, name.replace("_", " "))
    shown = text if default is None else f"{text} (default: {default})"
    settings: dict[str, Any] = {"dest": name, "default": argparse.SUPPRESS, "help": shown}
    if isinstance(default, bool):
        group.add_argument(flag, action=argparse.BooleanOptionalAction, **settings)
    else:
        kind = int if default is None else type(default)
        group.add_argument(flag, type=kind, metavar={int: "N", float: "X"}.get(kind, "NAME"), **settings)


def _train(options: argparse.Namespace) -> int:
    from lib.distributed import processes
    from lib.runs import BEST, find_checkpoint, to_stderr, train_run

    config = _run_config(options)
    with processes():
        trainer = train_run(config, options.out, options.resume, to_stderr)
        history, best = trainer.history, trainer.best
        if history.interrupted:
            to_stderr(f"stopped and saved at step {trainer.step:,}: go on with the same command and --resume")
            return 128 + (trainer.stop.asked or signal.SIGINT)
        end = "stopped early" if trainer.stopped_early else "finished"
        found = f"; best dev loss {best['loss']:.3f} at step {best['step']:,}, kept in {BEST}" if best else ""
        to_stderr(f"{end} at step {trainer.step:,} after {history.seconds:,.0f} s{found}")
        to_stderr(f"translate with: python -m lib translate --model {find_checkpoint(options.out).parent}")
    return 0


def _run_config(options: argparse.Namespace) -> Any:
    """The settings: defaults, then --config or the run that is resumed, then flags."""
    from lib.runs import BEST, CONFIG, LAST, RunConfig, settings_by_part

    names = {name for part in settings_by_part().values() for name in part}
    given = {name: value for name, value in vars(options).items() if name in names}
    if options.corpus:
        given["corpus"] = [os.path.abspath(path) for path in options.corpus]
    folder = Path(options.out)
    begun = (folder / LAST).is_file()
    if not options.resume and (begun or (folder / BEST).is_file()):
        raise ValueError(f"{folder} holds a run already: add --resume to go on with it, or name another --out")
    if options.resume and not begun and (folder / BEST).is_file():
        raise ValueError(f"{folder} holds {BEST}, but no {LAST} to go on from: begin another run with another --out")
    base = RunConfig.read(Path(options.config)) if options.config else None
    if options.resume and begun:
        before = RunConfig.read(folder / CONFIG)
        _refuse_changes(before, RunConfig.make(given, base or before), folder)
        base = before
    config = RunConfig.make(given, base)
    if not 1 <= len(config.corpus) <= 2:
        options.parser.error("--corpus takes one file of pairs, or two files whose lines belong together")
    return config


def _refuse_changes(before: Any, now: Any, folder: Path) -> None:
    old, new = before.flat(), now.flat()
    changed = [f"{name} {old.get(name)} → {new[name]}" for name in new if new[name] != old.get(name)]
    if changed:
        raise ValueError(
            f"the run in {folder} cannot go on with other settings ({', '.join(changed)}): leave them as they were, "
            "or begin another run with another --out"
        )


# ------------------------------------------------------------------------------------------------------- experiments


def _add_experiment(commands: Any) -> None:
    parser = commands.add_parser("experiment", help="make a stored measurement of the course again")
    parser.add_argument("names", nargs="+", metavar="NAME", help="bottleneck, scorers, growth, real_pairs")
    parser.add_argument(
        "--corpus", metavar="FILE", help="for real_pairs: the corpus, which is not part of the course"
    )
    parser.set_defaults(run=_experiment)


def _experiment(options: argparse.Namespace) -> int:
    from lib.experiments import EXPERIMENTS, store, store_result
    from lib.real_pairs import real_pairs
    from lib.runs import to_stderr

    known = [*EXPERIMENTS, "real_pairs"]
    if unknown := [name for name in options.names if name not in known]:
        raise ValueError(f"there is no experiment {unknown[0]!r}: the experiments are {', '.join(known)}")
    if "real_pairs" in options.names and not options.corpus:
        raise ValueError("real_pairs needs a corpus: add --corpus FILE, for example hin.txt of ManyThings.org")
    for name in options.names:
        if name == "real_pairs":
            command = f"python -m lib experiment {name} --corpus {Path(options.corpus).name}"
            path = store_result(name, command, real_pairs(options.corpus, to_stderr))
        else:
            path = store(name)
        print(f"{name}: written to {path}")
    return 0
