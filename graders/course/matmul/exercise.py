"""What counts as solved in the lesson on matrix multiplication."""

import torch

from graders.course.common import requirements
from graders.course.common.expected import (
    both_factors,
    computes,
    computes_from_memory,
    product_alone,
)
from graders.course.common.remarks import STORED_BEFORE_THE_END
from graders.course.matmul import reference as references
from graders.course.matmul.mistakes import linear_layer
from graders.course.matmul.mistakes.one_tile import tile_mistakes
from graders.course.matmul.mistakes.product import (
    k_step_wrong,
    left_oblong_factor,
    product_mistakes,
    with_factor_transposed,
    with_rows_of_k,
)
from graders.judge.cases.builders import ALL_VIEWS, FLOATS, HALVES, cases
from graders.judge.records import (
    Arg,
    Case,
    Exercise,
    Misconception,
    TensorSpec,
)

AXES = "m k n"


def factors(shape: tuple[int, ...], **spec: object) -> tuple[Arg, ...]:
    """Return a (m, k) and b (k, n), both of that kind."""
    m, k, n = shape
    return TensorSpec((m, k), **spec), TensorSpec((k, n), **spec)  # type: ignore[arg-type]


def first_factor_viewed(shape: tuple[int, ...], **spec: object) -> tuple[Arg, ...]:
    """Return factors of which only a has the view."""
    return factors(shape, **spec)[0], factors(shape, **{**spec, "view": "contiguous"})[1]


def second_factor_viewed(shape: tuple[int, ...], **spec: object) -> tuple[Arg, ...]:
    """Return factors of which only b has the view."""
    return factors(shape, **{**spec, "view": "contiguous"})[0], factors(shape, **spec)[1]


def matmul_cases() -> tuple[Case, ...]:
    """Return the public cases of every exercise that multiplies (m, k) by (k, n)."""
    return (
        *cases(factors, AXES, [(128, 128, 128), (64, 64, 64)]),
        *cases(factors, AXES, [(128, 37, 128), (128, 200, 128)], why="Only k is ragged."),
        *cases(factors, AXES, [(100, 128, 128), (128, 128, 100)], why="Only m or n is ragged."),
        *cases(factors, AXES, [(70, 45, 90), (300, 40, 50), (40, 30, 300)]),
        *cases(factors, AXES, [(17, 40, 20)], draws=2, engine_orders=True),
        *cases(factors, AXES, [(1, 1, 1), (1, 64, 1), (17, 1, 33), (15, 16, 17)], part="edges"),
        *cases(factors, AXES, [(31, 33, 32), (65, 63, 64), (2, 3, 5)], part="edges"),
        *cases(factors, AXES, [(400, 20, 330)], part="edges", why="Many tiles."),
        *cases(factors, AXES, [(0, 5, 7), (5, 7, 0)], part="edges", why="Nothing to compute."),
        *cases(factors, AXES, [(5, 0, 7)], part="edges", why="An empty sum is 0."),
        *cases(factors, AXES, [(50, 60, 70)], part="types", dtypes=HALVES),
        *cases(
            factors,
            AXES,
            [(32, 256, 32)],
            part="types",
            fills=["cancelling"],
            dtypes=FLOATS,
            why="Large products whose sum nearly cancels.",
        ),
        *cases(factors, AXES, [(40, 40, 40)], part="types", scale=1e10, why="Large numbers."),
        *cases(factors, AXES, [(40, 40, 40)], part="types", scale=1e-10, why="Tiny numbers."),
        *cases(factors, AXES, [(40, 48, 36)], part="views", views=ALL_VIEWS),
        *cases(
            first_factor_viewed, AXES, [(36, 36, 36)], part="views", views=["transposed"], label="a"
        ),
        *cases(
            second_factor_viewed,
            AXES,
            [(36, 36, 36)],
            part="views",
            views=["transposed", "sliced"],
            label="b",
        ),
        *cases(factors, AXES, [(33, 31, 35)], part="views", dtypes=HALVES, views=["transposed"]),
    )


def _swapped(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor | None:
    return b @ a if a.shape == b.shape == a.t().shape else None


FACTOR_TRANSPOSED = Misconception(
    code="factor-transposed",
    title="One of the factors is read transposed",
    message=(
        "The output is a @ b.T or a.T @ b: the strides of one factor are exchanged, or its "
        "row and column offsets. Only square matrices get this far."
    ),
    next_step=(
        "Use `offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak` for a, and "
        "`offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn` for b."
    ),
    expected_wrong=computes_from_memory(with_factor_transposed),
    detector=left_oblong_factor,
)
B_STRIDE_IS_K = Misconception(
    code="b-stride-is-k",
    title="The stride of b's rows is taken to be K",
    message=(
        "The kernel steps over K elements to the next row of b. A contiguous row of b has N "
        "elements; K is the number of rows. Square matrices hide this."
    ),
    next_step="Pass `b.stride(0)` and `b.stride(1)`; a and b need two strides each.",
    expected_wrong=computes_from_memory(with_rows_of_k),
    detector=left_oblong_factor,
)
K_STEP_WRONG = k_step_wrong(both_factors, product_alone)
ORDER_SWAPPED = Misconception(
    code="factors-swapped",
    title="The product is b @ a",
    message="The two factors are exchanged, and matrix multiplication is not commutative.",
    next_step="Check the order of the pointers at the launch, and of the tiles in `tl.dot`.",
    expected_wrong=computes(_swapped),
    detector=left_oblong_factor,
)

MATMUL_MISCONCEPTIONS = product_mistakes(
    reference=references.product,
    magnitude=references.product_magnitude,
    operands=both_factors,
    finish=product_alone,
    special=(FACTOR_TRANSPOSED, ORDER_SWAPPED, B_STRIDE_IS_K, K_STEP_WRONG),
)

DOT_TILE = Exercise(
    name="dot_tile",
    lesson="matmul",
    title="A product that fits into one tile",
    parameters=("a", "b"),
    reference=references.product,
    magnitude=references.product_magnitude,
    traffic_factor=64.0,
    cases=(
        *cases(factors, AXES, [(32, 32, 32), (16, 16, 16)], why="Square matrices."),
        *cases(factors, AXES, [(20, 32, 32), (32, 32, 20)], why="Only m or n is below 32."),
        *cases(factors, AXES, [(32, 20, 32)], why="Only k is below 32."),
        *cases(factors, AXES, [(12, 17, 29), (29, 17, 12), (5, 30, 7)]),
        *cases(factors, AXES, [(13, 21, 10)], engine_orders=True),
        *cases(factors, AXES, [(1, 1, 1), (1, 32, 1), (31, 1, 31), (2, 3, 5)], part="edges"),
        *cases(factors, AXES, [(0, 5, 7), (5, 7, 0)], part="edges", why="Nothing to compute."),
        *cases(factors, AXES, [(5, 0, 7)], part="edges", why="An empty sum is 0."),
        *cases(factors, AXES, [(25, 30, 20)], part="types", dtypes=HALVES),
        *cases(factors, AXES, [(25, 30, 20)], part="types", scale=1e10, why="Large numbers."),
    ),
    # no product of one tile is large: a GPU takes the longest, with an edge on each side
    large=cases(factors, AXES, [(31, 31, 31)], part="edges"),
    hints=(
        "A tile always has 32 rows and 32 columns, and the matrices may have fewer. Which lanes of "
        "the tile of a exist, and what must the others contain so that the sum over k is correct?",
        "Load a with the mask rows < M and columns < K, load b with rows < K and columns < N, both "
        "with `other=0.0`. Use `&` between the conditions. One `tl.dot` is the whole product. "
        "Store it where rows < M and columns < N.",
        "`down, across = offs[:, None], offs[None, :]`; `a = tl.load(a_ptr + down * K + across, "
        "mask=(down < M) & (across < K), other=0.0)`; `b` at `b_ptr + down * N + across` with "
        '(down < K) & (across < N); `c = tl.dot(a, b, input_precision="ieee")`; store '
        "`c.to(c_ptr.dtype.element_ty)` at `c_ptr + down * N + across`, with (down < M) & "
        "(across < N).",
    ),
    challenge="Remove the conditions on K from both masks and check: which shapes still pass?",
    misconceptions=tile_mistakes((FACTOR_TRANSPOSED, ORDER_SWAPPED, B_STRIDE_IS_K)),
    parts={"core": 3, "edges": 1, "types": 1},
)

MATMUL = Exercise(
    name="matmul",
    lesson="matmul",
    title="Multiply two matrices",
    parameters=("a", "b"),
    reference=references.product,
    magnitude=references.product_magnitude,
    traffic_factor=64.0,  # any tiling passes, even one output row per program
    cases=matmul_cases(),
    large=cases(factors, AXES, [(1031, 1029, 1027)], part="edges", why="Thousands of tiles."),
    hints=(
        "One program computes one tile of c. Which rows of a and which columns of b does it need? "
        "They do not fit into a block, so the program loops along k.",
        "Keep a float32 accumulator of BLOCK_M × BLOCK_N. In each step of the loop load a BLOCK_M "
        "× BLOCK_K tile of a and a BLOCK_K × BLOCK_N tile of b. Load zeros outside the matrices "
        "on every edge, k included. Add their product to the accumulator.",
        "`a = tl.load(a_ptrs, mask=(offs_m[:, None] < M) & (offs_k[None, :] < K), other=0.0)`, "
        "`b` in the same way with `offs_k[:, None]` and `offs_n[None, :] < N`, `acc = tl.dot(a, "
        'b, acc, input_precision="ieee")`. After the loop: `tl.store(c_ptrs, '
        "acc.to(c_ptr.dtype.element_ty), mask=(offs_m[:, None] < M) & (offs_n[None, :] < N))`.",
    ),
    challenge=(
        "Remove the conditions on k from the masks and check again: which shapes still pass?"
    ),
    misconceptions=MATMUL_MISCONCEPTIONS,
    parts={"core": 3, "edges": 2, "types": 3, "views": 2},
)


def layer(shape: tuple[int, ...], **spec: object) -> tuple[Arg, ...]:
    """Return x (m, k), w (n, k) and b (n,), of that kind; only the matrices have the view."""
    m, k, n = shape
    dense = {**spec, "view": "contiguous"}
    return (
        TensorSpec((m, k), **spec),  # type: ignore[arg-type]
        TensorSpec((n, k), **spec),  # type: ignore[arg-type]
        TensorSpec((n,), **dense),  # type: ignore[arg-type]
    )


def strided_bias(shape: tuple[int, ...], **spec: object) -> tuple[Arg, ...]:
    """Return a layer of which only the bias has the view."""
    x, w, _ = layer(shape, **{**spec, "view": "contiguous"})
    return x, w, TensorSpec((shape[2],), **spec)  # type: ignore[arg-type]


LINEAR_BIAS_RELU = Exercise(
    name="linear_bias_relu",
    lesson="matmul",
    title="A whole layer in one kernel",
    parameters=("x", "w", "b"),
    reference=references.layer,
    magnitude=references.layer_magnitude,
    traffic_factor=64.0,  # any tiling passes, even one output row per program
    cases=(
        *cases(layer, AXES, [(128, 128, 128), (64, 64, 64)]),
        *cases(layer, AXES, [(128, 37, 128), (128, 200, 128)], why="Only k is ragged."),
        *cases(layer, AXES, [(100, 128, 128), (128, 128, 100)], why="Only m or n is ragged."),
        *cases(layer, AXES, [(70, 45, 90), (300, 40, 50), (40, 30, 300)]),
        *cases(layer, AXES, [(45, 33, 45), (50, 90, 90)]),
        *cases(layer, AXES, [(17, 40, 20)], engine_orders=True),
        *cases(layer, AXES, [(1, 1, 1), (1, 64, 1), (17, 1, 33), (15, 16, 17)], part="edges"),
        *cases(layer, AXES, [(31, 33, 32), (65, 63, 64)], part="edges"),
        *cases(layer, AXES, [(400, 20, 330)], part="edges", why="Many tiles."),
        *cases(layer, AXES, [(0, 5, 7), (5, 7, 0)], part="edges", why="Nothing to compute."),
        *cases(layer, AXES, [(5, 0, 7)], part="edges", why="Only the bias is left."),
        *cases(layer, AXES, [(50, 60, 70)], part="types", dtypes=HALVES),
        *cases(layer, AXES, [(32, 256, 32)], part="types", fills=["cancelling"], dtypes=FLOATS),
        *cases(layer, AXES, [(40, 40, 40)], part="types", scale=1e10, why="Large numbers."),
        *cases(layer, AXES, [(40, 48, 36)], part="views", views=ALL_VIEWS),
        *cases(
            strided_bias,
            AXES,
            [(20, 30, 40)],
            part="views",
            views=["stepped_columns"],
            label="b",
        ),
        *cases(layer, AXES, [(33, 31, 35)], part="views", dtypes=HALVES, views=["transposed"]),
    ),
    large=cases(layer, AXES, [(1031, 1029, 1027)], part="edges", why="Thousands of tiles."),
    hints=(
        "The product is the one of the last exercise. What must happen between the last step over "
        "k and the store, and in which order?",
        "w is (n, k), so w.T needs no copy: in the tile of w.T, `offs_k` runs down and `offs_n` "
        "runs across, each with its own stride of w. The bias belongs to the columns.",
        "Tile of w.T: `w_ptr + offs_k[:, None] * stride_wk + offs_n[None, :] * stride_wn`. After "
        "the loop: `bias = tl.load(b_ptr + offs_n * stride_b, mask=offs_n < N, other=0.0)` and "
        "`result = tl.maximum(acc + bias[None, :].to(tl.float32), 0.0)`. Then store once, in the "
        "output's dtype.",
    ),
    challenge=(
        "Add the bias after the ReLU instead of before it, and check again: which elements show it?"
    ),
    misconceptions=linear_layer.MISTAKES,
    requirements=(requirements.one_kernel("the whole layer"),),
    remarks=(STORED_BEFORE_THE_END,),
    parts={"core": 3, "edges": 2, "types": 3, "views": 2},
)

EXERCISES = (DOT_TILE, MATMUL, LINEAR_BIAS_RELU)
