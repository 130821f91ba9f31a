"""What the tests of the store put into it."""

import hashlib
import multiprocessing
import multiprocessing.context


def key(number: int) -> bytes:
    return hashlib.sha256(b"%d" % number).digest()


def value(number: int, size: int = 1000) -> bytes:
    return hashlib.shake_256(b"%d" % number).digest(size)


def entries(*numbers: int) -> dict[bytes, bytes]:
    return {key(number): value(number) for number in numbers}


def finish(processes: list[multiprocessing.context.SpawnProcess]) -> None:
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
