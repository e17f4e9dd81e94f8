"""The questions of a notebook as widgets, and as text where there are none."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from lib import recall as module
from lib.journal import HARD, Journal
from lib.questions import Concept, Mistake, Question
from lib.recall import Panel, Sheet

NOON = datetime(2025, 5, 1, 12, 0, tzinfo=timezone(timedelta(hours=5, minutes=30)))
SOFTMAX = Concept("softmax", "Softmax & co", "02", "3. Normalise")


def question(kind: str, **fields: Any) -> Question:
    mistakes = (
        (Mistake(fields.pop("mistake"), "You took <pad> for a word.", "notebook 02"),) if "mistake" in fields else ()
    )
    given = {"prompt": "What is $a_1 * b_1$?", "explanation": "SECRET, so it is.", "hints": ("weak", "strong")}
    return Question(f"02-{kind}", SOFTMAX, kind, **{**given, **fields}, mistakes=mistakes)


SINGLE = question("single", options=("यह सही", "no <s>"), answer=0, mistake=1)
MULTIPLE = question("multiple", options=("a", "b", "c"), answer=[0, 2], mistake=[0])
NUMBER = question("number", answer=0.4, tolerance=0.001, mistake=0.6)
VECTOR = question("vector", answer=[1, 0], tolerance=0.001, mistake=[0, 1])
MATRIX = question("matrix", answer=[[1, 2], [3, 4]], tolerance=0.001, mistake=[[1, 3], [2, 4]])
ORDER = question("order", options=("one", "two", "three"), mistake=[1, 0, 2])
MATCH = question("match", pairs=(("a", "A"), ("b", "B")), mistake={0: 1, 1: 0})
PREDICT = question("predict", options=("up", "down"), compute="answer = 1", mistake=0)
COMPLETION = question("completion", answer=["dim=-1"], mistake="dim=0")
WRITTEN = question("written", rubric=("one point", "another"), model_answer="As I say.")
ALL = [SINGLE, MULTIPLE, NUMBER, VECTOR, MATRIX, ORDER, MATCH, PREDICT, COMPLETION, WRITTEN]
CHOSEN = {"single": 0, "number": "2/5", "vector": "1 0", "matrix": "1 2\n3 4", "predict": 1, "completion": "dim = -1"}


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Journal:
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "data"))
    return Journal()


def answer(panel: Panel, right: bool = True) -> None:
    """Set the controls of a panel to the right answer, or to that of the first mistake."""
    kind = panel.question.kind
    value = (
        panel.question.mistakes[0].answer
        if not right
        else CHOSEN.get(kind, [0, 2] if kind == "multiple" else [0, 1, 2])
    )
    if kind == "multiple":
        for place, tick in enumerate(panel.controls):
            tick.value = place in value
    elif kind in ("order", "match"):
        for place, menu in enumerate(panel.controls):
            menu.value = value[place]
    else:
        panel.controls[0].value = value if kind in ("single", "predict") else str(value)


def walk(widget: Any) -> Iterator[Any]:
    yield widget
    for child in getattr(widget, "children", ()):
        yield from walk(child)


# ---------------------------------------------------------------------------------------------- in a notebook


@pytest.mark.parametrize("asked", ALL[:-1], ids=lambda q: q.kind)
def test_wrong_then_right(journal: Journal, asked: Question) -> None:
    panel = Panel(asked, journal)
    answer(panel, right=False)
    panel.check.click()
    assert "✗ Not right." in panel.feedback.value and "You took &lt;pad&gt; for a word." in panel.feedback.value
    assert "notebook 02" in panel.feedback.value
    assert panel.answer.value == "" and "SECRET" not in panel.feedback.value and not panel.show.disabled
    answer(panel)
    panel.check.click()
    assert "✓ Right." in panel.feedback.value and "SECRET" in panel.answer.value
    assert [attempt.correct for attempt in journal.read().attempts] == [False, True]


@pytest.mark.parametrize("asked", ALL, ids=lambda q: q.kind)
def test_nothing_is_chosen_and_checking_then_is_not_counted(journal: Journal, asked: Question) -> None:
    panel = Panel(asked, journal)
    for control in panel.controls:
        assert control.value in (None, "", False)
    panel.check.click()
    assert "not counted" in panel.feedback.value and journal.read().attempts == []
    assert panel.show.disabled and panel.answer.value == ""
    assert panel.rating is None or panel.rating.layout.display == "none"


@pytest.mark.parametrize("asked", ALL, ids=lambda q: q.kind)
def test_every_control_has_a_description(journal: Journal, asked: Question) -> None:
    controls = [w for w in walk(Panel(asked, journal, 1).box) if hasattr(w, "description") and hasattr(w, "disabled")]
    assert controls and all(
        control.description.strip() for control in controls if "HTML" not in type(control).__name__
    )


def test_one_click_is_one_attempt_however_often_the_cell_was_run(journal: Journal) -> None:
    sheets = [Sheet([SINGLE], journal) for _ in range(3)]
    for sheet in sheets:
        sheet._repr_mimebundle_()
        sheet._repr_mimebundle_()
    panel = sheets[-1].panels[0]
    answer(panel, right=False)
    panel.check.click()
    panel.check.click()  # a double click: the same answer
    panel.show.click()
    assert len(journal.read().attempts) == 1 and "SECRET" in panel.answer.value


def test_an_error_in_a_checker_is_said_in_the_question_and_it_stays_usable(journal: Journal) -> None:
    panel = Panel(
        question("predict", options=("up", "down"), compute="raise OSError('no corpus')", mistake=0), journal
    )
    panel.controls[0].value = 1
    panel.check.click()
    assert "check itself failed (OSError: no corpus)" in panel.feedback.value and journal.read().attempts == []
    panel.question = PREDICT
    panel.check.click()
    assert "✓ Right." in panel.feedback.value and len(journal.read().attempts) == 1


def test_an_answer_that_cannot_be_saved_is_graded_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    panel = Panel(NUMBER, Journal(tmp_path / "file" / "x.jsonl"))
    answer(panel)
    panel.check.click()
    assert "✓ Right." in panel.feedback.value and "could not be saved" in panel.feedback.value


def test_hints_come_one_by_one_and_are_recorded(journal: Journal) -> None:
    panel = Panel(NUMBER, journal)
    assert panel.hint.description == "Hint 1 of 2"
    panel.hint.click()
    assert "weak" in panel.hint_text.value and "strong" not in panel.hint_text.value
    panel.hint.click()
    assert "strong" in panel.hint_text.value and panel.hint.disabled
    answer(panel)
    panel.check.click()
    assert journal.read().attempts[0].hints == 2 and journal.read().attempts[0].grade == HARD


def test_a_written_answer_is_compared_then_rated(journal: Journal) -> None:
    panel = Panel(WRITTEN, journal)
    panel.controls[0].value = "क्योंकि"
    panel.check.click()
    assert "As I say." in panel.answer.value and panel.rating.layout.display != "none"
    assert journal.read().attempts == []  # the rating is the attempt
    panel.points[1].value = True
    panel.ratings[1].click()
    attempt = journal.read().attempts[0]
    assert (attempt.correct, attempt.grade) == (None, HARD)
    assert attempt.answer == {"text": "क्योंकि", "points": [False, True]} and panel.rating.layout.display == "none"


def test_what_was_answered_is_remembered_in_a_new_kernel(journal: Journal) -> None:
    journal.record(SINGLE.id, False, now=NOON)
    journal.record(SINGLE.id, True, now=NOON)
    panel = Sheet([SINGLE], Journal()).panels[0]
    assert "Answered 2 times before, last on 2025-05-01: ✓ right." in panel.feedback.value


def test_formulas_in_options_stand_above_the_letters(journal: Journal) -> None:
    panel = Panel(question("single", options=("$a$", "**b**"), answer=0, mistake=1), journal)
    assert [label for label, _ in panel.controls[0].options] == ["a", "b"]
    assert 'a) <span class="math inline">$a$</span>' in panel.head.value and "<strong>b</strong>" in panel.head.value


def test_the_bundle_holds_text_for_readers_without_a_kernel(journal: Journal) -> None:
    bundle = Sheet(ALL, journal)._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["text/html"].count("<summary>Answer: attempt it first</summary>") == len(ALL)
    assert "SECRET" not in bundle["text/plain"] and "review_in_terminal" in bundle["text/plain"]


def test_what_is_said_is_in_a_region_that_was_there_before(journal: Journal) -> None:
    """A screen reader announces changes in a region it knows, not a region that comes with its text."""
    sheet = Sheet([SINGLE, WRITTEN], journal)
    sheet._repr_mimebundle_()
    for panel in sheet.panels:
        region, parts = panel.says, panel.says.children
        assert region in panel.box.children and "course-says" in region._dom_classes
        panel.hint.click()
        answer(panel)
        panel.check.click()
        assert panel.says is region and region.children == parts == (panel.hint_text, panel.feedback, panel.answer)
        assert all(part.value and "role=" not in part.value for part in parts)
    for words in ("'.course-says:not([role])'", "'role', 'status'", "'aria-live', 'polite'"):
        assert words in module._REGIONS


def test_a_sheet_runs_no_prediction_and_shares_its_layouts_and_styles(journal: Journal) -> None:
    from ipywidgets import Widget

    sheet = Sheet([question("predict", answer=0.25, tolerance=0.01, compute="answer = 1 / 0")] * 10, journal)
    assert "<strong>Answer:</strong> 0.25" in sheet._repr_mimebundle_()["text/html"]
    models = {id(trait) for panel in sheet.panels for one in walk(panel.box) for trait in parts_of(one, Widget)}
    # A head, a text, three buttons in a row, three texts in a region, all in a box: 11 each, and what they share.
    assert len(models) <= 10 * 11 + 8
    panel = sheet.panels[0]
    panel.controls[0].value = "1"
    panel.check.click()
    assert "check itself failed (ZeroDivisionError" in panel.feedback.value


def test_the_questions_of_notebook_02_stand_there_in_a_moment(journal: Journal) -> None:
    import ipywidgets  # noqa: F401 (a notebook has it already)

    begin = time.process_time()
    Sheet(module.load_questions("02"), journal)._repr_mimebundle_()
    assert time.process_time() - begin < 1.5  # seconds


def parts_of(widget: Any, kind: type) -> list[Any]:
    """A widget, its layout and its style."""
    return [part for part in (widget, widget.layout, getattr(widget, "style", None)) if isinstance(part, kind)]


def test_without_ipywidgets_it_is_text(journal: Journal, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    assert set(Sheet([SINGLE], journal)._repr_mimebundle_()) == {"text/plain", "text/html"}
    module.recall("00", journal)
    assert "Question 1: Before an experiment" in capsys.readouterr().out


def test_looking_at_questions_leaves_no_trace(journal: Journal) -> None:
    Sheet([SINGLE], journal)._repr_mimebundle_()
    assert not journal.path.parent.exists()


def test_nothing_heavy_is_imported_with_it() -> None:
    heavy = {"torch", "numpy", "matplotlib", "ipywidgets", "IPython", "fsrs", "genanki", "markdown_it"}
    code = f"import sys, lib.review; print(sorted({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"
