"""The report page that the documentation shows as a live example: the sample benchmark's."""

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.docs.blocks import ROOT

PLACE = Path("example") / "report.html"
"""Where it stands among the pages."""


def make(docs: Path) -> None:
    """Score the sample's own predictions and put the run's page among the pages of `docs`."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "harness", "eval", "--out", folder]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(done.stdout + done.stderr)
        page = docs / PLACE
        page.parent.mkdir(exist_ok=True)
        page.write_bytes((Path(folder) / "latest" / "report.html").read_bytes())


if __name__ == "__main__":
    make(ROOT / "docs")
