"""What an instructor hands out and grades: it holds no solution, and nbgrader gives the marks that it should."""

from __future__ import annotations

import ast
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest

import run
from lib.bank import load_questions
from lib.exercise_files import Exercise, find, load, paths
from notebooks import build
from publish import release
from publish.deliver import InTheWay, deliver

PROJECT = Path(__file__).resolve().parent.parent
EXERCISES = {identifier: find(identifier) for identifier in paths()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("release")
    assert release.main(["--out", str(out)]) == 0
    return out


def statements(exercise: Exercise) -> set[str]:
    """The lines of a solution that say something, without those that the learner is given anyway."""
    (function,) = ast.parse(exercise.solution).body
    body = exercise.solution.splitlines()[function.lineno :]
    lines = {" ".join(line.split("  #")[0].split()) for line in body}
    given = {" ".join(line.split("  #")[0].split()) for line in exercise.stub.splitlines()}
    return {line for line in lines - given if len(line) > 25 and '"""' not in line}


def test_no_solution_survives_in_the_student_version(made: Path) -> None:
    taught = [
        *(PROJECT / "lib").glob("*.py"),
        *build.SOURCE.glob("*.py"),
        *(PROJECT / "data/questions").glob("*.toml"),
    ]
    shown = " ".join(" ".join(path.read_text("utf-8") for path in taught).split())
    secret = {line for exercise in EXERCISES.values() for line in statements(exercise)}
    secret = {line for line in secret if line not in shown}
    assert len(secret) > 40
    files = [path for path in (made / "student").rglob("*") if path.is_file() and path.suffix != ".png"]
    assert len(files) > 80
    for path in files:
        text = path.read_text("utf-8")
        if path.suffix == ".ipynb":
            cells = nbformat.reads(text, 4).cells
            text = " ".join(
                [cell.source for cell in cells]
                + [str(output) for cell in cells for output in cell.get("outputs", [])]
            )
        text = " ".join(text.split())
        assert not {line for line in secret if line in text}, path
    assert all("BEGIN" not in path.read_text("utf-8") for path in files if path.suffix == ".ipynb")


def test_the_question_that_is_graded_is_not_in_the_students_bank(made: Path) -> None:
    asked = [release.question_of(number) for number in release.LABS]
    texts = [
        path.read_text("utf-8") for path in (made / "student").rglob("*") if path.suffix in (".toml", ".ipynb", ".py")
    ]
    for question in asked:
        said = max(question.model_answer.splitlines(), key=len)
        assert len(said) > 40 and not any(said in text or f'"{question.id}"' in text for text in texts), question.id
    left = load_questions(folder=made / "student/data/questions")
    assert {one.id for one in load_questions()} - {one.id for one in left} == {one.id for one in asked}
    assert len(load_questions("hi/02", made / "student/data/questions")) == len(load_questions("02")) - 1


def test_labs_ask_and_offer_only_what_can_be_had(made: Path) -> None:
    for path in (made / "student/labs").glob("*.ipynb"):
        text = " ".join(cell.source for cell in nbformat.read(path, 4).cells)
        assert "Without a checker" not in text and "solution(" not in text and "`hint(" in text


def test_the_students_readme_names_only_what_students_have(made: Path) -> None:
    text = (made / "student/README.md").read_text("utf-8")
    links = [link for link in re.findall(r"\]\(([^)#\s]+)", text) if not link.startswith("http")]
    assert len(links) >= 4 and all((made / "student" / link).exists() for link in links)
    commands = set(re.findall(r"run\.py ([a-z]+)\b", text))
    assert "lab" in commands and all((made / "student" / run.NEEDED.get(name, ".")).exists() for name in commands)


def test_a_second_release_keeps_what_a_class_handed_in(made: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(made, out)
    kept = [out / "instructor" / name for name in ("submitted/asha/lab02/lab02.ipynb", "gradebook.db")]
    for path in kept:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    deliver(made, out)
    assert all(path.read_text() == "mine" for path in kept)
    (out / "instructor/nbgrader_config.py").write_text("mine")
    with pytest.raises(InTheWay, match="nbgrader_config.py: changed since a build wrote them"):
        deliver(made, out)


def test_the_fence_is_found_where_it_is_there(made: Path) -> None:
    """The search above finds what it looks for in the instructor's version."""
    text = " ".join((made / "instructor/labs/lab03.ipynb").read_text("utf-8").split())
    assert "torch.tanh(queries + projected) @ v" in text and "Talking points, 3.2" in text


@pytest.mark.parametrize("kind", ["student/labs", "student/notebooks", "instructor/source", "instructor/notebooks"])
def test_cells_are_named_once_and_worth_what_they_should(made: Path, kind: str) -> None:
    found: dict[str, int] = {}
    for path in (made / kind).rglob("*.ipynb"):
        notebook = nbformat.read(path, 4)
        nbformat.validate(notebook)
        assert "widgets" not in notebook.metadata
        here: set[str] = set()
        for cell in notebook.cells:
            if "nbgrader" in cell.metadata:
                fields = cell.metadata.nbgrader
                assert fields.schema_version == 3 and fields.grade_id not in here
                here.add(fields.grade_id)
                found[fields.grade_id] = fields.get("points", 0)
    if kind.endswith("notebooks"):
        assert (made / kind / "hi/02_hand_traced_attention.ipynb").is_file()
    for exercise in EXERCISES.values():
        name = f"nb{exercise.notebook}-{exercise.id.replace('.', '-')}"
        assert found[f"{name}-check"] == {"easy": 2, "medium": 4, "hard": 6}[exercise.difficulty]
        assert f"{name}-answer" in found


@pytest.mark.parametrize("path", paths().values(), ids=paths())
def test_a_sealed_exercise_checks_as_well(path: Path, tmp_path: Path) -> None:
    whole, sealed = load(path), tmp_path / path.name
    sealed.write_text(release.sealed(path), encoding="utf-8")
    part = load(sealed)
    assert (part.statement, part.stub, part.hints, part.solution) == (whole.statement, whole.stub, whole.hints, "")
    assert {name: wrong.diagnosis for name, wrong in part.wrong.items()} == {
        name: wrong.diagnosis for name, wrong in whole.wrong.items()
    }
    assert [label for label, _ in part.module.cases()] == [label for label, _ in whole.module.cases()]
    for line in statements(whole):
        assert line not in " ".join(sealed.read_text("utf-8").split())


def test_a_students_copy_runs_by_itself(made: Path, tmp_path: Path) -> None:
    """Its lab runs to the end with the stubs; its check names a mistake; its solution stays away."""
    copy = shutil.copytree(made / "student", tmp_path / "copy")
    program = (
        "import numpy as np\nfrom lib.exercises import check, find, grade, solution\n"
        "wrong = find('2.2').wrong\nname, one = next(iter(wrong.items()))\n"
        "print(check('2.2', one.function).mistake == name)\nprint(solution('2.2'))\nimport lib; print(lib.__file__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    told, answer, place = done.stdout.splitlines()
    assert told == "True" and answer.endswith("your instructor has the solution: this is the version for a class.")
    assert Path(place).is_relative_to(copy)
    notebook = nbformat.read(copy / "labs/lab02.ipynb", 4)
    build.execute(notebook, copy)
    reports = [str(cell.outputs) for cell in notebook.cells if cell.source.startswith("check(")]
    assert len(reports) == 4 and all("not attempted yet" in report for report in reports)


# ------------------------------------------------------------------------------------------------ with nbgrader

LAB = "lab02"
HERE = [exercise for exercise in EXERCISES.values() if exercise.notebook == LAB[-2:]]
Written = Callable[[int, Exercise], str | None]  # place, exercise -> what a student writes; None: nothing

STUDENTS: dict[str, Written] = {
    "right": lambda place, exercise: exercise.solution,
    "wrong": lambda place, exercise: next(iter(exercise.wrong.values())).source,
    "half": lambda place, exercise: exercise.solution if place < 2 else None,
}


def hand_in(lab: Path, target: Path, write: Written) -> None:
    """The lab as a student gives it back."""
    notebook = nbformat.read(lab, 4)
    places = {release.grade_id(exercise, "answer"): (place, exercise) for place, exercise in enumerate(HERE)}
    for cell in notebook.cells:
        key = cell.metadata.get("nbgrader", {}).get("grade_id")
        text = write(*places[key]) if key in places else None
        if text:
            cell.source = text
    target.parent.mkdir(parents=True)
    nbformat.write(notebook, target)


def nbgrader(course: Path, *arguments: str) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # where nbgrader looks for `alembic`
    command = [sys.executable, "-m", "nbgrader", *arguments]
    done = subprocess.run(command, cwd=course, env={**os.environ, "PATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]


def test_marks_of_a_round_trip(made: Path, tmp_path: Path) -> None:
    if os.environ.get("COURSE_PUBLISH") != "required":
        pytest.importorskip("nbgrader")
    course = shutil.copytree(made / "instructor", tmp_path / "course")
    nbgrader(course, "generate_assignment", LAB)
    released = course / "release" / LAB / f"{LAB}.ipynb"
    ours = nbformat.read(made / "student/labs" / f"{LAB}.ipynb", 4)
    theirs = nbformat.read(released, 4)  # ours is made without nbgrader, and must be the same
    assert [cell.source for cell in theirs.cells] == [cell.source for cell in ours.cells]
    for student, write in STUDENTS.items():
        hand_in(released, course / "submitted" / student / LAB / f"{LAB}.ipynb", write)
    nbgrader(course, "autograde", LAB)
    nbgrader(course, "generate_feedback", LAB)
    query = (
        "select s.id, sum(g.auto_score) from grade g join submitted_notebook n on g.notebook_id = n.id "
        "join submitted_assignment a on n.assignment_id = a.id join student s on a.student_id = s.id group by s.id"
    )
    with sqlite3.connect(course / "gradebook.db") as book:
        marks = dict(book.execute(query).fetchall())
    # By hand: 2.1 easy 2, 2.2 easy 2, 2.3 medium 4, the bug lab easy 2.
    assert marks == {"right": 10, "wrong": 0, "half": 4}
    feedback = (course / "feedback" / "wrong" / LAB / f"{LAB}.html").read_text("utf-8")
    diagnosis = next(iter(HERE[0].wrong.values())).diagnosis
    assert diagnosis.split(".")[0][:30] in feedback
