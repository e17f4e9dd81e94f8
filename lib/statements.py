"""Statements and commands of the controlled language, and what every sentence becomes: a pair with its links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from lib.clauses import Clauses
from lib.corpus import Pair
from lib.lexicon import Entry, entries
from lib.morphology import Agreement, imperative, past_aux, present_aux, stem_of
from lib.participants import Clause, Participant, Plan, Said, he_or_she, is_vah
from lib.phrases import English, Phrase, Word, be_group, noun_phrase, one, write

TAGS = (
    "word_order",
    "verb_gender",
    "kal",
    "auxiliaries",
    "ergative",
    "negation",
    "questions",
    "postpositions",
    "genitive",
    "agreement",
    "relative",
    "coordination",
    "modals",
)
LINKS = (("और", "and"), ("लेकिन", "but"))


@dataclass(slots=True, eq=False)
class Sentence:
    """A whole sentence before its words are counted: mark is "?" for a question."""

    phrase: Phrase
    tags: list[str] = field(default_factory=list)
    mark: str = ""


def pair_of(sentence: Sentence, stop: bool) -> Pair:
    """Count the words and write both sides; `stop` ends a statement with । and a full stop."""
    hindi, english = sentence.phrase.hindi, sentence.phrase.english
    if sentence.mark or stop:
        mark = Word(sentence.mark or "।")
        hindi, english = [*hindi, mark], [*english, English(sentence.mark or ".", (mark,))]
    places = {word: place for place, word in enumerate(hindi)}
    sure = {(places[word], t) for t, e in enumerate(english) for word in e.sure}
    possible = {(places[word], t) for t, e in enumerate(english) for word in e.possible} - sure
    target = write([e.text for e in english])
    return Pair(
        write([word.text for word in hindi]),
        target[0].upper() + target[1:],
        tuple(sorted(sure)),
        tuple(sorted(possible)),
        tuple(tag for tag in TAGS if tag in sentence.tags),
    )


def join(phrase: Phrase, link: tuple[str, str]) -> Phrase:
    return phrase + one(*link)


def front(english: Sequence[English], word: Word) -> list[English]:
    """The first English word possibly comes from one Hindi word more."""
    first, *rest = english
    return [English(first.text, first.sure, (*first.possible, word)), *rest]


class Statements(Clauses):
    """Makes sentences of one clause."""

    # -------------------------------------------------------------------------------------------- statements

    def statement(self) -> Sentence:
        """One clause, now and then with होना as its verb."""
        draw = 1.0 if self.core else self.random.random()
        if draw < 0.07:
            subject = self.subject()
            clause = self.being(subject, self.chance(0.35) or is_vah(subject), self.chance(0.15))
            return Sentence(clause.phrase(), clause.tags)
        if draw < 0.15:
            return self.one_of((self.located, self.there_is, self.having, self.liking, self.job))()
        clause = self.clause(Plan(rich=self.one_of((0.1, 0.3, 0.45, 0.6))))
        return Sentence(clause.phrase(), clause.tags)

    def is_or_was(self, agreement: Agreement) -> tuple[Word, bool]:
        past = self.chance(0.3)
        return Word(past_aux(agreement) if past else present_aux(agreement)), past

    def located(self) -> Sentence:
        """राम की किताब मेज़ पर है – Ram's book is on the table."""
        noun = self.entry("noun", "small")
        plural = noun.shows_plural and self.chance(0.3)
        whose = "woman" not in noun.kinds and self.chance(0.7)
        thing = self.noun(noun, self.owner(None), plural) if whose else self.this(noun)
        clause = Clause(thing.direct(), Phrase(), None, list(thing.tags), thing)
        clause.complement = self.place(self.entry("surface"), 0.15, clause)
        clause.verb = be_group(self.chance(0.3), thing.agreement, thing.person, self.chance(0.15))
        return Sentence(clause.phrase(), [*clause.tags, *clause.verb.tags, "postpositions"])

    def there_is(self) -> Sentence:
        """मेज़ पर दो किताबें हैं – There are two books on the table."""
        noun = self.entry("noun", "small")
        thing = self.counted(noun) if self.chance(0.5) else self.noun(noun, "a", False, self.adjective_for(noun))
        clause = Clause(Phrase(), Phrase(), None, list(thing.tags), thing)
        place = self.place(self.entry("surface"), 0.15, clause)
        what = thing.direct()
        group = be_group(self.chance(0.3), thing.agreement, thing.person, False)
        english = [English("there", (), tuple(group.hindi)), *group.auxiliary, *what.english, *place.english]
        hindi = place.hindi + what.hindi + group.hindi
        return Sentence(Phrase(hindi, english), [*clause.tags, "postpositions", "word_order"])

    def having(self) -> Sentence:
        """राम के पास नई साइकिल है – Ram has a new bicycle; मेरे पास – I have."""
        who = self.name() if self.chance(0.6) else self.one_of(self.pronouns)
        noun = self.entry("noun", "thing")
        while "woman" in noun.kinds and not (isinstance(who, Said) and who.agreement.gender == "f"):
            noun = self.entry("noun", "thing")
        if self.chance(0.35):
            thing = self.counted(noun)
        else:
            thing = self.noun(noun, "a", False, self.adjective_for(noun) if self.chance(0.6) else None)
        verb, past = self.is_or_was(thing.agreement)
        near = Word("पास")
        if isinstance(who, Said):
            owner, of, he = who.direct(), [Word("के")], True
        else:
            owner, of, he = one(who.possessive + "े", who.english), [], False
        have = English("had" if past else "has" if he else "have", (near,), (*of, verb))
        what = thing.direct()
        hindi = [*owner.hindi, *of, near, *what.hindi, verb]
        return Sentence(Phrase(hindi, [*owner.english, have, *what.english]), [*thing.tags, "postpositions"])

    def liking(self) -> Sentence:
        """राम को संगीत पसंद है – Ram likes music; मुझे – I."""
        noun = self.entry("noun", "likes")
        if self.chance(0.6):
            name = self.name()
            who, he = name.direct().with_marker(Word("को")), True
        else:
            pronoun = self.one_of(self.pronouns)
            who, he = one(pronoun.dative, pronoun.english), False
        what, like = noun_phrase(noun, ""), Word("पसंद")
        verb, past = self.is_or_was(Agreement(3, False, noun.gender))
        if self.chance(0.2):
            no = Word("नहीं")
            do = English("did" if past else "does" if he else "do", (), (like, verb))
            english = [do, English("not", (no,)), English("like", (like,), (verb,))]
            middle, tags = [like, no], ["negation"]
        else:
            english = [English("liked" if past else "likes" if he else "like", (like,), (verb,))]
            middle, tags = [like], []
        phrase = Phrase([*who.hindi, *what.hindi, *middle, verb], [*who.english, *english, *what.english])
        return Sentence(phrase, [*tags, "postpositions"])

    def job(self) -> Sentence:
        """राम का भाई डॉक्टर है – Ram's brother is a doctor."""
        who = self.man()
        what = noun_phrase(self.fresh("noun", "job"), "a")
        group = be_group(self.chance(0.3), who.agreement, who.person, self.chance(0.15))
        clause = Clause(who.direct(), what, group, [*who.tags, *group.tags], who)
        return Sentence(clause.phrase(), clause.tags)

    def man(self) -> Participant:
        """A man: the names of trades in the lexicon are masculine."""
        who = self.name() if self.chance(0.5) else self.kin()
        while who.agreement.gender != "m":
            who = self.name() if self.chance(0.5) else self.kin()
        return who

    # ---------------------------------------------------------------------------------------------- commands

    def command(self) -> Sentence:
        """यह किताब मत पढ़ो – Do not read this book; कृपया घर जाइए – Please go home."""
        polite = self.chance(0.35)
        negative = not polite and self.chance(0.7)
        verb, complement, tags = self.commanded(negative)
        host, word = [Word(text) for text in verb.hindi.split()[:-1]], Word(imperative(stem_of(verb), polite))
        base, *particle = verb.english.split()
        english = [English(base, (*host, word)), *(English(text, (*host, word)) for text in particle)]
        english += complement.english
        hindi = [*complement.hindi, *host, word]
        if negative:
            no = Word("मत")
            hindi = [*complement.hindi, *host, no, word]
            english = [English("do", (), (word,)), English("not", (no,)), *english]
            tags.append("negation")
        if not polite and self.chance(0.25):
            today = one("आज", "today")
            hindi, english = today.hindi + hindi, english + today.english
        if polite:
            please = one("कृपया", "please")
            hindi, english = please.hindi + hindi, please.english + english
        return Sentence(Phrase(hindi, english), tags)

    def commanded(self, negative: bool) -> tuple[Entry, Phrase, list[str]]:
        draw = self.random.random()
        clause = Clause(Phrase(), Phrase(), None, [], he_or_she("m"))
        if draw < 0.6:
            barred = {"noprogressive"} if negative else {"noprogressive", "accident"}
            verb = self.one_of([verb for verb in entries("verb", "object") if not barred & {*verb.kinds}])
            noun = self.entry("noun", self.one_of(verb.kinds_of("object")))
            if noun.mass:
                thing = self.noun(noun, "")
            else:
                many = "plenty" in (*noun.kinds, *verb.kinds)
                thing = self.the(noun) if "the" in noun.kinds else self.this(noun, many)
            return verb, thing.direct(), list(thing.tags)
        if draw < 0.8:
            verb = entries("verb", "go")[0]
            self.frame_go(clause, Plan(rich=0.0), verb, False)
            return verb, clause.complement, clause.tags
        verb = self.one_of(
            [verb for verb in entries("verb", "act") if verb.kinds_of("at") and "animal" in verb.kinds]
        )
        place = self.place(self.entry("place", self.one_of(verb.kinds_of("at"))), 0.1, clause)
        return verb, place, [*clause.tags, "postpositions"]
