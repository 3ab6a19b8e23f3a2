"""`interpret`: runs kernels in the engine instead of triton's interpreter, in a `with` block."""

from __future__ import annotations

import contextlib
import inspect
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import torch
import triton.language as tl
from triton.runtime import interpreter as stock

from triton_util.interpreter import arguments
from triton_util.interpreter.allocation import keep_freed_memory
from triton_util.interpreter.autotuning import tuning
from triton_util.interpreter.blame import acts_for_the_kernel
from triton_util.interpreter.control.flow import Control
from triton_util.interpreter.control.rewriting import rewrite
from triton_util.interpreter.executor import Execution, bind, normalised_grid
from triton_util.interpreter.faults import EngineUnavailable, Fault, KernelFault
from triton_util.interpreter.launch import Launching
from triton_util.interpreter.messages import mapping
from triton_util.interpreter.messages.reports import Reporter
from triton_util.interpreter.messages.translation import fault_from
from triton_util.interpreter.operations.builder import GridBuilder
from triton_util.interpreter.operations.elements import map_elementwise
from triton_util.interpreter.operations.formats import Array
from triton_util.interpreter.operations.hints import checked
from triton_util.interpreter.operations.language import patched_tensor
from triton_util.interpreter.operations.reductions import BatchReduce, BatchScan
from triton_util.interpreter.options import EngineOptions
from triton_util.interpreter.state import SourceLines
from triton_util.interpreter.watchers.aims import Aims
from triton_util.interpreter.watchers.programs import Programs
from triton_util.interpreter.watchers.shadow import Shadow
from triton_util.interpreter.watchers.traffic import Traffic, TrafficWatcher
from triton_util.interpreter.watchers.within import WithinPrograms


@dataclass
class Launch:
    """The record of one launch.

    mode: "grid" or "serial"; fallback: why a grid run continued serially, or "".
    arguments: one dict per parameter, in order: name, kind, dtype, shape, strides, value ...
    flops: operations by kind ("arithmetic", "special", "reduction", "dot"), if traffic is on.
    modelled_ms: while tuning or benchmarking, the cost that `costs` models; never measured.
    configs: how many configurations its tuner knows, before any pruning; 1 without a tuner.
    tf32: whether a tl.dot truncated float32 to TF32, if `options.tf32` requests that.
    """

    kernel: str
    grid: tuple[int, int, int]
    meta: dict[str, Any]
    arguments: list[dict[str, Any]]
    mode: str = "grid"
    fallback: str = ""
    flops: dict[str, int] = field(default_factory=dict)
    traffic: Traffic | None = None
    modelled_ms: float | None = None
    configs: int = 1
    tf32: bool = False


class Run:
    """The record of everything that ran inside one `interpret` block."""

    def __init__(self, options: EngineOptions) -> None:
        self.options = options
        self.launches: list[Launch] = []
        self.faults: list[Fault] = []
        self.lines = SourceLines()
        self.lanes: dict[Any, int] = {}
        self.meta: dict[str, Any] = {}
        self._storages: list[torch.UntypedStorage] = []  # kept, so that no address is reused
        self.watchers: list[Any] = []
        self.shadow = Shadow(self) if options.track else None
        self.aims = Aims()
        if self.shadow is not None:
            self.watchers += [self.shadow, self.aims]
        self.counter = TrafficWatcher() if options.traffic else None
        if self.counter is not None:
            self.watchers.append(self.counter)
        self.programs = Programs(lambda: self.lines.current()[1]) if options.programs else None
        if self.programs is not None:
            self.watchers.append(self.programs)
        self.within = WithinPrograms(self) if options.within_programs else None
        if self.within is not None:
            self.watchers.append(self.within)
        self.tuned: dict[Any, Any] = {}
        self.tuned_by: list[Any] = []  # the tuners whose launch is running
        self.builder: Any = stock.interpreter_builder
        self.control = Control(self)
        self.bound: dict[str, Any] = {}  # the arguments of the last launch, by parameter
        self.given_options: dict[str, Any] = {}  # its num_warps and the like
        self._functions: dict[Any, Callable[..., Any]] = {}
        # Further memory that pointers made from integers may point to, besides the arguments.
        self.known_memory: Callable[[], list[torch.Tensor]] | None = None
        self.turn = threading.RLock()  # launches of several threads take turns

    @contextlib.contextmanager
    def counting(self) -> Iterator[None]:
        """Count the traffic of the launches inside, whatever the options say."""
        if self.counter is not None:
            yield
            return
        self.counter = TrafficWatcher()
        self.watchers.append(self.counter)
        try:
            yield
        finally:
            self.watchers.remove(self.counter)
            self.counter = None

    def never_stored(self, out: torch.Tensor) -> Array | None:
        """For each element of the view `out`, True if no kernel stored it; of the view's shape.

        None if the memory of `out` was not an argument of any launch (torch made it, for example by
        converting the dtype of a kernel's result): then it is unknown.
        """
        if self.shadow is None:
            raise ValueError("never_stored needs EngineOptions(track=True)")
        address = out.untyped_storage().data_ptr()
        if out.numel() and all(address != known.data_ptr() for known in self._storages):
            return None
        return self.shadow.never_stored(out)

    def forget_stores(self, view: torch.Tensor) -> None:
        """Mark the whole view as not stored, because something other than a kernel wrote to it."""
        if self.shadow is not None:
            self.shadow.forget_stores(view)

    def function(self, kernel: Any) -> Callable[..., Any]:
        """The Python function that runs in place of a @triton.jit function."""
        if kernel not in self._functions:
            self._functions[kernel] = rewrite(kernel, self.control, self.lines)
        return self._functions[kernel]

    def warmup(self, interpreted: Any, positional: Any, grid: Any, named: dict[str, Any]) -> Any:
        """What `kernel.warmup` returns: None, because it runs nothing and nothing is compiled."""

    def launch(self, interpreted: Any, positional: Any, grid: Any, named: dict[str, Any]) -> Any:
        """Run one launch of a kernel; raises KernelFault."""
        kernel = interpreted.fn
        bound: dict[str, Any] = {}
        try:
            bound, options = self._bind(interpreted, positional, named)
            self.bound, self.given_options = bound, options
            sizes = normalised_grid(grid, {k: _plain(v) for k, v in bound.items()})
            function = self.function(kernel)
        except KernelFault:
            raise
        except Exception as error:
            fault = fault_from(error, self._place(kernel, error))
            told = "" if bound else mapping.by_place(interpreted.arg_names, positional, named)
            raise KernelFault(_followed(fault, told)) from error
        for hook in interpreted.pre_run_hooks:
            hook(**{name: _plain(value) for name, value in bound.items()})
        constants = {k: v.value for k, v in bound.items() if type(v) is arguments.Constant}
        record = Launch(kernel.__name__, sizes, {**constants, **options}, arguments.facts(bound))
        self.launches.append(record)
        self._storages += [s for s in map(_storage, bound.values()) if s is not None]
        self.meta = constants
        moved: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        hosted = {name: arguments.on_host(value, moved) for name, value in bound.items()}
        execution = Execution(self, (kernel, tuple(map(repr, constants.items()))), function)
        try:
            launching = self._executed(execution, sizes, hosted, kernel)
            record.flops, record.tf32 = dict(launching.flops), launching.tf32
            if self.counter is not None:
                record.traffic = self.counter.traffic
                record.traffic.flops = record.flops
        finally:
            record.mode, record.fallback = execution.mode, execution.reason
            for device, host in moved.values():
                device.copy_(host)

    def _executed(
        self, execution: Execution, sizes: tuple[int, int, int], hosted: dict[str, Any], kernel: Any
    ) -> Launching:
        """Run the programs; any error becomes a KernelFault that says whose mistake it is."""
        try:
            return execution.launch(sizes, hosted)
        except KernelFault as known:
            told = mapping.astray({name: _plain(value) for name, value in hosted.items()})
            raise KernelFault(_followed(known.fault, told)) from known.__cause__
        except MemoryError:
            raise
        except Exception as error:
            raise KernelFault(fault_from(error, self._place(kernel, error))) from error

    def _place(self, kernel: Any, error: Exception) -> dict[str, object]:
        """The learner's line of a launch that fails before the kernel runs."""
        if isinstance(error, SyntaxError) and error.lineno and error.filename:
            place = (error.filename, error.lineno, kernel.__name__)
        else:
            filename, line, _ = self.lines.of_launcher()
            place = (filename, line, kernel.__name__)
        return Reporter(kernel.__name__, self.lines, self.faults).place_of(*place)

    def _bind(
        self, interpreted: Any, positional: Any, named: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        parameters = interpreted.arg_names
        options = {k: v for k, v in named.items() if k not in parameters}
        for name in options:
            if name not in arguments.LAUNCH_OPTIONS:
                raise KeyError(f"Keyword argument {name} was specified but unrecognised")
        given = {k: v for k, v in named.items() if k in parameters}
        bound = bind(interpreted.fn, positional, given)
        constexprs = _constexprs(interpreted.fn)
        annotations = getattr(interpreted.fn, "__annotations__", {})
        plain = interpreted.kwargs.get("do_not_specialize") or ()
        places = {name: place for place, name in enumerate(parameters)}
        return {
            name: arguments.Constant(value)
            if name in constexprs or _is_constant(value)
            else arguments.entering(
                value,
                annotations.get(name, inspect.Parameter.empty),
                specialised=name not in plain and places[name] not in plain,
            )
            for name, value in bound.items()
        }, options


def _followed(fault: Fault, sentence: str) -> Fault:
    """A kernel's error with one more sentence; other faults stay as they are."""
    if fault.code != "kernel-error" or not sentence:
        return fault
    return replace(fault, message=f"{fault.message} {sentence}")


def _storage(value: Any) -> torch.UntypedStorage | None:
    tensor = getattr(value, "base", value)
    return tensor.untyped_storage() if isinstance(tensor, torch.Tensor) else None


def _plain(value: Any) -> Any:
    wrapped = (arguments.Constant, arguments.Typed)
    return value.value if isinstance(value, wrapped) else value


def _is_constant(value: Any) -> bool:
    return isinstance(value, (tl.constexpr, str, tl.dtype)) or value is None or callable(value)


def _constexprs(function: Any) -> set[str]:
    names = set()
    for name, annotation in getattr(function, "__annotations__", {}).items():
        if annotation is tl.constexpr or "constexpr" in str(annotation):
            names.add(name)
    return names


@contextlib.contextmanager
def interpret(options: EngineOptions | None = None, make: type[Run] = Run) -> Iterator[Run]:
    """Run every @triton.jit launch inside the block in the engine.

    make: the class of the Run.

    Yields the Run.  Raises EngineUnavailable if triton is not in interpreter mode; a launch that
    does something no GPU kernel may do raises KernelFault.  At the end everything that the engine
    replaces in triton is restored, even after an error.
    """
    if not interprets():
        raise EngineUnavailable(
            "Set TRITON_INTERPRET=1 before triton is imported: this process compiles kernels "
            "for a GPU and cannot interpret them."
        )
    run = make(options or EngineOptions())
    with contextlib.ExitStack() as stack:
        _install(run, stack)
        yield run


_runs: list[Run] = []  # the active runs, the innermost last
_language: list[str] = []  # not empty while triton's language is patched


@contextlib.contextmanager
def patched_language() -> Iterator[None]:
    """Give the functions of `tl` the meaning that `interpret` needs.

    Each `interpret` does that by itself. Around many short ones, this does it once for all.
    """
    if _language:
        yield
        return
    with contextlib.ExitStack() as stack:
        _swap(stack, stock, "_patch_lang_tensor", patched_tensor(lambda: _runs[-1].control))
        scope = stock._patch_lang(SimpleNamespace(__globals__={"tl": tl, "core": tl.core}))
        if scope is not None:
            stack.callback(scope.restore)
        for module in (tl, tl.core):
            if hasattr(module, "map_elementwise"):
                _swap(stack, module, "map_elementwise", map_elementwise)
            _swap(stack, module, "dot_scaled", _with_formats(module.dot_scaled))
            for name in ("multiple_of", "max_constancy"):
                _swap(stack, module, name, checked(name, getattr(module, name), _launching))
        stack.callback(_language.clear)
        _language.append("patched")
        yield


def _launching() -> Any:
    return stock.interpreter_builder.launching


def _with_formats(dot_scaled: Callable[..., Any]) -> Callable[..., Any]:
    """`tl.dot_scaled` for triton 3.6, which needs the names of formats as plain constants."""

    def call(*positional: Any, **named: Any) -> Any:
        given = [tl.constexpr(value) if isinstance(value, str) else value for value in positional]
        return dot_scaled(
            *given,
            **{k: tl.constexpr(v) if isinstance(v, str) else v for k, v in named.items()},
        )

    return call


def interprets() -> bool:
    """Whether kernels are interpreted in this process; importing triton decides it."""
    return isinstance(tl.standard.cdiv, stock.InterpretedFunction)


def _install(run: Run, stack: contextlib.ExitStack) -> None:
    keep_freed_memory()
    builder = stock.interpreter_builder
    _swap(stack, builder, "__class__", GridBuilder)
    _swap(stack, builder, "options", _engine_options(builder.options))
    _swap(stack, stock, "ReduceOps", BatchReduce)
    _swap(stack, stock, "ScanOps", BatchScan)
    _swap(stack, stock.InterpretedFunction, "run", _runner(run))
    _swap(stack, stock.InterpretedFunction, "__call__", _caller(run))
    stack.callback(_runs.remove, run)
    _runs.append(run)
    stack.enter_context(patched_language())
    stack.enter_context(tuning(run))
    if run.shadow is not None:
        stack.enter_context(run.shadow.fresh_memory())


def _swap(stack: contextlib.ExitStack, owner: Any, name: str, value: Any) -> None:
    stack.callback(setattr, owner, name, getattr(owner, name))
    setattr(owner, name, value)


def _engine_options(options: Any) -> Any:
    return replace(options, sanitize_overflow=False, debug=True)


def _runner(run: Run) -> Callable[..., Any]:
    def launch(self: Any, *positional: Any, grid: Any, warmup: bool, **named: Any) -> Any:
        with run.turn:
            start = run.warmup if warmup else run.launch
            return start(self, positional, grid, named)

    return launch


def _caller(run: Run) -> Callable[..., Any]:
    @acts_for_the_kernel
    def call(self: Any, *positional: Any, **named: Any) -> Any:
        return run.function(self.fn)(*positional, **named)

    return call
