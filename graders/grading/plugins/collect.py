"""Collects submissions as nbgrader does, but a single bad submission cannot stop or misuse it.

Learners write into the exchange themselves. nbgrader's own `collect` stops at the first name or
folder that it cannot read, accepts a submission under another student's name, and follows links
with the instructor's rights, for example to the model solution. Here such a submission is left
out and reported by name; all others are collected.
"""

from __future__ import annotations

import datetime
import os
import pwd
import re
import shutil
import uuid
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbgrader.exchange import ExchangeError
from nbgrader.exchange.default import ExchangeCollect
from nbgrader.utils import ignore_patterns, parse_utc

from graders.grading.intake import removed_links
from graders.judge.plain_text import quoted

if TYPE_CHECKING:  # this imports torch, and all nbgrader commands import this module
    from graders.grading.intake.rules import Rules

COPYING = Path(".tilewise") / "collecting"  # in the course folder
LEFT_OUT = 2  # the exit code
_STUDENT = re.compile(r"[\w.@+ -]{1,100}\Z")
_NOBODY = ""  # submissions without an owner are not collected
_UNKNOWN = ""  # an account without a name on this machine
_CLOCKS = datetime.timedelta(minutes=10)  # the clocks of two machines may differ this much


class CollectSafely(ExchangeCollect):  # type: ignore[misc]
    """Replaces nbgrader's `ExchangeCollect`; it has the same options."""

    src_records: list[dict[str, Any]]
    _left_out: list[str]  # the names of submissions that were not collected

    def _path_to_record(self, path: str) -> dict[str, Any]:
        """Return a submission's owner and time; no owner if its name cannot be trusted."""
        name = os.path.basename(path)
        parts = name.rsplit("+", 3)
        record = {"username": _NOBODY, "filename": name, "timestamp": datetime.datetime.min}
        try:
            student, stamp = parts[0], parse_utc(parts[2])
            owner = self._owner(path)
        except (IndexError, ValueError, OverflowError):
            self._leave_out(name, "its name is not STUDENT+ASSIGNMENT+TIME: let them submit again")
            return record
        except OSError as error:
            self._leave_out(name, f"it cannot be looked at: {error.strerror}")
            return record
        if not _STUDENT.match(student) or student.startswith((".", "-")):
            self._leave_out(name, "it names nobody who could be a student")
        elif os.path.islink(path) or not os.path.isdir(path):
            self._leave_out(name, "it is no folder")
        elif self.check_owner and owner not in (student, _UNKNOWN):
            self._leave_out(
                name,
                f"it says that it is by {quoted(student)} and belongs to the account "
                f"{quoted(owner)}; where students are not accounts, set "
                "ExchangeCollect.check_owner = False",
            )
        else:
            if self.check_owner and owner == _UNKNOWN:  # for example in a container
                self.log.warning("nobody here knows whose account %s belongs to", quoted(name))
            record |= {"username": student, "timestamp": stamp}
        return record

    @staticmethod
    def _owner(path: str) -> str:
        try:
            return pwd.getpwuid(os.lstat(path).st_uid).pw_name
        except KeyError:
            return _UNKNOWN

    def _leave_out(self, name: str, why: str) -> None:
        self._left_out.append(name)
        self.log.error("NOT COLLECTED: %s: %s", quoted(name), why)

    def start(self) -> None:
        """Collect; the command ends with exit code 2 if a submission was left out."""
        self._left_out = []
        try:
            super().start()
        except ExchangeError as error:
            if not self._left_out:
                raise
            self.log.error("%s", error)
        if self._left_out:
            names = ", ".join(map(quoted, sorted(set(self._left_out))))
            self.log.error("%d NOT COLLECTED: %s", len(set(self._left_out)), names)
            raise SystemExit(LEFT_OUT)

    def _sort_by_timestamp(self, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Sort a student's submissions, the newest first; drop those above the limit."""
        newest_first: list[dict[str, Any]] = super()._sort_by_timestamp(records)
        student, assignment = records[0]["username"], str(self.coursedir.assignment_id)
        limit = self._rules.limit(student, assignment) if student != _NOBODY else None
        if limit is None:
            return newest_first
        names = [str(record["filename"]) for record in reversed(newest_first)]
        from graders.grading.intake.rules import Attempts

        seen = Attempts(Path(self.coursedir.root), assignment).see(student, names)
        for name in seen[limit:]:
            if name in names:
                self.log.warning("%s: attempt %d of %d, not collected", student,
                                 seen.index(name) + 1, limit)  # fmt: skip
        counting = [record for record in newest_first if record["filename"] in seen[:limit]]
        return counting or [records[0] | {"username": _NOBODY}]

    @cached_property
    def _rules(self) -> Rules:
        from graders.grading.intake.rules import read_rules

        return read_rules(Path(self.coursedir.root))

    def copy_files(self) -> None:
        """Copy the submissions that have an owner; the others were reported already.

        The command fails if none has an owner, because then nothing was collected.
        """
        found = bool(self.src_records)
        self.src_records = [r for r in self.src_records if r["username"] != _NOBODY]
        if found and not self.src_records:
            raise ExchangeError("none of the submissions could be collected: see above")
        self._look_at_times()
        shutil.rmtree(Path(self.coursedir.root) / COPYING, ignore_errors=True)  # leftovers
        super().copy_files()

    def _look_at_times(self) -> None:
        """Report submissions named before the due date but changed on disk after it.

        If all folders changed later than their names say, the exchange was copied, which sets
        their ctime. Then only their mtime counts.
        """
        due = self.duedate
        if due is None:
            return
        changed = {r["filename"]: self._times(r["filename"]) for r in self.src_records}
        copied = len(self.src_records) > 1 and all(
            on_disk - record["timestamp"] > _CLOCKS
            for record in self.src_records
            for on_disk in changed[record["filename"]][:1]
        )
        if copied:
            self.log.info("the exchange was copied: times on disk say nothing of submissions")
        for record in self.src_records:
            latest = changed[record["filename"]][1 if copied else 0]
            if record["timestamp"] <= due < latest - _CLOCKS:
                self.log.warning(
                    "PERHAPS TAMPERED WITH: %s says %s, before the due date, but was changed on "
                    "disk at %s, after it", quoted(record["filename"]), record["timestamp"], latest,
                )  # fmt: skip

    def _times(self, name: str) -> tuple[datetime.datetime, datetime.datetime]:
        """Return the folder's ctime (its last change of any kind) and mtime (of its entries)."""
        found = os.lstat(os.path.join(self.inbound_path, name))
        inode, content = (
            datetime.datetime.fromtimestamp(seconds, datetime.UTC).replace(tzinfo=None)
            for seconds in (found.st_ctime, found.st_mtime)
        )
        return inode, content

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        """Copy one submission without its links; report it by name if that fails."""
        name = os.path.basename(src)
        part = Path(self.coursedir.root) / COPYING / uuid.uuid4().hex
        try:
            self._check_size(src)
            part.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(
                src,
                part,
                symlinks=True,
                ignore=self._ignored(),
                copy_function=partial(shutil.copy2, follow_symlinks=False),
            )
            links = self._settle(name, part)
            part.rename(dest)  # a run that is killed earlier leaves no partial submission
            removed_links.keep(Path(dest), links)
        except (OSError, shutil.Error, RuntimeError) as error:
            shutil.rmtree(part, ignore_errors=True)
            self._leave_out(name, f"it cannot be copied: {str(error)[:300]}")

    def _name(self, name: str, dest: Path) -> None:
        """Rename a student's only notebook to the released name."""
        assignment = str(self.coursedir.assignment_id)
        source = self.coursedir.format_path(self.coursedir.source_directory, ".", assignment)
        released = sorted(Path(source).glob("*.ipynb"))
        found = sorted(path for path in dest.glob("*") if path.suffix.lower() == ".ipynb")
        for notebook in found:
            _without_mark(notebook)
        if len(released) == len(found) == 1 and found[0].name != released[0].name:
            self.log.info("%s: %s counts as %s", name, quoted(found[0].name), released[0].name)
            found[0].rename(dest / released[0].name)

    def _check_size(self, src: str) -> None:
        if self.get_size(src) > 1000 * self.coursedir.max_dir_size:
            raise RuntimeError(f"it holds more than {self.coursedir.max_dir_size} kB")

    def _ignored(self) -> Any:
        return ignore_patterns(
            exclude=self.coursedir.ignore,
            include=self.coursedir.include,
            max_file_size=self.coursedir.max_file_size,
            log=self.log,
        )

    def _settle(self, name: str, dest: Path) -> list[str]:
        """Remove links, reset modes (also a set-user-id bit), and set the time from the name.

        Returns the names of the links.
        """
        from graders.grading.intake.sources import UnreadableFileError  # these import torch
        from graders.grading.intake.unpacked import bring_up

        links = []
        try:
            done = bring_up(dest, str(self.coursedir.assignment_id))
            if done:
                self.log.info("%s: %s", quoted(name), done)
        except (OSError, UnreadableFileError) as error:
            self.log.error("%s: %s", quoted(name), error)
        directory, file = (0o2770, 0o660) if self.coursedir.groupshared else (0o755, 0o644)
        dest.chmod(directory)
        for path in sorted(dest.rglob("*")):  # a directory comes before its contents
            if path.is_symlink():
                self.log.error(
                    "TAMPERED WITH: %s held the link %s to %s: removed", quoted(name),
                    quoted(path.name), quoted(os.readlink(path)),
                )  # fmt: skip
                links.append(path.relative_to(dest).as_posix())
                path.unlink()
            else:
                path.chmod(directory if path.is_dir() else file)
        self._name(name, dest)
        (dest / "timestamp.txt").unlink(missing_ok=True)
        (dest / "timestamp.txt").write_text(name.rsplit("+", 3)[2], encoding="utf-8")
        return links


def _without_mark(notebook: Path) -> None:
    """Remove the byte order mark that some editors write, because nbgrader cannot read it."""
    if not notebook.is_file():
        return
    with open(notebook, "rb") as file:
        marked = file.read(3) == b"\xef\xbb\xbf"
    if marked:
        notebook.write_bytes(notebook.read_bytes()[3:])
