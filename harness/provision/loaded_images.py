"""Find images with databases inside on this machine, and decide whether a server can start from one.

An image's labels describe its content. An image fills an empty volume and never replaces data: `load`
compares digests afterwards as always, and reloads what came from another loader or another file.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache
from typing import Self

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.set_manifest import LAYOUTS
from harness.data.sets.loader import load_set
from harness.provision.containers import docker
from harness.provision.servers import SERVERS, assets
from loaders import namespace
from loaders.base.errors import EngineUnavailable, command
from loaders.base.files import parse_json

ACCOUNTS = "1"
"""Increased whenever images keep their accounts differently, so that older ones could not be opened."""

_LABEL = "bird-harness.loaded."
SET_LABEL = f"{_LABEL}set"
"""The label that names the question set. A container carries it like its image."""

_VERSION = re.compile(r"\d+(\.\d+)+")
_LASTING = re.compile(
    r"^(lower_case_table_names|innodb_(?:page_size|data_file_path|undo_\w+))\s*=\s*(.*?)\s*$"
)
"""Settings of a configuration file that are fixed when data are created."""


@dataclass(frozen=True)
class Labels:
    """The labels of an image with databases inside."""

    dialect: str
    set: str
    """Question set that it was made for."""
    collection: str
    """Collection of that set; sets of one collection share their databases."""
    version: str
    """Engine version, digits only: `9.7.4`."""
    base: str
    """Name of the plain image that it was made from."""
    base_id: str
    accounts: str
    """`ACCOUNTS` when it was made."""
    settings: str
    """`lasting_settings` when it was made."""
    loader: str
    """Version of the loader."""
    project: str
    """Version of bird-harness."""
    inputs: str
    """Digest of everything that decides its content."""

    @classmethod
    def read(cls, labels: Mapping[str, str]) -> Self | None:
        """Parse an image's labels; None if it is not such an image."""
        if _LABEL + "dialect" not in labels:
            return None
        return cls(**{field.name: labels.get(_LABEL + field.name, "") for field in fields(cls)})

    def written(self) -> dict[str, str]:
        """Return the labels as an image carries them."""
        return {_LABEL + name: value for name, value in asdict(self).items()}


@dataclass(frozen=True)
class LoadedImage:
    """One image on this machine."""

    name: str
    identity: str
    labels: Labels


@dataclass(frozen=True)
class Plain:
    """The image that a server starts from if no other fits."""

    name: str
    identity: str | None
    """None if it is not on this machine."""
    version: str | None
    """Engine version; None if unknown."""


def present(dialect: Dialect) -> list[LoadedImage]:
    """List the images with databases for `dialect` on this machine, newest first.

    Raises:
        EngineUnavailable: no Docker engine answers.
    """
    ours = ("--filter=dangling=false", f"--filter=label={_LABEL}dialect={dialect}")
    listed = docker("image", "ls", "--quiet", "--no-trunc", *ours)
    identities = list(dict.fromkeys(listed.split()))
    described = parse_json(docker("image", "inspect", *identities)) if identities else []
    found = []
    for image in sorted(described, key=lambda image: str(image["Created"]), reverse=True):
        labels = Labels.read(image["Config"]["Labels"])
        if labels and image["RepoTags"]:
            found.append(LoadedImage(image["RepoTags"][0], image["Id"], labels))
    return found


def plain(dialect: Dialect, name: str, image: LoadedImage) -> Plain:
    """Describe the plain image `name`, as far as `misfit` needs it to judge `image`."""
    try:
        identity = docker("image", "inspect", "--format={{.Id}}", name)
    except EngineUnavailable:
        return Plain(name, None, None)
    same = identity == image.labels.base_id
    return Plain(name, identity, image.labels.version if same else _version(dialect, name))


def misfit(image: LoadedImage, dialect: Dialect, instead_of: Plain) -> str | None:
    """Return why a server can't start from `image` instead of the chosen plain one; None if it can."""
    labels = image.labels
    if labels.accounts != ACCOUNTS:
        return f"another version of bird-harness made it ({labels.project}), which kept accounts differently"
    wanted = lasting_settings(dialect)
    if labels.settings != wanted:
        return f"its data were made with {labels.settings!r}, and {wanted!r} is set now"
    if instead_of.identity is None and not (
        labels.base == instead_of.name or _is_tagged(instead_of.name, labels.version)
    ):
        return f"it was made from {labels.base}, and {instead_of.name} is chosen"
    if instead_of.identity is not None and labels.version != instead_of.version:
        return f"it has version {labels.version}, and {instead_of.name} has {instead_of.version or 'another'}"
    return None


def choose(dialect: Dialect, plain_image: str, set_name: str | None) -> tuple[str, tuple[str, ...]]:
    """Choose the image for an empty volume: the newest that fits, else the plain one.

    Args:
        dialect: MySQL or PostgreSQL.
        plain_image: name of the plain image.
        set_name: the question set whose databases it must have; None for any.

    Returns:
        The image, and notes on it for the user, line by line.

    Raises:
        BadInput: there is no such set.
        EngineUnavailable: no Docker engine answers.
    """
    collection = None if set_name is None else _collection(set_name)
    notes: list[str] = []
    for image in present(dialect):
        if collection not in (None, image.labels.collection):
            continue
        reason = misfit(image, dialect, plain(dialect, plain_image, image))
        if reason is None:
            return image.name, (_found(dialect, image), *notes)
        notes.append(f"{image.name} is not used: {reason}; build it again with `{remedy(image.labels.set)}`")
    return plain_image, tuple(notes)


def fits(dialect: Dialect, name: str, plain_image: str) -> bool:
    """Return True if the image exists, has databases inside, and is no `misfit`."""
    return any(
        image.name == name and misfit(image, dialect, plain(dialect, plain_image, image)) is None
        for image in present(dialect)
    )


def remedy(set_name: str) -> str:
    """Return the command that builds images for a set."""
    return command("images", "loaded", set=set_name)


@cache
def lasting_settings(dialect: Dialect) -> str:
    """Return the settings that existing data depend on, from the project's configuration file."""
    text = (assets() / "docker" / SERVERS[dialect].configuration[0]).read_text(encoding="utf-8")
    found = (_LASTING.match(line) for line in text.splitlines())
    return ", ".join(sorted(f"{match[1]} = {match[2]}" for match in found if match))


def digits(version: str) -> str:
    """Return an engine's version without a distribution's suffix."""
    found = _VERSION.search(version)
    return found[0] if found else version


def _found(dialect: Dialect, image: LoadedImage) -> str:
    said = f"{dialect}: {image.labels.set} is in {image.name}"
    if image.labels.loader == str(namespace.LOADER_VERSION):
        return said
    return f"{said}, put there by another version of the loader: `{command('load')}` renews it"


def _is_tagged(name: str, version: str) -> bool:
    """Return True if an image's tag is that version, or its first parts: `mysql:9.7` for 9.7.4."""
    tag = name.rpartition(":")[2]
    return bool(re.fullmatch(r"\d+(\.\d+)*", tag)) and f"{version}.".startswith(f"{tag}.")


def _collection(set_name: str) -> str:
    try:
        return load_set(set_name).collection
    except BadInput:
        layout = LAYOUTS.get(set_name)
        if layout is None or layout.collection is None:
            raise
        # Its files are not here: the image has the published collection.
        return layout.collection


def _version(dialect: Dialect, image: str) -> str | None:
    """Return the version of the engine in an image, as its program reports it."""
    try:
        said = docker(
            "run", "--rm", "--network=none", f"--entrypoint={SERVERS[dialect].command[0]}", image, "--version"
        )
    except EngineUnavailable:
        return None
    return digits(said)
