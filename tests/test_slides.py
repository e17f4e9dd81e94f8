"""Slides: whole, by themselves, and on the screen."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from browser_lab import chromium, start_or_leave_out

from notebooks import build

STEMS = [path.stem for path in sorted(build.HERE.glob("0*.ipynb"))]
# Of each slide: is more in it than fits, and how many blocks are that.
OVERFLOW = """[...document.querySelectorAll('main > section')].map(slide => {
  slide.classList.add('shown');
  const below = slide.scrollHeight - slide.clientHeight, beside = slide.scrollWidth - slide.clientWidth;
  const found = [below, beside, slide.children.length];
  slide.classList.remove('shown');
  return found})"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if os.environ.get("COURSE_PUBLISH") != "required":
        for package in ("latex2mathml", "brotli"):
            pytest.importorskip(package)
    out = tmp_path_factory.mktemp("slides")
    done = subprocess.run([sys.executable, "-P", "-m", "publish.slides", "--out", str(out)], capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    return out


@pytest.mark.parametrize("stem", STEMS)
def test_a_file_needs_nothing_and_has_every_section(made: Path, stem: str) -> None:
    text = (made / f"{stem}.html").read_text("utf-8")
    assert not re.findall(r'(?:src|href)="(?!data:|#)[^"]*"', text) and "url(data:font/woff2" in text
    source = (build.SOURCE / f"{stem}.py").read_text("utf-8")
    sections = [line for line in re.findall(r"(?m)^# ## ([\w .,'?-]+)$", source) if line != "Recall"]
    assert len(sections) >= 4 and all(f">{line}<" in text for line in map(str.strip, sections))
    assert "$" not in re.sub(r"<(pre|script|style|code).*?</\1>", "", text, flags=re.DOTALL)
    assert all(re.search(r'alt="[^"]+"', tag) for tag in re.findall(r"<img[^>]*>", text))
    assert "attempt it first" not in text  # no answer of a recall question


def test_slides_fit_and_turn(made: Path, tmp_path: Path) -> None:
    start_or_leave_out()
    with chromium(tmp_path) as page:
        page.set_viewport_size({"width": 1280, "height": 720})
        for stem in STEMS:
            page.goto((made / f"{stem}.html").as_uri())
            for below, beside, parts in page.evaluate(OVERFLOW):
                # One block that is taller than a screen scrolls; several that do not fit are a mistake.
                assert beside <= 1 and (below <= 60 or parts <= 3), (stem, below, beside, parts)
        page.keyboard.press("ArrowRight")
        assert page.locator("#place").inner_text().startswith("2 of ")
        assert page.locator("main > section.shown").count() == 1
