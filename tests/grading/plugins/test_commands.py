"""A process that runs one of nbgrader's commands."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

# nbgrader's command is one that gets Ctrl-C from the terminal
SCRIPT = """
import os, signal, sys, types
for name in ("nbgrader", "nbgrader.apps", "nbgrader.apps.nbgraderapp"):
    sys.modules[name] = types.ModuleType(name)
sys.modules[name].main = lambda: os.kill(os.getpid(), signal.SIGINT)
from graders.grading.plugins.commands import _main
_main((), ".", sys.argv[1], {})
"""


def test_ctrl_c_ends_a_command_without_a_traceback(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.touch()
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(log)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == -signal.SIGINT
    assert (done.stderr, log.read_text()) == ("", "")
