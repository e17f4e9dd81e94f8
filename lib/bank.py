"""The question bank: one file a notebook in `data/questions`, read and checked as a whole.

The questions of notebook NN stand in `NN.toml`, the ideas they test in `concepts.toml`. A file with a mistake in it
is refused; the message names the file and the question.

`hi/NN.toml` has the texts of the same questions in Hindi, and nothing else: kinds, answers and tolerances have one
place, so two languages cannot disagree about what is right, and an answer counts in both.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lib.questions import LETTERS, Concept, Mistake, Question, counts_as_right

BANK = Path(__file__).resolve().parent.parent / "data" / "questions"
_NUMBERS = {"answer", "tolerance", "compute"}
# What a question of each kind must have beside the fields that all have.
KINDS = {
    "single": {"options", "answer"},
    "multiple": {"options", "answer"},
    "number": _NUMBERS,
    "vector": _NUMBERS,
    "matrix": _NUMBERS,
    "order": {"options"},
    "match": {"pairs"},
    "predict": {"answer", "compute"},
    "completion": {"answer"},
    "written": {"rubric"},
}
_TEXTS = {"id", "concept", "kind", "prompt", "explanation"}
# What a translation gives of a question, beside the diagnoses of its mistakes.
_TRANSLATED = ("prompt", "explanation", "model_answer", "hints", "options", "rubric", "pairs")


class QuestionError(ValueError):
    """A question file that cannot be used; the message names the file and the question."""


def load_questions(notebook: str | int | None = None, folder: str | Path = BANK) -> list[Question]:
    """All questions in the order of the files, or those of one notebook.

    Args:
        notebook: "02", or "hi/02" for the questions of notebook 02 in Hindi. One that is not translated yet stays
            as it is.

    Raises:
        QuestionError: a file is not as it should be.
        ValueError: there are no questions for that notebook.
    """
    concepts = load_concepts(folder)
    found: dict[str, Question] = {}
    for path in sorted(Path(folder).glob("[0-9][0-9].toml")):
        for entry in _read(path).get("question", []):
            question = _question(entry, path.name, concepts)
            if question.id in found:
                raise QuestionError(f"{path.name}: there are two questions with the id {question.id!r}")
            found[question.id] = question
    if notebook is None:
        return list(found.values())
    language, _, name = str(notebook).strip().rpartition("/")
    translation, name = Path(folder, language, f"{name.zfill(2)}.toml"), name.zfill(2)
    chosen = [question for question in found.values() if question.notebook == name]
    if language and not translation.is_file():
        raise ValueError(f"there is no translation {language}/{name}.toml of the questions of notebook {name}")
    if not chosen:
        known = ", ".join(sorted({question.notebook for question in found.values()})) or "none"
        raise ValueError(f"there are no questions for notebook {name!r}; there are some for: {known}")
    return _translated(chosen, translation) if language else chosen


def load_concepts(folder: str | Path = BANK) -> dict[str, Concept]:
    """The ideas that the questions test, by name."""
    path = Path(folder) / "concepts.toml"
    try:
        return {name: Concept(name, **entry) for name, entry in _read(path).items()}
    except TypeError as error:
        raise QuestionError(
            f"{path.name}: a concept has title, notebook and section, nothing else ({error})"
        ) from None


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:  # ValueError: not TOML, or not UTF-8
        raise QuestionError(f"{path.name} cannot be read: {error}") from error


def _translated(questions: Sequence[Question], path: Path) -> list[Question]:
    """The questions with the texts of a translation; one that it lacks stays as it is."""
    file, words = _read(path), _read(path.with_name("words.toml"))
    entries = {entry.get("id"): entry for entry in file.get("question", [])}
    if unknown := set(entries) - {question.id for question in questions}:
        raise QuestionError(
            f"{path.name}: {unknown.pop()!r} is the id of no question in {questions[0].notebook}.toml"
        )
    done = []
    for question in questions:
        if (entry := entries.get(question.id)) is not None:
            name = f"{path.parent.name}/{path.name}, question {question.id}"
            try:
                question = replace(_with_texts(question, entry, file, name), words=words)
            except KeyError as error:
                raise QuestionError(f"{name}: {error} is missing under [concepts] or [again]") from None
        done.append(question)
    return done


def _with_texts(question: Question, entry: dict[str, Any], file: dict[str, Any], name: str) -> Question:
    """A question with the texts of its translation; KeyError where a concept or a place to look again has none."""
    shown = {key: getattr(question, key) for key in _TRANSLATED} | {"diagnoses": question.mistakes}
    for key, original in shown.items():
        given = entry.get(key, "" if isinstance(original, str) else [])
        if isinstance(given, str) != isinstance(original, str):
            raise QuestionError(f"{name}: {key} must be a text or a list of texts, as in the original")
        if bool(given) != bool(original) or (isinstance(given, list) and len(given) != len(original)):
            raise QuestionError(f"{name}: {key} does not have as many texts as in the original")
    if unknown := set(entry) - set(shown) - {"id"}:
        raise QuestionError(f"{name}: {', '.join(sorted(unknown))} is not a text of a question")
    texts = {key: entry.get(key, "") for key in ("prompt", "explanation", "model_answer")}
    lists = {key: tuple(entry.get(key, [])) for key in ("hints", "options", "rubric")}
    pairs = tuple((left, right) for left, right in entry.get("pairs", []))
    mistakes = tuple(
        replace(mistake, diagnosis=diagnosis, again=file["again"][mistake.again])
        for mistake, diagnosis in zip(question.mistakes, entry.get("diagnoses", []), strict=True)
    )
    where = file["again"].get(question.concept.place, "")
    concept = replace(question.concept, **file["concepts"][question.concept.name], where=where)
    return replace(question, **texts, **lists, pairs=pairs, mistakes=mistakes, concept=concept)


def _question(entry: dict[str, Any], file: str, concepts: dict[str, Concept]) -> Question:
    name = f"{file}, question {entry.get('id', 'without an id')}"
    if (problem := next(_problems(entry, file, concepts), None)) is not None:
        raise QuestionError(f"{name}: {problem}")
    lists = {key: tuple(entry[key]) for key in ("options", "hints", "rubric") if key in entry}
    pairs = tuple((left, right) for left, right in entry.get("pairs", []))
    one = entry["kind"] == "completion" and isinstance(entry["answer"], str)
    parts = {**entry, **lists, "pairs": pairs, "concept": concepts[entry["concept"]], "mistakes": ()}
    question = Question(**{**parts, "answer": [entry["answer"]] if one else entry.get("answer")})
    mistakes = tuple(_mistake(question, mistake, name) for mistake in entry.get("mistakes", []))
    question = Question(**{**parts, "answer": question.answer, "mistakes": mistakes})
    for mistake in mistakes:
        if counts_as_right(question, mistake.answer):
            raise QuestionError(f"{name}: the mistake {mistake.answer!r} counts as the right answer")
    return question


def _problems(entry: dict[str, Any], file: str, concepts: dict[str, Concept]) -> Iterator[str]:
    """What is wrong with an entry, most basic first; only the first is to be trusted."""
    for key in sorted(_TEXTS):
        if not isinstance(entry.get(key), str) or not entry[key].strip():
            yield f"{key} is missing or not a text"
    kind = entry["kind"]
    if kind not in KINDS:
        yield f"kind {kind!r} is none of {', '.join(KINDS)}"
    if not re.fullmatch(rf"{re.escape(file[:2])}(-[a-z0-9]+)+", entry["id"]):
        yield f"the id must begin with {file[:2]}- and consist of small letters, digits and hyphens"
    if entry["concept"] not in concepts:
        yield f"concept {entry['concept']!r} is not in concepts.toml"
    if missing := {"hints", *KINDS[kind], *(() if kind == "written" else ("mistakes",))} - set(entry):
        yield f"{', '.join(sorted(missing))} is missing for the kind {kind}"
    if unknown := set(entry) - set(Question.__dataclass_fields__):
        yield f"{', '.join(sorted(unknown))} is not a field of a question"
    for key in ("options", "hints", "rubric"):
        texts = entry.get(key, [])
        if not isinstance(texts, list) or not all(isinstance(text, str) and text.strip() for text in texts):
            yield f"{key} must be a list of texts"
        if len({" ".join(text.split()) for text in texts}) < len(texts):
            yield f"{key} has the same text twice"
    yield from _problems_of_answers(entry, kind)


def _problems_of_answers(entry: dict[str, Any], kind: str) -> Iterator[str]:
    options, pairs, mistakes = (entry.get(key, []) for key in ("options", "pairs", "mistakes"))
    if not 2 <= len(entry["hints"]) <= 3:
        yield f"there are {len(entry['hints'])} hints, expected 2 or 3"
    if "options" in entry and not 2 <= len(options) <= len(LETTERS):
        yield f"there are {len(options)} options, expected 2 to {len(LETTERS)}"
    if "pairs" in entry and (len(pairs) < 2 or not all(_texts(pair) and len(pair) == 2 for pair in pairs)):
        yield "pairs must be two or more lists of two texts"
    if len({left for left, _ in pairs}) < len(pairs) or len({right for _, right in pairs}) < len(pairs):
        yield "pairs has the same text twice on one side"
    if "answer" in entry and not _fits(entry["answer"], kind, len(options)):
        yield f"answer {entry['answer']!r} does not fit the kind {kind}"
    tolerance = entry.get("tolerance", 0)
    if not _number(tolerance) or tolerance < 0:
        yield "tolerance must be a number from 0 on"
    if kind != "written" and not mistakes:
        yield "mistakes is empty"
    for mistake in mistakes:
        if set(mistake) != {"answer", "diagnosis", "again"} or not _texts([mistake["diagnosis"], mistake["again"]]):
            yield "a mistake has answer, diagnosis and again, nothing else"
    if kind == "single" and {m["answer"] for m in mistakes} != set(range(len(options))) - {entry["answer"]}:
        yield "mistakes must have one entry for each wrong option"


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) and text.strip() for text in value)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _fits(answer: Any, kind: str, options: int) -> bool:
    """Does an answer have the form that its kind asks for?"""
    if kind == "single" or (kind == "predict" and options):
        return type(answer) is int and 0 <= answer < options
    if kind == "multiple":
        return isinstance(answer, list) and bool(answer) and all(_fits(one, "single", options) for one in answer)
    if kind == "completion":
        return bool(answer) and _texts([answer] if isinstance(answer, str) else answer)
    if kind == "predict":
        return any(_fits(answer, form, 0) for form in ("number", "vector", "matrix"))
    if kind == "matrix":
        rows = isinstance(answer, list) and bool(answer) and all(_fits(row, "vector", 0) for row in answer)
        return rows and len({len(row) for row in answer}) == 1
    if kind == "vector":
        return isinstance(answer, list) and bool(answer) and all(map(_number, answer))
    return kind == "number" and _number(answer)


def _mistake(question: Question, entry: dict[str, Any], name: str) -> Mistake:
    """A mistake with its answer as indices. For a match it may be some pairs only: all who chose those made it."""
    answer, kind = entry["answer"], question.kind
    try:
        if kind == "match":
            answer = _chosen_pairs(question, answer)
            fits = all(0 <= place < len(question.pairs) for pair in answer.items() for place in pair)
        elif kind == "order":
            answer = [_place(question.options, item) for item in answer]
            fits = sorted(answer) == list(range(len(question.options)))
        else:
            fits = kind == "written" or _fits(answer, kind, len(question.options))
    except (ValueError, TypeError, IndexError):
        fits = False
    if not fits:
        raise QuestionError(f"{name}: the mistake {answer!r} does not have the form of an answer")
    return Mistake(answer, entry["diagnosis"], entry["again"])


def _chosen_pairs(question: Question, answer: list[Any]) -> dict[int, int]:
    """From the right side (text or index) for each left one, or from [left, right] pairs."""
    lefts, rights = [left for left, _ in question.pairs], [right for _, right in question.pairs]
    pairs = answer if isinstance(answer[0], list) else list(zip(range(len(lefts)), answer, strict=True))
    return {_place(lefts, left): _place(rights, right) for left, right in pairs}


def _place(texts: Sequence[str], item: str | int) -> int:
    return item if type(item) is int else texts.index(item)
