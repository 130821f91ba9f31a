"""The command that serves scores over HTTP."""

from pathlib import Path
from typing import Annotated

import typer

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from harness.cli.commands import app
from harness.cli.console import USUAL_METRICS, option, say
from harness.session.evaluator import open_evaluator
from harness.session.request import Request, within
from loaders.base.processes import processors

_NEEDS = "serve: the server is not installed ({}); pip install 'bird-harness[serve]'"


@app.command()
def serve(  # noqa: PLR0913 - one parameter an option
    *,
    set_name: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="SET", help="Question set; repeatable. Default: sample."),
    ] = None,
    databases: Annotated[
        Path | None,
        typer.Option(
            help="Folder with SQLite files, or one file, instead of a set; with --family that of the tasks.",
            metavar="PATH",
        ),
    ] = None,
    family: Annotated[
        str | None,
        typer.Option(help="--set is a file of tasks, which these scripts judge, as of `lab tasks`."),
    ] = None,
    phase: Annotated[
        str | None, typer.Option(help="With --family: the part of the tasks, as of `lab tasks`.")
    ] = None,
    dialect: Annotated[
        str | None,
        typer.Option(
            help="Engines of the answers, separated by commas. Default: sqlite, or the family's.",
            metavar="DIALECT",
        ),
    ] = None,
    gold: Annotated[
        str | None,
        typer.Option(
            metavar="PACK", help="Gold pack, file or folder; with --family what came by mail, a file."
        ),
    ] = None,
    metrics: Annotated[str, option("metrics")] = USUAL_METRICS,
    profile: Annotated[Profile, option("profile")] = Request.profile,
    workers: Annotated[
        int | None,
        typer.Option(metavar="N", help="Judging processes of each set. Default: one per core."),
    ] = None,
    timeout: Annotated[float, option("seconds")] = Request.seconds,
    cache: Annotated[bool, option("cache")] = True,
    diagnose: Annotated[
        bool, typer.Option("--diagnose", help="Classify the errors of answers that do not match.")
    ] = False,
    extract: Annotated[
        str,
        typer.Option(
            metavar="POLICY",
            help="How SQL is taken out of answers: none, fences or answer-1; official for tasks.",
        ),
    ] = Request.extract,
    host: Annotated[
        str, typer.Option(help="Address to listen at; others than this machine's own need a token.")
    ] = "127.0.0.1",
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            metavar="NAME",
            help="Name by which clients may ask a server without a token, besides localhost; repeatable.",
        ),
    ] = None,
    port: Annotated[int, typer.Option(help="Port to listen at; 0 for any free one.")] = 8642,
    processes: Annotated[int, typer.Option(metavar="N", help="Server processes behind the port.")] = 1,
    queue: Annotated[
        int, typer.Option(metavar="N", help="Most answers being judged in a process; 429 beyond.")
    ] = 4_096,
    max_bytes: Annotated[int, typer.Option(metavar="N", help="Most bytes of a request.")] = 4_194_304,
    deadline: Annotated[
        float, typer.Option(metavar="SECONDS", help="Most seconds for a batch, and those by default.")
    ] = 300.0,
) -> None:
    """Serve scores over HTTP, for rewards in training: POST /score, GET /health, /metrics, /docs.

    Clients must send the token in BIRD_SERVE_TOKEN, if it is set. SIGTERM and Ctrl-C finish running batches.
    """
    within("--port", port, 0, 65_535)
    within("--processes", processes, 1, 64, "processes")
    within("--queue", queue, 1, 1_000_000, "answers")
    within("--max-bytes", max_bytes, 1_024, 2**30, "bytes")
    within("--deadline", deadline, 0.001, 86_400.0, "seconds")
    try:
        from harness.serve import app as application  # noqa: PLC0415 - an extra
        from harness.serve import processes as server  # noqa: PLC0415 - the same
    except ImportError as error:
        raise BadInput(_NEEDS.format(error)) from None
    token = server.token_for(host)
    hosts = {each.lower() for each in (host, *(allow_host or ()))}
    if family is None:
        if phase is not None:
            raise BadInput("--phase: belongs to tasks; add --family")
        if databases is not None and set_name:
            raise BadInput(
                f"--databases {databases}: replaces --set; leave one of them out; a file of tasks needs"
                " --family"
            )
    elif not set_name:
        raise BadInput(f"--family {family}: judges a file of tasks; name it with --set")
    usual = str(Dialect.SQLITE) if family is None else None
    names = list(dict.fromkeys(set_name or [Request.set_name]))
    evaluators = {
        name if databases is None or set_name else databases.stem: open_evaluator(
            name,
            family=family,
            phase=phase,
            databases=databases,
            dialects=dialect or usual,
            metrics=metrics,
            workers=workers or max(1, processors() // processes),
            gold=gold,
            profile=profile,
            seconds=timeout,
            cache=cache,
            diagnose=diagnose,
            extract=extract,
            say=say,
        )
        for name in names
    }
    sets = server.ServedSets(
        evaluators,
        application.ServiceLimits(queue, max_bytes, deadline, hosts),
        token,
    )
    with server.listen(host, port) as listening:
        shown = f"[{host}]" if ":" in host else host
        say(f"serving {', '.join(evaluators)} at http://{shown}:{listening.getsockname()[1]}")
        server.serve(sets, listening, processes)
