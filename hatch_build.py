"""What a package says of itself: a README whose links lead somewhere, and the project's pages.

A package index shows the README without the files beside it. Where the address of the repository is known, as
in the release workflow, links become absolute, of the version that is built; elsewhere they become text.
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

ADDRESS = "BIRD_HARNESS_REPOSITORY"
"""The variable with the repository's address, such as https://host/owner/name."""

_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:)([^)\s]+)\)")


class ReadmeHook(MetadataHookInterface):
    """Fills in `readme` and `urls`."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """See `MetadataHookInterface.update`."""
        address = os.environ.get(ADDRESS, "").rstrip("/")
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        readme = linked(text, f"{address}/blob/v{metadata['version']}" if address else None)
        metadata["readme"] = {"content-type": "text/markdown", "text": readme}
        if address:
            metadata["urls"] = {
                "Repository": address,
                "Documentation": f"{address}/blob/v{metadata['version']}/docs/index.md",
                "Changelog": f"{address}/blob/v{metadata['version']}/CHANGELOG.md",
                "Issues": f"{address}/issues",
            }


def linked(text: str, base: str | None) -> str:
    """A README whose links to files lead below `base`; None makes them plain text, without pictures."""

    def replaced(link: re.Match[str]) -> str:
        picture, name, target = link.groups()
        if base is None:
            return "" if picture else name
        return f"{picture}[{name}]({base}/{target}{'?raw=true' if picture else ''})"

    return _LINK.sub(replaced, text)
