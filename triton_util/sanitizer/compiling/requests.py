"""Launches to compile for a GPU: requests to the compiling process, and its answers.

A request is a file in the record, so it works from every process and thread; `worker` compiles
while the program continues. Each launch is requested once, and answers are cached between runs.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from typing import Any

from triton_util.sanitizer.compiling import describing
from triton_util.sanitizer.gpu.described import COMPILING_VARIABLE, target
from triton_util.sanitizer.record import current

SECONDS = 120.0  # the longest that a program waits for an answer
_keys: dict[Any, str] = {}


def request(
    interpreted: Any, bound: dict[str, Any], options: dict[str, Any], tuned: bool = False
) -> str:
    """Request that a launch be compiled; returns the key of the answer, or "" if nothing compiles.

    tuned: a tuner chose its configuration, and skips those that need more than a GPU has.
    """
    if os.environ.get(COMPILING_VARIABLE, "1") == "0":
        return ""
    seen = (id(interpreted.fn), *map(_kind, bound.items()), repr(sorted(options.items())))
    if seen not in _keys:
        _keys[seen] = _written(interpreted, bound, options)
        if tuned and _keys[seen]:
            (current.folder / f"{_keys[seen]}.tuned").touch()
    return _keys[seen]


def _kind(item: tuple[str, Any]) -> Any:
    """What the front end distinguishes about an argument, except its alignment."""
    from triton_util.interpreter.arguments import Constant, Typed

    name, value = item
    if isinstance(value, Constant):
        return name, "constant", repr(value.value)
    if isinstance(value, Typed):
        return name, str(value.dtype), value.value == 1
    if isinstance(value, (bool, float)):
        return name, type(value)
    if isinstance(value, int):
        return name, "int", value == 1, value.bit_length() > 31, value.bit_length() > 63
    if hasattr(value, "block_shape"):
        return name, "descriptor", str(value.base.dtype), tuple(value.block_shape)
    if hasattr(value, "dtype"):
        return name, "tensor", str(value.dtype)
    return name, repr(value)


def _written(interpreted: Any, bound: dict[str, Any], options: dict[str, Any]) -> str:
    try:
        made = json.dumps(describing.launch(interpreted, bound, options, target()), sort_keys=True)
    except describing.Opaque as error:
        current.note(not_compiled=str(error), kernel=interpreted.fn.__name__)
        return ""
    key = hashlib.sha256(made.encode()).hexdigest()[:24]
    path = current.folder / f"{key}.request"
    if not path.exists():
        waiting = path.with_suffix(f".{os.getpid()}")
        waiting.write_text(made)
        waiting.replace(path)
    return key


def answer(key: str, seconds: float = SECONDS) -> dict[str, Any] | None:
    """The compiler's answer for a launch; None if it does not arrive in time."""
    path = current.folder / f"{key}.answer"
    end = time.monotonic() + seconds
    while key and time.monotonic() < end:
        try:
            made: dict[str, Any] = json.loads(path.read_text())
        except (OSError, ValueError):
            time.sleep(0.02)
            continue
        return made
    return None


class CompiledLaunch:
    """What a launch and `kernel.warmup` return: the compiled kernel, loaded only when used."""

    def __init__(self, interpreted: Any, options: dict[str, Any], key: str | None) -> None:
        self._interpreted = interpreted
        names = interpreted.arg_names
        self._options = {k: v for k, v in options.items() if k not in names}
        self._key = key or ""
        self.name = interpreted.fn.__name__

    def __getitem__(self, grid: Any) -> Any:
        """Launch it like a compiled kernel: all arguments by position."""

        def launch(*arguments: Any, stream: Any = None) -> Any:
            return self._interpreted.run(*arguments, grid=grid, warmup=False, **self._options)

        return launch

    def _init_handles(self) -> None:
        """Do nothing; a driver would load the kernel here."""

    def result(self) -> CompiledLaunch:
        """The kernel itself: it is compiled when one of its attributes is read."""
        return self

    @property
    def asm(self) -> dict[str, str]:
        """The texts that the compiler made from the kernel."""
        return dict(self._made()["asm"])

    @property
    def metadata(self) -> Any:
        """The compiler's metadata of the kernel."""
        from types import SimpleNamespace

        return SimpleNamespace(**{**self._made()["metadata"], "name": self.name})

    @property
    def n_regs(self) -> int:
        """Registers of each thread, as ptxas counts them."""
        return int(self._made()["registers"])

    @property
    def n_spills(self) -> int:
        """Spilled registers, in 4-byte words."""
        return int(self._made()["spills"])

    @property
    def n_max_threads(self) -> int:
        """The most threads that one program may have."""
        return 1024

    def _made(self) -> dict[str, Any]:
        made = answer(self._key)
        if made is None or "asm" not in made:
            raise RuntimeError(
                f"{self.name} is not compiled here (--no-compile, or it does not compile), so its "
                "registers and its assembly are not known."
            )
        return made
