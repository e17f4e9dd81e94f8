"""The words of the controlled language, read from `data/lexicon.tsv`: a table that a Hindi speaker can read and extend."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from lib.corpus import data_path


@dataclass(frozen=True)
class Entry:
    """A word with its English: `kinds` says what it may be combined with, "core" that it is in the sub-language."""

    hindi: str
    english: str
    gender: str
    declension: str
    kinds: frozenset[str]
    forms: tuple[str, ...]


@dataclass(frozen=True)
class Noun(Entry):
    """declension: a (masculine -ा), m and x (unchanged), i, f, aa, iya (feminine), mass (no plural)."""

    @property
    def plural(self) -> str:
        """English plural: the given one, or with -s."""
        return " ".join(self.forms) or self.english + "s"


@dataclass(frozen=True)
class Verb(Entry):
    """forms: reads, read, read, reading. declension: "none" takes no ने, "noperfect" has no perfective here."""

    @property
    def third(self) -> str:
        return self.forms[0]

    @property
    def past(self) -> str:
        return self.forms[1]

    @property
    def participle(self) -> str:
        return self.forms[2]

    @property
    def ing(self) -> str:
        return self.forms[3]

    @property
    def ergative(self) -> bool:
        return self.declension == ""


CLASSES = {"noun": Noun, "verb": Verb}


@cache
def lexicon() -> dict[str, tuple[Entry, ...]]:
    """All entries by part of speech, in the order of the file."""
    text = (data_path() / "lexicon.tsv").read_text(encoding="utf-8")
    found: dict[str, list[Entry]] = {}
    for line in text.splitlines()[1:]:
        pos, hindi, english, gender, declension, kinds, forms = line.split("\t")
        make = CLASSES.get(pos, Entry)
        entry = make(hindi, english, gender, declension, frozenset(kinds.split()), tuple(forms.split()))
        found.setdefault(pos, []).append(entry)
    return {pos: tuple(entries) for pos, entries in found.items()}


def entries(pos: str, kind: str | None = None, core: bool = False) -> tuple[Entry, ...]:
    """The entries of a part of speech, of one kind where it is given, of the sub-language where `core` is set."""
    return _entries(pos, kind, core)


@cache
def _entries(pos: str, kind: str | None, core: bool) -> tuple[Entry, ...]:
    return tuple(
        entry
        for entry in lexicon()[pos]
        if (kind is None or kind in entry.kinds) and (not core or "core" in entry.kinds)
    )
