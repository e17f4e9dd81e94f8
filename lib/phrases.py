"""Phrases that know their translation: words, noun phrases and verb groups in both languages, aligned as they are made.

A phrase is grown, not translated: each builder makes the Hindi words and, with them, the English words that come from
them. So the alignment is known by construction.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from lib.lexicon import Verb
from lib.morphology import Agreement, be_past, be_present, ending, future, habitual, past_aux, perfective, present_aux

POSTPOSITIONS = ("में", "पर", "से", "को")

# ------------------------------------------------------------------------------------- words that know their partners


class Word:
    """One Hindi word. Two words are the same only if they are the same object, so a repeated word causes no doubt."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


@dataclass(frozen=True, slots=True)
class English:
    """One English word and the Hindi words that it comes from, surely or possibly."""

    text: str
    sure: tuple[Word, ...] = ()
    possible: tuple[Word, ...] = ()


@dataclass(slots=True)
class Phrase:
    """A stretch of Hindi and the English for it."""

    hindi: list[Word] = field(default_factory=list)
    english: list[English] = field(default_factory=list)

    def __add__(self, other: Phrase) -> Phrase:
        return Phrase(self.hindi + other.hindi, self.english + other.english)


def fixed(hindi: str, english: str) -> Phrase:
    """A phrase from the lexicon: `बग़ीचे में` – `in the garden`, `रोज़` – `every day`, `हर सुबह` – `every morning`.

    A postposition belongs to the preposition, the noun to the noun; an article, or a preposition that Hindi does not
    say, possibly to the noun.
    """
    source, target = [Word(text) for text in hindi.split()], english.split()
    head, last = source[0], source[-1]
    if last.text in POSTPOSITIONS and len(target) > 1:
        rest = [_of_noun(text, head) for text in target[1:]]
        return Phrase(source, [English(target[0], (last,)), *rest])
    if last.text in POSTPOSITIONS:
        return Phrase(source, [English(target[0], (head,), (last,))])
    if len(source) == len(target):
        return Phrase(source, [English(e, (h,)) for h, e in zip(source, target, strict=True)])
    return Phrase(source, [_of_noun(text, head) for text in target])


def _of_noun(text: str, head: Word) -> English:
    return English(text, (), (head,)) if text in ("the", "a", "an", "to") else English(text, (head,))


# ----------------------------------------------------------------------------------------------------- participants


@dataclass(frozen=True)
class Participant:
    """Someone or something that takes part, in both cases, and what a verb agrees with."""

    direct: Phrase
    oblique: Phrase  # before a postposition; for a pronoun the form with ने included
    agreement: Agreement
    person: str = "he"  # the English verb's: "I", "he" (third singular) or "they" (any other)
    pronoun: bool = False
    tags: tuple[str, ...] = ()


def write(texts: Iterable[str]) -> str:
    """Words with a space between them, none before a mark."""
    return "".join(text if text in "।?.," else f" {text}" for text in texts)[1:]


def with_ne(subject: Participant) -> Phrase:
    """राम ने, मैंने: a pronoun is one word with its ने, anything else has it as a word of its own."""
    if subject.pronoun:
        return subject.oblique
    ne = Word("ने")
    *rest, last = subject.oblique.english
    return Phrase([*subject.oblique.hindi, ne], [*rest, replace(last, possible=(*last.possible, ne))])


# --------------------------------------------------------------------------------------------------- verb groups


@dataclass(slots=True)
class VerbGroup:
    """A verb with its auxiliaries. English keeps the first auxiliary apart: a question puts it before the subject."""

    hindi: list[Word]
    auxiliary: list[English]
    rest: list[English]
    tags: tuple[str, ...] = ()
    verb: Verb | None = None


TENSES = ("habit", "habit", "progressive", "past_progressive", "past", "past", "perfect", "future", "used_to",
          "can", "want", "wanted")  # fmt: skip
CORE_TENSES = ("habit", "past_progressive", "future")
PERFECTIVE = ("past", "perfect")


def verb_group(verb: Verb, tense: str, agreement: Agreement, person: str, negative: bool, asked: bool) -> VerbGroup:
    """नहीं जा रहा है – is not going: the finite verb in one tense, negated or not, for a question or not.

    `agreement` is that of the subject, or of the object after ने; `person` is the English subject's.
    """
    hindi, main, tensed, tags = _hindi_verb(verb, tense, agreement, negative)
    auxiliary, rest = _english_verb(verb, tense, person, negative or asked, main, tensed)
    if negative:
        no = Word("नहीं")
        hindi, tags = [no, *hindi], (*tags, "negation")
        if tense == "can":
            auxiliary = [English("cannot", (tensed, no))]
        else:
            auxiliary = [*auxiliary, English("not", (no,))]
    return VerbGroup(hindi, auxiliary, rest, tags, verb)


def _hindi_verb(
    verb: Verb, tense: str, agreement: Agreement, negative: bool
) -> tuple[list[Word], Word, Word, tuple[str, ...]]:
    """The Hindi words; the one that carries the meaning; the one that carries tense; the tags."""
    is_, was = Word(present_aux(agreement)), Word(past_aux(agreement))
    if tense == "future":
        word = Word(future(verb, agreement))
        return [word], word, word, ()
    if tense in PERFECTIVE:
        word = Word(perfective(verb, agreement, alone=tense == "past"))
        return ([word], word, word, ()) if tense == "past" else ([word, is_], word, is_, ("auxiliaries",))
    if tense in ("progressive", "past_progressive"):
        word, going = Word(verb.hindi), Word(ending("रह", agreement))
        last = is_ if tense == "progressive" else was
        return [word, going, last], word, last, ("auxiliaries",)
    if tense in ("can", "want", "wanted"):
        word = Word(verb.hindi if tense == "can" else verb.hindi + "ना")
        stem, tags = ("सकत", "modals") if tense == "can" else ("चाहत", "modals")
        if tense == "wanted":
            return [word, modal := Word(ending(stem, agreement)), was], word, modal, (tags,)
        modal = Word(ending(stem, agreement, nasal_plural=negative))
        return ([word, modal] if negative else [word, modal, is_]), word, modal, (tags,)
    if tense == "used_to":
        word = Word(habitual(verb, agreement))
        return [word, was], word, was, ("auxiliaries",)
    # Negated, the present habitual drops its है: वह नहीं जाता.
    word = Word(habitual(verb, agreement, alone=negative))
    return ([word], word, word, ()) if negative else ([word, is_], word, is_, ("auxiliaries",))


def _english_verb(
    verb: Verb, tense: str, person: str, supported: bool, main: Word, tensed: Word
) -> tuple[list[English], list[English]]:
    """The first auxiliary (or nothing) and the rest. `supported`: negated or asked, so English needs do."""

    def form(text: str, helpers: tuple[Word, ...] = ()) -> list[English]:
        return [English(text, (main,), helpers)]

    third = person == "he"
    both = (main,) if main is tensed else (main, tensed)
    if tense == "future":
        return [English("will", (), (main,))], form(verb.english)
    if tense == "can":
        return [English("can", (tensed,))], form(verb.english)
    if tense in ("progressive", "past_progressive"):
        be = be_present(person) if tense == "progressive" else be_past(person)
        return [English(be, (tensed,))], form(verb.ing)
    if tense == "perfect":
        return [English("has" if third else "have", (tensed,))], form(verb.participle)
    if tense == "used_to":
        return [], [English("used", (tensed,)), English("to", (), (tensed,)), *form(verb.english)]
    if tense in ("want", "wanted"):
        return _wanting(tense, third, supported, tensed, English("to", (), (tensed, main)), form(verb.english))
    if tense == "past":
        return ([English("did", (), both)], form(verb.english)) if supported else ([], form(verb.past))
    if supported:
        return [English("does" if third else "do", (), both)], form(verb.english)
    return [], form(verb.third if third else verb.english, (tensed,) if tensed is not main else ())


def _wanting(
    tense: str, third: bool, supported: bool, modal: Word, to: English, verb: list[English]
) -> tuple[list[English], list[English]]:
    if supported:
        do = "did" if tense == "wanted" else "does" if third else "do"
        return [English(do, (), (modal,))], [English("want", (modal,)), to, *verb]
    want = "wanted" if tense == "wanted" else "wants" if third else "want"
    return [], [English(want, (modal,)), to, *verb]
