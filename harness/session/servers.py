"""Which servers are up, of the engines that a command is to use."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace

from dialects.errors import BadInput
from harness import provision
from harness.data.questions import QuestionSet
from harness.engines import EngineName, kind_of, on_server
from harness.provision import dsn
from loaders.base.errors import EngineUnavailable, to_start
from loaders.server import Server


def find_servers(
    dialects: Sequence[EngineName], *, required: bool, say: Callable[[str], None]
) -> dict[EngineName, tuple[Server, ...]]:
    """The running servers of `dialects`, one or, named by DSNs, several of each; files need none.

    Args:
        dialects: what to look for.
        required: whether one that is not up is an error; else a line to `say`.
        say: takes one line at a time.

    Raises:
        BadInput: servers that are to share the work differ.
        EngineUnavailable: a server that is required is not up.
    """
    servers: dict[EngineName, tuple[Server, ...]] = {}
    for dialect in dialects:
        kind = kind_of(dialect)
        if not kind.has_server:
            continue
        found = provision.find_all(kind.dialect)
        if found:
            servers[dialect] = found
        elif required:
            raise EngineUnavailable(f"{dialect}: no server is up; {to_start()}")
        else:
            say(f"{dialect}: no server is up, so it is left out; {to_start()}")
    return servers


def private_server(questions: QuestionSet) -> tuple[QuestionSet, Server]:
    """The server that a set's databases stand on already, and the set with where they stand there.

    Nothing is made on it. Its account is the reading role, so it may do nothing but read; sessions are
    read-only besides.

    Raises:
        BadInput: there is no address, it is malformed, or its account may do more than read.
        EngineUnavailable: the server does not answer, or lacks a database.
    """
    stands = questions.server
    assert stands is not None  # noqa: S101 - who asks has looked
    name = stands.variable or f"dsn of {questions.name}"
    text = stands.dsn or os.environ.get(stands.variable, "")
    if not text:
        raise BadInput(
            f"--set {questions.name}: {name} is not set; set it to the address of its {stands.dialect}"
            " server and database"
        )
    server = dsn.private(stands.dialect, text.strip(), name)
    administration = kind_of(stands.dialect).administration
    assert administration is not None  # noqa: S101 - it has a server
    if rights := administration().rights_to_write(server):
        raise BadInput(
            f"{name}: the account {server.user} may do more than read ({', '.join(rights)}), and predictions"
            " run as it; name one that has SELECT and no more (docs/how-to/set.md)"
        )
    placed = replace(questions, standing_in=server.database)
    # Until the end of this: it closes what waits for another session.
    engine = on_server(server)
    for db_id in placed.db_ids:
        with engine.session(placed.database(db_id), _SECONDS_TO_LOOK) as session:
            list(session.batches("SELECT 1"))
    return placed, server


_SECONDS_TO_LOOK = 10.0
