"""Running a learner's function, which may loop, crash or print without end.

One long call into C can only be waited for. Off the main thread, and on Windows, code that goes on all the same
(asleep, or in a loop around a bare `except`) is left behind after a second; the report comes, and the code runs on.
"""

from __future__ import annotations

import _thread
import ctypes
import io
import queue
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from types import FrameType, TracebackType
from typing import Any

import torch

SECONDS = 5.0  # for all cases of one check together
PATIENCE = 1.0  # seconds until a thread that does not end is left behind
KEPT = 300  # characters of what the learner's code prints


class TooLong(SystemExit):
    """Raised inside code that runs for too long: passes `except Exception`, and ends a thread without a message."""


class Notepad(io.StringIO):
    """Takes what is printed: keeps the beginning and counts the rest."""

    written = 0

    def write(self, text: str) -> int:
        self.written += len(text)
        super().write(text[: max(0, KEPT - self.tell())])
        return len(text)

    def close(self) -> None:
        """A learner's `with sys.stdout:` is no reason to lose what is said after it."""


def guarded(work: Callable[[], Any], seconds: float, notes: Notepad) -> tuple[Any, BaseException | None]:
    """What `work` returns, and what it raises, whatever that is; its output goes to `notes`, warnings nowhere."""
    alarm = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    grad, dtype, state = torch.is_grad_enabled(), torch.get_default_dtype(), torch.get_rng_state()
    try:
        with warnings.catch_warnings(), redirect_stdout(notes), redirect_stderr(notes):
            warnings.simplefilter("ignore")
            return (_with_alarm if alarm else _in_a_thread)(work, seconds), None
    except BaseException as error:  # SystemExit and Ctrl-C as well: nothing here may end the notebook
        return None, error
    finally:  # nor change what its next cells do
        torch.set_grad_enabled(grad)
        torch.set_default_dtype(dtype)
        torch.set_rng_state(state)


def _with_alarm(work: Callable[[], Any], seconds: float) -> Any:
    """Unix, main thread: a timer interrupts, sleep included. It repeats, for loops with a bare `except`."""

    def ring(_: int, frame: FrameType | None) -> None:
        if frame is not None and frame.f_code not in (_with_alarm.__code__, ring.__code__):  # nor between these lines
            raise TooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.0001)
    try:
        return work()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _in_a_thread(work: Callable[[], Any], seconds: float) -> Any:
    """Windows, or another thread: the work gets a thread of its own, so that it can be left behind."""
    answers: queue.SimpleQueue = queue.SimpleQueue()

    def run() -> None:
        try:
            answers.put((work(), None))
        except BaseException as error:
            answers.put((None, error))

    thread = _thread.start_new_thread(run, ())
    try:
        value, error = answers.get(timeout=seconds)
    except queue.Empty:
        value, error = _end(thread, answers)
    except KeyboardInterrupt:
        _end(thread, answers)
        raise
    if error is not None:
        raise error
    return value


def _end(thread: int, answers: queue.SimpleQueue) -> tuple[Any, BaseException | None]:
    """Have Python raise in a thread, again and again; its answer, or a TooLong that says where it still is."""
    interrupt, end = ctypes.pythonapi.PyThreadState_SetAsyncExc, time.monotonic() + PATIENCE
    while time.monotonic() < end and interrupt(ctypes.c_ulong(thread), ctypes.py_object(TooLong)):
        try:
            return answers.get(timeout=0.001)
        except queue.Empty:
            pass
    trace, frame = None, sys._current_frames().get(thread)
    while frame:
        trace, frame = TracebackType(trace, frame, frame.f_lasti, frame.f_lineno), frame.f_back
    return None, TooLong().with_traceback(trace)
