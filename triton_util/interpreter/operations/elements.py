"""`tl.map_elementwise`: a function of scalars for each element of a block.

While the function runs, each element of the batch counts as a program of its own, so each can
take its own path through `if` and `while`, as on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter as stock

from triton_util.interpreter.faults import NotInterpreted
from triton_util.interpreter.operations.blocks import Block
from triton_util.interpreter.operations.formats import Array
from triton_util.interpreter.operations.reductions import make_tensor
from triton_util.interpreter.state import Batch, Divergence


def map_elementwise(
    scalar_fn: Callable[..., Any], *args: Any, pack: Any = 1, _semantic: Any = None, **_: Any
) -> Any:
    """One tensor, or a tuple of them: what `scalar_fn` returns for `pack` elements at a time."""
    batch: Batch = stock.interpreter_builder.launching.batch
    pack = int(pack.value if isinstance(pack, tl.constexpr) else pack)
    tensors = [stock.interpreter_semantic.to_tensor(argument) for argument in args]
    shape = np.broadcast_shapes(*(tuple(tensor.handle.shape) for tensor in tensors))
    lanes = int(np.prod(shape, dtype=np.int64))
    if pack < 1 or lanes % pack:
        raise ValueError(f"map_elementwise: {lanes} elements cannot be taken {pack} at a time")
    programs = batch.programs
    scalars = [
        make_tensor(np.ascontiguousarray(column), tensor.dtype, ())
        for tensor in tensors
        for column in _columns(tensor.handle, shape, programs, pack)
    ]
    with batch.element_by_element(lanes // pack):
        results = _called(scalar_fn, scalars)
    single = isinstance(results, tl.tensor)
    parts = (results,) if single else tuple(results)
    whole = tuple(
        _joined(parts[at : at + pack], programs * lanes // pack, (programs, *shape))
        for at in range(0, len(parts), pack)
    )
    return whole[0] if len(whole) == 1 and (single or pack > 1) else whole


def _called(scalar_fn: Callable[..., Any], scalars: list[Any]) -> Any:
    try:
        results = scalar_fn(*scalars)
        to_tensor = stock.interpreter_semantic.to_tensor
        if isinstance(results, (tuple, tl.tuple)):
            return tuple(to_tensor(part) for part in results)
        return to_tensor(results)
    except Divergence as split:
        message = "a function of tl.map_elementwise whose ways cannot be joined runs on a GPU only"
        raise NotInterpreted(message) from split


def _columns(block: Block, shape: tuple[int, ...], programs: int, pack: int) -> list[Array]:
    data = block.data
    missing = (1,) * (len(shape) - len(block.shape))
    data = data.reshape((data.shape[0], *missing, *data.shape[1:]))
    flat = np.broadcast_to(data, (programs, *shape)).reshape(-1, pack)
    return [flat[:, at] for at in range(pack)]


def _joined(parts: tuple[Any, ...], length: int, shape: tuple[int, ...]) -> Any:
    columns = [np.broadcast_to(part.handle.data.reshape(-1), (length,)) for part in parts]
    return make_tensor(np.stack(columns, axis=1).reshape(shape), parts[0].dtype)
