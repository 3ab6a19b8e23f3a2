"""Makes what cells showed fit for a page: styles once, pictures as files, nothing repeated."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable

_STYLE = re.compile(r"<style[^>]*>(.*?)</style>", re.DOTALL)
_PICTURE = re.compile(r'<img([^>]*?)src="data:image/(png|jpeg);base64,([^"]+)"([^>]*)>')


def without_styles(html: str) -> tuple[str, list[str]]:
    """The HTML without its style elements, and their rules.

    An output in a notebook brings its style along; a page has one style sheet for all of them.
    Templates in scripts (the states of an explorer) are cleaned as well.
    """
    rules = [rule.strip() for rule in _STYLE.findall(html)]
    return _STYLE.sub("", html), [rule for rule in rules if rule and rule != ".tw-keys { }"]


def pictures_as_files(html: str, folder: str) -> tuple[str, dict[str, bytes]]:
    """The HTML with `folder`/name in place of embedded pictures, and the pictures by name."""
    found: dict[str, bytes] = {}

    def replaced(match: re.Match[str]) -> str:
        before, kind, encoded, after = match.groups()
        content = base64.b64decode(encoded)
        name = f"{hashlib.sha256(content).hexdigest()[:20]}.{kind}"
        found[name] = content
        size = _png_size(content) if kind == "png" else None
        height = ""
        width = re.search(r'width="(\d+)"', before + after)
        if size and width:
            height = f' height="{round(int(width[1]) * size[1] / size[0])}"'
        image = f'<img{before}src="{folder}/{name}"{height} loading="lazy"{after}>'
        return (
            f'<div class="tw-scroll" role="group" aria-label="Picture" tabindex="0">{image}</div>'
        )

    return _PICTURE.sub(replaced, html), found


def _png_size(content: bytes) -> tuple[int, int]:
    """Width and height, which stand in the first chunk of every PNG."""
    return int.from_bytes(content[16:20], "big"), int.from_bytes(content[20:24], "big")


def style_sheet(rules: Iterable[str]) -> str:
    """All rules, each once, in the order in which they first came."""
    return "\n".join(dict.fromkeys(rules)) + "\n"
