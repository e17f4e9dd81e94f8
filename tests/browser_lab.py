"""For tests/test_browser.py: a JupyterLab of its own, a Chromium that draws Devanagari, and a hand on both."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
QUIETLY = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
)  # fmt: skip
# JupyterLab looks for news and for newer versions of itself; not in a test.
SETTINGS = {"notification": {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True}}
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"]
SECONDS = 120  # at most, for one condition: the machine may be busy
MARK = "node => node.querySelectorAll('.jp-OutputArea-child').forEach(child => child.dataset.stale = 'yes')"
AXE = """([area, tags]) => axe.run(area, {runOnly: tags, resultTypes: ['violations']}).then(found =>
    found.violations.flatMap(one => one.nodes.map(node => `${one.id} (${one.impact}): ${node.html.slice(0, 200)}
    ${node.failureSummary}`)))"""


def missing() -> str:
    """What the browser tests lack on this machine; "" if nothing."""
    try:
        import axe_playwright_python  # noqa: F401
        import playwright  # noqa: F401
    except ImportError as error:
        return f"{error.name} is not installed: `pip install -r requirements-browser.txt`"
    return "" if any(map(shutil.which, BROWSERS)) else f"there is no Chromium (looked for {', '.join(BROWSERS)})"


def start_or_leave_out() -> None:
    """Skip, unless COURSE_BROWSER=required says that these tests must run."""
    if lack := missing():
        if os.environ.get("COURSE_BROWSER") == "required":
            pytest.fail(f"the browser tests are required (COURSE_BROWSER), and {lack}", pytrace=False)
        pytest.skip(lack)


# ------------------------------------------------------------------------------------------- server and browser


@contextmanager
def jupyterlab(folder: Path, root: Path) -> Iterator[str]:
    """A JupyterLab on `root` that reads and writes nothing of the user's: its address, with %s for a path."""
    settings = folder / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    for name, values in SETTINGS.items():
        (settings / f"{name}.jupyterlab-settings").write_text(json.dumps(values))
    places = {
        "COURSE_DATA": "course", "IPYTHONDIR": "ipython", "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces", "JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "jupyter",
        "JUPYTER_RUNTIME_DIR": "runtime",
    }  # fmt: skip
    fixed = {"PYTHONUTF8": "1", "JUPYTER_PREFER_ENV_PATH": "1", "OMP_NUM_THREADS": "1"}
    variables = {**os.environ, **fixed, **{name: str(folder / place) for name, place in places.items()}}
    command = [
        sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1",
        "--ServerApp.port=0", f"--ServerApp.root_dir={root}", "--IdentityProvider.token=course",
        "--LabApp.expose_app_in_browser=True",
    ]  # fmt: skip
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen(command, cwd=root, env=variables, stdout=log, stderr=subprocess.STDOUT)
    try:
        yield _address(server, folder)
    finally:
        server.terminate()  # the kernels end with it
        try:
            server.wait(timeout=20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _address(server: subprocess.Popen, folder: Path) -> str:
    """Wait until the server answers."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and server.poll() is None:
        for path in (folder / "runtime").glob("jpserver-*.json"):
            try:
                url = json.loads(path.read_text())["url"]
                with urllib.request.urlopen(f"{url}api/status?token=course", timeout=10):
                    return f"{url}lab/tree/%s?token=course&reset"
            except (OSError, ValueError):  # not yet
                pass
        time.sleep(0.1)
    pytest.fail(f"JupyterLab did not start:\n{(folder / 'server.log').read_text()[-3000:]}", pytrace=False)


@contextmanager
def chromium(folder: Path) -> Iterator[Page]:
    """A page of a headless Chromium with an empty profile and the course's font for Devanagari."""
    import fontpkg_noto_sans_devanagari
    from playwright.sync_api import sync_playwright

    fonts = folder / "fonts.conf"
    fonts.write_text(
        '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>'
        f'<include ignore_missing="yes">/etc/fonts/fonts.conf</include><cachedir>{folder / "fontcache"}</cachedir>'
        f"<dir>{Path(fontpkg_noto_sans_devanagari.ROOT) / 'files'}</dir></fontconfig>"
    )
    found = next(filter(None, map(shutil.which, BROWSERS)))
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            folder / "profile",
            executable_path=found,
            args=list(QUIETLY),
            env={**os.environ, "FONTCONFIG_FILE": str(fonts)},
            viewport={"width": 1280, "height": 1500},
        )
        context.set_default_timeout(1000 * SECONDS)
        try:
            yield context.pages[0]
        finally:
            context.close()


# -------------------------------------------------------------------------------------------------- the notebook


@dataclass
class OpenNotebook:
    """A notebook in the browser; cells are named by their place in the file."""

    page: Page
    cells: list[Any]
    pictures: Path
    errors: list[str] = field(default_factory=list)  # what the browser's console says
    strangers: list[str] = field(default_factory=list)  # requests that leave this machine

    @classmethod
    def open(cls, page: Page, address: str, path: Path, root: Path, pictures: Path) -> OpenNotebook:
        """Open a notebook of the server and wait for its kernel."""
        new = cls(page, nbformat.read(path, as_version=4).cells, pictures)
        page.on("console", lambda line: new.errors.append(_said(line)) if line.type == "error" else None)
        page.on("pageerror", lambda error: new.errors.append(f"not caught: {error}"))
        page.on("request", lambda asked: new.strangers.append(asked.url) if _leaves(asked.url) else None)
        page.goto(address % path.relative_to(root).as_posix())
        new.cell(len(new.cells) - 1).wait_for(state="attached")
        page.evaluate("jupyterapp.allPluginsActivated")  # until then widgets are shown as plain HTML
        new.wait_until_idle()
        return new

    def wait_until_idle(self) -> None:
        """Wait until the kernel is there and has nothing to do."""
        self.page.locator(".jp-NotebookPanel .jp-Notebook-ExecutionIndicator[data-status='idle']").wait_for()

    def cell(self, index: int) -> Locator:
        return self.page.locator(f".jp-NotebookPanel .jp-Cell[data-windowed-list-index='{index}']")

    def find(self, pattern: str) -> int:
        """The first code cell in which the pattern is found."""
        return next(
            i for i, cell in enumerate(self.cells) if cell.cell_type == "code" and re.search(pattern, cell.source)
        )

    def show(self, name: str) -> Locator:
        """Run the cell that calls the function, before it the one that imports it; the output."""
        using = self.find(rf"(?m)^{name}\(")
        importing = self.find(rf"import[^\n]*\b{name}\b")
        if importing != using:
            self.run(importing, expect_output=False)
        return self.run(using)

    def run(self, index: int, source: str | None = None, expect_output: bool = True) -> Locator:
        """Run a cell, perhaps with another source, by the keyboard; wait for its new output."""
        cell = self.cell(index)
        cell.scroll_into_view_if_needed()
        cell.evaluate(MARK)
        cell.locator(".cm-content").click()
        if source is not None:
            self.page.keyboard.press("ControlOrMeta+A")
            self.page.keyboard.insert_text(source)
        self.page.keyboard.press("Control+Enter")
        output = cell.locator(".jp-OutputArea-child:not([data-stale])")
        if expect_output:
            output.first.wait_for()
        self.wait_until_idle()
        return cell.locator(".jp-Cell-outputWrapper")

    def number(self, index: int) -> int:
        """The number of the cell's last execution; it begins at 1 in a new kernel."""
        return int(re.sub(r"\D", "", self.cell(index).locator(".jp-InputPrompt").inner_text()))

    def restart(self) -> None:
        """Restart the kernel by the menu."""
        self.page.get_by_role("menuitem", name="Kernel", exact=True).click()
        self.page.get_by_role("menuitem", name=re.compile("^Restart Kernel…")).click()
        with self.page.expect_response(re.compile(r"/api/kernels/[^/]+/restart")):  # it comes when all is done
            self.page.get_by_role("button", name="Confirm Kernel Restart").click()
        self.wait_until_idle()

    def picture(self, area: Locator, name: str) -> None:
        """Keep a picture of a part of the page, for people to look at."""
        area.scroll_into_view_if_needed()
        area.screenshot(path=self.pictures / f"{name}.png")

    def violations(self, area: Locator) -> list[str]:
        """What axe finds in a part of the page, against the rules of WCAG 2.2 A and AA."""
        from axe_playwright_python.base import AXE_FILE_PATH

        if not self.page.evaluate("typeof axe === 'object'"):
            self.page.evaluate(AXE_FILE_PATH.read_text(encoding="utf-8"))
        return self.page.evaluate(AXE, [area.element_handle(), WCAG])


def _said(line: Any) -> str:
    return f"{line.text} ({line.location['url']})"


def _leaves(url: str) -> bool:
    return not re.match(r"(https?|wss?)://(127\.0\.0\.1|localhost)[:/]|(data|blob|about|chrome-extension):", url)
