"""A class is graded whatever one of its submissions does."""

from __future__ import annotations

import csv
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from lib.bank import load_questions
from lib.exercise_files import find
from lib.journal import Journal
from publish import class_report, grade_class
from publish.release import CONFIG, grade_id, release_labs, without_answers


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
    with (course / "graded/lab02-totals.csv").open(encoding="utf-8", newline="") as file:
        totals = {row["student"]: (row["points"], row["of"]) for row in csv.DictReader(file)}
    assert totals["cheat"] == ("0", "10") and totals["empty"] == ("0", "10")
    mistake = cheat["nb02-2-2-check"]["mistake"]
    assert mistake in find("2.2").wrong
    assert handed == (course / "submitted/cheat/lab02/lab02.ipynb").read_bytes()

    assert class_report.main(["--marks", str(course / "graded/lab02-marks.csv")]) == 0
    report = capsys.readouterr().out
    assert "cheat" not in report and mistake.replace("_", " ") in report


def test_progress_is_counted_by_concept_without_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two students answered question A wrongly, one of them twice, and B rightly; a damaged line costs that line."""
    first, second = [question for question in load_questions("02") if question.kind == "single"][:2]
    mistake = first.mistakes[0]
    files = []
    for name, times in (("asha", 2), ("ravi", 1)):
        journal = Journal(tmp_path / name / "progress.jsonl")
        for _ in range(times):
            journal.record(first.id, False, answer=mistake.answer)
        journal.record(second.id, True, answer=1)
        files.append(tmp_path / f"{name}.jsonl")
        journal.export(files[-1])
    with files[0].open("a", encoding="utf-8") as file:
        file.write('{damaged\n{"question": "nn-old", "time": "2026-01-05T10:00:00+05:30", "correct": false}\n')
    before = sorted(tmp_path.iterdir())
    assert class_report.main(["--progress", *map(str, files), str(tmp_path / "gone.jsonl")]) == 0
    said = capsys.readouterr().out
    assert said.splitlines() == [
        "# What came up",
        "",
        "Not counted: 1 × damaged line, 1 × answer to a question that is not in the bank, 1 × unreadable file.",
        "",
        f"## {first.concept.title} (look again at {first.concept.place})",
        f"- {first.id}: 2 of 2 students erred. {' '.join(first.prompt.split())[:100]}",
        f"  - 3 × {' '.join(mistake.diagnosis.split())}",
    ]
    assert sorted(tmp_path.iterdir()) == before


def test_marks_are_counted_by_exercise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Four students: 2.1 solved by three, 2.2 by one; one mistake twice, another once; two lines that say nothing."""
    (often, one), (rare, other) = list(find("2.2").wrong.items())[:2]
    lines = ["student,cell,points,of,mistake,trouble"]
    lines += [f"s{i},nb02-2-1-check,{points},2,," for i, points in enumerate((2, 2.0, 2, 0))]
    lines += [f"s{i},nb02-2-2-check,{points},2,{name}," for i, (points, name) in enumerate([(2, ""), (0, rare)])]
    lines += [f"s{i},nb02-2-2-check,0,2,{often}," for i in (2, 3)]
    lines += ["s4,,0,0,,stopped after 120 s", "s5,nb02-2-2-check,0,2,no_such_mistake,"]
    path = tmp_path / "marks.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    assert class_report.main(["--marks", str(path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "# What came up",
        "",
        "Not counted: 1 × submission without marks, 1 × damaged line.",
        "",
        f"## 2.2 · {find('2.2').title}: 1 of 4 solved it",
        f"- 2 × *{often.replace('_', ' ')}*: {one.diagnosis}",
        f"- 1 × *{rare.replace('_', ' ')}*: {other.diagnosis}",
        f"## 2.1 · {find('2.1').title}: 3 of 4 solved it",
    ]


# ------------------------------------------------------------------------- what students do to a notebook


def helped(cells: list[NotebookNode], place: int) -> None:
    """The answer calls a function in a cell that the student added."""
    cells[place].source = "def dot_scores(queries, keys):\n    return mine(queries, keys)"
    cells.insert(place, nbformat.v4.new_code_cell("def mine(a, b):\n    return a @ b.T"))


def copied(cells: list[NotebookNode], place: int) -> None:
    """A wrong answer first, and its cell a second time, with the right one."""
    cells.insert(place, nbformat.from_dict({**cells[place], "source": "dot_scores = None", "id": "copy"}))


def unchecked(cells: list[NotebookNode], place: int) -> None:
    """The check cell is deleted."""
    del cells[place + 1]


def retyped(cells: list[NotebookNode], place: int) -> None:
    """The check is changed, is worth more, and is no code."""
    cells[place].source = "dot_scores = None"
    cells[place + 1] = nbformat.v4.new_markdown_cell("no check", metadata=cells[place + 1].metadata)
    cells[place + 1].metadata.nbgrader.points = 100


def prints(cells: list[NotebookNode], place: int) -> None:
    """One print of a gigabyte, which costs no mark: the function is defined before it."""
    cells[place].source += '\nprint("x" * 10**9)'


def meddles(cells: list[NotebookNode], place: int) -> None:
    """It writes its own marks and ends the process that grades it."""
    lines = ["import os", "import signal", "from pathlib import Path", "for path in Path('..').glob('*'):"]
    lines += ["    if path.is_dir(): (path / 'marks.json').write_text('full')"]
    cells[place].source = "\n".join([*lines, "os.kill(os.getppid(), signal.SIGKILL)"])


CHANGES: dict[Callable[[list[NotebookNode], int], None], float] = {helped: 2, unchecked: 0, retyped: 0}
HOSTILE: dict[Callable[[list[NotebookNode], int], None], float] = {copied: 2, prints: 2, meddles: 0}


def make_class(folder: Path, changes: Iterable[Callable[[list[NotebookNode], int], None]]) -> Path:
    """A class in which each did something else to exercise 2.1, and answered nothing else."""
    release_labs(folder)
    (folder / "nbgrader_config.py").write_text(CONFIG, encoding="utf-8")
    exercise = find("2.1")
    for change in changes:
        notebook = without_answers(nbformat.read(folder / "source/lab02/lab02.ipynb", 4))
        keys = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells]
        place = keys.index(grade_id(exercise, "answer"))
        notebook.cells[place].source = exercise.solution
        change(notebook.cells, place)
        target = folder / "submitted" / change.__name__ / "lab02"
        target.mkdir(parents=True)
        nbformat.write(notebook, target / "lab02.ipynb")
    return folder


def totals(found: list[grade_class.Marks]) -> dict[str, float]:
    return {marks.student: marks.total for marks in found}


def test_what_students_do_to_a_notebook_is_graded_as_nbgrader_does_it(tmp_path: Path) -> None:
    changed = make_class(tmp_path, CHANGES)
    ours = totals(grade_class.grade_all(changed, "lab02", 2))
    assert ours == {change.__name__: points for change, points in CHANGES.items()}
    if os.environ.get("COURSE_PUBLISH") != "required":
        pytest.importorskip("nbgrader")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # where nbgrader looks for `alembic`
    for command in ("generate_assignment", "autograde"):
        words = [sys.executable, "-m", "nbgrader", command, "lab02"]
        done = subprocess.run(
            words, cwd=changed, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-3000:]
    query = (
        "select s.id, sum(coalesce(g.auto_score, 0)) from grade g join submitted_notebook n on g.notebook_id = n.id "
        "join submitted_assignment a on n.assignment_id = a.id join student s on a.student_id = s.id group by s.id"
    )
    with sqlite3.connect(changed / "gradebook.db") as book:
        assert dict(book.execute(query).fetchall()) == ours


@pytest.mark.skipif(os.name == "nt", reason="ends a process with a signal")
def test_nobody_else_pays(tmp_path: Path) -> None:
    """What nbgrader would stumble over, and a file with a wrong name: each has a line, and the others their marks."""
    course = make_class(tmp_path, HOSTILE)
    (course / "submitted/misnamed/lab02").mkdir(parents=True)
    (course / "submitted/misnamed/lab02/lab02 (1).ipynb").write_text("{}", encoding="utf-8")
    (course / "submitted/loose").mkdir()
    (course / "submitted/loose/lab02.ipynb").write_text("{}", encoding="utf-8")
    (course / "submitted/asha.zip").write_bytes(b"PK")
    (course / "submitted/earlier/lab01").mkdir(parents=True)
    found = grade_class.grade_all(course, "lab02", 2)
    lost = dict.fromkeys(("misnamed", "loose", "asha.zip", "earlier"), 0)
    assert totals(found) == {change.__name__: points for change, points in HOSTILE.items()} | lost
    trouble = {marks.student: marks.trouble for marks in found}
    assert trouble == {
        "copied": "",
        "prints": "printed too much",
        "meddles": "its process was ended (code -9)",
        "misnamed": "no lab02/lab02.ipynb was handed in; there is lab02 (1).ipynb",
        "loose": "no lab02/lab02.ipynb was handed in; there is lab02.ipynb",
        "asha.zip": "no lab02/lab02.ipynb was handed in: this is a file, and should lie in a folder with the "
        "student's name",
        "earlier": "no lab02/lab02.ipynb was handed in; there is lab01",
    }


def test_what_is_missing_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert grade_class.main([str(tmp_path), "lab02"]) == 1
    assert "is not there" in capsys.readouterr().err
    assert class_report.main(["--marks", str(tmp_path / "none.csv")]) == 1
    assert "none.csv" in capsys.readouterr().err
