"""run.py: one file, nothing but Python, on any machine."""

from __future__ import annotations

import ast
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

import run

PROJECT = Path(run.__file__).resolve().parent
# Stands for notebooks/build.py: it says how it was started.
SCRIPT = """
import json, os, sys, lib
print(json.dumps([sys.argv[1:], os.getcwd(), lib.__file__, os.environ.get("PYTHONUTF8"), sys.prefix]))
if "sleep" in sys.argv:
    import time
    print("asleep", flush=True)
    time.sleep(60)
sys.exit(3 if "fail" in sys.argv else 0)
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course that needs no package, in a folder with a difficult name, and started once."""
    root = tmp_path_factory.mktemp("run") / "किताब dir, x"
    (root / "notebooks").mkdir(parents=True)
    (root / "lib").mkdir()
    for name in ("run.py", "pyproject.toml", "editable.py", "lib/__init__.py"):
        shutil.copy(PROJECT / name, root / name)
    (root / "requirements.txt").write_text("# a comment\npip>=20  # is there\n-e .\n")
    (root / "notebooks" / "build.py").write_text(SCRIPT)
    first = start(root, "build")
    assert first.returncode == 0, first.stderr
    assert "This is the first start here." in first.stdout and "Everything is installed" in first.stdout
    return root


def start(root: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(root / "run.py"), *arguments]
    return subprocess.run(
        command,
        capture_output=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONUTF8": "1", **variables},
    )


def test_the_second_start_takes_seconds_and_passes_everything_on(course: Path) -> None:
    begin = time.monotonic()
    second = start(course, "build", "02", "a b", "--किताब", PYTHONPATH="/nowhere")
    assert time.monotonic() - begin < 5
    *said, answer = second.stdout.splitlines()
    assert said == ["Building the notebooks from notebooks/source."]
    arguments, folder, library, utf8, prefix = json.loads(answer)
    assert arguments == ["02", "a b", "--किताब"]
    assert (folder, library, utf8) == (str(course), str(course / "lib" / "__init__.py"), "1")
    assert prefix == str(course / ".venv") and second.stderr == ""
    assert start(course, "build", "fail").returncode == 3


@pytest.mark.parametrize("folder", ["/", "notebooks", "."])
def test_the_library_is_importable_from_any_folder(course: Path, folder: str) -> None:
    """From / too, where a folder `lib` lies about; and where the locale knows no Devanagari."""
    command = [run.python_of(course), "-W", "error", "-c", "import lib; print(ascii(lib.__file__))"]
    variables = {**os.environ, "LC_ALL": "C"}
    found = subprocess.run(command, cwd=course / folder, env=variables, capture_output=True, text=True)
    assert (found.stdout.strip(), found.stderr) == (ascii(str(course / "lib" / "__init__.py")), "")


def test_two_starts_at_once_repair_an_interrupted_installation_once(course: Path) -> None:
    run.stamp_of(course).write_text('{"state": "started"}')
    stray = course / ".venv" / "half_installed"
    stray.touch()
    command = [sys.executable, str(course / "run.py"), "build"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8"}
    both = [subprocess.Popen(command, **pipes) for _ in range(2)]
    said = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    text = "".join(out for out, _ in said)
    assert text.count("The last installation was interrupted.") == text.count("Everything is installed") == 1
    assert text.count("waiting for it") == 1 and not stray.exists()
    assert run.examine(course) == ("nothing", "")


def changed(course: Path, **fields: str) -> dict[str, str]:
    return {**run.wanted(course, "{}.{}".format(*sys.version_info)), **fields}


@pytest.mark.parametrize(
    ("fields", "answer"),
    [
        ({}, ("nothing", "")),
        ({"state": "started"}, ("make", "The last installation was interrupted.")),
        ({"folder": "/elsewhere"}, ("make", "The course has moved to another folder.")),
        ({"content": "0"}, ("update", "What the course needs has changed.")),
        ({"python": "3.1"}, ("make", "Python has changed from 3.1 to {}.{}.".format(*sys.version_info))),
    ],
)
def test_what_a_stamp_leads_to(course: Path, fields: dict[str, str], answer: tuple[str, str]) -> None:
    stamp = run.stamp_of(course)
    before = stamp.read_text()
    try:
        stamp.write_text(json.dumps(changed(course, **fields)))
        assert run.examine(course) == answer
    finally:
        stamp.write_text(before)


def test_no_stamp_a_damaged_one_and_a_python_that_does_not_run(course: Path, tmp_path: Path) -> None:
    for name in ("requirements.txt", "pyproject.toml"):
        shutil.copy(course / name, tmp_path / name)
    assert run.examine(tmp_path) == ("make", "This is the first start here.")
    (tmp_path / ".venv").mkdir()
    assert run.examine(tmp_path) == ("make", "The Python inside .venv does not run.")
    for damaged in ("", "[", '{"state"', "[]", "null"):
        run.stamp_of(tmp_path).write_text(damaged)
        assert run.examine(tmp_path) == ("make", "The last installation was interrupted."), damaged
    stamp = run.stamp_of(course)
    before = stamp.read_text()
    try:
        stamp.unlink()
        assert run.examine(course) == ("update", "There is a .venv that run.py did not make.")
    finally:
        stamp.write_text(before)


def test_a_missing_package_is_noticed(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "required_names", lambda root: ["pip", "no-such-package-here"])
    assert run.examine(course) == ("update", "Missing in .venv: no-such-package-here.")


def test_the_names_of_the_requirements() -> None:
    names = run.required_names(PROJECT)
    assert "torch" in names and "fontpkg-noto-sans-devanagari" in names and len(names) >= 13
    assert not [name for name in names if not name.replace("-", "").replace("_", "").isalnum()]


def test_a_failed_installation_says_what_failed_and_is_not_believed(course: Path) -> None:
    requirements = course / "requirements.txt"
    before = requirements.read_text()
    try:
        requirements.write_text("./no-such-folder\n")
        failed = start(course, "build")
        assert failed.returncode == 1
        last = failed.stderr.strip().splitlines()[-1]
        assert "no-such-folder" in last and "start the same command again" in last
        assert "Traceback" not in failed.stderr
        assert run.examine(course) == ("update", "What the course needs has changed.")
    finally:
        requirements.write_text(before)
    assert start(course, "build").returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="signals as Linux and macOS have them")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 128 + signal.SIGTERM), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_program_too(course: Path, number: int, code: int) -> None:
    command = [sys.executable, str(course / "run.py"), "build", "sleep"]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    )
    while "asleep" not in process.stdout.readline():
        pass
    begin = time.monotonic()
    process.send_signal(number)
    out, errors = process.communicate(timeout=30)  # ends only when the child has closed its side as well
    assert time.monotonic() - begin < 10 and process.returncode == code and "Traceback" not in errors


def test_no_command_lists_them_and_a_wrong_one_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["--help"], ["help"]):
        assert run.main(arguments) == 0
        text = capsys.readouterr().out
        assert all(f"run.py {name} " in text for name in run.COMMANDS)
    assert run.main(["lap"]) == 2
    names = "lab, test, build, review, release, grade, report, slides, site"
    assert capsys.readouterr().err == f"There is no command 'lap'. The commands are: {names}.\n"


def commands(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> list[str]:
    """What `run.py ARGUMENTS` would start, without the Python in front."""
    started: list[Sequence[str]] = []
    monkeypatch.setattr(run, "set_up", lambda root: None)
    monkeypatch.setattr(run, "run_child", lambda command, root: (started.append(command), (0, ""))[1])
    assert run.main(arguments) == 0
    return list(started[0][1:])


def test_what_the_commands_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run.os, "geteuid", lambda: 1000, raising=False)
    opened = ["-m", "jupyter", "lab", "--LabApp.default_url=/lab/tree/notebooks"]
    assert commands(monkeypatch, "lab", "--no-browser") == [*opened, "--no-browser"]
    assert commands(monkeypatch, "test", "-k", "text") == ["-m", "pytest", "-k", "text"]
    assert commands(monkeypatch, "build", "02") == [os.path.join("notebooks", "build.py"), "02"]
    assert commands(monkeypatch, "review", "--where") == ["-P", "-m", "lib", "review", "--where"]
    wanted: list[str] = []
    monkeypatch.setattr(run, "add_packages", lambda python, file: wanted.append(file))
    assert commands(monkeypatch, "grade", "a class") == ["-P", "-m", "publish.grade_class", "a class"]
    assert wanted == ["requirements-publish.txt"]
    monkeypatch.setattr(run.os, "geteuid", lambda: 0, raising=False)
    assert commands(monkeypatch, "lab") == [*opened, "--allow-root"]
    assert commands(monkeypatch, "lab", "--allow-root") == [*opened, "--allow-root"]


def test_a_review_starts_where_you_are_past_a_stray_lib(course: Path, tmp_path: Path) -> None:
    """So that `--export mine.jsonl` writes into your folder; and what is typed reaches it."""
    (course / "lib" / "__main__.py").write_text("import os, sys; print(sys.argv[1:], os.getcwd(), input())")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "__init__.py").write_text("raise SystemExit(9)")
    command = [sys.executable, str(course / "run.py"), "review", "--export", "मेरा.jsonl"]
    done = subprocess.run(command, cwd=tmp_path, input="answer\n", capture_output=True, encoding="utf-8")
    assert (done.stdout, done.stderr) == (f"['review', '--export', 'मेरा.jsonl'] {tmp_path} answer\n", "")


def test_packages_that_are_there_are_not_installed_again(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Sequence[str]] = []
    monkeypatch.setattr(run, "run_child", lambda command, *_, **__: (started.append(command[1:]), (0, ""))[1])
    (course / "extra.txt").write_text("# what else there is\npip>=20\n", encoding="utf-8")
    python = run.python_of(course)
    run.add_packages(python, "extra.txt")
    assert not started
    (course / "extra.txt").write_text("pip>=20\nno-such-package==1\n", encoding="utf-8")
    run.add_packages(python, "extra.txt")
    assert started == [["-m", "pip", "install", "--quiet", "-r", "extra.txt"]]


def test_windows_has_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as windows:
        windows.setattr(run.os, "name", "nt")
        path = run.python_of(tmp_path)
    assert path.relative_to(tmp_path).as_posix() == ".venv/Scripts/python.exe"


def test_a_python_without_ensurepip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run.importlib.util, "find_spec", lambda name: None if name == "ensurepip" else name)
    with pytest.raises(run.SetupError, match=r"lacks its module ensurepip.*apt install python3\.\d+-venv"):
        run.make_venv(tmp_path, lock=0)


@pytest.mark.parametrize("version", [(3, 6, 9), (3, 10, 13)])
def test_an_old_python_gets_one_sentence(version: tuple[int, int, int]) -> None:
    code = f"import sys; sys.version_info = {version}; exec(compile(open('run.py').read(), 'run.py', 'exec'))"
    old = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True)
    assert (old.returncode, old.stdout) == (1, "")
    assert old.stderr == (
        f"This course needs Python 3.11 or newer, and this is Python 3.{version[1]}: start run.py with a newer one.\n"
    )


def test_run_needs_the_standard_library_only_and_parses_under_old_pythons() -> None:
    tree = ast.parse((PROJECT / "run.py").read_text(encoding="utf-8"), feature_version=(3, 7))
    imported = {
        (node.module if isinstance(node, ast.ImportFrom) else alias.name).split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert imported <= sys.stdlib_module_names


def test_ci_calls_the_command_of_the_readme() -> None:
    lines = (PROJECT / ".ci" / "run").read_text().splitlines()
    command = lines[-1]
    assert command == "python3 run.py test"
    assert f"\n{command}\n" in (PROJECT / "README.md").read_text(encoding="utf-8").replace("    ", "")


def test_an_environment_of_somebody_else_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "run_child", lambda *_, **__: (0, ""))
    for text in ("first", "second"):
        (tmp_path / ".venv").mkdir()
        (tmp_path / ".venv" / "notes.txt").write_text(text)
        run.make_venv(tmp_path, 0)
        (tmp_path / ".venv" / "half").touch()
        run.make_venv(tmp_path, 0)  # now it is one that was made here
        assert [path.name for path in (tmp_path / ".venv").iterdir()] == [run.stamp_of(tmp_path).name]
        shutil.rmtree(tmp_path / ".venv")
    assert [(tmp_path / f".venv.old-{n}" / "notes.txt").read_text() for n in (1, 2)] == ["first", "second"]


@pytest.mark.parametrize(("name", "needed"), run.NEEDED.items())
def test_a_students_version_says_what_it_has_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, needed: str
) -> None:
    assert run.main([name], tmp_path) == 2
    assert f"needs {needed}, which is not here" in capsys.readouterr().err and not (tmp_path / ".venv").exists()
    assert (run.ROOT / needed).exists()
