"""Questions of the controlled language. In Hindi the question word stands before the verb, in English in front."""

from __future__ import annotations

from collections.abc import Sequence

from lib.clauses import Clauses, allowed
from lib.lexicon import Entry, entries
from lib.morphology import NOBODY, Agreement
from lib.participants import Clause, Plan, Said, is_vah
from lib.phrases import English, Owner, Phrase, Word, be_group, noun_phrase, verb_group
from lib.statements import Sentence, front

NOT_ASKED = ("sport", "open", "clean", "speak")  # kinds of objects that क्या does not ask for: क्या बोलना is "say"


class Asking(Clauses):
    """Makes questions."""

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
            while not self.may_be_asked_about(subject):
                subject = self.subject()
            clause = self.being(subject, is_vah(subject) or self.chance(0.3))
        else:
            tense = self.one_of(("habit", "habit", "progressive", "past", "future", "perfect", "can", "want"))
            clause = self.clause(Plan(tense=tense, asked=True, rich=0.3))
        return Sentence(Phrase([kya, *clause.hindi()], front(clause.question(), kya)), clause.tags)

    def ask_who(self) -> Sentence:
        """शाम को कौन खेल रहा है? – Who is playing? After ने: किसने. What is known stands first: यह किताब कौन पढ़ेगा?"""
        who = Said(NOBODY, "he", "", (), "कौन", "who", "किसने")
        tense = self.one_of(("habit", "progressive", "past", "past", "future", "want"))
        clause = self.clause(
            Plan(who, tense, False, frame=self.one_of(("object", "object", "go", "act", "whom")), rich=0.3)
        )
        known = [word for phrase in clause.adjuncts for word in phrase.hindi]
        new = clause.complement.hindi
        if clause.definite:
            known, new = known + new, []
        who_does = [*clause.subject.hindi, *new, *clause.verb.host]
        if clause.base.gender:  # राम की मदद कौन करेगा
            who_does = [*clause.verb.host, *clause.subject.hindi]
        hindi = [*known, *who_does, *clause.verb.hindi]
        return Sentence(Phrase(hindi, clause.english()), clause.tags)

    def asked(self, word: str, english: str, clause: Clause) -> Sentence:
        """The question word stands before the Hindi verb, and first in English."""
        asked = Word(word)
        middle = [asked, *clause.verb.host]
        if clause.base.gender and word != "कहाँ":  # काम क्यों करना, but कहाँ काम करना and क्यों साफ़ करना
            middle = [*clause.verb.host, asked]
        hindi = [*clause.before_verb(), *middle, *clause.verb.hindi]
        return Sentence(Phrase(hindi, [English(english, (asked,)), *clause.question()]), clause.tags)

    def plain(self, tenses: Sequence[str], frame: str, verb: Entry | None = None) -> Clause:
        """A clause to ask about, with nothing but its subject and object."""
        where = frame != "act" or verb is None  # not: where is he wandering in the park
        return self.clause(Plan(None, self.one_of(tenses), False, True, frame, 0.0, verb, False, where))

    def ask_where(self) -> Sentence:
        """राम कहाँ जा रहा है? – Where is Ram going? सीता कहाँ रहती है? – Where does Sita live?"""
        frame = self.one_of(("go", "act", "live"))
        verb = self.one_of([act for act in entries("verb", "act") if act.kinds_of("at") and act.english != "swim"])
        if frame == "act":
            tense = "habit" if "noprogressive" in verb.kinds else "progressive"
            clause = self.plain((tense,), frame, verb)
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
        verbs = [verb for verb in allowed("object", tense, False) if verb.kinds_of("object")[0] not in NOT_ASKED]
        subject = self.fitting_subject(verb := self.one_of(verbs), tense, asked=True)
        clause = self.clause(Plan(subject, tense, False, True, "object", 0.0, verb, False))
        if "ergative" in clause.tags:  # क्या is masculine singular
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
            clause.verb = verb_group(verb, tense, agreement, subject.person, asked=True)
        what = noun_phrase(noun, Owner("कितन", "how many"), True)
        clause.complement = Phrase(what.hindi)
        tags = [tag for tag in clause.tags if tag != "genitive"]
        return Sentence(Phrase(clause.hindi(), [*what.english, *clause.question()]), [*tags, "agreement"])
