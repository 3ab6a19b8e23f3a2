"""Record what a launcher does, step by step."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

import torch

from graders.judge.plan.steps import (
    Allocate,
    Constant,
    Copy,
    Fill,
    Note,
    Step,
    TensorRef,
    most_numbers,
)

MOST_STEPS = 30_000


class NeedsValue(Exception):  # noqa: N818  # the launcher's next step would need a number
    """The launcher asked for a value of a tensor, and cannot continue without it."""


class TooManySteps(Exception):  # noqa: N818
    """The launcher did more than any launcher needs to."""


class Recorder:
    """Builds the plan of one submission.

    Storages are numbered through all cases. `case` is the number of the current case, -1 while the
    module is loaded.
    """

    def __init__(self, filename: str) -> None:
        self.filename = filename
        self.steps: list[Step] = []
        self.told: dict[tuple[str, str, int | None], Note] = {}
        self.case = -1
        self._storages: dict[int, tuple[int, Any]] = {}  # kept, so that no address is used twice
        self._made: dict[int, tuple[Any, torch.Tensor]] = {}  # what each tensor was made with
        self._constants: dict[int, torch.Tensor] = {}
        self._filled: dict[int, float] = {}  # storages in which all elements have the same number
        self._next = 0
        self._count = 0

    def begin(self, case: int) -> None:
        """Begin to record this case."""
        self.case, self.steps, self._count = case, [], 0

    @contextlib.contextmanager
    def branch(self) -> Iterator[list[Step]]:
        """Record the steps inside this context in a list of their own."""
        outer, self.steps = self.steps, []
        try:
            yield self.steps
        finally:
            self.steps = outer

    def add(self, step: Step) -> None:
        """Record one more step of this case."""
        self._count += 1
        if self._count > MOST_STEPS:
            raise TooManySteps(f"more than {MOST_STEPS} launches and copies in one call")
        self.steps.append(step)

    # -- memory ----------------------------------------------------------------------------------

    def storage_of(self, meta: torch.Tensor) -> int:
        """The number of the storage behind a tensor of the meta device."""
        with torch._C.DisableTorchFunction():  # hides our own queries from the active modes
            storage = meta.untyped_storage()
        known = self._storages.get(storage._cdata)
        if known is None:
            known = self._storages[storage._cdata] = self._next, storage
            self._next += 1
        return known[0]

    def ref(self, tensor: Any) -> TensorRef:
        """The view that a tensor is."""
        meta = tensor.meta
        with torch._C.DisableTorchFunction():
            name = str(meta.dtype).removeprefix("torch.")
            shape, strides = tuple(meta.shape), tuple(meta.stride())
            return TensorRef(self.storage_of(meta), name, shape, strides, meta.storage_offset())

    def made(self, storage: Any, meta: torch.Tensor) -> None:
        """Remember the empty storage and the layout of a tensor without values."""
        self._made[storage._cdata] = storage, meta

    def used(self, tensor: Any) -> TensorRef:
        """The view of a tensor whose content a kernel or the result now needs."""
        with torch._C.DisableTorchFunction():
            made = self._made.get(tensor.untyped_storage()._cdata)
        if made is None or made[1] is not tensor.meta:
            self.tell("alters-tensor", "set_data")
            raise NeedsValue("set_data")
        view = self.ref(tensor)
        self._filled.pop(view.storage, None)
        values = self._constants.pop(view.storage, None)
        if values is not None:
            self._write_down(view.storage, values)
        return view

    def _write_down(self, storage: int, values: torch.Tensor) -> None:
        dtype = str(values.dtype).removeprefix("torch.")
        most = most_numbers(dtype)
        if values.numel() > most:
            self.tell("python-computes", f"a tensor of {values.numel()} numbers")
        numbers = tuple(values.flatten()[:most].tolist())
        self.add(Constant(storage, dtype, numbers))

    def allocate(self, meta: torch.Tensor, fill: float | None = None) -> None:
        """Record new memory, uninitialised or filled with one number."""
        with torch._C.DisableTorchFunction():
            count = meta.untyped_storage().nbytes() // meta.dtype.itemsize
            dtype = str(meta.dtype).removeprefix("torch.")
        storage = self.storage_of(meta)
        self.add(Allocate(storage, dtype, count, self.line()))
        if fill is not None:
            self._filled[storage] = fill
            self.add(Fill(TensorRef(storage, dtype, (count,), (1,), 0), fill))

    def filled_with(self, tensor: Any) -> float | None:
        """The number in all elements of a tensor that has not been used yet, or None."""
        return self._filled.get(self.storage_of(tensor.meta))

    def fill(self, tensor: Any, value: float) -> None:
        """Record that every element of a tensor is set."""
        self.add(Fill(self.used(tensor), value))

    def copy(self, target: Any, source: Any) -> None:
        """Record a copy of one tensor into another, to whose shape it may be broadcast."""
        view = self.used(source)
        shape = tuple(target.meta.shape)
        if view.shape != shape:
            view = self.ref(_Broadcast(source.meta.expand(shape)))
        self.add(Copy(self.used(target), view, self.line()))

    def constant(self, meta: torch.Tensor, values: torch.Tensor) -> None:
        """Remember memory with values that Python wrote; it becomes a step only when needed."""
        self._constants[self.storage_of(meta)] = values

    # -- findings --------------------------------------------------------------------------------

    def tell(self, code: str, what: str, line: int | None = None) -> None:
        """Record an observation for the judge, once for each line."""
        line = line or self.line()
        if len(self.told) < 100:
            self.told.setdefault((code, what, line), Note(code, what[:200], line, self.case))

    def reads(self, what: str, tensor: Any) -> Any:
        """The requested value if Python itself made it; otherwise the launcher ends here."""
        if tensor.known is not None:
            return getattr(tensor.known, what)()
        self.tell("reads-values", what)
        raise NeedsValue(what)

    def line(self) -> int | None:
        """The innermost line of the submission that is being executed."""
        frame = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename == self.filename:
                return frame.f_lineno
            frame = frame.f_back  # type: ignore[assignment]
        return None


class _Broadcast:
    """Stands in for a tensor without values, with only its layout."""

    def __init__(self, meta: torch.Tensor) -> None:
        self.meta = meta
