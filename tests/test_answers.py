"""What a learner types: numbers in every usual spelling, vectors, matrices and words."""

from __future__ import annotations

from typing import Any

import pytest

from lib.answers import AnswerError, read_numbers, rows_of, same_numbers, size_note, sizes_of, squeezed


def is_read_as(text: str, answer: Any, **how: bool) -> bool:
    given = read_numbers(text, depth=len(sizes_of(answer)), **how)
    return same_numbers(given, rows_of(answer), 0.001)


@pytest.mark.parametrize(
    "text",
    ["0.4", ".40", "2/5", "0,4", "40 %", "40%", "+0.4", "4e-1", "०.४", "०.४००", "0.4005", "[0.4]", "(2 / 5)"]
    + ["about 0.4", "~0.4", "0.400.", "0.4 bits", "approximately 0.4 seconds."]
    + ["α = 0.4", "4·10^-1", "4 × 10^−1", "≈ 0.4", " 0.4 \n", "٠٫٤", "40 ％", "\ufeff0.4", "२/५"],
)
def test_a_number_may_be_written_in_many_ways(text: str) -> None:
    assert is_read_as(text, 0.4)


@pytest.mark.parametrize("text", ["1,234.5", "1234.5", "1 234.5", "1\u202f234,5", "1.234,5", "2469/2", "१,२३४.५"])
def test_thousands(text: str) -> None:
    assert is_read_as(text, 1234.5)


def test_thousands_as_in_india_and_an_ambiguous_comma() -> None:
    assert is_read_as("1,23,456", 123456)
    assert read_numbers("1,234") == [[[(1234.0, 1.234)]]]
    assert read_numbers("0,399") == [[[(0.399,)]]]  # no thousands begin with 0


@pytest.mark.parametrize("text", ["-0.4", "−0.4", "–0.4", "- 0.4", "-2/5", "−.4"])
def test_every_minus_counts(text: str) -> None:
    assert is_read_as(text, -0.4) and not is_read_as(text, 0.4)


@pytest.mark.parametrize(
    ("text", "reason"),
    [("nan", "not a number"), ("inf", "not a number"), ("-Infinity", "not a number"), ("1e400", "too large")]
    + [("1/0", "zero"), ("0/0.0", "zero"), ("1/0,0", "zero"), ("1+2j", "not a number"), ("3j", "not a number")]
    + [("1_000", "not a number"), ("0x10", "not a number"), ("10²", "not a number"), ("🙂", "not a number")]
    + [("4" * 30_000, "very long"), ("9" * 19_000, "too large"), ("(" * 15_000, "number"), ("%", "not a number")]
    + [
        ("[]", "no number"),
        (",", "no number"),
        ("[", "no number"),
        ("0.4 0.5", "One number"),
        ("1 2 3", "One number"),
    ]
    + [("1--2", "not a number"), ("1/2/3", "not a number"), ("", "no number")],
)
def test_what_is_no_number_is_refused(text: str, reason: str) -> None:
    with pytest.raises(AnswerError, match=reason):
        read_numbers(text)


@pytest.mark.parametrize(
    "text", ["[1, 0]", "1 0", "1;0", "1, 0", "1,0", "(1 0)", "1.0\n0", "1; 0;", "[[1], [0]]", "१ ०"]
)
def test_a_vector_may_be_written_in_many_ways(text: str) -> None:
    assert is_read_as(text, [1, 0]) and not is_read_as(text, [0, 1])


@pytest.mark.parametrize(
    "text", ["0,3995 0,6005", "0,3995; 0,6005", "0.3995,0.6005", "0,3995, 0,6005", "array([0.3995, 0.6005])"]
)
def test_decimal_commas_and_commas_between(text: str) -> None:
    assert is_read_as(text, [0.3995, 0.6005])


def test_a_comma_is_read_as_the_size_asks() -> None:
    assert is_read_as("0,3995", 0.3995) and is_read_as("0,3995", [0, 3995])
    assert size_note(read_numbers("1 0", depth=1), [1, 0, 0]) == " You gave 2 numbers, the answer has 3."


@pytest.mark.parametrize(
    "text",
    ["[[1, 2], [3, 4]]", "1 2; 3 4", "1,2\n3,4", "[1 2; 3 4]", "1 2 3 4", "(1, 2), (3, 4)", "[1 2]\n[3 4]"]
    + ["१ २\r\n३ ४", "tensor([[1., 2.],\n        [3., 4.]])"],
)
def test_a_matrix_by_rows(text: str) -> None:
    answer = [[1, 2], [3, 4]]
    assert is_read_as(text, answer) and not is_read_as(text, [[1, 3], [2, 4]])
    assert size_note(read_numbers("1 2 3\n4 5 6", depth=2), answer) == " The answer has 2 rows of 2 numbers."


def test_per_cent_where_the_question_speaks_of_it() -> None:
    assert is_read_as("40 %", 40, percent=True) and is_read_as("40", 40, percent=True)
    assert is_read_as("40 %", 0.4) and not is_read_as("40 %", 40)


def test_words_and_code_without_spaces_and_quotes() -> None:
    assert squeezed(" “Dim = −१” ", case_sensitive=False) == "dim=-1"
    assert squeezed("`W_h`", case_sensitive=True) == "W_h"
