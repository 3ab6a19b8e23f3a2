"""The times of model solutions that judges share: fresh, ours, and never believed blindly."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from graders.judge.speed import model_times
from graders.judge.speed.model_times import TimedRun, find, keep, key_of

RUN = TimedRun(1.0, 0.9, 0.06, 1.1)


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(model_times, "FOLDER", tmp_path / "times")
    monkeypatch.setattr(sys.modules[__name__], "RUN", replace(RUN, when=time.time()))
    return tmp_path / "times"


def test_a_time_is_found_by_what_it_depends_on() -> None:
    key = key_of("H200", "580", "source")
    keep(key, RUN)
    assert find(key) == RUN
    assert find(key_of("H200", "580", "other source")) is None


def test_an_old_time_is_none() -> None:
    key = key_of("a")
    keep(key, replace(RUN, when=time.time() - model_times.FRESH_SECONDS - 1))
    assert find(key) is None
    keep(key, replace(RUN, when=time.time() + 3600))
    assert find(key) is None, "nor is one of the future"


def test_a_damaged_file_is_none(folder: Path) -> None:
    key = key_of("a")
    keep(key, RUN)
    (folder / key).write_text("{")
    assert find(key) is None
    (folder / key).write_text('{"ms": 1}')
    assert find(key) is None


def test_a_folder_in_which_others_may_write_is_not_believed(folder: Path) -> None:
    key = key_of("a")
    keep(key, RUN)
    folder.chmod(0o777)
    assert find(key) is None
    folder.chmod(0o700)
    assert find(key) == RUN


def test_a_link_is_no_folder_of_ours(folder: Path, tmp_path: Path) -> None:
    key = key_of("a")
    keep(key, RUN)
    os.rename(folder, tmp_path / "elsewhere")
    os.symlink(tmp_path / "elsewhere", folder)
    assert find(key) is None
