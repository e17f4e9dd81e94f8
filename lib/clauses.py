"""Clauses of the controlled language: a verb in a tense, its subject and object, and when, where and how.

A frame is what a kind of verb needs around it. Every frame has its method; a verb names its frame in the lexicon.
"""

from __future__ import annotations

from bisect import bisect
from functools import cache
from itertools import accumulate

from lib.choices import HABITS, Choices
from lib.lexicon import Entry, entries
from lib.morphology import NOBODY, Agreement, adjective_form
from lib.participants import Clause, Participant, Plan, Said, is_vah, is_who, speaks_or_hears, suits
from lib.phrases import PERFECTIVE, English, Phrase, Word, be_group, fixed, noun_phrase, one, verb_group

TENSES = ("habit", "habit", "habit", "progressive", "past_progressive", "past", "past", "past", "perfect", "future",
          "future", "used_to", "can", "want", "wanted", "could")  # fmt: skip
CORE_TENSES = ("habit", "past_progressive", "future")
FRAMES = {"object": 40, "go": 14, "come": 6, "act": 14, "whom": 12, "give": 8, "put": 3, "live": 3}
CORE_FRAMES = {"object": 60, "go": 40}
FRAME_OF = {"live": ("habit", "used_to", "want", "future")}  # the frames that have not every tense
WHEN = {"habit": "habit", "used_to": "habit", "progressive": "progressive", "past": "past", "could": "past",
        "past_progressive": "past", "future": "future", "can": "future", "want": "future"}  # fmt: skip
BARRED = {"past": ("noperfect",), "perfect": ("noperfect", "nohas"), "habit": ("once", "nohabit"),
          "used_to": ("once", "nohabit"), "progressive": ("noprogressive",), "past_progressive": ("noprogressive",),
          "can": ("nocan", "accident"), "could": ("nocan", "noperfect", "accident"), "want": ("accident",),
          "wanted": ("accident",), "future": ("accident",)}  # fmt: skip
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


class Clauses(Choices):
    """Makes clauses; `clause` one of a random frame, or of the planned one."""

    def __init__(self, seed: int = 0, core: bool = False) -> None:
        super().__init__(seed, core)
        self.tenses = CORE_TENSES if core else TENSES
        frames = CORE_FRAMES if core else FRAMES
        self.frames, self.frame_weights = list(frames), list(accumulate(frames.values()))

    # --------------------------------------------------------------------------------------------- adjuncts

    def add_time(self, clause: Clause, plan: Plan, wide: bool) -> None:
        """When: a phrase that the tense allows. कल is yesterday or tomorrow; the verb tells."""
        kind = WHEN.get(clause.tense)
        timed = plan.time and kind is not None and "notime" not in clause.base.kinds
        often = 0.6 if clause.tense in ("can", "want") else 0.9 if self.core else 1.4
        if not timed or not self.chance(plan.rich * often):
            return
        clause.timed = True
        if clause.tense in HOURS and self.chance(0.3 if self.core else 0.15):
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

    def add_manner(self, clause: Clause, plan: Plan, verb: Entry, probability: float) -> None:
        """Before an object, but after one that is known: ध्यान से किताब पढ़, यह किताब ध्यान से पढ़. One से is enough."""
        ways = verb.kinds_of("manner")
        if self.core or not plan.manner or not ways or not self.chance(probability):
            return
        manner = fixed(self.entry("manner", self.one_of(ways)))
        if manner.hindi[-1].text == "से" and any(phrase.hindi[-1].text == "से" for phrase in clause.adjuncts):
            return
        if clause.definite:
            clause.complement = clause.complement + manner
        else:
            clause.adjuncts.append(manner)

    # ----------------------------------------------------------------------------------------------- clauses

    def clause(self, plan: Plan) -> Clause:
        """One finite clause of a random frame, or of the planned one."""
        tense = plan.tense or self.one_of(self.tenses)
        frame = plan.frame or self.frame()
        while tense not in FRAME_OF.get(frame, (tense,)) or not (plan.verb or allowed(frame, tense, self.core)):
            frame = self.frame()
        verb = plan.verb or self.verb_for(frame, tense, plan.subject)
        negative = plan.negative
        if negative is None:
            negative = not self.core and self.chance(0.1)
        negative = tense == "could" or (negative and tense not in ("used_to", "wanted"))
        negative = negative and not plan.asked
        subject = plan.subject or self.fitting_subject(verb, tense, plan.asked, negative)
        clause = Clause(Phrase(), Phrase(), None, [], subject, base=verb, tense=tense)
        governor = getattr(self, "frame_" + frame)(clause, plan, verb, negative)
        return self.finish(clause, plan, negative, governor)

    def frame(self) -> str:
        """A frame as often as its weight says: what `random.choices` draws, in a third of its time."""
        draw = self.random.random() * self.frame_weights[-1]
        return self.frames[bisect(self.frame_weights, draw, 0, len(self.frames) - 1)]

    def verb_for(self, frame: str, tense: str, subject: Participant | None) -> Entry:
        """A verb of the frame that the tense allows and the subject, where it is known, can do."""
        verbs = allowed(frame, tense, self.core)
        while True:
            verb = self.one_of(verbs)
            if subject is None or suits(verb, subject):
                return verb

    def fitting_subject(self, verb: Entry, tense: str, asked: bool = False, negative: bool = False) -> Participant:
        """A subject for the verb: animals run too; वह and वे have no form with ने; nobody asks about himself."""
        if "animal" in verb.kinds and not self.core and self.chance(0.25):
            return self.animal()
        ne = verb.declension == "ne" and tense in PERFECTIVE
        while True:
            subject = self.subject()
            without_ne = isinstance(subject, Said) and subject.hindi in ("वह", "वे")
            strange = (asked and not self.may_be_asked_about(subject)) or (negative and subject.counted)
            if not (ne and without_ne) and suits(verb, subject) and not strange:
                return subject

    def may_be_asked_about(self, subject: Participant) -> bool:
        """Nobody asks about himself, or about nine girls of whom he says nothing more."""
        return subject.own not in ("my", "our") and not subject.counted

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
        many = "plenty" in verb.kinds or ("many" in verb.kinds and clause.tense in (*HABITS, "can"))
        thing = self.thing(verb, clause, negative, many)
        self.add_place(clause, verb, rich, rich)
        one_each = "each" in verb.kinds and not thing.noun.mass  # two people do not eat one apple together
        if not negative and "together" in verb.kinds and not one_each:
            self.add_companion(clause, subject, (0.8 if self.core else 0.5) * rich, rich)
        self.add_aside(clause, verb, verb.kinds_of("from"), plan)
        clause.complement = thing.direct()
        self.add_manner(clause, plan, verb, 0 if negative else 0.25 * rich)
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
        far = not self.core and self.chance(0.3)
        self.add_time(clause, plan, far and clause.tense != "past_progressive")
        self.add_companion(clause, clause.who, 0.6 * plan.rich, plan.rich)
        self.add_means(clause, "vehicle", "far" if far else "near", 0.5 * plan.rich)
        if far:
            city = self.entry("city")
            word = Word(city.hindi)
            clause.complement = Phrase([word], [English("to", (), (word,)), English(city.english, (word,))])
            return
        clause.complement = self.goal(self.entry("place", plan.goal))

    def goal(self, place: Entry) -> Phrase:
        """स्कूल – to school, मेले – to the fair, घर – home."""
        phrase = noun_phrase(place, "" if "bare" in place.kinds else "the", oblique=True)
        word = phrase.hindi[-1]
        if "home" in place.kinds and place.english == "home":
            return phrase
        return Phrase(phrase.hindi, [English("to", (), (word,)), *phrase.english])

    def frame_come(self, clause: Clause, plan: Plan, verb: Entry, negative: bool) -> None:
        """वह गाँव से आया – he came from the village."""
        far = self.chance(0.4)
        self.add_time(clause, plan, far and clause.tense != "past_progressive")
        self.add_companion(clause, clause.who, 0.5 * plan.rich, plan.rich)
        if far:  # and no vehicle: बस से शहर से is one से too many
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
        placed = "placed" in verb.kinds and plan.place
        if animal and self.chance(1 if placed else plan.rich):
            where = "water" if "at:water" in verb.kinds else "outdoors"
            clause.adjuncts.append(self.place(self.entry("place", where), 0.12, clause))
            clause.tags.append("postpositions")
        elif not animal:
            self.add_place(clause, verb, 1 if placed else 1.6 * plan.rich, plan.rich)
        if "together" in verb.kinds and not negative and not animal:
            self.add_companion(clause, clause.who, 0.5 * plan.rich, plan.rich)
        self.add_manner(clause, plan, verb, 0 if negative else 0.4 * plan.rich)

    def frame_whom(self, clause: Clause, plan: Plan, verb: Entry, negative: bool) -> None:
        """राम ने सीता को बुलाया – Ram called Sita: with को on the object the verb agrees with nothing."""
        self.add_time(clause, plan, False)
        self.add_place(clause, verb, 0.6 * plan.rich, plan.rich)
        marker = verb.kinds_of("by")[0]
        clause.definite = True
        if marker == "को" and self.dative(clause, verb):
            pronoun = self.one_of(self.pronouns)
            clause.complement = one(pronoun.dative, pronoun.object)
        else:
            clause.tags.append("genitive" if marker in ("का", "की") else "postpositions")
            animal = "animals" in verb.kinds and self.chance(0.4)
            whom = self.animal() if animal else self.someone_else(clause.who, one_only=negative)
            clause.tags += whom.tags
            clause.complement = whom.oblique().with_marker(Word(marker))
        self.add_manner(clause, plan, verb, 0 if negative else 0.3 * plan.rich)

    def dative(self, clause: Clause, verb: Entry) -> bool:
        """Does मुझे, हमें … stand here? Not with मैं … and not in किसने मुझे पढ़ाया."""
        taught = is_who(clause.who) and "grown" in verb.kinds and clause.tense in PERFECTIVE
        return not self.core and not speaks_or_hears(clause.who) and not taught and self.chance(0.12)

    def frame_give(self, clause: Clause, plan: Plan, verb: Entry, negative: bool) -> Agreement:
        """राम सीता को किताब देता है – Ram gives a book to Sita; मुझे किताब देता है – gives me a book."""
        self.add_time(clause, plan, False)
        many = "many" in verb.kinds and clause.tense in HABITS
        if self.dative(clause, verb):
            pronoun = self.one_of(self.pronouns)
            thing = self.thing(verb, clause, negative, many)
            clause.complement = one(pronoun.dative, pronoun.object) + thing.direct()
            clause.tags.append("word_order")
            return thing.agreement
        clause.tags.append("postpositions")
        clause.adjuncts.append(self.marked(self.someone_else(clause.who, one_only=negative), clause, "to", "को"))
        thing = self.thing(verb, clause, negative, many)
        clause.complement = thing.direct()
        return thing.agreement

    def frame_put(self, clause: Clause, plan: Plan, verb: Entry, negative: bool) -> Agreement:
        """राम ने मेज़ पर किताब रखी – Ram put a book on the table."""
        self.add_time(clause, plan, False)
        clause.adjuncts.append(self.place(self.entry("surface"), 0.2, clause))
        thing = self.thing(verb, clause, negative)
        clause.complement = thing.direct()
        clause.tags.append("postpositions")
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
