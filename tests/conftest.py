"""How the tests are spread over processes: a module stays together, but for the two largest."""

from __future__ import annotations

import pytest

# One short test per kernel or attack, with nothing but a judge in common.
SPREAD = ("test_course", "test_attacks_judge")


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of a module in one process, so that its servers and classes start once."""
    for item in items:
        module = item.path.stem
        if module not in SPREAD:
            item.add_marker(pytest.mark.xdist_group(module))
