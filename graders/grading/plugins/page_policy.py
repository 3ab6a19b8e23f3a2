"""The content policy of formgrader's pages: what runs on them is nbgrader's own, and nothing else.

They show what students wrote, with the rights of whoever grades. As on our feedback, nothing is
loaded from elsewhere and no text can run anything. nbgrader's pages need its scripts, so each one
carries a number that is new for every answer; the handlers in its buttons are allowed by digest.
The numbers get into the *templates*, before anything that a student said is in the page.
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

_nonce: ContextVar[str] = ContextVar("nonce", default="")
# nbgrader puts parts of the address into its scripts, between quotation marks
_QUOTED = str.maketrans({'"': "&quot;", "<": "&lt;", ">": "&gt;", "\\": "&#92;", "\n": " "})
_SCRIPT = re.compile(r"<script\b")
_HANDLER = re.compile(r"""\son[a-z]+="([^"{]*)\"""", re.I)


class NumberedScripts(Extension):
    """Gives each script of a template the number of the answer that is under way."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        environment.globals["nonce"] = _nonce.get

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        """The template's text, before it is compiled."""
        return _SCRIPT.sub('<script nonce="{{ nonce() }}"', source)


def numbered(environment: Environment) -> Environment:
    """The same environment, whose templates carry numbers from now on."""
    if NumberedScripts.identifier not in environment.extensions:
        environment.add_extension(NumberedScripts)
        if environment.cache is not None:
            environment.cache.clear()  # what was compiled without numbers
    return environment


@cache
def _handlers(templates: Path) -> str:
    """The digests of what nbgrader's buttons do, as its templates say it."""
    found: set[str] = set()
    for path in sorted(templates.rglob("*")):
        if path.is_file():
            found |= set(_HANDLER.findall(path.read_text(encoding="utf-8")))
    digests = (hashlib.sha256(text.encode()).digest() for text in sorted(found))
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


def policy(nonce: str, templates: Path) -> str:
    """The policy of one answer, whose scripts carry `nonce`."""
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
    """Let formgrader's handlers send the policy; a second call changes nothing."""
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
    # A student's files come in the server's own name: as pages they may do nothing at all.
    handlers.SubmissionFilesHandler.content_security_policy = "default-src 'none'; sandbox"
    handlers.FormgraderHandler.get = _own_course(handlers)


def _own_course(handlers: Any) -> Any:
    """The way into formgrader; of other folders it would run the configuration as code.

    A link in a student's text could lead there, and to a file that the student handed in.
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
