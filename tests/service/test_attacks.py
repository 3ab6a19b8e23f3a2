"""What a learner, or somebody on the network, may try against the service."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from graders.service import http
from graders.service.identity import client_of
from tests.service.serving import (
    ADA,
    BOB,
    EXERCISE,
    SHARED,
    Running,
    StandIns,
    report,
    serving,
)
from triton_util.report import Report

SECRET = "m" * 40


def against(folder: Path, attack: Callable[[Running], Awaitable[None]], **how: Any) -> None:
    """Run one attack; whatever it did, the service must still serve an honest learner."""

    async def main() -> None:
        async with serving(folder, **how) as running:
            await attack(running)
            honest = await running.submit("honest learner", "fine", token=BOB)
            assert honest["status"] == 202
            answer = await running.report(honest["id"], token=BOB)
            assert answer["report"]["verdict"] == "passed"

    asyncio.run(asyncio.wait_for(main(), 60))


# ------------------------------------------------------------------ nothing reaches another


def test_anothers_check_does_not_exist(tmp_path: Path) -> None:
    async def attack(running: Running) -> None:
        job = await running.submit("k")
        await running.report(job["id"])
        for method in ("GET", "DELETE"):
            stolen = await running.ask(method, f"api/jobs/{job['id']}", token=BOB)
            unknown = await running.ask(method, f"api/jobs/{'x' * 32}", token=BOB)
            assert stolen.code == unknown.code == 404
            assert stolen.body == unknown.body
        own = await running.ask("GET", f"api/jobs/{job['id']}")
        assert own.code == 200

    against(tmp_path, attack)


def test_ids_cannot_be_guessed(tmp_path: Path) -> None:
    async def attack(running: Running) -> None:
        ids = {(await running.submit(f"key {number}"))["id"] for number in range(20)}
        assert len(ids) == 20
        assert all(len(found) == 32 for found in ids)  # 192 bits
        assert len({found[:6] for found in ids}) == 20

    against(tmp_path, attack)


@pytest.mark.parametrize("path", ["api/jobs", "api/status", "api/board", "api/jobs/" + "x" * 32])
@pytest.mark.parametrize("token", ["", "wrong-token-of-nobody", "*", "ada", SHARED])
def test_no_token_no_entry(tmp_path: Path, path: str, token: str) -> None:
    """The shared token alone is nobody: it needs the secret of a machine."""

    async def attack(running: Running) -> None:
        for method in ("GET", "POST", "DELETE"):
            answer = await running.ask(method, path, {} if method == "POST" else None, token)
            assert answer.code in (403, 405)
            assert b"state" not in answer.body

    against(tmp_path, attack)


def test_an_identity_comes_from_the_token_alone(tmp_path: Path) -> None:
    """Neither a header, a field, a cookie nor an address says who somebody is."""

    async def attack(running: Running) -> None:
        job = await running.submit("k", "hers")
        forged = {
            "X_Tilewise_Learner": "class:ada",
            "X_Forwarded_User": "ada",
            "Cookie": f"jupyterhub-user-ada={ADA}; token={ADA}",
        }
        answer = await running.ask("GET", f"api/jobs/{job['id']}?token={ADA}", token=BOB, **forged)
        assert answer.code == 404
        data = {"exercise": EXERCISE, "source": "his", "key": "k".ljust(16, "-"), "learner": "ada"}
        his = json.loads((await running.ask("POST", "api/jobs", data, BOB, **forged)).body)
        assert his["id"] != job["id"]
        assert running.service.queue.of("class:bob", his["id"]) is not None

    against(tmp_path, attack)


def test_a_shared_token_gives_nobody_the_place_of_another(tmp_path: Path) -> None:
    async def attack(running: Running) -> None:
        job = await running.submit("k", token=SHARED, X_Tilewise_Learner=SECRET)
        assert job["status"] == 202
        for other in ("n" * 40, SECRET[:-1], "class:ada", "hub:ada", ""):
            answer = await running.ask(
                "GET", f"api/jobs/{job['id']}", token=SHARED, X_Tilewise_Learner=other
            )
            assert answer.code in (403, 404)
        own = await running.ask(
            "GET", f"api/jobs/{job['id']}", token=SHARED, X_Tilewise_Learner=SECRET
        )
        assert own.code == 200

    against(tmp_path, attack)


def test_a_request_that_is_replayed_runs_once(tmp_path: Path) -> None:
    workers = StandIns()

    async def attack(running: Running) -> None:
        first = await running.submit("the key", "hers")
        await running.report(first["id"])
        again = await asyncio.gather(*(running.submit("the key", "hers") for _ in range(20)))
        assert {told["id"] for told in again} == {first["id"]}
        assert [source for _, source in workers.asked].count("hers") == 1

    against(tmp_path, attack, workers=workers)


def test_a_replay_under_another_token_shows_nothing(tmp_path: Path) -> None:
    async def attack(running: Running) -> None:
        first = await running.submit("the key", "hers")
        other = await running.submit("the key", "hers", token=BOB)
        assert other["id"] != first["id"]

    against(tmp_path, attack)


# ------------------------------------------------------------------ it stays up


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_that_is_too_large_is_cut_off(tmp_path: Path, chunked: bool) -> None:
    workers = StandIns()

    async def attack(running: Running) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
        size = running.service.queue.limits.body_bytes + 1
        kind = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {size}"
        head = f"POST /api/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: token {ADA}\r\n{kind}\r\n\r\n"
        writer.write(head.encode())
        piece = b"x" * 10_000
        try:
            for _ in range(size // len(piece) + 2):
                writer.write((b"2710\r\n" + piece + b"\r\n") if chunked else piece)
                await writer.drain()
            said = await asyncio.wait_for(reader.read(), 10)
        except ConnectionError:
            said = b""
        assert b"202" not in said
        writer.close()
        assert workers.asked == []

    against(tmp_path, attack, workers=workers)


def test_a_source_that_is_too_long_is_refused(tmp_path: Path) -> None:
    async def attack(running: Running) -> None:
        long = "#" * (running.service.queue.limits.source_bytes + 1)
        assert (await running.submit("k", long))["status"] == 413

    against(tmp_path, attack)


@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"POST /api/jobs HTTP/1.1\r\nHost",
        b"POST /api/jobs HTTP/1.1\r\nContent-Length: 99\r\n\r\n{",
    ],
    ids=["nothing", "half a header", "half a body"],
)
def test_who_is_slow_is_cut_off(tmp_path: Path, start: bytes) -> None:
    async def attack(running: Running) -> None:
        slow = [await asyncio.open_connection("127.0.0.1", running.port) for _ in range(50)]
        for _, writer in slow:
            writer.write(start)
        assert (await running.submit("k"))["status"] == 202  # meanwhile
        ends = await asyncio.gather(*(asyncio.wait_for(reader.read(), 15) for reader, _ in slow))
        assert all(b"202" not in said for said in ends)
        for _, writer in slow:
            writer.close()

    against(tmp_path, attack, body_seconds=1.0, idle_seconds=1.0)


def test_a_thousand_requests_at_once(tmp_path: Path) -> None:
    """Each is answered: taken, or refused in a line; what was taken is done, and once."""
    workers = StandIns(slots=8)

    async def attack(running: Running) -> None:
        told = await asyncio.gather(
            *(
                running.submit("k", f"{number}", SHARED, X_Tilewise_Learner=f"{number:040d}")
                for number in range(1000)
            )
        )
        assert {answer["status"] for answer in told} <= {202, 503}
        taken = [answer for answer in told if answer["status"] == 202]
        assert len({answer["id"] for answer in taken}) == len(taken) >= 700
        while running.service.queue.waiting or running.service.queue.running:
            await asyncio.sleep(0.05)
        assert len(workers.asked) == len(set(workers.asked)) == len(taken)

    against(tmp_path, attack, workers=workers, waiting=700, learners_per_address=1000)


def test_more_connections_than_allowed_are_told_so_and_closed(tmp_path: Path) -> None:
    async def attack(running: Running) -> None:
        opened = [await asyncio.open_connection("127.0.0.1", running.port) for _ in range(30)]
        ends = await asyncio.gather(*(asyncio.wait_for(r.read(), 15) for r, _ in opened[20:]))
        (said,) = set(ends)
        assert said.startswith(b"HTTP/1.1 503 ")
        assert b"Retry-After: 30" in said
        assert json.loads(said.partition(b"\r\n\r\n")[2])["again"] == 30
        for _, writer in opened:
            writer.close()
        await asyncio.sleep(0.2)

    against(tmp_path, attack, connections=20, idle_seconds=5.0)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"exercise": {"a": 1}, "source": 1, "key": null}',
        b'{"exercise": "../../hidden", "source": "", "key": "0123456789abcdef"}',
        b'{"exercise": "vector_add", "source": "", "key": "short"}',
        json.dumps({"exercise": EXERCISE, "source": "", "key": "k" * 5000}).encode(),
    ],
    ids=lambda body: repr(body[:30]),
)
def test_a_body_that_makes_no_sense_is_refused(tmp_path: Path, body: bytes) -> None:
    workers = StandIns()

    async def attack(running: Running) -> None:
        answer = await running.ask("POST", "api/jobs", body)
        assert answer.code in (400, 404)
        assert b"Traceback" not in answer.body
        assert workers.asked == []

    against(tmp_path, attack, workers=workers)


def test_a_form_of_another_site_is_refused(tmp_path: Path) -> None:
    async def attack(running: Running) -> None:
        data = {"exercise": EXERCISE, "source": "", "key": "k" * 20}
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
            answer = await running.ask("POST", "api/jobs", data, Content_Type=kind)
            assert answer.code in (400, 415)

    against(tmp_path, attack)


@pytest.mark.parametrize("wait", ["nan", "inf", "-1", "1e99", "abc", "9" * 400])
def test_no_wait_is_longer_than_allowed(
    tmp_path: Path, wait: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "LONGEST_WAIT", 0.3)
    held = asyncio.Event()

    async def does(_exercise: str, source: str) -> dict[str, Any]:
        if source == "held":
            await held.wait()
        return {"report": report()}

    async def attack(running: Running) -> None:
        job = await running.submit("k", "held")
        answer = await running.ask("GET", f"api/jobs/{job['id']}?wait={wait}")
        assert answer.code in (200, 400)
        held.set()

    against(tmp_path, attack, workers=StandIns(does))


# ------------------------------------------------------------------ what comes out


def test_a_report_leaves_without_control_characters(tmp_path: Path) -> None:
    dirty = "\x1b[2J\x00\u202eright\ud800\x9b"
    finding = {
        "gate": dirty,
        "code": dirty,
        "title": dirty,
        "message": dirty * 5000,
        "original": dirty,
        "line": 3,
        "secret": "another's",
    }

    async def does(*_: str) -> dict[str, Any]:
        made = report(findings=[finding], submission="/srv/class/ada", hidden="secret")
        return {"report": made, "speed": {"remarks": [dirty]}, "more": "secret"}

    async def attack(running: Running) -> None:
        job = await running.submit("k")
        answer = await running.report(job["id"])
        text = json.dumps(answer, ensure_ascii=False)
        assert not set(text) & set("\x1b\x00\u202e\ud800\x9b")
        assert "right" in text
        assert len(text) < 50_000
        assert "secret" not in text
        assert "/srv/class" not in text
        Report.from_json(answer["report"])

    against(tmp_path, attack, workers=StandIns(does))


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"report": None},
        {"report": {"verdict": "passed"}},
        {"report": report("softmax")},
        {"report": report(points=float("nan"))},
        {"report": report(verdict="root")},
        {"report": report(findings=[{"x": [[[[[[[[[[[1]]]]]]]]]]]}])},
        {"report": report(findings=[object()])},
    ],
    ids=lambda answer: repr(answer)[:40],
)
def test_an_answer_that_is_no_report_is_no_zero(tmp_path: Path, answer: dict[str, Any]) -> None:
    async def does(_exercise: str, source: str) -> dict[str, Any]:
        return {"report": report()} if source == "fine" else answer

    async def attack(running: Running) -> None:
        told = await running.report((await running.submit("k"))["id"])
        assert told["report"]["verdict"] == "ungraded"
        assert told["report"]["points"] is None

    against(tmp_path, attack, workers=StandIns(does))


def test_the_words_of_an_error_stay_inside(tmp_path: Path) -> None:
    async def does(_exercise: str, source: str) -> dict[str, Any]:
        if source == "fine":
            return {"report": report()}
        raise ValueError("the model solution is at /srv/class/solutions")

    async def attack(running: Running) -> None:
        told = await running.report((await running.submit("k"))["id"])
        assert "/srv" not in json.dumps(told)
        assert told["report"]["verdict"] == "ungraded"

    against(tmp_path, attack, workers=StandIns(does))


def test_answers_say_nothing_of_the_program(tmp_path: Path) -> None:
    async def attack(running: Running) -> None:
        for path in ("", "health", "api/jobs/../../etc/passwd", "nowhere", "api/board"):
            answer = await running.ask("GET", path)
            assert "Server" not in answer.headers
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert answer.headers["Cache-Control"] == "no-store"
            assert b"Traceback" not in answer.body
            assert b"tornado" not in answer.body.lower()

    against(tmp_path, attack)


def test_many_secrets_behind_one_address_leave_room_for_others(tmp_path: Path) -> None:
    """The shared token tells learners apart by what each of their machines drew."""
    released = asyncio.Event()

    async def held(exercise: str, source: str) -> dict[str, Any]:
        await released.wait()
        return {"report": report(exercise)}

    async def attack(running: Running) -> None:
        answers = [
            await running.submit(f"k{n}", token=SHARED, X_Tilewise_Learner=f"secret-{n:030d}")
            for n in range(60)
        ]
        refused = [told for told in answers if told["status"] != 202]
        assert {told["status"] for told in refused} == {429}
        assert "address" in refused[0]["error"]
        assert refused[0]["again"] > 0
        job = await running.submit("hers")
        assert job["status"] == 202
        assert job["position"] <= 1
        released.set()

    against(tmp_path, attack, workers=StandIns(does=held), waiting_each=2)


@pytest.mark.parametrize(
    ("learner", "address", "client"),
    [
        ("class:ada", "192.0.2.1", "class:ada"),
        ("shared:x", "192.0.2.1", "shared:192.0.2.1/32"),
        ("shared:x", "2001:db8:1:2:3::4", "shared:2001:db8:1:2::/64"),
        ("shared:x", "", "shared:"),
    ],
)
def test_a_client_is_a_token_or_an_address(learner: str, address: str, client: str) -> None:
    assert client_of(learner, address) == client
