"""Settings that are out of their range, refused in a sentence that names the one at fault."""

from __future__ import annotations

from collections.abc import Callable


def require(config: object, names: str, allowed: Callable[[float], bool], expected: str) -> None:
    """Raise a ValueError for the first of the fields `names` whose value is not allowed; None always is.

    nan is in no range: write `allowed` so that it is true of what may be.
    """
    for name in names.split():
        value = getattr(config, name)
        if value is not None and not allowed(value):
            raise ValueError(f"{name}={value!r}: give {expected}")
