"""Links that open a notebook on Colab or Binder, and the first cell that makes it run on Colab.

Both services read a repository on GitHub, so its name has to be told: `run.py release --repository OWNER/NAME`.
"""

from __future__ import annotations

import argparse
import re

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

# Colab is told by its own module. The path is set by hand: a running kernel does not read what pip has added to it.
FIRST_CELL = """\
# On Colab: fetch the course and what it needs, about a minute. If it asks you to restart the session, do so once, and
# run this cell again. Anywhere else it does nothing.
import sys
from pathlib import Path

if "google.colab" in sys.modules and not Path("lib").is_dir():
    if not Path("course").is_dir():
        !git clone -q --depth 1 ADDRESS course
    %cd -q course
    %pip install -q -r requirements.txt
    sys.path.insert(0, str(Path.cwd()))"""


def repository(text: str) -> str:
    """The value of `--repository`, checked."""
    if not re.fullmatch(r"[\w-]+/[\w.-]+", text, flags=re.ASCII):
        raise argparse.ArgumentTypeError(f"{text!r} is no repository on GitHub: give OWNER/NAME")
    return text


def colab(repository: str, path: str) -> str:
    """Where Colab opens the notebook that lies at `path` in the repository."""
    return f"https://colab.research.google.com/github/{repository}/blob/main/{path}"


def binder(repository: str, path: str) -> str:
    """Where Binder opens it."""
    return f"https://mybinder.org/v2/gh/{repository}/HEAD?urlpath=lab/tree/{path}"


def opening(repository: str, path: str) -> list[NotebookNode]:
    """Two cells to put before a notebook: the badges, and what Colab needs."""
    pictures = "https://colab.research.google.com/assets/colab-badge.svg", "https://mybinder.org/badge_logo.svg"
    badges = (
        f"[![Open in Colab]({pictures[0]})]({colab(repository, path)}) "
        f"[![Open in Binder]({pictures[1]})]({binder(repository, path)})"
    )
    first = FIRST_CELL.replace("ADDRESS", f"https://github.com/{repository}")
    return [new_markdown_cell(badges, id="open-online"), new_code_cell(first, id="on-colab")]
