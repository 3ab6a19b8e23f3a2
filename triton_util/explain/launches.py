"""Record kernel launches instead of executing them, as Triton would specialise them.

It imports triton, which must not be in interpreter mode; it is for processes that compile.
"""

from __future__ import annotations

import contextlib
import linecache
import sys
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.compiler.compiler import make_backend
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction, create_function_from_signature

MODULE = "submission"  # the name under which a source text is loaded
TARGETS = (80, 90)
FAR_BYTES = 1 << 32  # a larger storage is not really allocated


@dataclass
class SeenLaunch:
    """One launch as Triton specialises it."""

    kernel: JITFunction[Any]
    specialization: list[tuple[str, Any]]
    bound: Mapping[str, Any]
    options: dict[str, Any]
    tuned: bool  # one of several configurations of an autotuner
    line: int | None
    empty: bool = False  # the grid has no programs, as for an empty tensor
    count: int = 1

    @property
    def name(self) -> str:
        return str(self.kernel.__name__)

    @property
    def key(self) -> str:
        return f"{self.name} {self.specialization!r} {self.constants()!r} {self.options!r}"

    @property
    def described(self) -> str:
        """The kernel and its constants in words."""
        return describe_kernel(self.kernel, self.constants())

    @property
    def def_line(self) -> int:
        """The line of the kernel's `def`, after the decorators."""
        return def_line(self.kernel)

    @property
    def aligned(self) -> int:
        """How many arguments are known to be divisible by 16."""
        return sum("D" in str(kind[1]) for kind in self.specialization)

    @property
    def pointer_bits(self) -> int:
        """The sum of the element widths of all pointer arguments."""
        kinds = [str(kind) for kind, _ in self.specialization if str(kind).startswith("*")]
        digits = ("".join(c for c in kind if c.isdigit()) for kind in kinds)
        return sum(int(width) for width in digits if width)

    @property
    def block_size(self) -> int:
        """The product of the constants, so that large blocks give large numbers."""
        size = 1
        for value in self.constants().values():
            number = getattr(value, "value", value)
            if isinstance(number, int) and not isinstance(number, bool) and number > 0:
                size *= number
        return size

    def constants(self) -> dict[str, Any]:
        """The constexpr arguments by name."""
        pairs = zip(self.bound.items(), self.specialization, strict=False)
        return {name: value for (name, value), (kind, _) in pairs if kind == "constexpr"}

    def pack(self, arch: int) -> tuple[ASTSource, Any, Any]:
        """Source, options and backend for a target; raises what Triton raises."""
        backend = make_backend(GPUTarget("cuda", arch, 32))
        options, signature, constexprs, attrs = self.kernel._pack_args(
            backend, dict(self.options), dict(self.bound), self.specialization, {}
        )
        return ASTSource(self.kernel, signature, constexprs, attrs), options, backend


@dataclass
class Recorder:
    """Replaces `JITFunction.run` and `Autotuner.run`."""

    filename: str
    launches: dict[str, SeenLaunch] = field(default_factory=dict)
    _tuned: bool = False

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """Record the launches inside the block instead of executing them."""
        originals = JITFunction.run, Autotuner.run
        self.install()
        try:
            yield
        finally:
            JITFunction.run, Autotuner.run = originals

    def install(self) -> None:
        """Patch Triton permanently in this process, which serves only one submission."""
        recorder = self

        def run(
            self: JITFunction[Any], *args: Any, grid: Any, warmup: bool = False, **kw: Any
        ) -> None:
            recorder.record(self, args, grid, kw)

        def run_tuned(self: Any, *args: Any, **kw: Any) -> None:
            recorder.record_tuned(self, args, kw)

        JITFunction.run = run
        Autotuner.run = run_tuned

    def record(self, kernel: JITFunction[Any], args: Any, grid: Any, kw: dict[str, Any]) -> None:
        """Bind and specialise the arguments as a launch would."""
        backend = make_backend(GPUTarget("cuda", TARGETS[0], 32))
        binder = create_function_from_signature(kernel.signature, kernel.params, backend)
        bound, specialization, _ = binder(*args, **kw)
        if callable(grid):
            grid = grid(bound)
        empty = 0 in (grid if isinstance(grid, tuple | list) else (grid,))
        launch = SeenLaunch(kernel, specialization, bound, kw, self._tuned, self._line(), empty)
        known = self.launches.setdefault(launch.key, launch)
        if known is not launch:
            known.count += 1

    def record_tuned(self, tuner: Any, args: Any, kw: dict[str, Any]) -> None:
        """Record a launch of every configuration that survives the tuner's own pruning."""
        tuner.nargs = dict(zip(tuner.arg_names, args, strict=False))
        configs = tuner.prune_configs(kw)
        self._tuned, outer = len(configs) > 1, self._tuned
        for config in configs:
            if config.pre_hook is not None:
                config.pre_hook({**tuner.nargs, **kw, **config.all_kwargs()})
            tuner.fn.run(*args, **kw, **config.all_kwargs())
        self._tuned = outer

    def _line(self) -> int | None:
        frame = sys._getframe()
        while frame is not None and frame.f_code.co_filename != self.filename:
            frame = frame.f_back  # type: ignore[assignment]
        return frame.f_lineno if frame is not None else None


def load_module(source: str, filename: str) -> types.ModuleType:
    """Execute the submission's text as a module whose source Triton can find."""
    # `splitlines` also splits at a form feed, but Python's parser does not.
    lines = [f"{line}\n" for line in source.split("\n")]
    linecache.cache[filename] = (len(source), None, lines, filename)
    module = types.ModuleType(MODULE)
    module.__file__ = filename
    sys.modules[MODULE] = module
    exec(compile(source, filename, "exec", dont_inherit=True), module.__dict__)
    return module


def build(arg: Mapping[str, Any]) -> Any:
    """An argument of a case: a scalar, or a tensor of which only the layout matters."""
    if "value" in arg:
        return arg["value"]
    dtype = getattr(torch, arg["dtype"])
    device = "meta" if arg["length"] * dtype.itemsize > FAR_BYTES else "cpu"
    storage = torch.empty(arg["length"], dtype=dtype, device=device)
    return storage.as_strided(arg["shape"], arg["strides"], arg["offset"])


def describe_kernel(kernel: JITFunction[Any], constants: Mapping[str, Any]) -> str:
    """`softmax_kernel with BLOCK_SIZE=1024`: a kernel and its tl.constexpr numbers."""
    declared = [parameter.name for parameter in kernel.params if parameter.is_constexpr]
    values = {name: constants.get(name) for name in declared}
    plain = {name: getattr(value, "value", value) for name, value in values.items()}
    numbers = [f"{name}={value}" for name, value in plain.items() if isinstance(value, int)]
    name = str(kernel.__name__)
    return f"{name} with {', '.join(numbers)}" if numbers else name


def def_line(kernel: JITFunction[Any]) -> int:
    """The line of `def`, after the decorators."""
    for offset, line in enumerate(kernel.raw_src):
        if line.strip().startswith("def "):
            return int(kernel.starting_line_number) + offset
    return int(kernel.starting_line_number)
