"""Put later runs of benchmarks/solutions.py into the figures that are kept.

    python benchmarks/merge.py FILE ...

adds the results of each FILE, as measured, to benchmarks/results/h200.json, and what that run says
of itself (date, versions, what the GPU reached, the stopwatch) to `later`. Each result then names
its run. A workload that is measured anew replaces its earlier result. Runs on another GPU or with
other versions are refused: their figures do not belong beside one another.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    # In place of this folder, whose solutions.py would hide the package of that name.
    sys.path[0] = str(Path(__file__).parents[1])

from benchmarks.performance_page import FIGURES

OF_A_RUN = ("date", "versions", "measured", "stopwatch")


def merged(report: dict[str, Any], run: dict[str, Any]) -> dict[str, Any]:
    """The report with another run's results. Run 1 is the first, run 2 the first of `later`."""
    for name in ("gpu", "versions"):
        if run[name] != report[name]:
            raise ValueError(f"{name}: {run[name]} is not {report[name]}")
    later = [*report.get("later", []), {name: run[name] for name in OF_A_RUN}]
    number = len(later) + 1
    new = {result["name"]: {**result, "run": number} for result in run["results"]}
    failed = {**report.get("failed", {}), **run.get("failed", {})}
    kept = {name: why for name, why in failed.items() if name not in new}
    # Each in the place of the older one, so that the page keeps its order.
    results = [new.pop(result["name"], result) for result in report["results"]]
    results += new.values()
    return {**report, "results": results, "later": later} | ({"failed": kept} if kept else {})


def main() -> int:
    """Merge the files, in their order."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, help="what --output of solutions.py wrote")
    report = json.loads(FIGURES.read_text())
    for path in parser.parse_args().files:
        report = merged(report, json.loads(path.read_text()))
    FIGURES.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    print(f"{FIGURES.name} has {len(report['results'])} results of {len(report['later']) + 1} runs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
