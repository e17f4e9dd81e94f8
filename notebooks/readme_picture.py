"""The picture in README.md: two figures of the stored notebooks beside each other. `run.py build` makes it again."""

from __future__ import annotations

import base64
from io import BytesIO
from pathlib import Path

import nbformat
from PIL import Image

HERE = Path(__file__).resolve().parent
PICTURE = HERE.parent / "docs" / "what_you_will_see.png"
# A notebook, and words of the cell that draws the figure.
FIGURES = (("01_bottleneck", 'title="One vector against attention"'), ("04_full_training", "for the seed sentence"))
WIDTH, GAP = 1430, 30  # pixels


def figure(stem: str, words: str) -> Image.Image:
    """The figure of one cell of a stored notebook."""
    cells = nbformat.read(HERE / f"{stem}.ipynb", 4).cells
    (output,) = (output for cell in cells if words in cell.source for output in cell.get("outputs", []))
    return Image.open(BytesIO(base64.b64decode(output.data["image/png"]))).convert("RGB")


def compose() -> Image.Image:
    """Both figures at one height, on white."""
    figures = [figure(*which) for which in FIGURES]
    height = round((WIDTH - GAP) / sum(one.width / one.height for one in figures))
    scaled = [
        one.resize((round(height * one.width / one.height), height), Image.Resampling.LANCZOS) for one in figures
    ]
    whole = Image.new("RGB", (WIDTH, height), "white")
    whole.paste(scaled[0], (0, 0))
    whole.paste(scaled[1], (WIDTH - scaled[1].width, 0))
    return whole


def write() -> None:
    """Write it; 256 colours are enough."""
    fewer = {"method": Image.Quantize.MAXCOVERAGE, "kmeans": 1, "dither": Image.Dither.NONE}
    compose().quantize(256, **fewer).save(PICTURE, optimize=True)
