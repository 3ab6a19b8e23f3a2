"""The capstone's model: it learns, the same on kernels as by torch, and writes words."""

import dataclasses
import json

import torch

from tests.support.interpreting_process import InterpretingProcess
from triton_util.capstone import grammar
from triton_util.capstone.model import LARGE, TINY, logits_of, parameters
from triton_util.capstone.operations import BY_TORCH
from triton_util.capstone.training import train, write

FEW = "dataclasses.replace(TINY, steps=6, batch=24)"
PRELUDE = (
    "import dataclasses, json\nfrom triton_util.capstone.model import TINY\n"
    "from triton_util.capstone.operations import operations\n"
    "from triton_util.capstone.training import train, write\n"
)


def test_the_first_steps_on_kernels_are_those_of_torch(monkeypatch, tmp_path):
    monkeypatch.setenv("TILEWISE_HOME", str(tmp_path))
    with InterpretingProcess(PRELUDE) as process:
        told = process.run(
            f"sizes = {FEW}\nkernels, whose = operations()\nrun = train(sizes, kernels)\n"
            "print(json.dumps([run.losses, write(run, kernels, 12), write(run, None, 12)]))"
        )
    losses, sample, by_torch = json.loads(told)
    expected = train(dataclasses.replace(TINY, steps=6, batch=24)).losses
    assert losses[-1] < losses[0]
    for loss, right in zip(losses, expected, strict=True):
        assert abs(loss - right) <= 0.01 * right
    assert sample == by_torch


def test_the_tiny_model_learns_to_write_words():
    run = train(TINY)
    assert run.losses[0] > 3.0
    assert sum(run.losses[-10:]) / 10 < 0.6
    known, words = grammar.known_words(write(run, length=300))
    assert words > 40
    assert known >= 0.8 * words


def test_a_training_is_the_same_each_time():
    few = dataclasses.replace(TINY, steps=4)
    assert train(few).losses == train(few).losses


def test_launchers_that_are_torchs_give_what_torch_gives():
    few = dataclasses.replace(TINY, steps=20)
    through, plain = train(few, BY_TORCH), train(few)
    torch.testing.assert_close(
        torch.tensor(through.losses), torch.tensor(plain.losses), rtol=1e-4, atol=0
    )


def test_a_gradient_that_is_wrong_shows_in_the_curve():
    """Otherwise the comparison would prove nothing."""

    def halved(logits, targets, dloss):
        return 0.5 * BY_TORCH["cross_entropy_backward"](logits, targets, dloss) + 0.01

    few = dataclasses.replace(TINY, steps=30)
    wrong = train(few, {**BY_TORCH, "cross_entropy_backward": halved}).losses
    apart = max(abs(a - b) / b for a, b in zip(wrong, train(few).losses, strict=True))
    assert apart > 0.01


def test_the_lesson_counts_the_numbers_that_are_learned_right():
    learned = parameters(TINY, torch.Generator().manual_seed(0), "cpu")
    from graders.course.capstone.predictions import PREDICTIONS

    assert sum(part.numel() for part in learned.all()) == (
        PREDICTIONS["numbers_that_are_learned"].answer
    )
    assert len(grammar.LETTERS) == 23


def test_the_large_model_has_the_shapes_that_it_says():
    learned = parameters(LARGE, torch.Generator().manual_seed(0), "cpu")
    seen = torch.zeros(2, LARGE.context, dtype=torch.int64)
    assert logits_of(learned, seen, None).shape == (2, len(grammar.LETTERS))
