"""The log of attempts: nothing is lost, damage stays small, and reviews are computed from it alone."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from lib import journal as module
from lib.journal import AGAIN, EASY, GOOD, HARD, Journal, JournalError, data_folder
from lib.lock import locked

INDIA = timezone(timedelta(hours=5, minutes=30))
NOON = datetime(2025, 5, 1, 12, 0, tzinfo=INDIA)
DAY = timedelta(days=1)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "किताब dir, x" / "attempts.jsonl")


# --------------------------------------------------------------------------------------------- the file


def test_an_attempt_is_one_line_and_comes_back(journal: Journal) -> None:
    journal.record("02-one", False, "०.४", hints=2, now=NOON)
    journal.record("02-one", True, [1, 0], now=NOON + DAY)
    assert len(journal.path.read_text(encoding="utf-8").splitlines()) == 2
    first, second = Journal(journal.path).read().attempts
    assert (first.question, first.correct, first.answer, first.hints) == ("02-one", False, "०.४", 2)
    assert first.time == NOON and first.time.utcoffset() == timedelta(hours=5, minutes=30)
    assert second.answer == [1, 0] and first.key != second.key


def test_where_there_is_no_file_there_is_nothing(journal: Journal) -> None:
    assert journal.read() == module.Log([], [])
    assert not journal.path.parent.exists()  # to look leaves no trace


def test_a_damaged_line_costs_that_line_and_is_reported(journal: Journal) -> None:
    journal.record("02-one", True)
    good = journal.path.read_bytes()
    bad = [
        b"{",
        b"\xff\xfe",
        b"[1, 2]",
        b"null",
        b'{"question": "x"}',
        b'{"question": 3, "time": "2025-01-01T00:00:00Z"}',
    ]
    bad += [good.replace(b"+", b"*").strip(), b"\x00" * 40, b"[" * 100_000]
    bad += [b'{"question": "x", "time": "2025-01-01T00:00:00", "correct": true}']
    bad += [b'{"question": "x", "time": "2025-01-01T00:00:00Z", "correct": 1}']
    bad += [b'{"question": "x", "time": "2025-01-01T00:00:00Z", "correct": true, "key": [1]}']
    bad += [b'{"question": "x", "time": "0001-01-01T00:00:00+14:00", "correct": true}']
    journal.path.write_bytes(b"\n".join([*bad, b"", b"   ", good]))
    journal.record("02-two", True)
    log = journal.read()
    assert [attempt.question for attempt in log.attempts] == ["02-one", "02-two"]
    assert [int(line.split(":")[0].removeprefix("line ")) for line in log.damaged] == list(range(1, len(bad) + 1))


def test_a_line_that_a_crash_cut_off_does_not_take_the_next_one_with_it(journal: Journal) -> None:
    journal.record("02-one", True)
    journal.record("02-one", True)
    journal.path.write_bytes(journal.path.read_bytes()[:-20])
    journal.record("02-two", True)
    log = journal.read()
    assert [attempt.question for attempt in log.attempts] == ["02-one", "02-two"] and len(log.damaged) == 1


def test_a_full_disk_leaves_whole_lines(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    journal.record("02-one", True)
    whole = journal.path.read_bytes()
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(JournalError, match="No space left"):
        journal.record("02-two", True)
    monkeypatch.undo()
    assert journal.path.read_bytes().startswith(whole)
    journal.record("02-two", True)
    assert not journal.read().damaged


def write_many(path: Path, name: str) -> None:
    for _ in range(60):
        Journal(path).record(name, True, "x" * 500)


def test_two_notebooks_at_once_lose_nothing(journal: Journal) -> None:
    context = multiprocessing.get_context("spawn")
    names = ["02-a", "02-b", "02-c"]
    processes = [context.Process(target=write_many, args=(journal.path, name)) for name in names]
    for process in processes:
        process.start()
    while any(process.is_alive() for process in processes):
        assert not journal.read().damaged  # nobody ever sees half a line
    log = journal.read()
    assert [sum(attempt.question == name for attempt in log.attempts) for name in names] == [60, 60, 60]


def test_a_lock_that_is_never_given_back_is_an_error(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    journal.record("02-one", True)
    monkeypatch.setattr(module, "PATIENCE", 0.05)
    with locked(journal.path.with_suffix(".lock")), pytest.raises(JournalError, match="close it and try again"):
        journal.record("02-two", True)


def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalError, match="cannot be written to"):
        Journal(tmp_path / "file" / "attempts.jsonl").record("02-one", True)


def test_the_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COURSE_DATA", str(tmp_path))
    assert data_folder() == tmp_path and Journal().path == tmp_path / "attempts.jsonl"
    monkeypatch.setenv("COURSE_DATA", "")
    monkeypatch.setattr(Path, "home", lambda: Path("/home/a"))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", "not/absolute")
    assert data_folder() == Path("/home/a/.local/share/attention-course")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert data_folder() == tmp_path / "attention-course"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert data_folder() == Path("/home/a/Library/Application Support/attention-course")


def test_what_an_attempt_is_worth(journal: Journal) -> None:
    journal.record("02-one", True)
    journal.record("02-one", False, hints=1)
    journal.record("02-one", True, hints=1)
    journal.record("02-one", None, "in words", rating=EASY)
    journal.record("02-one", None, "in words", rating=HARD)
    assert [attempt.grade for attempt in journal.read().attempts] == [GOOD, AGAIN, HARD, EASY, HARD]


# -------------------------------------------------------------------------------------- export and import


def test_an_export_keeps_what_a_fuller_one_has(journal: Journal, tmp_path: Path) -> None:
    backup = tmp_path / "backup.jsonl"
    for name in ("02-one", "02-two"):
        journal.record(name, True, now=NOON)
    journal.export(backup)
    fresh = Journal(tmp_path / "new" / "attempts.jsonl")  # another machine, or after a reset
    fresh.record("02-three", True, now=NOON)
    assert fresh.export(backup) == 3
    assert fresh.import_(backup) == (2, [])
    assert {attempt.question for attempt in fresh.read().attempts} == {"02-one", "02-two", "02-three"}


def test_export_then_import_changes_nothing(journal: Journal, tmp_path: Path) -> None:
    journal.record("02-one", True, now=NOON)
    journal.record("02-two", None, "in words", rating=EASY, now=NOON)
    before = journal.read()
    assert journal.export(tmp_path / "mine.jsonl") == 2
    assert journal.import_(tmp_path / "mine.jsonl") == (0, [])
    assert journal.read() == before
    assert journal.export(tmp_path / "mine.jsonl") == 2  # an export may be written over
    assert [path.name for path in tmp_path.glob("*.part")] == []


def test_import_merges_two_machines(tmp_path: Path) -> None:
    here, there = Journal(tmp_path / "here.jsonl"), Journal(tmp_path / "there.jsonl")
    here.record("02-one", True, now=NOON + DAY)
    there.record("02-two", False, now=NOON)
    there.record("99-from-a-newer-course", True, now=NOON)
    there.path.write_bytes(there.path.read_bytes() + b"torn")
    added, damaged = here.import_(there.path)  # the log itself will do
    assert added == 2 and len(damaged) == 1
    assert [a.question for a in here.read().attempts] == ["02-two", "99-from-a-newer-course", "02-one"]
    assert here.import_(there.path)[0] == 0 and here.read().damaged == []


def test_an_import_that_is_none_and_an_export_over_something_else(journal: Journal, tmp_path: Path) -> None:
    journal.record("02-one", True)
    thesis = tmp_path / "thesis.txt"
    thesis.write_text("all my work")
    for path in (thesis, tmp_path / "missing.jsonl", tmp_path):
        with pytest.raises(JournalError):
            journal.import_(path)
        if path is not tmp_path / "missing.jsonl" and path.exists():
            with pytest.raises(JournalError):
                journal.export(path)
    assert thesis.read_text() == "all my work" and len(journal.read().attempts) == 1
    with pytest.raises(JournalError, match="cannot be written"):
        journal.export(tmp_path / "no" / "folder.jsonl")


def test_an_empty_export_can_be_imported(journal: Journal, tmp_path: Path) -> None:
    assert journal.export(tmp_path / "empty.jsonl") == 0
    assert journal.import_(tmp_path / "empty.jsonl") == (0, [])


def test_lines_keep_what_a_newer_version_wrote(journal: Journal, tmp_path: Path) -> None:
    journal.record("02-one", True)
    content = {**json.loads(journal.path.read_text()), "mood": "good"}
    journal.path.write_text(json.dumps(content) + "\n")
    journal.export(tmp_path / "x.jsonl")
    assert '"mood": "good"' in (tmp_path / "x.jsonl").read_text() and len(journal.read().attempts) == 1


def test_reset_keeps_what_was(journal: Journal) -> None:
    assert journal.reset() is None
    journal.record("02-one", True)
    kept = journal.reset()
    assert journal.read().attempts == [] and len(Journal(kept).read().attempts) == 1
