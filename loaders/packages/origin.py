"""Which file on a server the bytes are of that have arrived so far: noted beside them."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

import requests


@dataclass(frozen=True)
class Origin:
    """A file as a server names it."""

    url: str
    validator: str | None
    """Strong ETag or date of the last change; None where the server names neither."""
    total: int | None

    @classmethod
    def of(cls, url: str, response: requests.Response) -> Self:
        """The file that an answer to a request for `url` brings."""
        tag = response.headers.get("ETag", "")
        validator = tag if tag.startswith('"') else response.headers.get("Last-Modified")
        length = response.headers.get("Content-Length", "")
        return cls(url, validator, int(length) if length.isdecimal() else None)

    @classmethod
    def read(cls, path: Path, url: str) -> Self | None:
        """What an earlier attempt at the same address left, if it can be continued."""
        try:
            found = cls(**json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None
        return found if found.url == url and found.validator else None

    def write(self, path: Path) -> None:
        """Note it for `read`."""
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")
