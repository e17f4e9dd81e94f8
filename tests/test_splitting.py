"""What counts as a near-duplicate, and parts that are as full as whole groups allow."""

from __future__ import annotations

import random
import time
from collections import Counter
from itertools import product

import pytest

from lib.corpus import Pair, ParallelCorpus, comparison_key
from lib.splitting import ONE_WORD_FROM, fill, find_groups

EIGHT = "मैं कल सुबह अपने दोस्त के घर गया"
OTHERS = {
    "replaced": "मैं आज सुबह अपने दोस्त के घर गया",
    "added": "मैं कल सुबह जल्दी अपने दोस्त के घर गया।",
    "moved": "कल सुबह मैं अपने दोस्त के घर गया",
    "reordered and replaced": "कल मैं सुबह दोस्त के अपने घर आया",
}


def together(one: str, other: str, **settings: int | None) -> bool:
    """Whether two Hindi sentences with unlike translations come into one group, in either order."""
    pairs = [Pair(one, "first"), Pair(other, "second")]
    found = {len(find_groups(order, **settings)[0]) for order in (pairs, pairs[::-1])}
    assert len(found) == 1
    return found == {1}


@pytest.mark.parametrize("kind", OTHERS)
def test_one_other_word_in_a_long_sentence_is_a_near_duplicate(kind: str) -> None:
    assert together(EIGHT, OTHERS[kind])
    assert not together(EIGHT, OTHERS[kind], one_word_from=None)
    assert not together(EIGHT, OTHERS[kind], one_word_from=10)
    assert len(find_groups([Pair("क", EIGHT), Pair("ख", OTHERS[kind])])[0]) == 1  # so it is on the other side


def test_two_other_words_make_another_sentence() -> None:
    assert not together(EIGHT, "मैं आज शाम अपने दोस्त के घर गया")
    assert not together(EIGHT, EIGHT + " और आया")


def test_one_other_word_in_a_short_sentence_makes_another_sentence() -> None:
    assert ONE_WORD_FROM == 8
    assert not together("मुझे चाय पसंद है", "मुझे दूध पसंद है")
    seven, other = "वह कल अपने दोस्त के घर गया", "वह आज अपने दोस्त के घर गया"
    assert not together(seven, other) and together(seven, other, one_word_from=7)


@pytest.mark.parametrize("other", [EIGHT + "।", EIGHT.replace(" ", ""), EIGHT.replace(" ", ", "), "“" + EIGHT + "”!"])
def test_spaces_and_punctuation_never_count(other: str) -> None:
    assert together(EIGHT, other) and together(EIGHT, other, one_word_from=None)


def test_an_apostrophe_does_not_part_a_word() -> None:
    assert comparison_key("It’s John's", "en") == comparison_key("its johns", "en") == "itsjohns"


def test_groups_chain() -> None:
    words = [f"शब्द{letter}" for letter in "कखगघङचछज"]
    chain = [" ".join([*words[:-1], f"अंत{n}"]) for n in range(5)]
    assert len(find_groups([Pair(text, f"t {n}") for n, text in enumerate(chain)])[0]) == 1


def brute(pairs: list[Pair], least: int) -> set[frozenset[int]]:
    """Groups by comparing every pair of pairs, from the definition."""

    def near(language: str, one: str, other: str) -> bool:
        if comparison_key(one, language) == comparison_key(other, language):
            return True
        a, b = Counter(one.split()), Counter(other.split())
        return min(a.total(), b.total()) >= least and max((a - b).total(), (b - a).total()) <= 1

    groups = [{place} for place in range(len(pairs))]
    for i, j in product(range(len(pairs)), repeat=2):
        if near("hi", pairs[i].source, pairs[j].source) or near("en", pairs[i].target, pairs[j].target):
            one, other = (next(group for group in groups if place in group) for place in (i, j))
            if one is not other:
                groups.remove(other)
                one |= other
    return {frozenset(group) for group in groups}


@pytest.mark.parametrize("seed", range(10))
def test_groups_are_those_of_comparing_all_with_all(seed: int) -> None:
    draw = random.Random(seed)
    hindi, english = ["क", "ख", "ग", "घ", "च"], ["a", "b", "c", "d", "e"]
    pairs = [
        Pair(
            " ".join(draw.choices(hindi, k=draw.randint(2, 9))), " ".join(draw.choices(english, k=draw.randint(3, 9)))
        )
        for _ in range(20)
    ]
    assert {frozenset(group) for group in find_groups(pairs, 5)[0]} == brute(pairs, 5)


def test_near_duplicates_never_straddle_and_the_order_of_the_file_is_no_matter() -> None:
    draw = random.Random(1)
    words = [f"शब्द{chr(0x915 + a)}{chr(0x915 + b)}" for a, b in product(range(20), repeat=2)]
    pairs = []
    for n in range(200):
        text = draw.choices(words, k=draw.randint(3, 14))
        other = [*text]
        other[draw.randrange(len(other))] = "नया"
        pairs += [Pair(" ".join(text), f"one {n}"), Pair(" ".join(other), f"two {n}")][: 1 + n % 2]
    parts = [set(part) for part in ParallelCorpus(pairs).split(40, 50)]
    assert [len(part) for part in parts] == [210, 40, 50]
    for group in find_groups(pairs)[0]:
        assert sum(any(pairs[place] in part for place in group) for part in parts) == 1
    draw.shuffle(pairs)
    assert [set(part) for part in ParallelCorpus(pairs).split(40, 50)] == parts


# ------------------------------------------------------------------------------------------------ sizes


def in_groups(*sizes: int) -> ParallelCorpus:
    return ParallelCorpus(Pair(f"वाक्य {g}", f"sentence {g} {n}") for g, size in enumerate(sizes) for n in range(size))


@pytest.mark.parametrize(
    ("groups", "dev", "test", "expected"),
    [
        ([4] * 10, 9, 10, (8, 8)),  # near below, and a note on both
        ([4] * 10, 8, 8, (8, 8)),
        ([4] * 10, 5, 5, (4, 4)),  # one group is more than half, but nothing else can be had
        ([3] * 6 + [2] * 6, 7, 7, (7, 7)),
        ([5, 3, 3, 3, 9, 9], 6, 8, (6, 8)),
        ([60, 60, *[3] * 40], 0, 62, (0, 60)),  # twenty groups, not the one of 60
        ([1, 4, 4, 4], 1, 4, (1, 4)),  # the one place must not go to the larger part
        ([6, 6, 6], 0, 7, (0, 6)),
    ],
)
def test_parts_are_as_full_as_whole_groups_allow(
    groups: list[int], dev: int, test: int, expected: tuple[int, int]
) -> None:
    corpus = in_groups(*groups)
    for seed in range(5):
        train, *others = corpus.split(dev, test, seed)
        assert tuple(map(len, others)) == expected
        assert len(train) == len(corpus) - sum(expected) and train.note == ""
        for name, part, size in (("dev", others[0], dev), ("test", others[1], test)):
            short = f"{name} has {len(part)} pairs, not {size}"
            assert part.note.startswith(short) if len(part) < size else part.note == ""
            assert part.note in repr(part)


@pytest.mark.parametrize(("groups", "dev", "test"), [([4] * 10, 3, 3), ([20], 1, 5), ([9, 9, 1], 1, 1)])
def test_a_part_that_can_have_nothing_is_an_error(groups: list[int], dev: int, test: int) -> None:
    with pytest.raises(ValueError, match=f"dev={dev} and test={test} cannot be filled"):
        in_groups(*groups).split(dev, test)


def test_filling_finds_the_best_sum() -> None:
    draw = random.Random(0)
    for _ in range(200):
        sizes = {size: draw.randint(1, 3) for size in draw.sample(range(1, 12), 3)}
        limit = draw.randint(0, 30)
        counts = list(product(*(range(count + 1) for count in sizes.values())))
        sums = [sum(n * size for n, size in zip(count, sizes, strict=True)) for count in counts]
        chosen = fill(sizes, limit)
        assert sum(size * n for size, n in chosen.items()) == max(total for total in sums if total <= limit)
        assert all(n <= sizes[size] for size, n in chosen.items())


def test_time_grows_with_the_pairs_not_with_their_square() -> None:
    draw = random.Random(0)
    words = [f"w{n}" for n in range(5_000)]
    pairs = [Pair(" ".join(draw.choices(words, k=12)), " ".join(draw.choices(words, k=12))) for _ in range(16_000)]

    def seconds(count: int) -> float:
        best = []
        for _ in range(3):
            begin = time.process_time()
            find_groups(pairs[:count])
            best.append(time.process_time() - begin)
        return min(best)

    seconds(100)
    assert seconds(16_000) < 20 * seconds(2_000)  # the square would be 64
