"""How tests are spread over processes, and which known kernels are judged (support/drawn.py)."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling

from tests.support.drawn import Budget, Exercise, Plan, exercise_of, summary

# On a machine that has much to do, making an example takes long; that is no failure.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")

PLAN, BUDGET = pytest.StashKey[Plan](), pytest.StashKey[Budget]()
KNOWN: list[Exercise] = []  # one for each test of a known kernel
RAN: list[Exercise] = []  # one for each of them that was not skipped


def pytest_configure(config: pytest.Config) -> None:
    """Make the plan, or take the one of the process that distributes the tests."""
    sent = getattr(config, "workerinput", None)
    if sent is None:
        folder = tempfile.TemporaryDirectory()
        config.add_cleanup(folder.cleanup)
        config.stash[PLAN] = plan = Plan.of_environment()
        config.stash[BUDGET] = Budget(Path(folder.name, "judging"), plan.minutes, time.time())
    else:
        config.stash[PLAN] = plan = Plan.from_data(sent["plan"])
        config.stash[BUDGET] = Budget(Path(sent["clock"]), plan.minutes, sent["run_started"])


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    plan, budget = node.config.stash[PLAN], node.config.stash[BUDGET]
    clock = {"clock": str(budget.file), "run_started": budget.run_started}
    node.workerinput |= {"plan": plan.to_data(), **clock}


class Spread(LoadFileScheduling):  # type: ignore[misc]
    """Gives a process one group after the other."""

    def _split_scope(self, nodeid: str) -> str:
        return self.config.stash[PLAN].group(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Spread | None:
    """In place of xdist's own for `--dist loadfile`."""
    return Spread(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Slow groups begin, so that no long file is left for the end; the kernels come last."""
    plan = config.stash[PLAN]
    slow = {plan.group(item.nodeid) for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (plan.place(item.nodeid), plan.group(item.nodeid) not in slow))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out tests that are not drawn, and kernels for which no time is left."""
    mark, kernel = item.get_closest_marker("drawn"), exercise_of(item.nodeid) is not None
    if picked(item.config) or not (mark or kernel):
        return
    plan = item.config.stash[PLAN]
    if not plan.chosen(item.nodeid, mark.args if mark else None):
        pytest.skip("this commit does not draw these")
    if kernel and plan.mode != "nightly" and item.config.stash[BUDGET].used:
        pytest.skip("no time was left to judge these")


def picked(config: pytest.Config) -> bool:
    """Whether tests were asked for by name: then all of them run."""
    return bool(config.option.keyword) or any("::" in str(word) for word in config.args)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    exercise = exercise_of(report.nodeid)
    if exercise is not None and report.when == "setup":
        KNOWN.append(exercise)
    if exercise is not None and report.when == "call":
        RAN.append(exercise)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if KNOWN:
        terminalreporter.write_line(summary(config.stash[PLAN], RAN, KNOWN))
