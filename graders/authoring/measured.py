"""Measured figures in a lesson's text: the build reads them from the files of results.

A lesson contains a mark, and the notebook shows a number:

    {h200: attention B4 H32 S4096 D128 full | plain | TFLOP/s}        373
    {h200: attention B4 H32 S4096 D128 full | plain | % of torch cuDNN}  57

The parts are the name of a result in benchmarks/results/h200.json or lessons_h200.json, the name
of a timing, and the unit: `ms`, `µs`, `TFLOP/s` or `GB/s` (from the operations and bytes that the
result states), or `% of` the speed of another timing of that result. `{h200: versions}` shows the
versions of torch and Triton with which all of this was measured. After a new measurement,
`tilewise build --check` reports that the notebook is stale.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

MARK = re.compile(r"\{h200:([^{}]*)\}")
FIGURES = Path("benchmarks") / "results" / "h200.json"
FIGURES_OF_LESSONS = FIGURES.with_name("lessons_h200.json")  # used only in lessons
SHARE = "% of "


class MarkError(ValueError):
    """A mark names an unknown measurement; the message lists the known ones."""


def with_figures(text: str, root: Path) -> str:
    """The text with each mark replaced by its number; `root` is the folder of the clone."""
    return MARK.sub(lambda mark: _shown(mark[1].strip(), root), text)


def _shown(mark: str, root: Path) -> str:
    return _versions(root) if mark == "versions" else _figure(mark, _results(root))


def _versions(root: Path) -> str:
    """`torch 2.11.0, Triton 3.6.0`, or all that occur, if the runs had different ones."""
    files = (path for path in (root / FIGURES, root / FIGURES_OF_LESSONS) if path.is_file())
    kept = [json.loads(path.read_text(encoding="utf-8")) for path in files]
    runs = [run["versions"] for one in kept for run in (one, *one.get("later", ()))]
    named = {
        name: " and ".join(sorted({run[key].partition("+")[0] for run in runs}))
        for name, key in (("torch", "torch"), ("Triton", "triton"))
    }
    return ", ".join(f"{name} {versions}" for name, versions in named.items())


@cache
def _results(root: Path) -> Mapping[str, Mapping[str, Any]]:
    """The results by their names."""
    if not (root / FIGURES).is_file():
        raise MarkError(f"{FIGURES} is missing: the figures of the lessons are kept there")
    found: dict[str, Mapping[str, Any]] = {}
    for path in (root / FIGURES, root / FIGURES_OF_LESSONS):
        if path.is_file():
            kept = json.loads(path.read_text(encoding="utf-8"))["results"]
            found.update((result["name"], result) for result in kept)
    return found


def _figure(mark: str, results: Mapping[str, Mapping[str, Any]]) -> str:
    parts = [part.strip() for part in mark.split("|")]
    if len(parts) != 3:
        raise MarkError(f"{{h200:{mark}}} has not three parts, `name | timing | unit`")
    name, timing, unit = parts
    result = _named(results, name)
    ms = _named(result["timings"], timing)["median_ms"]
    if unit.startswith(SHARE):
        return f"{100 * _named(result['timings'], unit.removeprefix(SHARE))['median_ms'] / ms:.0f}"
    in_units = {
        "ms": f"{ms:.2f}",
        "µs": f"{1000 * ms:,.0f}",
        "TFLOP/s": f"{result['flops'] / ms * 1e-9:,.0f}",
        "GB/s": f"{result['bytes'] / ms * 1e-6:,.0f}",
    }
    return str(_named(in_units, unit))


def _named(things: Mapping[str, Any], name: str) -> Any:
    if name not in things:
        raise MarkError(f"a mark names {name!r}; known are {', '.join(sorted(things))}")
    return things[name]
