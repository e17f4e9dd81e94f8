"""Slides for a lesson, from the stored notebooks: `python3 run.py slides`, one file each, into build/slides.

Every heading begins a slide, and every **Predict.** ends one, so that the answer is not yet to be seen; what does not
fit goes on to the next. Code is folded. A file needs nothing beside it: open it in any browser, without a
connection. Arrow keys or the buttons turn the page, and a print has one slide a sheet.
"""

from __future__ import annotations

import argparse
import base64
import html
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from lib.question_text import to_html
from notebooks import build
from publish.deliver import InTheWay, deliver
from publish.mathml import formulas_in

ROOT = Path(__file__).resolve().parent.parent
ROOM = 17  # lines of text that a slide has room for
LETTERS = 85  # letters in a line
PICTURE = 11  # lines that a picture takes beside text; alone it is larger
FEW = 8  # lines that leave so much room that they are set larger
WIDEST = 104  # letters of code in a line; longer ones make all of the block smaller
# The words around the slides, by language.
WORDS = {
    "en": {
        "continued": "continued",
        "slides": "Slides",
        "slide": "Slide",
        "code": "Code",
        "back": "back",
        "on": "on",
    },
    "hi": {"continued": "जारी", "slides": "स्लाइडें", "slide": "स्लाइड", "code": "कोड", "back": "पीछे", "on": "आगे"},
}
STYLE = """
@font-face { font-family: "Course Devanagari"; src: url(data:font/woff2;base64,FONT) format("woff2");
  font-weight: 100 900; unicode-range: U+0900-097F, U+200C-200D, U+25CC; }
* { box-sizing: border-box; }
body { margin: 0; background: #fff; color: #1b2733; font: 22px/1.35 "Course Devanagari", system-ui, sans-serif; }
main > section { display: none; height: calc(100vh - 3rem); padding: 1.4rem 4rem 0; overflow: auto; }
main > section.shown { display: block; }
h1, h2, h3 { color: #0b3c6f; margin: 0 0 0.6rem; line-height: 1.2; }
pre, code { font-family: "Course Devanagari", ui-monospace, Menlo, Consolas, monospace; font-size: 0.8em; }
pre { margin: 0.4rem 0; padding: 0.5rem 0.8rem; background: #f3f6f9; overflow-x: auto; }
img { max-width: 100%; max-height: 46vh; width: auto !important; height: auto; }
.alone img { height: 62vh; max-height: 62vh; object-fit: contain; object-position: left; }
.few { font-size: 28px; }
svg text, .lk { font-family: "Course Devanagari", system-ui, sans-serif !important; }
table { border-collapse: collapse; } td, th { padding: 0.15rem 0.6rem; border-bottom: 1px solid #b8c4cf; }
p, ul, ol { margin: 0.4rem 0; }
nav { position: fixed; bottom: 0; left: 0; right: 0; height: 3rem; padding: 0.3rem 4rem; background: #f3f6f9; }
button { font: inherit; min-width: 3rem; }
@media print { nav { display: none; } main > section { display: block; height: auto; break-after: page; }
  details > *:not(summary) { display: block; } }
"""
SCRIPT = """
const slides = [...document.querySelectorAll("main > section")];
let now = 0;
function show(number) {
  now = Math.max(0, Math.min(slides.length - 1, number));
  slides.forEach((slide, place) => slide.classList.toggle("shown", place === now));
  document.getElementById("place").textContent = `${now + 1} / ${slides.length}`;
  history.replaceState(null, "", `#${now + 1}`);
}
document.getElementById("back").onclick = () => show(now - 1);
document.getElementById("on").onclick = () => show(now + 1);
addEventListener("keydown", event => {
  const turn = {ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1}[event.key];
  if (turn) { show(now + turn); event.preventDefault(); }
  if (event.key === "Home") show(0);
  if (event.key === "End") show(slides.length - 1);
});
show((parseInt(location.hash.slice(1)) || 1) - 1);
"""


@dataclass
class Slide:
    """A heading, and blocks of HTML below it; `lines`: the room that they take."""

    title: str
    level: int
    blocks: list[str] = field(default_factory=list)
    lines: float = 2.0

    def kind(self) -> str:
        """How it is set: larger where there is room."""
        pictures = sum("<img" in block or "<svg" in block for block in self.blocks)
        if pictures:
            return "alone" if pictures == 1 and self.lines <= PICTURE + 4 and len(self.blocks) <= 2 else ""
        return "few" if self.lines <= FEW else ""


def slides(notebook: NotebookNode, words: dict[str, str]) -> list[Slide]:
    """Cut a notebook into slides."""
    found: list[Slide] = []
    full = False
    for kind, content, lines in pieces(notebook, words):
        if kind.startswith("h"):
            found.append(Slide(content, int(kind[1])))
            full = False
            continue
        last = found[-1]
        if last.blocks and (full or last.lines + lines > ROOM):
            last = Slide(last.title.removesuffix(f" · {words['continued']}") + f" · {words['continued']}", last.level)
            found.append(last)
        last.blocks.append(content)
        last.lines += lines
        full = kind == "predict"  # what follows a prediction is on the next slide
    return [slide for slide in found if slide.blocks or slide.level == 1]


def pieces(notebook: NotebookNode, words: dict[str, str]) -> Iterator[tuple[str, str, float]]:
    """The headings and blocks of a notebook in order: kind, HTML, lines. The recall questions are left out."""
    asking = False
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for block in re.split(
                r"\n\s*\n(?!- )|(?<=[^\n]{200})\n\s*\n", cell.source
            ):  # a list stays with its words
                heading = re.match(r"(#{1,3}) (.+)", block)
                if heading:
                    asking = "recall-place" in cell.metadata.get("tags", [])
                    if not asking:
                        yield f"h{len(heading[1])}", heading[2], 0.0
                    block = block[heading.end() :].strip()
                if block and not asking:
                    kind = "predict" if re.search(r"\*\*(Predict|अनुमान)", block) else "text"
                    yield kind, formulas_in(to_html(block)), room(block)
        elif not asking:
            code = html.escape(cell.source)
            yield "code", f"<details><summary>{words['code']}</summary><pre tabindex='0'>{code}</pre></details>", 1.4
            for output in cell.outputs:
                yield from shown(output)


def room(text: str) -> float:
    """The lines that a block of Markdown takes on a slide."""
    lines = text.splitlines()
    if any(line.startswith(("|", "- ", "1. ")) for line in lines):
        return sum(1 + len(line) // LETTERS for line in lines) * 1.2
    return 1.4 + len(" ".join(lines)) / LETTERS


def shown(output: NotebookNode) -> Iterator[tuple[str, str, float]]:
    """An output as HTML; long text is cut into parts of a slide each."""
    data = output.get("data", {})
    if "Answer: attempt it first" in data.get("text/html", ""):
        return  # recall questions are for one learner, not for a wall
    if "text/html" in data:
        lines = PICTURE if re.search("<img|<svg", data["text/html"]) else 2 + data["text/html"].count("<tr")
        yield "output", formulas_in(data["text/html"]), lines
    else:
        text = (output.get("text") or data.get("text/plain", "")).rstrip().splitlines()
        for begin in range(0, len(text), ROOM - 4):
            part = text[begin : begin + ROOM - 4]
            size = min(1.0, WIDEST / max(map(len, part), default=1))
            style = f" style='font-size: {0.8 * size:.2f}em'" if size < 1 else ""
            content = f"<pre tabindex='0'{style}>{html.escape(chr(10).join(part))}</pre>"
            yield "output", content, 1 + 0.95 * size * len(part)


def page(path: Path, font: str) -> str:
    """The slides of a stored notebook as one HTML file."""
    language = "en" if path.parent == build.HERE else path.parent.name
    words = WORDS[language]
    found = slides(nbformat.read(path, 4), words)
    parts = []
    for number, slide in enumerate(found, start=1):
        level = min(slide.level, 2)
        text = re.sub(r"^(\d+)\.", r"\1\\.", slide.title)  # "2. Score" is no list
        title = re.sub(r"</?p>", "", formulas_in(to_html(text))).strip()
        body = re.sub(r'(href="[^":#]+)\.ipynb"', r'\1.html"', "\n".join(slide.blocks))  # to its slides
        label = f"{words['slide']} {number}"
        opening = f'<section class="{slide.kind()}" tabindex="0" aria-label="{label}">'
        parts.append(f"{opening}<h{level}>{title}</h{level}>\n{body}</section>")
    body = "\n".join(parts)
    return f"""<!doctype html>
<html lang="{language}"><head><meta charset="utf-8"><title>{html.escape(found[0].title)}</title>
<meta name="viewport" content="width=device-width"><style>{STYLE.replace("FONT", font)}</style></head><body><main>
{body}
</main><nav aria-label="{words["slides"]}">
<button id="back">{words["back"]}</button> <button id="on">{words["on"]}</button>
<span id="place" role="status"></span></nav><script>{SCRIPT}</script></body></html>
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the slides and say where they are."""
    from publish.web_font import web_font

    parser = argparse.ArgumentParser(prog="run.py slides", description="Make slides from the notebooks.")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "slides", help="default: build/slides")
    out = parser.parse_args(arguments).out
    with tempfile.TemporaryDirectory(prefix="course-slides-") as name:
        font = base64.b64encode(web_font(Path(name)).read_bytes()).decode()
        for path in build.stored():
            target = Path(name, "slides", f"{build.name_of(path)}.html")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(page(path, font), encoding="utf-8", newline="\n")
        try:
            deliver(Path(name, "slides"), out)
        except (OSError, InTheWay) as error:
            print(f"No slides were made: {error}", file=sys.stderr)
            return 1
    print(f"{out}: slides of {len(build.stored())} notebooks")
    return 0


if __name__ == "__main__":
    sys.exit(main())
