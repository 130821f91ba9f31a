"""Whether data is what was published: its digests against those in the manifest.

A digest that is not known stops what asks, unless it was told to take it; then it is reported.
"""

import hashlib
from pathlib import Path

from harness.benchmark import QuestionSet
from harness.errors import BadInput
from harness.known.digests import digests
from harness.readers.set_layouts import LAYOUTS
from harness.readers.textfiles import Faults
from loaders.packages.manifest import Archive, Published

_TAKE = "if you trust it, --allow-unknown takes it as it is"


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
        raise BadInput(f"{message}; {_TAKE}, else remove the file and fetch it again")
    return found, f"{message}; taken because of --allow-unknown"


def prove_files(entry: Published, questions: QuestionSet, folder: Path, *, allow_unknown: bool) -> list[str]:
    """What the digests of a set's files say, a line for each that is not known.

    Args:
        entry: what is known.
        questions: the set, as it was read.
        folder: what a message calls the place of the files.
        allow_unknown: whether files that are not known are reported; else they are refused.

    Raises:
        BadInput: they are refused.
    """
    found = dict(questions.files)
    if entry.databases_of is not None:
        found.pop(LAYOUTS[entry.name].tables, None)
    else:
        paths = {db_id: questions.database(db_id).sqlite_path for db_id in questions.db_ids}
        read = digests(paths.values())
        found |= {f"dev_databases/{db_id}/{path.name}": read[path] for db_id, path in paths.items()}
    unknown = {
        name: (digest, "not the published one" if name in entry.files else "not known")
        for name, digest in found.items()
        if entry.files.get(name) != digest
    }
    if not allow_unknown:
        faults = Faults(folder, "file")
        for name, (digest, fault) in unknown.items():
            faults.add(f"{name} (sha256 {digest})", f"digest {fault}", _TAKE)
        faults.stop()
    return [
        f"{folder}: {len(found) - len(unknown)} of {len(found)} files have the digests of published ones",
        *(f"  {name}: sha256 {digest} is {fault}" for name, (digest, fault) in unknown.items()),
    ]
