"""Build the course as a static web site: `python3 run.py site`, into build/site.

The pages are the executed notebooks as they are stored, README.md and docs/*.md, through Sphinx with MyST-NB.
Nothing is fetched from elsewhere when a page is read: formulas are MathML, the font for Hindi is served along, and
search is a file of the site.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from notebooks import build
from publish.mathml import formulas_in

ROOT = Path(__file__).resolve().parent.parent
THEME = Path(__file__).resolve().parent / "site_theme"
DOCS = ("LICENSE", "CITATION.cff", "CONTRIBUTING.md", "requirements.txt", "environment.yml")


def lay_out(folder: Path) -> None:
    """Put everything that Sphinx reads into `folder`."""
    for name in ("docs", "data"):
        (folder / name).mkdir()
    for path in [*(ROOT / "docs").glob("*"), *(ROOT / "data").glob("README.md")]:
        if path.is_file():
            shutil.copy2(path, folder / path.relative_to(ROOT))
    for name in DOCS:
        shutil.copy2(ROOT / name, folder / name)
    stored = sorted(build.HERE.glob("0*.ipynb"))
    (folder / "notebooks").mkdir()
    (folder / "files").mkdir()
    for path in stored:
        shutil.copy2(path, folder / "files")
        nbformat.write(page(path), folder / "notebooks" / path.name)
    (folder / "index.md").write_text(index([path.stem for path in stored]), encoding="utf-8")
    shutil.copy2(THEME / "conf.py", folder)
    (folder / "_static").mkdir()
    shutil.copy2(THEME / "course.css", folder / "_static")
    web_font(folder / "_static")


def index(stems: Sequence[str]) -> str:
    """README.md, with the tables of contents that make the navigation."""
    docs = sorted(path.stem for path in (ROOT / "docs").glob("*.md"))
    parts = [
        ("The notebooks", [f"notebooks/{stem}" for stem in stems]),
        ("More", [*(f"docs/{stem}" for stem in docs), "data/README", "CONTRIBUTING"]),
    ]
    trees = (
        f"```{{toctree}}\n:hidden:\n:caption: {title}\n\n" + "\n".join(pages) + "\n```" for title, pages in parts
    )
    return "\n\n".join([(ROOT / "README.md").read_text(encoding="utf-8"), *trees]) + "\n"


def page(path: Path) -> NotebookNode:
    """A stored notebook, its outputs made ready for a page without a kernel."""
    notebook = nbformat.read(path, 4)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            found = output.get("data", {}).get("text/html")
            if found:
                numbers = output.get("metadata", {}).get("table")
                table = f"<details><summary>The numbers as a table</summary>{numbers}</details>" if numbers else ""
                output.data["text/html"] = formulas_in(found) + table
    link = f"{{download}}`Download this notebook <../files/{path.name}>` to run it: the page *Start* says how."
    notebook.cells.append(new_markdown_cell(link))
    return notebook


def web_font(folder: Path) -> None:
    """The font for Hindi with its licence, as the web wants it: every Devanagari letter and ligature, compressed."""
    import fontpkg_noto_sans_devanagari as package
    from fontTools import subset

    (source,) = (Path(package.ROOT) / "files").glob("*.ttf")
    options = subset.Options(flavor="woff2", layout_features=["*"], notdef_outline=True)
    font = subset.load_font(str(source), options)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=[*range(0x0900, 0x0980), *range(0xA8E0, 0xA900), 0x200C, 0x200D, 0x25CC, 0x20])
    cutter.subset(font)
    subset.save_font(font, str(folder / "NotoSansDevanagari.woff2"), options)
    licence = next(Path(package.ROOT).rglob("LICENSE"))
    shutil.copy2(licence, folder / "NotoSansDevanagari-LICENSE.txt")


def site(out: Path) -> int:
    """Build the site into `out`; what was there goes. Any warning of Sphinx makes the exit code 1."""
    from sphinx.cmd.build import build_main

    shutil.rmtree(out, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="course-site-") as name:
        folder = Path(name, "source")
        folder.mkdir()
        lay_out(folder)
        cache = str(Path(name, "doctrees"))
        code = build_main(["-q", "-W", "--keep-going", "-b", "html", "-d", cache, str(folder), str(out)])
    (out / ".buildinfo").unlink(missing_ok=True)
    finish(out)
    return code


def finish(out: Path) -> None:
    """What the theme leaves to do: regions that scroll can be reached with the keyboard."""
    for path in out.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        text = text.replace('<div class="highlight"><pre>', '<div class="highlight"><pre tabindex="0">')
        text = text.replace('<div class="output text_html">', '<div class="output text_html" tabindex="0">')
        text = text.replace(
            '<div class="table-wrapper docutils container">', '<div class="table-wrapper" tabindex="0">'
        )
        path.write_text(text, encoding="utf-8", newline="\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the site and say where it is."""
    parser = argparse.ArgumentParser(prog="run.py site", description="Build the course as a static web site.")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "site", help="default: build/site")
    out = parser.parse_args(arguments).out.resolve()
    begin = time.perf_counter()
    code = site(out)
    if code == 0:
        print(f"{out / 'index.html'}: the site, {time.perf_counter() - begin:.0f} s")
    return code


if __name__ == "__main__":
    sys.exit(main())
