"""Compile a recorded launch to PTX, for a GPU that this machine need not have."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Any

from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget, Language

from triton_util.explain.launches import SeenLaunch


def front_end(launch: SeenLaunch, arch: int) -> tuple[Any, Any, Any, Any]:
    """Triton's intermediate representation, and the context, which must outlive it."""
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


def to_ptx(launch: SeenLaunch, arch: int) -> tuple[str, dict[str, Any]]:
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


def ptxas_command(launch: SeenLaunch, arch: int, ptx: str, metadata: dict[str, Any]) -> list[str]:
    """The ptxas command of this Triton version, with {ptx} and {cubin} for the file names."""
    seen: list[list[str]] = []
    original = subprocess.run

    def spy(command: list[str], **kwargs: Any) -> Any:
        seen.append(list(command))
        return original(command, **kwargs)

    _, options, backend = launch.pack(arch)
    stages: dict[str, Any] = {}
    backend.add_stages(stages, options, Language.TRITON)
    subprocess.run = spy  # type: ignore[assignment]
    try:
        stages["cubin"](ptx, metadata)
    finally:
        subprocess.run = original
    *parts, _, dash_o, _ = seen[-1]
    return [*parts, "{ptx}", dash_o, "{cubin}"]
