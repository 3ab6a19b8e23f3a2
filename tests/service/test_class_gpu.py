"""The learner's side: what `check(..., gpu=True)` sends, shows and never does."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
import types
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.service.serving import ADA, StandIns, report, serving
from triton_util.class_gpu import places, speed_card
from triton_util.class_gpu.checking import wait_told, waiting
from triton_util.class_gpu.places import ServicePlace
from triton_util.class_gpu.service import Queued, Service
from triton_util.client.judge import JudgeUnavailable

SPEED = {
    "exercise": "vector_add",
    "workload": "2^26 fp32",
    "gpu": {"name": "H200", "hbm_gbytes_per_second": 4800.0},
}


@contextlib.contextmanager
def service_at(folder: Path, workers: StandIns, **limits: Any) -> Iterator[str]:
    """The service in a thread of its own, as the learner's process sees it."""
    ready, stop = threading.Event(), asyncio.Event()
    seen: dict[str, Any] = {}

    async def main() -> None:
        async with serving(folder, workers, **limits) as running:
            seen.update(url=running.url, loop=asyncio.get_running_loop())
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=asyncio.run, args=(main(),))
    thread.start()
    assert ready.wait(30)
    try:
        yield seen["url"]
    finally:
        seen["loop"].call_soon_threadsafe(stop.set)
        thread.join()


def place_at(url: str, token: str = ADA) -> ServicePlace:
    return ServicePlace(url, token, "x" * 40)


def test_a_source_goes_there_and_a_report_comes_back(tmp_path: Path) -> None:
    async def does(exercise: str, source: str) -> dict[str, Any]:
        await asyncio.sleep(0.3)
        return {"report": report(exercise, cases_total=len(source))}

    told: list[Queued] = []
    with service_at(tmp_path, StandIns(does)) as url:
        answer = Service(place_at(url)).judge("vector_add", "four", told.append)
    assert answer["report"]["cases_total"] == 4
    assert told


def test_a_wrong_token_is_one_clear_line(tmp_path: Path) -> None:
    with (
        service_at(tmp_path, StandIns()) as url,
        pytest.raises(JudgeUnavailable, match="opens nothing here"),
    ):
        Service(place_at(url, "wrong-token")).judge("vector_add", "x", lambda _: None)


def test_a_full_queue_is_one_clear_line(tmp_path: Path) -> None:
    with (
        service_at(tmp_path, StandIns(slots=0), waiting=0) as url,
        pytest.raises(JudgeUnavailable, match="queue is full"),
    ):
        Service(place_at(url)).judge("vector_add", "x", lambda _: None)


def test_nobody_there_is_no_fault_of_the_learner() -> None:
    slept: list[float] = []
    with pytest.raises(JudgeUnavailable, match="cannot be reached"):
        Service(place_at("http://127.0.0.1:9/"), slept.append).ask("GET", "api/status")
    assert len(slept) == 4


Answering = Callable[[BaseHTTPRequestHandler], None]


@contextlib.contextmanager
def hostile(answering: Answering) -> Iterator[str]:
    """A server that answers each request as it likes."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answering(self)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_token_follows_no_redirect() -> None:
    seen: list[str] = []

    def takes(handler: BaseHTTPRequestHandler) -> None:
        seen.append(handler.headers.get("Authorization", ""))
        handler.send_response(200)
        handler.end_headers()

    with hostile(takes) as thief:

        def sends_away(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(302)
            handler.send_header("Location", thief)
            handler.end_headers()

        with hostile(sends_away) as url, pytest.raises(JudgeUnavailable):
            Service(place_at(url), lambda _: None).ask("GET", "api/status")
    assert seen == []


@pytest.mark.parametrize("body", [b"", b"[]", b"<html>", b"\xff", b'{"id": 1}', b"null"])
def test_an_answer_that_is_none_is_said_to_be_none(body: bytes) -> None:
    def answers(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(body)

    with hostile(answers) as url:
        service = Service(place_at(url), lambda _: None)
        if body == b'{"id": 1}':
            assert service.ask("GET", "x") == json.loads(body)
        else:
            with pytest.raises(JudgeUnavailable, match="could not be understood"):
                service.ask("GET", "x")


def test_the_card_says_whose_turn_it_is() -> None:
    html, text = waiting("mat<b>", Queued("waiting", 3, 40.0, 2, 0))
    assert "3 checks are before it; about 40 s." in text
    assert "mat&lt;b&gt;" in html
    assert "next one; about 3 min" in wait_told(Queued("waiting", 0, 180.0, 1, 0))
    assert "No GPU is connected" in wait_told(Queued("waiting", 0, None, 0, 0))
    assert "nothing is lost" in wait_told(Queued("running", 0, 1.0, 1, 1))


def test_the_hubs_token_goes_to_the_hubs_address_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEWISE_HOME", str(tmp_path))
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", "of-the-hub")
    for name in (places.ADDRESS, places.TOKEN):
        monkeypatch.delenv(name, raising=False)
    assert places.place() is None
    places.write("https://elsewhere.example", "mine")
    found = places.place()
    assert found is not None
    assert (found.address, found.token) == ("https://elsewhere.example/", "mine")
    monkeypatch.setenv(places.ADDRESS, "http://hub/services/gpu")
    found = places.place()
    assert found is not None
    assert found.token == "of-the-hub"
    assert (tmp_path / "gpu.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("address", ["file:///etc/passwd", "ftp://host/", "host:80", ""])
def test_only_http_is_an_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("TILEWISE_HOME", str(tmp_path))
    monkeypatch.setenv(places.ADDRESS, address)
    assert places.place() is None
    with pytest.raises(ValueError, match="no address"):
        places.write(address, "token")


def test_a_speed_that_makes_no_sense_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    for data in ({}, {"runners": 1}, {**SPEED, "runners": []}):
        speed_card.show(data)
    assert capsys.readouterr().out == ""


def test_a_speed_is_shown_with_its_limit(capsys: pytest.CaptureFixture[str]) -> None:
    from triton_util.bench.speed_comparison import MINE, MODEL, Runner, SpeedComparison
    from triton_util.hardware import GPUS

    gpu = next(iter(GPUS.values()))
    runners = (Runner(MINE, 0.2), Runner(MODEL, 0.1))
    found = SpeedComparison("copy", "2^26", gpu, False, 1e8, 1e6, False, runners)
    speed_card.show(json.loads(json.dumps(found.to_json())))
    told = capsys.readouterr().out
    assert "0.2000 ms" in told
    assert gpu.name in told
    assert "0.50 of the model solution's speed" in told
    assert "<script" not in speed_card.speed_html(found)


def test_a_wrong_kernel_is_not_sent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What fails on the learner's own machine costs the class nothing."""
    from triton_util.class_gpu import checking
    from triton_util.client.report import learners_mistake
    from triton_util.notebook.session import Session

    failed = learners_mistake("vector_add", "x", "t", "m", "n")
    monkeypatch.setenv("TILEWISE_HOME", str(tmp_path))
    monkeypatch.setattr(checking.checking, "report_on", lambda *_: failed)
    monkeypatch.setattr(checking, "_asked", lambda *_: pytest.fail("it was sent"))
    judge: Any = types.SimpleNamespace(start=lambda: None)
    assert not checking.check("vector_add", Session({}, ()), judge).passed
