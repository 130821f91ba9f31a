"""Images with databases inside: which are on this machine, and whether a server can start from one.

What an image holds stands in its labels. An image is a beginning for an empty volume, never a replacement of
data: `load` compares digests afterwards as always, and renews what another loader or another file has left.
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
from harness.provision.server_kinds import SERVERS
from harness.provision.servers import assets
from loaders import namespace
from loaders.base.errors import EngineUnavailable, command
from loaders.base.files import parse_json

ACCOUNTS = "1"
"""Raised by one whenever images keep their accounts otherwise, so that older ones could not be opened."""

_LABEL = "bird-harness.loaded."
SET_LABEL = f"{_LABEL}set"
"""The label that names the question set. A container carries it like its image."""

_VERSION = re.compile(r"\d+(\.\d+)+")
_LASTING = re.compile(
    r"^(lower_case_table_names|innodb_(?:page_size|data_file_path|undo_\w+))\s*=\s*(.*?)\s*$"
)
"""Settings of a configuration file that data are made with, and that a server refuses to change."""


@dataclass(frozen=True)
class Labels:
    """What is known of an image with databases inside."""

    dialect: str
    set: str
    """The question set that it was made for."""
    collection: str
    """Of that set; sets of one collection share their databases."""
    version: str
    """The engine's, digits alone: `9.7.4`."""
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
        """What an image's labels say; None where they are not of such an image."""
        if _LABEL + "dialect" not in labels:
            return None
        return cls(**{field.name: labels.get(_LABEL + field.name, "") for field in fields(cls)})

    def written(self) -> dict[str, str]:
        """The labels, as an image carries them."""
        return {_LABEL + name: value for name, value in asdict(self).items()}


@dataclass(frozen=True)
class LoadedImage:
    """One image on this machine."""

    name: str
    identity: str
    labels: Labels


@dataclass(frozen=True)
class Plain:
    """The image that a server starts from where no other fits."""

    name: str
    identity: str | None
    """None where it is not on this machine."""
    version: str | None
    """The engine's; None where it is not known."""


def present(dialect: Dialect) -> list[LoadedImage]:
    """The images with databases for `dialect` on this machine, the newest first.

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
    """What is known of the plain image `name`, as far as `misfit` needs it beside `image`."""
    try:
        identity = docker("image", "inspect", "--format={{.Id}}", name)
    except EngineUnavailable:
        return Plain(name, None, None)
    same = identity == image.labels.base_id
    return Plain(name, identity, image.labels.version if same else _version(dialect, name))


def misfit(image: LoadedImage, dialect: Dialect, instead_of: Plain) -> str | None:
    """Why a server can't start from `image` instead of the plain one that was chosen; None if it can."""
    labels = image.labels
    if labels.accounts != ACCOUNTS:
        return f"another version of bird-harness made it ({labels.project}), which kept accounts otherwise"
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
    """What an empty volume is started from: the newest image that fits, or else the plain one.

    Args:
        dialect: MySQL or PostgreSQL.
        plain_image: name of the plain image.
        set_name: the question set whose databases are wanted; None for any.

    Returns:
        The image, and what the user should know of it, line by line.

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
    """Whether there is such an image with databases inside, and `misfit` has nothing against it."""
    return any(
        image.name == name and misfit(image, dialect, plain(dialect, plain_image, image)) is None
        for image in present(dialect)
    )


def remedy(set_name: str) -> str:
    """The command that makes images for a set."""
    return command("images", "loaded", set=set_name)


@cache
def lasting_settings(dialect: Dialect) -> str:
    """The settings that data are bound to for as long as they last, from the project's configuration file."""
    text = (assets() / "docker" / SERVERS[dialect].configuration[0]).read_text(encoding="utf-8")
    found = (_LASTING.match(line) for line in text.splitlines())
    return ", ".join(sorted(f"{match[1]} = {match[2]}" for match in found if match))


def digits(version: str) -> str:
    """An engine's version without what distributions add to it."""
    found = _VERSION.search(version)
    return found[0] if found else version


def _found(dialect: Dialect, image: LoadedImage) -> str:
    said = f"{dialect}: {image.labels.set} is in {image.name}"
    if image.labels.loader == str(namespace.LOADER_VERSION):
        return said
    return f"{said}, put there by another version of the loader: `{command('load')}` renews it"


def _is_tagged(name: str, version: str) -> bool:
    """Whether an image's tag says that version, or the first parts of it: `mysql:9.7` is some 9.7.4."""
    tag = name.rpartition(":")[2]
    return bool(re.fullmatch(r"\d+(\.\d+)*", tag)) and f"{version}.".startswith(f"{tag}.")


def _collection(set_name: str) -> str:
    try:
        return load_set(set_name).collection
    except BadInput:
        layout = LAYOUTS.get(set_name)
        if layout is None or layout.collection is None:
            raise
        # Its files are not here, and an image has the published one.
        return layout.collection


def _version(dialect: Dialect, image: str) -> str | None:
    """The version of the engine in an image, as its program says it."""
    try:
        said = docker(
            "run", "--rm", "--network=none", f"--entrypoint={SERVERS[dialect].command[0]}", image, "--version"
        )
    except EngineUnavailable:
        return None
    return digits(said)
