"""The exporter of feedback pages: a separate class, so formgrader's pages stay unchanged.

Most text on a page is the lesson's, so it is the same for all students. So converted texts are
cached, templates are compiled once, and nh3 cleans the finished page once. A page takes a tenth
of the time that nbconvert's exporter takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from io import BytesIO
from typing import Any

from jinja2 import BytecodeCache, Environment, pass_context
from jinja2.bccache import Bucket
from nbconvert.exporters import HTMLExporter
from nbconvert.filters import Highlight2HTML
from nbconvert.filters.widgetsdatatypefilter import WidgetsDataTypeFilter
from nbconvert.preprocessors import Preprocessor
from nbformat.notebooknode import NotebookNode

from graders.grading.plugins.formulas import to_html
from graders.grading.sanitise import clean_html, shown_code

LONGEST = 20_000  # characters of a text that is cached
MOST = 2_000  # texts


class _CompiledTemplates(BytecodeCache):
    """Templates that this process has compiled."""

    def __init__(self) -> None:
        self._code: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self._code:
            bucket.load_bytecode(BytesIO(self._code[bucket.key]))

    def dump_bytecode(self, bucket: Bucket) -> None:
        code = BytesIO()
        bucket.write_bytecode(code)
        self._code[bucket.key] = code.getvalue()


_compiled = _CompiledTemplates()


def kept(work: Callable[[str], str]) -> Callable[[str], str]:
    """Return the function with a cache of its results, except for long texts."""
    remembering = lru_cache(MOST)(work)
    return lambda text: remembering(text) if len(text) <= LONGEST else work(text)


_shown: dict[tuple[bool, str, bool], Callable[[str], str]] = {}  # markdown, by its settings
highlighted = kept(lambda source: str(Highlight2HTML()(shown_code(source))))


class ShowCode(Preprocessor):  # type: ignore[misc]
    """For formgrader's pages, whose code nbconvert colours itself."""

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        if cell.cell_type == "code":
            cell = NotebookNode({**cell, "source": shown_code(cell.source)})
        return cell, resources


class FeedbackExporter(HTMLExporter):  # type: ignore[misc]
    """nbconvert's exporter with the template that `configure.feedback` sets for this class."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        settings = (self.embed_images, self.anchor_link_text, self.exclude_anchor_links)
        self._shown = _shown.setdefault(settings, kept(self._markdown))

    def _create_environment(self) -> Environment:
        environment: Environment = super()._create_environment()
        environment.bytecode_cache = _compiled
        return environment

    def default_filters(self) -> Iterator[tuple[str, Any]]:
        yield from super().default_filters()
        yield "markdown2html", self.markdown2html
        yield "clean_html", lambda element: str(element)  # the whole page is cleaned at the end

    @pass_context
    def markdown2html(self, context: Any, source: str) -> str:
        """Convert markdown with formulas; results without attached pictures are cached."""
        attachments = context.get("cell", {}).get("attachments")
        return self._markdown(source, attachments) if attachments else self._shown(source)

    def _markdown(self, source: str, attachments: Any = None) -> str:
        return to_html(
            source,
            attachments=attachments,
            embed_images=self.embed_images,
            anchor_link_text=self.anchor_link_text,
            exclude_anchor_links=self.exclude_anchor_links,
        )

    def from_notebook_node(
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **options: Any
    ) -> tuple[str, dict[str, Any]]:
        """Export as HTMLExporter does, and clean the finished page's body with nh3."""
        resources = self._init_resources(resources)
        types = WidgetsDataTypeFilter(
            notebook_metadata=self._nb_metadata, parent=self, resources=resources
        )
        self.register_filter("highlight_code", lambda source, **_: highlighted(source))
        self.register_filter("filter_data_type", types)
        page, resources = super(HTMLExporter, self).from_notebook_node(nb, resources, **options)
        head, _, rest = page.partition("<main>")
        body = clean_html(rest.rpartition("</main>")[0])
        return f"{head}<main>{body}</main>\n</body>\n</html>\n", resources
