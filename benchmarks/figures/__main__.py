"""Renew the documentation's figures, and what is expected, from folders that commands have written.

`bird-harness coverage --set sample` names its folder; then it is

    python -m benchmarks.figures results/coverage-20261121T104530Z-1a2b3c
"""

from pathlib import Path
from typing import Annotated

import typer

from benchmarks.figures.pages import renew
from dialects.errors import HarnessError


def main(
    folders: Annotated[
        list[Path], typer.Argument(help="Folders of audit, coverage, gap or study, each of a whole set.")
    ],
) -> None:
    """Renew the sections of pages that show what these folders hold; coverage becomes what is expected."""
    for folder in folders:
        for path in renew(folder):
            print(path)


if __name__ == "__main__":
    try:
        typer.run(main)
    except HarnessError as error:
        raise SystemExit(str(error)) from error
