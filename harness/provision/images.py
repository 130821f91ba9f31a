"""Build images: equivalents of the official ones, and images with a set's databases inside.

Equivalents are for machines that reach no registry.

The root file system is the unpacked closure of a few Debian packages (`packages`), as for native servers.
debootstrap would give much the same files, but it needs root, mounts and a chroot; here permission to use
Docker is enough. `docker/*/Dockerfile` does what maintainer scripts would have done (accounts, folders). No
layer is pulled, and BuildKit is not needed.
"""

import contextlib
import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from importlib.metadata import version as installed_version
from pathlib import Path

from filelock import FileLock

from dialects.enums import Dialect, Profile
from harness.data.questions import QuestionSet
from harness.engines import TITLES, on_server
from harness.provision import compose, envfile, loaded_images, packages
from harness.provision.containers import docker, ensure_image, require_compose, require_engine
from harness.provision.servers import ENTRANCE, SERVERS, ServerKind, assets, say
from loaders import functions, namespace
from loaders.base import paths
from loaders.base.digests import digests
from loaders.base.errors import EngineUnavailable
from loaders.base.files import ascii_json, content_digest
from loaders.bulk_load import Progress, load
from loaders.namespace import Database

SYSTEM = (
    "base-files", "base-passwd", "bash", "coreutils", "dash", "findutils", "grep", "libc-bin", "sed",
    "tzdata", "tzdata-legacy", "util-linux",
)  # fmt: skip
"""Packages that entry points and scripts of an image may rely on."""

_LABEL = "bird-harness.inputs"


def build(dialects: Sequence[Dialect], *, env: Path | None = None) -> list[str]:
    """Build an image for each of `dialects`, and have `compose.up` use it from now on.

    An image built from the same packages and files is kept. Newer packages are fetched when the old ones are
    gone from `places.cache`.

    Args:
        dialects: any; SQLite needs no image and is skipped.
        env: the `.env` file that records the images.

    Returns:
        Name and tag of each image: `bird-harness/mysql:9.7.4`.

    Raises:
        EngineUnavailable: no Docker engine answers, packages are unavailable, or the build fails.
    """
    require_engine()
    built = []
    for dialect, kind in SERVERS.items():
        if dialect in dialects:
            built.append(_build(dialect, kind))
            envfile.write(env or envfile.default_path(), kind.image_variable, built[-1])
    return built


def _build(dialect: Dialect, kind: ServerKind) -> str:
    root = packages.unpacked(TITLES[dialect], (*kind.packages, *SYSTEM))
    context = assets() / "docker" / dialect
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
    """Return an image's id and the digest of its inputs; None if it does not exist."""
    try:
        said = docker(
            "image", "inspect", f'--format={{{{.Id}}}} {{{{index .Config.Labels "{_LABEL}"}}}}', image
        )
    except EngineUnavailable:
        return None
    identity, _, inputs = said.partition(" ")
    return identity, inputs


def _digest(root: Path, context: Path) -> str:
    """Return a digest of the packages and files of the image."""
    digest = hashlib.sha256(root.name.encode())
    for path in sorted(context.iterdir()):
        digest.update(f"\0{path.name}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def _import(folder: Path, image: str) -> None:
    """Stream a root file system into an image; its files belong to root, whoever unpacked them."""
    command = ["tar", "--create", f"--directory={folder}", "--owner=0", "--group=0", "--numeric-owner", "."]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as tar:
        docker("import", "-", image, stdin=tar.stdout)
        said = tar.stderr.read().decode(errors="replace").strip() if tar.stderr else ""
    if tar.returncode != 0:
        raise EngineUnavailable(f"tar could not read {folder}: {said}; remove the folder and try again")


def bake(
    questions: QuestionSet,
    dialects: Sequence[Dialect],
    *,
    env: Path | None = None,
    progress: Progress | None = None,
) -> list[str]:
    """Build an image with the databases of a question set, in both profiles, for each of `dialects`.

    The project's loader loads the databases into a server of the plain image, as `make up` starts it, in a
    separate Compose project. Its data are then copied into an image without a known password
    (`docker/loaded/*.sh`). An image gets its name last, so an interrupted attempt leaves none, and the next
    attempt removes its other remains. An image made from the same plain image, files and loader is kept.

    Args:
        questions: the question set.
        dialects: any; those without such images are skipped.
        env: the `.env` file that may choose the plain image.
        progress: called for each database that is loaded.

    Returns:
        Name and tag of each image: `bird-harness/mysql-sample:9.7.4`.

    Raises:
        BadInput: see `loaders.load`.
        EngineUnavailable: Docker, its engine, the Compose plugin or the plain image is missing, a server
            broke, or a disk is full.
    """
    require_compose()
    values = envfile.read(env or envfile.default_path())
    databases = [questions.database(db_id, profile) for profile in Profile for db_id in questions.db_ids]
    baked = []
    for dialect, kind in SERVERS.items():
        if dialect in dialects and kind.loaded_files:
            variable = kind.image_variable
            ensure_image(values[variable], variable)
            with FileLock(paths.cache() / f"loading-{dialect}.lock"):
                baked.append(_baked(dialect, values[variable], questions, databases, progress))
    return baked


def _baked(
    dialect: Dialect,
    base: str,
    questions: QuestionSet,
    databases: Sequence[Database],
    progress: Progress | None,
) -> str:
    base_id = docker("image", "inspect", "--format={{.Id}}", base)
    inputs = _inputs(dialect, base_id, databases)
    for image in loaded_images.present(dialect):
        if image.labels.inputs == inputs and image.labels.set == questions.name:
            return image.name
    say(f"loading {questions.name} into an image of {base} ...")
    with _project(dialect, base) as (project, env):
        [server] = compose.up([dialect], env=env, plain=True)
        load(databases, server, progress=progress)
        version = loaded_images.digits(on_server(server).version())
        compose.down(env=env)  # cleanly, so that no recovery is needed
        labels = loaded_images.Labels(
            dialect=dialect,
            set=questions.name,
            collection=questions.collection,
            version=version,
            base=base,
            base_id=base_id,
            accounts=loaded_images.ACCOUNTS,
            settings=loaded_images.lasting_settings(dialect),
            loader=str(namespace.LOADER_VERSION),
            project=installed_version("bird-harness"),
            inputs=inputs,
        )
        name = f"bird-harness/{dialect}-{questions.name}:{version}"
        say(f"packing {name} ...")
        return _packed(project, name, labels, dialect)


def _inputs(dialect: Dialect, base_id: str, databases: Sequence[Database]) -> str:
    """Return a digest of everything that decides the content of the image."""
    found = digests([database.sqlite_path for database in databases])
    files = [
        (assets() / "docker" / name).read_text(encoding="utf-8") for name in SERVERS[dialect].loaded_files
    ]
    facts = [
        [base_id, loaded_images.ACCOUNTS, *files],
        [namespace.LOADER_VERSION, functions.digest(dialect)],
        [[each.collection, each.profile, each.db_id, found[each.sqlite_path]] for each in databases],
    ]
    return content_digest(facts)


@contextlib.contextmanager
def _project(dialect: Dialect, base: str) -> Iterator[tuple[str, Path]]:
    """Yield name and `.env` of a Compose project for the load, which is removed with its data at the end.

    Its name is derived from the cache folder, which holds the lock, so that remains of a killed attempt are
    found.
    """
    place = hashlib.sha256(str(paths.cache()).encode()).hexdigest()[:8]
    project = f"bird-harness-loading-{place}-{dialect}"
    folder = paths.cache() / f"loading-{dialect}"
    env = folder / ".env"
    with _own_variables():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        envfile.ensure(env)
        envfile.write_any_ports(env)
        envfile.write(env, "COMPOSE_PROJECT_NAME", project)
        envfile.write(env, SERVERS[dialect].image_variable, base)
        try:
            _remove(project, env)
            yield project, env
        finally:
            _remove(project, env)
            shutil.rmtree(folder, ignore_errors=True)


def _remove(project: str, env: Path) -> None:
    with contextlib.suppress(EngineUnavailable):
        docker("rm", "--force", "--volumes", f"{project}-packing")
    compose.down(volumes=True, env=env)


@contextlib.contextmanager
def _own_variables() -> Iterator[None]:
    """Remove the containers' variables from the environment: they would override the `.env` of the load."""
    kept = {name: os.environ.pop(name) for name in envfile.NAMES if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(kept)


def _packed(project: str, name: str, labels: loaded_images.Labels, dialect: Dialect) -> str:
    """Copy the data into an image, with a container of the plain one that does nothing else."""
    container = f"{project}-packing"
    mounted = f"--volume={compose.volume(dialect, project)}:{SERVERS[dialect].mount}"
    given = (f"--name={container}", "--network=none", "--entrypoint=bash", mounted)
    docker("create", *given, labels.base_id, ENTRANCE, "--pack", SERVERS[dialect].data)
    for ours, theirs in SERVERS[dialect].loaded_files.items():
        docker("cp", str(assets() / "docker" / ours), f"{container}:{theirs}")
    docker("start", "--attach", container)
    command = docker("image", "inspect", "--format={{json .Config.Cmd}}", labels.base_id)
    changes = [f'ENTRYPOINT ["bash", "{ENTRANCE}"]', f"CMD {command}"]
    changes += [f"LABEL {label}={ascii_json(value)}" for label, value in labels.written().items()]
    known = {image.name: image.identity for image in loaded_images.present(dialect)}
    docker("commit", *(f"--change={change}" for change in changes), container, name)
    if name in known:
        with contextlib.suppress(EngineUnavailable):  # a container may still use the image that was replaced
            docker("image", "rm", known[name])
    return name
