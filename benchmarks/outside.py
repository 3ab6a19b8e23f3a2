"""Published packages with Triton kernels, on the engine, against what torch computes.

    python benchmarks/outside.py [--into DIR] [--stock] [--first N] [PACKAGE ...]

Installs the packages into a folder of their own (torch and triton stay those of this Python), calls
their operators forwards and backwards on small inputs, and compares results and gradients with
plain torch in float64 or with the package's own plain reference. Prints per package how many
checks agree, were refused (with the reason), or differ; with --stock the seconds beside triton's
own interpreter. Nothing of theirs is kept here.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

os.environ["TRITON_INTERPRET"] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import torch
import torch.nn.functional as functional
import triton
from triton.backends.compiler import GPUTarget
from triton.runtime import driver

from triton_util.explain.offline import CompileOnlyDriver
from triton_util.interpreter import EngineOptions, interpret, unguarded_launches

PACKAGES = {
    "liger": ["liger-kernel"],
    "fla": ["fla-core", "einops"],
    "conch": ["conch-triton-kernels"],
}
# Largest difference, relative to the largest element of the reference.
ALLOWED = {torch.float32: 2e-4, torch.bfloat16: 2.5e-2, torch.float16: 4e-3}


@dataclass
class Check:
    """One operator on one set of inputs; `expected` gets them in float64."""

    name: str
    dtype: torch.dtype
    inputs: tuple[torch.Tensor, ...]
    call: Callable[..., Any]
    expected: Callable[..., Any]
    backwards: bool = True


class AnyDevice(CompileOnlyDriver):
    """Packages that ask triton for the device are told that it is the CPU."""

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cpu", 80, 32)


def first_configuration_only() -> None:
    """Let autotuners try nothing: it is the results that count here."""
    plain = triton.autotune

    def autotune(configs: list[Any], *positional: Any, **named: Any) -> Any:
        return plain(configs[:1], *positional, **named)

    triton.autotune = autotune


def randn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed + sum(shape)))


def liger() -> Iterator[Check]:
    """Operators of Liger-Kernel."""
    ops = importlib.import_module("liger_kernel.transformers.functional")
    dyt = importlib.import_module("liger_kernel.ops.dyt")
    dyt.infer_device = lambda: "cuda"  # it counts multiprocessors, and knows none of a CPU

    def layer_norm(x: Any, w: Any, b: Any) -> Any:
        return functional.layer_norm(x, (x.shape[-1],), w, b, 1e-6)

    def rms_norm(x: Any, w: Any) -> Any:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w

    def add_rms_norm(x: Any, r: Any, w: Any) -> Any:
        return rms_norm(x + r, w), x + r

    def tanh(x: Any, a: Any, g: Any, b: Any) -> Any:
        return torch.tanh(a * x) * g + b

    plain: list[tuple[str, Callable[..., Any], Callable[..., Any], str]] = [
        ("softmax", ops.liger_softmax, lambda x: x.softmax(-1), "x"),
        ("relu_squared", ops.liger_relu_squared, lambda x: x.relu().square(), "x"),
        ("geglu", ops.liger_geglu, lambda a, b: functional.gelu(a, approximate="tanh") * b, "xx"),
        ("swiglu", ops.liger_swiglu, lambda a, b: functional.silu(a) * b, "xx"),
        ("layer_norm", lambda x, w, b: ops.liger_layer_norm(x, w, b, 1e-6), layer_norm, "xww"),
        ("rms_norm", lambda x, w: ops.liger_rms_norm(x, w, 1e-6), rms_norm, "xw"),
        (
            "fused_add_rms_norm",
            lambda x, r, w: ops.liger_fused_add_rms_norm(x, r, w, 1e-6),
            add_rms_norm,
            "xxw",
        ),
        ("dyt", ops.liger_dyt, tanh, "xsww"),
    ]
    shapes = [(3, 64), (2, 5, 100), (4, 256), (1, 7, 33), (16, 130)]
    for name, call, expected, kinds in plain:
        for shape in shapes:
            for dtype in ALLOWED:
                sizes = {"x": shape, "w": shape[-1:], "s": (1,)}
                inputs = tuple(randn(*sizes[k], seed=i).to(dtype) for i, k in enumerate(kinds))
                yield Check(f"{name} {shape}", dtype, inputs, call, expected)
    for batch, channels, groups, length in ((2, 6, 3, 40), (3, 8, 2, 65), (1, 4, 4, 128)):
        inputs = (randn(batch, channels, length), randn(channels), randn(channels, seed=1))
        yield Check(
            f"group_norm {batch}x{channels}x{length}",
            torch.float32,
            inputs,
            lambda x, w, b, c=channels, g=groups: ops.liger_group_norm(x, w, b, c, g, 1e-6),
            lambda x, w, b, g=groups: functional.group_norm(x, g, w, b, 1e-6),
        )
    for rows, classes in ((8, 50), (3, 333), (16, 1024)):
        target = torch.arange(rows) * 7 % classes
        for dtype in ALLOWED:
            logits = randn(rows, classes).to(dtype)
            yield Check(
                f"cross_entropy {rows}x{classes}",
                dtype,
                (logits,),
                lambda x, t=target: ops.liger_cross_entropy(x, t),
                lambda x, t=target: functional.cross_entropy(x, t),
            )
    for rows, classes in ((8, 50), (3, 333)):
        likely = randn(rows, classes, seed=5).softmax(-1)
        logs = randn(rows, classes).log_softmax(-1)
        yield Check(
            f"kl_div {rows}x{classes}",
            torch.float32,
            (logs,),
            lambda x, y=likely: ops.liger_kl_div(x, y, reduction="batchmean"),
            lambda x, y=likely: functional.kl_div(x, y.double(), reduction="batchmean"),
        )


def fla() -> Iterator[Check]:
    """Operators of flash-linear-attention, against its own loops in plain torch."""
    yield from _hgrn()
    gla = importlib.import_module("fla.ops.gla")
    gla_naive = importlib.import_module("fla.ops.gla.naive").naive_recurrent_gla
    simple = importlib.import_module("fla.ops.simple_gla")
    simple_naive = importlib.import_module("fla.ops.simple_gla.naive").naive_recurrent_simple_gla
    for length, width in ((17, 16), (64, 32), (100, 32)):
        q, k, v = (randn(1, length, 2, width, seed=s) for s in range(3))
        fine = functional.logsigmoid(randn(1, length, 2, width, seed=4))
        coarse = functional.logsigmoid(randn(1, length, 2, seed=5))
        for dtype in (torch.float32, torch.float16, torch.bfloat16):
            for name in ("fused_recurrent_gla", "chunk_gla"):
                operator = getattr(gla, name)
                yield Check(
                    f"{name} {length}x{width}",
                    dtype,
                    tuple(part.to(dtype) for part in (q, k, v, fine)),
                    lambda q, k, v, g, f=operator: f(q, k, v, g)[0],
                    lambda q, k, v, g: gla_naive(q, k, v, g)[0],
                )
            for name in ("fused_recurrent_simple_gla", "chunk_simple_gla"):
                operator = getattr(simple, name)
                yield Check(
                    f"{name} {length}x{width}",
                    dtype,
                    tuple(part.to(dtype) for part in (q, k, v, coarse)),
                    lambda q, k, v, g, f=operator: f(q, k, v, g)[0],
                    lambda q, k, v, g: simple_naive(q, k, v, g)[0],
                )


def _hgrn() -> Iterator[Check]:
    hgrn = importlib.import_module("fla.ops.hgrn")
    naive = importlib.import_module("fla.ops.hgrn.naive").naive_recurrent_hgrn
    for length, width in ((5, 16), (32, 64), (70, 100)):
        for dtype in ALLOWED:
            forget = functional.logsigmoid(randn(2, length, width, seed=1))
            for name in ("fused_recurrent_hgrn", "chunk_hgrn"):
                operator = getattr(hgrn, name)
                yield Check(
                    f"{name} {length}x{width}",
                    dtype,
                    (randn(2, length, width).to(dtype), forget.to(dtype)),
                    lambda x, g, f=operator: f(x, g)[0],
                    lambda x, g: naive(x, g)[0],
                )


def conch() -> Iterator[Check]:
    """Operators of conch-triton-kernels; they compute forwards only."""
    home = "conch.ops"
    silu = importlib.import_module(f"{home}.activation.silu_and_mul").silu_and_mul
    gelu = importlib.import_module(f"{home}.activation.gelu_tanh_and_mul").gelu_tanh_and_mul
    rms = importlib.import_module(f"{home}.normalization.rms_norm").rms_norm
    gemma = importlib.import_module(f"{home}.normalization.gemma_rms_norm").gemma_rms_norm

    def gated(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda x: function(x[..., : x.shape[-1] // 2]) * x[..., x.shape[-1] // 2 :]

    def normed(x: Any, w: Any) -> Any:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w

    def tanh_gelu(x: Any) -> Any:
        return functional.gelu(x, approximate="tanh")

    plain: list[tuple[str, Callable[..., Any], Callable[..., Any], str]] = [
        ("silu_and_mul", silu, gated(functional.silu), "x"),
        ("gelu_tanh_and_mul", gelu, gated(tanh_gelu), "x"),
        ("rms_norm", lambda x, w: rms(x, w, 1e-6), normed, "xw"),
        ("gemma_rms_norm", lambda x, w: gemma(x, w, 1e-6), lambda x, w: normed(x, 1 + w), "xw"),
    ]
    for name, call, expected, kinds in plain:
        for shape in ((3, 64), (16, 256), (7, 130), (1, 1024), (40, 96)):
            for dtype in ALLOWED:
                sizes = {"x": shape, "w": shape[-1:]}
                inputs = tuple(randn(*sizes[k], seed=i).to(dtype) for i, k in enumerate(kinds))
                yield Check(f"{name} {shape}", dtype, inputs, call, expected, backwards=False)


CHECKS = {"liger": liger, "fla": fla, "conch": conch}


def results(check: Check, function: Callable[..., Any], dtype: torch.dtype) -> list[torch.Tensor]:
    """What a function gives, and its gradients, on fresh copies of the inputs."""
    inputs = [part.detach().clone().to(dtype).requires_grad_() for part in check.inputs]
    given = function(*(part * 1 for part in inputs))  # some operators overwrite what they get
    outputs = list(given) if isinstance(given, tuple) else [given]
    if not check.backwards:
        return [out.detach() for out in outputs]
    total = sum((out.double() * randn(*out.shape, seed=9).double()).sum() for out in outputs)
    total.backward()  # type: ignore[union-attr]
    return [out.detach() for out in outputs] + [p.grad for p in inputs if p.grad is not None]


def verdict(check: Check) -> tuple[str, int, list[str]]:
    """("computed", "refused" or "different" with words, launches, findings)."""
    expected = results(check, check.expected, torch.float64)
    try:
        with interpret() as run:
            found = results(check, check.call, check.dtype)
        if any(fault.code == "masked-lanes-used" for fault in run.faults):
            # The finding is told; a GPU has 0 in such lanes more often than not.
            with interpret(EngineOptions(poison_masked=False)):
                found = results(check, check.call, check.dtype)
    except Exception as error:
        fault = getattr(error, "fault", None)
        code = fault.code if fault is not None else type(error).__name__
        return f"refused: {code}: {str(error).splitlines()[0][:150]}", 0, []
    gaps = [_gap(wanted, got) for wanted, got in zip(expected, found, strict=True)]
    findings = [f"{fault.code} in {fault.kernel}" for fault in run.faults]
    if not all(gap <= ALLOWED[check.dtype] for gap in gaps):
        worst = max(gaps)
        return f"different: by {worst:.1e} of the largest element", len(run.launches), findings
    return "computed", len(run.launches), findings


def _gap(wanted: torch.Tensor, got: torch.Tensor) -> float:
    """The largest difference, over the largest element; infinite where one is no number."""
    scale = max(float(wanted.abs().max()), 1e-3)
    return float((wanted.double() - got.double()).abs().nan_to_num(torch.inf).max()) / scale


def seconds(check: Check, stock: bool) -> float:
    start = time.process_time()
    try:
        with unguarded_launches() if stock else interpret():
            results(check, check.call, check.dtype)
    except Exception:
        return float("nan")
    return time.process_time() - start


def report(package: str, with_stock: bool, most: int | None) -> None:
    """Run the checks of one package and print what became of them."""
    counts: Counter[str] = Counter()
    launches, notes, timed = 0, [], (0.0, 0.0)
    seen: set[str] = set()
    for check in itertools.islice(CHECKS[package](), most):
        said, launched, findings = verdict(check)
        launches += launched
        counts[said.split(":")[0]] += 1
        label = f"{check.name} {str(check.dtype).removeprefix('torch.')}"
        if said != "computed":
            notes.append(f"  {label}: {said}")
        notes += [f"  {label}: found {finding}" for finding in sorted(set(findings))]
        operator = check.name.split()[0]
        if with_stock and said == "computed" and operator not in seen:
            seen.add(operator)
            ours, theirs = seconds(check, False), seconds(check, True)
            if theirs == theirs:
                timed = (timed[0] + ours, timed[1] + theirs)
    total = sum(counts.values())
    share = 100 * counts["computed"] / max(1, total)
    print(
        f"{package}: {total} checks, {launches} launches: {counts['computed']} computed "
        f"({share:.1f} %), {counts['refused']} refused, {counts['different']} different"
    )
    if with_stock:
        print(f"  one check of each operator: {timed[0]:.2f} s, stock interpreter {timed[1]:.2f} s")
    print("\n".join(notes), flush=True)


def install(packages: list[str], into: Path) -> None:
    """Put the packages into a folder, without torch and triton, and import from there."""
    wanted = [name for package in packages for name in PACKAGES[package]]
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(into)]
    subprocess.run([*command, "--upgrade", *wanted], check=True)
    sys.path.insert(0, str(into))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, help="keep the packages in this folder")
    parser.add_argument("--stock", action="store_true", help="time triton's own interpreter too")
    parser.add_argument("--first", type=int, metavar="N", help="only so many checks of each")
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help=", ".join(PACKAGES))
    options = parser.parse_args()
    packages = options.packages or list(PACKAGES)
    driver.set_active(AnyDevice())
    first_configuration_only()
    torch.cuda.get_device_properties = lambda *_: SimpleNamespace(multi_processor_count=8)
    with tempfile.TemporaryDirectory() as temporary:
        install(packages, options.into or Path(temporary))
        for package in packages:
            report(package, options.stock, options.first)


if __name__ == "__main__":
    main()
