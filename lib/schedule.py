"""When to ask again: computed by `fsrs` from the attempts in the journal, and from nothing else.

The first answer of a day to a question is its review; later ones on that day are practice, and do not move the next
review.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from lib.bank import load_questions
from lib.journal import AGAIN, Attempt, Journal, local_now
from lib.questions import Question

if TYPE_CHECKING:
    from fsrs import Card, Scheduler


def _scheduler() -> Scheduler:
    from fsrs import Scheduler

    # Whole days only: within a sitting the learner decides whether to try again.
    return Scheduler(enable_fuzzing=False, learning_steps=(), relearning_steps=())


def reviews(attempts: Iterable[Attempt], now: datetime) -> dict[str, list[Attempt]]:
    """For each question the first attempt of each day.

    A clock that ran up to a day ahead is taken for now; an attempt from farther in the future does not count.
    """
    found: dict[str, dict[date, Attempt]] = {}
    for attempt in attempts:
        if attempt.time <= now + timedelta(days=1):
            found.setdefault(attempt.question, {}).setdefault(attempt.time.date(), attempt)
    return {name: [replace(a, time=min(a.time, now)) for a in days.values()] for name, days in found.items()}


def cards(attempts: Iterable[Attempt], now: datetime) -> dict[str, Card]:
    """The memory model of each question that was answered, as `fsrs` computes it from its reviews."""
    from fsrs import Card, Rating

    scheduler, result = _scheduler(), {}
    for name, reviewed in reviews(attempts, now).items():
        card = Card(card_id=zlib.crc32(name.encode()), due=reviewed[0].time)
        for attempt in reviewed:
            card, _ = scheduler.review_card(card, Rating(attempt.grade), attempt.time.astimezone(UTC))
        result[name] = card
    return result


def due_dates(journal: Journal, now: datetime, questions: Sequence[Question]) -> dict[str, date]:
    """The day of the next review for each of these questions that was answered before."""
    known = cards(journal.read().attempts, now)
    return {q.id: known[q.id].due.astimezone(now.tzinfo).date() for q in questions if q.id in known}


def due(
    journal: Journal | None = None, now: datetime | None = None, questions: Sequence[Question] | None = None
) -> list[Question]:
    """The questions whose review falls on today or earlier, longest overdue first."""
    now, questions = now or local_now(), load_questions() if questions is None else questions
    days = due_dates(journal or Journal(), now, questions)
    waiting = [question for question in questions if question.id in days and days[question.id] <= now.date()]
    return sorted(waiting, key=lambda question: days[question.id])


def coming(journal: Journal, now: datetime, questions: Sequence[Question], days: int = 14) -> dict[date, int]:
    """How many reviews fall on each of the next days; overdue ones fall on today."""
    dates = Counter(max(day, now.date()) for day in due_dates(journal, now, questions).values())
    return {day: dates[day] for day in (now.date() + timedelta(days=n) for n in range(days))}


def knowledge(journal: Journal, now: datetime, questions: Sequence[Question]) -> dict[str, tuple[float, int, int]]:
    """For each concept: the share that should come to mind now, how many were answered, and how many there are.

    A question counts with the probability of recall that `fsrs` gives it now; with 0 where it was never answered or
    where its last review went wrong.
    """
    attempts, scheduler = journal.read().attempts, _scheduler()
    known, reviewed = cards(attempts, now), reviews(attempts, now)
    result: dict[str, tuple[float, int, int]] = {}
    for question in questions:
        share, answered, total = result.get(question.concept.title, (0.0, 0, 0))
        if question.id in known:
            answered += 1
            if reviewed[question.id][-1].grade != AGAIN:
                share += scheduler.get_card_retrievability(known[question.id], now.astimezone(UTC))
        result[question.concept.title] = (share, answered, total + 1)
    return {title: (share / total, answered, total) for title, (share, answered, total) in result.items()}
