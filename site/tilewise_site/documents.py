"""The documents of docs/ and the pages of site/pages, as sources for Sphinx."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from pathlib import Path

# In the order of the contents; a test asks that no document of docs/ is missing.
GROUPS = (
    ("Use it", ("learn", "coming_from", "teach", "serve", "scale", "docker", "sanitizer")),
    (
        "Behind it",
        (
            *("interpreter", "operations", "performance", "security", "architecture"),
            *("author", "site", "release"),
        ),
    ),
)
DECISIONS = "Decisions"
_LINK = re.compile(r"(?<!!)\]\((\.\./[^)\s]*)\)")


@dataclass(frozen=True)
class Document:
    """One page: where it stands on the site, its text in Markdown."""

    page: str
    text: str

    @property
    def title(self) -> str:
        found = re.search(r"^# (.+)$", self.text, re.MULTILINE)
        return found[1].replace("`", "") if found else self.page

    @property
    def description(self) -> str:
        """The first paragraph under the title, without marks: for search engines."""
        after = self.text.split("\n", 1)[-1]
        paragraphs = [part.strip() for part in re.split(r"\n\s*\n", after)]
        plain = (part for part in paragraphs if part and part[0] not in "#|`<-[:")
        return re.sub(r"[*`]|\[(.*?)\]\(.*?\)", r"\1", next(plain, self.title))[:300]


def read_documents(folder: Path, repository: str, tag: str) -> list[Document]:
    """The documents of `folder` and of the folders in it; links that leave it go to the repository.

    The page of `decisions/0001-judge.md` is `docs/decisions/0001-judge`.
    """
    return [
        Document(
            f"docs/{path.relative_to(folder).with_suffix('').as_posix()}",
            _links_outside(
                path.read_text(encoding="utf-8"), path.relative_to(folder), repository, tag
            ),
        )
        for path in sorted(folder.rglob("*.md"))
    ]


def _links_outside(text: str, path: Path, repository: str, tag: str) -> str:
    """`text` of the document `docs/{path}`, whose links out of docs/ lead to the repository."""

    def outside(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join("docs", path.parent.as_posix(), match[1]))
        inside = target.startswith("docs/")
        return match[0] if inside else f"]({repository}/blob/{tag}/{target})"

    return _LINK.sub(outside, text)


def grouped(documents: list[Document]) -> list[tuple[str, list[Document]]]:
    """The documents in the groups of the contents; decisions come last, by their numbers."""
    by_name = {document.page.removeprefix("docs/"): document for document in documents}
    named = [name for _, names in GROUPS for name in names]
    found = [
        (title, [by_name[name] for name in names if name in by_name]) for title, names in GROUPS
    ]
    rest = [name for name in by_name if name not in named]
    found[-1][1].extend(by_name[name] for name in rest if not name.startswith("decisions/"))
    decisions = [by_name[name] for name in rest if name.startswith("decisions/")]
    decisions.sort(key=lambda document: (not document.page.endswith("/README"), document.page))
    return [*found, (DECISIONS, decisions)] if decisions else found


def index(groups: list[tuple[str, list[str]]]) -> str:
    """The source of the front page: only the order of all others; a template does the rest."""
    trees = "\n".join(
        f"```{{toctree}}\n:hidden:\n:caption: {title}\n\n" + "\n".join(pages) + "\n```\n"
        for title, pages in groups
    )
    return f"# Tilewise\n\n{trees}"
