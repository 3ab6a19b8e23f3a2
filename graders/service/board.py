"""The optional board of a class: speed and bytes moved, under invented names.

It shows only learners who have joined, and leaving removes all their data. The file identifies
learners by a keyed digest, so it does not reveal names.
"""

from __future__ import annotations

import hashlib
import hmac
import html
import json
import os
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from graders.judge import discovery
from triton_util.theme import variables_css

FEWEST = 3  # the board shows an exercise from this many learners on: one alone is not anonymous
COLOURS = "amber azure coral copper crimson golden indigo jade lilac olive pearl ruby scarlet teal"
ANIMALS = (
    "badger beaver bittern buzzard condor crane dolphin egret falcon ferret gecko heron ibex "
    "jackal kestrel lemur lynx marten newt otter panda petrel puffin quail raven salmon seal "
    "shrike stoat tapir tern vole walrus weasel wombat wren"
)


class Board:
    """The board, in a file that only its owner can read; each change rewrites the whole file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._salt = secrets.token_hex(32)
        self._places: dict[str, dict[str, Any]] = {}
        if path.exists():
            data = json.loads(path.read_text(encoding="utf-8"))
            self._salt, self._places = str(data["salt"]), dict(data["places"])

    def name_of(self, learner: str) -> str | None:
        """Return the invented name of a learner; None if they have not joined."""
        place = self._places.get(self._key(learner))
        return None if place is None else str(place["name"])

    def join(self, learner: str) -> str:
        """Add a learner to the board; a random name is neither revealing nor offensive."""
        name = self.name_of(learner)
        if name is None:
            name = self._draw()
            self._places[self._key(learner)] = {"name": name, "best": {}}
            self._write()
        return name

    def leave(self, learner: str) -> None:
        """Remove a learner's results and name."""
        if self._places.pop(self._key(learner), None) is not None:
            self._write()

    def record(self, learner: str, answer: Mapping[str, Any]) -> None:
        """Store the figures of a passed check, if the learner has joined and it is their best."""
        place = self._places.get(self._key(learner))
        report = answer["report"]
        found = _figures(answer)
        if place is None or report["verdict"] != "passed" or not found:
            return
        best = place["best"].get(report["exercise"], {})
        better = {**best, **{k: v for k, v in found.items() if _better(k, v, best.get(k))}}
        if better != best:
            place["best"][report["exercise"]] = better
            self._write()

    def rows(self, exercise: str) -> list[tuple[str, float | None, float | None]]:
        """Return (name, speed, bytes) relative to the model solution's, fastest first."""
        rows = []
        for place in self._places.values():
            best = place["best"].get(exercise)
            if best is not None:
                rows.append((str(place["name"]), best.get("speed"), best.get("bytes")))
        if len(rows) < FEWEST:
            return []
        return sorted(rows, key=lambda row: (-(row[1] or 0.0), row[2] or float("inf"), row[0]))

    def page(self) -> str:
        """Return the board as a page that loads nothing and runs no scripts."""
        parts = [part for name in discovery.exercises() for part in self._table(name)]
        none = f"<p>Nothing yet: an exercise is shown once {FEWEST} who have joined passed it.</p>"
        return _PAGE.format(style=_STYLE, body="".join(parts) or none)

    def _table(self, exercise: str) -> Iterator[str]:
        rows = self.rows(exercise)
        if not rows:
            return
        title = html.escape(exercise)
        yield f'<table><caption>{title}</caption><thead><tr><th scope="col">name</th>'
        yield '<th scope="col">speed</th><th scope="col">bytes moved</th></tr></thead><tbody>'
        for name, speed, moved in rows:
            yield f'<tr><th scope="row">{html.escape(name)}</th><td>{_percent(speed)}</td>'
            yield f"<td>{_percent(moved)}</td></tr>"
        yield "</tbody></table>"

    def _key(self, learner: str) -> str:
        return hmac.new(bytes.fromhex(self._salt), learner.encode(), hashlib.sha256).hexdigest()

    def _draw(self) -> str:
        taken = {place["name"] for place in self._places.values()}
        names = [f"{colour} {animal}" for colour in COLOURS.split() for animal in ANIMALS.split()]
        free = [name for name in names if name not in taken]
        return secrets.choice(free) if free else f"{secrets.choice(names)} {len(taken)}"

    def _write(self) -> None:
        new = self._path.with_name(f"{self._path.name}.new")
        new.unlink(missing_ok=True)
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump({"salt": self._salt, "places": self._places}, file)
        new.replace(self._path)


def _figures(answer: Mapping[str, Any]) -> dict[str, float]:
    """Return speed and bytes relative to the model solution's, if they are known."""
    found: dict[str, float] = {}
    moved = answer["report"].get("moved")
    if moved and moved["model"] > 0:
        found["bytes"] = round(moved["own"] / moved["model"], 3)
    runners = (answer.get("speed") or {}).get("runners", ())
    times = [runner["ms"] for runner in runners if runner["ms"] and not runner["problems"]]
    if len(times) == 2:
        found["speed"] = round(times[1] / times[0], 3)
    return found


def _better(kind: str, value: float, before: float | None) -> bool:
    if before is None:
        return True
    return value > before if kind == "speed" else value < before


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f} %"


_STYLE = (
    variables_css(".board")
    + """
body { margin: 0; } .board { background: var(--tw-paper); color: var(--tw-ink); min-height: 100vh;
  font: 16px/1.5 system-ui, sans-serif; padding: 1.5em max(1em, calc(50vw - 24em)); }
table { border-collapse: collapse; width: 100%; margin: 1.5em 0; }
caption { text-align: left; font-weight: 650; font-size: 1.1em; padding-bottom: .3em; }
th, td { text-align: left; padding: .3em 1em .3em 0; border-bottom: 1px solid var(--tw-line);
  font-weight: 400; font-variant-numeric: tabular-nums; }
thead th { color: var(--tw-muted); }
"""
)
_PAGE = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    "<title>Board of the class</title><style>{style}</style></head>"
    '<body class="board"><main><h1>Board of the class</h1>'
    "<p>The best of each who has joined, as a share of the model solution’s. For speed more is "
    "better, for bytes moved less. The names are drawn.</p>{body}</main></body></html>\n"
)
