"""Finding a translation: greedy and beam search over any model with `encode`, `start` and `step`.

A sentence leaves the batch as soon as it is finished, so one long sentence does not hold up the others; results
come back in the order of the input. No sentence may grow beyond twice its source plus ten, counted for itself:
what stands beside it in the batch changes nothing.

Letters: B sentences still open, K beam size, V vocabulary, S source length, t words so far.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor, nn

from lib.batching import pad
from lib.text import Tokenizer, WordTokenizer

MOST = 100  # a penalty beyond this is a slip of the finger


class Model(Protocol):
    """What search needs to know of a model."""

    def encode(self, source: Tensor, source_mask: Tensor): ...

    def start(self, memory): ...

    def step(self, tokens: Tensor, state, memory): ...


@dataclass
class Hypothesis:
    """One translation as ids, without <s> and </s>."""

    tokens: list[int]
    score: float  # log-probability; in beam search after both penalties
    weights: Tensor | None = None  # (T, S): a row for each token, and one more for </s> if it is finished
    finished: bool = True  # False: cut off at the length limit


def length_limit(source_mask: Tensor, max_length: int | None = None) -> Tensor:
    """The most words, </s> included, that each sentence may get: 2 · its source length + 10, or `max_length`. (B)"""
    if max_length is not None and max_length < 1:
        raise ValueError(f"max_length={max_length}: a translation has at least one token, its end mark")
    limit = 2 * source_mask.sum(1) + 10
    return limit if max_length is None else limit.clamp(max=max_length)


@torch.no_grad()
def greedy(
    model: Model, source: Tensor, source_mask: Tensor, bos_id: int, eos_id: int, max_length: int | None = None
) -> list[Hypothesis]:
    """Take the most likely word at every step, until </s>.

    Args:
        model: any model with `encode`, `start` and `step`, already in evaluation mode.
        source, source_mask: (B, S).
        max_length: a further limit on the words of a translation, </s> included.
    """
    if not len(source):
        return []
    found = [Hypothesis([], 0.0, finished=False) for _ in source]
    rows_of: list[list[Tensor]] = [[] for _ in source]
    limit = length_limit(source_mask, max_length)  # (B)
    memory = model.encode(source, source_mask)
    state = model.start(memory)
    open_ = torch.arange(len(source), device=source.device)  # which sentence each row of the batch is
    tokens = torch.full_like(open_, bos_id)
    for length in range(1, int(limit.max()) + 1):
        logits, state, weights = model.step(tokens, state, memory)  # (B, V), _, (B, S)
        best, tokens = torch.log_softmax(logits.float(), dim=-1).max(dim=-1)  # (B), (B)
        for row, (sentence, token, gain) in enumerate(
            zip(open_.tolist(), tokens.tolist(), best.tolist(), strict=True)
        ):
            hypothesis = found[sentence]
            hypothesis.score += gain
            if weights is not None:
                rows_of[sentence].append(weights[row])
            hypothesis.finished = token == eos_id
            if token != eos_id:
                hypothesis.tokens.append(token)
        going = (tokens != eos_id) & (limit[open_] > length)
        if not going.all():
            rows = going.nonzero().squeeze(1)
            open_, tokens, state, memory = open_[rows], tokens[rows], state.select(rows), memory.select(rows)
        if not len(open_):
            break
    for hypothesis, rows in zip(found, rows_of, strict=True):
        hypothesis.weights = torch.stack(rows) if rows else None
    return found


def length_penalty(length: int, alpha: float) -> float:
    """lp(Y) = ((5 + |Y|) / 6)^alpha (Wu et al. 2016); |Y| counts </s>. alpha = 0 leaves the score alone."""
    return ((5 + length) / 6) ** alpha


def coverage_penalty(weights: Tensor, mask: Tensor, beta: float) -> Tensor:
    """cp = beta · sum_i log(min(sum_t alpha_ti, 1)) over the real source words (Wu et al. 2016).

    It is 0 where every source word was looked at once in all, and negative where some were passed over.

    weights (..., T, S), mask (..., S) -> (...)
    """
    covered = weights.sum(dim=-2).clamp(min=1e-9, max=1.0).log()  # (..., S)
    return beta * covered.masked_fill(~mask, 0.0).sum(dim=-1)


@dataclass
class _Beam:
    """The open hypotheses of all open sentences, and the finished ones."""

    sentences: Tensor  # (B) which sentence each group of K rows is
    scores: Tensor  # (B, K) sum of log-probabilities
    tokens: Tensor  # (B, K, t)
    covered: Tensor  # (B, K, S) the weights of all steps so far, added up
    mask: Tensor  # (B, S)
    limit: Tensor  # (B)
    finished: list[
        list[tuple[Hypothesis, int]]
    ]  # each with the beginning that its last word was added to, 0 to K - 1
    steps: list[_Step] = field(default_factory=list)


@dataclass
class _Step:
    """Where the beginnings of one step looked, and what they grew into: to be followed backwards from a finished one.

    Attention rows are kept as they came. To carry along those of every beginning would copy all of them in each step.
    """

    sentences: list[int]  # (B)
    weights: Tensor  # (B, K, S)
    parents: Tensor  # (B, K) of the beginnings after this step: which before it each grew from


@torch.no_grad()
def beam(
    model: Model,
    source: Tensor,
    source_mask: Tensor,
    bos_id: int,
    eos_id: int,
    size: int = 5,
    alpha: float = 0.0,
    beta: float = 0.0,
    max_length: int | None = None,
) -> list[Hypothesis]:
    """Keep the `size` most likely beginnings at every step; return the best finished translation of each sentence.

    score(Y) = log P(Y) / lp(Y) + cp(Y), the GNMT formulas. A sentence is finished when no open beginning can still
    beat its best finished one.

    Args:
        alpha: strength of the length penalty, ≥ 0. beta: strength of the coverage penalty, ≥ 0.
        The rest as in `greedy`.
    """
    if size < 1 or not (0 <= alpha <= MOST and 0 <= beta <= MOST):
        raise ValueError(f"beam size={size}, alpha={alpha}, beta={beta}: expected size ≥ 1, penalties 0 to {MOST}")
    if not len(source):
        return []
    memory = model.encode(source, source_mask)
    rows = torch.arange(len(source), device=source.device).repeat_interleave(size)
    memory, state = memory.select(rows), model.start(memory).select(rows)
    run = _first_beam(source, source_mask, size, length_limit(source_mask, max_length))
    last = torch.full_like(rows, bos_id)  # (B * K)
    while len(run.sentences):
        logits, state, weights = model.step(last, state, memory)  # (B * K, V), _, (B * K, S)
        parents, last = _grow(run, torch.log_softmax(logits.float(), dim=-1), weights, eos_id, (alpha, beta))
        going = [row for row in range(len(run.sentences)) if not _is_done(run, row, alpha, beta)]
        kept = torch.tensor(going, dtype=torch.long, device=source.device)
        rows = parents[kept].flatten()  # (B * K)
        if len(going) < len(run.sentences):  # all rows of a sentence have one memory: copied only when one leaves
            memory = memory.select(rows)
        state, last = state.select(rows), last[kept].flatten()
        _keep(run, kept)
    return [_best(run, sentence) for sentence in range(len(source))]


def _best(run: _Beam, sentence: int) -> Hypothesis:
    """The best finished translation of a sentence, with its attention rows."""
    hypothesis, beginning = max(run.finished[sentence], key=lambda found: found[0].score)
    rows: list[Tensor] = []
    for step in reversed(run.steps[: len(hypothesis.tokens) + hypothesis.finished]):
        row = step.sentences.index(sentence)
        if rows:
            beginning = int(step.parents[row, beginning])
        rows.append(step.weights[row, beginning])  # (S)
    hypothesis.weights = torch.stack(rows[::-1]) if rows else None  # (T, S)
    return hypothesis


def _first_beam(source: Tensor, mask: Tensor, size: int, limit: Tensor) -> _Beam:
    sentences = torch.arange(len(source), device=source.device)
    scores = torch.full((len(source), size), -torch.inf, device=source.device)
    scores[:, 0] = 0.0  # all K rows are the same empty beginning: only one may count
    tokens = sentences.new_zeros((len(source), size, 0))
    covered = mask.new_zeros((len(source), size, mask.shape[1]), dtype=torch.float)
    return _Beam(sentences, scores, tokens, covered, mask, limit, [[] for _ in source])


def _grow(
    run: _Beam, gains: Tensor, weights: Tensor | None, eos_id: int, penalties: tuple[float, float]
) -> tuple[Tensor, Tensor]:
    """Extend every beginning by every word; finish those that end, keep the K best others.

    gains (B * K, V), weights (B * K, S) -> rows of the parents (B, K), their next words (B, K)
    """
    count, size = run.scores.shape
    vocabulary = gains.shape[-1]
    total = (run.scores.flatten()[:, None] + gains).view(count, size * vocabulary)
    # Of 2K candidates at most K end here, so K others remain; with a tiny vocabulary there may be fewer candidates.
    scores, picks = total.topk(min(2 * size, size * vocabulary), dim=-1)  # (B, 2K)
    parents, words = picks // vocabulary, picks % vocabulary  # (B, 2K)
    groups = torch.arange(count, device=gains.device)[:, None]
    tokens = torch.cat([run.tokens[groups, parents], words[:, :, None]], dim=-1)  # (B, 2K, t)
    if weights is not None:
        run.covered = run.covered + weights.view(run.covered.shape)
    else:
        penalties = (penalties[0], 0.0)  # without attention nothing is covered
    _finish(run, scores, tokens, parents, eos_id, penalties)
    scores = scores.masked_fill(words == eos_id, -torch.inf)
    run.scores, kept = _top(scores, size)  # (B, K)
    run.tokens, before = tokens[groups, kept], parents.gather(1, kept)
    if weights is not None:
        run.steps.append(_Step(run.sentences.tolist(), weights.view(run.covered.shape), before))
        run.covered = run.covered[groups, before]
    return before + groups * size, words.gather(1, kept)  # (B, K) both


def _top(scores: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """The `size` best of each row; where there are fewer, impossible ones fill the place."""
    values, places = scores.topk(min(size, scores.shape[1]), dim=-1)
    missing = size - values.shape[1]
    pad = torch.nn.functional.pad
    return pad(values, (0, missing), value=-torch.inf), pad(places, (0, missing))


def _finish(
    run: _Beam, scores: Tensor, tokens: Tensor, parents: Tensor, eos_id: int, penalties: tuple[float, float]
) -> None:
    """Put away those of the K best candidates that end with </s> or have reached the limit of their sentence."""
    alpha, beta = penalties
    length = tokens.shape[-1]
    ended = tokens[:, :, -1] == eos_id  # (B, 2K)
    out = (ended | (run.limit <= length)[:, None]) & scores.isfinite()
    out[:, run.scores.shape[1] :] = False  # an end that is not among the K best is no better than any other word
    for row, candidate in out.nonzero().tolist():
        beginning = int(parents[row, candidate])
        score = float(scores[row, candidate]) / length_penalty(length, alpha)
        if beta:
            score += float(coverage_penalty(run.covered[row, beginning][None], run.mask[row], beta))
        finished = bool(ended[row, candidate])
        words = tokens[row, candidate].tolist()
        hypothesis = Hypothesis(words[:-1] if finished else words, score, finished=finished)
        run.finished[int(run.sentences[row])].append((hypothesis, beginning))


def _is_done(run: _Beam, row: int, alpha: float, beta: float) -> bool:
    """Is no open beginning able to beat the best finished translation?

    Log-probabilities only fall and lp only grows, so an open one can at best reach its score now over lp at the
    limit; the coverage penalty is never positive.
    """
    limit = int(run.limit[row])
    if run.tokens.shape[-1] >= limit:
        return True
    best_open = float(run.scores[row].max()) / length_penalty(limit, alpha)
    found = run.finished[int(run.sentences[row])]
    return not best_open > max((hypothesis.score for hypothesis, _ in found), default=-torch.inf)


def _keep(run: _Beam, kept: Tensor) -> None:
    """Drop the sentences that are done."""
    run.sentences, run.scores, run.tokens = run.sentences[kept], run.scores[kept], run.tokens[kept]
    run.covered, run.mask, run.limit = run.covered[kept], run.mask[kept], run.limit[kept]


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Dropout off inside, the earlier mode restored afterwards, also after an error."""
    modes = [(part, part.training) for part in model.modules()]  # a frozen part may have a mode of its own
    model.eval()
    try:
        yield
    finally:
        for part, training in modes:
            part.training = training


@dataclass
class Translation:
    """A sentence, its translation, and where the model looked."""

    source: str
    text: str
    source_pieces: list[str]  # ends with </s>
    target_pieces: list[str]  # ends with </s>, unless the translation was cut off
    weights: Tensor | None  # (T, S): one row for each target piece, one column for each source piece
    score: float
    finished: bool


@dataclass
class Translator:
    """A model with its two tokenizers: text in, text out."""

    model: nn.Module
    source_tokenizer: Tokenizer | WordTokenizer
    target_tokenizer: Tokenizer | WordTokenizer

    def translate(
        self,
        lines: Sequence[str],
        beam_size: int = 1,
        batch_size: int = 128,
        alpha: float = 0.0,
        beta: float = 0.0,
        max_length: int | None = None,
    ) -> list[Translation]:
        """Translate every line; results come in the order of the lines.

        Any text is accepted: unknown characters become the unknown piece, a line without any text gives an empty
        translation. Lines of similar length share a batch.

        Args:
            beam_size: 1 is greedy search. alpha, beta: penalties of the beam search.

        Raises:
            TypeError: `lines` is one string, not several, or holds something that is not a string.
            ValueError: batch_size, beam_size or max_length is below 1; in beam search, a penalty outside 0 to 100.
        """
        if isinstance(lines, str):
            raise TypeError(f"translate takes a list of lines, got one string: write translate([{lines[:20]!r}])")
        if strange := next((line for line in lines if not isinstance(line, str)), None):
            raise TypeError(f"translate takes a list of strings, got a {type(strange).__name__} in it: give its text")
        if batch_size < 1 or beam_size < 1:
            raise ValueError(f"batch_size={batch_size} and beam_size={beam_size}: both must be at least 1")
        sources = [self.source_tokenizer.encode(line) for line in lines]
        results = [Translation(line, "", [], [], None, 0.0, True) for line in lines]
        order = sorted((i for i in range(len(lines)) if sources[i]), key=lambda i: len(sources[i]))
        with evaluating(self.model):
            for start in range(0, len(order), batch_size):
                places = order[start : start + batch_size]
                found = self._search([sources[i] for i in places], beam_size, alpha, beta, max_length)
                for place, hypothesis in zip(places, found, strict=True):
                    results[place] = self._result(lines[place], sources[place], hypothesis)
        return results

    def _search(
        self, sources: list[list[int]], size: int, alpha: float, beta: float, max_length: int | None
    ) -> list[Hypothesis]:
        device = next(self.model.parameters()).device
        ids, mask = pad([[*source, self.source_tokenizer.eos_id] for source in sources], self.source_tokenizer.pad_id)
        ends = self.target_tokenizer.bos_id, self.target_tokenizer.eos_id
        ids, mask = ids.to(device), mask.to(device)  # (B, S)
        if size == 1:
            return greedy(self.model, ids, mask, *ends, max_length=max_length)
        return beam(self.model, ids, mask, *ends, size=size, alpha=alpha, beta=beta, max_length=max_length)

    def _result(self, line: str, source: list[int], hypothesis: Hypothesis) -> Translation:
        source_pieces = [*self.source_tokenizer.pieces(source), "</s>"]
        target_pieces = [*self.target_tokenizer.pieces(hypothesis.tokens), *["</s>"] * hypothesis.finished]
        weights = hypothesis.weights
        if weights is not None:
            weights = weights[:, : len(source_pieces)].cpu()
        text = self.target_tokenizer.decode(hypothesis.tokens)
        return Translation(line, text, source_pieces, target_pieces, weights, hypothesis.score, hypothesis.finished)
