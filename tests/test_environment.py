"""What the course needs is named the same everywhere, and it is all that the course imports."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from email.parser import Parser
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

import build
import editable
import lib
import run
from lib.environment import LEAST_PYTHON, LEAST_VERSIONS

PROJECT = Path(lib.__file__).resolve().parent.parent
CONDA_NAMES = {"pytorch": "torch"}
# What is imported under another name than it is installed, or comes along with a package that is named.
PROVIDED = {
    "fontpkg_noto_sans_devanagari": "fontpkg-noto-sans-devanagari",
    "IPython": "ipywidgets",
    "PIL": "matplotlib",
    "axe_playwright_python": "axe-playwright-python",
    "markdown_it": "markdown-it-py",
    "mdit_py_plugins": "mdit-py-plugins",
    "nbclient": "jupyterlab",
    "nbformat": "nbval",
    "bs4": "beautifulsoup4",
    "fontTools": "fonttools",
    "packaging": "pytest",
    "yaml": "jupytext",
}


def from_pip(lines: list[str]) -> set[str]:
    """Requirements in one spelling: `torch<2.14,>=2.9`."""
    named = [line.split("#")[0].strip() for line in lines]
    return {line if line.startswith("-") else one_spelling(line) for line in named if line}


def one_spelling(text: str) -> str:
    requirement = Requirement(text)
    name = CONDA_NAMES.get(requirement.name, requirement.name)
    return name + ",".join(sorted(str(s) for s in requirement.specifier))


def from_conda(text: str) -> set[str]:
    """The same from an environment.yml, without Python and pip themselves."""
    entries = yaml.safe_load(text)["dependencies"]
    own = [entry for entry in entries if isinstance(entry, str) and not re.match(r"(python|pip)\b", entry)]
    pip = [line for entry in entries if isinstance(entry, dict) for line in entry["pip"]]
    return from_pip(own + pip)


def requirements() -> list[str]:
    return (PROJECT / "requirements.txt").read_text(encoding="utf-8").splitlines()


def test_pip_and_conda_name_the_same() -> None:
    assert from_conda((PROJECT / "environment.yml").read_text(encoding="utf-8")) == from_pip(requirements())


def test_the_comparison_can_fail() -> None:
    conda = "dependencies: ['python>=3.11', pip, 'pytorch>=2.9,<2.14', {pip: ['a==1', '-e .']}]"
    assert from_conda(conda) == from_pip(["torch<2.14,>=2.9  # models", "", "# a", "a==1", "-e ."])
    assert from_conda(conda) != from_pip(["torch<2.14,>=2.8", "a==1", "-e ."])
    assert from_conda(conda) != from_pip(["torch<2.14,>=2.9", "a==1"])


def test_the_least_python_is_the_same_everywhere() -> None:
    least = ".".join(map(str, LEAST_PYTHON))
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["requires-python"] == f">={least}"
    assert f"- python>={least}\n" in (PROJECT / "environment.yml").read_text(encoding="utf-8")
    assert f"Python {least} or newer" in Path(run.__file__).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(LEAST_VERSIONS))
def test_notebook_00_asks_for_what_is_required(name: str) -> None:
    named = {r.name: r for r in map(Requirement, filter(lambda line: line[:1].isalpha(), requirements()))}
    least = next(s.version for s in named[name].specifier if s.operator in (">=", "=="))
    assert re.sub(r"(\.0)+$", "", LEAST_VERSIONS[name]) == least


@pytest.mark.parametrize("name", run.required_names(PROJECT))
def test_what_is_required_is_here(name: str) -> None:
    wanted = next(Requirement(line) for line in requirements() if re.match(rf"{name}\b(?!-)", line))
    assert wanted.specifier.contains(version(name))


def imported(code: str) -> set[str]:
    """The packages from elsewhere that a piece of code imports."""
    names = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return names - sys.stdlib_module_names - {"lib", "run", "build", "conftest", "editable", "notebooks", "publish"}


def extras() -> dict[str, list[str]]:
    """What can be installed beside what is required."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project["optional-dependencies"]


def test_an_extra_can_be_installed_by_its_name(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / editable.build_editable(str(tmp_path))) as wheel:
        name = next(name for name in wheel.namelist() if name.endswith("METADATA"))
        metadata = Parser().parsestr(wheel.read(name).decode())
    assert metadata.get_all("Provides-Extra") == list(extras()) == ["anki"]
    required = [Requirement(line) for line in metadata.get_all("Requires-Dist")]
    assert [(r.name, r.marker.evaluate({"extra": "anki"}), r.marker.evaluate({"extra": ""})) for r in required] == [
        ("genanki", True, False)
    ]


@pytest.mark.parametrize("folder", [".", "lib", "tests", "notebooks", "notebooks/source", "publish"])
def test_everything_imported_is_required(folder: str) -> None:
    required = {
        *run.required_names(PROJECT),
        *(run.required_names(PROJECT, "requirements-browser.txt") if folder == "tests" else ()),
        *(run.required_names(PROJECT, "requirements-publish.txt") if folder in ("tests", "publish") else ()),
        *(Requirement(line).name for lines in extras().values() for line in lines),
    }
    for path in sorted((PROJECT / folder).glob("*.py")):
        code = path.read_text(encoding="utf-8")
        beside = {other.stem for other in path.parent.glob("*.py")}
        unnamed = {name for name in imported(code) - beside if PROVIDED.get(name, name) not in required}
        assert not unnamed, f"{path.name} imports {unnamed}, which requirements.txt does not name"


@pytest.mark.parametrize("command", [["check"], ["format", "--check"]])
def test_the_code_is_in_style(command: list[str]) -> None:
    """ruff, over the notebooks too."""
    ruff = [sys.executable, "-m", "ruff", *command, "--no-cache", "."]
    done = subprocess.run(ruff, cwd=PROJECT, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_kernel_is_the_python_of_this_environment(tmp_path: Path) -> None:
    source = tmp_path / "00_kernel.py"
    source.write_text("# %%\nimport sys\n\nprint(sys.prefix)\n")
    notebook = build.build(source, tmp_path)
    assert notebook.cells[0].outputs[0].text == f"{sys.prefix}\n"


def test_versions_compare_by_number() -> None:
    from lib.environment import at_least

    assert at_least("2.13.0+cpu", "2.9") and at_least("2", "2.0") and at_least("0.2.10", "0.2.9")
    assert not at_least("2.8.1", "2.9") and not at_least("3.10.7", "3.11")


def test_the_check_names_the_package_and_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    from lib import environment

    monkeypatch.setattr(environment, "installed", lambda name: None if name == "torch" else "0.1")
    lines = environment.check_environment()
    assert any("torch" in line and "missing" in line and "pip install" in line for line in lines)
    assert any("numpy" in line and "too old (0.1)" in line and ">=2.0" in line for line in lines)
