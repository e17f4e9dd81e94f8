"""Attention drawn by the browser: two rows of tokens joined by lines, tables with bars, and a map of vectors.

Everything here is a string of HTML with its style in it: no script, nothing from the net, Devanagari shaped by the
browser. Point at a token, or reach it with the Tab key, and only its own lines remain, each with its number.

Letters: S source length, T target length.
"""

from __future__ import annotations

import html
import math
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lib.pictures import INK, QUIET, Table
from lib.plots import COLOURS, MARK, checked, number

BLUE = COLOURS[0]
GAP = 7.2  # height of the lines between the two rows, in em
FAINT = 0.005  # a line for less weight than this would not be seen
SCRIPTS = '"Noto Sans Devanagari","Nirmala UI","Kohinoor Devanagari","Mangal","Lohit Devanagari"'
STYLE = f"""<style>
.lk{{background:#fff;color:{INK};padding:.7em .9em;border-radius:6px;line-height:1.4;font-size:14px;overflow-x:auto;
font-family:system-ui,"Segoe UI",Roboto,"DejaVu Sans",{SCRIPTS},sans-serif}}
.lk *{{box-sizing:border-box}}
.lk p{{margin:.15em 0 .6em;max-width:76em}}
.lk .lk-big{{font-size:1.25em}}
.lk .lk-q{{color:{QUIET}}}
.lk .lk-side{{display:flex;flex-wrap:wrap;gap:1em 2.4em;align-items:flex-start}}
.lk .lk-net{{position:relative;margin:.2em 0 .8em}}
.lk .lk-row{{display:flex;height:2.5em}}
.lk .lk-name{{font-size:.86em;color:{QUIET};margin:.15em 0}}
.lk .lk-tok{{position:relative;display:flex;flex-direction:column;align-items:center;justify-content:center;
margin:0 .14em;border:1.5px solid #B9C4CF;border-radius:8px;background:#F6F9FC;white-space:nowrap;cursor:default}}
.lk .lk-tok::after{{position:absolute;bottom:-1.15em;z-index:1;padding:0 .4em;border-radius:1em;background:#fff;
color:{INK};font-size:.82em;font-weight:600;line-height:1.45;font-variant-numeric:tabular-nums;
box-shadow:0 0 0 1px #B9C4CF}}
.lk .lk-t .lk-tok::after{{bottom:auto;top:-1.15em}}
.lk .lk-tok[data-now]::after{{content:attr(data-now)}}
.lk .lk-tok:hover,.lk .lk-tok:focus{{border-color:{INK};background:#fff;outline:2.5px solid {MARK};
outline-offset:1px}}
.lk .lk-tok.lk-on{{border:2.5px solid {MARK};font-weight:600}}
.lk svg{{display:block;overflow:visible}}
.lk .lk-net path{{fill:none;stroke:{BLUE};stroke-linecap:round;transition:opacity .12s}}
.lk .lk-net path.lk-on{{stroke:{MARK}}}
.lk table{{border-collapse:collapse;margin:0;font-size:1em;color:{INK};background:#fff;
font-variant-numeric:tabular-nums}}
.lk caption{{text-align:left;color:{QUIET};padding:0 0 .35em;font-size:.93em;caption-side:top}}
.lk th,.lk td{{padding:.28em 1.1em .28em .3em;text-align:left;border:0;background:#fff;
border-bottom:1px solid #E4E9EE;color:inherit;white-space:nowrap}}
.lk th{{font-weight:600}}
.lk .lk-num{{display:inline-block;min-width:3em;text-align:right;margin-right:.5em}}
.lk thead th{{color:{QUIET};font-weight:400;vertical-align:bottom}}
.lk tr.lk-out th,.lk tr.lk-out td{{color:{QUIET}}}
.lk .lk-bar{{display:inline-block;height:.72em;border-radius:2px;background:{BLUE}}}
.lk .lk-bar.lk-on{{background:{MARK}}}
.lk details{{margin:.2em 0 .6em}}
.lk summary{{cursor:pointer;color:{QUIET}}}
.lk .lk-left{{transform:scaleX(-1);border-left:1px solid #9AA5B1}}
.lk .lk-words{{display:flex;flex-wrap:wrap;gap:.35em;margin:.3em 0 .5em}}
.lk .lk-words .lk-tok{{padding:.1em .7em}}
.lk .lk-words .lk-tok::after{{position:static;padding:0;background:none;box-shadow:none;color:{QUIET};
font-weight:400}}
.lk .lk-words .lk-odd{{border:2px dashed {MARK};background:#FFF4EC}}
.lk .lk-words .lk-odd::after{{color:{MARK};font-weight:600}}
.lk .lk-scale{{display:inline-block;text-align:left;line-height:1}}
</style>"""


def escaped(text: Any) -> str:
    """Text as it may stand in HTML, inside an attribute too."""
    return html.escape(str(text), quote=True)


def hindi(text: str) -> str:
    """A token that a screen reader says with its Hindi voice."""
    return f'<span lang="hi">{escaped(text)}</span>'


def vector(values: Iterable[float], digits: int = 2) -> str:
    """[1, 0, −1]: whole numbers without digits behind the point, others with `digits`."""
    return "[" + ", ".join(number(v, 0 if float(v).is_integer() else digits) for v in values) + "]"


def drawing(*parts: str, alt: str) -> Table:
    """Parts of HTML as one figure, with its style and a name that a screen reader says."""
    return Table(f'<div class="lk" role="group" aria-label="{escaped(alt)}">{STYLE}{"".join(parts)}</div>', alt)


def side_by_side(*parts: str) -> str:
    """Parts beside each other, or below each other where the page is narrow."""
    return f'<div class="lk-side">{"".join(f"<div>{part}</div>" for part in parts)}</div>'


def measured(share: float, digits: int = 2, strong: bool = False) -> str:
    """A share between 0 and 1 as a number with its bar, for a cell of a table."""
    text = number(share, digits)
    return _beside(f"<b>{text}</b>" if strong else text) + _bar(share, 5.5, "lk-bar lk-on" if strong else "lk-bar")


def signed(value: float, reach: float) -> str:
    """A number with a bar to the left or to the right of a middle line; `reach` is what fills either side."""
    left = _bar(-value / reach, 2.6).replace("lk-scale", "lk-scale lk-left")
    return _beside(number(value)) + left + _bar(value / reach, 2.6)


def _beside(text: str) -> str:
    return f'<span class="lk-num">{text}</span>'


def _bar(share: float, width: float, kind: str = "lk-bar") -> str:
    inner = f'<span class="{kind}" style="width:{width * min(max(share, 0.0), 1.0):.2f}em"></span>'
    return f'<span class="lk-scale" style="width:{width:g}em" aria-hidden="true">{inner}</span>'


def table(
    caption: str,
    head: Sequence[str],
    rows: Iterable[tuple[str, Sequence[str]]],
    lang: str,
    quiet: Collection[int] = (),
) -> str:
    """A table whose cells are HTML already; `rows` are (label, cells), those at the places `quiet` are grey."""
    lines = []
    for place, (label, cells) in enumerate(rows):
        kind = ' class="lk-out"' if place in quiet else ""
        inner = "".join(f"<td>{cell}</td>" for cell in cells)
        lines.append(f'<tr{kind}><th scope="row" lang="{lang}">{escaped(label)}</th>{inner}</tr>')
    top = "".join(f'<th scope="col">{escaped(name)}</th>' for name in head)
    head_and_body = f"<thead><tr>{top}</tr></thead><tbody>{''.join(lines)}</tbody>"
    return f"<table><caption>{escaped(caption)}</caption>{head_and_body}</table>"


# ------------------------------------------------------------------------------------ two rows of tokens and lines


@dataclass(frozen=True)
class _Row:
    """Where the tokens of a row stand, in em."""

    widths: list[float]
    left: float

    def centre(self, place: int) -> float:
        return self.left + sum(self.widths[:place]) + self.widths[place] / 2


def links(
    weights: Any,
    source: Sequence[str],
    target: Sequence[str],
    *,
    current: int | None = None,
    names: tuple[str, str] = ("Hindi", "English"),
    languages: tuple[str, str] = ("hi", "en"),
    written: int | None = None,
) -> str:
    """Source tokens above, target tokens below, a line for every weight; thicker and darker where it is larger.

    Args:
        weights: (T, S), array or tensor.
        current: a target token to bring out; its weights stand below the source tokens.
        names, languages: of the source and the target row; the languages choose a screen reader's voice.
        written: so many target tokens are shown; the others keep their room, so that nothing moves when they come.

    Raises:
        ValueError: the weights do not fit the tokens.
    """
    matrix, source, target = checked(weights, source, target)
    shown = target[:written]
    over, under = _rows(source, target)
    above = _tokens("s", source, over, languages[0], matrix[: len(shown)].T, shown, now=current)
    below = _tokens("t", shown, under, languages[1], matrix, source, current=current)
    wide = max(over.left + sum(over.widths), under.left + sum(under.widths), 1.0)
    between = f'width="{wide:.2f}em" height="{GAP}em" viewBox="0 0 {wide:.2f} {GAP}"'
    top, bottom = (f'<div class="lk-name">{escaped(name)}</div>' for name in names)
    lines = f'<svg aria-hidden="true" {between}>{_lines(matrix[:written], over, under, current)}</svg>'
    net = f'<div class="lk-net" style="width:{wide:.2f}em">{top}{above}{lines}{below}{bottom}</div>'
    return _isolation(len(source), len(target)) + net


def _width(token: str) -> float:
    """How many em a token takes up with some room around it."""
    return max(_ems(token) + 1.3, 4.4)


def _ems(text: str) -> float:
    """About how many em a text is wide; marks above and below a letter take none."""
    wide = 0.0
    for letter in text:
        kind, devanagari = unicodedata.category(letter), "\u0900" <= letter <= "\u097f"
        if kind not in ("Mn", "Cf"):
            wide += 0.42 if kind == "Mc" else 0.7 if devanagari else 0.6 if letter.isascii() else 1.05
    return wide


def _rows(source: Sequence[str], target: Sequence[str]) -> tuple[_Row, _Row]:
    """Both rows as wide as the wider one, as far as that does not pull the shorter one too far apart."""
    widths = [[_width(token) for token in tokens] for tokens in (source, target)]
    wide = max(map(sum, widths))
    rows = []
    for row in widths:
        stretched = [w * min(1.5, wide / sum(row)) for w in row] if row else []
        rows.append(_Row(stretched, (wide - sum(stretched)) / 2))
    return rows[0], rows[1]


def _tokens(
    kind: str,
    tokens: Sequence[str],
    row: _Row,
    lang: str,
    weights: np.ndarray,
    others: Sequence[str],
    *,
    current: int | None = None,
    now: int | None = None,
) -> str:
    """One row of tokens; each says its weights aloud and holds them ready for the moment when one is isolated."""
    opposite = "t" if kind == "s" else "s"
    boxes = [f'<div class="lk-row lk-{kind}" role="list" style="padding-left:{row.left:.2f}em">']
    for place, token in enumerate(tokens):
        column = weights[place]
        seen = {k: number(w) for k, w in enumerate(column) if w >= FAINT}
        held = "".join(f' data-{opposite}{k}="{w}"' for k, w in seen.items())
        held += f' data-now="{seen[now]}"' if now in seen else ""
        on = " lk-on" * (place == current)
        boxes.append(
            f'<div role="listitem" tabindex="0" lang="{lang}" class="lk-tok {kind}{place}{on}"{held} '
            f'style="width:{row.widths[place] - 0.28:.2f}em" '
            f'aria-label="{escaped(_spoken(token, column, others))}">{escaped(token)}</div>'
        )
    return "".join([*boxes, "</div>"])


def _spoken(token: str, weights: np.ndarray, others: Sequence[str]) -> str:
    """What a screen reader says of a token: its three largest weights."""
    largest = [k for k in np.argsort(-weights, kind="stable")[:3] if weights[k] >= FAINT]
    return f"{token}: " + (", ".join(f"{others[k]} {number(weights[k])}" for k in largest) or "no weights")


def _lines(matrix: np.ndarray, over: _Row, under: _Row, current: int | None) -> str:
    """A curve for each weight that can be seen; those of the current row come last, above the others."""
    places = [place for place in np.ndindex(*matrix.shape) if matrix[place] >= FAINT]
    drawn = []
    for t, s in sorted(places, key=lambda place: (place[0] == current, matrix[place])):
        weight = min(float(matrix[t, s]), 1.0)
        strong, faded = t == current, current is not None and t != current
        x, y = over.centre(s), under.centre(t)
        ink = (0.12 + 0.88 * weight) * (0.3 if faded else 1.0)
        drawn.append(
            f'<path class="s{s} t{t}{" lk-on" * strong}" d="M{x:.2f} .3C{x:.2f} {GAP / 2} {y:.2f} {GAP / 2} {y:.2f} '
            f'{GAP - 0.25:.2f}" stroke-width="{0.04 + 0.46 * weight:.3f}" stroke-opacity="{ink:.3f}"/>'
        )
    return "".join(drawn)


def _isolation(source: int, target: int) -> str:
    """The style that leaves only the lines of the token pointed at or focused, with their numbers."""
    rules = []
    for token in [*(f"s{place}" for place in range(source)), *(f"t{place}" for place in range(target))]:
        net = f".lk-net:has(.{token}:is(:hover,:focus))"
        rules.append(f"{net} path:not(.{token}){{opacity:.04}}{net} path.{token}{{stroke-opacity:.9}}")
        rules.append(f"{net} .lk-tok[data-{token}]::after{{content:attr(data-{token})}}")
    return f"<style>{''.join(rules)}</style>"


# ------------------------------------------------------------------------------------------------ a map of vectors


HALF, REACH = 150, 2.2  # pixels from the middle of the map to its edge, and how much of an entry that is
NAMES_OF_AXES = ((236, 156, 292, 170), (155, 8, 215, 23))  # about what they cover: left, top, right, bottom


@dataclass(frozen=True)
class Point:
    """A vector on the map: its two entries, its name, its weight, and how it is drawn."""

    x: float
    y: float
    name: str
    weight: float = 0.0
    kind: str = "state"  # state, query, context, before

    @property
    def place(self) -> tuple[float, float]:
        """In pixels from the corner above on the left; what lies too far out stays at the edge."""
        across, up = (HALF * min(max(value / REACH, -0.97), 0.97) for value in (self.x, self.y))
        return HALF + across, HALF - up


def plane(points: Sequence[Point], alt: str, axes: tuple[str, str]) -> str:
    """Vectors from above: states as discs as large as their weight, joined to the context they make."""
    drawn = [_axes(axes)]
    cx, cy = next(p.place for p in points if p.kind == "context")
    for p in points:
        if p.kind == "state" and p.weight >= FAINT:
            x, y = p.place
            style = f'stroke="{BLUE}" stroke-opacity=".55" stroke-width="{1 + 9 * p.weight:.1f}"'
            drawn.append(f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{cx:.1f}" y2="{cy:.1f}" {style}/>')
    drawn += [*map(_mark, points), *_labels(points)]
    size = 2 * HALF
    return (
        f'<svg role="img" aria-label="{escaped(alt)}" width="{size}" height="{size}" viewBox="0 0 {size} {size}" '
        f'font-size="13">{"".join(drawn)}</svg>'
    )


def _axes(names: tuple[str, str]) -> str:
    size = 2 * HALF
    style = f'stroke="#9AA5B1" stroke-width="1" fill="{QUIET}"'
    text = f'fill="{QUIET}" font-size="11.5"'
    return (
        f'<rect x=".5" y=".5" width="{size - 1}" height="{size - 1}" rx="8" fill="#FBFCFE" stroke="#DDE4EA"/>'
        f'<line x1="8" y1="{HALF}" x2="{size - 8}" y2="{HALF}" {style}/>'
        f'<line x1="{HALF}" y1="8" x2="{HALF}" y2="{size - 8}" {style}/>'
        f'<text x="{size - 10}" y="{HALF + 16}" text-anchor="end" {text}>{escaped(names[0])} →</text>'
        f'<text x="{HALF + 7}" y="19" {text}>↑ {escaped(names[1])}</text>'
    )


def _mark(point: Point) -> str:
    """A state is a disc, the query an arrow from the origin, the context a square on its corner."""
    x, y = point.place
    if point.kind == "state":
        radius = _radius(point)
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{BLUE}" fill-opacity=".85" stroke="#fff"/>'
    if point.kind == "query":
        return _arrow(x, y)
    corners = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in ((0, -8), (8, 0), (0, 8), (-8, 0)))
    fill, dash = (INK, "") if point.kind == "context" else ("#fff", ' stroke-dasharray="3 2"')
    return f'<polygon points="{corners}" fill="{fill}" stroke="{INK}" stroke-width="1.5"{dash}/>'


def _radius(point: Point) -> float:
    """From the middle of a mark to its edge, in pixels."""
    return 4 + 13 * math.sqrt(max(point.weight, 0.0)) if point.kind == "state" else 8.0


def _arrow(x: float, y: float) -> str:
    """From the origin to the point; a dot where the point is the origin."""
    length = math.hypot(x - HALF, y - HALF)
    if length < 1:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{MARK}"/>'
    ux, uy = (x - HALF) / length, (y - HALF) / length
    ends = ((x, y), (x - 12 * ux + 5 * uy, y - 12 * uy - 5 * ux), (x - 12 * ux - 5 * uy, y - 12 * uy + 5 * ux))
    corners = " ".join(f"{a:.1f},{b:.1f}" for a, b in ends)
    shaft = f'x1="{HALF}" y1="{HALF}" x2="{x - 9 * ux:.1f}" y2="{y - 9 * uy:.1f}" stroke="{MARK}" stroke-width="3"'
    return f'<line {shaft}/><polygon points="{corners}" fill="{MARK}"/>'


@dataclass(frozen=True)
class _Label:
    """The name of a point at one of the places where it may stand, in pixels."""

    text: str
    x: float
    y: float  # of the line on which the letters stand
    anchor: str  # start, middle, end

    @property
    def box(self) -> tuple[float, float, float, float]:
        """About what it covers: left, top, right, bottom."""
        wide = 13 * _ems(self.text)
        left = self.x - wide * {"start": 0.0, "middle": 0.5, "end": 1.0}[self.anchor]
        return left, self.y - 12, left + wide, self.y + 4

    def drawn(self, ink: str, bold: bool) -> str:
        halo = 'paint-order="stroke" stroke="#fff" stroke-width="3.5" stroke-linejoin="round"'
        place = f'x="{self.x:.1f}" y="{self.y:.1f}" text-anchor="{self.anchor}"'
        weight = ' font-weight="600"' if bold else ""
        return f'<text {place} fill="{ink}"{weight} {halo}>{escaped(self.text)}</text>'


def _labels(points: Sequence[Point]) -> list[str]:
    """The names of all points, each where it covers least of the marks and of the names that matter more."""
    ranks = {"context": 0, "query": 1, "state": 2, "before": 3}
    taken = [*NAMES_OF_AXES, *(_square(*point.place, _radius(point)) for point in points)]
    for point in points:
        if point.kind == "query":  # its shaft, in short pieces
            parts = (k / 8 for k in range(8))
            taken += [_square(*(HALF + part * (end - HALF) for end in point.place), 1.5) for part in parts]
    drawn = []
    for point in sorted(points, key=lambda point: (ranks[point.kind], -point.weight)):
        costs = {label: far + _covered(label.box, taken) for label, far in _places(point)}
        best = min(costs, key=costs.__getitem__)  # the first of equals
        taken.append(best.box)
        drawn.append(best.drawn(MARK if point.kind == "query" else INK, bold=point.kind != "state"))
    return drawn


def _places(point: Point) -> list[tuple[_Label, float]]:
    """Where the name of a point may stand, its usual place first, and what it costs that it is not near the mark.

    The usual place is above a disc, behind the tip of an arrow, beside a square.
    """
    x, y = point.place
    text = f"{point.name} {number(point.weight)}" if point.kind == "state" else point.name
    places = [(_behind(text, x, y), 0.0)] if point.kind == "query" else []
    for step, cost in ((6, 0.0), (20, 40.0), (34, 90.0)):
        off = _radius(point) + step
        beside = [_Label(text, x + off, y + 5 + up, "start") for up in (0, -off, off)]
        beside += [_Label(text, x - off, y + 5 + up, "end") for up in (0, -off, off)]
        upright = [_Label(text, x, y - off, "middle"), _Label(text, x, y + off + 9, "middle")]
        upright = upright[::-1] if y > 0.8 * HALF else upright
        near = [*beside, *upright] if point.kind in ("context", "before") else [*upright, *beside]
        places += [(label, cost) for label in near]
    return places


def _behind(text: str, x: float, y: float) -> _Label:
    length = math.hypot(x - HALF, y - HALF)
    if length < 1:
        return _Label(text, x, y + 19, "middle")
    return _Label(text, x + 20 * (x - HALF) / length, y + 20 * (y - HALF) / length + 5, "middle")


def _square(x: float, y: float, radius: float) -> tuple[float, float, float, float]:
    return x - radius, y - radius, x + radius, y + radius


def _covered(box: Sequence[float], taken: Sequence[Sequence[float]]) -> float:
    """How much of what is taken, and of the space beyond the map, a box covers, in square pixels."""
    left, top, right, bottom = box
    total = (right - left) * (bottom - top) - _common(box, (0, 0, 2 * HALF, 2 * HALF))
    return round(total + sum(_common(box, other) for other in taken), 3)


def _common(one: Sequence[float], other: Sequence[float]) -> float:
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return max(wide, 0) * max(high, 0)
