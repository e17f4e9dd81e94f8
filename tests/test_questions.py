"""Grading: every kind of question, and the diagnosis of a likely mistake."""

from __future__ import annotations

from typing import Any

import pytest

from lib.questions import LETTERS, Concept, Mistake, Question, counts_as_right, grade


def question(kind: str, mistake: Any = None, **fields: Any) -> Question:
    mistakes = () if mistake is None else (Mistake(mistake, "You guessed.", "notebook 02"),)
    given = {"prompt": "What is it?", "explanation": "So it is.", "hints": ("Think.", "Think again."), **fields}
    return Question("02-q", Concept("softmax", "Softmax", "02", "3. Normalise"), kind, **given, mistakes=mistakes)


NUMBER = question("number", 0.6, answer=0.4, tolerance=0.001)
SINGLE = question("single", 1, options=("yes", "no"), answer=0)
ORDER = question("order", [1, 0, 2], options=("one", "two", "three"))
MATCH = question("match", {0: 1, 1: 0}, pairs=(("a", "A"), ("b", "B"), ("c", "C")))


def test_a_number_with_its_tolerance() -> None:
    assert [grade(NUMBER, text).correct for text in ("2/5", "०.४", ".4005", "0.402")] == [True, True, True, False]
    assert grade(NUMBER, "0.6").diagnosis == "You guessed." and grade(NUMBER, "0.6").again == "notebook 02"
    other = grade(NUMBER, "0.9")  # no mistake fits: the place of the concept
    assert (other.diagnosis, other.again) == ("", "notebook 02, section 3. Normalise")


@pytest.mark.parametrize(
    ("text", "reason"),
    [("", "Write"), ("  ", "Write"), ("\n", "Write"), ("nan", "not a number"), ("1/0", "zero"), (None, "Choose")],
)
def test_what_cannot_be_read_is_not_counted(text: str | None, reason: str) -> None:
    outcome = grade(NUMBER, text)
    assert (outcome.correct, outcome.counted) == (None, False) and reason in outcome.message


def test_a_vector_and_a_matrix() -> None:
    vector = question("vector", [0, 1], answer=[1, 0])
    assert grade(vector, "[1, 0]").correct is grade(vector, "1 0").correct is True
    assert grade(vector, "0 1").diagnosis == "You guessed." and "gave 3 numbers" in grade(vector, "1 0 0").message
    matrix = question("matrix", [[1, 3], [2, 4]], answer=[[1, 2], [3, 4]])
    assert grade(matrix, "1 2; 3 4").correct is True and grade(matrix, "1 3\n2 4").diagnosis == "You guessed."
    assert not (half := grade(matrix, "1 2")).counted and "2 rows of 2 numbers" in half.message


def test_per_cent_where_the_question_speaks_of_it() -> None:
    assert grade(question("number", prompt="How many per cent?", answer=40), "40 %").correct is True
    assert grade(NUMBER, "40 %").correct is True and grade(NUMBER, "0.4 %").correct is False


def test_single_and_letters() -> None:
    assert [grade(SINGLE, raw).correct for raw in (0, "a", "A)", 1, "b")] == [True, True, True, False, False]
    assert grade(SINGLE, 1).diagnosis == "You guessed." and grade(SINGLE, "a) the first one").correct is True
    for raw in (None, "", "c", "ab", "yes", "7"):
        assert not grade(SINGLE, raw).counted
    assert "not counted" in grade(SINGLE, None).message


def test_multiple_in_any_order() -> None:
    asked = question("multiple", [0], options=("x", "y", "z"), answer=[0, 2])
    assert grade(asked, [2, 0]).correct is grade(asked, "c a").correct is grade(asked, "a,c").correct is True
    assert grade(asked, [0]).diagnosis == "You guessed."
    assert not grade(asked, []).counted


def test_order_is_shown_shuffled_and_stable() -> None:
    assert ORDER.shown != [0, 1, 2] and sorted(ORDER.shown) == [0, 1, 2]
    assert ORDER.shown == question("order", options=("one", "two", "three")).shown
    right = " ".join(LETTERS[ORDER.shown.index(item)] for item in range(3))
    assert grade(ORDER, right).correct is grade(ORDER, [0, 1, 2]).correct is True
    assert grade(ORDER, [1, 0, 2]).diagnosis == "You guessed."
    assert not grade(ORDER, [0, 0, 2]).counted and not grade(ORDER, [0, None, 2]).counted


def test_match() -> None:
    letter = {item: LETTERS[place] for place, item in enumerate(MATCH.shown)}
    assert grade(MATCH, [0, 1, 2]).correct is True
    assert grade(MATCH, f"1{letter[0]} 2{letter[1]} 3{letter[2]}").correct is True
    assert grade(MATCH, [1, 0, 2]).diagnosis == "You guessed."
    assert not grade(MATCH, [0, 0, 1]).counted


def test_completion_ignores_spaces_quotes_and_case() -> None:
    asked = question("completion", "dim=0", answer=["dim=-1", "-1"])
    for text in ("dim = -1", "“dim=−1”", "DIM=-1", "'-1'", "`dim=-1`", "-१"):
        assert grade(asked, text).correct is True, text
    assert grade(asked, "dim = 0").diagnosis == "You guessed."
    strict = question("completion", "w_h", answer=["W_h"], case_sensitive=True)
    assert grade(strict, "W_h").correct is True and grade(strict, "w_h").correct is False


def test_predict_is_computed_when_it_is_answered() -> None:
    free = question("predict", [1, 1], compute="print('noise')\nimport numpy\nanswer = numpy.ones(2) / 2")
    assert grade(free, "0.5 1/2").correct is True and grade(free, "1, 1").diagnosis == "You guessed."
    choice = question("predict", 0, options=("up", "down"), compute="answer = 1")
    assert grade(choice, 1).correct is True and grade(choice, 0).diagnosis == "You guessed."
    broken = question("predict", 0, options=("up", "down"), compute="answer = 1 / 0")
    with pytest.raises(ZeroDivisionError):
        grade(broken, 1)


def test_a_written_answer_is_for_the_learner_to_rate() -> None:
    asked = question("written", rubric=("It says so.",))
    outcome = grade(asked, "Because.")
    assert (outcome.correct, outcome.counted) == (None, True)
    assert not grade(asked, "  ").counted


def test_what_counts_as_right_in_the_form_of_the_bank() -> None:
    assert counts_as_right(NUMBER, 0.4005) and not counts_as_right(NUMBER, 0.6)
    assert counts_as_right(ORDER, [0, 1, 2]) and not counts_as_right(MATCH, {0: 1, 1: 0})
    assert not counts_as_right(question("predict", options=("up", "down"), compute="answer = 1"), 1)  # not known yet
