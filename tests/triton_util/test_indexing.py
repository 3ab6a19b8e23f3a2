"""The helpers inside kernels: in the interpreter, in its own process, and compiled."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.interpreting_process import InterpretingProcess

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def warm():
    """Runs code beside the helper kernels in one warm process."""
    with InterpretingProcess(
        "import torch, triton\nfrom tests.triton_util.helper_kernels import *"
    ) as process:
        yield process.run


def run(code: str, interpret: str | None = "1", stdin: str | None = None, **extra: str) -> str:
    """Run code beside the helper kernels; what it printed. Warnings are errors there too."""
    environ = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    if interpret is not None:
        environ["TRITON_INTERPRET"] = interpret
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import torch, triton\nfrom tests.triton_util.helper_kernels import *\n{code}",
        ],
        env={**environ, "PYTHONPATH": str(ROOT), **extra},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_offsets_and_masks_cover_every_element(warm):
    warm(
        "for n in (1, 6, 7, 8, 16):\n"
        "    x = torch.arange(n, dtype=torch.float32)\n"
        "    assert torch.equal(copy_1d(x, 4), x), n\n"
        "base = torch.arange(60, dtype=torch.float32).reshape(6, 10)\n"
        "for x in (base, base.T, base[:, :5], base[1::2, 3:]):\n"
        "    assert torch.equal(copy_2d(x, 2, 4), x), x.stride()"
    )


def test_offsets_do_not_wrap_round_at_2_to_the_31(warm):
    printed = warm(
        "out = torch.zeros(1, dtype=torch.int64)\nfar_offsets_kernel[(1,)](out)\nprint(out.item())"
    )
    assert int(printed) == 4_000_000 * 1024 + 1023


def test_print_if_prints_in_the_chosen_programs_only(warm):
    code = 'printing_kernel[(4, 2)](torch.zeros(4), "{}")'
    assert warm(code.format(">=2,=1")).split("\n")[:-1] == ["program [2] [1]", "program [3] [1]"]
    assert warm(code.format("")).count("program") == 8


def test_print_if_names_a_bad_condition_and_does_not_swallow_it(warm):
    printed = warm(
        "try:\n    printing_kernel[(4, 2)](torch.zeros(4), '=>2')\n"
        "except Exception as error:\n    print(error)"
    )
    assert "'=>2" in printed
    assert "for axis 0" in printed


def test_print_if_outside_a_kernel_says_where_it_belongs(warm):
    printed = warm("try:\n    print_if('x', '=0')\nexcept RuntimeError as error:\n    print(error)")
    assert "inside a @triton.jit kernel" in printed


def test_breakpoint_if_stops_inside_the_kernel():
    code = (
        "import pdb, sys, triton_util.debugging as debugging\n"
        "debugging._debugger = lambda: pdb.Pdb(nosigint=True, readrc=False)\n"
        "sys.stdin.isatty = lambda: True\n"
        "x = torch.zeros(4)\nstopping_kernel[(4,)](x)\nprint(x.tolist())"
    )
    printed = run(code, stdin="p secret\np tl.program_id(0)\nc\n")
    assert "stopping_kernel" in printed
    assert "[42]" in printed
    assert printed.count("(Pdb)") == 3
    assert "[40.0, 41.0, 42.0, 43.0]" in printed


def test_breakpoint_if_goes_on_where_nobody_can_type():
    printed = run("x = torch.zeros(4)\nstopping_kernel[(4,)](x)\nprint(x[3].item())", stdin="")
    assert "nobody can type here" in printed
    assert "43.0" in printed


def test_breakpoint_if_honours_pythonbreakpoint():
    printed = run(
        "x = torch.zeros(4)\nstopping_kernel[(4,)](x)\nprint(x[3].item())",
        PYTHONBREAKPOINT="0",
    )
    assert printed == "43.0\n"


@pytest.mark.parametrize("target", [80, 90])
def test_index_helpers_compile_for_a_gpu(target):
    run(
        "from triton.backends.compiler import GPUTarget\n"
        "from triton.compiler import ASTSource\n"
        "signature = {'x_ptr': '*fp32', 'output_ptr': '*fp32', 'm': 'i32', 'n': 'i32',\n"
        "  'stride_m': 'i64', 'stride_n': 'i32', 'BLOCK_M': 'constexpr', 'BLOCK_N': 'constexpr'}\n"
        "source = ASTSource(copy_2d_kernel, signature, {'BLOCK_M': 16, 'BLOCK_N': 32})\n"
        f"made = triton.compile(source, target=GPUTarget('cuda', {target}, 32))\n"
        "assert '.visible .entry copy_2d_kernel' in made.asm['ptx']",
        interpret=None,
    )


@pytest.mark.parametrize("schedule", ["grid", "serial"])
def test_print_if_and_breakpoint_if_in_the_engine(warm, schedule):
    """The engine runs many programs at once; what is printed is still one program's."""
    printed = warm(
        "from triton_util.interpreter import EngineOptions, interpret\n"
        f"with interpret(EngineOptions(schedule={schedule!r})):\n"
        "    printing_kernel[(20, 2)](torch.zeros(20), '=17')\n"
        "    x = torch.zeros(4)\n"
        "    stopping_kernel[(4,)](x)\n"
        "print(x.tolist())"
    )
    assert printed.splitlines() == [
        "program 17 0",
        "program 17 1",
        "breakpoint_if: nobody can type here, so the kernel runs on",
        "[40.0, 41.0, 42.0, 43.0]",
    ]
