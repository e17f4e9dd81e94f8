"""What a learner types, read generously: numbers in every usual spelling, and words without spaces and quotes."""

from __future__ import annotations

import math
import re
import unicodedata
from typing import Any

from lib.text import normalise

LONGEST = 20_000  # letters of an answer that are looked at
Reading = tuple[float, ...]  # what one number can mean: "1,234" is 1234, or 1.234 with a decimal comma
Ways = list[list[Reading]]  # the ways to cut a row into numbers: "1,0" is [1, 0], or [1.0]


class AnswerError(ValueError):
    """An answer that cannot be read, or none at all: it is not counted, and the message says what to do."""


def squeezed(text: str, case_sensitive: bool) -> str:
    """A word or a piece of code as it is compared: without spaces and quotes, in ASCII digits."""
    text = re.sub(r"[\s\"'`]", "", _ascii_digits(normalise(text, "en")))
    return text if case_sensitive else text.casefold()


def read_numbers(text: str, depth: int = 0, percent: bool = False) -> list[Ways]:
    """Read a number (depth 0), a vector (1) or a matrix (2); for each row all that it can mean.

    Points, decimal commas, thousands in either style, fractions, per cent, powers of ten and the digits of every
    script are read; brackets are free, rows stand in brackets, on lines of their own or behind semicolons.

    Args:
        percent: the question speaks of per cent, so that "40 %" is 40 as well as 0.4.

    Raises:
        AnswerError: it is not that; the message says why.
    """
    if len(text) > LONGEST:
        raise AnswerError(f"That is very long ({len(text):,} letters): give only numbers. This was not counted.")
    text = _plain(text)
    rows = re.findall(r"[\[({]([^\[\](){}]+)[\])}]", text) if depth == 2 else []
    if len(rows) < 2:
        text = re.sub(r"[\[\](){}]", " ", text)
        rows = [row for row in re.split(r"[;\n]", text) if row.strip()] if depth == 2 else [text]
    if depth == 0 and re.fullmatch(r"[+-]?\d{1,3}( \d{3})+([.,]\d+)?", text.strip()):
        rows = [text.replace(" ", "")]
    read = [_ways(row, percent) for row in rows]
    if not read or (depth == 0 and not any(len(way) == 1 for way in read[0])):
        raise AnswerError("One number is expected, for example 0.25 or 1/4: this was not counted.")
    return [[way for way in ways if len(way) == 1] for ways in read] if depth == 0 else read


def _ascii_digits(text: str) -> str:
    return "".join(str(unicodedata.decimal(letter, letter)) for letter in text)


def _plain(text: str) -> str:
    """Every digit, minus, slash and per cent sign in its plain form; a name before "=" is dropped."""
    text = "\n".join(normalise(line, "en") for line in text.splitlines())
    text = _ascii_digits(text).translate(str.maketrans("⁄∕÷，；٫％", "///,;.%")).lower()
    text = re.sub(r"^[^=≈]*[=≈]|(np\.|torch\.)?(array|tensor)(?=[(\[])", "", text)
    text = re.sub(r"^(about|around|approximately|roughly|ca\.?|~) ?", "", text)
    text = re.sub(r"(?<=\d) [a-z]+\.?$", "", text)  # a unit: 245 bits
    text = re.sub(r"(\.\d+)\.$", r"\1", text)  # the full stop of a sentence
    text = re.sub(r"(?<=[\d.]) ?[×·*x] ?10 ?(?:\^|\*\*) ?(?=[+-]?\d)", "e", text)
    text = re.sub(r" ?/ ?", "/", re.sub(r" %", "%", text))
    return re.sub(r"([+-]) (?=[\d.,])", r"\1", text)


def _ways(row: str, percent: bool) -> Ways:
    """Cut with commas inside of numbers, and with every comma between two numbers."""
    ways, problem = [], None
    for separator in (r"(?:[;\s]|,(?=\s|$))+", r"[;,\s]+"):
        try:
            ways.append([_reading(word, percent) for word in re.split(separator, row) if word])
        except AnswerError as error:
            problem = error
    if not any(ways):
        raise problem or AnswerError("There is no number in it: this was not counted.")
    return ways


def _reading(word: str, percent: bool) -> Reading:
    top, slash, below = word.removesuffix("%").partition("/")
    tops, belows = _decimals(top), _decimals(below) if slash else [1.0]
    short = word if len(word) <= 30 else f"{word[:30]}…"
    if not tops or not belows:
        raise AnswerError(f"“{short}” is not a number that can be read here: this was not counted.")
    if 0.0 in belows:
        raise AnswerError(f"“{short}” divides by zero: this was not counted.")
    values = [a / b for a in tops for b in belows]
    if not all(map(math.isfinite, values)):
        raise AnswerError(f"“{short}” is too large: this was not counted.")
    if word.endswith("%"):
        values = [value / 100 for value in values] + (values if percent else [])
    return tuple(values)


def _decimals(text: str) -> list[float]:
    """The values that the digits, points and commas can stand for; none if it is not a number."""
    forms = []
    if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", text):
        forms.append(text)
    if re.fullmatch(r"[+-]?[1-9]\d{0,2}(,\d{2,3})*,\d{3}(\.\d*)?", text):  # 1,234.5, and 1,23,456 as in India
        forms.append(text.replace(",", ""))
    if re.fullmatch(r"[+-]?\d*,\d+(e[+-]?\d+)?", text):
        forms.append(text.replace(",", "."))
    if re.fullmatch(r"[+-]?\d{1,3}(\.\d{3})+,\d+", text):  # 1.234,5
        forms.append(text.replace(".", "").replace(",", "."))
    return [float(form) for form in forms]


def sizes_of(answer: Any) -> list[int]:
    """[] for a number, [4] for a vector of four, [2, 3] for a matrix of two rows."""
    return [len(answer), *sizes_of(answer[0])] if isinstance(answer, list | tuple) and answer else []


def rows_of(answer: Any) -> list[list[float]]:
    """A number, a vector or a matrix as rows of numbers."""
    depth = len(sizes_of(answer))
    return [[answer]] if depth == 0 else [answer] if depth == 1 else answer


def same_numbers(given: list[Ways], rows: list[list[float]], tolerance: float) -> bool:
    """Can what was given be read as these rows, each number within the tolerance?"""
    if len(given) == 1 < len(rows):  # a matrix in one row, read row by row
        rows = [[value for row in rows for value in row]]
    return len(given) == len(rows) and all(
        any(_close(way, row, tolerance) for way in ways) for ways, row in zip(given, rows, strict=True)
    )


def _close(way: list[Reading], row: list[float], tolerance: float) -> bool:
    return len(way) == len(row) and all(
        any(abs(value - right) <= tolerance + 1e-9 * max(1.0, abs(right)) for value in reading)
        for reading, right in zip(way, row, strict=True)
    )


def size_note(given: Any, answer: Any) -> str:
    """Says so where a vector or matrix has another size than the right one."""
    sizes = sizes_of(answer)
    if not sizes or not isinstance(given, list) or not isinstance(given[0], list):
        return ""
    if len(sizes) == 1 and sizes[0] not in (counts := [len(way) for way in given[0]]):
        return f" You gave {counts[-1]} numbers, the answer has {sizes[0]}."
    if len(sizes) == 2 and (len(given) != sizes[0] or sizes[1] not in [len(way) for way in given[0]]):
        return f" The answer has {sizes[0]} rows of {sizes[1]} numbers."
    return ""
