"""The built site served on loopback, and a headless Chromium that looks at it."""

from __future__ import annotations

import functools
import http.server
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address at which `folder` can be read."""
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Visitor:
    """A browser on the site."""

    def __init__(self, address: str, profile: Path) -> None:
        from selenium import webdriver

        options = webdriver.ChromeOptions()
        options.binary_location = str(CHROMIUM)
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        service = webdriver.ChromeService(executable_path=str(DRIVER))
        self.browser = webdriver.Chrome(options=options, service=service)
        self.browser.set_script_timeout(120)  # axe-core on a busy machine
        self.address = address
        axe = resources.files("axe_core_python") / "axe.min.js"
        self._axe = axe.read_text(encoding="utf-8")

    def open(self, page: str, width: int = 1100, dark: bool = False) -> None:
        """A page on a screen of that width, for somebody who wants it light or dark, and still."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        wishes = [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": wishes})
        self.browser.get(f"{self.address}/{page}")

    def run(self, script: str, *arguments: object) -> Any:
        return self.browser.execute_script(script, *arguments)

    def find(self, selector: str) -> Any:
        """The first element; raises NoSuchElementException where there is none."""
        from selenium.webdriver.common.by import By

        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector: str) -> list[Any]:
        """All elements, maybe none."""
        from selenium.webdriver.common.by import By

        return list(self.browser.find_elements(By.CSS_SELECTOR, selector))

    def wait(self, script: str, what: str, seconds: float = 15) -> Any:
        """Wait until a script returns something true; that something."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = self.run(script)
            if found:
                return found
            time.sleep(0.05)
        raise TimeoutError(f"waited {seconds:.0f} s for {what}")

    def sideways(self) -> int:
        """How many pixels the page is wider than the window."""
        return int(self.run("return document.documentElement.scrollWidth - window.innerWidth;"))

    def violations(self) -> list[str]:
        """What axe-core finds on the page as it stands, best practices included."""
        self.run(self._axe)
        found = self.browser.execute_async_script(
            "const done = arguments[arguments.length - 1];"
            "axe.run(document, {resultTypes: ['violations']}).then(r => done(r.violations));"
        )
        return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found]

    def complaints(self) -> list[str]:
        """What the browser has written to its console."""
        return [str(entry["message"]) for entry in self.browser.get_log("browser")]
