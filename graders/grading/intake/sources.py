"""Reads a folder or a zip of submissions, and refuses files that are unsafe to read.

Entries are read as bytes and never unpacked to the path that they name. Each refused file is
reported in one line.
"""

from __future__ import annotations

import io
import os
import stat
import unicodedata
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import IO, Protocol

from graders.judge.records import GraderError

MAX_FILE = 200_000_000  # bytes, unpacked: a larger file is refused by name
MAX_PACKED, MAX_ENTRIES = 20_000_000, 10_000  # of a zip in an upload
_READ = 1 << 20
_ENTRY = b"PK\x01\x02"  # begins each entry of a zip's directory


class UnreadableFileError(Exception):
    """One file of a source is broken; the others are readable."""


@dataclass(frozen=True)
class Entry:
    """One file of a source. `refused` says why it is not read, or is ""."""

    path: str
    size: int = 0
    refused: str = ""


class Package(Protocol):
    """A source of files."""

    def entries(self) -> list[Entry]:
        """Return all files, sorted by name."""

    def time(self, path: str) -> datetime:
        """Return when the file was written, according to the source."""

    def chunks(self, path: str) -> Iterator[bytes]:
        """Yield the file's bytes in parts; UnreadableFileError if it is broken."""


@contextmanager
def opened_source(place: Path) -> Iterator[Package]:
    """Open the folder or the zip at this path; GraderError if it is neither."""
    if not place.exists():
        raise GraderError(f"{place} does not exist: name a folder of notebooks or a zip")
    if place.is_dir():
        yield FolderSource(place)
        return
    if not zipfile.is_zipfile(place):
        raise GraderError(f"{place} is neither a folder nor a zip")
    try:
        archive = zipfile.ZipFile(place)
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError) as error:
        raise GraderError(f"{place} is a damaged zip ({error}): download it again") from error
    with archive:
        yield ZipSource(archive)


class FolderSource:
    """The files in a folder and below it. Links are not followed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def entries(self) -> list[Entry]:
        """Return all files, sorted by name."""
        found: list[Entry] = []

        def closed(error: OSError) -> None:
            name = Path(error.filename).relative_to(self._folder).as_posix()
            found.append(Entry(name, refused=f"the folder cannot be opened: {error.strerror}"))

        for folder, names, files in os.walk(self._folder, onerror=closed):
            place = Path(folder)
            links = [name for name in names if (place / name).is_symlink()]
            found += [self._entry(place / name) for name in (*files, *links)]
        return _checked(found)

    def _entry(self, path: Path) -> Entry:
        name = path.relative_to(self._folder).as_posix()
        found = path.lstat()
        if stat.S_ISLNK(found.st_mode):
            return Entry(name, refused="it is a link: put the notebook itself there")
        if not stat.S_ISREG(found.st_mode):
            return Entry(name, refused="it is no ordinary file")
        return Entry(name, found.st_size)

    def time(self, path: str) -> datetime:
        """Return when the file was last changed."""
        return datetime.fromtimestamp((self._folder / path).stat().st_mtime, UTC)

    def chunks(self, path: str) -> Iterator[bytes]:
        """Yield the file's bytes in parts."""
        try:
            with open(self._folder / path, "rb") as file:
                yield from _parts(file)
        except OSError as error:
            raise UnreadableFileError(f"it cannot be read: {error.strerror}") from error


class ZipSource:
    """The entries of a zip, with their names decoded and normalised."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._infos = {_name(info): info for info in archive.infolist() if not info.is_dir()}

    def entries(self) -> list[Entry]:
        """Return all files, sorted by name."""
        infos = [info for info in self._archive.infolist() if not info.is_dir()]
        return _checked(self._entry(info) for info in infos)

    @staticmethod
    def _entry(info: zipfile.ZipInfo) -> Entry:
        kind = stat.S_IFMT(info.external_attr >> 16) if info.create_system == 3 else 0
        if kind == stat.S_IFLNK:
            return Entry(_name(info), refused="it is a link: put the notebook itself there")
        if kind not in (0, stat.S_IFREG):
            return Entry(_name(info), refused="it is no ordinary file")
        return Entry(_name(info), info.file_size)

    def time(self, path: str) -> datetime:
        """Return the entry's time in this machine's zone, because a zip stores none."""
        said = self._infos[path].date_time
        try:
            return datetime(*said).astimezone(UTC)
        except (ValueError, OverflowError) as error:
            raise UnreadableFileError(f"the zip gives it no date that exists: {said}") from error

    def chunks(self, path: str) -> Iterator[bytes]:
        """Yield the file's bytes in parts."""
        info = self._infos[path]
        if info.flag_bits & 1:
            raise UnreadableFileError("it is encrypted: ask for it without a password")
        try:
            with self._archive.open(info) as file:
                yield from _parts(file)
        except UnreadableFileError:
            raise
        except NotImplementedError as error:
            raise UnreadableFileError("it is packed in a way that cannot be read here") from error
        except Exception as error:  # each compression method has its own errors
            raise UnreadableFileError(f"it is damaged in the zip ({error})") from error


def packed_inside(source: Package, entry: Entry) -> ZipSource:
    """Open a zip inside a submission; UnreadableFileError if it is too large."""
    if entry.size > MAX_PACKED:
        raise UnreadableFileError(f"it is a zip of more than {MAX_PACKED / 1e6:.0f} MB")
    data = b"".join(source.chunks(entry.path))
    if data.count(_ENTRY) > MAX_ENTRIES:
        raise UnreadableFileError(f"it is a zip of more than {MAX_ENTRIES:,} files")
    try:
        return ZipSource(zipfile.ZipFile(io.BytesIO(data)))
    except Exception as error:
        raise UnreadableFileError("it is called a zip and cannot be opened as one") from error


def is_junk(path: str) -> bool:
    """Whether a system packed the file by itself: macOS's copies, hidden files, checkpoints."""
    parts = PurePosixPath(path).parts
    return any((p.startswith(".") and p != "..") or p == "__MACOSX" for p in parts)


def _parts(file: IO[bytes]) -> Iterator[bytes]:
    size = 0
    while part := file.read(_READ):
        size += len(part)
        if size > MAX_FILE:  # the declared size may be wrong
            raise UnreadableFileError(too_large())
        yield part


def too_large() -> str:
    """Return why a file of more than `MAX_FILE` bytes is refused."""
    return f"it holds more than {MAX_FILE / 1e6:.0f} MB: clear its outputs and save it again"


def _name(info: zipfile.ZipInfo) -> str:
    """Return the entry's name. Some systems write UTF-8 without setting its flag."""
    name = info.filename
    if not info.flag_bits & 0x800 and not name.isascii():
        with suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return name


def _checked(entries: Iterable[Entry]) -> list[Entry]:
    """Return the entries in order; those with a misleading path are marked as refused."""
    checked = [_with_a_sound_path(entry) for entry in entries]
    alike = defaultdict(list)
    for entry in checked:
        alike[_key(entry.path)].append(entry)
    found = []
    for same in alike.values():
        why = "another file here has the same name, but for capitals or accents: rename one"
        found += same if len(same) == 1 else [replace(e, refused=e.refused or why) for e in same]
    return sorted(found, key=lambda entry: entry.path)


def _with_a_sound_path(entry: Entry) -> Entry:
    parts = entry.path.replace("\\", "/").split("/")
    if ".." in parts or parts[0] == "" or parts[0].endswith(":"):
        return replace(entry, refused="its path leads out of the folder")
    try:
        entry.path.encode()
    except UnicodeEncodeError:
        return replace(entry, refused="its name is no text: rename it")
    return entry


def plain(path: str) -> str:
    """Return the path with `/` between its parts, and without empty parts."""
    return str(PurePosixPath(path.replace("\\", "/")))


def _key(path: str) -> str:
    """Return a key that is equal for two paths that some file system treats as one."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", plain(path)).casefold())
