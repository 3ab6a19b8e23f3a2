"""Benchmarks of a checked program: one size each, and modelled times."""

from __future__ import annotations

import sys
from typing import Any


def install() -> None:
    """Replace the parts of `triton.testing` that need a GPU or pandas."""
    import triton.testing

    triton.testing.Mark._run = _run_smallest
    triton.testing.do_bench_cudagraph = _do_bench_cudagraph


def _do_bench_cudagraph(
    fn: Any,
    rep: int = 20,
    grad_to_none: Any = None,
    quantiles: Any = None,
    return_mode: str = "mean",
) -> Any:
    from triton_util.interpreter import autotuning

    return autotuning.bench(fn, quantiles, return_mode)


def _run_smallest(
    self: Any, bench: Any, save_path: str, show_plots: bool, print_data: bool, *_: Any, **named: Any
) -> list[Any]:
    """Run a benchmark at its first size only: the interpreter is slow, and measures no times."""
    first = list(bench.x_vals)[:1]
    for x in first:
        values = x if isinstance(x, (list, tuple)) else [x for _ in bench.x_names]
        at = dict(zip(bench.x_names, values, strict=True))
        named = {k: v for k, v in named.items() if k not in ("diff_col", "save_precision")}
        for line in bench.line_vals:
            self.fn(**at, **{bench.line_arg: line}, **bench.args, **named)
        sizes = ", ".join(f"{name}={value}" for name, value in at.items())
        print(
            f"tilewise: {bench.plot_name or self.fn.__name__} was run once, with {sizes}: "
            "times on a CPU would say nothing about a GPU.",
            file=sys.stderr,
        )
    return []


def count_costs() -> None:
    """From now on add up the modelled costs of launches, because the program asks for times."""
    run = _current()
    if run is not None:
        run.count_costs()


def modelled_so_far() -> float:
    """The modelled milliseconds of all launches since costs are counted."""
    run = _current()
    return run.spent if run is not None else 0.0


def _current() -> Any:
    """The run of this process, if triton has been imported."""
    if "triton" not in sys.modules:
        return None
    from triton_util.interpreter import autotuning

    return autotuning._active[-1] if autotuning._active else None
