"""Who takes part, and the clauses they take part in: the middle of the controlled language.

Hindi:   subject · time · place · companion · vehicle, tool or origin · receiver · manner · object or goal · verb
English: subject · verb · object or goal · manner · receiver · vehicle, tool or origin · companion · place · time
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from lib.lexicon import Entry, entries
from lib.morphology import NOBODY, Agreement, adjective_form
from lib.phrases import (
    PERFECTIVE,
    English,
    Owner,
    Phrase,
    VerbGroup,
    Word,
    be_group,
    fixed,
    noun_phrase,
    one,
    verb_group,
)

# ------------------------------------------------------------------------------------------------- participants


@dataclass(slots=True, eq=False)
class Participant:
    """Someone or something in a clause.

    agreement: what a Hindi verb agrees with. person: of the English verb, "I", "he" (third singular) or "they" (any
    other). own: what अपना is in English where this is the subject; "" where it is not used.
    """

    agreement: Agreement
    person: str = "he"
    own: str = ""
    tags: tuple[str, ...] = ()

    def direct(self) -> Phrase:
        raise NotImplementedError

    def oblique(self) -> Phrase:
        """The form before a postposition."""
        raise NotImplementedError

    def with_ne(self) -> Phrase:
        return self.oblique().with_marker(Word("ने"))


@dataclass(slots=True, eq=False)
class Noun(Participant):
    """लड़का – the boy, मेरी बहन – my sister, तीन किसान – three farmers, नई किताबें – new books."""

    noun: Entry | None = None
    before: str | Owner | Phrase = ""
    adjective: Entry | None = None

    def direct(self) -> Phrase:
        return noun_phrase(self.noun, self.before, self.agreement.plural, self.adjective)

    def oblique(self) -> Phrase:
        return noun_phrase(self.noun, self.before, self.agreement.plural, self.adjective, oblique=True)


@dataclass(slots=True, eq=False)
class Said(Participant):
    """Names and pronouns: what they look like is known. `ergative` where ने melts into the word: मैंने."""

    hindi: tuple[str, ...] = ()
    english: tuple[str, ...] = ()
    ergative: str = ""

    def direct(self) -> Phrase:
        words = [Word(text) for text in self.hindi]
        return Phrase(words, [English(e, (w,)) for e, w in zip(self.english, words, strict=True)])

    def oblique(self) -> Phrase:
        return self.direct()

    def with_ne(self) -> Phrase:
        return one(self.ergative, self.english[0]) if self.ergative else self.direct().with_marker(Word("ने"))


@dataclass(slots=True, eq=False)
class Both(Participant):
    """राम और सीता."""

    first: Participant | None = None
    second: Participant | None = None

    def direct(self) -> Phrase:
        return self.first.direct() + one("और", "and") + self.second.direct()

    def oblique(self) -> Phrase:
        return self.first.oblique() + one("और", "and") + self.second.oblique()


@dataclass(slots=True, eq=False)
class Whoever(Participant):
    """जो लड़का, जिस लड़के ने: the subject inside a relative clause. In English its noun stands outside."""

    noun: Entry | None = None
    jo: Word | None = None
    head: Word | None = None

    def direct(self) -> Phrase:
        return Phrase([self.jo, self.head], [English("who", (self.jo,))])

    def with_ne(self) -> Phrase:
        ne = Word("ने")
        return Phrase([self.jo, self.head, ne], [English("who", (self.jo,), (ne,))])


class Pronoun:
    """The forms of a pronoun. वह and वे have no form with ने or को here: उसने would not tell he from she."""

    def __init__(self, forms: str, person: int, plural: bool, verb: str) -> None:
        self.hindi, self.ergative, self.dative, self.possessive, self.english, self.object, self.own = forms.split()
        self.person, self.plural, self.verb = person, plural, verb

    def subject(self, gender: str) -> Said:
        agreement = Agreement(self.person, self.plural, gender)
        return Said(agreement, self.verb, self.own, (), (self.hindi,), (self.english,), self.ergative)


PRONOUNS = (
    Pronoun("मैं मैंने मुझे मेर I me my", 1, False, "I"),
    Pronoun("हम हमने हमें हमार we us our", 1, True, "they"),
    Pronoun("तुम तुमने तुम्हें तुम्हार you you your", 2, True, "they"),
    Pronoun("आप आपने आपको आपक you you your", 3, True, "they"),
)


def he_or_she(gender: str) -> Said:
    """वह: the verb alone will show the gender, and English needs it at once."""
    english, own = ("he", "his") if gender == "m" else ("she", "her")
    return Said(Agreement(3, False, gender), "he", own, ("verb_gender",), ("वह",), (english,))


def they(gender: str) -> Said:
    return Said(Agreement(3, True, gender), "they", "their", (), ("वे",), ("they",))


def pronoun_for(someone: Participant) -> Said:
    """The pronoun that takes up a subject: Ram … he, the girls … they, I … I."""
    if isinstance(someone, Said) and (someone.hindi[0] == "वह" or someone.ergative):
        return Said(
            someone.agreement,
            someone.person,
            someone.own,
            someone.tags,
            someone.hindi,
            someone.english,
            someone.ergative,
        )
    return (they if someone.agreement.plural else he_or_she)(someone.agreement.gender)


def is_vah(someone: Participant) -> bool:
    return isinstance(someone, Said) and someone.hindi[0] == "वह"


def speaks_or_hears(someone: Participant) -> bool:
    """Is this मैं, हम, तुम or आप?"""
    return someone.own in ("my", "our", "your")


# ------------------------------------------------------------------------------------------------------- clauses


@dataclass(slots=True, eq=False)
class Plan:
    """What a clause is to be, where it is not left to chance. rich: how readily phrases are added, 0 to 1."""

    subject: Participant | None = None
    tense: str = ""
    negative: bool | None = None
    asked: bool = False
    frame: str = ""
    rich: float = 0.3
    verb: Entry | None = None
    time: bool = True


@dataclass(slots=True, eq=False)
class Clause:
    """One finite clause, in parts, so that a question or a relative clause can rearrange its English."""

    subject: Phrase
    complement: Phrase  # object, goal or predicate
    verb: VerbGroup
    tags: list[str]
    who: Participant
    adjuncts: list[Phrase] = field(default_factory=list)  # in the Hindi order
    base: Entry | None = None
    tense: str = ""

    def before_verb(self) -> list[Word]:
        """All Hindi words up to the place of a question word."""
        added = [word for phrase in self.adjuncts for word in phrase.hindi]
        return self.subject.hindi + added + self.complement.hindi

    def hindi(self) -> list[Word]:
        return self.before_verb() + self.verb.host + self.verb.hindi

    def hindi_predicate(self) -> list[Word]:
        return self.hindi()[len(self.subject.hindi) :]

    def ends(self) -> list[English]:
        """The English after the verb."""
        added = [word for phrase in reversed(self.adjuncts) for word in phrase.english]
        return self.verb.rest + self.complement.english + added

    def predicate(self) -> list[English]:
        return self.verb.auxiliary + self.ends()

    def english(self) -> list[English]:
        return self.subject.english + self.predicate()

    def question(self) -> list[English]:
        """Does he go …: the first auxiliary before the subject."""
        return self.verb.auxiliary + self.subject.english + self.ends()

    def phrase(self) -> Phrase:
        return Phrase(self.hindi(), self.english())


TENSES = ("habit", "habit", "habit", "progressive", "past_progressive", "past", "past", "past", "perfect", "future",
          "future", "used_to", "can", "want", "wanted", "could")  # fmt: skip
CORE_TENSES = ("habit", "past_progressive", "future")
FRAMES = {"object": 40, "go": 14, "come": 6, "act": 14, "whom": 12, "give": 8, "put": 3, "live": 3}
CORE_FRAMES = {"object": 55, "go": 35, "act": 10}
FRAME_OF = {"live": ("habit", "used_to", "want", "future")}  # the frames that have not every tense
WHEN = {"habit": "habit", "used_to": "habit", "progressive": "progressive", "past": "past", "could": "past",
        "past_progressive": "past", "future": "future", "can": "future", "want": "future"}  # fmt: skip
BARRED = {"past": ("noperfect",), "perfect": ("noperfect", "nohas"), "habit": ("once",), "used_to": ("once",),
          "progressive": ("noprogressive",), "past_progressive": ("noprogressive",),
          "can": ("nocan",), "could": ("nocan", "noperfect")}  # fmt: skip
HOURS = ("habit", "used_to", "past", "past_progressive", "future")


@cache
def allowed(frame: str, tense: str, core: bool) -> tuple[Entry, ...]:
    """The verbs of a frame that may have a tense."""
    barred = BARRED.get(tense, ())
    return tuple(verb for verb in entries("verb", frame, core) if not any(kind in verb.kinds for kind in barred))


@cache
def times(kind: str, wide: bool, core: bool) -> tuple[Entry, ...]:
    """The time phrases for a tense; those of weeks, months and years only for verbs that last or can wait."""
    return tuple(entry for entry in entries("time", kind, core) if wide or "wide" not in entry.kinds)


class Clauses:
    """Chooses words and makes clauses of them. Equal seeds give equal clauses."""

    def __init__(self, seed: int = 0, core: bool = False) -> None:
        self.random, self.core = random.Random(seed), core
        self.used: list[str] = []  # names and relatives of this sentence: nobody goes to school with himself
        self.tenses = CORE_TENSES if core else TENSES
        self.begin()
        frames = CORE_FRAMES if core else FRAMES
        self.frames, self.frame_weights = list(frames), list(frames.values())

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
        return Said(Agreement(3, False, name.gender), "he", own, (), (name.hindi,), (name.english,))

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
            adjective = self.entry("adjective", "adult" if "adult" in noun.kinds and self.chance(0.1) else "person")
        return self.the(noun, not one_only and noun.shows_plural and self.chance(0.3), adjective)

    def the(self, noun: Entry, plural: bool = False, adjective: Entry | None = None) -> Noun:
        return self.noun(noun, "the", plural, adjective)

    def animal(self) -> Noun:
        noun = self.fresh("noun", "animal")
        adjective = self.entry("adjective", "animal") if self.chance(0.3) else None
        return self.noun(noun, "the", noun.shows_plural and self.chance(0.3), adjective, own="")

    def kin(self, subject: Participant | None = None, rich: float = 0.0) -> Noun:
        """मेरा भाई, राम की बहन, अपने दोस्त: relatives belong to someone."""
        young = isinstance(subject, Noun) and "young" in subject.noun.kinds
        noun = self.fresh("noun", "peer" if young else "kin")
        sibling = "sibling" in noun.kinds and self.chance(max(0.25, rich))
        adjective = self.entry("adjective", "sibling") if sibling else None
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

    def counted(self, noun: Entry) -> Noun:
        number = self.entry("numeral")
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

    def someone_else(self, subject: Participant, rich: float = 0.0) -> Participant:
        """A companion, or who is called, met or helped."""
        draw = self.random.random() * (1 - rich) + rich * 0.6
        if self.core or draw < 0.45:
            return self.name()
        return self.kin(subject, rich) if draw < 0.75 else self.person(one_only=self.chance(0.7))

    # ---------------------------------------------------------------------------------------------- something

    def thing(self, verb: Entry, subject: Participant, many: bool = False, negative: bool = False) -> Noun:
        """What is eaten, read or bought: किताब – a book, नई किताबें – new books, दो किताबें, अपनी किताब, यह किताब.

        The kinds of the verb say more: `owned` things may be someone's, of `single` ones there is one, `created` ones
        are not old.
        """
        noun = self.entry("noun", self.one_of(verb.kinds_of("object")))
        if noun.mass:
            return self.noun(noun, "")
        if self.core:
            return self.noun(noun, "a")
        draw = self.random.random()
        if "the" in noun.kinds:
            return self.noun(noun, self.owner(subject)) if draw < 0.3 else self.the(noun)
        adjective = self.adjective_for(noun) if self.chance(0.22) else None
        if adjective is not None and adjective.english == "old" and "created" in verb.kinds:
            adjective = None
        single = "single" in verb.kinds
        # Nobody sells a potato every day; where the noun does not show that it is many, a number does.
        if many or (draw < 0.1 and not single and not negative):
            return self.noun(noun, "", True, adjective) if noun.shows_plural and draw < 0.8 else self.counted(noun)
        if "owned" in verb.kinds and draw < 0.32:
            return self.noun(
                noun, self.owner(subject), noun.shows_plural and not single and self.chance(0.2), adjective
            )
        if draw > 0.94:
            return self.this(noun)
        plural = noun.shows_plural and not single and self.chance(0.3)
        return self.noun(noun, "" if plural else "a", plural, adjective)

    def adjective_for(self, noun: Entry) -> Entry | None:
        if "read" in noun.kinds:
            return self.entry("adjective", "text")
        return self.entry("adjective", "thing") if "thing" in noun.kinds else None

    def this(self, noun: Entry) -> Noun:
        """यह किताब – this book, ये किताबें – these books."""
        plural = noun.shows_plural and self.chance(0.3)
        return self.noun(noun, one("ये", "these") if plural else one("यह", "this"), plural)

    # --------------------------------------------------------------------------------------------- adjuncts

    def add_time(self, clause: Clause, plan: Plan, wide: bool) -> None:
        """When: a phrase that the tense allows. कल is yesterday or tomorrow; the verb tells."""
        kind = WHEN.get(clause.tense)
        timed = plan.time and kind is not None and "notime" not in clause.base.kinds
        if not timed or not self.chance(plan.rich * (0.6 if clause.tense in ("can", "want") else 1.4)):
            return
        if clause.tense in HOURS and self.chance(0.15):
            clause.adjuncts.append(fixed(self.entry("time", "hour")))
            clause.tags.append("postpositions")
            return
        options = times(kind, wide, self.core)
        if not options:
            return
        entry = self.one_of(options)
        if kind in ("past", "future") and self.chance(0.3):
            entry = options[0]  # कल is a lesson of its own: it comes first in the lexicon, and often
        phrase = fixed(entry)
        if "weekday" in entry.kinds and self.chance(max(0.1, plan.rich - 0.4)):
            part, ko = Word(self.one_of(("शाम", "दोपहर"))), Word("को")
            english = "evening" if part.text == "शाम" else "afternoon"
            phrase = phrase + Phrase([part, ko], [English(english, (part,), (ko,))])
        clause.adjuncts.append(phrase)
        if "kal" in entry.kinds:
            clause.tags.append("kal")

    def add_place(self, clause: Clause, verb: Entry, probability: float, rich: float) -> None:
        kinds = verb.kinds_of("at")
        if kinds and self.chance(probability):
            clause.adjuncts.append(self.place(self.entry("place", kinds[0]), max(0.12, rich - 0.3), clause))
            clause.tags.append("postpositions")

    def place(self, place: Entry, adjectives: float, clause: Clause) -> Phrase:
        """बड़े बग़ीचे में – in the big garden, घर पर – at home."""
        postposition, preposition = place.forms
        if "bare" in place.kinds:
            return noun_phrase(place, "", oblique=True).with_preposition(preposition, postposition)
        described = not self.core and self.chance(adjectives)
        adjective = self.entry("adjective", "place") if described else None
        if described or place.declension == "a":
            clause.tags.append("agreement")
        return noun_phrase(place, "the", False, adjective, True).with_preposition(preposition, postposition)

    def add_companion(self, clause: Clause, subject: Participant, probability: float, rich: float) -> None:
        if not self.chance(probability):
            return
        clause.tags.append("postpositions")
        if not self.core and not speaks_or_hears(subject) and self.chance(0.1):
            pronoun = self.one_of(self.pronouns)
            clause.adjuncts.append(one(pronoun.possessive + "े", pronoun.object).with_preposition("with", "साथ"))
            return
        clause.adjuncts.append(self.marked(self.someone_else(subject, rich), clause, "with", "के", "साथ"))

    def marked(self, who: Participant, clause: Clause, english: str, *hindi: str) -> Phrase:
        """Someone with a postposition."""
        clause.tags += who.tags
        return who.oblique().with_preposition(english, *hindi)

    def add_means(self, clause: Clause, pos: str, kind: str, probability: float) -> bool:
        """By bus, with a pen."""
        if self.core or not self.chance(probability):
            return False
        clause.adjuncts.append(fixed(self.entry(pos, kind)))
        clause.tags.append("postpositions")
        return True

    def add_manner(self, clause: Clause, verb: Entry, probability: float) -> None:
        ways = verb.kinds_of("manner")
        if not self.core and ways and self.chance(probability):
            clause.adjuncts.append(fixed(self.entry("manner", self.one_of(ways))))

    # ----------------------------------------------------------------------------------------------- clauses

    def clause(self, plan: Plan) -> Clause:
        """One finite clause of a random frame, or of the planned one."""
        tense = plan.tense or self.one_of(self.tenses)
        frame = plan.frame or self.random.choices(self.frames, self.frame_weights)[0]
        while tense not in FRAME_OF.get(frame, (tense,)) or not (plan.verb or allowed(frame, tense, self.core)):
            frame = self.random.choices(self.frames, self.frame_weights)[0]
        verb = plan.verb or self.one_of(allowed(frame, tense, self.core))
        subject = plan.subject or self.fitting_subject(verb, tense, plan.asked)
        clause = Clause(Phrase(), Phrase(), None, [], subject, base=verb, tense=tense)
        negative = plan.negative
        if negative is None:
            negative = not self.core and self.chance(0.1)
        negative = tense == "could" or (negative and tense not in ("used_to", "wanted"))
        negative = negative and not plan.asked
        governor = getattr(self, "frame_" + frame)(clause, plan, verb, negative)
        return self.finish(clause, plan, negative, governor)

    def fitting_subject(self, verb: Entry, tense: str, asked: bool = False) -> Participant:
        """A subject for the verb: animals run too; वह and वे have no form with ने; nobody asks about himself."""
        if "animal" in verb.kinds and not self.core and self.chance(0.25):
            return self.animal()
        ne = verb.declension == "ne" and tense in PERFECTIVE
        while True:
            subject = self.subject()
            without_ne = isinstance(subject, Said) and subject.hindi[0] in ("वह", "वे")
            child = isinstance(subject, Noun) and "young" in subject.noun.kinds
            oneself = asked and subject.own in ("my", "our")
            if not (ne and without_ne) and not (child and "grown" in verb.kinds) and not oneself:
                return subject

    def finish(self, clause: Clause, plan: Plan, negative: bool, governor: Agreement | None) -> Clause:
        """Join subject and verb: the verb agrees with the subject, or after ने with its object, or with nothing."""
        subject, verb = clause.who, clause.base
        agreement = subject.agreement
        tags = list(subject.tags)
        if verb.declension == "ne" and clause.tense in PERFECTIVE:
            agreement = Agreement(3, False, verb.gender) if verb.gender else governor or NOBODY
            clause.subject = subject.with_ne()
            tags.append("ergative")
        else:
            clause.subject = subject.direct()
        clause.verb = verb_group(verb, clause.tense, agreement, subject.person, negative, plan.asked)
        if " " in verb.english and verb.kinds_of("by"):  # से of बात करना is the *to* of talk to
            clause.verb.rest[-1].sure = (clause.complement.hindi[-1],)
        if clause.complement.hindi and clause.adjuncts:
            tags.append("word_order")
        clause.tags = [*tags, *clause.tags, *clause.verb.tags]
        return clause

    def frame_object(self, clause: Clause, plan: Plan, verb: Entry, negative: bool) -> Agreement:
        """राम बग़ीचे में किताब पढ़ रहा है – Ram is reading a book in the garden."""
        subject, rich = clause.who, plan.rich
        self.add_time(clause, plan, "wide" in verb.kinds and clause.tense != "past_progressive")
        origin = verb.kinds_of("from")
        self.add_place(clause, verb, rich, rich)
        if not negative and ("together" in verb.kinds or self.core):
            self.add_companion(clause, subject, 0.5 * rich, rich)
        self.add_aside(clause, verb, origin, plan)
        self.add_manner(clause, verb, 0 if negative else 0.25 * rich)
        many = "plenty" in verb.kinds or ("many" in verb.kinds and clause.tense in ("habit", "used_to", "can"))
        thing = self.thing(verb, subject, many, negative)
        clause.complement = thing.direct()
        clause.tags += thing.tags
        return thing.agreement

    def add_aside(self, clause: Clause, verb: Entry, origin: tuple[str, ...], plan: Plan) -> None:
        """At most one of: from where, for whom, with what."""
        tool = verb.kinds_of("tool")
        if origin and self.chance(0.6 * plan.rich):
            place = self.entry("place", "trade")
            clause.adjuncts.append(noun_phrase(place, "the", oblique=True).with_preposition("from", "से"))
            clause.tags.append("postpositions")
        elif "benefit" in verb.kinds and self.chance(0.5 * plan.rich):
            whom = self.someone_else(clause.who, plan.rich)
            clause.adjuncts.append(self.marked(whom, clause, "for", "के", "लिए"))
            clause.tags.append("postpositions")
        elif tool and not clause.adjuncts:
            self.add_means(clause, "tool", tool[0], 0.3)

    def frame_go(self, clause: Clause, plan: Plan, verb: Entry, negative: bool) -> None:
        """वह रोज़ स्कूल जाता है – he goes to school every day."""
        self.add_time(clause, plan, True)
        self.add_companion(clause, clause.who, 0.6 * plan.rich, plan.rich)
        far = not self.core and self.chance(0.3)
        self.add_means(clause, "vehicle", "far" if far else "near", 0.5 * plan.rich)
        if far:
            city = self.entry("city")
            word = Word(city.hindi)
            clause.complement = Phrase([word], [English("to", (), (word,)), English(city.english, (word,))])
            return
        clause.complement = self.goal(self.entry("place", "go"))

    def goal(self, place: Entry) -> Phrase:
        """स्कूल – to school, मेले – to the fair, घर – home."""
        phrase = noun_phrase(place, "" if "bare" in place.kinds else "the", oblique=True)
        word = phrase.hindi[-1]
        if "home" in place.kinds and place.english == "home":
            return phrase
        return Phrase(phrase.hindi, [English("to", (), (word,)), *phrase.english])

    def frame_come(self, clause: Clause, plan: Plan, verb: Entry, negative: bool) -> None:
        """वह गाँव से आया – he came from the village."""
        self.add_time(clause, plan, True)
        self.add_companion(clause, clause.who, 0.5 * plan.rich, plan.rich)
        if self.chance(0.4):  # and no vehicle: बस से शहर से is one से too many
            city = self.entry("city")
            phrase = one(city.hindi, city.english)
        else:
            place = self.entry("place", "from")
            phrase = noun_phrase(place, "" if "bare" in place.kinds else "the", oblique=True)
        clause.complement = phrase.with_preposition("from", "से")
        clause.tags.append("postpositions")

    def frame_act(self, clause: Clause, plan: Plan, verb: Entry, negative: bool) -> None:
        """बच्चे मैदान में खेल रहे हैं – the children are playing in the playground."""
        self.add_time(clause, plan, False)
        animal = not clause.who.own
        if animal and self.chance(plan.rich):
            where = "water" if "at:water" in verb.kinds else "outdoors"
            clause.adjuncts.append(self.place(self.entry("place", where), 0.12, clause))
            clause.tags.append("postpositions")
        elif not animal:
            self.add_place(clause, verb, 1.6 * plan.rich, plan.rich)
        if "together" in verb.kinds and not negative and not animal:
            self.add_companion(clause, clause.who, 0.5 * plan.rich, plan.rich)
        self.add_manner(clause, verb, 0 if negative else 0.4 * plan.rich)

    def frame_whom(self, clause: Clause, plan: Plan, verb: Entry, negative: bool) -> None:
        """राम ने सीता को बुलाया – Ram called Sita: with को on the object the verb agrees with nothing."""
        self.add_time(clause, plan, False)
        self.add_place(clause, verb, 0.6 * plan.rich, plan.rich)
        self.add_manner(clause, verb, 0 if negative else 0.3 * plan.rich)
        marker = verb.kinds_of("by")[0]
        clause.tags.append("genitive" if marker in ("का", "की") else "postpositions")
        if marker == "को" and not self.core and not speaks_or_hears(clause.who) and self.chance(0.12):
            pronoun = self.one_of(self.pronouns)
            clause.complement = one(pronoun.dative, pronoun.object)
            return
        whom = self.animal() if "animals" in verb.kinds and self.chance(0.4) else self.someone_else(clause.who)
        clause.tags += whom.tags
        clause.complement = whom.oblique().with_marker(Word(marker))

    def frame_give(self, clause: Clause, plan: Plan, verb: Entry, negative: bool) -> Agreement:
        """राम सीता को किताब देता है – Ram gives a book to Sita."""
        self.add_time(clause, plan, False)
        clause.tags.append("postpositions")
        if not speaks_or_hears(clause.who) and self.chance(0.12):
            pronoun = self.one_of(self.pronouns)
            word = Word(pronoun.dative)
            clause.adjuncts.append(Phrase([word], [English("to", (), (word,)), English(pronoun.object, (word,))]))
        else:
            clause.adjuncts.append(self.marked(self.someone_else(clause.who), clause, "to", "को"))
        many = "many" in verb.kinds and clause.tense in ("habit", "used_to")
        thing = self.thing(verb, clause.who, many, negative)
        clause.complement = thing.direct()
        clause.tags += thing.tags
        return thing.agreement

    def frame_put(self, clause: Clause, plan: Plan, verb: Entry, negative: bool) -> Agreement:
        """राम ने मेज़ पर किताब रखी – Ram put a book on the table."""
        self.add_time(clause, plan, False)
        clause.adjuncts.append(self.place(self.entry("surface"), 0.2, clause))
        thing = self.thing(verb, clause.who, False, negative)
        clause.complement = thing.direct()
        clause.tags += [*thing.tags, "postpositions"]
        return thing.agreement

    def frame_live(self, clause: Clause, plan: Plan, verb: Entry, negative: bool) -> None:
        """मेरा भाई दिल्ली में रहता है – my brother lives in Delhi."""
        clause.tags.append("postpositions")  # and no time: कल दिल्ली में रहेगा would be "will stay"
        if self.chance(0.7):
            city = self.entry("city")
            clause.complement = one(city.hindi, city.english).with_preposition("in", "में")
        else:
            clause.complement = self.place(self.entry("place", "dwell"), 0.3, clause)

    # -------------------------------------------------------------------------------------- clauses with होना

    def being(
        self, subject: Participant, past: bool, negative: bool = False, adjective: Entry | None = None
    ) -> Clause:
        """सीता बहुत ख़ुश है – Sita is very happy. After वह only what shows its gender: वह भूखी है, वह ख़ुश थी."""
        kind = "state" if adjective is not None or past or self.chance(0.5) else "trait"
        while adjective is None or (is_vah(subject) and not past and adjective.declension != "a"):
            adjective = self.entry("adjective", "state" if is_vah(subject) else kind)
        forms = [Word(text) for text in adjective_form(adjective, subject.agreement).split()]
        complement = Phrase(forms, [English(adjective.english, tuple(forms))])
        if not self.core and len(forms) == 1 and adjective.english not in ("alone", "ready") and self.chance(0.25):
            complement = one("बहुत", "very") + complement
        verb = be_group(past, subject.agreement, subject.person, negative)
        tags = [*subject.tags, *verb.tags, *(["agreement"] if adjective.declension == "a" else [])]
        return Clause(subject.direct(), complement, verb, tags, subject, tense="was" if past else "is")
