"""A JupyterLab on loopback and a headless Chromium that works in it, for the browser tests."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

# The notebook that is open; a headless window has no focus, and so no current widget.
NOTEBOOK = "[...window.jupyterapp.shell.widgets('main')][0]"
REPOSITORY = Path(__file__).resolve().parents[2]
EXTENSIONS = REPOSITORY / "triton_util" / "labextensions"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
CHROMIUM_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--window-size=1100,1200",
)
# Off-screen cells stay in the page, and nothing on it asks the network for news.
SETTINGS = {
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
    "@jupyterlab/apputils-extension/notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
    },
}


class Lab:
    """A JupyterLab server in a folder of its own; a context manager."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.notebooks = folder / "notebooks"
        self.notebooks.mkdir()
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        for name, values in SETTINGS.items():
            path = folder / "settings" / f"{name}.jupyterlab-settings"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(values))

    def __enter__(self) -> Lab:
        command = [
            sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root",
            "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={self.port}",
            "--ServerApp.port_retries=0", "--IdentityProvider.token=",
            f"--ServerApp.root_dir={self.notebooks}", "--expose-app-in-browser",
            f"--LabApp.extra_labextensions_path={EXTENSIONS}",  # as `make lab` does
        ]  # fmt: skip
        self._log = (self.folder / "server.log").open("wb")
        self._server = subprocess.Popen(
            command,
            env=self._environment(),
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._wait_until_served()
        return self

    def __exit__(self, *_: object) -> None:
        os.killpg(self._server.pid, signal.SIGTERM)
        try:
            self._server.wait(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(self._server.pid, signal.SIGKILL)
            self._server.wait()
        self._log.close()

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
        return {
            **kept,
            "PYTHONPATH": str(REPOSITORY),
            "JUPYTER_CONFIG_DIR": str(self.folder / "config"),
            "JUPYTER_RUNTIME_DIR": str(self.folder / "runtime"),
            "JUPYTERLAB_SETTINGS_DIR": str(self.folder / "settings"),
            "JUPYTERLAB_WORKSPACES_DIR": str(self.folder / "workspaces"),
            "IPYTHONDIR": str(self.folder / "ipython"),
            "PYTHONWARNINGS": "ignore",
        }

    def _wait_until_served(self, seconds: float = 90) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self._server.poll() is not None:
                break
            try:
                with urllib.request.urlopen(f"{self.url}/api/status", timeout=5):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.3)
        said = (self.folder / "server.log").read_text(errors="replace")[-3000:]
        raise RuntimeError(f"JupyterLab did not come up:\n{said}")


def open_browser(profile: Path):
    """A headless Chromium with a fresh profile, driven by WebDriver."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*CHROMIUM_FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "SEVERE"})
    return webdriver.Chrome(options=options, service=Service(DRIVER))


def wait_for(browser, script: str, what: str, seconds: float = 120):
    """Wait until a script returns something true on the page; that something."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = browser.execute_script(script)
        if found:
            return found
        time.sleep(0.1)
    raise TimeoutError(f"waited {seconds:.0f} s for {what}")


class NotebookPage:
    """One notebook, open in JupyterLab: what a learner does with it."""

    def __init__(self, browser, lab: Lab, name: str) -> None:
        self.browser = browser
        self.lab = lab
        browser.get(f"{lab.url}/doc/tree/{name}?reset")
        self.wait(
            "const app = window.jupyterapp; const panel = app && [...app.shell.widgets('main')][0];"
            "return !!(panel && panel.content && panel.content.widgets"
            " && panel.content.widgets.length"
            " && panel.sessionContext && panel.sessionContext.session"
            " && panel.sessionContext.session.kernel"
            " && panel.sessionContext.session.kernel.status === 'idle');",
            "the notebook and its kernel",
        )

    def wait(self, script: str, what: str, seconds: float = 120):
        """Wait until a script returns something true; that something."""
        return wait_for(self.browser, script, what, seconds)

    def sources(self) -> list[tuple[str, str]]:
        """(type, source) of each cell."""
        return self.browser.execute_script(
            f"return {NOTEBOOK}.content.widgets.map("
            "cell => [cell.model.type, cell.model.sharedModel.getSource()]);"
        )

    def find_cell(self, text: str) -> int:
        """The number of the last code cell that contains the text."""
        found = [
            i
            for i, (kind, source) in enumerate(self.sources())
            if kind == "code" and text in source
        ]
        assert found, f"no code cell contains {text!r}"
        return found[-1]

    def run_all(self, seconds: float = 300) -> None:
        self._command("notebook:run-all-cells")
        self.wait_until_idle(seconds)

    def run_cell(self, number: int, seconds: float = 120) -> None:
        """Run one cell as by Shift+Enter, and wait for its end."""
        self._activate(number)
        self._command("notebook:run-cell")
        self.wait_until_idle(seconds)

    def paste_over(self, number: int, source: str) -> None:
        """Click into a cell's editor, select all and paste, as by hand."""
        from selenium.webdriver.common.by import By
        from selenium.webdriver.common.keys import Keys

        self._activate(number)
        editor = self.cell_element(number).find_element(By.CSS_SELECTOR, ".cm-content")
        self.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", editor)
        editor.click()
        editor.send_keys(Keys.CONTROL, "a")
        self.browser.execute_cdp_cmd("Input.insertText", {"text": source})
        assert self.sources()[number][1].strip() == source.strip()

    def cell_element(self, number: int):
        return self.browser.execute_script(
            f"return {NOTEBOOK}.content.widgets[arguments[0]].node;",
            number,
        )

    def card(self, number: int):
        """The one card in a cell's output."""
        from selenium.webdriver.common.by import By

        cards = self.cell_element(number).find_elements(By.CSS_SELECTOR, ".tw-card")
        assert len(cards) == 1, f"cell {number} shows {len(cards)} cards"
        return cards[0]

    def errors(self) -> dict[int, str]:
        """Cells that ended in an exception, and what it was."""
        found = self.browser.execute_script(
            f"return {NOTEBOOK}.content.widgets.map((cell, i) => ["
            "i, cell.model.type === 'code' ? cell.model.outputs.toJSON().filter("
            "o => o.output_type === 'error').map(o => o.ename + ': ' + o.evalue).join() : '']);"
        )
        return {number: text for number, text in found if text}

    def wait_until_idle(self, seconds: float) -> None:
        self.wait(
            f"const panel = {NOTEBOOK};"
            "return panel.sessionContext.session.kernel.status === 'idle' &&"
            " panel.content.widgets.every(cell => cell.model.type !== 'code' ||"
            " cell.model.executionState !== 'running') && !document.querySelector("
            "'.jp-InputPrompt[data-pending]') && [...document.querySelectorAll("
            "'.jp-InputArea-prompt')].every(p => !p.textContent.includes('*'));",
            "the cells to finish",
            seconds,
        )

    def use_theme(self, name: str) -> None:
        """Switch JupyterLab's theme, as its menu does."""
        dark = "Dark" in name
        self._command("apputils:change-theme", {"theme": name})
        self.wait(
            f"return document.body.dataset.jpThemeLight === '{'false' if dark else 'true'}';",
            f"the theme {name}",
        )

    def screenshot(self, element, path: Path) -> None:
        """A picture of the window with the element in it."""
        self.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        time.sleep(0.3)
        self.browser.save_screenshot(str(path))

    def _activate(self, number: int) -> None:
        self.browser.execute_script(
            f"{NOTEBOOK}.content.activeCellIndex = arguments[0];",
            number,
        )

    def _command(self, name: str, arguments: dict | None = None) -> None:
        # Not awaited: running cells may take minutes, and waiting is the caller's.
        self.browser.execute_script(
            "window.jupyterapp.commands.execute(arguments[0], arguments[1] || {});", name, arguments
        )
        time.sleep(0.3)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
