"""The board: off until somebody joins, without names, gone after leaving."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from pathlib import Path
from typing import Any

from graders.service.board import Board
from tests.service.serving import ADA, BOB, EXERCISE, Running, report, serving

# whose names hold letters that no hexadecimal digest has
QUENTIN = "hub:quentin"
LEARNERS = (QUENTIN, "hub:yolanda", "hub:xavier")


def answer(own: float, model: float, own_bytes: int = 200, **more: Any) -> dict[str, Any]:
    moved = {"case": "c", "own": own_bytes, "model": 100}
    runners = [{"ms": own, "problems": []}, {"ms": model, "problems": []}]
    return {"report": report(moved=moved, **more), "speed": {"runners": runners}}


def full(path: Path) -> Board:
    board = Board(path)
    for learner in LEARNERS:
        board.join(learner)
        board.record(learner, answer(2.0, 1.0))
    return board


def test_nobody_is_on_it_who_has_not_joined(tmp_path: Path) -> None:
    board = full(tmp_path / "board.json")
    board.record("hub:mallory", answer(0.1, 1.0))
    assert len(board.rows(EXERCISE)) == 3
    assert board.name_of("hub:mallory") is None


def test_neither_file_nor_page_names_anybody(tmp_path: Path) -> None:
    path = tmp_path / "board.json"
    board = full(path)
    for text in (path.read_text(), board.page()):
        assert not re.search("quentin|yolanda|xavier|hub:", text)
    assert path.stat().st_mode & 0o777 == 0o600


def test_who_leaves_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "board.json"
    board = full(path)
    name = board.name_of(QUENTIN)
    board.leave(QUENTIN)
    assert name is not None
    assert name not in path.read_text()
    assert board.rows(EXERCISE) == []  # two that are left would know each other


def test_the_best_of_each_counts_and_outlives_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "board.json"
    board = full(path)
    board.record(QUENTIN, answer(1.0, 1.0, 150))
    board.record(QUENTIN, answer(9.0, 1.0, 900))
    board.record(QUENTIN, answer(0.1, 1.0, 1, verdict="failed"))
    first, *_ = Board(path).rows(EXERCISE)
    assert first == (board.name_of(QUENTIN), 1.0, 1.5)


def test_the_page_loads_and_runs_nothing(tmp_path: Path) -> None:
    page = full(tmp_path / "board.json").page()
    assert not re.search(r"<script|src=|href=|@import|url\(|\son\w+=", page)
    assert '<html lang="en">' in page
    assert "prefers-color-scheme: dark" in page
    assert page.count('scope="col"') == 3
    assert page.count('scope="row"') == 3
    assert "<caption>" in page


def test_over_http(tmp_path: Path) -> None:
    board = Board(tmp_path / "board.json")

    async def act(running: Running) -> None:
        assert json.loads((await running.ask("GET", "api/board")).body)["name"] is None
        name = json.loads((await running.ask("POST", "api/board", {})).body)["name"]
        assert json.loads((await running.ask("GET", "api/board")).body)["name"] == name
        assert json.loads((await running.ask("GET", "api/board", token=BOB)).body)["name"] is None
        form = await running.ask("POST", "api/board", {}, Content_Type="text/plain")
        assert form.code == 415
        closed = await running.ask("GET", "board", token="")
        assert closed.code == 401
        password = base64.b64encode(f"x:{ADA}".encode()).decode()
        page = await running.ask("GET", "board", Authorization=f"Basic {password}")
        assert page.code == 200
        assert "default-src 'none'" in page.headers["Content-Security-Policy"]
        await running.ask("DELETE", "api/board")
        assert board.name_of("class:ada") is None

    async def main() -> None:
        async with serving(tmp_path, board=board) as running:
            await act(running)

    asyncio.run(asyncio.wait_for(main(), 30))


def test_without_a_board_there_is_none(tmp_path: Path) -> None:
    async def main() -> None:
        async with serving(tmp_path) as running:
            for method, data in (("GET", None), ("POST", {}), ("DELETE", None)):
                assert (await running.ask(method, "api/board", data)).code == 404

    asyncio.run(asyncio.wait_for(main(), 30))
