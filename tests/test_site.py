"""The web site: whole, offline, accessible, readable on a telephone."""

from __future__ import annotations

import functools
import http.server
import importlib
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
from browser_lab import AXE, WCAG, chromium, start_or_leave_out
from fontTools.ttLib import TTFont

from notebooks import build

if TYPE_CHECKING:
    from playwright.sync_api import Page

NOTEBOOKS = [f"notebooks/{build.name_of(path)}.html" for path in build.sources()]
PROJECT = Path(__file__).resolve().parent.parent
DOCS = [f"docs/{path.stem}.html" for path in sorted((PROJECT / "docs").glob("*.md"))]
PACKAGES = ("sphinx", "myst_nb", "furo", "latex2mathml", "brotli")
# Places that scroll sideways by themselves and that the Tab key does not reach.
UNREACHED = """() => [...document.querySelectorAll('body *')].filter(box => box.tabIndex < 0
    && box.scrollWidth > box.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(box).overflowX)
    && !box.querySelector('[tabindex="0"], a, button, summary')).map(box => box.outerHTML.slice(0, 200))"""
UNFOLD = "document.querySelectorAll('details').forEach(fold => { fold.open = true; })"
WIDTH = """text => {const span = document.createElement('span'); span.textContent = text;
    span.style.font = '40px "Course Devanagari"'; document.body.append(span);
    const wide = span.getBoundingClientRect().width; span.remove(); return wide}"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    required = os.environ.get("COURSE_PUBLISH") == "required"
    for package in PACKAGES:
        importlib.import_module(package) if required else pytest.importorskip(package)
    out = tmp_path_factory.mktemp("site") / "out"
    command = [sys.executable, "-P", "-m", "publish.site", "--out", str(out)]
    variables = {**os.environ, "PYTHONPATH": str(PROJECT)}
    done = subprocess.run(command, cwd=PROJECT, env=variables, capture_output=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")  # the generator has nothing to warn of
    return out


class Outline(HTMLParser):
    """What a page points to, what can be pointed at, its headings, pictures and open answers."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.ids: set[str] = set()
        self.levels: list[int] = []
        self.alts: list[str | None] = []
        self.open_details = 0
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids |= {given["id"]} if given.get("id") else set()
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag in ("script", "img", "iframe", "source") and given.get("src"):
            self.loads.append(given["src"])
        if tag == "link" and given.get("rel") in ("stylesheet", "preload", "icon", "modulepreload"):
            self.loads.append(given["href"])
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
        if tag == "img":
            self.alts.append(given.get("alt"))
        self.open_details += tag == "details" and "open" in given


def pages(made: Path) -> dict[Path, Outline]:
    return {path: Outline(path) for path in sorted(made.rglob("*.html"))}


def test_every_notebook_has_a_page_and_every_link_an_end(made: Path) -> None:
    found = pages(made)
    assert {
        made / name for name in ["index.html", "exercises.html", "credits.html", *DOCS, *NOTEBOOKS]
    } <= found.keys()
    for path, outline in found.items():
        for link in outline.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                assert parts.scheme in ("http", "https", "mailto"), f"{path.name}: {link}"
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.is_file(), f"{path.name}: {link} leads nowhere"
            if parts.fragment and target.suffix == ".html":
                assert unquote(parts.fragment) in found[target].ids, f"{path.name}: {link} has no such place"


def test_nothing_is_loaded_from_elsewhere(made: Path) -> None:
    for path, outline in pages(made).items():
        away = [load for load in outline.loads if urlsplit(load).scheme not in ("", "data") or load.startswith("//")]
        assert not away, path.name
    for path in made.rglob("*.css"):
        assert not re.findall(r"url\(['\"]?(?:https?:)?//[^)]*", path.read_text("utf-8")), path.name
    for font, letter in (("NotoSansDevanagari.woff2", "\u0939"), ("STIXTwoMath.woff", "\u03b1")):
        with TTFont(made / "_static" / font) as opened:
            assert ord(letter) in opened.getBestCmap()
        licence = made / "_static" / f"{font.partition('.')[0]}-LICENSE.txt"
        assert "SIL OPEN FONT LICENSE" in licence.read_text("utf-8")


def test_pictures_headings_and_answers(made: Path) -> None:
    for path, outline in pages(made).items():
        assert all(outline.alts), f"{path.name}: a picture without its text"
        assert outline.levels.count(1) == 1, path.name
        steps = zip(outline.levels, outline.levels[1:], strict=False)
        assert all(after <= before + 1 for before, after in steps), f"{path.name}: {outline.levels}"
        assert not outline.open_details, f"{path.name}: an answer stands open"


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_page_holds_what_its_notebook_holds(made: Path, name: str) -> None:
    from bs4 import BeautifulSoup

    stored = nbformat.read(PROJECT / name.replace(".html", ".ipynb"), 4)
    outputs = [output for cell in stored.cells for output in cell.get("outputs", [])]
    shown = "".join(output.get("data", {}).get("text/html", "") for output in outputs)
    page = BeautifulSoup((made / name).read_text("utf-8"), "html.parser")
    assert page.select_one("a.download")["href"].endswith(Path(name).with_suffix(".ipynb").name)
    assert len(page.select(".cell_output img")) == shown.count("<img")
    folds = page.select(".cell_output details:not(.numbers) > summary")  # hints and answers, in either language
    assert len(folds) == shown.count("<summary") > 0
    tables = page.select("details.numbers td")
    assert len(tables) == sum(output.get("metadata", {}).get("table", "").count("<td") for output in outputs)
    source = "".join(cell.source for cell in stored.cells if cell.cell_type == "markdown")
    assert len(page.find_all("math")) >= shown.count('class="math') + source.count("$") // 4
    page_text = " ".join(found.get_text() for found in page.find_all("math"))
    assert "\\" not in page_text and "$" not in page_text and not page.find("merror")


def test_exercises_have_a_page_and_a_place_each(made: Path) -> None:
    text = (made / "exercises.html").read_text("utf-8")
    numbers = set(re.findall(r'href="notebooks/\w+\.html#exercise-(\d-\d)-', text))
    files = [path.stem.split("_")[:2] for path in sorted((PROJECT / "exercises").glob("0*.py"))]
    assert numbers == {f"{int(notebook)}-{place}" for notebook, place in files if place != "bug"}
    assert len(re.findall(r'href="notebooks/\w+\.html#bug-lab', text)) == sum(place == "bug" for _, place in files)


def test_hindi_is_marked_as_hindi(made: Path) -> None:
    from bs4 import BeautifulSoup

    article = BeautifulSoup((made / NOTEBOOKS[2]).read_text("utf-8"), "html.parser").article
    unmarked = [
        str(text)
        for text in article.find_all(string=re.compile("[\u0905-\u0939]"))
        if not text.find_parent(lang="hi") and not text.find_parent(["svg", "style"])
    ]
    assert unmarked == []


# -------------------------------------------------------------------------------------------------- in a browser


@pytest.fixture(scope="module")
def browser(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    start_or_leave_out()
    with chromium(tmp_path_factory.mktemp("browser")) as page:
        page.said = []
        page.on("console", lambda line: page.said.append(line.text) if line.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("request", lambda asked: page.said.append(asked.url) if "127.0.0.1" not in asked.url[:17] else None)
        yield page


@pytest.fixture(scope="module")
def address(made: Path) -> Iterator[str]:
    quiet = type("Quiet", (http.server.SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(quiet, directory=str(made))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def violations(page: Page, rules: list[str] = WCAG) -> list[str]:
    from axe_playwright_python.base import AXE_FILE_PATH

    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(AXE_FILE_PATH.read_text(encoding="utf-8"))
    return page.evaluate(AXE, [page.locator("body").element_handle(), rules])


def local(said: list[str]) -> list[str]:
    """What was said or asked for, without the data that is inside a page."""
    return [text for text in said if not text.startswith(("data:", "file:", "blob:"))]


NAMES = ["index.html", "search.html", "exercises.html", "credits.html", *DOCS, *NOTEBOOKS]


@pytest.mark.parametrize("name", NAMES)
def test_a_page_loads_is_accessible_and_fits_a_telephone(browser: Page, address: str, name: str) -> None:
    browser.said.clear()
    browser.emulate_media(color_scheme="light")
    browser.set_viewport_size({"width": 1280, "height": 900})
    browser.goto(address + name)
    browser.evaluate(UNFOLD)
    assert violations(browser) == []
    browser.emulate_media(color_scheme="dark")
    assert violations(browser, ["color-contrast"]) == [], "dark"
    for width in (640, 320):  # 640 is what 1280 has at 200 %
        browser.set_viewport_size({"width": width, "height": 900})
        wide = browser.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, f"at {width} pixels the page is {wide} wide"
    browser.evaluate("() => new Promise(requestAnimationFrame)")
    assert browser.evaluate(UNREACHED) == []
    assert local(browser.said) == []


def test_it_works_from_a_file_and_hindi_is_shaped(browser: Page, made: Path) -> None:
    browser.said.clear()
    browser.set_viewport_size({"width": 1280, "height": 900})
    browser.emulate_media(color_scheme="light")
    browser.goto((made / NOTEBOOKS[2]).as_uri())
    browser.evaluate("document.fonts.ready.then(() => 0)")
    loaded = (
        "[...document.fonts].filter(font => font.status === 'loaded').map(font => font.family.replaceAll('\"', ''))"
    )
    assert {"Course Devanagari", "Course Math"} <= set(browser.evaluate(loaded))
    conjunct, apart = browser.evaluate(WIDTH, "क्ष"), browser.evaluate(WIDTH, "कष")
    assert 0 < conjunct < 0.8 * apart
    assert browser.evaluate(WIDTH, "\u0915\u093f") < browser.evaluate(WIDTH, "\u0915") + browser.evaluate(
        WIDTH, "\u093f"
    )
    # A matrix has brackets as tall as itself: the served font knows how to stretch them.
    browser.goto((made / NOTEBOOKS[3]).as_uri())
    browser.evaluate(UNFOLD)
    browser.evaluate("document.fonts.ready.then(() => 0)")
    height = "table => [table.previousElementSibling, table].map(part => part.getBoundingClientRect().height)"
    heights = browser.locator("mo + mtable").first.evaluate(height)
    assert heights[0] > 0.9 * heights[1] > 20
    assert local(browser.said) == []


@pytest.mark.parametrize("word", ["bahdanau", "स्कूल"])
def test_the_search_finds_english_and_hindi(browser: Page, address: str, made: Path, word: str) -> None:
    browser.said.clear()
    for start in (address + "search.html", (made / "search.html").as_uri()):
        browser.goto(start)
        browser.get_by_label("Words to look for").fill(word)
        browser.get_by_role("main").get_by_role("button", name="Search").click()
        browser.locator("#search-results li a", has_text="traced by hand").first.wait_for()
    assert local(browser.said) == []
