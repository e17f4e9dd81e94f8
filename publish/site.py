"""Build the course as a static web site: `python3 run.py site`, into build/site.

The pages are the executed notebooks as they are stored, README.md and docs/*.md, through Sphinx with MyST-NB.
Nothing is fetched from elsewhere when a page is read: formulas are MathML, the font for Hindi is served along, and
search is a file of the site.
"""

from __future__ import annotations

import argparse
import html
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from lib.exercise_files import load, paths
from notebooks import build
from publish import online
from publish.deliver import InTheWay, deliver
from publish.mathml import formulas_in
from publish.web_font import web_font

ROOT = Path(__file__).resolve().parent.parent
THEME = Path(__file__).resolve().parent / "site_theme"
DOCS = ("LICENSE", "CITATION.cff", "CONTRIBUTING.md", "requirements.txt", "environment.yml")
WORD = "[\u0900-\u097f][\u0900-\u097f\u200c\u200d]*"
HINDI = re.compile(f"{WORD}(?:[ ,]+{WORD})*")
BADGE = re.compile(r"!\[([^\]]*)\]\(https?://[^)]*\)")  # a picture on another host


def lay_out(folder: Path, repository: str | None = None) -> None:
    """Put everything that Sphinx reads into `folder`."""
    for name in ("docs", "data"):
        (folder / name).mkdir()
    for path in [*(ROOT / "docs").glob("*"), *(ROOT / "data").glob("README.md")]:
        if path.is_file():
            shutil.copy2(path, folder / path.relative_to(ROOT))
    for name in DOCS:
        shutil.copy2(ROOT / name, folder / name)
    stored = [path for path in build.stored() if path.parent == build.HERE]
    translated = [path for path in build.stored() if path.parent != build.HERE]
    for path in build.stored():
        name = path.relative_to(build.HERE)
        for place in ("notebooks", "files"):
            (folder / place / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, folder / "files" / name)
        nbformat.write(page(path, repository), folder / "notebooks" / name)
    (folder / "index.md").write_text(index(stored, translated), encoding="utf-8")
    (folder / "exercises.md").write_text(exercises(stored), encoding="utf-8")
    (folder / "credits.md").write_text(credits_page(), encoding="utf-8")
    shutil.copy2(THEME / "conf.py", folder)
    shutil.copytree(THEME / "templates", folder / "_templates")
    shutil.copytree(THEME / "fonts", folder / "_static")
    for name in ("course.css", "course.js", "icon.svg"):
        shutil.copy2(THEME / name, folder / "_static")
    web_font(folder / "_static")


def index(stored: Sequence[Path], translated: Sequence[Path]) -> str:
    """README.md, with the tables of contents that make the navigation."""
    docs = sorted(path.stem for path in (ROOT / "docs").glob("*.md"))
    parts = [
        ("The notebooks", [f"notebooks/{build.name_of(path)}" for path in stored]),
        ("हिन्दी", [f"notebooks/{build.name_of(path)}" for path in translated]),
        ("More", ["exercises", *(f"docs/{stem}" for stem in docs), "data/README", "CONTRIBUTING", "credits"]),
    ]
    trees = (
        f"```{{toctree}}\n:hidden:\n:caption: {title}\n\n" + "\n".join(pages) + "\n```" for title, pages in parts
    )
    return "\n\n".join([(ROOT / "README.md").read_text(encoding="utf-8"), *trees]) + "\n"


def page(path: Path, repository: str | None = None) -> NotebookNode:
    """A stored notebook, its outputs made ready for a page without a kernel."""
    notebook = nbformat.read(path, 4)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = BADGE.sub(r"\1", cell.source)  # its words stay
        for output in cell.get("outputs", []):
            found = output.get("data", {}).get("text/html")
            if found:
                numbers = output.get("metadata", {}).get("table")
                fold = '<details class="numbers"><summary>The numbers as a table</summary>'
                table = f"{fold}{numbers}</details>" if numbers else ""
                output.data["text/html"] = formulas_in(found) + table
    name = path.relative_to(build.HERE)
    file = "../" * len(name.parts) + f"files/{name.as_posix()}"
    link = f"{{download}}`Download this notebook <{file}>` to run it: the page *Start* says how."
    if repository:
        there = repository, f"notebooks/{name.as_posix()}"
        link += f" Or run it on [Colab]({online.colab(*there)}) or [Binder]({online.binder(*there)})."
    notebook.cells.append(new_markdown_cell(link))
    return notebook


def exercises(stored: Sequence[Path]) -> str:
    """A page with every exercise and bug lab, and where it stands."""
    lines = [
        "# Exercises",
        "",
        "Each of these is a function that you write; `check` tries it on many shapes, and names the mistake where it",
        "knows it. The text, the hints and the check are in the notebook.",
        "",
        "| exercise | difficulty | minutes |",
        "|---|---|---|",
    ]
    places = dict(places_of(stored))
    for number, path in paths().items():
        exercise = load(path)
        name = f"Bug lab of notebook {exercise.notebook}" if exercise.is_lab else number
        link = f"[{name} · {exercise.title}]({places[number]})"
        lines.append(f"| {link} | {exercise.difficulty} | {exercise.minutes} |")
    return "\n".join(lines) + "\n"


def places_of(stored: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """The number of each exercise, and a link to its heading."""
    for path in stored:
        text = "\n".join(cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "markdown")
        for heading in re.findall(r"(?m)^##+ (Exercise \d.*|Bug lab.*)$", text):
            number = heading.split()[1] if heading.startswith("Exercise") else f"{int(path.name[:2])}.bug"
            yield number, f"notebooks/{path.name}#{slug(heading)}"


def slug(heading: str) -> str:
    """What a heading is called in an address, as MyST and GitHub have it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def credits_page() -> str:
    """Licences, and what the site is made with."""
    return f"""# Licences and credits

How to cite the course: [CITATION.cff](CITATION.cff). Its licence:

```text
{(ROOT / "LICENSE").read_text(encoding="utf-8")}```

## What the site is made with

- Sphinx (BSD), MyST-NB (BSD) and the theme Furo (MIT).
- Hindi is set in Noto Sans Devanagari
  (<a href="_static/NotoSansDevanagari-LICENSE.txt">licence</a>), formulas in STIX Two Math
  (<a href="_static/STIXTwoMath-LICENSE.txt">licence</a>). Both
  fonts are under the SIL Open Font License 1.1, and served cut down to what is needed here.
- Formulas are MathML, made by latex2mathml (MIT). No script, font or picture comes from another host.

The notebooks do not run in this site. Notebook 02 would need NumPy and matplotlib built for a browser's Python. It
was tried: JupyterLite and the bare Pyodide install from PyPI and npm, but those builds are in neither; Pyodide loads
them from its own host when a page is read. A site that fetches nothing, built from packages, cannot have them. Each
page has its notebook to download, and links to Colab and Binder where the site was built with `--repository`.
"""


def site(out: Path, repository: str | None = None) -> int:
    """Build the site into `out`. Any warning of Sphinx makes the exit code 1, and the site that was there stays.

    With a repository on GitHub every page links to its notebook on Colab and Binder.

    Raises:
        InTheWay: `out` holds a file of somebody else where one of the site has to go.
    """
    from sphinx.cmd.build import build_main

    with tempfile.TemporaryDirectory(prefix="course-site-") as name:
        folder, built = Path(name, "source"), Path(name, "site")
        folder.mkdir()
        lay_out(folder, repository)
        cache = str(Path(name, "doctrees"))
        code = build_main(["-q", "-W", "--keep-going", "-b", "html", "-d", cache, str(folder), str(built)])
        if code == 0:
            (built / ".buildinfo").unlink(missing_ok=True)
            deliver(built, out)
    return code


def finish(app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Sphinx, before it writes a page: wide tables scroll by themselves, and Hindi is marked as Hindi."""
    from bs4 import BeautifulSoup

    body = BeautifulSoup(context.get("body") or "", "html.parser")
    for table in body.find_all("table"):
        if not table.find_parent(class_=["table-wrapper", "lk"]):
            table.wrap(body.new_tag("div", attrs={"class": "table-wrapper"}))
    for text in body.find_all(string=HINDI):
        around = text.find_parent(attrs={"lang": True})
        if text.parent.name not in ("script", "style", "text") and not (around and around["lang"] == "hi"):
            marked = HINDI.sub(r'<span lang="hi">\g<0></span>', html.escape(text, quote=False))
            text.replace_with(BeautifulSoup(marked, "html.parser"))
    context["body"] = str(body)


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the site and say where it is."""
    parser = argparse.ArgumentParser(prog="run.py site", description="Build the course as a static web site.")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "site", help="default: build/site")
    where = (
        "OWNER/NAME on GitHub, where the student version lies: every page links to its notebook on Colab and Binder"
    )
    parser.add_argument("--repository", type=online.repository, help=where)
    told = parser.parse_args(arguments)
    out, begin = told.out.resolve(), time.perf_counter()
    try:
        code = site(out, told.repository)
    except (OSError, InTheWay) as error:
        print(f"No site was made: {error}", file=sys.stderr)
        return 1
    if code == 0:
        print(f"{out / 'index.html'}: the site, {time.perf_counter() - begin:.0f} s")
    return code


if __name__ == "__main__":
    sys.exit(main())
