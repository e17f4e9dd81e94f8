"""Hindi and English inflection for the controlled language: what form does a lemma take here?

Only forms that a school grammar gives without a second option are made; words that would need one are left out of
the lexicon.
"""

from __future__ import annotations

from dataclasses import dataclass

from lib.lexicon import Noun, Verb

VOWELS = "ािीुूेैोौआईऊएओ"


@dataclass(frozen=True)
class Agreement:
    """What a Hindi verb or adjective agrees with: person (1, 2, 3; "तुम" is 2, "आप" is 3 plural), number, gender."""

    person: int = 3
    plural: bool = False
    gender: str = "m"


THIRD = Agreement()  # what the verb falls back to where nothing may agree: masculine singular

# ------------------------------------------------------------------------------------------------ Hindi nouns


def noun_form(noun: Noun, plural: bool = False, oblique: bool = False) -> str:
    """लड़का, लड़के, लड़कों: direct or oblique (before a postposition), singular or plural."""
    word = noun.hindi
    if oblique and plural:
        return _oblique_plural(noun)
    if noun.declension == "a":
        return word[:-1] + "े" if oblique or plural else word
    if not plural:
        return word
    if word.endswith("ई"):
        return word[:-1] + "इयाँ"  # मिठाई: मिठाइयाँ
    endings = {"i": (word[:-1] + "ियाँ"), "f": word + "ें", "aa": word + "एँ", "iya": word + "ँ"}
    return endings.get(noun.declension, word)


def _oblique_plural(noun: Noun) -> str:
    word = noun.hindi
    if noun.declension == "a":
        return word[:-1] + "ों"
    if noun.declension == "iya":
        return word[:-1] + "ों"  # चिड़िया: चिड़ियों
    if word.endswith(("ी", "ई")):
        return word[:-1] + ("ियों" if word.endswith("ी") else "इयों")
    if word.endswith("ू"):
        return word[:-1] + "ुओं"  # लड्डू: लड्डुओं
    return word + ("ओं" if word[-1] in VOWELS else "ों")


def ending(stem: str, agreement: Agreement, nasal_plural: bool = False) -> str:
    """The -ा/-े/-ी of participles, adjectives and का: stem + the ending; feminine plural -ीं where asked."""
    if agreement.gender == "f":
        return stem + ("ीं" if agreement.plural and nasal_plural else "ी")
    return stem + ("े" if agreement.plural else "ा")


def adjective_form(word: str, inflected: bool, agreement: Agreement, oblique: bool = False) -> str:
    """छोटा, छोटे, छोटी: like the noun; masculine oblique singular takes -े too. Invariant ones (सुंदर) stay."""
    if not inflected:
        return word
    if word.endswith("या"):  # नया: नए, नई
        stem = word[:-2]
        return stem + ("ई" if agreement.gender == "f" else "ए" if agreement.plural or oblique else "या")
    return ending(word[:-1], Agreement(3, agreement.plural or oblique, agreement.gender))


# ------------------------------------------------------------------------------------------------ Hindi verbs

_PERFECTIVE = {"कर": "कि", "दे": "दि", "ले": "लि", "जा": "ग", "पी": "पि"}
_FUTURE_STEM = {"दे": "द", "ले": "ल", "पी": "पि"}


def habitual(verb: Verb, agreement: Agreement, alone: bool = False) -> str:
    """जाता, जाते, जाती: the imperfective participle. `alone`, without होना after it, feminine plural is जातीं."""
    return ending(verb.hindi + "त", agreement, nasal_plural=alone)


def perfective(verb: Verb, agreement: Agreement, alone: bool = True) -> str:
    """लिखा, गया, दी, सोए: the perfective participle. Only the last verb of a clause shows feminine plural (-ीं)."""
    stem = _PERFECTIVE.get(verb.hindi, verb.hindi)
    feminine, plural = agreement.gender == "f", agreement.plural
    if verb.hindi == "जा":
        return ("गईं" if plural and alone else "गई") if feminine else ("गए" if plural else "गया")
    if stem != verb.hindi:  # किया की किए, दिया दी दिए, पिया पी पिए
        return stem[:-1] + ("ीं" if plural and alone else "ी") if feminine else stem + ("ए" if plural else "या")
    if stem[-1] in VOWELS:  # खाया खाई खाए, सोया सोई सोए
        return stem + (("ईं" if plural and alone else "ई") if feminine else ("ए" if plural else "या"))
    return ending(stem, agreement, nasal_plural=alone)


def future(verb: Verb, agreement: Agreement) -> str:
    """जाऊँगा, जाओगे, जाएगा, जाएँगे and the feminine -गी."""
    stem = _FUTURE_STEM.get(verb.hindi, verb.hindi)
    person, plural = agreement.person, agreement.plural
    if verb.hindi in ("दे", "ले"):
        middle = "ूँ" if person == 1 and not plural else "ो" if person == 2 else "ें" if plural else "े"
        middle = verb.hindi[1:] + "ं" if middle == "ें" else middle
    elif stem[-1] in VOWELS:
        middle = "ऊँ" if person == 1 and not plural else "ओ" if person == 2 else "एँ" if plural else "ए"
    else:
        middle = "ूँ" if person == 1 and not plural else "ो" if person == 2 else "ें" if plural else "े"
    plural_end = plural or person == 2
    return stem + middle + ("गी" if agreement.gender == "f" else "गे" if plural_end else "गा")


def imperative(verb: Verb) -> str:
    """तुम जाओ, लिखो, पियो, दो."""
    if verb.hindi == "दे":
        return "दो"
    if verb.hindi == "पी":
        return "पियो"
    return verb.hindi + ("ओ" if verb.hindi[-1] in VOWELS else "ो")


def present_aux(agreement: Agreement) -> str:
    """हूँ, हो, है, हैं."""
    if agreement.person == 1 and not agreement.plural:
        return "हूँ"
    if agreement.person == 2:
        return "हो"
    return "हैं" if agreement.plural else "है"


def past_aux(agreement: Agreement) -> str:
    """था, थे, थी, थीं."""
    return ending("थ", agreement, nasal_plural=True)


# ------------------------------------------------------------------------------------------------ English


def be_present(person: str) -> str:
    """am, is, are for "I", "he" (any third person singular) or "they" (any other)."""
    return {"I": "am", "he": "is"}.get(person, "are")


def be_past(person: str) -> str:
    """was, were"""
    return "were" if person == "they" else "was"


def article(word: str) -> str:
    """a or an, by the first letter of the word that follows; the lexicon has no word where sound and letter differ."""
    return "an" if word[0].lower() in "aeiou" else "a"
