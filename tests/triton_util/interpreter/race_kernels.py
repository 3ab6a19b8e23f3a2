"""One hundred small kernels of which we know whether programs or lanes race in them.

`KERNELS[name]` is (kernel, grid, whether it races); `launch` runs one. The truth follows from the
memory model of CUDA: two accesses of different programs (or lanes) to one element, one of them a
store of another value, and nothing that makes one wait for the other.
"""

import importlib

import torch

KERNELS = {}
PARTS = ("clean", "stores", "atomics")
LANES = 16


def _noted(races, kernel, grid):
    name = kernel.fn.__name__
    assert name not in KERNELS, f"two kernels are called {name}"
    KERNELS[name] = (kernel, grid, races)
    return kernel


def racy(kernel=None, *, grid=(8,)):
    """Note a kernel with a race."""
    return _noted(True, kernel, grid) if kernel else lambda k: _noted(True, k, grid)


def clean(kernel=None, *, grid=(8,)):
    """Note a kernel without one."""
    return _noted(False, kernel, grid) if kernel else lambda k: _noted(False, k, grid)


def launch(name):
    """Run a kernel on fresh memory."""
    kernel, grid, _ = KERNELS[name]
    x = torch.rand(256, generator=torch.Generator().manual_seed(7))
    y, c = torch.zeros(512), torch.zeros(64, dtype=torch.int32)
    programs = 1
    for size in grid:
        programs *= size
    kernel[grid](x, y, c, N=LANES, P=programs)


for part in PARTS:
    importlib.import_module(f"tests.triton_util.interpreter.race_kernels_{part}")
