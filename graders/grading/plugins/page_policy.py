"""The content policy of formgrader's pages: only nbgrader's scripts and ours run on them.

The pages show students' text, and run with the grader's rights. As on feedback pages, nothing is
loaded from elsewhere, and no text can run code. nbgrader's scripts are needed, so each one
carries a nonce that is new for every response; its buttons' handlers are allowed by digest. The
nonces are put into the *templates*, before any student's text is in the page.
"""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment
from jinja2.ext import Extension

from graders.grading.plugins import rubric_items

_nonce: ContextVar[str] = ContextVar("nonce", default="")
# nbgrader puts parts of the URL into its scripts, between quotation marks
_QUOTED = str.maketrans({'"': "&quot;", "<": "&lt;", ">": "&gt;", "\\": "&#92;", "\n": " "})
_SCRIPT = re.compile(r"<script\b")
_HANDLER = re.compile(r"""\son[a-z]+="([^"{]*)\"""", re.I)


class NumberedScripts(Extension):
    """Gives each script of a template the nonce of the current response."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        environment.globals["nonce"] = _nonce.get
        environment.globals["rubric"] = rubric_items.of_page

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        """Return the template's text with nonces, before it is compiled."""
        return _SCRIPT.sub('<script nonce="{{ nonce() }}"', source)


def numbered(environment: Environment) -> Environment:
    """Return the same environment, whose templates have nonces from now on."""
    if NumberedScripts.identifier not in environment.extensions:
        environment.add_extension(NumberedScripts)
        if environment.cache is not None:
            environment.cache.clear()  # templates compiled without nonces
    return environment


@cache
def _handlers(templates: Path) -> str:
    """Return the digests of the handlers of nbgrader's buttons, read from its templates."""
    found: set[str] = set()
    for path in sorted(templates.rglob("*")):
        if path.is_file():
            found |= set(_HANDLER.findall(path.read_text(encoding="utf-8")))
    digests = (hashlib.sha256(text.encode()).digest() for text in sorted(found))
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


def policy(nonce: str, templates: Path) -> str:
    """Return the policy of one response, whose scripts carry `nonce`."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'nonce-{nonce}' 'unsafe-hashes' {_handlers(templates)}",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data:",
            "font-src 'self'",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def take_over(base: Any, handlers: Any) -> None:
    """Make formgrader's handlers send the policy; a second call has no effect."""
    handler = base.BaseHandler
    if hasattr(handler, "tilewise_nonce"):
        return
    handler.tilewise_nonce = ""
    templates = Path(handlers.template_path)
    inherited, exporter, render = handler.content_security_policy, handler.exporter, handler.render

    def both(self: Any) -> str:
        self.tilewise_nonce = self.tilewise_nonce or secrets.token_urlsafe(16)
        return f"{inherited.fget(self)}, {policy(self.tilewise_nonce, templates)}"

    def with_numbers(self: Any) -> Any:
        made = exporter.fget(self)
        numbered(made.environment)
        _nonce.set(self.tilewise_nonce)
        return made

    def rendered(self: Any, name: str, **names: Any) -> str:
        numbered(self.settings["nbgrader_jinja2_env"])
        _nonce.set(self.tilewise_nonce)
        quoted = {k: v.translate(_QUOTED) if isinstance(v, str) else v for k, v in names.items()}
        return str(render(self, name, **quoted))

    handler.content_security_policy = property(both)
    handler.exporter, handler.render = property(with_numbers), rendered
    # A student's files have the server's origin: as pages they must not run anything.
    handlers.SubmissionFilesHandler.content_security_policy = "default-src 'none'; sandbox"
    handlers.FormgraderHandler.get = _own_course(handlers)


def _own_course(handlers: Any) -> Any:
    """Return formgrader's entry handler, restricted to the course's own folder.

    For any other folder it would run the configuration as code. A link in a student's text
    could point to a folder with a file that the student handed in.
    """
    original = handlers.FormgraderHandler.get

    def get(self: Any) -> Any:
        asked = self.get_argument("path", "")
        if asked and Path(asked).resolve() != Path(self.coursedir.root).resolve():
            raise handlers.web.HTTPError(
                403, "This formgrader opens its own course only: start Jupyter in the other one."
            )
        return original(self)

    return get
