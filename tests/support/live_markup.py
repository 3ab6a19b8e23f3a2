"""What a browser would run or load in a page, read from the page itself."""

from __future__ import annotations

import re
from html.parser import HTMLParser


class Live(HTMLParser):
    """What in a page could run or load something."""

    FORBIDDEN = ("script", "iframe", "object", "embed", "base", "link", "form", "svg")
    FORBIDDEN += ("meta", "style", "template", "input", "button", "textarea", "video", "audio")
    # of formulas: what holds other things, or does something when it is clicked
    FORBIDDEN += ("maction", "semantics", "annotation", "annotation-xml")
    LINK = re.compile(r"(?:https?://|mailto:)[^\s]+|#[^\s]*")

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        running = [name for name in values if name.startswith("on") or name == "srcdoc"]
        links = [values[name] for name in ("href", "action", "xlink:href") if name in values]
        odd = [link for link in links if not self.LINK.fullmatch(link)]
        source = values.get("src", "data:image/")
        styled = re.search(r"url|position|\\", values.get("style", ""), re.I)
        harmless = not running and not odd and not styled and source.startswith("data:image/")
        if tag in self.FORBIDDEN or not harmless:
            self.found.append(self.get_starttag_text() or tag)


def live(page: str) -> list[str]:
    """The tags of the page that could run or load something."""
    reader = Live()
    reader.feed(page)
    return reader.found
