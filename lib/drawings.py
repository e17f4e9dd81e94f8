"""The explorers drawn: what `lib.looking` computes as tables, lines and a map, with a text alternative.

Letters: S source length, T target length.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lib.links import Point, drawing, escaped, hindi, links, measured, plane, side_by_side, signed, table, vector
from lib.looking import FIRST, STATES, WORDS, Comparison, Look, LookUp, Reading, Step, Trace, look
from lib.pictures import Table
from lib.plots import heatmap_table, number

MOST_DRAWN = 40  # pieces in a picture


def _nothing_to_read() -> Table:
    alt = "There is nothing to translate: type a Hindi sentence."
    return drawing(f"<p>{alt}</p>", alt=alt)


# --------------------------------------------------------------------------------------- 1. the worked example


def draw_look(now: Look) -> Table:
    """Scores, weights and context of the worked example as a table, and as a map seen from above."""
    pairs = [f"{word} {number(w, 4)}" for word, w, real in zip(WORDS, now.weights, now.real, strict=True) if real]
    alt = (
        f"Attention for the decoder state {vector(now.state)} at temperature {now.temperature:.1f}. Weights: "
        f"{', '.join(pairs) or 'none, every place is masked'}. Context {vector(now.context, 4)}."
    )
    terms = " + ".join(f"{number(w)}·h{i + 1}" for i, w in enumerate(now.weights) if now.real[i])
    lines = (
        f'<p class="lk-big">s = {vector(now.state)} → <b>c = {vector(now.context, 4)}</b></p>'
        f'<p class="lk-q">c = {terms or "nothing: every place is masked"}</p>'
    )
    return drawing(lines, side_by_side(_look_table(now), _look_map(now)), alt=alt)


def _look_table(now: Look) -> str:
    reach = max(1.0, float(np.abs(now.scores).max()))
    largest, rows = now.weights.max(), []
    for i, word in enumerate(WORDS):
        strong = bool(now.real[i] and now.weights[i] == largest)
        remark = ("largest" if strong else "") if now.real[i] else "masked"
        cells = [vector(STATES[i]), signed(now.scores[i], reach), measured(now.weights[i], 4, strong), remark]
        rows.append((word, cells))
    caption = f"Score, normalise: weights are the softmax of scores ÷ {now.temperature:.1f}"
    masked = np.flatnonzero(~now.real)
    return table(caption, ["place", "state h", "score s · h", "weight", ""], rows, "hi", masked)


def _look_map(now: Look) -> str:
    before = look(FIRST).context
    states = zip(WORDS[:4], STATES, now.weights, now.real, strict=False)
    points = [Point(h[0], h[2], word, float(w)) for word, h, w, real in states if real]
    if now.real[4:].any():
        points.append(Point(0, 0, "<pad>", float(now.weights[4:].sum())))
    points.append(Point(now.state[0], now.state[2], "s", kind="query"))
    if not np.allclose(before, now.context, atol=0.02):
        points.append(Point(before[0], before[2], "c₁ was here", kind="before"))
    points.append(Point(now.context[0], now.context[2], "c", kind="context"))
    where = vector(now.context[[0, 2]])
    alt = f"Map of entries 1 and 3: the context lies at {where}, between the states it averages."
    note = '<p class="lk-q">Combine: each state pulls c towards itself.<br>Seen from above: entries 1 and 3.</p>'
    return note + plane(points, alt, ("entry 1", "entry 3"))


# ------------------------------------------------------------------------- 2. a translation, token by token


def draw_trace(traced: Trace, at: int) -> Table:
    """Step `at` (from 0): the piece just written, what else was likely, and the alignment so far."""
    if not traced.steps:
        return _nothing_to_read()
    at = min(max(at, 0), len(traced.steps) - 1)
    step, weights, tables = traced.steps[at], traced.weights, [_candidates(traced.steps[at])]
    told = f"Step {at + 1} of {len(traced.steps)}: writes {step.chosen.piece} ({number(step.chosen.probability)})"
    if step.weights is not None:
        place = int(step.weights.argmax())
        told += f", looks most at {traced.source[place]} ({number(step.weights[place])})"
    parts = [
        f'<p class="lk-big" lang="en">{escaped(step.text) or "&nbsp;"}</p>',
        f'<p class="lk-q">{escaped(told)}.{_notes(traced)}</p>',
    ]
    if weights is not None and len(traced.source) <= MOST_DRAWN:
        parts.append(links(weights, traced.source, traced.pieces, current=at, written=at + 1))
        tables.append(_so_far(weights[: at + 1], traced.source, traced.pieces[: at + 1]))
    return drawing(*parts, side_by_side(*tables), alt=f"{told}. So far: {step.text}")


def _notes(traced: Trace) -> str:
    notes = [traced.note] if traced.note else []
    if not traced.finished:
        notes.append("It was cut off before the end mark.")
    if traced.weights is None:
        notes.append("This model has no attention: there is no line to draw.")
    elif len(traced.source) > MOST_DRAWN:
        notes.append(f"More than {MOST_DRAWN} pieces are too many to draw.")
    return "".join(f" {escaped(note)}" for note in notes)


def _candidates(step: Step) -> str:
    listed = step.candidates if step.chosen in step.candidates else (*step.candidates, step.chosen)
    rows = []
    for one in listed:
        chosen = one == step.chosen
        rows.append((one.piece, [measured(one.probability, 3, chosen), "written" if chosen else ""]))
    return table("What could come next", ["piece", "probability", ""], rows, "en")


def _so_far(weights: np.ndarray, source: Sequence[str], pieces: Sequence[str]) -> str:
    """The rows of weights up to now, and what has not been looked at yet."""
    left = [hindi(piece) for piece, seen in zip(source, weights.sum(axis=0), strict=True) if seen < 0.1]
    told = (
        f"Hardly looked at so far (less than 0.1 in all): {', '.join(left)}." if left else "Every word was looked at."
    )
    rows = heatmap_table(weights, source, pieces, "Alignment so far, a row for each piece", alt="").html
    return f'{rows}<p class="lk-q">{told}</p>'


# --------------------------------------------------------------------------- 3. two models, one sentence


def draw_comparison(compared: Comparison) -> Table:
    """The models side by side, each with its lines; below, where their weights differ most."""
    traces, apart, drawn = compared.traces, compared.distances, []
    if not any(traced.steps for traced in traces.values()):
        return _nothing_to_read()
    alt = "; ".join(f"{name} writes: {traced.text}" for name, traced in traces.items())
    for name, traced in traces.items():
        head = f'<p><b>{escaped(name)}</b>: <span lang="en">{escaped(traced.text)}</span>{_notes(traced)}</p>'
        drawn.append(head + _net(traced.weights, traced.source, traced.pieces, numbers=apart is None))
    if apart is None:
        below = '<p class="lk-q">Not the same pieces, or no weights: rows cannot be compared one by one.</p>'
    else:
        alt += f". Mean distance of their weights: {number(apart.mean())}"
        below = _difference_table(traces, apart)
    return drawing(side_by_side(*drawn), below, alt=alt)


def _net(weights: Any, source: Sequence[str], pieces: Sequence[str], numbers: bool = True) -> str:
    """The lines, and in numbers where each piece looks most; nothing for a model without attention."""
    if weights is None or len(source) > MOST_DRAWN:
        return ""
    lines = links(weights, source, pieces)
    if not numbers:
        return lines
    rows = []
    for piece, row in zip(pieces, weights, strict=True):
        place = int(row.argmax())
        rows.append((piece, [hindi(source[place]), measured(float(row[place]))]))
    listed = table("Where each piece looks most", ["piece", "looks most at", "weight"], rows, "en")
    return f"{lines}<details><summary>In numbers</summary>{listed}</details>"


def _difference_table(traces: dict[str, Trace], apart: np.ndarray) -> str:
    rows = []
    for t, piece in enumerate(next(iter(traces.values())).pieces):
        looks = [(traced.source, traced.steps[t].weights) for traced in traces.values()]
        cells = [f"{hindi(source[row.argmax()])} {number(row.max())}" for source, row in looks]
        rows.append((piece, [*cells, measured(float(apart[t]))]))
    head = ["piece", *(f"{name} looks most at" for name in traces), "distance of the weights"]
    return table("0: the same weights, 1: nothing in common", head, rows, "en")


# ----------------------------------------------------------------------------- 4. type and translate


def draw_reading(reading: Reading) -> Table:
    """The translation, the typed words with their marks, and the lines between the two."""
    if not reading.words:
        return _nothing_to_read()
    found, odd = reading.translation, [word for word in reading.words if word.kind != "known"]
    listed = ", ".join(f"{word.text} ({word.kind})" for word in odd)
    marks = f"{len(odd)} of {len(reading.words)} words are marked: {listed}" if odd else "Every word is known"
    chips = "".join(
        f'<div role="listitem" lang="hi" class="lk-tok{" lk-odd" * (word.kind != "known")}" '
        f'data-now="{word.kind}" aria-label="{escaped(word.text)}: {word.kind}">{escaped(word.text)}</div>'
        for word in reading.words
    )
    return drawing(
        f'<p class="lk-big" lang="en"><b>{escaped(found.text) or "(nothing)"}</b></p>',
        f'<div class="lk-words" role="list">{chips}</div>',
        f'<p class="lk-q">{escaped(marks)}. {escaped(reading.note)}</p>',
        _net(found.weights, found.source_pieces, found.target_pieces),
        alt=f"Translation: {found.text or '(nothing)'}. {marks}.",
    )


# ------------------------------------------------------------------------ 5. query, key and value


def draw_look_up(found: LookUp, asking: int) -> Table:
    """The word `asking` and what the four answer it; all rows of weights as lines."""
    names, row, output = WORDS[:4], found.weights[asking], _few(found.outputs[asking])
    pairs = ", ".join(f"{name} {number(w)}" for name, w in zip(names, row, strict=True))
    rows = []
    for k, name in enumerate(names):
        weight = measured(row[k], 4, strong=bool(row[k] == row.max()))
        rows.append((name, [_few(found.keys[k]), number(found.scores[asking, k]), weight, _few(found.values[k])]))
    score = "q · k" if found.divisor == 1 else f"q · k ÷ {number(found.divisor)}"
    answers = table("What the four words answer", ["word", "key k", score, "weight", "value v"], rows, "hi")
    titles = ("keys: who answers", "queries: who asks")
    lines = links(found.weights, names, names, current=asking, names=titles, languages=("hi", "hi"))
    text = (
        f'<p class="lk-big">{hindi(names[asking])} asks with q = {_few(found.queries[asking])} '
        f"→ output = <b>{output}</b></p>"
    )
    alt = f"{names[asking]} asks. Weights: {pairs}. Output {output}."
    return drawing(text, side_by_side(lines, answers), alt=alt)


def _few(values: np.ndarray) -> str:
    """A vector, or the first two entries of a long one."""
    return vector(values) if len(values) <= 4 else vector(values[:2])[:-1] + ", …]"
