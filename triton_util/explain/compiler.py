"""Main of the process that compiles for `explain`: one JSON request in, one JSON answer out.

It is a separate process, because the notebook's triton may be in interpreter mode, which cannot
compile. The learner's launcher runs here with its launches recorded, not executed.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

FILENAME = "<explained>"


def main() -> None:
    """Write the answer to the real stdout; all other output goes to stderr."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    try:
        answer = compile_request(json.load(sys.stdin))
    except Exception as error:  # the caller turns it into words
        answer = {"error": f"{type(error).__name__}: {error}"}
    answers.write(json.dumps(answer))
    answers.flush()
    os._exit(0)


def compile_request(request: dict[str, Any]) -> dict[str, Any]:
    """`{"kernels": […]}`: the launches of a launcher, lowered and assembled per target."""
    from triton_util.explain import launches, offline

    offline.install()
    recorder = launches.Recorder(FILENAME)
    with recorder.installed():
        module = launches.load_module(request["source"], FILENAME)
        function = getattr(module, request["name"])
        positional = [launches.build(arg) for arg in request["args"]]
        named = {name: launches.build(arg) for name, arg in request["kwargs"].items()}
        if request["is_kernel"]:
            function[(1,)](*positional, **named)
        else:
            function(*positional, **named)
    found = list(recorder.launches.values())
    shown = found[: request["limit"]]
    kernels = [_made(launch, arch) for launch in shown for arch in request["targets"]]
    return {"kernels": kernels, "left_out": len(found) - len(shown)}


def _made(launch: Any, arch: int) -> dict[str, Any]:
    """One specialisation for one target; `error` where it cannot be compiled for it."""
    from triton_util.explain import assembler, lowering

    described = {
        "kernel": launch.name,
        "target": arch,
        "line": launch.def_line,
        "constants": {name: _shown(value) for name, value in _declared(launch).items()},
        "arguments": _kinds(launch),
    }
    try:
        ptx, metadata = lowering.to_ptx(launch, arch)
        command = lowering.ptxas_command(launch, arch, ptx, dict(metadata))
        made = assembler.assemble(ptx, command)
    except Exception as error:  # only this target fails; the others are still useful
        return {**described, "error": f"{type(error).__name__}: {error}"}
    return {
        **described,
        "ptx": ptx,
        "num_warps": metadata["num_warps"],
        "num_stages": metadata["num_stages"],
        "registers": made.registers,
        "spill_store_bytes": made.spill_store_bytes,
        "spill_load_bytes": made.spill_load_bytes,
        "shared_bytes": int(metadata.get("shared") or 0) + made.shared_bytes,
    }


def _declared(launch: Any) -> dict[str, Any]:
    """The constants that the kernel declares as tl.constexpr."""
    declared = {p.name for p in launch.kernel.params if p.is_constexpr}
    return {name: value for name, value in launch.constants().items() if name in declared}


def _shown(value: Any) -> str:
    return str(getattr(value, "__name__", value))


def _kinds(launch: Any) -> dict[str, str]:
    """How each other argument is compiled: `*fp32, multiple of 16`, or `constant 1`."""
    found = {}
    for parameter, (kind, attribute) in zip(
        launch.kernel.params, launch.specialization, strict=False
    ):
        if parameter.is_constexpr:
            continue
        if kind == "constexpr":
            found[parameter.name] = f"constant {_shown(launch.bound[parameter.name])}"
        else:
            known = ", multiple of 16" if "D" in str(attribute) else ""
            found[parameter.name] = f"{kind}{known}"
    return found


if __name__ == "__main__":
    main()
