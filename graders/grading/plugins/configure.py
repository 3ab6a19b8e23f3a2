"""Sets the options of the course's nbgrader_config.py, in one place for every built course."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from graders.authoring.unanswered import STUB
from graders.grading.course_config import moved_to
from graders.grading.plugins import formgrader

TEMPLATES = Path(__file__).resolve().parents[1] / "templates"


def configure(
    config: Any,
    root: Path,
    course_id: str,
    exchange: str | None = None,
    database: str | None = None,
) -> None:
    """Set up nbgrader for the course in `root`.

    `exchange` is the folder shared with the learners, by default beside the course;
    `database` an SQLAlchemy URL, by default where `tilewise course move` moved the gradebook,
    else a SQLite gradebook in `root`.
    """
    find_own_programs()
    config.CourseDirectory.root = str(root)
    config.CourseDirectory.course_id = course_id
    usual = f"sqlite:///{root / 'gradebook.db'}"
    config.CourseDirectory.db_url = database or moved_to(root) or usual
    config.Exchange.root = exchange or str(root / "exchange")
    config.ClearSolutions.code_stub = {"python": "\n".join(STUB)}
    config.Execute.timeout = 300  # for plain nbgrader: judging an endless loop takes time
    trust(config)
    feedback(config)
    formgrader_pages(config)
    formgrader.take_over()


def find_own_programs() -> None:
    """Extend PATH: nbgrader calls `alembic` by name, even without an activated environment."""
    here = str(Path(sys.executable).parent)
    places = os.environ.get("PATH", "").split(os.pathsep)
    if here not in places:
        os.environ["PATH"] = os.pathsep.join([here, *places])


def trust(config: Any) -> None:
    """Collect safely, fix and clean notebooks, and use the judge instead of `Execute`."""
    config.ExchangeFactory.collect = "graders.grading.plugins.collect.CollectSafely"
    config.ExchangeFactory.release_feedback = "graders.grading.plugins.release.ReleaseToTheExchange"
    config.Autograde.exporter_class = "graders.grading.plugins.submission.SubmissionExporter"
    config.ExportApp.plugin_class = "graders.grading.plugins.export.GradesExportPlugin"
    config.Autograde.pre_convert_hook = "graders.grading.plugins.hooks.need_gpu"
    preprocess = "graders.grading.plugins.preprocess"
    config.Autograde.sanitize_preprocessors = [
        f"{preprocess}.MendNotebook",
        "nbgrader.preprocessors.DeduplicateIds",
        "nbgrader.preprocessors.OverwriteKernelspec",
        "nbgrader.preprocessors.OverwriteCells",
        "nbgrader.preprocessors.CheckCellMetadata",
    ]
    config.Autograde.autograde_preprocessors = [
        f"{preprocess}.AskJudge",
        "nbgrader.preprocessors.LimitOutput",
        f"{preprocess}.SaveGrades",
        f"{preprocess}.SettlePenalty",
        "nbgrader.preprocessors.CheckCellMetadata",
    ]


def formgrader_pages(config: Any) -> None:
    """Set up formgrader's pages: with rubric and same answers, without network access."""
    config.HTMLExporter.preprocessors = [
        "graders.grading.plugins.possible_answers.ShowPossibleAnswers",
        "graders.grading.plugins.rubric.ShowRubric",
        "graders.grading.plugins.same_answers.ShowSameAnswers",
        "graders.grading.plugins.feedback.ShowCode",
    ]
    config.HTMLExporter.filters = {
        "markdown2html": "graders.grading.plugins.formulas.markdown2html"
    }
    config.HTMLExporter.extra_template_basedirs.prepend([str(TEMPLATES)])  # it contains nbgrader's


def feedback(config: Any) -> None:
    """Set up feedback pages without hidden tests, live HTML and network access."""
    config.GenerateFeedback.preprocessors = [
        "graders.grading.plugins.preprocess.GetMarks",
        "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
    ]
    # Not HTMLExporter's options, which would change formgrader's pages, too.
    config.GenerateFeedback.exporter_class = "graders.grading.plugins.feedback.FeedbackExporter"
    # otherwise it would inherit those of formgrader's pages
    config.FeedbackExporter.preprocessors, config.FeedbackExporter.filters = [], {}
    config.FeedbackExporter.template_name = "feedback"
    config.FeedbackExporter.extra_template_basedirs = [str(TEMPLATES)]
