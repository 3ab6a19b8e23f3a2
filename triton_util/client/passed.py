"""The part of a card for a passed check: figures, how to break the solution, what comes next."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from triton_util.client.attempts import Attempts, Listed
from triton_util.client.card import inline
from triton_util.client.cards.model import ModelKernel, model_html, model_lines, read_model
from triton_util.client.cards.stores import StoreMap, read_store_map, store_map_html
from triton_util.client.report import Checked


@dataclass(frozen=True)
class Passing:
    """What a card shows after a pass; `challenge` and `joy` only after the first one.

    `model` is shown after each pass, but as text, which cannot be folded, only with `joy`.

    joy: how many exercises are done now; goal: the next exercise in words; link: its notebook, if
    that is beside this one. access: which program stores what.
    """

    figures: tuple[str, ...]
    challenge: str = ""
    goal: str = ""
    link: str = ""
    access: StoreMap | None = None
    joy: str = ""
    model: ModelKernel | None = None


def passing(
    report: Checked,
    recorded: dict[str, Attempts],
    listed: Sequence[Listed],
    told: Mapping[str, Any] | None = None,
) -> Passing | None:
    """What to show; None if the check did not pass.

    `recorded` is from before the check; `told` is the judge's answer to the request `passed`.
    """
    if report.state != "passed":
        return None
    before = recorded.get(report.exercise, Attempts())
    told = told or {}
    lines = _bytes(report, before), _registers(report, told.get("registers"))
    shown = Passing(
        tuple(filter(None, lines)),
        access=read_store_map(told.get("access")),
        model=read_model(told.get("model")),
    )
    own = next((item for item in listed if item.name == report.exercise), None)
    if own is None:
        return shown
    if not before.passed:
        shown = replace(shown, challenge=own.challenge, joy=_joy(recorded, listed))
    following = _next(own, recorded, listed)
    if following is None:
        return shown
    link = f"{following.place}.ipynb"
    return replace(
        shown,
        goal=_goal(own, following),
        link=link if own.lesson != following.lesson and Path(link).is_file() else "",
    )


def _joy(recorded: dict[str, Attempts], listed: Sequence[Listed]) -> str:
    """How many exercises are done after a first pass, in words."""
    known = [item.name for item in listed if item.number]
    done = 1 + sum(recorded.get(name, Attempts()).passed != "" for name in known)
    if done == len(known):
        return f"That was the last of {done} exercises. You have solved the whole course!"
    return f"Solved! {done} of {len(known)} exercises done."


def _bytes(report: Checked, before: Attempts) -> str:
    """`32,768 bytes in the case n=4096; the model solution moves as many.`"""
    moved = report.moved
    if moved is None:
        return ""
    beside = "as many" if moved.own == moved.model else f"{moved.model:,}"
    told = f"In the case `{moved.case}` it moves {moved.own:,} bytes; the model solution {beside}."
    if before.bytes_case != moved.case or not before.fewest_bytes:
        return told
    if moved.own < before.fewest_bytes:
        return f"{told} That is your best so far: it was {before.fewest_bytes:,}."
    if moved.own > before.fewest_bytes:
        return f"{told} Your best so far is {before.fewest_bytes:,}."
    return told


def _registers(report: Checked, model: Mapping[str, Any] | None) -> str:
    """The registers of the kernel that needs most on the newest target, beside the model's."""
    if not report.resources:
        return ""
    target = max(item.target for item in report.resources)
    most = max(
        (item for item in report.resources if item.target == target),
        key=lambda item: (item.spill_bytes, item.registers),
    )
    spilled = _spilled(most.spill_bytes)
    own = f"`{most.kernel}` takes {most.registers} registers a thread on sm_{target}, {spilled}"
    if model is None or model["target"] != target:
        return f"{own}."
    beside = "as many" if model["registers"] == most.registers else f"{model['registers']}"
    also = "" if model["spill_bytes"] == most.spill_bytes else f", {_spilled(model['spill_bytes'])}"
    return f"{own}; the model solution {beside}{also} (compiled by Triton {model['triton']})."


def _spilled(count: int) -> str:
    return f"{count:,} bytes spilled" if count else "nothing spilled"


def _next(own: Listed, recorded: dict[str, Attempts], listed: Sequence[Listed]) -> Listed | None:
    """The next exercise that is not passed yet: after this one in the course, else before it."""
    known = [item for item in listed if item.number]
    if own not in known:
        return None
    place = known.index(own)
    waiting = (
        item
        for item in (*known[place + 1 :], *known[:place])
        if not recorded.get(item.name, Attempts()).passed
    )
    return next(waiting, None)


def _goal(own: Listed, following: Listed) -> str:
    if own.lesson == following.lesson:
        return f"`{following.name}`, in this lesson: {following.title}."
    return f"lesson {following.place}: {following.title}."


def passing_lines(found: Passing) -> list[str]:
    """The same in lines of text, with the backticks."""
    lines = [*found.figures]
    if found.access:
        told = found.access.told
        lines.insert(0, f"In the case `{found.access.case}` {told}")
    if found.challenge:
        lines.append(f"Break it: {found.challenge}")
    lines += [found.joy] if found.joy else []
    if found.goal:
        lines.append(f"Next: {found.goal}")
    if found.model and found.joy:
        lines += model_lines(found.model)
    return lines


def passing_html(found: Passing) -> str:
    """The same as HTML, with a link to the next notebook if that is beside this one."""
    parts = [_joy_html(found.joy)] if found.joy else []
    if found.goal:
        goal = inline(found.goal)
        if found.link:
            goal = f'<a href="{html.escape(found.link, quote=True)}">{goal}</a>'
        parts.append(f'<p class="tw-goal"><b>Next:</b> {goal}</p>')
    parts += [store_map_html(found.access)] if found.access else []
    parts += [f"<p>{inline(line)}</p>" for line in found.figures]
    if found.challenge:
        parts.append(f'<div class="tw-next"><b>Break it:</b> {inline(found.challenge)}</div>')
    parts += [model_html(found.model)] if found.model else []
    return f'<div class="tw-pass">{"".join(parts)}</div>' if parts else ""


def _joy_html(joy: str) -> str:
    """A short confetti animation, unless the system asks for reduced motion."""
    paper = "<i></i>" * 14
    return (
        f'<div class="tw-joy"><span class="tw-paper" aria-hidden="true">{paper}</span>'
        f"<b>{inline(joy)}</b></div>"
    )
