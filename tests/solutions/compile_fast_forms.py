"""Compile the fast forms in Triton proper for an H100, on a machine without a GPU.

`python tests/solutions/compile_fast_forms.py [--only TEXT]` prints one JSON line for each launch:
registers, bytes spilled, bytes of shared memory, and how often its PTX has wgmma, mma, TMA,
cp.async or loads of 16 bytes. Launchers run on CPU tensors of the sizes that are timed; their
launches are compiled and not run. TRITON_INTERPRET must not be set.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from triton_util.explain import assembler, launches, lowering, offline

offline.install()

from solutions.fast import (  # noqa: E402 - modules that decorate kernels come after the driver
    atomics_and_scans,
    autograd,
    decoding,
    experts,
    few_tiles,
    low_precision,
    odd_rows,
    persistent,
    randomness,
    reductions,
    strides,
)

HALF, BF16 = torch.float16, torch.bfloat16
PATTERNS = {
    "wgmma": "wgmma.mma_async",
    "mma": "mma.sync",
    "tma": "cp.async.bulk.tensor",
    "cp_async": "cp.async.cg",
    "wide_loads": ".v4.b32",
}


def empty(*shape: int, dtype: torch.dtype = HALF) -> torch.Tensor:
    """Memory that nobody reads."""
    return torch.empty(shape, dtype=dtype)


def launchers() -> Iterator[tuple[str, Callable[[], Any]]]:
    """What is launched, by name."""
    square = empty(4096, 4096)
    kernel = persistent.described_matmul_kernel
    yield "persistent", partial(persistent.launch, kernel, square, square)
    a, b = empty(64, 4096), empty(4096, 4096)
    yield "few tiles", partial(few_tiles.split_product, a, b, 2, (64, 64, 128), 4, 5)
    yield "split", partial(few_tiles.split_product, empty(512, 16384), empty(16384, 512), 8)
    x, w = empty(32768, 2048, dtype=BF16), empty(64, 2048, 4096, dtype=BF16)
    yield "experts", partial(experts.launch, x, w, empty(65, dtype=torch.int32))
    packed, zeros = empty(512, 4096, dtype=torch.int32), empty(32, 4096, dtype=torch.uint8)
    for m in (1, 16):
        few = low_precision.quantized_matmul
        yield f"4 bits {m}", partial(few, empty(m, 4096), packed, empty(32, 4096), zeros)
    pages, table = empty(32768, 16, 8, 128), empty(64, 512, dtype=torch.int32)
    lengths = empty(64, dtype=torch.int32)
    decode = decoding.launch
    yield "decoding", partial(decode, empty(64, 32, 128), pages, pages, table, lengths)
    rows = empty(65536, 4096)
    yield "gradient", partial(autograd.softmax_backward, rows, rows)
    yield "dropout", partial(randomness.dropout_residual, rows, rows, 0.1, 12345)
    yield "odd rows", partial(odd_rows.softmax_of_odd_rows, empty(2048, 50257))
    yield "odd stream", partial(odd_rows.softmax_of_an_odd_stream, empty(2048, 50257), 132)
    stream = reductions.softmax_of_a_stream
    yield "stream", partial(stream, empty(4096, 32000), 132, 3, 16)
    norm = partial(reductions.layernorm, empty(8192, 5120), empty(5120), empty(5120))
    yield "layer norm", norm
    yield "sums", partial(atomics_and_scans.cumsum, empty(8192, 8192, dtype=torch.float32))
    yield "sums by tiles", partial(atomics_and_scans.scan_tiles, empty(1, 2**26))
    numbers = empty(2**26, dtype=torch.int32)
    yield "histogram", partial(atomics_and_scans.histogram, numbers, 256)
    yield "bytes", partial(strides.transpose, empty(16384, 16384, dtype=torch.int8))
    if importlib.util.find_spec("solutions.capstone"):
        from solutions.fast import capstone

        targets = empty(8192, dtype=torch.int64)
        yield "loss", partial(capstone.launch, empty(8192, 128256), targets)


def facts_of(run: Callable[[], Any]) -> Iterator[dict[str, Any]]:
    """What became of each launch."""
    recorder = launches.Recorder("")
    with recorder.installed():
        run()
    for launch in recorder.launches.values():
        ptx, metadata = lowering.to_ptx(launch, 90)
        command = lowering.ptxas_command(launch, 90, ptx, dict(metadata))
        made = assembler.assemble(ptx, command)
        yield {
            "kernel": launch.name,
            "registers": made.registers,
            "spilled": made.spill_store_bytes,
            "shared": metadata["shared"],
            **{name: ptx.count(pattern) for name, pattern in PATTERNS.items()},
        }


def main() -> None:
    """Compile all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="names that contain this")
    only = parser.parse_args().only
    gpu = SimpleNamespace(multi_processor_count=132, major=9, shared_memory_per_block_optin=232448)
    torch.cuda.get_device_properties = lambda *_: gpu
    for name, run in launchers():
        if only in name:
            for fact in facts_of(run):
                print(json.dumps({"name": name, **fact}), flush=True)


if __name__ == "__main__":
    main()
