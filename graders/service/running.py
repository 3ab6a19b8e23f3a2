"""Starts the service and everything that it needs, and stops it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from graders.judge.records import GraderError
from graders.service.app import application
from graders.service.board import Board
from graders.service.dispatching import Dispatcher
from graders.service.http import ClassService, serve_http
from graders.service.identity import ClassFile, HubTokens, Identities
from graders.service.judging import judge_check, prepare
from graders.service.limits import ServiceLimits
from graders.service.queue import FairQueue
from graders.service.workers import Call, CheckWorkers, DaskWorkers, connect, start_local

REMEMBERED = 60  # seconds for which the hub's answer about a token is cached
Ready = Callable[["Place"], None]


@dataclass(frozen=True)
class Place:
    """Where the service listens: `address`, `port`, and the prefix of all paths."""

    address: str = "127.0.0.1"
    port: int = 8712
    prefix: str = "/"

    @property
    def url(self) -> str:
        return f"http://{self.address}:{self.port}{self.prefix}"


@dataclass(frozen=True)
class ServiceSettings:
    """The settings of `tilewise serve`. `scheduler` is "" if this machine's GPUs judge."""

    place: Place = Place()
    scheduler: str = ""
    workers: int = 1
    class_file: Path | None = None
    board: Path | None = None
    limits: ServiceLimits = field(default_factory=ServiceLimits)
    call: Call = judge_check
    warm: Callable[[], dict[str, str]] | None = prepare


def hub_place() -> Place | None:
    """Return where JupyterHub wants its service to listen; None without a hub."""
    if "JUPYTERHUB_API_TOKEN" not in os.environ:
        return None
    url = urlsplit(os.environ.get("JUPYTERHUB_SERVICE_URL", "http://127.0.0.1:8712"))
    prefix = os.environ.get("JUPYTERHUB_SERVICE_PREFIX", "/")
    return Place(url.hostname or "127.0.0.1", url.port or 8712, f"{prefix.rstrip('/')}/")


def run(settings: ServiceSettings, ready: Ready = lambda place: None) -> None:
    """Serve until a stop signal; `ready` gets the place once the service accepts requests."""
    asyncio.run(_until_stopped(settings, ready))


async def _until_stopped(settings: ServiceSettings, ready: Ready) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    await serve(settings, stopped.wait, ready)


async def serve(
    settings: ServiceSettings, until: Callable[[], Awaitable[Any]], ready: Ready
) -> None:
    """Serve until `until` returns."""
    async with contextlib.AsyncExitStack() as stack:
        workers = await _workers(settings, stack)
        dispatcher = Dispatcher(FairQueue(settings.limits), workers)
        stack.push_async_callback(dispatcher.close)
        service, app = _app(settings, dispatcher)
        server = serve_http(app, service, settings.place.port, settings.place.address)
        stack.push_async_callback(server.close_all_connections)
        stack.callback(server.stop)
        watching = asyncio.create_task(dispatcher.watch())
        stack.callback(watching.cancel)
        ready(settings.place)
        await until()


def _app(settings: ServiceSettings, dispatcher: Dispatcher) -> tuple[ClassService, Any]:
    board = None if settings.board is None else Board(settings.board)
    identities, hub = _identities(settings)
    service = ClassService(dispatcher, identities, board)
    if board is not None:
        dispatcher.done = lambda job: board.record(job.learner, job.answer or {})
    secret = secrets.token_bytes(32)
    return service, application(service, settings.place.prefix, hub, secret)


def _identities(settings: ServiceSettings) -> tuple[Identities, Any]:
    if settings.class_file is not None:
        return ClassFile(settings.class_file), None
    if hub_place() is None:
        raise GraderError("neither a hub nor a class file says who the learners are")
    from jupyterhub.services.auth import HubOAuth

    hub = HubOAuth(cache_max_age=REMEMBERED)
    return HubTokens(hub), hub


async def _workers(settings: ServiceSettings, stack: contextlib.AsyncExitStack) -> CheckWorkers:
    if settings.scheduler:
        client = await connect(settings.scheduler)
    else:
        cluster, client = await start_local(settings.workers)
        stack.push_async_callback(cluster.close)
    stack.push_async_callback(client.close)
    if settings.warm is not None and not settings.scheduler:
        told = await client.run(settings.warm)
        weak = [said["tier"] for said in told.values() if said["tier"] != "A"]
        if weak:
            raise GraderError(f"the sandbox of a worker here is of tier {weak[0]}, not A")
    return DaskWorkers(client, settings.call)
