"""What was built goes where it should, and nothing of somebody else is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from publish.deliver import LEDGER, InTheWay, deliver


def tree(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def content(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder into which something was built, and to which a class then handed in."""
    deliver(tree(tmp_path / "first", {"a.txt": "1", "old/b.txt": "1", "old/c/d.txt": "1"}), tmp_path / "out")
    return tree(tmp_path / "out", {"submitted/asha/lab.ipynb": "mine", "old/note.txt": "mine", ".git/HEAD": "main"})


def test_what_a_build_left_is_replaced_and_everything_else_stays(tmp_path: Path, out: Path) -> None:
    deliver(tree(tmp_path / "second", {"a.txt": "2", "new.txt": "2"}), out)
    found = content(out)
    del found[LEDGER]
    assert found == {
        "a.txt": "2",
        "new.txt": "2",
        "submitted/asha/lab.ipynb": "mine",
        "old/note.txt": "mine",
        ".git/HEAD": "main",
    }
    assert not (out / "old/c").exists()


@pytest.mark.parametrize(
    ("name", "why"), [("a.txt", "changed since a build wrote them"), ("old/note.txt", "not made by this command")]
)
def test_what_somebody_made_is_not_overwritten_and_then_nothing_is(
    tmp_path: Path, out: Path, name: str, why: str
) -> None:
    tree(out, {name: "mine"})
    before = content(out)
    with pytest.raises(InTheWay, match=f"{name}: {why}; move them away"):
        deliver(tree(tmp_path / "second", {"0.txt": "2", name: "2"}), out)
    assert content(out) == before


def test_a_changed_file_that_is_built_no_more_stays(tmp_path: Path, out: Path) -> None:
    tree(out, {"old/b.txt": "mine"})
    deliver(tree(tmp_path / "second", {"a.txt": "2"}), out)
    assert (out / "old/b.txt").read_text() == "mine"


def test_a_folder_where_a_file_should_go(tmp_path: Path, out: Path) -> None:
    (out / "new.txt").mkdir()
    with pytest.raises(InTheWay, match=r"new\.txt: not made by this command"):
        deliver(tree(tmp_path / "second", {"new.txt": "2"}), out)


def test_the_same_build_twice(tmp_path: Path, out: Path) -> None:
    before = content(out)
    deliver(tmp_path / "first", out)
    assert content(out) == before


@pytest.mark.parametrize("text", ["{", "[1]", ""])
def test_a_damaged_ledger_is_a_sentence(tmp_path: Path, out: Path, text: str) -> None:
    (out / LEDGER).write_text(text)
    with pytest.raises(InTheWay, match="is damaged: move the folder away"):
        deliver(tmp_path / "first", out)
