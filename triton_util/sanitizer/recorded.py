"""The engine's run under the sanitizer: it records its findings at the end of each launch."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import torch

from triton_util.interpreter import EngineOptions, Fault, KernelFault
from triton_util.interpreter.costs import modelled_ms
from triton_util.interpreter.session import Launch, Run
from triton_util.interpreter.watchers.traffic import TrafficWatcher
from triton_util.sanitizer.compiling.requests import CompiledLaunch, request
from triton_util.sanitizer.gpu import allocations, graphs
from triton_util.sanitizer.record import current


class RecordedRun(Run):
    """A run that records its faults, and that continues after a gap of the engine."""

    def __init__(self, options: EngineOptions) -> None:
        super().__init__(options)
        self.outputs = Outputs(self)
        self.watchers.append(self.outputs)
        self.known_memory = allocations.tensors
        self.unchecked = 0  # launches that the engine could not run
        self.spent = 0.0  # modelled milliseconds, while costs are counted
        self._told = 0

    def count_costs(self) -> None:
        """From now on add up the modelled costs of launches."""
        if self.counter is None:
            self.counter = TrafficWatcher()
            self.watchers.append(self.counter)

    def launch(self, interpreted: Any, positional: Any, grid: Any, named: dict[str, Any]) -> Any:
        """Run one launch; its findings are in the record before this returns or raises."""
        current.launched()
        before = len(self.launches)
        outputs = self.outputs.noted()
        recorded = graphs.launched(
            lambda: self.launch(interpreted, positional, grid, named),
            [*positional, *named.values()],
        )
        try:
            with torch._C.DisableTorchFunction(), recorded:
                super().launch(interpreted, positional, grid, named)
        except KernelFault as error:
            current.finding(error.fault)
            self.outputs.go_back(outputs)  # outputs that it did not reach are not findings
            if error.fault.code != "not-interpreted":
                raise
            self._not_checked([*positional, *named.values()])
        else:
            self._add_cost(self.launches[-1])
        finally:
            self.tell()
            wanted = self._request(interpreted, before, named)
        return CompiledLaunch(interpreted, named, wanted)

    def warmup(self, interpreted: Any, positional: Any, grid: Any, named: dict[str, Any]) -> Any:
        """What `kernel.warmup` returns: the compiled kernel."""
        bound, options = self._bind(interpreted, positional, named)
        return CompiledLaunch(interpreted, named, request(interpreted, bound, options))

    def _request(self, interpreted: Any, before: int, named: dict[str, Any]) -> Any:
        if len(self.launches) == before:
            return None  # its arguments do not fit the kernel; that is recorded
        return request(interpreted, self.bound, self.given_options, bool(self.tuned_by))

    def _add_cost(self, launch: Launch) -> None:
        if launch.traffic is not None:
            x, y, z = launch.grid
            self.spent += modelled_ms(launch.traffic, x * y * z, launch.meta)

    def tell(self) -> None:
        """Record the faults since the last call."""
        for fault in self.faults[self._told :]:
            current.finding(fault)
        self._told = len(self.faults)

    def finish(self) -> None:
        """Record the findings that are known only when the program has ended."""
        with self.turn:
            self.tell()
            for fault in self.outputs.never_stored():
                current.finding(fault)
            self.outputs.forget()

    def forked(self) -> None:
        """In a forked child, forget the parent's stores, because the parent reports them."""
        self.turn = threading.RLock()
        self.outputs.forget()
        self._told = len(self.faults)

    def _not_checked(self, values: list[Any]) -> None:
        """Continue without the launch; the content of its memory is then unknown."""
        self.unchecked += 1
        current.note(unchecked=True)
        for value in values:
            tensor = getattr(value, "base", value)
            if isinstance(tensor, torch.Tensor) and self.shadow is not None:
                self.shadow.fresh.forget(tensor.untyped_storage().data_ptr())


class Outputs:
    """Watches which uninitialised tensors kernels store to, and which elements they omit."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._stored: dict[int, tuple[str, str, torch.Tensor, tuple[str, int, str]]] = {}

    def stored(self, region: Any, *_: Any) -> None:
        """Remember the tensor, if only kernels have written to its memory."""
        shadow = self._run.shadow
        if shadow is None or not shadow.fresh.holds(region.storage):
            return
        if region.storage not in self._stored:
            place = self._run.lines.current()
            self._stored[region.storage] = (region.name, place[2], region.tensor, place)

    def forget(self) -> None:
        """Start again with nothing stored."""
        self._stored.clear()

    def noted(self) -> set[int]:
        """The storages that are known so far."""
        return set(self._stored)

    def go_back(self, noted: set[int]) -> None:
        """Forget the storages that are not among these."""
        self._stored = {k: value for k, value in self._stored.items() if k in noted}

    def never_stored(self) -> list[Fault]:
        """A fault for each tensor that kernels stored in part and nothing else completed."""
        found = [self._left_out(*known) for known in self._stored.values()]
        return [fault for fault in found if fault is not None]

    def _left_out(
        self, name: str, kernel: str, tensor: torch.Tensor, place: tuple[str, int, str]
    ) -> Fault | None:
        shadow = self._run.shadow
        if shadow is None or not shadow.fresh.holds(tensor.untyped_storage().data_ptr()):
            return None  # torch has written the rest
        missing = self._run.never_stored(tensor)
        if missing is None or not missing.any() or missing.all():
            return None
        at = np.unravel_index(int(missing.argmax()), missing.shape)
        first = tuple(int(index) for index in at)
        return Fault(
            code="never-stored",
            message=(
                f"{int(missing.sum())} of {missing.size} elements of {name!r} were never "
                f"written, the first at {first}: they hold whatever was in memory."
            ),
            kernel=kernel,
            filename=place[0],
            line=place[1],
            argument=name,
            cause=(
                "Usual causes: the grid is too small, or a mask leaves lanes out. Where "
                "that is meant, allocate with torch.zeros."
            ),
        )

    def __getattr__(self, event: str) -> Any:
        """Ignore the engine's other events."""
        if event.startswith("__"):
            raise AttributeError(event)
        return lambda *_: None
