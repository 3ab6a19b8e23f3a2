"""One table of hardware: whoever speaks of a GPU speaks of the same figures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from triton_util import bench, explore, hardware
from triton_util.explain import offline
from triton_util.explain.occupancy import occupancy
from triton_util.explore.budget import budget
from triton_util.hardware import ARCHITECTURES, GPUS, KIB, MIB, find_gpu
from triton_util.interpreter.costs import DeviceModel

ROOT = Path(hardware.__file__).parent


def test_sizes_that_the_drivers_report() -> None:
    sizes = {name: (GPUS[name].l2_bytes // MIB, GPUS[name].processors) for name in explore.GPUS}
    assert sizes == {"T4": (4, 40), "A100": (40, 108), "H100": (50, 132), "H200": (60, 132)}


def test_every_gpu_has_an_architecture_that_agrees() -> None:
    for gpu in GPUS.values():
        assert gpu.shared_memory == gpu.architecture.shared_per_program
        assert gpu.bfloat16 == (gpu.capability >= 80)
        assert gpu.fp16_tflops > gpu.fp32_tflops > 0
    for architecture in ARCHITECTURES.values():
        held = architecture.shared_per_program + architecture.reserved
        assert held == architecture.shared_per_processor <= 228 * KIB


def test_lessons_and_benchmarks_take_their_gpus_from_the_table() -> None:
    assert bench.GPUS is GPUS
    assert all(explore.GPUS[name] is GPUS[name] for name in explore.GPUS)
    assert find_gpu("NVIDIA H200") is explore.GPUS["H200"]


def test_the_modelled_gpu_is_the_h100_of_the_table() -> None:
    model, h100 = DeviceModel(), GPUS["H100"]
    assert "H100" in model.name
    assert model.memory_bandwidth == h100.gbytes_per_second * 1e9
    assert (model.l2_bytes, model.multiprocessors) == (h100.l2_bytes, h100.processors)
    assert model.matrix_flops == h100.fp16_tflops * 1e12
    assert model.vector_flops == h100.fp32_tflops * 1e12
    assert model.shared_per_multiprocessor == h100.architecture.shared_per_processor


def test_compiling_without_a_gpu_answers_as_an_a100() -> None:
    a100 = GPUS["A100"]
    assert offline.PROPERTIES["max_shared_mem"] == a100.shared_memory
    assert offline.PROPERTIES["multiprocessor_count"] == a100.processors


@pytest.mark.parametrize("name", list(explore.GPUS))
def test_estimate_and_compiler_agree_on_what_fits(name: str) -> None:
    """The estimate before compiling, and the explanation after it, ask the same processor."""
    need = budget(64, 64, 32, num_warps=4, num_stages=3)
    found = occupancy(GPUS[name].architecture, need.registers, need.shared_bytes(name), 4)
    assert need.blocks_per_sm(name) == found.programs


def test_no_other_module_keeps_figures_of_its_own() -> None:
    figures = re.compile(r"\b(3350|3_350|4800|4_800|2039|989\.4|66\.9|3\.35e12|4\.8e12)\b")
    for path in ROOT.rglob("*.py"):
        if path.name != "hardware.py":
            found = figures.search(path.read_text())
            assert not found, f"{path.relative_to(ROOT)} says {found and found[0]}: see hardware.py"
