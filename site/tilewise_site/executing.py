"""Runs all lessons in one process of their own, and no lesson twice that has not changed.

The judge runs beside it, so two cores are busy; a second process would import torch and start
a judge once more, which costs as much as it saves.

The key of a lesson is the content of its notebook, of every module that it can reach, and the
versions of the libraries that draw and compute. It names a file in the cache.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import platform
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import cache
from importlib import metadata
from pathlib import Path

from tilewise_site.running import Shown

REPOSITORY = Path(__file__).resolve().parents[2]
# What a lesson can reach: the helpers, and the judge behind `check`. Not the solutions.
ROOMS = ("triton_util", "graders/judge", "graders/course")
BUILDER = ("executing.py", "interactive.py", "running.py")
LIBRARIES = ("torch", "triton", "numpy", "matplotlib", "ipython")


def run_all(notebooks: Mapping[str, Sequence[str]], kept: Path) -> dict[str, list[Shown]]:
    """What each cell of each notebook shows, by name; taken from `kept` where nothing changed."""
    kept.mkdir(parents=True, exist_ok=True)
    places = {name: kept / f"{name}-{key(sources)}.json" for name, sources in notebooks.items()}
    missing = {name: notebooks[name] for name, place in places.items() if not place.exists()}
    if missing:
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(1, context, initializer=_prepare) as pool:
            # The first lesson asks the judge first: it comes last, when the judge is warm.
            running = {name: pool.submit(_run, name, missing[name]) for name in reversed(missing)}
            for name, future in running.items():
                _write(places[name], future.result())
    for old in kept.glob("*.json"):
        if old not in places.values():
            old.unlink()
    return {name: _read(place) for name, place in places.items()}


def key(sources: Sequence[str]) -> str:
    """Names one version of a notebook together with the code that it runs on."""
    content = json.dumps([list(sources), _surroundings()]).encode()
    return hashlib.sha256(content).hexdigest()[:20]


@cache
def _surroundings() -> str:
    digest = hashlib.sha256(platform.python_version().encode())
    for library in LIBRARIES:
        digest.update(f"{library} {metadata.version(library)}\n".encode())
    paths = [path for room in ROOMS for path in sorted((REPOSITORY / room).rglob("*.py"))]
    paths += [Path(__file__).parent / name for name in BUILDER]
    for path in paths:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def _prepare() -> None:
    """In the new process: on a CPU, with one thread of torch, and the judge on its way."""
    os.environ["TRITON_INTERPRET"] = "1"
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    import torch

    from triton_util.client.judge import shared

    torch.set_num_threads(1)
    shared().start()


def _run(name: str, sources: Sequence[str]) -> list[Shown]:
    from tilewise_site import running

    return running.run(name, sources)


def _write(path: Path, shown: Sequence[Shown]) -> None:
    new = path.with_suffix(".new")
    new.write_text(json.dumps([asdict(cell) for cell in shown]), encoding="utf-8")
    new.replace(path)


def _read(path: Path) -> list[Shown]:
    return [Shown(**cell) for cell in json.loads(path.read_text(encoding="utf-8"))]
