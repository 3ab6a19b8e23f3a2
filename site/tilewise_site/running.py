"""Runs the cells of a notebook in this process, as a Jupyter kernel would, and keeps what shows.

A kernel for each lesson would import torch and start a judge eleven times; here two processes
do it once each and take lesson after lesson, each in a shell of its own.
"""

from __future__ import annotations

import contextlib
import html
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import RichOutput, capture_output
from traitlets.config import Config

from tilewise_site import interactive
from triton_util.client.judge import JudgeProcess


@dataclass(frozen=True)
class Shown:
    """What a cell showed, as HTML, and whether it came to its end."""

    html: str
    failed: bool = False


class PublishedResult(DisplayHook):  # type: ignore[misc]
    """The value of a cell's last line is displayed like anything else, without `Out[3]`."""

    def write_output_prompt(self) -> None:
        """No prompt."""

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        self.shell.display_pub.publish(format_dict, md_dict)

    def finish_displayhook(self) -> None:
        """No empty line."""


class PageShell(InteractiveShell):  # type: ignore[misc]
    """A shell that says it is a notebook, so that cards come as HTML."""

    kernel = "the builder of the site"
    displayhook_class = PublishedResult


@dataclass
class Page:
    """The lesson that is being run: it gives each control an id that no other has."""

    slug: str
    source: str = ""
    used: int = 0
    shown: list[str] = field(default_factory=list)

    def identity(self) -> str:
        self.used += 1
        return f"{self.slug}-{self.used}"


def run(slug: str, sources: Sequence[str]) -> list[Shown]:
    """What each code cell shows. Each lesson starts with nobody's progress and no hint given."""
    from triton_util.client import hints

    page = Page(slug)
    hints.follow("")
    with tempfile.TemporaryDirectory() as home, _environment(home), _standing_in(page):
        shell = _shell(home)
        try:
            return [_run_cell(shell, page, source) for source in sources]
        finally:
            PageShell.clear_instance()


@contextlib.contextmanager
def _environment(home: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in ("TILEWISE_HOME", "IPYTHONDIR")}
    os.environ.update(TILEWISE_HOME=home, IPYTHONDIR=home)
    main = sys.modules["__main__"]
    try:
        yield
    finally:
        sys.modules["__main__"] = main
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _shell(home: str) -> PageShell:
    config = Config()
    config.HistoryManager.hist_file = ":memory:"
    config.InteractiveShell.colors = "NoColor"
    shell: PageShell = PageShell.instance(config=config, ipython_dir=home)
    formatter = shell.display_formatter.mimebundle_formatter
    formatter.for_type_by_name("triton_util.tracing.record", "Record", _trace_bundle)
    return shell


def _run_cell(shell: PageShell, page: Page, source: str) -> Shown:
    page.source, page.shown = source, []
    with capture_output() as captured:
        result = shell.run_cell(source, store_history=True)
    if not result.success:
        return Shown("", failed=True)
    parts = [f"<pre>{html.escape(captured.stdout.rstrip())}</pre>"] if captured.stdout else []
    parts += page.shown
    return Shown("".join(parts + _displayed(captured.outputs)))


def _displayed(outputs: Sequence[RichOutput]) -> list[str]:
    """HTML of the displays, a later one in the place of the one that it updates."""
    places: dict[Any, str] = {}
    for number, output in enumerate(outputs):
        key = (output.transient or {}).get("display_id", number)
        places[key] = _html_of(output.data)
    return list(places.values())


def _html_of(data: dict[str, Any]) -> str:
    if "text/html" in data:
        return str(data["text/html"])
    return f"<pre>{html.escape(str(data.get('text/plain', '')))}</pre>"


@contextlib.contextmanager
def _standing_in(page: Page) -> Iterator[None]:
    """Explorers, predictions and quizzes show what works without a kernel."""
    import triton_util.explore  # noqa: F401  loads the explorers, which are looked for below
    from triton_util.client import predicting, quizzes

    def follow(text_of: Any, controls: dict[str, Any], *_: Any, **__: Any) -> None:
        name = getattr(text_of, "__name__", "") or text_of.func.__name__  # a partial has no name
        name = name.removesuffix("_text")
        fewer = interactive.FEWER_VALUES.get(name, {})
        made = interactive.controls_of(controls, fewer)
        note = "A choice of values; in your notebook it takes them all." if fewer else ""
        page.shown.append(
            interactive.explorer_html(name, made, text_of, False, page.identity(), note)
        )

    def predict(name: str, guess: Any, judge: JudgeProcess, display: Any) -> None:
        known = judge.ask({"op": "prediction", "name": name})
        page.shown.append(
            interactive.prediction_html(known["answer"], known["unit"], name, page.identity())
        )

    followers = [
        module
        for name, module in list(sys.modules.items())
        if name.startswith("triton_util.explore.") and hasattr(module, "follow")
    ]
    with contextlib.ExitStack() as stack:
        for module in followers:
            stack.enter_context(_replaced(module, "follow", follow))
        stack.enter_context(_replaced(predicting, "predict", predict))
        stack.enter_context(_replaced(quizzes, "quiz_html", interactive.quiz_html))
        yield


@contextlib.contextmanager
def _replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


def _trace_bundle(record: Any, include: Any = None, exclude: Any = None) -> dict[str, str]:
    """A traced launch: every step of every program can be looked at."""
    from triton_util.tracing.explorer import summary_html
    from triton_util.tracing.maps import touch_map

    longest = max((len(steps) for steps in record.programs), default=0)
    if not longest or len(record.programs) * longest > interactive.MOST_STATES:
        return {"text/html": summary_html(record)}
    controls = [
        interactive.Control("program", "program", "range", tuple(range(len(record.programs))), 0),
        interactive.Control("step", "step", "range", tuple(range(1, longest + 1)), 0),
    ]

    def state(program: int, step: int) -> str:
        last = len(record.programs[program]) - 1
        return str(touch_map(record, program, min(step - 1, last)).html)

    title = f"what {record.kernel} touches"
    identity = f"trace-{record.kernel}"
    shown = interactive.explorer_html(title, controls, state, True, identity)
    return {"text/html": summary_html(record) + shown}
