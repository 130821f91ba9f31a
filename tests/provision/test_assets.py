"""Containers by Compose, containers by testcontainers and native processes are set up alike."""

from dialects.enums import Dialect
from harness.provision import assets
from harness.provision.native import postgresql
from harness.provision.native.mysql import RECIPE as MYSQL
from harness.provision.native.postgresql import RECIPE as POSTGRESQL
from harness.provision.server_kinds import SERVERS

COMPOSE = (assets.folder() / "docker-compose.yml").read_text("utf-8")


def test_every_way_uses_the_same_configuration_files() -> None:
    for dialect, recipe in ((Dialect.MYSQL, MYSQL), (Dialect.POSTGRESQL, POSTGRESQL)):
        ours, theirs = SERVERS[dialect].configuration
        assert ours == recipe.configuration
        assert (assets.folder() / "docker" / ours).is_file()
        assert f"./docker/{ours}:{theirs}:ro" in COMPOSE


def test_every_way_initialises_postgresql_alike() -> None:
    kind = SERVERS[Dialect.POSTGRESQL]
    arguments = kind.variables["POSTGRES_INITDB_ARGS"]
    assert f"POSTGRES_INITDB_ARGS: {arguments}\n" in COMPOSE
    assert arguments.startswith(" ".join(postgresql.INITDB_OPTIONS))
    assert "command: [" + ", ".join(f'"{word}"' for word in kind.command) + "]" in COMPOSE
