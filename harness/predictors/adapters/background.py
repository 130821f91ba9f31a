"""An event loop in a thread of its own: asks of many threads in one place where each can be broken off."""

import asyncio
import concurrent.futures
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from harness.predictors.adapters.slots import CLOSED
from harness.predictors.base import RequestFailed

Result = TypeVar("Result")


class Background:
    """Runs coroutines until it is closed."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._lock = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._loop.run_forever, name="endpoint", daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine and wait for it.

        Raises:
            RequestFailed: closed, before or while it ran.
        """
        with self._lock:
            if self._closed:
                coroutine.close()
                raise RequestFailed(CLOSED)
            future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            raise RequestFailed(CLOSED) from None
        finally:
            future.cancel()  # where waiting was broken off, as by Ctrl-C

    def close(self, last: Coroutine[Any, Any, None]) -> None:
        """Break off what runs, run a last coroutine, end the thread."""
        with self._lock:
            if self._closed:
                last.close()
                return
            self._closed = True
        asyncio.run_coroutine_threadsafe(_cancelled_others(), self._loop).result()
        asyncio.run_coroutine_threadsafe(last, self._loop).result()
        asyncio.run_coroutine_threadsafe(self._loop.shutdown_default_executor(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _cancelled_others() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
