"""What the explorers look at: one step of attention, a translation with all its steps, a comparison, a look-up.

Pure functions from the settings of the controls to a state with all its numbers. How a state is drawn stands in
`lib.drawings`, the controls in `lib.explore`.

Letters: S source length, T target length, D size of a state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lib.text import Tokenizer, WordTokenizer, normalise
from lib.text import words as split_words

if TYPE_CHECKING:
    from lib.search import Translation, Translator

# The worked example of notebook 02, with two places of padding behind it.
WORDS = ("मैं", "स्कूल", "जाता", "हूँ", "<pad> 1", "<pad> 2")
STATES = np.array([[1.0, 0, 1], [0, 1, 1], [1, 1, 0], [-1, 0, 1], [0, 0, 0], [0, 0, 0]])  # (S, D)
REAL = (True, True, True, True, False, False)
FIRST = (1.0, 0.0, 0.0)
QUESTIONS = {
    "s₁ = [1, 0, 0]": FIRST,
    "after “I”: [1, 1, −1]": (1.0, 1.0, -1.0),
    "what-if state: [0, 0, 1]": (0.0, 0.0, 1.0),
    "no question: [0, 0, 0]": (0.0, 0.0, 0.0),
}
# Small matrices that let जाता ask for its subject, and the others for the verb; each (D, 2).
W_Q = np.array([[1.0, 0], [0, 0], [0, 1]])
W_K = np.array([[1.0, 0], [0, 1], [1, -1]])
W_V = np.array([[0.0, 1], [1, 0], [0, 0]])
LONGEST_TEXT, LONGEST_OUTPUT, CANDIDATES = 400, 60, 5  # characters read, pieces written, pieces offered a step


# --------------------------------------------------------------------------------------- 1. the worked example


@dataclass(frozen=True)
class Look:
    """One step of attention with all its numbers."""

    state: np.ndarray  # (D)
    temperature: float
    real: np.ndarray  # (S), True where a place takes part
    scores: np.ndarray  # (S), before the temperature
    weights: np.ndarray  # (S)
    context: np.ndarray  # (D)


def softmax(scores: np.ndarray, real: np.ndarray | None = None) -> np.ndarray:
    """Weights over the last axis, 0 where `real` is False; a row without a real place is all zeros."""
    real = np.ones_like(scores, dtype=bool) if real is None else np.broadcast_to(real, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, initial=-np.inf, where=real)
    powers = np.where(real, np.exp(np.where(real, scores - np.where(np.isfinite(largest), largest, 0), 0)), 0.0)
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total > 0, total, 1.0)


def look(state: Sequence[float], temperature: float = 1.0, real: Sequence[bool] = REAL) -> Look:
    """e_i = s · h_i,  alpha = softmax(e / temperature) over the real places,  c = sum_i alpha_i h_i."""
    if not temperature > 0:
        raise ValueError(f"the temperature is {temperature}: scores are divided by it, so it must be above 0")
    asked, mask = np.asarray(state, dtype=float), np.asarray(real, dtype=bool)
    scores = STATES @ asked  # (S)
    weights = softmax(scores / temperature, mask)  # (S)
    return Look(asked, float(temperature), mask, scores, weights, weights @ STATES)


# ------------------------------------------------------------------------- 2. a translation, token by token


@dataclass(frozen=True)
class Candidate:
    """A piece that might come next."""

    id: int
    piece: str
    probability: float


@dataclass(frozen=True)
class Step:
    """One step of a translation: what could be written, what was, and where the decoder looked."""

    chosen: Candidate
    candidates: tuple[Candidate, ...]  # the likeliest first
    weights: np.ndarray | None  # (S); None for a model without attention
    text: str  # the translation so far


@dataclass(frozen=True)
class Trace:
    """A translation with every step on the way."""

    source: tuple[str, ...]  # pieces, ends with </s>; empty where there is nothing to read
    steps: tuple[Step, ...]
    finished: bool = True
    note: str = ""  # what was left out, if anything

    @property
    def text(self) -> str:
        return self.steps[-1].text if self.steps else ""

    @property
    def pieces(self) -> list[str]:
        return [step.chosen.piece for step in self.steps]

    @property
    def ids(self) -> list[int]:
        return [step.chosen.id for step in self.steps]

    @property
    def weights(self) -> np.ndarray | None:
        """(T, S): a row for each step; None without attention or without steps."""
        rows = [step.weights for step in self.steps if step.weights is not None]
        return np.stack(rows) if rows else None


def trace(translator: Translator, sentence: str, prefix: Sequence[int] = ()) -> Trace:
    """Translate greedily and keep every step; the steps in `prefix` write those ids, likely or not.

    Any text is accepted: of a long one the first 400 characters are read, and at most 60 pieces are written.
    """
    import torch

    from lib.batching import pad
    from lib.search import evaluating, length_limit

    text, note = _shortened(sentence)
    reader, model = translator.source_tokenizer, translator.model
    ids = reader.encode(text)
    if not ids:
        return Trace((), (), note=note)
    device = next(model.parameters()).device
    source, mask = (part.to(device) for part in pad([[*ids, reader.eos_id]], reader.pad_id))  # (1, S)
    with torch.inference_mode(), evaluating(model):
        memory = model.encode(source, mask)
        limit = int(length_limit(mask, LONGEST_OUTPUT)[0])
        steps = _steps(translator, memory, limit, prefix)
    finished = steps[-1].chosen.id == translator.target_tokenizer.eos_id
    return Trace((*reader.pieces(ids), "</s>"), tuple(steps), finished, note)


def _steps(translator: Translator, memory: Any, limit: int, prefix: Sequence[int]) -> list[Step]:
    import torch

    model, writer = translator.model, translator.target_tokenizer
    state, token, steps = model.start(memory), writer.bos_id, []
    while len(steps) < limit and token != writer.eos_id:
        given = torch.tensor([token], device=memory.mask.device)
        logits, state, weights = model.step(given, state, memory)  # (1, V), _, (1, S)
        chances = logits[0].float().softmax(-1).cpu()  # (V)
        best = chances.topk(min(CANDIDATES, len(chances))).indices.tolist()
        token = int(prefix[len(steps)]) if len(steps) < len(prefix) else best[0]
        known = {i: Candidate(i, writer.pieces([i])[0], float(chances[i])) for i in {token, *best}}
        text = writer.decode([*(step.chosen.id for step in steps), token])
        row = None if weights is None else weights[0].double().cpu().numpy()  # (S)
        steps.append(Step(known[token], tuple(known[i] for i in best), row, text))
    return steps


def _shortened(sentence: str) -> tuple[str, str]:
    """The text that is read, and a note where it is not all of it."""
    if len(sentence) <= LONGEST_TEXT:
        return sentence, ""
    return sentence[:LONGEST_TEXT], f"Only the first {LONGEST_TEXT} of {len(sentence):,} characters were read."


# --------------------------------------------------------------------------- 3. two models, one sentence


@dataclass(frozen=True)
class Comparison:
    """The same sentence through several models; where all wrote the same, how far their weights lie apart."""

    traces: dict[str, Trace]
    distances: np.ndarray | None  # (T): half the sum of |difference|, 0 same weights, 1 nothing in common


def compare(translators: Mapping[str, Translator], sentence: str, along: str | None = None) -> Comparison:
    """Translate with every model; `along` names the one whose words all of them write, each with its own weights.

    The distance at a step is the largest one between any two models: 1/2 sum_i |alpha_i − beta_i|.
    """
    if not translators:
        raise ValueError("there is no model to compare: give {name: translator, …}")
    traces = {}
    leader = None if along is None else trace(translators[along], sentence)
    for name, translator in translators.items():
        writer, prefix = translator.target_tokenizer, []
        if leader is not None:
            prefix = [*writer.encode(leader.text), *[writer.eos_id] * leader.finished]
        traces[name] = leader if name == along else trace(translator, sentence, prefix)
    return Comparison(traces, _distances(list(traces.values())))


def _distances(traces: Sequence[Trace]) -> np.ndarray | None:
    rows = [traced.weights for traced in traces]
    alike = all(t.pieces == traces[0].pieces and t.source == traces[0].source for t in traces)
    if len(traces) < 2 or not alike or any(row is None for row in rows):
        return None
    apart = [np.abs(a - b).sum(axis=1) / 2 for i, a in enumerate(rows) for b in rows[i + 1 :]]  # each (T)
    return np.max(apart, axis=0)


# ----------------------------------------------------------------------------- 4. type and translate


@dataclass(frozen=True)
class Word:
    """A typed word and what the model knows of it: "known", "new word" or "unknown letters"."""

    text: str
    kind: str


@dataclass(frozen=True)
class Reading:
    """A typed sentence, its words marked, and its translation."""

    words: tuple[Word, ...]
    translation: Translation
    note: str


def vocabulary_of(lines: Iterable[str], language: str = "hi") -> frozenset[str]:
    """All words of the lines, as the model meets them; for example of the sentences it was trained on."""
    return frozenset(word for line in lines for word in split_words(normalise(line, language)))


def mark_words(
    tokenizer: Tokenizer | WordTokenizer, sentence: str, vocabulary: frozenset[str] | None = None
) -> tuple[Word, ...]:
    """Mark each word that has a piece the tokenizer does not know, or that is not in the vocabulary."""
    pairs = zip(tokenizer.encode(sentence), tokenizer.word_index(sentence), strict=True)
    unknown = {place for piece, place in pairs if piece == tokenizer.unk_id}
    marked = []
    for place, word in enumerate(split_words(normalise(sentence, tokenizer.language))):
        kind = "known" if vocabulary is None or word in vocabulary else "new word"
        if place in unknown:
            kind = "new word" if isinstance(tokenizer, WordTokenizer) else "unknown letters"
        marked.append(Word(word, kind))
    return tuple(marked)


def read(
    translator: Translator, sentence: str, vocabulary: frozenset[str] | None = None, beam_size: int = 1
) -> Reading:
    """Translate any text and mark the words that the model cannot know. Never raises, whatever the text."""
    text, note = _shortened(sentence)
    marked = mark_words(translator.source_tokenizer, text, vocabulary)
    translation = translator.translate([text], beam_size=beam_size, max_length=LONGEST_OUTPUT)[0]
    if not translation.finished:
        note = f"{note} The translation was cut off before its end mark.".strip()
    return Reading(marked, translation, note)


# ------------------------------------------------------------------------ 5. query, key and value


@dataclass(frozen=True)
class LookUp:
    """Four words that look at each other."""

    queries: np.ndarray  # (S, Dk)
    keys: np.ndarray  # (S, Dk)
    values: np.ndarray  # (S, Dv)
    divisor: float
    scores: np.ndarray  # (S, S) after the division
    weights: np.ndarray  # (S, S) a row for each word that asks
    outputs: np.ndarray  # (S, Dv)


def vectors(width: int) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """States of the four words and the three matrices: the worked example for 3, else drawn at random.

    Random entries have variance 1, those of the matrices 1 / width, so that projecting keeps the size.
    """
    if width == 3:
        return STATES[:4], (W_Q, W_K, W_V)
    random = np.random.default_rng(width)
    states = random.normal(size=(4, width))
    query, key, value = random.normal(size=(3, width, width)) / np.sqrt(width)
    return states, (query, key, value)


def look_up(width: int = 3, project: bool = False, scale: bool = False) -> LookUp:
    """alpha = softmax(Q Kᵀ / divisor), output = alpha V; divisor √Dk with `scale`, else 1.

    With `project` Q = H W_Q, K = H W_K, V = H W_V; without, all three are H.
    """
    states, matrices = vectors(width)
    queries, keys, values = [states @ matrix for matrix in matrices] if project else [states] * 3
    divisor = float(np.sqrt(keys.shape[-1])) if scale else 1.0
    scores = queries @ keys.T / divisor  # (S, S)
    weights = softmax(scores)
    return LookUp(queries, keys, values, divisor, scores, weights, weights @ values)
