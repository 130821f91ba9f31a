import os
import socket
import stat
from pathlib import Path

import pytest
import yaml

from dialects.errors import BadInput
from harness.provision import envfile

ROOT = Path(__file__).parents[2]
VARIABLES = (
    "BIND_ADDRESS", "COMPOSE_PROJECT_NAME", "HARNESS_USER", "MYSQL_IMAGE", "MYSQL_PORT",
    "MYSQL_ROOT_PASSWORD", "POSTGRES_IMAGE", "POSTGRES_PASSWORD", "POSTGRES_PORT",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _environment_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".env"


def test_reading_writes_nothing_and_knows_no_password(path: Path) -> None:
    values = envfile.read(path)
    assert values["MYSQL_IMAGE"] == "mysql:9.7"
    assert values["POSTGRES_IMAGE"] == "postgres:18"
    assert values["BIND_ADDRESS"] == "127.0.0.1"
    assert not {"MYSQL_ROOT_PASSWORD", "POSTGRES_PASSWORD", "COMPOSE_PROJECT_NAME"} & values.keys()
    assert not path.exists()


def test_first_use_writes_passwords_that_only_the_owner_can_read(path: Path) -> None:
    values = envfile.ensure(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len({values["MYSQL_ROOT_PASSWORD"], values["POSTGRES_PASSWORD"]}) == 2
    assert min(len(values["MYSQL_ROOT_PASSWORD"]), len(values["POSTGRES_PASSWORD"])) >= 32


def test_the_harness_in_a_container_is_the_user_who_started_the_servers(path: Path) -> None:
    assert envfile.ensure(path)["HARNESS_USER"] == f"{os.getuid()}:{os.getgid()}"
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
    for name in ("harness", "serve"):
        assert services[name]["user"] == "${HARNESS_USER:-1000:1000}"
        assert "no-new-privileges:true" in services[name]["security_opt"]
    lines = (ROOT / "docker" / "harness" / "Dockerfile").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.startswith("USER ")] == ["USER 1000:1000"]


def test_second_use_changes_nothing(path: Path) -> None:
    values = envfile.ensure(path)
    written = path.read_bytes()
    assert envfile.ensure(path) == values
    assert path.read_bytes() == written


def test_two_files_are_two_projects(tmp_path: Path) -> None:
    first, second = (envfile.ensure(tmp_path / name)["COMPOSE_PROJECT_NAME"] for name in ("a", "b"))
    assert first != second


def test_what_the_user_wrote_stays(path: Path) -> None:
    path.write_text("# mine\nPOSTGRES_PASSWORD=p#a$s\nPOSTGRES_PORT=5999\nOTHER='x y'", encoding="utf-8")
    path.chmod(0o600)
    values = envfile.ensure(path)
    assert values["POSTGRES_PASSWORD"] == "p#a$s"
    assert values["POSTGRES_PORT"] == "5999"
    assert path.read_text("utf-8").startswith(
        "# mine\nPOSTGRES_PASSWORD=p#a$s\nPOSTGRES_PORT=5999\nOTHER='x y'\n"
    )


def test_an_image_is_noted_beside_what_is_there(path: Path) -> None:
    before = envfile.ensure(path)
    envfile.write(path, "MYSQL_IMAGE", "somewhere/mysql:1")
    envfile.write(path, "MYSQL_IMAGE", "somewhere/mysql:2")
    assert envfile.read(path) == {**before, "MYSQL_IMAGE": "somewhere/mysql:2"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_environment_wins_over_the_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    envfile.write(path, "MYSQL_IMAGE", "from/file:1")
    monkeypatch.setenv("MYSQL_IMAGE", "from/environment:1")
    monkeypatch.setenv("MYSQL_ROOT_PASSWORD", "from environment")
    values = envfile.ensure(path)
    assert values["MYSQL_IMAGE"] == "from/environment:1"
    assert values["MYSQL_ROOT_PASSWORD"] == "from environment"
    assert "from environment" not in path.read_text("utf-8")


def test_an_empty_value_counts_as_missing(path: Path) -> None:
    path.write_text("MYSQL_PORT=\nMYSQL_ROOT_PASSWORD=\n", encoding="utf-8")
    values = envfile.ensure(path)
    assert values["MYSQL_PORT"].isdecimal()
    assert values["MYSQL_ROOT_PASSWORD"]


def test_a_port_that_is_taken_is_not_chosen(path: Path) -> None:
    usual = int(envfile.read(path)["MYSQL_PORT"])
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("127.0.0.1", usual))
            taken.listen()
        except OSError:
            pass  # somebody else has it, which serves as well
        assert int(envfile.ensure(path)["MYSQL_PORT"]) > usual


def test_ports_that_the_system_gives_are_two_and_are_kept(path: Path) -> None:
    envfile.write_any_ports(path)
    written = envfile.read(path)
    assert written["MYSQL_PORT"] != written["POSTGRES_PORT"]
    values = envfile.ensure(path)
    assert {name: values[name] for name in written} == written
    for name in ("MYSQL_PORT", "POSTGRES_PORT"):
        with socket.socket() as free:
            free.bind(("127.0.0.1", int(values[name])))


@pytest.mark.parametrize("port", ["none", "-1", "3306:3306"])
def test_a_port_that_is_none_is_bad_input(path: Path, port: str) -> None:
    envfile.write(path, "POSTGRES_PORT", port)
    with pytest.raises(BadInput, match=r"POSTGRES_PORT is .* in .*\.env .*; give a port number"):
        envfile.ensure(path)
