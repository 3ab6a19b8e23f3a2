"""The table of torch's operations: what is recorded does, when it is performed, what torch does."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch.nn import functional

from graders.judge.launch_trace.operations import Operations, strides_like
from graders.judge.launch_trace.recording import NeedsValue, Recorder
from graders.judge.launch_trace.tensors import Pretend, ValuelessTensor, Watch
from graders.judge.plan.kernels import Kernels
from graders.judge.plan.reader import steps_from_text
from graders.judge.plan.replay import Replay
from graders.judge.plan.steps import TensorRef, steps_to_text


@contextlib.contextmanager
def recording() -> Iterator[tuple[Recorder, ValuelessTensor]]:
    """Everything of torch inside is recorded and nothing computed; with an argument of (4, 6)."""
    recorder = Recorder("<test>")
    argument = without_values(torch.ones(4, 6), recorder)
    with Watch(recorder, Operations(recorder)), Pretend(recorder):
        yield recorder, argument


def without_values(x: torch.Tensor, recorder: Recorder) -> ValuelessTensor:
    """The layout of a tensor."""
    size = x.untyped_storage().nbytes() // x.element_size()
    meta = torch.empty(size, dtype=x.dtype, device="meta")
    view = meta.as_strided(x.shape, x.stride(), int(x.storage_offset()))
    recorder.storage_of(view)
    return ValuelessTensor(view, recorder)


def test_data_that_is_set_is_the_other_tensors() -> None:
    with recording() as (recorder, x):
        out = torch.empty(2, 3)
        before = out.view(-1)
        out.data = x
        assert out.shape == x.shape
        assert recorder.used(out) == recorder.used(x) != recorder.used(before)


@pytest.mark.parametrize(
    "alter",
    [
        lambda out, x: torch._C._swap_tensor_impl(out, x),
        lambda out, x: setattr(out, "meta", x.meta),
        lambda out, x: out.__dict__.update(x.__dict__),
        lambda out, x: setattr(out, "data", x),
    ],
)
def test_other_memory_behind_a_tensor_does_not_pass_unseen(alter: Callable[..., Any]) -> None:
    with recording() as (recorder, x):
        out = torch.empty(4, 6)
        with torch._C.DisableTorchFunction():
            alter(out, x)
        with pytest.raises(NeedsValue):
            recorder.used(out)
    assert [told.code for told in recorder.told.values()] == ["alters-tensor"]


def performed(act: Callable[[Any], Any], x: torch.Tensor) -> tuple[torch.Tensor, Recorder]:
    """What an action gives when it is recorded first and performed afterwards."""
    recorder = Recorder("<test>")
    argument = without_values(x, recorder)
    with Watch(recorder, Operations(recorder)), Pretend(recorder):
        result: TensorRef = recorder.used(act(argument))
    steps = steps_from_text(steps_to_text(recorder.steps))
    replay = Replay(Kernels("", "<test>", ()), "<test>", "cpu", 1 << 30)
    storage = torch.empty(0, dtype=x.dtype).set_(x.untyped_storage())
    run = SimpleNamespace(
        never_stored=lambda out: None, forget_stores=lambda view: None, launches=[]
    )
    replay.begin(run, {recorder.storage_of(argument.meta): storage}, ())
    replay.steps(steps)
    return replay.tensor(result), recorder


def written(x: torch.Tensor, change: Callable[[torch.Tensor], Any]) -> torch.Tensor:
    """New zeros after a change."""
    made = torch.zeros(4, 6)
    change(made)
    return made


MOVED: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "the argument": lambda x: x,
    "transposed": lambda x: x.t(),
    "contiguous": lambda x: x.t().contiguous(),
    "contiguous already": lambda x: x.contiguous(),
    "float16": lambda x: x.to(torch.float16),
    "double": lambda x: x.double(),
    "to integers": lambda x: (x.to(torch.int32)),
    "to truth": lambda x: x.bool(),
    "to the same": lambda x: x.float(),
    "cloned": lambda x: x.clone(),
    "a cloned part": lambda x: x[1:, ::2].clone(),
    "a cloned column": lambda x: x[:, 3].clone(),
    "padded": lambda x: functional.pad(x, (1, 2, 0, 3), value=7.0),
    "padded with zeros": lambda x: functional.pad(x, (0, 2)),
    "zeros like": lambda x: torch.zeros_like(x.t()),
    "ones": lambda x: torch.ones(4, dtype=torch.int32),
    "full": lambda x: torch.full((3, 4), 2.5),
    "new full": lambda x: x.new_full((2,), 3),
    "full of infinity": lambda x: torch.empty(3).fill_(float("inf")),
    "zeroed": lambda x: torch.empty_like(x).zero_(),
    "copied into": lambda x: torch.empty(6, 4).copy_(x.t()),
    "broadcast into": lambda x: torch.empty(4, 6).copy_(x[0]),
    "filled rows": lambda x: written(x, lambda made: made[1:3].fill_(5)),
    "set rows": lambda x: written(x, lambda made: made.__setitem__(slice(1, 3), 5.0)),
    "set a column": lambda x: written(x, lambda made: made.__setitem__((..., 2), x[:, 1])),
    "a tensor of numbers": lambda x: torch.tensor([1.0, 2.0, 3.0]),
    "a tensor of sizes": lambda x: torch.tensor([x.shape[0], 7]) * 2 + 1,
    "counted": lambda x: torch.arange(5),
    "counted from zeros": lambda x: torch.zeros(1, dtype=torch.int64)[:, None] + torch.arange(5),
    "ones added up": lambda x: torch.ones(3) + torch.full((3,), 0.5),
    "spaced": lambda x: torch.linspace(0, 1, 5),
    "a changed tensor of numbers": lambda x: torch.tensor([1.0, 2.0]).fill_(4.0),
    "copied over numbers": lambda x: torch.tensor([1.0] * 6).copy_(x[1]),
    "flat": lambda x: x.reshape(-1),
    "flat by a copy": lambda x: x.t().reshape(-1),
    "flat and square": lambda x: x.flatten().view(2, -1),
    "other bits": lambda x: x.view(torch.int32),
    "an axis more": lambda x: x.unsqueeze(0).squeeze(0),
    "expanded": lambda x: x[:, None, :].expand(4, 3, 6),
    "expanded and dense": lambda x: x.expand(2, 4, 6).contiguous(),
    "permuted": lambda x: x[None].permute(2, 0, 1),
    "a chunk": lambda x: x.chunk(2)[1],
    "a split": lambda x: x.split(3, dim=1)[1],
    "one of all": lambda x: x.unbind(0)[2],
    "diagonal": lambda x: x.diagonal(),
    "narrowed": lambda x: x.narrow(1, 2, 3),
    "strided": lambda x: x.as_strided((2, 2), (1, 2), 3),
    "without a gradient": lambda x: x.detach(),
    "on the GPU": lambda x: x.cuda().to("cuda").to(x.device),
    "in its own type": lambda x: torch.zeros((2, 3), dtype=x.dtype, device=x.device),
    "strided memory": lambda x: torch.empty_strided((3, 2), (1, 4)).fill_(1.0).t(),
}  # fmt: skip


@pytest.mark.parametrize("name", MOVED)
def test_what_is_recorded_does_what_torch_does(name: str) -> None:
    x = torch.arange(40.0)[3:27].view(4, 6)
    kept = x.clone()
    wanted = x if name == "on the GPU" else MOVED[name](x)
    found, recorder = performed(MOVED[name], x)
    assert recorder.told == {}
    assert (found.shape, found.stride(), found.dtype) == (
        wanted.shape, wanted.stride(), wanted.dtype,
    )  # fmt: skip
    assert torch.equal(found, wanted)
    assert torch.equal(x, kept)


COMPUTED: dict[str, Callable[[Any], Any]] = {
    "sum of two": lambda x: x + x,
    "with a number": lambda x: 2 * x,
    "total": lambda x: x.sum(),
    "in place": lambda x: x.add_(1),
    "into another": lambda x: torch.add(x, x, out=torch.empty_like(x)),
    "joined": lambda x: torch.cat([x, x]),
    "stacked": lambda x: torch.stack([x, x]),
    "chosen": lambda x: torch.where(x > 0, x, x),
    "compared": lambda x: x > 0,
    "product": lambda x: x @ x.t(),
    "sorted": lambda x: x.sort(),
    "reversed": lambda x: x.flip(0),
    "rolled": lambda x: x.roll(1),
    "a function": lambda x: functional.relu(x),
    "softmax": lambda x: torch.softmax(x, dim=-1),
    "running sum": lambda x: x.cumsum(0),
    "repeated": lambda x: x.repeat(2, 1),
    "random": lambda x: torch.randn_like(x),
    "numbers and values": lambda x: torch.ones(6) * x,
    "a norm": lambda x: functional.layer_norm(x, (6,)),
    "einsum": lambda x: torch.einsum("ij,ij->i", x, x),
    "lower triangle": lambda x: x.tril(),
}


@pytest.mark.parametrize("name", COMPUTED)
def test_what_computes_is_told(name: str) -> None:
    with recording() as (recorder, argument), contextlib.suppress(NeedsValue):
        COMPUTED[name](argument)
    assert "torch-computes" in {told.code for told in recorder.told.values()}


READ: dict[str, Callable[[Any], Any]] = {
    "item": lambda x: x[0, 0].item(),
    "number": lambda x: float(x[0, 0]),
    "integer": lambda x: int(x[0, 0]),
    "truth": lambda x: bool(x[0, 0]),
    "list": lambda x: x.tolist(),
    "array": lambda x: x.numpy(),
    "contains": lambda x: 2.0 in x,
    "index": lambda x: range(x[0, 0].long()),
}


@pytest.mark.parametrize("name", READ)
def test_reading_a_value_is_the_end(name: str) -> None:
    with recording() as (recorder, argument), pytest.raises((NeedsValue, TypeError)):
        READ[name](argument)
    assert "reads-values" in {told.code for told in recorder.told.values()}


def test_numbers_of_pythons_own_can_be_read() -> None:
    with recording() as (recorder, x):
        shape = torch.tensor(x.shape)
        assert shape.prod().item() == 24
        assert shape.tolist() == [4, 6]
        assert int(shape[1]) == 6
        assert bool((shape > 3).all())
        changed = torch.tensor([1.0]).copy_(x[0, :1])
        with pytest.raises(NeedsValue):
            changed.item()
    assert [told.code for told in recorder.told.values()] == ["reads-values"]


def test_a_tensor_without_values_looks_like_one_on_a_gpu() -> None:
    with recording() as (_, x):
        assert x.is_cuda
        assert not x.is_cpu
        assert str(x.device) == "cuda:0"
        assert x.get_device() == 0
        assert x.data_ptr() % 256 == 0
        assert x[1].data_ptr() - x.data_ptr() == 24
        assert "cuda:0" in repr(x)
        assert f"{x}" == str(x)
        assert torch.zeros(3, device="cuda").is_cuda
        assert {x: 1}[x] == 1
        assert isinstance(x, torch.Tensor)
        assert not torch.isnan(x).any()
        assert torch.isfinite(x).all()
        assert torch.equal(x, x[:1])


def test_two_arguments_share_memory_only_where_they_do() -> None:
    with recording() as (recorder, x):
        other = torch.empty_like(x)
        assert recorder.ref(x[1:]).storage == recorder.ref(x).storage
        assert recorder.ref(other).storage != recorder.ref(x).storage
        assert recorder.ref(x.contiguous()).storage == recorder.ref(x).storage
        assert recorder.ref(x.clone()).storage != recorder.ref(x).storage


@settings(max_examples=300, deadline=None)
@given(
    shape=st.lists(st.integers(0, 4), max_size=4),
    strides=st.lists(st.integers(0, 9), min_size=4, max_size=4),
)
@example(shape=[3, 1, 2], strides=[2, 0, 1, 0])
@example(shape=[2, 3], strides=[1, 2, 0, 0])
def test_new_memory_lies_as_torch_lays_it(shape: list[int], strides: list[int]) -> None:
    strides = strides[: len(shape)]
    real = torch.empty(200).as_strided(shape, strides)
    assert strides_like(shape, strides) == torch.empty_like(real).stride()
    found, _ = performed(lambda x: x.clone(), real)
    assert found.stride() == real.clone().stride()


def test_what_a_kernel_may_have_changed_is_no_number_any_more() -> None:
    with recording() as (recorder, _):
        filled = torch.zeros(4)
        row = filled[None, :]
        assert (filled + 1).known.tolist() == [1.0] * 4
        recorder.used(filled)  # handed to a kernel
        assert (filled + 1).known is None
        assert (row + 1).known is None
    assert {told.what for told in recorder.told.values()} == {"add"}


def test_numbers_by_chance_are_computed() -> None:
    with recording() as (recorder, _):
        torch.rand(3)
        torch.bernoulli(torch.ones(3))
    assert {told.code for told in recorder.told.values()} == {"torch-computes"}
