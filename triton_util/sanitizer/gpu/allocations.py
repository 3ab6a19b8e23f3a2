"""Allocations whose address a program has read, because its tables of pointers use them."""

from __future__ import annotations

import threading
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

_asked = torch.Tensor.data_ptr
_STORAGE: Any = torch.UntypedStorage
_known: dict[int, tuple[Any, torch.dtype]] = {}  # of storages, by address
_lock = threading.Lock()
MOST = 10_000  # entries; above that, those whose memory was freed are dropped


def install() -> None:
    """From now on remember each allocation whose address the program reads."""
    tensor: Any = torch.Tensor
    tensor.data_ptr = _data_ptr


def _data_ptr(self: torch.Tensor) -> int:
    address = _asked(self)
    if address and self.is_cpu and self.layout == torch.strided:
        storage = self.untyped_storage()
        start = storage.data_ptr()
        with _lock:
            before = _known.get(start)
            if before is not None:
                _STORAGE._free_weak_ref(before[0])
            _known[start] = (storage._weak_ref(), self.dtype)
            if len(_known) > MOST:
                _forget_the_dead()
    return address


def _forget_the_dead() -> None:
    for address, (weak, _) in list(_known.items()):
        if _STORAGE._expired(weak):
            _STORAGE._free_weak_ref(weak)
            del _known[address]


def tensors() -> list[torch.Tensor]:
    """Each allocation that still exists, as a vector with the dtype of the program's request."""
    found = []
    with _lock, _disable_current_modes():
        _forget_the_dead()
        for weak, dtype in _known.values():
            storage = _STORAGE._new_with_weak_ptr(weak)
            if storage is not None:
                whole = torch.empty(0, dtype=dtype)
                found.append(whole.set_(storage, 0, (storage.nbytes() // dtype.itemsize,), (1,)))
    return found
