"""What the lessons say of Triton and of hardware, held against Triton and the table of hardware."""

from __future__ import annotations

import glob
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import triton

from graders.authoring.lesson import read_lesson
from graders.judge.predictions import predictions
from triton_util import explore, figures
from triton_util.bench.speed_comparison import Modelled
from triton_util.explore.budget import budget, tile_budget_text
from triton_util.hardware import ARCHITECTURES, GPUS, MIB

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
ON_3_9 = pytest.mark.skipif(
    not triton.__version__.startswith("3.9"), reason="the lessons name Triton 3.9"
)


def lesson_text(name: str) -> str:
    """All text of a lesson, its lines joined and its figures put in."""
    (path,) = (ROOT / "lessons").glob(f"[0-9][0-9]_{name}.py")
    return " ".join(" ".join(cell.source.split()) for cell in read_lesson(path).cells)


def results() -> dict[str, Any]:
    """What was measured, by name: the files that marks are filled from."""
    files = [RESULTS / name for name in ("h200.json", "lessons_h200.json")]
    return {
        item["name"]: item for file in files for item in json.loads(file.read_text())["results"]
    }


def run(source: str, folder: Path, **environment: str) -> str:
    """What a script prints, in a process of its own: kernels are read from files."""
    script = folder / "script.py"
    script.write_text(source)
    inherited = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    paths = os.pathsep.join([str(ROOT), inherited.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(script)],
        env={**inherited, "PYTHONPATH": paths, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


LATE = """
import os, sys
import torch, triton, triton.language as tl
{between}
@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, {value})
{after}
x = torch.zeros(4)
try:
    kernel[(1,)](x, 4)
    print(x.tolist())
except Exception as error:
    print(error)
"""
SET = 'os.environ["TRITON_INTERPRET"] = "1"'


@ON_3_9
@pytest.mark.parametrize(
    ("between", "after", "value", "told"),
    [
        (SET, "", "offsets + 1.0", "[1.0, 2.0, 3.0, 4.0]"),
        (SET, "", "tl.sum(offsets) + offsets * 0", "outside of the scope of a kernel"),
        ("", SET, "offsets + 1.0", "0 active drivers"),
    ],
    ids=["before jit: this kernel", "before jit: not all of Triton", "after jit: not at all"],
)
@pytest.mark.skipif(torch.cuda.is_available(), reason="there the compiled kernel runs")
def test_when_the_variable_counts(
    tmp_path: Path, between: str, after: str, value: str, told: str
) -> None:
    """Lesson 02's table of what a late TRITON_INTERPRET does."""
    assert told in run(LATE.format(between=between, after=after, value=value), tmp_path)


COMPILED = """
import json, re, subprocess, sys, tempfile, os
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from solutions.swizzling import grouped_matmul_kernel as kernel

def compiled(arch, block_m, block_n, block_k, num_warps, num_stages):
    names = kernel.arg_names
    fixed = dict(BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, GROUP=8)
    fixed |= dict(stride_ak=1, stride_bn=1, stride_cn=1)
    kind = lambda n: "constexpr" if n in fixed else "*fp16" if n.endswith("_ptr") else "i32"
    signature = {n: kind(n) for n in names}
    attributes = {
        (i,): [["tt.divisibility", 16]] for i, n in enumerate(names) if n not in fixed
    }
    constants = {(names.index(n),): value for n, value in fixed.items()}
    made = triton.compile(
        ASTSource(kernel, signature, constants, attributes),
        target=GPUTarget("cuda", arch, 32),
        options=dict(num_warps=num_warps, num_stages=num_stages),
    )
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(made.asm["cubin"]); file.flush()
        tool = os.path.join(os.path.dirname(triton.__file__), "backends/nvidia/bin/cuobjdump")
        used = subprocess.run([tool, "-res-usage", file.name], capture_output=True, text=True)
    registers, stack = re.search(r"REG:(\\d+) STACK:(\\d+)", used.stdout).groups()
    ptx = made.asm["ptx"]
    return [made.metadata.shared, int(registers), int(stack), "mma" in ptx, "cvt.rna" in ptx]

entries = json.loads(sys.stdin.read() or os.environ["ENTRIES"])
print(json.dumps([compiled(*entry) for entry in entries]))
"""


def compiled(entries: list[tuple[int, ...]], folder: Path) -> list[Any]:
    found: list[Any] = json.loads(
        run(COMPILED.replace("sys.stdin.read() or ", ""), folder, ENTRIES=json.dumps(entries))
    )
    return found


@ON_3_9
@pytest.mark.slow
def test_spills_stages_and_the_t4_are_as_compiled(tmp_path: Path) -> None:
    """Lesson 11's figures, and how many stages the estimate keeps in shared memory."""
    small = (64, 64, 32, 4, 3)
    entries = [(90, 256, 256, 64, 4, 3), (80, 256, 256, 64, 4, 3), (75, 128, 128, 32, 4, 4)]
    entries += [(arch, *small) for arch in (80, 90)]
    h200, a100, t4, small_80, small_90 = compiled(entries, tmp_path)
    text = lesson_text("autotuning")
    for made in (h200, a100, t4):
        assert f"{made[2]:,}" in text
    assert (h200[1], a100[1]) == (255, 255)
    assert not t4[3], "Triton uses the tensor cores of sm_75 now: mend lesson 11 and hardware.py"
    for arch, made in ((80, small_80), (90, small_90)):
        gpu = {80: "A100", 90: "H200"}[arch]
        assert budget(*small).shared_bytes(gpu) == made[0]
    assert budget(128, 128, 32, 4, 4).shared_bytes("T4") == t4[0]


def test_a_t4_is_rated_by_what_triton_uses_of_it() -> None:
    work = Modelled("matmul", "4096", n_bytes=1e8, operations=1.4e11, tensor_cores=True)
    t4 = GPUS["T4"]
    assert work.limit_on(t4).ms == pytest.approx(1.4e11 / t4.fp32_tflops / 1e9)
    assert "no tensor cores" in tile_budget_text("T4", 128, 128, 32, 4, 4)
    assert not ARCHITECTURES[75].dot_on_tensor_cores


def test_what_fits_an_a100_and_an_l4() -> None:
    (path,) = (ROOT / "lessons").glob("11_*.py")
    (cell,) = (c for c in read_lesson(path).cells if c.source.startswith("candidates = ["))
    scope: dict[str, Any] = {"explore": SimpleNamespace(budget=budget)}
    source = cell.source[: cell.source.index("for gpu in")]
    exec(source, scope)
    fits = {
        gpu: sum(budget(*config).fits(gpu) for config in scope["candidates"])
        for gpu in ("L4", "A100", "H200")
    }
    assert fits == {"L4": 7, "A100": 8, "H200": 8}


TUNER = """
import torch, triton, triton.language as tl
from triton.runtime.errors import OutOfResources

asked = []

def clock(run_kernel, quantiles=None):
    asked.append(1)
    if len(asked) == 1:
        raise OutOfResources(300_000, 232_448, "shared memory")
    run_kernel()
    return [1.0, 1.0, 1.0]

@triton.autotune(
    configs=[triton.Config({"BLOCK": block}) for block in (4, 8, 16)],
    key=["n"],
    do_bench=clock,
    reset_to_zero=["x_ptr"],
    prune_configs_by={"perf_model": lambda BLOCK, **_: BLOCK, "top_k": 2},
)
@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 1, mask=mask)

x = torch.zeros(4)
for _ in range(2):
    kernel[(1,)](x, 4)
    print(len(asked), kernel.best_config.kwargs["BLOCK"], x[0].item())
"""


def test_what_a_tuner_passes_over_prints_and_resets(tmp_path: Path) -> None:
    """Lesson 11: `top_k` keeps two of three, the one that does not fit is no error, and a key that
    is known resets nothing.
    """
    told = run(TUNER, tmp_path, TRITON_INTERPRET="1", TRITON_PRINT_AUTOTUNING="1").splitlines()
    assert [line for line in told if line[0].isdigit()] == ["2 8 1.0", "2 8 2.0"]
    assert sum("best config selected: BLOCK: 8" in line for line in told) == 1
    assert any(line.startswith("finished after ") for line in told)


RESOURCES = """
import inspect
import triton, triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, 1.0)

source = ASTSource(kernel, {"x_ptr": "*fp32"}, {}, {})
made = triton.compile(source, target=GPUTarget("cuda", 90, 32))
loading = inspect.getsource(made._init_handles)
for name in ("n_regs", "n_spills"):
    print(name, hasattr(made, name), f"self.{name}" in loading)
print("shared", made.metadata.shared)
"""


def test_registers_are_known_once_a_kernel_is_loaded(tmp_path: Path) -> None:
    """Lesson 11: compiling alone tells how much shared memory it takes, and no more."""
    told = run(RESOURCES, tmp_path).split()
    assert told == ["n_regs", "False", "True", "n_spills", "False", "True", "shared", "0"]
    assert "Once the result is loaded onto the GPU" in lesson_text("autotuning")


TF32 = """
import json
import triton, triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

@triton.jit
def kernel(a_ptr, b_ptr, c_ptr, K: tl.constexpr):
    m, k = tl.arange(0, 64), tl.arange(0, K)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * 64 + m[None, :])
    tl.store(c_ptr + m[:, None] * 64 + m[None, :], tl.dot(a, b))

signature = {name: "*fp32" for name in ("a_ptr", "b_ptr", "c_ptr")} | {"K": "constexpr"}
for arch in (80, 90):
    made = triton.compile(
        ASTSource(kernel, signature, {(3,): 32}, {}), target=GPUTarget("cuda", arch, 32)
    )
    print(arch, "tf32" in made.asm["ptx"], "cvt.rna" in made.asm["ptx"])
"""


@ON_3_9
def test_tf32_is_cut_off_and_not_rounded(tmp_path: Path) -> None:
    """Lesson 08: no rounding stands in the PTX of a float32 product."""
    assert run(TF32, tmp_path).split() == ["80", "True", "False", "90", "True", "False"]


MOMENTS = """
import os, torch, triton, triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

{kernels}

if os.environ.get("TRITON_INTERPRET") == "1":
    for size in (1, 2, 63, 64, 200, 1000):
        x = 1e4 + torch.randn(size)
        found = torch.empty(2)
        moments_kernel[(1,)](x, found, size, BLOCK_SIZE=64)
        right = torch.stack([x.double().mean(), x.double().var(correction=0)])
        assert torch.allclose(found.double(), right, rtol=2e-3, atol=1e-6), (size, found)
else:
    signature = {{"x_ptr": "*fp32", "output_ptr": "*fp32", "n_cols": "i32"}}
    signature["BLOCK_SIZE"] = "constexpr"
    for arch in (80, 90):
        source = ASTSource(moments_kernel, signature, {{(3,): 1024}}, {{}})
        triton.compile(source, target=GPUTarget("cuda", arch, 32))
"""


@ON_3_9
def test_one_walk_gives_mean_and_variance(tmp_path: Path) -> None:
    """Lesson 07: its kernel, far from 0 too, in the interpreter; and it compiles for GPUs."""
    (path,) = (ROOT / "lessons").glob("*_reductions.py")
    texts = [cell.source for cell in read_lesson(path).cells if cell.kind == "markdown"]
    (block,) = (part for text in texts for part in re.findall(r"```python\n(.*?)```", text, re.S))
    script = MOMENTS.format(kernels=block)
    run(script, tmp_path)
    run(script, tmp_path, TRITON_INTERPRET="1")


SIDES = """
import triton, triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

@triton.jit
def kernel(a_ptr, b_ptr, c_ptr, M: tl.constexpr, K: tl.constexpr):
    m, k = tl.arange(0, M), tl.arange(0, K)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * M + m[None, :])
    tl.store(c_ptr + m[:, None] * M + m[None, :], tl.dot(a, b).to(c_ptr.dtype.element_ty))

for dtype, m, k in (("fp16", 1, 16), ("fp16", 16, 8), ("fp32", 1, 8), ("fp32", 16, 4)):
    signature = {name: "*" + dtype for name in ("a_ptr", "b_ptr", "c_ptr")}
    signature |= {"M": "constexpr", "K": "constexpr"}
    try:
        source = ASTSource(kernel, signature, {(3,): m, (4,): k}, {})
        triton.compile(source, target=GPUTarget("cuda", 90, 32))
        print("compiles")
    except Exception as error:
        print("refused")
"""


@ON_3_9
def test_how_short_the_sides_of_a_dot_may_be(tmp_path: Path) -> None:
    assert run(SIDES, tmp_path).split() == ["compiles", "refused", "compiles", "refused"]


EIGHT_BITS = """
import importlib.util, json, os, pathlib, sys
import torch
from triton_util.explain import explain

def compiled(*changes, arch=90):
    text = pathlib.Path(os.environ["SOLUTION"]).read_text()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    path = pathlib.Path(__file__).parent / f"variant_{abs(hash((changes, arch)))}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    factors = [torch.empty(256, 256).to(torch.float8_e4m3fn)] * 2
    (made,) = explain(module.fp8_matmul, *factors, *[torch.ones(256)] * 2, targets=[arch]).made
    words = made.ptx.split()
    return (
        sorted({word for word in words if "mma" in word and ".f32." in word}),
        sum(word == "add.f32" for word in words),
        made.error,
    )

rows = ("block_m, block_n, block_k = 64, 64, 64", "block_m, block_n, block_k = 32, 64, 64")
deep = (rows[0], "block_m, block_n, block_k = 64, 64, 16")
inside = ("accumulator += tl.dot(a, b)  #", "accumulator = tl.dot(a, b, accumulator)  #")
whole = [(f"offs_{x}[None, :] < {X}), other=0.0", f"offs_{x}[None, :] < {X}), other=0")
         for x, X in (("k", "K"), ("n", "N"))]
print(json.dumps([compiled(), compiled(rows), compiled(inside), compiled(deep), compiled(*whole),
                  compiled(arch=89), compiled(arch=80), compiled(arch=75)]))
"""


@ON_3_9
def test_what_is_multiplied_in_eight_bits(tmp_path: Path) -> None:
    """Lesson 15: tiles of 64 rows and of 32, the sum inside and outside of the tensor cores, and
    what is refused.
    """
    said = run(EIGHT_BITS, tmp_path, SOLUTION=str(ROOT / "solutions" / "low_precision.py"))
    found = json.loads(said.splitlines()[-1])
    (wgmma,), outside, _ = found[0]
    assert wgmma.startswith("wgmma")
    assert wgmma.endswith("e4m3.e4m3")
    (mma,), *_ = found[1]
    assert ".f16.f16" in mma
    assert "e4m3" not in mma
    assert found[2][0] == [wgmma]
    assert (outside > 0, found[2][1]) == (True, 0)
    assert "K >= 32" in found[3][2]
    assert "cannot cast int32" in found[4][2]
    assert found[5][2] == ""
    for refused in found[6:]:
        assert "type fp8e4nv not supported in this architecture" in refused[2]


@pytest.mark.parametrize("name", ["matmul", "swizzling", "autotuning"])
def test_there_is_one_figure_of_cublas(name: str) -> None:
    """Lessons 08, 09 and 11 and docs/performance.md: one run, one method."""
    work = results()["grouped_matmul 4096"]
    figure = f"{work['flops'] / work['timings']['torch']['median_ms'] * 1e-9:,.0f}"
    said = re.findall(r"cuBLAS(?: reaches)?(?:, measured:)? (\d[\d,]*)", lesson_text(name))
    assert said
    assert set(said) == {figure}
    (path,) = (ROOT / "lessons").glob(f"[0-9][0-9]_{name}.py")
    assert not re.search(r"cuBLAS[^|{]{0,20} \d{3}", path.read_text()), "take it by a mark"
    microseconds = work["timings"]["torch"]["median_ms"] * 1000
    assert f"| {microseconds:.1f} |" in (ROOT / "docs" / "performance.md").read_text()


@pytest.mark.parametrize("path", sorted((ROOT / "lessons").glob("[0-9]*.py")), ids=lambda p: p.stem)
def test_measured_speeds_are_marks(path: Path) -> None:
    """A speed in a sentence that says `measured` comes from benchmarks/results."""
    for paragraph in re.split(r"\n#\s*\n|\n\n", path.read_text()):
        if re.search(r"[Mm]easured on an NVIDIA", paragraph):
            bare = re.sub(r"\{h200:[^}]*\}|data sheet: [\d,]+|of 4,800", "", paragraph)
            found = re.search(r"\d[\d,.]* (GB/s|TFLOP/s|ms\b|µs)", bare.replace("\n#", ""))
            assert not found, f"{path.name}: {found[0]!r} is typed: use a mark"


def test_the_order_and_the_tile_are_what_was_measured() -> None:
    """Lesson 09's table: groups gain most at 8192, and the tile gains more than the order."""

    def speed(tile: str, size: int, group: int) -> float:
        work = results()[f"order {tile} at {size}"]
        return float(work["flops"] / work["timings"][f"GROUP {group}"]["median_ms"])

    gains = {n: speed("64×64×32", n, 8) / speed("64×64×32", n, 1) for n in (2048, 4096, 8192)}
    assert max(gains, key=lambda n: gains[n]) == 8192
    assert speed("128×256×64", 8192, 1) / speed("64×64×32", 8192, 1) > gains[8192] > 1


def test_predictions_that_were_measured_are_what_was_measured() -> None:
    kept, known = results(), predictions()

    def ms(name: str, timing: str) -> float:
        return float(kept[name]["timings"][timing]["median_ms"])

    add = kept["vector_add fp32, 2^28"]
    reached = add["bytes"] / ms(add["name"], "plain") * 1e-6
    percent = 100 * reached / GPUS["H200"].gbytes_per_second
    assert known["percent_of_bandwidth"].answer == pytest.approx(percent, rel=0.02)
    ratio = ms("transpose fp32, 16384²", "plain") / ms(
        "strided_copy fp32, left half of 16384×32768", "plain"
    )
    assert known["copy_over_transpose"].answer == pytest.approx(ratio, rel=0.02)
    grey = "rgb2grey 3×4096×4096"
    assert known["grey_speed_up"].answer == pytest.approx(
        ms(grey, "torch line") / ms(grey, "plain"), rel=0.02
    )


def test_the_l2_of_a_gpu_comes_from_the_table() -> None:
    assert GPUS["H200"].l2_bytes == 60 * MIB
    assert "50 MB of L2" not in lesson_text("swizzling")
    assert not re.search(r"\d+ M(i)?B of L2", lesson_text("swizzling"))


def test_torch_compile_is_not_called_as_good() -> None:
    work = results()["gelu 65536×4096"]["timings"]
    assert work["torch.compile"]["median_ms"] > 1.1 * work["plain"]["median_ms"]
    assert "as good as yours" not in lesson_text("fusion")
    assert "libdevice.tanh" in lesson_text("fusion")
    assert "trip" not in lesson_text("fusion")


def cells_of(name: str, *starts: str) -> list[str]:
    """The cells of a lesson whose text begins so."""
    (path,) = (ROOT / "lessons").glob(f"[0-9][0-9]_{name}.py")
    sources = [cell.source for cell in read_lesson(path).cells]
    return [one for start in starts for one in sources if one.startswith(start)]


SHOWN = """
import torch, triton, triton.language as tl
from triton_util import interpreted, trace
DEVICE = "cpu"
{negate}
{watch}
print("trace:", watch(), "steps:", watch().steps_text(1), sep=chr(10))
{trusting}
print("left half:", torch.equal(trusting_copy(x[:, :4]), x[:, :4]))
{column}
{swapped}
"""


def test_what_cells_of_lessons_01_and_04_show(tmp_path: Path) -> None:
    """01: a trace prints program 0, `steps_text(1)` program 1. 04: its kernels can go wrong."""
    (negate,) = cells_of("vector_add", "@triton.jit\ndef negate_kernel")
    (watch,) = cells_of("vector_add", "def watch")
    trusting, column = cells_of("strides", "@triton.jit\ndef trusting", "@triton.jit\ndef column")
    strides = ("x.stride(0), x.stride(1)", "x.stride(1), x.stride(0)")
    assert strides[0] in column
    swapped = column.replace(*strides)
    cells = {"negate": negate, "watch": watch, "trusting": trusting, "column": column}
    told = run(SHOWN.format(**cells, swapped=swapped), tmp_path, TRITON_INTERPRET="1")
    first, second = told[told.index("trace:") :].split("steps:")
    assert ("program 0:" in first, "program 1:" in first) == (True, False)
    assert second.split("correct for")[0].strip().startswith("program 1:")
    rights = re.findall(r"(?:matrix|half|correct): (True|False)", second)
    assert rights == ["True", "False", *["True"] * 3, *["False"] * 3]


MENDS = (
    ("tensor.is_contiguous,", "tensor.is_contiguous(),"),
    (
        "operator, number = condition[0], int(condition[1:])",
        "operator = condition.rstrip('0123456789'); number = int(condition[len(operator):])",
    ),
    ("5 - old_id", "4 - old_id"),
)


def test_the_helpers_of_lesson_02_are_wrong_and_can_be_mended(
    capsys: pytest.CaptureFixture[str],
) -> None:
    helpers, tried = cells_of("debugging", "def assert_ready", "def outcome")
    mended = helpers
    for wrong, right in MENDS:
        assert wrong in mended
        mended = mended.replace(wrong, right)
    for source, told in ((helpers, ["False", "True", "False", "False"]), (mended, ["True"] * 4)):
        exec(f"{source}\n{tried}", {"torch": torch})
        assert re.findall(r": (True|False) \|", capsys.readouterr().out) == told


def test_the_picture_in_words_says_what_lies_behind_the_vector() -> None:
    words = figures.touches(5, [[0, 1], [2, 3], [4, 5]]).alt
    assert "Program 2 touches 4 and 5, of which 5 lies behind the end of the vector." in words
    assert "No element is left out." in words


def test_a_time_says_of_how_many_elements() -> None:
    lines = explore.roofline_text("H200", 1, 8).splitlines()
    (index,) = (i for i, line in enumerate(lines) if "time to move bytes" in line)
    assert lines[index - 1] == "for 268,435,456 elements:"


def test_without_the_column_mask_the_last_tile_leaves_the_matrix() -> None:
    """Lesson 05: 4 rows and 7 columns in tiles of 2×2; element 28 of 28."""
    rows, cols = torch.tensor([2, 3]), torch.tensor([6, 7])
    offsets = rows[:, None] * 7 + cols[None, :]
    assert int(offsets.max()) == 4 * 7 == 28
    assert "reaches for element 28 of 28" in lesson_text("tiles_2d")


def test_no_notebook_shows_the_mapping_of_lesson_09() -> None:
    """It is the answer of an exercise there."""
    for path in glob.glob(str(ROOT / "lessons" / "*.ipynb")):
        text = Path(path).read_text()
        assert "tl.minimum(n_rows - first_row" not in text, path
        assert "tl.minimum(tl.cdiv(M, BLOCK_M) - first_row" not in text, path
