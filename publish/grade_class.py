"""Grade what a class handed in, each submission in a process of its own, whatever it does.

    python3 run.py grade COURSE lab02       COURSE/submitted/*/lab02/lab02.ipynb, by COURSE/source/lab02/lab02.ipynb
    python3 run.py grade --rehearse 200     a made-up class of 200, three of them hostile: is every mark right?

Marks are those of nbgrader: the check cells are put back as they were handed out, all cells are run (those that the
student added as well), and a check that raises nothing has its points. Written into COURSE/graded: lab02-totals.csv
(a line a student), lab02-marks.csv (a line a check), and each notebook as it ran. What was handed in is never
changed. A submission runs with your rights: docs/grading.md says what that means, and how to use a container.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import csv
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode

from lib.exercise_files import find, paths

CELL_SECONDS, SECONDS, MEGABYTES, OUTPUT = 15, 120, 6_000, 2_000_000
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
# The kernel runs this when it starts. To send one print of a gigabyte takes minutes: of each print, one letter more
# than the limit is sent, and that ends the cell.
STARTUP = f"""from ipykernel.iostream import OutStream

OutStream.write = lambda self, text, write=OutStream.write: write(self, text[:{OUTPUT + 1}])
del OutStream
"""
TIMEOUT = "CellTimeoutError"
COLUMNS = ("student", "cell", "points", "of", "mistake", "trouble")


@dataclass
class Marks:
    """One submission: points and most points of each check, the mistake recognised there, and what went wrong."""

    student: str
    points: dict[str, tuple[float, float]] = field(default_factory=dict)
    mistakes: dict[str, str] = field(default_factory=dict)
    trouble: str = ""
    seconds: float = 0.0

    @property
    def total(self) -> float:
        return sum(points for points, _ in self.points.values())


# --------------------------------------------------------------------------------------- inside the process


class Careful(NotebookClient):
    """Runs a notebook; a cell that puts out more than `OUTPUT` letters is interrupted, and the rest is not kept."""

    printed = 0
    flooded = False
    late = False  # the cell before did not end

    def process_message(self, msg: dict[str, Any], cell: NotebookNode, cell_index: int) -> NotebookNode | None:
        """Count what is printed or displayed before it is kept."""
        if msg["msg_type"] in ("stream", "display_data", "execute_result", "error"):
            self.printed += letters(msg["content"])
            if self.printed > OUTPUT:
                if not self.flooded:
                    self.flooded = True
                    self.interrupting = asyncio.ensure_future(self.km.interrupt_kernel())
                return None
        return super().process_message(msg, cell, cell_index)

    async def async_execute_cell(self, cell: NotebookNode, cell_index: int, **options: Any) -> NotebookNode:
        """Each cell may print anew."""
        self.printed, self.flooded = 0, False
        result = await super().async_execute_cell(cell, cell_index, **options)
        if self.flooded:
            cell.outputs.append(nbformat.v4.new_output("error", ename="Flood", evalue="it printed too much"))
            self.troubles.append("printed too much")
        if any(output.get("ename") == "MemoryError" for output in cell.get("outputs", [])):
            self.troubles.append("out of memory")
        return result

    def after_cell(self, cell: NotebookNode, execute_reply: dict[str, Any], **_: Any) -> None:
        """Note a cell that did not end in the cell; give up when the next does not either, since none will."""
        late = (execute_reply or {}).get("content", {}).get("ename") == TIMEOUT
        if late:
            self.troubles.append("a cell did not end")
            cell.outputs.append(nbformat.v4.new_output("error", ename=TIMEOUT, evalue="it did not end"))
            if self.late:
                raise DeadKernelError("it does not listen to interrupts")
        self.late = late


def letters(content: dict[str, Any]) -> int:
    """How much a message of the kernel shows."""
    shown = [content.get("text", ""), *content.get("data", {}).values(), *content.get("traceback", ())]
    return sum(len(str(part)) for part in shown)


def restored(submitted: NotebookNode, source: NotebookNode) -> NotebookNode:
    """The student's notebook with the instructor's cells put back, but for the text of answers.

    As nbgrader does it: cells that the student added are kept and run, and of two cells with one id the last counts.
    """
    ours = {cell.metadata.nbgrader.grade_id: cell for cell in source.cells if "nbgrader" in cell.metadata}
    for cell in reversed(submitted.cells):
        fields = cell.metadata.pop("nbgrader", {})
        kept = ours.pop(fields.get("grade_id"), None)
        if kept:
            text = kept.source if kept.metadata.nbgrader.locked else cell.source
            cell.clear()
            cell.update({**kept, "source": text})
    return submitted


def run_one(submission: Path, source: Path, result: Path) -> None:
    """Run one submission in the working directory and write the notebook as it ran, then its marks."""
    original = nbformat.read(source, 4)
    graded = [cell.metadata.nbgrader for cell in original.cells if is_check(cell)]
    notebook = restored(read(submission), original)
    (result / "startup.py").write_text(STARTUP, encoding="utf-8")
    os.environ["PYTHONSTARTUP"] = str(result / "startup.py")
    client = Careful(
        notebook,
        kernel_name="python3",
        timeout=CELL_SECONDS,
        interrupt_on_timeout=True,
        error_on_timeout={"ename": TIMEOUT, "evalue": "", "traceback": []},
        allow_errors=True,
    )
    client.troubles, client.on_cell_executed = [], client.after_cell
    try:
        client.execute()
    except DeadKernelError as error:
        client.troubles.append(f"stopped there: {str(error).lower()}")
    points = {fields.grade_id: (0, fields.points) for fields in graded}
    mistakes = dict.fromkeys(points, "")
    for cell in filter(is_check, notebook.cells):
        fields = cell.metadata.nbgrader
        errors = [output for output in cell.get("outputs", []) if output.output_type == "error"]
        if cell.execution_count is not None and not errors:
            points[fields.grade_id] = (fields.points, fields.points)
        mistakes[fields.grade_id] = recognised(fields.grade_id, errors)
    missing = len(graded) - sum(map(is_check, notebook.cells))
    if missing:
        client.troubles.append(f"{missing} of the check cells are missing")
    marks = {"points": points, "mistakes": mistakes, "trouble": "; ".join(dict.fromkeys(client.troubles))}
    with contextlib.suppress(OSError, ValueError):  # what cannot be written costs the copy, not the marks
        nbformat.write(notebook, result / "graded.ipynb")
    (result / "marks.json").write_text(json.dumps(marks), encoding="utf-8")


def is_check(cell: NotebookNode) -> bool:
    """Whether a cell gives points when it runs."""
    return cell.cell_type == "code" and bool(cell.metadata.get("nbgrader", {}).get("grade"))


def recognised(grade_id: str, errors: Sequence[NotebookNode]) -> str:
    """The catalogued mistake whose diagnosis stands in the error of a check, or ""."""
    said = " ".join(COLOURS.sub("", error.get("evalue", "")) for error in errors)
    number = re.fullmatch(r"nb\d\d-(\d)-(\w+)-check", grade_id)
    if number and f"{number[1]}.{number[2]}" in paths():
        for name, wrong in find(f"{number[1]}.{number[2]}").wrong.items():
            if wrong.diagnosis in " ".join(said.split()):
                return name
    return ""


def read(path: Path) -> NotebookNode:
    """A notebook as it was handed in. ValueError: it is none."""
    try:
        return nbformat.read(path, 4)
    except Exception as error:  # whatever a file holds
        raise ValueError(f"{path.name} is no notebook: {str(error)[:80]}") from None


def limit() -> None:
    """Bound what this process and its kernel may use, where the system knows how."""
    try:
        import resource
    except ImportError:  # Windows: the clock alone
        return
    bounds = {"RLIMIT_AS": MEGABYTES * 2**20, "RLIMIT_FSIZE": 50 * 2**20, "RLIMIT_CPU": SECONDS, "RLIMIT_CORE": 0}
    for name, most in bounds.items():
        hard = resource.getrlimit(getattr(resource, name))[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(getattr(resource, name), (most, most))


# ---------------------------------------------------------------------------------------- around the processes


def grade_one(submission: Path, source: Path, student: str, keep: Path | None) -> Marks:
    """Grade one submission in its own process and folder; `keep`: where the notebook goes as it ran."""
    marks, begin = Marks(student), time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="grade-", ignore_cleanup_errors=True) as name:
        work, result = Path(name, "work"), Path(name, "result")
        work.mkdir()
        result.mkdir()
        shutil.copy2(submission, work / submission.name)
        command = [sys.executable, "-P", "-m", "publish.grade_class", "--one", work / submission.name, source, result]
        variables = {**os.environ, "OMP_NUM_THREADS": "1", "COURSE_DATA": str(work)}
        with (Path(name) / "said").open("w+b") as said:
            child = subprocess.Popen(
                command, cwd=work, env=variables, stdout=said, stderr=said, start_new_session=True
            )
            try:
                child.wait(SECONDS)
            except subprocess.TimeoutExpired:
                marks.trouble = f"stopped after {SECONDS} s"
            finally:
                end(child)
            said.seek(0)
            last = said.read()[-2_000:].decode("utf-8", "replace").strip().splitlines()
        if child.returncode == 0:  # what lies there after another end, the submission may have written
            found = json.loads((result / "marks.json").read_text("utf-8"))
            marks.points = {key: tuple(pair) for key, pair in found["points"].items()}
            marks.mistakes, marks.trouble = found["mistakes"], found["trouble"]
            if keep and (result / "graded.ipynb").is_file():
                keep.mkdir(parents=True, exist_ok=True)
                shutil.copy2(result / "graded.ipynb", keep / submission.name)
        elif not marks.trouble:
            killed = f"its process was ended (code {child.returncode})"
            marks.trouble = last[-1] if last and child.returncode == 1 else killed
    marks.seconds = time.perf_counter() - begin
    return marks


def end(child: subprocess.Popen) -> None:
    """End a process and all that it started in its session; its kernel ends by itself when it has no parent."""
    if child.poll() is None:
        if os.name == "nt":
            child.kill()
        else:
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def grade_all(course: Path, assignment: str, jobs: int) -> list[Marks]:
    """Grade every submission of an assignment.

    Raises:
        ValueError: there is no such assignment, or nothing was handed in.
    """
    source = course / "source" / assignment / f"{assignment}.ipynb"
    handed = sorted(path for path in (course / "submitted").glob("*") if not path.name.startswith("."))
    if not source.is_file():
        raise ValueError(f"{source} is not there: give the folder that `run.py release` made, and a lab like lab02")
    if not handed:
        raise ValueError(f"nothing is at {course}/submitted/STUDENT/{assignment}/{assignment}.ipynb")
    graded = course / "graded"

    def one(folder: Path) -> Marks:
        student, path = folder.name, folder.resolve() / assignment / f"{assignment}.ipynb"
        try:
            if not path.is_file():
                raise ValueError(f"no {assignment}/{path.name} was handed in{instead(folder, assignment)}")
            return grade_one(path, source.resolve(), student, graded / student / assignment)
        except (OSError, ValueError) as error:  # it costs nobody else
            return Marks(student, trouble=str(error))

    with ThreadPoolExecutor(jobs) as pool:
        found = list(pool.map(one, handed))
    write_marks(graded / f"{assignment}-marks.csv", found)
    most = sum(cell.metadata.nbgrader.points for cell in read(source).cells if is_check(cell))
    totals = [(marks.student, f"{marks.total:g}", f"{most:g}", marks.trouble) for marks in found]
    write_rows(graded / f"{assignment}-totals.csv", ("student", "points", "of", "trouble"), totals)
    return found


def instead(folder: Path, assignment: str) -> str:
    """What lies where a submission should, so that whoever grades can put it right."""
    if not folder.is_dir():
        return ": this is a file, and should lie in a folder with the student's name"
    place = folder / assignment if (folder / assignment).is_dir() else folder
    found = sorted(path.name for path in place.iterdir() if not path.name.startswith("."))
    return f"; there is {', '.join(found[:5])}" if found else ""


def write_marks(path: Path, found: Sequence[Marks]) -> None:
    """One line for each check of each student, and one for each submission without marks."""
    lines = []
    for marks in found:
        checks = [(cell, *pair, marks.mistakes.get(cell, "")) for cell, pair in marks.points.items()]
        lines += [(marks.student, *check, marks.trouble) for check in checks or [("", 0, 0, "")]]
    write_rows(path, COLUMNS, lines)


def write_rows(path: Path, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Write a table as a CSV file, in one move."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([columns, *rows])
    os.replace(part, path)


# --------------------------------------------------------------------------------------------------- rehearsal

LOOP = "while True:\n    pass\n\n\n"
DELETE = "import os\nimport shutil\n\nshutil.rmtree(os.getcwd())\n\n\n"
FLOOD = 'for _ in range(1_000_000):\n    print("x" * 1_000)\n\n\n'


def rehearse(number: int, jobs: int, assignment: str = "lab02") -> int:
    """Make a class, grade it, compare every mark with what it must be; the exit code is 0 if all are right."""
    from publish.release import release_labs

    with tempfile.TemporaryDirectory(prefix="class-") as name:
        course = Path(name)
        release_labs(course)
        wanted = dict(make_class(course, assignment, number))
        begin = time.perf_counter()
        found = grade_all(course, assignment, jobs)
        seconds = time.perf_counter() - begin
    wrong = [marks.student for marks in found if marks.total != wanted[marks.student]]
    median = statistics.median(marks.seconds for marks in found)
    print(
        f"{len(found)} submissions of {assignment} in {seconds:.0f} s, {jobs} at a time; median {median:.1f} s each"
    )
    for marks in found:
        if marks.trouble:
            points = f"{marks.total:g} points, {wanted[marks.student]:g} expected"
            print(f"  {marks.student}: {marks.trouble}; {points}; {marks.seconds:.0f} s")
    print(f"marks that are right: {len(found) - len(wrong)} of {len(found)}", *wrong)
    return 1 if wrong or len(found) != number else 0


def make_class(course: Path, assignment: str, number: int) -> Iterator[tuple[str, float]]:
    """Write submissions; yield each student and the points he must have."""
    from publish.release import POINTS, grade_id, without_answers

    exercises = [exercise for exercise in map(find, paths()) if exercise.notebook == assignment[-2:]]
    points = [POINTS[exercise.difficulty] for exercise in exercises]
    hostile = {"loops": LOOP, "deletes": DELETE, "floods": FLOOD}
    kinds = [*hostile, *("right" if i % 3 == 0 else "wrong" if i % 3 == 1 else "half" for i in range(number - 3))]
    for place, kind in enumerate(kinds[:number]):
        handed = without_answers(nbformat.read(course / "source" / assignment / f"{assignment}.ipynb", 4))
        answers = {}
        for index, exercise in enumerate(exercises):
            mistakes = [wrong.source for wrong in exercise.wrong.values()]
            text = mistakes[place % len(mistakes)] if kind == "wrong" else exercise.solution
            if kind == "half" and index >= 2:
                continue
            answers[grade_id(exercise, "answer")] = (hostile.get(kind, "") if index == 0 else "") + text
        for cell in handed.cells:
            cell.source = answers.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
        target = course / "submitted" / f"{kind}-{place:03}" / assignment
        target.mkdir(parents=True)
        nbformat.write(handed, target / f"{assignment}.ipynb")
        # A cell that never ends, or is stopped while it prints, has defined no function: its points are lost.
        total = {"wrong": 0, "half": sum(points[:2]), "loops": sum(points[1:]), "floods": sum(points[1:])}
        yield target.parent.name, total.get(kind, sum(points))


def main(arguments: Sequence[str] | None = None) -> int:
    """Grade a class, or rehearse it."""
    parser = argparse.ArgumentParser(prog="run.py grade", description="Grade what a class handed in.")
    parser.add_argument("course", nargs="?", type=Path, help="the folder with source/ and submitted/")
    parser.add_argument("assignment", nargs="?", help="for example lab02")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2)), help="how many at a time")
    parser.add_argument("--rehearse", type=int, metavar="N", help="grade a made-up class of N (at least 4)")
    parser.add_argument("--one", type=Path, nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        limit()
        try:
            run_one(*options.one)
        except ValueError as error:
            print(error)
            return 1
        return 0
    if options.rehearse:
        return rehearse(max(4, options.rehearse), options.jobs)
    if not options.assignment:
        parser.error("give the course folder and the assignment, for example: build/release/instructor lab02")
    try:
        found = grade_all(options.course, options.assignment, options.jobs)
    except (ValueError, OSError) as error:
        print(f"Nothing was graded: {error}", file=sys.stderr)
        return 1
    troubled = [marks for marks in found if marks.trouble]
    for marks in troubled:
        print(f"{marks.student}: {marks.trouble}; {marks.total:g} points")
    print(
        f"{len(found)} graded, {len(troubled)} with trouble: {options.course}/graded/{options.assignment}-marks.csv"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
