"""Standard output and errors that outlive whatever reads them."""

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TextIO


class _OutlivedStream(io.FileIO):
    """A stream that a command outlives: what nobody can read is dropped, and a full disk is told of."""

    fault: str | None = None

    def write(self, data: Any, /) -> int:
        """Write, or drop what cannot be written."""
        try:
            return super().write(data) or 0
        except BrokenPipeError:
            # Whoever read it, `head` for instance, has seen enough.
            return len(data)
        except OSError as error:
            self.fault = error.strerror
            return len(data)


@dataclass
class Output:
    """What became of standard output: `fault` says why it could not be written, None where it could."""

    fault: str | None = None


@contextmanager
def lasting_output() -> Iterator[Output]:
    """Within the block nothing that is printed ends a command, however its output can be written or encoded.

    A character that the encoding of the output does not have becomes a question mark.
    """
    became, before = Output(), (sys.stdout, sys.stderr)
    out, errors = _lasting(sys.stdout), _lasting(sys.stderr)
    sys.stdout, sys.stderr = out[0] if out else before[0], errors[0] if errors else before[1]
    try:
        yield became
    finally:
        for stream, _ in filter(None, (out, errors)):
            stream.flush()
        sys.stdout, sys.stderr = before
        became.fault = out[1].fault if out else None


def _lasting(stream: TextIO | None) -> tuple[io.TextIOWrapper, _OutlivedStream] | None:
    """The same stream, which never fails; None where it is no file: closed, or what a test reads."""
    try:
        raw = _OutlivedStream(stream.fileno(), "wb", closefd=False)  # type: ignore[union-attr]  # then it raises
    except (AttributeError, OSError, ValueError):
        return None
    encoding = getattr(stream, "encoding", None)
    is_prompt = stream is sys.stderr or raw.isatty()
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, "replace", line_buffering=is_prompt), raw
