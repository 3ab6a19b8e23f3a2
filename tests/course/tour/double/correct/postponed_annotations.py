"""Postponed annotations everywhere (also on kernel parameters), Enum, Protocol with a TypeVar,
TYPE_CHECKING imports."""

from __future__ import annotations

from enum import Enum, unique
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

import torch
import triton
import triton.language as tl

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Grid = Callable[[Mapping[str, Any]], tuple[int, ...]]

R_co = TypeVar("R_co", covariant=True)


class Launchable(Protocol[R_co]):
    def __getitem__(self, grid: Grid | tuple[int, ...]) -> Callable[..., R_co]: ...


@unique
class Size(Enum):
    SMALL = 128
    LARGE = 1024

    @classmethod
    def fitting(cls, n: int) -> Size:
        return cls.SMALL if n < 10_000 else cls.LARGE


@triton.jit
def _double(src: torch.Tensor, dst: torch.Tensor, n: tl.int64, SIZE: tl.constexpr) -> None:
    i: tl.tensor = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    x: tl.tensor = tl.load(src + i, mask=i < n)
    tl.store(dst + i, 2 * x, mask=i < n)


_KERNEL: Final[Launchable[Any]] = _double


def double(x: torch.Tensor) -> torch.Tensor:
    size: Size = Size.fitting(n := x.numel())
    out: torch.Tensor = torch.empty_like(x)
    grid: Grid = lambda meta: (-(-n // meta["SIZE"]),)
    _KERNEL[grid](x, out, n, SIZE=size.value)
    return out
