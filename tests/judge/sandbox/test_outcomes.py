"""Every way in which a submission can end is an outcome of its job, and the next job still runs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from graders.judge.sandbox.pool import Job, Outcome, Workers

ADD = """
import torch
import triton
import triton.language as tl

@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    total = tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, total, mask=mask)

def vector_add(x, y):
    out = torch.empty_like(x)
    add_kernel[(triton.cdiv(x.numel(), 64),)](x, y, out, x.numel(), BLOCK_SIZE=64)
    return out
"""


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers() as running:
        yield running


def add_job(n: int = 100) -> Job:
    x, y = torch.randn(n), torch.randn(n)
    return Job(ADD, "add.py", "vector_add", (x, y), (n,), torch.float32)


def job(body: str, seconds: float = 10.0, before: str = "") -> Job:
    """A launcher with one argument, x = [0, 1, 2, 3], that must give four float32."""
    source = f"import torch\n{before}\ndef solve(x):\n" + "".join(
        f"    {line}\n" for line in body.splitlines()
    )
    return Job(source, "s.py", "solve", (torch.arange(4.0),), (4,), torch.float32, seconds=seconds)


def run_then_add(workers: Workers, first: Job) -> Outcome:
    """The outcome of `first`; the honest job behind it must be untouched by it."""
    outcome, honest = workers.run([first, add_job()])
    assert honest.status == "returned"
    return outcome


def test_an_honest_kernel_gives_its_result_and_its_launch(workers: Workers) -> None:
    todo = add_job()
    (outcome,) = workers.run([todo])
    assert outcome.status == "returned"
    assert outcome.output is not None
    torch.testing.assert_close(outcome.output, todo.args[0] + todo.args[1])
    assert outcome.never_stored is not None
    assert outcome.never_stored.shape == (100,)
    assert not outcome.never_stored.any()
    assert outcome.inputs_changed == ()
    assert outcome.faults == ()
    (launch,) = outcome.launches
    assert launch.kernel == "add_kernel"
    assert launch.grid[0] == 2
    assert launch.meta["BLOCK_SIZE"] == 64


ENDINGS = {
    "os._exit(0)": ("import os\nos._exit(0)", "exited"),
    "os._exit(1)": ("import os\nos._exit(1)", "exited"),
    "sys.exit": ("import sys\nsys.exit(3)", "exited"),
    "raise SystemExit": ("raise SystemExit", "exited"),
    "null pointer": ("import ctypes\nctypes.string_at(0)", "crashed"),
    "abort": ("import os\nos.abort()", "crashed"),
    "huge tensor": ("return torch.zeros(1 << 36)", "out-of-memory"),
    "huge string": ("return 'a' * (1 << 35)", "out-of-memory"),
    "huge list": ("return [0] * (1 << 34)", "out-of-memory"),
    "deep recursion": ("return solve(x)", "raised"),
    "KeyboardInterrupt": ("raise KeyboardInterrupt", "raised"),
    "GeneratorExit": ("raise GeneratorExit", "raised"),
    "fork": ("import os\nos.fork()", "raised"),
    "thread": ("import threading\nthreading.Thread(target=print).start()", "raised"),
    "subprocess": ("import subprocess\nsubprocess.run(['/bin/true'])", "raised"),
    "kill the parent": ("import os\nos.kill(os.getppid(), 9)", "raised"),
    "write a file": ("open('/tmp/here', 'w')", "raised"),
    "socket": ("import socket\nsocket.socket()", "raised"),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_an_ending_is_an_outcome(workers: Workers, name: str) -> None:
    body, status = ENDINGS[name]
    outcome = run_then_add(workers, job(body))
    assert outcome.status == status, outcome
    assert outcome.output is None
    if status == "raised":
        assert outcome.error is not None
        assert outcome.error.line is not None
    if status == "crashed":
        assert outcome.signal.startswith("SIG")


@pytest.mark.parametrize(
    "body",
    ["while True: pass", "import time\ntime.sleep(60)", "(10 ** 10 ** 9)"],
    ids=["loop", "sleep", "one long instruction"],
)
def test_what_never_ends_is_a_timeout(workers: Workers, body: str) -> None:
    outcome = run_then_add(workers, job(body, seconds=0.3))
    assert outcome.status == "timeout"
    assert outcome.seconds == pytest.approx(0.3)


def test_a_job_that_did_not_get_the_processor_gets_more_time(workers: Workers) -> None:
    # asleep it has no processor, as on a machine with too much to do
    waiting = job("import time\ntime.sleep(0.5)\nreturn x + x", seconds=0.3)
    assert run_then_add(workers, waiting).status == "returned"


def test_a_hoarder_is_stopped(workers: Workers) -> None:
    hoard = "keep = []\nwhile True: keep.append(torch.ones(1 << 20))"
    # on a busy machine it takes its time to fill the memory
    assert run_then_add(workers, job(hoard, seconds=60)).status == "out-of-memory"


def test_catching_everything_does_not_stop_the_clock(workers: Workers) -> None:
    stubborn = "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
    assert run_then_add(workers, job(stubborn, seconds=0.3)).status == "timeout"


def test_an_endless_import_counts_for_all_jobs_of_the_source(workers: Workers) -> None:
    endless = job("return x", seconds=0.3, before="while True: pass")
    outcomes = workers.run([endless, endless, endless, add_job()])
    assert [o.status for o in outcomes] == ["timeout"] * 3 + ["returned"]


def test_the_batch_has_a_limit_of_its_own(workers: Workers) -> None:
    slow = [job(f"import time\ntime.sleep({60 + i})", seconds=0.4) for i in range(4)]
    outcomes = workers.run(slow, seconds=0.6)
    assert [o.status for o in outcomes] == ["timeout"] * 4


def test_stop_on_leaves_the_rest_alone(workers: Workers) -> None:
    jobs = [add_job(), job("while True: pass", seconds=0.3), add_job(), add_job()]
    outcomes = workers.run(jobs, stop_on={"timeout"})
    assert [o.status for o in outcomes] == ["returned", "timeout", "not-run", "not-run"]


def test_no_jobs_no_outcomes(workers: Workers) -> None:
    assert workers.run([]) == []


RETURNS = {
    "None": ("pass", "None"),
    "a number": ("return 1.0", "a value of type float"),
    "a list": ("return [1.0, 2.0]", "a list of 2 values"),
    "a tuple": ("return x + 1, x", "a tuple of 2 values"),
    "another shape": ("return torch.zeros(5)", "shape (5,)"),
    "another dtype": ("return torch.zeros(4, dtype=torch.float64)", "dtype float64"),
    "an input": ("return x", "shares its memory with argument 1"),
    "a view of an input": ("return x.view(2, 2).view(4)", "shares its memory with argument 1"),
    "another device": ("return torch.zeros(4, device='meta')", "device 'meta'"),
    "a subclass": ("return torch.nn.Parameter(x + 1)", "a Parameter"),
    "sparse": ("return torch.zeros(4).to_sparse()", "layout torch.sparse_coo"),
    "array": ("return x.numpy() + 1", "type ndarray"),
}


@pytest.mark.parametrize("name", RETURNS)
def test_what_cannot_be_a_result_is_said_in_words(workers: Workers, name: str) -> None:
    body, words = RETURNS[name]
    outcome = run_then_add(workers, job(body))
    assert outcome.status == "wrong-return", outcome
    assert words in outcome.returned
    assert outcome.output is None


@pytest.mark.parametrize(
    "body",
    [
        "return x * 2",
        "return (x * 2).requires_grad_()",
        "return torch.stack([x * 2, x], dim=1)[:, 0]",
        "return torch.zeros(1).expand(4) + 2 * x",
    ],
)
def test_any_plain_tensor_can_be_a_result(workers: Workers, body: str) -> None:
    outcome = run_then_add(workers, job(body))
    assert outcome.status == "returned"
    assert outcome.output is not None
    assert outcome.output.tolist() == [0.0, 2.0, 4.0, 6.0]


def test_torch_memory_is_not_a_kernels_store(workers: Workers) -> None:
    outcome = run_then_add(workers, job("return x * 2"))
    assert outcome.never_stored is None or bool(outcome.never_stored.all())


@pytest.mark.parametrize(
    ("maker", "dtype"),
    [
        ("torch.empty(4)", torch.float32),
        ("torch.empty_like(x)", torch.float32),
        ("x.new_empty(4)", torch.float32),
        ("torch.empty_strided((4,), (2,))", torch.float32),
        ("torch.empty(4, dtype=torch.float16)", torch.float16),
        ("torch.empty(4, dtype=torch.bfloat16)", torch.bfloat16),
    ],
)
def test_new_memory_is_poison(workers: Workers, maker: str, dtype: torch.dtype) -> None:
    source = f"import torch\ndef solve(x):\n    return {maker}\n"
    (outcome,) = workers.run([Job(source, "s.py", "solve", (torch.ones(4),), (4,), dtype)])
    assert outcome.output is not None
    assert bool(outcome.output.isnan().all())


def test_new_integers_are_extreme(workers: Workers) -> None:
    source = "import torch\ndef solve():\n    return torch.empty(4, dtype=torch.int32)\n"
    (outcome,) = workers.run([Job(source, "s.py", "solve", (), (4,), torch.int32)])
    assert outcome.output is not None
    assert outcome.output.tolist() == [torch.iinfo(torch.int32).max] * 4


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64"])
def test_any_integer_keeps_its_dtype(workers: Workers, dtype: str) -> None:
    source = f"import torch\ndef solve():\n    return torch.arange(5, dtype=torch.{dtype})\n"
    (outcome,) = workers.run([Job(source, "s.py", "solve", (), (5,), "any-integer")])
    assert outcome.output is not None
    assert outcome.output.dtype == getattr(torch, dtype)
    assert outcome.output.tolist() == [0, 1, 2, 3, 4]


def test_any_integer_is_not_any_dtype(workers: Workers) -> None:
    source = "import torch\ndef solve():\n    return torch.zeros(5)\n"
    (outcome,) = workers.run([Job(source, "s.py", "solve", (), (5,), "any-integer")])
    assert outcome.status == "wrong-return"


def test_printing_is_kept_within_bounds(workers: Workers) -> None:
    outcome = run_then_add(workers, job("print('hello')\nreturn x * 2"))
    assert outcome.stdout == "hello\n"
    flood = "import os\nfor i in range(30_000): print('y' * 1000)\nos.write(1, b'z' * 100)"
    outcome = run_then_add(workers, job(flood + "\nreturn x * 2"))
    assert outcome.status == "returned"
    assert 10_000 <= len(outcome.stdout) <= 20_000


def test_an_error_has_its_line_and_text(workers: Workers) -> None:
    source = "import torch\n\ndef helper(x):\n    return x.nothing\n\ndef solve(x):\n"
    source += "    return helper(x)\n"
    (outcome,) = workers.run([Job(source, "s.py", "solve", (torch.ones(1),), (1,), torch.float32)])
    assert outcome.error is not None
    assert outcome.error.line == 4
    assert outcome.error.source == "return x.nothing"
    assert outcome.error.message.startswith("AttributeError: ")


def test_an_error_while_loading_is_reported_for_every_job(workers: Workers) -> None:
    broken = job("return x * 2", before="1 / 0")
    outcomes = workers.run([broken, broken])
    assert [o.status for o in outcomes] == ["raised", "raised"]
    assert {o.error.message for o in outcomes if o.error} == {"ZeroDivisionError: division by zero"}


def test_a_missing_launcher_is_an_error(workers: Workers) -> None:
    (outcome,) = workers.run([Job("x = 1\n", "s.py", "solve", (), (1,), torch.float32)])
    assert outcome.status == "raised"
    assert outcome.error is not None
    assert "no function 'solve'" in outcome.error.message


def test_a_fault_of_the_kernel_is_reported_by_code_and_argument(workers: Workers) -> None:
    unmasked = ADD.replace(", mask=mask)", ")")
    x = torch.randn(100)
    (outcome,) = workers.run([Job(unmasked, "s.py", "vector_add", (x, x), (100,), torch.float32)])
    assert outcome.status == "raised"
    assert outcome.error is not None
    assert outcome.error.code == "out-of-bounds-load"
    assert outcome.error.argument == "x_ptr"
    assert outcome.error.line == 10
