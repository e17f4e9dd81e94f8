"""Sentences of several clauses: relative ones, and those joined by और, लेकिन, क्योंकि, जब, अगर and कि."""

from __future__ import annotations

from lib.clauses import Clauses, allowed
from lib.lexicon import Entry, entries
from lib.morphology import Agreement, adjective_form, noun_form
from lib.participants import Clause, Plan, Said, Whoever, is_vah, pronoun_for
from lib.phrases import English, Phrase, Word, be_group, one, verb_group
from lib.statements import LINKS, Sentence, join

# Tenses that may stand together in one sentence.
COMPANY = (
    ("habit", "habit", "can", "want"),
    ("progressive",),
    ("past", "past", "past_progressive"),
    ("future",),
    ("used_to",),
    ("perfect",),
)
SPEAKER = ("मैं", "मुझे", "मेर", "हम")
PAST = ("past", "past_progressive", "used_to", "wanted", "could")
PEOPLE_FRAMES = ("object", "object", "go", "act", "whom", "come", "live")  # what is said of someone with जो


class Joining(Clauses):
    """Makes sentences of several clauses."""

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
        main, tags = self.about(Said(agreement, "he", own, (), "वह", "he", "", inner.young), noun)
        hindi = [*clause.hindi(), vah, *main.hindi]
        return Sentence(Phrase(hindi, known + clause.english() + main.english), clause.tags + tags)

    def about(self, who: Said, noun: Entry) -> tuple[Phrase, list[str]]:
        """What is said of someone that a relative clause has named: my brother, very clever, or does something."""
        draw = self.random.random()
        if draw < 0.3:
            kind = "kin" if {"young", "adult"} & {*noun.kinds} else "peer"  # an old woman is nobody's niece
            kin = self.fresh("noun", kind)
            while kin.gender != noun.gender or ("young" in kin.kinds and "young" not in noun.kinds):
                kin = self.fresh("noun", kind)
            what = self.noun(kin, self.owner(None, "adult")).direct()
            group = be_group(False, who.agreement, "he", self.chance(0.15))
            return Phrase(what.hindi + group.hindi, group.auxiliary + what.english), ["genitive", *group.tags]
        if draw < 0.6:
            adjective = self.entry("adjective", self.one_of(("trait", "state")))
            clause = self.being(Said(who.agreement, "he", "", (), "यह", "this"), False, False, adjective)
        else:
            clause = self.clause(Plan(who, self.one_of(("future", "want")), None, rich=0.1))
        return Phrase(clause.hindi_predicate(), clause.predicate()), clause.tags

    def what_is_done(self) -> Sentence:
        """जो किताब राम पढ़ रहा है वह नई है – The book that Ram is reading is new."""
        tense = self.one_of(("progressive", "past", "past", "habit"))
        verbs = [
            v
            for v in allowed("object", tense, False)
            if {"object:read", "object:thing", "object:wash", "object:craft"} & {*v.kinds}
            and (tense != "habit" or "again" in v.kinds)
        ]
        verb = self.one_of(verbs)
        nouns = [n for kind in verb.kinds_of("object") for n in entries("noun", kind) if self.adjective_for(n)]
        noun = self.one_of(nouns)
        agreement = Agreement(3, False, noun.gender)
        subject = self.fitting_subject(verb, tense)
        clause = self.clause(Plan(subject, tense, False, False, "object", 0.0, verb, False))
        clause.complement = Phrase()
        if "ergative" in clause.tags:
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
        last = self.clause(Plan(tense=self.one_of(tenses), rich=0.35))
        phrase, tags, contrast = last.phrase(), [*last.tags, "coordination"], False
        for _ in range(clauses - 1):
            but = not contrast and self.chance(0.25)  # one लेकिन is enough
            contrast = contrast or but
            alike = last.tense in ("habit", "future", "used_to") and not but and not last.negative
            if alike and self.chance(0.3):  # of the same subject, which is said once
                frame = self.one_of(("object", "act", "whom"))
                last = self.clause(Plan(last.who, last.tense, False, frame=frame, rich=0.2, time=False))
                added = Phrase(last.hindi_predicate(), last.predicate())
            else:
                negative = self.chance(0.5) if but else None
                last = self.clause(Plan(tense=self.one_of(tenses), negative=negative, rich=0.35))
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
        clause = self.clause(Plan(None, tense, False, frame=frame, rich=0.25, verb=verb, time=False, manner=False))
        who, past = pronoun_for(clause.who), tense in PAST
        state = self.state(verb)
        if not clause.who.own or (is_vah(who) and not past and state.declension != "a"):
            return Sentence(clause.phrase(), clause.tags)
        return self.because(clause, self.reason(clause))

    def reason(self, clause: Clause) -> Clause:
        """The state that explains a clause, of its subject: he is hungry, she was tired."""
        return self.being(pronoun_for(clause.who), clause.tense in PAST, False, self.state(clause.base))

    def because(self, clause: Clause, reason: Clause) -> Sentence:
        tags = [*clause.tags, *reason.tags, "coordination"]
        return Sentence(join(clause.phrase(), ("क्योंकि", "because")) + reason.phrase(), tags)

    def errand(self, tense: str, go: Entry) -> Sentence:
        """राम बाज़ार गया क्योंकि वह साड़ी ख़रीदना चाहता था – Ram went … because he wanted to buy a sari."""
        verb, wanted = self.entry("verb", "errand"), "wanted" if tense in PAST else "want"
        frame, goal = "whom" if "whom" in verb.kinds else "object", verb.kinds_of("goal")[0]
        who = self.fitting_subject(verb, "want")
        clause = self.clause(Plan(who, tense, False, frame="go", rich=0.25, verb=go, time=False, goal=goal))
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
        frame = self.one_of(("come", "go", "whom", "give"))
        verb = self.verb_for(frame, first, None)
        while "sudden" in verb.kinds:  # when she woke him he was calling …
            verb = self.verb_for(frame, first, None)
        a = self.clause(Plan(tense=first, negative=False, frame=frame, rich=0.25, verb=verb, time=False))
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
