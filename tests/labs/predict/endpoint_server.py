"""An OpenAI-compatible server on loopback that does as told: answers, stalls, breaks off, sends garbage.

In this process as a context manager (`EndpointServer`), or in one of its own that outlives who asks it
(`served`), and writes what it does to a log.
"""

import json
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from email.utils import formatdate
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

Answers = Mapping[str, str | Mapping[str, str]]
"""A text that occurs in a prompt -> SQL; or -> {another text that occurs in it -> SQL}, "" being any."""


class Does(StrEnum):
    ANSWER = "answer"
    FENCED = "fenced"
    CHATTY = "chatty"
    LENGTH = "length"
    """An answer that was cut off: finish_reason length, half of the text."""
    STATUS = "status"
    """An error with `status`, `code`, `message`, `retry_after`."""
    STALL = "stall"
    """Nothing for `seconds`, then an answer."""
    STALL_WITHIN = "stall_within"
    """Half of an answer, nothing for `seconds`, then the rest."""
    TRICKLE = "trickle"
    """The body byte by byte, `seconds` between two."""
    TRICKLE_HEAD = "trickle_head"
    """The same with the headers."""
    BREAK = "break"
    """Closes the connection without a byte."""
    BREAK_WITHIN = "break_within"
    """Closes it in the middle of the body."""
    ENDLESS = "endless"
    """A body that does not end."""
    RAW = "raw"
    """Status 200 with `body`."""


@dataclass(frozen=True)
class Act:
    """What the server does with one request."""

    does: Does = Does.ANSWER
    text: str | None = None
    """Instead of what the table of answers has."""
    status: int = 500
    code: str | None = None
    message: str | None = None
    """{authorization} in it stands for the key that was sent."""
    retry_after: str | None = None
    """The header; `date+N` is an HTTP date N seconds from now."""
    seconds: float = 0.0
    """Before any answer; what a stall or a trickle lasts."""
    body: str = ""
    """Of RAW, in Latin-1: "\xff" is a byte that is no UTF-8."""
    content_type: str = "application/json"
    usage: bool = True


@dataclass(frozen=True)
class Rule:
    """Acts for prompts with a text in them: the first request with an idempotency key gets the first act, and
    so on; the last act is for all that follow."""

    acts: tuple[Act, ...]
    contains: str = ""


@dataclass(frozen=True)
class Recorded:
    """One request as it came; names of headers in lower case."""

    number: int
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    key: str | None
    prompt: str
    did: Does


@dataclass
class Plan:
    answers: Answers = field(default_factory=dict)
    script: Sequence[Act] = ()
    """One act per request, in the order in which they come."""
    rules: Sequence[Rule] = ()
    """After the script: the first that fits."""
    delay: float = 0.0
    """Seconds before each answer that no act asks for."""
    api_key: str | None = None
    """The only key that is let in."""
    models: Sequence[str] | None = None

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> Self:
        """From JSON."""
        rules = [
            Rule(tuple(map(_act, rule["acts"])), rule.get("contains", "")) for rule in config.get("rules", ())
        ]
        return cls(**{**config, "script": [_act(act) for act in config.get("script", ())], "rules": rules})


def _act(act: Mapping[str, Any]) -> Act:
    return Act(**{**act, "does": Does(act.get("does", "answer"))})


class EndpointServer:
    """Serves on a free port from entering to leaving, as a `Plan` says; `requests` are those that came."""

    def __init__(self, answers: Answers | None = None, *, log: Path | None = None, **plan: Any) -> None:
        self.plan = Plan(answers or {}, **plan)
        self.requests: list[Recorded] = []
        self.most_at_once = 0
        self.stopping = threading.Event()
        self._log = log
        self._lock = threading.Lock()
        self._seen: Counter[tuple[int, str]] = Counter()
        self._sockets: set[socket.socket] = set()
        self._open = 0
        self._http = _Server(("127.0.0.1", 0), _Handler)
        self._http.endpoint = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self._http.shutdown()
        self._thread.join()
        with self._lock:
            for connection in self._sockets:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        self._http.server_close()  # waits for the threads of requests

    def connected(self, connection: socket.socket, *, gone: bool = False) -> None:
        with self._lock:
            (self._sockets.discard if gone else self._sockets.add)(connection)

    def came(self, path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> tuple[Recorded, Act]:
        with self._lock:
            key = headers.get("idempotency-key")
            prompt = "\n".join(_texts(body))
            act = self._act(headers, body, prompt, key)
            number = len(self.requests)
            recorded = Recorded(number, path, headers, body, key, prompt, act.does)
            self.requests.append(recorded)
            self._open += 1
            self.most_at_once = max(self.most_at_once, self._open)
            facts = {name: value for name, value in asdict(recorded).items() if name != "prompt"}
            self._write({"event": "asked", **facts})
            return recorded, act

    def went(self, recorded: Recorded, *, whole: bool) -> None:
        with self._lock:
            self._open -= 1
            if whole:
                self._write({"event": "answered", "number": recorded.number, "key": recorded.key})

    def answer(self, body: Mapping[str, Any]) -> str:
        """The SQL for a prompt: of the longest text that occurs in the last message, or else in any."""
        texts = _texts(body)
        for text in (texts[-1] if texts else "", "\n".join(texts)):
            fitting = sorted((known for known in self.plan.answers if known in text), key=len)
            if fitting:
                sql = self.plan.answers[fitting[-1]]
                if isinstance(sql, str):
                    return sql
                return next(
                    (each for needle, each in sql.items() if needle.lower() in "\n".join(texts).lower()), ""
                )
        return "SELECT 1"

    def _act(self, headers: Mapping[str, str], body: Mapping[str, Any], prompt: str, key: str | None) -> Act:
        given = headers.get("api-key") or headers.get("authorization", "").removeprefix("Bearer ")
        if self.plan.api_key is not None and given != self.plan.api_key:
            message = "Incorrect API key provided: {authorization}. See the page on keys."
            return Act(Does.STATUS, status=401, code="invalid_api_key", message=message)
        if self.plan.models is not None and body.get("model") not in self.plan.models:
            message = f"The model `{body.get('model')}` does not exist"
            return Act(Does.STATUS, status=404, code="model_not_found", message=message)
        if len(self.requests) < len(self.plan.script):
            return self.plan.script[len(self.requests)]
        for index, rule in enumerate(self.plan.rules):
            if rule.contains in prompt:
                turn = self._seen[index, key or prompt]
                self._seen[index, key or prompt] += 1
                return rule.acts[min(turn, len(rule.acts) - 1)]
        return Act(seconds=self.plan.delay)

    def _write(self, line: Mapping[str, Any]) -> None:
        if self._log is not None:
            with self._log.open("a") as file:
                file.write(json.dumps(line) + "\n")


class _Server(ThreadingHTTPServer):
    endpoint: EndpointServer
    daemon_threads = False
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no error."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.server.endpoint.connected(self.connection)

    def finish(self) -> None:
        self.server.endpoint.connected(self.connection, gone=True)
        with suppress(OSError):
            super().finish()

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        endpoint = self.server.endpoint
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        headers = {name.lower(): value for name, value in self.headers.items()}
        recorded, act = endpoint.came(self.path, headers, body)
        whole = False
        try:
            whole = self._do(act, body)
        finally:
            endpoint.went(recorded, whole=whole)

    def _do(self, act: Act, body: Mapping[str, Any]) -> bool:
        path = self.path.partition("?")[0]
        if not path.endswith(("/chat/completions", "/responses")):
            return self._send(404, _error(f"Invalid URL (POST {path})", None))
        if act.does not in {Does.TRICKLE, Does.TRICKLE_HEAD, Does.STALL_WITHIN} and self._stopped(
            act.seconds
        ):
            return False
        if act.does is Does.STATUS:
            key = self.headers.get("api-key") or self.headers.get("Authorization") or ""
            message = (act.message or "told to fail").replace("{authorization}", key.removeprefix("Bearer "))
            return self._send(act.status, _error(message, act.code), act)
        if act.does is Does.BREAK:
            return self._broken()
        content = act.body.encode("latin-1") if act.does is Does.RAW else self._answer(act, body)
        if act.does is Does.ENDLESS:
            return self._endless()
        return self._send(200, content, act)

    def _answer(self, act: Act, body: Mapping[str, Any]) -> bytes:
        sql = act.text if act.text is not None else self.server.endpoint.answer(body)
        text = {
            Does.FENCED: f"```sql\n{sql}\n```",
            Does.CHATTY: f"Sure! This is the query:\n\n```sql\n{sql}\n```\n\nIt answers the question.",
            Does.LENGTH: sql[: len(sql) // 2],
        }.get(act.does, sql)
        cut = act.does is Does.LENGTH
        prompt, completion = len("".join(_texts(body))) // 4, len(text) // 4
        if self.path.partition("?")[0].endswith("/responses"):
            answer = _responses(body, text, cut=cut)
            names = ("input_tokens", "output_tokens")
        else:
            answer = _chat(body, text, cut=cut)
            names = ("prompt_tokens", "completion_tokens")
        if act.usage:
            answer["usage"] = {names[0]: prompt, names[1]: completion, "total_tokens": prompt + completion}
        return json.dumps(answer).encode()

    def _send(self, status: int, content: bytes, act: Act | None = None) -> bool:
        act = act or Act()
        lines = [
            f"HTTP/1.1 {status} Told",
            f"Content-Type: {act.content_type}",
            f"Content-Length: {len(content)}",
        ]
        if act.retry_after is not None:
            lines.append(f"Retry-After: {_retry_after(act.retry_after)}")
        head = ("\r\n".join(lines) + "\r\n\r\n").encode()
        half = len(content) // 2
        if act.does is Does.TRICKLE_HEAD:
            return self._trickled(head + content, act.seconds)
        self.wfile.write(head)
        if act.does is Does.TRICKLE:
            return self._trickled(content, act.seconds)
        if act.does in {Does.STALL_WITHIN, Does.BREAK_WITHIN}:
            self.wfile.write(content[:half])
            if act.does is Does.BREAK_WITHIN:
                return self._broken()
            if self._stopped(act.seconds):
                return False
            content = content[half:]
        self.wfile.write(content)
        return True

    def _trickled(self, content: bytes, seconds: float) -> bool:
        for position in range(len(content)):
            if self._stopped(seconds):
                return False
            self.wfile.write(content[position : position + 1])
        return True

    def _endless(self) -> bool:
        self.wfile.write(b"HTTP/1.1 200 Told\r\nContent-Type: application/json\r\n\r\n")
        while not self.server.endpoint.stopping.is_set():
            self.wfile.write(b" " * 65536)
        return self._broken()

    def _broken(self) -> bool:
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)
        return False

    def _stopped(self, seconds: float) -> bool:
        if not self.server.endpoint.stopping.wait(seconds):
            return False
        self.close_connection = True
        return True


def _texts(body: Mapping[str, Any]) -> list[str]:
    messages = body.get("messages", body.get("input", []))
    return [str(message.get("content")) for message in messages if isinstance(message, dict)]


def _chat(body: Mapping[str, Any], text: str, *, cut: bool) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "length" if cut else "stop"}
    return {
        "id": "c-1",
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model"),
        "choices": [choice],
    }


def _responses(body: Mapping[str, Any], text: str, *, cut: bool) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    message = {"type": "message", "id": "m-1", "role": "assistant", "status": "completed", "content": [part]}
    return {
        "id": "r-1",
        "object": "response",
        "created_at": 0,
        "model": body.get("model"),
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "output": [{"type": "reasoning", "id": "t-1", "summary": []}, message],
    }


def _error(message: str, code: str | None) -> bytes:
    return json.dumps({"error": {"message": message, "type": code, "param": None, "code": code}}).encode()


def _retry_after(value: str) -> str:
    if not value.startswith("date+"):
        return value
    return formatdate(time.time() + float(value.removeprefix("date+")), usegmt=True)


@contextmanager
def served(log: Path, **config: Any) -> Iterator[str]:
    """A server in a process of its own: its base URL. `config` is as of `EndpointServer`, in JSON values."""
    command = [sys.executable, "-m", "tests.labs.predict.endpoint_server", str(log), json.dumps(config)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, start_new_session=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().decode().strip()
        finally:
            process.terminate()


def _main(log: Path, config: Mapping[str, Any]) -> None:
    server = EndpointServer(log=log)
    server.plan = Plan.of(config)
    log.touch()
    with server:
        print(server.base_url, flush=True)  # noqa: T201
        sys.stdin.read()  # until nobody is there any more


if __name__ == "__main__":
    _main(Path(sys.argv[1]), json.loads(sys.argv[2]))
