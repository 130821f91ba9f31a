"""A web server on loopback that answers as it is told, request by request."""

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    body: bytes = b""
    etag: str | None = '"one"'
    modified: str | None = None
    ranges: bool = True
    """Whether it sends the rest of a file when asked for that."""
    honest: bool = True
    """Whether it looks at the condition that the rest is asked for under."""
    cut: int | None = None
    """After how many bytes of the body it goes away."""
    status: int = 200
    length: int | None = None
    """The length it announces, if not the true one; -1: none at all."""
    headers: tuple[tuple[str, str], ...] = ()


@dataclass
class Site:
    """What the server will answer, the last answer again and again, and what it was asked."""

    answers: Sequence[Answer]
    url: str = ""
    paths: Mapping[str, Answer] = field(default_factory=dict)
    """What it answers at these addresses, whenever it is asked."""
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    @property
    def ranges(self) -> list[str | None]:
        return [headers.get("Range") for _, headers in self.asked]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Any

    def do_GET(self) -> None:
        site: Site = self.server.site
        with self.server.lock:
            if self.path in site.paths:
                answer = site.paths[self.path]
            else:
                answer = site.answers[min(len(site.asked), len(site.answers) - 1)]
                site.asked.append((self.path, dict(self.headers.items())))
        body, status = answer.body, answer.status
        start = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        validator = answer.etag or answer.modified
        unchanged = not answer.honest or self.headers.get("If-Range") == validator
        headers = list(answer.headers)
        if start and answer.ranges and unchanged and status == 200:
            first = int(start[1])
            if first >= len(body):
                status, body = 416, b""
                headers.append(("Content-Range", f"bytes */{len(answer.body)}"))
            else:
                status, body = 206, body[first:]
                headers.append(("Content-Range", f"bytes {first}-{len(answer.body) - 1}/{len(answer.body)}"))
        self.send_response(status)
        if answer.etag:
            self.send_header("ETag", answer.etag)
        if answer.modified:
            self.send_header("Last-Modified", answer.modified)
        if answer.length != -1:
            self.send_header("Content-Length", str(len(body) if answer.length is None else answer.length))
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command == "GET":
            # Who asked may have gone away.
            with suppress(ConnectionError):
                self.wfile.write(body if answer.cut is None else body[: answer.cut])
        self.close_connection = True

    do_HEAD = do_GET  # noqa: N815 - the base class's name

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        pass


@contextmanager
def serving(*answers: Answer, paths: Mapping[str, Answer] | None = None) -> Iterator[Site]:
    """A server with these answers; its files' address is `site.url`."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        site = Site(answers, f"http://127.0.0.1:{server.server_address[1]}/package.zip", paths or {})
        server.site = site  # type: ignore[attr-defined]
        server.lock = threading.Lock()  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()
