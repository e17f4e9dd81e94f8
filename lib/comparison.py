"""Comparing what a function gave with what it must give, and writing it in a line."""

from __future__ import annotations

import math
import numbers
import re
import reprlib
from typing import Any, NamedTuple


class Fault(NamedTuple):
    """In what a result differs from what it must be; `form` is type, length or shape, as against the numbers."""

    text: str
    form: bool = False


def difference(got: Any, expected: Any) -> Fault | None:
    """The first difference that matters, or None. Rounding does not matter."""
    try:
        return _differ(got, expected, "the result")
    except Exception as error:  # an object of the learner's may do anything
        what = f"the result, of type {type(got).__name__}, cannot be compared"
        return Fault(f"{what} ({type(error).__name__})", form=True)


def _differ(got: Any, expected: Any, what: str) -> Fault | None:
    names = (bool, numbers.Integral, numbers.Real, list | tuple)
    kind = next((kind for kind in names if isinstance(expected, kind)), type(expected))
    if not isinstance(got, kind) or isinstance(got, bool) != isinstance(expected, bool):
        return Fault(f"{what} has the type {type(got).__name__}; it must be {type(expected).__name__}", form=True)
    if is_array(expected) and hasattr(expected, "shape"):
        return _differ_in_array(got, expected, what)
    if isinstance(expected, list | tuple):
        if len(got) != len(expected):
            return Fault(f"{what} has {len(got)} parts; it must have {len(expected)}", form=True)
        parts = (_differ(*pair, f"part {i} of {what}") for i, pair in enumerate(zip(got, expected, strict=True)))
        return next(filter(None, parts), None)
    if isinstance(expected, float):
        same = math.isclose(got, expected, rel_tol=1e-6, abs_tol=1e-7) or (got != got and expected != expected)
    else:
        same = got == expected
    return None if same else Fault(f"{what} is {show(got)}, which is {_side(got, expected)}")


def _differ_in_array(got: Any, expected: Any, what: str) -> Fault | None:
    import numpy as np

    shape, right = tuple(got.shape), tuple(expected.shape)
    if shape != right:
        order = ": the axes are in another order" if sorted(shape) == sorted(right) else ""
        return Fault(f"{what} has the shape {shape}; it must be {right}{order}", form=True)
    if got.dtype != expected.dtype:
        return Fault(f"{what} holds {got.dtype}; it must hold {expected.dtype}", form=True)
    single = "float32" in str(expected.dtype)
    close = {"rtol": 1e-4 if single else 1e-6, "atol": 1e-5 if single else 1e-7, "equal_nan": True}
    a, b = (np.asarray(array.tolist(), dtype=float) for array in (got, expected))
    wrong = np.argwhere(~np.isclose(a, b, **close))
    if not len(wrong):
        return None
    if a.ndim > 1 and a.shape[-1] == a.shape[-2] and np.allclose(a.swapaxes(-1, -2), b, **close):
        return Fault(f"{what} is transposed: its rows and its columns have changed places")
    place = tuple(wrong[0].tolist())
    value = show(got[place].item())
    first = f"the first, at {list(place)}, is {value}, which is {_side(a[place], b[place])}"
    return Fault(f"{what} has {len(wrong)} wrong of {a.size} numbers; {first}")


def _side(got: Any, expected: Any) -> str:
    if not isinstance(got, numbers.Real) or isinstance(expected, bool) or got != got:
        return "not right"
    return "too large" if got > expected else "too small"


def show(value: Any) -> str:
    """A value in a line, the same on every machine."""
    if isinstance(value, list | tuple) and len(value) <= 12:
        inside = ", ".join(map(show, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    try:
        return _show_array(value) if is_array(value) and value.ndim else f"{value:.4g}"
    except Exception:  # not a number
        return reprlib.repr(value)


def _show_array(array: Any) -> str:
    import numpy as np

    shape = f"shape {tuple(array.shape)}"
    if math.prod(array.shape) > 200:
        return shape
    text = np.array2string(np.asarray(array.tolist()), precision=4, suppress_small=True, separator=", ")
    text = re.sub(r"\s+", " ", text).replace("[ ", "[").replace(" ]", "]")
    return f"{text}, {shape}"


def is_array(value: Any) -> bool:
    """Is it an array of NumPy or a tensor, a single number of theirs included?"""
    return hasattr(value, "dtype") and hasattr(value, "tolist")
