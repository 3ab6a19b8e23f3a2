"""Main of every warm process: it takes on the role that its configuration names.

It contains no secrets: it imports no module with a reference, a hidden case or a solution. Only
its forks read or execute submissions. `starting` runs it as a script with a JSON configuration:
`{"module": name, "socket": fd, "root": path, "paths": [...], "directory": path, ...}`. The module's
`prepare` imports what the forks need, gets the rest of the configuration and returns the `Role`.
"""

from __future__ import annotations

import importlib
import json
import os
import socket
import sys


def main() -> None:
    config = json.loads(sys.argv[1])
    sys.path[:] = [*sys.path, *(path for path in config["paths"] if path not in sys.path)]
    sys.path.insert(0, config["root"])
    control = socket.socket(fileno=config["socket"])
    try:
        from graders.judge.sandbox import serving

        role = importlib.import_module(config["module"]).prepare(config, control)
    except Exception as error:  # report any error to the judge in one line
        said = {"ready": False, "error": f"{type(error).__name__}: {error}"[:10_000]}
        control.send(json.dumps(said).encode())
        return
    serving.serve(role, config["directory"])
    os._exit(0)  # nothing is left to do, and unloading torch takes a second


if __name__ == "__main__":
    main()
