"""The dice of the controlled language: who takes part in a clause, and with what."""

from __future__ import annotations

import random
from collections.abc import Sequence

from lib.lexicon import Entry, entries
from lib.morphology import Agreement
from lib.participants import PRONOUNS, Both, Clause, Noun, Participant, Said, he_or_she, they
from lib.phrases import Owner, Phrase, one

HABITS = ("habit", "used_to")


class Choices:
    """Chooses words, people and things. Equal seeds give equal choices."""

    def __init__(self, seed: int = 0, core: bool = False) -> None:
        self.random, self.core = random.Random(seed), core
        self.used: list[str] = []  # names and relatives of this sentence: nobody goes to school with himself
        self.begin()

    # --------------------------------------------------------------------------------------------- choosing

    def begin(self) -> None:
        """A new sentence: nobody is named yet, and whoever is spoken to is either तुम or आप throughout."""
        self.used.clear()
        other = self.random.choice(("तुम", "आप"))
        self.pronouns = tuple(pronoun for pronoun in PRONOUNS if pronoun.hindi != other)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def one_of(self, options: Sequence):
        return options[int(self.random.random() * len(options))]

    def entry(self, pos: str, kind: str = "") -> Entry:
        """A word of the lexicon; in the sub-language one of its words."""
        return self.one_of(entries(pos, kind, self.core))

    def fresh(self, pos: str, kind: str = "") -> Entry:
        """A word that does not stand in this sentence yet, if there is one."""
        for _ in range(12):
            entry = self.entry(pos, kind)
            if entry.hindi not in self.used:
                break
        self.used.append(entry.hindi)
        return entry

    # --------------------------------------------------------------------------------------------- someone

    def subject(self) -> Participant:
        """Who does it: a pronoun, a name, a relative, or a person with an adjective or a number."""
        draw = self.random.random()
        if draw < 0.22:
            return he_or_she(self.one_of("mf"))
        if self.core:
            return self.name() if draw < 0.85 else self.person()
        if draw < 0.42:
            return self.name()
        if draw < 0.60:
            return self.pronoun()
        if draw < 0.65:
            return self.couple()
        return self.kin() if draw < 0.79 else self.person()

    def pronoun(self) -> Participant:
        if self.chance(0.2):
            return they(self.one_of("mmf"))
        pronoun = self.one_of(self.pronouns)
        return pronoun.subject("m" if pronoun.english == "we" else self.one_of("mmf"))

    def name(self) -> Said:
        name = self.fresh("name")
        own = "his" if name.gender == "m" else "her"
        return Said(Agreement(3, False, name.gender), "he", own, (), name.hindi, name.english)

    def couple(self) -> Both:
        """राम और सीता: together they are masculine, unless both are women."""
        return self.both(self.name(), self.name())

    def both(self, a: Participant, b: Participant) -> Both:
        gender = "f" if a.agreement.gender == b.agreement.gender == "f" else "m"
        tags = (*a.tags, *b.tags, "coordination")
        return Both(Agreement(3, True, gender), "they", "their", tags, a, b)

    def person(self, one_only: bool = False) -> Noun:
        """लड़का – the boy, छोटे बच्चे – the small children, तीन किसान – three farmers."""
        noun = self.fresh("noun", "person")
        if self.core:
            return self.the(noun)
        if not one_only and self.chance(0.15):
            return self.counted(noun)
        adjective = None
        if self.chance(0.25):
            adjective = self.entry("adjective", "adult" if "adult" in noun.kinds and self.chance(0.2) else "person")
        return self.the(noun, not one_only and noun.shows_plural and self.chance(0.3), adjective)

    def the(self, noun: Entry, plural: bool = False, adjective: Entry | None = None) -> Noun:
        return self.noun(noun, "the", plural, adjective)

    def animal(self) -> Noun:
        noun = self.fresh("noun", "animal")
        adjective = self.entry("adjective", "animal") if self.chance(0.3) else None
        return self.noun(noun, "the", noun.shows_plural and self.chance(0.3), adjective, own="")

    def kin(self, subject: Participant | None = None, rich: float = 0.0) -> Noun:
        """मेरा भाई, राम की बहन, अपने दोस्त: relatives belong to someone."""
        noun = self.fresh("noun", "peer" if subject is not None and subject.young else "kin")
        sibling = "sibling" in noun.kinds and self.chance(max(0.25, rich))
        adjective = self.entry("adjective", "sibling") if sibling else None
        if subject is not None and subject.own == "their" and not isinstance(subject, Both):
            subject = None  # six gardeners do not share a grandson
        return self.noun(noun, self.owner(subject, "adult"), False, adjective)

    def noun(
        self,
        noun: Entry,
        before: str | Owner | Phrase,
        plural: bool = False,
        adjective: Entry | None = None,
        own: str | None = None,
    ) -> Noun:
        if own is None:
            own = "their" if plural else "his" if noun.gender == "m" else "her"
        tags = ["genitive"] if isinstance(before, Owner) else []
        if plural or (adjective is not None and adjective.declension == "a"):
            tags.append("agreement")
        person = "they" if plural else "he"
        return Noun(Agreement(3, plural, noun.gender), person, own, tuple(tags), noun, before, adjective)

    def counted(self, noun: Entry, few: bool = False) -> Noun:
        """दो किताबें – two books; `few`: not more than four."""
        number = self.one_of(entries("numeral")[:3]) if few else self.entry("numeral")
        return self.noun(noun, one(number.hindi, number.english), True)

    def owner(self, subject: Participant | None, people: str = "person") -> Owner:
        """Whose: अपना where it is the subject's own, मेरा … where it is not, or someone's."""
        draw = self.random.random()
        if subject is not None and subject.own and draw < 0.45:
            return Owner("अपन", subject.own)
        own = subject.own if subject is not None else ""
        if draw < 0.75:
            pronoun = self.one_of(self.pronouns)
            close = ("my", "our") if own in ("my", "our") else ("your",) if own == "your" else ()
            if pronoun.own not in close:
                return Owner(pronoun.possessive, pronoun.own)
        if draw > 0.9:
            return Owner(someone=self.the(self.fresh("noun", people)).oblique())
        return Owner(someone=self.name().oblique())

    def someone_else(self, subject: Participant, rich: float = 0.0, one_only: bool = False) -> Participant:
        """A companion, or who is called, met or helped."""
        if self.core:
            return self.core_companion(rich)
        draw = self.random.random() * (1 - rich) + rich * 0.6
        if draw < 0.45:
            return self.name()
        return self.kin(subject, rich) if draw < 0.75 else self.person(one_only or self.chance(0.7))

    def core_companion(self, rich: float) -> Participant:
        """राम के साथ, राम और सीता के साथ, राम के दोस्त के साथ, राम के दोस्त और सीता के साथ: from three to seven words."""
        draw = self.random.random()
        if draw > rich or draw < 0.2:
            return self.name()
        if draw < 0.4:
            return self.couple()
        friend = self.noun(self.entry("noun", "kin"), Owner(someone=self.name().oblique()))
        return friend if draw < 0.5 else self.both(friend, self.name())

    # ---------------------------------------------------------------------------------------------- something

    def thing(self, verb: Entry, clause: Clause, negative: bool, many: bool = False) -> Noun:
        """What is eaten, read or bought: किताब – a book, नई किताबें – new books, दो किताबें, अपनी किताब, यह किताब.

        The kinds of the verb say more: `daily` is what is bought day by day, `owned` things may be someone's, of
        `single` ones there is one, `created` ones are not old.
        """
        daily = verb.kinds_of("daily") if clause.tense in HABITS else ()
        while True:
            noun = self.entry("noun", self.one_of(daily or verb.kinds_of("object")))
            if noun.mass:
                thing = self.noun(noun, "")
            elif self.core:
                thing = self.noun(noun, "a")
            elif "the" in noun.kinds:
                thing = self.fixture(noun, clause.who)
            else:
                thing = self.some(noun, verb, clause, negative, many)
            if thing is not None:
                clause.definite = thing.definite
                clause.tags += thing.tags
                return thing

    def fixture(self, noun: Entry, subject: Participant) -> Noun:
        """A part of the house: the door, his door."""
        whose = "bare" not in noun.kinds and not subject.many and self.chance(0.3)
        return self.noun(noun, self.owner(subject)) if whose else self.the(noun)

    def some(self, noun: Entry, verb: Entry, clause: Clause, negative: bool, many: bool) -> Noun | None:
        """One or more of a thing; None where the noun cannot say how many and no number may be said."""
        draw, habit, subject = self.random.random(), clause.tense in HABITS, clause.who
        adjective = self.adjective_for(noun) if self.chance(0.22) else None
        if adjective is not None and adjective.english == "old" and "created" in verb.kinds:
            adjective = None
        single = "single" in verb.kinds
        plenty = "plenty" in noun.kinds
        counts = not negative and (not habit or clause.timed) and "uncounted" not in verb.kinds
        if draw > 0.94 and not many and (not habit or "again" in verb.kinds):
            return self.this(noun, plenty)
        # Nobody sells a potato every day; where the noun does not show that it is many, a number does.
        if many or plenty or ("each" in verb.kinds and subject.many) or (draw < 0.1 and counts and not single):
            return self.several(noun, adjective, counts, habit)
        several = noun.shows_plural and not single
        if "owned" in verb.kinds and draw < 0.32 and "woman" not in noun.kinds and (several or not subject.many):
            plural = several and (subject.many or self.chance(0.2))
            return self.noun(noun, self.owner(subject), plural, adjective)
        plural = several and self.chance(0.3)
        return self.noun(noun, "" if plural else "a", plural, adjective)

    def several(self, noun: Entry, adjective: Entry | None, counts: bool, few: bool) -> Noun | None:
        """किताबें – books, दो किताबें – two books."""
        if noun.shows_plural and (not counts or self.chance(0.7)):
            return self.noun(noun, "", True, adjective)
        return self.counted(noun, few) if counts else None

    def adjective_for(self, noun: Entry) -> Entry | None:
        if "read" in noun.kinds:
            return self.entry("adjective", "text")
        return self.entry("adjective", "thing") if "thing" in noun.kinds else None

    def this(self, noun: Entry, many: bool = False) -> Noun:
        """यह किताब – this book, ये किताबें – these books."""
        plural = many or (noun.shows_plural and self.chance(0.3))
        return self.noun(noun, one("ये", "these") if plural else one("यह", "this"), plural)
