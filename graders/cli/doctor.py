"""`tilewise doctor`: tries what works on this machine, and says how to fix the rest."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

ADD_ONE = """
import torch, triton, triton.language as tl

@triton.jit
def add_one_kernel(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    tl.store(output_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 1, mask=mask)
"""
INTERPRET = """
x = torch.arange(10.0)
y = torch.empty_like(x)
add_one_kernel[(2,)](x, y, 10, BLOCK_SIZE=8)
assert torch.equal(y, x + 1), y
"""
COMPILE = """
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
signature = {"x_ptr": "*fp32", "output_ptr": "*fp32", "n_elements": "i32"}
signature["BLOCK_SIZE"] = "constexpr"
source = ASTSource(fn=add_one_kernel, signature=signature, constexprs={"BLOCK_SIZE": 128})
kernel = triton.compile(source, target=GPUTarget("cuda", 90, 32))
assert kernel.asm["cubin"]
"""
ON_GPU = """
x = torch.arange(10.0, device="cuda")
y = torch.empty_like(x)
add_one_kernel[(2,)](x, y, 10, BLOCK_SIZE=8)
assert torch.equal(y, x + 1), y
"""


@dataclass(frozen=True)
class Examined:
    """One line of the doctor's table. `needed`: every learner needs it."""

    what: str
    works: bool
    detail: str
    fix: str = ""
    needed: bool = True


@click.command()
def doctor() -> None:
    """Say what works on this machine, and how to fix the rest.

    Exit code 1 when something that every learner needs does not work.
    """
    findings = [examine() for examine in EXAMINATIONS]
    Console().print(_table(findings))
    if any(finding.needed and not finding.works for finding in findings):
        raise SystemExit(1)


def _table(findings: list[Examined]) -> Table:
    table = Table(title="tilewise doctor", title_style="bold", title_justify="left")
    for heading in ("", "what", "seen", "fix"):
        table.add_column(heading, overflow="fold")
    for finding in findings:
        mark = "✓" if finding.works else ("✗" if finding.needed else "–")
        fix = "" if finding.works else finding.fix
        table.add_row(mark, finding.what, finding.detail, fix)
    return table


def _python() -> Examined:
    good = sys.version_info >= (3, 11)
    return Examined("Python", good, platform.python_version(), "install Python 3.11 or newer")


def _triton() -> Examined:
    try:
        return Examined("triton", True, importlib.metadata.version("triton"))
    except importlib.metadata.PackageNotFoundError:
        return Examined("triton", False, "not installed", "pip install 'triton>=3.6' (Linux only)")


def _interpreter() -> Examined:
    error = _run(ADD_ONE + INTERPRET, {"TRITON_INTERPRET": "1"})
    fix = "pip install --upgrade triton numpy torch"
    return Examined("interpreter (no GPU needed)", not error, error or "ran a kernel", fix)


def _compilation() -> Examined:
    error = _run(ADD_ONE + COMPILE, {})
    fix = "pip install --force-reinstall triton: its wheel carries ptxas"
    return Examined("compiling without a GPU", not error, error or "compiled for sm_90", fix)


def _sandbox() -> Examined:
    from graders.judge.sandbox.pool import Workers

    try:
        with Workers(device="cpu") as workers:
            tier, open_to = workers.tier, workers.open_to
            lacks = [f"{name}: {words}" for name, words in workers.layers.items() if ";" in words]
    except Exception as error:
        return Examined("sandbox", False, str(error), "see docs/security.md")
    fix = "fine for learning; grade others' work on Linux with Landlock and seccomp"
    found = f"tier {tier}" if not open_to else f"tier {tier}: it does not stop {', '.join(open_to)}"
    found = "; ".join([found, *lacks])
    return Examined("sandbox for grading", tier == "A", found, fix, needed=False)


def _gpu() -> Examined:
    import torch

    if not torch.cuda.is_available():
        return Examined("GPU", False, "none seen", "not needed to learn", needed=False)
    error = _run(ADD_ONE + ON_GPU, {})
    seen = error or torch.cuda.get_device_name()
    return Examined("GPU", not error, seen, "update the driver", needed=False)


def _package(name: str, why: str) -> Callable[[], Examined]:
    def examine() -> Examined:
        found = importlib.util.find_spec(name) is not None
        seen = importlib.metadata.version(name) if found else "not installed"
        return Examined(f"{name} ({why})", found, seen, f"pip install {name}", needed=False)

    return examine


def _browser() -> Examined:
    names = ("chromium", "chromium-browser", "google-chrome", "firefox")
    found = next((name for name in names if shutil.which(name)), None)
    fix = "open the printed address in any browser; tests want chromium"
    return Examined("browser", found is not None, found or "none found", fix, needed=False)


EXAMINATIONS: tuple[Callable[[], Examined], ...] = (
    _python,
    _triton,
    _interpreter,
    _compilation,
    _sandbox,
    _gpu,
    _package("jupyterlab", "notebooks"),
    _package("nbgrader", "instructors"),
    _browser,
)


def _run(program: str, variables: dict[str, str]) -> str:
    """Run a program in a separate process; return '' if it worked, else its last line."""
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"} | variables
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "examination.py"
        path.write_text(program)
        try:
            done = subprocess.run(
                [sys.executable, str(path)],
                env=environment,
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "no answer within 120 s"
    lines = done.stderr.strip().splitlines()
    return "" if done.returncode == 0 else (lines[-1] if lines else f"exit code {done.returncode}")
