"""A folder or a zip of submissions: what is in it, and what of that nobody should touch.

Entries are read, never unpacked to a path of their own. What is refused is named, one line each.
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
    """One file of a source is broken; the others are not."""


@dataclass(frozen=True)
class Entry:
    """One file of a source. `refused` says why nothing of it is taken, else it is ""."""

    path: str
    size: int = 0
    refused: str = ""


class Package(Protocol):
    """Where files come from."""

    def entries(self) -> list[Entry]:
        """All files, in the order of their names."""

    def time(self, path: str) -> datetime:
        """When the file was written, says the source."""

    def chunks(self, path: str) -> Iterator[bytes]:
        """The file's bytes, part by part; an UnreadableFileError where it is broken."""


@contextmanager
def opened_source(place: Path) -> Iterator[Package]:
    """The folder or the zip at this place; a GraderError where it is neither."""
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
    """The files in a folder and below it. No link is followed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def entries(self) -> list[Entry]:
        """All files, in the order of their names."""
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
        """When the file was changed."""
        return datetime.fromtimestamp((self._folder / path).stat().st_mtime, UTC)

    def chunks(self, path: str) -> Iterator[bytes]:
        """The file's bytes, part by part."""
        try:
            with open(self._folder / path, "rb") as file:
                yield from _parts(file)
        except OSError as error:
            raise UnreadableFileError(f"it cannot be read: {error.strerror}") from error


class ZipSource:
    """The entries of a zip, under the names that they should have."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._infos = {_name(info): info for info in archive.infolist() if not info.is_dir()}

    def entries(self) -> list[Entry]:
        """All files, in the order of their names."""
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
        """A zip tells no time zone: it is taken to be the one of this machine."""
        said = self._infos[path].date_time
        try:
            return datetime(*said).astimezone(UTC)
        except (ValueError, OverflowError) as error:
            raise UnreadableFileError(f"the zip gives it no date that exists: {said}") from error

    def chunks(self, path: str) -> Iterator[bytes]:
        """The file's bytes, part by part."""
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
        except Exception as error:  # each way of packing has errors of its own
            raise UnreadableFileError(f"it is damaged in the zip ({error})") from error


def packed_inside(source: Package, entry: Entry) -> ZipSource:
    """What is in a zip that somebody handed in; an UnreadableFileError where it is too much."""
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
    """What a system packs beside the files: macOS's copies, hidden files, checkpoints."""
    parts = PurePosixPath(path).parts
    return any((p.startswith(".") and p != "..") or p == "__MACOSX" for p in parts)


def _parts(file: IO[bytes]) -> Iterator[bytes]:
    size = 0
    while part := file.read(_READ):
        size += len(part)
        if size > MAX_FILE:  # whatever its size was said to be
            raise UnreadableFileError(too_large())
        yield part


def too_large() -> str:
    """Why a file of more than `MAX_FILE` bytes is not taken."""
    return f"it holds more than {MAX_FILE / 1e6:.0f} MB: clear its outputs and save it again"


def _name(info: zipfile.ZipInfo) -> str:
    """The entry's name. Some systems write UTF-8 without the flag that says so."""
    name = info.filename
    if not info.flag_bits & 0x800 and not name.isascii():
        with suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return name


def _checked(entries: Iterable[Entry]) -> list[Entry]:
    """The entries in order, those refused whose path is not what it seems."""
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
    """The path with `/` between its parts, and no empty part."""
    return str(PurePosixPath(path.replace("\\", "/")))


def _key(path: str) -> str:
    """Equal where some file system takes two paths for one."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", plain(path)).casefold())
