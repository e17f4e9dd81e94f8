"""Sentences of the controlled language: statements, questions, commands, relative and joined clauses."""

from __future__ import annotations

from bisect import bisect

from lib.asking import Asking
from lib.joining import Joining
from lib.participants import Said, he_or_she
from lib.statements import Sentence, Statements, pair_of

# How sentences are shared out: up to which part of 1; what is left are joined clauses.
MAKERS = ("statement", "question", "command", "relative", "paired", "explained", "reported")
KINDS = (0.49, 0.61, 0.65, 0.72, 0.77, 0.82, 0.84)


class Sentences(Statements, Asking, Joining):
    """Makes sentences; `sentence` one of a random kind."""

    def sentence(self) -> Sentence:
        draw = self.random.random()
        kind = bisect(KINDS, draw)
        if kind < len(KINDS):
            return getattr(self, MAKERS[kind])()
        return self.joined(self.one_of((2, 2, 2, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6)))

    def simple(self, n: int, tag: str) -> list:
        """Statements of one clause, and for negation commands, that show a phenomenon."""
        found = {}
        while len(found) < n:
            self.begin()
            sentence = self.command() if tag == "negation" and self.chance(0.2) else self.statement()
            if tag in sentence.tags and 3 <= len(sentence.phrase.hindi) <= 12:
                pair = pair_of(sentence, self.chance(0.5))
                found.setdefault(pair.source.rstrip("।"), pair)
        return list(found.values())

    def he(self, gender: str) -> Said:
        """वह of a minimal pair, which has no अपना: the verb is all that differs."""
        who = he_or_she(gender)
        who.own = ""
        return who
