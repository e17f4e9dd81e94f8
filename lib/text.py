"""One text pipeline for Hindi and English: the same object serves training, use and checkpoints.

text → `normalise` → pieces (`Tokenizer`) or words (`WordTokenizer`) → ids, and back.
"""

from __future__ import annotations

import io
import json
import re
import unicodedata
from collections.abc import Iterable, Sequence

LANGUAGES = ("hi", "en")
PUNCTUATION = '।?!,.;:"()'
SPECIAL = ("<pad>", "<unk>", "<s>", "</s>")
PAD, UNK, BOS, EOS = range(4)

# Seen by no reader: joiners, byte-order mark, soft hyphen, direction marks. Dropping the joiners lets spelling
# variants of one word meet.
_INVISIBLE = dict.fromkeys([0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, 0xAD, 0x200E, 0x200F, *range(0x202A, 0x202F)])
_ALIKE = {"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "…": "..."}
_DIGITS = {0x0966 + digit: str(digit) for digit in range(10)}
_TABLES = {
    "hi": str.maketrans({**_INVISIBLE, **_ALIKE, **_DIGITS, "|": "।", "॥": "।"}),
    "en": str.maketrans({**_INVISIBLE, **_ALIKE}),
}
_WORD = re.compile(r"[0-9]+(?:[.:,][0-9]+)+|[^\s।?!,.;:\"()]+|[।?!,.;:\"()]")


def normalise(text: str, language: str) -> str:
    """The form of a text that the models see; doing it twice changes nothing.

    Unicode NFC (so nukta letters typed either way are one), invisible characters dropped, typographic quotes and
    dashes made plain, runs of white space one space. In Hindi also `|` and `॥` become the danda `।`, and Devanagari
    digits become 0–9. Combining marks stay: in Hindi they are vowels.
    """
    if language not in LANGUAGES:
        raise ValueError(f"language {language!r} is not known: choose 'hi' or 'en'")
    return " ".join(unicodedata.normalize("NFC", text.translate(_TABLES[language])).split())


def words(text: str) -> list[str]:
    """Words and punctuation marks of a text: `किताब नहीं है।` has four. Numbers such as 3.5 stay whole."""
    return _WORD.findall(text)


def word_spans(text: str) -> list[tuple[int, int]]:
    """Begin and end (exclusive) of each of `words(text)`."""
    return [match.span() for match in _WORD.finditer(text)]


class Tokenizer:
    """A SentencePiece unigram model with its language: normalises, then cuts into pieces.

    Every punctuation mark is a piece of its own, so that a piece never belongs to two words.
    """

    pad_id, unk_id, bos_id, eos_id = PAD, UNK, BOS, EOS

    def __init__(self, model: bytes, language: str) -> None:
        import sentencepiece

        self.language, self._model = language, model
        self._pieces = sentencepiece.SentencePieceProcessor(model_proto=model)
        self.vocab_size = self._pieces.get_piece_size()

    @classmethod
    def train(
        cls, lines: Iterable[str], language: str, vocab_size: int = 1000, model_type: str = "unigram"
    ) -> Tokenizer:
        """Learn pieces from lines of text; the vocabulary may become smaller than asked if the text is small."""
        import sentencepiece

        lines = [text for line in lines if (text := normalise(line, language))]
        if not lines:
            raise ValueError("there are no lines of text to train a tokenizer on")
        letters = "".join(sorted(set("".join(lines)) - set(PUNCTUATION) - {" "}))
        least = len(set(letters)) + len(PUNCTUATION) + len(SPECIAL) + 1
        if vocab_size < least:
            raise ValueError(
                f"vocab_size={vocab_size} is too small for the letters of this text: give at least {least}"
            )
        file = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines),
            model_writer=file,
            vocab_size=vocab_size,
            model_type=model_type,
            hard_vocab_limit=False,
            character_coverage=1.0,
            normalization_rule_name="identity",
            num_threads=1,
            pad_id=PAD,
            unk_id=UNK,
            bos_id=BOS,
            eos_id=EOS,
            unk_surface="⁇",
            minloglevel=2,
            max_sentence_length=1 << 20,
            user_defined_symbols=list(PUNCTUATION),
            required_chars="0123456789",
        )
        return cls(file.getvalue(), language)

    def encode(self, text: str) -> list[int]:
        return self._pieces.encode(normalise(text, self.language))

    def decode(self, ids: Sequence[int]) -> str:
        return self._pieces.decode([i for i in ids if i not in (PAD, BOS, EOS)])

    def pieces(self, text: str | Sequence[int]) -> list[str]:
        ids = self.encode(text) if isinstance(text, str) else text
        return [self._pieces.id_to_piece(int(i)) for i in ids]

    def word_index(self, text: str) -> list[int]:
        text = normalise(text, self.language)
        spans = word_spans(text)
        index, place = [], 0
        for piece in self._pieces.encode(text, out_type=str):
            surface = piece.lstrip("▁")
            if surface:
                place = text.find(surface, place) if text.find(surface, place) >= 0 else place
            while False:
                break
            index.append(next((w for w, (a, b) in enumerate(spans) if place < b), len(spans) - 1))
            place += len(surface)
        return index

    def to_bytes(self) -> bytes:
        return json.dumps({"kind": "pieces", "language": self.language, "model": self._model.hex()}).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Tokenizer:
        content = json.loads(data)
        return cls(bytes.fromhex(content["model"]), content["language"])


class WordTokenizer:
    pad_id, unk_id, bos_id, eos_id = PAD, UNK, BOS, EOS

    def __init__(self, vocabulary: Sequence[str], language: str) -> None:
        self.language, self.vocabulary = language, [*SPECIAL, *vocabulary]
        self._ids = {word: i for i, word in enumerate(self.vocabulary) if i >= len(SPECIAL)}
        self.vocab_size = len(self.vocabulary)

    @classmethod
    def train(cls, lines: Iterable[str], language: str, vocab_size: int | None = None) -> WordTokenizer:
        found = sorted({word for line in lines for word in words(normalise(line, language))})
        return cls(found, language)

    def encode(self, text: str) -> list[int]:
        return [self._ids.get(word, UNK) for word in words(normalise(text, self.language))]

    def decode(self, ids: Sequence[int]) -> str:
        text = " ".join("⁇" if i == UNK else self.vocabulary[i] for i in ids if i not in (PAD, BOS, EOS))
        return re.sub(r" ([।?!,.;:])", r"\1", text)

    def pieces(self, text: str | Sequence[int]) -> list[str]:
        ids = self.encode(text) if isinstance(text, str) else text
        return [self.vocabulary[i] for i in ids]

    def word_index(self, text: str) -> list[int]:
        return list(range(len(self.encode(text))))

    def to_bytes(self) -> bytes:
        return json.dumps({"kind": "words", "language": self.language, "vocabulary": self.vocabulary[4:]}).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> WordTokenizer:
        content = json.loads(data)
        return cls(content["vocabulary"], content["language"])


def load_tokenizer(data: bytes) -> Tokenizer | WordTokenizer:
    """The tokenizer of either kind that `to_bytes` wrote."""
    kind = {"pieces": Tokenizer, "words": WordTokenizer}[json.loads(data)["kind"]]
    return kind.from_bytes(data)
