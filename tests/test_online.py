"""The badges of a published student version, and its first cell, run as Colab would run it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import nbformat
import pytest

from publish import online, release, site

AS_COLAB = 'import sys, types; sys.modules["google.colab"] = types.ModuleType("google.colab")\n'


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python that has the packages of this one, but not the course."""
    folder = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = next(path for path in (folder / "bin/python", folder / "Scripts/python.exe") if path.exists())
    purelib = subprocess.check_output(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], text=True
    )
    Path(purelib.strip(), "packages.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return python


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A student version in a git repository."""
    if not shutil.which("git"):
        pytest.skip("git is not on this machine")
    folder = tmp_path_factory.mktemp("published")
    release.copy_course(folder)
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "release"]):
        subprocess.run([*git, *arguments], check=True)
    return folder


def run_cell(python: Path, cell: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a cell, then the import that every notebook begins with, where only `folder` is known."""
    (folder / "cell.ipy").write_text(cell + "\nimport lib.text\nprint(lib.text.__file__)\n", encoding="utf-8")
    environment = {**os.environ, "IPYTHONDIR": str(folder / "ipython"), "PYTHONPATH": ""}
    command = [str(python), "-m", "IPython", "--no-banner", "cell.ipy"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


def test_the_first_cell_brings_the_course_to_colab(bare: Path, published: Path, tmp_path: Path) -> None:
    cell = online.FIRST_CELL.replace("ADDRESS", published.as_uri())
    done = run_cell(bare, AS_COLAB + cell, tmp_path)
    assert str(tmp_path / "course" / "lib" / "text.py") in done.stdout, done.stdout + done.stderr
    again = run_cell(bare, AS_COLAB + cell, tmp_path)  # the session was restarted
    assert str(tmp_path / "course" / "lib" / "text.py") in again.stdout and "already exists" not in again.stderr


def test_the_first_cell_does_nothing_elsewhere(bare: Path, published: Path, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    done = run_cell(bare, online.FIRST_CELL.replace("ADDRESS", published.as_uri()) + "\nprint('ran')", folder)
    assert "ran" in done.stdout and not (folder / "course").exists()


def test_every_notebook_of_a_published_release_opens_online(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release.build, "execute", lambda *_: None)  # what the labs print is tested elsewhere
    assert release.main(["--out", str(tmp_path), "--repository", "asha/attention.course"]) == 0
    found = sorted((tmp_path / "student").rglob("*.ipynb"))
    assert len(found) >= 13
    for path in found:
        badges, first = nbformat.read(path, 4).cells[:2]
        place = path.relative_to(tmp_path / "student").as_posix()
        assert f"/github/asha/attention.course/blob/main/{place})" in badges.source
        assert f"/gh/asha/attention.course/HEAD?urlpath=lab/tree/{place})" in badges.source
        assert "git clone -q --depth 1 https://github.com/asha/attention.course course" in first.source
    assert "github" not in (tmp_path / "instructor/labs/lab02.ipynb").read_text("utf-8")


def test_a_page_of_the_site_links_to_its_notebook_online() -> None:
    path = release.build.HERE / "hi/02_hand_traced_attention.ipynb"
    last = site.page(path, "asha/attention").cells[-1].source
    assert "/github/asha/attention/blob/main/notebooks/hi/02_hand_traced_attention.ipynb)" in last
    assert "Colab" not in site.page(path).cells[-1].source


@pytest.mark.parametrize("given", ["attention", "https://github.com/asha/attention", "asha/", "a b/c"])
def test_what_is_no_repository_is_refused(given: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        release.main(["--out", str(tmp_path), "--repository", given])
    assert "is no repository on GitHub: give OWNER/NAME" in capsys.readouterr().err
