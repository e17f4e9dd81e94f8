"""Sentences of the controlled language: statements, questions, commands, relative and joined clauses."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass, field

from lib.clauses import (
    Clause,
    Clauses,
    Participant,
    Plan,
    Said,
    Whoever,
    allowed,
    he_or_she,
    is_vah,
    pronoun_for,
)
from lib.corpus import Pair
from lib.lexicon import Entry, entries
from lib.morphology import NOBODY, Agreement, adjective_form, imperative, noun_form, past_aux, present_aux, stem_of
from lib.phrases import English, Owner, Phrase, Word, be_group, noun_phrase, one, write

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
# Tenses that may stand together in one sentence.
COMPANY = (
    ("habit", "habit", "can", "want"),
    ("progressive",),
    ("past", "past", "past_progressive"),
    ("future",),
    ("used_to",),
    ("perfect",),
)
# How sentences are shared out: up to which part of 1; what is left are joined clauses.
MAKERS = ("statement", "question", "command", "relative", "paired", "explained", "reported")
KINDS = (0.49, 0.61, 0.65, 0.72, 0.77, 0.82, 0.84)
SPEAKER = ("मैं", "मुझे", "मेर", "हम")
PAST = ("past", "past_progressive", "used_to", "wanted", "could")
PEOPLE_FRAMES = ("object", "object", "go", "act", "whom", "come", "live")  # for questions and relative clauses


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


class Sentences(Clauses):
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
        thing = self.noun(noun, self.owner(None), plural) if self.chance(0.7) else self.this(noun)
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
        noun = self.entry("noun", "thing")
        if self.chance(0.35):
            thing = self.counted(noun)
        else:
            thing = self.noun(noun, "a", False, self.adjective_for(noun) if self.chance(0.6) else None)
        who = self.name() if self.chance(0.6) else self.pronoun_with_forms()
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

    def pronoun_with_forms(self):
        return self.one_of(self.pronouns)

    def liking(self) -> Sentence:
        """राम को संगीत पसंद है – Ram likes music; मुझे – I."""
        noun = self.entry("noun", "likes")
        if self.chance(0.6):
            name = self.name()
            who, he = name.direct().with_marker(Word("को")), True
        else:
            pronoun = self.pronoun_with_forms()
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

    # --------------------------------------------------------------------------------------------- questions

    def question(self) -> Sentence:
        """A yes–no question with क्या in front, or one with its question word before the verb."""
        rare = (self.ask_where, self.ask_when, self.ask_why, self.ask_with_whom, self.ask_whose, self.ask_how_many)
        ask = self.one_of((*[self.ask_yes_no] * 3, *[self.ask_who] * 2, *[self.ask_what] * 2, *rare))
        sentence = ask()
        return Sentence(sentence.phrase, [*sentence.tags, "questions"], "?")

    def ask_yes_no(self) -> Sentence:
        """क्या राम घर जा रहा है? – Is Ram going home?"""
        kya = Word("क्या")
        if self.chance(0.15):
            subject = self.subject()
            while subject.own in ("my", "our"):
                subject = self.subject()
            clause = self.being(subject, is_vah(subject) or self.chance(0.3))
        else:
            tense = self.one_of(("habit", "habit", "progressive", "past", "future", "perfect", "can", "want"))
            clause = self.clause(Plan(tense=tense, asked=True, rich=0.3))
        return Sentence(Phrase([kya, *clause.hindi()], front(clause.question(), kya)), clause.tags)

    def ask_who(self) -> Sentence:
        """कौन स्कूल जा रहा है? – Who is going to school? After ने: किसने."""
        who = Said(NOBODY, "he", "", (), ("कौन",), ("who",), "किसने")
        tense = self.one_of(("habit", "progressive", "past", "past", "future", "want"))
        clause = self.clause(
            Plan(who, tense, False, frame=self.one_of(("object", "object", "go", "act", "whom")), rich=0.3)
        )
        return Sentence(clause.phrase(), clause.tags)

    def asked(self, word: str, english: str, clause: Clause) -> Sentence:
        """The question word stands before the Hindi verb, and first in English."""
        asked = Word(word)
        hindi = [*clause.before_verb(), asked, *clause.verb.host, *clause.verb.hindi]
        if clause.verb.host:  # काम क्यों करना: the question word goes between
            hindi = [*clause.before_verb(), *clause.verb.host, asked, *clause.verb.hindi]
        return Sentence(Phrase(hindi, [English(english, (asked,)), *clause.question()]), clause.tags)

    def plain(self, tenses: Sequence[str], frame: str, verb: Entry | None = None) -> Clause:
        """A clause to ask about, with nothing but its subject and object."""
        return self.clause(Plan(None, self.one_of(tenses), False, True, frame, 0.0, verb, False))

    def ask_where(self) -> Sentence:
        """राम कहाँ जा रहा है? – Where is Ram going? सीता कहाँ रहती है? – Where does Sita live?"""
        frame = self.one_of(("go", "act", "live"))
        verb = self.one_of(
            [verb for verb in entries("verb", "act") if verb.kinds_of("at") and verb.english != "swim"]
        )
        if frame == "act":
            tense = (
                ("habit", "past_progressive")
                if "noprogressive" in verb.kinds
                else ("progressive", "past_progressive")
            )
            clause = self.plain(tense[:1], frame, verb)
        else:
            clause = self.plain(("habit",) if frame == "live" else ("progressive", "future", "want", "past"), frame)
            clause.complement = Phrase()
        clause.tags = [tag for tag in clause.tags if tag != "postpositions"]
        return self.asked("कहाँ", "where", clause)

    def ask_when(self) -> Sentence:
        clause = self.plain(("future", "future", "past"), self.one_of(("go", "object", "come", "whom")))
        return self.asked("कब", "when", clause)

    def ask_why(self) -> Sentence:
        clause = self.plain(("progressive", "past_progressive", "past", "want"), self.one_of(("act", "object", "go")))
        return self.asked("क्यों", "why", clause)

    def ask_what(self) -> Sentence:
        """राम क्या पढ़ रहा है? – What is Ram reading? Before the verb, क्या asks for the object."""
        tense = self.one_of(("progressive", "past_progressive", "habit", "future", "past", "want"))
        verbs = [
            v for v in allowed("object", tense, False) if v.kinds_of("object")[0] not in ("sport", "open", "clean")
        ]
        subject = self.fitting_subject(verb := self.one_of(verbs), tense, asked=True)
        clause = self.clause(Plan(subject, tense, False, True, "object", 0.0, verb, False))
        if "ergative" in clause.tags:  # क्या is masculine singular
            from lib.phrases import verb_group

            clause.verb = verb_group(verb, tense, NOBODY, subject.person, asked=True)
        clause.complement = Phrase()
        clause.tags = [tag for tag in clause.tags if tag not in ("genitive", "agreement")]
        return self.asked("क्या", "what", clause)

    def ask_with_whom(self) -> Sentence:
        """राम किसके साथ खेल रहा है? – Who is Ram playing with?"""
        clause = self.plain(("progressive", "future", "want"), "go")
        whom, together = Word("किसके"), Word("साथ")
        hindi = [*clause.subject.hindi, whom, together, *clause.complement.hindi, *clause.verb.hindi]
        english = [English("who", (whom,)), *clause.question(), English("with", (together,))]
        return Sentence(Phrase(hindi, english), [*clause.tags, "postpositions"])

    def ask_whose(self) -> Sentence:
        """यह किसकी किताब है? – Whose book is this?"""
        noun = self.entry("noun", "thing")
        agreement = Agreement(3, False, noun.gender)
        this, what = Word("यह"), noun_phrase(noun, Owner("किसक", "whose"))
        group = be_group(self.chance(0.3), agreement, "he", False)
        english = [*what.english, *group.auxiliary, English("this", (this,))]
        return Sentence(Phrase([this, *what.hindi, *group.hindi], english), ["genitive"])

    def ask_how_many(self) -> Sentence:
        """राम ने कितनी किताबें ख़रीदीं? – How many books did Ram buy?"""
        tense = self.one_of(("past", "future", "want"))
        verb = self.one_of([verb for verb in allowed("object", tense, False) if "many" in verb.kinds])
        nouns = [n for kind in verb.kinds_of("object") for n in entries("noun", kind) if n.shows_plural]
        noun = self.one_of(nouns)
        subject = self.fitting_subject(verb, tense, asked=True)
        clause = self.clause(Plan(subject, tense, False, True, "object", 0.0, verb, False))
        agreement = Agreement(3, True, noun.gender)
        if "ergative" in clause.tags:
            from lib.phrases import verb_group

            clause.verb = verb_group(verb, tense, agreement, subject.person, asked=True)
        what = noun_phrase(noun, Owner("कितन", "how many"), True)
        clause.complement = Phrase(what.hindi)
        tags = [tag for tag in clause.tags if tag != "genitive"]
        return Sentence(Phrase(clause.hindi(), [*what.english, *clause.question()]), [*tags, "agreement"])

    # ---------------------------------------------------------------------------------------------- commands

    def command(self) -> Sentence:
        """यह किताब मत पढ़ो – Do not read this book; कृपया घर जाइए – Please go home."""
        polite = self.chance(0.35)
        negative = not polite and self.chance(0.7)
        verb, complement, tags = self.commanded()
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

    def commanded(self) -> tuple[Entry, Phrase, list[str]]:
        draw = self.random.random()
        clause = Clause(Phrase(), Phrase(), None, [], he_or_she("m"))
        if draw < 0.6:
            verb = self.one_of([verb for verb in entries("verb", "object") if "noprogressive" not in verb.kinds])
            noun = self.entry("noun", self.one_of(verb.kinds_of("object")))
            thing = self.noun(noun, "") if noun.mass else self.the(noun) if "the" in noun.kinds else self.this(noun)
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

    # ----------------------------------------------------------------------------------------------- relative

    def relative(self) -> Sentence:
        draw = self.random.random()
        sentence = self.who_does() if draw < 0.65 else self.what_is_done() if draw < 0.85 else self.where_one_lives()
        tags = [tag for tag in sentence.tags if tag != "verb_gender"]
        return Sentence(sentence.phrase, [*tags, "relative"])

    def who_does(self) -> Sentence:
        """जो लड़का बग़ीचे में खेल रहा है वह मेरा भाई है – The boy who is playing in the garden is my brother."""
        tense = self.one_of(("habit", "progressive", "past_progressive", "past", "past", "want", "future"))
        frame = self.one_of(PEOPLE_FRAMES)
        frame = "object" if frame == "live" and tense != "habit" else frame
        verb = self.one_of(allowed(frame, tense, False))
        noun = self.fresh("noun", "adult" if "grown" in verb.kinds else "person")
        agreement = Agreement(3, False, noun.gender)
        own = "his" if noun.gender == "m" else "her"
        ergative = verb.declension == "ne" and tense == "past"
        jo = Word("जिस" if ergative else "जो")
        head = Word(noun_form(noun, False, ergative))
        inner = Whoever(agreement, "he", own, (), noun, jo, head)
        clause = self.clause(Plan(inner, tense, False, frame=frame, rich=0.3, verb=verb))
        vah = Word("वह")
        known = [English("the", (), (head,)), *(English(text, (head,), (vah,)) for text in noun.english.split())]
        main, tags = self.about(Said(agreement, "he", own, (), ("वह",), ("he",)), noun)
        hindi = [*clause.hindi(), vah, *main.hindi]
        return Sentence(Phrase(hindi, known + clause.english() + main.english), clause.tags + tags)

    def about(self, who: Said, noun: Entry) -> tuple[Phrase, list[str]]:
        """What is said of someone that a relative clause has named: my brother, very clever, or does something."""
        draw = self.random.random()
        if draw < 0.3:
            kin = self.fresh("noun", "kin")
            while kin.gender != noun.gender:
                kin = self.fresh("noun", "kin")
            what = self.noun(kin, self.owner(None)).direct()
            group = be_group(False, who.agreement, "he", self.chance(0.15))
            return Phrase(what.hindi + group.hindi, group.auxiliary + what.english), ["genitive", *group.tags]
        if draw < 0.6:
            adjective = self.entry("adjective", self.one_of(("trait", "state")))
            clause = self.being(Said(who.agreement, "he", "", (), ("यह",), ("this",)), False, False, adjective)
        else:
            plan = Plan(who, self.one_of(("habit", "future", "want")), None, rich=0.1)
            clause = self.clause(plan)
        return Phrase(clause.hindi_predicate(), clause.predicate()), clause.tags

    def what_is_done(self) -> Sentence:
        """जो किताब राम पढ़ रहा है वह नई है – The book that Ram is reading is new."""
        tense = self.one_of(("progressive", "past", "past", "habit"))
        verbs = [
            v
            for v in allowed("object", tense, False)
            if {"object:read", "object:thing", "object:wash", "object:craft"} & {*v.kinds}
        ]
        verb = self.one_of(verbs)
        nouns = [n for kind in verb.kinds_of("object") for n in entries("noun", kind) if self.adjective_for(n)]
        noun = self.one_of(nouns)
        agreement = Agreement(3, False, noun.gender)
        subject = self.fitting_subject(verb, tense)
        clause = self.clause(Plan(subject, tense, False, False, "object", 0.0, verb, False))
        clause.complement = Phrase()
        if "ergative" in clause.tags:
            from lib.phrases import verb_group

            clause.verb = verb_group(verb, tense, agreement, subject.person)
        jo, head, vah = Word("जो"), Word(noun.hindi), Word("वह")
        quality = self.adjective_for(noun)
        form = Word(adjective_form(quality, agreement))
        group = be_group(False, agreement, "he", self.chance(0.15))
        hindi = [jo, head, *clause.hindi(), vah, form, *group.hindi]
        english = [English("the", (), (head,)), English(noun.english, (head,), (vah,)), English("that", (jo,))]
        english += [*clause.english(), *group.auxiliary, English(quality.english, (form,))]
        tags = [tag for tag in clause.tags if tag not in ("genitive", "agreement", "word_order")]
        return Sentence(Phrase(hindi, english), [*tags, *group.tags])

    def where_one_lives(self) -> Sentence:
        """जिस गाँव में मोहन रहता है वह बहुत छोटा है – The village in which Mohan lives is very small."""
        place, who = self.entry("place", "dwell"), self.subject()
        verb = entries("verb", "live")[0]
        clause = self.clause(Plan(who, self.one_of(("habit", "used_to")), False, False, "live", 0.0, verb, False))
        clause.complement = Phrase()
        jis, head, men, vah = Word("जिस"), Word(place.hindi), Word("में"), Word("वह")
        past = clause.tense == "used_to"
        quality = self.entry("adjective", "place")
        agreement = Agreement(3, False, place.gender)
        form, group = Word(adjective_form(quality, agreement)), be_group(past, agreement, "he", False)
        what = Phrase([form], [English(quality.english, (form,))])
        if self.chance(0.3):
            what = one("बहुत", "very") + what
        english = [English("the", (), (head,)), English(place.english, (head,), (vah,)), English("in", (men,))]
        english += [English("which", (jis,)), *clause.english(), *group.auxiliary, *what.english]
        return Sentence(
            Phrase([jis, head, men, *clause.hindi(), vah, *what.hindi, *group.hindi], english), clause.tags
        )

    # ------------------------------------------------------------------------------------------ joined clauses

    def joined(self, clauses: int) -> Sentence:
        """Clauses of one time joined by और – and, लेकिन – but."""
        tenses = self.one_of(COMPANY)
        first = self.clause(Plan(tense=self.one_of(tenses), rich=0.35))
        phrase, tags = first.phrase(), [*first.tags, "coordination"]
        last = first
        for _ in range(clauses - 1):
            but = self.chance(0.25)
            shared = last.tense in ("habit", "future", "used_to") and not but and self.chance(0.3)
            if shared:
                last = self.clause(
                    Plan(
                        last.who,
                        last.tense,
                        False,
                        frame=self.one_of(("object", "act", "whom")),
                        rich=0.2,
                        time=False,
                    )
                )
                added = Phrase(last.hindi_predicate(), last.predicate())
            else:
                last = self.clause(
                    Plan(tense=self.one_of(tenses), negative=self.chance(0.5) if but else None, rich=0.35)
                )
                added = last.phrase()
            phrase = join(phrase, LINKS[but]) + added
            tags += last.tags
            if len(self.used) > 24:
                self.used.clear()
        return Sentence(phrase, tags)

    def explained(self) -> Sentence:
        """राम सो रहा है क्योंकि वह थका हुआ है – because he is tired; turned around with इसलिए – so."""
        tense = self.one_of(("habit", "progressive", "past", "past_progressive", "future", "want"))
        frame = self.one_of(("go", "object", "act"))
        verbs = [verb for verb in allowed(frame, tense, False) if verb.kinds_of("why")]
        if not verbs:
            frame, verbs = "go", allowed("go", tense, False)
        verb = self.one_of(verbs)
        if frame == "go":
            return self.errand(tense, verb)
        clause = self.clause(Plan(None, tense, False, frame=frame, rich=0.25, verb=verb, time=False))
        who, past = pronoun_for(clause.who), tense in PAST
        state = self.state(verb)
        if not clause.who.own or (is_vah(who) and not past and state.declension != "a"):
            return Sentence(clause.phrase(), clause.tags)
        return self.because(clause, self.being(who, past, False, state))

    def because(self, clause: Clause, reason: Clause) -> Sentence:
        tags = [*clause.tags, *reason.tags, "coordination"]
        return Sentence(join(clause.phrase(), ("क्योंकि", "because")) + reason.phrase(), tags)

    def errand(self, tense: str, go: Entry) -> Sentence:
        """राम बाज़ार गया क्योंकि वह साड़ी ख़रीदना चाहता था – Ram went … because he wanted to buy a sari."""
        clause = self.clause(Plan(None, tense, False, frame="go", rich=0.25, verb=go, time=False))
        verb, wanted = self.entry("verb", "errand"), "wanted" if tense in PAST else "want"
        frame = "whom" if "whom" in verb.kinds else "object"
        who = pronoun_for(clause.who)
        return self.because(
            clause, self.clause(Plan(who, wanted, False, frame=frame, rich=0.0, verb=verb, time=False))
        )

    def state(self, verb: Entry) -> Entry:
        name = verb.kinds_of("why")[0].replace("_", " ")
        return next(entry for entry in entries("adjective", "state") if entry.hindi == name)

    def paired(self) -> Sentence:
        """जब … तब – when, अगर … तो – if: the Hindi second half has a word of its own, English a comma."""
        marker, then, english = self.one_of((("जब", "तब", "when"), ("अगर", "तो", "if")))
        if marker == "अगर":
            first = second = "future"
        else:
            first, second = self.one_of((("habit", "habit"), ("past", "past_progressive"), ("future", "future")))
        a = self.clause(
            Plan(
                tense=first, negative=False, frame=self.one_of(("come", "go", "whom", "give")), rich=0.25, time=False
            )
        )
        frame = self.one_of(("object", "go", "act", "whom"))
        b = self.clause(
            Plan(tense=second, frame=frame, negative=None if second == "future" else False, rich=0.25, time=False)
        )
        if first == "future":  # English says the condition in the present
            a.verb.auxiliary = []
            if a.who.person == "he":
                word, *rest = a.verb.rest
                a.verb.rest = [English(a.base.forms[0], word.sure, word.possible), *rest]
        opening, closing = Word(marker), Word(then)
        hindi = [opening, *a.hindi(), closing, *b.hindi()]
        when = English(english, (opening,))
        phrase = Phrase(hindi, [when, *a.english(), English(",", (), (closing,)), *b.english()])
        return Sentence(phrase, [*a.tags, *b.tags, "coordination"])

    def reported(self) -> Sentence:
        """राम कहता है कि … – Ram says that …"""
        verb = self.entry("verb", "say")
        who = self.subject()
        outer = self.finish(Clause(Phrase(), Phrase(), None, [], who, base=verb, tense="habit"), Plan(), False, None)
        inner = self.clause(Plan(rich=0.3))
        while any(word.text.startswith(SPEAKER) for word in inner.hindi()):  # in reported speech मैं may be Ram himself
            inner = self.clause(Plan(rich=0.3))
        return Sentence(
            join(outer.phrase(), ("कि", "that")) + inner.phrase(), [*outer.tags, *inner.tags, "coordination"]
        )
