"""Write `generated/registers.json`: registers and spills of the compiled model solutions."""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import Any

from graders.authoring.rooms import Rooms
from graders.judge import discovery
from graders.judge.gates import compile as compiling
from graders.judge.gates.protocol import Context
from graders.judge.passed_card import REGISTERS
from graders.judge.pipeline import Judge
from graders.judge.records import Exercise
from graders.judge.submission.loading import load


def figures(rooms: Rooms, judge: Judge) -> dict[str, dict[str, Any]]:
    """For each exercise, its solution's kernel that needs most, on the newest target."""
    known = sorted(discovery.of_kernels().items())
    found = {
        name: _figures_of(rooms, exercise, judge)
        for name, exercise in known
        if (rooms.solutions / f"{exercise.lesson}.py").is_file()
    }
    return {name: figures for name, figures in found.items() if figures}


def _figures_of(rooms: Rooms, exercise: Exercise, judge: Judge) -> dict[str, Any]:
    submission = load(rooms.solutions / f"{exercise.lesson}.py", exercise)
    made = compiling.run(Context(submission, exercise, judge.runtime)).resources
    if not made:
        return {}
    most = max(made, key=lambda item: (item.target, item.spill_bytes, item.registers))
    return {
        "target": most.target,
        "registers": most.registers,
        "spill_bytes": most.spill_bytes,
        "triton": ".".join(version("triton").split(".")[:2]),
    }


def write(rooms: Rooms) -> bool:
    """Bring the file up to date; True if it changed."""
    with Judge() as judge:
        text = json.dumps(figures(rooms, judge), indent=1) + "\n"
    if REGISTERS.is_file() and REGISTERS.read_text() == text:
        return False
    REGISTERS.write_text(text)
    return True
