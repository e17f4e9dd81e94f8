"""Files as they are found: packed, cut short, in other columns, larger than memory; and how fast they are read."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import pytest

from lib.corpus import Dropped, Filter, Pair, ParallelCorpus, stream
from lib.corpus_speed import measure_reading
from lib.lines import LONGEST
from lib.readers import PairStream, find_sides

CREDIT = "CC-BY 2.0 (France) Attribution: tatoeba.org #1 (anna) & #2 (ben)"
MANYTHINGS = f"Go.\tजाओ।\t{CREDIT}\nRun!\tदौड़ो!\t{CREDIT}\nWho?\tकौन?\t{CREDIT}\n"
THREE = [("जाओ।", "Go."), ("दौड़ो!", "Run!"), ("कौन?", "Who?")]


def written(folder: Path, content: str | bytes, name: str = "pairs.tsv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def sides(pairs: ParallelCorpus | PairStream) -> list[tuple[str, str]]:
    return [(pair.source, pair.target) for pair in pairs]


# ------------------------------------------------------------------------------------------------ packed files


@pytest.mark.parametrize("name", ["pairs.tsv.gz", "pairs.tsv"])
def test_gzip_is_read_like_plain_text_whatever_its_name(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, gzip.compress(MANYTHINGS.encode()), name)
    plain = written(tmp_path, MANYTHINGS, "plain.tsv")
    assert ParallelCorpus.read(path).pairs == list(stream(path)) == ParallelCorpus.read(plain).pairs


def test_two_packed_members_are_one_file(tmp_path: Path) -> None:
    one, two = MANYTHINGS.encode()[:30], MANYTHINGS.encode()[30:]
    path = written(tmp_path, gzip.compress(one) + gzip.compress(two), "pairs.gz")
    assert sides(ParallelCorpus.read(path)) == THREE


def test_parallel_files_one_of_them_packed(tmp_path: Path) -> None:
    hindi = written(tmp_path, gzip.compress("जाओ।\n\nकौन?\n".encode()), "a.hi.gz")
    english = written(tmp_path, "Go.\nx\nWho?\n", "a.en")
    corpus = ParallelCorpus.read_parallel(hindi, english)
    assert sides(corpus) == [THREE[0], THREE[2]] == sides(stream(hindi, english))
    assert corpus.dropped == [Dropped(2, "one side is empty")]


def test_the_own_format_is_written_packed_and_always_alike(tmp_path: Path) -> None:
    pairs = [Pair("राम", "Ram", ((0, 0),), (), ("kal",)), Pair("घर", "home", attribution=CREDIT)]
    for name in ("one.tsv.gz", "two.tsv.gz", "plain.tsv"):
        ParallelCorpus(pairs).write_tsv(tmp_path / name)
        assert ParallelCorpus.read(tmp_path / name).pairs == pairs
    packed = (tmp_path / "one.tsv.gz").read_bytes()
    assert packed == (tmp_path / "two.tsv.gz").read_bytes()
    assert gzip.decompress(packed) == (tmp_path / "plain.tsv").read_bytes()


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (gzip.compress(MANYTHINGS.encode())[:-12], "x.gz", r"x\.gz, after line \d: .*cut short"),
        (gzip.compress(MANYTHINGS.encode())[:-8] + b"12345678", "x.gz", r"x\.gz, after line \d: .*damaged"),
        (gzip.compress(MANYTHINGS.encode())[:12], "x.gz", r"x\.gz, after line 0: .*cut short"),
        (MANYTHINGS.encode(), "x.gz", r"x\.gz, line 1: .*not a gzip file"),
        (b"", "x.gz", r"x\.gz, line 1: .*not a gzip file"),
        (gzip.compress(MANYTHINGS.encode("utf-16")), "x.gz", r"x\.gz, line 1: .*UTF-16"),
        (b"PK\x03\x04rest", "hin-eng.zip", r"zip archive; unpack it"),
    ],
)
def test_what_is_not_a_whole_gzip_file_is_one_clear_error(
    tmp_path: Path, content: bytes, name: str, message: str
) -> None:
    path = written(tmp_path, content, name)
    with pytest.raises(ValueError, match=message):
        ParallelCorpus.read(path)
    with pytest.raises(ValueError, match=message):
        ParallelCorpus.read_parallel(path, path)


def test_folders_and_missing_files(tmp_path: Path) -> None:
    for read in (ParallelCorpus.read, ParallelCorpus.read_tsv, ParallelCorpus.read_manythings, stream):
        with pytest.raises(IsADirectoryError, match="is a folder, expected a file"):
            read(tmp_path)
        with pytest.raises(FileNotFoundError, match=r"there is no file .*nothing\.txt"):
            read(tmp_path / "nothing.txt")
    path = written(tmp_path, MANYTHINGS)
    with pytest.raises(IsADirectoryError):
        ParallelCorpus.read_parallel(path, tmp_path)
    with pytest.raises(FileNotFoundError):
        ParallelCorpus.read_parallel(tmp_path / "nothing.txt", path)


# ------------------------------------------------------------------------------------------------ lines


def test_a_line_longer_than_memory_should_hold_is_dropped_and_the_next_one_read(tmp_path: Path) -> None:
    long = "क" * (LONGEST // 3)
    path = written(tmp_path, f"Go.\tजाओ।\n{long}\t{long}\nRun!\tदौड़ो!\n{'x' * (3 * LONGEST)}\nWho?\tकौन?\n")
    corpus = ParallelCorpus.read(path)
    assert sides(corpus) == THREE
    assert corpus.dropped == [Dropped(line, "longer than 1,048,576 bytes") for line in (2, 4)]


def test_the_longest_line_is_still_read(tmp_path: Path) -> None:
    path = written(
        tmp_path, b"\xef\xbb\xbfa\t" + "क".encode() * ((LONGEST - 10) // 3) + b"\nGo.\t" + "जाओ।\n".encode()
    )
    assert len(ParallelCorpus.read(path)) == 2
    path = written(tmp_path, b"\xef\xbb\xbf" + b"x" * (LONGEST - 2) + b"\n" + MANYTHINGS.encode())
    assert ParallelCorpus.read(path).dropped == [Dropped(1, "longer than 1,048,576 bytes")]


def test_a_nul_byte_is_no_text(tmp_path: Path) -> None:
    """A hole that a crash left in a file; in the first line it is rather UTF-16."""
    path = written(tmp_path, "Go.\tजाओ।\nSit\0\tबैठो\nRun!\tदौड़ो!\n\0\0\0\n")
    corpus = ParallelCorpus.read(path)
    assert sides(corpus) == THREE[:2]
    assert corpus.dropped == [Dropped(line, "has a NUL byte, which is no text") for line in (2, 4)]
    ParallelCorpus([Pair("क\0ख", "a\0b")]).write_tsv(tmp_path / "own.tsv")
    assert sides(ParallelCorpus.read(tmp_path / "own.tsv")) == [("क ख", "a b")]


def test_a_bad_line_in_one_parallel_file_takes_the_other_along(tmp_path: Path) -> None:
    hindi = written(tmp_path, "क\nख\0\nग\nघ\n", "hi")
    english = written(tmp_path, f"a\nb\n{'c' * (LONGEST + 5)}\nd\n", "en")
    corpus = ParallelCorpus.read_parallel(hindi, english)
    assert sides(corpus) == [("क", "a"), ("घ", "d")] and corpus.lines == [1, 4]
    assert [drop.line for drop in corpus.dropped] == [2, 3]


@pytest.mark.parametrize(("hindi", "english"), [(3, 2), (2, 3), (5, 0), (0, 1)])
def test_parallel_files_must_have_as_many_lines(tmp_path: Path, hindi: int, english: int) -> None:
    one, two = written(tmp_path, "क\n" * hindi, "a.hi"), written(tmp_path, "a\n" * english, "a.en")
    message = rf"a\.hi has {hindi} lines and .*a\.en has {english}"
    with pytest.raises(ValueError, match=message):
        ParallelCorpus.read_parallel(one, two)
    pairs = stream(one, two)
    assert [next(pairs).target for _ in range(min(hindi, english))] == ["a"] * min(hindi, english)
    with pytest.raises(ValueError, match=message):
        next(pairs)


# ------------------------------------------------------------------------------------------------ columns


@pytest.mark.parametrize(
    "order",
    ["{en}\t{hi}\t{by}", "{hi}\t{en}\t{by}", "{by}\t{en}\t{hi}", "{by}\t{hi}\t{en}", "{hi}\t{by}\t{en}"],
)
def test_columns_in_any_order_are_found(tmp_path: Path, order: str) -> None:
    rows = (order.format(hi=hi, en=en, by=CREDIT) for hi, en in THREE)
    corpus = ParallelCorpus.read(written(tmp_path, "\n".join(rows)))
    assert sides(corpus) == THREE and {pair.attribution for pair in corpus} == {CREDIT}


def test_columns_among_ids_and_languages(tmp_path: Path) -> None:
    rows = (f"{n}\teng\t{en}\t{n + 9}\thin\t{hi}" for n, (hi, en) in enumerate(THREE))
    corpus = ParallelCorpus.read(written(tmp_path, "\n".join(rows)))
    assert sides(corpus) == THREE and corpus[0].attribution == "0 eng 9 hin"


def test_columns_that_letters_do_not_tell_are_named(tmp_path: Path) -> None:
    path = written(tmp_path, "1\tram jata hai\tpost 7\tRam goes\n2\tkaun\nx\thaan\ty\tyes\n")
    assert len(ParallelCorpus.read(path)) == 0
    corpus = ParallelCorpus.read(path, columns=(1, 3))
    assert sides(corpus) == [("ram jata hai", "Ram goes"), ("haan", "yes")] == sides(stream(path, columns=(1, 3)))
    assert corpus.dropped == [Dropped(2, "2 columns, expected at least 4")]
    assert corpus[0].attribution == "1 post 7"


@pytest.mark.parametrize("columns", [(0, 0), (-1, 0), (1,)])
def test_impossible_columns(tmp_path: Path, columns: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="two different numbers from 0"):
        ParallelCorpus.read(written(tmp_path, MANYTHINGS), columns=columns)
    with pytest.raises(ValueError, match="give one of them"):
        ParallelCorpus.read_manythings(written(tmp_path, MANYTHINGS), 1, columns=(0, 1))


def test_sides_of_nothing() -> None:
    assert find_sides([]) == find_sides(["", "a", "a\tb\tc"]) == (0, 1)
    assert find_sides(["x" * 100_000 + "\t" + " " * 100_000 + "\tक"] * 3) == (0, 2)


def test_credits(tmp_path: Path) -> None:
    corpus = ParallelCorpus.read(written(tmp_path, MANYTHINGS + "Sit.\tबैठो।\tmy own\nEat.\tखाओ।\n"))
    assert corpus.credits() == {"anna": 3, "ben": 3, "my own": 1}


# ------------------------------------------------------------------------------------------------ filters

LONG = " ".join(["शब्द"] * 12)
MIXED = [
    ("एक दो तीन", "one two three"),
    (LONG, "too few"),
    ("a", "a"),
    ("क" * 300, "b"),
    ("घर", "home"),
    (LONG, LONG[:-1]),
]


def mixed(folder: Path) -> Path:
    return written(folder, "".join(f"{hi}\t{en}\n" for hi, en in [("", "x"), *MIXED]), "mixed.tsv")


@pytest.mark.parametrize("how", ["reader", "method", "limits"])
def test_what_a_filter_leaves_out_is_reported_with_line_and_reason(tmp_path: Path, how: str) -> None:
    keep = Filter(max_words=11, max_characters=200, max_ratio=4)
    if how == "reader":
        corpus = ParallelCorpus.read(mixed(tmp_path), columns=(0, 1), keep=keep)
    else:
        corpus = ParallelCorpus.read(mixed(tmp_path), columns=(0, 1))
        assert len(corpus) == 6
        limits = {"max_words": 11, "max_characters": 200, "max_ratio": 4}
        corpus = corpus.filtered(keep) if how == "method" else corpus.filtered(**limits)
    assert sides(corpus) == [MIXED[0], MIXED[4]] and corpus.lines == [2, 6]
    assert corpus.dropped == [
        Dropped(1, "one side is empty"),
        Dropped(3, "a side has more than 11 words"),
        Dropped(4, "both sides are the same text"),
        Dropped(5, "a side has more than 200 characters"),
        Dropped(7, "a side has more than 11 words"),
    ]
    assert corpus.report() == (
        "2 pairs; 5 lines dropped: 2 × a side has more than 11 words (first: line 3); 1 × one side is empty "
        "(first: line 1); 1 × both sides are the same text (first: line 4); 1 × a side has more than 200 characters "
        "(first: line 5)"
    )


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        ("क ख ग घ ङ", "a", ""),  # 5 to 1, but short
        ("क ख ग घ ङ च", "a b", ""),  # 3 to 1 is still allowed
        ("क ख ग घ ङ च छ", "a b", "one side has more than 3 times the words of the other"),
        ("क ख", "a b c d e f g", "one side has more than 3 times the words of the other"),
        ("क " * 100, "a " * 100, ""),
        ("क " * 101, "a " * 100, "a side has more than 100 words"),
        ("Delhi", "Delhi", "both sides are the same text"),
    ],
)
def test_default_limits(source: str, target: str, reason: str) -> None:
    assert Filter().reason(Pair(source, target)) == reason
    off = Filter(min_words=0, max_words=None, max_ratio=None, max_characters=None, translated=False)
    assert off.reason(Pair(source, target)) == ""


def test_impossible_limits() -> None:
    for limits in ({"max_words": 0}, {"min_words": -1}, {"max_ratio": 0.5}, {"max_characters": 0}):
        with pytest.raises(ValueError, match=next(iter(limits))):
            ParallelCorpus([]).filtered(**limits)
    with pytest.raises(ValueError, match="one or the other"):
        ParallelCorpus([]).filtered(Filter(), max_words=3)


def test_line_numbers_stay_with_their_pairs(tmp_path: Path) -> None:
    corpus = ParallelCorpus.read(mixed(tmp_path), columns=(0, 1))
    assert corpus.lines == [2, 3, 4, 5, 6, 7] and corpus[3:].lines == [5, 6, 7]
    assert [drop.line for drop in corpus[3:].filtered(max_words=2).dropped] == [7]
    with pytest.raises(ValueError, match="1 line numbers for 2 pairs"):
        ParallelCorpus([Pair("क", "a"), Pair("ख", "b")], lines=[1])


# ------------------------------------------------------------------------------------------------ streams


def test_a_stream_gives_the_same_as_the_corpus(tmp_path: Path) -> None:
    path, told = mixed(tmp_path), []
    pairs = stream(path, columns=(0, 1), keep=Filter(max_words=11), on_drop=told.append)
    assert isinstance(pairs, PairStream) and next(pairs).target == "one two three" and pairs.line == 2
    rest = list(pairs)
    corpus = ParallelCorpus.read(path, columns=(0, 1), keep=Filter(max_words=11))
    assert rest == corpus.pairs[1:] and pairs.count == len(corpus) and pairs.report() == corpus.report()
    assert told == pairs.dropped == corpus.dropped and sum(pairs.counts.values()) == len(told)


def test_cleaning_gives_what_the_models_see(tmp_path: Path) -> None:
    path = written(tmp_path, "“Go”  there…\tवहाँ \u200bजाओ|\nx\t\u200d\n")
    assert sides(ParallelCorpus.read(path)) == [("वहाँ \u200bजाओ|", "“Go”  there…")]
    pairs = stream(path, clean=True)
    assert sides(pairs) == [("वहाँ जाओ।", '"Go" there...')]
    assert pairs.dropped[0].line == 2 and sum(pairs.counts.values()) == 1


def peak(path: Path) -> int:
    tracemalloc.start()
    try:
        pairs = stream(path, keep=Filter())
        assert sum(1 for _ in pairs) > 0 and len(pairs.dropped) <= PairStream.KEPT
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    block = (MANYTHINGS + "only one column\n") * PairStream.KEPT  # so that both keep as many dropped lines
    small, large = written(tmp_path, block, "small"), written(tmp_path, block * 5, "large")
    peak(small)
    assert peak(large) < 1.1 * peak(small) + 50_000


def test_fifty_thousand_pairs_a_second_with_cleaning() -> None:
    """In processor time; on a machine too slow for that, no more than 50 times what the lines alone take."""
    speed = measure_reading()
    assert speed.cleaned >= 50_000 or speed.ratio <= 50
    assert speed.lines > speed.read > speed.cleaned
    assert "cleaned" in str(speed)


def test_nothing_to_measure(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is empty"):
        measure_reading(written(tmp_path, ""))
