"""A warm Python under TRITON_INTERPRET=1 that runs snippets: triton is imported once, not per test.

As a program it reads one JSON string (a snippet) per line and answers with what it printed.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class InterpretingProcess:
    """Runs snippets in a process of its own; a context manager. `prelude` comes before each."""

    def __init__(self, prelude: str) -> None:
        self._prelude = prelude
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            env={
                **os.environ,
                "TRITON_INTERPRET": "1",
                "PYTHONPATH": str(ROOT),
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> InterpretingProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=30)

    def run(self, code: str) -> str:
        """What the snippet printed. Raises AssertionError with the traceback if it failed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(f"{self._prelude}\n{code}") + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        assert not answer["error"], answer["printed"] + answer["error"]
        return answer["printed"]


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    with open(os.devnull) as nobody:
        requests, sys.stdin = sys.stdin, nobody  # snippets cannot read the requests
        for line in requests:
            printed, error = io.StringIO(), ""
            with contextlib.redirect_stdout(printed):
                try:
                    exec(compile(json.loads(line), "<snippet>", "exec"), {"__name__": "snippet"})
                except Exception:
                    error = traceback.format_exc()
            answers.write(json.dumps({"printed": printed.getvalue(), "error": error}) + "\n")
            answers.flush()


if __name__ == "__main__":
    main()
