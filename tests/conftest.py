"""How the tests are spread over processes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling

# On a machine that has much to do, making an example takes long; that is no failure.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")


def group_of(nodeid: str) -> str:
    """What runs in one process, one after the other: a file, or the kernels of one exercise.

    A file prepares things for all of its tests; the kernels need no more than a judge. (The
    marker `xdist_group` would say the same, but pytest 9.2 does not hear of it.)
    """
    file, _, test = nodeid.partition("::")
    _, _, parameters = test.partition("[")
    lesson_exercise_kernel = parameters.split("-", 2)
    if file.endswith("test_course.py") and len(lesson_exercise_kernel) == 3:
        return f"kernels of {lesson_exercise_kernel[1]}"
    return file


class Spread(LoadFileScheduling):  # type: ignore[misc]
    """Gives a process one group after the other."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Spread | None:
    """In place of xdist's own for `--dist loadfile`."""
    return Spread(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow groups begin, so that no long file is left for the end."""
    slow = {group_of(item.nodeid) for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: group_of(item.nodeid) not in slow)
