"""`tilewise lab`: starts JupyterLab on the lessons, and prints its URL."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import nbformat
from rich.console import Console

import triton_util
from graders.authoring.rooms import find_root
from graders.authoring.setup_cell import without_colab

EXTENSIONS = Path(triton_util.__file__).parent / "labextensions"
TOUR = "00_tour.ipynb"
MOST_PORTS = 20
PATIENCE = 180  # seconds until JupyterLab answers
LAST_LINES = 15


@click.command(context_settings={"ignore_unknown_options": True})
@click.option("--port", default=8888, help="The first port to try.")
@click.option("--folder", default="my_lessons", help="Where your notebooks are.")
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def lab(port: int, folder: str, options: tuple[str, ...]) -> None:
    """Open JupyterLab on the lessons. OPTIONS are passed to JupyterLab."""
    console = Console(highlight=False)
    work = Path(folder).resolve()
    _copy_lessons(work)
    log = work / ".tilewise" / "lab.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    port, token = _free_port(port), secrets.token_hex(24)
    with log.open("wb") as file:
        server = subprocess.Popen(
            command(work, port, options),
            env=surroundings(token),
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C comes to us, and ends it without asking
        )
    with _ends(server):
        with console.status("Starting JupyterLab, which takes a few seconds …"):
            ready = _wait(server, port)
        if not ready:
            tail = "\n".join(log.read_text(errors="replace").splitlines()[-LAST_LINES:])
            console.print(f"[red]JupyterLab did not start.[/red] The end of {log}:")
            print(tail, file=sys.stderr)
            sys.exit(1)
        address = f"http://127.0.0.1:{port}/lab/tree/{TOUR}?token={token}"
        console.print(f"[green]✓[/green] JupyterLab is at {address}", soft_wrap=True)
        console.print(f"Ctrl-C ends it. Your notebooks are in {folder}/; its log is in {log}.")
        server.wait()
    console.print("JupyterLab has ended.")


def command(work: Path, port: int, options: tuple[str, ...] = ()) -> list[str]:
    """Return the command that starts JupyterLab.

    It enables the course's extension also in Notebook 7. Terminals are not login shells, which
    would not find `tilewise`.
    """
    root = ["--allow-root"] if hasattr(os, "getuid") and os.getuid() == 0 else []
    shell = os.environ.get("SHELL") or shutil.which("bash") or "/bin/sh"
    return [
        *(sys.executable, "-m", "jupyterlab", *root),
        *("--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"),
        f"--ServerApp.root_dir={work}",
        f"--ServerApp.terminado_settings={{'shell_command': ['{shell}']}}",
        f"--LabApp.default_url=/lab/tree/{TOUR}",
        f"--LabApp.extra_labextensions_path={EXTENSIONS}",
        f"--JupyterNotebookApp.extra_labextensions_path={EXTENSIONS}",
        *options,
    ]


def surroundings(token: str) -> dict[str, str]:
    """Return the server's environment, in which terminals and `!tilewise` find `tilewise`."""
    own = str(Path(sys.executable).parent)
    paths = [part for part in os.environ.get("PATH", "").split(os.pathsep) if part != own]
    return {**os.environ, "PATH": os.pathsep.join([own, *paths]), "JUPYTER_TOKEN": token}


def _copy_lessons(work: Path) -> None:
    """Copy the notebooks that are missing; a learner's existing ones stay unchanged."""
    work.mkdir(parents=True, exist_ok=True)
    for lesson in sorted((find_root() / "lessons").glob("*.ipynb")):
        if not (work / lesson.name).exists():
            notebook = without_colab(nbformat.read(lesson, as_version=4))
            nbformat.write(notebook, work / lesson.name)


def _free_port(first: int) -> int:
    for port in range(first, first + MOST_PORTS):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise click.ClickException(
        f"the ports {first} to {first + MOST_PORTS - 1} are taken: choose another with --port"
    )


def _wait(server: subprocess.Popen[bytes], port: int) -> bool:
    """Wait until the server answers; return whether it does."""
    deadline = time.monotonic() + PATIENCE
    while server.poll() is None and time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/api", timeout=5):
                return True
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    return False


@contextmanager
def _ends(server: subprocess.Popen[bytes]) -> Iterator[None]:
    """End the server at the end of the block, and on Ctrl-C."""
    try:
        yield
    except KeyboardInterrupt:
        pass
    finally:
        if server.poll() is None:
            server.terminate()
            try:
                server.wait(timeout=15)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
