"""Moves the gradebook of a class into another database, for example from SQLite to PostgreSQL.

All rows are copied in one transaction, so the new database contains everything or nothing. The
class uses it only after the rows and all accounts of the ledger were compared. If the command is
killed, the class keeps its old gradebook, and the same command starts again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbgrader import api
from sqlalchemy import Connection, Table, create_engine, func, insert, inspect, select, text
from sqlalchemy.engine import Engine, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from graders.authoring.refusal import refusal
from graders.grading.course_config import load_config, note_move
from graders.grading.gradebooks import opened
from graders.grading.ledger.accounts import Account
from graders.grading.ledger.alone import alone
from graders.grading.ledger.book import Ledger
from graders.grading.ledger.settled import due_dates, settle
from graders.grading.ledger.terms import ClassTerms, terms_of
from graders.judge.plain_text import one_line

TABLES: Sequence[Table] = api.Base.metadata.sorted_tables  # a table comes after those it refers to
EVERY_GRADEBOOK = "course"  # nbgrader writes a row into this table of each new gradebook
AT_ONCE = 5_000  # rows
Rows = list[tuple[Any, ...]]


@dataclass(frozen=True)
class MovedGradebook:
    """What was moved. `in_use` is false if the class's configuration names another gradebook."""

    source: str
    target: str
    rows: Mapping[str, int]  # by table
    accounts: int
    was_there: bool  # an earlier run had copied all rows
    in_use: bool


def move(course: Path, config: Any, target: str, replace: bool = False) -> MovedGradebook:
    """Copy the gradebook of a class to the database `target`, compare, and use it from then on.

    With `replace` the target may contain another gradebook, which is then deleted.
    """
    source = str(config.CourseDirectory.db_url)
    target = _absolute(target)
    if make_url(source) == make_url(target):
        raise refusal("that is the gradebook of this class already")
    with alone(course):
        assignments = list(due_dates(config))
        settle(course, config, assignments)
        terms = terms_of(course, config)
        with _held(source) as reader:
            rows, was_there = _copy(reader, target, replace)
            accounts = _accounts(source, terms, assignments)
            if _accounts(target, terms, assignments) != accounts:
                raise refusal(
                    f"the accounts in {shown(target)} differ from those in {shown(source)}: the "
                    "class keeps its gradebook. Please report this"
                )
        note_move(course, target)
    in_use = str(load_config(course, None).CourseDirectory.db_url) == target
    return MovedGradebook(source, target, rows, sum(map(len, accounts.values())), was_there, in_use)


def shown(url: str) -> str:
    """Return the URL of a database without its password."""
    return str(make_url(url).render_as_string(hide_password=True))


def _absolute(target: str) -> str:
    """Return the URL; a file of SQLite gets its whole path, because commands run anywhere."""
    try:
        url = make_url(target)
    except ArgumentError as error:
        raise refusal(
            "the new gradebook is a URL: postgresql+psycopg://user:password@host/database"
        ) from error
    if url.get_backend_name() != "sqlite" or not url.database:
        return target
    return str(url.set(database=str(Path(url.database).resolve())))


def _accounts(
    database: str, terms: ClassTerms, assignments: Sequence[str]
) -> Mapping[str, list[Account]]:
    with opened(database, *assignments) as gradebook:
        ledger = Ledger(gradebook, terms)
        return {assignment: ledger.accounts(assignment) for assignment in assignments}


@contextmanager
def _held(source: str) -> Iterator[Connection]:
    """Open the old gradebook for reading. In SQLite, nobody can write into it meanwhile."""
    engine = _engine(source)
    try:
        with engine.connect() as reader:
            if engine.dialect.name != "sqlite":
                reader = reader.execution_options(isolation_level="REPEATABLE READ")
            _begin(reader)
            yield reader
    except SQLAlchemyError as error:
        raise refusal(f"the gradebook cannot be read: {_why(error)}") from error
    finally:
        engine.dispose()


def _begin(connection: Connection) -> None:
    """Begin SQLite's transaction: Python begins it later, after making tables."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _copy(reader: Connection, target: str, replace: bool) -> tuple[dict[str, int], bool]:
    """Copy all rows; return their numbers by table, and whether they were there before."""
    engine = _engine(target)
    version = _version(reader)
    try:
        with engine.begin() as writer:
            _begin(writer)
            _make_tables(writer, version)
            there = _is_copied(reader, writer)
            if not there:
                _empty(writer, target, replace)
                for table in TABLES:
                    _copy_table(reader, writer, table)
                if not _is_copied(reader, writer):
                    raise refusal("the new database changed the rows: nothing was moved")
            return {table.name: _count(writer, table) for table in TABLES}, there
    except SQLAlchemyError as error:
        raise refusal(
            f"{shown(target)} does not take the gradebook: {_why(error)}. Nothing was moved"
        ) from error
    finally:
        engine.dispose()


def _engine(database: str) -> Engine:
    try:
        return create_engine(database)
    except (NoSuchModuleError, ModuleNotFoundError) as error:
        raise refusal(
            f"{shown(database)}: {one_line(str(error))}; a URL for PostgreSQL begins with "
            "postgresql+psycopg://"
        ) from error


def _version(reader: Connection) -> str:
    """Return nbgrader's version of the tables, which must be the newest."""
    known = ""
    if inspect(reader).has_table("alembic_version"):
        known = str(reader.execute(text("SELECT version_num FROM alembic_version")).scalar() or "")
    if known != api.get_alembic_version():
        raise refusal("an older nbgrader made this gradebook: run `nbgrader db upgrade` first")
    return known


def _make_tables(writer: Connection, version: str) -> None:
    """Make the tables as nbgrader does, if they are missing."""
    api.Base.metadata.create_all(writer)
    if not inspect(writer).has_table("alembic_version"):
        writer.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
        writer.execute(text("INSERT INTO alembic_version VALUES (:version)"), {"version": version})
    elif _version(writer) != version:
        raise refusal("the new database has tables of another nbgrader: name an empty database")


def _empty(writer: Connection, target: str, replace: bool) -> None:
    """Delete what is in the new database; GraderError if that is a gradebook that may count."""
    full = [table.name for table in TABLES if table.name != EVERY_GRADEBOOK
            and _count(writer, table)]  # fmt: skip
    if full and not replace:
        raise refusal(
            f"{shown(target)} contains another gradebook ({', '.join(full)}): name an empty "
            "database, or add --replace to delete what is there"
        )
    for table in reversed(TABLES):
        writer.execute(table.delete())


def _copy_table(reader: Connection, writer: Connection, table: Table) -> None:
    rows = reader.execute(select(table))
    for part in rows.mappings().partitions(AT_ONCE):
        writer.execute(insert(table), [dict(row) for row in part])


def _is_copied(reader: Connection, writer: Connection) -> bool:
    """Whether all tables have the same rows on both sides."""
    return all(_rows(reader, table) == _rows(writer, table) for table in TABLES)


def _rows(connection: Connection, table: Table) -> Rows:
    key = tuple(table.primary_key.columns)
    rows = [tuple(row) for row in connection.execute(select(*key, table))]
    return sorted(rows, key=lambda row: row[: len(key)])  # not ORDER BY: databases sort differently


def _count(connection: Connection, table: Table) -> int:
    return int(connection.execute(select(func.count()).select_from(table)).scalar_one())


def _why(error: SQLAlchemyError) -> str:
    return one_line(str(getattr(error, "orig", None) or error))
