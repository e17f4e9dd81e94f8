"""One process at a time: a lock that is a file, and that the system gives back when its holder ends, however."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(path: Path, patience: float = 0.0) -> Iterator[None]:
    """Hold the lock `path`; it is made if it is not there, and stays.

    Raises:
        OSError: the file cannot be made.
        TimeoutError: another process has held it for `patience` seconds.
    """
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        end = time.monotonic() + patience
        while not _try_lock(lock):
            if time.monotonic() >= end:
                raise TimeoutError(f"another process has held {path} for {patience:.0f} s")
            time.sleep(0.01)
        yield
    finally:
        os.close(lock)


def _try_lock(lock: int) -> bool:
    """Take the lock if it is free. A file system that knows no locks counts as free."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(lock, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return True
    return True
