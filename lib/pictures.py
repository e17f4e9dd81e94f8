"""What a cell of the course shows: a `Picture` or a `Table`, each with a text that says what it shows.

Hindi is drawn with a font that comes as a package, so none has to be installed; a letter that no font here has
(漢, 🙂) becomes a framed placeholder.
"""

from __future__ import annotations

import base64
import html
import textwrap
import unicodedata
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, QUIET = "#1B2733", "#5A6673"
PIXELS = 160  # an inch of picture, twice what most screens need, so that it stays sharp when enlarged
SYSTEM_FONTS = ("Nirmala UI", "Kohinoor Devanagari", "Mangal", "Lohit Devanagari", "Annapurna SIL")


# --------------------------------------------------------------------------------------------- text and fonts


def _table(letters: str, latin: str) -> dict[str, str]:
    return dict(zip(letters, latin.split(), strict=True))


_LATIN = "k kh g gh ṅ c ch j jh ñ ṭ ṭh ḍ ḍh ṇ t th d dh n p ph b bh m y r l ḷ v ś ṣ s h"
_CONSONANTS = _table("कखगघङचछजझञटठडढणतथदधनपफबभमयरलळवशषसह", _LATIN)
_WITH_NUKTA = _table("कखगजडढफयनरळ", "q k͟h ġ z ṛ ṛh f ẏ ṉ ṟ ḻ")
_VOWELS = _table("अआइईउऊऋएऐओऔऍऑ", "a ā i ī u ū r̥ ē ai ō au ê ô")
_SIGNS = _table("ािीुूृेैोौॅॉ", "ā i ī u ū r̥ ē ai ō au ê ô")
_OTHERS = {"ं": "ṁ", "ँ": "m̐", "ः": "ḥ", "ऽ": "’", "।": ".", "॥": "..", "ॐ": "ōṁ", "़": "", "्": ""}
_OTHERS |= {chr(0x966 + digit): str(digit) for digit in range(10)} | {"\u200c": "", "\u200d": ""}


def transliterate(text: str) -> str:
    """Devanagari in Latin letters, after ISO 15919; everything else stays. किताब → kitāba, क्ष → kṣa.

    Letter by letter, not by sound: a consonant without a vowel sign or virama keeps its a, even where a
    speaker drops it.
    """
    letters, result, i = unicodedata.normalize("NFD", text), [], 0
    while i < len(letters):
        letter, i = letters[i], i + 1
        if letter not in _CONSONANTS:
            result.append(_VOWELS.get(letter) or _SIGNS.get(letter) or _OTHERS.get(letter, letter))
            continue
        nukta = letters[i : i + 1] == "़"
        result.append(_WITH_NUKTA.get(letter, _CONSONANTS[letter]) if nukta else _CONSONANTS[letter])
        i += nukta
        if letters[i : i + 1] not in (*_SIGNS, "्"):
            result.append("a")
        i += letters[i : i + 1] == "्"
    return unicodedata.normalize("NFC", "".join(result))


@cache
def devanagari_font() -> str | None:
    """The family that draws Devanagari: the one of the font package, else one of the system, else None.

    None as well where matplotlib cannot shape: vowel signs would stand on the wrong side. Labels are then
    transliterated; characters are never reordered by hand.
    """
    import matplotlib.ft2font
    from matplotlib.font_manager import fontManager

    if getattr(matplotlib.ft2font, "__libraqm_version__", None) is None:
        return None
    try:
        import fontpkg_noto_sans_devanagari as package
    except ImportError:
        installed = {entry.name for entry in fontManager.ttflist}
        return next((name for name in ("Noto Sans Devanagari", *SYSTEM_FONTS) if name in installed), None)
    path = str(next((Path(package.ROOT) / "files").glob("*.ttf")))
    fontManager.addfont(path)
    # In front of any font of the same name on this machine: pictures are the same everywhere.
    fontManager.ttflist.sort(key=lambda entry: entry.fname != path)
    return next(entry.name for entry in fontManager.ttflist if entry.fname == path)


def drawable(label: Any) -> str:
    """A label as it can be drawn here."""
    return str(label) if devanagari_font() else transliterate(str(label))


def _style() -> dict[str, Any]:
    font = devanagari_font()
    return {
        "font.family": ["DejaVu Sans", font] if font else ["DejaVu Sans"],
        "font.size": 10.5,
        "text.color": INK,
        "text.parse_math": False,  # "$" and "^" in a label are characters, not formulas
        "axes.edgecolor": "#9AA5B1",
        "axes.labelcolor": QUIET,
        "axes.titlelocation": "left",
        "axes.titlesize": 13,
        "figure.titlesize": 13,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "grid.color": "#E4E9EE",
        "xtick.color": QUIET,
        "ytick.color": QUIET,
        "xtick.labelcolor": INK,
        "ytick.labelcolor": INK,
        "hatch.linewidth": 0.8,
        "legend.frameon": False,
        "figure.facecolor": "white",
        "savefig.facecolor": "white",
    }


def use_course_style() -> None:
    """Let your own matplotlib figures look like those of the course, Hindi included."""
    import matplotlib

    matplotlib.rcParams.update(_style())


@contextmanager
def course_style() -> Iterator[None]:
    import matplotlib

    with matplotlib.rc_context(_style()), warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font")  # drawn as a placeholder
        yield


# ------------------------------------------------------------------------------------------- what is returned


@dataclass
class Picture:
    """A matplotlib figure with the text that stands in for it. Shows itself in a notebook.

    `table`: the same numbers as an HTML table, or "". A notebook keeps it beside the picture, for the web site.
    """

    figure: Figure
    alt: str
    table: str = ""

    @cached_property
    def png(self) -> bytes:
        """The picture as a PNG file, drawn once. 256 colours are enough, and a third of the size."""
        from PIL import Image

        drawn, file = BytesIO(), BytesIO()
        with course_style():
            self.figure.savefig(drawn, format="png", dpi=PIXELS)
        fewer = {"method": Image.Quantize.MAXCOVERAGE, "kmeans": 1, "dither": Image.Dither.NONE}
        image = Image.open(drawn).convert("RGB").quantize(256, **fewer)
        image.save(file, format="png", optimize=True)
        return file.getvalue()

    def save(self, path: str | Path) -> None:
        """Write the picture to `path`; the ending (.png, .svg, .pdf) decides the format."""
        with course_style():
            self.figure.savefig(path, dpi=PIXELS)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict[str, str], dict[str, str]]:
        data = base64.b64encode(self.png).decode("ascii")
        width = round(96 * self.figure.get_figwidth())
        image = f'<img alt="{html.escape(self.alt)}" width="{width}" style="max-width:100%;height:auto" '
        bundle = {
            "text/html": f'{image}src="data:image/png;base64,{data}">',
            "image/png": data,
            "text/plain": self.alt,
        }
        return bundle, {"table": self.table} if self.table else {}

    def __repr__(self) -> str:
        return self.alt


@dataclass
class Table:
    """An HTML table with the text that stands in for it. Shows itself in a notebook."""

    html: str
    alt: str

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self.html, "text/plain": self.alt}

    def __repr__(self) -> str:
        return self.alt


def new_figure(width: float, height: float) -> tuple[Figure, Axes]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")  # not pyplot's: nothing is shown twice or leaks
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


@cache
def text_width(text: str) -> float:
    """Inches that the text takes up as a label."""
    figure, axes = new_figure(1, 1)
    extent = axes.text(0, 0, drawable(text)).get_window_extent(figure.canvas.get_renderer())
    return extent.width / figure.dpi


def entitle(figure: Figure, title: str) -> None:
    """A title over the whole width, at the left, in as many lines as it needs."""
    if title:
        fitting = int(len(title) * (figure.get_figwidth() - 0.2) / max(1.25 * text_width(title), 0.1))
        lines = textwrap.wrap(title, max(fitting, 12))
        figure.set_figheight(figure.get_figheight() + 0.28 * len(lines))
        figure.suptitle("\n".join(map(drawable, lines)), x=0.08 / figure.get_figwidth(), ha="left")
