"""Does the sanitizer find bugs that are planted in a published package, and is it silent else?

    python benchmarks/planted.py [--into DIR] [--only WORD]

Takes the source archive of Liger-Kernel from the package index, with its own tests. Runs some of
them with `pytest --tilewise`, on the unchanged package and then once for each of ten mutations, and
prints what was found. Ends with 1 if a planted bug was missed or something unchanged was reported.
Nothing of theirs is kept here.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "liger-kernel==0.6.4"
OPS = "src/liger_kernel/ops"
SOFTMAX = ("test/transformers/test_softmax.py", "functional")
GROUP_NORM = ("test/transformers/test_group_norm.py", "1-4-2-4 or 16-12-3-4096")
# Its tests import these for models that no test here needs.
STAND_INS = """
import importlib.machinery, sys
from unittest.mock import MagicMock

for name in ("transformers", "transformers.tokenization_utils_base", "tokenizers",
             "tokenizers.models", "tokenizers.pre_tokenizers", "tokenizers.trainers"):
    try:
        __import__(name)
    except ImportError:
        sys.modules[name] = MagicMock(__spec__=importlib.machinery.ModuleSpec(name, None))
"""


@dataclass(frozen=True)
class Mutation:
    """In the function of a file one text takes the place of another; `tests` run that function."""

    what: str
    file: str
    function: str
    old: str
    new: str
    tests: tuple[str, str]

    def plant(self, package: Path) -> None:
        """Change the file; an error if the text is not there."""
        path = package / OPS / self.file
        before, start, rest = path.read_text().partition(f"def {self.function}(")
        body, end, after = rest.partition("\ndef ")
        if self.old not in body:
            raise SystemExit(f"{self.what}: {self.function} holds no {self.old!r}; see {PACKAGE}")
        path.write_text(before + start + body.replace(self.old, self.new, 1) + end + after)


FORWARD, BACKWARD = "_softmax_single_block_forward_kernel", "_softmax_single_block_backward_kernel"
NORM, NORM_BACK = "_group_norm_forward_kernel", "_group_norm_backward_kernel"
MUTATIONS = (
    Mutation(
        "the mask of a load dropped", "softmax.py", FORWARD,
        'mask=mask, other=-float("inf"), ', "", SOFTMAX,
    ),
    Mutation("the mask of a store dropped", "softmax.py", FORWARD, "y, mask=mask", "y", SOFTMAX),
    Mutation(
        "a mask one too wide", "softmax.py", FORWARD, "offs < n_cols", "offs <= n_cols", SOFTMAX
    ),
    Mutation("other dropped", "softmax.py", BACKWARD, ", other=0.0", "", SOFTMAX),
    Mutation(
        "an offset shifted", "softmax.py", FORWARD,
        "offs = tl.arange", "offs = 1 + tl.arange", SOFTMAX,
    ),
    Mutation(
        "the program number forgotten", "softmax.py", FORWARD,
        "row_id * Y_row_stride", "0 * Y_row_stride", SOFTMAX,
    ),
    Mutation(
        "a stride one too large", "softmax.py", BACKWARD,
        "row_id * dy_stride", "row_id * (dy_stride + 1)", SOFTMAX,
    ),
    Mutation(
        "one program too few", "softmax.py", "_softmax_backward",
        "[(n_rows,)]", "[(n_rows - 1,)]", SOFTMAX,
    ),
    Mutation(
        "strides swapped", "group_norm.py", NORM,
        "batch_idx * Y_row_stride + group_idx * Y_col_stride",
        "batch_idx * Y_col_stride + group_idx * Y_row_stride", GROUP_NORM,
    ),
    Mutation(
        "an addition no longer atomic", "group_norm.py", NORM_BACK,
        "tl.atomic_add(DW_ptr + channel_idx, dW.to(dtype))",
        "tl.store(DW_ptr + channel_idx, tl.load(DW_ptr + channel_idx) + dW.to(dtype))", GROUP_NORM,
    ),
)  # fmt: skip


def fetch(into: Path) -> Path:
    """The unpacked archive, tests and all."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:"]
    if not list(into.glob("*.tar.gz")):
        subprocess.run([*command, "--no-build-isolation", "-d", str(into), PACKAGE], check=True)
    (archive,) = into.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(into, filter="data")
    return into / archive.name.removesuffix(".tar.gz")


def sanitized(package: Path, tests: tuple[str, str]) -> tuple[list[str], str]:
    """What `pytest --tilewise` finds in these tests (codes and places), and how the tests end."""
    found = package / "found.json"
    found.unlink(missing_ok=True)
    (package / "stand_ins.py").write_text(STAND_INS)
    path = os.pathsep.join([str(package), str(package / "src"), str(ROOT)])
    options = ["--tilewise", "--tilewise-baseline", str(found), "--tilewise-write-baseline"]
    file, chosen = tests
    plug_ins = ["-c", os.devnull, "--rootdir", ".", "-p", "stand_ins", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "-q", *plug_ins, *options, file, "-k", chosen]
    around = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, cwd=package, env=around, capture_output=True, text=True)
    if not found.is_file():
        raise SystemExit(f"no report of {file}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    said = [line for line in done.stdout.splitlines() if " passed" in line or " failed" in line]
    rows = [f"{code} in {kernel}" for code, _, kernel, *_ in json.loads(found.read_text())]
    return sorted(set(rows)), said[-1].strip("= ") if said else "no tests ran"


def run(package: Path, what: str, tests: tuple[str, str]) -> bool:
    """Print what is found in one state of the package; whether that is anything."""
    begun = time.perf_counter()
    found, said = sanitized(package, tests)
    print(f"{what:32} {', '.join(found) or 'nothing'}")
    print(f"{'':32} tests: {said}; {time.perf_counter() - begun:.0f} s in all", flush=True)
    return bool(found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, help="keep the archive in this folder")
    parser.add_argument("--only", default="", metavar="WORD", help="only mutations with this word")
    options = parser.parse_args()
    planted = [mutation for mutation in MUTATIONS if options.only in mutation.what]
    with tempfile.TemporaryDirectory() as temporary:
        archive = options.into or Path(temporary)
        archive.mkdir(parents=True, exist_ok=True)
        package = fetch(archive)
        silent = [not run(package, "unchanged", tests) for tests in (SOFTMAX, GROUP_NORM)]
        caught = 0
        for mutation in planted:
            changed = Path(temporary) / "changed"
            shutil.rmtree(changed, ignore_errors=True)
            shutil.copytree(package, changed)
            mutation.plant(changed)
            caught += run(changed, mutation.what, mutation.tests)
    print(f"{PACKAGE}: {caught} of {len(planted)} planted bugs found, ", end="")
    print("nothing reported" if all(silent) else "something reported", "on the unchanged one")
    return 0 if caught == len(planted) and all(silent) else 1


if __name__ == "__main__":
    sys.exit(main())
