"""Trying a function on the cases of an exercise, and recognising a catalogued mistake by its fingerprint.

On every case that fails, the wrong solution gives what the learner's function gives.
"""

from __future__ import annotations

import dis
import math
import time
import traceback
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

from lib import sandbox
from lib.comparison import difference, is_array
from lib.exercise_files import Exercise
from lib.sandbox import Notepad, TooLong, guarded


class Trial(NamedTuple):
    """One case, with what must come out."""

    label: str
    arguments: tuple
    expected: Any
    spread: bool = False


class Outcome(NamedTuple):
    """What a function made of a trial."""

    value: Any = None
    error: BaseException | None = None
    changed: int | None = None  # place of the argument that was changed


@cache
def trials(exercise: Exercise) -> list[Trial]:
    """The cases, small ones first; then the largest in float32, and with its numbers spread out in memory."""
    reference = exercise.module.reference
    cases = sorted(exercise.module.cases(), key=lambda case: _size(case[1]))
    found = [Trial(label, tuple(case), exercise.call(reference, case)) for label, case in cases]
    label, case, expected, _ = found[-1]
    if any(is_array(argument) and "float" in str(argument.dtype) for argument in case):
        single = _map(_cast, case, "float32")
        right = _map(_cast, exercise.call(reference, _map(_cast, single, "float64")), "float32")
        found.append(Trial(f"{label}; all in float32", single, right))
        found.append(Trial(f"{label}; not contiguous in memory", case, expected, spread=True))
    return found


def attempt(exercise: Exercise, function: Callable, notes: Notepad) -> list[Outcome]:
    """Run a function on the trials. The list is shorter where time is up, or where the learner pressed stop."""
    end, outcomes = time.monotonic() + sandbox.SECONDS, []
    for trial in trials(exercise):
        given = _map(_copy, trial.arguments, trial.spread)
        left = max(0.01, end - time.monotonic())
        value, error = guarded(lambda given=given: exercise.call(function, given), left, notes)
        changed = (i for i, pair in enumerate(zip(given, trial.arguments, strict=True)) if difference(*pair))
        outcomes.append(Outcome(value, error, next(changed, None)))
        if isinstance(error, TooLong | KeyboardInterrupt):
            break
    return outcomes


def _map(change: Callable, value: Any, *options: Any) -> Any:
    """`change` every array and tensor inside; lists are copied on the way."""
    if isinstance(value, list | tuple):
        return type(value)(_map(change, part, *options) for part in value)
    return change(value, *options) if is_array(value) else value


def _cast(array: Any, name: str) -> Any:
    if "float" not in str(array.dtype):
        return array
    if hasattr(array, "astype"):
        return array.astype(name)
    return array.float() if name == "float32" else array.double()


def _copy(array: Any, spread: bool) -> Any:
    """A copy; `spread`: with its axes stored in another order, so that it is not contiguous."""
    if not hasattr(array, "clone"):
        return array.copy(order="F" if spread else "K")
    return array.swapaxes(0, -1).contiguous().clone().swapaxes(0, -1) if spread and array.ndim else array.clone()


def _size(value: Any) -> int:
    parts = isinstance(value, list | tuple)
    return sum(map(_size, value)) + 1 if parts else math.prod(value.shape) if is_array(value) else 1


def is_untouched(exercise: Exercise, function: Callable, outcomes: list[Outcome]) -> bool:
    """Is it still the stub: `...`, an empty body, NotImplementedError, or in a lab what the buggy function does?"""
    if exercise.is_lab:
        given = attempt(exercise, exercise.module.stub, Notepad())
        return len(given) == len(outcomes) and all(map(_is_same, outcomes, given))
    first = outcomes[0]
    if first.value is None and first.error is None:
        empty = {"RESUME", "NOP", "LOAD_CONST", "LOAD_COMMON_CONSTANT", "RETURN_VALUE", "RETURN_CONST"}
        code = getattr(function, "__code__", None)
        return code is not None and {step.opname for step in dis.get_instructions(code)} <= empty
    return first.value is ... or isinstance(first.error, NotImplementedError)


def recognise(exercise: Exercise, outcomes: list[Outcome], faults: list[str]) -> str:
    """The wrong solution that does the same on all cases that fail and on most others; "" if there is none."""
    best, most, failing = "", len(outcomes) // 2, [i for i, fault in enumerate(faults) if fault]
    for name, theirs in _catalogue(exercise).items():
        if len(theirs) != len(outcomes) or not all(_is_same(outcomes[i], theirs[i]) for i in failing):
            continue
        same = sum(map(_is_same, outcomes, theirs))
        # Two functions that only crash on the same cases need not do so for the same reason.
        telling = same == len(outcomes) or any(outcomes[i].error is None for i in failing)
        if telling and same > most:
            best, most = name, same
    return best


@cache
def _catalogue(exercise: Exercise) -> dict[str, list[Outcome]]:
    return {name: attempt(exercise, wrong.function, Notepad()) for name, wrong in exercise.wrong.items()}


def _is_same(one: Outcome, other: Outcome) -> bool:
    if type(one.error) is not type(other.error) or one.changed != other.changed:
        return False
    return difference(one.value, other.value) is None


def find_fault(exercise: Exercise, function: Callable, trial: Trial, outcome: Outcome) -> str:
    """What is wrong with an outcome, or ""."""
    if outcome.error is not None:
        return _crash(function, outcome.error)
    if outcome.value is None:
        return "the function gives back `None`; does every way through it end in a `return`?"
    found = difference(outcome.value, trial.expected)
    if found:
        broken = None
        if not found.form and hasattr(exercise.module, "violation"):
            work = partial(exercise.module.violation, outcome.value, *trial.arguments)
            broken, _ = guarded(work, sandbox.SECONDS, Notepad())
        return broken or found.text
    if outcome.changed is not None:
        argument = exercise.names[outcome.changed]
        return f"the result is right, but `{argument}` was changed in place, and whoever called still needs it"
    return ""


def _crash(function: Callable, error: BaseException) -> str:
    file = getattr(getattr(function, "__code__", None), "co_filename", None)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    place = f", in line {frames[-1].lineno}: `{frames[-1].line}`" if frames else ""
    if isinstance(error, TooLong):
        return f"the function does not stop; it was given up after {sandbox.SECONDS:g} seconds{place}"
    if isinstance(error, KeyboardInterrupt):
        return f"it was interrupted{place}"
    message = " ".join(traceback.format_exception_only(error)[-1].split())
    return f"it raises {message[:300]}{place}"
