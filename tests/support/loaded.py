"""What a browser loads for a page without being asked; links that a reader may follow are none."""

from __future__ import annotations

import re

from nbconvert.exporters.html import BeautifulSoup

LOADING = ("src", "srcset", "poster", "data", "background", "action", "xlink:href")
_IN_STYLE = re.compile(r"""(?:url\(\s*|@import\s+)["']?([^"')\s;]+)""")


def loaded(page: str) -> list[str]:
    """The addresses in the order of the page, those in styles behind them."""
    soup = BeautifulSoup(page, "html.parser")
    found = [str(tag[name]) for tag in soup.find_all(True) for name in LOADING if name in tag.attrs]
    found += [
        str(tag["href"]) for tag in soup.find_all(["link", "base", "use", "image"], href=True)
    ]
    styles = [tag.get_text() for tag in soup.find_all("style")]
    styles += [str(tag["style"]) for tag in soup.find_all(style=True)]
    return found + [address for style in styles for address in _IN_STYLE.findall(style)]
