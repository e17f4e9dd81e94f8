"""The exercises: `check("3.2", my_function)` tries a learner's function and names the mistake it recognises.

How one is written: `exercises/README.md`.
"""

from __future__ import annotations

import html
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lib import sandbox
from lib.comparison import show
from lib.diagnosis import Outcome, Trial, attempt, find_fault, is_untouched, recognise, trials
from lib.exercise_files import Exercise, find, paths
from lib.question_text import mark_hindi
from lib.sandbox import KEPT, Notepad, guarded


@dataclass(frozen=True)
class Report:
    """What the learner reads: a headline, then paragraphs divided by empty lines; an indented one is code."""

    status: str  # passed | not yet | not attempted | hint | solution
    text: str
    mistake: str = ""  # the catalogued one that was recognised

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        text = mark_hindi(html.escape(self.text, quote=False))
        head, *rest = re.sub(r"`([^`\n]+)`", r"<code>\1</code>", text).split("\n\n")
        block = '<pre style="white-space: pre-wrap">{}</pre>'.format
        parts = [block(part) if part.startswith("    ") else f"<p>{part}</p>" for part in rest]
        return "\n".join([f"<p><strong>{head}</strong></p>", *parts])


def __getattr__(name: str) -> Any:
    if name == "EXERCISES":  # by id; read when asked for, since some of the files import torch
        return {identifier: find(identifier) for identifier in paths()}
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_attempted: set[str] = set()
_hints_shown: dict[str, int] = {}


def check(identifier: str, function: Callable | None = None) -> Report:
    """Try the learner's function on every case of an exercise; the report says how it went."""
    exercise, notes = find(identifier), Notepad()
    name, tried = exercise.module.NAME, trials(exercise)
    if not callable(function):
        line = f'give the function itself, `check("{identifier}", {name})`, with nothing after its name.'
        return _report(exercise, "not attempted", f"not attempted yet: {line}")
    misfit = _misfit(exercise, function)
    if misfit:
        return _report(exercise, "not yet", "not yet", misfit)
    outcomes = attempt(exercise, function, notes)
    if is_untouched(exercise, function, outcomes):
        task = "Find the bug" if exercise.is_lab else f"Write the body of `{name}`"
        line = f'not attempted yet. {task}, then run this cell again; `hint("{identifier}")` helps.'
        return _report(exercise, "not attempted", line, *_measured(exercise), *_printed(notes))
    _attempted.add(identifier)
    faults = [find_fault(exercise, function, *pair) for pair in zip(tried, outcomes, strict=False)]
    printed = _printed(notes)
    if not any(faults):
        more = [f'`solution("{identifier}")` shows how we wrote it.'] if exercise.solution else []
        line = f"passed, all {len(tried)} cases."
        return _report(exercise, "passed", line, *_measured(exercise, function), *more, *printed)
    mistake = recognise(exercise, outcomes, faults)
    parts = _failure(exercise, tried, outcomes, faults, mistake)
    passed = f"not yet, {faults.count('')} of {len(tried)} cases pass."
    return _report(exercise, "not yet", passed, *parts, *_measured(exercise, function), *printed, mistake=mistake)


def grade(identifier: str, function: Callable | None = None) -> None:
    """For graded labs: AssertionError, with the report, unless the function passes every case."""
    report = check(identifier, function)
    if report.status != "passed":
        raise AssertionError(report.text)


def hint(identifier: str) -> Report:
    """The next hint; after the last one, the last again."""
    exercise = find(identifier)
    number = min(_hints_shown.get(identifier, 0) + 1, len(exercise.hints))
    _hints_shown[identifier] = number
    return _report(exercise, "hint", f"hint {number} of {len(exercise.hints)}.", exercise.hints[number - 1])


def solution(identifier: str) -> Report:
    """Our solution, once the learner has tried one of theirs since the notebook was started."""
    exercise = find(identifier)
    if identifier not in _attempted:
        line = f'attempt it first: `check("{identifier}", {exercise.module.NAME})`.'
        return _report(exercise, "not attempted", line, f'`hint("{identifier}")` helps, a step at a time.')
    if not exercise.solution:
        return _report(exercise, "solution", "your instructor has the solution: this is the version for a class.")
    return _report(exercise, "solution", "our solution.", _block(*exercise.solution.splitlines()))


def _report(exercise: Exercise, status: str, line: str, *parts: str, mistake: str = "") -> Report:
    head = f"{'Bug lab' if exercise.is_lab else 'Exercise'} {exercise.id}, {exercise.title}: {line}"
    return Report(status, "\n\n".join([head, *parts]), mistake)


def _block(*lines: str) -> str:
    return "\n".join(f"    {line}".rstrip() or "    " for line in lines)


def _misfit(exercise: Exercise, function: Callable) -> str:
    names = exercise.parameters
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # written in C: it is tried as it is
        return ""
    try:
        signature.bind(*names)
    except TypeError:
        return f"Your function takes `{signature}`, and it is called with `({', '.join(names)})`."
    return ""


def _failure(
    exercise: Exercise, tried: list[Trial], outcomes: list[Outcome], faults: list[str], mistake: str
) -> list[str]:
    """What went wrong, and the smallest case that shows it."""
    number = next(i for i, fault in enumerate(faults) if fault)
    trial, outcome, fault = tried[number], outcomes[number], faults[number]
    lines = [f"{name} = {show(value)}" for name, value in zip(exercise.names, trial.arguments, strict=True)]
    if outcome.error is None:
        lines.append(f"yours: {show(outcome.value)}")
    label = f"The smallest case that fails: {trial.label}."
    said = [exercise.wrong[mistake].diagnosis] if mistake else []
    return [*said, label, _block(*lines), f"{fault[:1].upper()}{fault[1:]}."]


def _measured(exercise: Exercise, function: Callable | None = None) -> list[str]:
    """The symptom of a bug lab, with the buggy function and with the learner's."""
    if not exercise.is_lab:
        return []
    module, found = exercise.module, []
    for name, one in {"as given": module.stub, "yours": function}.items():
        if one:
            value, error = guarded(lambda one=one: float(module.symptom(one)), sandbox.SECONDS, Notepad())
            found.append(f"{name}: {'cannot be measured' if error else format(value, '.3f')}")
    return [f"Measured, {module.SYMPTOM}.", _block(*found)]


def _printed(notes: Notepad) -> list[str]:
    kept = notes.getvalue()
    if not kept.strip():
        return []
    more = f" (the first {KEPT} characters of {notes.written:,})" if notes.written > KEPT else ""
    return [f"Your function printed{more}:", _block(*filter(str.strip, kept.splitlines()))]
