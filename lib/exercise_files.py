"""The files in `exercises/`: `03_2_additive_score.py` is exercise 3.2, `03_bug_….py` the bug lab of notebook 03.

docstring          first line "3.2 · Title · easy, medium or hard · 10 minutes"; then the statement, with shapes
NAME, HINTS        what the learner's function is called; hints from weak to strong
stub, solution     functions; the learner sees their source, with NAME for their name
reference          what is right, computed in another way than the solution
wrong_…            catalogued wrong solutions; the docstring of each is its diagnosis
cases()            yields (label, arguments); the smallest that fails is the one that is shown
violation(result, *arguments)    optional: what a wrong result breaks ("row 0 sums to 0.7, …"), or None
call(function, *arguments)       optional: how the function is used
SYMPTOM, symptom(function)       in a bug lab: what is measured, and its number; `stub` is the buggy function

In a student version (`run.py release`) a file is sealed: its code, without the solution, is in one string, SEALED.
"""

from __future__ import annotations

import base64
import importlib.util
import inspect
import linecache
import random
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

FOLDER = Path(__file__).resolve().parent.parent / "exercises"
HEAD = re.compile(r"(\d+\.(?:\d+|bug)) · (.+) · (easy|medium|hard) · (\d+) minutes")


class Wrong(NamedTuple):
    """A catalogued wrong solution."""

    function: Callable
    source: str
    diagnosis: str


@dataclass(frozen=True, eq=False)
class Exercise:
    """One exercise; `module` is its file."""

    id: str
    title: str
    difficulty: str
    minutes: int
    statement: str
    stub: str
    solution: str  # empty in a student version
    hints: tuple[str, ...]
    wrong: dict[str, Wrong]
    module: ModuleType = field(repr=False)

    @property
    def notebook(self) -> str:
        """The number of its notebook: "03"."""
        return f"{self.id.partition('.')[0]:0>2}"

    @property
    def is_lab(self) -> bool:
        """Is it a bug lab?"""
        return hasattr(self.module, "symptom")

    @property
    def parameters(self) -> list[str]:
        """What the learner's function is called with."""
        return list(inspect.signature(self.module.stub).parameters)

    @property
    def names(self) -> list[str]:
        """What the parts of a case are called."""
        call = getattr(self.module, "call", None)
        return list(inspect.signature(call).parameters)[1:] if call else self.parameters

    def call(self, function: Callable, arguments: tuple) -> Any:
        """Use a solution, right or wrong, on one case."""
        special = getattr(self.module, "call", None)
        return special(function, *arguments) if special else function(*arguments)


def paths() -> dict[str, Path]:
    """The files, by the number of their exercise: "3.2"."""
    found = sorted(FOLDER.glob("[0-9]*_*_*.py"))
    return {f"{int(path.stem.split('_')[0])}.{path.stem.split('_')[1]}": path for path in found}


def find(identifier: str) -> Exercise:
    """The exercise called "3.2", or "3.bug". ValueError: there is none."""
    found = paths()
    if identifier not in found:
        raise ValueError(f"no exercise is called {identifier!r}: the number comes first, one of {', '.join(found)}")
    return load(found[identifier])


@cache
def load(path: Path) -> Exercise:
    """Read one exercise file. ValueError: a part of it is missing."""
    module = _execute(path)
    head, _, statement = inspect.cleandoc(module.__doc__ or "").partition("\n")
    found, parts = HEAD.fullmatch(head), ["NAME", "HINTS", "stub", "solution", "reference", "cases"]
    if hasattr(module, "SEALED"):
        parts.remove("solution")
    if not found or not all(hasattr(module, part) for part in parts):
        raise ValueError(
            f"{path.name} needs {', '.join(parts)}, and a docstring beginning '3.2 · … · easy · 5 minutes'"
        )

    def source(function: Callable) -> str:
        return inspect.getsource(function).replace(f"def {function.__name__}(", f"def {module.NAME}(", 1)

    wrong = {
        name.removeprefix("wrong_"): Wrong(function, source(function), " ".join(function.__doc__.split()))
        for name, function in vars(module).items()
        if name.startswith("wrong_")
    }
    solution = source(module.solution) if hasattr(module, "solution") else ""
    shown = statement.strip(), source(module.stub), solution, tuple(module.HINTS)
    return Exercise(found[1], found[2], found[3], int(found[4]), *shown, wrong, module)


def _execute(path: Path) -> ModuleType:
    """Run an exercise file, and what is sealed in it; the text of that is kept where `inspect` looks for it."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if hasattr(module, "SEALED"):
        text, name = zlib.decompress(base64.b64decode(module.SEALED)).decode(), f"<{path.name}, unsealed>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        exec(compile(text, name, "exec"), vars(module))
    return module


def draw(seed: int, *shape: int, digits: int = 1) -> Any:
    """For the cases: nested lists of normal numbers, short enough to read, the same on every machine."""
    generator = random.Random(seed)

    def fill(shape: tuple[int, ...]) -> Any:
        return [fill(shape[1:]) for _ in range(shape[0])] if shape else round(generator.gauss(0, 1), digits) + 0.0

    return fill(shape)
