"""Hidden cases of the lesson on persistent kernels: other sizes of the public kinds."""

from graders.course.matmul.exercise import AXES, factors
from graders.course.matmul.hidden import HIDDEN as OF_THE_PRODUCT
from graders.judge.cases.builders import HALVES, cases
from graders.judge.records import Hidden

HIDDEN = {
    "persistent_matmul": Hidden(
        cases=(
            *OF_THE_PRODUCT["matmul"].cases,
            *cases(factors, AXES, [(700, 16, 810), (9, 8, 35000)]),
            *cases(factors, AXES, [(72, 40, 56)], part="views", dtypes=HALVES, views=["offset"]),
            *cases(factors, AXES, [(32, 56, 48)], part="views", views=["padded"]),
        ),
    ),
}
