"""The bank of questions: its files are refused where they are broken, and hold what the course promises."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from lib.bank import BANK, KINDS, QuestionError, load_concepts, load_questions
from lib.questions import Question, computed, grade

CONCEPTS = '[softmax]\ntitle = "Softmax"\nnotebook = "02"\nsection = "3. Normalise"\n'
HEAD = """
[[question]]
id = "02-{id}"
concept = "softmax"
prompt = "What is it?"
explanation = "So it is."
hints = ["Think.", "Think again."]
"""
MISTAKE = 'mistakes = [{{ answer = {}, diagnosis = "You guessed.", again = "notebook 02" }}]\n'
NUMBER = 'kind = "number"\nanswer = 0.4\ntolerance = 0.001\ncompute = "answer = 2 / 5"\n' + MISTAKE.format(0.6)
SINGLE = 'kind = "single"\noptions = ["yes", "no"]\nanswer = 0\n' + MISTAKE.format(1)


def bank(folder: Path, *bodies: str, head: str = HEAD) -> list[Question]:
    """The questions of a folder with these bodies in 02.toml."""
    folder.mkdir(exist_ok=True)
    (folder / "concepts.toml").write_text(CONCEPTS, encoding="utf-8")
    text = "".join(head.format(id=f"q{number}") + body for number, body in enumerate(bodies))
    (folder / "02.toml").write_text(text, encoding="utf-8")
    return load_questions(folder=folder)


@pytest.mark.parametrize("mistake", ["[1, 0, 2]", '["B", "A", "C"]', '[["a", "B"], ["b", "A"]]'])
def test_a_mistake_in_a_match_by_places_texts_or_some_pairs(tmp_path: Path, mistake: str) -> None:
    body = 'kind = "match"\npairs = [["a", "A"], ["b", "B"], ["c", "C"]]\n' + MISTAKE.format(mistake)
    assert grade(bank(tmp_path, body)[0], [1, 0, 2]).diagnosis == "You guessed."


def test_a_mistake_in_an_order_by_texts_and_a_completion_with_one_answer(tmp_path: Path) -> None:
    order = 'kind = "order"\noptions = ["one", "two"]\n' + MISTAKE.format('["two", "one"]')
    gap = 'kind = "completion"\nanswer = "dim=-1"\n' + MISTAKE.format('"dim=0"')
    first, second = bank(tmp_path, order, gap)
    assert grade(first, [1, 0]).diagnosis == "You guessed." and second.answer == ["dim=-1"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (SINGLE.replace('"no"', '"yes"'), "options has the same text twice"),
        (SINGLE.replace('"no"', '" yes "'), "options has the same text twice"),
        (SINGLE.replace("answer = 0", "answer = 2", 1), "answer 2 does not fit the kind single"),
        (SINGLE.replace("answer = 0", "answer = true", 1), "does not fit"),
        (SINGLE.replace('"no"]', '"no", "both"]'), "one entry for each wrong option"),
        (SINGLE.replace("single", "choice"), "kind 'choice' is none of single"),
        (NUMBER.replace("tolerance = 0.001\n", ""), "tolerance is missing for the kind number"),
        (NUMBER.replace("0.001", "-1"), "tolerance must be"),
        (NUMBER.replace("0.4", "nan"), "answer nan does not fit"),
        (NUMBER.replace("0.6", "0.4005"), "the mistake 0.4005 counts as the right answer"),
        (NUMBER.replace("0.6", "[1]"), "does not have the form of an answer"),
        (NUMBER + "unit = 3\n", "unit is not a field"),
        (NUMBER.split("mistakes")[0], "mistakes is missing"),
        (NUMBER.split("mistakes")[0] + "mistakes = []\n", "mistakes is empty"),
        ('kind = "match"\npairs = [["a", "A"], ["b", "A"]]\n' + MISTAKE.format("[1, 0]"), "twice on one side"),
        ('kind = "order"\noptions = ["a", "b"]\n' + MISTAKE.format("[0, 1]"), "counts as the right answer"),
        ('kind = "order"\noptions = ["a", "b"]\n' + MISTAKE.format('["c", "a"]'), "does not have the form"),
        ('kind = "written"\n', "rubric is missing"),
    ],
)
def test_a_broken_question_is_refused_with_its_file_and_id(tmp_path: Path, body: str, said: str) -> None:
    with pytest.raises(QuestionError, match=r"02\.toml, question 02-q0: ") as error:
        bank(tmp_path, body)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("02-{id}", "03-{id}", "must begin with 02-"),
        ("02-{id}", "02-same", "two questions with the id '02-same'"),
        ('"softmax"', '"hardmax"', "concept 'hardmax' is not in concepts.toml"),
        (', "Think again."', "", "1 hints, expected 2 or 3"),
        ('"So it is."', '" "', "explanation is missing"),
        ("[[question]]", "[[question", "02.toml cannot be read"),
    ],
)
def test_a_broken_head_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(QuestionError) as error:
        bank(tmp_path, SINGLE, NUMBER, head=HEAD.replace(old, new))
    assert said in str(error.value)


def test_files_with_a_byte_order_mark_or_in_another_encoding(tmp_path: Path) -> None:
    bank(tmp_path, SINGLE)
    text = (tmp_path / "02.toml").read_text(encoding="utf-8").replace("What", "क्या")
    (tmp_path / "02.toml").write_bytes(text.replace("\n", "\r\n").encode("utf-8-sig"))
    assert "क्या" in load_questions(folder=tmp_path)[0].prompt
    (tmp_path / "02.toml").write_bytes(text.encode("utf-16"))
    with pytest.raises(QuestionError, match=r"02\.toml cannot be read"):
        load_questions(folder=tmp_path)


def test_one_notebook(tmp_path: Path) -> None:
    bank(tmp_path, SINGLE)
    assert [len(load_questions(name, tmp_path)) for name in ("02", "2", 2)] == [1, 1, 1]
    with pytest.raises(ValueError, match="no questions for notebook '07'; there are some for: 02"):
        load_questions("07", tmp_path)


# ------------------------------------------------------------------------------------------- the course's bank

QUESTIONS = load_questions()
# Six questions, three thoughts and three exercises that the course is built around.
CORE = {"01-why-long", "02-tie", "03-names", "02-which-largest", "02-context-and-state", "02-still-recurrent"}
TASKS = {"02-friend", "02-first-step", "02-three-things", "02-program", "04-india", "05-mind-map"}


def test_the_bank_is_large_and_holds_its_core() -> None:
    found = {question.id: question for question in QUESTIONS}
    assert len(found) >= 90 and found.keys() >= CORE | TASKS
    assert {found[name].kind for name in TASKS} == {"written"}
    assert {question.kind for question in QUESTIONS} == set(KINDS)
    assert {question.notebook for question in QUESTIONS} == {f"{number:02}" for number in range(6)}


def test_every_concept_is_asked_for() -> None:
    asked = Counter(question.concept for question in QUESTIONS)
    assert set(asked) == set(load_concepts().values())


def typed(question: Question, answer: Any) -> Any:
    """An answer of the bank as a learner would give it."""
    if question.kind == "completion":
        return answer if isinstance(answer, str) else answer[0]
    if question.kind in ("number", "vector", "matrix") or (question.kind == "predict" and not question.options):
        return str(answer)
    return [answer.get(left) for left in range(len(question.pairs))] if isinstance(answer, dict) else answer


@pytest.mark.parametrize("question", QUESTIONS, ids=[question.id for question in QUESTIONS])
def test_each_mistake_gets_its_own_diagnosis(question: Question) -> None:
    if question.kind in ("order", "match"):
        assert grade(question, list(range(len(question.items)))).correct is True
    elif question.answer is not None and question.kind != "predict":
        assert grade(question, typed(question, question.answer)).correct is True
    for mistake in question.mistakes:
        raw = typed(question, mistake.answer)
        if not isinstance(raw, list) or None not in raw:  # of a match, some pairs may be all that a mistake names
            assert grade(question, raw).diagnosis == mistake.diagnosis


COMPUTED = [question for question in QUESTIONS if question.compute]


@pytest.mark.parametrize("question", COMPUTED, ids=[question.id for question in COMPUTED])
def test_the_bank_states_what_the_library_computes(question: Question) -> None:
    answer = computed(question)
    if question.kind != "predict":
        assert grade(question, str(answer)).correct is True
    elif question.options:
        assert type(answer) is int and 0 <= answer < len(question.options)
    if question.kind == "predict":
        assert grade(question, typed(question, question.answer)).correct is True


def test_every_concept_is_explained_in_the_notebook_it_names() -> None:
    for concept in load_concepts().values():
        source = next((BANK.parent.parent / "notebooks" / "source").glob(f"{concept.notebook}_*.py"))
        assert f"# ## {concept.section}" in source.read_text(encoding="utf-8").replace("*", ""), concept
