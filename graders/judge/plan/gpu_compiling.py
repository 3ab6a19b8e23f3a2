"""Compile kernels for a GPU, on a processor without one and in the worker that has one.

`build` compiles the kernels of a submission without a GPU. It goes through Triton as a launch does,
up to the point where the GPU would be needed. So Triton's own cache has the binaries under the keys
that the launch on the GPU will look for. `announce_compiling` and `CompiledHere` watch the worker,
which compiles what is not in that cache.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import triton
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import make_backend
from triton.runtime.jit import JITFunction

from graders.judge.plan import warm_kernel
from graders.judge.plan.kernels import Kernels, dtype_named
from graders.judge.plan.reader import kernels_from_json
from graders.judge.plan.steps import TensorRef
from triton_util.explain.launches import def_line, describe_kernel

WARP_SIZE = 32


class Pointer:
    """Replaces a tensor: Triton specialises a kernel only on its dtype and alignment."""

    def __init__(self, ref: TensorRef) -> None:
        self.dtype = dtype_named(ref.dtype)
        self.shape, self.strides = ref.shape, ref.strides
        self._address = ref.offset * self.dtype.itemsize

    def data_ptr(self) -> int:
        """The address, as if the storage began at 0: on a GPU it begins at a multiple of 512."""
        return self._address

    def stride(self) -> tuple[int, ...]:
        """The strides in elements."""
        return self.strides


def announce_compiling(begin: Callable[[str, int], None], end: Callable[[], None]) -> None:
    """Call `begin` before Triton compiles a kernel, and `end` after it.

    `begin` gets the kernel in words and the line of its definition.
    """
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


class CompiledHere:
    """Counts the kernels that this process compiled because Triton's cache did not have them."""

    def __init__(self) -> None:
        self._count = 0

    def taken(self) -> int:
        """How many kernels since the last call; the count restarts at 0."""
        count, self._count = self._count, 0
        return count

    def install(self) -> None:
        """Start to count, as long as the process lives."""
        knobs.compilation.listener = self._listen

    def _listen(self, *, cache_hit: bool, **_others: Any) -> None:
        self._count += not cache_hit


def preload(capability: int) -> None:
    """Do before the fork what every compilation for a GPU begins with, without using the GPU.

    capability: 90 for sm_90. A failure here is not an error: each fork then does it for itself.
    """
    knobs.compilation.store_binary_only = True  # the texts in between are never read
    with contextlib.suppress(Exception):
        triton.runtime.cache.triton_key()  # reads all of Triton
        make_backend(GPUTarget("cuda", capability, WARP_SIZE)).hash()  # asks ptxas its version
    with contextlib.suppress(Exception), _no_device(capability):
        _compile_once()
    with contextlib.suppress(Exception):
        _install_driver(capability)


def _compile_once() -> None:
    kernels = Kernels(warm_kernel.TEXT, "<warm-up>", kernels_from_json([warm_kernel.KERNEL]))
    pointers = (Pointer(TensorRef(number, "float32", (), (), 0)) for number in range(2))
    kernels.get(0).run(*pointers, 1024, 256, grid=(1,), warmup=True)


def _install_driver(capability: int) -> None:
    """Make Triton's NVIDIA driver here: otherwise each fork would compile its C part."""
    from triton.backends.nvidia import driver as nvidia

    driver = nvidia.CudaDriver()
    nvidia.CudaUtils.__init__ = lambda self: None  # a singleton, and made already
    target = GPUTarget("cuda", capability, WARP_SIZE)
    driver.get_current_target = lambda: target
    triton.runtime.driver.set_active(driver)


class _NoDevice:
    """A driver for a process that only compiles: it names a target and has no device."""

    def __init__(self, capability: int) -> None:
        self._target = GPUTarget("cuda", capability, WARP_SIZE)

    def get_current_target(self) -> GPUTarget:
        return self._target

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, _device: int = 0) -> int:
        return 0


@contextlib.contextmanager
def _no_device(capability: int) -> Iterator[None]:
    """Inside this context Triton compiles for `capability`, and cannot launch."""
    drivers = triton.runtime.driver
    before, drivers._active = drivers._active, _NoDevice(capability)
    try:
        yield
    finally:
        drivers._active = before


def build(request: Mapping[str, Any], claims: Path) -> None:
    """Compile the launches of the request that no other process has claimed.

    `request` has the source, its kernels and launches as JSON, and the capability of the GPU.
    `claims` is a directory that all processes sharing this work use. Binaries go to Triton's cache.
    Errors are ignored: the launch itself will report them.
    """
    kernels = Kernels(request["source"], request["filename"], kernels_from_json(request["kernels"]))
    with _no_device(request["capability"]):
        for raw in request["launches"]:
            with contextlib.suppress(Exception):
                _compile(kernels, raw, claims)


def _compile(kernels: Kernels, raw: Mapping[str, Any], claims: Path) -> None:
    """Compile what one launch needs, unless another process has claimed it."""
    kernel = kernels.get(raw["kernel"])
    positional = [kernels.value(value, Pointer) for value in raw["positional"]]
    named = {name: kernels.value(value, Pointer) for name, value in raw["named"].items()}
    *_, bind = kernel.device_caches[0]
    _, specialization, options = bind(*positional, **named)
    alike = f"{raw['kernel']} {specialization!r} {options!r}"
    if not _claim(claims / hashlib.sha256(alike.encode()).hexdigest()):
        return
    made = kernel.run(*positional, grid=(1,), warmup=True, **named)
    if made is not None:
        _compile_launcher(made)


def _claim(place: Path) -> bool:
    """Make the file `place`; return False if another process made it first."""
    try:
        os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        return False
    return True


def _compile_launcher(made: Any) -> None:
    """Compile the launcher in C that Triton, up to version 3.6, needs for each signature."""
    from triton.backends.nvidia import driver as nvidia

    nvidia.CudaLauncher(made.src, made.metadata)
