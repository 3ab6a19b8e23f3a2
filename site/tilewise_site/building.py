"""The whole way from notebooks and documents to a folder that any static host can serve."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from graders.authoring.rooms import Rooms
from tilewise_site import documents, executing, front, outputs
from tilewise_site.documents import Document
from tilewise_site.executing import REPOSITORY
from tilewise_site.lessons import Lesson, page, read_lessons
from tilewise_site.running import Shown

HERE = REPOSITORY / "site"
EXAMPLE = "front-page"
NOT_NEEDED = ("searchindex.js", "objects.inv", ".buildinfo", "_static/pygments.css")


def build(target: Path, work: Path) -> None:
    """Write the whole site to `target`; what can be used again stays in `work`."""
    settings = Rooms(REPOSITORY).settings()
    repository, tag = settings.address, settings.tag
    lessons = read_lessons(REPOSITORY / "lessons")
    texts = documents.read_documents(REPOSITORY / "docs", repository, tag)
    texts += [Document("zh", (HERE / "pages/zh.md").read_text(encoding="utf-8"))]

    started = time.monotonic()
    notebooks = {EXAMPLE: front.example_sources(REPOSITORY)}
    notebooks |= {lesson.name: lesson.sources for lesson in lessons}
    shown, rules, pictures = cleaned(executing.run_all(notebooks, work / "lessons"))
    print(f"{len(lessons)} lessons run or taken from the cache: {_since(started)}")

    started = time.monotonic()
    sources = {text.page: text.text for text in texts}
    for lesson in lessons:
        links = lesson_links(lesson, settings.repository, tag)
        sources[f"lessons/{lesson.name}"] = page(lesson, shown[lesson.name], links)
    navigation = contents(lessons, texts)
    sources["index"] = documents.index(
        [(group["title"], [entry["page"] for entry in group["entries"]]) for group in navigation]
    )
    write_sources(work / "sources", sources)
    drawn = {path.name: path.read_bytes() for path in (REPOSITORY / "docs/images").iterdir()}
    write_pictures(work / "sources/docs/images", drawn)
    write_pictures(work / "extra/figures", pictures)
    static = work / "static"
    static.mkdir(parents=True, exist_ok=True)
    (static / "outputs.css").write_text(outputs.style_sheet(rules), encoding="utf-8")
    data = {
        "static": str(static),
        "extra": str(work / "extra"),
        "descriptions": {text.page: text.description for text in texts}
        | {f"lessons/{lesson.name}": front.lesson_entry(lesson)["line"] for lesson in lessons}
        | {"index": "Learn to write GPU kernels in Triton, with a judge that names the mistake."},
        "languages": {"zh": "zh-Hans"},
        "context": {
            "repository": repository,
            "tag": tag,
            "navigation": navigation,
            "lessons": [front.lesson_entry(lesson) for lesson in lessons],
            "counts": front.counts(REPOSITORY),
            "finding": front.finding(REPOSITORY, shown[EXAMPLE]),
            "tiles_picture": front.tiles_picture(),
        },
    }
    run_sphinx(target, work, data)
    print(f"pages written: {_since(started)}")
    started = time.monotonic()
    index_pages(target)
    print(f"search index written: {_since(started)}")


def cleaned(
    shown: Mapping[str, Sequence[Shown]],
) -> tuple[dict[str, list[Shown]], list[str], dict[str, bytes]]:
    """What cells showed, fit for pages; the rules of style that they share; their pictures."""
    rules: list[str] = []
    pictures: dict[str, bytes] = {}
    result: dict[str, list[Shown]] = {}
    for name, cells in shown.items():
        result[name] = []
        for cell in cells:
            content, found = outputs.without_styles(cell.html)
            content, drawn = outputs.pictures_as_files(content, "../figures")
            rules += found
            pictures |= drawn
            result[name].append(Shown(content, cell.failed))
    return result, rules, pictures


def lesson_links(lesson: Lesson, repository: str, tag: str) -> str:
    """Where to go to do the lesson."""
    path = f"{repository}/blob/{tag}/lessons/{lesson.name}.ipynb"
    return (
        '<p class="tw-links" data-pagefind-ignore>'
        f'<a href="https://colab.research.google.com/github/{path}">Open in Colab</a>'
        f'<a href="https://github.com/{path}">The notebook</a>'
        '<a href="../docs/learn.html">Work on it on your machine</a></p>'
    )


def contents(lessons: Sequence[Lesson], texts: Sequence[Document]) -> list[dict[str, Any]]:
    """The contents as the templates show them: groups of pages."""
    groups: list[dict[str, Any]] = [
        {
            "title": "Lessons",
            "entries": [
                {"page": f"lessons/{one.name}", "number": one.number, "title": one.title}
                for one in lessons
            ],
        }
    ]
    kept = [text for text in texts if text.page.startswith("docs/")]
    for title, members in documents.grouped(kept):
        entries = [{"page": text.page, "title": text.title} for text in members]
        groups.append({"title": title, "entries": entries})
    chinese = next(text for text in texts if text.page == "zh")
    groups[1]["entries"].append({"page": "zh", "title": chinese.title, "language": "zh-Hans"})
    return groups


def write_sources(folder: Path, sources: Mapping[str, str]) -> None:
    """Write what has changed and remove what is gone, so that Sphinx reads no more than it must."""
    wanted = {folder / f"{name}.md": text for name, text in sources.items()}
    for old in folder.rglob("*.md"):
        if old not in wanted:
            old.unlink()
    for path, text in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def write_pictures(folder: Path, pictures: Mapping[str, bytes]) -> None:
    """Write what has changed and remove what is gone."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        if old.name not in pictures:
            old.unlink()
    for name, content in pictures.items():
        path = folder / name
        if not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)


def run_sphinx(target: Path, work: Path, data: Mapping[str, Any]) -> None:
    """Write the pages; a warning (a dead link between pages, say) ends the build."""
    place = work / "data.json"
    place.write_text(json.dumps(data), encoding="utf-8")
    shutil.rmtree(target, ignore_errors=True)
    command = [
        sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-j", "2",
        "-c", str(HERE), "-d", str(work / "doctrees"), str(work / "sources"), str(target),
    ]  # fmt: skip
    subprocess.run(command, check=True, env={**os.environ, "TILEWISE_SITE_DATA": str(place)})
    for name in NOT_NEEDED:
        (target / name).unlink(missing_ok=True)
    (target / ".nojekyll").touch()  # or GitHub Pages would leave out folders like _static


def index_pages(target: Path) -> None:
    """Write the index of the search beside the pages."""
    command = [sys.executable, "-m", "pagefind_bin_extended", "--site", str(target), "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:  # otherwise it only says that Chinese words have no endings to cut off
        raise RuntimeError(f"Pagefind failed:\n{done.stdout}{done.stderr}")
    for unused in (*target.glob("pagefind/*-ui.*"), target / "pagefind/pagefind-highlight.js"):
        unused.unlink()


def _since(started: float) -> str:
    return f"{time.monotonic() - started:.1f} s"
