"""Servers that a test may kill, stop and start again, with the command line that finds them."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dialects.enums import Dialect
from harness.engines.retry import administrating
from harness.provision import compose, containers, envfile, native
from harness.provision.containers import require_compose
from harness.provision.servers import SERVERS, ServerState
from loaders.base.errors import EngineUnavailable
from loaders.server import Origin, Server


@dataclass(frozen=True)
class Victim:
    """A server of one test's own, native or in a container; `folder` is its home or has its `.env`."""

    server: Server
    folder: Path

    @property
    def environment(self) -> Mapping[str, str]:
        """What makes `bird-harness` find this server and no other."""
        ours = {
            name: value for name, value in os.environ.items() if not name.startswith(("BIRD_", "PYTEST_"))
        }
        kept = {name: os.environ[name] for name in ("BIRD_CACHE",) if name in os.environ}
        ours |= kept | {"BIRD_PROVISION": self.server.origin, "BIRD_STATE": str(self.folder)}
        if self.server.origin is Origin.COMPOSE:
            ours |= envfile.read(self._env)
        return ours

    @property
    def _env(self) -> Path:
        return self.folder / ".env"

    def kill(self) -> None:
        """End it with SIGKILL, all of its processes."""
        if self.server.origin is Origin.COMPOSE:
            compose._compose(self._env, "kill", "--signal=KILL", self.server.dialect)
            return
        known = ServerState.read(self.folder / self.server.dialect / "server.json")
        assert known is not None
        for pid in (known.pid, *children(known.pid)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        while native.identity(known.pid) == known.identity:
            time.sleep(0.01)

    def stop(self) -> None:
        """End it in good order."""
        if self.server.origin is Origin.COMPOSE:
            compose._compose(self._env, "stop", self.server.dialect)
        else:
            native.stop(self.server.dialect, home=self.folder / self.server.dialect)

    def start(self) -> None:
        """Start it again, with the same data at the same address."""
        again = (
            compose.up([self.server.dialect], env=self._env, plain=True)[0]
            if self.server.origin is Origin.COMPOSE
            else native.start(self.server.dialect, home=self.folder / self.server.dialect)
        )
        assert again == self.server

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """For the time of the context it takes connections and says nothing."""
        if self.server.origin is Origin.COMPOSE:
            compose._compose(self._env, "pause", self.server.dialect)
            try:
                yield
            finally:
                compose._compose(self._env, "unpause", self.server.dialect)
            return
        known = ServerState.read(self.folder / self.server.dialect / "server.json")
        assert known is not None
        processes = known.pid, *children(known.pid)
        for process in processes:
            os.kill(process, signal.SIGSTOP)
        try:
            yield
        finally:
            for process in processes:
                os.kill(process, signal.SIGCONT)

    @contextmanager
    def full_disk(self) -> Iterator[None]:
        """For the time of the context, a native server has 4 MB of room for its temporary files.

        Raises:
            PermissionError: this account may not mount file systems.
        """
        data = self.folder / self.server.dialect / "data"
        owner = data.stat()
        place = {
            Dialect.MYSQL: data.with_name("tmp"),
            Dialect.POSTGRESQL: data / "base/pgsql_tmp",
        }[self.server.dialect]
        if not place.exists():
            place.mkdir()
            os.chown(place, owner.st_uid, owner.st_gid)
        options = f"size=4m,mode=0700,uid={owner.st_uid},gid={owner.st_gid}"
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "none", place],
            capture_output=True,
            text=True,
            check=False,
        )
        if mounted.returncode != 0:
            raise PermissionError(mounted.stderr)
        try:
            yield
        finally:
            subprocess.run(["umount", place], check=True)

    def ask(self, sql: str) -> list[Any]:
        """The first column of what an administrator's own connection answers."""
        connection = administrating(self.server)
        try:
            with connection.cursor() as cursor:
                cursor.execute(sql)
                return [row[0] for row in cursor.fetchall()] if cursor.description else []
        finally:
            connection.close()


def children(parent: int) -> list[int]:
    """The processes that `parent` has started and that still run."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(stat.read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(stat.parent.name))
    return found


@contextmanager
def victim(dialect: Dialect, *, is_native: bool = False) -> Iterator[Victim]:
    """A server that is removed with the context: a container where one can be had, else a native process.

    Args:
        dialect: MySQL or PostgreSQL.
        is_native: whether it has to be a native process.

    Raises:
        EngineUnavailable: there is neither.
    """
    folder = Path(tempfile.mkdtemp(prefix="bird-harness-"))
    folder.chmod(0o755)  # the account that root starts the server as has to enter it
    try:
        if not is_native and _has_containers(dialect):
            yield from _in_container(dialect, folder)
        else:
            yield from _native(dialect, folder)
    finally:
        shutil.rmtree(folder)


def _has_containers(dialect: Dialect) -> bool:
    forced = os.environ.get("BIRD_PROVISION")
    if forced == Origin.NATIVE:
        return False
    try:
        require_compose()
        containers.require_image(dialect)
    except EngineUnavailable:
        if forced in (Origin.COMPOSE, Origin.TESTCONTAINERS):
            raise
        return False
    return True


def _in_container(dialect: Dialect, folder: Path) -> Iterator[Victim]:
    variable = SERVERS[dialect].image_variable
    image = os.environ.get(variable) or envfile.read(envfile.default_path()).get(variable)
    kept = {name: os.environ.pop(name) for name in envfile.NAMES if name in os.environ}
    env = folder / ".env"
    if image is not None:
        envfile.write(env, variable, image)
    envfile.write_any_ports(env)
    try:
        [server] = compose.up([dialect], env=env, plain=True)
        yield Victim(server, folder)
    finally:
        compose.down(volumes=True, env=env)
        os.environ.update(kept)


def _native(dialect: Dialect, folder: Path) -> Iterator[Victim]:
    try:
        yield Victim(native.start(dialect, home=folder / dialect), folder)
    finally:
        native.destroy(dialect, home=folder / dialect)
