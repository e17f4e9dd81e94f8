"""Hindi and English inflection for the controlled language: what form does a word take here?

Only forms that a school grammar gives without a second option are made; a word that would need another rule is left
out of the lexicon.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from lib.lexicon import Entry

VOWELS = "ािीुूेैोौआईऊएओ"


class Agreement(NamedTuple):
    """What a Hindi verb or adjective agrees with: person (1, 2, 3; तुम is 2, आप is 3 plural), number, gender."""

    person: int = 3
    plural: bool = False
    gender: str = "m"


NOBODY = Agreement()  # what a verb falls back to where nothing may agree with it: masculine singular

# ------------------------------------------------------------------------------------------- nouns and adjectives


@cache
def noun_form(noun: Entry, plural: bool = False, oblique: bool = False) -> str:
    """लड़का, लड़के, लड़कों: direct or oblique (before a postposition), singular or plural."""
    word, declension = noun.hindi, noun.declension
    if plural and oblique:
        return _oblique_plural(word, declension)
    if declension == "a":
        return word[:-1] + "े" if plural or oblique else word
    if not plural or declension in ("x", "mass", ""):
        return word
    if word.endswith("ई"):
        return word[:-1] + "इयाँ"  # मिठाई, मिठाइयाँ
    return {"i": word[:-1] + "ियाँ", "f": word + "ें", "aa": word + "एँ", "iya": word + "ँ"}[declension]


def _oblique_plural(word: str, declension: str) -> str:
    if declension in ("a", "iya"):
        return word[:-1] + "ों"  # लड़कों, चिड़ियों
    if word[-1] in "ीई":
        return word[:-1] + ("ियों" if word[-1] == "ी" else "इयों")
    if word[-1] == "ू":
        return word[:-1] + "ुओं"  # लड्डुओं
    return word + ("ओं" if word[-1] in VOWELS else "ों") if word[-1] != "ि" else word + "यों"  # कवियों


def ending(stem: str, agreement: Agreement, nasal: bool = False) -> str:
    """stem + -ा, -े or -ी, of participles, adjectives and का; feminine plural is -ीं where `nasal` is set."""
    _, plural, gender = agreement
    if gender == "f":
        return stem + ("ीं" if plural and nasal else "ी")
    return stem + ("े" if plural else "ा")


@cache
def adjective_form(adjective: Entry, agreement: Agreement, oblique: bool = False) -> str:
    """छोटा, छोटे, छोटी: like its noun, masculine oblique singular takes -े too. Those that do not inflect stay."""
    if adjective.declension != "a":
        return adjective.hindi
    like = Agreement(3, agreement.plural or oblique, agreement.gender)
    return " ".join(_inflected(word, like) for word in adjective.hindi.split())


def _inflected(word: str, agreement: Agreement) -> str:
    if word in ("नया", "हुआ"):
        stem = word[:-2] if word == "नया" else word[:-1]
        if agreement.gender == "f":
            return stem + "ई"
        return stem + "ए" if agreement.plural else word
    return ending(word[:-1], agreement)


# -------------------------------------------------------------------------------------------------- Hindi verbs

_PERFECTIVE = {"कर": "कि", "दे": "दि", "पी": "पि"}  # किया, दिया, पिया


def stem_of(verb: Entry) -> str:
    """The part that inflects: पढ़, and कर of काम कर."""
    return verb.hindi.split()[-1]


def habitual(stem: str, agreement: Agreement, alone: bool = False) -> str:
    """जाता, जाते, जाती: the imperfective participle. `alone`, with no होना after it, feminine plural is जातीं."""
    return ending(stem + "त", agreement, nasal=alone)


def perfective(stem: str, agreement: Agreement, alone: bool = True) -> str:
    """लिखा, गया, दी, सोए: the perfective participle. Feminine plural -ीं only at the end of the verb group."""
    short = _PERFECTIVE.get(stem, "ग" if stem == "जा" else stem)
    feminine, plural = agreement.gender == "f", agreement.plural
    if stem in _PERFECTIVE:
        return short[:-1] + ("ीं" if plural and alone else "ी") if feminine else short + ("ए" if plural else "या")
    if stem == "जा" or stem[-1] in VOWELS:
        return short + (("ईं" if plural and alone else "ई") if feminine else ("ए" if plural else "या"))
    return ending(stem, agreement, nasal=alone)


def future(stem: str, agreement: Agreement) -> str:
    """जाऊँगा, जाओगे, जाएगा, जाएँगे, करेंगे, दूँगी, पिएगी."""
    person, plural, gender = agreement
    which = 0 if person == 1 and not plural else 1 if person == 2 else 3 if plural else 2
    if stem == "दे":
        form = ("दूँ", "दो", "दे", "दें")[which]
    elif stem == "पी":
        form = ("पिऊँ", "पियो", "पिए", "पिएँ")[which]
    elif stem[-1] in VOWELS:
        form = stem + ("ऊँ", "ओ", "ए", "एँ")[which]
    else:
        form = stem + ("ूँ", "ो", "े", "ें")[which]
    return form + ("गी" if gender == "f" else "गे" if which in (1, 3) else "गा")


def imperative(stem: str, polite: bool) -> str:
    """To तुम: जाओ, लिखो, पियो, दो. To आप: जाइए, लिखिए, पीजिए, दीजिए, कीजिए."""
    if polite:
        irregular = {"दे": "दीजिए", "पी": "पीजिए", "कर": "कीजिए"}
        return irregular.get(stem) or stem + ("इए" if stem[-1] in VOWELS else "िए")
    return {"दे": "दो", "पी": "पियो"}.get(stem) or stem + ("ओ" if stem[-1] in VOWELS else "ो")


def present_aux(agreement: Agreement) -> str:
    """हूँ, हो, है, हैं."""
    person, plural, _ = agreement
    if person == 1 and not plural:
        return "हूँ"
    return "हो" if person == 2 else "हैं" if plural else "है"


def past_aux(agreement: Agreement) -> str:
    """था, थे, थी, थीं."""
    return ending("थ", agreement, nasal=True)


# ------------------------------------------------------------------------------------------------------ English


def be_present(person: str) -> str:
    """am, is or are for "I", "he" (any third person singular) or "they" (any other)."""
    return {"I": "am", "he": "is"}.get(person, "are")


def be_past(person: str) -> str:
    """was or were."""
    return "were" if person == "they" else "was"


def article(word: str) -> str:
    """a or an, by the first letter of the next word: the lexicon has no word whose first sound deceives."""
    return "an" if word[0].lower() in "aeiou" else "a"
