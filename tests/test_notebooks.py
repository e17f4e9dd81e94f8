"""The saved notebooks: built from their source, executed, compared by nbval, readable without a kernel."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import build

SOURCES = build.sources()
NOTEBOOKS = [*sorted(build.HERE.glob("*.ipynb")), *sorted(build.HERE.glob("[a-z][a-z]/*.ipynb"))]
UNCOMPARED = {"nbval-ignore-output", "nbval-skip"}
MOST_LINES = 20
LEAST_COMPARED = 0.8


# ------------------------------------------------ the checks: each yields one line for each thing that is wrong


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def named_outputs(notebook: NotebookNode) -> Iterator[tuple[str, NotebookNode]]:
    for number, cell in enumerate(code_cells(notebook)):
        for output in cell.outputs:
            yield f"Cell {number}", output


def drift(notebook: NotebookNode, source: NotebookNode) -> Iterator[str]:
    """The notebook says something else than its source."""

    def content(cell: NotebookNode) -> tuple[object, ...]:
        return cell.cell_type, cell.source, cell.metadata, cell.id

    if len(notebook.cells) != len(source.cells):
        yield f"{len(notebook.cells)} cells, the source has {len(source.cells)}"
    for number, (cell, wanted) in enumerate(zip(notebook.cells, source.cells, strict=False)):
        if content(cell) != content(wanted):
            yield f"cell {number} of all differs from the source: {content(cell)} and {content(wanted)}"
    if notebook.metadata != source.metadata or notebook.nbformat_minor != source.nbformat_minor:
        yield f"metadata {notebook.metadata}"


def unexecuted(notebook: NotebookNode) -> Iterator[str]:
    """Saved without having been run from top to bottom."""
    counts = [cell.execution_count for cell in code_cells(notebook)]
    if not counts or counts != list(range(1, len(counts) + 1)):
        yield f"execution counts {counts}"


def failed(notebook: NotebookNode) -> Iterator[str]:
    """An error or something on stderr was saved."""
    for name, output in named_outputs(notebook):
        if output.output_type == "error" or output.get("name") == "stderr":
            yield f"{name}: {output.get('evalue', output.get('text'))}"


def widgets(notebook: NotebookNode) -> Iterator[str]:
    """Widget state or widget views were saved: without a kernel they are empty space."""
    if "widgets" in notebook.metadata:
        yield "widget state"
    for name, output in named_outputs(notebook):
        if build.WIDGET_VIEW in output.get("data", {}):
            yield f"{name}: widget view"


def kernel(notebook: NotebookNode) -> Iterator[str]:
    """A kernel that others may not have."""
    if notebook.metadata.get("kernelspec", {}).get("name") != "python3":
        yield f"kernel {notebook.metadata.get('kernelspec')}"


def ids(notebook: NotebookNode) -> Iterator[str]:
    """Cell ids that are missing or not unique."""
    found = [cell.get("id", "") for cell in notebook.cells]
    if "" in found or len(set(found)) != len(found):
        yield f"ids {found}"


def uncompared(notebook: NotebookNode) -> Iterator[str]:
    """Too few of the code cells with output are compared by nbval."""
    with_output = [cell for cell in code_cells(notebook) if cell.outputs]
    compared = [cell for cell in with_output if not UNCOMPARED & set(cell.metadata.get("tags", []))]
    if len(compared) < LEAST_COMPARED * len(with_output):
        yield f"{len(compared)} of {len(with_output)} cells with output are compared"


def long_cells(notebook: NotebookNode) -> Iterator[str]:
    """A code cell that is too long to be read in one go."""
    for number, cell in enumerate(code_cells(notebook)):
        lines = len(cell.source.splitlines())
        if lines > MOST_LINES:
            yield f"Cell {number}: {lines} lines"


def pictures(notebook: NotebookNode) -> Iterator[str]:
    """A picture without a text alternative that JupyterLab shows: HTML with an `alt`."""
    for name, output in named_outputs(notebook):
        data = output.get("data", {})
        images = re.findall(r"<img\b[^>]*>", data.get("text/html", ""))
        is_picture = any(kind.startswith("image/") for kind in data)
        if is_picture and not images or any(not re.search(r'\balt="[^"]+"', image) for image in images):
            yield f"{name}: no alt text"
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown" and re.search(r"!\[\s*\]\(", cell.source):
            yield f"cell {number} of all: no alt text"


def volatile(notebook: NotebookNode) -> Iterator[str]:
    """Addresses and the paths of one machine, in cells that are compared."""
    for number, cell in enumerate(code_cells(notebook)):
        if not UNCOMPARED & set(cell.metadata.get("tags", [])):
            text = " ".join(
                str(output.get("text", output.get("data", {}).get("text/plain"))) for output in cell.outputs
            )
            for found in re.findall(r"\b0x[0-9a-f]{6,}|/(?:home|root|tmp|Users)/\S*", text):
                yield f"Cell {number}: {found}"


def unfinished(notebook: NotebookNode) -> Iterator[str]:
    """Words of somebody who meant to come back."""
    for number, cell in enumerate(notebook.cells):
        for word in re.findall(r"\b(?:TODO|FIXME|XXX)\b|(?i:\bcoming soon\b)", cell.source):
            yield f"cell {number} of all: {word}"


def unused_tags(notebook: NotebookNode) -> Iterator[str]:
    """A tag that nothing knows: most often a misspelt one."""
    known = {*UNCOMPARED, "slow", "raises-exception"}
    for number, cell in enumerate(notebook.cells):
        for tag in cell.metadata.get("tags", []):
            if tag not in known and not (cell.cell_type == "markdown" and tag.endswith("-place")):
                yield f"cell {number} of all: tag {tag}"


CHECKS = [
    unexecuted,
    failed,
    widgets,
    kernel,
    ids,
    uncompared,
    long_cells,
    pictures,
    volatile,
    unfinished,
    unused_tags,
]


# ------------------------------------------------------------------------------------ applied to all notebooks


@pytest.mark.parametrize("path", NOTEBOOKS, ids=build.name_of)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_notebook_is_in_order(path: Path, check: Callable[[NotebookNode], Iterator[str]]) -> None:
    assert list(check(nbformat.read(path, as_version=4))) == []


@pytest.mark.parametrize("source", SOURCES, ids=build.name_of)
def test_a_notebook_is_built_from_its_source(source: Path) -> None:
    name = build.name_of(source)
    notebook = build.HERE / f"{name}.ipynb"
    assert notebook.exists(), f"python3 run.py build {name}"
    assert list(drift(nbformat.read(notebook, as_version=4), build.convert(source))) == []


def test_no_notebook_is_without_a_source() -> None:
    assert list(map(build.name_of, NOTEBOOKS)) == list(map(build.name_of, SOURCES))


@pytest.mark.parametrize("path", SOURCES, ids=build.name_of)
def test_long_loops_show_their_progress_with_our_own_bar(path: Path) -> None:
    """tqdm in a notebook leaves a widget or lines on stderr behind."""
    assert not re.search(r"^\s*(?:from|import) tqdm", path.read_text(encoding="utf-8"), re.MULTILINE)


# ---------------------------------------------------------------------- each check can fail, and passes a good one

SOURCE = """\
# %% [markdown]
# # A notebook

# %%
x = 1
x

# %% tags=["nbval-ignore-output"]
print("volatile")

# %%
print("a")
print("b")

# %%
print("c")

# %%
print("d")
"""


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> NotebookNode:
    folder = tmp_path_factory.mktemp("good")
    (folder / "00_good.py").write_text(SOURCE)
    build.build(folder / "00_good.py", folder)
    return nbformat.read(folder / "00_good.ipynb", as_version=4)


def copy(notebook: NotebookNode) -> NotebookNode:
    return nbformat.reads(nbformat.writes(notebook), as_version=4)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_check_passes_a_good_notebook(good: NotebookNode, check: Callable[[NotebookNode], Iterator[str]]) -> None:
    assert list(check(good)) == []


PNG = {"image/png": "iVBORw0KGgo="}


def with_output(data: dict[str, str]) -> NotebookNode:
    return new_output("display_data", data=data)


SPOILT = {
    "never run": (unexecuted, lambda nb: nb.cells[3].update(execution_count=None)),
    "run out of order": (unexecuted, lambda nb: nb.cells[1].update(execution_count=9)),
    "stderr": (failed, lambda nb: nb.cells[1].outputs.append(new_output("stream", name="stderr", text="a warning"))),
    "error": (
        failed,
        lambda nb: nb.cells[1].outputs.append(new_output("error", ename="E", evalue="e", traceback=[])),
    ),
    "widget state": (widgets, lambda nb: nb.metadata.update(widgets={})),
    "widget view": (widgets, lambda nb: nb.cells[1].outputs.append(with_output({build.WIDGET_VIEW: "{}"}))),
    "another kernel": (kernel, lambda nb: nb.metadata.kernelspec.update(name="venv")),
    "no kernel": (kernel, lambda nb: nb.metadata.pop("kernelspec")),
    "the same id twice": (ids, lambda nb: nb.cells[1].update(id=nb.cells[2].id)),
    "two cells ignored": (uncompared, lambda nb: nb.cells[3].metadata.update(tags=["nbval-skip"])),
    "a long cell": (long_cells, lambda nb: nb.cells[1].update(source="x = 1\n" * 21)),
    "a picture alone": (pictures, lambda nb: nb.cells[1].outputs.append(with_output(PNG))),
    "an empty alt": (pictures, lambda nb: nb.cells[1].outputs.append(with_output({"text/html": '<img alt="">'}))),
    "no alt": (pictures, lambda nb: nb.cells[1].outputs.append(with_output({"text/html": '<img src="x">', **PNG}))),
    "no alt in the prose": (pictures, lambda nb: nb.cells[0].update(source="![](x.png)")),
    "an address": (volatile, lambda nb: nb.cells[3].outputs[0].update(text="<A at 0x7f3a5c>")),
    "a path": (volatile, lambda nb: nb.cells[3].outputs[0].update(text="saved in /home/me/model.pt")),
    "to be done": (unfinished, lambda nb: nb.cells[0].update(source="TODO")),
    "a misspelt tag": (unused_tags, lambda nb: nb.cells[2].metadata.update(tags=["nbval-ignore-outputs"])),
}


@pytest.mark.parametrize("name", SPOILT)
def test_a_check_finds_what_is_wrong(good: NotebookNode, name: str) -> None:
    check, spoil = SPOILT[name]
    notebook = copy(good)
    spoil(notebook)
    assert list(check(notebook)) != []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda nb: nb.cells[0].update(source="# Another"),
        lambda nb: nb.cells[1].update(source="x = 1\nx "),
        lambda nb: nb.cells[2].metadata.pop("tags"),
        lambda nb: nb.cells.insert(1, new_markdown_cell("more")),
        lambda nb: nb.cells.append(new_code_cell("more")),
        lambda nb: nb.cells.reverse(),
        lambda nb: nb.cells.pop(),
        lambda nb: nb.cells[1].update(id="other"),
        lambda nb: nb.metadata.update(authors=[]),
    ],
)
def test_drift_is_found(good: NotebookNode, spoil: Callable[[NotebookNode], object], tmp_path: Path) -> None:
    source = tmp_path / "00_good.py"
    source.write_text(SOURCE)
    notebook = copy(good)
    assert list(drift(notebook, build.convert(source))) == []
    spoil(notebook)
    assert list(drift(notebook, build.convert(source))) != []


# ------------------------------------------------------------------------------------------------- the builder


def built(tmp_path: Path, *cells: str, seconds: int | None = None) -> NotebookNode:
    source = tmp_path / "00_x.py"
    source.write_text("".join(f"# %%\n{cell}\n\n" for cell in cells), encoding="utf-8")
    return build.build(source, tmp_path, seconds)


def test_two_builds_are_the_same_bytes(tmp_path: Path) -> None:
    """With a progress bar, output in pieces, a widget, and the same cell twice."""
    bar = (
        "import sys\nimport time\n\nfrom lib.progress import progress\n\n"
        "for _ in progress(range(30), label='waiting', note=lambda: 'क<'):\n    time.sleep(0.03)\nprint('done')"
    )
    widget = "from ipywidgets import IntSlider\n\nIntSlider(description='a')"
    pieces = "for _ in range(3):\n    print('x')\n    sys.stdout.flush()\n    time.sleep(0.05)"
    contents = []
    for _ in range(2):
        notebook = built(tmp_path, bar, pieces, widget, "x = 1", "x = 1")
        contents.append((tmp_path / "00_x.ipynb").read_bytes())
    assert contents[0] == contents[1] and b"\r" not in contents[0]
    first, last = notebook.cells[0].outputs
    assert (first.data["text/plain"], last.text) == ("waiting: 30 steps", "done\n")
    assert [output.text for output in notebook.cells[1].outputs] == ["x\nx\nx\n"]
    assert list(notebook.cells[2].outputs[0].data) == ["text/plain"]
    assert list(ids(notebook)) == []


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("print(1 / 0)", "Cell 1 .*raised(.|\n)*ZeroDivisionError"),
        ("import sys\n\nprint('oh', file=sys.stderr)", "Cell 1 .*wrote to stderr: oh"),
        ("import warnings\n\nwarnings.warn('old')", "Cell 1 .*wrote to stderr: (.|\n)*UserWarning: old"),
        ("while True:\n    pass", r"Cell 1 \(while True:\) did not end within 2 s"),
        ("import os\n\nos._exit(1)", "Cell 1 .*killed its kernel"),
    ],
)
def test_a_notebook_that_fails_is_not_written(tmp_path: Path, cell: str, message: str) -> None:
    (tmp_path / "00_x.ipynb").write_text("the earlier one")
    with pytest.raises(build.BuildError, match=message):
        built(tmp_path, "x = 1", cell, "y = 1", seconds=2)
    assert (tmp_path / "00_x.ipynb").read_text() == "the earlier one"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["00_x.ipynb", "00_x.py"]


def test_a_cell_has_a_minute_and_a_slow_one_more() -> None:
    assert build.limit(new_code_cell("x")) == 60
    assert build.limit(new_code_cell("x", metadata={"tags": ["nbval-ignore-output", "slow"]})) == 900


def test_an_unknown_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert build.main(["zz"]) == 2
    assert "No source begins with zz" in capsys.readouterr().err


# ---------------------------------------------------------------------------------------------- nbval as set up


def nbval(pytester: pytest.Pytester, *cells: NotebookNode) -> pytest.RunResult:
    """Run cells under nbval with the project's conftest.py, with short limits."""
    for number, cell in enumerate(cells):
        cell.execution_count = number + 1
    notebook = new_notebook(cells=cells, metadata=build.METADATA)
    nbformat.write(notebook, pytester.path / "00_x.ipynb")
    (pytester.path / "conftest.py").write_text((build.HERE.parent / "conftest.py").read_text(encoding="utf-8"))
    code = (build.HERE / "build.py").read_text(encoding="utf-8").replace("= 60, 900", "= 2, 6")
    (pytester.path / "build.py").write_text(code, encoding="utf-8")
    options = ("--nbval", "--nbval-current-env", "-p", "no:cacheprovider", "-p", "no:randomly", "--color=no")
    return pytester.runpytest_subprocess(*options)


def test_a_cell_that_never_ends_stops_the_run_with_its_name(pytester: pytest.Pytester) -> None:
    """Also one that catches the interrupt, as training does, and goes on as if nothing had been."""
    for cell in ("while True: pass", "import time\ntry:\n    time.sleep(99)\nexcept KeyboardInterrupt:\n    pass"):
        result = nbval(pytester, new_code_cell(cell), new_code_cell("x = 1"))
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(["*Interrupted: 00_x.ipynb::Cell 0 did not end within 2 s*"])


def test_a_slow_cell_has_more_time_and_a_dead_kernel_is_noticed(pytester: pytest.Pytester) -> None:
    slow = new_code_cell("import time\ntime.sleep(3)", metadata={"tags": ["slow"]})
    result = nbval(pytester, slow, new_code_cell("import os\nos._exit(1)", metadata={"tags": ["slow"]}))
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*the kernel died while it ran this cell*"])


def test_the_alt_text_of_a_picture_is_compared_its_pixels_are_not(pytester: pytest.Pytester) -> None:
    code = 'from IPython.display import HTML\nHTML(\'<img alt="{}" src="data:image/png;base64,{}">\')'
    saved = {
        "text/html": '<img alt="up" src="data:image/png;base64,AAAA">',
        "text/plain": "<IPython.core.display.HTML object>",
    }
    cells = []
    for alt in ("up", "down"):
        cells.append(new_code_cell(code.format(alt, "BBB+/B==")))
        cells[-1].outputs = [new_output("execute_result", data=saved, execution_count=1)]
    nbval(pytester, *cells).assert_outcomes(passed=1, failed=1)


def test_the_source_is_what_ruff_and_people_read() -> None:
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        assert text.startswith("# %% [markdown]\n# # "), f"{path.name} begins with its title"
        ast.parse(text)
