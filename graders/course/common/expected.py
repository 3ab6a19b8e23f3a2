"""Wrong results as data: what a mistake would compute, and what it would read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import torch

from graders.judge.records import ExpectedWrong

Result = Callable[..., torch.Tensor | None]
# From a launcher's arguments, the two matrices that are multiplied.
Operands = Callable[..., tuple[torch.Tensor, torch.Tensor]]
Results = Callable[..., Any]
"""What a mistake computes: a tensor, several as a tuple, the forms of either as a list, or None."""

BLOCK_SIZES = tuple(2**power for power in range(15))
"""The block sizes that are tried where a mistake depends on one."""
WIDE_BLOCKS = tuple(size for size in BLOCK_SIZES if size >= 16)
"""Those that are tried where a mistake shows in a pass over the blocks of a row."""


def computes(*functions: Result | Results, where_finite: bool = False) -> tuple[ExpectedWrong, ...]:
    """Return the wrong results `function(*args)`."""
    return tuple(ExpectedWrong(function, where_finite=where_finite) for function in functions)


def both_factors(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the two matrices of a launcher that has no other arguments."""
    return a, b


def product_alone(product: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return the product unchanged, for a launcher that adds nothing to it."""
    return product


def computes_with_block(
    *functions: Result | Results,
    blocks: tuple[int, ...] = BLOCK_SIZES,
    in_memory: bool = False,
    unless: frozenset[str] = frozenset(),
) -> tuple[ExpectedWrong, ...]:
    """Return the wrong results `function(block, *args)`, for each of these block sizes."""
    return tuple(
        ExpectedWrong(function, blocks, in_memory=in_memory, unless=unless)
        for function in functions
    )


def computes_skipping(*functions: Result | Results) -> tuple[ExpectedWrong, ...]:
    """Return wrong results with a block size that leave some elements unset: NaN."""
    return computes_with_block(*functions, blocks=WIDE_BLOCKS)


def walks_through_blocks(
    *functions: Result | Results, unless: frozenset[str] = frozenset()
) -> tuple[ExpectedWrong, ...]:
    """Return the wrong results `function(block, *args)` of passes over a row, block by block."""
    return computes_with_block(*functions, blocks=WIDE_BLOCKS, unless=unless)


def computes_from_memory(*functions: Result | Results) -> tuple[ExpectedWrong, ...]:
    """Return the wrong results `function(*args)` of arguments whose strides are misread."""
    return tuple(ExpectedWrong(function, in_memory=True) for function in functions)


Found = TypeVar("Found")


def each(results: Iterable[Found | None]) -> list[Found]:
    """Return the results that are not None."""
    return [result for result in results if result is not None]


def read_as(
    tensor: torch.Tensor, shape: tuple[int, ...], strides: tuple[int, ...]
) -> torch.Tensor | None:
    """Return what a kernel reads from `tensor` with other strides; None outside its storage."""
    if 0 in shape:
        return None
    last = sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    length = tensor.untyped_storage().nbytes() // tensor.itemsize
    if tensor.storage_offset() + last >= length:
        return None
    return tensor.as_strided(shape, strides)


def inputs_as_if_contiguous(args: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield the arguments as read by a kernel that assumes dense rows.

    First with all tensors misread, then with one of them. Variants that would leave the storage,
    or that change nothing, are left out.
    """
    misread = [_as_if_contiguous(arg) for arg in args]
    known = [place for place, read in enumerate(misread) if read is not None]
    choices = [known] if len(known) < 2 else [known, *([place] for place in known)]
    for chosen in choices:
        if chosen:
            yield tuple(misread[i] if i in chosen else arg for i, arg in enumerate(args))


def _as_if_contiguous(arg: Any) -> torch.Tensor | None:
    if not isinstance(arg, torch.Tensor) or arg.is_contiguous():
        return None
    return read_as(arg, tuple(arg.shape), torch.empty(arg.shape, device="meta").stride())
