"""Builds the public site: `python site/build.py` (or `make site`) writes it to build/site.

Needs no network. Lessons are run on the CPU, in the interpreter, the first time and whenever a
notebook or the code under it changes; then Sphinx writes the pages, and Pagefind their index.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent
# For this process, for the one that runs the lessons, and for the judge beside it.
sys.path[:0] = [str(REPOSITORY), str(HERE)]
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(REPOSITORY), str(HERE), os.environ.get("PYTHONPATH", "")]
)

from tilewise_site.building import build  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--target", type=Path, default=REPOSITORY / "build/site")
    parser.add_argument("--work", type=Path, default=REPOSITORY / "build/site-work")
    arguments = parser.parse_args()
    build(arguments.target.resolve(), arguments.work.resolve())
    print(f"python -m http.server -d {os.path.relpath(arguments.target)} 8000 shows it")


if __name__ == "__main__":
    main()
