"""Quiz and hints of lesson 14, for graders/exercises/autograd.py.

They move there, and 14_autograd.py one folder up, once the judge can grade several results.
"""

from graders.judge.records import Choice, Question

HINTS = {
    "softmax_backward": (
        "It is a reduction and an elementwise step, like softmax itself: one sum for each row, "
        "then "
        "every element once more.",
        "Walk through the row and sum dy · y in float32, with `other=0.0` for lanes that do not "
        "exist. Walk again: y · (dy - sum). Each tensor has strides of its own; those of dy may "
        "be 0.",
        "`products += y.to(tl.float32) * dy.to(tl.float32)` in the first walk, `row_sum = "
        "tl.sum(products, axis=0)` behind it, `dx = y.to(tl.float32) * (dy.to(tl.float32) - "
        "row_sum)` "
        "in the second.",
    ),
    "linear_bias_relu_backward": (
        "Two matmuls and a column sum. In both matmuls one operand is dout, with 0 where out is "
        "not "
        "above 0: a helper loads such a tile.",
        "dx: walk along N, a tile of g times a tile of w. dw: walk along M, the *transposed* "
        "tile of "
        "g times a tile of x, and on the way add up the columns of g. db is stored by the "
        "programs of "
        "the first column of tiles only.",
        '`accumulator = tl.dot(g, w, accumulator, input_precision="ieee")`; in the other kernel '
        '`tl.dot(g.T, x, accumulator, input_precision="ieee")` and `column_sums += '
        "tl.sum(g.to(tl.float32), axis=0)`; `if tl.program_id(axis=1) == 0:` store db under a "
        "mask.",
    ),
}

QUIZ = (
    Question(
        "Why does the gradient of softmax need a sum over the row?",
        (
            Choice(
                "To make the result sum to 1.",
                "The rows of the result sum to 0: the shares can only be moved about.",
            ),
            Choice(
                "Because each input changes every output of its row.",
                "Yes: a larger x makes one share larger and all others smaller.",
                right=True,
            ),
            Choice(
                "To avoid overflow.",
                "That is the maximum's task on the way forward. Here nothing is exponentiated.",
            ),
        ),
    ),
    Question(
        "What must out = relu(x @ w.T + b) keep for its way back?",
        (
            Choice(
                "x, w and the value before the ReLU.",
                "Where the ReLU let the gradient pass is seen in out as well, which exists anyway.",
            ),
            Choice(
                "Only out.",
                "That is enough for the mask. dx needs w, and dw needs x.",
            ),
            Choice(
                "x, w and out.",
                "Yes: x for dw, w for dx, out for the mask.",
                right=True,
            ),
        ),
    ),
    Question(
        "`y.sum().backward()` calls your backward kernel. What is special about the gradient it "
        "gets?",
        (
            Choice(
                "It is one number, expanded with strides of 0.",
                "Yes. A kernel that takes it for dense reads far beyond its end.",
                right=True,
            ),
            Choice(
                "It is transposed.",
                "It has the shape of y. It is the strides that are unusual.",
            ),
            Choice(
                "It is float64.",
                "It has the dtype of y.",
            ),
        ),
    ),
    Question(
        "Many programs add their parts of db to the same numbers by load, add and store. What "
        "happens?",
        (
            Choice(
                "The hardware puts them in order.",
                "It does so for atomics. Load, add and store are three steps, and others come "
                "between.",
            ),
            Choice(
                "It crashes.",
                "If only it did. The result is silently too small, and another one each time.",
            ),
            Choice(
                "Parts are lost whenever two programs load the same old number.",
                "Yes, a race. One owner, atomics, or a second step mend it.",
                right=True,
            ),
        ),
    ),
    Question(
        "A network with a new backward kernel learns, and its loss falls. What does that prove?",
        (
            Choice(
                "That its gradients are right.",
                "Networks learn with slightly wrong gradients, too, only worse.",
            ),
            Choice(
                "That they point roughly downhill. Check them by the definition, and by "
                "properties.",
                "Yes. The definition is independent of the formula that you derived.",
                right=True,
            ),
            Choice(
                "That no race is in it.",
                "A lost part of a sum still lets the loss fall.",
            ),
        ),
    ),
)
