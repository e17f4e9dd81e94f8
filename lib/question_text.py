"""A question as text, as HTML for pages without a kernel, and as a card for Anki."""

from __future__ import annotations

import html
import os
import re
import sys
import uuid
import zlib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from lib.bank import load_questions
from lib.journal import JournalError
from lib.questions import LETTERS, Outcome, Question, right_answer

ANKI_SIGNS = ("\\(", "\\)", "\\[", "\\]")  # between which Anki looks for formulas
_WORD = "[\u0900-\u097f][\u0900-\u097f\u200c\u200d]*"
_HINDI = re.compile(rf"{_WORD}(?:[\s,]+{_WORD})*")  # words in Devanagari that follow each other
EXPECTED = {
    "single": "Choose one.",
    "multiple": "Choose all that are right.",
    "number": "Give a number, for example 0.25 or 1/4.",
    "vector": "Give the numbers in their order, for example 1, 0.5, 0.",
    "matrix": "Give the numbers row by row: a row on each line, or ; between rows.",
    "order": "Put them in the right order.",
    "match": "Find the partner of each.",
    "completion": "Write what belongs in the gap.",
    "written": "Answer in your own words, here or on paper.",
}


def expected(question: Question) -> str:
    """What kind of answer is asked for, with the tolerance of numbers."""
    if question.kind == "predict" and not question.options:
        text = question.say("Give your prediction as numbers, for example 0.25, or 1, 0.5, 0.")
    else:
        text = question.say(EXPECTED[question.form])
    allowed = question.say("A difference of up to {} is accepted.", f"{question.tolerance:g}")
    return f"{text} {allowed}" if question.tolerance else text


def lettered(question: Question) -> list[str]:
    """What can be chosen, as it is shown: "a) …", "b) …"."""
    return [f"{LETTERS[place]}) {question.items[item]}" for place, item in enumerate(question.shown)]


def prompt_text(question: Question, with_choices: bool = True) -> str:
    """The question in Markdown, with all that is needed to answer it."""
    lefts = [f"({number}) {left}" for number, (left, _) in enumerate(question.pairs, start=1)]
    lists = [("-", lefts), ("*", lettered(question))] if with_choices else []  # another sign: another list
    texts = ["\n".join(f"{sign} {line}" for line in lines) for sign, lines in lists if lines]
    return "\n\n".join([question.prompt.strip(), *texts, f"*{expected(question)}*"])


def answer_text(question: Question, run: bool = True) -> str:
    """The right answer in Markdown, and the explanation; a prediction shows its code and what it gives now.

    Args:
        run: False takes the answer of a prediction from the bank, where it has one: a test holds it against the code.
    """
    code = f"```python\n{question.compute.strip()}\n```\n\n" if question.kind == "predict" else ""
    try:
        answer = _answer_line(question, run)
    except Exception as error:  # the code of a prediction can fail, on a machine that lacks something
        answer = f"The code could not be run here ({type(error).__name__}: {error})."
    return f"{code}{answer}\n\n{question.explanation.strip()}"


def _answer_line(question: Question, run: bool) -> str:
    if question.kind == "written":
        points = "\n".join(f"{number}. {point}" for number, point in enumerate(question.rubric, start=1))
        return f"{question.model_answer.strip()}\n\n{question.say('A good answer says:')}\n\n{points}"
    stored = question.kind == "predict" and not run and question.answer is not None
    answer, items = question.answer if stored else right_answer(question), question.items
    if question.kind == "match":
        return "\n".join(f"- {left} → {right}" for left, right in question.pairs)
    if question.kind == "order":
        return "\n".join(f"{place}. {item}" for place, item in enumerate(items, start=1))
    if question.kind == "completion":
        return f"**{question.say('Answer')}:** `{answer[0]}`"
    if question.form in ("single", "multiple"):
        right = [answer] if question.form == "single" else sorted(answer)
        return "\n".join(f"- **{LETTERS[item]})** {items[item]}" for item in right)
    return f"**{question.say('Answer')}:** {_numbers(answer)}"


def _numbers(answer: Any) -> str:
    if isinstance(answer, list | tuple):
        return f"[{', '.join(map(_numbers, answer))}]"
    return f"{answer:.6g}" if isinstance(answer, float) else str(answer)


@cache
def _markdown(signs: tuple[str, str, str, str]) -> Any:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    def formula(content: str, options: dict[str, Any]) -> str:
        begin, end = signs[2:] if options["display_mode"] else signs[:2]
        return f"{begin}{html.escape(content)}{end}"

    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    for name in ("text", "code_inline", "fence", "code_block"):
        reader.add_render_rule(name, _marking(reader.renderer.rules[name]))
    return reader.use(dollarmath_plugin, renderer=formula, double_inline=True, allow_space=False, allow_digits=False)


def _marking(rule: Callable[..., str]) -> Callable[..., str]:
    """A rule that draws a piece of Markdown, with its Hindi marked; formulas have rules of their own."""
    return lambda _, *arguments: mark_hindi(rule(*arguments))


def mark_hindi(text: str) -> str:
    """Say of what is in Devanagari in a piece of HTML that it is Hindi, for the voice of a screen reader."""
    return _HINDI.sub(r'<span lang="hi">\g<0></span>', text)


def to_html(text: str, signs: tuple[str, str, str, str] = ("$", "$", "$$", "$$")) -> str:
    """Markdown as HTML; formulas stay as they are, between the signs that whoever draws them looks for."""
    return _markdown(signs).render(text)


def static_html(question: Question, number: int | None = None) -> str:
    """A question for pages without a kernel: its text, and its hints and answer in collapsed blocks."""
    hints = "".join(f"<li>{to_html(hint)}</li>" for hint in question.hints)
    answer = to_html(answer_text(question, run=False))
    names = [mark_hindi(question.say(name)) for name in ("Hints", "Answer: attempt it first")]
    return (
        f"<section>{heading(question, number)}{to_html(prompt_text(question))}"
        f"<details><summary>{names[0]}</summary><ol>{hints}</ol></details>"
        f"<details><summary>{names[1]}</summary>{answer}</details></section>"
    )


def heading(question: Question, number: int | None = None) -> str:
    """The heading of a question in HTML."""
    name = question.say("Question") + (f" {number}" if number else "")
    return f"<h3>{mark_hindi(html.escape(f'{name}: {question.concept.title}'))}</h3>"


def feedback_text(outcome: Outcome, question: Question | None = None) -> str:
    """What is said of a wrong answer in Markdown: the idea behind it, and what to look at again."""
    again = f"Look again at: {outcome.again}." if outcome.again else ""
    if question is not None and again:
        again = question.say("Look again at: {}.", outcome.again)
    return "\n\n".join(part for part in (outcome.diagnosis, again) if part)


def export_anki(path: str | Path, questions: Sequence[Question] | None = None) -> int:
    """Write the questions as a deck for Anki; return how many. Importing it again updates the cards.

    Raises:
        JournalError: genanki is not installed, or the file cannot be written.
    """
    try:
        import genanki
    except ImportError:
        raise JournalError(
            "The export to Anki needs genanki, which is optional (the extra `anki` of pyproject.toml): "
            f"install it with `{sys.executable} -m pip install genanki`"
        ) from None
    questions = load_questions() if questions is None else questions
    path = Path(path).expanduser()
    part = path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        genanki.Package(_deck(questions)).write_to_file(part)
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise JournalError(f"{path} cannot be written: {error.strerror}") from error
    return len(questions)


def _deck(questions: Sequence[Question]) -> Any:
    import genanki

    sides = [{"name": "Question", "qfmt": "{{Question}}", "afmt": "{{FrontSide}}<hr id=answer>{{Answer}}"}]
    fields = [{"name": "Question"}, {"name": "Answer"}]
    model = genanki.Model(zlib.crc32(b"attention-course model"), "Attention course", fields=fields, templates=sides)
    deck = genanki.Deck(zlib.crc32(b"attention-course deck"), "Attention course")
    for question in questions:
        texts = [to_html(text, ANKI_SIGNS) for text in (prompt_text(question), answer_text(question))]
        tags = [f"notebook-{question.notebook}", question.concept.name]
        deck.add_note(genanki.Note(model, texts, guid=genanki.guid_for("attention-course", question.id), tags=tags))
    return deck
