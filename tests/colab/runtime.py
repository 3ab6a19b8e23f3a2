"""An environment like Colab's: its versions of what the course meets, and no course.

The kernel of that environment has imported `google.colab`, as Colab's has, so that the set-up
cell takes the way that it takes there: `pip install git+https://...`. git is told to fetch
that address from a snapshot of this work tree.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.notebooknode import NotebookNode

from graders.authoring.rooms import Rooms

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = Path(__file__).with_name("packages.txt")
# What the set-up cell may bring: the course, and what Colab has not got. It changes nothing else.
BROUGHT = {"tilewise", "pyseccomp"}
NOT_IN_COLAB = {"jupyterlab", "nbgrader"}
_PRELOAD = "import sys, types; sys.modules['google.colab'] = types.ModuleType('google.colab')\n"


class ColabRuntime:
    """A clean Python environment and a plain kernel in it.

    `python`: the interpreter of a prepared environment; None makes one in `folder` that has
    torch, triton and what Colab's list leaves open from the environment of the tests.
    """

    def __init__(self, folder: Path, address: str, python: Path | None = None) -> None:
        self.folder = folder
        self.python = self._make() if python is None else python
        self._environment = _environment(folder, address)
        snapshot(folder / "repository")
        startup = folder / "ipython" / "profile_default" / "startup"
        startup.mkdir(parents=True)
        (startup / "00-colab.py").write_text(_PRELOAD)

    def _make(self) -> Path:
        """A virtual environment with Colab's packages; the rest is linked, not downloaded."""
        home = self.folder / "python"
        run([sys.executable, "-m", "venv", str(home)])
        python = home / "bin" / "python"
        site = Path(run([str(python), "-c", "import site; print(site.getsitepackages()[0])"]))
        pinned = {normal(line) for line in PACKAGES.read_text().splitlines() if "==" in line}
        for name in closure({"torch", "triton", *pinned}) - pinned:
            link_distribution(name, site)
        install(python)
        return python

    def packages(self) -> dict[str, str]:
        """The installed distributions and their versions."""
        listed = run([str(self.python), "-m", "pip", "list", "--format=json"])
        return {item["name"].lower(): item["version"] for item in json.loads(listed)}

    def has_gpu(self) -> bool:
        """Whether torch sees a GPU there."""
        asked = "import torch; print(torch.cuda.is_available())"
        return run([str(self.python), "-W", "ignore", "-c", asked]) == "True"

    def remove(self, name: str) -> None:
        """Uninstall a distribution, if it is there."""
        run([str(self.python), "-m", "pip", "uninstall", "--quiet", "--yes", name])

    def execute(self, notebook: NotebookNode, name: str) -> NotebookNode:
        """Run the cells from top to bottom in a folder of its own, going on after errors."""
        place = self.folder / "content" / name
        place.mkdir(parents=True)
        client = NotebookClient(
            notebook,
            kernel_name="colab",
            timeout=300,
            allow_errors=True,
            resources={"metadata": {"path": str(place)}},
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("JUPYTER_PATH", str(self._jupyter_folder()))
            client.execute(env=self._environment)
        return notebook

    def _jupyter_folder(self) -> Path:
        """Where Jupyter finds the kernel of this environment under the name `colab`."""
        place = self.folder / "jupyter" / "kernels" / "colab"
        place.mkdir(parents=True, exist_ok=True)
        command = [str(self.python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        spec = {"argv": command, "display_name": "Colab", "language": "python"}
        (place / "kernel.json").write_text(json.dumps(spec))
        return self.folder / "jupyter"


def run(command: list[str], **options: Any) -> str:
    """What a command prints; a RuntimeError with its complaint where it fails."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}:\n{done.stderr[-3000:]}")
    return done.stdout.strip()


def install(python: Path) -> None:
    """Colab's packages; where they cannot be had, without a network say, the tests are skipped.

    Not in continuous integration, where nobody would notice.
    """
    if os.environ.get("UV_INDEX_STRATEGY"):  # by `make`, which gives uv the settings of pip
        command = [sys.executable, "-m", "uv", "pip", "install", "--python", str(python)]
    else:
        patience = [] if os.environ.get("CI") else ["--retries", "0", "--timeout", "15"]
        command = [str(python), "-m", "pip", "install", *patience]
    try:
        run([*command, "--quiet", "-r", str(PACKAGES)])
    except RuntimeError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"Colab's packages cannot be installed here: {error}")


def _environment(folder: Path, address: str) -> dict[str, str]:
    """The environment of a learner in Colab: nothing of the tests' own, and our address."""
    ours = ("TRITON_", "PYTHON", "PYTEST", "TILEWISE", "JUPYTER", "MPL")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {
        **kept,
        "IPYTHONDIR": str(folder / "ipython"),
        "TRITON_CACHE_DIR": str(folder / "triton"),
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{(folder / 'repository').as_uri()}.insteadOf",
        "GIT_CONFIG_VALUE_0": address,
    }


def snapshot(place: Path, branch: str = "main") -> None:
    """The files of this work tree, committed or not, as a repository with one tagged commit."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in filter(None, run(listed, cwd=ROOT).split("\0")):
        if (ROOT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, place / name)
    author = ["-c", "user.name=tests", "-c", "user.email=tests@localhost"]
    tag = Rooms(ROOT).settings().tag
    made = (["init", "-q", "-b", branch], ["add", "-A"], ["commit", "-q", "-m", "snapshot"])
    for words in (*made, ["tag", tag]):
        run(["git", *author, *words], cwd=place)


def link_distribution(name: str, site: Path) -> None:
    """Hard links of an installed distribution in another site folder.

    Links and not a path entry: pip counts it as installed, and may remove it there without
    harm to the original.
    """
    distribution = importlib.metadata.distribution(name)
    source = Path(str(distribution.locate_file("")))
    for file in distribution.files or []:
        if ".." not in file.parts and "__pycache__" not in file.parts:
            link(source / file, site / file)


def link(source: Path, target: Path) -> None:
    """A hard link, or a copy where the file systems differ."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copy(source, target)


def closure(names: set[str]) -> set[str]:
    """The distributions that these need, themselves included, as far as they are installed."""
    found: set[str] = set()
    waiting = set(names)
    while waiting:
        name = waiting.pop()
        try:
            needed = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        found.add(name)
        wanted = {normal(need) for need in needed if "extra ==" not in need}
        waiting |= wanted - found - NOT_IN_COLAB
    return found


def normal(requirement: str) -> str:
    """The name in a requirement, as package indexes spell it."""
    name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
    return re.sub(r"[-_.]+", "-", name).lower()


def said(outputs: list[NotebookNode]) -> str:
    """All that a cell put out, as plain text."""
    texts = [output.get("text", "") for output in outputs if output.output_type == "stream"]
    texts += [str(output.data.get("text/plain", "")) for output in outputs if "data" in output]
    return "\n".join(texts)


def errors(notebook: NotebookNode) -> dict[str, str]:
    """Cells that ended in an exception, by id, and which."""
    return {
        cell.id: f"{output.ename}: {output.evalue}"
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if output.output_type == "error"
    }


def learners_notebook(path: Path, solutions: dict[str, str] | None = None) -> NotebookNode:
    """A lesson's notebook as Colab opens it; `solutions` are pasted over the stubs."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.id in (solutions or {}):
            cell.source = solutions[cell.id]
    return notebook
