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
from typing import TYPE_CHECKING

import browser_lab
import nbformat
import pytest
from browser_lab import OpenNotebook, chromium, jupyterlab, start_or_leave_out

from lib.bank import load_questions
from lib.exercises import find
from lib.questions import Mistake, Question, right_answer

if TYPE_CHECKING:
    from playwright.sync_api import Locator

PROJECT = Path(__file__).resolve().parent.parent
NAME = "02_hand_traced_attention.ipynb"
NEEDED = (r"(?m)^recall\(", r"(?m)^worked_example\(", r"(?m)^check\(\"2\.1\"")
# Where the notebook has no such cells yet.
CELLS = (
    'from lib.recall import recall\n\nrecall("02")',
    "from lib.explore import worked_example\n\nworked_example()",
    'from lib.exercises import check\n\n\ndef dot_scores(queries, keys):\n    ...\n\n\ncheck("2.1", dot_scores)',
)
# What JupyterLab itself writes into the console, whatever notebook is open: pattern, and why it is not ours.
ALLOWED: dict[str, str] = {}


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
    prepare(path)
    with jupyterlab(folder, root) as address, chromium(folder) as page:
        yield OpenNotebook.open(page, address, path, root, pictures)


def prepare(path: Path) -> None:
    """Notebook 02 as it is, or a small one while it lacks the cells."""
    real = PROJECT / "notebooks" / NAME
    sources = [cell.source for cell in nbformat.read(real, as_version=4).cells if cell.cell_type == "code"]
    if all(any(re.search(pattern, source) for source in sources) for pattern in NEEDED):
        shutil.copy(real, path)
        return
    small = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS])
    small.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    nbformat.write(small, path)


@pytest.fixture
def notebook(opened: OpenNotebook, request: pytest.FixtureRequest) -> Iterator[OpenNotebook]:
    """The open notebook; the console must stay silent, and nothing may be fetched from elsewhere."""
    yield opened
    opened.page.screenshot(path=opened.pictures / f"{request.node.name}.png")
    errors = [line for line in opened.errors if not any(re.search(pattern, line) for pattern in ALLOWED)]
    assert (errors, opened.strangers) == ([], [])


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
    for answer, words, name in ((mistake.answer, mistake.diagnosis, "wrong"), (right_answer(question), "✓", "right")):
        one.get_by_label("Your answer").fill(", ".join(map(str, answer)))
        one.get_by_role("button", name="Check answer").click()
        says(one.get_by_role("status"), words)
        notebook.picture(one, f"numbers_{name}")

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
    for presses in (1, 2, 3):  # the focus stays on the slider while the numbers are drawn again
        notebook.page.keyboard.press("ArrowRight")
        says(row, weight(presses / 10, 2))
    assert weight(0.3, 2) != weight(0, 2)
    says(area.get_by_role("row", name=re.compile("मैं")), weight(0.3, 0))
    notebook.picture(area, "explorer_after")
    assert notebook.violations(area) == []


def test_an_exercise_fails_with_its_diagnosis_and_then_passes(notebook: OpenNotebook) -> None:
    exercise, index = find("2.1"), notebook.find(NEEDED[2])
    mistake = exercise.wrong["swapped"]
    for source, words in ((mistake.source, ("not yet", mistake.diagnosis)), (exercise.solution, ("passed",))):
        head = "import numpy as np\n\nfrom lib.exercises import check\n\n\n"
        area = notebook.run(index, f'{head}{source}\n\ncheck("2.1", dot_scores)')
        for text in words:
            says(area, text)
        notebook.picture(notebook.cell(index), f"exercise_{words[0].replace(' ', '_')}")
        assert notebook.violations(area) == []
