"""Stopping between two steps: Ctrl-C must not tear a step apart."""

from __future__ import annotations

import signal
import threading
from collections.abc import Sequence
from types import FrameType
from typing import Any


class Stop:
    """Within this context a signal only leaves a note, `asked`; who runs the loop looks at it between two steps.

    A second Ctrl-C interrupts at once, as usual, unless `patient`: torchrun passes each Ctrl-C on a second time.
    Outside the main thread Python gives no signals to anyone, and nothing changes.
    """

    def __init__(self, signals: Sequence[int] = (signal.SIGINT,), patient: bool = False) -> None:
        self.signals, self.patient = tuple(signals), patient
        self.asked = 0  # the number of the signal that came, 0 for none
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Stop:
        self.asked = 0
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._note) for number in self.signals}
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.asked and number == signal.SIGINT and not self.patient:
            raise KeyboardInterrupt
        self.asked = number
