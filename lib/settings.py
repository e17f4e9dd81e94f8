"""Settings that are out of their range, refused in a sentence that names the one at fault."""

from __future__ import annotations

from collections.abc import Callable


def require(config: object, names: str, allowed: Callable[[float], bool], expected: str) -> None:
    """Raise a ValueError for the first of the fields `names` whose value is not allowed; None always is.

    nan is in no range: write `allowed` so that it is true of what may be.
    """
    for name in names.split():
        value = getattr(config, name)
        try:
            fits = value is None or (not isinstance(value, bool) and allowed(value))
        except TypeError:  # "60" where 60 belongs
            fits = False
        if not fits:
            raise ValueError(f"{name}={value!r}: give {expected}")


def whole(least: int, most: int | None = None) -> Callable[[float], bool]:
    """Is a value a whole number from `least` on, up to `most`?"""
    return lambda value: isinstance(value, int) and value >= least and (most is None or value <= most)
