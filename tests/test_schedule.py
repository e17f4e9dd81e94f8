"""When questions come back: computed from the log alone, by the learner's calendar."""

from __future__ import annotations

import zlib
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest

from lib.journal import Journal
from lib.questions import Concept, Question
from lib.schedule import cards, coming, due, knowledge

INDIA = timezone(timedelta(hours=5, minutes=30))
NOON = datetime(2025, 5, 1, 12, 0, tzinfo=INDIA)
DAY = timedelta(days=1)


def question(name: str, concept: str = "Softmax") -> Question:
    return Question(name, Concept("c", concept, "02", "1"), "number", "?", "so", ("a", "b"), answer=1)


ONE, TWO = question("02-one"), question("02-two", "Masks")


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "attempts.jsonl")


def test_the_first_answer_of_a_day_decides(journal: Journal) -> None:
    journal.record("02-one", False, now=NOON)
    journal.record("02-one", True, now=NOON + timedelta(minutes=1))
    assert due(journal, NOON, [ONE, TWO]) == []
    assert due(journal, NOON + DAY, [ONE, TWO]) == [ONE]
    early_next_day = datetime(2025, 5, 2, 0, 5, tzinfo=INDIA)
    assert due(journal, early_next_day, [ONE, TWO]) == [ONE]  # by the learner's calendar, not after 24 hours
    journal.record("02-one", True, now=early_next_day)
    assert due(journal, early_next_day, [ONE, TWO]) == []


def test_right_answers_wait_longer_than_wrong_ones(journal: Journal) -> None:
    journal.record("02-one", True, now=NOON)
    journal.record("02-two", False, now=NOON)
    known = cards(journal.read().attempts, NOON)
    assert known["02-two"].due < known["02-one"].due
    assert coming(journal, NOON, [ONE, TWO], days=2) == {date(2025, 5, 1): 0, date(2025, 5, 2): 1}
    assert due(journal, NOON + 30 * DAY, [ONE, TWO]) == [TWO, ONE]  # longest overdue first


def test_everything_is_computed_from_the_log_and_always_alike(journal: Journal, tmp_path: Path) -> None:
    for n in range(5):
        journal.record("02-one", n != 2, now=NOON + 3 * n * DAY)
    other = Journal(tmp_path / "other.jsonl")
    other.path.write_bytes(b"".join(reversed(journal.path.read_bytes().splitlines(keepends=True))))
    later = NOON + 20 * DAY
    one, two = (cards(each.read().attempts, later)["02-one"].to_dict() for each in (journal, other))
    assert one == two and one["card_id"] == zlib.crc32(b"02-one")


def test_a_clock_that_goes_backwards(journal: Journal) -> None:
    journal.record("02-one", True, now=NOON)
    journal.record("02-one", True, now=NOON - DAY)  # set back
    journal.record("02-two", True, now=NOON + timedelta(hours=6))  # was ahead, now is right again
    assert set(cards(journal.read().attempts, NOON)) == {"02-one", "02-two"}
    assert all(card.last_review <= NOON.astimezone(UTC) for card in cards(journal.read().attempts, NOON).values())


def test_an_attempt_from_a_far_future_is_kept_and_does_not_silence_the_question(journal: Journal) -> None:
    journal.record("02-one", False, now=NOON)
    journal.record("02-one", True, now=NOON + 30_000 * DAY)
    assert due(journal, NOON + DAY, [ONE]) == [ONE] and len(journal.read().attempts) == 2


def test_unknown_questions_are_kept_and_do_not_disturb(journal: Journal) -> None:
    journal.record("02-gone", True, now=NOON)
    assert due(journal, NOON + 90 * DAY, [ONE]) == [] and len(journal.read().attempts) == 1
    assert knowledge(journal, NOON, [ONE]) == {"Softmax": (0.0, 0, 1)}


def test_knowledge_fades_and_a_wrong_answer_is_none(journal: Journal) -> None:
    journal.record("02-one", True, now=NOON)
    journal.record("02-two", False, now=NOON)
    now, later = (knowledge(journal, NOON + n * DAY, [ONE, TWO]) for n in (0, 60))
    assert now["Softmax"] == (1.0, 1, 1) and now["Masks"] == (0.0, 1, 1)
    assert 0 < later["Softmax"][0] < 0.9
