"""`time_beside`: the time of your launcher on a GPU, beside those of others, if it is correct.

The time of a wrong result means nothing, and a stub is the fastest kernel of all. So the result
is checked first: a result that is wrong or missing, or an error, gets a warning beside its time.
A stub that returns `torch.empty(...)` often gets memory that still contains another launcher's
correct result. So free memory is overwritten before the result is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

NOTHING_YET = "nothing here yet: solve the exercise, then run this cell again"
MOST_BLOCKS = 256  # small blocks share a segment of 2 MiB
NOT_RIGHT = "  (not yet right: this time means nothing)"


def time_beside(
    yours: Callable[..., Any],
    others: Mapping[str, Callable[..., Any]],
    *arguments: Any,
    wanted: torch.Tensor | None = None,
    is_right: Callable[[Any], bool] | None = None,
    n_bytes: float = 0.0,
    operations: float = 0.0,
    atol: float = 1e-2,
    rtol: float = 1e-2,
    title: str = "",
    label: str = "yours",
) -> None:
    """Print the times of `others` and of `yours` on these arguments, which must be on a GPU.

    Each is the median of `triton.testing.do_bench`. others: launchers by name. wanted: the
    correct result; by default that of the first of the others. atol, rtol: the allowed error of
    each element, atol + rtol * |wanted|. is_right: checks the result instead, when several
    results are correct. n_bytes, operations: the least that any launcher must move or compute;
    if given, GB/s and TFLOP/s are printed too.
    """
    if title:
        print(title)
    width = max(map(len, (label, *others))) + 1
    if wanted is None and is_right is None:
        wanted = next(iter(others.values()))(*arguments)
    check = is_right or (lambda result: _close(result, wanted, atol, rtol))

    def show(name: str, run: Callable[..., Any], note: str = "") -> None:
        rate = _rates(_median_ms(lambda: run(*arguments)), n_bytes, operations)
        print(f"{name + ':':{width}} {rate}{note}")

    for name, other in others.items():
        show(name, other)
    try:
        result = yours(*arguments)
        if isinstance(result, torch.Tensor):
            overwrite_free_memory(result)
            result = yours(*arguments)
    except Exception as error:  # any error of the learner's code
        print(f"{label + ':':{width}} it raised {type(error).__name__}: {error}")
        return
    if result is None:
        print(f"{label + ':':{width}} {NOTHING_YET}")
    else:
        show(label, yours, "" if check(result) else NOT_RIGHT)


def overwrite_free_memory(like: torch.Tensor) -> None:
    """Overwrite the GPU memory that torch would reuse for a tensor of this size, with NaN or -1.

    On a GPU torch keeps freed memory and reuses it. This takes blocks until torch has to ask the
    driver for more, so that no free block keeps its old content.
    """
    if not like.is_cuda:
        return
    n_bytes = like.numel() * like.element_size()
    taken: list[torch.Tensor] = []
    reserved = torch.cuda.memory_reserved()
    while len(taken) < MOST_BLOCKS and torch.cuda.memory_reserved() <= reserved:
        block = torch.empty(n_bytes, dtype=torch.uint8, device=like.device)
        taken.append(block.fill_(0xFF))


def _median_ms(run: Callable[[], Any]) -> float:
    """Milliseconds of a call, with a cold cache."""
    from triton.testing import do_bench  # late: tests replace the stopwatch there

    return float(do_bench(run, return_mode="median"))


def _rates(ms: float, n_bytes: float, operations: float) -> str:
    told = [f"{ms:9.4f} ms"]
    told += [f"{n_bytes / ms * 1e-6:6,.0f} GB/s"] if n_bytes else []
    told += [f"{operations / ms * 1e-9:6,.1f} TFLOP/s"] if operations else []
    return ", ".join(told)


def _close(result: Any, wanted: torch.Tensor | None, atol: float, rtol: float) -> bool:
    """Whether the result is a tensor of this shape with values near these."""
    if wanted is None or not isinstance(result, torch.Tensor) or result.shape != wanted.shape:
        return False
    wide = torch.float64 if wanted.dtype == torch.float64 else torch.float32
    return torch.allclose(result.to(wide), wanted.to(wide), atol=atol, rtol=rtol)
