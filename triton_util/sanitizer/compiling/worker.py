"""The process that compiles the launches of a checked program, while the program runs.

    python -m triton_util.sanitizer.compiling.worker FOLDER

It answers each `KEY.request` of the record with `KEY.answer`, and ends when there is a file `done`
and no request is left. If a launch does not compile, the answer contains the reason and its line.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
import traceback
from pathlib import Path
from typing import Any

PAUSE = 0.05
MOST_KEPT = 2000  # cached answers from earlier runs


def main(folder: Path) -> None:
    """Answer requests until the program is done."""
    from triton_util.explain import offline

    offline.install()
    while True:
        done = (folder / "done").exists()
        waiting = [
            path for path in folder.glob("*.request") if not path.with_suffix(".answer").exists()
        ]
        for path in sorted(waiting, key=lambda path: path.stat().st_mtime_ns):
            _answer(path)
        if done and not waiting:
            return
        if os.getppid() == 1:
            return  # the program that asked has ended
        if not waiting:
            time.sleep(PAUSE)


def _answer(path: Path) -> None:
    text = path.read_text()
    kept = _kept(text)
    try:
        made = json.loads(kept.read_text())
    except (OSError, ValueError):
        made = _compiled(json.loads(text))
        _keep(kept, made)
    _write(path.with_suffix(".answer"), made)


def _write(path: Path, made: dict[str, Any]) -> None:
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    beside.write_text(json.dumps(made))
    beside.replace(path)


def _kept(text: str) -> Path:
    """The path of the cached answer to this request."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    judge = "".join(p.read_text() for p in sorted(Path(__file__).parent.glob("*.py")))
    key = hashlib.sha256((judge + text).encode()).hexdigest()
    return root / "tilewise" / "compiled" / f"{key}.json"


def _keep(path: Path, made: dict[str, Any]) -> None:
    if made.get("ours"):
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        known = list(path.parent.glob("*.json"))
        for old in sorted(known, key=lambda p: p.stat().st_mtime_ns)[: len(known) - MOST_KEPT]:
            old.unlink(missing_ok=True)
        _write(path, made)
    except OSError:
        return  # the home folder is not writable, so the next run compiles it again


def _compiled(description: dict[str, Any]) -> dict[str, Any]:
    """The texts and figures of a launch; `refused` if the compiler rejects it."""
    from triton_util.explain import assembler, lowering
    from triton_util.sanitizer.compiling import refusals
    from triton_util.sanitizer.compiling.rebuilding import Kernels

    kernels = Kernels(description)
    try:
        launch = kernels.launch()
    except Exception:
        return {"ours": traceback.format_exc()[-2000:]}
    arch = description["target"]
    try:
        ptx, metadata = lowering.to_ptx(launch, arch)
    except Exception as error:
        return refusals.described(error, kernels)
    figures = {"registers": 0, "spills": 0}
    try:
        command = lowering.ptxas_command(launch, arch, ptx, dict(metadata))
        made = assembler.assemble(ptx, command)
        figures = {"registers": made.registers, "spills": made.spill_store_bytes // 4}
    except assembler.MissingAssemblerError:
        pass
    except Exception as error:
        return refusals.described(error, kernels)
    shared = int(metadata.get("shared") or 0)
    too_much = refusals.too_much_shared(shared, arch, kernels)
    if too_much:
        return too_much
    plain = {k: v for k, v in metadata.items() if isinstance(v, (bool, int, float, str))}
    return {"asm": {"ptx": ptx}, "metadata": {**plain, "shared": shared}, **figures}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
