"""The review of what is due, in a notebook and in a terminal, and what else is done with your progress.

    review()                the questions that are due today, in a notebook
    review_in_terminal()    the same without a browser, as `python3 run.py review` starts it

What notebook 06 draws stands here too, and the options of the command: --where, --export, --import, --reset, --anki.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from lib.bank import QuestionError, load_questions
from lib.journal import RATINGS, Journal, JournalError, local_now
from lib.question_text import answer_text, export_anki, feedback_text, prompt_text
from lib.questions import Outcome, Question, grade
from lib.recall import Sheet, show
from lib.schedule import coming, due, due_dates, knowledge

if TYPE_CHECKING:
    import argparse

    from lib.pictures import Picture


def review(journal: Journal | None = None, now: datetime | None = None) -> None:
    """Say what is due, and show the questions that are due today."""
    journal, now, questions = journal or Journal(), now or local_now(), load_questions()
    print(summary(journal, now, questions))
    if waiting := due(journal, now, questions):
        show(Sheet(waiting, journal))


def summary(journal: Journal, now: datetime, questions: Sequence[Question]) -> str:
    """What is due, in words, and whatever is wrong with the log."""
    log, known = journal.read(), {question.id for question in questions}
    days = due_dates(journal, now, questions)
    waiting, answered = sum(day <= now.date() for day in days.values()), len(days)
    lines = [f"{waiting} due today; {answered} of {len(questions)} questions answered so far."]
    if not days:
        lines.append('Begin with recall("01") in notebook 01, or --notebook 01 in a terminal; it comes back here.')
    elif not waiting:
        lines.append(f"The next review falls on {min(days.values())}.")
    if strangers := sum(attempt.question not in known for attempt in log.attempts):
        lines.append(f"{strangers} attempts belong to questions that are not in the course any more; they are kept.")
    if log.damaged:
        lines.append(f"{len(log.damaged)} damaged lines in {journal.path} were left out: {'; '.join(log.damaged)}.")
    return "\n".join(lines)


def knowledge_picture(journal: Journal, now: datetime, questions: Sequence[Question]) -> Picture:
    """For each concept with an answer the share of its questions that should come to mind now."""
    from lib.plots import bars

    known = knowledge(journal, now, questions)
    known = {title: parts for title, parts in known.items() if parts[1]} or known
    labels = [f"{title} ({answered} of {total} answered)" for title, (_, answered, total) in known.items()]
    series = {"known": (labels, [share for share, _, _ in known.values()])}
    return bars(series, "what should come to mind now", "What you know", percent=True, xlim=(0, 1.1), alt_digits=0)


def calendar_picture(journal: Journal, now: datetime, questions: Sequence[Question], days: int = 14) -> Picture:
    """How many reviews fall on each of the next days."""
    from lib.plots import bars

    dates = coming(journal, now, questions, days)
    series = {"reviews": ([f"{day:%a %d %b}" for day in dates], list(dates.values()))}
    return bars(series, "questions", "When the next reviews fall", digits=0, alt_digits=0)


# -------------------------------------------------------------------------------------------------- in a terminal


def review_in_terminal(
    notebook: str | int | None = None,
    journal: Journal | None = None,
    now: datetime | None = None,
    ask: Callable[[str], str] = input,
    say: Callable[[str], None] = print,
) -> None:
    """Ask what is due, or all questions of a notebook, in plain text."""
    journal, now = journal or Journal(), now or local_now()
    questions = load_questions(notebook) if notebook is not None else due(journal, now)
    if notebook is None:
        say(summary(journal, now, load_questions()))
    if questions:
        say(":h gives a hint, :q ends; Enter alone goes on, after an attempt with the answer.")
    try:
        for number, question in enumerate(questions, start=1):
            say(f"\n--- Question {number} of {len(questions)}: {question.concept.title}\n\n{prompt_text(question)}\n")
            _ask(question, journal, ask, say)
    except (EOFError, KeyboardInterrupt):
        say("\nStopped. What you answered is kept.")


def _ask(question: Question, journal: Journal, ask: Callable[[str], str], say: Callable[[str], None]) -> None:
    """One question until it is right or given up; EOFError ends the whole review."""
    hints, attempted = 0, False
    while raw := _read(question, ask):
        if raw == ":q":
            raise EOFError
        if raw == ":h":
            hints = min(hints + 1, len(question.hints))
            say(f"Hint {hints} of {len(question.hints)}: {question.hints[hints - 1]}")
            continue
        outcome = _graded(question, raw)
        say(f"{outcome.message}\n{feedback_text(outcome)}".strip())
        if not outcome.counted:
            continue
        attempted, rating = True, None
        if outcome.correct is not False:
            say(answer_text(question))
        if outcome.correct is None:
            rating = _ask_rating(ask)
        try:
            journal.record(question.id, outcome.correct, raw, hints, rating)
        except JournalError as error:
            say(f"This attempt could not be saved: {error}.")
        if outcome.correct is not False:
            return
    if attempted:
        say(answer_text(question))


def _read(question: Question, ask: Callable[[str], str]) -> str:
    """What is typed; a matrix may come row by row, and an empty row ends it."""
    raw = ask("Your answer: ").strip()
    rows = len(question.answer) if question.form == "matrix" and raw and raw[0] != ":" and ";" not in raw else 1
    for number in range(2, rows + 1):
        row = ask(f"Row {number} of {rows} (Enter alone: that was all): ").strip()
        if not row:
            break
        raw += f"\n{row}"
    return raw


def _graded(question: Question, raw: str) -> Outcome:
    try:
        return grade(question, raw)
    except Exception as error:
        return Outcome(None, f"The check itself failed ({error}): this was not counted.", counted=False)


def _ask_rating(ask: Callable[[str], str]) -> int:
    while (name := ask(f"Your rating ({', '.join(RATINGS)}): ").strip().lower()) not in RATINGS:
        if name == ":q":
            raise EOFError
    return RATINGS[name]


# ------------------------------------------------------------------------------------------ progress in and out


def export_progress(path: str | Path, journal: Journal | None = None) -> str:
    """Write your progress to a file, and say so."""
    return f"{(journal or Journal()).export(path)} lines of progress written to {path}"


def import_progress(path: str | Path, journal: Journal | None = None) -> str:
    """Add the progress of another machine to yours, and say so; done twice, it adds nothing."""
    added, damaged = (journal or Journal()).import_(path)
    note = f"; {len(damaged)} damaged lines left out: {'; '.join(damaged)}" if damaged else ""
    return f"{added} lines of progress added from {path}{note}"


def reset(confirm: str = "", journal: Journal | None = None) -> str:
    """Begin anew; only with confirm="reset"."""
    if confirm != "reset":
        return 'Nothing was changed. To begin anew, confirm with "reset".'
    kept = (journal or Journal()).reset()
    return f"You begin anew. What you had is kept in {kept}" if kept else "There was no progress yet."


def main(arguments: Sequence[str], ask: Callable[[str], str] = input) -> int:
    """The command `review`: ask what is due, or do what the option says; 0, or 1 with a line on stderr."""
    import argparse

    parser = argparse.ArgumentParser(prog="review", description="Answer in this terminal what is due today.")
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--where", action="store_true", help="say where your progress is kept")
    one.add_argument("--export", metavar="FILE", help="write your progress to a file")
    one.add_argument("--import", metavar="FILE", dest="import_", help="add progress from such a file")
    one.add_argument("--reset", action="store_true", help="begin anew, after a question")
    one.add_argument("--anki", metavar="FILE", help="write the questions as a deck for Anki (.apkg)")
    one.add_argument("--notebook", metavar="NN", help="ask all questions of one notebook")
    try:
        return _obey(parser.parse_args(arguments), ask)
    except (JournalError, QuestionError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1


def _obey(asked: argparse.Namespace, ask: Callable[[str], str]) -> int:
    journal = Journal()
    if asked.where:
        print(journal.path)
    elif asked.export:
        print(export_progress(asked.export, journal))
    elif asked.import_:
        print(import_progress(asked.import_, journal))
    elif asked.reset:
        try:
            answer = ask(f"This begins anew. To confirm, type reset ({journal.path}): ")
        except (EOFError, KeyboardInterrupt):
            answer = ""
        print(reset(answer.strip(), journal))
    elif asked.anki:
        print(f"{export_anki(asked.anki)} questions written to {asked.anki}")
    else:
        review_in_terminal(asked.notebook, journal, ask=ask)
    return 0
