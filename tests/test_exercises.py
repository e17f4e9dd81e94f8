"""Every exercise proves itself, and the checker survives whatever a learner's function does."""

from __future__ import annotations

import itertools
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from lib import exercises, sandbox
from lib.comparison import difference
from lib.diagnosis import trials
from lib.exercise_files import Exercise, draw, load
from lib.exercises import Report, check, hint, solution

SOURCES = Path(__file__).resolve().parents[1] / "notebooks/source"
ALL: dict[str, Exercise] = exercises.EXERCISES
WRONG = [(identifier, name) for identifier, exercise in ALL.items() for name in exercise.wrong]


@pytest.fixture(autouse=True)
def new_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """No hint shown, nothing attempted, and half a second for a loop."""
    monkeypatch.setattr(exercises, "_attempted", set())
    monkeypatch.setattr(exercises, "_hints_shown", {})
    monkeypatch.setattr(sandbox, "SECONDS", 0.5)


# --------------------------------------------------------------------------------------------------- every exercise


def test_there_are_two_to_four_in_each_notebook_and_a_bug_lab() -> None:
    for notebook, found in itertools.groupby(ALL.values(), key=lambda exercise: exercise.notebook):
        *numbered, lab = found
        assert 2 <= len(numbered) <= 4 and lab.is_lab and not any(exercise.is_lab for exercise in numbered)
        numbers = [f"{int(notebook)}.{number}" for number in (*range(1, len(numbered) + 1), "bug")]
        assert [exercise.id for exercise in (*numbered, lab)] == numbers
    assert sorted({exercise.notebook for exercise in ALL.values()}) == ["01", "02", "03", "04", "05"]


@pytest.mark.parametrize("identifier", ALL)
def test_the_file_is_complete(identifier: str) -> None:
    exercise = ALL[identifier]
    assert exercise.id == identifier and 1 <= exercise.minutes <= 30
    assert "shape" in exercise.statement and exercise.module.NAME in exercise.stub
    assert len(exercise.hints) >= 2 and len(exercise.wrong) >= 4
    diagnoses = [wrong.diagnosis for wrong in exercise.wrong.values()]
    assert len(set(diagnoses)) == len(diagnoses)
    assert not any(exercise.solution.splitlines()[-1].strip() in text for text in (*exercise.hints, *diagnoses))
    assert len(trials(exercise)) >= 6
    assert max(map(len, (exercise.stub + exercise.solution).splitlines())) <= 118  # under the learner's name as well


@pytest.mark.parametrize("identifier", ALL)
def test_its_notebook_has_it(identifier: str) -> None:
    exercise = ALL[identifier]
    (source,) = SOURCES.glob(f"{exercise.notebook}_*.py")
    text = source.read_text(encoding="utf-8")
    assert f'check("{identifier}", {exercise.module.NAME})' in text
    assert exercise.is_lab or f"### Exercise {identifier} · " in text


@pytest.mark.parametrize("identifier", ALL)
def test_the_solution_passes_and_the_stub_is_not_attempted(identifier: str) -> None:
    exercise = ALL[identifier]
    assert check(identifier, exercise.module.stub).status == "not attempted"
    assert solution(identifier).status == "not attempted"
    report = check(identifier, exercise.module.solution)
    assert (report.status, report.mistake) == ("passed", ""), report
    assert ("Measured" in report.text) == exercise.is_lab
    assert solution(identifier).status == "solution"


@pytest.mark.parametrize("identifier", ALL)
def test_what_the_learner_sees_runs(identifier: str) -> None:
    """The printed stub and solution do what the functions of the file do, under the learner's name."""
    exercise = ALL[identifier]
    for source, status in ((exercise.stub, "not attempted"), (exercise.solution, "passed")):
        names = dict(vars(exercise.module))
        exec(compile(source, "cell", "exec", dont_inherit=True, flags=annotations.compiler_flag), names)
        assert check(identifier, names[exercise.module.NAME]).status == status


@pytest.mark.parametrize(("identifier", "name"), WRONG)
def test_a_wrong_solution_fails_with_its_own_diagnosis(identifier: str, name: str) -> None:
    exercise = ALL[identifier]
    report = check(identifier, exercise.wrong[name].function)
    assert (report.status, report.mistake) == ("not yet", name), report
    assert exercise.wrong[name].diagnosis in report.text and "The smallest case that fails" in report.text
    assert exercise.solution.splitlines()[-1].strip() not in report.text


def test_a_lab_measures_its_bug() -> None:
    for exercise in ALL.values():
        if exercise.is_lab:
            buggy, repaired = map(exercise.module.symptom, (exercise.module.stub, exercise.module.solution))
            low, high = sorted((float(buggy), float(repaired)))
            assert high > 0.1 and low == pytest.approx(0, abs=1e-9), exercise.id


# --------------------------------------------------------------------------------- what a learner's function may do


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Right, written in another way than the solution."""
    shifted = scores.masked_fill(~mask[:, None], -torch.inf)
    top = torch.nan_to_num(shifted.amax(-1, keepdim=True), neginf=0.0)
    powers = torch.exp(shifted - top)
    return powers / powers.sum(-1, keepdim=True).clamp(min=1e-30)


def report_on(body: Callable[[Tensor, Tensor], object]) -> Report:
    return check("3.1", lambda scores, mask: body(scores, mask))


def test_another_right_way_passes() -> None:
    assert check("3.1", masked_softmax).text.startswith("Exercise 3.1, Masked softmax: passed, all 12 cases.")


def forever(scores: Tensor, mask: Tensor) -> None:
    while True:
        pass


def stubborn(scores: Tensor, mask: Tensor) -> None:
    while True:
        try:
            while True:
                pass
        except:  # noqa: E722
            pass


def asleep(scores: Tensor, mask: Tensor) -> None:
    time.sleep(1000)


def chatty(scores: Tensor, mask: Tensor) -> None:
    while True:
        print("x" * 1000)


UNIX = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timer that interrupts")


@pytest.mark.parametrize("function", [forever, stubborn, chatty, pytest.param(asleep, marks=UNIX)])
def test_a_loop_is_ended(function: Callable, capsys: pytest.CaptureFixture[str]) -> None:
    begin = time.perf_counter()
    report = check("3.1", function)
    assert time.perf_counter() - begin < 5
    assert report.status == "not yet" and "does not stop; it was given up after 0.5 seconds, in line" in report.text
    assert len(report.text) < 2000 and capsys.readouterr() == ("", "")


def test_in_another_thread_a_loop_is_ended_or_left_behind() -> None:
    found, over = [], threading.Event()

    def hopeless(scores: Tensor, mask: Tensor) -> None:
        while not over.is_set():
            try:
                over.wait()
            except:  # noqa: E722
                continue

    for function in (forever, hopeless, masked_softmax):
        thread = threading.Thread(target=lambda function=function: found.append(check("3.1", function)))
        thread.start()
        thread.join(30)
    over.set()
    assert [report.status for report in found] == ["not yet", "not yet", "passed"]
    assert all("does not stop; it was given up after 0.5 seconds, in line" in report.text for report in found[:2])


@UNIX
def test_the_alarm_is_put_back() -> None:
    before = signal.getsignal(signal.SIGALRM)
    check("3.1", forever)
    assert signal.getsignal(signal.SIGALRM) is before and signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError


def deeper(scores: Tensor, mask: Tensor) -> Tensor:
    return deeper(scores, mask)


def raises(error: BaseException) -> Callable:
    def function(scores: Tensor, mask: Tensor) -> None:
        raise error

    return function


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (raises(ValueError("no")), "raises ValueError: no, in line"),
        (raises(SystemExit(3)), "raises SystemExit: 3"),
        (raises(KeyboardInterrupt()), "was interrupted"),
        (raises(GeneratorExit()), "raises GeneratorExit"),
        (raises(Unprintable()), "raises"),
        (raises(MemoryError()), "raises MemoryError"),
        (deeper, "raises RecursionError"),
        (lambda scores, mask: scores.view(-1, 999), "raises RuntimeError"),
        (lambda scores, mask: undefined_name, "name 'undefined_name' is not defined"),  # noqa: F821
        (lambda scores, mask: None if scores.sum() else None, "gives back `None`"),
        (lambda scores, mask: 0.5, "has the type float; it must be Tensor"),
        (lambda scores, mask: scores.numpy(), "has the type ndarray; it must be Tensor"),
        (lambda scores, mask: (scores, mask), "has the type tuple"),
        (lambda scores, mask: masked_softmax(scores, mask).mT, "the axes are in another order"),
        (lambda scores, mask: masked_softmax(scores, mask)[0], "has the shape"),
        (
            lambda scores, mask: masked_softmax(scores, mask).float(),
            "holds torch.float32; it must hold torch.float64",
        ),
        (lambda scores, mask: masked_softmax(scores, mask) / 0 * 0, "weights are nan"),
        (lambda scores, mask: masked_softmax(scores, mask) * 0.7, "Row [0, 0] sums to 0.7; it must sum to 1"),
        (lambda scores, mask: torch.empty(scores.shape, device="meta", dtype=scores.dtype), "cannot be compared"),
        (lambda scores: scores, "Your function takes `(scores)`, and it is called with `(scores, mask)`"),
    ],
)
def test_what_goes_wrong_is_said(function: Callable, said: str) -> None:
    report = check("3.1", function)
    assert (report.status, report.mistake) == ("not yet", "") and said in report.text, report


def test_a_result_that_is_right_but_spoils_its_input() -> None:
    def spoils(scores: Tensor, mask: Tensor) -> Tensor:
        right = masked_softmax(scores, mask)
        scores.mul_(2).add_(1)
        return right

    report = check("3.1", spoils)
    assert "`scores` was changed in place" in report.text


def test_only_the_reshaping_of_spread_numbers_fails() -> None:
    report = check("3.1", lambda scores, mask: masked_softmax(scores.view(-1).view(scores.shape), mask))
    assert "not yet, 11 of 12 cases pass" in report.text and "not contiguous" in report.text


def test_a_number_that_is_one_off() -> None:
    report = check("1.2", lambda inputs, hidden, layers: 4 * hidden * (inputs + hidden + 2) + 1)
    assert "the result is 17, which is too large" in report.text.replace("The", "the")


@pytest.mark.parametrize(
    "stub",
    [
        lambda scores, mask: ...,
        lambda scores, mask: None,
        raises(NotImplementedError()),
        "not a function",
        None,
    ],
)
def test_not_attempted_yet_is_a_friendly_line(stub: object) -> None:
    report = check("3.1", stub)
    assert report.status == "not attempted" and "not attempted yet" in report.text
    assert solution("3.1").status == "not attempted"


def test_what_is_printed_is_shown_in_part(capsys: pytest.CaptureFixture[str]) -> None:
    def prints(scores: Tensor, mask: Tensor) -> Tensor:
        print("shape", tuple(scores.shape))
        print("e" * 10_000_000, file=sys.stderr)
        warnings.warn("nobody sees this", stacklevel=1)
        return masked_softmax(scores, mask)

    report = check("3.1", prints)
    assert report.status == "passed" and "shape (1, 1, 1)" in report.text
    assert "the first 300 characters" in report.text and len(report.text) < 1000
    assert capsys.readouterr() == ("", "")


# --------------------------------------------------------------------------------------- hints, solutions, reports


def test_a_closed_stream_and_changed_settings_of_torch_stay_inside() -> None:
    def spoil(query: Tensor, keys: Tensor, query_weight: Tensor, key_weight: Tensor, v: Tensor) -> Tensor:
        torch.set_grad_enabled(False)
        torch.set_default_dtype(torch.float64)
        torch.manual_seed(7)
        sys.stdout.close()
        return torch.tanh((query @ query_weight.T)[:, :, None] + (keys @ key_weight.T)[:, None]) @ v

    torch.manual_seed(0)
    before = torch.get_rng_state()
    assert check("3.2", spoil).status == "passed"
    assert torch.is_grad_enabled() and torch.get_default_dtype() == torch.float32
    assert torch.equal(before, torch.get_rng_state())


def test_a_mask_of_minus_a_billion_is_not_called_a_product() -> None:
    """As section 13 of notebook 02 masks. All is right but a sentence without a real word."""

    def decode_step(state, states, mask, output):
        scores = np.where(mask, states @ state, -1e9)
        powers = np.exp(scores - scores.max())
        weights = powers / powers.sum()
        context = weights @ states
        return int(np.argmax(output @ np.concatenate([state, context]))), context, weights

    report = str(check("2.3", decode_step))
    assert "spreads its weight evenly over padding" in report and "multiply" not in report


def test_hints_come_one_by_one() -> None:
    texts = [hint("3.1").text for _ in range(4)]
    assert [text.split(":")[1].split(".")[0].strip() for text in texts] == [
        "hint 1 of 3",
        "hint 2 of 3",
        "hint 3 of 3",
        "hint 3 of 3",
    ]
    assert texts[0] != texts[1]


def test_the_solution_comes_after_an_attempt() -> None:
    assert "attempt it first" in solution("3.1").text
    assert report_on(lambda scores, mask: torch.softmax(scores, -1)).mistake == "no_mask"
    assert "def masked_weights(scores: Tensor, mask: Tensor)" in solution("3.1").text


def test_the_report_in_a_page_is_escaped_and_needs_no_colour() -> None:
    page = Report("not yet", "Read `<s>` & think\n\nA `word`.\n\n    x = 1 < 2")._repr_html_()
    assert page.split("\n") == [
        "<p><strong>Read <code>&lt;s&gt;</code> &amp; think</strong></p>",
        "<p>A <code>word</code>.</p>",
        '<pre style="white-space: pre-wrap">    x = 1 &lt; 2</pre>',
    ]


def test_the_same_attempt_gives_the_same_report() -> None:
    for identifier, exercise in ALL.items():
        function = next(iter(exercise.wrong.values())).function
        assert repr(check(identifier, function)) == repr(check(identifier, function))


@pytest.mark.parametrize("identifier", ["3.9", "", "3", 3.1, masked_softmax])
def test_an_unknown_number_is_explained(identifier: object) -> None:
    with pytest.raises(ValueError, match=r"no exercise is called .* one of 1\.1, 1\.2, 1\.3, 1\.bug"):
        check(identifier, masked_softmax)


def test_a_file_with_a_missing_part_is_named(tmp_path) -> None:
    path = tmp_path / "09_1_nothing.py"
    path.write_text('"""9.1 · Nothing · trivial · 5 minutes"""\n', encoding="utf-8")
    with pytest.raises(ValueError, match="09_1_nothing.py needs NAME"):
        load(path)


@pytest.mark.parametrize(
    ("got", "expected", "same"),
    [
        (1.0 + 1e-9, 1.0, True),
        (1, 1.0, True),
        (1.0, 1, False),
        (True, 1, False),
        (10**400, 1.0, False),
        ([1, 2], (1, 2), True),
        ([1], (1, 2), False),
        ("a", "a", True),
        (None, None, True),
        (float("nan"), float("nan"), True),
        (torch.ones(2), torch.ones(2), True),
        (torch.ones(2, requires_grad=True), torch.ones(2), True),
        (torch.ones(2).double(), torch.ones(2), False),
        (torch.ones(1, 2), torch.ones(2), False),
        (torch.full((2,), torch.inf), torch.full((2,), torch.inf), True),
    ],
)
def test_difference(got: object, expected: object, same: bool) -> None:
    assert (difference(got, expected) is None) == same


def test_draw_is_the_same_everywhere() -> None:
    assert draw(0, 2, 2) == draw(0, 2, 2) != draw(1, 2, 2)
    assert draw(0, 2, 2) == [[0.9, -1.4], [-0.7, 0.4]]  # as in every Python so far
    assert len(draw(0, 3, digits=4)) == 3
