"""Notebook 02 in a real browser: JupyterLab, a kernel, Chromium, and a learner who errs first.

Needs requirements-browser.txt and a Chromium; left out without them, unless COURSE_BROWSER=required. Pictures go to
the folder COURSE_SCREENSHOTS, if it is named.
"""

from __future__ import annotations

import math
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import browser_lab
import pytest
from browser_lab import OpenNotebook, chromium, jupyterlab, start_or_leave_out

from lib.bank import load_questions
from lib.exercises import find
from lib.explore import query_key_value
from lib.looking import look_up
from lib.questions import Mistake, Question, right_answer

if TYPE_CHECKING:
    from playwright.sync_api import Locator

PROJECT = Path(__file__).resolve().parent.parent
NAME = "02_hand_traced_attention.ipynb"
SLOW = 500  # milliseconds: a change takes a tenth of it on a quiet machine
EXERCISE = r"(?m)^check\(\"2\.1\""
# From the press of a key to the moment when the page shows a text, in milliseconds, as the browser measures it.
TIMED = """([area, text]) => { window.timed = new Promise(done => {
    let begin;
    document.addEventListener('keydown', () => { begin = performance.now(); }, {once: true, capture: true});
    const watch = new MutationObserver(() => {
        if (!area.textContent.includes(text)) return;
        watch.disconnect();
        done(performance.now() - begin);
    });
    watch.observe(area, {childList: true, subtree: true, characterData: true});
}); }"""


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    given = os.environ.get("COURSE_SCREENSHOTS")
    folder = Path(given).resolve() if given else tmp_path_factory.mktemp("pictures")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory, pictures: Path) -> Iterator[OpenNotebook]:
    """A copy of notebook 02, open in a browser, with a kernel and an empty journal."""
    start_or_leave_out()
    folder, root = tmp_path_factory.mktemp("lab"), tmp_path_factory.mktemp("root")
    path = root / "notebooks" / NAME
    path.parent.mkdir()
    shutil.copy(PROJECT / "notebooks" / NAME, path)
    with jupyterlab(folder, root) as address, chromium(folder) as page:
        yield OpenNotebook.open(page, address, path, root, pictures)


@pytest.fixture
def notebook(opened: OpenNotebook, request: pytest.FixtureRequest) -> Iterator[OpenNotebook]:
    """The open notebook; the console must stay silent, and nothing may be fetched from elsewhere."""
    yield opened
    opened.page.screenshot(path=opened.pictures / f"{request.node.name}.png")
    assert (opened.errors, opened.strangers) == ([], [])


def question_of(form: str) -> tuple[int, Question, Mistake]:
    """The first question of that form with a diagnosis in plain words: its number, itself, the mistake."""
    for number, question in enumerate(load_questions("02"), start=1):
        for mistake in question.mistakes if question.form == form else ():
            if not set("$`*") & set(mistake.diagnosis):
                return number, question, mistake
    raise AssertionError(f"notebook 02 has no such question: {form}")


def panel(area: Locator, number: int) -> Locator:
    """The innermost box around the heading of a question."""
    heading = area.page.get_by_role("heading", name=re.compile(rf"^Question {number}: "))
    return area.locator(".widget-vbox").filter(has=heading).last


def says(where: Locator, text: str) -> None:
    """Wait until a place shows a text; line breaks and spaces do not matter."""
    where.filter(has_text=re.compile(r"\s+".join(map(re.escape, text.split())))).wait_for()


def test_without_a_browser_they_are_left_out_unless_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser_lab, "BROWSERS", ())
    monkeypatch.delenv("COURSE_BROWSER", raising=False)
    with pytest.raises(pytest.skip.Exception):
        browser_lab.start_or_leave_out()
    monkeypatch.setenv("COURSE_BROWSER", "required")
    with pytest.raises(pytest.fail.Exception, match="the browser tests are required"):
        browser_lab.start_or_leave_out()


def test_a_wrong_answer_is_diagnosed_and_a_right_one_remembered(notebook: OpenNotebook) -> None:
    area, index = notebook.show("recall"), notebook.find(r"(?m)^recall\(")
    before = notebook.number(index)
    typed, question, mistake = question_of("vector")
    one = panel(area, typed)
    one.get_by_role("button", name="Check answer").wait_for()
    assert one.get_by_text(re.compile("[✓✗]")).count() == 0
    assert one.get_by_role("button", name="Show answer").is_disabled()
    region = one.get_by_role("status")  # there before it says anything, so that a screen reader announces what comes
    assert region.inner_text().strip() == "" and region.get_attribute("aria-live") == "polite"
    handle = region.element_handle()
    for answer, words, name in ((mistake.answer, mistake.diagnosis, "wrong"), (right_answer(question), "✓", "right")):
        one.get_by_label("Your answer").fill(", ".join(map(str, answer)))
        one.get_by_role("button", name="Check answer").click()
        says(region, words)
        notebook.picture(one, f"numbers_{name}")
    assert notebook.page.evaluate("([one, other]) => one === other", [handle, region.element_handle()])

    chosen, question, mistake = question_of("single")
    two = panel(area, chosen)
    assert two.get_by_role("radio", checked=True).count() == 0
    for place, words, name in ((mistake.answer, mistake.diagnosis, "wrong"), (right_answer(question), "✓", "right")):
        two.get_by_role("radio").nth(question.shown.index(place)).check()
        two.get_by_role("button", name="Check answer").click()
        says(two.get_by_role("status"), words)
        notebook.picture(two, f"choice_{name}")
    assert notebook.violations(area) == []

    notebook.restart()
    area = notebook.show("recall")
    assert notebook.number(index) <= before
    for number in (typed, chosen):
        says(panel(area, number), "Answered 2 times before")
        says(panel(area, number), "✓ right")
    notebook.picture(panel(area, typed), "remembered")
    assert panel(area, typed + 1).get_by_text("before, last on").count() == 0
    assert notebook.violations(panel(area, typed)) == []


def weight(entry: float, place: int) -> str:
    """The weight of a source word for the decoder state [1, entry, 0], as the explorer writes it."""
    states = ((1, 0), (0, 1), (1, 1), (-1, 0))  # the first two entries of h_1 to h_4
    powers = [math.exp(first + entry * second) for first, second in states]
    return f"{powers[place] / sum(powers):.4f}"


def test_the_keyboard_moves_a_slider_and_the_numbers_follow(notebook: OpenNotebook) -> None:
    area = notebook.show("worked_example")
    slider, row = area.get_by_role("slider", name="state, entry 2"), area.get_by_role("row", name=re.compile("जाता"))
    says(row, weight(0, 2))
    notebook.picture(area, "explorer_before")
    slider.focus()
    times = []
    for presses in range(1, 6):  # the focus stays on the slider while the numbers are drawn again
        notebook.page.evaluate(TIMED, [area.element_handle(), weight(presses / 10, 2)])
        notebook.page.keyboard.press("ArrowRight")
        says(row, weight(presses / 10, 2))
        times.append(notebook.page.evaluate("timed"))
    print(f"from the key to the number: {', '.join(f'{time:.0f}' for time in times)} ms")
    assert weight(0.5, 2) != weight(0, 2) and median(times) < SLOW
    says(area.get_by_role("row", name=re.compile("मैं")), weight(0.5, 0))
    notebook.picture(area, "explorer_after")
    assert notebook.violations(area) == []


def test_an_exercise_fails_with_its_diagnosis_and_then_passes(notebook: OpenNotebook) -> None:
    exercise, index = find("2.1"), notebook.find(EXERCISE)
    mistake = exercise.wrong["swapped"]
    for source, words in ((mistake.source, ("not yet", mistake.diagnosis)), (exercise.solution, ("passed",))):
        head = "import numpy as np\n\nfrom lib.exercises import check\n\n\n"
        area = notebook.run(index, f'{head}{source}\n\ncheck("2.1", dot_scores)')
        for text in words:
            says(area, text)
        notebook.picture(notebook.cell(index), f"exercise_{words[0].replace(' ', '_')}")
        assert notebook.violations(area) == []


def test_the_keyboard_isolates_a_token_with_its_numbers(notebook: OpenNotebook) -> None:
    """On a page without a kernel: query, key and value as a static figure."""
    page = notebook.page.context.new_page()
    page.set_content(query_key_value(static=True).html)
    page.keyboard.press("Tab")  # the first of the four keys, मैं
    seen = "nodes => nodes.map(node => [node.classList.contains('s0'), getComputedStyle(node).opacity])"
    page.wait_for_function("getComputedStyle(document.querySelector('.lk-net path:not(.s0)')).opacity === '0.04'")
    lines = page.locator(".lk-net path").evaluate_all(seen)
    assert {opacity for mine, opacity in lines if mine} == {"1"}
    assert {opacity for mine, opacity in lines if not mine} == {"0.04"}
    shown = "nodes => nodes.map(node => getComputedStyle(node, '::after').content)"
    queries = page.locator(".lk-t .lk-tok").evaluate_all(shown)
    assert queries == [f'"{row[0]:.2f}"' for row in look_up().weights]
    page.screenshot(path=notebook.pictures / "isolated.png")
    page.close()
