"""What several tests of grading need."""

from __future__ import annotations

import pytest

from tests.support.small_course import SmallCourse, make


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> SmallCourse:
    """A course with one assignment, which the tests of a file copy."""
    return make(tmp_path_factory.mktemp("course"))
