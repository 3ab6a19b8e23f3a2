"""Kernels that hypothesis makes up: whole-grid == serial == triton's own interpreter."""

import linecache
import warnings

import torch
import triton
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from triton_util.interpreter import EngineOptions, interpret

HEAD = """\
import triton
import triton.language as tl

@triton.jit
def kernel(x_ptr, y_ptr, output_ptr, n, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=1)
    y = tl.load(y_ptr + offsets, mask=mask, other=2)
    a = x
"""
TAIL = "    tl.store(output_ptr + offsets, a, mask=mask)\n"

FLOAT_OPERATIONS = ("+", "-", "*")
INTEGER_OPERATIONS = ("+", "-", "*", "&", "|", "^")


def leaves(integers):
    constants = ["1", "2", "3", "7"] if integers else ["0.5", "1.0", "2.0", "-3.25"]
    return st.sampled_from(["x", "y", "a", "x", "y", "a", *constants])


def expressions(integers):
    operations = st.sampled_from(INTEGER_OPERATIONS if integers else FLOAT_OPERATIONS)

    def wider(inner):
        choices = [
            st.builds("({} {} {})".format, inner, operations, inner),
            st.builds("tl.maximum({}, {})".format, inner, inner),
            st.builds("tl.minimum({}, {})".format, inner, inner),
            st.builds("tl.where({} > {}, {}, {})".format, inner, inner, inner, inner),
            st.builds("tl.where(x < y, {}, {})".format, inner, inner),
            st.builds("(-({} + x))".format, inner),
        ]
        if integers:
            choices += [
                st.builds("(({} + x) // 3)".format, inner),
                st.builds("(({} + y) % 5)".format, inner),
                st.builds("(({} + x) >> 2)".format, inner),
                st.builds("((({} + y) & 15) << 3)".format, inner),
            ]
        else:
            choices += [
                st.builds("tl.abs({} + x)".format, inner),
                st.builds("tl.sqrt(tl.abs({} + y))".format, inner),
                st.builds("(({} + x) / 4.0)".format, inner),
            ]
        return st.one_of(choices)

    return st.recursive(leaves(integers), wider, max_leaves=6)


def statements(integers):
    value = expressions(integers)
    plain = value.map(lambda text: [f"a = {text} + x"])

    def indented(blocks):
        return [f"    {line}" for block in blocks for line in block]

    def wider(inner):
        block = st.lists(inner, min_size=1, max_size=2).map(indented)
        conditions = st.sampled_from(
            ["pid % 2 == 0", "pid > 1", "n > 40", "pid % 3 == 1 and pid > 0"]
        )
        loops = st.sampled_from(
            ["range(2)", "range(pid % 3)", "range(0, n, 40)", "range(pid, pid + 2)"]
        )
        return st.one_of(
            st.builds(lambda c, then: [f"if {c}:", *then], conditions, block),
            st.builds(
                lambda c, then, other: [f"if {c}:", *then, "else:", *other],
                conditions,
                block,
                block,
            ),
            st.builds(lambda loop, body: [f"for i in {loop}:", *body], loops, block),
            st.builds(
                lambda body: ["count = pid % 3", "while count > 0:", *body, "    count -= 1"], block
            ),
            st.builds(
                lambda text: [f"a = {text} if pid % 2 == 1 else a * 1"],
                value.map(lambda t: f"({t} + x)"),
            ),
        )

    one = st.recursive(plain, wider, max_leaves=4)
    return st.lists(one, min_size=1, max_size=3).map(
        lambda found: [line for block in found for line in block]
    )


numbered = iter(range(1_000_000))


def compiled(lines):
    source = HEAD + "".join(f"    {line}\n" for line in lines) + TAIL
    name = f"<generated {next(numbered)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    scope = {"__name__": "generated"}
    exec(compile(source, name, "exec"), scope)
    return scope["kernel"]


def results(lines, x, y, n, block):
    outputs = []
    for schedule in (None, "grid", "serial", "shuffled"):
        kernel, output = compiled(lines), torch.zeros_like(x)
        grid = (triton.cdiv(n, block),)
        if schedule is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                kernel[grid](x, y, output, n, BLOCK_SIZE=block)
        else:
            with interpret(EngineOptions(schedule=schedule)) as run:
                kernel[grid](x, y, output, n, BLOCK_SIZE=block)
            assert run.faults == []
            assert run.launches[0].fallback == ""
        outputs.append(output)
    return outputs


SETTINGS = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@SETTINGS
@given(statements(False), st.integers(1, 150), st.sampled_from([16, 32]))
def test_float_kernels(lines, n, block):
    generator = torch.Generator().manual_seed(n)
    x, y = torch.randn(n, generator=generator), torch.randn(n, generator=generator)
    stock, *ours = results(lines, x, y, n, block)
    for output in ours:
        torch.testing.assert_close(output, stock, rtol=0, atol=0, equal_nan=True)


@SETTINGS
@given(statements(True), st.integers(1, 150), st.sampled_from([16, 32]))
def test_integer_kernels(lines, n, block):
    generator = torch.Generator().manual_seed(n)
    x, y = (torch.randint(-1000, 1000, (n,), generator=generator, dtype=torch.int32) for _ in "xy")
    stock, *ours = results(lines, x, y, n, block)
    for output in ours:
        assert torch.equal(output, stock)
