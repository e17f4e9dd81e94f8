"""What the notebook tests need beyond nbval.

nbval has one time limit for all cells, and goes on with the next cell after one that did not end; here a cell has its
own limit and ends the run. nbval never compares pictures, unless they are inside HTML; here not there either.
Neither tests nor notebooks see the progress of whoever runs them.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Generator
from queue import Empty
from typing import Any

import pytest
from nbval.kernel import RunningKernel
from nbval.plugin import IPyNbCell, NbCellError

from build import limit

pytest_plugins = ["pytester"]
# The pixels of a picture inside HTML: they differ between machines. Its alt text is compared.
PIXELS = r"data:image/png;base64,[A-Za-z0-9+/=]+"


def pytest_configure(config: pytest.Config) -> None:
    """Put the learner's data folder elsewhere, for kernels too: they inherit it."""
    folder = tempfile.TemporaryDirectory(prefix="course-data-")
    os.environ["COURSE_DATA"] = folder.name
    config.add_cleanup(folder.cleanup)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Run a notebook cell within its limit; if it does not end, name it and stop the whole run."""
    if not isinstance(item, IPyNbCell):
        return (yield)
    item.parent.sanitize_patterns[PIXELS] = "data:image/png"
    options, kernel = item.config.option, item.parent.kernel
    given, kernel.get_message = options.nbval_cell_timeout, _while_alive(kernel)
    options.nbval_cell_timeout = seconds = min(given, limit(item.cell))
    message = f"{item.nodeid} did not end within {seconds:g} s"
    try:
        result = yield
        if item.parent.timed_out:  # the cell caught the interrupt and ended as if nothing had been
            raise NbCellError(item.cell_num, message, item.cell.source)
        return result
    finally:
        options.nbval_cell_timeout = given
        if item.parent.timed_out:
            item.session.shouldstop = message


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line that the browser tests were left out, and why."""
    skipped = terminalreporter.getreports("skipped")
    reasons = [report.longrepr[2] for report in skipped if "test_browser.py" in report.nodeid]
    if reasons:
        reason = reasons[0].removeprefix("Skipped: ")
        terminalreporter.write_line(f"The browser tests were left out: {reason}.", yellow=True)


def _while_alive(kernel: RunningKernel) -> Callable[..., Any]:
    """`kernel.get_message`, but a dead kernel (out of memory, say) is noticed at once, not at the time limit."""

    def get_message(stream: str, timeout: float | None = None) -> Any:
        end = time.monotonic() + (timeout or float("inf"))
        while True:
            left = end - time.monotonic()
            try:
                return RunningKernel.get_message(kernel, stream, timeout=max(0.0, min(1.0, left)))
            except Empty:
                if not kernel.is_alive():
                    raise RuntimeError("the kernel died while it ran this cell: out of memory?") from None
                if left <= 1.0:
                    raise

    return get_message
