"""Launches and kernels as the plan has them: arguments, names, hooks, tuning."""

from __future__ import annotations

import pytest

from graders.judge.compiling.process import CompileWorker
from graders.judge.plan.steps import Allocate, Fill, Launch, TensorRef, Tune
from graders.judge.records import Case, TensorSpec
from tests.judge.launch_trace.honest_styles import HEAD, KERNEL, LAUNCH
from tests.support.capturing import captured, first_case, the_launch, the_tuning
from tests.support.exercise_records import an_exercise

TUNED = (
    """
@triton.autotune(
    configs=[triton.Config({"BLOCK_SIZE": 64}), triton.Config({"BLOCK_SIZE": 128}, num_warps=8)],
    key=["n_elements"], %s
)"""
    + KERNEL
)
TUNED_LAUNCH = """
def vector_add(x, y):
    output = torch.zeros_like(x)
    n = x.numel()
    add_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK_SIZE"]),)](x, y, output, n)
    return output
"""


def test_a_launch_is_written_down_as_it_was_made(worker: CompileWorker) -> None:
    text = HEAD + KERNEL + f"\ndef vector_add(x, y):{LAUNCH}"
    found = captured(text, worker)
    launch, case = the_launch(found), first_case(found)
    x, y = (TensorRef(n, "float32", (7,), (1,), 0) for n in (0, 1))
    assert case.inputs == (0, 1)
    assert launch.grid == [1]
    assert launch.positional[:2] == (x.to_json(), y.to_json())
    assert launch.positional[2] == case.result
    assert launch.positional[3] == 7
    assert launch.named == {"BLOCK_SIZE": 1024}
    assert launch.line is not None
    assert "add_kernel[" in text.split("\n")[launch.line - 1]
    (kernel,) = found.plan.kernels
    assert (kernel.name, [p.name for p in kernel.parameters][-1]) == ("add_kernel", "BLOCK_SIZE")
    assert kernel.parameters[-1].annotation == "constexpr"
    assert text.split("\n")[kernel.line - 1] == "@triton.jit"


NAMES = (
    HEAD
    + """
import math
from math import tau
from triton import language
from triton.language.extra import libdevice
from triton.language import exp as power
from triton_util import get_1d_offset

SCALE = tl.constexpr(2.0)
SIZE: tl.constexpr = 3
KIND = tl.float16
PAIR = (1, 2)
odd = object()

@triton.jit
def twice(v):
    return v * SCALE

def made(factor):
    @triton.jit
    def add_kernel(x_ptr, y_ptr, output_ptr, n, BLOCK: tl.constexpr = 64, F: tl.constexpr = twice):
        offsets = get_1d_offset(BLOCK, tl.program_id(0))
        x = tl.load(x_ptr + offsets, mask=offsets < n).to(KIND)
        x = libdevice.tanh(twice(x) * factor + math.pi + tau + PAIR[0] + SIZE)
        language.store(output_ptr + offsets, power(F(x)), mask=offsets < n)
    return add_kernel

def vector_add(x, y):
    output = torch.empty_like(x)
    for factor in (3, 4, 3):
        made(factor)[1,](x, y, output, len(x), num_warps=8)
    return output
"""
)


def test_names_of_kernels_stand_for_values(worker: CompileWorker) -> None:
    found = captured(NAMES, worker)
    assert found.findings == ()
    launches = [step for step in first_case(found).steps if isinstance(step, Launch)]
    numbers = [launch.kernel for launch in launches]
    assert numbers[0] == numbers[2] != numbers[1]  # as many kernels as there are closures
    kernel = found.plan.kernels[numbers[1]]
    names = dict(kernel.names)
    helper = names["twice"]["kernel"]
    assert found.plan.kernels[helper].names["SCALE"] == {"constexpr": 2.0}
    assert kernel.parameters[-1].default == {"kernel": helper}
    assert kernel.parameters[-2].default == 64
    assert names["factor"] == 4
    assert names["KIND"] == {"dtype": "fp16"}
    assert names["PAIR"] == {"tuple": [1, 2]}
    assert names["SIZE"] == 3
    assert names["math"]["numbers"]["pi"] == pytest.approx(3.14159, abs=1e-4)
    assert names["tau"] == pytest.approx(6.28318, abs=1e-4)
    assert names["language"] == names["tl"] == {"module": "triton.language"}
    assert names["power"]["library"][-1] == "exp"
    assert names["get_1d_offset"]["library"] == ["triton_util.indexing", "get_1d_offset"]
    assert "odd" not in names


def test_a_tuned_launch_has_a_trial_for_every_configuration(worker: CompileWorker) -> None:
    tune = the_tuning(captured(HEAD + TUNED % "" + TUNED_LAUNCH, worker))
    assert (tune.configs, tune.known, tune.kernel) == (2, False, "add_kernel")
    assert set(tune.arguments) == {"x_ptr", "y_ptr", "output_ptr"}
    assert tune.finish == ()
    assert [trial.config["BLOCK_SIZE"] for trial in tune.trials] == [64, 128]
    assert tune.trials[1].config["num_warps"] == 8
    for trial, size in zip(tune.trials, (64, 128), strict=True):
        assert (trial.before, trial.after) == ((), ())
        (launch,), (chosen,) = trial.launch, trial.chosen
        assert isinstance(launch, Launch)
        assert launch == chosen
        assert launch.named["BLOCK_SIZE"] == size


def test_reset_to_zero_is_a_fill_before_every_trial_and_at_the_end(worker: CompileWorker) -> None:
    tune = the_tuning(
        captured(HEAD + TUNED % 'reset_to_zero=["output_ptr"],' + TUNED_LAUNCH, worker)
    )
    output = tune.arguments["output_ptr"]
    for steps in (*(trial.before for trial in tune.trials), tune.finish):
        (fill,) = steps
        assert isinstance(fill, Fill)
        assert (fill.target.to_json(), fill.value) == (output, 0)


def test_restore_value_keeps_a_copy_and_brings_it_back(worker: CompileWorker) -> None:
    text = HEAD + TUNED % 'restore_value=["output_ptr"],' + TUNED_LAUNCH
    tune = the_tuning(captured(text, worker))
    output = tune.arguments["output_ptr"]
    for trial in tune.trials:
        *_, kept = trial.before
        (restored,) = trial.after
        assert kept.source.to_json() == output  # type: ignore[union-attr]
        assert restored.target.to_json() == output  # type: ignore[union-attr]
        assert restored.source == kept.target  # type: ignore[union-attr]


def test_a_key_that_was_seen_before_is_not_tuned_again(worker: CompileWorker) -> None:
    sizes = (100, 100, 64)
    cases = tuple(Case(f"{n}", (TensorSpec((s,)),) * 2) for n, s in enumerate(sizes))
    found = captured(HEAD + TUNED % "" + TUNED_LAUNCH, worker, an_exercise(cases=cases))
    tunes = [step for case in found.plan.cases for step in case.steps if isinstance(step, Tune)]
    assert [tune.known for tune in tunes] == [False, True, False]
    assert len({tune.key for tune in tunes}) == 2
    assert tunes[1].trials[0].launch == ()
    assert len(tunes[1].trials[0].chosen) == 1


def test_pruning_leaves_configurations_out(worker: CompileWorker) -> None:
    prune = 'prune_configs_by={"early_config_prune": lambda configs, named, **kw: configs[1:]},'
    tune = the_tuning(captured(HEAD + TUNED % prune + TUNED_LAUNCH, worker))
    assert (tune.configs, len(tune.trials), tune.known) == (2, 1, True)


def test_hooks_of_a_configuration_are_part_of_its_launch(worker: CompileWorker) -> None:
    text = (
        HEAD
        + TUNED.replace(
            'triton.Config({"BLOCK_SIZE": 64})',
            'triton.Config({"BLOCK_SIZE": 64}, pre_hook=lambda named: named["output_ptr"].zero_())',
        )
        % ""
        + TUNED_LAUNCH
    )
    with_hook, without = the_tuning(captured(text, worker)).trials
    assert [type(step) for step in (*with_hook.before, *with_hook.launch)] == [Fill, Launch]
    assert [type(step) for step in with_hook.chosen] == [Fill, Launch]
    assert without.before == ()


def test_heuristics_are_answered_from_the_arguments(worker: CompileWorker) -> None:
    rules = """
@triton.heuristics({
    "BLOCK_SIZE": lambda args: triton.next_power_of_2(args["n_elements"]),
    "ALIGNED": lambda args: args["x_ptr"].data_ptr() % 16 == 0,
})"""
    kernel = KERNEL.replace(
        "BLOCK_SIZE: tl.constexpr", "BLOCK_SIZE: tl.constexpr, ALIGNED: tl.constexpr"
    )
    launch = the_launch(captured(HEAD + rules + kernel + TUNED_LAUNCH, worker))
    assert (launch.named["BLOCK_SIZE"], launch.named["ALIGNED"]) == (8, True)
    assert launch.grid == [1]


def test_memory_of_the_module_is_the_modules(worker: CompileWorker) -> None:
    text = (
        (HEAD + "SCRATCH = torch.zeros(64)\n" + KERNEL + f"\ndef vector_add(x, y):{LAUNCH}")
        .replace("(x, y, output, n,", "(x, y, SCRATCH, n,")
        .replace("return output", "return SCRATCH")
    )
    found = captured(text, worker)
    made = [step.storage for step in found.plan.module.steps if isinstance(step, Allocate)]
    assert [case.result["tensor"][0] for case in found.plan.cases] == made * 3
