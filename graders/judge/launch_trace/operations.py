"""The table of torch's operations: what a launcher may do with tensors, and how it is recorded.

Allocating, filling with one number, viewing, converting and copying are steps of the plan. Every
other operation of torch computes: neither a kernel nor the caller may get the resulting tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch.utils import _pytree

from graders.judge.launch_trace.recording import NeedsValue, Recorder
from graders.judge.launch_trace.tensors import ValuelessTensor

MOST_KNOWN = 4096  # elements of a tensor made of Python's numbers; larger ones torch computes

tree_map: Any = _pytree.tree_map  # torch gives it no types
EMPTY = frozenset(
    {
        "aten::empty",
        "aten::empty_like",
        "aten::empty_strided",
        "aten::empty_permuted",
        "aten::new_empty",
        "aten::new_empty_strided",
    }
)
# The content of the new memory: a number, or the position and name of the argument with it.
FILLED: Mapping[str, float | tuple[int, str]] = {
    "aten::zeros": 0,
    "aten::zeros_like": 0,
    "aten::new_zeros": 0,
    "aten::ones": 1,
    "aten::ones_like": 1,
    "aten::new_ones": 1,
    "aten::full": (1, "fill_value"),
    "aten::full_like": (1, "fill_value"),
    "aten::new_full": (2, "fill_value"),
}
LIKE = frozenset(
    {"aten::empty_like", "aten::zeros_like", "aten::ones_like", "aten::full_like", "aten::clone"}
)
KNOWN = frozenset({"aten::arange", "aten::scalar_tensor", "aten::linspace"})
COPIES = frozenset({"aten::clone", "aten::_to_copy"})
READS = frozenset({"aten::_local_scalar_dense", "aten::is_nonzero", "aten::item"})
SAME = frozenset({"aten::lift_fresh", "aten::lift"})


class Operations:
    """Performs one operation after another on tensors without values."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self._kinds: dict[str, Callable[..., Any]] = {
            **dict.fromkeys(EMPTY, self._empty),
            **dict.fromkeys(FILLED, self._filled),
            **dict.fromkeys(KNOWN, self._from_numbers),
            **dict.fromkeys(COPIES, self._copied),
            **dict.fromkeys(READS, self._read),
            **dict.fromkeys(SAME, self._lifted),
            "aten::copy_": self._copy_into,
            "aten::fill_": self._fill,
            "aten::zero_": self._fill,
            "aten::constant_pad_nd": self._padded,
        }

    def perform(self, func: Any, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """The result of an operation, without values."""
        name = func._schema.name
        tensors = list(_tensors([*args, *named.values()]))
        if (
            tensors
            and name not in SAME
            and not any(isinstance(t, ValuelessTensor) for t in tensors)
        ):
            return func(*args, **named)  # Python's own numbers, from numpy for example
        perform: Any = self._kinds.get(name, self._other)
        return perform(func, args, named)

    # -- new memory ------------------------------------------------------------------------------

    def _empty(self, func: Any, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        made = self._on_meta(func, args, named)
        self.recorder.allocate(made)
        return ValuelessTensor(made, self.recorder)

    def _filled(self, func: Any, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        value = FILLED[func._schema.name]
        if isinstance(value, tuple):
            position, keyword = value
            value = args[position] if len(args) > position else named[keyword]
        made = self._on_meta(func, args, named)
        self.recorder.allocate(made, _plain(value, made.dtype))
        return ValuelessTensor(made, self.recorder)

    def _from_numbers(self, func: Any, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        return self._known(func(*args, **{**named, "device": "cpu"}))

    def _lifted(self, func: Any, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        (tensor,) = args
        return tensor if isinstance(tensor, ValuelessTensor) else self._known(tensor)

    def _known(self, values: torch.Tensor) -> ValuelessTensor:
        meta = torch.empty_strided(values.shape, values.stride(), dtype=values.dtype, device="meta")
        if values.numel() > MOST_KNOWN:
            self.recorder.tell("python-computes", f"a tensor of {values.numel()} numbers")
        self.recorder.constant(meta, values)
        return ValuelessTensor(meta, self.recorder, values)

    # -- copies ----------------------------------------------------------------------------------

    def _copied(self, func: Any, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        source = args[0]
        made = self._on_meta(func, args, named)
        if source.known is not None:
            return self._all_known(func, args, named)
        result = ValuelessTensor(made, self.recorder)
        self.recorder.allocate(made)
        self.recorder.copy(result, source)
        return result

    def _copy_into(self, func: Any, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        target, source = args[0], args[1]
        if not isinstance(source, ValuelessTensor):
            source = self._known(source)
        self._forget(target)
        self.recorder.copy(target, source)
        return target

    def _fill(self, func: Any, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        target = args[0]
        value = args[1] if len(args) > 1 else named.get("value", 0)
        if isinstance(value, torch.Tensor):
            if isinstance(value, ValuelessTensor):
                if value.known is None:
                    return self._other(func, args, named)
                value = value.known
            value = value.item()
        self._forget(target)
        self.recorder.fill(target, _plain(value, target.dtype))
        return target

    def _padded(self, func: Any, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        source, pads = args[0], list(args[1])
        value = args[2] if len(args) > 2 else named.get("value", 0)
        if source.known is not None or any(pad < 0 for pad in pads):
            return self._other(func, args, named)
        made = self._on_meta(func, args, named)
        self.recorder.allocate(made, _plain(value, made.dtype))
        inner = made
        for axis in range(len(pads) // 2):
            dimension = made.dim() - 1 - axis
            inner = inner.narrow(dimension, pads[2 * axis], source.shape[dimension])
        self.recorder.copy(ValuelessTensor(inner, self.recorder), source)
        return ValuelessTensor(made, self.recorder)

    # -- all else --------------------------------------------------------------------------------

    def _read(self, func: Any, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        return self.recorder.reads("item", args[0])

    def _other(self, func: Any, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        tensors = list(_tensors([*args, *named.values()]))
        written = list(_written(func, args, named))
        if tensors and not written and all(_values(t) is not None for t in tensors):
            return self._all_known(func, args, named)
        for tensor in written:
            if isinstance(tensor, ValuelessTensor):
                self._forget(tensor)
                self.recorder.tell("torch-computes", _plain_name(func))
        try:
            result = self._on_meta(func, args, named)
        except ImportError:  # torch finds the shape with Python code that the jail lacks
            result = self._guessed(func, tensors)
        inputs = self._storages(tensors)
        random = torch.Tag.nondeterministic_seeded in func.tags
        new = bool(tensors) and not written and not random and self._is_new(result, inputs)
        numbers = [self._numbers(tensor) for tensor in tensors] if new else []
        if new and all(number is not None for number in numbers):
            of = dict(zip(map(id, tensors), numbers, strict=True))
            plain = tree_map(lambda value: of.get(id(value), value), (list(args), dict(named)))
            return self._known(func(*plain[0], **plain[1]))
        return tree_map(lambda made: self._result(made, func, inputs, tensors), result)

    def _numbers(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """The values of a tensor that Python made, or that has the same number everywhere."""
        if not isinstance(tensor, ValuelessTensor) or tensor.known is not None:
            return _values(tensor)
        number = self.recorder.filled_with(tensor)
        if number is None or tensor.meta.numel() > MOST_KNOWN:
            return None
        return torch.full(tuple(tensor.meta.shape), number, dtype=tensor.meta.dtype)

    def _is_new(self, result: Any, inputs: set[int]) -> bool:
        """Whether an operation returns one tensor with its own memory."""
        if not isinstance(result, torch.Tensor) or isinstance(result, ValuelessTensor):
            return False
        return self.recorder.storage_of(result) not in inputs

    def _guessed(self, func: Any, tensors: list[Any]) -> Any:
        """A layout for the result of an elementwise operation that torch refuses to describe.

        Only its shape matters: a computed tensor is refused where it is used.
        """
        shape = _broadcast([tuple(tensor.shape) for tensor in tensors])
        if shape is None:
            self.recorder.tell("torch-computes", _plain_name(func))
            raise NeedsValue(_plain_name(func)) from None
        return torch.empty(shape, dtype=tensors[0].dtype, device="meta")

    def _result(self, made: Any, func: Any, inputs: set[int], tensors: list[Any]) -> Any:
        """A view of existing memory, or a tensor that torch computed."""
        if not isinstance(made, torch.Tensor) or isinstance(made, ValuelessTensor):
            return made
        for tensor in tensors:
            if isinstance(tensor, ValuelessTensor) and made is tensor.meta:
                return tensor
        if self.recorder.storage_of(made) not in inputs:
            self.recorder.tell("torch-computes", _plain_name(func))
        return ValuelessTensor(made, self.recorder)

    def _all_known(self, func: Any, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """Compute the real values: all arguments are numbers that Python itself made."""
        plain = tree_map(_values_or_same, list(args)), tree_map(_values_or_same, dict(named))
        real = func(*plain[0], **plain[1])
        views = self._storages([*args, *named.values()])
        try:
            result = self._on_meta(func, args, named)
        except ImportError:  # see `_other`; operations whose shape needs Python return no views
            return tree_map(lambda v: self._known(v) if isinstance(v, torch.Tensor) else v, real)
        return _paired(real, result, lambda values, meta: self._view_or_known(values, meta, views))

    def _storages(self, values: Sequence[Any]) -> set[int]:
        tensors = (t for t in _tensors(values) if isinstance(t, ValuelessTensor))
        return {self.recorder.storage_of(tensor.meta) for tensor in tensors}

    def _view_or_known(self, values: torch.Tensor, meta: torch.Tensor, views: set[int]) -> Any:
        if self.recorder.storage_of(meta) in views:
            return ValuelessTensor(meta, self.recorder, values)
        return self._known(values)

    def _forget(self, tensor: Any) -> None:
        """Mark the values of a tensor as unknown, because they change."""
        if isinstance(tensor, ValuelessTensor) and tensor.known is not None:
            self.recorder.used(tensor)
            tensor.known = None

    def _on_meta(self, func: Any, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """The shapes, strides, dtypes and shared memory that torch's meta device computes."""
        preserves = named.get("memory_format") in (None, torch.preserve_format)
        if func._schema.name in LIKE and preserves:
            tensor, dtype = args[0], named.get("dtype") or args[0].dtype
            strides = strides_like(tensor.shape, tensor.stride())
            return torch.empty_strided(tensor.shape, strides, dtype=dtype, device="meta")
        moved = {**tree_map(_meta, dict(named))}
        if "device" in moved or not any(True for _ in _tensors([*args, *named.values()])):
            moved["device"] = "meta"
        return func(*tree_map(_meta, list(args)), **moved)


def strides_like(sizes: Sequence[int], strides: Sequence[int]) -> tuple[int, ...]:
    """The strides of `torch.empty_like`: dense, with the dimensions in the same memory order.

    On the meta device torch uses sympy for them, which takes seconds to import. The order is that
    of its infer_dense_strides (aten/src/ATen/ExpandUtils.cpp): a stable insertion sort by stride,
    then by size, in which a stride of 0 decides nothing.
    """
    if _is_dense(sizes, strides):
        return tuple(strides)
    order = list(range(len(sizes)))[::-1]
    for place in range(1, len(order)):
        right = place
        for left in range(place - 1, -1, -1):
            comparison = _compared(sizes, strides, order[left], order[right])
            if comparison < 0:
                break
            if comparison > 0:
                order[left], order[right] = order[right], order[left]
                right = left
    made, step = [1] * len(order), 1
    for dimension in order:
        made[dimension] = step
        step *= max(1, sizes[dimension])
    return tuple(made)


def _broadcast(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...] | None:
    """The common shape; None if there is none."""
    if not shapes:
        return None
    made: list[int] = []
    for place in range(1, max(map(len, shapes)) + 1):
        sizes = {shape[-place] for shape in shapes if len(shape) >= place} - {1}
        if len(sizes) > 1:
            return None
        made.append(sizes.pop() if sizes else 1)
    return tuple(made[::-1])


def _compared(sizes: Sequence[int], strides: Sequence[int], one: int, other: int) -> int:
    if strides[one] == 0 or strides[other] == 0:
        return 0
    if strides[one] != strides[other]:
        return -1 if strides[one] < strides[other] else 1
    return 1 if sizes[one] > sizes[other] else 0


def _is_dense(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether the elements are contiguous in memory, without gaps and without overlapping."""
    step = 1
    for stride, size in sorted((t, s) for s, t in zip(sizes, strides, strict=True) if s != 1):
        if stride != step:
            return size == 0 or 0 in sizes
        step *= size
    return True


def _tensors(values: Sequence[Any]) -> Iterator[torch.Tensor]:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from _tensors(value)


def _values(tensor: torch.Tensor) -> torch.Tensor | None:
    return tensor.known if isinstance(tensor, ValuelessTensor) else tensor


def _values_or_same(value: Any) -> Any:
    return value.known if isinstance(value, ValuelessTensor) else value


def _meta(value: Any) -> Any:
    if isinstance(value, ValuelessTensor):
        return value.meta
    if isinstance(value, torch.Tensor):
        return value.to("meta")
    return value


def _written(func: Any, args: Sequence[Any], named: Mapping[str, Any]) -> Iterator[torch.Tensor]:
    """The arguments that an operation writes to."""
    for place, argument in enumerate(func._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = args[place] if place < len(args) else named.get(argument.name)
            yield from _tensors([value])


def _paired(real: Any, meta: Any, join: Callable[[Any, Any], Any]) -> Any:
    """The real results combined with their layouts, tensor by tensor."""
    if isinstance(real, torch.Tensor) and isinstance(meta, torch.Tensor):
        return join(real, meta)
    if isinstance(real, list | tuple) and isinstance(meta, list | tuple):
        return type(real)(_paired(r, m, join) for r, m in zip(real, meta, strict=False))
    return real


def _plain(value: Any, dtype: torch.dtype) -> float:
    """A number as the dtype stores it: without a fraction for integers."""
    if isinstance(value, complex):
        value = value.real
    return value if dtype.is_floating_point or isinstance(value, bool) else int(value)


def _plain_name(func: Any) -> str:
    """`aten::add.Tensor` → "add"."""
    return str(func._schema.name).partition("::")[2].strip("_")
