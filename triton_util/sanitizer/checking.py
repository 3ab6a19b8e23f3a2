"""`checking`: inside, every launch runs in the engine and what it finds is collected."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from triton_util.sanitizer.findings import Findings

if TYPE_CHECKING:
    import torch

    from triton_util.interpreter import Run


class CannotCheckError(RuntimeError):
    """triton was imported before it could be told to interpret."""


def prepare() -> None:
    """Let triton interpret in this process, and answer programs that ask for a device.

    Raises CannotCheckError where triton has been imported without TRITON_INTERPRET=1.
    """
    os.environ["TRITON_INTERPRET"] = "1"
    imported = "triton" in sys.modules
    from triton_util.interpreter.session import interprets

    if not interprets():
        when = "before tilewise was started" if imported else "in some other way"
        raise CannotCheckError(
            f"triton was imported {when} and compiles for a GPU in this process. "
            "Set TRITON_INTERPRET=1 in the environment and start again."
        )
    from triton_util.explain import offline

    offline.install()


@contextlib.contextmanager
def checking(findings: Findings) -> Iterator[Run]:
    """Run every launch inside in the engine and add what it finds to `findings`.

    A launch that may not go on raises KernelFault there, as an illegal access on a GPU would.
    """
    from triton_util.interpreter import KernelFault, interpret

    with interpret() as run:
        outputs = _Outputs(run)
        run.watchers.append(outputs)
        try:
            yield run
        except KernelFault as error:
            findings.add(error.fault)
            raise
        finally:
            findings.launches += len(run.launches)
            for fault in [*run.faults, *outputs.never_stored()]:
                findings.add(fault)


class _Outputs:
    """Watches which uninitialised tensors kernels store to, and what they leave out."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._stored: dict[int, tuple[str, str, torch.Tensor, tuple[str, int, str]]] = {}

    def stored(self, region: Any, *_: Any) -> None:
        """Remember the tensor, if nobody but kernels has written to its memory."""
        shadow = self._run.shadow
        if shadow is None or not shadow.fresh.holds(region.storage):
            return
        if region.storage not in self._stored:
            place = self._run.lines.current()
            self._stored[region.storage] = (region.name, place[2], region.tensor, place)

    def never_stored(self) -> list[Any]:
        """A fault for each tensor of which kernels stored a part, and nobody the rest."""
        from triton_util.interpreter import Fault

        faults: list[Any] = []
        shadow = self._run.shadow
        for name, kernel, tensor, (filename, line, _) in self._stored.values():
            if shadow is None or not shadow.fresh.holds(tensor.untyped_storage().data_ptr()):
                continue  # torch has written the rest
            missing = self._run.never_stored(tensor)
            if missing is None or not missing.any() or missing.all():
                continue
            first = _first(missing)
            faults.append(
                Fault(
                    code="never-stored",
                    message=(
                        f"{int(missing.sum())} of {missing.size} elements of {name!r} were never "
                        f"written, the first at {first}: they hold whatever was in memory."
                    ),
                    kernel=kernel,
                    filename=filename,
                    line=line,
                    argument=name,
                    cause=(
                        "Usual causes: the grid is too small, or a mask leaves lanes out. Where "
                        "that is meant, allocate with torch.zeros."
                    ),
                )
            )
        return faults

    def __getattr__(self, event: str) -> Any:
        """The engine's other events say nothing that is kept here."""
        if event.startswith("__"):
            raise AttributeError(event)
        return lambda *_: None


def _first(missing: Any) -> tuple[int, ...]:
    import numpy as np

    return tuple(int(index) for index in np.unravel_index(int(missing.argmax()), missing.shape))
