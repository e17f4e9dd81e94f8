"""Explorers: a control to move, and all numbers of attention move with it.

`lib.looking` computes what there is to see, `lib.drawings` turns it into HTML, and here controls of ipywidgets are
joined to both. Where there is no kernel, or no ipywidgets, a drawing stands alone: `static=True` asks for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from lib.drawings import draw_comparison, draw_look, draw_look_up, draw_reading, draw_trace
from lib.links import drawing, escaped
from lib.looking import FIRST, QUESTIONS, REAL, WORDS, Trace, compare, look, look_up, read, trace, vocabulary_of
from lib.pictures import Table
from lib.plots import number

if TYPE_CHECKING:
    from lib.search import Translator

SENTENCE = "मैं स्कूल जाता हूँ"
PAUSE = 0.02  # seconds in which changes of a control are gathered


def worked_example(static: bool = False) -> Any:
    """Drag the decoder state of notebook 02, its temperature and mask: scores, weights and context move along."""
    start = draw_look(look(FIRST))
    if alone := _alone(start, static):
        return alone
    sliders = [_slider(f"state, entry {k + 1}", value, -2.0, 2.0) for k, value in enumerate(FIRST)]
    warm = _slider("temperature", 1.0, 0.1, 5.0)
    boxes = [_checkbox(f"{word} takes part", real) for word, real in zip(WORDS, REAL, strict=True)]
    preset = _dropdown("state to start from", list(QUESTIONS.items()))

    def jump(change: Any) -> None:
        for slider, value in zip(sliders, change["new"], strict=True):
            slider.value = value

    def draw() -> Table:
        return draw_look(look([s.value for s in sliders], warm.value, [box.value for box in boxes]))

    preset.observe(jump, names="value")
    return _explorer([[preset], [*sliders, warm], boxes], draw, start)


def step_through(translator: Translator, sentence: str = SENTENCE, static: bool = False) -> Any:
    """Walk through a translation piece by piece; at any step another piece can be written instead."""
    traced = trace(translator, sentence)
    start = draw_trace(traced, len(traced.steps) - 1)
    if alone := _alone(start, static):
        return alone
    stepper = _Stepper(translator, sentence, traced)
    moves = [stepper.step, stepper.back, stepper.forward, stepper.instead]
    return _explorer([[stepper.sentence], moves], stepper.draw, start)


class _Stepper:
    """The controls of `step_through`, and the translation they walk through."""

    def __init__(self, translator: Translator, sentence: str, traced: Trace) -> None:
        self.translator, self.read, self.traced, self.offered_at = translator, sentence, traced, 0
        self.sentence = _text("sentence (Hindi)", sentence)
        self.step = _whole_numbers("step", max(1, len(traced.steps)))
        self.back = _button("← previous", lambda _: self._move(-1))
        self.forward = _button("next →", lambda _: self._move(1))
        self.instead = _dropdown("write this piece instead", self._offers())

    def _move(self, by: int) -> None:
        self.step.value = min(max(self.step.value + by, self.step.min), self.step.max)

    def _offers(self) -> list[tuple[str, int]]:
        if not self.traced.steps:
            return [("—", -1)]
        step = self.traced.steps[self.step.value - 1]
        offers = {one.id: one for one in (step.chosen, *step.candidates)}.values()
        return [(f"{one.piece}   {number(one.probability, 3)}", one.id) for one in offers]

    def draw(self) -> Table:
        """Translate anew where the sentence or a piece was changed, bring the controls up to date, and draw."""
        at, ids = self.step.value - 1, self.traced.ids
        if self.sentence.value != self.read:
            self.read, at = self.sentence.value, 0
            self.traced = trace(self.translator, self.read)
        elif at == self.offered_at and self.instead.value not in (-1, *ids[at : at + 1]):
            self.traced = trace(self.translator, self.read, [*ids[:at], self.instead.value])
        self.step.max = max(1, len(self.traced.steps))
        self.step.value = at + 1
        self._offer()
        return draw_trace(self.traced, at)

    def _offer(self) -> None:
        self.offered_at, offers = self.step.value - 1, self._offers()
        if tuple(offers) != tuple(self.instead.options):
            self.instead.options = offers
        self.instead.value = offers[0][1]


def compare_scorers(translators: Mapping[str, Translator], sentence: str = SENTENCE, static: bool = False) -> Any:
    """The same sentence through several models, side by side; let all write the same words to compare their looks."""
    start = draw_comparison(compare(translators, sentence))
    if alone := _alone(start, static):
        return alone
    typed = _text("sentence (Hindi)", sentence)
    choices = [("each its own words", ""), *((f"the words of {name}", name) for name in translators)]
    along = _dropdown("each model writes", choices)

    def draw() -> Table:
        return draw_comparison(compare(translators, typed.value, along.value or None))

    return _explorer([[typed], [along]], draw, start)


def translate_box(
    translator: Translator, seen: Iterable[str] | None = None, sentence: str = SENTENCE, static: bool = False
) -> Any:
    """Type a sentence and translate it; words the model cannot know are marked.

    Args:
        seen: lines of text whose words count as known, for example the training sentences. Without it only
            words with unknown letters, or outside a word vocabulary, are marked.
    """
    vocabulary = None if seen is None else vocabulary_of(seen)
    start = draw_reading(read(translator, sentence, vocabulary))
    if alone := _alone(start, static):
        return alone
    typed, beam = _text("sentence (Hindi)", sentence), _whole_numbers("beam size", 5)
    # To press the button is to leave the line of text, and that is what translates.
    button = _button("translate", lambda _: None)

    def draw() -> Table:
        return draw_reading(read(translator, typed.value, vocabulary, beam.value))

    return _explorer([[typed], [button, beam]], draw, start)


def query_key_value(static: bool = False) -> Any:
    """Four words look at each other, with and without projections, with and without the division by √d."""
    start = draw_look_up(look_up(), asking=2)
    if alone := _alone(start, static):
        return alone
    asking = _dropdown("word that asks", [(word, k) for k, word in enumerate(WORDS[:4])], 2)
    widths = [("the worked example: 3 entries", 3), *((f"random: {d} entries", d) for d in (16, 64, 256))]
    width = _dropdown("vectors", widths)
    project, scale = _checkbox("project with W_Q, W_K, W_V"), _checkbox("divide the scores by √d")

    def draw() -> Table:
        return draw_look_up(look_up(width.value, project.value, scale.value), asking.value)

    return _explorer([[asking, width], [project, scale]], draw, start)


# ---------------------------------------------------------------------------------------------- the controls


def _widgets() -> Any:
    import ipywidgets

    return ipywidgets


def _alone(start: Table, static: bool) -> Table | None:
    """The drawing without controls, where that was asked for or nothing else is possible; else None."""
    if static:
        return start
    try:
        _widgets()
    except ImportError:
        why = "The controls need ipywidgets, which is not installed: this is the picture they start from."
        return Table(f"<p>{why}</p>{start.html}", f"{why} {start.alt}")
    return None


_WIDE = {"style": {"description_width": "initial"}, "layout": {"width": "23em"}}
_NARROW = {"width": "max-content", "margin": "2px 1.2em 2px 2px"}


def _slider(name: str, value: float, low: float, high: float) -> Any:
    limits = {"min": low, "max": high, "step": 0.1}
    return _widgets().FloatSlider(value, description=name, readout_format=".1f", **limits, **_WIDE)


def _whole_numbers(name: str, most: int) -> Any:
    return _widgets().IntSlider(1, 1, most, description=name, **_WIDE)


def _checkbox(name: str, value: bool = False) -> Any:
    return _widgets().Checkbox(value, description=name, indent=False, layout=_NARROW)


def _dropdown(name: str, options: Sequence[tuple[str, Any]], value: Any = None) -> Any:
    value = options[0][1] if value is None else value
    style = {"style": {"description_width": "initial"}, "layout": _NARROW}
    return _widgets().Dropdown(options=options, value=value, description=name, **style)


def _text(name: str, value: str) -> Any:
    """A line of text that speaks up at Enter or when it is left, not at every letter."""
    style = {"style": {"description_width": "initial"}, "layout": {"width": "min(44em, 98%)"}}
    return _widgets().Text(value, description=name, continuous_update=False, **style)


def _button(name: str, act: Callable[[Any], None]) -> Any:
    button = _widgets().Button(description=name)
    button.on_click(act)
    return button


# ------------------------------------------------------------------------------- controls and drawing together

# ipywidgets leaves the handle of a slider without a name, which axe counts as a violation (WCAG 4.1.2), and has no
# trait that would set one: a tooltip lands on the label, the layout holds styles only. This gives the handle the
# words beside it. It is an inline handler because the HTML widget runs no <script>.
_NAME_SLIDERS = """<img alt="" src="data:," style="display:none" onerror="
const name = () => {
  const box = this.closest('.attention-explorer');
  if (!box) return setTimeout(name, 200);
  const all = () => box.querySelectorAll('.widget-slider').forEach(slider => {
    const label = slider.querySelector('.widget-label').textContent;
    slider.querySelectorAll('.noUi-handle, .widget-readout').forEach(part => part.setAttribute('aria-label', label));
    slider.querySelector('.widget-readout').setAttribute('role', 'textbox');
  });
  new MutationObserver(all).observe(box, {childList: true, subtree: true});
  all();
};
name();">"""


class _Gather:
    """Act once for a burst of changes: after `PAUSE` in a running event loop, at once where there is none."""

    def __init__(self, act: Callable[[], None]) -> None:
        self.act, self.waiting = act, False

    def __call__(self, _: Any) -> None:
        if self.waiting:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self.act()
        else:
            self.waiting = True
            loop.call_later(PAUSE, self._go)

    def _go(self) -> None:
        self.waiting = False
        self.act()


@cache
def _box_class() -> type:
    class Explorer(_widgets().VBox):
        """A column of controls with the drawing below; without a kernel a notebook shows `start`."""

        def _repr_mimebundle_(self, **arguments: Any) -> Any:
            bundle = super()._repr_mimebundle_(**arguments)
            if isinstance(bundle, dict):
                bundle |= self.start._repr_mimebundle_()
            return bundle

    return Explorer


def _explorer(rows: Sequence[Sequence[Any]], draw: Callable[[], Table], start: Table) -> Any:
    """Join controls to a drawing; what `draw` raises is shown in its place, and the controls stay usable."""
    widgets = _widgets()
    area, controls = widgets.HTML(), [control for row in rows for control in row]

    def redraw() -> None:
        try:
            area.value = draw().html
        except Exception as error:  # a notebook would hide it in a log that no learner opens
            text = f"This did not work: {error} ({type(error).__name__}). Change a control to go on."
            area.value = drawing(f'<p role="alert"><b>{escaped(text)}</b></p>', alt=text).html

    gather = _Gather(redraw)
    for control in controls:
        if control.has_trait("value"):  # a button has none
            control.observe(gather, names="value")
    redraw()
    lines = [widgets.HBox(row, layout={"flex_flow": "row wrap"}) for row in rows]
    box = _box_class()([*lines, area, widgets.HTML(_NAME_SLIDERS)])
    box.add_class("attention-explorer")
    box.start, box.area = start, area
    box.controls = {control.description: control for control in controls}
    return box
