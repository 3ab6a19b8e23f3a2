"""The kept verdicts are those of this tree, and a wrong one is found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from graders.judge.pipeline import Judge
from tests.support import kept_verdicts
from tests.support.kept_verdicts import ONE_IN, Kept, Kernel, Told

KERNEL = kept_verdicts.kernels("wrong")[0]
REFUSED = Told("failed", 0, 10, (KERNEL.code,), (), ("read",))


class Answering(Judge):
    """Says what it is told to say, and counts how often it was asked."""

    def __init__(self, told: Told) -> None:
        super().__init__()
        self.told, self.asked = told, 0


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Answering]:
    def ask(_: Kernel, judge: Answering) -> Told:
        judge.asked += 1
        return judge.told

    monkeypatch.setattr(Kernel, "ask", ask)
    monkeypatch.setattr(kept_verdicts, "JUDGED", tmp_path / "judged")
    with Answering(REFUSED) as judge:
        yield judge


def keep(monkeypatch: pytest.MonkeyPatch, file: Path, told: Told) -> None:
    kept_verdicts.write([(KERNEL, told)], file)
    monkeypatch.setattr(kept_verdicts, "kept", lambda: Kept.read(file))


def test_no_kept_verdict_is_stale() -> None:
    kept = Kept.read()
    if kept.libraries != kept_verdicts.libraries():
        pytest.skip(f"verdicts are kept of {kept.libraries}: here every kernel is judged")
    stale = kept.stale()
    assert not stale, (
        f"{len(stale)} verdicts are of kernels or of a judge that have changed since (among them "
        f"{stale[:3]}): run `make verdicts` and commit tests/kept_verdicts.json"
    )


def test_every_kept_verdict_is_as_it_should_be() -> None:
    kept = Kept.read()
    for kernel in kept_verdicts.every_kernel():
        told = kept.told(kernel)
        assert told is None or not kernel.wanting(told), f"{kernel.exercise}/{kernel.name}"


# Kernels that were once told under another name, or with a second finding that was not so.
TOLD_ALONE = {
    "vector_add": ("grid_too_small", "missing_mask"),
    "copy": ("offset_ignores_pid", "programs_too_far_apart", "starts_before_tensor", "lossy_dtype"),
    "relu2d": ("infinity_times_zero", "another_activation__leaky", "rows_for_elements"),
    "strided_copy": ("divided_by_wrong_size", "missing_mask__columns"),
    "transpose": ("not_transposed", "divided_by_wrong_size"),
    "rgb2grey": ("plane_distance_assumed", "flat_mask", "brackets_missing"),
    "bias_relu": ("bias_stride_ignored", "bias_mask_missing"),
    "gelu": ("tanh_approximate",),
    "softmax": ("rescaling_missing__inverted", "eps_added"),
    "layernorm": ("means_averaged", "between_blocks_missing"),
    "linear_bias_relu": ("epilogue_in_half",),
    "grouped_matmul": ("tiles_lost__columns_by_block_m", "grid_too_large"),
    "autotuned_matmul": ("reset_only_while_tuning",),
    "attention": (
        "eps_added",
        "hidden_too_little",
        "rescaling_missing__after",
        "strides_exchanged__queries",
    ),
}


@pytest.mark.parametrize("exercise", TOLD_ALONE)
def test_a_mistake_is_told_by_its_own_name_alone(exercise: str) -> None:
    kept = Kept.read()
    for name in TOLD_ALONE[exercise]:
        path = kept_verdicts.ROOMS.wrong_kernels / exercise / f"{name}.py"
        kernel = Kernel(exercise, "wrong", path)
        told = kept.told(kernel)
        assert told is None or told.codes == (kernel.code,), (
            f"tests/wrong_kernels/{exercise}/{name}.py is told as {list(told.codes)}"
        )


def test_what_has_not_changed_is_not_judged_again(
    judge: Answering, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(kept_verdicts, "sampled", lambda kernel: False)
    keep(monkeypatch, tmp_path / "kept.json", REFUSED)
    assert kept_verdicts.verdict(KERNEL, judge) == REFUSED
    assert judge.asked == 0
    monkeypatch.setattr(kept_verdicts, "key", lambda exercise: "another judge")
    assert kept_verdicts.verdict(KERNEL, judge) == REFUSED
    assert judge.asked == 1


def test_another_text_is_judged(
    judge: Answering, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(kept_verdicts, "sampled", lambda kernel: False)
    keep(monkeypatch, tmp_path / "kept.json", REFUSED)
    edited = tmp_path / KERNEL.path.name
    edited.write_text(KERNEL.text + "\n# edited\n")
    kept_verdicts.verdict(Kernel(KERNEL.exercise, "wrong", edited), judge)
    assert judge.asked == 1


def test_the_sample_finds_a_verdict_that_is_not_true(
    judge: Answering, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(kept_verdicts, "sampled", lambda kernel: True)
    keep(monkeypatch, tmp_path / "kept.json", REFUSED)
    assert kept_verdicts.verdict(KERNEL, judge) == REFUSED
    judge.told = Told("passed", 10, 10, (), (), ("read",))
    with pytest.raises(AssertionError, match="although nothing changed"):
        kept_verdicts.verdict(KERNEL, judge)


def test_another_commit_draws_another_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    for seed in ("one commit", "another", "one commit"):
        monkeypatch.setattr(kept_verdicts, "seed", lambda seed=seed: seed)
        drawn.append([k for k in kept_verdicts.every_kernel() if kept_verdicts.sampled(k)])
    assert drawn[0] == drawn[2] != drawn[1]
    expected = len(kept_verdicts.every_kernel()) / ONE_IN
    assert expected / 2 < len(drawn[0]) < expected * 2


def test_what_tests_judge_is_not_judged_again_to_be_kept(
    judge: Answering, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(kept_verdicts, "kept", lambda: Kept({}, {}))
    monkeypatch.setattr(kept_verdicts.Kept, "read", lambda: Kept({}, {}))
    monkeypatch.setattr(kept_verdicts, "every_kernel", lambda: [KERNEL])
    kept_verdicts.verdict(KERNEL, judge)
    assert list(kept_verdicts.renewed(False, 1, None)) == [(KERNEL, REFUSED)]
    assert judge.asked == 1


@pytest.mark.parametrize(
    ("kind", "told", "said"),
    [
        ("right", Told("passed", 10, 10, (), (), ("read", "compile", "interpret")), ""),
        ("right", Told("passed", 10, 10, (), ("idle",), ("read", "compile", "interpret")), "idle"),
        ("right", Told("passed", 10, 10, (), (), ("read", "interpret")), "compile"),
        ("right", Told("failed", 0, 10, ("timeout",), (), ("read",)), "is failed"),
        ("wrong", REFUSED, ""),
        ("wrong", Told("failed", 10, 10, (KERNEL.code,), (), ()), "all points"),
        ("wrong", Told("failed", 0, 10, ("values",), (), ()), "refused as"),
        ("wrong", Told("ungraded", None, 10, (), (), ()), "is ungraded"),
        ("stub", Told("failed", 2, 10, ("nothing-stored",), (), ()), "has 2 points"),
    ],
)
def test_what_is_wanting_is_said(kind: str, told: Told, said: str) -> None:
    wanting = Kernel(KERNEL.exercise, kind, KERNEL.path).wanting(told)
    assert said in wanting if said else not wanting
