"""A question as text, as static HTML and as a card."""

from __future__ import annotations

import html.parser
import os
import re
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from lib.bank import load_questions
from lib.exercises import Report
from lib.journal import JournalError
from lib.question_text import answer_text, export_anki, mark_hindi, prompt_text, static_html, to_html
from lib.questions import Concept, Question

SOFTMAX = Concept("softmax", "Softmax & co", "02", "3. Normalise")


def question(kind: str, **fields: Any) -> Question:
    given = {"prompt": "What is $a_1 * b_1$?", "explanation": "SECRET, so it is.", "hints": ("weak", "strong")}
    return Question(f"02-{kind}", SOFTMAX, kind, **given, **fields)


SINGLE = question("single", options=("यह सही", "no <s>"), answer=0)
PREDICT = question("predict", options=("up", "down"), compute="answer = 1")
EXAMPLES = [
    SINGLE,
    PREDICT,
    question("multiple", options=("a", "b", "c"), answer=[0, 2]),
    question("number", answer=0.4, tolerance=0.001),
    question("matrix", answer=[[1, 2], [3, 4]], tolerance=0.001),
    question("order", options=("one", "two", "three")),
    question("match", pairs=(("a", "A"), ("b", "B"))),
    question("completion", answer=["dim=-1"]),
    question("written", rubric=("one point", "another"), model_answer="As I say."),
]


def test_the_text_of_a_question_says_what_is_asked_for_and_not_the_answer() -> None:
    for asked in EXAMPLES:
        text = prompt_text(asked)
        assert "What is $a_1 * b_1$?" in text and "SECRET" not in text and "SECRET" in answer_text(asked)
    assert "* a) यह सही\n* b) no <s>" in prompt_text(SINGLE)
    assert "A difference of up to 0.001 is accepted." in prompt_text(EXAMPLES[3])
    assert "**Answer:** [[1, 2], [3, 4]]" in answer_text(EXAMPLES[4])
    assert "1. one\n2. two\n3. three" in answer_text(EXAMPLES[5]) and "- a → A" in answer_text(EXAMPLES[6])


class Tags(html.parser.HTMLParser):
    """Checks that tags close in order, and keeps them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.append(tag)
        if tag not in ("br", "hr", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("asked", EXAMPLES, ids=lambda q: q.kind)
def test_static_html(asked: Question) -> None:
    text = static_html(asked, 3)
    tags = Tags(text)
    assert tags.seen[:2] == ["section", "h3"] and tags.seen.count("summary") == tags.seen.count("details") == 2
    assert "Question 3: Softmax &amp; co" in text and "$a_1 * b_1$" in text
    assert "<s>" not in text and text.index("<details>") < text.index("SECRET")


def test_static_html_of_a_prediction_shows_code_and_answer() -> None:
    text = static_html(PREDICT)
    assert "answer = 1" in text and "<strong>b)</strong> down" in text
    assert "could not be run here" in static_html(question("predict", compute="answer = 1 / 0"))


def test_the_answer_of_a_prediction_that_is_known_is_not_computed_for_a_page() -> None:
    known = question("predict", compute="answer = 1 / 0", answer=[0.5, 0.0], tolerance=0.01)
    assert "<strong>Answer:</strong> [0.5, 0]" in static_html(known)
    assert "ZeroDivisionError" in answer_text(known)


def test_hindi_is_marked_and_formulas_and_attributes_are_left_alone() -> None:
    assert mark_hindi("मैं स्कूल, जाता हूँ। go <b>क</b>") == (
        '<span lang="hi">मैं स्कूल, जाता हूँ।</span> go <b><span lang="hi">क</span></b>'
    )
    page = to_html("*मैं* `क` $x_{मैं}$ [go](http://x.org/क 'ख') ![क](a.png)\n\n    ख = 1 < 2\n")
    assert '<em><span lang="hi">मैं</span></em> <code><span lang="hi">क</span></code>' in page
    assert "$x_{मैं}$" in page and 'alt="क"' in page and "1 &lt; 2" in page
    assert page.count('lang="hi"') == 3
    assert '<span lang="hi">यह सही</span>' in static_html(SINGLE)
    assert Report("not yet", "मैं is `जाता`\n\n    yours: स्कूल")._repr_html_().count('<span lang="hi">') == 3


def test_every_question_of_the_course_has_static_html() -> None:
    for asked in load_questions():
        if asked.kind != "predict":  # the tests of the bank run those
            Tags(static_html(asked))


@pytest.mark.parametrize("notebook", ["01", "02", "03", "04", "05", "hi/02"])
def test_no_formula_is_torn_by_markdown(notebook: str) -> None:
    """A line of a formula that begins with "+ " would begin a list."""
    for asked in load_questions(notebook):
        page = re.sub(r"<(pre|code)\b.*?</\1>", "", static_html(asked), flags=re.DOTALL)
        blocks = re.split(r"</?(?:p|li|ul|ol|div|h\d|details|summary|t[dhr]|table|blockquote)\b[^>]*>", page)
        assert all(block.count("$") % 2 == 0 for block in blocks), asked.id


def test_the_export_to_anki(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if os.environ.get("COURSE_BROWSER") != "required":  # where everything was installed, nothing is left out
        pytest.importorskip("genanki")
    assert export_anki(tmp_path / "deck.apkg", EXAMPLES) == len(EXAMPLES)
    assert zipfile.is_zipfile(tmp_path / "deck.apkg") and not list(tmp_path.glob("*.part"))
    with pytest.raises(JournalError, match="cannot be written"):
        export_anki(tmp_path / "no" / "deck.apkg", EXAMPLES)


def test_the_export_to_anki_without_genanki(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "genanki", None)
    with pytest.raises(JournalError, match="pip install genanki"):
        export_anki(tmp_path / "deck.apkg", EXAMPLES)
