"""Streams, events and contexts of `torch.cuda` for a program whose kernels run on the CPU.

All work is synchronous, so there is nothing to wait for. The time between two events is the
modelled cost of the launches between them, never a measured time.
"""

from __future__ import annotations

import contextlib
from typing import Any


class Nothing(contextlib.ContextDecorator):
    """A context that changes nothing and accepts any arguments."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.idx = self.prev_idx = 0

    def __enter__(self) -> Nothing:
        return self

    def __exit__(self, *_: object) -> None:
        return None


class Stream(Nothing):
    """A stream; all streams are the same."""

    cuda_stream = 0
    stream_id = 0
    device_index = 0

    def synchronize(self) -> None:
        """Do nothing, because all work is done already."""

    def query(self) -> bool:
        """True, because all work is done already."""
        return True

    def is_capturing(self) -> bool:
        """Whether a graph of launches is being recorded."""
        from triton_util.sanitizer.gpu import graphs

        return graphs.capturing()

    def wait_stream(self, stream: Any) -> None:
        """Do nothing, because all work is done already."""

    def wait_event(self, event: Any) -> None:
        """Do nothing, because all work is done already."""

    def record_event(self, event: Any = None) -> ModelledEvent:
        """An event that marks the current moment."""
        event = event if event is not None else ModelledEvent()
        event.record()
        return event  # type: ignore[no-any-return]


class ModelledEvent:
    """A moment between two launches."""

    def __init__(self, enable_timing: bool = False, **_: Any) -> None:
        self.at: float | None = None
        if enable_timing:
            from triton_util.sanitizer.gpu import tuning

            tuning.count_costs()

    def record(self, stream: Any = None) -> None:
        """Mark the current moment."""
        from triton_util.sanitizer.gpu import tuning

        self.at = tuning.modelled_so_far()

    def wait(self, stream: Any = None) -> None:
        """Do nothing, because all work is done already."""

    def synchronize(self) -> None:
        """Do nothing, because all work is done already."""

    def query(self) -> bool:
        """True, because all work is done already."""
        return True

    def elapsed_time(self, end: ModelledEvent) -> float:
        """Modelled milliseconds of the launches between two events."""
        if self.at is None or end.at is None:
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        from triton_util.interpreter.costs import ModelledMilliseconds

        return ModelledMilliseconds(max(end.at - self.at, 1e-6))
