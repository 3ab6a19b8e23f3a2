"""Telling, on a GPU, that Triton compiles, which takes its time and is none of the kernel's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from triton.runtime.jit import JITFunction

from triton_util.explain.launches import def_line, describe_kernel


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
        begin(describe_kernel(kernel, constants), def_line(kernel))
        try:
            return compile_kernel(kernel, key, signature, device, constexprs, *rest, **named)
        finally:
            end()

    JITFunction._do_compile = announced
