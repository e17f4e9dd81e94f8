"""Which questions and which named misconceptions came up in a class, by concept, and no name of anybody.

    python3 run.py report --marks COURSE/graded/lab02-marks.csv
    python3 run.py report --progress handed-in/*.jsonl        files that students made with `run.py review --export`

Only the files that are named are read. Names, paths and times of students are in no line of the report. What cannot
be read costs that line or that file, and is counted at the top; which file it is, stderr says.
"""

from __future__ import annotations

import argparse
import csv
import re
import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from lib.bank import load_questions
from lib.exercise_files import Exercise, find
from lib.journal import Journal, JournalError, Log
from lib.questions import Question, grade

Content = TypeVar("Content")
COLUMNS = {"cell", "points", "mistake"}


def each(paths: Sequence[Path], read: Callable[[Path], Content], lost: Counter) -> Iterator[Content]:
    """What is in each file; one that cannot be read is left out, and counted."""
    for path in paths:
        try:
            yield read(path)
        except (OSError, ValueError, csv.Error, JournalError) as error:
            lost["unreadable file"] += 1
            print(f"{path} is left out: {error}", file=sys.stderr)


def rows_of(path: Path) -> list[dict[str, str]]:
    """The lines of a file of marks. ValueError: it is none."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        if not set(rows.fieldnames or ()) >= COLUMNS:
            raise ValueError(f"it has no columns {', '.join(sorted(COLUMNS))}: give a file that `run.py grade` wrote")
        return list(rows)


def result_of(row: dict[str, str]) -> tuple[Exercise, bool, str] | None:
    """The exercise of a line, whether it was solved, and the mistake; None: a submission without marks.

    Raises:
        ValueError: the line is damaged.
    """
    if row["cell"] == "":
        return None
    number = re.fullmatch(r"nb\d\d-(\d)-(\w+)-check", row["cell"] or "")
    if not number:
        raise ValueError(f"{row['cell']!r} is the check of no exercise")
    exercise, mistake = find(f"{number[1]}.{number[2]}"), row["mistake"] or ""
    if mistake and mistake not in exercise.wrong:
        raise ValueError(f"{mistake!r} is no mistake of exercise {exercise.id}")
    return exercise, float(row["points"] or "") > 0, mistake


def of_marks(paths: Sequence[Path], lost: Counter) -> Iterator[str]:
    """For each exercise: how many solved it, and the mistakes that were recognised, most common first."""
    tried, solved, mistakes = Counter(), Counter(), defaultdict(Counter)
    for rows in each(paths, rows_of, lost):
        for row in rows:
            try:
                result = result_of(row)
            except ValueError:
                lost["damaged line"] += 1
                continue
            if result is None:
                lost["submission without marks"] += 1
                continue
            exercise, right, mistake = result
            tried[exercise.id] += 1
            solved[exercise.id] += right
            mistakes[exercise.id].update([mistake] if mistake else [])
    for number in sorted(tried, key=lambda number: (solved[number] / tried[number], number)):
        exercise = find(number)
        yield f"## {number} · {exercise.title}: {solved[number]} of {tried[number]} solved it"
        for name, count in mistakes[number].most_common():
            yield f"- {count} × *{name.replace('_', ' ')}*: {exercise.wrong[name].diagnosis}"


def log_of(path: Path) -> Log:
    """The attempts in a file; a copy is read, since to read a journal leaves a lock beside it."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copyfile(path, Path(folder, "progress.jsonl"))
        return Journal(copy).read()


def of_progress(paths: Sequence[Path], lost: Counter) -> Iterator[str]:
    """For each concept: the questions that were answered wrongly, by how many, and the idea behind the answers."""
    questions = {question.id: question for question in load_questions()} if paths else {}
    answered, erred = defaultdict(set), defaultdict(set)
    ideas: dict[str, Counter] = defaultdict(Counter)
    for student, log in enumerate(each(paths, log_of, lost)):
        lost["damaged line"] += len(log.damaged)
        for attempt in log.attempts:
            question = questions.get(attempt.question)
            if question is None:
                lost["answer to a question that is not in the bank"] += 1
                continue
            answered[question.id].add(student)
            if attempt.correct is False:
                erred[question.id].add(student)
                ideas[question.id].update([_idea(question, attempt.answer)])
    concepts: dict[str, list[Question]] = defaultdict(list)
    for name in sorted(erred, key=lambda name: (-len(erred[name]), -len(erred[name]) / len(answered[name]), name)):
        concepts[questions[name].concept.title].append(questions[name])
    for title, found in concepts.items():
        yield f"## {title} (look again at {found[0].concept.place})"
        for question in found:
            counted = f"{len(erred[question.id])} of {len(answered[question.id])} students erred"
            yield f"- {question.id}: {counted}. {' '.join(question.prompt.split())[:100]}"
            yield from (f"  - {count} × {idea}" for idea, count in ideas[question.id].most_common() if idea)


def _idea(question: Question, answer: object) -> str:
    """The misconception behind a wrong answer, where the bank knows one."""
    try:
        return " ".join(grade(question, answer).diagnosis.split())
    except (TypeError, ValueError, KeyError, IndexError):  # an answer to an older form of the question
        return ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the report, in Markdown."""
    parser = argparse.ArgumentParser(prog="run.py report", description="What a class has not understood yet.")
    parser.add_argument("--marks", type=Path, nargs="+", default=[], help="files that `run.py grade` wrote")
    parser.add_argument("--progress", type=Path, nargs="+", default=[], help="progress that students handed in")
    options = parser.parse_args(arguments)
    if not (options.marks or options.progress):
        parser.error("name files with --marks, with --progress, or both")
    lost: Counter = Counter()
    lines = [*of_marks(options.marks, lost), *of_progress(options.progress, lost)]
    if lost["unreadable file"] == len(options.marks) + len(options.progress):
        print("No report: none of the files could be read.", file=sys.stderr)
        return 1
    said = [f"Not counted: {', '.join(f'{count} × {what}' for what, count in lost.items() if count)}.", ""]
    print("\n".join(["# What came up", "", *(said if lost.total() else []), *lines]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
