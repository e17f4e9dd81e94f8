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

STEMS = [build.name_of(path) for path in build.stored()]
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
    needed = re.findall(r'(?:src|href)="(?!data:|#)([^"]*)"', text)  # links to other slides, if anything
    assert all(name.endswith(".html") and (made / stem).parent.joinpath(name).is_file() for name in needed)
    assert "url(data:font/woff2" in text
    source = (build.SOURCE / f"{stem}.py").read_text("utf-8")
    asked = re.search(r"recall-place.*\n# ## (.+)", source)
    sections = re.findall(r"(?m)^# ## ([\w .,'?\u093e-\u094d\u0902-]+)$", source)
    titles = [re.sub("<.*?>", "", title) for title in re.findall(r"<h\d>(.*?)</h\d>", text)]
    sections = [line for line in sections if not asked or line != asked[1]]
    assert len(sections) >= 4 and all(line.strip() in titles for line in sections)
    assert "$" not in re.sub(r"<(pre|script|style|code).*?</\1>", "", text, flags=re.DOTALL)
    assert all(re.search(r'alt="[^"]+"', tag) for tag in re.findall(r"<img[^>]*>", text))
    assert f'lang="{stem[:2] if "/" in stem else "en"}"' in text
    assert "attempt it first" not in text and "पहले ख़ुद कोशिश" not in text  # no answer of a recall question


def test_what_has_room_is_set_larger(made: Path, tmp_path: Path) -> None:
    start_or_leave_out()
    heights = (
        "document.querySelectorAll('.KIND img')].map(image => image.getBoundingClientRect().height / innerHeight)"
    )
    with chromium(tmp_path) as page:
        page.set_viewport_size({"width": 1280, "height": 720})
        page.goto((made / "01_bottleneck.html").as_uri())
        page.add_style_tag(content="main > section { display: block !important; }")
        alone = page.evaluate("[..." + heights.replace("KIND", "alone"))
        assert len(alone) >= 2 and min(alone) > 0.55
        sizes = page.evaluate("[...document.querySelectorAll('.few')].map(slide => getComputedStyle(slide).fontSize)")
        assert len(sizes) >= 5 and set(sizes) == {"28px"}


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
        assert page.locator("#place").inner_text().startswith("2 / ")
        assert page.locator("main > section.shown").count() == 1
