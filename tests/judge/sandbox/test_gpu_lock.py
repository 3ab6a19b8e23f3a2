"""The lock on the GPU: many check at once, one times alone, and nobody is passed over."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from graders.judge.sandbox import gpu_lock
from graders.judge.sandbox.gpu_lock import hold_gpu, shared_at_once


@pytest.fixture(autouse=True)
def lock(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(gpu_lock, "LOCK", tmp_path / "gpu.lock")
    return tmp_path / "gpu.lock"


def test_those_that_check_share_it() -> None:
    with hold_gpu(exclusive=False), hold_gpu(exclusive=False):
        pass


def test_while_somebody_times_nobody_gets_it_at_once(lock: Path) -> None:
    with hold_gpu(exclusive=True):
        assert shared_at_once(lock) is None
    descriptor = shared_at_once(lock)
    assert descriptor is not None
    os.close(descriptor)


def test_who_waits_to_be_alone_goes_before_those_that_come_later(lock: Path) -> None:
    order: list[str] = []

    def alone() -> None:
        with hold_gpu(exclusive=True):
            order.append("alone")

    def later() -> None:
        with hold_gpu(exclusive=False):
            order.append("later")

    with hold_gpu(exclusive=False):
        first = threading.Thread(target=alone)
        first.start()
        deadline = time.monotonic() + 20
        while (descriptor := shared_at_once(lock)) is not None:  # until it waits
            os.close(descriptor)
            assert time.monotonic() < deadline
            time.sleep(0.01)
        second = threading.Thread(target=later)
        second.start()
        time.sleep(0.2)
        assert order == []
    first.join()
    second.join()
    assert order == ["alone", "later"]


def test_a_lock_ends_with_its_descriptor(lock: Path) -> None:
    descriptor = shared_at_once(lock)
    assert descriptor is not None
    os.close(descriptor)
    with hold_gpu(exclusive=True):
        pass
