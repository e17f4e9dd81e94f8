"""The pictures of the course: heat maps, curves and bars, each with a text that states what it shows.

A function returns a `Picture`. Put it last in a cell or pass it to `display`: a notebook then shows an image
that a screen reader can read out. No colour is needed to understand it: cells carry their value, lines their
marker and dash, bars their hatching.

Letters: S source length, T target length.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from lib.pictures import (
    INK,
    QUIET,
    Picture,
    Table,
    course_style,
    drawable,
    entitle,
    new_figure,
    text_width,
)
from lib.pictures import use_course_style as use_course_style  # a notebook takes it from here, with the plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Cell = tuple[float, float, float]  # width and height in inches, angle of the source labels

MARK = "#C1440E"
# Each at least 4.5 : 1 on white.
COLOURS = ("#0B62A8", "#C1440E", "#00806A", "#8E44AD", "#8A6A00", "#4A4A4A", "#B5305A", "#2E7D9A")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_DASHES = "-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)), (0, (3, 1.5)), (0, (9, 2)), (0, (1, 2.5))
DASHES = (*_DASHES, (0, (3, 1.5, 1, 1.5, 1, 1.5)))
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++++", "oo", "**")
BLUES = ("#F6F9FC", "#CFE0F1", "#7FB0DC", "#2A72B5", "#0A2F5C")
BOTH_SIGNS = ("#7A2606", "#E4A281", "#F6F9FC", "#7FB0DC", "#0A2F5C")
WIDEST = 9.4  # inches: the width of a notebook cell
CELL = "padding:.3em .6em;border:2px solid #fff"


# -------------------------------------------------------------------------------------------------- heat maps


def heatmap(
    weights: Any,
    source_labels: Sequence[str],
    target_labels: Sequence[str],
    title: str = "",
    *,
    mark: Iterable[tuple[int, int]] = (),
    source_name: str = "source (Hindi)",
    target_name: str = "target (English)",
    quantity: str = "weight",
    digits: int = 2,
    alt: str | None = None,
    alt_digits: int | None = None,
) -> Picture:
    """Draw a matrix (T, S): one row for each target label, one column for each source label.

    Small matrices carry their values, the largest of a row in bold; in large ones a dot marks it. Values from
    0 to 1 are drawn on that scale; values of both signs on a scale that is symmetric around 0.

    Args:
        weights: (T, S), array, nested list or tensor, with or without gradient.
        mark: links (source, target) to outline, for example the gold alignment `pair.sure`.
        quantity: what a value is, for example "weight" or "score".
        digits: digits after the point in a cell.
        alt: your own text alternative. alt_digits: state values in the default one, with so many digits.

    Raises:
        ValueError: the matrix does not fit the labels (transposed, for example), or holds nan or infinity.
    """
    matrix, source, target = checked(weights, source_labels, target_labels)
    links, colours = list(mark), _colour_scale(matrix)
    with course_style():
        width, height, cell = _heatmap_size(source, target)
        figure, axes = new_figure(width, height)
        scale = {"cmap": colours.cmap, "norm": colours.norm}
        image = axes.imshow(matrix, aspect="auto", interpolation="nearest", **scale)
        _heatmap_axes(axes, source, target, cell)
        axes.set_xlabel(drawable(source_name), labelpad=8)
        axes.set_ylabel(drawable(target_name), labelpad=8)
        captions = ["outlined: gold alignment"] if links else []
        if cell[0] >= 0.13 * (digits + 2) - 0.06 and cell[1] >= 0.24:
            _write_values(axes, matrix, digits)
        else:
            _dot_largest(axes, matrix)
            bar = figure.colorbar(image, ax=axes, label=quantity, shrink=0.8, aspect=30, pad=0.02)
            bar.outline.set_visible(False)
            captions.insert(0, f"dot: largest {quantity} of the row")
        _outline(axes, links, cell)
        if captions:
            figure.supxlabel("   ".join(captions), fontsize=9, color=QUIET)
        entitle(figure, title)
    if alt is None:
        alt = _heatmap_alt(matrix, source, target, title, quantity, alt_digits)
    return Picture(figure, alt, _html_table(matrix, source, target, title, digits, "hi", "en"))


def heatmap_table(
    weights: Any,
    source_labels: Sequence[str],
    target_labels: Sequence[str],
    title: str = "",
    *,
    quantity: str = "weight",
    digits: int = 2,
    source_lang: str = "hi",
    target_lang: str = "en",
    alt: str | None = None,
    alt_digits: int | None = None,
) -> Table:
    """The same heat map as an HTML table, which the browser shapes and a screen reader reads cell by cell.

    Arguments and errors are those of `heatmap`; the languages tell a screen reader which voice to use.
    """
    matrix, source, target = checked(weights, source_labels, target_labels)
    if alt is None:
        alt = _heatmap_alt(matrix, source, target, title, quantity, alt_digits)
    return Table(_html_table(matrix, source, target, title, digits, source_lang, target_lang), alt)


def _html_table(
    matrix: np.ndarray,
    source: list[str],
    target: list[str],
    title: str,
    digits: int,
    source_lang: str,
    target_lang: str,
) -> str:
    body = []
    for label, row, fills, inks in zip(target, matrix, *_fills_and_inks(matrix), strict=True):
        largest = row.max()
        cells = [
            _html_cell(number(value, digits), fill, ink, value == largest)
            for value, fill, ink in zip(row, fills, inks, strict=True)
        ]
        body.append(f"<tr>{_html_header('row', target_lang, label)}{''.join(cells)}</tr>")
    head = "".join(_html_header("col", source_lang, label) for label in source)
    caption = f'<caption style="text-align:left">{html.escape(title)}</caption>' if title else ""
    return (
        f'<table style="border-collapse:collapse;background:#fff;color:{INK}">{caption}'
        f"<thead><tr><td></td>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
    )


def _html_header(scope: str, lang: str, label: str) -> str:
    style = f"{CELL};text-align:{'center' if scope == 'col' else 'right'}"
    return f'<th scope="{scope}" lang="{lang}" style="{style}">{html.escape(label)}</th>'


def _html_cell(text: str, fill: str, ink: str, largest: bool) -> str:
    style = f"{CELL};text-align:center;background:{fill};color:{ink}" + (";font-weight:bold" if largest else "")
    return f'<td style="{style}">{text}</td>'


def checked(weights: Any, source: Sequence, target: Sequence) -> tuple[np.ndarray, list[str], list[str]]:
    """The matrix and the labels as they are needed here, after a look at whether they fit each other."""
    matrix = np.asarray(weights.detach().cpu().double() if hasattr(weights, "detach") else weights, dtype=float)
    if matrix.shape != (len(target), len(source)) or matrix.size == 0:
        raise ValueError(
            f"weights have shape {matrix.shape}, but there are {len(target)} target labels and {len(source)} "
            "source labels: rows are the target, columns the source, one or more of each"
        )
    if not np.isfinite(matrix).all():
        raise ValueError("weights hold nan or infinity: look for a row without a real position")
    return matrix, [str(label) for label in source], [str(label) for label in target]


def _heatmap_size(source: Sequence[str], target: Sequence[str]) -> tuple[float, float, Cell]:
    """Inches: width and height of the figure without its title, and its cells."""
    left = max(text_width(label) for label in target) + 0.75
    longest = max(text_width(label) for label in source)
    room = (WIDEST - left - 0.4) / len(source)
    turned = longest + 0.14 > room
    wide = min(room, 0.62 if turned else max(longest + 0.18, 0.62))
    tall = min(0.42, max(0.2, 6.4 / len(target)))
    top = 0.45 + (longest * 0.75 + 0.2 if turned else 0.25)
    width, height = left + wide * len(source) + 0.3, top + max(tall * len(target), 1.1) + 0.4
    return max(width, 3.6), height, (wide, tall, 45.0 if turned else 0.0)


def _heatmap_axes(axes: Axes, source: Sequence[str], target: Sequence[str], cell: Cell) -> None:
    wide, tall, angle = cell
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    size = min(10.5, 72 * tall * 0.72)
    turned = {"rotation": angle, "ha": "left", "rotation_mode": "anchor"} if angle else {}
    axes.set_xticks(range(len(source)), [drawable(label) for label in source], **turned)
    axes.set_yticks(range(len(target)), [drawable(label) for label in target])
    axes.tick_params(axis="x", labelsize=min(10.5, 72 * wide * 0.8), length=0)
    axes.tick_params(axis="y", labelsize=size, length=0)
    axes.set_xticks(np.arange(len(source) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(target) + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=1.6 if min(wide, tall) > 0.25 else 0.6)
    axes.tick_params(which="minor", length=0)
    axes.set_axisbelow(False)
    axes.spines[:].set_visible(False)


def _colour_scale(matrix: np.ndarray) -> Any:
    """Maps a value to a colour: from 0 to 1 (or the largest), or symmetric around 0 if one is negative."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    top = float(np.abs(matrix).max())
    signed = matrix.min() < 0
    scale = Normalize(-top if signed else 0, top if signed else max(1.0, top))
    return ScalarMappable(scale, LinearSegmentedColormap.from_list("course", BOTH_SIGNS if signed else BLUES))


def _fills_and_inks(matrix: np.ndarray) -> tuple[list[list[str]], list[list[str]]]:
    """The colour of each cell, and white or black for the text on it, whichever has more contrast (WCAG 2)."""
    parts = _colour_scale(matrix).to_rgba(matrix)[..., :3]  # (T, S, 3)
    linear = np.where(parts <= 0.03928, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    light = 0.05 + linear @ (0.2126, 0.7152, 0.0722)  # (T, S)
    codes = np.rint(parts * 255).astype(int) @ (1 << 16, 1 << 8, 1)
    fills = [[f"#{code:06x}" for code in row] for row in codes.tolist()]
    return fills, np.where(1.05 / light > light / 0.05, "#FFFFFF", "#000000").tolist()


def number(value: float, digits: int = 2) -> str:
    """A number with a real minus sign, and never −0.00."""
    text = f"{value:.{digits}f}"
    return text.replace("-", "−") if float(text) else text.lstrip("-")


def _write_values(axes: Axes, matrix: np.ndarray, digits: int) -> None:
    largest, (_, inks) = matrix.max(axis=1), _fills_and_inks(matrix)
    for (t, s), value in np.ndenumerate(matrix):
        ink, weight = inks[t][s], "bold" if value == largest[t] else "normal"
        # The Devanagari font has no bold, and numbers do not need it.
        font = {"family": "DejaVu Sans", "fontsize": 9, "color": ink, "weight": weight}
        axes.text(s, t, number(value, digits), ha="center", va="center", **font)


def _dot_largest(axes: Axes, matrix: np.ndarray) -> None:
    _, inks = _fills_and_inks(matrix)
    for t, row in enumerate(matrix):
        for s in np.flatnonzero(row == row.max()):
            axes.plot(s, t, "o", markersize=3, color=inks[t][s])


def _outline(axes: Axes, mark: Sequence[tuple[int, int]], cell: Cell) -> None:
    from matplotlib.patches import Rectangle

    dx, dy = 0.5 - 0.03 / cell[0], 0.5 - 0.03 / cell[1]
    for s, t in mark:
        box = Rectangle((s - dx, t - dy), 2 * dx, 2 * dy, fill=False, edgecolor=MARK, linewidth=2, zorder=3)
        axes.add_patch(box)


def _heatmap_alt(
    matrix: np.ndarray,
    source: Sequence[str],
    target: Sequence[str],
    title: str,
    quantity: str,
    digits: int | None,
) -> str:
    rows, columns = matrix.shape
    parts = []
    for label, row in zip(target[:12], matrix, strict=False):
        names = " and ".join(str(source[s]) for s in np.flatnonzero(row == row.max()))
        parts.append(f"{label} → {names}" + (f" ({number(row.max(), digits)})" if digits is not None else ""))
    more = f"; and {rows - 12} more rows" if rows > 12 else ""
    shape = f"{rows} target row{'s' * (rows > 1)} by {columns} source column{'s' * (columns > 1)}"
    return f"{_sentence(title)}Heat map, {shape}. Largest {quantity} of each row: {'; '.join(parts)}{more}."


def _sentence(title: str) -> str:
    return f"{title.rstrip('.')}. " if title else ""


# -------------------------------------------------------------------------------------------- curves and bars


@dataclass
class _Line:
    """One series, ready to draw; `low` and `high` are nan where there is no interval."""

    name: str
    x: list[Any]
    y: np.ndarray
    low: np.ndarray
    high: np.ndarray
    end: float = field(init=False)

    def __post_init__(self) -> None:
        finite = self.y[np.isfinite(self.y)]
        self.end = float(finite[-1]) if finite.size else float("nan")


def _lines(series: Mapping[str, Any]) -> list[_Line]:
    """Each series is (x, y), (x, y, low, high) or a list of `evaluation.Row`.

    Raises:
        ValueError: no series, an empty one, or parts of different length.
    """
    lines = []
    for name, data in series.items():
        data = list(data)
        if data and hasattr(data[0], "label"):
            data = [[getattr(row, part) for row in data] for part in ("label", "mean", "low", "high")]
        if len(data) not in (2, 4) or len({len(part) for part in data}) != 1 or len(data[0]) == 0:
            raise ValueError(f"series {name!r}: give (x, y) or (x, y, low, high), all of one length, not empty")
        x, (y, *interval) = list(data[0]), [np.asarray(part, dtype=float) for part in data[1:]]
        low, high = interval or (np.full(len(y), np.nan), np.full(len(y), np.nan))
        lines.append(_Line(name, x, y, low, high))
    if not 0 < len(lines) <= len(COLOURS):
        raise ValueError(f"there are {len(lines)} series: give 1 to {len(COLOURS)}, more cannot be told apart")
    return lines


def _groups(lines: Sequence[_Line]) -> list[str]:
    """All labels on the x axis, in order of first appearance."""
    return list(dict.fromkeys(label for line in lines for label in line.x))


def curves(
    series: Mapping[str, Any],
    xlabel: str,
    ylabel: str,
    title: str = "",
    *,
    percent: bool = False,
    ylim: tuple[float, float] | None = None,
    logx: bool = False,
    logy: bool = False,
    alt: str | None = None,
    alt_digits: int | None = None,
) -> Picture:
    """Draw one line for each series, with its interval; each has its own colour, marker and dash.

    Args:
        series: name → (x, y), (x, y, low, high), or rows of `evaluation.by_length`; x may be labels.
        percent: write y values from 0 to 1 as per cent.
        alt: your own text alternative. alt_digits: state end values in the default one, with so many digits.
    """
    lines = _lines(series)
    named = isinstance(lines[0].x[0], str)
    with course_style():
        figure, axes = new_figure(8.4, 4.2)
        groups = _groups(lines) if named else []
        for rank, line in enumerate(lines):
            shift = 0.05 * (rank - (len(lines) - 1) / 2) if named else 0.0
            x = [groups.index(label) + shift for label in line.x] if named else line.x
            _draw_line(axes, x, line, rank)
        axes.set(xscale="log" if logx and not named else "linear", yscale="log" if logy else "linear")
        _plain_numbers(axes, axes.yaxis if percent else None)
        axes.set(xlabel=drawable(xlabel), ylabel=drawable(ylabel), ylim=ylim)
        if named:
            axes.set_xticks(range(len(groups)), [drawable(label) for label in groups])
        entitle(figure, title)
        axes.grid(axis="y")
        axes.tick_params(length=3)
        _legend(figure, axes, sorted(range(len(lines)), key=lambda k: -lines[k].end))
    return Picture(figure, alt if alt is not None else _curves_alt(lines, xlabel, ylabel, title, percent, alt_digits))


def _draw_line(axes: Axes, x: Sequence[float], line: _Line, rank: int) -> None:
    colour, few = COLOURS[rank], len(x) <= 12
    style = {"color": colour, "marker": MARKERS[rank], "linestyle": DASHES[rank], "linewidth": 1.9}
    # Many points: a marker here and there, at different places for each line.
    every = None if few else (rank * len(x) // 60, max(1, len(x) // 8))
    axes.plot(x, line.y, label=drawable(line.name), markersize=6, markevery=every, markeredgecolor="white", **style)
    if np.isnan(line.low).all():
        return
    if few:
        whiskers = np.maximum([line.y - line.low, line.high - line.y], 0)
        axes.errorbar(x, line.y, whiskers, fmt="none", ecolor=colour, elinewidth=1.2, capsize=3, alpha=0.8)
    else:
        axes.fill_between(x, line.low, line.high, color=colour, alpha=0.15, linewidth=0)


def _plain_numbers(axes: Axes, share: Any = None) -> None:
    """Write 200 and not 2 × 10² at the ticks of a logarithmic axis, and per cent on the axis `share`."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for axis in (axes.xaxis, axes.yaxis):
        if axis.get_scale() == "log":
            axis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=9))
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axis.set_minor_formatter(NullFormatter())
    if share is not None:
        share.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0%}"))


def _legend(figure: Figure, axes: Axes, order: Sequence[int]) -> None:
    """Names at the right in the given order; long names below the axes."""
    if len(order) == 1:
        return
    handles, labels = axes.get_legend_handles_labels()
    handles, labels = [handles[k] for k in order], [labels[k] for k in order]
    if max(map(len, labels)) <= 22:
        axes.legend(handles, labels, loc="upper left", bbox_to_anchor=(1.01, 1.02), handlelength=3.2)
    else:
        figure.legend(handles, labels, loc="outside lower center", ncols=2, handlelength=3.2)


def _curves_alt(
    lines: Sequence[_Line], xlabel: str, ylabel: str, title: str, percent: bool, digits: int | None
) -> str:
    shape = f"{len(lines)} line{'s' * (len(lines) > 1)}: {'; '.join(line.name for line in lines)}"
    ends = [(line.name, line.end) for line in lines if np.isfinite(line.end)]
    last = f" At the right end: {_ranking(ends, percent, digits)}." if ends else ""
    return f"{_sentence(title)}Line chart of {ylabel} against {xlabel}, {shape}.{last}"


def _ranking(values: Sequence[tuple[str, float]], percent: bool, digits: int | None) -> str:
    """Which name is highest and which lowest; where digits are asked for, every name with its value."""
    ranked = sorted(values, key=lambda item: -item[1])
    if digits is None:
        top, bottom = ranked[0][1], ranked[-1][1]
        if top == bottom:
            return "all equal" if len(ranked) > 1 else f"{ranked[0][0]} alone"
        highest, lowest = ([name for name, value in ranked if value == wanted] for wanted in (top, bottom))
        return f"highest {' and '.join(highest)}; lowest {' and '.join(lowest)}"
    if percent:
        return "; ".join(f"{name} {number(100 * value, digits)}%" for name, value in ranked)
    return "; ".join(f"{name} {number(value, digits)}" for name, value in ranked)


def bars(
    series: Mapping[str, Any],
    xlabel: str,
    title: str = "",
    *,
    percent: bool = False,
    digits: int = 2,
    xlim: tuple[float, float] | None = None,
    alt: str | None = None,
    alt_digits: int | None = None,
) -> Picture:
    """Draw horizontal bars: a group for each label, a bar in it for each series, with intervals and values.

    Args:
        series: name → (labels, values), (labels, values, low, high), or rows of `evaluation.by_tag`.
        percent, alt, alt_digits: as for `curves`. digits: of the value written at a bar.
    """
    lines = _lines(series)
    groups = _groups(lines)
    tall = 0.8 / len(lines)  # of the distance between two groups
    kind = f".{max(0, digits - 2)}%" if percent else f".{digits}f"
    with course_style():
        figure, axes = new_figure(8.4, 1.1 + len(groups) * (0.14 + 0.18 * len(lines)))
        for rank, line in enumerate(lines):
            at = np.array([groups.index(label) for label in line.x]) + tall * (rank - (len(lines) - 1) / 2)
            _draw_bars(axes, at, line, rank, 0.9 * tall, kind)
        axes.set_yticks(range(len(groups)), [drawable(label) for label in groups])
        axes.set(xlabel=drawable(xlabel), xlim=xlim, ylim=(len(groups) - 0.45, -0.55))
        _plain_numbers(axes, axes.xaxis if percent else None)
        entitle(figure, title)
        axes.grid(axis="x")
        axes.tick_params(axis="y", length=0)
        _legend(figure, axes, range(len(lines)))
    return Picture(figure, alt if alt is not None else _bars_alt(lines, groups, xlabel, title, percent, alt_digits))


def _draw_bars(axes: Axes, at: np.ndarray, line: _Line, rank: int, thickness: float, kind: str) -> None:
    style = {"color": COLOURS[rank], "hatch": HATCHES[rank], "edgecolor": "white", "linewidth": 0}
    axes.barh(at, line.y, thickness, label=drawable(line.name), **style)
    if not np.isnan(line.low).all():
        whiskers = np.maximum([line.y - line.low, line.high - line.y], 0)
        for colour, width in (("white", 3), (INK, 1.2)):  # a white rim keeps the whisker visible on the bar
            style = {"ecolor": colour, "elinewidth": width, "capthick": width, "capsize": 2 + width / 3}
            axes.errorbar(line.y, at, xerr=whiskers, fmt="none", **style)
    for y, value, high in zip(at, line.y, np.fmax(line.y, line.high), strict=True):
        if np.isfinite(value):
            place = {"xytext": (5, 0), "textcoords": "offset points", "va": "center", "fontsize": 9}
            axes.annotate(f"{value:{kind}}", (high, y), **place)


def _bars_alt(
    lines: Sequence[_Line], groups: Sequence[str], xlabel: str, title: str, percent: bool, digits: int | None
) -> str:
    text = f"{_sentence(title)}Bar chart of {xlabel} for {len(groups)} group{'s' * (len(groups) > 1)}."
    for line in lines:
        known = [(str(label), float(y)) for label, y in zip(line.x, line.y, strict=True) if np.isfinite(y)]
        if known:
            text += f" {line.name}: {_ranking(known, percent, digits)}."
    return text
