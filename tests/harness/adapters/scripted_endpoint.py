"""A chat endpoint on loopback whose answers are a function of the messages, whole or streamed."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Policy = Callable[[Sequence[Mapping[str, Any]]], Mapping[str, Any]]
"""Returns the assistant's next message."""

_USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def calls(number: int, **arguments: str) -> dict[str, Any]:
    """Return the message that calls `run_sql`."""
    function = {"name": "run_sql", "arguments": json.dumps(arguments)}
    call = {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


@contextmanager
def endpoint(policy: Policy) -> Iterator[str]:
    """Serve until the end of the block; yield the base URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            message = policy(sent["messages"])
            ended = "tool_calls" if message.get("tool_calls") else "stop"
            about = {"id": "chat", "created": 0, "model": sent["model"], "usage": _USAGE}
            choice = {"index": 0, "finish_reason": ended}
            if sent.get("stream"):
                chunk = {
                    **about,
                    "object": "chat.completion.chunk",
                    "choices": [{**choice, "delta": message}],
                }
                kind, body = "text/event-stream", f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n"
            else:
                whole = {**about, "object": "chat.completion", "choices": [{**choice, "message": message}]}
                kind, body = "application/json", json.dumps(whole)
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            del format, args

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
