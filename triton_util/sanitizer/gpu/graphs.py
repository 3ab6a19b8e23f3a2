"""CUDA graphs for a program whose kernels run on the CPU: recorded once, and run again by `replay`.

A GPU does not run what it records. So the end of a capture restores the memory that existed before,
and `replay` repeats the operations of torch and the launches on the same tensors.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

_open: list[Graph] = []


def capturing() -> bool:
    """Whether a graph is being recorded."""
    return bool(_open)


def launched(
    launch: Callable[[], Any], arguments: Iterable[Any]
) -> contextlib.AbstractContextManager[Any]:
    """Add a launch to the open graph, if there is one; run it inside the returned context."""
    return _open[-1].recording(launch, arguments) if _open else contextlib.nullcontext()


class Graph:
    """`torch.cuda.CUDAGraph`."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget everything that was recorded."""
        self._steps: list[Callable[[], Any]] = []
        self._before: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        self._made: set[int] = set()
        self._mode = _Recorder(self)

    def capture_begin(self, *_: Any, **__: Any) -> None:
        """Record from now on."""
        _open.append(self)
        self._mode.__enter__()  # type: ignore[no-untyped-call]

    def capture_end(self) -> None:
        """Stop recording, and undo what the recorded operations did to older memory."""
        self._mode.__exit__(None, None, None)  # type: ignore[no-untyped-call]
        _open.remove(self)
        for now, before in self._before.values():
            now.copy_(before)
        self._before.clear()

    def replay(self) -> None:
        """Run all recorded operations again, on the same tensors."""
        for step in self._steps:
            step()

    def pool(self) -> tuple[int, int]:
        """A handle of the memory pool; there is one pool."""
        return pool_handle()

    def enable_debug_mode(self) -> None:
        """Do nothing, because there is no graph to print."""

    def debug_dump(self, path: str) -> None:
        """Do nothing, because there is no graph to print."""

    @contextlib.contextmanager
    def recording(self, step: Callable[[], Any], arguments: Iterable[Any]) -> Any:
        """Record one launch; operations of torch inside it are a part of it."""
        self._keep(getattr(value, "base", value) for value in arguments)
        self._steps.append(step)
        before, self._mode.paused = self._mode.paused, True
        try:
            yield
        finally:
            self._mode.paused = before

    def operation(self, function: Any, positional: Any, named: Any) -> Any:
        """Run and record one operation of torch."""
        self._keep(tree_leaves((positional, named)))
        result = function(*positional, **named)
        self._steps.append(lambda: _again(function, positional, named, result))
        self._made |= {_storage(part) for part in _tensors(tree_leaves(result))}
        return result

    def _keep(self, values: Iterable[Any]) -> None:
        """Copy the memory that existed before the capture, once."""
        for value in _tensors(values):
            at = _storage(value)
            if at not in self._made and at not in self._before:
                whole = value.detach().new_empty(0)
                whole.set_(value.untyped_storage())
                self._before[at] = (whole, whole.clone())


class _Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Gives each operation of torch to the graph."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.graph, self.paused = graph, False

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Return False: nothing here is compiled; the default would import torch's compiler."""
        return False

    def __torch_dispatch__(
        self, function: Any, types: Any, positional: Any = (), named: Any = None
    ) -> Any:
        if self.paused:
            return function(*positional, **(named or {}))
        return self.graph.operation(function, positional, named or {})


def _again(function: Any, positional: Any, named: Any, first: Any) -> None:
    """Repeat an operation; results in new memory are copied into that of the first time."""
    if function.__name__.startswith("empty"):
        return
    given = {_storage(part) for part in _tensors(tree_leaves((positional, named)))}
    results = tree_leaves(function(*positional, **named))
    for old, new in zip(tree_leaves(first), results, strict=True):
        if isinstance(old, torch.Tensor) and _storage(old) not in given:
            old.copy_(new)


def _tensors(values: Iterable[Any]) -> list[torch.Tensor]:
    return [
        value
        for value in values
        if isinstance(value, torch.Tensor) and value.layout == torch.strided
    ]


def _storage(value: torch.Tensor) -> int:
    return value.untyped_storage().data_ptr()


class Capture:
    """`torch.cuda.graph`: records the operations inside `with`."""

    def __init__(self, cuda_graph: Graph, *_: Any, **__: Any) -> None:
        self.cuda_graph = cuda_graph

    def __enter__(self) -> None:
        self.cuda_graph.capture_begin()

    def __exit__(self, *_: object) -> None:
        self.cuda_graph.capture_end()


def pool_handle() -> tuple[int, int]:
    """What `torch.cuda.graph_pool_handle` returns."""
    return (0, 1)


def graphed(callables: Any, *_: Any, **__: Any) -> Any:
    """`torch.cuda.make_graphed_callables`: the callables, whose results are the same."""
    return callables
