"""How long a verdict takes on a GPU: alone, warm, and in a class.

    python benchmarks/gpu_verdicts.py [--only cold|warm|class ...] [--class-size 100] [--jobs 20]

`cold`: `tilewise grade --mode all` from the command line, all processes new, the files of Python
in the system's cache. `warm`: a learner's second check, as the class's GPU answers it
(`graders.service`), of a model solution with a line more above it, so that nothing compiled before
is of use: seconds of the check, and with the speed beside. `class`: known right and wrong kernels
of all exercises, official and timed, judged by `--jobs` judges at once and then some of them one
by one. Writes benchmarks/results/gpu_verdicts.json.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.verdicts import kernels, surroundings  # noqa: E402
from graders.authoring.kernels import KnownKernel  # noqa: E402
from graders.judge import discovery  # noqa: E402
from graders.judge.pipeline import Judge  # noqa: E402
from graders.service import judging as service  # noqa: E402
from triton_util.report import Report  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results" / "gpu_verdicts.json"
COLD = {"vector_add": 8, "softmax": 10, "matmul": 12, "attention": 15, "autotuned_matmul": 25}
WRONG_SHARE = 0.3  # of a class
ONE_BY_ONE = 10  # submissions of a class that are judged again, one after the other
Row = dict[str, Any]


def cold() -> list[Row]:
    """Seconds of the command line for the model solutions, each with the bar that it must hold."""
    rows = []
    for name, bar in [("vector_add", 0), *COLD.items()]:  # the first one fills the system's cache
        path = discovery.model_path(discovery.exercise(name))
        command = [sys.executable, "-m", "graders.cli.main", "grade", str(path), "--json"]
        began = time.perf_counter()
        run = subprocess.run(
            [*command, "--mode", "all", "--exercise", name],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        seconds = time.perf_counter() - began
        report = json.loads(run.stdout)
        rows.append({"exercise": name, "bar": bar, "seconds": round(seconds, 2), **_told(report)})
    return rows[1:]


def _told(report: dict[str, Any]) -> Row:
    speed = report.get("speed") or {}
    return {
        "verdict": report["verdict"],
        "judge": report["seconds"],
        "gpu": report.get("gpu_seconds", 0.0),
        "compiled_on_gpu": report.get("compiled_on_gpu", 0),
        "speed_gpu": speed.get("gpu_seconds", 0.0),
        "sandbox": report["sandbox"],
    }


def warm(step: int) -> list[Row]:
    """The second check of a changed kernel by one worker, for each `step`-th exercise."""
    rows = []
    service.prepare()
    for name in list(discovery.of_kernels())[::step]:
        text = Path(discovery.model_path(discovery.exercise(name)) or "").read_text()
        service.judge_check(name, text)
        began = time.perf_counter()
        answer = service.judge_check(name, f"# changed\n{text}")
        seconds = time.perf_counter() - began
        report = answer["report"]
        row = {
            "exercise": name,
            "verdict": report["verdict"],
            "check": round(report["seconds"], 2),
            "with_speed": round(seconds, 2) if "speed" in answer else None,
            "gpu": report.get("gpu_seconds", 0.0),
            "compiled_on_gpu": report.get("compiled_on_gpu", 0),
        }
        rows.append(row)
        _tell(str(row))
    return rows


def a_class(size: int, jobs: int) -> Row:
    """Submissions a minute, and whether each was judged as it should be."""
    work = _submissions(size)
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        list(pool.map(_started, range(jobs)))
        began = time.perf_counter()
        rows = []
        for row in pool.map(_judged, work):
            rows.append(row)
            _tell(f"{len(rows)} of {size} after {time.perf_counter() - began:.1f} s")
        seconds = time.perf_counter() - began
    alone = [_judged(one) for one in work[:ONE_BY_ONE]]
    return {
        "submissions": len(rows),
        "judges": jobs,
        "seconds": round(seconds, 1),
        "a_minute": round(60 * len(rows) / seconds, 1),
        "as_expected": sum(row["passed"] == row["right"] for row in rows),
        "as_alone": sum(a["verdict"] == b["verdict"] for a, b in zip(rows, alone, strict=False)),
        "alone": len(alone),
        "gpu_median": statistics.median(row["gpu"] for row in rows if row["gpu"]),
        "speed_gpu_median": statistics.median([r["speed_gpu"] for r in rows if r["speed_gpu"]]),
        "not_measured": sum("speed_problem" in row for row in rows),
        "rows": rows,
    }


def _tell(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def _submissions(size: int) -> list[tuple[str, KnownKernel, bool]]:
    """The same ones each time: by turns of each exercise, some wrong ones among them."""
    draw = random.Random(7)
    chosen = []
    known = {name: list(kernels(name)) for name in discovery.of_kernels()}
    names = sorted(known)
    for place in range(size):
        name = names[place % len(names)]
        right = draw.random() >= WRONG_SHARE
        kernel, _ = draw.choice([found for found in known[name] if found[1] == right])
        chosen.append((name, kernel, right))
    return chosen


@cache
def _judge() -> Judge:
    return Judge(mode="all", official=True)


def _started(_number: int) -> None:
    """Each process of the pool gets one of these, if it takes its time."""
    _judge().warm()
    time.sleep(1.0)


def _judged(work: tuple[str, KnownKernel, bool]) -> Row:
    name, kernel, right = work
    report: Report = _judge().judge_text(kernel.text, discovery.exercise(name))
    told = _told(json.loads(json.dumps(report.to_line())))
    if report.speed is not None and report.speed.problem:
        told["speed_problem"] = report.speed.problem
    passed = str(report.verdict) == "passed"
    return {"exercise": name, "kernel": kernel.name, "right": right, "passed": passed, **told}


def _table(title: str, rows: list[Row]) -> Table:
    table = Table(title=title, title_justify="left")
    columns = list(rows[0])
    for column in columns:
        table.add_column(
            column.replace("_", " "), justify="left" if column == "exercise" else "right"
        )
    for row in rows:
        table.add_row(*(str(row[column]) for column in columns))
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=["cold", "warm", "class"], action="append")
    parser.add_argument("--class-size", type=int, default=100)
    parser.add_argument("--warm-step", type=int, default=1, help="take each so many-th exercise")
    parser.add_argument("--jobs", type=int, default=20)
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("there is no GPU here")
    wanted = options.only or ["cold", "warm", "class"]
    console = Console(width=140)
    kept: Row = dict(surroundings())
    if "cold" in wanted:
        kept["cold"] = cold()
        console.print(_table("Cold, from the command line; bar and seconds", kept["cold"]))
        _keep(kept, options.output)
    if "warm" in wanted:
        kept["warm"] = rows = warm(options.warm_step)
        console.print(_table("Warm: the second check of a changed kernel", rows))
        for column in ("check", "with_speed", "gpu"):
            values = [row[column] for row in rows if row[column]]
            console.print(f"{column}: median {statistics.median(values):.2f}, most {max(values)}")
        _keep(kept, options.output)
    if "class" in wanted:
        kept["class"] = found = a_class(options.class_size, options.jobs)
        console.print({key: value for key, value in found.items() if key != "rows"})
        _keep(kept, options.output)
        odd = [row for row in found["rows"] if row["passed"] != row["right"]]
        if odd:
            console.print(_table("Not as expected", odd))


def _keep(found: Row, path: Path) -> None:
    """Write what is there so far: a run may be ended by a limit of its machine."""
    path.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
