"""Active recall in a notebook: `recall("02")` shows the questions of notebook 02.

An answer and its explanation appear only after an attempt. Every output also holds the questions as HTML with the
answers in collapsed blocks, for pages without a kernel. What is due is asked again by lib/review.py.
"""

from __future__ import annotations

import html
import sys
from collections.abc import Callable, Sequence
from typing import Any

from lib.bank import load_questions
from lib.journal import RATINGS, Attempt, Journal, JournalError
from lib.question_text import answer_text, feedback_text, heading, lettered, prompt_text, static_html, to_html
from lib.questions import LETTERS, Question, grade

# A screen reader announces what changes in a region that was there before the change, and ipywidgets has no trait for
# such a role. So this names the regions, and the language of Hindi choices. It is an inline handler because the HTML
# widget runs no <script>.
_REGIONS = """<img alt="" src="data:," style="display:none" onerror="
const begin = () => {
  const box = this.closest('.course-questions');
  if (!box) return setTimeout(begin, 200);
  const all = () => {
    box.querySelectorAll('.course-says:not([role])').forEach(region => {
      region.setAttribute('role', 'status');
      region.setAttribute('aria-live', 'polite');
      region.setAttribute('aria-atomic', 'false');
    });
    box.querySelectorAll('label, option').forEach(choice => {
      if (/[\u0900-\u097f]/.test(choice.textContent) && !/[a-z]{2}/i.test(choice.textContent)) choice.lang = 'hi';
    });
  };
  new MutationObserver(all).observe(box, {childList: true, subtree: true});
  all();
};
begin();">"""


class Sheet:
    """Some questions: widgets where there is a kernel and ipywidgets, else HTML, else plain text."""

    def __init__(self, questions: Sequence[Question], journal: Journal | None = None) -> None:
        self.questions, self.journal = list(questions), journal or Journal()
        self._panels: list[Panel] = []

    @property
    def panels(self) -> list[Panel]:
        """The widgets, one set for each question, made once; ImportError without ipywidgets."""
        if not self._panels:
            try:
                attempts = self.journal.read().attempts
            except JournalError:  # the questions can be answered all the same; recording says what is wrong
                attempts = []
            make = _Maker()
            for number, question in enumerate(self.questions, start=1):
                before = [attempt for attempt in attempts if attempt.question == question.id]
                self._panels.append(Panel(question, self.journal, number, before, make))
        return self._panels

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        parts = [static_html(question, number) for number, question in enumerate(self.questions, start=1)]
        bundle = {"text/plain": repr(self), "text/html": "\n".join(parts)}
        try:
            import ipywidgets

            box = ipywidgets.VBox([*(panel.box for panel in self.panels), ipywidgets.HTML(_REGIONS)])
        except ImportError:
            return bundle
        return {**box.add_class("course-questions")._repr_mimebundle_(), **bundle}

    def __repr__(self) -> str:
        texts = [f"Question {n}: {prompt_text(q)}" for n, q in enumerate(self.questions, start=1)]
        how = "To answer in plain text: from lib.review import review_in_terminal; review_in_terminal("
        return "\n\n".join([*texts, f'{how}"{self.questions[0].notebook}")' if texts else "No questions."])


class _Maker:
    """Makes widgets that share layouts and styles: with their own, each would be three objects for the browser."""

    def __init__(self) -> None:
        self.kept: dict[Any, Any] = {}

    def __call__(self, kind: str, *arguments: Any, width: str | None = None, **given: Any) -> Any:
        """A widget of the class that ipywidgets calls `kind`; a `width` is at most 60em."""
        import ipywidgets

        made = getattr(ipywidgets, kind)
        look = {"layout": self._shared(ipywidgets.Layout, width=width, max_width="60em" if width else None)}
        if "style" in made.class_traits():
            style = made.class_traits()["style"].klass
            words = {"description_width": "initial"} if "description_width" in style.class_traits() else {}
            look["style"] = self._shared(style, **words)
        return made(*arguments, **look, **given)

    def _shared(self, kind: type, **traits: Any) -> Any:
        key = (kind, *traits.items())
        if key not in self.kept:
            self.kept[key] = kind(**traits)
        return self.kept[key]


class Panel:
    """The widgets of one question. Whatever goes wrong in it is said in its own feedback area."""

    def __init__(
        self,
        question: Question,
        journal: Journal,
        number: int | None = None,
        before: Sequence[Attempt] = (),
        make: _Maker | None = None,
    ) -> None:
        self.question, self.journal, self.make = question, journal, make or _Maker()
        self.hints, self.checked, make = 0, None, self.make
        self.head, self.feedback = make("HTMLMath", self._head(number)), make("HTMLMath", _history(question, before))
        self.hint_text, self.answer = make("HTMLMath"), make("HTMLMath")
        self.says = make("VBox", [self.hint_text, self.feedback, self.answer]).add_class("course-says")
        self.controls, self.read = _controls(question, make)
        written = question.kind == "written"
        self.check = self._button(question.say("Compare" if written else "Check answer"), self._check)
        self.hint = self._button(question.say("Hint {} of {}", 1, len(question.hints)), self._hint)
        self.show = self._button(question.say("Show answer"), self._show, disabled=True)
        self.rating = self._rating() if written else None
        row = make("HBox", [self.check, self.hint] if written else [self.check, self.hint, self.show])
        below = [self.says, self.rating] if written else [self.says]
        self.box = make("VBox", [self.head, *self.controls, row, *below])

    def _rating(self) -> Any:
        """The points of the rubric to tick and the ratings to click, hidden until there is an answer to compare."""
        import ipywidgets

        points = range(1, len(self.question.rubric) + 1)
        self.points = [_tick(self.question.say("My answer says point {}", n), self.make) for n in points]
        say, rate = self.question.say, self._rate
        self.ratings = [self._button(say(name.capitalize()), lambda name=name: rate(name)) for name in RATINGS]
        return ipywidgets.VBox([*self.points, self.make("HBox", self.ratings)], layout={"display": "none"})

    def _head(self, number: int | None) -> str:
        # Long menus are easier to fill in with the whole list before one's eyes.
        listed = self.question.form in ("order", "match") or not _is_plain(self.question)
        return heading(self.question, number) + to_html(prompt_text(self.question, with_choices=listed))

    def _button(self, description: str, action: Callable[[], None], disabled: bool = False) -> Any:
        def run(_: Any) -> None:
            try:
                action()
            except Exception as error:
                problem = f"{type(error).__name__}: {error}"
                self._say("!", f"The check itself failed ({problem}). This was not counted; you can go on.")

        button = self.make("Button", description=description, disabled=disabled)
        button.on_click(run)
        return button

    def _say(self, sign: str, message: str, details: str = "") -> None:
        colour = {"✓": "#00806A", "✗": "#C1440E"}.get(sign, "#5A6673")
        style = f"border-left:4px solid {colour};padding-left:.7em"
        message = f"<p><strong>{sign} {html.escape(message)}</strong></p>"
        self.feedback.value = f'<div style="{style}">{message}{to_html(details)}</div>'

    def _check(self) -> None:
        raw = self.read()
        if self.checked is not None and raw == self.checked:
            return  # the same answer, clicked twice
        outcome = grade(self.question, raw)
        if not outcome.counted:
            return self._say("!", outcome.message)
        self.checked = raw
        if outcome.correct is None:  # a written answer: the click on a rating is the attempt
            self._say("!", outcome.message)
            self.rating.layout.display = ""
            return self._show()
        note = self._record(outcome.correct, raw)
        go_on = self.question.say("Change your answer and check again, or let the answer be shown.")
        go_on = "" if outcome.correct else f"\n\n{go_on}"
        details = feedback_text(outcome, self.question) + go_on + note
        self._say("✓" if outcome.correct else "✗", outcome.message, details)
        self.show.disabled = False
        if outcome.correct:
            self._show()

    def _record(self, correct: bool | None, raw: Any, rating: int | None = None) -> str:
        """Write the attempt down; where that fails, what to tell the learner."""
        try:
            self.journal.record(self.question.id, correct, raw, self.hints, rating)
        except JournalError as error:
            return f"\n\nThis attempt could not be saved: {error}."
        return ""

    def _hint(self) -> None:
        hints = self.question.hints
        self.hints = min(self.hints + 1, len(hints))
        self.hint_text.value = to_html("\n".join(f"{n}. {hint}" for n, hint in enumerate(hints[: self.hints], 1)))
        self.hint.disabled = self.hints == len(hints)
        self.hint.description = self.question.say("Hint {} of {}", min(self.hints + 1, len(hints)), len(hints))

    def _show(self) -> None:
        self.answer.value = f"<h4>{self.question.say('Answer')}</h4>{to_html(answer_text(self.question))}"

    def _rate(self, name: str) -> None:
        raw = {"text": self.checked, "points": [point.value for point in self.points]}
        note = self._record(None, raw, RATINGS[name])
        self.rating.layout.display = "none"
        self._say("✓", self.question.say("Noted: {}.", self.question.say(name.capitalize())), note)


def _history(question: Question, before: Sequence[Attempt]) -> str:
    """What is remembered of earlier attempts at a question, in one line."""
    if not before:
        return ""
    last = before[-1]
    times = question.say("once") if len(before) == 1 else question.say("{} times", len(before))
    result = question.say({True: "✓ right", False: "✗ not right"}.get(last.correct, "rated by yourself"))
    said = question.say("Answered {} before, last on {}: {}.", times, f"{last.time:%Y-%m-%d}", result)
    return f"<p>{said}</p>"


def _is_plain(question: Question) -> bool:
    """Can the choices stand in a control, which shows neither formulas nor Markdown?"""
    texts = [*question.items, *(left for left, _ in question.pairs)]
    return not any(sign in text for text in texts for sign in "$`*\n")


def _tick(description: str, make: _Maker) -> Any:
    return make("Checkbox", False, description=description, indent=False, width="auto")


def _controls(question: Question, make: _Maker) -> tuple[list[Any], Callable[[], Any]]:
    """The controls in which a question is answered, nothing chosen, and a function that reads them."""
    labels = lettered(question) if _is_plain(question) else list(LETTERS[: len(question.items)])
    choices = list(zip(labels, question.shown, strict=True))
    if question.form == "single":
        name = question.say("Your choice")
        radio = make("RadioButtons", options=choices, value=None, description=name, width="auto")
        return [radio], lambda: radio.value
    if question.form == "multiple":
        ticks = [_tick(label, make) for label, _ in choices]
        return ticks, lambda: [place for place, tick in enumerate(ticks) if tick.value]
    if question.form in ("order", "match"):
        lefts = [f"({n}) {left if _is_plain(question) else ''}" for n, (left, _) in enumerate(question.pairs, 1)]
        names = lefts or [question.say("Place {}", n) for n in range(1, len(choices) + 1)]
        options = [(question.say("choose …"), None), *choices]
        menus = [make("Dropdown", options=options, index=0, description=name, width="auto") for name in names]
        return menus, lambda: [menu.value for menu in menus]
    kind = "Textarea" if question.form in ("matrix", "written") else "Text"
    text = make(kind, description=question.say("Your answer"), width="auto")
    return [text], lambda: text.value


def show(*things: Any) -> None:
    """Show in a notebook, or print."""
    ipython = sys.modules.get("IPython")
    if ipython is None or ipython.get_ipython() is None:
        print(*things, sep="\n\n")
    else:
        from IPython.display import display

        display(*things)


def recall(notebook: str | int, journal: Journal | None = None) -> None:
    """Show the questions of a notebook."""
    show(Sheet(load_questions(notebook), journal))
