"""The Hindi edition of notebook 02 and of its questions says what the English one says, number for number."""

from __future__ import annotations

import ast
import dataclasses
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from nbformat import NotebookNode

import build
from lib.bank import BANK, QuestionError, load_questions
from lib.journal import RATINGS
from lib.question_text import EXPECTED, feedback_text, static_html
from lib.questions import Question, grade

STEM = "02_hand_traced_attention"
ENGLISH, HINDI = (build.convert(build.SOURCE / folder / f"{STEM}.py") for folder in ("", "hi"))
PAIRS = list(zip(load_questions("02"), load_questions("hi/02"), strict=True))
IDS = [question.id for question, _ in PAIRS]
DEVANAGARI = re.compile(r"[\u0900-\u097F]")
# What stays as it is in a Hindi text: code, formulas, English examples in italics, addresses.
AS_IT_IS = re.compile(
    r"```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$]*\$|(?<!\*)\*(?!\*)[^*]+\*(?!\*)|\[[^]]*\]\([^)]*\)", re.DOTALL
)
# English words that a Hindi sentence of this course may hold outside brackets: names and what is written in Latin.
LATIN = {
    *("Bahdanau", "Cho", "Bengio", "Luong", "Pham", "Manning", "Jain", "Wallace", "Wiegreffe", "Pinter", "et", "al"),
    *("Transformer", "NumPy", "PyTorch", "arXiv", "softmax", "tanh", "code", "boolean", "inf", "nan", "bit"),
    *("sequence", "to"),
}
# Words that another translator might have taken for a term of the glossary. ध्यान is attention and nothing else.
OTHER_WORDS = r"अटेंशन|वज़न|वजन|स्टेट|प्रसंग|ट्रेनिंग|मुखौटा|ध्यान (?:से|दीजिए|दें|रखिए|रखें)"


def numbers(text: str) -> Counter[str]:
    """Every number of a text, without the addresses of links; Devanagari digits count as well and so stand out."""
    return Counter(re.findall(r"\d+(?:[.,]\d+)*", re.sub(r"\]\([^)]*\)", "]", text)))


def cells(kind: str) -> Iterator[tuple[NotebookNode, NotebookNode]]:
    for english, hindi in zip(ENGLISH.cells, HINDI.cells, strict=True):
        if english.cell_type == kind:
            yield english, hindi


MARKDOWN, CODE = list(cells("markdown")), list(cells("code"))


def texts(question: Question) -> dict[str, str]:
    """What a reader sees of a question, by name."""
    shown = {key: getattr(question, key) for key in ("prompt", "explanation", "model_answer")}
    for key in ("hints", "options", "rubric"):
        shown |= {f"{key} {number}": text for number, text in enumerate(getattr(question, key))}
    for number, (left, right) in enumerate(question.pairs):
        shown |= {f"left {number}": left, f"right {number}": right}
    shown |= {f"diagnosis {number}": mistake.diagnosis for number, mistake in enumerate(question.mistakes)}
    return {key: text for key, text in shown.items() if text}


# ------------------------------------------------------------------------------------------------ the notebook


def test_the_cells_are_of_the_same_kind_with_the_same_tags() -> None:
    def shape(notebook: NotebookNode) -> list[tuple[str, list[str]]]:
        return [(cell.cell_type, cell.metadata.get("tags", [])) for cell in notebook.cells]

    assert shape(HINDI) == shape(ENGLISH)


@pytest.mark.parametrize(("english", "hindi"), MARKDOWN, ids=range(len(MARKDOWN)))
def test_the_prose_is_hindi_with_the_same_numbers_formulas_and_headings(
    english: NotebookNode, hindi: NotebookNode
) -> None:
    assert DEVANAGARI.search(hindi.source)
    assert numbers(hindi.source) == numbers(english.source)
    assert formulas(hindi.source) == formulas(english.source)
    for pattern in (r"^#+", r"^\d+\. ", r"^- ", r"^\|.*?\| *`?", r"\*\*(?:Predict\.?|अनुमान लगाइए)"):
        if pattern.startswith(r"^\|") and "शब्दावली" in hindi.source:
            continue  # the glossary is a table more
        count = [len(re.findall(pattern, cell.source, re.MULTILINE)) for cell in (english, hindi)]
        assert count[0] == count[1], pattern
    assert not stray_english(hindi.source)


def formulas(text: str) -> Counter[str]:
    """The formulas, in whatever order; $\\exp$ alone is a word, which Hindi needs more often."""
    return Counter(re.findall(r"\$\$.*?\$\$|\$[^$]+\$", text.replace(r"$\exp$", ""), re.DOTALL))


def stray_english(text: str) -> list[str]:
    """Latin words outside code, formulas, italics and brackets that are no names."""
    plain = re.sub(r"\([^()]*\)", " ", AS_IT_IS.sub(" ", text))
    if "| English |" in text:  # the second column of the glossary
        plain = re.sub(r"^(\|[^|]*\|)[^|]*\|", r"\1", plain, flags=re.MULTILINE)
    return [word for word in re.findall(r"[A-Za-z_]{2,}", plain) if word not in LATIN]


def skeleton(source: str) -> tuple[str, list[str]]:
    """The syntax tree of a cell with every text taken out, and the texts in their order."""
    found: list[str] = []

    class Emptied(ast.NodeTransformer):
        def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
            text = "".join(part.value for part in node.values if isinstance(part, ast.Constant))
            found.append(text)
            values = [part for part in node.values if not isinstance(part, ast.Constant)]
            for value in values:
                self.visit(value.value)
            return ast.JoinedStr(values)

        def visit_Constant(self, node: ast.Constant) -> ast.AST:
            if not isinstance(node.value, str):
                return node
            found.append(node.value)
            return ast.Constant("")

    return ast.dump(Emptied().visit(ast.parse(source))), found


@pytest.mark.parametrize(("english", "hindi"), CODE, ids=range(len(CODE)))
def test_the_code_is_the_same_but_for_texts_that_are_now_hindi(english: NotebookNode, hindi: NotebookNode) -> None:
    (tree, before), (tree_hindi, after) = skeleton(english.source), skeleton(hindi.source)
    assert tree_hindi == tree and len(before) == len(after)
    for old, new in zip(before, after, strict=True):
        assert old == new or DEVANAGARI.search(new) or (old, new) == ("02", "hi/02")
        assert numbers(old) == numbers(new) or new == "hi/02"


@pytest.mark.parametrize(
    ("cell", "other"),
    [
        ("x = 1", "x = 2"),
        ("print('a', x)", "print('a', y)"),
        ("print(f'{x:.2f} of it')", "print(f'{x:.3f} उसका')"),
        ("print(f'{x} and {y}')", "print(f'{y} और {x}')"),
        ("f('a')", "f('a', 'b')"),
    ],
)
def test_another_code_is_seen(cell: str, other: str) -> None:
    assert skeleton(cell)[0] != skeleton(other)[0]
    assert skeleton("f('one', x)  # why")[0] == skeleton("f('एक', x)  # क्यों")[0]


def test_every_cell_that_is_compared_prints_the_numbers_of_the_english_one() -> None:
    import nbformat

    saved = [nbformat.read(build.HERE / folder / f"{STEM}.ipynb", as_version=4) for folder in ("", "hi")]
    for english, hindi in zip(*(notebook.cells for notebook in saved), strict=True):
        if english.cell_type == "code" and "recall" not in english.source:
            printed = ["".join(output.get("text", "") for output in cell.outputs) for cell in (english, hindi)]
            assert numbers(printed[0]) == numbers(printed[1])


# ----------------------------------------------------------------------------------------------- the questions


@pytest.mark.parametrize(("english", "hindi"), PAIRS, ids=IDS)
def test_a_question_is_translated_whole(english: Question, hindi: Question) -> None:
    before, after = texts(english), texts(hindi)
    assert before.keys() == after.keys()
    for key, text in after.items():
        assert numbers(text) == numbers(before[key]), key
        assert formulas(text) == formulas(before[key]), key
        assert text == before[key] or not stray_english(text), key
        if key.split()[0] in ("prompt", "explanation", "model_answer", "hints", "rubric", "diagnosis"):
            assert DEVANAGARI.search(text), key
        else:
            # An option that is a formula, a number, an output or English itself stays as it is.
            assert DEVANAGARI.search(text) or text == before[key], key
    for mistake in hindi.mistakes:
        assert DEVANAGARI.search(mistake.again)
    lists = (hindi.options, hindi.hints, hindi.rubric, [left for left, _ in hindi.pairs])
    assert all(len(set(found)) == len(found) for found in lists)


@pytest.mark.parametrize(("english", "hindi"), PAIRS, ids=IDS)
def test_a_question_has_the_same_answers_in_both_languages(english: Question, hindi: Question) -> None:
    same = ("id", "kind", "answer", "tolerance", "compute", "case_sensitive", "notebook", "form", "shown")
    assert all(getattr(english, key) == getattr(hindi, key) for key in same)
    assert hindi.concept.name == english.concept.name
    percent = r"%|per ?cent"  # a prompt with it lets percentages be typed
    assert bool(re.search(percent, english.prompt)) == bool(re.search(percent, hindi.prompt))
    for mistake, translated in zip(english.mistakes, hindi.mistakes, strict=True):
        assert mistake.answer == translated.answer
        if hindi.form in ("single", "multiple", "order"):
            assert grade(hindi, mistake.answer).diagnosis == translated.diagnosis


def test_what_to_look_at_again_is_a_heading_of_the_hindi_notebook() -> None:
    prose = "\n".join(hindi.source for _, hindi in MARKDOWN)
    headings = set(re.findall(r"^#+ (.+)$", prose, re.MULTILINE))
    for english, hindi in PAIRS:
        assert hindi.concept.section in headings
        for mistake, translated in zip(english.mistakes, hindi.mistakes, strict=True):
            place = translated.again.removeprefix("नोटबुक 02, ").removeprefix("अनुभाग ")
            assert place in headings and numbers(mistake.again) == numbers(translated.again)


# ------------------------------------------------------------------------------------------------ the glossary

# The words of the glossary, English to Hindi: "| एनकोडर, डिकोडर | encoder, decoder | …" has two pairs.
GLOSSARY = {
    english: re.sub(r" \(.*\)", "", hindi)
    for row in re.findall(r"^\| ([^|]+?) \| ([a-z, ]+?) \|", HINDI.cells[0].source, re.MULTILINE)
    for hindi, english in zip(*(column.split(", ") for column in row), strict=True)
}
# Hindi bends its words: what of a term stands in all its forms.
STEMS = {"बराबरी": "बराबर", "प्रशिक्षण": "प्रशिक्ष"}


def both() -> Iterator[tuple[str, str]]:
    """Every text in English and in Hindi, without code and formulas."""
    pairs = [(english.source, hindi.source) for english, hindi in MARKDOWN]
    for english, hindi in PAIRS:
        before, after = texts(english), texts(hindi)
        pairs += [(before[key], after[key]) for key in before]
    for english, hindi in pairs:
        yield tuple(re.sub(r"```.*?```|`[^`]*`|\$[^$]*\$", " ", text, flags=re.DOTALL) for text in (english, hindi))


def test_the_glossary_has_the_terms_that_every_section_uses() -> None:
    assert GLOSSARY.keys() >= {"attention", "score", "weight", "context", "state", "encoder", "decoder", "mask"}


@pytest.mark.parametrize("term", GLOSSARY)
def test_a_term_is_always_the_one_of_the_glossary(term: str) -> None:
    stem = STEMS.get(GLOSSARY[term], GLOSSARY[term])
    found = [(english, hindi) for english, hindi in both() if re.search(rf"(?<!in )\b{term}s?\b", english)]
    assert found
    assert [pair for pair in found if stem not in pair[1]] == []


def test_no_other_word_stands_for_a_term() -> None:
    for _, hindi in both():
        assert not re.search(OTHER_WORDS, hindi), hindi


# --------------------------------------------------------------------------------------- a broken translation

ENTRY = """
[concepts]
softmax = { title = "सॉफ़्टमैक्स", section = "3" }
[again]
"notebook 02" = "नोटबुक 02"
[[question]]
id = "02-q0"
prompt = "यह क्या है?"
explanation = "यही है।"
hints = ["सोचिए।", "फिर सोचिए।"]
options = ["हाँ", "नहीं"]
diagnoses = ["अंदाज़ा था।"]
"""


def bank(folder: Path, translation: str) -> list[Question]:
    from test_bank import HEAD, SINGLE
    from test_bank import bank as english

    english(folder, SINGLE, SINGLE, head=HEAD)
    (folder / "hi").mkdir()
    (folder / "hi" / "02.toml").write_text(translation, encoding="utf-8")
    (folder / "hi" / "words.toml").write_text("", encoding="utf-8")
    return load_questions("hi/02", folder)


def test_a_translation_gives_the_texts_and_the_original_the_answer(tmp_path: Path) -> None:
    first, second = bank(tmp_path, ENTRY)
    assert (first.prompt, first.options, first.answer) == ("यह क्या है?", ("हाँ", "नहीं"), 0)
    assert grade(first, 1).diagnosis == "अंदाज़ा था।" and grade(first, 1).again == "नोटबुक 02"
    assert first.concept.title == "सॉफ़्टमैक्स" and second.prompt == "What is it?"
    assert [dataclasses.replace(first, id="") == one for one in load_questions("02", tmp_path)] == [False, False]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"हाँ", "नहीं"', '"हाँ"', "options does not have as many texts"),
        ('hints = ["सोचिए।", "फिर सोचिए।"]\n', "", "hints does not have as many texts"),
        ('"यह क्या है?"', '["यह क्या है?"]', "prompt must be a text or a list of texts"),
        ("diagnoses", "mistakes", "diagnoses does not have as many texts"),
        ('prompt =', 'answer = 1\nprompt =', "answer is not a text of a question"),
        ("02-q0", "02-q7", "'02-q7' is the id of no question in 02.toml"),
        ("softmax =", "hardmax =", "'softmax' is missing under"),
        ('"notebook 02" =', '"notebook 03" =', "'notebook 02' is missing under"),
        ("[[question]]", "[[question", "cannot be read"),
    ],
)  # fmt: skip
def test_a_broken_translation_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(QuestionError) as error:
        bank(tmp_path, ENTRY.replace(old, new, 1))
    assert said in str(error.value)


def test_a_notebook_that_is_not_translated_is_named() -> None:
    with pytest.raises(ValueError, match=r"there is no translation hi/03\.toml"):
        load_questions("hi/03")
    assert sorted(path.name for path in (BANK / "hi").glob("[0-9]*")) == ["02.toml"]


# ------------------------------------------------------------------------------------ the words around a question

WORDS = tomllib.loads((BANK / "hi" / "words.toml").read_text(encoding="utf-8"))


def test_the_words_around_a_question_are_hindi() -> None:
    library = "".join((BANK.parents[1] / "lib" / f"{name}.py").read_text() for name in ("question_text", "recall"))
    library += (BANK.parents[1] / "lib" / "questions.py").read_text()
    assert not set(EXPECTED.values()) - set(WORDS)
    for english, hindi in WORDS.items():
        assert english in library or english.lower() in RATINGS, "a text that nobody says"
        assert DEVANAGARI.search(hindi) and numbers(hindi) == numbers(english)
        assert hindi.count("{}") == english.count("{}")


@pytest.mark.parametrize("hindi", [hindi for _, hindi in PAIRS], ids=IDS)
def test_a_hindi_question_stands_in_hindi_words(hindi: Question) -> None:
    page = re.sub(r"<(?:pre|code|em)\b.*?</(?:pre|code|em)>|\$[^$]+\$", " ", static_html(hindi, 1), flags=re.DOTALL)
    assert not re.search(r"\b(?:Question|Hints|Answer|Choose|Give|Write|Find|Put)\b", page)
    outcome = grade(hindi, "1e99" if hindi.form in ("number", "vector", "matrix", "completion") else None)
    assert not outcome.counted or "नोटबुक 02" in feedback_text(outcome, hindi)
