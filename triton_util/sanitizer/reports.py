"""The findings of a run for people and for programs: text, JSON, SARIF, GitHub annotations."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from triton_util.sanitizer.findings import Findings, LaunchFinding

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def text(findings: Findings) -> str:
    """The report for a terminal."""
    parts = [_paragraph(number, finding) for number, finding in enumerate(findings.new, 1)]
    parts += [f"not checked: {f.file}:{f.line} {f.kernel}: {f.message}" for f in findings.gaps]
    parts += [f"not compiled: {reason}." for reason in findings.not_compiled]
    return "\n\n".join([*parts, summary(findings)])


def summary(findings: Findings) -> str:
    """The last line of the report."""
    new = len(findings.new)
    line = f"tilewise: {new} finding{'' if new == 1 else 's'} in {findings.launches} launches"
    if findings.compiled:
        line += f", {findings.compiled} kernels compiled"
    known = findings.known_again
    return line + (f", and {known} known from the baseline" if known else "")


def _paragraph(number: int, finding: LaunchFinding) -> str:
    where = f"{finding.file}:{finding.line}"
    times = f" ({finding.times} times)" if finding.times > 1 else ""
    lines = [f"{number}. {where} {finding.code} in {finding.kernel}{times}"]
    if finding.source:
        lines.append(f"       {finding.source}")
    lines += [f"   {part}" for part in (finding.message, finding.cause) if part]
    return "\n".join(lines)


def as_json(findings: Findings) -> str:
    """The findings as one JSON object; `docs/sanitizer.md` names its fields."""
    new = set(findings.new)
    return json.dumps(
        {
            "version": 1,
            "launches": findings.launches,
            "compiled": findings.compiled,
            "findings": [{**asdict(f), "new": f in new} for f in findings.all],
            "not_checked": [asdict(gap) for gap in findings.gaps],
            "not_compiled": list(findings.not_compiled),
        },
        indent=1,
    )


def as_sarif(findings: Findings) -> str:
    """The findings in SARIF 2.1.0, for GitHub code scanning and editors."""
    codes = sorted({finding.code for finding in findings.all})
    rules = [{"id": code} for code in codes]
    driver = {"name": "tilewise", "version": _version(), "rules": rules}
    run = {"tool": {"driver": driver}, "results": [_result(f, findings) for f in findings.all]}
    return json.dumps({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1)


def _result(finding: LaunchFinding, findings: Findings) -> dict[str, Any]:
    region: dict[str, Any] = {"startLine": max(1, finding.line)}
    if finding.source:
        region["snippet"] = {"text": finding.source}
    return {
        "ruleId": finding.code,
        "level": "error",
        "message": {"text": f"{finding.message} {finding.cause}".strip()},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": _uri(finding.file)},
                    "region": region,
                },
                "logicalLocations": [{"name": finding.kernel, "kind": "function"}],
            }
        ],
        "partialFingerprints": {"tilewise/v1": "|".join(finding.key)},
        "baselineState": "new" if finding.key not in findings.known else "unchanged",
    }


def _uri(file: str) -> str:
    path = Path(file)
    return path.as_uri() if path.is_absolute() else path.as_posix()


def _version() -> str:
    try:
        return version("tilewise")
    except PackageNotFoundError:  # run from a folder that is not installed
        return "0"


def wants_annotations() -> bool:
    """Whether this is a run of GitHub Actions."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def github(findings: Findings) -> str:
    """Lines that GitHub shows beside the code of a pull request."""
    errors = [
        f"::error file={_escaped(f.file, True)},line={max(1, f.line)},"
        f"title={_escaped(f.code, True)}::{_escaped(f.message)}"
        for f in findings.new
    ]
    notices = [
        f"::notice file={_escaped(f.file, True)},line={max(1, f.line)},"
        f"title=not checked::{_escaped(f.message)}"
        for f in findings.gaps
    ]
    return "\n".join(errors + notices)


def _escaped(text: str, in_property: bool = False) -> str:
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.replace(":", "%3A").replace(",", "%2C") if in_property else text


def write(findings: Findings, json_path: Path | None, sarif_path: Path | None) -> None:
    """Write the requested files."""
    if json_path is not None:
        json_path.write_text(as_json(findings) + "\n", encoding="utf-8")
    if sarif_path is not None:
        sarif_path.write_text(as_sarif(findings) + "\n", encoding="utf-8")
