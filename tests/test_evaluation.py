"""Scores against sacrebleu's command line, alignment measures by hand, intervals against published values."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from dataclasses import asdict

import numpy as np
import pytest

from lib import evaluation as ev
from lib.corpus import Pair

HYPOTHESES = [
    "I go to school every day.",
    "The farmer did not drink tea!",
    "",
    "She will write a long letter to her brother tomorrow.",
    "Is the old book on the table?",
]
REFERENCES = [
    "I go to school every day.",
    "The farmer does not drink tea.",
    "He eats.",
    "She will write a letter to her brother tomorrow.",
    "Is the old book on this table?",
]


# ----------------------------------------------------------------------------------------- against references


def command_line(metric: str, folder, hypotheses: list[str], references: list[str]) -> dict:
    for name, lines in (("hyp", hypotheses), ("ref", references)):
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "sacrebleu",
        str(folder / "ref"),
        "-i",
        str(folder / "hyp"),
        "-m",
        metric,
        "-w",
        "6",
    ]
    # Without a colour terminal and with one thread it prints one JSON object.
    done = subprocess.run(command, capture_output=True, check=True, env={**os.environ, "NO_COLOR": "1"})
    return json.loads(done.stdout)


@pytest.mark.parametrize(("metric", "function"), [("bleu", ev.bleu), ("chrf", ev.chrf)])
def test_scores_equal_the_command_line_of_sacrebleu(metric, function, tmp_path):
    expected = command_line(metric, tmp_path, HYPOTHESES, REFERENCES)
    score = function(HYPOTHESES, REFERENCES)
    assert score.value == pytest.approx(expected["score"], abs=1e-5)
    assert score.signature == expected["signature"]
    assert score.signature in str(score)


def test_two_identical_lines_of_two_words_have_bleu_0_and_chrf_100():
    lines = ["I go", "He eats"]
    assert ev.bleu(lines, lines).value == 0.0
    assert ev.chrf(lines, lines).value == pytest.approx(100.0)
    assert ev.exact_match(lines, lines).all()


def test_bleu_by_hand():
    # 5 of 6 unigrams, 3 of 5 bigrams, 2 of 4 trigrams, 1 of 3 4-grams are right; equal length, so no penalty.
    score = ev.bleu(["a b c d x f"], ["a b c d e f"])
    assert score.value == pytest.approx(100 * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25)


def test_few_lines_and_tokenised_lines_get_a_note():
    assert ev.bleu(["I go to school."] * 100, ["I go to school."] * 100).note == ""
    assert "only 99 lines" in ev.bleu(["I go."] * 99, ["I go."] * 99).note
    assert "only 1 line:" in ev.chrf(["I go."], ["I go."]).note
    assert "space and a stop" in ev.bleu(["I go ."] * 100, ["I go."] * 100).note


def test_tokenised_text_warns_nowhere_but_in_the_note(capfd, caplog):
    ev.bleu(["I go to school ."] * 100, ["I go to school ."] * 100)
    assert capfd.readouterr() == ("", "")
    assert not caplog.records


@pytest.mark.parametrize("function", [ev.bleu, ev.chrf, ev.exact_match])
@pytest.mark.parametrize(
    ("hypotheses", "references", "error", "message"),
    [
        ("I go", ["I go"], TypeError, "hypotheses is str"),
        (["I go"], "I go", TypeError, "references is str"),
        (None, ["I go"], TypeError, "hypotheses is NoneType"),
        (["I go", None], ["I go", "He"], TypeError, r"hypotheses\[1\] is NoneType"),
        (["I go"], [["I go"]], TypeError, r"references\[0\] is list"),
        ([], [], ValueError, "no sentences"),
        (["a", "b"], ["a"], ValueError, "2 hypotheses and 1 references"),
        (["a"], [" "], ValueError, r"references\[0\] is empty"),
        (["▁I ▁go"], ["I go"], ValueError, "'▁'"),
        (["I go </s>"], ["I go"], ValueError, "'</s>'"),
        (["<s> I go"], ["I go"], ValueError, "'<s>'"),
        (["I go"], ["I go <PAD>"], ValueError, "'<PAD>'"),
    ],
)
def test_what_cannot_be_scored_is_refused(function, hypotheses, references, error, message):
    with pytest.raises(error, match=message):
        function(hypotheses, references)


def test_an_empty_hypothesis_keeps_its_place():
    assert ev.exact_match(["", "I go"], ["He eats", "I go"]).tolist() == [False, True]
    lines = ["I go to school every day."] * 2
    assert 0 < ev.bleu(["", lines[1]], lines).value < ev.bleu(lines, lines).value


def test_exact_match_ignores_runs_of_spaces_and_nothing_else():
    hypotheses = [" I  go\tto school ", "i go to school", "I go to school.", "I go toschool"]
    assert ev.exact_match(hypotheses, ["I go to school"] * 4).tolist() == [True, False, False, False]


# --------------------------------------------------------------------------------------- by length and by tag


def test_length_groups_have_their_edges_in_the_right_group():
    groups = ev.length_groups([3, 7, 8, 15, 16, 23, 24, 31, 32, 90])
    assert [(label, places.tolist()) for label, places in groups] == [
        ("<8", [0, 1]),
        ("8–15", [2, 3]),
        ("16–23", [4, 5]),
        ("24–31", [6, 7]),
        ("≥32", [8, 9]),
    ]


def test_length_groups_without_a_sentence_are_left_out_and_a_group_of_one_length_has_a_short_name():
    assert [label for label, _ in ev.length_groups([5, 1], edges=(4, 5, 6))] == ["<4", "5"]
    with pytest.raises(ValueError, match="larger than the one before"):
        ev.length_groups([1], edges=(8, 4))


def test_by_length_counts_and_has_wilson_intervals():
    rows = ev.by_length(np.array([True, True, False, True]), [3, 4, 9, 40])
    assert [(row.label, row.n, row.mean) for row in rows] == [
        ("<8", 2, 1.0),
        ("8–15", 1, 0.0),
        ("≥32", 1, 1.0),
    ]
    assert (rows[0].low, rows[0].high) == ev.wilson_interval(2, 2)
    assert json.loads(json.dumps(asdict(rows[0])))["n"] == 2


def test_by_length_of_other_numbers_has_bootstrap_intervals():
    (row,) = ev.by_length([0.5, 1.5, 2.5], [1, 1, 1])
    assert (row.low, row.high) == ev.bootstrap_interval([0.5, 1.5, 2.5])


def test_by_tag_counts_a_pair_once_for_each_of_its_tags():
    pairs = [Pair("क", "a", tags=("kal", "ergative")), Pair("ख", "b", tags=("kal",)), Pair("ग", "c")]
    rows = ev.by_tag([1, 0, 1], pairs)
    assert [(row.label, row.n, row.mean) for row in rows] == [
        ("ergative", 1, 1.0),
        ("kal", 2, 0.5),
        ("untagged", 1, 1.0),
    ]


@pytest.mark.parametrize("function", [ev.by_length, ev.by_tag])
def test_a_value_for_each_sentence_is_needed(function):
    with pytest.raises(ValueError, match="2 values and 1"):
        function([1, 0], [3])


# -------------------------------------------------------------------------------------------------- intervals


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),  # Newcombe 1998, table I, method 3
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (20, 20, 1 - 0.1611, 1.0),
    ],
)
def test_wilson_interval_against_published_values(successes, n, low, high):
    assert ev.wilson_interval(successes, n) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (3, 2), (-1, 4)])
def test_wilson_interval_needs_counts(successes, n):
    with pytest.raises(ValueError, match="successes"):
        ev.wilson_interval(successes, n)


def test_bootstrap_of_a_mean_is_near_the_normal_interval():
    values = np.random.default_rng(1).normal(5.0, 2.0, size=400)
    half = 1.96 * values.std() / math.sqrt(400)
    assert ev.bootstrap_interval(values, samples=8_000) == pytest.approx(
        (values.mean() - half, values.mean() + half), abs=0.02
    )


def test_bootstrap_of_two_values_by_hand():
    # The mean of two draws from {0, 1} is 0, ½ or 1 with probability ¼, ½, ¼.
    assert ev.bootstrap_interval([0, 1], level=0.95) == (0.0, 1.0)
    assert ev.bootstrap_interval([0, 1], level=0.4) == (0.5, 0.5)


def test_bootstrap_is_repeatable_and_a_statistic_sees_a_resample_of_the_same_size():
    values, sizes = list(range(30)), set()

    def median(sample: np.ndarray) -> float:
        sizes.add(len(sample))
        return float(np.median(sample))

    first = ev.bootstrap_interval(values, median, samples=200, seed=3)
    assert first == ev.bootstrap_interval(values, median, samples=200, seed=3)
    assert sizes == {30}
    assert first[0] < 14.5 < first[1]
    assert ev.bootstrap_interval(values, np.mean, samples=100) == pytest.approx(
        ev.bootstrap_interval(values, samples=100)
    )


def test_bootstrap_over_places_serves_a_corpus_score():
    def score(places: np.ndarray) -> float:
        return ev.chrf([HYPOTHESES[k] for k in places], [REFERENCES[k] for k in places]).value

    low, high = ev.bootstrap_interval(range(5), score, samples=50)
    assert low < ev.chrf(HYPOTHESES, REFERENCES).value < high


def test_bootstrap_of_equal_values_has_no_width_and_wilson_has():
    assert ev.bootstrap_interval([1] * 20) == (1.0, 1.0)
    assert ev.wilson_interval(20, 20)[0] < 0.85


def test_bootstrap_needs_values():
    for values in ([], 3.0):
        with pytest.raises(ValueError, match="at least one value"):
            ev.bootstrap_interval(values)


def test_many_values_are_resampled_in_parts():
    low, high = ev.bootstrap_interval(np.arange(200_000) % 2, samples=60)
    assert 0.49 < low < 0.5 < high < 0.51


def test_paired_difference_is_surer_than_two_intervals():
    hard = np.random.default_rng(0).uniform(size=300)
    better, worse = hard + 0.05, hard
    difference, low, high = ev.paired_bootstrap_difference(better, worse)
    assert (difference, low, high) == pytest.approx((0.05, 0.05, 0.05))
    assert ev.bootstrap_interval(better)[0] < ev.bootstrap_interval(worse)[1]
    assert ev.paired_bootstrap_difference([1, 0, 1, 1], [0, 1, 1, 1], seed=5)[0] == 0.0
    with pytest.raises(ValueError, match="2 values of a and 1 values of b"):
        ev.paired_bootstrap_difference([1, 2], [1])


# ------------------------------------------------------------------------------- attention against alignments


def test_folding_sums_over_source_pieces_and_averages_over_target_pieces():
    # Source pieces: a1 a2 b </s>; target pieces: x1 x2 y </s>.
    weights = [[0.1, 0.2, 0.3, 0.4], [0.5, 0.3, 0.0, 0.2], [0.0, 0.1, 0.9, 0.0], [0.25, 0.25, 0.25, 0.25]]
    folded = ev.fold_to_words(weights, source_words=[0, 0, 1], target_words=[0, 0, 1])
    np.testing.assert_allclose(folded, [[(0.3 + 0.8) / 2, (0.3 + 0.0) / 2], [0.1, 0.9]])
    assert (folded.sum(axis=1) <= 1 + 1e-12).all()


def test_folding_whole_words_changes_nothing_and_rows_keep_their_sum():
    weights = np.random.default_rng(0).dirichlet(np.ones(5), size=4)
    np.testing.assert_array_equal(ev.fold_to_words(weights, range(5), range(4)), weights)
    np.testing.assert_allclose(ev.fold_to_words(weights, [0, 1, 1, 2, 2], [0, 0, 1, 2]).sum(axis=1), 1.0)


def test_folding_takes_tensors_and_refuses_a_transposed_matrix():
    torch = pytest.importorskip("torch")
    weights = torch.full((3, 4), 0.25, requires_grad=True)
    assert ev.fold_to_words(weights, [0, 0, 1, 1], [0, 1, 2]).tolist() == [[0.5, 0.5]] * 3
    with pytest.raises(ValueError, match=r"shape \(4, 3\) for 3 target and 4 source pieces"):
        ev.fold_to_words(weights.T, [0, 0, 1, 1], [0, 1, 2])


def test_predicted_links_are_source_then_target_and_the_first_of_equals():
    assert ev.predicted_links([[0.1, 0.9, 0.0], [0.4, 0.2, 0.4]]) == {(1, 0), (0, 1)}
    assert ev.predicted_links([[0.1, 0.9], [0.5, 0.4]], threshold=0.6) == {(1, 0)}
    assert ev.predicted_links([[0.0, 0.0], [0.0, 0.1]]) == {(1, 1)}
    assert ev.predicted_links(np.empty((0, 3))) == set()


def test_alignment_error_rate_by_hand():
    # A = {00, 11, 22, 31}, S = {00, 11, 32}, P = S ∪ {22}: |A∩S| = 2, |A∩P| = 3, so 1 − 5/7.
    pair = Pair("a b c d", "w x y", sure=((0, 0), (1, 1), (3, 2)), possible=((0, 0), (1, 1), (3, 2), (2, 2)))
    predicted = {(0, 0), (1, 1), (2, 2), (3, 1)}
    assert ev.alignment_error_rate([predicted], [pair]) == pytest.approx(1 - 5 / 7)
    # Sure links count as possible ones whether or not the pair repeats them.
    short = Pair("a b c d", "w x y", sure=pair.sure, possible=((2, 2),))
    assert ev.alignment_error_rate([predicted], [short]) == pytest.approx(1 - 5 / 7)


def test_alignment_error_rate_is_counted_over_the_corpus():
    right = Pair("a", "x", sure=((0, 0),))
    wrong = Pair("a b c", "x y z", sure=((0, 0), (1, 1), (2, 2)))
    # Pair by pair 0 and 1, whose mean is ½; over the corpus 1 − (1 + 1) / (4 + 4).
    rate = ev.alignment_error_rate([{(0, 0)}, {(0, 1), (1, 2), (2, 0)}], [right, wrong])
    assert rate == pytest.approx(0.75)


def test_alignment_error_rate_of_links_turned_around_shows():
    pair = Pair("a b c", "x y z", sure=((0, 0), (2, 1), (1, 2)), possible=((1, 0),))
    assert ev.alignment_error_rate([set(pair.sure)], [pair]) == 0.0
    assert ev.alignment_error_rate([{(0, 0), (0, 1)}], [pair]) > 0.0
    assert ev.alignment_error_rate([{(1, 0)}], [pair]) == pytest.approx(1 - 1 / 4)


def test_alignment_error_rate_needs_gold_links():
    with pytest.raises(ValueError, match=r"pairs\[0\] has no gold alignment"):
        ev.alignment_error_rate([{(0, 0)}], [Pair("a", "x")])
    with pytest.raises(ValueError, match="2 sets of links and 1 pairs"):
        ev.alignment_error_rate([set(), set()], [Pair("a", "x", sure=((0, 0),))])
    with pytest.raises(ValueError, match="no link is predicted"):
        ev.alignment_error_rate([set()], [Pair("a", "x", possible=((0, 0),))])


SEED = Pair("मैं स्कूल जाता हूँ", "I go to school", sure=((0, 0), (2, 1), (1, 3)), possible=((3, 1),))


def test_pointing_counts_content_words_with_a_sure_link():
    weights = np.array([[0.1, 0.9, 0, 0], [0, 0.1, 0.5, 0.4], [0, 0, 0, 1.0], [0.6, 0.4, 0, 0]])
    # "go" is right, "school" wrong; "I" is of a closed class, "to" has no sure link.
    assert ev.pointing_counts([weights], [SEED]) == (1, 2)
    assert ev.pointing_counts([weights], [SEED], keep=lambda word: True) == (1, 3)
    assert ev.pointing_accuracy([weights, weights], [SEED, SEED]) == 0.5


def test_pointing_gives_nothing_for_ties_and_empty_rows():
    assert ev.pointing_counts([np.full((4, 4), 0.25)], [SEED]) == (0, 2)
    assert ev.pointing_counts([np.zeros((4, 4))], [SEED]) == (0, 2)


def test_pointing_accepts_any_of_several_sure_words():
    pair = Pair("साफ़ करता", "cleans", sure=((0, 0), (1, 0)))
    assert ev.pointing_counts([[[0.5, 0.5]]], [pair]) == (1, 1)
    assert ev.pointing_counts([[[0.2, 0.8]]], [pair]) == (1, 1)


def test_pointing_refuses_weights_that_are_not_of_the_reference():
    with pytest.raises(ValueError, match=r"'I go to school' has 4 words"):
        ev.pointing_counts([np.ones((5, 4)) / 4], [SEED])
    assert math.isnan(ev.pointing_accuracy([], []))


@pytest.mark.parametrize(
    ("word", "content"), [("school", True), ("The", False), (".", False), ("12", True), ("she", False)]
)
def test_content_words(word, content):
    assert ev.is_content_word(word) is content


def test_pointing_may_count_possible_links() -> None:
    pair = Pair("घर में है", "is in home", sure=((0, 2), (1, 1), (2, 0)), possible=((1, 2),))
    weights = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.1, 0.9, 0.0]])  # "home" looks at में
    assert ev.pointing_counts([weights], [pair]) == (0, 1)
    assert ev.pointing_counts([weights], [pair], possible=True) == (1, 1)
    weights[2] = [0.1, 0.0, 0.9]  # and now at है, which no link allows
    assert ev.pointing_counts([weights], [pair], possible=True) == (0, 1)


def test_bleu_without_a_right_run_of_four_is_smoothed_and_not_zero() -> None:
    """n-grams right: 4 of 6, 2 of 5, 1 of 4, 0 of 3; 'exp' smoothing takes 1/(2·3) for the last.

    The fourth root of 4/6 · 2/5 · 1/4 · 1/6 is 0.3247, worked out by hand.
    """
    assert ev.bleu(["a b c d e f"], ["a b c x e y"]).value == pytest.approx(100 * (4 / 6 * 2 / 5 / 4 / 6) ** 0.25)
