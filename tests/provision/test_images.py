"""The interface of the images that `make images` builds: what the official ones have, and sturdier."""

import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from dialects.enums import Dialect
from harness.provision.containers import docker
from loaders.base.errors import EngineUnavailable
from tests.reasons import Reason, skip

pytestmark = [pytest.mark.engine, pytest.mark.thorough]

MYSQL, POSTGRESQL = Dialect.MYSQL, Dialect.POSTGRESQL
SECONDS = 90

Start = Callable[..., str]

_FOLDERS = {MYSQL: "/var/lib/mysql", POSTGRESQL: "/var/lib/postgresql"}
_PASSWORDS = {MYSQL: "MYSQL_ROOT_PASSWORD", POSTGRESQL: "POSTGRES_PASSWORD"}
_ACCOUNTS = {MYSQL: "root", POSTGRESQL: "postgres"}


@pytest.fixture
def image(image: str) -> str:
    if not image.startswith("bird-harness/"):
        skip(Reason.NO_DOCKER, f"{image} was not built here; run `make images`")
    return image


@pytest.fixture
def start(image: str) -> Iterator[Start]:
    """Start a container of `image` with options, and a command after `command=`; its id."""
    started = []

    def run(*options: str, command: tuple[str, ...] = ()) -> str:
        started.append(docker("run", "--detach", *options, image, *command))
        return started[-1]

    yield run
    for container in started:
        docker("rm", "--force", "--volumes", container)


@pytest.fixture
def volume(image: str) -> Iterator[str]:
    """A volume of the engine that has `image`: where there is none, nothing is created."""
    assert image
    name = docker("volume", "create")
    yield name
    docker("volume", "rm", name)


@dataclass(frozen=True)
class Client:
    """A client inside a container: what it gets to see, by TCP."""

    dialect: Dialect
    user: str
    password: str
    database: str = ""

    def ask(self, container: str, sql: str) -> str:
        options: tuple[str, ...]
        if self.dialect is MYSQL:
            options = (
                f"--env=MYSQL_PWD={self.password}",
                container,
                "mysql",
                "--protocol=TCP",
                "--host=127.0.0.1",
            )
            options += (f"--user={self.user}", "--skip-column-names", f"--execute={sql}")
            return docker("exec", *options, *filter(None, [self.database]))
        options = (f"--env=PGPASSWORD={self.password}", container, "psql", "--host=127.0.0.1", "--no-align")
        options += (f"--username={self.user}", f"--dbname={self.database or 'postgres'}", "--tuples-only")
        return docker("exec", *options, f"--command={sql}")

    def wait(self, container: str, sql: str = "SELECT 1") -> str:
        """The same, as soon as there is an answer."""
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                return self.ask(container, sql)
            except EngineUnavailable:
                running = docker("inspect", "--format={{.State.Running}}", container)
                if running != "true" or time.monotonic() > deadline:
                    pytest.fail(logs(container))
                time.sleep(0.2)


def logs(container: str) -> str:
    command = ["docker", "logs", container]
    return subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True
    ).stdout


SECRET = 'it\'s \\ "secret"'


@pytest.fixture
def scripts(tmp_path: Path) -> tuple[str, str]:
    """Options that mount a secret and scripts."""
    secret = tmp_path / "secret"
    secret.write_text(f"{SECRET}\n", encoding="utf-8")
    folder = tmp_path / "scripts"
    folder.mkdir()
    (folder / "1.sql").write_text(
        "CREATE TABLE made (id int); INSERT INTO made VALUES (1);", encoding="utf-8"
    )
    (folder / "2.sh").write_text("docker_process_sql <<<'INSERT INTO made VALUES (2)'\n", encoding="utf-8")
    return f"--volume={secret}:/run/secret:ro", f"--volume={folder}:/docker-entrypoint-initdb.d:ro"


@pytest.mark.parametrize("dialect", [MYSQL], indirect=True)
def test_mysql_makes_the_database_and_account_that_are_asked_for(
    start: Start, scripts: tuple[str, str]
) -> None:
    container = start(
        *scripts, "--env=MYSQL_ROOT_PASSWORD_FILE=/run/secret", "--env=MYSQL_DATABASE=a_base",
        "--env=MYSQL_USER=o'user", "--env=MYSQL_PASSWORD=pass", command=("--max-connections=7",),
    )  # fmt: skip
    root, user = Client(MYSQL, "root", SECRET), Client(MYSQL, "o'user", "pass", "a_base")
    assert root.wait(container, "SELECT @@max_connections") == "7"
    assert user.ask(container, "SELECT id FROM made ORDER BY id") == "1\n2"
    assert "`a\\\\_base`" in user.ask(container, "SHOW GRANTS")
    with pytest.raises(EngineUnavailable, match=r"1045|Access denied"):
        Client(MYSQL, "root", "").ask(container, "SELECT 1")
    assert root.ask(container, "SELECT count(*) > 500 FROM mysql.time_zone_name") == "1"
    owner = docker("exec", container, "sh", "-c", "stat -c %U /var/lib/mysql /proc/1; cat /proc/1/comm")
    assert owner == "mysql\nmysql\nmysqld"


@pytest.mark.parametrize("dialect", [MYSQL], indirect=True)
def test_mysql_root_may_be_kept_to_the_container(start: Start) -> None:
    account = ("--env=MYSQL_USER=u", "--env=MYSQL_PASSWORD=p")
    container = start("--env=MYSQL_ALLOW_EMPTY_PASSWORD=yes", "--env=MYSQL_ROOT_HOST=localhost", *account)
    Client(MYSQL, "u", "p").wait(container)
    asked = "SELECT host FROM mysql.user WHERE user = 'root'"
    assert docker("exec", container, "mysql", "--user=root", "-N", "-e", asked) == "localhost"


@pytest.mark.parametrize("dialect", [MYSQL], indirect=True)
def test_mysql_tells_the_password_that_it_made_up(start: Start) -> None:
    account = ("--env=MYSQL_USER=u", "--env=MYSQL_PASSWORD=p")
    container = start("--env=MYSQL_RANDOM_ROOT_PASSWORD=yes", *account)
    Client(MYSQL, "u", "p").wait(container)
    _, _, after = logs(container).partition("GENERATED ROOT PASSWORD: ")
    assert Client(MYSQL, "root", after.split()[0]).ask(container, "SELECT 1") == "1"


@pytest.mark.parametrize("dialect", [POSTGRESQL], indirect=True)
def test_postgresql_makes_the_database_and_account_that_are_asked_for(
    start: Start, scripts: tuple[str, str]
) -> None:
    container = start(
        *scripts, "--env=POSTGRES_PASSWORD_FILE=/run/secret", "--env=POSTGRES_DB=a base",
        "--env=POSTGRES_USER=o user", "--env=POSTGRES_INITDB_ARGS=--auth-host='scram-sha-256' --lc-collate=C",
        command=("-c", "max_connections=7"),
    )  # fmt: skip
    user = Client(POSTGRESQL, "o user", SECRET, "a base")
    assert user.wait(container, "SHOW max_connections") == "7"
    assert user.ask(container, "SELECT id FROM made ORDER BY id") == "1\n2"
    asked = "SELECT datcollate FROM pg_database WHERE datname = current_database()"
    assert user.ask(container, asked) == "C"
    with pytest.raises(EngineUnavailable, match="authentication failed"):
        Client(POSTGRESQL, "o user", "wrong").ask(container, "SELECT 1")
    owner = docker("exec", container, "sh", "-c", 'stat -c %U "$PGDATA" /proc/1; cat /proc/1/comm')
    assert owner == "postgres\npostgres\npostgres"


@pytest.mark.parametrize("dialect", [POSTGRESQL], indirect=True)
def test_postgresql_lets_everybody_in_only_when_told(start: Start) -> None:
    container = start("--env=POSTGRES_HOST_AUTH_METHOD=trust")
    client = Client(POSTGRESQL, "postgres", "")
    client.wait(container)
    assert client.ask(container, "SELECT auth_method FROM pg_hba_file_rules WHERE address = 'all'") == "trust"


@pytest.mark.parametrize(
    ("dialect", "options"),
    [
        (MYSQL, []),
        (MYSQL, ["--env=MYSQL_ROOT_PASSWORD=x", "--env=MYSQL_ROOT_PASSWORD_FILE=/etc/hostname"]),
        (POSTGRESQL, []),
        (POSTGRESQL, ["--env=POSTGRES_PASSWORD=x", "--env=POSTGRES_PASSWORD_FILE=/etc/hostname"]),
    ],
    indirect=["dialect"],
)
def test_a_container_without_one_clear_password_ends(
    start: Start, dialect: Dialect, options: list[str]
) -> None:
    container = start(*options)
    assert docker("wait", container) == "1"
    assert _PASSWORDS[dialect] in logs(container)


def test_a_volume_is_initialised_once(volume: str, start: Start, dialect: Dialect) -> None:
    mount = f"--volume={volume}:{_FOLDERS[dialect]}"
    client = Client(dialect, _ACCOUNTS[dialect], "first")
    first = start(mount, f"--env={_PASSWORDS[dialect]}=first")
    client.wait(first, "CREATE DATABASE kept")
    docker("stop", first)
    assert docker("inspect", "--format={{.State.ExitCode}}", first) == "0", "stopped in good order"

    second = start(mount, f"--env={_PASSWORDS[dialect]}=second")
    listed = {
        MYSQL: "SHOW DATABASES LIKE 'kept'",
        POSTGRESQL: "SELECT datname FROM pg_database WHERE datname = 'kept'",
    }
    assert client.wait(second, listed[dialect]) == "kept", "the volume's own password holds"


def test_a_container_that_was_killed_while_it_initialised_starts_over(
    volume: str, start: Start, dialect: Dialect, tmp_path: Path
) -> None:
    script = tmp_path / "slow.sh"
    script.write_text("echo REACHED; [ -e /passed ] || sleep 600\n", encoding="utf-8")
    options = (
        f"--volume={volume}:{_FOLDERS[dialect]}",
        f"--volume={script}:/docker-entrypoint-initdb.d/slow.sh:ro",
        f"--env={_PASSWORDS[dialect]}=x",
    )
    client = Client(dialect, _ACCOUNTS[dialect], "x")
    first = start(*options)
    deadline = time.monotonic() + SECONDS
    while "REACHED" not in logs(first):
        assert time.monotonic() < deadline, logs(first)
        time.sleep(0.2)
    with pytest.raises(EngineUnavailable):
        client.ask(first, "SELECT 1")
    docker("kill", first)

    passed = tmp_path / "passed"
    passed.touch()
    second = start(*options, f"--volume={passed}:/passed:ro")
    client.wait(second)
    assert "REACHED" in logs(second), "the script ran again"


def test_anything_else_is_run_as_it_is(dialect: Dialect, image: str) -> None:
    server = {MYSQL: "mysqld", POSTGRESQL: "postgres"}[dialect]
    version = {MYSQL: "Ver ", POSTGRESQL: "(PostgreSQL)"}[dialect]
    assert version in docker("run", "--rm", image, server, "--version")
    assert version in docker("run", "--rm", image, "--version")
    assert docker("run", "--rm", image, "echo", "a  b") == "a  b"


def test_the_interface_is_declared(dialect: Dialect, image: str) -> None:
    asked = "{{json .Config.ExposedPorts}} {{json .Config.Volumes}} {{json .Config.Healthcheck.Test}}"
    declared = docker("image", "inspect", f"--format={asked}", image)
    port = {MYSQL: "3306/tcp", POSTGRESQL: "5432/tcp"}[dialect]
    assert all(word in declared for word in (port, _FOLDERS[dialect], "healthcheck.sh"))
