"""The service behind a real JupyterHub: its tokens and scopes say who may ask."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from graders.service.identity import HubTokens
from tests.hub.running import DOCKER, ROOT, free_port, missing, search_path
from tests.service.serving import EXERCISE, serving

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=missing())]

ADMIN, SERVICE = "a" * 40, "g" * 40
CONFIG = """
import sys
sys.path.insert(0, {docker!r})
from class_hub import gpu_roles, gpu_service
c.JupyterHub.bind_url = {url!r}
c.JupyterHub.hub_bind_url = {inner!r}
c.JupyterHub.db_url = "sqlite://"
c.JupyterHub.cookie_secret = bytes(32)
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allow_all = True
c.ConfigurableHTTPProxy.command = ["configurable-http-proxy"]
c.ConfigurableHTTPProxy.api_url = {proxy!r}
c.JupyterHub.services = [
    gpu_service("http://127.0.0.1:9", {service!r}),
    {{"name": "admin", "api_token": {admin!r}}},
]
admin = {{"name": "makes-users", "services": ["admin"]}}
admin["scopes"] = ["admin:users", "tokens", "access:services"]
c.JupyterHub.load_roles = [*gpu_roles(), admin]
"""


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the hub's API."""
    folder = tmp_path_factory.mktemp("hub")
    url, inner, proxy = (f"http://127.0.0.1:{free_port()}" for _ in range(3))
    config = folder / "jupyterhub_config.py"
    config.write_text(
        CONFIG.format(
            docker=str(DOCKER), url=url, inner=inner, proxy=proxy, service=SERVICE, admin=ADMIN
        )
    )
    environment = {"PATH": search_path(), "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "jupyterhub", f"--config={config}"],
            cwd=folder,
            env=environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        _wait(f"{inner}/hub/health", process, folder / "log")
        yield f"{inner}/hub/api"
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if requests.get(url, timeout=5).ok:
                return
        except requests.RequestException:
            pass
        time.sleep(0.3)
    raise RuntimeError(log.read_text(errors="replace")[-3000:])


def token_of(hub: str, user: str, scopes: list[str] | None = None) -> str:
    """A token of that user, with all scopes of the user where none are named."""
    headers = {"Authorization": f"token {ADMIN}"}
    requests.post(f"{hub}/users/{user}", headers=headers, timeout=10)
    data: dict[str, Any] = {} if scopes is None else {"scopes": scopes}
    made = requests.post(f"{hub}/users/{user}/tokens", headers=headers, json=data, timeout=10)
    assert made.ok, made.text
    return str(made.json()["token"])


def test_the_hub_says_who_somebody_is(hub: str, tmp_path: Path) -> None:
    from jupyterhub.services.auth import HubOAuth

    ada, bob = token_of(hub, "ada"), token_of(hub, "bob")
    narrow = token_of(hub, "ada", ["read:users!user=ada"])
    asked = HubOAuth(
        api_url=hub,
        api_token=SERVICE,
        oauth_client_id="service-gpu",
        access_scopes={"access:services!service=gpu"},
    )

    async def main() -> None:
        async with serving(tmp_path, identities=HubTokens(asked)) as running:
            job = await running.submit("k", token=ada)
            assert job["status"] == 202
            assert running.service.queue.of("hub:ada", job["id"]) is not None
            told = await running.report(job["id"], token=ada)
            assert told["report"]["exercise"] == EXERCISE
            answer = await running.ask("GET", f"api/jobs/{job['id']}", token=bob)
            assert answer.code == 404
            for wrong in (narrow, SERVICE, ADMIN, "x" * 32):  # no scope; services; nobody
                refused = await running.ask("GET", "api/status", token=wrong)
                assert refused.code == 403, wrong

    asyncio.run(asyncio.wait_for(main(), 60))
