"""Every public operation of triton.language is computed, or said to be not interpreted."""

import pytest
import triton

from benchmarks import operations

PAGE_IS_OF = "3.9.0"


@pytest.fixture(scope="module")
def module():
    return operations.probes()


@pytest.mark.parametrize("name", operations.public_operations())
def test_no_operation_is_charged_to_the_learner(module, name):
    said, _ = operations.in_engine(getattr(module, f"probe_{name}"))
    assert said != "kernel-error"


@pytest.mark.skipif(triton.__version__ != PAGE_IS_OF, reason=f"the page is of triton {PAGE_IS_OF}")
def test_the_page_is_fresh():
    assert operations.PAGE.read_text() == operations.page(), (
        "run TRITON_INTERPRET=1 python benchmarks/operations.py --write"
    )
