"""Binaries made ahead of a GPU: by jailed forks, for one submission, and found by it alone."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graders.judge.plan.steps import Kernel, Parameter, to_json
from graders.judge.sandbox import ahead_compilers, pool, starting
from graders.judge.sandbox.pool import NO_STEPS, Work, Workers
from tests.support.plans import job, new
from tests.support.submissions import with_codes

SOURCE = """
def scale_kernel(x_ptr, out_ptr, n_elements, BLOCK_SIZE):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets, mask=offsets < n_elements)
    tl.store(out_ptr + offsets, x * 2, mask=offsets < n_elements)
"""
ENDLESS = SOURCE.replace("x * 2", "x * tl.sum(tl.full((BLOCK_SIZE,), 1, tl.float32))").replace(
    "    tl.store", "    for _ in tl.static_range(100000):\n        x = x * 2 + 1\n    tl.store"
)
KERNEL = Kernel(
    line=2,
    name="scale_kernel",
    names={"tl": {"module": "triton.language"}},
    parameters=(
        *(Parameter(name, "", None, False) for name in ("x_ptr", "out_ptr", "n_elements")),
        Parameter("BLOCK_SIZE", "constexpr", None, False),
    ),
    specialize_not=(),
    align_not=(),
    noinline=False,
)


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers(device="cuda") as running:
        yield running


def work(source: str = SOURCE) -> Work:
    kernels = [to_json(kernel) for kernel in with_codes([KERNEL], source)]
    return Work(source, "s.py", kernels, NO_STEPS, None, ())


def launches(*sizes: int, dtype: str = "float32") -> list[Any]:
    tensor = {"tensor": [0, dtype, [], [], 0]}
    return [
        {"kernel": 0, "positional": [tensor, tensor, 64], "named": {"BLOCK_SIZE": size}}
        for size in sizes
    ]


def binaries(workers: Workers) -> list[Path]:
    """All that the warm process keeps."""
    assert workers._started is not None
    return sorted((workers._started.directory / "binaries").rglob("*.cubin"))


def test_each_variant_is_compiled_once_and_kept(workers: Workers) -> None:
    assert workers.build(work(), launches(16, 32, 16, 64)) == ""
    first = binaries(workers)
    assert len(first) == 3
    before = {path: path.stat().st_size for path in first}
    assert workers.build(work(), launches(16, 128)) == ""
    assert len(binaries(workers)) == 4, "one more, for the same submission"
    assert before.items() <= {p: p.stat().st_size for p in binaries(workers)}.items()


def test_what_does_not_compile_is_left_to_the_gpu(workers: Workers) -> None:
    wrong = work(SOURCE.replace("x * 2", "x * nobody_knows"))
    kept = binaries(workers)
    assert workers.build(wrong, launches(16)) == ""
    assert binaries(workers) == kept


def test_compiling_that_does_not_end_is_ended(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "BUILD_SECONDS", 1.0)
    assert workers.build(work(ENDLESS), launches(16)) == "time"
    assert workers.build(work(), launches(16)) == "", "and the next one is served"


def test_what_nobody_needs_any_more_is_stopped(workers: Workers) -> None:
    said: list[str] = []
    thread = threading.Thread(
        target=lambda: said.append(workers.build(work(ENDLESS + "#"), launches(16)))
    )
    thread.start()
    while not workers._building:
        time.sleep(0.01)
    time.sleep(0.3)
    workers.stop_building()
    thread.join()
    assert said == ["stopped"]
    workers.stop_building()  # nothing is built: nothing happens
    assert workers.build(work(), launches(16)) == ""


def test_memory_has_a_limit(workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "BUILD_BYTES", 1)
    assert workers.build(work(ENDLESS + "##"), launches(16)) == "memory"


@pytest.fixture
def anything(monkeypatch: pytest.MonkeyPatch) -> Iterator[Workers]:
    """Workers whose children run any Python, in the jail of those that drive a GPU."""
    monkeypatch.setattr(starting, "_ZYGOTE", "tests/support/any_python.py")
    with Workers(device="cuda") as running:
        yield running


LIST = (
    "import os\n"
    "root = os.environ['TRITON_CACHE_DIR']\n"
    "print(sorted(name.rpartition('.')[2] for _, _, names in os.walk(root) for name in names))"
)


def test_a_worker_finds_the_binaries_of_its_submission_alone(anything: Workers) -> None:
    mine = job([], new(1), source=LIST)
    assert anything.build(Work(LIST, "s.py", (), NO_STEPS, None, ()), launches(16)) == ""
    kept = anything._started.directory / "binaries" / "1"  # type: ignore[union-attr]
    kept.mkdir(exist_ok=True)
    (kept / "deep").mkdir()
    (kept / "deep" / "a.cubin").write_bytes(b"made")
    (found,) = anything.run([mine])
    assert found.returned == "['cubin']\n", found
    (other,) = anything.run([job([], new(1), source=LIST + "\n")])
    assert other.returned == "[]\n", other


def test_an_instructors_umask_closes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that a worker may not read would be its own error."""
    before = os.umask(0o077)
    try:
        monkeypatch.setattr(starting, "_ZYGOTE", "tests/support/any_python.py")
        with Workers(device="cuda") as workers:
            test_a_worker_finds_the_binaries_of_its_submission_alone(workers)
    finally:
        os.umask(before)


def test_what_a_worker_writes_stays_with_it(anything: Workers) -> None:
    """Its copy is thrown away: the next worker of the same submission has the first one."""
    source = (
        "import os\n"
        "place = os.environ['TRITON_CACHE_DIR'] + '/a.cubin'\n"
        "print(open(place).read())\n"
        "os.remove(place)\n"
        "open(place, 'w').write('other')\n"
    )
    anything.build(Work(source, "s.py", (), NO_STEPS, None, ()), launches(16))
    kept = anything._started.directory / "binaries" / "1"  # type: ignore[union-attr]
    kept.mkdir(exist_ok=True)
    (kept / "a.cubin").write_bytes(b"made")
    for _ in range(2):
        (found,) = anything.run([job([], new(1), source=source)])
        assert found.returned == "made\n", found


def test_the_kept_binaries_are_closed_to_workers(anything: Workers) -> None:
    source = "import os\nprint(os.listdir(os.environ['TRITON_CACHE_DIR'] + '/../binaries'))"
    (found,) = anything.run([job([], new(1), source=source)])
    assert found.error is not None, found.returned
    assert found.error.message.startswith("PermissionError"), found.error


def test_no_link_is_followed(tmp_path: Path) -> None:
    source, target, secret = tmp_path / "source", tmp_path / "target", tmp_path / "secret"
    (source / "deep").mkdir(parents=True)
    target.mkdir()
    secret.mkdir()
    (secret / "file").write_text("secret")
    (source / "deep" / "a.cubin").write_bytes(b"made")
    os.symlink(secret / "file", source / "link")
    os.symlink(secret, source / "folder")
    os.mkfifo(source / "pipe")
    ahead_compilers._copy(source, target)
    found = sorted(str(p.relative_to(target)) for p in target.rglob("*") if p.is_file())
    assert found == ["deep/a.cubin"]


def test_no_more_is_copied_than_is_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    target.mkdir()
    for number in range(4):
        (source / str(number)).write_bytes(b"x" * 10)
    monkeypatch.setattr(ahead_compilers, "MOST_BYTES", 25)
    ahead_compilers._copy(source, target)
    assert sum(path.stat().st_size for path in target.iterdir()) <= 25
    shutil.rmtree(target)
    target.mkdir()
    monkeypatch.setattr(ahead_compilers, "MOST_BYTES", 1000)
    monkeypatch.setattr(ahead_compilers, "MOST_FILES", 3)
    ahead_compilers._copy(source, target)
    assert len(list(target.iterdir())) == 3
