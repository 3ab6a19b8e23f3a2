"""Does the sanitizer find bugs planted in published packages, and nothing in the unchanged ones?

    python benchmarks/planted.py [--into DIR] [--only WORD]

Installs four packages into a folder of their own and calls ten of their operators with `tilewise
run`: on the unchanged packages, and then once for each bug of `planted_bugs`, in a copy. Prints
what was found. Ends with 1 if a bug was missed or something was reported on an unchanged package.
Nothing of theirs is kept here.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from planted_bugs import BUGS, FILES, PACKAGES, Bug

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(__file__).with_name("planted_program.py")
SUPPORT = ["einops"]  # what the packages import besides torch, triton and numpy


def install(into: Path) -> Path:
    """A folder with the packages, without torch and triton."""
    folder = into / "packages"
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(folder)]
    if not all((folder / name).is_dir() for name in PACKAGES):
        subprocess.run([*command, "--upgrade", *PACKAGES.values(), *SUPPORT], check=True)
    return folder


def copied(folder: Path, into: Path, bug: Bug) -> Path:
    """A copy of the folder whose package contains the bug; unchanged files are links."""
    into.mkdir()
    for part in folder.iterdir():
        if part.name == bug.package:
            shutil.copytree(part, into / part.name, copy_function=os.link)
        else:
            (into / part.name).symlink_to(part)
    bug.plant(into)
    return into


def found(states: list[tuple[Path, str]], home: Path) -> dict[str, list[dict[str, str]]]:
    """What one `tilewise run` finds in these calls, by the name of the folder."""
    report = home / "found.json"
    calls = [f"{folder}:{call}" for folder, call in states]
    command = [sys.executable, "-m", "graders.cli.main", "run", "--json", str(report)]
    around = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(
        [*command, str(PROGRAM), *calls], cwd=home, env=around, stderr=subprocess.DEVNULL
    )
    by_state = defaultdict(list)
    read = json.loads(report.read_text())
    for finding in read["findings"]:
        path = (home / finding["file"]).resolve()
        names = [folder.name for folder, _ in states if folder.resolve() in path.parents]
        by_state[names[0] if names else "elsewhere"].append(finding)
    print(f"{read['launches']} launches, {read['compiled']} kernels compiled, "
          f"{len(read['not_checked'])} not checked", flush=True)  # fmt: skip
    return by_state


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, help="keep the packages in this folder")
    parser.add_argument("--only", default="", metavar="WORD", help="only bugs with this word")
    options = parser.parse_args()
    planted = [bug for bug in BUGS if options.only in f"{bug.call} {bug.code} {bug.what}"]
    with tempfile.TemporaryDirectory(dir=options.into) as temporary:
        home = Path(temporary).resolve()
        folder = install((options.into or home).resolve())
        unchanged = found([(folder, call) for call in FILES], home)
        alarms = [finding for findings in unchanged.values() for finding in findings]
        for finding in alarms:
            print(f"unchanged: {finding['code']} in {finding['kernel']}: {finding['message']}")
        states = [
            (copied(folder, home / f"bug{number}", bug), bug.call)
            for number, bug in enumerate(planted)
        ]
        by_state = found(states, home)
    return report(planted, by_state, len(alarms))


def report(planted: list[Bug], by_state: dict[str, list[dict[str, str]]], unchanged: int) -> int:
    """Print each bug with what was found; the exit status."""
    caught = named = 0
    for number, bug in enumerate(planted):
        findings = by_state.get(f"bug{number}", [])
        codes = {finding["code"] for finding in findings}
        caught += bool(codes)
        named += bug.code in codes
        print(f"{bug.package:13} {bug.what:45} {', '.join(sorted(codes)) or 'NOTHING'}"
              + ("" if bug.code in codes else f" (planted: {bug.code})"))  # fmt: skip
    kinds = len({bug.code for bug in planted})
    print(
        f"{caught} of {len(planted)} planted bugs of {kinds} kinds found, {named} under the "
        f"expected name; {unchanged} findings on the unchanged packages"
    )
    return 0 if caught == len(planted) and not unchanged else 1


if __name__ == "__main__":
    sys.exit(main())
