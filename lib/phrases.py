"""Words that know their partners, the phrases made of them, and the verb group: the small parts of the language.

Every builder makes the Hindi words and, at the same time, the English words that come from them. So the alignment
is known by construction; nothing is aligned afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lib.lexicon import Entry
from lib.morphology import (
    Agreement,
    adjective_form,
    article,
    be_past,
    be_present,
    ending,
    future,
    habitual,
    noun_form,
    past_aux,
    perfective,
    present_aux,
    stem_of,
)

POSTPOSITIONS = ("में", "पर", "से", "को")
SMALL = ("the", "a", "an", "to")  # English words that Hindi does not say


class Word:
    """One Hindi word. Two words are the same only if they are the same object, so a repeated word causes no doubt."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class English:
    """One English word and the Hindi words that it comes from, surely or possibly."""

    __slots__ = ("text", "sure", "possible")

    def __init__(self, text: str, sure: tuple[Word, ...] = (), possible: tuple[Word, ...] = ()) -> None:
        self.text, self.sure, self.possible = text, sure, possible


class Phrase:
    """A stretch of Hindi and the English for it."""

    __slots__ = ("hindi", "english")

    def __init__(self, hindi: Sequence[Word] = (), english: Sequence[English] = ()) -> None:
        self.hindi, self.english = list(hindi), list(english)

    def __add__(self, other: Phrase) -> Phrase:
        return Phrase(self.hindi + other.hindi, self.english + other.english)

    def extend(self, other: Phrase) -> None:
        self.hindi += other.hindi
        self.english += other.english

    def with_marker(self, marker: Word) -> Phrase:
        """A postposition that English does not say (ने, को of सीता को बुलाया): possibly its noun."""
        *rest, last = self.english
        return Phrase([*self.hindi, marker], [*rest, English(last.text, last.sure, (*last.possible, marker))])

    def with_preposition(self, english: str, *hindi: str) -> Phrase:
        """राम के साथ – with Ram: the last Hindi word is the preposition, surely; के before it possibly."""
        markers = [Word(text) for text in hindi]
        preposition = English(english, (markers[-1],), tuple(markers[:-1]))
        return Phrase([*self.hindi, *markers], [preposition, *self.english])


def one(hindi: str, english: str) -> Phrase:
    """One word for one word."""
    word = Word(hindi)
    return Phrase([word], [English(english, (word,))])


def fixed(entry: Entry) -> Phrase:
    """A phrase of the lexicon: `कल` – `tomorrow`, `हर सुबह` – `every morning`, `बस से` – `by bus`.

    As many words on both sides: one by one. With a postposition at its end: the preposition comes from it, and the
    other words from the first Hindi word; so do articles, possibly.
    """
    source, target = [Word(text) for text in entry.hindi.split()], entry.english.split()
    head, last = source[0], source[-1]
    if last.text in POSTPOSITIONS and len(source) == 2:
        if len(target) == 1:  # ध्यान से – carefully
            return Phrase(source, [English(target[0], (head,), (last,))])
        if target[0] in ("in", "on", "at", "by", "with"):
            rest = [English(t, (), (head,)) if t in SMALL else English(t, (head,)) for t in target[1:]]
            return Phrase(source, [English(target[0], (last,)), *rest])
    if last.text in POSTPOSITIONS and len(source) == 3:  # कल शाम को – tomorrow evening
        day, part, ko = source
        return Phrase(source, [English(target[0], (day,)), English(target[1], (part,), (ko,))])
    if len(source) == len(target):
        return Phrase(source, [English(e, (h,)) for h, e in zip(source, target, strict=True)])
    return Phrase(source, [English(text, (head,)) for text in target])


# ------------------------------------------------------------------------------------------------- noun phrases


class Owner:
    """What stands first in a noun phrase and agrees with its noun: मेर-ा/-ी/-े, कितन-ा, or someone with का/की/के."""

    __slots__ = ("stem", "english", "someone")

    def __init__(self, stem: str = "क", english: str = "", someone: Phrase | None = None) -> None:
        self.stem, self.english, self.someone = stem, english, someone

    def phrase(self, agreement: Agreement, oblique: bool) -> Phrase:
        """Masculine oblique singular is like the plural: मेरे भाई ने."""
        word = Word(ending(self.stem, Agreement(3, agreement.plural or oblique, agreement.gender)))
        if self.someone is None:
            return Phrase([word], [English(text, (word,)) for text in self.english.split()])
        *rest, last = self.someone.english
        owner = English(last.text + "'s", last.sure, (*last.possible, word))
        return Phrase([*self.someone.hindi, word], [*rest, owner])


def noun_phrase(
    noun: Entry,
    before: str | Owner | Phrase,
    plural: bool = False,
    adjective: Entry | None = None,
    oblique: bool = False,
) -> Phrase:
    """नई किताब – a new book, मेरे छोटे भाई – my younger brother, तीन आम – three mangoes.

    before: "the", "a" or "" as English has it and Hindi has not; or what both languages say.
    """
    agreement = Agreement(3, plural, noun.gender)
    head = Word(noun_form(noun, plural, oblique))
    hindi = [head]
    english = [English(text, (head,)) for text in (noun.plural if plural else noun.english).split()]
    if adjective is not None:
        forms = [Word(text) for text in adjective_form(adjective, agreement, oblique).split()]
        hindi = [*forms, head]
        english = [English(adjective.english, tuple(forms)), *english]
    if type(before) is str:
        if before:
            text = article(english[0].text) if before == "a" else before
            english = [English(text, (), (head,)), *english]
        return Phrase(hindi, english)
    first = before.phrase(agreement, oblique) if isinstance(before, Owner) else before
    return Phrase(first.hindi + hindi, first.english + english)


# --------------------------------------------------------------------------------------------------- verb groups


class VerbGroup:
    """A verb with its auxiliaries. English keeps the first auxiliary apart: a question puts it before the subject.

    host: the काम of काम करना, which stands before नहीं and before question words.
    """

    __slots__ = ("host", "hindi", "auxiliary", "rest", "tags")

    def __init__(
        self,
        hindi: list[Word],
        auxiliary: list[English],
        rest: list[English],
        tags: tuple[str, ...] = (),
        host: list[Word] | None = None,
    ) -> None:
        self.hindi, self.auxiliary, self.rest, self.tags, self.host = hindi, auxiliary, rest, tags, host or []


PERFECTIVE = ("past", "perfect")
MODALS = {"can": "सकत", "could": "सक", "want": "चाहत", "wanted": "चाहत"}


def verb_group(
    verb: Entry, tense: str, agreement: Agreement, person: str, negative: bool = False, asked: bool = False
) -> VerbGroup:
    """नहीं जा रहा है – is not going: the finite verb in one tense, negated or not, for a question or not.

    `agreement` is that of the subject, or of the object after ने; `person` is the English subject's.
    """
    host = [Word(text) for text in verb.hindi.split()[:-1]]
    hindi, main, tensed, tags = _hindi_verb(stem_of(verb), tense, agreement, negative)
    last = hindi[-1]
    # जा रहा is one meaning in two words: both are surely "going".
    whole = (*host, *hindi[:-1]) if tense in ("progressive", "past_progressive") else (*host, main)
    auxiliary, rest = _english_verb(verb, tense, person, negative or asked, whole, (tensed, last))
    if negative:
        no = Word("नहीं")
        after = 1 if tense == "want" else 0  # जाना नहीं चाहता, but नहीं जा सकता
        hindi, tags = [*hindi[:after], no, *hindi[after:]], (*tags, "negation")
        joined = tense == "can"  # cannot
        auxiliary = [English("cannot", (tensed, no))] if joined else [*auxiliary, English("not", (no,))]
    return VerbGroup(hindi, auxiliary, rest, tags, host)


def _hindi_verb(
    stem: str, tense: str, agreement: Agreement, negative: bool
) -> tuple[list[Word], Word, Word, tuple[str, ...]]:
    """The Hindi words; the one that carries the meaning; the one that carries the tense; the tags."""
    if tense == "future":
        word = Word(future(stem, agreement))
        return [word], word, word, ()
    if tense == "past":
        word = Word(perfective(stem, agreement))
        return [word], word, word, ()
    if tense in MODALS:
        return _hindi_modal(stem, tense, agreement, negative)
    last = Word(past_aux(agreement) if tense in ("used_to", "past_progressive") else present_aux(agreement))
    if tense == "perfect":
        word = Word(perfective(stem, agreement, alone=False))
        return [word, last], word, last, ("auxiliaries",)
    if tense in ("progressive", "past_progressive"):
        word = Word(stem)
        return [word, Word(ending("रह", agreement)), last], word, last, ("auxiliaries",)
    if tense == "habit" and negative:  # the present loses its है: वह नहीं जाता
        word = Word(habitual(stem, agreement, alone=True))
        return [word], word, word, ()
    word = Word(habitual(stem, agreement))
    return [word, last], word, last, ("auxiliaries",)


def _hindi_modal(
    stem: str, tense: str, agreement: Agreement, negative: bool
) -> tuple[list[Word], Word, Word, tuple[str, ...]]:
    """जा सकता है, जा सका, जाना चाहता है, जाना चाहता था."""
    word = Word(stem if tense in ("can", "could") else stem + "ना")
    alone = tense == "could" or (negative and tense != "wanted")
    modal = Word(ending(MODALS[tense], agreement, nasal=alone))
    if alone:
        return [word, modal], word, modal, ("modals",)
    last = Word(past_aux(agreement) if tense == "wanted" else present_aux(agreement))
    return [word, modal, last], word, modal, ("modals",)


def _english_verb(
    verb: Entry, tense: str, person: str, supported: bool, main: tuple[Word, ...], helpers: tuple[Word, Word]
) -> tuple[list[English], list[English]]:
    """The first auxiliary (or nothing) and the rest. `supported`: negated or asked, so English needs do.

    helpers: the Hindi word that carries the tense and the last one: in जा सकता है and जाना चाहता था they are two.
    """
    tensed, last = helpers
    base, *particle = verb.english.split()
    third, past, participle, ing = verb.forms
    he = person == "he"

    def form(text: str, possible: tuple[Word, ...] = ()) -> list[English]:
        return [English(text, main, possible), *[English(after, main) for after in particle]]

    if tense == "future":
        return [English("will", (), (tensed,))], form(base)
    if tense in ("progressive", "past_progressive"):
        be = be_present if tense == "progressive" else be_past
        return [English(be(person), (tensed,))], form(ing)
    if tense == "perfect":
        return [English("has" if he else "have", (tensed,))], form(participle)
    if tense in MODALS:
        return _english_modal(tense, he, supported, tensed, () if last is tensed else (last,), form(base))
    if tense == "used_to":  # neither negated nor asked in this language
        return [], [English("used", (tensed,)), English("to", (), (*main, tensed)), *form(base)]
    helped = () if tensed in main else (tensed,)
    if supported:
        return [English("did" if tense == "past" else "does" if he else "do", (), (*main, *helped))], form(base)
    return [], form(past if tense == "past" else third if he else base, helped)


def _english_modal(
    tense: str, he: bool, supported: bool, modal: Word, beside: tuple[Word, ...], verb: list[English]
) -> tuple[list[English], list[English]]:
    """can go, could go, wants to go, does … want to go. `beside`: the है of जा सकता है, which belongs to the modal."""
    if tense in ("can", "could"):
        return [English(tense, (modal,), beside)], verb
    to = English("to", (), (modal, *verb[0].sure))
    if supported:
        do = "did" if tense == "wanted" else "does" if he else "do"
        return [English(do, (), (modal, *beside))], [English("want", (modal,)), to, *verb]
    want = "wanted" if tense == "wanted" else "wants" if he else "want"
    return [], [English(want, (modal,), beside), to, *verb]


def be_group(past: bool, agreement: Agreement, person: str, negative: bool) -> VerbGroup:
    """है, नहीं थी – is, was not: होना as the verb of a clause."""
    verb = Word(past_aux(agreement) if past else present_aux(agreement))
    is_ = English(be_past(person) if past else be_present(person), (verb,))
    if not negative:
        return VerbGroup([verb], [is_], [])
    no = Word("नहीं")
    return VerbGroup([no, verb], [is_, English("not", (no,))], [], ("negation",))


def write(texts: Iterable[str]) -> str:
    """Words with a space between them, none before a mark."""
    return "".join([text if text in "।?.," else " " + text for text in texts])[1:]
