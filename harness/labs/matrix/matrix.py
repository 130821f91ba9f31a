"""Dialect coverage on every engine version that the project promises, as far as this machine has them."""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from rich.console import Console

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness import provision
from harness.analyses.coverage.command import CoverageRequest, measure, print_coverage
from harness.data.predictions import Choice
from harness.data.sets.loader import load_set, name_of
from harness.engines import TITLES, on_server
from harness.labs.matrix.versions import SETS, VERSIONS, cells
from harness.provision import containers, loaded_images
from harness.provision.containers import docker, engine_answers
from harness.provision.servers import SERVERS
from harness.report.console import new_table, plain, print_line, print_table, wide
from loaders.base.errors import EngineUnavailable
from loaders.server import Origin, Server


class Result(StrEnum):
    """The result of a question set on an engine version."""

    AS_EXPECTED = "as expected"
    REGRESSION = "regression"
    NOT_RUN = "not run"
    """No server of this version is here."""
    BROKE = "broke"
    """A server did not start, or stopped."""


@dataclass(frozen=True)
class Row:
    """One row of the table.

    `version` is the cell's, or the server's own where no cell has it; `covered` and `questions` are None
    where there is no result, and `why` gives the reason. `faults` has a line for everything that is not as
    expected.
    """

    dialect: Dialect
    version: str
    set_name: str
    result: Result
    where: str = "-"
    covered: int | None = None
    questions: int | None = None
    faults: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True)
class MatrixRequest:
    """What to run: empty `sets` means all of `SETS` with data here."""

    dialects: Sequence[Dialect] = tuple(VERSIONS)
    sets: Sequence[str] = ()
    limit: int | None = None
    out: Path = Path("results")


def run_matrix(request: MatrixRequest, say: Callable[[str], None]) -> list[Row]:
    """Cover every cell that there is a server for, each on a throw-away one.

    Where a Docker engine answers, these are the cells whose image is on this machine; nothing is pulled. Else
    there is one server per dialect, found or started as the tests find theirs (`provision.throwaway`).

    Raises:
        BadInput: a question set that was asked for cannot be read.
    """
    sets, left_out = _sets(request)
    for line in left_out:
        say(line)
    by_image = (
        os.environ.get("BIRD_PROVISION", Origin.TESTCONTAINERS) == Origin.TESTCONTAINERS and engine_answers()
    )
    run = _on_images if by_image else _on_what_is_there
    return [
        row for dialect in VERSIONS if dialect in request.dialects for row in run(dialect, sets, request, say)
    ]


def exit_code(rows: Sequence[Row]) -> int:
    """1 on a regression, 3 where a server broke or nothing could be run, else 0."""
    results = {row.result for row in rows}
    if Result.REGRESSION in results:
        return 1
    is_done = Result.AS_EXPECTED in results and Result.BROKE not in results
    return 0 if is_done else EngineUnavailable.exit_code


def print_matrix(rows: Sequence[Row], console: Console | None = None) -> None:
    """Print the table, the deviations, and what could not be run and why."""
    console = wide(console)
    table = new_table("Golds of SQLite, translated: the same answer on every version")
    for head in ("engine", "version", "set", "server"):
        table.add_column(head, overflow="fold")
    for head in ("covered", "regressions", "result"):
        table.add_column(head, justify="right")
    for row in rows:
        ran = row.questions is not None
        table.add_row(
            TITLES[row.dialect],
            *map(plain, (row.version, row.set_name, row.where)),
            f"{row.covered} of {row.questions}" if ran else "-",
            str(len(row.faults)) if ran else "-",
            plain(row.result),
        )
    print_table(console, table)
    for row in rows:
        for line in row.faults:
            print_line(console, f"{_name(row)}, {row.set_name}: {line}")
    for line in dict.fromkeys(f"{_name(row)}: {row.result}: {row.why}" for row in rows if row.why):
        print_line(console, line)


def _name(row: Row) -> str:
    return f"{TITLES[row.dialect]} {row.version}"


def _sets(request: MatrixRequest) -> tuple[list[str], list[str]]:
    """Return the sets to cover, and a line for each that is left out because its data are not there."""
    usable, left_out = [], []
    for name in request.sets or SETS:
        try:
            load_set(name)
        except BadInput as error:
            if request.sets:
                raise
            left_out.append(f"{name} is left out: {error}")
        else:
            usable.append(name)
    return usable, left_out


def _on_images(
    dialect: Dialect, sets: Sequence[str], request: MatrixRequest, say: Callable[[str], None]
) -> Iterator[Row]:
    images = docker("image", "ls", "--format={{.Repository}}:{{.Tag}}").splitlines()
    for cell in cells([dialect]):
        image = cell.image_here(images)
        if image is None:
            why = f"no image {cell.image} on this machine; `docker pull {cell.image}` brings it"
            yield from (Row(dialect, cell.version, name_of(name), Result.NOT_RUN, why=why) for name in sets)
            continue
        try:
            with _chosen(SERVERS[dialect].image_variable, image), containers.throwaway(dialect) as server:
                for name in sets:
                    yield _covered(server, cell.version, image, name, request, say)
        except EngineUnavailable as error:
            yield from (
                Row(dialect, cell.version, name_of(name), Result.BROKE, image, why=str(error))
                for name in sets
            )


def _on_what_is_there(
    dialect: Dialect, sets: Sequence[str], request: MatrixRequest, say: Callable[[str], None]
) -> Iterator[Row]:
    found: list[Row] = []
    why = "no Docker engine that has its image"
    try:
        with provision.throwaway(dialect) as server:
            digits = loaded_images.digits(on_server(server).version())
            promised = [
                cell.version for cell in cells([dialect]) if f"{digits}.".startswith(f"{cell.version}.")
            ]
            version = promised[0] if promised else digits
            where = f"{server.origin}, {digits}"
            found = [_covered(server, version, where, name, request, say) for name in sets]
            why = f"the one server that is here has {digits}, and there is {why}"
    except EngineUnavailable as error:
        why = str(error)
    ran = {row.version for row in found}
    missing = (cell.version for cell in cells([dialect]) if cell.version not in ran)
    yield from found
    yield from (
        Row(dialect, version, name_of(name), Result.NOT_RUN, why=why) for version in missing for name in sets
    )


def _covered(  # noqa: PLR0913, PLR0917 - what a row is made of
    server: Server,
    version: str,
    where: str,
    set_name: str,
    request: MatrixRequest,
    say: Callable[[str], None],
) -> Row:
    """Cover one set on one server; a server that breaks makes a row that says so."""
    name = name_of(set_name)
    say(f"{TITLES[server.dialect]} {version} ({where}): {name} ...")
    wanted = CoverageRequest(set_name=set_name, choice=Choice(limit=request.limit), out=request.out)
    try:
        measured = measure(wanted, {server.dialect: server})
    except EngineUnavailable as error:
        return Row(server.dialect, version, name, Result.BROKE, where, why=str(error))
    print_coverage(measured.title, measured.answers)
    say(f"written to {measured.folder}")
    return Row(
        server.dialect,
        version,
        name,
        Result.REGRESSION if measured.faults else Result.AS_EXPECTED,
        where,
        sum(answer.covered for answer in measured.answers),
        len(measured.answers),
        tuple(map(str, measured.faults)),
    )


@contextlib.contextmanager
def _chosen(variable: str, image: str) -> Iterator[None]:
    """Have the environment choose an image, which wins over every `.env`."""
    before = os.environ.get(variable)
    os.environ[variable] = image
    try:
        yield
    finally:
        if before is None:
            del os.environ[variable]
        else:
            os.environ[variable] = before
