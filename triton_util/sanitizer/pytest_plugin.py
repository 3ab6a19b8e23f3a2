"""`pytest --tilewise`: every kernel that the tests launch is checked on the CPU."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter


_FINDINGS = pytest.StashKey[Any]()
_FOLDER = pytest.StashKey[Path]()
_STACK = pytest.StashKey[contextlib.ExitStack]()
_RUN = pytest.StashKey[Any]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the plug-in."""
    group = parser.getgroup("tilewise", "checks of Triton kernels on the CPU")
    group.addoption("--tilewise", action="store_true", help="check every kernel launch")
    group.addoption("--tilewise-baseline", metavar="FILE", help="findings that are known")
    group.addoption(
        "--tilewise-write-baseline", action="store_true", help="write the findings to the baseline"
    )
    group.addoption("--tilewise-json", metavar="FILE", help="write the findings as JSON")
    group.addoption("--tilewise-sarif", metavar="FILE", help="write the findings as SARIF")
    group.addoption("--tilewise-target", metavar="sm_90", default="sm_90", help="compile for it")
    group.addoption("--tilewise-no-compile", action="store_true", help="compile nothing")
    group.addoption("--tilewise-no-cuda", action="store_true", help="do not answer for CUDA")


def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Prepare triton to interpret and torch to answer for CUDA, before any test imports them."""
    options = early_config.known_args_namespace
    if not options.tilewise:
        return
    from triton_util.sanitizer.checking import CannotCheckError, prepare
    from triton_util.sanitizer.command import target_number
    from triton_util.sanitizer.record import begin
    from triton_util.sanitizer.running import Choices, environment, recording

    stack = contextlib.ExitStack()
    inherited = os.environ.get("TILEWISE_RECORD")  # a worker of pytest-xdist
    try:
        choices = Choices(
            target_number(options.tilewise_target),
            not options.tilewise_no_compile,
            not options.tilewise_no_cuda,
        )
        folder = Path(inherited) if inherited else stack.enter_context(recording(choices))
        os.environ.update(environment(folder, choices))
        begin(folder)
        if choices.cuda:
            from triton_util.sanitizer.gpu import cuda

            cuda.install()
        prepare()
    except (CannotCheckError, ValueError) as error:
        stack.close()
        raise pytest.UsageError(str(error)) from error
    early_config.stash[_FOLDER] = folder
    early_config.stash[_STACK] = stack
    early_config.add_cleanup(stack.close)


def pytest_configure(config: pytest.Config) -> None:
    """Read the baseline, if requested."""
    if not config.getoption("tilewise"):
        return
    from triton_util.sanitizer.findings import Findings, read_baseline

    baseline = config.getoption("tilewise_baseline")
    if config.getoption("tilewise_write_baseline") and not baseline:
        raise pytest.UsageError("--tilewise-write-baseline needs --tilewise-baseline FILE")
    try:
        known = read_baseline(Path(baseline)) if baseline and Path(baseline).exists() else set()
    except ValueError as error:
        raise pytest.UsageError(str(error)) from error
    config.stash[_FINDINGS] = Findings(known)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Check each test, with its fixtures, in a run of its own."""
    if _FINDINGS not in item.config.stash:
        return (yield)
    from triton_util.sanitizer.checking import checking

    with checking() as run:
        item.stash[_RUN] = run
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Generator[None, Any, Any]:
    """Skip a test that fails after an unchecked launch, because its results are unknown."""
    report = yield
    run = item.stash.get(_RUN, None)
    fault = getattr(call.excinfo.value, "fault", None) if call.excinfo is not None else None
    if run is not None and run.unchecked and fault is None and report.failed:
        report.outcome = "skipped"
        at = (str(item.path), (item.location[1] or 0) + 1)
        report.longrepr = (*at, "Skipped: tilewise could not check a launch of this test")
    return report


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail a run in which all tests pass but something new was found."""
    config = session.config
    findings = config.stash.get(_FINDINGS, None)
    if findings is None or hasattr(config, "workerinput"):
        return
    from triton_util.sanitizer import reports
    from triton_util.sanitizer.running import finish_compiling

    finish_compiling(config.stash[_FOLDER])
    findings.read(config.stash[_FOLDER])
    files = [config.getoption(f"tilewise_{kind}") for kind in ("json", "sarif")]
    reports.write(findings, *[Path(file) if file else None for file in files])
    if config.getoption("tilewise_write_baseline"):
        findings.write_baseline(Path(config.getoption("tilewise_baseline")))
    elif findings.new and exitstatus == 0:
        session.exitstatus = 1


def pytest_terminal_summary(terminalreporter: TerminalReporter, config: pytest.Config) -> None:
    """Print one report at the end."""
    findings = config.stash.get(_FINDINGS, None)
    if findings is None or hasattr(config, "workerinput"):
        return
    from triton_util.sanitizer import reports

    terminalreporter.section("tilewise")
    terminalreporter.write_line(reports.text(findings))
    if reports.wants_annotations():
        terminalreporter.write_line(reports.github(findings))
