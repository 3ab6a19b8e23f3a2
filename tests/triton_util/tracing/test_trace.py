"""trace: what a kernel touched, as data, in words and as pictures. Runs in the interpreter."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from tests.support.interpreting_process import InterpretingProcess
from triton_util.interpreter.watchers.l2 import BlockLoads
from triton_util.interpreter.watchers.traffic import ArgumentTraffic, Traffic
from triton_util.tracing import maps
from triton_util.tracing.explorer import bundle, explorer, summary_html
from triton_util.tracing.record import Record
from triton_util.tracing.text import intensity_text, record_text, traffic_rows
from triton_util.tracing.traced import Argument, Touch, Traced

PRELUDE = (
    "import torch\nfrom tests.triton_util.tracing.traced_kernels import *\n"
    "from triton_util import trace"
)


@pytest.fixture(scope="module")
def run():
    """Runs code beside the traced kernels, in the interpreter; gives what it printed."""
    with InterpretingProcess(PRELUDE) as process:
        yield process.run


def test_vector_addition_in_words(run):
    told = run(
        "record = trace(vector_add)(torch.arange(6.), torch.ones(6))\n"
        "print(record)\nprint(record.steps_text(1))\nprint(record.result.tolist())\n"
        "print(record.touch_map(1, 2))"
    )
    assert "add_kernel on a grid of 2: 2 programs" in told
    assert "1. loads 4 elements of x_ptr, [0] to [3]   (line 12: x = tl.load" in told
    assert "3. stores 2 elements of output_ptr, [4] to [5], 2 lanes masked off" in told
    assert "72 bytes moved" in told
    assert "[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]" in told
    assert "program 1, step 3 of 3: stores 2 elements" in told


def test_closed_forms_of_matmul(run):
    """256³ in 32-tiles reads a and b eight times; nine programs of 9×9 read 90 or 54 blocks."""
    run(
        "grid, arguments = matmul_arguments(256, 32, 1)\n"
        "record = trace(matmul_kernel)[grid](*arguments)\n"
        "a, b, c = record.traffic.arguments.values()\n"
        "assert (a.reread, b.reread, c.loaded) == (8, 8, 0), record\n"
        "assert c.stored == c.distinct_stored == 256 * 256 * 4\n"
        "assert record.operations >= 2 * 256**3\n"
        "assert torch.allclose(arguments[2], arguments[0] @ arguments[1], atol=1e-3)\n"
        "for group, expected in ((1, 90), (3, 54)):\n"
        "    grid, arguments = matmul_arguments(9 * 16, 16, group)\n"
        "    record = trace(matmul_kernel)[grid](*arguments)\n"
        "    blocks = {(t.argument, t.offsets.tobytes()) for p in record.programs[:9] for t in p\n"
        "              if t.operation == 'load'}\n"
        "    assert len(blocks) == expected, len(blocks)\n"
        "    print(record.traffic.l2(54 * 16 * 16 * 4).hit_rate)\n"
        "print(record.order(54 * 16 * 16 * 4))"
    )


def test_grouped_order_hits_more(run):
    rates = run(
        "for group in (1, 3):\n"
        "    grid, arguments = matmul_arguments(9 * 16, 16, group)\n"
        "    record = trace(matmul_kernel)[grid](*arguments)\n"
        "    print(record.traffic.l2(54 * 16 * 16 * 4).hit_rate)\n"
        "print(record.order())"
    ).splitlines()
    assert float(rates[1]) > float(rates[0])
    assert "   0    3    6    9   12   15   18   21   24" in rates


def test_strided_input_and_atomics(run):
    told = run(
        "x = torch.arange(60.).reshape(5, 12)[:, ::2]\n"
        "record = trace(transpose_kernel)[(2, 2)](x, torch.empty(6, 5), 5, 6, *x.stride(), 4)\n"
        "print(record.steps_text(3))\nprint(record.traffic.arguments['x_ptr'].masked_ratio)\n"
        "print(record.tiles().tolist())\nprint(record.roofline().alt[:8])\n"
        "print(trace(count_kernel)[(2,)](torch.ones(8), torch.zeros(1), 4).steps_text(1))"
    )
    assert "program (1, 1):" in told
    assert "loads 2 elements of x_ptr, [4, 4] to [4, 5], 14 lanes masked off" in told
    assert "stores 2 elements of output_ptr, [4, 4] to [5, 4]" in told
    assert "[[0, 0], [0, 1], [1, 0], [1, 1]]" in told
    assert "updates 1 element of counter_ptr, [0]" in told


def test_many_programs_at_once_leave_the_record_of_one_by_one(run):
    run(
        "from triton_util.tracing.watching import watch\n"
        "x, out = torch.randn(45), torch.empty(46)\n"
        "grid, arguments = matmul_arguments(64, 16, 3)\n"
        "view = torch.randn(9, 20)[:, ::2]\n"
        "launches = [\n"
        "    lambda: vector_add(x, x),\n"
        "    lambda: uneven_kernel[(12,)](x, out, 45, 4),\n"
        "    lambda: matmul_kernel[grid](*arguments),\n"
        "    lambda: transpose_kernel[(3, 3)](view, torch.empty(10, 9), 9, 10, 20, 2, 4),\n"
        "    lambda: count_kernel[(5,)](x, out, 8),\n"
        "]\n"
        "def plain(record):\n"
        "    return [[(t.operation, t.argument, sorted(t.offsets.tolist()), t.lanes, t.line)\n"
        "             for t in p] for p in record.programs]\n"
        "for launch in launches:\n"
        "    at_once, one_by_one = watch(launch, 'grid'), watch(launch, 'serial')\n"
        "    assert plain(at_once) == plain(one_by_one), at_once.kernel\n"
        "    assert sum(map(len, at_once.programs)) >= 2 * len(at_once.programs)"
    )


def test_bad_access_is_still_stopped(run):
    told = run(
        "from triton_util.interpreter import KernelFault\n"
        "try:\n    trace(add_kernel)[(3,)](torch.ones(6), torch.ones(6), torch.ones(6), 12, 4)\n"
        "except KernelFault as error:\n    print(error.fault.code)\n"
        "try:\n    trace(lambda: 3)()\nexcept ValueError as error:\n    print(error)"
    )
    assert told.splitlines() == [
        "out-of-bounds-load",
        "nothing was traced: no kernel was launched",
    ]


def test_too_many_accesses_are_counted_but_not_kept(run):
    told = run(
        "from triton_util.tracing import watching\n"
        "watching.MOST_LANES, most = 30, watching.MOST_LANES\n"
        "record = trace(vector_add)(torch.arange(40.), torch.ones(40))\n"
        "print(record.traffic.arguments['x_ptr'].loaded, record.truncated)\nprint(record)\n"
        "watching.MOST_LANES = most"
    )
    assert told.startswith("160 10\n")
    assert "some steps of 10 programs were too many to keep" in told


def small_record() -> Record:
    x = Argument("x<b>", (4, 6), (6, 1), 4)
    out = Argument("out", (6,), (1,), 4)
    programs = [
        [
            Touch("load", "x<b>", np.arange(6), 8, 3, "x = <load>"),
            Touch("load", "x<b>", np.arange(6, 12), 8),
            Touch("store", "out", np.arange(3), 4),
        ],
        [Touch("load", "x<b>", np.arange(6), 8), Touch("store", "out", np.arange(3, 6), 4)],
        [],
    ]
    arguments = {"x<b>": x, "out": out}
    rows = {
        "x<b>": ArgumentTraffic(72, distinct_loaded=48, lanes=24, active_lanes=18, sectors=4),
        "out": ArgumentTraffic(stored=24, distinct_stored=24, lanes=8, active_lanes=6),
    }
    loads = [
        BlockLoads("x<b>", np.array([0, 1]), np.array([0, 0]), np.array([24, 24])),
        BlockLoads("x<b>", np.array([0]), np.array([6]), np.array([24])),
    ]
    traffic = Traffic(rows, {"arithmetic": 12}, loads)
    return Record("k<i>", (3, 1, 1), {}, arguments, programs, traffic)


def parsed(html: str, style: str) -> ElementTree.Element:
    return ElementTree.fromstring(f"<page>{html.replace(style, '')}</page>")


def test_maps_show_states_by_shape_and_in_words():
    record = small_record()
    page = parsed(maps.touch_map(record, 0, 1).html, maps.style())
    svg = next(item for item in page.iter("svg") if item.get("role") == "img")
    assert svg.get("aria-label") == ("x<b>, 4 × 6: 6 loaded now, 6 touched by an earlier step")
    circles = [item.get("class") for item in svg.iter("circle")]
    assert circles.count("tw-c2") == 6
    assert circles.count("tw-c1") == 6
    status = next(item for item in page.iter("p") if item.get("role") == "status")
    assert "program 0, step 2 of 3: loads 6 elements" in status.text
    stored = parsed(maps.touch_map(record, 0, 99).html, maps.style())
    assert sum(item.get("class") == "tw-c3" for item in stored.iter("path")) == 3 + 1  # + legend
    assert "no accesses" in maps.touch_map(record, 2, 0).text
    with pytest.raises(IndexError, match="0 to 2, no 3"):
        maps.touch_map(record, 3, 0)


def test_large_tensors_are_reduced_without_losing_a_touch():
    argument = Argument("x", (500, 300), (300, 1), 4)
    touch = Touch("load", "x", np.array([499 * 300 + 299]), 1)
    record = Record("k", (1, 1, 1), {}, {"x": argument}, [[touch]], Traffic())
    html = maps.touch_map(record, 0, 0).html
    assert "cells of 32 × 32" in html
    assert html.count("tw-c2") == html.count("tw-c2 {") + 2  # the element's cell and the legend


def test_order_is_told():
    record = small_record()
    told = str(maps.order_map(record, 24, 1))
    assert "0 of 3 block loads (0%) hit" in told
    assert "1 of 3 block loads (33%) hit" in str(maps.order_map(record, 48, 1))
    parsed(maps.order_map(record, 48, 1).html, maps.style())


def test_explorer_follows_the_keyboard():
    box = explorer(small_record())
    _, program, step, page = box.children
    assert (program.max, step.min, step.max) == (2, 1, 3)
    assert "program 0, step 1 of 3" in page.value
    step.value = 3
    assert "stores 3 elements of out" in page.value
    program.value = 1
    assert step.max == 2
    assert "program 1, step 2 of 2" in page.value
    program.value = 2
    assert "no accesses" in page.value


def test_summary_and_bundle_are_escaped():
    record = small_record()
    made = bundle(record)
    assert "<b>" not in made["text/html"]
    assert "<i>" not in made["text/html"]
    assert "0.125 operations per byte" in made["text/plain"]
    parsed(summary_html(record), maps.style())


def test_the_table_says_what_its_last_column_means():
    """Lesson 01 shows it, and lesson 04 brings the word."""
    record = small_record()
    for told in (record_text(record), summary_html(record)):
        assert "coalesced: the fewest memory sectors of 32 bytes that could carry" in told


def test_coalesced_counts_whole_sectors_and_idle_lanes_are_told_apart():
    """7 elements of 4 bytes fill one sector at best; blocks of 4 touch two."""
    record = Traced(
        kernel="add",
        grid=(2, 1, 1),
        meta={},
        arguments={},
        programs=[],
        traffic=Traffic(
            {
                "x_ptr": ArgumentTraffic(loaded=28, sectors=2, lanes=8, active_lanes=7),
                "output_ptr": ArgumentTraffic(stored=28, sectors=2, lanes=8, active_lanes=7),
            },
            {"arithmetic": 8},
        ),
    )
    assert [row[-1] for row in traffic_rows(record)] == ["50.0%", "50.0%"]
    told = intensity_text(record)
    assert "0.143 operations per byte" in told
    assert "counted for the 7 of 8 lanes that store, it is 0.125" in told
