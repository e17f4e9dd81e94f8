"""A question of the course, and how an answer to it is graded: right, or wrong with the idea behind the mistake."""

from __future__ import annotations

import contextlib
import io
import random
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lib.answers import AnswerError, read_numbers, rows_of, same_numbers, size_note, sizes_of, squeezed

LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Concept:
    """An idea that questions test, and where the course explains it."""

    name: str
    title: str
    notebook: str
    section: str
    where: str = ""  # the place as a translation names it

    @property
    def place(self) -> str:
        """Where to look again, for example "notebook 02, section 3. Normalise"."""
        return self.where or f"notebook {self.notebook}, section {self.section}"


@dataclass(frozen=True)
class Mistake:
    """A likely wrong answer, the idea behind it, and what to look at again."""

    answer: Any
    diagnosis: str
    again: str


@dataclass(frozen=True)
class Question:
    """One question, as its file states it; lists are indices from 0, and the text is Markdown with $formulas$."""

    id: str
    concept: Concept
    kind: str
    prompt: str
    explanation: str
    hints: tuple[str, ...]
    mistakes: tuple[Mistake, ...] = ()
    options: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    answer: Any = None
    tolerance: float = 0.0
    compute: str = ""
    rubric: tuple[str, ...] = ()
    model_answer: str = ""
    case_sensitive: bool = False
    words: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    def say(self, text: str, *values: Any) -> str:
        """A text around the question in the language of the question; {} stands for a value."""
        return self.words.get(text, text).format(*values)

    @property
    def notebook(self) -> str:
        """The two digits of its notebook."""
        return self.id[:2]

    @property
    def form(self) -> str:
        """How it is answered: its kind, but a prediction is a "single" choice or a free "number"."""
        return self.kind if self.kind != "predict" else "single" if self.options else "number"

    @property
    def items(self) -> tuple[str, ...]:
        """What is chosen from: the options, or the right sides of the pairs."""
        return self.options or tuple(right for _, right in self.pairs)

    @property
    def shown(self) -> list[int]:
        """The items in the order in which they are shown: shuffled, always alike, where their order is the answer."""
        order = list(range(len(self.items)))
        if self.kind in ("order", "match"):
            random.Random(zlib.crc32(self.id.encode())).shuffle(order)
            if order == sorted(order):
                order.append(order.pop(0))
        return order


@dataclass(frozen=True)
class Outcome:
    """What came of an answer. `correct` is None where it was not counted, or where the learner rates it himself."""

    correct: bool | None
    message: str
    diagnosis: str = ""
    again: str = ""
    counted: bool = True


def grade(question: Question, raw: Any) -> Outcome:
    """Compare what a learner gave with the right answer.

    Args:
        raw: an index (single), a list of indices (multiple, order, match), or what was typed: numbers, a completion,
            a written answer, or the letters of the options as they are shown.
    """
    try:
        _refuse_empty(raw)
        if question.kind == "written":
            return Outcome(None, question.say("Now compare your answer with the points below, and rate it."))
        answer = right_answer(question)
        given = read_answer(question, raw, answer)
    except AnswerError as error:
        return Outcome(None, str(error), counted=False)
    if _same(question, given, answer):
        return Outcome(True, question.say("Right."))
    for mistake in question.mistakes:
        if _same(question, given, mistake.answer):
            return Outcome(False, question.say("Not right."), mistake.diagnosis, mistake.again)
    note = size_note(given, answer)
    if note and len(sizes_of(answer)) == 2:  # half a matrix is a slip of the finger
        return Outcome(None, f"{note.strip()} This was not counted.", counted=False)
    return Outcome(False, f"{question.say('Not right.')}{note}", "", question.concept.place)


def _refuse_empty(raw: Any) -> None:
    if raw is None or raw == [] or (isinstance(raw, list | tuple) and None in raw):
        raise AnswerError("Choose first: this was not counted.")
    if isinstance(raw, str) and not raw.strip():
        raise AnswerError("Write an answer first: this was not counted.")


def right_answer(question: Question) -> Any:
    """The right answer in the form in which mistakes are kept; that of a prediction is computed now."""
    if question.kind == "predict":
        return computed(question)
    if question.kind in ("order", "match"):
        places = range(len(question.items))
        return list(places) if question.kind == "order" else dict(zip(places, places, strict=True))
    return question.answer


def computed(question: Question) -> Any:
    """Run the code of the question and return what it sets `answer` to, as plain numbers and lists."""
    namespace: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(question.compute, f"<{question.id}>", "exec"), namespace)
    answer = namespace["answer"]
    return answer.tolist() if hasattr(answer, "tolist") else answer


def read_answer(question: Question, raw: Any, answer: Any) -> Any:
    """What was given in the form in which it is compared; `answer` tells whether numbers are one, a row or rows.

    Raises:
        AnswerError: it cannot be read.
    """
    if question.kind == "completion":
        return squeezed(raw, question.case_sensitive)
    if question.form not in ("single", "multiple", "order", "match"):
        percent = bool(re.search(r"%|per ?cent", question.prompt))
        return read_numbers(str(raw), depth=len(sizes_of(answer)), percent=percent)
    places = _letters(question, raw) if isinstance(raw, str) else raw
    if question.form == "multiple":
        return set(places)
    if question.form == "single":
        return places if isinstance(places, int) else places[0]
    if sorted(places) != list(range(len(question.items))):
        raise AnswerError("Use each one once: this was not counted.")
    return list(places) if question.kind == "order" else dict(enumerate(places))


def _letters(question: Question, text: str) -> list[int]:
    """ "b a c", "bac" or "1b 2a 3c" -> the items that are shown with these letters."""
    if question.form == "single":
        text = re.sub(r"^\s*(\w)\)\s.*", r"\1", text, flags=re.DOTALL)  # "b) with its words"
    letters, shown = re.sub(r"[\W\d_]", "", text.lower()), question.shown
    many = {"single": 1, "multiple": len(set(letters)) or 1}.get(question.form, len(shown))
    if len(letters) != many or not set(letters) <= set(LETTERS[: len(shown)]):
        count = "one or more" if question.form == "multiple" else many
        raise AnswerError(f"Answer with {count} of the letters a to {LETTERS[len(shown) - 1]}: this was not counted.")
    return [shown[LETTERS.index(letter)] for letter in letters]


def _same(question: Question, given: Any, answer: Any) -> bool:
    if question.form == "multiple":
        return given == set(answer)
    if question.kind == "match":
        return answer.items() <= given.items()
    if question.kind == "completion":
        accepted = [answer] if isinstance(answer, str) else answer
        return given in [squeezed(text, question.case_sensitive) for text in accepted]
    if question.form in ("single", "order"):
        return given == answer
    return same_numbers(given, rows_of(answer), question.tolerance)


def counts_as_right(question: Question, answer: Any) -> bool:
    """Would this answer, in the form of the bank's files, be graded as right?"""
    right = question.answer if question.kind == "predict" else right_answer(question)
    if question.kind == "completion":
        texts = [answer] if isinstance(answer, str) else answer
        return any(_same(question, squeezed(text, question.case_sensitive), right) for text in texts)
    if question.form not in ("single", "multiple", "order", "match"):
        answer = [[[(value,) for value in row]] for row in rows_of(answer)]
    return _same(question, set(answer) if question.form == "multiple" else answer, right)
