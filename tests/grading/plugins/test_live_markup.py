"""Whatever a text says, its page runs nothing, loads nothing and leads to no odd place."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from traitlets.config import Config

from graders.grading.plugins.configure import configure
from graders.grading.plugins.feedback import FeedbackExporter, highlighted
from graders.grading.plugins.formulas import to_html
from graders.grading.sanitise import clean_html, shown_code
from tests.support.live_markup import live
from tests.support.processor_time import processor_seconds

FAR = "http://198.51.100.7/pixel.png"  # an address that nobody has
LINKS = (
    *("javascript:alert(1)", "javascript\\:alert(1)", "java\\script:alert(1)", "JaVaScRiPt:x"),
    *("&#106;avascript:x", "javascript&colon;x", "java&Tab;script:x", "java&NewLine;script:x"),
    *("vbscript:x", "data:text/html,x", "&#100;ata:text/html,x", "<data:text/html;base64,AA>"),
    *("file:///etc/passwd", "blob:x", "//far.example", "/formgrader?path=/submitted/me", "x.html"),
    *("<\x01javascript:x>", "files/javascript:x", "%6aavascript:x", "\\\tdata:text/html,x"),
)
MARKUP = (
    *("<script>x</script>", "<img src=x onerror=x>", f"<img src={FAR}>", "<svg onload=x>"),
    *("<svg><a xlink:href='javascript:x'>y</a></svg>", "<svg><animate onbegin=x attributeName=x>"),
    *("<meta http-equiv=refresh content='0;url=x'>", "<base href=//x>", "<link rel=stylesheet>"),
    *("<form action=x><input name=y><button>z</button></form>", "<iframe srcdoc='<b>x</b>'>"),
    *("<style>@import url(//x)</style>", "<template><script>x</script></template>"),
    *(f"<p style='background:url({FAR})'>x", "<p style='position:fixed;top:0'>x"),
    *(f"<span style='color:red;background-color:url({FAR})'>x", "<td style='text-align:url(x)'>"),
    *("<span style='color:\\75rl(//x)'>x", "<span style='color:expression(x)'>x"),
    *("<a href='javascript:x'>y", "<a href=' javascript:x'>y", "<a href='java\nscript:x'>y"),
    *("<a href='data:text/html,x'>y", "<a href='da\tta:text/html,x'>y", "<a href='\x01data:x'>y"),
    *("<details open ontoggle=x>y</details>", "<video poster=x><source onerror=x></video>"),
    *("<math><mi xlink:href='javascript:x'>y</mi></math>", "<math href='javascript:x'>y</math>"),
    "<math><maction actiontype='statusline#x' xlink:href='javascript:x'>y</maction></math>",
    "<math><annotation-xml encoding='text/html'><img src onerror=x></annotation-xml></math>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src onerror=x&gt;'>",
    "<form><math><mtext></form><form><mglyph><style></math><img src onerror=x>",
    "<svg></p><style><a id='</style><img src=1 onerror=x>'>",
    "<noscript><p title='</noscript><img src=x onerror=x>'>",
    "<!--><img src=x onerror=x>-->",
    "<![CDATA[<img src=x onerror=x>]]>",
)


@pytest.mark.parametrize("link", LINKS)
def test_a_link_runs_nothing_and_leads_to_no_odd_place(link: str) -> None:
    for text in (f"[x]({link})", f"![x]({link})", f"[x][r]\n\n[r]: {link}", f"<{link}>"):
        assert live(to_html(text)) == [], text
        assert "href" not in to_html(text), text


@pytest.mark.parametrize("markup", MARKUP)
def test_markup_of_a_text_is_dead(markup: str) -> None:
    for text in (markup, f"a {markup} b", f"> {markup}", f"$x$ {markup}", f"|a|\n|-|\n|{markup}|"):
        assert live(to_html(text)) == [], text


def test_what_a_text_is_for_stays() -> None:
    page = to_html(
        "## A title\n\n[a](https://example.org/x?y=1#z) [b](mailto:a@example.org) [c](#part)\n\n"
        "|a|b|\n|:-|-:|\n|`x`|**y**|\n\n```python\ndef f(): pass\n```\n\n> a quote\n\n$x_i^2$"
    )
    for kept in (
        *('href="https://example.org/x?y=1#z"', 'href="mailto:a@example.org"', 'href="#part"'),
        *('style="text-align:right"', '<span class="k">def</span>', "<blockquote>", "<msubsup>"),
    ):
        assert kept in page


def test_no_text_takes_the_name_of_a_field() -> None:
    """Formgrader's script looks for its fields by `id`; a heading has its text as one."""
    assert "id=" not in to_html("# vector_add\n\n# submission_id")


@pytest.mark.parametrize(
    ("url", "shown"),
    [("attachment:a.png", True), ("attachment:b.svg", False), ("attachment:c.png", False)],
)
def test_a_picture_shows_where_it_is_attached(url: str, shown: bool) -> None:
    files = {"a.png": {"image/png": "iVBORw0KGgo="}, "b.svg": {"image/svg+xml": "<svg/>"}}
    page = to_html(f"![the <plot>]({url})", attachments=files)
    assert ('src="data:image/png;base64,iVBORw0KGgo="' in page) == shown
    assert ("picture left out)" in page) != shown
    assert live(page) == []


def test_a_whole_page_of_feedback_goes_through_the_same_filter(tmp_path: Path) -> None:
    """Also what no student can put there: outputs, names, comments."""
    config = Config()
    configure(config, tmp_path, "tilewise")
    outputs = [
        nbformat.v4.new_output("display_data", {"text/html": "<img src=x onerror=x><b>bold</b>"}),
        nbformat.v4.new_output("display_data", {"image/svg+xml": "<svg onload='x'/>"}),
        nbformat.v4.new_output("display_data", {"image/png": "iVBORw0KGgo="}),
        nbformat.v4.new_output("display_data", {"application/javascript": "alert(1)"}),
        nbformat.v4.new_output("stream", text="\x1b[38;5;208morange\x1b[0m <script>"),
    ]
    cells = [nbformat.v4.new_code_cell("x = '<script>'", outputs=outputs)]
    cells += [nbformat.v4.new_markdown_cell(text) for text in MARKUP]
    for number, cell in enumerate(cells):
        cell.metadata["number"] = number
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata["tilewise"] = {"mended": ["<script>"], "tampered": []}
    marks: dict[str, object] = dict.fromkeys(("score", "max_score", "late_penalty"), 0.0)
    marks["notebook"] = "</title><main><script>x</script>"
    page, _ = FeedbackExporter(config=config).from_notebook_node(
        notebook, resources={"nbgrader": marks, "inlining": {"css": []}}
    )
    head, _, body = page.partition("<main>")
    assert live(body) == []
    assert head.count("<title>") == 1
    assert "<script" not in head
    assert body.count('src="data:image/png;base64,iVBORw0KGgo="') == 1
    assert "<b>bold</b>" in body
    assert "rgb(255,135,0)" in body.replace(" ", "")


def test_it_is_stable() -> None:
    for markup in MARKUP:
        once = clean_html(markup)
        assert clean_html(once) == once


@pytest.mark.parametrize("piece", [" \n", "\t\n", "1.", "a.", "@a.", "a.\n", '"""a.\n'])
def test_code_is_coloured_in_time_with_its_length(piece: str) -> None:
    """20,000 blank lines took minutes of a page of feedback."""
    with processor_seconds(30):
        highlighted(piece * (40_000 // len(piece)))


def test_code_is_shown_as_it_was_written_but_for_blanks_at_the_ends_of_lines() -> None:
    text = "def f():\n    return 1  \n\n   \n# " + "x" * 1_200
    assert shown_code(text) == "def f():\n    return 1\n\n\n# " + "\n".join(
        ("x" * 498, "x" * 500, "x" * 202)
    )
