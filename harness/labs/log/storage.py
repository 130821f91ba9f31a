"""Copy finished runs to object storage and whatever else fsspec knows: S3, GCS, Azure, HDFS, WebDAV."""

from pathlib import Path

from dialects.errors import BadInput
from harness.report.documents import run_id_of
from harness.runs.reader import SUMMARY, Run
from loaders.base.errors import brief
from loaders.base.files import files_within, refuse


def copy_run(run: Run, url: str) -> str:
    """Copy the folder of a run below a URL, `summary.json` last: without it, a copy is not complete.

    Args:
        run: as `Run.load` reads it.
        url: a folder, such as `s3://bucket/runs`. Credentials are those that the storage's own package finds.

    Returns:
        The URL of the copy, which ends in the run's id.

    Raises:
        BadInput: fsspec or the storage's package is not installed, the URL has no known protocol, or the
            storage refuses a file.
    """
    try:
        import fsspec  # type: ignore[import-untyped]  # noqa: PLC0415 - optional
    except ModuleNotFoundError:
        raise BadInput("fsspec is not installed: pip install 'bird-harness[storage]'") from None
    place = f"{url.rstrip('/')}/{run_id_of(run)}"
    try:
        files = files_to_publish(run.folder)
        system, folder = fsspec.url_to_fs(place)
        if system.exists(f"{folder}/{SUMMARY}"):
            system.rm_file(f"{folder}/{SUMMARY}")
        for path in sorted(files, key=lambda path: path == run.folder / SUMMARY):
            to = f"{folder}/{path.relative_to(run.folder).as_posix()}"
            system.makedirs(to.rpartition("/")[0], exist_ok=True)
            system.put_file(str(path), to)
    except (ImportError, ValueError, OSError) as error:
        raise BadInput(f"--to {url}: {brief(error, 300)}") from None
    return place


def files_to_publish(folder: Path) -> list[Path]:
    """Return the files of a folder and of those below it, for a copy that others can read.

    Raises:
        BadInput: something in it is a link, a pipe, a socket or a device, which may lead to anything.
        OSError: a folder cannot be read.
    """
    files, others = files_within(folder)
    for path, what in others.items():
        refuse(path, f"is {what}", "put the file itself there, or remove it")
    return files
