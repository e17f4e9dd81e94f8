"""A class is graded whatever one of its submissions does."""

from __future__ import annotations

import csv
from pathlib import Path

import nbformat
import pytest

from lib.bank import load_questions
from lib.exercise_files import find
from lib.journal import Journal
from publish import class_report, grade_class
from publish.release import grade_id, release_labs, without_answers


def test_six_submissions_three_of_them_hostile(capsys: pytest.CaptureFixture[str]) -> None:
    """One loops, one deletes its files, one prints a gigabyte; the marks of all are what they must be."""
    assert grade_class.main(["--rehearse", "6", "--jobs", "2"]) == 0
    said = capsys.readouterr().out
    assert "marks that are right: 6 of 6\n" in said
    assert "loops-000: a cell did not end; 8 points, 8 expected" in said
    assert "floods-002: printed too much; 8 points, 8 expected" in said


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class of two: one changed the check cells and made a mistake that has a name; one handed in no notebook."""
    folder = tmp_path_factory.mktemp("class")
    release_labs(folder)
    exercise = find("2.2")
    notebook = without_answers(nbformat.read(folder / "source/lab02/lab02.ipynb", 4))
    for cell in notebook.cells:
        key = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if key == grade_id(exercise, "answer"):
            cell.source = next(iter(exercise.wrong.values())).source
        elif key.endswith("-check"):
            cell.source = "pass  # no check, no failure"
    for student in ("cheat", "empty"):
        (folder / "submitted" / student / "lab02").mkdir(parents=True)
    nbformat.write(notebook, folder / "submitted/cheat/lab02/lab02.ipynb")
    (folder / "submitted/empty/lab02/lab02.ipynb").write_text("I forgot", encoding="utf-8")
    return folder


def test_changed_checks_are_put_back_and_mistakes_named(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    handed = (course / "submitted/cheat/lab02/lab02.ipynb").read_bytes()
    assert grade_class.main([str(course), "lab02", "--jobs", "1"]) == 0
    assert "empty: lab02.ipynb is no notebook" in capsys.readouterr().out
    with (course / "graded/lab02-marks.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    cheat = {row["cell"]: row for row in rows if row["student"] == "cheat"}
    assert [(row["points"], row["of"]) for row in cheat.values()] == [("0", "2"), ("0", "2"), ("0", "4"), ("0", "2")]
    mistake = cheat["nb02-2-2-check"]["mistake"]
    assert mistake in find("2.2").wrong
    assert handed == (course / "submitted/cheat/lab02/lab02.ipynb").read_bytes()

    assert class_report.main(["--marks", str(course / "graded/lab02-marks.csv")]) == 0
    report = capsys.readouterr().out
    assert "cheat" not in report and mistake.replace("_", " ") in report


def test_progress_is_counted_by_concept_without_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two students answered question A wrongly, one of them twice, and B rightly; a damaged line costs that line."""
    first, second = [question for question in load_questions("02") if question.kind == "single"][:2]
    files = []
    for name, times in (("asha", 2), ("ravi", 1)):
        journal = Journal(tmp_path / name / "progress.jsonl")
        for _ in range(times):
            journal.record(first.id, False, answer=0)
        journal.record(second.id, True, answer=1)
        files.append(tmp_path / f"{name}.jsonl")
        journal.export(files[-1])
    with files[0].open("a", encoding="utf-8") as file:
        file.write("{damaged\n")
    assert class_report.main(["--progress", *map(str, files)]) == 0
    said = capsys.readouterr().out
    assert "asha" not in said and "ravi" not in said
    assert "2 of 2 students erred" in said and first.concept.title in said
    assert said.count("erred") == 1
    assert "1 damaged line" in said


def test_what_is_missing_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert grade_class.main([str(tmp_path), "lab02"]) == 1
    assert "is not there" in capsys.readouterr().err
    assert class_report.main(["--marks", str(tmp_path / "none.csv")]) == 1
    assert "none.csv" in capsys.readouterr().err
