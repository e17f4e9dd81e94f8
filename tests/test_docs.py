"""The guides say what is there: commands, links, sections and minutes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import run
from lib.exercise_files import find
from notebooks import readme_picture

PROJECT = Path(__file__).resolve().parent.parent
DOCS = [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", *sorted((PROJECT / "docs").glob("*.md"))]
GUIDE = (PROJECT / "docs/instructor.md").read_text("utf-8")
LESSONS = dict(re.findall(r"(?ms)^## Notebook (0\d) · .+?\n(.*?)(?=^## |\Z)", GUIDE))


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_commands_and_links(path: Path) -> None:
    text = path.read_text("utf-8")
    assert set(re.findall(r"run\.py ([a-z]+)\b", text)) <= run.COMMANDS.keys()
    assert all((PROJECT / "publish" / f"{name}.py").is_file() for name in re.findall(r"-m publish\.(\w+)", text))
    for link in re.findall(r"\]\(([^)#\s]+)", text):
        assert link.startswith("http") or (path.parent / link).exists(), link
    for name in re.findall(r"`((?:tests|lib|docs|data|exercises|notebooks|publish)/[\w./]+)`", text):
        assert (PROJECT / name).exists() or "NN" in name or "lab" in name, name


@pytest.mark.parametrize("number", LESSONS)
def test_a_lesson_names_sections_that_exist(number: str) -> None:
    (source,) = (PROJECT / "notebooks/source").glob(f"{number}_*.py")
    headings = {line.lstrip("# ") for line in source.read_text("utf-8").splitlines() if re.match(r"# ##+ ", line)}
    named = re.findall(r'"(\d+\. [^"]+)"', " ".join(LESSONS[number].split()))
    assert named and set(named) <= headings


@pytest.mark.parametrize("number", sorted(set(LESSONS) - {"06"}))
def test_the_minutes_add_up(number: str) -> None:
    rows = re.findall(r"(?m)^\| (\d+) \| .+? \| (\d+) \| .+ \|$", LESSONS[number])
    assert [sum(map(int, column)) for column in zip(*rows, strict=True)] == [50, 90]


def test_every_notebook_has_a_lesson() -> None:
    assert sorted(LESSONS) == [path.stem[:2] for path in sorted((PROJECT / "notebooks/source").glob("0*.py"))]


@pytest.mark.parametrize("number", sorted(set(LESSONS) - {"00", "06"}))
def test_exercises_fit_their_slot(number: str) -> None:
    """The minutes of the exercises that a slot names are at most those of the slot."""
    rows = re.findall(r"(?m)^\| (\d+) \| (.+?) \| (\d+) \| (.+) \|$", LESSONS[number])
    for *short, minutes, text in rows:
        for room, plan in (short, (minutes, text)):
            named = re.findall(rf"\b({int(number)}\.\d)\b", re.sub(r'"[^"]*"', "", plan))
            assert " to " not in re.sub(r'"[^"]*"', "", plan) or len(named) < 2, plan
            named += [f"{int(number)}.bug"] * ("the bug lab" in plan)
            assert sum(find(name).minutes for name in named) <= int(room), plan


def test_the_picture_of_the_readme_is_of_the_stored_notebooks() -> None:
    stored = np.asarray(Image.open(readme_picture.PICTURE).convert("RGB"), dtype=float)
    made = np.asarray(readme_picture.compose(), dtype=float)
    assert stored.shape == made.shape and abs(stored - made).mean() < 0.3  # of 255: it is stored with fewer colours
