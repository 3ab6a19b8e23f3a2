"""How the tests are spread over processes, and which of them need not run again."""

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


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a process what passed before; asked once, because it takes some seconds."""
    config = node.config
    if not hasattr(config, "left_out"):
        from tests.support import kept_files

        config.left_out = kept_files.left_out() if whole_files(config) else []
    node.workerinput["left_out"] = config.left_out


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Slow groups begin, so that no long file is left for the end; what passed before is gone."""
    left_out = set(getattr(config, "workerinput", {}).get("left_out", ()))
    gone = [item for item in items if item.nodeid.partition("::")[0] in left_out]
    if gone:
        config.hook.pytest_deselected(items=gone)
        items[:] = [item for item in items if item not in set(gone)]
    slow = {group_of(item.nodeid) for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: group_of(item.nodeid) not in slow)


def whole_files(config: pytest.Config) -> bool:
    """Whether files were asked for, or all of them, and no tests within them."""
    chosen = config.option.keyword or config.option.markexpr or config.option.maxfail
    return not chosen and not any("::" in str(argument) for argument in config.args)


OUTCOMES: dict[str, set[str]] = {}  # of each test file, in the process that hands out the tests


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed or report.when == "call":
        OUTCOMES.setdefault(report.nodeid.partition("::")[0], set()).add(report.outcome)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Note the files that passed; one whose tests were all skipped did not."""
    if not hasattr(session.config, "left_out") or exitstatus not in (0, 1):
        return
    from tests.support import kept_files

    good = [file for file, said in OUTCOMES.items() if "passed" in said and "failed" not in said]
    kept_files.note(good)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    left_out = getattr(config, "left_out", ())
    if left_out:
        terminalreporter.write_line(
            f"{len(left_out)} test files passed before and nothing changed that they depend on "
            "(`make nightly` runs them all)"
        )
