"""The operations of the reading process: each turns bytes and a request into plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from graders.judge.submission import notebooks
from graders.judge.submission.files import cells_of
from graders.judge.submission.given_cells import given_in
from graders.judge.submission.program import Program, seemingly_defined
from graders.judge.submission.shapes import shapes

Request = Mapping[str, Any]
Answer = dict[str, Any]


def _slice(data: bytes, request: Request) -> Answer:
    """Return the launcher of an exercise and what it needs."""
    cells = cells_of(data, request["notebook"], request["encoded"])
    program = Program(cells, given_in(request["lesson"]))
    found = program.slice(request["launcher"], request["parameters"])
    codes = [[code.to_json(), code.parsed] for code in found.codes]
    findings = [finding.to_json() for finding in found.findings]
    return {"source": found.source, "cells": found.cells, "codes": codes, "findings": findings}


def _kernels(data: bytes, request: Request) -> Answer:
    """Return the shapes of the kernels that a launcher needs, or without one of all kernels."""
    if "launcher" in request:
        found = _slice(data, request)
        return {"kernels": [asdict(s) for s in shapes(found["source"])], "cells": found["cells"]}
    cells = cells_of(data, request["notebook"])
    return {"kernels": [asdict(s) for cell in cells for s in shapes(cell.text)], "cells": []}


def _names(data: bytes, request: Request) -> Answer:
    """Return the names that a file defines or seems to define."""
    cells = cells_of(data, request["notebook"])
    return {"names": sorted({name for cell in cells for name in seemingly_defined(cell.text)})}


def _notebook(data: bytes, _request: Request) -> Answer:
    """Return a clean notebook, which contains only cells and which nbgrader can read."""
    return {"notebook": notebooks.in_order(data)}


OPERATIONS: Mapping[str, Callable[[bytes, Request], Answer]] = {
    "slice": _slice,
    "kernels": _kernels,
    "names": _names,
    "notebook": _notebook,
}
