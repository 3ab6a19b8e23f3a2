"""Somebody at a browser: cookies, forms with their XSRF token, and nothing that a page has not."""

from __future__ import annotations

import re
import time
from typing import Any

import requests


class Visitor:
    """Logs in by the hub's form and works in the pages of one server or service."""

    def __init__(self, hub: str, name: str, password: str, home: str) -> None:
        self.hub, self.name, self.password = hub, name, password
        self.home = f"{hub}{home}"  # with a stroke at its end
        self.session = requests.Session()
        self.session.trust_env = False

    def log_in(self) -> requests.Response:
        page = self.session.get(f"{self.hub}/hub/login", timeout=30)
        token = re.search(r'name="_xsrf"\s+value="([^"]+)"', page.text)
        assert token is not None, page.text
        form = {"username": self.name, "password": self.password, "_xsrf": token[1]}
        return self.session.post(f"{self.hub}/hub/login?next=/hub/home", data=form, timeout=60)

    def start_server(self, seconds: float = 240) -> None:
        """Ask for a server and wait until it answers to this visitor."""
        self.session.get(f"{self.hub}/hub/spawn", timeout=60)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            page = self.session.get(f"{self.home}lab", timeout=60)
            if page.ok and page.url.startswith(self.home):
                return
            time.sleep(0.3)
        raise AssertionError(f"the server of {self.name} did not come up: {page.status_code}")

    def get(self, place: str) -> requests.Response:
        return self.session.get(f"{self.home}{place}", timeout=60)

    def send(self, method: str, place: str, **content: Any) -> Any:
        """A request that changes something; the answer as data."""
        answer = self.session.request(
            method,
            f"{self.home}{place}",
            headers={"X-XSRFToken": self._token()},
            timeout=300,
            **content,
        )
        assert answer.ok, f"{place}: {answer.status_code} {answer.text[-2000:]}"
        return answer.json() if answer.text else None

    def _token(self) -> str:
        """The XSRF token of these pages: the hub's pages have another one."""
        path = self.home.removeprefix(self.hub)
        tokens = {
            cookie.path: cookie.value for cookie in self.session.cookies if cookie.name == "_xsrf"
        }
        return tokens[path] or ""
