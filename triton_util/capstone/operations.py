"""Choose the kernels that the model runs on: the learner's, if they exist and are correct.

There may be three versions of each operation: the function that the learner passes, the code that
last passed a check, and the model solution. The first one whose results agree with torch's is used.
"""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional

from triton_util.client import remembered
from triton_util.model_solutions import model_solutions

Launcher = Callable[..., Any]

YOURS, PASSED = "yours, of this notebook", "yours, as it last passed"
MODEL, TORCH = "the model solution", "torch"
CLOSE = 1e-3  # the error of a wrong kernel is larger


def _numbers(*shape: int) -> torch.Tensor:
    """Reproducible numbers that look random, some of them above 2 and some below -2."""
    count = torch.Size(shape).numel()
    return (3.0 * torch.sin(torch.arange(count) * 1.7 + count)).view(shape)


def _linear_backward(
    x: torch.Tensor, w: torch.Tensor, out: torch.Tensor, dout: torch.Tensor
) -> Any:
    g = torch.where(out > 0, dout, 0.0)
    return g @ w, g.t() @ x, g.sum(0)


def _cross_entropy(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(logits, targets, reduction="none")


def _cross_entropy_backward(
    logits: torch.Tensor, targets: torch.Tensor, dloss: torch.Tensor
) -> torch.Tensor:
    shares = torch.softmax(logits, dim=1)
    return (shares - functional.one_hot(targets, logits.shape[1])) * dloss[:, None]


BY_TORCH: dict[str, Launcher] = {
    "linear_bias_relu": lambda x, w, b: torch.relu(functional.linear(x, w, b)),
    "linear_bias_relu_backward": _linear_backward,
    "matmul": torch.matmul,
    "cross_entropy": _cross_entropy,
    "cross_entropy_backward": _cross_entropy_backward,
    "softmax": lambda x: torch.softmax(x, dim=1),
}
LESSONS = {
    "linear_bias_relu": "08",
    "linear_bias_relu_backward": "14",
    "matmul": "08",
    "cross_entropy": "21",
    "cross_entropy_backward": "21",
    "softmax": "07",
}


def _tried_on(name: str, device: str) -> tuple[torch.Tensor, ...]:
    """Small arguments of that operation, with odd sizes and, as in the model, strides."""
    logits, targets = _numbers(6, 37), torch.tensor([0, 36, 5, 17, 1, 20])
    x, w = _numbers(6, 19), _numbers(21, 19)
    out = torch.relu(functional.linear(x, w, _numbers(21)))
    made: dict[str, tuple[torch.Tensor, ...]] = {
        "linear_bias_relu": (x, w, _numbers(21)),
        "linear_bias_relu_backward": (x, w, out, _numbers(6, 21)),
        "matmul": (x, w.t()),
        "cross_entropy": (logits, targets),
        "cross_entropy_backward": (logits, targets, torch.tensor(0.5).expand(6)),
        "softmax": (logits,),
    }
    return tuple(tensor.to(device) for tensor in made[name])


def agrees(name: str, launcher: Launcher, device: str) -> bool:
    """Return whether a launcher agrees with torch for small arguments. It may raise anything."""
    args = _tried_on(name, device)
    want = BY_TORCH[name](*args)
    try:
        found = launcher(*args)
        pairs = zip(found, want, strict=True) if isinstance(want, tuple) else [(found, want)]
        return all(
            got.shape == due.shape and torch.allclose(got, due, rtol=CLOSE, atol=CLOSE / 10)
            for got, due in pairs
        )
    except Exception:
        return False


def operations(*given: Launcher, device: str = "cpu") -> tuple[dict[str, Launcher], dict[str, str]]:
    """Return a launcher for each operation, and who wrote it.

    given: functions of the notebook, identified by name. Each is tried on small arguments.
    """
    own = {_name(launcher): launcher for launcher in given}
    unknown = sorted(set(own) - set(BY_TORCH))
    if unknown:
        raise ValueError(f"the model needs {', '.join(BY_TORCH)}, and not {', '.join(unknown)}")
    launchers, whose = {}, {}
    for name in BY_TORCH:
        refused = ""
        for owner, launcher in _candidates(name, own):
            if owner == TORCH or agrees(name, launcher, device):
                launchers[name], whose[name] = launcher, owner + refused
                break
            if owner == YOURS:
                refused = " (that of this notebook is not right yet)"
    return launchers, whose


def _name(launcher: Launcher) -> str:
    return str(getattr(launcher, "__name__", launcher))


def _candidates(name: str, own: dict[str, Launcher]) -> Iterator[tuple[str, Launcher]]:
    if name in own:
        yield YOURS, own[name]
    passed = remembered.load(remembered.PASSED_CODE).get(name)
    if isinstance(passed, str):
        yield from _of_source(PASSED, name, passed)
    model = model_solutions().get(name)
    if model is not None:
        yield from _of_source(MODEL, name, model)
    yield TORCH, BY_TORCH[name]


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """A folder for modules, kept as long as this process: Triton reads kernel sources there."""
    return tempfile.TemporaryDirectory(prefix="tilewise-capstone-")


def _of_source(owner: str, name: str, source: str) -> Iterator[tuple[str, Launcher]]:
    """The launcher in a complete source text; nothing if the text cannot be run."""
    kind = "passed" if owner == PASSED else "model"
    path = Path(_folder().name) / f"{kind}_{name}.py"
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(f"capstone_{kind}_{name}", path)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        launcher = getattr(module, name)
    except Exception:
        return
    yield owner, launcher


def table(whose: dict[str, str]) -> str:
    """Return whose kernel each operation runs on, one line each."""
    rows = [f"{name:26} lesson {LESSONS[name]}   {owner}" for name, owner in whose.items()]
    return "\n".join(rows)
