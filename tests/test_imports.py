"""The floors of the library: a file imports only from floors below its own, and nothing heavy before it is needed."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import lib

LIBRARY = Path(lib.__file__).resolve().parent
# Lowest first. Files on one floor do not know each other.
FLOORS = [
    ("__init__", "distributed", "interrupt", "lines", "lock", "progress", "settings", "text"),
    ("pairs",),
    ("readers", "splitting"),
    ("corpus",),
    ("corpus_speed", "lexicon"),
    ("morphology",),
    ("phrases",),
    ("participants",),
    ("choices",),
    ("clauses",),
    ("statements",),
    ("asking", "joining"),
    ("sentences",),
    ("grammar",),
    ("batching",),
    ("attention",),
    ("seq2seq",),
    ("transformer",),
    ("checkpoint", "search"),
    ("training",),
    ("evaluation",),
    ("pictures",),
    ("plots",),
    ("experiments", "environment", "yardsticks"),
    ("bench",),
    ("links", "looking"),
    ("drawings",),
    ("explore",),
    ("answers",),
    ("questions",),
    ("bank", "journal"),
    ("question_text", "schedule"),
    ("recall",),
    ("review",),
    ("sandbox", "comparison", "exercise_files"),
    ("diagnosis",),
    ("exercises",),
    ("runs",),
    ("real_pairs",),
    ("commands",),
    ("cli",),
    ("__main__",),
]
FLOOR = {name: number for number, names in enumerate(FLOORS) for name in names}
PICTURES = {"matplotlib", "ipywidgets", "IPython"}
FILES = sorted(path.stem for path in LIBRARY.glob("*.py"))


def imports(tree: ast.AST) -> list[str]:
    """The dotted names of all that is imported in a piece of code."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are written in full: from lib.text import …"
            names = [f"lib.{alias.name}" for alias in node.names] if node.module == "lib" else [node.module]
            found += names
    return found


def wrong_floors(name: str, code: str) -> list[str]:
    """The imports of a file that do not go down."""
    inner = [module.split(".")[1] for module in imports(ast.parse(code)) if module.startswith("lib.")]
    return [module for module in inner if module not in FLOOR or FLOOR[module] >= FLOOR[name]]


def early_imports(code: str) -> set[str]:
    """The packages that are imported when the file is, not later in a function."""
    statements = ast.parse(code).body
    early = [s for s in statements if not isinstance(s, ast.FunctionDef | ast.ClassDef) and not _for_types_only(s)]
    return {module.split(".")[0] for statement in early for module in imports(statement)}


def _for_types_only(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and ast.unparse(statement.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


@pytest.mark.parametrize("name", FILES)
def test_a_file_imports_from_floors_below(name: str) -> None:
    assert name in FLOOR, f"lib/{name}.py has no floor yet: give it one in tests/test_imports.py"
    code = (LIBRARY / f"{name}.py").read_text(encoding="utf-8")
    assert wrong_floors(name, code) == []
    assert early_imports(code) & PICTURES == set()


def test_the_checks_can_fail() -> None:
    assert wrong_floors("text", "def f():\n    from lib.corpus import Pair") == ["corpus"]
    assert wrong_floors("text", "from lib import plots, text") == ["plots", "text"]
    assert wrong_floors("corpus", "import lib.text, lib.basement") == ["basement"]
    assert early_imports("import matplotlib.pyplot\ndef f():\n    import ipywidgets") == {"matplotlib"}
    assert early_imports("if TYPE_CHECKING:\n    from IPython import x\ntry:\n    import a\nexcept E: pass") == {"a"}


def in_a_new_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_importing_writes_nothing() -> None:
    everything = ", ".join(f"lib.{name}" for name in FILES if not name.startswith("__"))
    code = f"import torch, sentencepiece, matplotlib; import lib, {everything}"
    assert in_a_new_python(code) == ""


def test_importing_the_library_is_cheap() -> None:
    """`import lib` loads nothing else; all of it takes a third of torch's own time (a ratio: machines are busy)."""
    everything = ", ".join(f"lib.{name}" for name in FILES if not name.startswith("__"))
    code = f"""
import time
begin = time.process_time()
import numpy, torch
between = time.process_time()
import {everything}
print((time.process_time() - between) / (between - begin))
"""
    assert min(float(in_a_new_python(code)) for _ in range(3)) < 1 / 3
    loaded = in_a_new_python(
        "import sys; before = set(sys.modules); import lib; print(len(set(sys.modules) - before))"
    )
    assert loaded == "1\n"
