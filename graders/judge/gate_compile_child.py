"""What the forked child of the compile gate does: record launches, lower them to PTX.

The launcher runs on small CPU tensors with every kernel launch replaced by a recorder: no
kernel is executed. Each distinct specialisation goes through Triton's front end; a bounded
number goes all the way to PTX. Runs in a jail; what it returns is a claim that the judge reads
with care, and the judge itself runs ptxas.
"""

from __future__ import annotations

import io
import json
import linecache
import sys
import traceback
import types
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
import triton
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget, Language
from triton.compiler import ASTSource
from triton.compiler.compiler import make_backend
from triton.compiler.errors import CompilationError
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction, create_function_from_signature

TARGETS = (80, 90)
FRONT_END_LIMIT = 64  # distinct specialisations that are checked by the front end
KERNEL_LIMIT = 4  # kernels of one submission that are lowered to PTX
FAR_BYTES = 1 << 32  # a larger storage is only pretended


@dataclass
class Launch:
    """One launch as Triton specialises it."""

    kernel: JITFunction[Any]
    specialization: list[tuple[str, Any]]
    bound: Mapping[str, Any]
    options: dict[str, Any]
    tuned: bool  # one of several configurations of an autotuner
    line: int | None
    count: int = 1

    @property
    def name(self) -> str:
        return str(self.kernel.__name__)

    @property
    def key(self) -> str:
        return f"{self.name} {self.specialization!r} {self.constants()!r} {self.options!r}"

    @property
    def meaning(self) -> str:
        """The key without alignment, which the front end does not look at."""
        kinds = [kind for kind, _ in self.specialization]
        return f"{self.name} {kinds!r} {self.constants()!r}"

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
    """Takes the place of `JITFunction.run` and `Autotuner.run`."""

    filename: str
    launches: dict[str, Launch] = field(default_factory=dict)
    _tuned: bool = False

    def install(self) -> None:
        """Patch Triton in this process, for ever: the process serves one submission."""
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
        launch = Launch(kernel, specialization, bound, kw, self._tuned, self._line())
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


def run(request: Mapping[str, Any]) -> bytes:
    """The report about one submission, as JSON."""
    report: dict[str, Any] = {"launches": 0, "errors": [], "compiled": [], "stopped": None}
    sys.stdout = io.StringIO()
    recorder = Recorder(request["filename"])
    recorder.install()
    try:
        module = load_module(request["source"], request["filename"])
        launcher = getattr(module, request["launcher"])
    except Exception as error:
        report["errors"].append(describe_error(error, request["filename"], None, "module"))
        return json.dumps(report).encode()
    for case in request["cases"]:
        try:
            launcher(*(build(arg) for arg in case))
        except Exception as error:  # the interpreter shows it with its case
            report["stopped"] = report["stopped"] or f"{type(error).__name__}: {error}"[:300]
    launches = list(recorder.launches.values())
    report["launches"] = len(launches)
    sound = check_front_end(launches, request["filename"], report["errors"])
    if not report["errors"]:
        lower(sound, request["filename"], report)
    return json.dumps(report).encode()


def load_module(source: str, filename: str) -> types.ModuleType:
    """Execute the submission's text as a module that Triton can find the source of."""
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    module = types.ModuleType("submission")
    module.__file__ = filename
    sys.modules["submission"] = module
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


def check_front_end(
    launches: Sequence[Launch], filename: str, errors: list[dict[str, Any]]
) -> list[Launch]:
    """Run the front end on each specialisation, most frequent first; those that passed."""
    sound: dict[str, list[Launch]] = {}
    for launch in sorted(launches, key=lambda item: -item.count):
        if launch.meaning in sound:
            sound[launch.meaning].append(launch)
            continue
        if len(sound) >= FRONT_END_LIMIT:
            break
        arch = TARGETS[1] if launch.options.get("num_ctas", 1) > 1 else TARGETS[0]
        try:
            front_end(launch, arch)
        except Exception as error:
            errors.append(describe_error(error, filename, launch, "front-end"))
            if len(errors) >= 3:
                break
        else:
            sound[launch.meaning] = [launch]
    return [launch for alike in sound.values() for launch in alike]


def front_end(launch: Launch, arch: int) -> tuple[Any, Any, Any, Any]:
    """Triton's intermediate representation; the context must outlive it, so it comes along."""
    source, options, backend = launch.pack(arch)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    module = source.make_ir(
        GPUTarget("cuda", arch, 32),
        options,
        backend.get_codegen_implementation(options),
        backend.get_module_map(),
        context,
    )
    return module, options, backend, context


def to_ptx(launch: Launch, arch: int) -> tuple[str, dict[str, Any]]:
    """PTX text and metadata of a specialisation for one target."""
    module, options, backend, context = front_end(launch, arch)
    stages: dict[str, Callable[[Any, dict[str, Any]], Any]] = {}
    backend.add_stages(stages, options, Language.TRITON)
    metadata: dict[str, Any] = {"target": GPUTarget("cuda", arch, 32), **options.__dict__}
    for name, stage in stages.items():
        if name != "cubin":
            module = stage(module, metadata)
    del context
    return str(module), metadata


def lower(launches: Sequence[Launch], filename: str, report: dict[str, Any]) -> None:
    """Lower the representative specialisations of each kernel for each target."""
    for launch in representatives(launches):
        for arch in TARGETS:
            if launch.options.get("num_ctas", 1) > 1 and arch < 90:
                continue
            report["at"] = f"{launch.name} for sm_{arch}"
            try:
                ptx, metadata = to_ptx(launch, arch)
            except Exception as error:
                report["errors"].append(describe_error(error, filename, launch, "back-end"))
                return
            report["compiled"].append(
                {
                    "kernel": launch.name,
                    "line": _def_line(launch.kernel),
                    "target": arch,
                    "ptx": ptx,
                    "shared": int(metadata.get("shared") or 0),
                    "fp_fusion": bool(metadata.get("enable_fp_fusion", True)),
                    "tuned": launch.tuned,
                }
            )


def representatives(launches: Sequence[Launch]) -> list[Launch]:
    """Per kernel: the widest and the narrowest dtypes; of an autotuner, the largest blocks too."""
    chosen: list[Launch] = []
    by_count = Counter(item.name for item in launches)
    for name, _ in by_count.most_common(KERNEL_LIMIT):
        own = [item for item in launches if item.name == name]
        picks = [
            max(own, key=lambda item: (_widths(item), _aligned(item), item.count)),
            min(own, key=lambda item: (_widths(item), -_aligned(item), -item.count)),
        ]
        if any(item.tuned for item in own):
            picks.append(max(own, key=lambda item: (_block_size(item), _aligned(item))))
        chosen += {id(item): item for item in picks}.values()
    return chosen


def _aligned(launch: Launch) -> int:
    return sum("D" in str(kind[1]) for kind in launch.specialization)


def _widths(launch: Launch) -> int:
    digits = ("".join(c for c in kind if c.isdigit()) for kind, _ in launch.specialization
              if str(kind).startswith("*"))  # fmt: skip
    return sum(int(width) for width in digits if width)


def _block_size(launch: Launch) -> int:
    size = 1
    for value in launch.constants().values():
        value = getattr(value, "value", value)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            size *= value
    return size


# ---------------------------------------------------------------- errors


def describe_error(
    error: BaseException, filename: str, launch: Launch | None, stage: str
) -> dict[str, Any]:
    """What was raised, and the line of the submission that it is about."""
    inner, line = _innermost(error, launch)
    text = inner.error_message or str(inner) if isinstance(inner, CompilationError) else str(inner)
    cause: BaseException = inner.__cause__ or inner
    if isinstance(inner, CompilationError) and inner.error_message is None:
        text = str(cause)
    if line is None:
        line = _traceback_line(error, filename)
    if line is None and launch is not None:
        line = launch.line
    return {
        "stage": stage,
        "kernel": launch.name if launch else "",
        "line": line,
        "type": type(cause).__name__,
        "text": text[:4000],
        "whole": str(error)[:4000],
        "types": _types(launch),
    }


def _innermost(error: BaseException, launch: Launch | None) -> tuple[BaseException, int | None]:
    """The deepest compilation error that points into the submission's own functions."""
    functions = _own_functions(launch)
    found, line = error, None
    step: BaseException | None = error
    while step is not None:
        if isinstance(step, CompilationError):
            own = functions.get(step.src or "")
            if own is not None:
                found, line = step, _def_line(own) + getattr(step.node, "lineno", 1) - 1
            elif line is not None and step.error_message:
                found = step  # the library's own words about the same line
        step = step.__cause__
    return found, line


def _own_functions(launch: Launch | None) -> dict[str, JITFunction[Any]]:
    module = sys.modules.get("submission")
    values = list(vars(module).values()) if module else []
    if launch is not None:
        values.append(launch.kernel)
    found = {}
    for value in values:
        while isinstance(getattr(value, "fn", None), JITFunction):
            value = value.fn
        if isinstance(value, JITFunction):
            found[value.src] = value
    return found


def _def_line(kernel: JITFunction[Any]) -> int:
    """The line of `def`, decorators skipped."""
    for offset, line in enumerate(kernel.raw_src):
        if line.strip().startswith("def "):
            return int(kernel.starting_line_number) + offset
    return int(kernel.starting_line_number)


def _traceback_line(error: BaseException, filename: str) -> int | None:
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == filename]
    return lines[-1] if lines else None


def _types(launch: Launch | None) -> str:
    if launch is None:
        return ""
    names = [parameter.name for parameter in launch.kernel.params]
    pairs = zip(names, launch.specialization, strict=False)
    return ", ".join(f"{name}: {kind}" for name, (kind, _) in pairs if kind != "constexpr")


triton_version: str = triton.__version__
