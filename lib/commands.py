"""What can be done with a trained model from the command line: translate, evaluate, inspect."""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

# -------------------------------------------------------------------------------------------------------- translate


def _add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", required=True, metavar="PATH", help="a run's folder (its best model) or a file")


def _add_search(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--beam-size", type=int, default=5, metavar="N", help="1: greedy search (default: 5)")
    parser.add_argument("--alpha", type=float, default=1.0, metavar="X", help="length penalty (default: 1.0)")
    parser.add_argument("--batch-size", type=int, default=64, metavar="N", help="sentences at once (default: 64)")


def add_translate(commands: Any) -> None:
    parser = commands.add_parser("translate", help="translate a file or what is typed, line by line, in order")
    parser.add_argument("file", nargs="?", default="-", help="Hindi, one sentence a line (default: standard input)")
    parser.add_argument("--out", metavar="FILE", help="where the translations go (default: standard output)")
    _add_model(parser)
    _add_search(parser)
    parser.set_defaults(run=_translate)


def _translator(options: argparse.Namespace) -> Any:
    from lib.checkpoint import load_checkpoint
    from lib.runs import find_checkpoint
    from lib.search import Translator

    saved = load_checkpoint(find_checkpoint(options.model))
    return Translator(saved.model, saved.source_tokenizer, saved.target_tokenizer)


def _translate(options: argparse.Namespace) -> int:
    if options.batch_size < 1:
        raise ValueError(f"--batch-size {options.batch_size}: give a whole number, 1 or more")
    if (options.file == "-" and sys.stdin is None) or (not options.out and sys.stdout is None):
        raise ValueError("standard input or output is closed: name a file to read, and one to write with --out")
    translator, typed = _translator(options), options.file == "-" and sys.stdin.isatty()
    # Lines of similar length share a batch, so some batches are read at once; whoever types gets every line at once.
    together = 1 if typed or options.batch_size == 1 else 16 * options.batch_size
    part = f"{options.out}.part" if options.out and not _is_device(options.out) else ""
    with ExitStack() as opened:
        source = sys.stdin.buffer if options.file == "-" else opened.enter_context(open(options.file, "rb"))
        _refuse_same(source, options.out)
        if options.file != "-" and source.peek(2)[:2] == b"\x1f\x8b":
            source = opened.enter_context(gzip.GzipFile(fileobj=source))
        name = part or options.out
        target = opened.enter_context(open(name, "wb")) if name else sys.stdout.buffer
        try:
            for chunk in chunks(read_lines(source, options.file), together):
                found = translator.translate(chunk, options.beam_size, options.batch_size, alpha=options.alpha)
                target.write("".join(f"{translation.text}\n" for translation in found).encode())
                target.flush()
        except ValueError as error:
            kept = f"; the lines before it are in {part}" if part and target.tell() else ""
            raise ValueError(f"{error}{kept}") from None
    if part:  # only a whole translation takes the place of an earlier file
        os.replace(part, options.out)
    return 0


def _is_device(path: str) -> bool:
    """A pipe, /dev/stdout: something that is there, and that no file may take the place of."""
    return os.path.exists(path) and not os.path.isfile(path)


def _refuse_same(source: BinaryIO, out: str | None) -> None:
    """Raise a ValueError if the translations would be written over the file that is read."""
    with suppress(OSError):  # no such file yet, or an input that is no file
        if out and os.path.samestat(os.fstat(source.fileno()), os.stat(out)):
            raise ValueError(f"--out {out} is the file to be translated: name another")


def read_lines(file: BinaryIO, name: str) -> Iterator[str]:
    """The lines of a UTF-8 file as they come, without line ends; a line that is not UTF-8 is named."""
    for number, raw in enumerate(file, start=1):
        try:
            yield raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            where = "standard input" if name == "-" else name
            raise ValueError(f"{where}, line {number}: not UTF-8; save the text as UTF-8") from None


def chunks(lines: Iterable[str], size: int) -> Iterator[list[str]]:
    """Lists of `size` lines; the last may be shorter, and what came before an error is not lost."""
    lines, failed = iter(lines), []

    def until_error() -> Iterator[str]:
        try:
            yield from islice(lines, size)
        except ValueError as error:
            failed.append(error)

    while chunk := list(until_error()):
        yield chunk
        if failed:
            break
    if failed:
        raise failed[0]


# ---------------------------------------------------------------------------------------------- evaluate and inspect


def add_evaluate(commands: Any) -> None:
    parser = commands.add_parser("evaluate", help="BLEU, chrF and exact match on pairs the model has not seen")
    parser.add_argument("--corpus", metavar="FILE", help="pairs to measure on (default: the run's test.tsv)")
    for side in ("source", "target"):
        told = f"the column of the {side} side in --corpus, counted from 1 (default: found by the letters)"
        parser.add_argument(f"--{side}-column", type=int, metavar="N", help=told)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    _add_model(parser)
    _add_search(parser)
    parser.set_defaults(run=_evaluate)


def _evaluate(options: argparse.Namespace) -> int:
    from lib.corpus import ParallelCorpus
    from lib.evaluation import bleu, chrf, exact_match
    from lib.runs import DataConfig

    translator = _translator(options)
    model = Path(options.model)
    path = Path(options.corpus) if options.corpus else (model if model.is_dir() else model.parent) / "test.tsv"
    columns = DataConfig(source_column=options.source_column, target_column=options.target_column).columns
    pairs = ParallelCorpus.read(path, columns=columns or None)
    if not pairs:
        raise ValueError(f"{path} has no pair to measure on: {pairs.report()}")
    found = translator.translate(pairs.sources, options.beam_size, options.batch_size, alpha=options.alpha)
    texts = [translation.text.replace("▁", "_") for translation in found]
    scores = [bleu(texts, pairs.targets), chrf(texts, pairs.targets)]
    exact = float(exact_match(texts, pairs.targets).mean())
    if options.json:
        figures = {score.name: {"value": score.value, "signature": score.signature} for score in scores}
        print(json.dumps({"corpus": str(path), "pairs": len(pairs), **figures, "exact_match": exact}, indent=1))
    else:
        print(f"{len(pairs):,} pairs of {path}", *scores, f"exact match {exact:.1%}", sep="\n")
    return 0


def add_inspect(commands: Any) -> None:
    parser = commands.add_parser("inspect", help="what is in this checkpoint, and how it got there")
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    _add_model(parser)
    parser.set_defaults(run=_inspect)


def _inspect(options: argparse.Namespace) -> int:
    from lib.checkpoint import load_checkpoint
    from lib.runs import find_checkpoint
    from lib.seq2seq import count_parameters

    path = find_checkpoint(options.model)
    saved = load_checkpoint(path)
    sides = (saved.source_tokenizer, saved.target_tokenizer)
    facts: dict[str, Any] = {"file": str(path), "megabytes": round(path.stat().st_size / 1e6, 2)}
    facts |= {"model": type(saved.model).__name__, "parameters": count_parameters(saved.model)}
    facts |= {f"{side.language} pieces": side.vocab_size for side in sides}
    facts |= {f"shape: {name}": value for name, value in asdict(saved.model.config).items()}
    facts |= saved.about
    if saved.trainer:
        history = saved.trainer["history"]
        facts |= {"pairs": saved.trainer["data"][0], "seconds": round(history["seconds"], 1)}
        facts |= {"dev losses": dict(zip(history["dev_steps"], history["dev_losses"], strict=True))}
        facts |= {f"training: {name}": value for name, value in saved.trainer["config"].items()}
    if options.json:
        print(json.dumps(facts, indent=1))
    else:
        print(*(f"{name}: {value}" for name, value in facts.items()), sep="\n")
    return 0
