"""Hidden cases of the lesson on benchmarking: other problems, and GPUs with other kernels."""

import torch

from graders.course.benchmarking.exercise import BF16, FP16, figure, gpus
from graders.judge.records import Hidden
from triton_util.bench.simulated import MODELS

# Of 64 bits, so that nobody finds it by trying: what is drawn for a grade follows from it.
TURN = 9537301395980257863

HIDDEN = {
    "fair_ms": Hidden(cases=gpus(TURN)[: len(MODELS)]),
    "throughput": Hidden(
        cases=(
            figure("copy", (12_345_678,), 0.031),
            figure("transpose", (777, 3333), 0.0071),
            figure("vector_add", (2047, 511), 0.0047),
            figure("softmax", (333, 9000), 0.0123),
            figure("layernorm", (900, 1100), 0.0059, part="shapes"),
            figure("matmul", (640, 1280, 2560), 0.082),
            figure("matmul", (2048, 2048, 2048), 0.41),
            figure("copy", (4097, 33), 0.0027, torch.float64, "types"),
            figure("transpose", (900, 100), 0.0022, BF16, "types"),
            figure("layernorm", (64, 2048), 0.0029, BF16, "types"),
            figure("matmul", (100, 200, 300), 0.0048, FP16, "types"),
            figure("layernorm", (2, 30_000), 0.0026, FP16, "shapes"),
            figure("softmax", (2, 3, 5, 7), 0.0021, part="shapes"),
            figure("vector_add", (0, 9), 0.0017, part="shapes"),
            figure("copy", (1,), 950.0, part="shapes"),
            figure("matmul", (1, 1, 1), 0.0019, part="shapes"),
            figure("matmul", (33, 0, 70), 0.0018, part="shapes"),
        ),
    ),
}
