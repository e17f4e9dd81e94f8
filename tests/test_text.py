"""Normalising, words, and both tokenizers: what is kept, what is refused, and that nothing typed raises."""

from __future__ import annotations

import copy
import os
import pickle
import random
import string
import subprocess
import sys

import pytest

from lib.corpus import load
from lib.text import (
    BOS,
    EOS,
    PAD,
    PUNCTUATION,
    SPECIAL,
    UNK,
    Tokenizer,
    WordTokenizer,
    load_tokenizer,
    normalise,
    word_spans,
    words,
)

HINDI = [
    "राम स्कूल जाता है।",
    "सीता किताब पढ़ती है।",
    "बच्चे बग़ीचे में खेल रहे हैं।",
    "क्या तुम चाय पियोगे?",
    "मैंने ऑफ़िस में एक चिट्ठी लिखी।",
    "हिन्दी में कुछ नहीं।",
    "वह कल बाज़ार जाएगी।",
]
ENGLISH = ["Ram goes to school.", "Sita reads a book.", "Who is playing in the garden?"]


@pytest.fixture(scope="module")
def hindi() -> Tokenizer:
    return Tokenizer.train(load("train").sources[:3_000], "hi", 400)


@pytest.fixture(scope="module")
def english() -> Tokenizer:
    return Tokenizer.train(load("train").targets[:3_000], "en", 400)


# ------------------------------------------------------------------------------------------------ normalise


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("हिन्दी में कुछ नहीं।", "हिन्दी में कुछ नहीं।"),
        ("वह गया|", "वह गया।"),
        ("वह गया॥", "वह गया।"),
        ("वह गया", "वह गया"),
        ("१२ किताबें", "12 किताबें"),
        ("०१२३४५६७८९", "0123456789"),
        ("क्\u200dष", "क्ष"),  # zero-width joiner
        ("क्\u200cष", "क्ष"),  # zero-width non-joiner
        ("\ufeffवह\u200b गया", "वह गया"),  # byte-order mark, zero-width space
        ("वह\u00a0\t गया \n", "वह गया"),
        ("“वह” ‘गया’ – हाँ…", "\"वह\" 'गया' - हाँ..."),
        ("„वह‚ ‐ ‑ −५", "\"वह' - - -5"),
        ("\u2066वह\u2069 \u061cग\u00adया\u202c", "वह गया"),  # direction marks and isolates, a soft hyphen
        ("वह\x00गया\x1b\x85है", "वह गया है"),  # control characters part words
        ("वह▁गया ▅", "वह गया"),  # what SentencePiece keeps for itself
        ("\ud83d वह", "\ufffd वह"),  # half of a surrogate pair
        ("🙂❤\ufe0f Ω", "🙂❤\ufe0f Ω"),
        ("", ""),
        ("   \t ", ""),
    ],
)
def test_normalise_hindi(typed: str, expected: str) -> None:
    assert normalise(typed, "hi") == expected


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("\u0958", "क\u093c"),  # क़
        ("\u0959", "ख\u093c"),
        ("\u095a", "ग\u093c"),
        ("\u095b", "ज\u093c"),
        ("\u095c", "ड\u093c"),  # ड़
        ("\u095d", "ढ\u093c"),
        ("\u095e", "फ\u093c"),  # फ़
        ("\u0929", "न\u093c"),  # composed by NFC, unlike the others
        ("\u0931", "र\u093c"),
    ],
)
def test_nukta_typed_either_way_is_one(one: str, two: str) -> None:
    assert normalise(one, "hi") == normalise(two, "hi")


def test_nukta_letter_gives_the_same_ids(hindi: Tokenizer) -> None:
    one, two = "ऑ\u095eिस में प\u095dो", "ऑफ\u093cिस में पढ\u093cो"
    assert one != two
    assert hindi.encode(one) == hindi.encode(two) != []


def test_english_keeps_the_bar_and_its_digits() -> None:
    assert normalise("a|b", "en") == "a|b"
    assert normalise("“It’s”  12…", "en") == '"It\'s" 12...'
    assert normalise("cafe\u0301", "en") == "caf\u00e9"


def test_marks_stay() -> None:
    """An anusvara, a vowel sign, a virama and a nukta are combining marks; none may go."""
    text = "हिन्दी क़िला नहीं माँ दुःख"
    assert normalise(text, "hi") == text
    assert [mark in normalise(text, "hi") for mark in "\u0902\u0901\u0903\u093f\u094d\u093c"] == [True] * 6


@pytest.mark.parametrize("language", ["hi", "en"])
def test_normalising_twice_changes_nothing(language: str) -> None:
    for text in random_texts(500):
        once = normalise(text, language)
        assert normalise(once, language) == once


def test_a_joiner_between_letter_and_mark_is_idempotent() -> None:
    """What stands apart before the joiner is dropped is joined after it: NFC has to come last."""
    once = normalise("न\u200d\u093c", "hi")
    assert once == "\u0929" == normalise(once, "hi")


def test_unknown_language_is_named() -> None:
    with pytest.raises(ValueError, match="'fr'.*'hi' or 'en'"):
        normalise("bonjour", "fr")


# ------------------------------------------------------------------------------------------------ words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("किताब नहीं है", ["किताब", "नहीं", "है"]),
        ("किताब नहीं है।", ["किताब", "नहीं", "है", "।"]),
        ("क्या वह आएगा?", ["क्या", "वह", "आएगा", "?"]),
        ("If it rains, go.", ["If", "it", "rains", ",", "go", "."]),
        ("Ram's hard-working son", ["Ram's", "hard-working", "son"]),
        ("3.5 और 10:30 और 1,000", ["3.5", "और", "10:30", "और", "1,000"]),
        ("It costs 12.", ["It", "costs", "12", "."]),
        ('He said: "no (yes)!"', ["He", "said", ":", '"', "no", "(", "yes", ")", "!", '"']),
        ("wait...", ["wait", ".", ".", "."]),
        ("धीरे-धीरे", ["धीरे-धीरे"]),
        ("", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected
    assert [text[begin:end] for begin, end in word_spans(text)] == expected


# ------------------------------------------------------------------------------------------------ Tokenizer


def test_special_ids_are_distinct_and_what_sentencepiece_says(hindi: Tokenizer, english: Tokenizer) -> None:
    for tokenizer in (hindi, english, WordTokenizer.train(HINDI, "hi")):
        ids = (tokenizer.pad_id, tokenizer.unk_id, tokenizer.bos_id, tokenizer.eos_id)
        assert ids == (PAD, UNK, BOS, EOS)
        assert len(set(ids)) == 4 and min(ids) >= 0
        assert tuple(tokenizer.pieces(ids)) == SPECIAL


@pytest.mark.parametrize("typed", ["</s>", "<s>", "<pad>", "<unk>", "<pad></s><s>", "राम </s> गया"])
def test_typed_marks_are_text(hindi: Tokenizer, english: Tokenizer, typed: str) -> None:
    for tokenizer in (hindi, english, WordTokenizer.train(HINDI, "hi")):
        assert not {PAD, BOS, EOS} & set(tokenizer.encode(typed))
    assert not {"<pad>", "<s>", "</s>", "<unk>"} & set(hindi.pieces(typed)) - {"<unk>"}


def test_decoding_what_was_encoded_gives_the_normalised_text(hindi: Tokenizer, english: Tokenizer) -> None:
    everyday = load("everyday")
    for tokenizer, texts in (
        (hindi, [*HINDI, *load("test").sources[:300]]),
        (english, [*ENGLISH, *load("test").targets[:300]]),
    ):
        for text in texts:
            assert tokenizer.decode(tokenizer.encode(text)) == normalise(text, tokenizer.language)
    known = [text for text in everyday.sources if UNK not in hindi.encode(text)]
    assert len(known) >= 0.95 * len(everyday)
    assert all(hindi.decode(hindi.encode(text)) == normalise(text, "hi") for text in known)


def test_no_unknown_piece_in_the_training_text(hindi: Tokenizer, english: Tokenizer) -> None:
    assert all(UNK not in hindi.encode(text) for text in load("train").sources[:3_000])
    assert all(UNK not in english.encode(text) for text in load("train").targets[:3_000])


@pytest.mark.parametrize("text", ["वह गया|", "वह गया।", "वह गया॥"])
def test_all_dandas_give_the_same_ids(hindi: Tokenizer, text: str) -> None:
    assert hindi.encode(text) == hindi.encode("वह गया।")
    assert hindi.pieces(text)[-1] == "।"
    assert hindi.encode(text)[:-1] == hindi.encode("वह गया")


def test_both_kinds_of_digits_give_the_same_ids(hindi: Tokenizer) -> None:
    assert hindi.encode("१२ किताबें") == hindi.encode("12 किताबें")
    assert UNK not in hindi.encode("१२ किताबें")


def test_decode_leaves_out_marks_and_shows_unknowns(hindi: Tokenizer) -> None:
    ids = hindi.encode("राम")
    assert hindi.decode([BOS, *ids, EOS, PAD, PAD]) == "राम"
    assert hindi.decode([]) == hindi.decode([PAD, BOS, EOS]) == ""
    assert "⁇" in hindi.decode([UNK])
    assert "⁇" in hindi.decode(hindi.encode("漢"))


def test_ids_outside_the_vocabulary_are_refused(hindi: Tokenizer) -> None:
    for tokenizer in (hindi, WordTokenizer.train(HINDI, "hi")):
        for ids in ([tokenizer.vocab_size], [-1]):
            with pytest.raises(ValueError, match=rf"id {ids[0]} .*{tokenizer.vocab_size} pieces"):
                tokenizer.decode(ids)
            with pytest.raises(ValueError, match="another tokenizer"):
                tokenizer.pieces(ids)


def test_seven_lines_and_a_large_vocabulary() -> None:
    tokenizer = Tokenizer.train(HINDI, "hi", vocab_size=8_000)
    assert 100 < tokenizer.vocab_size < 8_000
    ids = [i for line in HINDI for i in tokenizer.encode(line)]
    assert max(ids) < tokenizer.vocab_size and UNK not in ids
    assert [tokenizer.decode(tokenizer.encode(line)) for line in HINDI] == HINDI


def test_too_small_a_vocabulary_names_one_that_does() -> None:
    with pytest.raises(ValueError, match=r"vocab_size=10 is too small: .* (\d+) at least") as caught:
        Tokenizer.train(HINDI, "hi", vocab_size=10)
    least = int(str(caught.value).split()[-3])
    assert Tokenizer.train(HINDI, "hi", vocab_size=least).vocab_size <= least
    with pytest.raises(ValueError, match=f"{least} at least"):
        Tokenizer.train(HINDI, "hi", vocab_size=least - 1)


@pytest.mark.parametrize("lines", [[], [""], ["  ", "\u200d", "\n"]])
def test_no_text_is_a_clear_error(lines: list[str]) -> None:
    for kind in (Tokenizer, WordTokenizer):
        with pytest.raises(ValueError, match="no text to train"):
            kind.train(lines, "hi")


def test_unigram_is_possible_too() -> None:
    tokenizer = Tokenizer.train(load("train").sources[:500], "hi", 300, model_type="unigram")
    assert tokenizer.decode(tokenizer.encode("राम स्कूल जाता है।")) == "राम स्कूल जाता है।"


def test_every_punctuation_mark_is_a_piece_of_its_own(hindi: Tokenizer) -> None:
    for mark in PUNCTUATION:
        pieces = hindi.pieces(f"राम{mark}")
        assert pieces[-1] == mark
        assert all(mark not in piece for piece in pieces[:-1])


# ------------------------------------------------------------------------------------------------ word_index


def test_word_index_by_hand() -> None:
    """Pieces that are known: a word of the vocabulary is one piece, an unknown character one unknown piece."""
    tokenizer = Tokenizer.train(["राम राम राम घर घर घर"] * 5, "hi", 200)
    assert tokenizer.pieces("राम घर") == ["▁राम", "▁घर"]
    assert tokenizer.word_index("राम घर") == [0, 1]
    assert tokenizer.word_index("राम, घर।") == [0, 1, 2, 3]
    assert tokenizer.word_index("") == []


@pytest.mark.parametrize(
    "text",
    [
        *HINDI,
        "राम,सीता",
        '(राम) "सीता" !',
        "राम ( सीता ) ।",
        "।।।",
        "? राम",
        "राम ॐ Ω 漢字 🙂 गया।",
        "漢字राम 漢字।",
        "🙂",
        "🙂🙂 🙂",
        "3.5 और 10:30",
        "a\u0301\u0302 b",
        "राम …  “सीता”",
    ],
)
def test_word_index_is_exact(hindi: Tokenizer, text: str) -> None:
    """The pieces of each word, put together, are the word; nothing is lost, nothing crosses."""
    assert_index_fits(hindi, text)


def assert_index_fits(tokenizer: Tokenizer, text: str) -> None:
    pieces, index = tokenizer.pieces(text), tokenizer.word_index(text)
    found = words(normalise(text, tokenizer.language))
    assert len(pieces) == len(index) == len(tokenizer.encode(text))
    assert index == sorted(index)
    assert set(index) == set(range(len(found)))
    for place, word in enumerate(found):
        mine = [piece for piece, at in zip(pieces, index, strict=True) if at == place]
        if "<unk>" not in mine:
            assert "".join(mine).replace("▁", "") == word.replace("▁", "")


def test_word_index_on_real_sentences(hindi: Tokenizer, english: Tokenizer) -> None:
    for pair in [*load("everyday"), *load("dev")[:200], *load("long")[:20]]:
        assert_index_fits(hindi, pair.source)
        assert_index_fits(english, pair.target)


# ------------------------------------------------------------------------------------------------ robustness


def random_texts(n: int) -> list[str]:
    """Text of any kind of character: control characters, marks without a letter, emoji, lone surrogates."""
    draw = random.Random(7)
    ranges = [(0, 0x7F), (0x80, 0x2FF), (0x300, 0x36F), (0x900, 0x97F), (0x2000, 0x206F), (0x4E00, 0x4FFF)]
    ranges += [(0x1F300, 0x1F6FF), (0xE000, 0xFFFF), (0x10000, 0x10FFFF), (0x2581, 0x2585), (0xD800, 0xDFFF)]
    return ["".join(chr(draw.randint(*draw.choice(ranges))) for _ in range(draw.randrange(30))) for _ in range(n)]


def test_no_text_ever_raises(hindi: Tokenizer, english: Tokenizer) -> None:
    for tokenizer in (hindi, english, WordTokenizer.train(HINDI, "hi")):
        for text in ["ॐ Ω 漢字 🙂", "", "   ", "शब्द " * 500, "\x00", "▁", "▁ ▁", *random_texts(500)]:
            ids, index = tokenizer.encode(text), tokenizer.word_index(text)
            assert len(index) == len(ids)
            assert all(0 <= i < tokenizer.vocab_size for i in ids)
            assert not {PAD, BOS, EOS} & set(ids)
            assert isinstance(tokenizer.decode(ids), str)
            count = len(words(normalise(text, tokenizer.language)))
            assert all(0 <= place < max(1, count) for place in index)
            if not normalise(text, tokenizer.language):
                assert ids == []


def test_bytes_round_trip(hindi: Tokenizer, english: Tokenizer) -> None:
    for tokenizer in (hindi, english, WordTokenizer.train(HINDI, "hi")):
        again = load_tokenizer(tokenizer.to_bytes())
        assert type(again) is type(tokenizer)
        assert (again.language, again.vocab_size) == (tokenizer.language, tokenizer.vocab_size)
        assert again.to_bytes() == tokenizer.to_bytes()
        for text in [*HINDI, *ENGLISH]:
            assert again.encode(text) == tokenizer.encode(text)


def test_two_processes_learn_the_same_vocabulary() -> None:
    program = (
        "import hashlib; from lib.corpus import load; from lib.text import Tokenizer, WordTokenizer\n"
        "lines = load('dev').sources\n"
        "for made in (Tokenizer.train(lines, 'hi', 300), WordTokenizer.train(lines, 'hi')):\n"
        "    print(hashlib.sha256(made.to_bytes()).hexdigest())"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    ]
    assert outputs[0] == outputs[1]
    assert len(set(outputs[0].split())) == 2


def test_a_copy_is_the_same_tokenizer(hindi: Tokenizer) -> None:
    for tokenizer in (hindi, WordTokenizer.train(HINDI, "hi")):
        for again in (pickle.loads(pickle.dumps(tokenizer)), copy.deepcopy(tokenizer)):
            assert again.to_bytes() == tokenizer.to_bytes()
            assert again.encode(HINDI[0]) == tokenizer.encode(HINDI[0])


@pytest.mark.parametrize(
    "data", [b"", b"xx", b"[]", b"{}", b'{"kind":"pieces","language":"hi","model":"00ff"}', b"\xff"]
)
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="not a tokenizer"):
        load_tokenizer(data)


@pytest.mark.parametrize("model_type", ["bpe", "unigram"])
def test_marks_in_the_training_text_are_text_too(model_type: str) -> None:
    """SentencePiece leaves `<s>` out of what it learns from; its letters must be known all the same."""
    lines = ["<s> राम </s>", "<pad> <unk> ▅", "राम घर"]
    tokenizer = Tokenizer.train(lines, "hi", 400, model_type)
    assert not set(SPECIAL) & set(tokenizer.pieces("<s> </s> <pad> <unk>"))
    assert [tokenizer.decode(tokenizer.encode(line)) for line in lines] == ["<s> राम </s>", "<pad> <unk>", "राम घर"]


@pytest.mark.parametrize("model_type", ["bpe", "unigram"])
def test_letters_that_the_training_text_lacks_are_known(model_type: str) -> None:
    hindi = Tokenizer.train(["क"], "hi", 400, model_type)
    for text in ["ऋषि ढ़ोल ङञण ॐ ऽ ऑफ़िस दुःख माँ", "०१२३४५६७८९ 0123456789", string.ascii_letters]:
        assert hindi.decode(hindi.encode(text)) == normalise(text, "hi")
    english = Tokenizer.train(["a"], "en", 400, model_type)
    assert english.decode(english.encode("Zebra's well-known 1,234 (5)!")) == "Zebra's well-known 1,234 (5)!"


def test_long_lines_are_learned_from_and_encoded() -> None:
    """SentencePiece by itself leaves out lines of more than 4,192 bytes, without a word."""
    line = "विश्वविद्यालय " * 2_000
    tokenizer = Tokenizer.train([line], "hi", 400)
    assert tokenizer.pieces("विश्वविद्यालय") == ["▁विश्वविद्यालय"]
    assert len(tokenizer.encode(line)) == len(tokenizer.word_index(line)) == 2_000


def test_training_writes_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    Tokenizer.train(HINDI, "hi", 8_000)
    assert capfd.readouterr() == ("", "")


def test_wrong_arguments_of_training() -> None:
    with pytest.raises(ValueError, match="'word'.*'bpe' or 'unigram'"):
        Tokenizer.train(HINDI, "hi", model_type="word")
    for kind in (Tokenizer, WordTokenizer):
        with pytest.raises(TypeError, match="list of lines"):
            kind.train("राम घर", "hi")
        with pytest.raises(ValueError, match="'fr'"):
            kind.train(HINDI, "fr")


def test_any_list_of_ids_has_a_text(hindi: Tokenizer) -> None:
    draw = random.Random(3)
    for tokenizer in (hindi, WordTokenizer.train(HINDI, "hi")):
        for _ in range(300):
            ids = [draw.randrange(tokenizer.vocab_size) for _ in range(draw.randrange(12))]
            text = tokenizer.decode(ids)
            assert text == " ".join(text.split()) and "▁" not in text


# ------------------------------------------------------------------------------------------------ WordTokenizer


def test_word_tokenizer_by_hand() -> None:
    tokenizer = WordTokenizer.train(["b a.", "c  a?"], "en")
    assert tokenizer.vocabulary == [*SPECIAL, ".", "?", "a", "b", "c"]
    assert tokenizer.vocab_size == 9
    assert tokenizer.encode("a b d.") == [6, 7, UNK, 4]
    assert tokenizer.pieces("a b d.") == ["a", "b", "<unk>", "."]
    assert tokenizer.word_index("a b d.") == [0, 1, 2, 3]
    assert tokenizer.decode([BOS, 6, 7, UNK, 4, EOS, PAD]) == "a b ⁇."
    assert tokenizer.decode([]) == ""
    assert tokenizer.encode("") == []


def test_word_tokenizer_joins_punctuation() -> None:
    tokenizer = WordTokenizer.train(["No, he (Ram) said: go; stop!"], "en")
    assert tokenizer.decode(tokenizer.encode("No, he (Ram) said: go; stop!")) == "No, he (Ram) said: go; stop!"


def test_word_tokenizer_normalises() -> None:
    tokenizer = WordTokenizer.train(HINDI, "hi")
    assert tokenizer.encode("ऑ\u095eिस") == tokenizer.encode("ऑफ\u093cिस") != [UNK]
    for text in HINDI:
        assert tokenizer.decode(tokenizer.encode(text)) == text
