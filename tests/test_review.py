"""The review of what is due, in a notebook and in a terminal, and the command."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from lib import __main__ as command
from lib import review as module
from lib.bank import load_questions
from lib.journal import Journal, data_folder
from lib.questions import Concept, Mistake, Question
from lib.review import (
    calendar_picture,
    export_progress,
    import_progress,
    knowledge_picture,
    main,
    reset,
    review_in_terminal,
)

NOON = datetime(2025, 5, 1, 12, 0, tzinfo=timezone(timedelta(hours=5, minutes=30)))


def question(kind: str, mistake: Any = None, **fields: Any) -> Question:
    mistakes = () if mistake is None else (Mistake(mistake, "You took <pad> for a word.", "notebook 02"),)
    given = {"prompt": "What is it?", "explanation": "SECRET, so it is.", "hints": ("weak", "strong"), **fields}
    return Question(f"02-{kind}", Concept("softmax", "Softmax", "02", "3"), kind, **given, mistakes=mistakes)


SINGLE = question("single", 1, options=("यह सही", "no <s>"), answer=0)
NUMBER = question("number", 0.6, answer=0.4, tolerance=0.001)
WRITTEN = question("written", rubric=("one point", "another"), model_answer="As I say.")


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Journal:
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "data"))
    return Journal()


def test_recall_and_review_in_a_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = pytest.importorskip("build")
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "mine"))
    source = tmp_path / "00_x.py"
    wrong = 'Journal().record("00-moves", False, now=local_now() - timedelta(days=9)); review()'
    code = "from datetime import timedelta\n\nfrom lib.journal import Journal, local_now\n"
    code += "from lib.recall import recall\nfrom lib.review import review\n\n"
    source.write_text("".join(f"# %%\n{code}{cell}\n\n" for cell in ('recall("00")', "review()", wrong)))
    notebook = build.build(source, tmp_path)
    shown = [[output.get("data", {}) for output in cell.outputs] for cell in notebook.cells]
    assert "<details>" in shown[0][0]["text/html"] and "widget" not in " ".join(shown[0][0])
    assert notebook.cells[1].outputs[0].text.startswith("0 due today") and len(shown[1]) == 1
    assert notebook.cells[2].outputs[0].text.startswith("1 due today")
    assert "<h3>Question 1: Encoder and decoder</h3>" in shown[2][1]["text/html"] and len(shown[2]) == 2
    assert "widgets" not in notebook.metadata and not (tmp_path / "mine").exists()


def test_the_pictures_say_in_words_what_they_show(journal: Journal) -> None:
    journal.record("02-tie", True, now=NOON)
    journal.record("02-scores", False, now=NOON)
    chosen = [asked for asked in load_questions("02") if asked.id in ("02-tie", "02-scores")]
    known, dates = knowledge_picture(journal, NOON, chosen), calendar_picture(journal, NOON, chosen, days=3)
    assert "Softmax (1 of 1 answered) 100%" in known.alt and "The dot score (1 of 1 answered) 0%" in known.alt
    assert "Fri 02 May 1" in dates.alt and "Thu 01 May 0" in dates.alt, dates.alt


def talk(journal: Journal, monkeypatch: pytest.MonkeyPatch, asked: list[Question], *lines: str) -> list[str]:
    """What is said when these questions are due and these lines are typed."""
    monkeypatch.setattr(module, "load_questions", lambda *_: asked)
    said, typed = [], iter(lines)

    def ask(prompt: str) -> str:
        said.append(prompt)
        if (line := next(typed, None)) is None:
            raise EOFError
        return line

    review_in_terminal("02", journal, NOON, ask, said.append)
    return said


def test_a_review_in_a_terminal(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["b", ":h", "nonsense", "a", "2/5", "in words", "good"]
    said = "\n".join(talk(journal, monkeypatch, [SINGLE, NUMBER, WRITTEN], *lines))
    assert "b) no <s>" in said and "You took <pad> for a word.\n\nLook again at: notebook 02." in said
    assert said.index("Hint 1 of 2: weak") < said.index("Answer with 1 of the letters") < said.index("SECRET")
    attempts = journal.read().attempts
    assert [(a.question, a.correct, a.hints) for a in attempts] == [
        ("02-single", False, 0),
        ("02-single", True, 1),
        ("02-number", True, 0),
        ("02-written", None, 0),
    ]


def test_a_matrix_in_a_terminal_comes_row_by_row(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = question("matrix", answer=[[1, 2], [3, 4], [5, 6]], tolerance=0.001)
    said = talk(
        journal, monkeypatch, [matrix] * 4, "1 2", "3 4", "5 6", "1 2; 3 4; 5 6", "1 2 3 4 5 6", "", "1 2", "", "", ""
    )
    assert [attempt.correct for attempt in journal.read().attempts] == [True] * 3
    assert said.count("Row 3 of 3 (Enter alone: that was all): ") == 1
    assert any("The answer has 3 rows of 2 numbers. This was not counted." in line for line in said)


def test_the_answer_in_a_terminal_comes_only_after_an_attempt(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "SECRET" not in "".join(talk(journal, monkeypatch, [SINGLE, NUMBER], "", ":q"))
    assert "SECRET" in "".join(talk(journal, monkeypatch, [SINGLE], "b", ""))
    assert "Stopped" in talk(journal, monkeypatch, [SINGLE])[-1]


def test_an_error_in_a_checker_does_not_end_a_review(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = question("predict", options=("up", "down"), compute="answer = 1 / 0")
    assert any("check itself failed" in text for text in talk(journal, monkeypatch, [broken], "a", ""))
    assert journal.read().attempts == []


def test_due_in_a_terminal(journal: Journal) -> None:
    journal.record("00-predict-first", False, now=NOON)
    journal.record("00-gone", True, now=NOON)
    journal.path.write_bytes(journal.path.read_bytes() + b"torn")
    said: list[str] = []
    review_in_terminal(None, journal, NOON + timedelta(days=1), lambda _: ":q", said.append)
    text = "\n".join(said)
    assert "1 due today" in text and "1 attempts belong to questions" in text and "1 damaged lines" in text
    assert "Question 1 of 1" in text


def test_the_command(journal: Journal, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    journal.record("00-predict-first", True)
    assert main(["--where"]) == 0 and capsys.readouterr().out == f"{journal.path}\n"
    file = tmp_path / "mine.jsonl"
    assert main(["--export", str(file)]) == 0 and main(["--import", str(file)]) == 0
    assert "0 lines of progress added" in capsys.readouterr().out
    assert main(["--import", str(tmp_path / "none")]) == 1 and "cannot be read" in capsys.readouterr().err
    assert main(["--notebook", "77"]) == 1 and "no questions for notebook '77'" in capsys.readouterr().err
    assert main(["--reset"], ask=lambda _: "yes") == 0 and len(journal.read().attempts) == 1
    assert main(["--reset"], ask=lambda _: "reset") == 0 and journal.read().attempts == []
    assert main(["--notebook", "00"], ask=lambda _: ":q") == 0
    with pytest.raises(SystemExit):
        main(["--where", "--reset"])


def test_the_library_is_started_with_the_command(journal: Journal, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["review", "--where"]) == 0 and capsys.readouterr().out == f"{journal.path}\n"
    with pytest.raises(SystemExit):
        command.main(["--help"])
    assert "review" in capsys.readouterr().out


def test_progress_in_words(journal: Journal, tmp_path: Path) -> None:
    journal.record("00-moves", True)
    file = tmp_path / "mine.jsonl"
    assert export_progress(file) == f"1 lines of progress written to {file}"
    assert "Nothing was changed" in reset() and "is kept in" in reset("reset") and "no progress yet" in reset("reset")
    file.write_bytes(file.read_bytes() + b"torn")
    assert import_progress(file).startswith(
        f"1 lines of progress added from {file}; 1 damaged lines left out: line 3"
    )


def test_tests_and_notebooks_never_see_your_own_progress() -> None:
    """conftest.py names another folder, which the notebooks' kernels inherit."""
    assert data_folder().name.startswith("course-data-") and data_folder() != Path.home()
