"""Which questions and which named misconceptions came up in a class, by concept, and no name of anybody.

    python3 run.py report --marks COURSE/graded/lab02-marks.csv
    python3 run.py report --progress handed-in/*.jsonl        files that students made with `run.py review --export`

Only the files that are named are read. Names, paths and times of students are in none of the lines.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from lib.bank import load_questions
from lib.exercise_files import find
from lib.journal import Journal
from lib.questions import Question, grade


def of_marks(paths: Sequence[Path]) -> Iterator[str]:
    """For each exercise: how many solved it, and the mistakes that were recognised, most common first."""
    tried, solved, mistakes = Counter(), Counter(), defaultdict(Counter)
    for path in paths:
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                number = re.fullmatch(r"nb\d\d-(\d)-(\w+)-check", row["cell"])
                if number:
                    exercise = f"{number[1]}.{number[2]}"
                    tried[exercise] += 1
                    solved[exercise] += float(row["points"]) > 0
                    if row["mistake"]:
                        mistakes[exercise][row["mistake"]] += 1
    for number in sorted(tried):
        exercise = find(number)
        yield f"## {number} · {exercise.title}: {solved[number]} of {tried[number]} solved it"
        for name, count in mistakes[number].most_common():
            yield f"- {count} × *{name.replace('_', ' ')}*: {exercise.wrong[name].diagnosis}"


def of_progress(paths: Sequence[Path]) -> Iterator[str]:
    """For each concept: the questions that were answered wrongly, by how many, and the idea behind the answers."""
    questions = {question.id: question for question in load_questions()}
    answered, erred = defaultdict(set), defaultdict(set)
    ideas: dict[str, Counter] = defaultdict(Counter)
    damaged = 0
    for student, path in enumerate(paths):
        if not path.is_file():
            raise FileNotFoundError(f"{path} is not there")
        log = Journal(path).read()
        damaged += len(log.damaged)
        for attempt in log.attempts:
            question = questions.get(attempt.question)
            if question:
                answered[question.id].add(student)
                if attempt.correct is False:
                    erred[question.id].add(student)
                    ideas[question.id][_idea(question, attempt.answer)] += 1
    if damaged:
        yield f"{damaged} damaged line{'s' * (damaged > 1)} could not be read.\n"
    concepts: dict[str, list[Question]] = defaultdict(list)
    for name in sorted(erred, key=lambda name: -len(erred[name]) / len(answered[name])):
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
    try:
        lines = [*of_marks(options.marks), *of_progress(options.progress)]
    except (OSError, KeyError, ValueError) as error:
        print(f"No report: {error}", file=sys.stderr)
        return 1
    print("\n".join(["# What came up", "", *lines]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
