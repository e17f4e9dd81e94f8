"""Build the notebooks: `source/NN_name.py` is converted, executed and written to `NN_name.ipynb`.

    python3 run.py build            all of them
    python3 run.py build 02 05      those whose name begins so
    python3 run.py build hi/02      the Hindi edition of notebook 02: `source/hi/02_name.py` to `hi/02_name.ipynb`

A notebook is written whole or not at all, and not at all if one of its cells raises, does not end, or writes
to stderr. What differs from run to run without a meaning (ids, timings, versions, widget state) is not saved.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from notebooks import readme_picture

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "source"
# Seconds that a cell may take; one that needs more says so with the tag `slow`. conftest.py applies the same.
LIMIT, SLOW_LIMIT = 60, 900
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
# A notebook is built as somebody who has answered nothing yet sees it; this stands in for the path of his progress.
DATA_FOLDER = "YOUR-DATA-FOLDER/attention-course"
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "pygments_lexer": "ipython3",
    },
}

Cost = tuple[list[float], int | None]  # seconds of each cell, most bytes of memory where they can be told


class BuildError(Exception):
    """A notebook that cannot be saved; the message names the cell."""


def convert(source: Path) -> NotebookNode:
    """Read a source file in percent format into a notebook with stable ids, kernel `python3`, no outputs."""
    notebook = jupytext.reads(source.read_text(encoding="utf-8"), fmt="py:percent")
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.metadata = nbformat.from_dict(METADATA)
    seen: Counter[str] = Counter()
    for cell in notebook.cells:
        cell.metadata.pop("lines_to_next_cell", None)  # jupytext's own note
        key = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:12]
        seen[key] += 1
        cell.id = key if seen[key] == 1 else f"{key}-{seen[key]}"
    return notebook


def sources() -> list[Path]:
    """Every source: those of the course, then those of its editions in other languages (`source/hi`)."""
    return [*sorted(SOURCE.glob("*.py")), *sorted(SOURCE.glob("[a-z][a-z]/*.py"))]


def stored() -> list[Path]:
    """Every built notebook, in the same order."""
    return [*sorted(HERE.glob("0*.ipynb")), *sorted(HERE.glob("[a-z][a-z]/0*.ipynb"))]


def name_of(path: Path) -> str:
    """The name of a notebook or of its source: 02_name, or hi/02_name in an edition in another language."""
    translated = path.parent.parent in (HERE, SOURCE) and path.parent != SOURCE
    return f"{path.parent.name}/{path.stem}" if translated else path.stem


def describe(notebook: NotebookNode, index: int) -> str:
    """Name a cell by its place among the code cells (from 0, as nbval counts) and its first line."""
    number = sum(cell.cell_type == "code" for cell in notebook.cells[:index])
    first = notebook.cells[index].source.strip().splitlines()
    return f"Cell {number} ({first[0].strip() if first else 'empty'})"


def limit(cell: NotebookNode) -> int:
    """Seconds that a cell may take: many more with the tag `slow`."""
    return SLOW_LIMIT if "slow" in cell.metadata.get("tags", []) else LIMIT


def execute(notebook: NotebookNode, folder: Path = HERE, seconds: int | None = None) -> Cost:
    """Run all cells in place, in a fresh kernel of this Python, with `folder` as the working directory.

    Args:
        seconds: a limit for every cell in place of its own.

    Raises:
        BuildError: a cell raised, did not end, wrote to stderr, or the kernel died.
    """
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"  # the kernel of this environment, not one of the user's
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        timeout_func=lambda cell: seconds or limit(cell),
        store_widget_state=False,
        record_timing=False,
    )
    with tempfile.TemporaryDirectory(prefix="course-data-") as data:
        cost = asyncio.run(_run_cells(client, notebook, data))
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "stream":
                output.text = output.text.replace(data, DATA_FOLDER)
    return cost


async def _run_cells(client: NotebookClient, notebook: NotebookNode, data: str) -> Cost:
    times, variables = [], {**os.environ, "COURSE_DATA": data}
    # The kernel's own log is not part of a notebook: what a cell writes to stderr arrives as an output.
    async with client.async_setup_kernel(stderr=subprocess.DEVNULL, env=variables):
        for index, cell in enumerate(notebook.cells):
            begin, name = time.perf_counter(), describe(notebook, index)
            try:
                await client.async_execute_cell(cell, index)
            except CellTimeoutError:
                allowed = client.timeout_func(cell)
                raise BuildError(f"{name} did not end within {allowed} s; is it to be tagged slow?") from None
            except CellExecutionError as error:
                raise BuildError(f"{name} raised\n{COLOURS.sub('', error.traceback)}") from None
            except DeadKernelError:
                raise BuildError(f"{name} killed its kernel: out of memory?") from None
            for output in cell.get("outputs", []):
                if output.output_type == "stream" and output.name == "stderr":
                    raise BuildError(f"{name} wrote to stderr: {output.text.strip()}")
            times.append(time.perf_counter() - begin)
        memory = _peak_memory(getattr(client.km.provisioner, "pid", None))
    return times, memory


def _peak_memory(pid: int | None) -> int | None:
    """The most memory that a process held at once, where the system keeps count of it (Linux)."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return None
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), None)


def clean(notebook: NotebookNode) -> None:
    """Take out what needs a kernel or differs from run to run; join the pieces of each stream."""
    notebook.metadata = nbformat.from_dict(METADATA)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = _clean_outputs(cell.outputs)


def _clean_outputs(outputs: Sequence[NotebookNode]) -> list[NotebookNode]:
    kept: list[NotebookNode] = []
    for output in outputs:
        if output.output_type == "stream":
            before = next((o for o in kept if o.output_type == "stream" and o.name == output.name), None)
            if before is not None:
                before.text += output.text
                continue
        output.get("data", {}).pop(WIDGET_VIEW, None)  # what remains is its text
        kept.append(output)
    return kept


def write(notebook: NotebookNode, path: Path) -> None:
    """Write a notebook in one move, with LF line ends on every system; an earlier one stays until then."""
    nbformat.validate(notebook)
    temporary = path.with_name(f".{path.name}.part")
    try:
        temporary.write_text(nbformat.writes(notebook).rstrip("\n") + "\n", encoding="utf-8", newline="\n")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def build(source: Path, folder: Path = HERE, seconds: int | None = None) -> NotebookNode:
    """Convert, execute, clean and write one notebook, and print what it took."""
    begin = time.perf_counter()
    notebook = convert(source)
    folder.mkdir(exist_ok=True)
    times, memory = execute(notebook, folder, seconds)
    clean(notebook)
    write(notebook, folder / f"{source.stem}.ipynb")
    size = f", at most {memory / 2**20:,.0f} MB" if memory else ""
    print(f"{name_of(source)}: {time.perf_counter() - begin:.0f} s{size}", flush=True)
    for index in sorted(range(len(times)), key=times.__getitem__, reverse=True)[:3]:
        if times[index] >= 1:
            print(f"    {times[index]:6.1f} s  {describe(notebook, index)}", flush=True)
    return notebook


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the notebooks that are named, or all."""
    parser = argparse.ArgumentParser(prog="run.py build", description="Build the notebooks from their source.")
    parser.add_argument("names", nargs="*", help="beginnings of names, for example 02; all if there are none")
    parser.add_argument("--timeout", type=int, metavar="SECONDS", help="a limit for every cell")
    options = parser.parse_args(arguments)
    every = {name_of(path): path for path in sources()}
    unknown = [wanted for wanted in options.names if not any(name.startswith(wanted) for name in every)]
    if unknown or not every:
        names = ", ".join(every) or "none"
        print(f"No source begins with {', '.join(unknown) or 'anything'}. There are: {names}.", file=sys.stderr)
        return 2
    failed = 0
    for name, path in every.items():
        if not options.names or name.startswith(tuple(options.names)):
            try:
                build(path, HERE / path.parent.relative_to(SOURCE), seconds=options.timeout)
            except BuildError as error:
                print(f"{name}: not built. {error}", file=sys.stderr, flush=True)
                failed += 1
                continue
            if name in dict(readme_picture.FIGURES):
                readme_picture.write()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
