"""The interpreter engine against triton's own: one run, both side by side, checks on.

    TRITON_INTERPRET=1 python benchmarks/interpreter.py [--json FILE] [--quick]

Times are CPU seconds of this process: the fastest of several runs of the engine, beside those of
the stock interpreter, whose slowest kernels run once.  The second table says what checking,
tracking and tracing cost over the same engine without them, settings taken in turn and compared
round by round; the third what memory a whole-grid run needs on a 4096 x 4096 elementwise kernel,
in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("TRITON_INTERPRET", "1")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import torch
import triton
import triton.language as tl

from triton_util.interpreter import EngineOptions, interpret

Launch = Callable[[], tuple[torch.Tensor, torch.Tensor]]


@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x + y, mask=mask)


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, m, n, k,
    stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, k, BLOCK_K):
        offs_k = start + tl.arange(0, BLOCK_K)
        a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak
        b_ptrs = b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn
        a = tl.load(a_ptrs, mask=(offs_m[:, None] < m) & (offs_k[None, :] < k), other=0.0)
        b = tl.load(b_ptrs, mask=(offs_k[:, None] < k) & (offs_n[None, :] < n), other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    c_ptrs = c_ptr + offs_m[:, None] * stride_cm + offs_n[None, :] * stride_cn
    tl.store(c_ptrs, acc, mask=(offs_m[:, None] < m) & (offs_n[None, :] < n))


@triton.jit
def softmax_kernel(x_ptr, output_ptr, stride, n_columns, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK_SIZE)
    mask = columns < n_columns
    x = tl.load(x_ptr + row * stride + columns, mask=mask, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(output_ptr + row * stride + columns, e / tl.sum(e, axis=0), mask=mask)


@triton.jit
def layernorm_kernel(x_ptr, w_ptr, b_ptr, output_ptr, n, eps, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK_SIZE)
    mask = columns < n
    x = tl.load(x_ptr + row * n + columns, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / n
    centred = tl.where(mask, x - mean, 0.0)
    variance = tl.sum(centred * centred, axis=0) / n
    w = tl.load(w_ptr + columns, mask=mask, other=0.0)
    b = tl.load(b_ptr + columns, mask=mask, other=0.0)
    y = centred * tl.rsqrt(variance + eps) * w + b
    tl.store(output_ptr + row * n + columns, y, mask=mask)


@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, output_ptr, length, scale,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    start_m = tl.program_id(0) * BLOCK_M
    base = tl.program_id(1) * length * D
    offs_m, offs_d = start_m + tl.arange(0, BLOCK_M), tl.arange(0, D)
    rows = base + offs_m[:, None] * D + offs_d[None, :]
    q = tl.load(q_ptr + rows, mask=offs_m[:, None] < length, other=0.0)
    best = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    norm = tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, D), tl.float32)
    end = tl.minimum(start_m + BLOCK_M, length) if CAUSAL else length
    for start in range(0, end, BLOCK_N):
        offs_n = start + tl.arange(0, BLOCK_N)
        cells = base + offs_n[:, None] * D + offs_d[None, :]
        k = tl.load(k_ptr + cells, mask=offs_n[:, None] < length, other=0.0)
        v = tl.load(v_ptr + cells, mask=offs_n[:, None] < length, other=0.0)
        s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        seen = offs_n[None, :] < length
        if CAUSAL:
            seen = seen & (offs_m[:, None] >= offs_n[None, :])
        s = tl.where(seen, s, -1.0e30)
        new = tl.maximum(best, tl.max(s, axis=1))
        p = tl.exp(s - new[:, None])
        shrink = tl.exp(best - new)
        norm = norm * shrink + tl.sum(p, axis=1)
        acc = acc * shrink[:, None] + tl.dot(p, v, input_precision="ieee")
        best = new
    tl.store(output_ptr + rows, acc / norm[:, None], mask=offs_m[:, None] < length)


def vector_add() -> Launch:
    n = 1_000_000
    x, y, output = torch.randn(n), torch.randn(n), torch.empty(n)
    expected = x + y

    def launch() -> tuple[torch.Tensor, torch.Tensor]:
        add_kernel[(triton.cdiv(n, 1024),)](x, y, output, n, BLOCK_SIZE=1024)
        return output, expected

    return launch


def matmul(size: int) -> Launch:
    a, b, c = torch.randn(size, size), torch.randn(size, size), torch.empty(size, size)
    expected = a @ b
    grid = (triton.cdiv(size, 32), triton.cdiv(size, 32))

    def launch() -> tuple[torch.Tensor, torch.Tensor]:
        strides = (*a.stride(), *b.stride(), *c.stride())
        matmul_kernel[grid](a, b, c, size, size, size, *strides, 32, 32, 32)
        return c, expected

    return launch


def softmax() -> Launch:
    x, output = torch.randn(512, 1000), torch.empty(512, 1000)
    expected = torch.softmax(x, dim=1)

    def launch() -> tuple[torch.Tensor, torch.Tensor]:
        softmax_kernel[(512,)](x, output, 1000, 1000, BLOCK_SIZE=1024)
        return output, expected

    return launch


def layernorm() -> Launch:
    x, w, b, output = (
        torch.randn(512, 1000),
        torch.randn(1000),
        torch.randn(1000),
        torch.empty(512, 1000),
    )
    expected = torch.nn.functional.layer_norm(x, (1000,), w, b, 1e-5)

    def launch() -> tuple[torch.Tensor, torch.Tensor]:
        layernorm_kernel[(512,)](x, w, b, output, 1000, 1e-5, BLOCK_SIZE=1024)
        return output, expected

    return launch


def attention(causal: bool) -> Launch:
    q, k, v = (torch.randn(2, 256, 64) for _ in range(3))
    output = torch.empty_like(q)
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

    def launch() -> tuple[torch.Tensor, torch.Tensor]:
        grid = (triton.cdiv(256, 32), 2)
        attention_kernel[grid](q, k, v, output, 256, 64**-0.5, 64, 32, 32, CAUSAL=causal)
        return output, expected

    return launch


@dataclass(frozen=True)
class Row:
    """One kernel of the table: how to make it and the factor it has to reach."""

    name: str
    make: Callable[[], Launch]
    target: float


ROWS = (
    Row("vector add, n = 1e6, block 1024", vector_add, 10),
    Row("matmul 256^3, 32-tiles", lambda: matmul(256), 40),
    Row("matmul 512^3, 32-tiles", lambda: matmul(512), 50),
    Row("softmax 512 x 1000", softmax, 20),
    Row("layernorm 512 x 1000", layernorm, 20),
    Row("attention 2 x 256 x 64, full", lambda: attention(False), 15),
    Row("attention 2 x 256 x 64, causal", lambda: attention(True), 3),
)


def seconds(launch: Launch, tolerance: float = 1e-3) -> float:
    """CPU seconds of one launch, whose result is checked."""
    begin = time.process_time()
    result, expected = launch()
    spent = time.process_time() - begin
    torch.testing.assert_close(result, expected, rtol=tolerance, atol=tolerance)
    return spent


def engine_seconds(launch: Launch, repeats: int, **options: bool) -> float:
    """The fastest of several launches in one engine run, after one that warms it up."""
    with interpret(EngineOptions(**options)) as run:  # type: ignore[arg-type]
        best = min(seconds(launch) for _ in range(repeats + 1))
    assert run.faults == [], run.faults
    return best


def factors(rows: tuple[Row, ...], repeats: int) -> list[dict[str, float | str]]:
    """Stock beside ours, kernel by kernel."""
    results = []
    for row in rows:
        launch = row.make()
        stock = seconds(launch)
        if stock < 2:
            stock = min(stock, seconds(launch))
        ours = engine_seconds(launch, repeats)
        results.append(
            {
                "kernel": row.name,
                "stock_s": stock,
                "ours_s": ours,
                "factor": stock / ours,
                "target": row.target,
            }
        )
        factor = stock / ours
        print(
            f"{row.name:<34}{stock * 1e3:>10.1f}{ours * 1e3:>10.2f}{factor:>9.1f}"
            f"{row.target:>8.0f}  {'ok' if factor >= row.target else 'MISSED'}",
            flush=True,
        )
    return results


def overheads(rows: tuple[Row, ...], repeats: int) -> list[dict[str, float | str]]:
    """What the engine's checks cost over the engine without them: medians over paired rounds."""
    settings = {
        "bare": {"check_memory": False, "track": False, "poison_masked": False},
        "checked": {"check_memory": True, "track": False, "poison_masked": False},
        "tracked": {},
        "traced": {"traffic": True},
    }
    results = []
    for row in rows:
        launch = row.make()
        rounds = [
            {name: engine_seconds(launch, 4, **options) for name, options in settings.items()}
            for _ in range(repeats)
        ]
        bare = statistics.median(times["bare"] for times in rounds)
        ratios = {
            name: statistics.median(times[name] / times["bare"] - 1 for times in rounds)
            for name in settings
        }
        results.append({"kernel": row.name, **ratios})
        print(
            f"{row.name:<34}{bare * 1e3:>10.2f}{ratios['checked']:>+10.1%}"
            f"{ratios['tracked']:>+10.1%}{ratios['traced']:>+10.1%}",
            flush=True,
        )
    return results


def peak_memory() -> dict[str, float]:
    """Bytes that a 4096 x 4096 elementwise kernel adds to a process, beside its bound."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import interpreter as bench\n"
        "bench.print_peak()\n"
    )
    here = str(Path(__file__).resolve().parent)
    done = subprocess.run(
        [sys.executable, "-c", code, here], capture_output=True, text=True, check=True
    )
    bound, used = (float(word) for word in done.stdout.split())
    return {"bound_bytes": bound, "used_bytes": used}


def print_peak() -> None:
    """Run the kernel and print the bound and the growth of the peak resident memory, in bytes."""
    n = 4096 * 4096
    x, y, output = (torch.randn(n) for _ in range(3))
    options = EngineOptions()
    # From here on the kernel of Linux counts the peak anew.
    Path("/proc/self/clear_refs").write_text("5")
    before = peak_resident_bytes()
    with interpret(options):
        add_kernel[(triton.cdiv(n, 1024),)](x, y, output, n, BLOCK_SIZE=1024)
    grown = peak_resident_bytes() - before
    assert torch.equal(output, x + y)
    print(options.memory_bytes, grown)


def peak_resident_bytes() -> int:
    """The largest resident size of this process so far."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise OSError("this system does not report the peak of resident memory")


def main() -> int:
    """Print the three tables; exit 1 where a target is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    repeats = 3 if chosen.quick else 11
    print(f"triton {triton.__version__}, torch {torch.__version__}, CPU milliseconds")
    print(f"{'kernel':<34}{'stock':>10}{'ours':>10}{'factor':>9}{'target':>8}")
    table = factors(ROWS, repeats)
    print(f"\n{'over the bare engine':<34}{'bare':>10}{'checked':>10}{'tracked':>10}{'traced':>10}")
    costs = overheads(ROWS, repeats)
    memory = peak_memory()
    print(f"\npeak memory, 4096 x 4096 elementwise: {memory['used_bytes'] / 2**20:.0f} MiB "
          f"of {memory['bound_bytes'] / 2**20:.0f} MiB")  # fmt: skip
    if chosen.json:
        figures = {"factors": table, "overheads": costs, "memory": memory}
        chosen.json.write_text(json.dumps(figures, indent=2) + "\n")
    reached = all(row["factor"] >= row["target"] for row in table)  # type: ignore[operator]
    return 0 if reached and memory["used_bytes"] <= memory["bound_bytes"] else 1


if __name__ == "__main__":
    sys.exit(main())
