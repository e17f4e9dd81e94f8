"""The words of the controlled language, from `data/lexicon.tsv`: a table that a Hindi speaker can read and extend."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from lib.corpus import data_path

HEADER = ("pos", "hindi", "english", "gender", "class", "kinds", "forms")


@dataclass(frozen=True, eq=False, slots=True)
class Entry:
    """One line of the lexicon. What the columns mean for each part of speech is said in `data/README.md`.

    kinds: what the word may be combined with; `core` marks the words of the small sub-language.
    """

    pos: str
    hindi: str
    english: str
    gender: str
    declension: str
    kinds: tuple[str, ...]
    forms: tuple[str, ...]

    def kinds_of(self, name: str) -> tuple[str, ...]:
        """The values of a kind with a name: `at:quiet at:home` has `quiet` and `home`."""
        return _kinds_of(self, name)

    @property
    def plural(self) -> str:
        """English plural of a noun."""
        return " ".join(self.forms)

    @property
    def mass(self) -> bool:
        return self.declension == "mass"

    @property
    def shows_plural(self) -> bool:
        """Does the Hindi noun tell one from many where no postposition follows? किताब–किताबें does, आम–आम does not."""
        return self.declension in ("a", "i", "f", "aa", "iya")


@cache
def _kinds_of(entry: Entry, name: str) -> tuple[str, ...]:
    return tuple(kind[len(name) + 1 :] for kind in entry.kinds if kind.startswith(name + ":"))


@cache
def lexicon() -> dict[str, tuple[Entry, ...]]:
    """All entries by part of speech, in the order of the file."""
    lines = (data_path() / "lexicon.tsv").read_text(encoding="utf-8").splitlines()
    if tuple(lines[0].split("\t")) != HEADER:
        raise ValueError(f"data/lexicon.tsv begins with {lines[0]!r}: its first line must name {', '.join(HEADER)}")
    found: dict[str, list[Entry]] = {}
    for number, line in enumerate(lines[1:], 2):
        cells = line.split("\t")
        if len(cells) != len(HEADER):
            raise ValueError(f"data/lexicon.tsv, line {number}, has {len(cells)} columns: give {len(HEADER)}")
        *words, kinds, forms = cells
        found.setdefault(cells[0], []).append(Entry(*words, tuple(kinds.split()), tuple(forms.split())))
    return {pos: tuple(entries) for pos, entries in found.items()}


@cache
def entries(pos: str, kind: str = "", core: bool = False) -> tuple[Entry, ...]:
    """The entries of a part of speech, of one kind where it is given, of the sub-language where `core` is set."""
    return tuple(
        entry for entry in lexicon()[pos] if (not kind or kind in entry.kinds) and (not core or "core" in entry.kinds)
    )
