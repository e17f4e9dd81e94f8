"""Who takes part in a clause, what a clause is to be, and the clause itself.

Hindi:   subject · time · place · companion · vehicle, tool or origin · receiver · manner · object or goal · verb
English: subject · verb · object or goal · manner · receiver · vehicle, tool or origin · companion · place · time
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from lib.lexicon import Entry
from lib.morphology import Agreement
from lib.phrases import English, Owner, Phrase, VerbGroup, Word, noun_phrase, one

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

    @property
    def young(self) -> bool:
        """A child: it drives no car and has no grandson."""
        return False

    @property
    def counted(self) -> bool:
        """nine girls: they come into the story here, so nothing is asked or denied of them."""
        return False

    @property
    def many(self) -> bool:
        """Surely more than one: तुम and आप need not be."""
        return self.agreement.plural and self.own != "your"

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

    @property
    def young(self) -> bool:
        return "young" in self.noun.kinds

    @property
    def counted(self) -> bool:
        return isinstance(self.before, Phrase)

    @property
    def definite(self) -> bool:
        """the door, my book, this book; not two books."""
        if isinstance(self.before, Phrase):
            return self.before.english[0].text in ("this", "these")
        return self.before == "the" or isinstance(self.before, Owner)

    def direct(self) -> Phrase:
        return noun_phrase(self.noun, self.before, self.agreement.plural, self.adjective)

    def oblique(self) -> Phrase:
        return noun_phrase(self.noun, self.before, self.agreement.plural, self.adjective, oblique=True)


@dataclass(slots=True, eq=False)
class Said(Participant):
    """Names and pronouns: what they look like is known. `ergative` where ने melts into the word: मैंने."""

    hindi: str = ""
    english: str = ""
    ergative: str = ""
    young: bool = False  # this pronoun stands for a child

    def direct(self) -> Phrase:
        return one(self.hindi, self.english)

    def oblique(self) -> Phrase:
        return self.direct()

    def with_ne(self) -> Phrase:
        return one(self.ergative, self.english) if self.ergative else self.direct().with_marker(Word("ने"))


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

    @property
    def young(self) -> bool:
        return "young" in self.noun.kinds

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
        return Said(agreement, self.verb, self.own, (), self.hindi, self.english, self.ergative)


PRONOUNS = (
    Pronoun("मैं मैंने मुझे मेर I me my", 1, False, "I"),
    Pronoun("हम हमने हमें हमार we us our", 1, True, "they"),
    Pronoun("तुम तुमने तुम्हें तुम्हार you you your", 2, True, "they"),
    Pronoun("आप आपने आपको आपक you you your", 3, True, "they"),
)


def he_or_she(gender: str, young: bool = False) -> Said:
    """वह: the verb alone will show the gender, and English needs it at once."""
    english, own = ("he", "his") if gender == "m" else ("she", "her")
    return Said(Agreement(3, False, gender), "he", own, ("verb_gender",), "वह", english, "", young)


def they(gender: str, young: bool = False) -> Said:
    return Said(Agreement(3, True, gender), "they", "their", (), "वे", "they", "", young)


def pronoun_for(someone: Participant) -> Said:
    """The pronoun that takes up a subject: Ram … he, the girls … they, I … I."""
    if isinstance(someone, Said) and (someone.hindi == "वह" or someone.ergative):
        return replace(someone)
    return (they if someone.agreement.plural else he_or_she)(someone.agreement.gender, someone.young)


def is_vah(someone: Participant) -> bool:
    return isinstance(someone, Said) and someone.hindi == "वह"


def is_who(someone: Participant) -> bool:
    """Is this कौन?"""
    return isinstance(someone, Said) and someone.hindi == "कौन"


def suits(verb: Entry, subject: Participant) -> bool:
    """Children do not drive, and many people do not wear one shirt."""
    return not ("grown" in verb.kinds and subject.young) and not ("lone" in verb.kinds and subject.many)


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
    place: bool = True
    manner: bool = True
    goal: str = "go"  # what kind of place one goes to


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
    timed: bool = False  # it says when
    definite: bool = False  # its object is known: the door, this book, Sita

    @property
    def negative(self) -> bool:
        return "negation" in self.verb.tags

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
