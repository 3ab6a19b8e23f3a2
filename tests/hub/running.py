"""The class of docker/compose.yaml without Docker: the same hub, grader, accounts and settings.

The environment of each process is what compose.yaml gives to its container, with this machine's
folders and ports in the place of the container's. As root, each process sees hub/passwd and
hub/group as the machine's, in a mount namespace of its own, so the accounts are real ones. Where
that cannot be, learners' servers run in the tester's account, and their names come from JupyterHub.
"""

from __future__ import annotations

import csv
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import requests
import yaml

from graders.authoring import class_folder, hub_folder
from graders.authoring.rooms import Rooms

ASSIGNMENT = "01_vector_add"
INSTRUCTOR, LEARNERS = "teacher", ("ada", "Grace.H")
ROSTER = "id,first_name\nada,Ada\nGrace.H,Grace\n"
# Where the machine's accounts are not the class's.
LEARNER_CONFIG = '\nc.CourseDirectory.student_id = os.environ["JUPYTERHUB_USER"]\n'
OWN_CONFIG = "\nc.ExchangeCollect.check_owner = False\n"
ROOT = Path(__file__).resolve().parents[2]
DOCKER = ROOT / "docker"
AS_ROOT = os.geteuid() == 0
OWNER = 15_000 if AS_ROOT else os.geteuid()  # of the class; the number of nobody else
WITH_OTHER_ACCOUNTS = """
mount --bind "$1" /etc/passwd && mount --bind "$2" /etc/group && shift 2 && exec "$@"
"""
# Python's proxy is a requirement of the tests; TILEWISE_PROXY names Node's, which the image has.
PROXY = os.environ.get("TILEWISE_PROXY", "configurable-http-proxy")
# The proxy in Python gives up after 20 seconds if nothing else is said; Node's never does.
CONFIG = """
load_subconfig({config!r})
c.ConfigurableHTTPProxy.command = [{proxy!r}, "--proxy-timeout=600000"]
c.ConfigurableHTTPProxy.api_url = {proxy_api!r}
c.Spawner.args = {options!r}
"""
# What differs where the machine's accounts are not the class's.
WITHOUT_ACCOUNTS = """
from class_hub import Limited
from jupyterhub.spawner import SimpleLocalProcessSpawner


class Here(Limited, SimpleLocalProcessSpawner):
    pass


c.JupyterHub.spawner_class = Here
c.Here.home_dir_template = {homes!r} + "/{{username}}"
c.Spawner.pre_spawn_hook = None
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def missing() -> str:
    """The program without which the hub cannot run here, or ""."""
    for program in ("jupyterhub", PROXY, "jupyterhub-singleuser"):
        if shutil.which(program, path=search_path()) is None:
            return f"{program} is not installed"
    return ""


@cache
def accounts_can_be_real() -> bool:
    """Whether processes here can have the accounts of a class, and these can read the code."""
    if not AS_ROOT:
        return False
    # a shell between: what setpriv starts may still have its rights, what that starts has not
    here = ["sh", "-c", '"$0" -c "import graders"', sys.executable]
    as_owner = ["setpriv", f"--reuid={OWNER}", f"--regid={OWNER}", "--clear-groups"]
    tried = subprocess.run(
        ["unshare", "--mount", *as_owner, *here], cwd=ROOT, capture_output=True, check=False
    )
    return tried.returncode == 0


def composed(service: str) -> dict[str, Any]:
    """What compose.yaml says of a container."""
    services: dict[str, dict[str, Any]] = yaml.safe_load((DOCKER / "compose.yaml").read_text())
    return services["services"][service]


def search_path() -> str:
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


@contextmanager
def running_class(options: Sequence[str] = ()) -> Iterator[RunningClass]:
    """The hub of a class of two, in a folder that passes; `options` go to each JupyterLab."""
    folder = Path(tempfile.mkdtemp(prefix="tilewise-hub-"))
    folder.chmod(0o755)  # learners pass through it
    try:
        make_class(folder / "gpu2026")
        with RunningClass(folder, options) as started:
            yield started
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def make_class(course: Path) -> None:
    """What an instructor does once: `tilewise course init`, the roster, `tilewise course hub`."""
    class_folder.lay_out(Rooms(ROOT), course, "gpu2026", only=ASSIGNMENT)
    (course / class_folder.ROSTER).write_text(ROSTER)
    if AS_ROOT:
        os.chown(course, OWNER, OWNER)
    if not accounts_can_be_real():
        for path, more in (
            ("learner/nbgrader_config.py", LEARNER_CONFIG),
            ("nbgrader_config.py", OWN_CONFIG),
        ):
            with (course / path).open("a") as file:
                file.write(more)
    hub_folder.prepare(course, [INSTRUCTOR])
    if AS_ROOT:  # without accounts of the class its owner must have a name on this machine
        owner = OWNER if accounts_can_be_real() else 0
        for path in (course, *course.rglob("*")):
            os.chown(path, owner, owner)


class RunningClass:
    """A hub and a grader in `folder`, for the class in `folder`/gpu2026; a context manager."""

    def __init__(self, folder: Path, options: Sequence[str] = ()) -> None:
        self.folder, self.course = folder, folder / "gpu2026"
        self.homes, self.programs = folder / "homes", folder / "bin"
        ports = [free_port() for _ in range(4)]
        self.url = f"http://127.0.0.1:{ports[0]}"
        self.proxy_api = f"http://127.0.0.1:{ports[3]}"
        (folder / "exchange").mkdir()
        (folder / "exchange").chmod(0o1777)
        for place in (self.homes, self.programs, folder / "state"):
            place.mkdir()
        (self.programs / "lab-entrypoint").symlink_to(DOCKER / "lab-entrypoint.sh")
        shutil.copytree(self.course / "learner", folder / "learner")
        homes = (self.course / "hub/passwd").read_text().replace(":/home/", f":{self.homes}/")
        (folder / "passwd").write_text(homes)
        self.here = {  # in the containers → here
            "/opt/tilewise": str(ROOT),
            "/srv/exchange": str(folder / "exchange"),
            "/srv/hub/state": str(folder / "state"),
            "/srv/class/accounts.json": str(self.course / "hub/accounts.json"),
            "/srv/class/learner": str(folder / "learner"),  # the class itself is closed to them
            "http://hub:8081": f"http://127.0.0.1:{ports[1]}",
            "http://0.0.0.0:9999": f"http://127.0.0.1:{ports[2]}",
        }
        self.inner, self.grader = (f"http://127.0.0.1:{port}" for port in ports[1:3])
        self.options = list(options)
        if AS_ROOT and not accounts_can_be_real():
            self.options.append("--allow-root")
        self._processes: list[subprocess.Popen[bytes]] = []

    def passwords(self) -> dict[str, str]:
        """What the instructor hands out."""
        with (self.course / "hub/passwords.csv").open() as file:
            return {row["name"]: row["password"] for row in csv.DictReader(file)}

    def solution(self, exercise: str) -> str:
        """The cell with the model solution, as it stands in the source of the assignment."""
        path = self.course / "source" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
        (source,) = (
            cell.source
            for cell in nbformat.read(path, as_version=4).cells
            if cell.metadata.get("nbgrader", {}).get("grade_id") == exercise
        )
        return str(source)

    def environment(self, service: str) -> dict[str, str]:
        """What compose.yaml sets for a container, with the values of hub/env."""
        lines = (self.course / "hub/env").read_text().splitlines()
        values = dict(line.split("=", 1) for line in lines if not line.startswith("#"))

        def value(found: re.Match[str]) -> str:
            name, _, default = found[1].partition(":")
            return values.get(name, default.removeprefix("-")).strip("'")

        settings = {}
        for name, text in composed(service)["environment"].items():
            settings[name] = re.sub(r"\$\{([^}]*)\}", value, str(text))
            for there, here in self.here.items():
                settings[name] = settings[name].replace(there, here)
        path = os.pathsep.join([str(self.programs), search_path()])
        return {"PATH": path, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore", **settings}

    def __enter__(self) -> RunningClass:
        try:
            self._start_hub()
            self._start_grader()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start_hub(self) -> None:
        shipped = str(DOCKER / "jupyterhub_config.py")
        text = CONFIG.format(
            config=shipped, proxy=PROXY, proxy_api=self.proxy_api, options=self.options
        )
        if not accounts_can_be_real():
            text += WITHOUT_ACCOUNTS.format(homes=str(self.homes))
        config = self.folder / "jupyterhub_config.py"
        config.write_text(text)
        settings = {
            "HUB_ADDRESS": self.url,
            "HUB_INNER_ADDRESS": self.inner,
            "HUB_CONNECT_ADDRESS": self.inner,
            "CLASS_ADDRESS": self.grader,
            "TILEWISE_LESSONS": str(ROOT / "lessons"),
        }
        if not accounts_can_be_real():  # the exchange belongs to who runs the grader
            settings |= {"CLASS_UID": str(os.geteuid()), "CLASS_GID": str(os.getegid())}
        command = ["jupyterhub", f"--config={config}"]
        self._start("hub", command, settings, self.folder / "state")
        self._wait(f"{self.url}/hub/health", "hub")

    def _start_grader(self) -> None:
        database = {"TILEWISE_DB": f"sqlite:///{self.course / 'gradebook.db'}"}
        as_owner = ["setpriv", f"--reuid={OWNER}", f"--regid={OWNER}", "--clear-groups"]
        command = [*(as_owner if accounts_can_be_real() else []), *composed("grader")["entrypoint"]]
        command += [*composed("grader")["command"], *self.options]
        home = {"HOME": str(self.course), "TRITON_CACHE_DIR": str(self.course / "triton")}
        self._start("grader", command, {**database, **home}, self.course)
        self._wait(f"{self.grader}/services/class/api", "grader")

    def _start(self, name: str, command: list[str], more: dict[str, str], where: Path) -> None:
        if accounts_can_be_real():
            files = [str(self.folder / "passwd"), str(self.course / "hub/group")]
            command = [
                "unshare",
                "--mount",
                "sh",
                "-c",
                WITH_OTHER_ACCOUNTS,
                name,
                *files,
                *command,
            ]
        environment = self.environment(name) | more
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                command,
                env=environment,
                cwd=where,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._processes.append(process)

    def _wait(self, address: str, name: str, seconds: float = 120) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self._processes[-1].poll() is None:
            try:
                if requests.get(address, timeout=5).ok:
                    return
            except requests.RequestException:
                pass
            time.sleep(0.2)
        raise RuntimeError(f"{name} did not come up:\n{self.log(name)}")

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")[-6000:]

    def __exit__(self, *_: object) -> None:
        for process in reversed(self._processes):
            process.send_signal(signal.SIGTERM)  # the hub ends the servers and the proxy
        for process in self._processes:
            try:
                process.wait(timeout=40)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
