"""Run ptxas on PTX text: registers, shared memory and spills, as the assembler reports them.

ptxas runs with resource limits in a directory of its own, so the PTX may come from anywhere.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

CPU_SECONDS = 60
ADDRESS_KIB = 8 << 20
FILE_BLOCKS = 1 << 18  # of 512 bytes
_LIMITS = f'ulimit -t {CPU_SECONDS} -v {ADDRESS_KIB} -f {FILE_BLOCKS}; exec "$@"'


@dataclass(frozen=True)
class Assembled:
    """The figures of ptxas for one kernel, per thread; `shared_bytes` is per program."""

    registers: int
    shared_bytes: int  # static; excludes Triton's own memory, which is dynamic
    spill_store_bytes: int
    spill_load_bytes: int


class AssemblerError(Exception):
    """ptxas refused the text; the message is from ptxas."""


class MissingAssemblerError(Exception):
    """ptxas cannot be run on this machine."""


def assemble(
    ptx: str, command: list[str], fp_fusion: bool = True, directory: Path | None = None
) -> Assembled:
    """Run `command` (with {ptx} and {cubin} for the files) and read its report.

    During the run the files are in a folder below `directory` (by default the system's own place).
    """
    with tempfile.TemporaryDirectory(prefix="tilewise-ptxas-", dir=directory) as folder:
        source, target = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(ptx)
        filled = [part.format(ptx=source, cubin=target) for part in command]
        if not fp_fusion and "--fmad=false" not in filled:
            filled.insert(1, "--fmad=false")
        try:
            done = subprocess.run(
                ["/bin/sh", "-c", _LIMITS, "sh", *filled],
                capture_output=True, text=True, errors="replace", timeout=2 * CPU_SECONDS,
                stdin=subprocess.DEVNULL, cwd=folder, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise AssemblerError("ptxas did not come to an end") from None
        except OSError as error:
            raise MissingAssemblerError(f"ptxas cannot be run: {error}") from error
        if done.returncode in (126, 127):
            raise MissingAssemblerError(f"ptxas cannot be run: {done.stderr.strip()[:300]}")
        if done.returncode != 0:
            raise AssemblerError((done.stderr or done.stdout).strip()[:4000])
        return read_report(done.stderr + done.stdout)


def read_report(log: str) -> Assembled:
    """The figures in the output of `ptxas -v` for one kernel."""
    return Assembled(
        registers=_largest(re.compile(r"Used (\d+) registers"), log),
        shared_bytes=_largest(re.compile(r"(?<!\d)(\d++) bytes smem"), log),
        spill_store_bytes=_largest(re.compile(r"(?<!\d)(\d++) bytes spill stores"), log),
        spill_load_bytes=_largest(re.compile(r"(?<!\d)(\d++) bytes spill loads"), log),
    )


def _largest(figures: re.Pattern[str], log: str) -> int:
    return max((int(figure) for figure in figures.findall(log)), default=0)
