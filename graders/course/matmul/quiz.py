"""The questions of the lesson matmul."""

from graders.judge.records import Choice, Question

QUIZ = (
    Question(
        "k = 70 and BLOCK_K = 32. What happens in the last step of the loop if the loads are "
        "masked for m and n, but not for k?",
        (
            Choice(
                "It adds 26 wrong products to every element",
                "Yes. Some of them come from the next row of the matrix, so usually nothing "
                "crashes, and the results are wrong for some shapes only.",
                right=True,
            ),
            Choice(
                "Nothing, because the loop ends at 64",
                "`range(0, 70, 32)` has the steps 0, 32 and 64. The last one covers 64 to 95.",
            ),
            Choice(
                "Nothing, because the masks for m and n cover that as well",
                "They keep the lanes within the rows of a and the columns of b. The end of k is "
                "another edge.",
            ),
            Choice(
                "Only the last column of c is wrong",
                "Every element of c sums over the whole of k, so all of them are wrong.",
            ),
        ),
    ),
    Question(
        "The inputs are float16. Why is the accumulator float32?",
        (
            Choice(
                "Because `tl.dot` cannot produce float16",
                "It can, with `out_dtype`. The question is whether it should.",
            ),
            Choice(
                "Because a long float16 sum loses small terms and can overflow",
                "Yes: float16 ends at 65,504. The tensor cores multiply float16 and add in "
                "float32 at full speed.",
                right=True,
            ),
            Choice(
                "Because the output must be float32, whatever the inputs are",
                "The output has the dtype of the inputs: the kernel rounds once, at the store.",
            ),
            Choice(
                "Because float16 needs more registers",
                "It needs half as many. Precision is the reason.",
            ),
        ),
    ),
    Question(
        "In the loop over k, a kernel runs `acc = tl.dot(a, b)`. `acc` was `tl.zeros(...)` "
        "before the loop, and k takes three steps. What does it store?",
        (
            Choice(
                "The full product, as `tl.dot` adds to `acc` by itself",
                "`tl.dot` adds only what you pass: `tl.dot(a, b, acc)`, or `acc += tl.dot(a, b)`.",
            ),
            Choice(
                "Zeros, since `acc` does not change in a loop",
                "The assignment replaces `acc` in each step.",
            ),
            Choice(
                "The product of the last block of k",
                "Yes: each step replaces the sum of the steps before it.",
                right=True,
            ),
            Choice(
                "Three times the full product",
                "Each step multiplies another block of k, and none is counted twice.",
            ),
        ),
    ),
    Question(
        "Which operation gains most from tiles in fast memory?",
        (
            Choice(
                "Adding two matrices: O(N²) work on O(N²) data",
                "Each element is used once, so there is nothing to reuse. Memory remains the "
                "limit.",
            ),
            Choice(
                "Multiplying two matrices: O(N³) work on O(N²) data",
                "Yes. Each element is needed N times, and a tile in fast memory serves many of "
                "them.",
                right=True,
            ),
            Choice(
                "Transposing a matrix: no arithmetic, only moves of O(N²) numbers",
                "Tiles make its accesses contiguous, but each element still moves exactly once.",
            ),
            Choice(
                "All three gain equally: each one reads N² numbers",
                "What counts is how many times each number is used after it was loaded.",
            ),
        ),
    ),
    Question(
        "How does `linear_bias_relu` get w.T without a copy of w?",
        (
            Choice(
                "It calls `w.t().contiguous()` first",
                "That copies the whole weight through memory.",
            ),
            Choice(
                "It exchanges the strides in the addresses",
                "Yes. Element (k, n) of w.T is element (n, k) of w: only the address formula "
                "changes.",
                right=True,
            ),
            Choice(
                "It transposes the result, `tl.trans(acc)`",
                "x @ w.T is not the transpose of x @ w.",
            ),
            Choice(
                "It exchanges x and w in `tl.dot(w, x, acc)`",
                "That computes w @ x, whose inner sizes do not even match.",
            ),
        ),
    ),
)
