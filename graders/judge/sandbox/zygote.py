"""Main of the warm process: imports once, forks a jailed child per batch, and watches it.

It contains no secrets: it imports no module with a reference, a hidden case or a solution. Only
its children execute submissions. It reads only their headers, which report their progress, to
apply the time limits.

`pool` starts it as a script with a JSON configuration:
`{"socket": fd, "root": path, "paths": [...], "device": "cpu", "capability": 90, "lock": path,
"without": [...], "directory": path, "secret": path, "scratch": path or null}`.
"""

from __future__ import annotations

import json
import os
import sys
import types
from typing import Any

_IMPORTED_BEFOREHAND = (
    *("numpy", "numpy.testing", "triton", "triton.language", "triton.testing"),
    *("torch.nn.functional", "torch.testing", "torch.utils.deterministic"),
    # The course's helpers for kernels.
    *("triton_util.debugging", "triton_util.indexing", "triton_util.launching"),
)


def main() -> None:
    config = json.loads(sys.argv[1])
    sys.path[:] = [*sys.path, *(path for path in config["paths"] if path not in sys.path)]
    sys.path.insert(0, config["root"])
    try:
        serve = _import_all(config["device"])
        warm_process = serve.WarmProcess(config)
    except Exception as error:  # report any error to the judge in one line
        _give_up(config["socket"], error)
        return
    warm_process.serve()
    os._exit(0)  # nothing is left to do, and unloading torch takes a second


def _import_all(device: str) -> types.ModuleType:
    """Import everything that a submission may need, and hide the rest."""
    import torch

    from graders.judge.jail import imports

    imports.codecs()
    imports.import_all(_IMPORTED_BEFOREHAND)
    # A process that forks after an OpenMP region leaves its children hanging.
    torch.set_num_threads(1)
    from graders.judge.sandbox import serve

    return serve


def _give_up(socket_fd: int, error: Exception) -> None:
    import socket

    message: dict[str, Any] = {"ready": False, "error": f"{type(error).__name__}: {error}"}
    with socket.socket(fileno=socket_fd) as control:
        control.send(json.dumps(message).encode()[:60_000])


if __name__ == "__main__":
    main()
