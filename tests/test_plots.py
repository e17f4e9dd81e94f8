"""What a reader sees and hears: Hindi in its right shape, labels in their places, a text for every picture."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.font_manager import FontProperties, fontManager
from matplotlib.text import Text

from lib import pictures, plots
from lib.evaluation import Row

WEIGHTS = [[0.7, 0.1, 0.1, 0.05, 0.05], [0.0, 0.2, 0.6, 0.2, 0.0], [0.1, 0.4, 0.1, 0.4, 0.0]]
SOURCE = ["मैं", "स्कूल", "जाता", "हूँ", "।"]
TARGET = ["I", "go", "."]
ODD_LABELS = ["▁किसान", "क्ष", "१२।", "<eos>", "Hello", "⁇", "$x_1$", "a^b", "100 %", "\\frac", "ि"]


def ink(text: str) -> np.ndarray:
    """Which pixels are dark where the text is drawn, cut to its ink."""
    with pictures.course_style():
        figure, axes = pictures.new_figure(4, 1)
        axes.set_axis_off()
        axes.text(0.1, 0.4, text, fontsize=30, color="black")
        file = io.BytesIO()
        figure.savefig(file, format="rgba", dpi=100)
    dark = np.frombuffer(file.getvalue(), np.uint8).reshape(100, 400, 4)[:, :, 0] < 128
    columns = np.flatnonzero(dark.any(axis=0))
    return dark[:, columns[0] : columns[-1] + 1]


def tick_labels(axis) -> list[str]:
    return [label.get_text() for label in axis.get_ticklabels()]


# ---------------------------------------------------------------------------------------------- Hindi, shaped


def test_the_sign_i_stands_before_its_consonant():
    unchanged = ink("क")[:, :6]
    assert np.array_equal(ink("का")[:, :6], unchanged)
    assert not np.array_equal(ink("कि")[:, :6], unchanged)


def test_a_conjunct_is_much_narrower_than_its_letters():
    assert ink("क्ष").shape[1] < 0.75 * ink("कष").shape[1]


def test_two_spellings_of_a_nukta_letter_look_the_same():
    assert np.array_equal(ink("\u092b\u093c"), ink("\u095e"))


def test_the_font_is_the_one_that_comes_with_the_package():
    import fontpkg_noto_sans_devanagari as package

    family = pictures.devanagari_font()
    found = Path(fontManager.findfont(FontProperties(family=[family]), fallback_to_default=False))
    assert found.parent == Path(package.ROOT) / "files"


def test_no_font_of_the_system_is_used(monkeypatch):
    import fontpkg_noto_sans_devanagari as package

    family = pictures.devanagari_font()
    ours = (str(Path(package.ROOT)), matplotlib.get_data_path())
    monkeypatch.setattr(fontManager, "ttflist", [e for e in fontManager.ttflist if e.fname.startswith(ours)])
    with pictures.course_style():
        assert matplotlib.rcParams["font.family"] == ["DejaVu Sans", family]
        paths = [fontManager.findfont(name, fallback_to_default=False) for name in ("DejaVu Sans", family)]
    assert all(path.startswith(ours) for path in paths)
    assert plots.heatmap(WEIGHTS, SOURCE, TARGET).png


def test_odd_labels_are_drawn_as_they_are(recwarn, capfd, caplog):
    n = len(ODD_LABELS)
    picture = plots.heatmap(np.eye(n), ODD_LABELS, ODD_LABELS, title="$x^2$ कि_")
    assert picture.png.startswith(b"\x89PNG")
    (axes,) = picture.figure.axes
    assert tick_labels(axes.xaxis) == ODD_LABELS == tick_labels(axes.yaxis)
    assert not any(text.get_parse_math() for text in picture.figure.findobj(Text) if text.get_text())
    assert not recwarn.list
    assert not caplog.records
    assert capfd.readouterr() == ("", "")


def test_a_letter_that_no_font_has_is_drawn_without_a_warning(recwarn, capfd):
    assert plots.heatmap([[0.5, 0.5]], ["漢字", "🙂"], ["x"]).png
    assert not recwarn.list
    assert capfd.readouterr() == ("", "")


def test_without_shaping_labels_are_transliterated(monkeypatch):
    monkeypatch.setattr(pictures, "devanagari_font", lambda: None)
    picture = plots.heatmap(WEIGHTS, SOURCE, TARGET, title="मैं")
    assert picture.png
    assert tick_labels(picture.figure.axes[0].xaxis) == ["maiṁ", "skūla", "jātā", "hūm̐", "."]
    assert "I → मैं" in picture.alt


def test_a_matplotlib_without_shaping_is_noticed(monkeypatch):
    monkeypatch.setattr(matplotlib.ft2font, "__libraqm_version__", None)
    assert pictures.devanagari_font.__wrapped__() is None


@pytest.mark.parametrize(
    ("hindi", "latin"),
    [
        ("किताब", "kitāba"),
        ("हिन्दी", "hindī"),
        ("क्षत्रिय", "kṣatriya"),
        ("अंक", "aṁka"),
        ("हूँ", "hūm̐"),
        ("दुःख", "duḥkha"),
        ("लड़का", "laṛakā"),
        ("पढ़ना", "paṛhanā"),
        ("ऑफ़िस", "ôfisa"),
        ("\u0911\u095e\u093f\u0938", "ôfisa"),
        ("ज़्यादा", "zyādā"),
        ("ऋषि", "r̥ṣi"),
        ("कृपा", "kr̥pā"),
        ("औरत", "aurata"),
        ("१२।", "12."),
        ("क्‍ष", "kṣa"),
        ("▁किसान <eos>", "▁kisāna <eos>"),
        ("", ""),
        ("े", "ē"),
    ],
)
def test_transliteration(hindi, latin):
    import unicodedata

    assert pictures.transliterate(hindi) == unicodedata.normalize("NFC", latin)


def test_transliteration_leaves_nothing_of_the_hindi_alphabet():
    letters = [chr(code) for code in (*range(0x901, 0x904), *range(0x905, 0x90C), *range(0x915, 0x94E))]
    left = [letter for letter in letters if re.search("[ऀ-ॿ]", pictures.transliterate("क" + letter + "क"))]
    assert set(left) <= {"ॄ", "ॆ", "ॊ", "ऺ", "ऻ"}  # not used in Hindi


# -------------------------------------------------------------------------------------------------- heat maps


def test_rows_are_the_target_and_columns_the_source():
    (axes,) = plots.heatmap(WEIGHTS, SOURCE, TARGET).figure.axes
    assert axes.get_xticks().tolist() == [0, 1, 2, 3, 4]
    assert axes.get_yticks().tolist() == [0, 1, 2]
    assert (tick_labels(axes.xaxis), tick_labels(axes.yaxis)) == (SOURCE, TARGET)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("source (Hindi)", "target (English)")
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the first target word is at the top
    np.testing.assert_array_equal(axes.images[0].get_array(), WEIGHTS)


def test_every_value_of_a_small_matrix_stands_in_its_cell_and_the_largest_is_bold():
    (axes,) = plots.heatmap(WEIGHTS, SOURCE, TARGET).figure.axes
    values = {text.get_position(): text for text in axes.texts}
    assert {place: text.get_text() for place, text in values.items()} == {
        (s, t): f"{WEIGHTS[t][s]:.2f}" for t in range(3) for s in range(5)
    }
    assert [place for place, text in values.items() if text.get_weight() == "bold"] == [
        (0, 0),
        (2, 1),
        (1, 2),
        (3, 2),
    ]


def test_text_in_a_cell_has_contrast():
    def light(colour: str) -> float:
        parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        parts = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    for low in (0.0, -1.0):
        (fills,), (inks,) = plots._fills_and_inks(np.linspace(low, 1, 101)[None])
        for colours in zip(fills, inks, strict=True):
            dark, bright = sorted(map(light, colours))
            assert (bright + 0.05) / (dark + 0.05) >= 4.5, colours


def test_each_series_has_a_look_of_its_own():
    for looks in (plots.COLOURS, plots.MARKERS, plots.DASHES, plots.HATCHES):
        assert len(set(looks)) == 8


def test_a_large_matrix_has_dots_in_place_of_values_and_says_so():
    weights = np.random.default_rng(0).dirichlet(np.ones(40), size=30)
    picture = plots.heatmap(weights, ["शब्द"] * 40, ["word"] * 30, mark=[(0, 0)])
    axes = picture.figure.axes[0]
    assert not axes.texts
    dots = [line.get_xydata().tolist() for line in axes.lines]
    assert dots == [[[int(row.argmax()), t]] for t, row in enumerate(weights)]
    assert picture.figure.get_supxlabel() == "dot: largest weight of the row   outlined: gold alignment"
    assert picture.figure.get_figwidth() < 10
    assert picture.alt.endswith("and 18 more rows.")


def test_gold_links_are_outlined_as_source_and_target():
    (axes,) = plots.heatmap(WEIGHTS, SOURCE, TARGET, mark=[(4, 2)]).figure.axes
    (box,) = axes.patches
    assert box.get_center().tolist() == [4, 2]


@pytest.mark.parametrize("function", [plots.heatmap, plots.heatmap_table])
def test_a_transposed_matrix_is_refused_and_both_lengths_named(function):
    with pytest.raises(ValueError, match=r"shape \(5, 3\), but there are 3 target labels and 5 source labels"):
        function(np.transpose(WEIGHTS), SOURCE, TARGET)


@pytest.mark.parametrize(
    ("weights", "source", "message"),
    [([[float("nan")]], ["a"], "nan"), ([0.5, 0.5], ["a", "b"], "shape"), (np.empty((1, 0)), [], "shape")],
)
def test_other_matrices_that_cannot_be_drawn(weights, source, message):
    with pytest.raises(ValueError, match=message):
        plots.heatmap(weights, source, ["x"])


def test_a_tensor_with_gradient_and_repeated_labels():
    torch = pytest.importorskip("torch")
    weights = torch.softmax(torch.ones(2, 3, requires_grad=True), -1).bfloat16()
    (axes,) = plots.heatmap(weights, ["का", "का", "का"], ["the", "the"]).figure.axes
    assert tick_labels(axes.xaxis) == ["का", "का", "का"]
    assert tick_labels(axes.yaxis) == ["the", "the"]


def test_scores_of_both_signs_have_a_scale_around_zero():
    picture = plots.heatmap([[1, 0, -2]], ["a", "b", "c"], ["s"], quantity="score", digits=1)
    (axes,) = picture.figure.axes
    assert axes.images[0].get_clim() == (-2, 2)
    assert [text.get_text() for text in axes.texts] == ["1.0", "0.0", "−2.0"]
    assert "Largest score of each row: s → a." in picture.alt


def test_the_text_of_a_heat_map_states_what_it_shows():
    assert plots.heatmap(WEIGHTS, SOURCE, TARGET, title="First step").alt == (
        "First step. Heat map, 3 target rows by 5 source columns. "
        "Largest weight of each row: I → मैं; go → जाता; . → स्कूल and हूँ."
    )
    assert "I → मैं (0.7); go → जाता (0.6)" in plots.heatmap(WEIGHTS, SOURCE, TARGET, alt_digits=1).alt
    assert plots.heatmap(WEIGHTS, SOURCE, TARGET, alt="mine").alt == "mine"


class Cells(HTMLParser):
    """The start tags of a table with their attributes, and its text."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags, self.text = [], []
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text.append(data)


def test_a_heat_map_as_a_table_has_headers_for_both_axes():
    table = plots.heatmap_table(WEIGHTS, SOURCE, ["I", "<eos>", "&"], title="a < b")
    cells = Cells(table.html)
    headers = [(attrs["scope"], attrs["lang"]) for tag, attrs in cells.tags if tag == "th"]
    assert headers == [("col", "hi")] * 5 + [("row", "en")] * 3
    assert cells.text[:7] == ["a < b", *SOURCE, "I"]
    assert cells.text[7:12] == ["0.70", "0.10", "0.10", "0.05", "0.05"]
    assert "<eos>" in cells.text
    bundle = table._repr_mimebundle_()
    assert bundle == {"text/html": table.html, "text/plain": table.alt}
    assert repr(table) == table.alt


# -------------------------------------------------------------------------------------------- curves and bars


LENGTHS = ["<8", "8–15", "≥16"]
SERIES = {
    "no attention": (LENGTHS, [1.0, 0.9, 0.2], [0.95, 0.8, 0.1], [1.0, 0.95, 0.3]),
    "attention": [
        Row(label, 10, mean, mean - 0.1, 1.0) for label, mean in zip(LENGTHS, (1.0, 0.95, 0.9), strict=True)
    ],
}


def test_lines_differ_in_more_than_colour():
    (axes,) = plots.curves({str(k): ([0, 1], [k, k + 1]) for k in range(8)}, "x", "y").figure.axes
    looks = [(line.get_marker(), line.get_color(), str(line._unscaled_dash_pattern)) for line in axes.lines]
    assert all(len(set(part)) == 8 for part in zip(*looks, strict=True))


def test_curves_over_labels_have_whiskers_and_a_legend_in_the_order_of_the_ends():
    (axes,) = plots.curves(SERIES, "length", "exact match", "By length", percent=True, ylim=(0, 1)).figure.axes
    assert tick_labels(axes.xaxis) == LENGTHS
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["attention", "no attention"]
    assert axes.containers, "no whiskers"
    drawn = axes.lines[0].get_ydata()
    np.testing.assert_allclose(drawn, [1.0, 0.9, 0.2])
    assert axes.yaxis.get_major_formatter()(0.5) == "50%"


def test_curves_with_many_points_have_bands():
    x = np.arange(50)
    (axes,) = plots.curves({"loss": (x, x * 1.0, x - 1.0, x + 1.0)}, "step", "loss").figure.axes
    (band,) = axes.collections
    assert band.get_paths()[0].get_extents().bounds == pytest.approx((0, -1, 49, 51))
    assert axes.get_legend() is None


def test_curves_of_stretches_without_a_value():
    picture = plots.curves({"a": ([1, 2, 3], [0.5, 0.7, float("nan")]), "b": ([1, 2], [1, 0.2])}, "x", "y")
    assert picture.png
    assert picture.alt == "Line chart of y against x, 2 lines: a; b. At the right end: highest a; lowest b."


def test_logarithmic_axes_have_plain_numbers():
    (axes,) = plots.curves({"a": ([10, 1000], [1, 200])}, "x", "y", logx=True, logy=True).figure.axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert axes.xaxis.get_major_formatter()(200) == "200"


def test_the_text_of_curves_states_what_they_show():
    assert plots.curves(SERIES, "length", "exact match", "By length.").alt == (
        "By length. Line chart of exact match against length, 2 lines: no attention; attention. "
        "At the right end: highest attention; lowest no attention."
    )
    with_values = plots.curves(SERIES, "length", "exact match", percent=True, alt_digits=0).alt
    assert with_values.endswith("At the right end: attention 90%; no attention 20%.")


@pytest.mark.parametrize("series", [{}, {"a": ([], [])}, {"a": ([1, 2], [1])}, {"a": ([1], [1], [1])}])
@pytest.mark.parametrize("function", [lambda series: plots.curves(series, "x", "y"), lambda s: plots.bars(s, "x")])
def test_series_that_cannot_be_drawn(series, function):
    with pytest.raises(ValueError, match="series"):
        function(series)


def test_nine_lines_are_too_many():
    with pytest.raises(ValueError, match="9 series: give 1 to 8"):
        plots.curves({str(k): ([0], [0]) for k in range(9)}, "x", "y")


def test_bars_carry_their_values_and_differ_in_more_than_colour():
    picture = plots.bars(SERIES, "exact match", "By length", percent=True)
    (axes,) = picture.figure.axes
    assert [text.get_text() for text in axes.texts] == ["100%", "90%", "20%", "100%", "95%", "90%"]
    assert tick_labels(axes.yaxis) == LENGTHS
    assert len({bar.get_hatch() for bar in axes.patches}) == 2
    assert picture.png
    assert picture.alt == (
        "By length. Bar chart of exact match for 3 groups. no attention: highest <8; lowest ≥16. "
        "attention: highest <8; lowest ≥16."
    )


# --------------------------------------------------------------------------------------- what a notebook gets


def test_the_bundle_has_an_image_with_its_text_escaped():
    picture = plots.heatmap(WEIGHTS, SOURCE, TARGET, alt='"<eos>" & more')
    bundle, metadata = picture._repr_mimebundle_()
    assert metadata == {"table": plots.heatmap_table(WEIGHTS, SOURCE, TARGET).html}  # for pages that show both
    assert set(bundle) == {"text/html", "image/png", "text/plain"}
    assert bundle["text/plain"] == '"<eos>" & more' == repr(picture)
    ((tag, attributes),) = Cells(bundle["text/html"]).tags
    assert tag == "img"
    assert attributes["alt"] == '"<eos>" & more'
    assert attributes["src"] == "data:image/png;base64," + bundle["image/png"]
    assert "max-width:100%" in attributes["style"]


def test_the_same_picture_is_the_same_file():
    assert plots.heatmap(WEIGHTS, SOURCE, TARGET).png == plots.heatmap(WEIGHTS, SOURCE, TARGET).png


def test_ipython_shows_the_bundle():
    formatter = pytest.importorskip("IPython.core.formatters").DisplayFormatter()
    data, _ = formatter.format(plots.heatmap(WEIGHTS, SOURCE, TARGET))
    assert {"text/html", "image/png", "text/plain"} <= set(data)


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_pictures_can_be_saved(tmp_path, ending):
    path = tmp_path / f"किताब.{ending}"
    plots.heatmap(WEIGHTS, SOURCE, TARGET).save(path)
    assert path.stat().st_size > 1_000


def test_drawing_leaves_the_settings_of_matplotlib_alone():
    before = dict(matplotlib.rcParams)
    assert plots.curves(SERIES, "x", "y").png
    assert dict(matplotlib.rcParams) == before


def test_the_course_style_can_be_had_for_own_figures():
    with matplotlib.rc_context():
        pictures.use_course_style()
        assert matplotlib.rcParams["font.family"] == ["DejaVu Sans", "Noto Sans Devanagari"]
        assert matplotlib.rcParams["text.parse_math"] is False


def test_importing_and_drawing_need_neither_pyplot_nor_torch():
    code = (
        "import sys; from lib import plots; assert 'matplotlib' not in sys.modules, 'imported early';"
        "plots.heatmap([[1.0]], ['क'], ['k']).png;"
        "assert not {'matplotlib.pyplot', 'torch', 'lib.evaluation'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_tie_is_not_told_as_a_ranking() -> None:
    tie = plots.curves({"a": ([1, 2], [0.0, 1.0]), "b": ([1, 2], [0.5, 1.0])}, "x", "y")
    assert "all equal" in tie.alt and "highest" not in tie.alt
    three = plots.curves({"a": ([1], [1.0]), "b": ([1], [0.0]), "c": ([1], [0.0])}, "x", "y")
    assert "highest a; lowest b and c" in three.alt
    assert "lowest" not in plots.curves({"a": ([1], [1.0])}, "x", "y").alt
