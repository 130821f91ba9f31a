"""Images equivalent to the official ones, built where no registry can be reached.

The root file system is the unpacked closure of a few Debian packages (`packages`), the same way that native
servers come to be. debootstrap would give much the same files, but it needs root, mounts and a chroot; here
being allowed to use Docker is enough. What maintainer scripts would have done (accounts, folders) is done by
`docker/*/Dockerfile`. No layer is pulled, and BuildKit is not needed.
"""

import contextlib
import hashlib
import subprocess
from collections.abc import Sequence
from pathlib import Path

from dialects.enums import Dialect
from harness.engines import TITLES
from harness.provision import assets, envfile, packages
from harness.provision.compose import image_variable
from harness.provision.docker_command import docker, require_engine
from harness.provision.readiness import say
from harness.provision.server_kinds import SERVERS, ServerKind
from loaders.errors import EngineUnavailable

_SYSTEM = (
    "base-files", "base-passwd", "bash", "coreutils", "dash", "findutils", "grep", "libc-bin", "sed",
    "tzdata", "tzdata-legacy", "util-linux",
)  # fmt: skip
"""What entry points and scripts of an image may count on."""

_LABEL = "bird-harness.inputs"


def build(dialects: Sequence[Dialect], *, env: Path | None = None) -> list[str]:
    """Build an image for each of `dialects`, and have `compose.up` use it from now on.

    An image that was built from the same packages and files is left as it is. Newer packages are fetched when
    the old ones are gone from `places.cache`.

    Args:
        dialects: any; SQLite needs no image and is passed over.
        env: the `.env` file that the images are noted in. Default: `envfile.default_path`.

    Returns:
        Name and tag of each image: `bird-harness/mysql:9.7.4`.

    Raises:
        EngineUnavailable: no Docker engine answers, packages cannot be had, or the build fails.
    """
    require_engine()
    built = []
    for dialect, kind in SERVERS.items():
        if dialect in dialects:
            built.append(_build(dialect, kind))
            envfile.write(env or envfile.default_path(), image_variable(dialect), built[-1])
    return built


def _build(dialect: Dialect, kind: ServerKind) -> str:
    root = packages.unpacked(TITLES[dialect], (*kind.packages, *_SYSTEM))
    context = assets.folder() / "docker" / dialect
    inputs = _digest(root.folder, context)
    image = f"bird-harness/{dialect}:{root.version}"
    found = _inspect(image)
    if found and found[1] == inputs:
        return image
    say(f"building {image} ...")
    base = f"bird-harness/{dialect}-base:{root.version}"
    _import(root.folder, base)
    arguments = {"BASE": base, "PG_MAJOR": root.version.partition(".")[0]}
    docker(
        "build",
        f"--tag={image}",
        f"--label={_LABEL}={inputs}",
        *(f"--build-arg={name}={value}" for name, value in arguments.items()),
        str(context),
    )
    docker("image", "rm", base)
    if found:
        with contextlib.suppress(EngineUnavailable):  # a container may still use the image that was replaced
            docker("image", "rm", found[0])
    return image


def _inspect(image: str) -> tuple[str, str] | None:
    """An image's id and what it was built from; None when it is not there."""
    try:
        said = docker(
            "image", "inspect", f'--format={{{{.Id}}}} {{{{index .Config.Labels "{_LABEL}"}}}}', image
        )
    except EngineUnavailable:
        return None
    identity, _, inputs = said.partition(" ")
    return identity, inputs


def _digest(root: Path, context: Path) -> str:
    """Changes when the packages or the files of the image change."""
    digest = hashlib.sha256(root.name.encode())
    for path in sorted(context.iterdir()):
        digest.update(f"\0{path.name}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def _import(folder: Path, image: str) -> None:
    """Stream a root file system into an image; its files belong to root, whoever unpacked them."""
    command = [
        "tar",
        "--create",
        "--directory",
        str(folder),
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        ".",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as tar:
        docker("import", "-", image, stdin=tar.stdout)
        said = tar.stderr.read().decode(errors="replace").strip() if tar.stderr else ""
    if tar.returncode != 0:
        raise EngineUnavailable(f"tar could not read {folder}: {said}; remove the folder and try again")
