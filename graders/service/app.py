"""The URLs of the service, and the pages that a browser opens."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from tornado import web

from graders.service.board import Board
from graders.service.http import (
    ClassService,
    HealthHandler,
    JobHandler,
    JobsHandler,
    LearnerHandler,
    ServiceHandler,
    StatusHandler,
)


class BoardHandler(LearnerHandler):
    """The learner's own place on the board: get it, join, leave."""

    def _board(self) -> Board:
        if self.service.board is None:
            raise web.HTTPError(404)
        return self.service.board

    def get(self) -> None:
        self.finish({"name": self._board().name_of(self.learner), "page": self._board().page()})

    def post(self) -> None:
        self.data()  # JSON only, which a form on another site cannot send
        self.finish({"name": self._board().join(self.learner)})

    def delete(self) -> None:
        self._board().leave(self.learner)
        self.finish({"name": None})


class BoardPage(LearnerHandler):
    """The board page without a hub: the browser asks for the token as a password."""

    def token(self, header: str) -> str:
        return password_in(header)

    def secret(self) -> str:
        return "-" * 32  # a viewer with the shared token has no place on the board

    def unknown(self) -> None:
        self.set_header("WWW-Authenticate", 'Basic realm="token of the class", charset="UTF-8"')
        self.set_status(401)
        self.finish()

    def get(self) -> None:
        if self.service.board is None:
            raise web.HTTPError(404)
        self.finish(self.service.board.page())


def password_in(header: str) -> str:
    """Return the password of basic authentication, or ""."""
    kind, _, value = header.partition(" ")
    try:
        given = base64.b64decode(value, validate=True).decode() if kind.lower() == "basic" else ""
    except (binascii.Error, ValueError):
        return ""
    return given.partition(":")[2]


def hub_pages(hub: Any, prefix: str) -> list[Any]:
    """Return the handlers of the board page for browsers that are logged in at the hub."""
    from jupyterhub.services.auth import HubOAuthCallbackHandler, HubOAuthenticated

    class HubBoardPage(HubOAuthenticated, ServiceHandler):  # type: ignore[misc]
        hub_auth = hub

        @web.authenticated
        def get(self) -> None:
            if self.service.board is None:
                raise web.HTTPError(404)
            self.finish(self.service.board.page())

    class Callback(HubOAuthCallbackHandler):  # type: ignore[misc]
        hub_auth = hub

    return [(f"{prefix}board", HubBoardPage), (f"{prefix}oauth_callback", Callback)]


def application(
    service: ClassService, prefix: str = "/", hub: Any = None, cookie_secret: bytes = b""
) -> web.Application:
    """Return the application below `prefix`; `hub` is the HubOAuth of a JupyterHub service."""
    shared = {"service": service}
    routes: list[Any] = [
        (f"{prefix}health", HealthHandler, shared),
        (f"{prefix}api/jobs", JobsHandler, shared),
        (f"{prefix}api/jobs/([A-Za-z0-9_-]{{1,64}})", JobHandler, shared),
        (f"{prefix}api/status", StatusHandler, shared),
        (f"{prefix}api/board", BoardHandler, shared),
    ]
    if hub is None:
        routes.append((f"{prefix}board", BoardPage, shared))
    else:
        board, callback = hub_pages(hub, prefix)
        routes += [(*board, shared), callback]
    return web.Application(
        routes,
        default_handler_class=NotFound,
        default_handler_args=shared,
        log_function=lambda handler: None,  # no log: ids and request times are private
        cookie_secret=cookie_secret,
    )


class NotFound(ServiceHandler):
    """Answers every other URL."""

    def prepare(self) -> None:
        raise web.HTTPError(404)
