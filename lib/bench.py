"""`python -m lib bench`: how fast the course's models are here, each next to two yardsticks measured in the same run.

The floor is the matrix products of the same step alone; the loop is how tutorials write that step, one target word at
a time (both in `lib.yardsticks`). Jobs that are compared take turns, so that a machine that is busy for a while is
busy for all of them. Each figure is a median; each ratio is the median of the ratios within a turn.

Letters: B batch, S source length, T target length, E embedding, H hidden, V vocabulary.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import median

import torch
from torch import Tensor, nn

from lib.attention import AdditiveScorer
from lib.batching import Batch, batches, encode_pairs, real_token_share
from lib.corpus import load
from lib.corpus_speed import measure_reading
from lib.search import beam, evaluating, greedy
from lib.seq2seq import ModelConfig, Seq2Seq
from lib.text import BOS, EOS, Tokenizer
from lib.training import token_loss
from lib.yardsticks import PeakMemory, products_alone, random_batch, step_products, tutorial_loss

SCORER_OF = {"luong": "dot", "bahdanau": "additive"}  # the two models that are measured: order and score
NAMES = {"luong": "dot, Luong order", "bahdanau": "additive, Bahdanau order"}
DECODING_BATCH = 128
SIZE_NAMES = ("batch", "source", "target", "vocabulary", "hidden")  # B, S, T, V, H
STEEPEST = 1.1  # a cost proportional to S · T has exponent 1; a tenth is left to noise


@dataclass(frozen=True)
class Sizes:
    """What is measured; E = H = `hidden`."""

    batch: int = 64
    source: int = 20
    target: int = 22
    vocabulary: int = 1000
    hidden: int = 256
    sentences: int = 1000  # to translate
    alone: int = 50  # of them also one at a time; the time is scaled up
    pairs: int = 24_000  # to count padding in
    repeats: int = 15
    lengths: tuple[int, ...] = (10, 20, 40, 80, 160, 320, 640)
    widths: tuple[int, ...] = (8, 16, 32, 64, 128, 256)  # B, for the growth with the batch

    def __post_init__(self) -> None:
        numbers = (self.batch, self.source, self.target, self.hidden, self.repeats)
        if min(numbers) < 1 or self.vocabulary <= EOS + 1:
            raise ValueError(
                f"batch, source, target, hidden and repeats must be at least 1 and the vocabulary above {EOS + 1}, "
                f"got {(*numbers, self.vocabulary)}"
            )


QUICK = Sizes(4, 5, 6, 30, 8, sentences=6, alone=2, pairs=200, repeats=1, lengths=(4, 8, 16), widths=(2, 4, 8))
Times = dict[str, list[float]]


@dataclass(frozen=True)
class Line:
    """One line of the table. A goal is a least (`≥`) or most (`≤`) value; the verdict compares it."""

    figure: str
    value: str
    floor: float | None = None  # time / time of the products alone
    loop: float | None = None  # time of the slow way / time
    goals: tuple[tuple[float, str, float], ...] = ()  # (measured, "≥" or "≤", wanted)

    def __str__(self) -> str:
        floor, loop = (f"{ratio:.2f}" if ratio is not None else "" for ratio in (self.floor, self.loop))
        verdicts = ", ".join(
            f"{sign} {wanted:g}: {'yes' if (got >= wanted if sign == '≥' else got <= wanted) else 'no'}"
            for got, sign, wanted in self.goals
        )
        return f"{self.figure:<56}{self.value:>14}{floor:>9}{loop:>9}  {verdicts}".rstrip()


def interleaved(jobs: dict[str, Callable[[], object]], repeats: int) -> Times:
    """Seconds of every job, `repeats` times, taking turns; a turn before that warms up and is not counted."""
    times: Times = {name: [] for name in jobs}
    for turn in range(repeats + 1):
        for name, job in jobs.items():
            begin = time.perf_counter()
            job()
            if turn:
                times[name].append(time.perf_counter() - begin)
    return times


def ratio(times: Times, of: str, to: str) -> float:
    """The median of time(of) / time(to) within a turn."""
    return median(a / b for a, b in zip(times[of], times[to], strict=True))


def growth(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The exponent p of cost ~ size^p: the slope of the least-squares line through the logarithms."""
    x, y = [math.log(size) for size in sizes], [math.log(cost) for cost in costs]
    middle, level = sum(x) / len(x), sum(y) / len(y)
    return sum((a - middle) * (b - level) for a, b in zip(x, y, strict=True)) / sum((a - middle) ** 2 for a in x)


def make_model(order: str, sizes: Sizes) -> Seq2Seq:
    """One of the two measured models, with starting weights."""
    scorer, words, width = SCORER_OF[order], sizes.vocabulary, sizes.hidden
    return Seq2Seq(ModelConfig(words, words, embedding=width, hidden=width, order=order, scorer=scorer))


def course_loss(model: Seq2Seq, batch: Batch) -> Tensor:
    """The loss per token as the trainer computes it."""
    logits, _ = model(batch.source, batch.source_mask, batch.target_in)  # (B, T, V)
    return token_loss(logits, batch.target_out, batch.target_mask) / batch.target_mask.sum()


def step(loss: Callable[[Seq2Seq, Batch], Tensor], model: Seq2Seq, data: Sequence[Batch]) -> None:
    """Forward and backward over `data`; gradients are dropped first, as the trainer does."""
    model.zero_grad(set_to_none=True)
    for batch in data:
        loss(model, batch).backward()


def training_lines(sizes: Sizes) -> Iterator[Line]:
    """Both models' training step next to the floor, the loop, and the loop over one sentence at a time."""
    shape = (sizes.batch, sizes.source, sizes.target, sizes.vocabulary)
    few, tokens = min(2, sizes.batch), sizes.batch * sizes.target  # so many sentences for the slowest loop
    for order, wanted in (("luong", 5), ("bahdanau", 3)):
        products = step_products(order, *shape, sizes.hidden)
        flops = sum(product.flops for product in products)
        singles = [random_batch(1, *shape[1:]) for _ in range(few)]
        jobs = _training_jobs(make_model(order, sizes), products_alone(products), random_batch(*shape), singles)
        times = interleaved(jobs, sizes.repeats)
        floor, loop = ratio(times, "step", "floor"), ratio(times, "loop", "step")
        singly = ratio(times, "singles", "step") * sizes.batch / few
        goals = ((loop, "≥", wanted), *([(floor, "≤", 1.3)] if order == "luong" else []))
        whole = median(sum(both) for both in zip(times["step"], times["update"], strict=True))
        yield Line(f"matrix products alone, {NAMES[order]}", milliseconds(times["floor"]), 1.0)
        yield Line(f"training step, {NAMES[order]}", milliseconds(times["step"]), floor, loop, goals)
        yield Line("  as a loop over target words", milliseconds(times["loop"]), ratio(times, "loop", "floor"))
        yield Line(f"  that loop, sentence by sentence ({few} of {sizes.batch}, scaled)", "", None, singly)
        yield Line("  clipping and Adam, not in the step above", milliseconds(times["update"]))
        yield Line("  target tokens a second, update included", f"{tokens / whole:,.0f}")
        yield Line("  products: million operations a target token", f"{flops / tokens / 1e6:,.3f}")
        yield Line("  products: 10^9 operations a second, alone", f"{flops / median(times['floor']) / 1e9:,.2f}")
        yield Line("  products: 10^9 operations a second, in the step", f"{flops / median(times['step']) / 1e9:,.2f}")


def _training_jobs(
    model: Seq2Seq, floor: Callable[[], None], batch: Batch, singles: Sequence[Batch]
) -> dict[str, Callable[[], object]]:
    """What takes turns; the update comes right after the step, whose gradients it uses."""
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-5, betas=(0.9, 0.98), fused=True)

    def update() -> None:
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()

    return {
        "floor": floor,
        "step": partial(step, course_loss, model, [batch]),
        "update": update,
        "loop": partial(step, tutorial_loss, model, [batch]),
        "singles": partial(step, tutorial_loss, model, singles),
    }


def decoding_lines(sizes: Sizes) -> Iterator[Line]:
    """Greedy search batched and one sentence at a time, and beam search, all over T words for every sentence.

    A model with starting weights does not know when to stop, so it is kept from stopping: all three do equal work.
    """
    model = make_model("luong", sizes)
    nn.init.constant_(model.output.bias[EOS : EOS + 1], -1e9)
    sources = random_batch(sizes.sentences, sizes.source, 1, sizes.vocabulary)

    def search(how: Callable, batch: int, count: int) -> None:
        with evaluating(model):
            for rows in torch.arange(count).split(batch):
                how(model, sources.source[rows], sources.source_mask[rows], BOS, EOS, max_length=sizes.target)

    jobs = {
        "greedy": partial(search, greedy, DECODING_BATCH, sizes.sentences),
        "alone": partial(search, greedy, 1, sizes.alone),
        "beam": partial(search, partial(beam, size=5), DECODING_BATCH, sizes.sentences),
    }
    times = interleaved(jobs, min(3, sizes.repeats))
    alone = ratio(times, "alone", "greedy") * sizes.sentences / sizes.alone
    wide = ratio(times, "beam", "greedy")
    tokens = sizes.sentences * sizes.target
    yield Line(
        f"greedy decoding, {sizes.sentences:,} sentences, batched",
        milliseconds(times["greedy"]),
        None,
        alone,
        ((alone, "≥", 10),),
    )
    yield Line(f"  {sizes.alone} of them one at a time (not scaled)", milliseconds(times["alone"]))
    yield Line(f"  all with beam 5, {wide:.2f} × greedy", milliseconds(times["beam"]), goals=((wide, "≤", 4),))
    yield Line("  target tokens a second, greedy", f"{tokens / median(times['greedy']):,.0f}")


def growth_lines(sizes: Sizes) -> Iterator[Line]:
    """Time and memory of a training step against S, against B, and against S · T where both grow."""
    fixed, few = sizes.target, max(1, sizes.batch // 16)
    sweeps = [
        ("S", [(sizes.batch, length, fixed) for length in sizes.lengths], sizes.lengths),
        ("B", [(width, sizes.source, fixed) for width in sizes.widths], sizes.widths),
        ("S · T", [(few, length, length) for length in sizes.lengths], [length**2 for length in sizes.lengths]),
    ]
    for variable, shapes, values in sweeps:
        swept = " … ".join(str(shape).replace(" ", "") for shape in (shapes[0], shapes[-1]))
        for order in SCORER_OF:
            seconds, most = _costs(order, shapes, sizes)
            for what, costs, unit in (("time", [1e3 * cost for cost in seconds], "ms"), ("memory", most, "MB")):
                power, last = growth(values, costs), growth(values[-2:], costs[-2:])
                figure = f"{what} ~ ({variable})^p, {NAMES[order]}: p"
                yield Line(figure, f"{power:.2f}", goals=((power, "≤", STEEPEST),))
                points = ", ".join(f"{cost:,.2f}" for cost in costs)
                yield Line(f"  (B,S,T) = {swept}: {points} {unit}; p of the last two {last:.2f}", "")


def _costs(order: str, shapes: Sequence[tuple[int, int, int]], sizes: Sizes) -> tuple[list[float], list[float]]:
    """Median seconds, and most megabytes alive, of a training step for every shape (B, S, T)."""
    model = make_model(order, sizes)
    data = {str(shape): random_batch(*shape, sizes.vocabulary) for shape in shapes}
    jobs = {name: partial(step, course_loss, model, [batch]) for name, batch in data.items()}
    times = interleaved(jobs, min(3, sizes.repeats))
    peaks = []
    for job in jobs.values():
        model.zero_grad(set_to_none=True)
        with PeakMemory(model) as memory:
            job()
        peaks.append(memory.peak / 1e6)
    return [median(times[name]) for name in jobs], peaks


def additive_lines(sizes: Sizes) -> Iterator[Line]:
    """How much of B · T · S · H the additive score holds at once: long sentences, all target steps together."""
    few, source, steps, width = max(1, sizes.batch // 8), sizes.lengths[-1], 3 * sizes.target, sizes.hidden
    scorer = AdditiveScorer(width, width, width)
    query, keys = (torch.randn(few, length, width, requires_grad=True) for length in (steps, source))
    with PeakMemory(scorer) as memory:
        scorer(query, scorer.project(keys)).sum().backward()
    share = memory.peak / (few * steps * source * width * query.element_size())
    figure = f"additive score, most held / B·T·S·H, (B,S,T) = ({few},{source},{steps})"
    yield Line(figure, f"{share:.2f}", goals=((share, "≤", 1),))


def padding_lines(sizes: Sizes) -> Iterator[Line]:
    """Real tokens among all that are computed, on the course's own training pairs in subwords."""
    pairs = load("train")[: sizes.pairs]
    tokenizers = [
        Tokenizer.train(lines, language, 1000) for lines, language in ((pairs.sources, "hi"), (pairs.targets, "en"))
    ]
    data = encode_pairs(pairs, *tokenizers)
    share = real_token_share(batches(data, sizes.batch))
    mixed = real_token_share(batches(data, sizes.batch, bucket=False))
    yield Line("real tokens / computed tokens, bucketed", f"{share:.1%}", goals=((share, "≥", 0.9),))
    yield Line("  the same, in any order", f"{mixed:.1%}")


def reading_lines(sizes: Sizes) -> Iterator[Line]:
    """Pairs of a file that are read, normalised and filtered in a second of processor time."""
    speed = measure_reading(runs=min(3, sizes.repeats))
    goals = ((speed.cleaned, "≥", 50_000),)
    yield Line("pairs a second, read and cleaned", f"{speed.cleaned:,.0f}", goals=goals)
    yield Line(f"  {speed.ratio:.1f} × the lines alone", "")


def milliseconds(seconds: Sequence[float]) -> str:
    """The median as text."""
    return f"{median(seconds) * 1e3:,.1f} ms"


def lines(sizes: Sizes) -> Iterator[Line]:
    """Every line of the table, as it is measured."""
    for part in (training_lines, decoding_lines, growth_lines, additive_lines, padding_lines, reading_lines):
        yield from part(sizes)


def main(arguments: list[str] | None = None) -> int:
    """Measure and print the table; exit code 0 whatever it says, 2 for options that make no sense."""
    parser = argparse.ArgumentParser(prog="python -m lib bench", description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="tiny sizes: shows that it runs, measures nothing real")
    parser.add_argument("--threads", type=int, default=2, help="cores to compute on (default 2)")
    parser.add_argument("--repeats", type=int, help="turns of each training step (default 15)")
    parser.add_argument(
        "--sizes", type=int, nargs=5, metavar=("B", "S", "T", "V", "H"), help="default 64 20 22 1000 256"
    )
    options = parser.parse_args(arguments)
    sizes = QUICK if options.quick else Sizes()
    try:
        if options.sizes:
            sizes = replace(sizes, **dict(zip(SIZE_NAMES, options.sizes, strict=True)))
        if options.repeats is not None:
            sizes = replace(sizes, repeats=options.repeats)
        if options.threads < 1:
            raise ValueError(f"--threads {options.threads}: at least one core is needed")
    except ValueError as error:
        parser.error(str(error))
    before = torch.get_num_threads()
    torch.set_num_threads(options.threads)
    try:
        _print_table(sizes)
    finally:
        torch.set_num_threads(before)
    return 0


def available_cores() -> int:
    """How many cores this process may use; a container or `taskset` can leave it fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _print_table(sizes: Sizes) -> None:
    threads, cores = torch.get_num_threads(), available_cores()
    print(f"torch {torch.__version__}, threads {threads}, cores {cores}, {platform.machine()}, {platform.system()}")
    if threads > cores:
        print(f"more threads than cores: the figures are those of {cores}")
    print(
        f"B {sizes.batch}, S {sizes.source}, T {sizes.target}, V {sizes.vocabulary:,}, E = H = {sizes.hidden}; LSTM; "
        f"{sizes.repeats} turns{'; far too small to judge by' if sizes.hidden < 64 else ''}"
    )
    print(f"{'':<56}{'median':>14}{'/ floor':>9}{'slow /':>9}  goal: reached?")
    for line in lines(sizes):
        print(line, flush=True)
