"""`pytest --tilewise`: every kernel that the tests launch is checked on the CPU."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from triton_util.sanitizer.findings import Findings, read_baseline, wants_annotations

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

_FINDINGS = pytest.StashKey[Findings]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the plug-in."""
    group = parser.getgroup("tilewise", "checks of Triton kernels on the CPU")
    group.addoption("--tilewise", action="store_true", help="check every kernel launch")
    group.addoption("--tilewise-baseline", metavar="FILE", help="findings that are known")
    group.addoption(
        "--tilewise-write-baseline", action="store_true", help="write the findings to the baseline"
    )


def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Before any test imports triton: it must interpret."""
    if early_config.known_args_namespace.tilewise:
        os.environ["TRITON_INTERPRET"] = "1"


def pytest_configure(config: pytest.Config) -> None:
    """Get ready, if asked."""
    if not config.getoption("tilewise"):
        return
    from triton_util.sanitizer.checking import CannotCheckError, prepare

    baseline = config.getoption("tilewise_baseline")
    if config.getoption("tilewise_write_baseline") and not baseline:
        raise pytest.UsageError("--tilewise-write-baseline needs --tilewise-baseline FILE")
    try:
        prepare()
        known = read_baseline(Path(baseline)) if baseline and Path(baseline).exists() else set()
    except (CannotCheckError, ValueError) as error:
        raise pytest.UsageError(str(error)) from error
    config.stash[_FINDINGS] = Findings(known)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Each test, with its fixtures, is checked by itself."""
    findings = item.config.stash.get(_FINDINGS, None)
    if findings is None:
        return (yield)
    from triton_util.sanitizer.checking import checking

    with checking(findings):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Generator[None, Any, Any]:
    """A launch that was stopped fails its test, and is in the report as well."""
    findings = item.config.stash.get(_FINDINGS, None)
    fault = getattr(call.excinfo.value, "fault", None) if call.excinfo is not None else None
    if findings is not None and fault is not None:
        findings.add(fault)
    return (yield)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A run in which all tests pass and something new was found has failed."""
    findings = session.config.stash.get(_FINDINGS, None)
    if findings is None:
        return
    if session.config.getoption("tilewise_write_baseline"):
        findings.write_baseline(Path(session.config.getoption("tilewise_baseline")))
    elif findings.new and exitstatus == 0:
        session.exitstatus = 1


def pytest_terminal_summary(terminalreporter: TerminalReporter, config: pytest.Config) -> None:
    """One report at the end."""
    findings = config.stash.get(_FINDINGS, None)
    if findings is None:
        return
    terminalreporter.section("tilewise")
    terminalreporter.write_line(findings.text())
    if wants_annotations():
        terminalreporter.write_line(findings.annotations())
