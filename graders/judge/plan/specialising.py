"""What Triton specialises a kernel on in a launch, and which launches compile to one program."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from graders.judge.plan.steps import Kernel, Launch, Value

DIGITS = 32  # of a digest: enough that two different launches never share one


def specialising(launch: Launch) -> dict[str, Any]:
    """The kernel and its arguments, without what Triton ignores."""
    return {
        "kernel": launch.kernel,
        "positional": [_specialising(value) for value in launch.positional],
        "named": {name: _specialising(value) for name, value in launch.named.items()},
    }


def _specialising(value: Value) -> Value:
    """A value without the sizes of a tensor and without the number of its storage."""
    if isinstance(value, Mapping) and "tensor" in value:
        _, dtype, *_, offset = value["tensor"]
        return {"tensor": [0, dtype, [], [], offset % 16]}
    if isinstance(value, Mapping) and "tuple" in value:
        return {"tuple": [_specialising(item) for item in value["tuple"]]}
    if isinstance(value, Mapping) and "fields" in value:
        names, values = value["fields"]
        return {"fields": [names, [_specialising(item) for item in values]]}
    return value


def meaning(raw: Mapping[str, Any], kernels: Sequence[Kernel], ones: bool = True) -> str:
    """A digest of what Triton's front end distinguishes: of non-constant numbers only the kind.

    `raw` is the result of `specialising`. Without `ones`, a 1 is like any other number.
    """
    parameters = kernels[raw["kernel"]].parameters
    names = [parameter.name for parameter in parameters]
    given = {**raw["named"], **dict(zip(names, raw["positional"], strict=False))}
    for one in parameters:
        if one.annotation != "constexpr" and one.name in given:
            given[one.name] = _kind(given[one.name], ones)
    text = json.dumps([raw["kernel"], given, ones], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def _kind(value: Any, ones: bool) -> Any:
    if isinstance(value, Mapping) and "tensor" in value:
        return value["tensor"][1]
    if type(value) is float:
        return "float"
    if type(value) is not int:
        return value
    return [ones and value == 1, -(2**31) <= value < 2**31, value < 2**63]
