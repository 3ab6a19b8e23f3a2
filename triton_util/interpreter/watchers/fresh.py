"""Which tensors have memory that was never initialised."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from triton_util.interpreter.blame import acts_for_the_kernel

_EMPTY = {"aten::empty", "aten::empty_like", "aten::empty_strided", "aten::new_empty"}
_EMPTY |= {"aten::new_empty_strided", "aten::empty_permuted"}
# Remembered storages are kept alive, so that their addresses are not reused.
MOST_KEPT_BYTES = 256 << 20


class FreshMemory(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Remembers storages that `torch.empty` and the like made and that torch has not written since.

    Kernels are not observed here: the cells record whether they stored an element.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._storages: OrderedDict[int, Any] = OrderedDict()
        self._bytes = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Return False: nothing here is compiled; the default would import torch's compiler."""
        return False

    def holds(self, storage: int) -> bool:
        """Whether the storage at this address is still uninitialised."""
        known = self._storages.get(storage)
        return known is not None and not known.is_shared()  # else other processes may write to it

    @acts_for_the_kernel
    def __torch_dispatch__(
        self,
        func: Any,
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        named = kwargs or {}
        result = func(*args, **named)
        if self._storages:
            self._note_writes(func, args, named)
        if func._schema.name in _EMPTY:
            self._remember(result)
        return result

    def _note_writes(self, func: Any, args: Sequence[Any], named: dict[str, Any]) -> None:
        for place, argument in enumerate(func._schema.arguments):
            if argument.alias_info is None or not argument.alias_info.is_write:
                continue
            value = args[place] if place < len(args) else named.get(argument.name)
            for tensor in value if isinstance(value, (list, tuple)) else [value]:
                if isinstance(tensor, torch.Tensor):
                    self.forget(tensor.untyped_storage().data_ptr())

    def _remember(self, tensor: Any) -> None:
        if not isinstance(tensor, torch.Tensor) or not tensor.is_cpu or not tensor.numel():
            return
        storage = tensor.untyped_storage()
        self._storages[storage.data_ptr()] = storage
        self._bytes += storage.nbytes()
        while self._bytes > MOST_KEPT_BYTES and len(self._storages) > 1:
            _, oldest = self._storages.popitem(last=False)
            self._bytes -= oldest.nbytes()

    def shared(self) -> FreshMemory:
        """The same memory for another thread, because a mode of torch is active in one thread."""
        other = FreshMemory()
        other._storages = self._storages
        return other

    def forget(self, address: int) -> None:
        """Mark the storage at this address as written."""
        storage = self._storages.pop(address, None)
        if storage is not None:
            self._bytes -= storage.nbytes()
