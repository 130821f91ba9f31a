"""Images with the sample inside, made and started on a real Docker engine; each test in its own project."""

import os
import secrets
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg
import pymysql
import pytest
from filelock import FileLock

from dialects.enums import Dialect, Profile
from dialects.identifiers import quoted
from harness.data.questions import QuestionSet
from harness.data.sets.loader import load_set
from harness.provision import compose, envfile, loaded_images
from harness.provision.containers import docker, require_compose
from harness.provision.images import bake
from harness.provision.servers import SERVERS, wait_for
from loaders import namespace
from loaders.base import paths
from loaders.base.errors import EngineUnavailable
from loaders.bulk_load import load
from loaders.bulk_load import loaded as standing
from loaders.namespace import Database
from loaders.server import Origin, Server
from tests.loaders.servers import ask
from tests.reasons import Reason, skip

pytestmark = [pytest.mark.engine, pytest.mark.thorough]

MYSQL, POSTGRESQL = Dialect.MYSQL, Dialect.POSTGRESQL
SECONDS = 90

_OWN = ("MYSQL_ROOT_PASSWORD", "POSTGRES_PASSWORD", "COMPOSE_PROJECT_NAME", "MYSQL_PORT", "POSTGRES_PORT")
_PASSWORDS = {MYSQL: "MYSQL_ROOT_PASSWORD", POSTGRESQL: "POSTGRES_PASSWORD"}
_FOLDERS = {MYSQL: "/var/lib/mysql", POSTGRESQL: "/var/lib/postgresql"}
_USERS_PROJECT = "bird-harness-of-the-user"


@dataclass(frozen=True)
class Baked:
    """An image that was made for these tests, and what it took."""

    dialect: Dialect
    plain: str
    name: str
    questions: QuestionSet
    password: str
    """The administrator's while the databases were loaded."""
    after_the_kill: tuple[str, ...]
    """What an attempt left that was killed half-way, and its image if there was one."""

    @property
    def databases(self) -> list[Database]:
        return databases(self.questions)


def databases(questions: QuestionSet) -> list[Database]:
    return [questions.database(db_id, profile) for profile in Profile for db_id in questions.db_ids]


def leftovers(dialect: Dialect) -> tuple[str, ...]:
    """Containers and volumes of images in the making."""
    containers = docker("ps", "--all", "--filter=name=bird-harness-loading-", "--format={{.Names}}")
    volumes = docker("volume", "ls", "--filter=name=bird-harness-loading-", "--format={{.Name}}")
    return tuple(name for name in (*containers.split(), *volumes.split()) if dialect in name)


def kill_half_way(dialect: Dialect, name: str) -> None:
    command = [sys.executable, "-m", "tests.provision.stalling_bake", dialect, name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as attempt:
        assert attempt.stdout
        assert attempt.stdout.readline() == "there\n"
        attempt.kill()


@pytest.fixture(scope="module", params=[MYSQL, POSTGRESQL])
def baked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Baked]:
    dialect: Dialect = request.param
    variable = SERVERS[dialect].image_variable
    plain = envfile.read(envfile.default_path())[variable]
    try:
        require_compose()
        docker("image", "inspect", plain)
    except EngineUnavailable as error:
        skip(Reason.NO_DOCKER, str(error))
    # Images are the machine's: of several processes of the tests one makes them at a time.
    with FileLock(tmp_path_factory.getbasetemp().parent / f"loaded-{dialect}.lock"):
        made = _made(dialect, plain, tmp_path_factory.mktemp("state"))
        yield made
        docker("image", "rm", made.name)


def _made(dialect: Dialect, plain: str, state: Path) -> Baked:
    questions = replace(load_set("sample"), name=f"sample-{secrets.token_hex(4)}")
    passwords = set()

    def listen(_: Database, __: int, ___: int) -> None:
        written = envfile.read(paths.cache() / f"loading-{dialect}" / ".env")
        passwords.add(written[_PASSWORDS[dialect]])

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BIRD_STATE", str(state))
        # What the environment says of the user's own containers is none of an image's business.
        patch.setenv("COMPOSE_PROJECT_NAME", _USERS_PROJECT)
        patch.setenv(_PASSWORDS[dialect], "of the user")
        patch.setenv(SERVERS[dialect].image_variable, plain)
        theirs = docker("volume", "create", f"{_USERS_PROJECT}_{dialect}")
        try:
            kill_half_way(dialect, questions.name)
            after = (*leftovers(dialect), *docker("image", "ls", "--quiet", f"*/*-{questions.name}").split())
            [name] = bake(questions, [dialect], progress=listen)
            assert os.environ["COMPOSE_PROJECT_NAME"] == _USERS_PROJECT
        finally:
            docker("volume", "rm", theirs)
    [password] = passwords
    return Baked(dialect, plain, name, questions, password, after)


@pytest.fixture
def env(tmp_path: Path, baked: Baked, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A `.env` of its own, so that nothing that the developer runs is touched."""
    for name in _OWN:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("BIRD_STATE", str(tmp_path))
    path = tmp_path / ".env"
    envfile.write(path, SERVERS[baked.dialect].image_variable, baked.plain)
    envfile.write_any_ports(path)
    yield path
    compose.down(volumes=True, env=path)


def up(baked: Baked, env: Path) -> Server:
    [server] = compose.up([baked.dialect], env=env, set_name="sample")
    return server


def image_of(dialect: Dialect, env: Path) -> str:
    project = envfile.read(env)["COMPOSE_PROJECT_NAME"]
    return docker("ps", f"--filter=name={project}-{dialect}", "--format={{.Image}}")


def counted(server: Server, databases: list[Database]) -> dict[tuple[str, str, str], tuple[int, int]]:
    """Rows of each table: on the server, where the reading role sees them, and in the file."""
    counts = {}
    for database, marker in standing(databases, server).items():
        with closing(sqlite3.connect(database.sqlite_path)) as file:
            names = [name for (name,) in file.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
            stored = {
                name.lower(): file.execute(f"SELECT count(*) FROM {quoted(name)}").fetchone()[0]
                for name in names
            }
        for table in marker.tables:
            [(rows,)] = ask(server, database, f"SELECT count(*) FROM {quoted(table)}", as_reader=True)
            counts[database.profile.value, database.db_id, table] = (rows, stored[table.lower()])
    return counts


def is_let_in(server: Server, *, as_reader: bool = False) -> bool:
    try:
        return ask(server, None, "SELECT 1", as_reader=as_reader) == [(1,)]
    except (pymysql.OperationalError, psycopg.OperationalError) as error:
        if any(said in str(error) for said in ("1045", "authentication failed", "no password supplied")):
            return False
        raise


def test_a_server_starts_with_the_databases_inside_and_nothing_is_left_to_load(
    baked: Baked, env: Path, keeps_promises: Callable[[Server], None]
) -> None:
    server = up(baked, env)
    assert compose.started_from(baked.dialect, env=env) == image_of(baked.dialect, env) == baked.name
    done = load(baked.databases, server)
    assert [one.skipped for one in done] == [True] * 2 * len(baked.questions.db_ids)
    counts = counted(server, baked.databases)
    assert len({key[:2] for key in counts}) == len(baked.databases)
    assert {key: pair for key, pair in counts.items() if pair[0] != pair[1]} == {}
    assert sum(here for here, _ in counts.values()) == sum(one.rows for one in done) > 0
    keeps_promises(server)


def test_passwords_are_those_of_this_machine_alone(baked: Baked, env: Path) -> None:
    server = up(baked, env)
    while_loading = replace(server, password=baked.password)
    assert server.password == envfile.read(env)[_PASSWORDS[baked.dialect]] != baked.password
    assert is_let_in(server)
    assert not is_let_in(while_loading)
    assert not is_let_in(replace(server, password=""))
    # The reading role has no password until the harness gives it one.
    assert not is_let_in(while_loading, as_reader=True)
    assert not is_let_in(server, as_reader=True)
    load(baked.databases, server)
    assert not is_let_in(while_loading, as_reader=True)
    assert ask(server, baked.databases[0], "SELECT 1", as_reader=True) == [(1,)]


def test_an_image_holds_no_secret(baked: Baked) -> None:
    assert baked.password not in docker("image", "inspect", baked.name)
    assert baked.password not in docker("history", "--no-trunc", baked.name)
    reader = Server(baked.dialect, "", 0, "", baked.password, Origin.COMPOSE).reader_password
    for secret in (baked.password, reader):
        found = f"grep -rlF -e '{secret}' /usr/local /etc /tmp /root /var/lib || true"
        assert docker("run", "--rm", "--entrypoint=sh", baked.name, "-c", found) == ""
    keys = "find / -xdev -name '*.pem' -path '*bird-harness*'; find / -xdev -name auto.cnf"
    assert docker("run", "--rm", "--entrypoint=sh", baked.name, "-c", keys) == ""


def test_data_are_kept_and_begin_anew_when_they_were_removed(baked: Baked, env: Path) -> None:
    server = up(baked, env)
    ask(server, None, "CREATE DATABASE kept")
    container = docker("ps", "--quiet", f"--filter=name={envfile.read(env)['COMPOSE_PROJECT_NAME']}")
    assert up(baked, env) == server
    assert compose.up([baked.dialect], env=env) == [server]
    assert compose.up([baked.dialect], env=env, plain=True) == [server]
    project = envfile.read(env)["COMPOSE_PROJECT_NAME"]
    assert docker("ps", "--quiet", f"--filter=name={project}") == container, "what runs is left running"

    compose.down(env=env)
    assert up(baked, env) == server
    assert image_of(baked.dialect, env) == baked.plain, "the data no longer need the image"
    with pytest.raises((pymysql.Error, psycopg.Error), match="exists"):
        ask(server, None, "CREATE DATABASE kept")
    assert all(one.skipped for one in load(baked.databases, server))

    compose.down(volumes=True, env=env)
    assert up(baked, env) == server
    ask(server, None, "CREATE DATABASE kept")
    assert all(one.skipped for one in load(baked.databases, server))


def test_a_volume_that_exists_is_used_as_it_is(baked: Baked, env: Path) -> None:
    [server] = compose.up([baked.dialect], env=env, plain=True)
    assert image_of(baked.dialect, env) == baked.plain
    ask(server, None, "CREATE DATABASE kept")
    compose.down(env=env)
    assert up(baked, env) == server
    assert image_of(baked.dialect, env) == baked.plain
    assert standing(baked.databases, server) == {}
    with pytest.raises((pymysql.Error, psycopg.Error), match="exists"):
        ask(server, None, "CREATE DATABASE kept")


def test_what_an_older_loader_has_left_in_an_image_is_loaded_again(
    baked: Baked, env: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(namespace, "LOADER_VERSION", namespace.LOADER_VERSION + 1)
    [note, *_] = loaded_images.choose(baked.dialect, baked.plain, "sample")[1]
    assert note.endswith("by another version of the loader: `make load` renews it")
    server = up(baked, env)
    assert image_of(baked.dialect, env) == baked.name
    assert not any(one.skipped for one in load(baked.databases, server))
    assert all(one.skipped for one in load(baked.databases, server))
    assert {key: pair for key, pair in counted(server, baked.databases).items() if pair[0] != pair[1]} == {}


def test_a_killed_attempt_leaves_no_image_and_the_next_one_clears_up(baked: Baked) -> None:
    assert baked.after_the_kill
    assert all(name.startswith("bird-harness-loading-") for name in baked.after_the_kill)
    assert leftovers(baked.dialect) == ()


def test_an_attempt_that_fails_clears_up(baked: Baked, env: Path) -> None:
    class Broken(Exception):
        pass

    def fail(_: Database, done: int, __: int) -> None:
        if done > 0:
            raise Broken

    name = f"sample-{secrets.token_hex(4)}"
    with pytest.raises(Broken):
        bake(replace(baked.questions, name=name), [baked.dialect], env=env, progress=fail)
    assert leftovers(baked.dialect) == ()
    assert docker("image", "ls", "--quiet", f"*/*-{name}") == ""


def test_an_image_of_the_same_things_is_not_made_again(baked: Baked, env: Path) -> None:
    before = docker("image", "inspect", "--format={{.Id}} {{.Metadata.LastTagTime}}", baked.name)
    assert bake(baked.questions, [baked.dialect], env=env) == [baked.name]
    assert docker("image", "inspect", "--format={{.Id}} {{.Metadata.LastTagTime}}", baked.name) == before


def relabelled(baked: Baked, tag: str, **labels: str) -> str:
    """The same image with other labels, under a tag that is the newest."""
    name = f"{baked.name.rpartition(':')[0]}:{tag}"
    container = docker("create", baked.name)
    changes = [f"--change=LABEL bird-harness.loaded.{label}={value}" for label, value in labels.items()]
    docker("commit", *changes, container, name)
    docker("rm", "--volumes", container)
    return name


def test_an_image_that_does_not_fit_is_named_and_another_one_taken(baked: Baked, env: Path) -> None:
    old = relabelled(baked, "old", base_id="sha256:0", version="1.0")
    try:
        choice = loaded_images.choose(baked.dialect, baked.plain, "sample")
        # Tests beside this one may have made newer images.
        assert choice[0] not in {old, baked.plain}
        version = baked.name.rpartition(":")[2]
        reason = f"{old} is not used: it has version 1.0, and {baked.plain} has {version}"
        assert any(note.startswith(reason) for note in choice[1])
        assert any("make images LOADED=1 SET=" in note for note in choice[1])
        notes = compose.beginning(baked.dialect, "sample", env=env)
        assert any(note.startswith(reason) for note in notes)
        assert not loaded_images.fits(baked.dialect, old, baked.plain)
    finally:
        docker("image", "rm", old)
    assert loaded_images.choose(baked.dialect, baked.plain, "dev")[0] == baked.plain, "of another collection"


def test_an_image_from_another_build_of_the_same_version_fits(baked: Baked) -> None:
    other = relabelled(baked, "other", base_id="sha256:0")
    try:
        assert loaded_images.fits(baked.dialect, other, baked.plain)
    finally:
        docker("image", "rm", other)


@pytest.fixture
def run(baked: Baked) -> Iterator[Callable[..., str]]:
    """Start a container of the image by itself; its id."""
    started = []

    def start(*options: str) -> str:
        started.append(docker("run", "--detach", *options, baked.name))
        return started[-1]

    yield start
    for container in started:
        docker("rm", "--force", "--volumes", container)


def logs(container: str) -> str:
    command = ["docker", "logs", container]
    return subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True
    ).stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "the volume is empty: set {password}"),
        (["--env={password}=x", "--env={database}=other"], "{database} is for an empty image"),
        (
            ["--env={password}=x", "--volume=/etc/hostname:/docker-entrypoint-initdb.d/x.sql"],
            "do not mount it",
        ),
        (["--env={password}=x", "--tmpfs={folder}:size=20m"], "is its disk full?"),
    ],
)
def test_what_an_image_cannot_do_is_said(
    baked: Baked, run: Callable[..., str], options: list[str], said: str
) -> None:
    names = {
        "password": _PASSWORDS[baked.dialect],
        "database": {MYSQL: "MYSQL_DATABASE", POSTGRESQL: "POSTGRES_DB"}[baked.dialect],
        "folder": _FOLDERS[baked.dialect],
    }
    container = run(*(option.format(**names) for option in options))
    assert docker("wait", container) == "1"
    assert said.format(**names) in logs(container)


def test_a_container_that_was_killed_while_it_was_filled_starts_over(
    baked: Baked, run: Callable[..., str]
) -> None:
    ports = {MYSQL: 3306, POSTGRESQL: 5432}
    published = f"--publish=127.0.0.1::{ports[baked.dialect]}"
    container = run(f'--env={_PASSWORDS[baked.dialect]}=it\'s \\ "secret"', published)
    deadline = time.monotonic() + SECONDS
    while "filling" not in logs(container):
        assert time.monotonic() < deadline, logs(container)
        time.sleep(0.05)
    docker("kill", container)
    docker("start", container)
    [port] = {
        line.rpartition(":")[2] for line in docker("port", container, str(ports[baked.dialect])).split()
    }
    account = SERVERS[baked.dialect].account
    server = Server(
        baked.dialect, "127.0.0.1", int(port), account, 'it\'s \\ "secret"', Origin.TESTCONTAINERS
    )
    assert loaded_images.digits(wait_for(server, SECONDS))
    assert logs(container).count("filling") == 2
    assert set(standing(baked.databases, server)) == set(baked.databases)


def test_anything_else_is_run_as_it_is(baked: Baked) -> None:
    program = SERVERS[baked.dialect].command[0]
    said = docker("run", "--rm", baked.name, program, "--version")
    assert said == docker("run", "--rm", baked.plain, program, "--version")
    assert docker("run", "--rm", baked.name, "echo", "a  b") == "a  b"
