"""What is different about launches on a GPU that judges.

A launch tunes by one run each, or does not happen at all, and compiling is told of. All of it
reaches into Triton, in the worker and nowhere else. A submission that undoes it in its own
process gains nothing: it tunes for long, shows that its kernels are needed, or gets other words
for the same time limit.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

from triton_util.explain.launches import def_line, in_words

_FAILED = float("inf")


def tune_by_turns() -> None:
    """Let an autotuner try one configuration for each new shape, the next one every time.

    Timing all of them for every shape, as Triton does, took minutes and says nothing about
    correctness. By turns each configuration gets cases of its own. One that this GPU cannot
    run, for want of shared memory, say, is passed over as Triton passes it over.
    """
    turns = _Turns(Autotuner.prune_configs, Autotuner._bench)
    Autotuner.prune_configs = lambda *args, **kwargs: turns.order(*args, **kwargs)
    Autotuner._bench = lambda *args, **kwargs: turns.bench(*args, **kwargs)
    Autotuner.do_bench = staticmethod(_run_once)


class _Turns:
    """Whose turn it is, for every autotuner of this process."""

    def __init__(self, prune: Callable[..., Any], bench: Callable[..., Any]) -> None:
        self._prune, self._bench = prune, bench
        self._tunings: dict[Autotuner, int] = {}
        self._found = False

    def order(self, tuner: Autotuner, *args: Any, **kwargs: Any) -> list[Any]:
        """The configurations that are left, the one whose turn it is in front."""
        configs = list(self._prune(tuner, *args, **kwargs))
        turn = self._tunings.get(tuner, 0)
        self._tunings[tuner] = turn + 1
        self._found = False
        first = turn % len(configs) if configs else 0
        return configs[first:] + configs[:first]

    def bench(self, tuner: Autotuner, *args: Any, **kwargs: Any) -> Sequence[float]:
        """Try a configuration, unless one before it has worked for this shape."""
        if self._found:
            return [_FAILED] * 3
        times: Sequence[float] = self._bench(tuner, *args, **kwargs)
        self._found = times[0] != _FAILED
        return times


def _run_once(call: Callable[[], Any], quantiles: Sequence[float] | None = None) -> list[float]:
    call()
    torch.cuda.synchronize()  # an error of this configuration belongs to it
    return [1.0] * 3


def announce_compiling(begin: Callable[[str, int], None], end: Callable[[], None]) -> None:
    """Call `begin` with what Triton compiles, in words, and its line, and `end` when it has."""
    compile_kernel = JITFunction._do_compile

    def announced(
        kernel: JITFunction[Any],
        key: Any,
        signature: Any,
        device: Any,
        constexprs: dict[tuple[int, ...], Any],
        *rest: Any,
        **named: Any,
    ) -> Any:
        constants = {kernel.arg_names[path[0]]: value for path, value in constexprs.items()}
        begin(in_words(kernel, constants), def_line(kernel))
        try:
            return compile_kernel(kernel, key, signature, device, constexprs, *rest, **named)
        finally:
            end()

    JITFunction._do_compile = announced


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Launches inside do nothing: what is right all the same, no kernel computed."""
    launch = JITFunction.run
    JITFunction.run = lambda *args, **kwargs: None
    try:
        yield
    finally:
        JITFunction.run = launch
