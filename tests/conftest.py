"""How the tests are spread over processes."""

from __future__ import annotations

import pytest


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist looks at the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of a file stay together, unless they name another group; slow groups begin.

    What a file prepares once is then prepared once, and no long file is left for the end.
    """
    slow: set[str] = set()
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.path.as_posix()))
        if item.get_closest_marker("slow"):
            slow.add(group_of(item))
    items.sort(key=lambda item: group_of(item) not in slow)


def group_of(item: pytest.Item) -> str:
    """The group in which the test runs, one process for all of it."""
    marker = item.get_closest_marker("xdist_group")
    assert marker is not None
    return str(marker.args[0])
