"""What the ways to a server have to know of each engine, one record each; and the versions that are proven.

`.github/workflows/dialects.yml` has the same cells of the matrix, and a test holds it against this module.

How a private server is initialised and started is code, and stands in `native`, one module an engine.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dialects.enums import Dialect
from harness.provision.native.postgresql import BACKEND_BYTES, INITDB_OPTIONS

ENTRANCE = "/usr/local/bin/bird-harness-loaded"
"""What packs and opens the databases inside of an image."""


@dataclass(frozen=True, kw_only=True)
class ServerKind:
    """One engine's servers."""

    # An address.
    schemes: tuple[str, ...]
    """How an address of one may begin, the best first."""
    port: int

    # Containers, the same in `docker-compose.yml`.
    prefix: str
    """How the variables of `.env` begin."""
    password: str
    """The variable that sets the password."""
    account: str
    """The administrating account."""
    configuration: tuple[str, str]
    """The project's configuration file below `docker/`, and where the image looks for it."""
    command: tuple[str, ...]
    """What a container runs; first the server's program."""
    variables: Mapping[str, str] = field(default_factory=dict)
    most_processes: int
    most_data: int | None = None
    """Bytes that one process may ask for."""

    # Images.
    official: str
    """The official image, without a tag."""
    versions: tuple[str, ...]
    """Those that every change is held against, the oldest first."""
    packages: tuple[str, ...]
    """The Debian packages of an image that is built without a registry."""
    mount: str
    """Where `docker-compose.yml` mounts the volume."""
    data: str
    """Where in it the data are."""
    loaded_files: Mapping[str, str]
    """What an image with databases has more than its base: files below `docker/`, and their places."""


SERVERS: Mapping[Dialect, ServerKind] = {
    Dialect.MYSQL: ServerKind(
        schemes=("mysql",),
        port=3306,
        prefix="MYSQL",
        password="MYSQL_ROOT_PASSWORD",  # noqa: S106 - its name
        account="root",
        configuration=("mysql/bird.cnf", "/etc/mysql/conf.d/bird.cnf"),
        command=("mysqld",),
        most_processes=512,
        official="mysql",
        versions=("8.4", "9.7"),
        packages=("mysql-server-core", "mysql-client-core"),
        mount="/var/lib/mysql",
        data="/var/lib/mysql",
        # MySQL refuses its data under other settings, so these are there where nobody mounts them, too.
        loaded_files={"loaded/mysql.sh": ENTRANCE, "mysql/bird.cnf": "/etc/mysql/conf.d/bird.cnf"},
    ),
    Dialect.POSTGRESQL: ServerKind(
        schemes=("postgresql", "postgres"),
        port=5432,
        prefix="POSTGRES",
        password="POSTGRES_PASSWORD",  # noqa: S106 - its name
        account="postgres",
        configuration=("postgresql/bird.conf", "/etc/postgresql/bird.conf"),
        command=("postgres", "-c", "config_file=/etc/postgresql/bird.conf", "-c", "listen_addresses=*"),
        variables={"POSTGRES_INITDB_ARGS": " ".join((*INITDB_OPTIONS, "--auth=scram-sha-256"))},
        most_processes=256,
        most_data=BACKEND_BYTES,
        official="postgres",
        versions=("14", "15", "16", "17", "18"),
        packages=("postgresql-18",),
        mount="/var/lib/postgresql",
        data="/var/lib/postgresql/bird",
        loaded_files={"loaded/postgresql.sh": ENTRANCE},
    ),
}
"""Every engine that has servers."""

VERSIONS: Mapping[Dialect, tuple[str, ...]] = {dialect: kind.versions for dialect, kind in SERVERS.items()}
"""The versions that every change is held against."""

SETS = ("sample", "mini_dev")
"""The question sets: the first always, the other where its data are."""


@dataclass(frozen=True)
class MatrixCell:
    """One engine version."""

    dialect: Dialect
    version: str

    @property
    def image(self) -> str:
        """Name of the official image."""
        return f"{SERVERS[self.dialect].official}:{self.version}"

    def to_json(self) -> dict[str, str]:
        """As a CI matrix has it."""
        return {"dialect": self.dialect, "version": self.version, "image": self.image}

    def image_here(self, images: Sequence[str]) -> str | None:
        """Which of `images` has this version: the official one, or one that `make images` built."""
        for name in (SERVERS[self.dialect].official, f"bird-harness/{self.dialect}"):
            pattern = re.compile(rf"{re.escape(f'{name}:{self.version}')}(\.\d+)*(-[\w.-]+)?")
            found = sorted(image for image in images if pattern.fullmatch(image))
            if found:
                return found[0]
        return None


def cells(dialects: Sequence[Dialect] = tuple(VERSIONS)) -> list[MatrixCell]:
    """The engine versions, oldest first."""
    return [
        MatrixCell(dialect, version)
        for dialect in VERSIONS
        if dialect in dialects
        for version in VERSIONS[dialect]
    ]


def matrix_json() -> str:
    """The whole matrix: `engines` (dialect, version, image) and `sets`."""
    return json.dumps({"engines": [cell.to_json() for cell in cells()], "sets": list(SETS)}, indent=2)
