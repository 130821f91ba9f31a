"""The `docker` command line: it knows contexts, credentials and plugins that a library would not."""

import functools
import shutil
import subprocess
from collections.abc import Mapping
from typing import IO

from harness.provision.readiness import say
from loaders.base.errors import EngineUnavailable, command


def _without() -> str:
    return f"or start private servers without Docker: {command('up', 'native')}"


def docker(*arguments: str, stdin: IO[bytes] | None = None, env: Mapping[str, str] | None = None) -> str:
    """Run one `docker` command; what it writes to standard output.

    Raises:
        EngineUnavailable: there is no such command, or it fails; with the last line that it wrote.
    """
    try:
        done = subprocess.run(
            ["docker", *arguments],
            stdin=stdin or subprocess.DEVNULL,
            capture_output=True,
            env=env,
            check=False,
        )
    except FileNotFoundError:
        raise EngineUnavailable(f"docker was not found; install Docker, {_without()}") from None
    if done.returncode != 0:
        written = (done.stderr or done.stdout).decode(
            errors="replace"
        ).strip() or f"exit code {done.returncode}"
        raise EngineUnavailable(f"docker {arguments[0]}: {written.splitlines()[-1].strip()}")
    return done.stdout.decode(errors="replace").strip()


def require_engine() -> None:
    """Make sure that a Docker engine answers.

    Raises:
        EngineUnavailable: what is missing, and what to do about it.
    """
    if not shutil.which("docker"):
        raise EngineUnavailable(f"docker was not found; install Docker, {_without()}")
    try:
        docker("version", "--format", "{{.Server.Version}}")
    except EngineUnavailable as error:
        raise EngineUnavailable(f"no Docker engine answers ({error}); start it, {_without()}") from None


def require_compose() -> None:
    """Make sure that a Docker engine answers and that the Compose plugin is there.

    Raises:
        EngineUnavailable: what is missing, and what to do about it.
    """
    require_engine()
    try:
        docker("compose", "version", "--short")
    except EngineUnavailable:
        raise EngineUnavailable(
            "docker has no Compose plugin; install it (package docker-compose-plugin of Docker's own "
            f"repository, docker-compose-v2 on Ubuntu, docker-compose on Debian 13 and later), {_without()}"
        ) from None


def engine_answers() -> bool:
    """Whether a Docker engine is there to be used."""
    try:
        require_engine()
    except EngineUnavailable:
        return False
    return True


def is_here(image: str) -> bool:
    """Whether `image` is on this machine. False where no engine answers."""
    try:
        docker("image", "inspect", image)
    except EngineUnavailable:
        return False
    return True


@functools.cache
def ensure_image(image: str, variable: str) -> None:
    """Make sure that `image` is on this machine: pull it if it is not.

    Args:
        image: name and tag.
        variable: the variable that chooses another image, for the error.

    Raises:
        EngineUnavailable: it cannot be pulled.
    """
    if is_here(image):
        return
    say(f"pulling {image} ...")
    try:
        docker("pull", "--quiet", image)
    except EngineUnavailable as error:
        raise EngineUnavailable(
            f"the image {image} is not on this machine and cannot be pulled ({error}); choose another "
            f"with {variable}, build an equivalent from distribution packages (`{command('images')}`), "
            f"{_without()}"
        ) from None
