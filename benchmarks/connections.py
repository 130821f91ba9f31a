"""Callers that cost next to nothing: connections of one process, which send prepared requests.

A caller by an HTTP library takes more processor time for a request than the server does. On the cores of
the server, its latency is then that of the callers.
"""

import json
import multiprocessing
import select
import socket
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any
from urllib.parse import urlsplit

_HEAD = "POST /score HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n"
_END = b"\r\n\r\n"

Answered = Sequence[tuple[float, bytes]]
"""For each request in turn: seconds from sending it to the end of its response, and the response's body."""


def send(address: str, contents: Sequence[Any], connections: int) -> Answered:
    """Send a POST /score for each content, each connection one after the other, from a process of its own.

    Raises:
        AssertionError: a response is none of status 200.
    """
    place = urlsplit(address)
    bodies = [json.dumps(each).encode() for each in contents]
    requests = [_HEAD.format(place.netloc, len(each)).encode() + each for each in bodies]
    ours, its = multiprocessing.Pipe(duplex=False)
    context = multiprocessing.get_context("fork")
    process = context.Process(target=_send, args=(place.hostname, place.port, requests, connections, its))
    process.start()
    its.close()
    try:
        found: Answered = ours.recv()
    except EOFError:
        raise AssertionError("the process of the connections failed") from None
    finally:
        process.join()
    return found


def _send(host: str, port: int, requests: Sequence[bytes], connections: int, found: Connection) -> None:
    answered: list[tuple[float, bytes]] = [(0.0, b"")] * len(requests)
    poll, left = select.epoll(), iter(range(len(requests)))
    sockets: dict[int, socket.socket] = {}
    running: dict[int, tuple[int, float, bytes]] = {}
    """By connection: the request, when it was sent, and what has come."""

    def begin(number: int) -> None:
        place = next(left, None)
        if place is not None:
            running[number] = place, time.perf_counter(), b""
            sockets[number].sendall(requests[place])

    for _ in range(min(connections, len(requests))):
        connection = socket.create_connection((host, port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sockets[connection.fileno()] = connection
        poll.register(connection, select.EPOLLIN)
    for number in sockets:
        begin(number)
    while running:
        for number, _ in poll.poll():
            place, begun, came = running[number]
            part = sockets[number].recv(65_536)
            came += part
            assert part, "the server has closed a connection"
            assert came.startswith(b"HTTP/1.1 200"[: len(came)]), came
            head, end, body = came.partition(_END)
            if end and len(body) == int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]):
                answered[place] = time.perf_counter() - begun, body
                del running[number]
                begin(number)
            else:
                running[number] = place, begun, came
    for each in sockets.values():
        each.close()
    found.send(answered)
