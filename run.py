#!/usr/bin/env python3
"""Start the course on a machine that has only Python.

    python3 run.py lab      open the notebooks in JupyterLab
    python3 run.py test     run every test, and every notebook again
    python3 run.py build    make the notebooks again from notebooks/source
    python3 run.py review   answer in this terminal what is due today; --where says where your progress is kept

For instructors and maintainers; the first of these installs what requirements-publish.txt names:

    python3 run.py release  make the student and the instructor version in build/release
    python3 run.py grade    grade what a class handed in
    python3 run.py report   count its questions and misconceptions, without names
    python3 run.py slides   make the slides in build/slides
    python3 run.py site     make the course as a web site in build/site

The first start makes a folder `.venv` beside this file and installs into it what requirements.txt names. Further
arguments go to the program that is started: `run.py lab --no-browser`, `run.py test -k text`, `run.py build 02`,
`run.py review --help`.
"""

import sys

# This file is read by whatever Python there is: no syntax above 3.6, and nothing newer than 3.6 before this line.
if sys.version_info < (3, 11):  # noqa: UP036
    found = ".".join(map(str, sys.version_info[:2]))
    sys.exit(
        "This course needs Python 3.11 or newer, and this is Python " + found + ": start run.py with a newer one."
    )

import contextlib
import hashlib
import importlib.util
import itertools
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parent
Command = Callable[[Path, Sequence[str]], list[str]]  # the environment's Python, arguments -> what is to be started
INTERRUPTED = 130  # the exit code of a program that Ctrl-C ended
# Asked of the environment's own Python: its version, and which of the named packages it lacks.
PROBE = """
import importlib.metadata, json, sys
def lacks(name):
    try:
        return not importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return True
print(json.dumps(["%d.%d" % sys.version_info[:2], [name for name in sys.argv[1:] if lacks(name)]]))
"""


class SetupError(Exception):
    """The environment cannot be made; the message says why and what to do."""


def say(text: str) -> None:
    """Print one line of what is being done, at once, on any console."""
    print(text, flush=True)


# ------------------------------------------------------------------------------------------ the environment


def python_of(root: Path) -> Path:
    """The Python inside the environment."""
    return root / ".venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def stamp_of(root: Path) -> Path:
    """The file that says what was installed; "complete" is written into it last."""
    return root / ".venv" / "course.json"


def read_stamp(root: Path) -> dict[str, str]:
    """What the stamp says; of one that is not there, or cannot be read, that."""
    try:
        stamp = json.loads(stamp_of(root).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {"state": "none"}
    except (OSError, ValueError):
        return {"state": "damaged"}
    return stamp if isinstance(stamp, dict) else {"state": "damaged"}


def wanted(root: Path, version: str) -> dict[str, str]:
    """What the stamp says after a complete installation for this folder and this version of Python.

    The folder is part of it because the programs inside an environment hold its path: a moved one has to be
    made again.
    """
    files = [(root / name).read_bytes().replace(b"\r\n", b"\n") for name in ("requirements.txt", "pyproject.toml")]
    content = hashlib.sha256(b"\0".join(files)).hexdigest()
    return {"state": "complete", "folder": str(root), "python": version, "content": content}


def required_names(root: Path, file: str = "requirements.txt") -> list[str]:
    """The names of the packages in a file of requirements, without their versions."""
    names = []
    for line in (root / file).read_text(encoding="utf-8").splitlines():
        requirement = line.split("#")[0].strip()
        if requirement[:1].isalnum():  # not an option, nor a path
            end = next((i for i, c in enumerate(requirement) if not (c.isalnum() or c in "-_.")), None)
            names.append(requirement[:end])
    return names


def examine(root: Path) -> tuple[str, str]:
    """Look at the environment and say what has to be done, and why.

    Returns:
        ("nothing", ""), ("update", reason): install into the one that is there, or ("make", reason): from nothing
    """
    if not (root / ".venv").exists():
        return "make", "This is the first start here."
    stamp = read_stamp(root)
    if stamp.get("state") not in ("complete", "none"):
        return "make", "The last installation was interrupted."
    command = [str(python_of(root)), "-c", PROBE, *required_names(root)]
    try:
        answer = subprocess.run(command, env=environment(), capture_output=True, timeout=60, check=True)
        version, missing = json.loads(answer.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return "make", "The Python inside .venv does not run."
    if tuple(map(int, version.split("."))) < (3, 11):
        return "make", f"The Python inside .venv is {version}, the course needs 3.11 or newer."
    return compare(stamp, wanted(root, version), missing)


def compare(stamp: dict[str, str], goal: dict[str, str], missing: Sequence[str]) -> tuple[str, str]:
    """The second half of `examine`: what has to be done in an environment whose Python runs."""
    if stamp == goal and not missing:
        return "nothing", ""
    if stamp["state"] == "none":
        return "update", "There is a .venv that run.py did not make."
    if stamp.get("folder") != goal["folder"]:
        return "make", "The course has moved to another folder."
    if stamp.get("python") != goal["python"]:
        return "make", f"Python has changed from {stamp.get('python')} to {goal['python']}."
    if missing:
        return "update", f"Missing in .venv: {', '.join(missing)}."
    return "update", "What the course needs has changed."


def environment() -> dict[str, str]:
    """The variables for every program that is started: UTF-8, this environment only, no questions."""
    unwanted = ("PYTHONHOME", "PYTHONPATH", "__PYVENV_LAUNCHER__", "PIP_USER", "PIP_TARGET", "PIP_PREFIX")
    variables = {name: value for name, value in os.environ.items() if name not in unwanted}
    fixed = {"PYTHONUTF8": "1", "JUPYTER_PREFER_ENV_PATH": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    return {**variables, **fixed, "PIP_NO_INPUT": "1"}


def set_up(root: Path) -> None:
    """Make sure that the environment is there and whole; do nothing, in a moment, if it is.

    Raises:
        SetupError: it cannot be made.
    """
    if examine(root)[0] == "nothing":
        return
    with only_one(root) as lock:
        what, reason = examine(root)  # another start may have done it while this one waited
        if what != "nothing":
            begin = time.monotonic()
            say(reason)
            install(root, what, lock)
            say(f"Everything is installed ({time.monotonic() - begin:.0f} s). The next start takes seconds.")


def install(root: Path, what: str, lock: int) -> None:
    """Make the environment, or complete it, and write the stamp when all is done."""
    before = read_stamp(root)
    if what == "make":
        make_venv(root, lock)
    stamp_of(root).write_text('{"state": "started"}', encoding="utf-8")
    command = [str(python_of(root)), "-m", "pip", "install", "-r", "requirements.txt"]
    if what == "make":
        say("Installing what requirements.txt names. This once, it takes minutes and a connection.")
    else:
        say("Installing what is missing of requirements.txt.")
        command.append("--quiet")
    code, errors = run_child(command, root, lock=lock, watch_errors=True)
    if code != 0:
        if what == "update" and code > 0 and before["state"] == "complete":  # pip took back what it had begun
            stamp_of(root).write_text(json.dumps(before), encoding="utf-8")
        raise SetupError(
            f"pip could not install the packages: {errors or f'it ended with code {code}'}. "
            "Is this machine connected, and is there room on the disk? Then start the same command again."
        )
    answer = subprocess.run(
        [str(python_of(root)), "-c", PROBE, *required_names(root)], env=environment(), capture_output=True
    )
    version, missing = json.loads(answer.stdout)
    if missing:
        raise SetupError(f"pip said that it was done, but these are missing: {', '.join(missing)}.")
    part = stamp_of(root).with_suffix(".part")
    part.write_text(json.dumps(wanted(root, version)), encoding="utf-8")
    os.replace(part, stamp_of(root))


def make_venv(root: Path, lock: int) -> None:
    """Make an empty environment in .venv. One made here before goes; anything else is kept under another name."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    for module in ("venv", "ensurepip"):
        if importlib.util.find_spec(module) is None:
            raise SetupError(
                f"This Python lacks its module {module}, which makes environments. On Debian and Ubuntu, install "
                f"it with `sudo apt install python{version}-venv`. Then start the same command again."
            )
    folder = root / ".venv"
    try:
        if folder.is_symlink() or folder.is_file():
            folder.unlink()
        elif stamp_of(root).is_file():
            say("Removing the old .venv …")
            remove(folder)
        elif folder.exists():
            names = (root / f".venv.old-{number}" for number in itertools.count(1))
            kept = next(name for name in names if not name.exists())
            say(f"There is a .venv that this program has not made: it is kept as {kept.name}.")
            folder.rename(kept)
        folder.mkdir()
        stamp_of(root).write_text('{"state": "started"}', encoding="utf-8")
    except OSError as error:
        raise SetupError(
            f"{folder} cannot be renewed ({error.strerror}: {error.filename}). Is a notebook still open, or does "
            "the folder belong to somebody else? Then start the same command again."
        ) from error
    say(f"Making an environment for Python {version} in .venv …")
    python = getattr(sys, "_base_executable", None) or sys.executable
    code, errors = run_child([python, "-m", "venv", str(folder)], root, lock=lock, watch_errors=True)
    if code != 0:
        raise SetupError(f"`python -m venv` failed: {errors or f'it ended with code {code}'}.")


def remove(folder: Path) -> None:
    """Remove a folder; a program that has just been stopped may write into it for a moment yet."""
    for last in (False, False, True):
        try:
            return shutil.rmtree(folder)
        except OSError:
            if last:
                raise
            time.sleep(1)


@contextlib.contextmanager
def only_one(root: Path) -> Iterator[int]:
    """Hold the lock of this folder, so that two starts at once do not install at once.

    The system gives the lock back when the process ends, however it ends; on Linux and macOS a pip that
    outlives its run.py keeps it until it is done.
    """
    try:
        lock = os.open(root / ".venv.lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise SetupError(f"{root} cannot be written into ({error.strerror}): copy the course elsewhere.") from error
    try:
        if not try_lock(lock):
            say("Another start is installing at this moment; waiting for it …")
            while not try_lock(lock):
                time.sleep(0.5)
        yield lock
    finally:
        os.close(lock)


def try_lock(lock: int) -> bool:
    """Take the lock if it is free. A file system that knows no locks counts as free."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(lock, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return True
    return True


# ---------------------------------------------------------------------------------------- programs and commands


def run_child(
    command: Sequence[str], folder: Path, lock: int | None = None, watch_errors: bool = False
) -> tuple[int, str]:
    """Run a program in `folder` until it ends; it shares this console, its Ctrl-C and its exit code.

    Args:
        lock: an open file that the program keeps open too.
        watch_errors: read what it writes to stderr and pass it on.

    Returns:
        the exit code, and what the last line on stderr that began with "error" said
    """
    keep = () if lock is None or os.name == "nt" else (lock,)
    stderr = subprocess.PIPE if watch_errors else None
    child = subprocess.Popen(command, cwd=folder, env=environment(), stderr=stderr, pass_fds=keep)
    error = ""
    try:
        if child.stderr is not None:
            for line in child.stderr:
                text = line.decode("utf-8", "replace").rstrip()
                print(text, file=sys.stderr, flush=True)
                if text.lower().startswith("error"):
                    error = text.partition(":")[2].strip().rstrip(".")
        return wait(child), error
    finally:
        end(child)


def wait(child: subprocess.Popen) -> int:
    """Wait for a program. Ctrl-C reaches it too, and what it means is its own affair (JupyterLab asks back)."""
    while True:
        try:
            return child.wait()
        except KeyboardInterrupt:
            if not (sys.stdin and sys.stdin.isatty()):
                end(child)  # nobody at the keyboard: the signal came to this process alone


def end(child: subprocess.Popen) -> None:
    """End a program that still runs, kindly at first."""
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(timeout=10)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def lab(python: Path, arguments: Sequence[str]) -> list[str]:
    """JupyterLab, with the whole course in its file browser and the notebooks before you."""
    command = [str(python), "-m", "jupyter", "lab", "--LabApp.default_url=/lab/tree/notebooks"]
    if hasattr(os, "geteuid") and os.geteuid() == 0 and "--allow-root" not in arguments:
        say("You are root, so JupyterLab is started with --allow-root.")
        command.append("--allow-root")
    say("Starting JupyterLab on the notebooks. Ctrl-C here ends it.")
    return [*command, *arguments]


def test(python: Path, arguments: Sequence[str]) -> list[str]:
    """Every test, the style of the code and every notebook included; with arguments, what they choose."""
    say("Running the tests." if arguments else "Running every test, then every notebook (about half an hour).")
    return [str(python), "-m", "pytest", *arguments]


def build(python: Path, arguments: Sequence[str]) -> list[str]:
    """The notebooks again, from notebooks/source."""
    say("Building the notebooks from notebooks/source.")
    return [str(python), str(Path("notebooks", "build.py")), *arguments]


def review(python: Path, arguments: Sequence[str]) -> list[str]:
    """The questions that are due, in this terminal; or the progress itself: where it is, export, import, reset."""
    return [str(python), "-P", "-m", "lib", "review", *arguments]  # -P: no folder `lib` that lies about is taken


def publish(module: str) -> Command:
    """A program of `publish/`; what it needs beyond the learners' packages is installed when it is first wanted."""

    def command(python: Path, arguments: Sequence[str]) -> list[str]:
        add_packages(python, "requirements-publish.txt")
        return [str(python), "-P", "-m", f"publish.{module}", *arguments]  # -P: as in `review`

    return command


def add_packages(python: Path, file: str) -> None:
    """Install what a file of requirements names into the environment, if any of it is missing.

    Raises:
        SetupError: pip could not.
    """
    root = python.parents[2]
    probe = [str(python), "-c", PROBE, *required_names(root, file)]
    answer = subprocess.run(probe, env=environment(), capture_output=True, check=True)
    if not json.loads(answer.stdout)[1]:
        return
    say(f"Installing what {file} names. This once, it takes a minute and a connection.")
    code, errors = run_child([str(python), "-m", "pip", "install", "--quiet", "-r", file], root, watch_errors=True)
    if code != 0:
        raise SetupError(f"pip could not install {file}: {errors or f'it ended with code {code}'}.")


# What a command works on. The version that students get from `release` leaves these out.
NEEDED = {"test": "tests", "build": "notebooks/build.py"} | dict.fromkeys(
    ("release", "grade", "report", "slides", "site"), "publish"
)
FROM_HERE = ("review", "grade", "report")  # files that these are given are named from where you are
COMMANDS: dict[str, Command] = {
    "lab": lab,
    "test": test,
    "build": build,
    "review": review,
    "release": publish("release"),
    "grade": publish("grade_class"),
    "report": publish("class_report"),
    "slides": publish("slides"),
    "site": publish("site"),
}


def main(arguments: Sequence[str], root: Path = ROOT) -> int:
    """Set up, then start what was asked for; the exit code is that of the program started."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a console that lacks Devanagari letters is no reason to stop
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        say((__doc__ or "").strip())
        return 0
    name, rest = arguments[0], list(arguments[1:])
    if name not in COMMANDS:
        print(f"There is no command {name!r}. The commands are: {', '.join(COMMANDS)}.", file=sys.stderr)
        return 2
    if name in NEEDED and not (root / NEEDED[name]).exists():
        print(
            f"`run.py {name}` needs {NEEDED[name]}, which is not here: only the whole course has it.", file=sys.stderr
        )
        return 2
    try:
        set_up(root)
        folder = Path.cwd() if name in FROM_HERE else root
        code = run_child(COMMANDS[name](python_of(root), rest), folder)[0]
        return code if code >= 0 else 128 - code  # ended by a signal
    except SetupError as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"\nThe set-up failed: {error}. Mend that, then start the same command again.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. Start the same command again when you like.", file=sys.stderr)
        return INTERRUPTED


def on_terminate(number: int, frame: FrameType | None) -> None:
    """A polite request to end is answered like Ctrl-C, so that no program is left behind."""
    raise SystemExit(128 + number)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, on_terminate)
    sys.exit(main(sys.argv[1:]))
