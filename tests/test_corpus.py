"""Readers that lose nothing in silence, what is written is read again, and splits that do not leak."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from lib.corpus import HEADER, Dropped, Pair, ParallelCorpus, comparison_key, data_path, load
from lib.text import PUNCTUATION, words


def written(folder: Path, content: str | bytes, name: str = "pairs.tsv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def sides(corpus: ParallelCorpus) -> list[tuple[str, str]]:
    return [(pair.source, pair.target) for pair in corpus]


# ------------------------------------------------------------------------------------------------ ManyThings

MANYTHINGS = "Go.\tजाओ।\tCC-BY 2.0 (France) #1 (x) & #2 (y)\nRun!\tदौड़ो!\nWho?\tकौन?\tCC-BY\t#3\n"
THREE = [("जाओ।", "Go."), ("दौड़ो!", "Run!"), ("कौन?", "Who?")]


def test_two_three_and_four_columns(tmp_path: Path) -> None:
    corpus = ParallelCorpus.read(written(tmp_path, MANYTHINGS))
    assert sides(corpus) == THREE
    assert [pair.attribution for pair in corpus] == ["CC-BY 2.0 (France) #1 (x) & #2 (y)", "", "CC-BY #3"]
    assert corpus.dropped == []


def test_either_order_of_the_columns(tmp_path: Path) -> None:
    path = written(tmp_path, "जाओ।\tGo.\nRun!\tदौड़ो!\n")
    assert sides(ParallelCorpus.read_manythings(path)) == THREE[:2]
    assert sides(ParallelCorpus.read_manythings(path, source_column=0)) == [THREE[0], ("Run!", "दौड़ो!")]
    with pytest.raises(ValueError, match="source_column=2.*0 or 1"):
        ParallelCorpus.read_manythings(path, source_column=2)


def test_bad_lines_are_reported_and_good_ones_all_read(tmp_path: Path) -> None:
    content = "Go.\tजाओ।\n\nonly one column\n\tकौन?\nWho?\t \u200d \nabc\tdef\nRun!\tदौड़ो!\n"
    corpus = ParallelCorpus.read(written(tmp_path, content))
    assert sides(corpus) == THREE[:2]
    assert [drop.line for drop in corpus.dropped] == [2, 3, 4, 5, 6]
    reasons = [drop.reason for drop in corpus.dropped]
    assert reasons[0] == "blank line"
    assert reasons[1] == "1 column, expected at least 2"
    assert reasons[2] == "one side is empty"
    assert "Hindi" in reasons[4]
    assert "2 pairs" in repr(corpus) and "5 lines dropped" in repr(corpus)


def test_ids_before_the_sides(tmp_path: Path) -> None:
    """Tatoeba's own export has the number of each sentence before it."""
    corpus = ParallelCorpus.read(written(tmp_path, "52027\tGo.\t6179147\tजाओ।\n12\tकौन?\t13\tWho?\n"))
    assert sides(corpus) == [("जाओ।", "Go."), ("कौन?", "Who?")]
    assert corpus[0].attribution == "tatoeba.org #52027 & #6179147"


@pytest.mark.parametrize("column", [0, 1])
def test_a_source_empty_after_cleaning_takes_its_partner_along(tmp_path: Path, column: int) -> None:
    row = ["\u200b \ufeff", "x"] if column == 0 else ["x", "\u200b"]
    corpus = ParallelCorpus.read_manythings(written(tmp_path, "\t".join(row) + "\nक\tb\n"), source_column=0)
    assert sides(corpus) == [("क", "b")]
    assert corpus.dropped == [Dropped(1, "one side is empty")]


def test_lone_quotes_and_na_are_plain_text(tmp_path: Path) -> None:
    content = '"Go.\tजाओ।\nNA\tलागू नहीं\nnull\tशून्य\nRun"\t"दौड़ो\n"a\tक"\n'
    corpus = ParallelCorpus.read(written(tmp_path, content))
    assert sides(corpus) == [
        ("जाओ।", '"Go.'),
        ("लागू नहीं", "NA"),
        ("शून्य", "null"),
        ('"दौड़ो', 'Run"'),
        ('क"', '"a'),
    ]
    assert corpus.dropped == []


@pytest.mark.parametrize(
    "content",
    [
        MANYTHINGS.encode(),
        MANYTHINGS.replace("\n", "\r\n").encode(),
        MANYTHINGS.encode("utf-8-sig"),
        MANYTHINGS.replace("\n", "\r\n").encode("utf-8-sig"),
        MANYTHINGS.rstrip("\n").encode(),
    ],
    ids=["lf", "crlf", "bom", "bom-crlf", "no-last-line-end"],
)
def test_line_ends_and_a_mark_change_nothing(tmp_path: Path, content: bytes) -> None:
    assert (
        ParallelCorpus.read(written(tmp_path, content)).pairs
        == ParallelCorpus.read(written(tmp_path, MANYTHINGS, "plain.tsv")).pairs
    )


@pytest.mark.parametrize("strange", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e"])
def test_only_a_line_feed_ends_a_line(tmp_path: Path, strange: str) -> None:
    corpus = ParallelCorpus.read(written(tmp_path, f"a{strange}b\tक{strange}ख\nRun!\tदौड़ो!\n"))
    assert sides(corpus) == [(f"क{strange}ख", f"a{strange}b"), ("दौड़ो!", "Run!")]
    hindi, english = written(tmp_path, f"क{strange}ख\nग\n", "hi"), written(tmp_path, "a b\nc\n", "en")
    assert len(ParallelCorpus.read_parallel(hindi, english)) == 2


@pytest.mark.parametrize(
    ("content", "line", "word"),
    [
        (MANYTHINGS.encode("utf-16"), 1, "UTF-16"),
        (b"\xfe\xff" + MANYTHINGS.encode("utf-16-be"), 1, "UTF-16"),
        ("Go.\tजाओ।\n".encode() + "Café\t\n".encode("cp1252"), 2, "UTF-8"),
        ("“Go”\tx\n".encode("cp1252"), 1, "UTF-8"),
        (MANYTHINGS.encode("utf-16-le"), 1, "UTF-16"),
        (MANYTHINGS.encode("utf-16-be"), 1, "UTF-16"),
        (MANYTHINGS.replace("\n", "\r").encode(), 1, "carriage return"),
    ],
)
def test_other_encodings_are_an_error_with_the_line(tmp_path: Path, content: bytes, line: int, word: str) -> None:
    path = written(tmp_path, content)
    with pytest.raises(ValueError, match=rf"pairs\.tsv, line {line}: .*{word}"):
        ParallelCorpus.read(path)


def test_no_dependence_on_the_locale(tmp_path: Path) -> None:
    path = written(tmp_path, MANYTHINGS)
    program = "import sys; from lib.corpus import *; print(ascii(ParallelCorpus.read(sys.argv[1]).pairs))"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program, path],
            env={**os.environ, "LC_ALL": locale, "PYTHONUTF8": utf8, "PYTHONCOERCECLOCALE": "0"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for locale, utf8 in (("C", "0"), ("C.UTF-8", "1"))
    }
    assert len(outputs) == 1


def test_an_empty_file_has_no_pairs(tmp_path: Path) -> None:
    assert len(ParallelCorpus.read(written(tmp_path, ""))) == 0


# ------------------------------------------------------------------------------------------------ parallel files


def test_parallel_files(tmp_path: Path) -> None:
    hindi, english = written(tmp_path, "जाओ।\n\nकौन?\n", "a.hi"), written(tmp_path, "Go.\nx\nWho?\r\n", "a.en")
    corpus = ParallelCorpus.read_parallel(hindi, english)
    assert sides(corpus) == [("जाओ।", "Go."), ("कौन?", "Who?")]
    assert corpus.dropped == [Dropped(2, "one side is empty")]


def test_parallel_files_of_unequal_length(tmp_path: Path) -> None:
    hindi, english = written(tmp_path, "क\nख\nग\n", "a.hi"), written(tmp_path, "a\nb\n", "a.en")
    with pytest.raises(ValueError, match=r"a\.hi has 3 lines and .*a\.en has 2"):
        ParallelCorpus.read_parallel(hindi, english)


def test_a_tab_in_a_parallel_file_stays_on_its_side(tmp_path: Path) -> None:
    hindi, english = written(tmp_path, "क\tख\n", "a.hi"), written(tmp_path, "a\tb\n", "a.en")
    assert [text.split() for text in sides(ParallelCorpus.read_parallel(hindi, english))[0]] == [
        ["क", "ख"],
        ["a", "b"],
    ]


# ------------------------------------------------------------------------------------------------ own format

PAIRS = [
    Pair("राम जाता है।", "Ram goes.", ((0, 0), (1, 1), (3, 2)), ((2, 1),), ("auxiliaries", "kal")),
    Pair("राम", "Ram", ((0, 0),)),
    Pair('"हाँ"', "yes"),
]


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "किताब.tsv"
    ParallelCorpus(PAIRS).write_tsv(path)
    assert ParallelCorpus.read(path).pairs == ParallelCorpus.read_tsv(path).pairs == PAIRS
    assert path.read_bytes().decode() == (
        "hindi\tenglish\talignment\ttags\n"
        "राम जाता है।\tRam goes.\t0-0 1-1 2?1 3-2\tauxiliaries,kal\n"
        'राम\tRam\t0-0\t\n"हाँ"\tyes\t\t\n'
    )


@pytest.mark.parametrize("name", ["test", "long", "challenge/kal", "everyday"])
def test_real_corpora_survive_the_round_trip(tmp_path: Path, name: str) -> None:
    corpus = load(name)
    corpus.write_tsv(tmp_path / "x.tsv")
    assert ParallelCorpus.read(tmp_path / "x.tsv").pairs == corpus.pairs
    assert corpus.dropped == []


@pytest.mark.parametrize("text", ["राम\tजाता", "राम\nजाता"])
def test_a_text_that_would_break_the_columns_does_not(tmp_path: Path, text: str) -> None:
    """A tab or a line feed in a text is white space to the models; in the file it must not start a new cell."""
    path = tmp_path / "x.tsv"
    ParallelCorpus([Pair(text, "Ram goes", ((1, 1),))]).write_tsv(path)
    again = ParallelCorpus.read_tsv(path)
    assert again.dropped == []
    assert words(again[0].source) == ["राम", "जाता"] and again[0].sure == ((1, 1),)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("राम\tRam\t0-0", "3 columns, expected 4"),
        ("राम\tRam\t0-0\tx\ty\tz", "6 columns, expected 4, or 5 with an attribution"),
        ("राम", "1 column, expected 4"),
        (" ", "blank line"),
        ("राम\tRam\t0:0\t", "a link is not like 0-0 or 1?3: '0:0'"),
        ("राम\tRam\t0-1\t", "outside the sentence: 1 source and 1 target words"),
        ("राम\tRam\t1?0\t", "outside the sentence: 1 source and 1 target words"),
        ("राम\tRam\t-1-0\t", "not like 0-0 or 1?3"),
        ("\tRam\t\t", "one side is empty"),
    ],
)
def test_bad_rows_of_the_own_format(tmp_path: Path, row: str, reason: str) -> None:
    corpus = ParallelCorpus.read(written(tmp_path, f"{HEADER}\n{row}\nसीता\tSita\t0-0\t\n"))
    assert sides(corpus) == [("सीता", "Sita")]
    assert corpus.dropped[0].line == 2 and reason in corpus.dropped[0].reason


def test_the_own_reader_wants_the_header(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="does not begin with .*read_manythings"):
        ParallelCorpus.read_tsv(written(tmp_path, MANYTHINGS))


def test_an_unknown_corpus_is_named() -> None:
    with pytest.raises(FileNotFoundError, match="'nothing'.*everyday"):
        load("nothing")


def test_corpora_are_found_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert data_path().is_absolute() and len(load("dev")) == 1_000


def test_slices_and_tags() -> None:
    corpus = ParallelCorpus(PAIRS)
    assert corpus[1:].pairs == PAIRS[1:] and isinstance(corpus[1:], ParallelCorpus)
    assert corpus[-1] == PAIRS[2] and corpus.sources[1] == "राम" and corpus.targets[1] == "Ram"
    assert corpus.with_tag("kal").pairs == PAIRS[:1]


# ------------------------------------------------------------------------------------------------ comparison key


@pytest.mark.parametrize(
    "other", ["वह पढ़ता है।", "वह पढ़ता है", "वह  पढ़ता है ॥", "वह पढ\u093cता है|", "वह पढता है", "वह प\u095dता, है"]
)
def test_near_duplicates_have_one_key(other: str) -> None:
    assert comparison_key(other, "hi") == "वहपढताहै"


def test_the_key_of_a_composed_nukta_letter() -> None:
    """NFC composes ऩ and ऱ, unlike क़; the key has no nukta in either."""
    assert comparison_key("ऩऱक़", "hi") == comparison_key("नरक", "hi") == "नरक"


def test_texts_without_a_letter_keep_apart() -> None:
    assert comparison_key("🙂", "hi") != comparison_key("?!", "hi") != ""
    assert len(ParallelCorpus([Pair("🙂", "a"), Pair("?", "b"), Pair("…", "c")]).split(1, 1)[0]) == 1


def test_different_sentences_have_different_keys() -> None:
    assert comparison_key("की", "hi") != comparison_key("कि", "hi") != comparison_key("क", "hi")
    assert comparison_key("12", "hi") == comparison_key("१२", "hi") != comparison_key("13", "hi")
    assert comparison_key("It's OK!", "en") == comparison_key("its ok", "en") == "itsok"


# ------------------------------------------------------------------------------------------------ split


def messy(groups: int = 120) -> list[Pair]:
    """Groups of one to four near-duplicates, and in every tenth a second Hindi sentence for the same English."""
    pairs = []
    for g in range(groups):
        hindi = f"पड़ोसी {g} रोज़ आता है"
        forms = [hindi, hindi + "।", hindi.replace("ड़", "ड"), hindi.replace(" ", "  ") + "|"]
        pairs += [Pair(form, f"Translation {place} of {g}.") for place, form in enumerate(forms[: 1 + g % 4])]
        if g % 10 == 0:
            pairs.append(Pair(f"दूसरा वाक्य {g}", f"translation 0 of {g}"))
    return pairs


def keys(corpus: ParallelCorpus) -> set[str]:
    return {f"{lang} {comparison_key(getattr(p, side), lang)}" for p in corpus for lang, side in SIDES}


SIDES = (("hi", "source"), ("en", "target"))


@pytest.mark.parametrize("seed", range(5))
def test_near_duplicates_never_straddle(seed: int) -> None:
    pairs = messy()
    parts = ParallelCorpus(pairs).split(dev=30, test=40, seed=seed)
    train, dev, test = map(keys, parts)
    assert not train & dev and not train & test and not dev & test
    assert [len(part) for part in parts] == [len(pairs) - 70, 30, 40]
    assert sorted(pair.target for part in parts for pair in part) == sorted(pair.target for pair in pairs)


def test_the_split_does_not_depend_on_the_order() -> None:
    pairs = messy()
    expected = [set(part) for part in ParallelCorpus(pairs).split(30, 40)]
    for seed in range(3):
        random.Random(seed).shuffle(pairs)
        assert [set(part) for part in ParallelCorpus(pairs).split(30, 40)] == expected
    assert [set(part) for part in ParallelCorpus(pairs).split(30, 40, seed=1)] != expected


def test_the_split_keeps_the_order_of_the_file() -> None:
    pairs = messy()
    for part in ParallelCorpus(pairs).split(30, 40):
        assert part.pairs == [pair for pair in pairs if pair in set(part)]


def test_one_sentence_with_three_translations_stays_together() -> None:
    pairs = [Pair("क्या हुआ?", text) for text in ("What happened?", "What is it?", "What's up?")]
    pairs += [Pair(f"वाक्य {n}", f"sentence {n}") for n in range(20)]
    for seed in range(20):
        parts = ParallelCorpus(pairs).split(3, 4, seed)
        assert sum(any(pair.source == "क्या हुआ?" for pair in part) for part in parts) == 1
        assert [len(part) for part in parts] == [16, 3, 4]


def test_sizes_are_kept_or_refused() -> None:
    corpus = ParallelCorpus(Pair(f"वाक्य {n}", f"sentence {n}") for n in range(10))
    assert [len(part) for part in corpus.split(0, 0)] == [10, 0, 0]
    assert [len(part) for part in corpus.split(4, 5)] == [1, 4, 5]
    with pytest.raises(ValueError, match="10 pairs are too few for dev=5 and test=5"):
        corpus.split(5, 5)
    with pytest.raises(ValueError, match="too few"):
        ParallelCorpus([]).split(1, 1)
    for dev, test in ((-1, 2), (2, -1)):
        with pytest.raises(ValueError, match=f"dev={dev}.*test={test}"):
            corpus.split(dev, test)


def test_groups_that_do_not_fit_are_an_error_not_a_short_split() -> None:
    pairs = [Pair(f"एक {n // 4}", f"one {n // 4}") for n in range(40)]  # ten groups of four
    with pytest.raises(ValueError, match="dev"):
        ParallelCorpus(pairs).split(3, 3)


def test_writing_and_reading_keeps_the_attribution(tmp_path: Path) -> None:
    pairs = [Pair("घर", "home", attribution="CC-BY 2.0 (France)\tAttribution: x #1 & y #2"), Pair("दूध", "milk")]
    ParallelCorpus(pairs).write_tsv(tmp_path / "own.tsv")
    again = ParallelCorpus.read_tsv(tmp_path / "own.tsv")
    assert [pair.attribution for pair in again] == ["CC-BY 2.0 (France) Attribution: x #1 & y #2", ""]
    assert again.sources == ["घर", "दूध"] and not again.dropped


def test_the_data_card_counts_right() -> None:
    card = " ".join((data_path() / "README.md").read_text("utf-8").split())
    rows = (data_path() / "lexicon.tsv").read_text("utf-8").splitlines()[1:]
    rows = [row.split("\t") for row in rows if row.strip() and not row.startswith("#")]
    assert f"{len(rows)} entries of {len({row[1] for row in rows})} different words" in card
    train = load("train")
    sides = [
        [[word for word in words(text) if word not in PUNCTUATION] for text in side]
        for side in (train.sources, train.targets)
    ]
    forms = [len({word for sentence in side for word in sentence}) for side in sides]
    assert f"{forms[0]:,} Hindi and {forms[1]:,} English word forms in the training file" in card
    lengths = [len(sentence) for sentence in sides[0]]
    assert f"{sum(lengths) / len(lengths):.0f} Hindi words a sentence on average" in card
    assert f"{sum(length >= 24 for length in lengths) / len(lengths):.0%} of the sentences".replace("%", " %") in card
    assert f"| {len(train):,} | training; {min(lengths)} to {max(lengths)} Hindi words" in card
    size = sum(path.stat().st_size for path in (data_path() / "controlled").rglob("*.tsv"))
    assert f"{size / 1e6:.1f} MB in all" in card and f"{len(load('everyday'))} natural pairs" in card
