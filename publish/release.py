"""Make the student and the instructor version of the course, from the one source that it has.

    python3 run.py release              into build/release
    python3 run.py release --out DIR
    python3 run.py release --repository OWNER/NAME     with badges for Colab and Binder in the student version

student/      the course to hand out: notebooks without an answer, the labs, and `exercises/` sealed, so that `check`
              and its diagnoses work while nobody reads a solution by accident
instructor/   a course folder of nbgrader (`source/lab03/lab03.ipynb`, nbgrader_config.py), and in `notebooks/` and
              `labs/` the same with solutions, executed, with talking points

A lab is what a notebook asks the learner to write: its exercises, its bug lab and one question in words. It runs in
seconds, since it trains nothing; that is why labs are graded, and not whole notebooks.
"""

from __future__ import annotations

import argparse
import ast
import base64
import builtins
import re
import shutil
import sys
import tempfile
import textwrap
import time
import tomllib
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from lib.bank import load_questions
from lib.exercise_files import Exercise, find, paths
from lib.questions import Question
from notebooks import build
from publish import online
from publish.deliver import InTheWay, deliver

ROOT = Path(__file__).resolve().parent.parent
POINTS = {"easy": 2, "medium": 4, "hard": 6}
WRITTEN_POINTS = 4
STUB = "..."
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
BEGIN_HIDDEN, END_HIDDEN = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"
LABS = ("01", "02", "03", "04", "05")
COPIED = (
    *("lib", "data", "docs/what_you_will_see.png", "docs/scale.md", "README.md", "CITATION.cff"),
    *("LICENSE", "run.py", "editable.py", "pyproject.toml", "requirements.txt", "environment.yml"),
    *(".gitattributes", ".gitignore"),
)
UNCHECKED = "### Without a checker"  # tasks that need what the notebook has trained: not for a lab
OFFER = re.compile(r';\s*`solution\("[\d.]+"\)` shows ours once you have tried(?=\.)')
NOT_FOR_STUDENTS = ("For a class, and as a web site", "Tests")  # sections of README.md
CONFIG = f'''"""nbgrader's settings for the labs: see docs/grading.md of the course."""

c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "attention"
c.ClearSolutions.code_stub = {{"python": "{STUB}"}}
c.ExecutePreprocessor.timeout = 60  # seconds for a cell; a lab takes a few altogether
c.ExecutePreprocessor.iopub_timeout = 10
'''


# ---------------------------------------------------------------------------------------------- cells of a lab


def graded(cell: NotebookNode, grade_id: str, **fields: Any) -> NotebookNode:
    """Give a cell nbgrader's metadata, schema 3."""
    usual = {
        "schema_version": 3,
        "grade_id": grade_id,
        "grade": False,
        "solution": False,
        "locked": False,
        "task": False,
    }
    cell.metadata["nbgrader"] = {**usual, **fields}
    return cell


def grade_id(exercise: Exercise, what: str) -> str:
    """ "nb03-3-2-answer" """
    return f"nb{exercise.notebook}-{exercise.id.replace('.', '-')}-{what}"


def fenced(exercise: Exercise, stub: str) -> str:
    """The learner's cell with our solution between nbgrader's fences.

    The body of an exercise is the solution. A bug lab keeps its bug, and the repaired function follows it.
    """
    if exercise.is_lab:
        return f"{stub}\n\n\n{BEGIN}\n{exercise.solution.strip()}\n{END}"
    (function,) = (node for node in ast.parse(stub).body if isinstance(node, ast.FunctionDef))
    (ours,) = ast.parse(exercise.solution).body
    head = stub.splitlines()[: function.body[-1].lineno - 1]  # up to the "..."
    skip = 1 if ast.get_docstring(ours) else 0
    body = exercise.solution.splitlines()[ours.body[skip].lineno - 1 :]
    return "\n".join([*head, f"    {BEGIN}", *body, f"    {END}"])


def check_source(exercise: Exercise) -> str:
    """What the learner sees, and the hidden test that gives the points."""
    name = exercise.module.NAME
    hidden = f'from lib.exercises import grade\n\ngrade("{exercise.id}", {name})'
    return f'check("{exercise.id}", {name})\n{BEGIN_HIDDEN}\n{hidden}\n{END_HIDDEN}'


def marked(notebook: NotebookNode) -> NotebookNode:
    """Put solutions, hidden tests and nbgrader's metadata into the cells of every exercise, in place."""
    exercises = {identifier: find(identifier) for identifier in paths()}
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        for exercise in exercises.values():
            name = exercise.module.NAME
            if cell.source.startswith(f"def {name}("):
                cell.source = fenced(exercise, cell.source)
                graded(cell, grade_id(exercise, "answer"), solution=True)
            elif cell.source == f'check("{exercise.id}", {name})':
                cell.source = check_source(exercise)
                points = POINTS[exercise.difficulty]
                graded(cell, grade_id(exercise, "check"), grade=True, locked=True, points=points)
    return notebook


def lab(source: Path) -> NotebookNode:
    """The lab of a notebook, as nbgrader's source: its exercises and bug lab, and a question in words."""
    notebook, number = marked(build.convert(source)), source.stem[:2]
    tags = [cell.metadata.get("tags", []) for cell in notebook.cells]
    begin = next(i for i, found in enumerate(tags) if "exercise-place" in found)
    end = next(i for i, found in enumerate(tags) if "recall-place" in found)
    section = [cell for cell in notebook.cells[begin:end] if not cell.source.startswith(UNCHECKED)]
    for cell in section:
        cell.source = OFFER.sub("", cell.source)
    chosen = list(runnable(notebook.cells[:begin], section))
    title = notebook.cells[0].source.splitlines()[0].lstrip("# ")
    task = "Write each function, run its cell, then the `check` below it. What is there at the end is graded."
    opening = f"# Lab {title}\n\n{task}"
    result = new_notebook(cells=[new_markdown_cell(opening), *chosen, *written(number)], metadata=build.METADATA)
    return with_ids(result)


def runnable(before: Sequence[NotebookNode], section: Sequence[NotebookNode]) -> Iterator[NotebookNode]:
    """The imports that the section needs, then its cells but those that use what the notebook computed before."""
    imports: dict[str, str] = {}
    for cell in before:
        if cell.cell_type == "code":
            for node in ast.walk(ast.parse(cell.source)):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    for alias in node.names:
                        imports[alias.asname or alias.name] = ast.unparse(
                            type(node)(**{**vars(node), "names": [alias]})
                        )
    known, needed, kept = set(dir(builtins)), {}, []
    for cell in section:
        if cell.cell_type == "code":
            reads, binds = names(cell.source)
            lacking = reads - binds - known
            if not lacking <= imports.keys():
                if "nbgrader" in cell.metadata:
                    raise build.BuildError(f"{', '.join(lacking - imports.keys())} is not imported: {cell.source}")
                continue
            needed |= {name: imports[name] for name in sorted(lacking)}
            known |= binds | lacking
        kept.append(cell)
    yield new_code_cell("\n".join(needed.values()))
    yield from kept


def names(source: str) -> tuple[set[str], set[str]]:
    """The names that a cell reads, and those that it binds at any depth."""
    reads, binds = set(), set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name):
            (reads if isinstance(node.ctx, ast.Load) else binds).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.arg | ast.alias):
            binds.add(getattr(node, "asname", None) or getattr(node, "name", None) or node.arg)
    return reads, binds


def written(number: str) -> Iterator[NotebookNode]:
    """The question in words, and the cell for its answer, which holds ours and the rubric between the fences."""
    question = question_of(number)
    task = f"## In your own words\n\n*{WRITTEN_POINTS} points, graded by a person*\n\n{question.prompt}"
    yield graded(new_markdown_cell(task), f"nb{number}-written-question", locked=True)
    rubric = "\n".join(f"- {line}" for line in question.rubric)
    answer = f"{BEGIN}\n{question.model_answer}\n\nRubric:\n\n{rubric}\n{END}"
    yield graded(new_markdown_cell(answer), f"nb{number}-written", grade=True, solution=True, points=WRITTEN_POINTS)


def question_of(number: str) -> Question:
    """The question in words of a lab: the notebook's first."""
    return next(question for question in load_questions(number) if question.kind == "written")


def with_ids(notebook: NotebookNode) -> NotebookNode:
    """Number the cells, so that two builds are alike."""
    for index, cell in enumerate(notebook.cells):
        cell.id = f"cell-{index}"
    return notebook


# ------------------------------------------------------------------------------------------- what students get


def without_answers(notebook: NotebookNode) -> NotebookNode:
    """Take out solutions and hidden tests, as nbgrader does, and the outputs that could show an answer; in place."""
    for cell in notebook.cells:
        cell.source = OFFER.sub("", cell.source)
        told = "nbgrader" in cell.metadata
        if told:
            text = cut(cell.source, BEGIN_HIDDEN, END_HIDDEN, None)
            cell.source = cut(text, BEGIN, END, STUB if cell.cell_type == "code" else "YOUR ANSWER HERE")
        if cell.cell_type == "code" and (told or cell.source.startswith("recall(") or "\nrecall(" in cell.source):
            cell.outputs, cell.execution_count = [], None
    return notebook


def cut(text: str, begin: str, end: str, stub: str | None) -> str:
    """Put `stub`, with the fence's indent, in place of what stands between the fences; None: nothing."""
    lines, inside = [], False
    for line in text.splitlines():
        if line.strip() == begin:
            inside = True
            if stub is not None:
                lines.append(line.replace(begin, stub))
        elif line.strip() == end:
            inside = False
        elif not inside:
            lines.append(line)
    return "\n".join(lines)


def sealed(path: Path) -> str:
    """An exercise file without its solution, the rest made unreadable: a curtain, and no lock."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    (function,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "solution")
    lines = text.splitlines(keepends=True)
    kept = "".join(lines[: function.lineno - 1] + lines[function.end_lineno :])
    code = base64.b64encode(zlib.compress(kept.encode(), 9)).decode()
    statement = f'"""{ast.get_docstring(tree, clean=False)}"""'
    return (
        f"{statement}\n\n# `check` reads this. The solution is not in it.\nSEALED = (\n"
        + "".join(f'    "{part}"\n' for part in textwrap.wrap(code, 110))
        + ")\n"
    )


# ---------------------------------------------------------------------------------------- what instructors get


def with_notes(notebook: NotebookNode, executed: dict[str, NotebookNode]) -> NotebookNode:
    """Solutions with the outputs that they have in the executed lab, and talking points after each check."""
    exercises = {grade_id(exercise, "check"): exercise for exercise in map(find, paths())}
    cells = []
    for cell in notebook.cells:
        key = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if key in executed and cell.cell_type == "code":
            cell.outputs, cell.execution_count = executed[key].outputs, executed[key].execution_count
        cells.append(cell)
        if key in exercises:
            cells.append(talking_points(exercises[key]))
    notebook.cells = cells
    return notebook


def talking_points(exercise: Exercise) -> NotebookNode:
    """Time, points, the hints, and the mistakes that are known, as a note for whoever teaches."""
    lines = [
        f"**Talking points, {exercise.id}** · {exercise.minutes} minutes · {POINTS[exercise.difficulty]} points",
        "",
    ]
    lines += ["Questions to ask, from weak to strong:", "", *(f"- {text}" for text in exercise.hints), ""]
    lines += ["What goes wrong, and what to say:", ""]
    lines += [f"- *{name.replace('_', ' ')}*: {wrong.diagnosis}" for name, wrong in exercise.wrong.items()]
    note = new_markdown_cell("\n".join(lines), metadata={"tags": ["talking-point"]})
    note.id = f"talk-{exercise.id.replace('.', '-')}"
    return note


# ------------------------------------------------------------------------------------------------- the release


def release(out: Path, repository: str | None = None) -> None:
    """Write both versions into `out`, where submissions and marks of a class may lie already: they stay.

    With the repository on GitHub where the student version will be published, its notebooks open on Colab and Binder.

    Raises:
        InTheWay: a file that this would overwrite was changed by somebody.
    """
    with tempfile.TemporaryDirectory(prefix="course-release-") as name:
        make(Path(name), repository)
        deliver(Path(name), out)


def make(folder: Path, repository: str | None) -> None:
    """Write both versions into an empty folder."""
    student, instructor = folder / "student", folder / "instructor"
    copy_course(student)
    made(instructor)
    (instructor / "nbgrader_config.py").write_text(CONFIG, encoding="utf-8")
    executed: dict[str, NotebookNode] = {}
    for name, source, notebook in release_labs(instructor):
        put(without_answers(nbformat.from_dict(notebook)), student, f"labs/{name}.ipynb", repository)
        run = lab(source)
        build.execute(run, instructor)
        build.clean(run)
        executed |= {cell.metadata.nbgrader.grade_id: cell for cell in run.cells if "nbgrader" in cell.metadata}
        put(with_notes(run, {}), instructor, f"labs/{name}.ipynb")
    for path in build.stored():
        target = f"notebooks/{build.name_of(path)}.ipynb"
        put(without_answers(marked(nbformat.read(path, 4))), student, target, repository)
        put(with_notes(marked(nbformat.read(path, 4)), executed), instructor, target)


def put(notebook: NotebookNode, folder: Path, path: str, repository: str | None = None) -> None:
    """Write a notebook to `path` in the folder, with the cells for Colab and Binder if there is a repository."""
    if repository:
        notebook.cells[:0] = online.opening(repository, path)
    made((folder / path).parent)
    build.write(notebook, folder / path)


def release_labs(course: Path) -> list[tuple[str, Path, NotebookNode]]:
    """Write nbgrader's source of each lab into a course folder: name, the notebook's source, the lab."""
    found = []
    for number in LABS:
        (source,) = build.SOURCE.glob(f"{number}_*.py")
        name, notebook = f"lab{number}", lab(source)
        build.write(notebook, made(course / "source" / name) / f"{name}.ipynb")
        found.append((name, source, notebook))
    return found


def made(folder: Path) -> Path:
    """The folder, made if it was not there."""
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def copy_course(student: Path) -> None:
    """All that a learner needs beside the notebooks."""
    for name in COPIED:
        target = student / name
        made(target.parent)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(ROOT / name, target)
    for path in paths().values():
        (made(student / "exercises") / path.name).write_text(sealed(path), encoding="utf-8", newline="\n")
    graded = {question_of(number).id for number in LABS}
    for path in (student / "data" / "questions").rglob("*.toml"):
        rewrite(path, lambda text: without_questions(text, graded))
    rewrite(student / "README.md", without_sections)


def rewrite(path: Path, change: Callable[[str], str]) -> None:
    """Write a text file anew if the change changes it."""
    text = path.read_text(encoding="utf-8")
    if change(text) != text:
        path.write_text(change(text), encoding="utf-8", newline="\n")


def without_questions(text: str, identifiers: Collection[str]) -> str:
    """A file of the question bank without some questions: their answers are graded, and stand in the bank."""
    head, *questions = re.split(r"(?m)^(?=\[\[question\]\]$)", text)
    return head + "".join(one for one in questions if tomllib.loads(one)["question"][0]["id"] not in identifiers)


def without_sections(text: str) -> str:
    """README.md without what only instructors and maintainers need, which students have not got."""
    text = text.replace(" To correct or extend it, see [CONTRIBUTING.md](CONTRIBUTING.md).", "")
    head, *sections = re.split(r"(?m)^(?=## )", text)
    return head + "".join(one for one in sections if one[3:].splitlines()[0] not in NOT_FOR_STUDENTS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the release and say where it is."""
    parser = argparse.ArgumentParser(
        prog="run.py release", description="Make the student and the instructor version."
    )
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "release", help="default: build/release")
    where = "OWNER/NAME on GitHub, where the student version will lie: its notebooks get badges for Colab and Binder"
    parser.add_argument("--repository", type=online.repository, help=where)
    told = parser.parse_args(arguments)
    out, begin = told.out, time.perf_counter()
    try:
        release(out, told.repository)
    except (OSError, InTheWay, build.BuildError) as error:
        print(f"No release was made: {error}", file=sys.stderr)
        return 1
    print(f"{out}: student and instructor version, {time.perf_counter() - begin:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
