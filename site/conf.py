"""Sphinx's settings; the pages themselves are written by build.py before Sphinx starts."""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

from triton_util.theme import variables_css  # noqa: E402

# Written by build.py: what templates show, and where what it made lies.
_MADE = json.loads(Path(os.environ["TILEWISE_SITE_DATA"]).read_text(encoding="utf-8"))

project = "Tilewise"
language = "en"
root_doc = "index"
extensions = ["myst_parser"]
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline"]
suppress_warnings = ["myst.header"]  # a lesson's parts may skip a level
templates_path: list[str] = []
html_theme = "theme"
html_theme_path = [str(HERE)]
html_static_path = [_MADE["static"]]
html_extra_path = [_MADE["extra"]]
html_use_index = False
html_domain_indices = False
html_copy_source = False
html_show_sourcelink = False
html_permalinks_icon = "#"
html_context = _MADE["context"]


def page_context(
    app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """What a page says of itself, and tables that scroll by themselves where they are wide."""
    body = str(context.get("body", ""))
    table = '<div class="tw-scroll" role="group" aria-label="Table" tabindex="0"><table'
    body = body.replace("<table", table).replace("</table>", "</table></div>")
    # The empty corner of a table heads nothing.
    body = body.replace('<th class="head"><p></p></th>', "<td></td>")
    # A link to a heading needs a name of its own, not the one character that it shows.
    context["body"] = re.sub(
        r'<a class="headerlink" (href="[^"]*") title="[^"]*">',
        r'<a class="headerlink" \1 data-pagefind-ignore aria-label="Link to this heading">',
        body,
    )
    context["description"] = _MADE["descriptions"].get(pagename, _MADE["descriptions"]["index"])
    context["page_language"] = _MADE["languages"].get(pagename)


def setup(app: Any) -> dict[str, bool]:
    app.connect("html-page-context", page_context)
    static = Path(_MADE["static"])
    static.mkdir(parents=True, exist_ok=True)
    (static / "palette.css").write_text(variables_css("body"), encoding="utf-8")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
