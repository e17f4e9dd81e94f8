"""One text pipeline for Hindi and English: the same object serves training, use and checkpoints.

text → `normalise` → pieces (`Tokenizer`) or words (`WordTokenizer`) → ids, and back.
"""

from __future__ import annotations

import io
import json
import random
import re
import string
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise

LANGUAGES = ("hi", "en")
PUNCTUATION = '।?!,.;:"()'
SPECIAL = ("<pad>", "<unk>", "<s>", "</s>")
PAD, UNK, BOS, EOS = range(4)

# Seen by no reader: joiners, byte-order mark, soft hyphen, direction marks. Joiners can mean something in Hindi (they
# choose between two shapes of a conjunct), but most writers leave them out: dropped, the spellings of a word meet.
_INVISIBLE = dict.fromkeys(
    [0xAD, 0x061C, 0x180E, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x206A), 0xFEFF]
)
# Control characters, and the two signs that SentencePiece keeps for itself: ▁ for a space, ▅ for unknown.
_SPACES = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0), 0x2581, 0x2585], " ")
_BROKEN = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")  # half of a surrogate pair: no encoder takes it
_ALIKE = {"‘": "'", "’": "'", "‚": "'", "“": '"', "”": '"', "„": '"', **dict.fromkeys("‐‑–—−", "-"), "…": "..."}
_ALWAYS = {**_INVISIBLE, **_SPACES, **_BROKEN, **_ALIKE}
_DIGITS = {0x0966 + digit: str(digit) for digit in range(10)}
_TABLES = {
    "hi": str.maketrans({**_ALWAYS, **_DIGITS, "|": "।", "॥": "।"}),
    "en": str.maketrans(_ALWAYS),
}
# Most texts need no table; to look for one of its characters is much faster than to go through it.
_ODD = {name: re.compile(f"[{re.escape(''.join(map(chr, table)))}]") for name, table in _TABLES.items()}
_WORD = re.compile(r"[0-9]+(?:[.:,][0-9]+)+|[^\s।?!,.;:\"()]+|[।?!,.;:\"()]")


def normalise(text: str, language: str) -> str:
    """The form of a text that the models see; doing it twice changes nothing.

    Unicode NFC (so nukta letters typed either way are one), invisible characters dropped, typographic quotes and
    dashes made plain, control characters, `▁`, `▅` (signs of the tokenizer) and runs of white space one space. In
    Hindi also `|` and `॥` become the danda `।`, and Devanagari digits become 0–9. Combining marks stay: in Hindi they
    are vowels. So does what a tokenizer may not know: emoji, other scripts.
    """
    if language not in LANGUAGES:
        raise ValueError(f"language {language!r} is not known: choose 'hi' or 'en'")
    if _ODD[language].search(text):
        text = text.translate(_TABLES[language])
    # NFC comes last: a joiner that is gone no longer keeps a nukta from its letter.
    return " ".join(unicodedata.normalize("NFC", text).split())


def words(text: str) -> list[str]:
    """Words and punctuation marks of a text: `किताब नहीं है।` has four. Numbers such as 3.5 stay whole."""
    return _WORD.findall(text)


def word_spans(text: str) -> list[tuple[int, int]]:
    """Begin and end (exclusive) of each of `words(text)`."""
    return [match.span() for match in _WORD.finditer(text)]


# Letters that a tokenizer knows even if its training text does not show them: a reader will type them.
_LETTERS = {
    "hi": string.ascii_letters
    + string.digits
    + "'-"
    + "".join(map(chr, [*range(0x0901, 0x0904), *range(0x0905, 0x093A), *range(0x093C, 0x094E), 0x0950])),
    "en": string.ascii_letters + string.digits + "'-",
}


class Tokenizer:
    """A SentencePiece model with its language: text is normalised, then cut into pieces.

    `▁` in a piece marks the space before a word. Every punctuation mark is a piece of its own, so a piece never
    belongs to two words. Typed text is only ever text: `</s>` typed by a reader does not become the end mark.
    """

    pad_id, unk_id, bos_id, eos_id = PAD, UNK, BOS, EOS

    def __init__(self, model: bytes, language: str) -> None:
        import sentencepiece

        self.language, self._model = language, model
        self._processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        self.vocab_size = self._processor.get_piece_size()

    @classmethod
    def train(
        cls, lines: Iterable[str], language: str, vocab_size: int = 1_000, model_type: str = "bpe"
    ) -> Tokenizer:
        """Learn pieces from lines of text: "bpe" joins the most frequent neighbours, again and again (Sennrich 2016).

        Args:
            vocab_size: at most so many pieces; a small text may not have as many.
            model_type: "bpe" or "unigram". BPE is the default: its pieces do not depend on the number of threads.

        Raises:
            ValueError: no text, a vocabulary too small for the letters of the text, an unknown model type.
            TypeError: one text in place of a list of them.
        """
        if model_type not in ("bpe", "unigram"):
            raise ValueError(f"model_type={model_type!r} is not known: choose 'bpe' or 'unigram'")
        lines = _clean(lines, language)
        letters = {*"".join(lines), *_LETTERS[language]} - {*PUNCTUATION, " "}
        least = len(letters) + len("▁") + len(PUNCTUATION) + len(SPECIAL)
        if vocab_size < least:
            raise ValueError(
                f"vocab_size={vocab_size} is too small: this text has {len(letters)} letters, and with punctuation "
                f"and special pieces that makes {least} at least"
            )
        return cls(_train_sentencepiece(lines, vocab_size, model_type, "".join(sorted(letters))), language)

    def encode(self, text: str) -> list[int]:
        """Ids of the pieces, without `<s>` and `</s>`; an empty text has none."""
        return self._processor.encode(normalise(text, self.language))

    def sample(self, text: str, dropout: float, generator: random.Random) -> list[int]:
        """Ids of the text cut in another way: every join may be left out, with probability `dropout`.

        BPE-dropout (Provilkov et al. 2020). SentencePiece has it too, but its generator cannot be set back, and a run
        that is resumed must cut as it did before. Without dropout the cut is that of `encode`, but
        that unknown letters in a row stay several pieces. For BPE only.
        """
        ids, word = [], ""
        for piece in [*self._processor.encode(normalise(text, self.language), out_type=str), "▁"]:
            if word and (piece[0] == "▁" or piece in PUNCTUATION):
                ids += self._joined(word, dropout, generator)
                word = ""
            if piece in PUNCTUATION:
                ids.append(self._processor.piece_to_id(piece))
            else:
                word += piece
        return ids

    def _joined(self, word: str, dropout: float, generator: random.Random) -> list[int]:
        """Letters joined to pieces, the most frequent pair first, until nothing is left that may be joined."""
        scores, parts = self._scores, list(word)
        while True:
            pairs = [(scores.get(a + b), -place) for place, (a, b) in enumerate(pairwise(parts))]
            allowed = [pair for pair in pairs if pair[0] is not None and generator.random() >= dropout]
            if not allowed:
                return [self._processor.piece_to_id(part) for part in parts]
            place = -max(allowed)[1]
            parts[place : place + 2] = [parts[place] + parts[place + 1]]

    @cached_property
    def _scores(self) -> dict[str, float]:
        """How early each piece was joined: the higher, the earlier."""
        places = range(len(SPECIAL), self.vocab_size)
        return {self._processor.id_to_piece(i): self._processor.get_score(i) for i in places}

    def decode(self, ids: Sequence[int]) -> str:
        """The text of the ids; padding, begin and end marks are left out, an unknown piece reads ⁇."""
        _check_ids(ids, self.vocab_size)
        text = self._processor.decode([int(i) for i in ids if i not in (PAD, BOS, EOS)])
        return " ".join(text.split())  # a model may put one `▁` after another

    def pieces(self, text: str | Sequence[int]) -> list[str]:
        """The pieces of a text, or of ids, as they are written in the vocabulary."""
        ids = self.encode(text) if isinstance(text, str) else text
        _check_ids(ids, self.vocab_size)
        return [self._processor.id_to_piece(int(i)) for i in ids]

    def word_index(self, text: str) -> list[int]:
        """For each piece of `encode(text)` the place of its word in `words(normalise(text))`."""
        text = normalise(text, self.language)
        ends = [end for _, end in word_spans(text)]
        index, begin = [], -1  # sentencepiece puts a space before the first word
        for piece in self._processor.encode(text, out_type=str):
            space = len(piece) - len(piece.lstrip("▁"))  # a piece may begin with, or be, the space before a word
            index.append(bisect_right(ends, begin + space))
            begin += len(piece)
        return index

    def to_bytes(self) -> bytes:
        """Everything needed to make the same tokenizer again."""
        return json.dumps({"kind": "pieces", "language": self.language, "model": self._model.hex()}).encode()


class WordTokenizer:
    """The same interface with one piece a word; words that the training text does not have are unknown."""

    pad_id, unk_id, bos_id, eos_id = PAD, UNK, BOS, EOS

    def __init__(self, vocabulary: Sequence[str], language: str) -> None:
        self.language, self.vocabulary = language, [*SPECIAL, *vocabulary]
        self._ids = {word: place for place, word in enumerate(vocabulary, start=len(SPECIAL))}
        self.vocab_size = len(self.vocabulary)

    @classmethod
    def train(cls, lines: Iterable[str], language: str) -> WordTokenizer:
        """All words of the lines, in alphabetical order."""
        return cls(sorted({word for line in _clean(lines, language) for word in words(line)}), language)

    def encode(self, text: str) -> list[int]:
        """Ids of the words, without `<s>` and `</s>`."""
        return [self._ids.get(word, UNK) for word in words(normalise(text, self.language))]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of the ids, punctuation joined to the word before it; an unknown word reads ⁇."""
        _check_ids(ids, self.vocab_size)
        text = " ".join("⁇" if i == UNK else self.vocabulary[i] for i in ids if i not in (PAD, BOS, EOS))
        return re.sub(r" (?=[।?!,.;:)])|(?<=\() ", "", text)

    def pieces(self, text: str | Sequence[int]) -> list[str]:
        """The words of a text or of ids; `<unk>` for an unknown one."""
        ids = self.encode(text) if isinstance(text, str) else text
        _check_ids(ids, self.vocab_size)
        return [self.vocabulary[int(i)] for i in ids]

    def word_index(self, text: str) -> list[int]:
        """Each piece is its own word: 0, 1, 2, …"""
        return list(range(len(self.encode(text))))

    def to_bytes(self) -> bytes:
        """Everything needed to make the same tokenizer again."""
        words_ = self.vocabulary[len(SPECIAL) :]
        return json.dumps({"kind": "words", "language": self.language, "words": words_}).encode()


def load_tokenizer(data: bytes) -> Tokenizer | WordTokenizer:
    """The tokenizer, of either kind, that `to_bytes` wrote; ValueError if it is anything else."""
    try:
        content = json.loads(data)
        if content["kind"] == "words":
            return WordTokenizer(content["words"], content["language"])
        return Tokenizer(bytes.fromhex(content["model"]), content["language"])
    except (ValueError, TypeError, KeyError, RuntimeError) as error:  # RuntimeError: SentencePiece's own
        raise ValueError(f"this is not a tokenizer as to_bytes writes it ({len(data)} bytes)") from error


def _clean(lines: Iterable[str], language: str) -> list[str]:
    if isinstance(lines, str):
        raise TypeError("lines is one text, expected a list of lines: put it in [ ]")
    if not (found := [text for line in lines if (text := normalise(line, language))]):
        raise ValueError("there is no text to train a tokenizer on: all lines are empty")
    return found


def _train_sentencepiece(lines: Sequence[str], vocab_size: int, model_type: str, letters: str) -> bytes:
    import sentencepiece

    file = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),  # not a path: sentencepiece would cut one with a comma in two
        model_writer=file,
        vocab_size=vocab_size,
        model_type=model_type,
        hard_vocab_limit=False,
        character_coverage=1.0,
        required_chars=letters,
        user_defined_symbols=list(PUNCTUATION),
        normalization_rule_name="identity",  # ours came first; the default would turn a joiner into a space
        max_sentence_length=1 << 24,  # longer lines would be left out in silence
        num_threads=1,
        pad_id=PAD,
        unk_id=UNK,
        bos_id=BOS,
        eos_id=EOS,
        unk_surface="⁇",
        minloglevel=2,
    )
    return file.getvalue()


def _check_ids(ids: Sequence[int], vocabulary: int) -> None:
    for i in ids:
        if not 0 <= i < vocabulary:
            raise ValueError(
                f"id {int(i)} is not in this vocabulary of {vocabulary} pieces: was another tokenizer used?"
            )
