"""Clauses of the controlled language: who does what to whom, when, where, with whom and for whom.

Hindi order:   subject · time · place · companion · source, tool · receiver · manner · object or goal · नहीं · verb
English order: subject · verb · object or goal · receiver · manner · source, tool · companion · place · time
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from lib.lexicon import Entry, Noun, Verb, entries
from lib.morphology import (
    THIRD,
    Agreement,
    adjective_form,
    article,
    be_past,
    be_present,
    ending,
    noun_form,
    past_aux,
    present_aux,
)
from lib.phrases import (
    CORE_TENSES,
    PERFECTIVE,
    TENSES,
    English,
    Participant,
    Phrase,
    VerbGroup,
    Word,
    fixed,
    verb_group,
    with_ne,
)

# hindi, with ने, English, persons: (agreement person, plural), English verb. वह has no ने form here: उसने would not tell
# he from she.
PRONOUNS = (
    ("मैं", "मैंने", "I", (1, False), "I"),
    ("हम", "हमने", "we", (1, True), "they"),
    ("तुम", "तुमने", "you", (2, True), "they"),
    ("आप", "आपने", "you", (3, True), "they"),
    ("वे", "", "they", (3, True), "they"),
)
POSSESSIVES = (("मेर", "my"), ("तुम्हार", "your"), ("हमार", "our"))


@dataclass(slots=True)
class Adjuncts:
    """Phrases around the verb, in the Hindi order; English has them the other way round, after the object."""

    phrases: list[Phrase] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)

    def add(self, phrase: Phrase, *tags: str) -> None:
        self.phrases.append(phrase)
        self.tags += tags

    def hindi(self) -> list[Word]:
        return [word for phrase in self.phrases for word in phrase.hindi]

    def english(self) -> list[English]:
        return [word for phrase in reversed(self.phrases) for word in phrase.english]


@dataclass(slots=True)
class Clause:
    """One finite clause, in parts, so that a question or a relative clause can rearrange its English."""

    subject: Phrase
    adjuncts: Adjuncts
    complement: Phrase  # object, goal or predicate
    verb: VerbGroup
    tags: tuple[str, ...]
    person: str = "he"

    def hindi(self) -> list[Word]:
        return [*self.subject.hindi, *self.adjuncts.hindi(), *self.complement.hindi, *self.verb.hindi]

    def english(self) -> list[English]:
        return [*self.subject.english, *self.predicate()]

    def predicate(self) -> list[English]:
        """Everything after the subject."""
        return [*self.verb.auxiliary, *self.verb.rest, *self.complement.english, *self.adjuncts.english()]

    def question(self) -> list[English]:
        """Does he go …: the first auxiliary before the subject."""
        rest = [*self.verb.rest, *self.complement.english, *self.adjuncts.english()]
        return [*self.verb.auxiliary, *self.subject.english, *rest]

    def phrase(self) -> Phrase:
        return Phrase(self.hindi(), self.english())


@dataclass(frozen=True)
class Plan:
    """What a clause is to be, where it is not left to chance."""

    subject: Participant | None = None
    tense: str | None = None
    negative: bool | None = None
    asked: bool = False
    frame: str | None = None
    adjuncts: float = 0.5  # how readily phrases are added
    verb: Verb | None = None
    time: bool = True


# frame: how often. What each is, is said by the method of the same name.
FRAMES = {"transitive": 42, "motion": 20, "activity": 14, "seeing": 8, "giving": 7, "meeting": 5, "living": 4}
CORE_FRAMES = {"transitive": 60, "motion": 40}


class Clauses:
    """Draws clauses at random, from the whole lexicon or from the words of the core."""

    def __init__(self, seed: int = 0, core: bool = False) -> None:
        self.random, self.core = random.Random(seed), core
        self.named_already: set[str] = set()  # in this clause: nobody goes to school with himself
        self.tenses = CORE_TENSES if core else TENSES

    # --------------------------------------------------------------------------------------------- choosing

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def entry(self, pos: str, kind: str | None = None) -> Entry:
        """A word of the lexicon; in the sub-language one of its words."""
        return self.random.choice(entries(pos, kind, self.core))

    # ---------------------------------------------------------------------------------------- noun phrases

    def subject(self) -> Participant:
        """Who does it: a pronoun, a name, or a person with an adjective, a possessor or a number."""
        kind = self.random.random()
        if kind < 0.2:
            return self.he_or_she(self.random.choice("mf"))
        if self.core or kind < 0.4:
            return self.named() if kind < 0.8 else self.person()
        if kind < 0.6:
            return self.pronoun()
        return self.relative_of_someone() if kind < 0.75 else self.person()

    def he_or_she(self, gender: str) -> Participant:
        """वह: the verb alone will show the gender, and English needs it at once."""
        word = Word("वह")
        phrase = Phrase([word], [English("he" if gender == "m" else "she", (word,))])
        return Participant(phrase, phrase, Agreement(3, False, gender), pronoun=True, tags=("verb_gender",))

    def pronoun(self) -> Participant:
        hindi, ergative, english, (person, plural), verb = self.random.choice(PRONOUNS)
        word, with_ne = Word(hindi), Word(ergative)
        gender = "m" if hindi in ("हम", "वे") or self.chance(0.6) else "f"
        return Participant(
            Phrase([word], [English(english, (word,))]),
            Phrase([with_ne], [English(english, (with_ne,))]) if ergative else Phrase(),
            Agreement(person, plural, gender),
            verb,
            pronoun=True,
        )

    def name(self) -> Entry:
        """A name that does not yet stand in this clause."""
        while (name := self.entry("name")).hindi in self.named_already:
            pass
        self.named_already.add(name.hindi)
        return name

    def named(self) -> Participant:
        name = self.name()
        word = Word(name.hindi)
        phrase = Phrase([word], [English(name.english, (word,))])
        return Participant(phrase, phrase, Agreement(3, False, name.gender))

    def person(self) -> Participant:
        """लड़का – the boy, छोटे बच्चे – the small children, तीन किसान – three farmers."""
        noun = self.entry("noun", "person")
        if self.core:
            return self.noun_participant(noun, "the")
        if self.chance(0.2):
            return self.counted(noun)
        adjective = self.entry("adjective", "person") if self.chance(0.35) else None
        # लड़के or बच्चे may be one or many; the verb tells. Nouns that do not change (किसान) are kept singular here.
        plural = noun.declension in ("a", "i", "f") and self.chance(0.25)
        return self.noun_participant(noun, "the", plural, adjective)

    def animal(self) -> Participant:
        """कुत्ता – the dog, सफ़ेद घोड़े – the white horses."""
        noun = self.entry("noun", "animal")
        adjective = self.entry("adjective", "animal") if self.chance(0.4) else None
        plural = noun.declension in ("a", "i", "iya") and self.chance(0.3)
        return self.noun_participant(noun, "the", plural, adjective)

    def counted(self, noun: Noun) -> Participant:
        number = self.entry("numeral")
        word = Word(number.hindi)
        phrase = Phrase([word], [English(number.english, (word,))])
        return self.noun_participant(noun, phrase, True)

    def relative_of_someone(self) -> Participant:
        """मेरा भाई, राम की बहन: kin belong to someone."""
        noun = self.entry("noun", "kin")
        return self.possessed(noun)

    def possessed(self, noun: Noun, adjective: Entry | None = None) -> Participant:
        """मेरी किताब – my book, राम का घर – Ram's house: the possessor agrees with what is possessed."""
        if self.chance(0.5):
            stem, english = self.random.choice(POSSESSIVES)

            def owner(oblique: bool) -> Phrase:
                word = Word(ending(stem, Agreement(3, oblique, noun.gender)))
                return Phrase([word], [English(english, (word,))])
        else:
            name = self.name()

            def owner(oblique: bool) -> Phrase:
                who, of = Word(name.hindi), Word(ending("क", Agreement(3, oblique, noun.gender)))
                return Phrase([who, of], [English(name.english + "'s", (who,), (of,))])

        return self.noun_participant(noun, owner, False, adjective, ("genitive",))

    def noun_participant(
        self,
        noun: Noun,
        determiner: str | Phrase | Callable[[bool], Phrase],
        plural: bool = False,
        adjective: Entry | None = None,
        tags: tuple[str, ...] = (),
    ) -> Participant:
        """A noun with what stands before it, in both cases.

        determiner: "the", "a" or "" as English has it and Hindi has not, or a phrase in both languages.
        """
        agreement = Agreement(3, plural, noun.gender)
        inflects = adjective is not None and adjective.declension == "a"

        def make(oblique: bool) -> Phrase:
            head = Word(noun_form(noun, plural, oblique))
            names = (noun.plural if plural else noun.english).split()
            described = Phrase([head], [English(name, (head,)) for name in names])
            if adjective is not None:
                form = Word(adjective_form(adjective.hindi, inflects, agreement, oblique))
                described = Phrase([form], [English(adjective.english, (form,))]) + described
            if callable(determiner):
                return determiner(oblique) + described
            if isinstance(determiner, Phrase):
                return Phrase(list(determiner.hindi), list(determiner.english)) + described
            word = article(described.english[0].text) if determiner == "a" else determiner
            return Phrase([], [English(word, (), (head,))] if word else []) + described

        if plural or inflects or noun.declension == "a":
            tags = (*tags, "agreement")
        return Participant(make(False), make(True), agreement, "they" if plural else "he", tags=tags)

    def thing(self, kind: str, owned: bool = True, many: bool = False) -> Participant:
        """What is eaten, read or bought: किताब – a book, नई किताबें – new books, दो किताबें, मेरी किताब, यह किताब."""
        noun = self.entry("noun", kind)
        if noun.declension == "mass":
            return self.noun_participant(noun, "")
        if self.core:
            return self.noun_participant(noun, "a")
        if many:  # nobody sells a potato; where the noun does not show that it is many, a number does
            visible = noun.declension not in ("m", "x")
            return self.noun_participant(noun, "", True) if visible else self.counted(noun)
        quality = "text" if "read" in noun.kinds else "thing"
        adjective = self.entry("adjective", quality) if "thing" in noun.kinds and self.chance(0.25) else None
        choice = self.random.random()
        if choice < 0.12:
            return self.counted(noun)
        if owned and choice < 0.32:
            return self.possessed(noun, adjective) if choice < 0.24 else self.this(noun, adjective)
        # Only feminine nouns and those in -ा show that they are many.
        plural = noun.declension not in ("m", "x") and self.chance(0.25)
        return self.noun_participant(noun, "" if plural else "a", plural, adjective)

    def this(self, noun: Noun, adjective: Entry | None = None) -> Participant:
        """यह किताब – this book; इस before a postposition."""

        def determiner(oblique: bool) -> Phrase:
            word = Word("इस" if oblique else "यह")
            return Phrase([word], [English("this", (word,))])

        return self.noun_participant(noun, determiner, False, adjective)

    def companion(self) -> Participant:
        """Someone else: a name, a friend, a relative, a person."""
        choice = self.random.random()
        if self.core or choice < 0.5:
            return self.named()
        return (
            self.relative_of_someone()
            if choice < 0.75
            else self.noun_participant(self.entry("noun", "person"), "the")
        )

    # --------------------------------------------------------------------------------------------- adjuncts

    def time(self, tense: str) -> Phrase | None:
        """When: a phrase that the tense allows. कल is yesterday or tomorrow; the verb tells."""
        kind = {"habit": "habit", "used_to": "habit", "progressive": "progressive", "future": "future"}.get(tense)
        if tense in ("past", "past_progressive", "wanted"):
            kind = "past"
        if kind is None:
            return None
        if not entries("time", kind, self.core):
            return None
        # कल is one of four phrases for the past, but a lesson of its own: it gets half of them.
        kal = kind in ("past", "future") and self.chance(0.4)
        entry = next(iter(e for e in entries("time", kind) if "kal" in e.kinds)) if kal else self.entry("time", kind)
        return fixed(entry.hindi, entry.english)

    def when(self, tense: str, adjuncts: Adjuncts, plan: Plan) -> None:
        if plan.time and self.chance(plan.adjuncts):
            phrase = self.time(tense)
            if phrase:
                adjuncts.add(phrase, *(["kal"] if phrase.hindi[0].text == "कल" else []))
        elif plan.time and tense in ("habit", "past", "future", "used_to", "past_progressive") and self.chance(0.25):
            self.hour(adjuncts)

    def hour(self, adjuncts: Adjuncts) -> None:
        entry = self.entry("hour")
        adjuncts.add(fixed(entry.hindi, entry.english), "postpositions")

    def where(self, kind: str, adjuncts: Adjuncts, plan: Plan) -> None:
        if entries("place", kind, self.core) and self.chance(0.6 * plan.adjuncts):
            entry = self.entry("place", kind)
            adjuncts.add(fixed(entry.hindi, entry.english), "postpositions")

    def with_someone(self, adjuncts: Adjuncts, plan: Plan) -> None:
        if self.chance(0.35 * plan.adjuncts):
            adjuncts.add(self.together(), "postpositions")

    def together(self) -> Phrase:
        """X के साथ – with X."""
        who = self.companion()
        of, together = Word("के"), Word("साथ")
        return Phrase([*who.oblique.hindi, of, together], [English("with", (together,), (of,)), *who.oblique.english])

    def for_someone(self) -> Phrase:
        """X के लिए – for X."""
        who = self.companion()
        of, for_ = Word("के"), Word("लिए")
        return Phrase([*who.oblique.hindi, of, for_], [English("for", (for_,), (of,)), *who.oblique.english])

    def manner(self, kind: str, adjuncts: Adjuncts, plan: Plan) -> None:
        if not self.core and self.chance(0.2 * plan.adjuncts):
            entry = self.entry("manner", kind)
            adjuncts.add(fixed(entry.hindi, entry.english))

    def at(self, verb: Verb) -> str | None:
        """The kind of place where a verb is done."""
        return next((kind[3:] for kind in sorted(verb.kinds) if kind.startswith("at:")), None)

    # ----------------------------------------------------------------------------------------------- clauses

    def clause(self, plan: Plan = Plan()) -> Clause:
        """One finite clause of a random frame, or of the planned one."""
        self.named_already.clear()
        frames = CORE_FRAMES if self.core else FRAMES
        frame = plan.frame or self.random.choices(list(frames), weights=list(frames.values()))[0]
        return getattr(self, frame)(plan)

    def transitive(self, plan: Plan) -> Clause:
        """राम बग़ीचे में किताब पढ़ रहा है – Ram is reading a book in the garden."""
        kind, verb = self.object_verb(plan)
        tense = self.tense(verb, plan)
        thing = self.thing(kind, "owned" in verb.kinds, "many" in verb.kinds)
        adjuncts = Adjuncts()
        self.when(tense, adjuncts, plan)
        origin = "origin:trade" in verb.kinds and self.chance(0.5)
        if not origin and (place := self.at(verb)):
            self.where(place, adjuncts, plan)
        if "together" in verb.kinds or self.core:
            self.with_someone(adjuncts, plan)
        self.aside(verb, origin, adjuncts, plan)
        if "manner" in verb.kinds:
            self.manner("object", adjuncts, plan)
        return self.finite(plan, verb, tense, adjuncts, thing.direct, thing, thing.tags)

    def object_verb(self, plan: Plan) -> tuple[str, Verb]:
        verbs = [
            verb for verb in entries("verb", None, self.core) if any(k.startswith("object:") for k in verb.kinds)
        ]
        verb = plan.verb or self.random.choice(verbs)
        kinds = sorted(kind[7:] for kind in verb.kinds if kind.startswith("object:"))
        return self.random.choice(kinds), verb

    def aside(self, verb: Verb, origin: bool, adjuncts: Adjuncts, plan: Plan) -> None:
        """At most one of: from where, for whom, with what."""
        tool = next((kind[5:] for kind in sorted(verb.kinds) if kind.startswith("tool:")), None)
        if origin and self.chance(plan.adjuncts):
            entry = self.entry("origin", "trade")
            adjuncts.add(fixed(entry.hindi, entry.english), "postpositions")
        elif "benefit" in verb.kinds and self.chance(0.5 * plan.adjuncts):
            adjuncts.add(self.for_someone(), "postpositions")
        elif (
            tool
            and not self.core
            and "साथ" not in (word.text for word in adjuncts.hindi())
            and self.chance(0.3 * plan.adjuncts)
        ):
            entry = self.entry("tool", tool)
            adjuncts.add(fixed(entry.hindi, entry.english), "postpositions")

    def motion(self, plan: Plan) -> Clause:
        """वह रोज़ स्कूल जाता है – he goes to school every day; वह गाँव से आया – he came from the village."""
        go = next(verb for verb in entries("verb", "goto"))
        verb = plan.verb or (go if self.core or self.chance(0.6) else self.entry("verb", "come"))
        tense = self.tense(verb, plan)
        adjuncts = Adjuncts()
        self.when(tense, adjuncts, plan)
        self.with_someone(adjuncts, plan)
        if not self.core and self.chance(0.3 * plan.adjuncts):
            entry = self.entry("vehicle")
            adjuncts.add(fixed(entry.hindi, entry.english), "postpositions")
        entry = self.entry("goal" if verb is go else "origin")
        tags = () if verb is go else ("postpositions",)
        return self.finite(plan, verb, tense, adjuncts, fixed(entry.hindi, entry.english), None, tags)

    def activity(self, plan: Plan) -> Clause:
        """बच्चे मैदान में खेल रहे हैं – the children are playing in the field."""
        if not plan.subject and not plan.verb and self.chance(0.2):
            plan = replace(plan, subject=self.animal(), verb=self.entry("verb", "animal"))
        verb = plan.verb or self.entry("verb", "act")
        tense = self.tense(verb, plan)
        adjuncts = Adjuncts()
        self.when(tense, adjuncts, plan)
        self.where(self.at(verb) or "rest", adjuncts, replace(plan, adjuncts=1.2 * plan.adjuncts))
        if "together" in verb.kinds:
            self.with_someone(adjuncts, plan)
        return self.finite(plan, verb, tense, adjuncts, Phrase(), None, ())

    def person_object(self) -> Participant:
        choice = self.random.random()
        if choice < 0.5:
            return self.named()
        return self.person() if choice < 0.8 else self.relative_of_someone()

    def seeing(self, plan: Plan) -> Clause:
        """राम ने सीता को बुलाया – Ram called Sita: with को on the object the verb agrees with nothing."""
        verb = plan.verb or self.entry("verb", "person")
        tense = self.tense(verb, plan)
        whom, ko = self.person_object(), Word("को")
        english = [replace(word, possible=(*word.possible, ko)) for word in whom.oblique.english]
        adjuncts = Adjuncts()
        self.when(tense, adjuncts, plan)
        complement = Phrase([*whom.oblique.hindi, ko], english)
        return self.finite(plan, verb, tense, adjuncts, complement, THIRD, (*whom.tags, "postpositions"))

    def giving(self, plan: Plan) -> Clause:
        """राम सीता को किताब देता है – Ram gives a book to Sita."""
        verb = self.entry("verb", "give")
        tense = self.tense(verb, plan)
        thing, whom, ko = self.thing("gift"), self.person_object(), Word("को")
        adjuncts = Adjuncts()
        self.when(tense, adjuncts, plan)
        adjuncts.add(
            Phrase([*whom.oblique.hindi, ko], [English("to", (ko,)), *whom.oblique.english]), "postpositions"
        )
        return self.finite(plan, verb, tense, adjuncts, thing.direct, thing, (*thing.tags, *whom.tags))

    def meeting(self, plan: Plan) -> Clause:
        """राम बाज़ार में सीता से मिला – Ram met Sita in the market."""
        verb = self.entry("verb", "meet")
        tense = self.tense(verb, plan)
        whom, se = self.person_object(), Word("से")
        english = [replace(word, possible=(*word.possible, se)) for word in whom.oblique.english]
        adjuncts = Adjuncts()
        self.when(tense, adjuncts, plan)
        self.where("trade" if self.chance(0.5) else "rest", adjuncts, plan)
        complement = Phrase([*whom.oblique.hindi, se], english)
        return self.finite(plan, verb, tense, adjuncts, complement, None, (*whom.tags, "postpositions"))

    def living(self, plan: Plan) -> Clause:
        """मेरा भाई दिल्ली में रहता है – my brother lives in Delhi."""
        verb = self.entry("verb", "live")
        tense = plan.tense or self.random.choice(("habit", "habit", "used_to", "future", "want"))
        adjuncts, home = Adjuncts(), self.entry("home")
        if tense == "future" and plan.time:
            self.when(tense, adjuncts, plan)
        complement = fixed(home.hindi, home.english)
        return self.finite(replace(plan, tense=tense), verb, tense, adjuncts, complement, None, ("postpositions",))

    def tense(self, verb: Verb, plan: Plan) -> str:
        tense = plan.tense or self.random.choice(self.tenses)
        if tense in PERFECTIVE and verb.declension == "noperfect":
            return "habit" if plan.tense is None else "future"
        return tense

    def finite(
        self,
        plan: Plan,
        verb: Verb,
        tense: str,
        adjuncts: Adjuncts,
        complement: Phrase,
        governor: Participant | Agreement | None,
        tags: Sequence[str],
    ) -> Clause:
        """Join subject, adjuncts and complement under a verb that agrees with the right one.

        governor: what a perfective verb agrees with after ने: the object, or nothing (`THIRD`). None: the verb is
        intransitive and never takes ने.
        """
        subject = plan.subject or self.subject()
        ergative = tense in PERFECTIVE and verb.ergative and governor is not None
        while ergative and (not subject.oblique.hindi or (subject.pronoun and subject.oblique is subject.direct)):
            subject = self.subject()  # वह, वे: their ने forms are not in the language
        agreement = subject.agreement
        phrase = subject.direct
        if ergative:
            agreement = governor.agreement if isinstance(governor, Participant) else governor
            phrase = with_ne(subject)
        negative = (not self.core and self.chance(0.12)) if plan.negative is None else plan.negative
        if tense in ("used_to", "wanted") or plan.asked:
            negative = False
        group = verb_group(verb, tense, agreement, subject.person, negative, plan.asked)
        found = [*subject.tags, *adjuncts.tags, *tags, *group.tags, *(["ergative"] if ergative else [])]
        if complement.hindi and adjuncts.phrases:
            found.append("word_order")
        if ergative and "verb_gender" in found:
            found.remove("verb_gender")
        return Clause(phrase, adjuncts, complement, group, tuple(found), subject.person)

    def being(self, plan: Plan) -> Clause:
        """सीता बहुत ख़ुश है – Sita is very happy; मेरी किताब मेज़ पर है – my book is on the table."""
        past = plan.tense == "past" or (plan.tense is None and self.chance(0.3))
        self.named_already.clear()
        choice = self.random.random()
        if plan.subject is None and choice < 0.25:
            noun = self.entry("noun", "small")
            subject = self.possessed(noun) if self.chance(0.6) else self.this(noun)
            surface = self.entry("surface")
            complement, tags = fixed(surface.hindi, surface.english), ["postpositions"]
        else:
            subject = plan.subject or self.subject()
            # वह … है does not say he or she; an adjective that agrees, or था, does.
            complement, tags = self.quality(subject, agreeing="verb_gender" in subject.tags and not past)
        agreement = subject.agreement
        verb = Word(past_aux(agreement) if past else present_aux(agreement))
        is_ = English(be_past(subject.person) if past else be_present(subject.person), (verb,))
        negative = self.chance(0.15) if plan.negative is None else plan.negative
        negative = negative and not plan.asked
        no = [Word("नहीं")] if negative else []
        auxiliary = [is_, *(English("not", (word,)) for word in no)]
        group = VerbGroup([*no, verb], auxiliary, [], ("negation",) if negative else ())
        return Clause(
            subject.direct, Adjuncts(), complement, group, (*subject.tags, *tags, *group.tags), subject.person
        )

    def quality(self, subject: Participant, agreeing: bool) -> tuple[Phrase, list[str]]:
        """A predicate adjective: भूखी – hungry, बहुत ख़ुश – very happy; `agreeing`: one that shows the gender."""
        adjective = self.entry("adjective", "copula")
        while agreeing and adjective.declension != "a":
            adjective = self.entry("adjective", "copula")
        inflects = adjective.declension == "a"
        form = Word(adjective_form(adjective.hindi, inflects, subject.agreement))
        phrase = Phrase([form], [English(adjective.english, (form,))])
        if self.chance(0.3):
            phrase = fixed("बहुत", "very") + phrase
        return phrase, ["agreement"] if inflects else []
