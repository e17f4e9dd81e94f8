"""What a learner has answered: every attempt is one line of JSON at the end of a file in the user's data folder.

Nothing else is stored; lib/schedule.py computes from these lines what is known and what is due. A damaged line costs
that line and is reported.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import uuid
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lib.lock import locked

AGAIN, HARD, GOOD, EASY = 1, 2, 3, 4  # as fsrs numbers them
RATINGS = {"again": AGAIN, "hard": HARD, "good": GOOD, "easy": EASY}
HEAD = {"format": "attention-course progress", "version": 1}  # the first line of an exported file
LONGEST_ANSWER = 2_000  # letters of an answer that are kept
PATIENCE = 10.0  # seconds to wait for another notebook that writes


class JournalError(RuntimeError):
    """Progress that cannot be read, written, imported or exported; the message says what to do."""


@dataclass(frozen=True)
class Attempt:
    """One answer to one question. `rating` is the learner's own, where there is one."""

    question: str
    time: datetime
    correct: bool | None
    hints: int = 0
    rating: int | None = None
    answer: Any = None
    key: str = ""

    @property
    def grade(self) -> int:
        """AGAIN, HARD, GOOD or EASY: the learner's own rating, else from right or wrong and the hints."""
        if self.correct is False:
            return AGAIN
        return self.rating or (HARD if self.hints else GOOD)


@dataclass(frozen=True)
class Log:
    """The attempts in the order of time, and for each damaged line its number and what is wrong with it."""

    attempts: list[Attempt]
    damaged: list[str]


def data_folder() -> Path:
    """The folder of the course in the user's data folder; the variable COURSE_DATA names another one."""
    if given := os.environ.get("COURSE_DATA"):
        return Path(given).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = os.environ.get("XDG_DATA_HOME", "")
        base = base if os.path.isabs(base) else Path.home() / ".local" / "share"
    return Path(base) / "attention-course"


def local_now() -> datetime:
    """This moment, with the time zone of this machine."""
    return datetime.now().astimezone()


class Journal:
    """The log of attempts, in `path` or in the user's data folder. Several notebooks may write at once."""

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = Path(path) if path is not None else data_folder() / "attempts.jsonl"

    def record(
        self,
        question: str,
        correct: bool | None,
        answer: Any = None,
        hints: int = 0,
        rating: int | None = None,
        now: datetime | None = None,
    ) -> Attempt:
        """Add an attempt; it is on the disk when this returns.

        Raises:
            JournalError: it could not be written.
        """
        moment = (now or local_now()).replace(microsecond=0)
        answer = answer[:LONGEST_ANSWER] if isinstance(answer, str) else answer
        attempt = Attempt(question, moment, correct, hints, rating, answer, uuid.uuid4().hex)
        self._append([_line({**vars(attempt), "time": moment.isoformat()})])
        return attempt

    def read(self) -> Log:
        """All that is recorded; of lines with the same key the first counts."""
        return _log(self._lines())

    def export(self, path: str | Path) -> int:
        """Write all readable lines to a file, whole or not at all; return how many are in it.

        An export that is there already keeps what it has beyond this log: it may be the fuller one.

        Raises:
            JournalError: the file cannot be written, or is there and is something else than an export.
        """
        path, head = Path(path).expanduser(), _line(HEAD)
        lines = [line for line in self._lines() if _parse(line)[0] is not None]
        part = path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}.part")
        try:
            there = path.read_bytes() if path.exists() else head
            if not there.startswith(head):
                raise JournalError(f"{path} is there and is not an export of progress: choose another name")
            known = {_key(line) for line in lines}
            earlier = [line for line in there.splitlines() if _parse(line)[0] is not None]
            lines += [line for line in earlier if _key(line) not in known]
            part.write_bytes(b"".join([head, *(line + b"\n" for line in lines)]))
            os.replace(part, path)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise JournalError(f"{path} cannot be written: {error.strerror}") from error
        return len(lines)

    def import_(self, path: str | Path) -> tuple[int, list[str]]:
        """Add what an exported file has and this log has not; return how many lines that were, and the damaged ones.

        Raises:
            JournalError: the file cannot be read, or holds no attempt and is no export.
        """
        try:
            content = Path(path).expanduser().read_bytes()
        except OSError as error:
            raise JournalError(f"{path} cannot be read: {error.strerror}") from error
        lines, found = content.splitlines(), _log(content.splitlines())
        good = [line for line in lines if _parse(line)[0] is not None]
        if not good and not content.startswith(_line(HEAD)):
            raise JournalError(f"{path} holds no progress of this course: give a file that --export wrote")

        def new(present: list[bytes]) -> list[bytes]:
            known = {_key(line) for line in present}
            return [line + b"\n" for line in good if _key(line) not in known and not known.add(_key(line))]

        return self._append(new), found.damaged

    def reset(self) -> Path | None:
        """Begin anew; what was recorded is kept under another name beside the log, which is returned."""
        if not self.path.exists():
            return None
        kept = self.path.with_name(f"{self.path.stem}-until-{datetime.now():%Y%m%d-%H%M%S-%f}.jsonl")
        try:
            with _locked(self.path):
                os.replace(self.path, kept)
        except OSError as error:
            raise JournalError(f"{self.path} cannot be renamed: {error.strerror}") from error
        return kept

    def _lines(self) -> list[bytes]:
        try:
            if not self.path.exists():
                return []
            # A folder that cannot be written to holds no lock, and can still be read.
            with _locked(self.path) if os.access(self.path.parent, os.W_OK) else contextlib.nullcontext():
                return self.path.read_bytes().splitlines()
        except OSError as error:
            raise JournalError(f"{self.path} cannot be read: {error.strerror}") from error

    def _append(self, lines: Sequence[bytes] | Callable[[list[bytes]], list[bytes]]) -> int:
        """Add whole lines with one write, or those that a function chooses when it sees what is there."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with _locked(self.path), self.path.open("a+b", buffering=0) as file:
                file.seek(0)
                present = file.readall()
                added = lines(present.splitlines()) if callable(lines) else list(lines)
                # A line that a crash cut off ends here, so that it costs only itself.
                torn = b"\n" if present and not present.endswith(b"\n") else b""
                data = torn + b"".join(added)
                if added and file.write(data) != len(data):
                    file.truncate(len(present))
                    raise JournalError(f"{self.path} could not be written to: is the disk full?")
                os.fsync(file.fileno())
                return len(added)
        except OSError as error:
            raise JournalError(f"{self.path} cannot be written to: {error.strerror or error}") from error


def _line(content: dict[str, Any]) -> bytes:
    return json.dumps(content, ensure_ascii=False, default=str).encode("utf-8", "replace") + b"\n"


def _key(line: bytes) -> str:
    """What makes a line the same line in two files: its own key, or its text."""
    content = _parse(line)[0]
    return (content or {}).get("key") or f"line {zlib.crc32(line)}"


def _parse(line: bytes) -> tuple[dict[str, Any] | None, str]:
    """The content of a line, or None and what is wrong with it ("" for lines that hold nothing)."""
    if not line.strip():
        return None, ""
    try:
        content = json.loads(line)
        if content.get("format") == HEAD["format"]:
            return None, ""
        _attempt(content)
        return content, ""
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError) as error:
        return None, f"{type(error).__name__}: {error}"


def _attempt(content: dict[str, Any]) -> Attempt:
    names = Attempt.__dataclass_fields__
    attempt = Attempt(**{key: value for key, value in content.items() if key in names})
    attempt = replace(attempt, time=datetime.fromisoformat(content["time"]))
    if attempt.time.tzinfo is None or not isinstance(attempt.correct, bool | None):
        raise ValueError("it has no time zone, or is neither right nor wrong")
    if not (isinstance(attempt.question, str) and isinstance(attempt.key, str) and isinstance(attempt.hints, int)):
        raise ValueError("its question, key or hints are not what they should be")
    if attempt.rating not in (None, *RATINGS.values()):
        raise ValueError("its rating is not 1 to 4")
    attempt.time.astimezone(UTC)  # OverflowError at the edges of the calendar
    return attempt


def _log(lines: Iterable[bytes]) -> Log:
    attempts: dict[str, Attempt] = {}
    damaged = []
    for number, line in enumerate(lines, start=1):
        content, problem = _parse(line)
        if problem:
            damaged.append(f"line {number}: {problem}")
        elif content:
            attempts.setdefault(_key(line), _attempt(content))
    return Log(sorted(attempts.values(), key=lambda attempt: attempt.time), damaged)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of a log, which is a file beside it."""
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(locked(path.with_suffix(".lock"), PATIENCE))
        except TimeoutError:
            said = f"another program has held {path} for {PATIENCE:.0f} s: close it and try again"
            raise JournalError(said) from None
        except OSError as error:
            raise JournalError(f"{path.parent} cannot be written to: {error.strerror}") from error
        yield
