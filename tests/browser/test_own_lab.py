"""`tilewise lab` as a learner starts it: the line with the address, Notebook 7, the terminal."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from tests.browser.lab import CHROMIUM, DRIVER, NOTEBOOK, open_browser, wait_for

pytest.importorskip("selenium", reason="selenium is not installed: `make test` installs it")
pytest.importorskip("jupyterlab", reason="JupyterLab is not installed")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(
        not (CHROMIUM and DRIVER),
        reason="no Chromium with its driver (Debian: apt-get install chromium chromium-driver)",
    ),
]
READY = (
    f"const panel = window.jupyterapp && {NOTEBOOK};"
    "return !!(panel?.sessionContext?.session?.kernel?.status === 'idle');"
)


class OwnLab:
    """The command, its folder, and what it said."""

    def __init__(self, folder: Path) -> None:
        self.work = folder / "mine"
        command = [
            *(sys.executable, "-m", "graders.cli.main", "lab", "--folder", str(self.work)),
            *("--port", "18800", "--no-browser", "--expose-app-in-browser"),
            "--JupyterNotebookApp.expose_app_in_browser=True",
        ]
        rooms = ("JUPYTER_CONFIG_DIR", "JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR")
        own = {name: str(folder / name.lower()) for name in (*rooms, "IPYTHONDIR")}
        plain = {"PATH": "/usr/bin:/bin", "SHELL": "/bin/bash"}  # not the environment's own
        # A shell's background job ignores Ctrl-C, and so would all that it starts.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self.process = subprocess.Popen(
            command, env={**os.environ, **own, **plain}, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.said = self.process.stdout.readline()
        self.address = re.search(r"http\S+", self.said)[0]  # type: ignore[index]
        self.base, self.token = re.split(r"/lab/tree/00_tour.ipynb\?token=", self.address)

    def end(self) -> str:
        self.process.send_signal(signal.SIGINT)
        return self.process.communicate(timeout=60)[0]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    own = OwnLab(tmp_path_factory.mktemp("own"))
    yield own
    if own.process.poll() is None:
        own.process.kill()
        own.process.communicate()


@pytest.fixture(scope="module")
def browser(lab, tmp_path_factory):
    opened = open_browser(tmp_path_factory.mktemp("profile"))
    opened.get(lab.address)
    yield opened
    opened.quit()


def test_one_line_says_where_it_is(lab):
    assert lab.said.startswith("✓ JupyterLab is at http://127.0.0.1:")
    assert {path.name for path in lab.work.glob("0[01]*")} == {
        "00_tour.ipynb",
        "01_vector_add.ipynb",
    }
    for path in lab.work.glob("*.ipynb"):
        assert "colab" not in path.read_text(encoding="utf-8").lower().replace("in colab", ""), path


def test_a_lesson_that_is_only_opened_is_not_modified(browser, shots):
    wait_for(browser, READY, "the kernel")
    time.sleep(2)  # the kernel's version comes into the notebook after it has started
    assert browser.execute_script(f"return {NOTEBOOK}.context.model.dirty;") is False
    browser.execute_script(
        f"{NOTEBOOK}.content.widgets[0].model.sharedModel.setSource('something else');"
    )
    wait_for(browser, f"return {NOTEBOOK}.context.model.dirty;", "the edit to count", 10)
    browser.save_screenshot(str(shots / "own-lab.png"))


def test_notebook_7_has_the_button_and_no_menu_of_nbgrader(browser, lab, shots):
    browser.execute_script(f"{NOTEBOOK}.context.model.dirty = false;")
    browser.get(f"{lab.base}/notebooks/01_vector_add.ipynb")
    button = "return !!document.querySelector('[data-jp-item-name=\"tilewise-check\"] *');"
    wait_for(browser, button, "the button Check")
    assert "nbgrader" not in browser.execute_script("return document.body.innerText;").lower()
    browser.save_screenshot(str(shots / "notebook-7.png"))


def test_the_terminal_finds_tilewise(browser, lab, tmp_path):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    asked = urllib.request.Request(
        f"{lab.base}/api/terminals",
        method="POST",
        headers={"Authorization": f"token {lab.token}"},
    )
    with urllib.request.urlopen(asked) as answer:
        name = json.load(answer)["name"]
    browser.get(f"{lab.base}/terminals/{name}")
    box = "document.querySelector('.xterm-helper-textarea')"
    wait_for(browser, f"return !!{box};", "the terminal")
    time.sleep(1)
    browser.execute_script(f"{box}.focus();")
    found = tmp_path / "found"
    ActionChains(browser).send_keys(f"which tilewise > {found}", Keys.ENTER).perform()
    for _ in range(100):
        if found.exists() and found.read_text():
            break
        time.sleep(0.1)
    assert found.read_text().strip() == str(Path(sys.executable).parent / "tilewise")


def test_ctrl_c_ends_it_without_a_question(lab):
    assert "JupyterLab has ended." in lab.end()
    assert lab.process.returncode == 0
