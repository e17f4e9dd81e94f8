"""Progress of a long loop: in a terminal, in a notebook, and nowhere else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import build
from lib import progress as module
from lib.progress import progress


def test_without_anybody_to_see_it_the_items_pass_unchanged(capfd: pytest.CaptureFixture[str]) -> None:
    assert list(progress(iter("abc"), total=3)) == ["a", "b", "c"]
    assert list(progress([])) == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_a_terminal_gets_a_bar_on_stderr_only() -> None:
    import pty
    import termios

    code = (
        "from lib.progress import progress; print(len(list(progress(range(7), label='training', note=lambda: 'x'))))"
    )
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=theirs, text=True)
    drawn = os.read(ours, 10_000).decode()
    os.close(theirs)
    os.close(ours)
    assert done.stdout == "7\n" and "training" in drawn


def run_cells(tmp_path: Path, *cells: str) -> list[list[str]]:
    """What each cell of a notebook shows at the end."""
    source = tmp_path / "00_x.py"
    source.write_text("".join(f"# %%\n{cell}\n\n" for cell in cells))
    return [[o.data["text/plain"] for o in cell.outputs] for cell in build.build(source, tmp_path).cells]


def test_a_notebook_keeps_one_sentence(tmp_path: Path) -> None:
    shown = run_cells(
        tmp_path,
        "from lib.progress import progress\n\nfor _ in progress(range(1200), label='training'):\n    pass",
        "for _ in progress(iter('abc'), label='reading'):\n    pass",
        "for _ in progress(range(700, 1000), total=1000, start=700, label='training', unit='sentences'):\n    pass",
        "for step in progress(range(1000), label='training'):\n    if step == 7:\n        break",
    )
    assert shown == [
        ["training: 1,200 steps"],
        ["reading"],
        ["training: 1,000 sentences"],
        ["training: 7 of 1,000 steps"],
    ]


class Recorder:
    """Stands for the output of a cell; the clock moves by a second with every item."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.shown = 0.0, []
        monkeypatch.setattr(module.time, "perf_counter", lambda: self.now)
        monkeypatch.setattr(module, "_in_notebook", lambda: True)
        display = pytest.importorskip("IPython.display")
        monkeypatch.setattr(display, "display", lambda bundle, **_: (self.update(bundle), self)[1])

    def update(self, bundle: dict[str, str], raw: bool = True) -> None:
        self.shown.append((bundle["text/plain"], "<progress" in bundle["text/html"]))

    def loop(self, seconds: float, items: int, **arguments: object) -> list[tuple[str, bool]]:
        for _ in progress(range(items), **arguments):
            self.now += seconds
        return self.shown


def test_the_bar_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Recorder(monkeypatch).loop(1.0, 4, label="training", note=lambda: "loss 2.0")
    assert shown == [
        ("training: 4 steps", False),
        ("training: 1 of 4 steps, about 0:03 left, loss 2.0", True),
        ("training: 2 of 4 steps, about 0:02 left, loss 2.0", True),
        ("training: 3 of 4 steps, about 0:01 left, loss 2.0", True),
        ("training: 4 of 4 steps, about 0:00 left, loss 2.0", True),
        ("training: 4 steps", False),
    ]


def test_a_long_loop_sends_few_updates_and_still_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four minutes of 0.1 s steps: an update every two seconds, not 2,400 of them."""
    assert 100 <= len(Recorder(monkeypatch).loop(0.1, 2400)) <= 135


def test_an_exception_leaves_the_place_where_it_happened(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder(monkeypatch)
    with pytest.raises(ZeroDivisionError):
        for item in progress(iter([1, 1, 0]), total=3, label="dividing"):
            1 / item
    del item
    assert recorder.shown[-1] == ("dividing: 2 of 3 steps", False)


def test_text_is_escaped() -> None:
    assert module._bundle('a < b "c"')["text/html"] == "<div>a &lt; b &quot;c&quot;</div>"
