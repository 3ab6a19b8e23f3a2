"""What the browser tests share."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def shots(tmp_path_factory) -> Path:
    """Where screenshots go: TILEWISE_SCREENSHOTS, to look at them, or a passing folder."""
    chosen = os.environ.get("TILEWISE_SCREENSHOTS")
    folder = Path(chosen) if chosen else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder
