"""A class in which each student hands in something else that instructors really get."""

from __future__ import annotations

import copy
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell

ANSWER = "The rows of the slice are four elements apart, and the kernel expects two."
IMPORTS = "import torch\nimport triton\nimport triton.language as tl\n"
PICTURE = {"a.png": {"image/png": "iVBORw0KGgo="}}
Files = dict[str, bytes]
Change = Callable[[Any], None]


@dataclass(frozen=True)
class Odd:
    """What a student hands in, and which results are true.

    `kernel`: "10", "0", "open" (a person is asked), or "out" (not imported, but named).
    `text`: "asked" (a person gives points), "0", or "out".
    """

    files: Files
    kernel: tuple[str, ...] = ("10",)
    text: tuple[str, ...] = ("asked",)


class Day:
    """Makes the hand-ins of all students, from the released notebook and a correct kernel."""

    def __init__(self, released: str, name: str, kernel: str) -> None:
        self.released, self.name, self.kernel = released, name, kernel

    # ------------------------------------------------------------ parts

    def notebook(self, *changes: Change, kernel: bool = True, answer: bool = True) -> Any:
        notebook = nbformat.reads(self.released, as_version=4)
        if kernel:
            cell(notebook, "vector_add").source = self.kernel
        if answer:
            cell(notebook, "contiguity").source = ANSWER
        for change in changes:
            change(notebook)
        return notebook

    def data(self, *changes: Change, kernel: bool = True, answer: bool = True) -> bytes:
        return json.dumps(self.notebook(*changes, kernel=kernel, answer=answer)).encode()

    def one(self, *changes: Change, kernel: bool = True, answer: bool = True) -> Files:
        return {f"{self.name}.ipynb": self.data(*changes, kernel=kernel, answer=answer)}

    # ------------------------------------------------------------ all of them

    def all(self) -> dict[str, Odd]:
        return self.of_files() | self.of_formats() | self.of_cells() | self.of_answers()

    def of_files(self) -> dict[str, Odd]:
        """Other names, and several files."""
        name, work = f"{self.name}.ipynb", self.data()
        empty = self.data(kernel=False, answer=False)
        late = ("open", "out", "10")
        return {
            "renamed": Odd({"hw1_final (2).ipynb": work}),
            "two-books": Odd({name: work, "scratch.ipynb": empty}),
            "two-books-swapped": Odd({name: empty, f"{self.name} (1).ipynb": work}, late),
            "in-a-zip": Odd({"hand-in.zip": packed({
                f"hw/{name}": work, f"hw/.ipynb_checkpoints/{self.name}-checkpoint.ipynb": empty,
                f"__MACOSX/hw/._{name}": b"\0\5\x16\7"})}),
            "txt-ending": Odd({f"{name}.txt": work}, ("10", "out"), ("asked", "out")),
            "no-ending": Odd({self.name: work}, ("10", "out"), ("asked", "out")),
            "zip-called-notebook": Odd({name: packed({name: work})}, ("10", "open"),
                                       ("asked", "out")),
            "module-beside": Odd(self.one(replace("vector_add", "from add import vector_add"),
                                          kernel=False)
                                 | {"add.py": self.kernel.encode()}, ("10", "open")),
            "answer-in-docx": Odd(self.one(answer=False) | {"answers.docx": b"PK\3\4rest"}),
            "answer-in-photo": Odd(self.one(answer=False) | {"IMG_2041.jpg": b"\xff\xd8\xff"}),
            "other-lesson": Odd({name: other_lesson()}, ("open", "out"), ("asked", "out")),
            "same-a": Odd(self.one()),
            "same-b": Odd(self.one()),
            "untouched": Odd(self.one(kernel=False, answer=False), ("0",), ("0",)),
        }  # fmt: skip

    def of_formats(self) -> dict[str, Odd]:
        """Files that are no notebook as Jupyter writes it."""
        name, work = f"{self.name}.ipynb", self.data()
        refused = {
            "zero-bytes": {name: b""},
            "html": {f"{self.name}.html": b"<!DOCTYPE html><html><body>def vector_add</body>"},
            "html-called-notebook": {name: b"<!DOCTYPE html><html><body>Sign in</body></html>"},
            "pdf": {f"{self.name}.pdf": b"%PDF-1.7\n1 0 obj"},
            "git-conflict": {name: conflict(self.notebook()).encode()},
            "truncated": {name: work[: len(work) * 2 // 3]},
            "drive-shortcut": {f"{name}.gshortcut": b'{"url": "https://drive.google.com/x"}'},
            "link-called-notebook": {name: b'{"url": "https://colab.research.google.com/d/1"}'},
            "web-shortcut": {f"{self.name}.url": b"[InternetShortcut]\r\nURL=https://colab"},
        }
        text = ("asked", "out")
        crlf = json.dumps(self.notebook(), indent=1).replace("\n", "\r\n").replace("\\n", "\\r\\n")
        return {
            **{word: Odd(files, ("out", "open"), text) for word, files in refused.items()},
            "crlf": Odd({name: crlf.encode()}),
            "bom": Odd({name: b"\xef\xbb\xbf" + work}),
            "utf-16": Odd({name: work.decode().encode("utf-16")}, ("10", "out", "open"), text),
            "old-format": Odd({name: version_3(self.notebook())}, ("10", "out", "open"), text),
            "jupytext": Odd({f"{self.name}.py": jupytext(self.notebook()).encode()}),
            "nbconvert": Odd({f"{self.name}.py": nbconvert(self.notebook()).encode()}),
            "only-a-script": Odd(
                {"solution.py": f"{IMPORTS}{self.kernel}".encode()}, text=("asked", "0")
            ),
            "colab": Odd({name: json.dumps(colab(self.notebook())).encode()}),
            "huge-outputs": Odd(self.one(huge_outputs)),
        }

    def of_cells(self) -> dict[str, Odd]:
        """The kernel is somewhere else in the notebook, or in another form."""
        kernel, extra = self.kernel, self.extra
        other = kernel.replace("vector_add", "my_vector_add").replace("add_kernel", "k")
        commented = "\n".join(f"# {line}" for line in kernel.splitlines())
        asked, written = ("10", "open"), f"%%writefile add.py\n{kernel}"
        fenced = f"Here is my kernel:\n```python\n{kernel}\n```\nI think it works."
        return {
            "fence-in-prose": extra(new_markdown_cell(fenced), asked),
            "commented-out": Odd(self.one(stub_and("\n" + commented), kernel=False), ("open",)),
            "commented-in-own-cell": extra(new_code_cell(commented), ("open", "10")),
            "other-function": extra(new_code_cell(other), ("open",)),
            "other-function-in-place": Odd(self.one(replace("vector_add", other)), ("open",)),
            "ids-removed": Odd(self.one(without_ids)),
            "reordered": Odd(self.one(lambda book: book.cells.reverse()), asked),
            "merged": Odd(self.one(merge_code)),
            "merged-with-test": Odd(self.one(merge_with_test)),
            "split": Odd(self.one(split)),
            "raw": Odd(self.one(as_type("vector_add", new_raw_cell))),
            "pasted-in-check": Odd(self.one(replace("vector_add-check", kernel), kernel=False)),
            "in-the-setup": Odd(self.one(append("vector_add-01-imports", kernel), kernel=False)),
            "in-test-cell": Odd(self.one(append("vector_add-public", kernel), kernel=False), asked),
            "instead-of-test": Odd(self.one(replace("vector_add-hidden", kernel), kernel=False),
                                   asked),
            "written-file": extra(new_code_cell(written), asked),
            "written-in-place": Odd(self.one(replace("vector_add", written)),
                                    asked),
            "metadata-stripped": Odd(self.one(stripped)),
            "old-lesson": Odd(self.one(old_lesson)),
            "in-a-string": extra(new_code_cell(f"code = '''\n{kernel}\n'''\nexec(code)"), asked),
            "in-main": extra(new_code_cell("if __name__ == '__main__':\n" + indented(kernel)),
                             asked),
            "in-a-class": extra(new_code_cell("class Answer:\n" + indented(kernel)), ("open", "0")),
            "stub-deleted": Odd(self.one(deleted("vector_add"), first(new_code_cell(kernel)))),
            "two-attempts": Odd(self.one(
                lambda book: book.cells.append(new_code_cell(kernel)),
                replace("vector_add", "def vector_add(x, y):\n    return x + y")), asked),
            "copied-cell": Odd(self.one(copied_below(kernel), kernel=False)),
            "timed": Odd(self.one(replace("vector_add", f"%%time\n{kernel}"))),
            "tabs": Odd(self.one(replace("vector_add", kernel.replace("    ", "\t")))),
            "pip": Odd(self.one(replace("vector_add", f"!pip install triton\n{kernel}"))),
        }  # fmt: skip

    def extra(self, new: Any, kernel: tuple[str, ...]) -> Odd:
        """The stub is untouched, and this cell is at the end."""
        return Odd(self.one(lambda book: book.cells.append(new), kernel=False), kernel)

    def of_answers(self) -> dict[str, Odd]:
        """The written answer is somewhere else."""

        def moved(*changes: Change) -> Odd:
            return Odd(self.one(*changes, answer=False))

        image = "![a.png](attachment:a.png)"
        cells = {
            "answer-attached": [attached("contiguity", image)],
            "answer-attached-below": [lambda book: book.cells.append(
                new_markdown_cell(image, attachments=copy.deepcopy(PICTURE)))],
            "answer-attached-unused": [attached("contiguity", "YOUR ANSWER HERE")],
            "answer-in-test": [append("vector_add-hidden", f"# {ANSWER}")],
            "answer-in-test-string": [append("vector_add-public", f'"""{ANSWER}"""')],
            "answer-in-title": [append("vector_add-00", ANSWER)],
            "answer-in-check": [replace("vector_add-check", f"check(vector_add)  # {ANSWER}")],
            "answer-printed": [append("vector_add-check", f'print("{ANSWER}")')],
            "answer-in-docstring": [replace("vector_add", with_docstring(self.kernel))],
            "answer-in-output": [output("vector_add-check", ANSWER)],
            "answer-as-code": [as_type("contiguity", new_code_cell, f"# {ANSWER}")],
            "answer-short": [lambda book: book.cells.append(new_markdown_cell("strides!"))],
            "answer-as-heading": [append("vector_add-03", "\n# " + ANSWER)],
        }  # fmt: skip
        return {word: moved(*changes) for word, changes in cells.items()}


# ---------------------------------------------------------------- changes of a notebook


def cell(notebook: Any, name: str) -> Any:
    return next(each for each in notebook.cells if each.id == name)


def place(notebook: Any, name: str) -> int:
    return int(notebook.cells.index(cell(notebook, name)))


def replace(name: str, text: str) -> Change:
    return lambda book: cell(book, name).update(source=text)


def append(name: str, text: str) -> Change:
    return lambda book: cell(book, name).update(source=f"{cell(book, name).source}\n{text}")


def stub_and(text: str) -> Change:
    return append("vector_add", text)


def deleted(name: str) -> Change:
    return lambda book: book.cells.remove(cell(book, name))


def first(new: Any) -> Change:
    return lambda book: book.cells.insert(4, new)


def as_type(name: str, make: Callable[..., Any], text: str | None = None) -> Change:
    def change(book: Any) -> None:
        old = cell(book, name)
        new = make(text or old.source, metadata=old.metadata, id=old.id)
        book.cells[place(book, name)] = new

    return change


def attached(name: str, text: str) -> Change:
    return lambda book: cell(book, name).update(
        source=text, attachments=copy.deepcopy(PICTURE)
    )  # fmt: skip


def output(name: str, text: str) -> Change:
    shown = {"output_type": "stream", "name": "stdout", "text": text}
    return lambda book: cell(book, name).update(outputs=[nbformat.from_dict(shown)])


def huge_outputs(book: Any) -> None:
    output("vector_add-check", "0.123456 " * 2_500_000)(book)


def without_ids(book: Any) -> None:
    for each in book.cells:
        del each["id"]
    book.nbformat_minor = 4


def stripped(book: Any) -> None:
    for number, each in enumerate(book.cells):
        each.metadata, each.id = nbformat.from_dict({}), f"c{number}"


def merge(book: Any, names: list[str]) -> None:
    """As Jupyter does it: the first cell keeps its metadata."""
    cells = [cell(book, name) for name in names]
    cells[0].source = "\n\n".join(each.source for each in cells)
    for each in cells[1:]:
        book.cells.remove(each)


def merge_code(book: Any) -> None:
    merge(book, ["vector_add-01-imports", "vector_add", "vector_add-check"])


def merge_with_test(book: Any) -> None:
    merge(book, ["vector_add", "vector_add-check", "vector_add-public"])


def split(book: Any) -> None:
    old = cell(book, "vector_add")
    head, launcher = old.source.split("def vector_add", 1)
    old.source = head
    book.cells.insert(place(book, "vector_add") + 1, new_code_cell("def vector_add" + launcher))


def copied_below(kernel: str) -> Change:
    """The student copied the cell, with its metadata, and worked in the copy."""

    def change(book: Any) -> None:
        new = copy.deepcopy(cell(book, "vector_add"))
        new.id, new.source = "pasted", kernel
        book.cells.insert(place(book, "vector_add") + 1, new)

    return change


def old_lesson(book: Any) -> None:
    """Last year's lesson: other texts, other points, other tests, no cell of imports."""
    cell(book, "vector_add-00").source = "# Lesson 1: vectors (2025)"
    cell(book, "vector_add-public").source = "from triton_util import check\ncheck(vector_add)"
    cell(book, "vector_add-public").metadata.nbgrader.points = 10
    cell(book, "vector_add-03").source = "What is a stride?"
    for name in ("vector_add-01", "vector_add-hidden"):
        book.cells.remove(cell(book, name))
    for each in book.cells:
        each.id = f"old-{each.id}"


def with_docstring(kernel: str) -> str:
    return kernel.replace("):\n", f'):\n    """{ANSWER}"""\n', 1)


def indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


# ---------------------------------------------------------------- formats


def packed(files: Files) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def conflict(notebook: Any) -> str:
    lines = json.dumps(notebook, indent=1).split("\n")
    half = len(lines) // 2
    marked = ["<<<<<<< HEAD", *lines[half - 2 : half], "=======", '   "mine"', ">>>>>>> origin"]
    return "\n".join([*lines[: half - 2], *marked, *lines[half:]])


def version_3(notebook: Any) -> bytes:
    cells = [
        {"cell_type": "code", "language": "python", "input": each.source, "outputs": [],
         "collapsed": False, "metadata": {}}
        if each.cell_type == "code"
        else {"cell_type": "markdown", "source": each.source, "metadata": {}}
        for each in notebook.cells
    ]  # fmt: skip
    return json.dumps(
        {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""},
         "worksheets": [{"cells": cells, "metadata": {}}]}
    ).encode()  # fmt: skip


def jupytext(notebook: Any) -> str:
    head = "# ---\n# jupyter:\n#   kernelspec:\n#     name: python3\n# ---\n"
    parts = []
    for each in notebook.cells:
        if each.cell_type == "code":
            parts.append(f"# %%\n{each.source}\n")
        else:
            parts.append("# %% [markdown]\n" + as_comment(each.source))
    return head + "\n".join(parts)


def nbconvert(notebook: Any) -> str:
    parts = ["#!/usr/bin/env python\n# coding: utf-8\n"]
    for each in notebook.cells:
        if each.cell_type == "code":
            parts.append(f"# In[ ]:\n\n\n{each.source}\n")
        else:
            parts.append(as_comment(each.source))
    return "\n".join(parts)


def as_comment(text: str) -> str:
    return "".join(f"# {line}\n" for line in text.splitlines())


def colab(notebook: Any) -> Any:
    """As Colab saves it: no ids, no metadata of nbgrader, and some of its own."""
    book = json.loads(json.dumps(notebook))
    book["nbformat_minor"] = 0
    book["metadata"] |= {"colab": {"provenance": [], "gpuType": "T4"}, "accelerator": "GPU"}
    for each in book["cells"]:
        each["metadata"] = {"id": each.pop("id")[:3] + "Xy7", "colab": {"base_uri": "https://x/"}}
        if each["cell_type"] == "code":
            each["execution_count"] = 3
            each["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["passed\n"]}]
    return book


def other_lesson() -> bytes:
    cells = [
        new_markdown_cell("# Softmax", id="softmax-00"),
        new_code_cell("def softmax(x):\n    return x.softmax(-1)", id="softmax"),
    ]
    return json.dumps(nbformat.v4.new_notebook(cells=cells)).encode()
