"""The engine in a process that may do nothing: no imports, no files, no threads; and its memory."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl

from tests.triton_util.interpreter.zoo import CASES
from triton_util.interpreter import EngineOptions, interpret

HERE = Path(__file__).parent


def python(code):
    path = os.pathsep.join([str(HERE), str(HERE.parents[2])])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_nothing_is_imported_while_kernels_run():
    code = (
        "import sys, torch, zoo\n"
        "from triton_util.interpreter import EngineOptions, interpret\n"
        "import triton.tools.tensor_descriptor\n"
        "before = set(sys.modules)\n"
        "for schedule in ('grid', 'shuffled'):\n"
        "    for launch in zoo.CASES.values():\n"
        "        with interpret(EngineOptions(schedule=schedule, traffic=True)) as run:\n"
        "            run.never_stored(launch()[0])\n"
        "print(sorted(set(sys.modules) - before))\n"
    )
    assert python(code).strip() == "[]"


def test_a_forked_child_without_files_and_threads_can_run_kernels():
    code = (
        "import os, resource, sys, threading, torch, zoo\n"
        "from triton_util.interpreter import EngineOptions, interpret\n"
        "torch.set_num_threads(1)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    status = 1\n"
        "    try:\n"
        "        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
        "        resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))\n"
        "        for name in ('vector_add', 'matmul_grouped', 'attention_causal', 'spin_lock'):\n"
        "            with interpret(EngineOptions(traffic=True)) as run:\n"
        "                out = zoo.CASES[name]()\n"
        "                assert not run.faults and not run.never_stored(out[0]).any()\n"
        "        assert threading.active_count() == 1\n"
        "        status = 0\n"
        "    finally:\n"
        "        os._exit(status)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    assert python(code).strip() == "0"


@triton.jit
def copy_kernel(x_ptr, output_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    tl.store(
        output_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) * 2.0, mask=offsets < n
    )


@triton.jit
def hidden_size_kernel(x_ptr, output_ptr, n):
    """No constexpr tells how large its blocks are."""
    for start in range(tl.program_id(0) * 65536, n, tl.num_programs(0) * 65536):
        offsets = start + tl.arange(0, 65536)
        x = tl.load(x_ptr + offsets, mask=offsets < n)
        y = tl.exp(x) + tl.exp(-x) * x
        tl.store(output_ptr + offsets, y, mask=offsets < n)


@pytest.mark.parametrize("bound", [1 << 20, 1 << 26, 1 << 30])
@pytest.mark.parametrize("track", [True, False])
def test_memory_stays_within_the_bound(bound, track):
    n = 1 << 22
    x, output = torch.randn(n), torch.zeros(n)
    with interpret(EngineOptions(memory_bytes=bound, track=track)) as run:
        copy_kernel[(n // 1024,)](x, output, n, BLOCK_SIZE=1024)
    assert torch.equal(output, x * 2)
    assert run.launches[0].mode == "grid"


def test_blocks_that_no_parameter_announces_are_run_in_smaller_batches():
    code = (
        "import resource, torch\n"
        "from suite_process import hidden_size_kernel, EngineOptions, interpret\n"
        "n = 1 << 24\n"
        "x, output = torch.randn(n), torch.zeros(n)\n"
        "expected = torch.exp(x) + torch.exp(-x) * x\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "with interpret(EngineOptions(memory_bytes=1 << 28)) as run:\n"
        "    hidden_size_kernel[(200,)](x, output, n)\n"
        "torch.testing.assert_close(output, expected)\n"
        "assert not run.faults\n"
        "print(1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before))\n"
    )
    # The shadow of 16 million elements takes 64 MiB beside the blocks themselves.
    assert int(python(code)) < (1 << 28) + (1 << 26)


def test_shared_memory_and_views_of_it(tmp_path):
    buffer = bytearray(4 * 1000)
    flat = torch.frombuffer(buffer, dtype=torch.float32)
    x, output = flat.as_strided((10, 30), (50, 1)), flat.as_strided((10, 15), (50, 2), 500)
    x.copy_(torch.arange(300.0).reshape(10, 30))
    with interpret() as run:
        small = CASES["copy_plain"]()
        copy_kernel[(1,)](x[0], output[0, :15], 0, BLOCK_SIZE=16)
        assert not run.never_stored(small[0]).any()
    assert run.faults == []


def test_no_thread_is_left_behind():
    before = threading.active_count()
    with interpret():
        CASES["matmul_grouped"]()
    assert threading.active_count() == before
