"""Whether data is what was published: its digests against those in the manifest.

A digest that is not known stops what asks, unless it was told to take it; then it is reported.
"""

import hashlib
from pathlib import Path

from dialects.errors import BadInput
from loaders.packages.manifest import Archive

TAKE = "if you trust it, --allow-unknown takes it as it is"


def sha256(path: Path) -> str:
    """The file's SHA-256 in hexadecimal, read now.

    Raises:
        BadInput: the file can't be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror}); check the path") from error


def prove_archive(path: Path, archive: Archive, *, allow_unknown: bool) -> tuple[str, str]:
    """The digest of the file `path`, and what it means.

    Raises:
        BadInput: it is not the one of the published archive, and unknown ones are not allowed.
    """
    found = sha256(path)
    if found == archive.sha256:
        return found, f"{path}: sha256 and size are those of the published {archive.name}"
    size = path.stat().st_size
    known = f"that of {archive.name} is {archive.sha256}" if archive.sha256 else "nobody has named one"
    less = f" ({size:,} of {archive.size:,} bytes)" if archive.size and size != archive.size else ""
    message = f"{path}: sha256 {found} is not known{less}: {known}"
    if not allow_unknown:
        raise BadInput(f"{message}; {TAKE}, else remove the file and fetch it again")
    return found, f"{message}; taken because of --allow-unknown"
