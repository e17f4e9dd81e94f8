"""Inflected forms, each written by hand: what a school grammar gives."""

from __future__ import annotations

import pytest

from lib.lexicon import Entry, entries, lexicon
from lib.morphology import (
    Agreement,
    adjective_form,
    article,
    be_past,
    be_present,
    ending,
    future,
    habitual,
    imperative,
    noun_form,
    past_aux,
    perfective,
    present_aux,
)

M, F = Agreement(), Agreement(gender="f")
MM, FF = Agreement(plural=True), Agreement(plural=True, gender="f")
I_M, I_F = Agreement(1), Agreement(1, gender="f")
WE = Agreement(1, True)
YOU, YOU_F = Agreement(2, True), Agreement(2, True, "f")  # तुम


def noun(hindi: str, declension: str = "x") -> Entry:
    """From the lexicon if it is there, else a word that inflects as named."""
    found = [entry for entry in entries("noun") if entry.hindi == hindi]
    return found[0] if found else Entry("noun", hindi, "x", "", declension, (), ())


def adjective(hindi: str, declension: str) -> Entry:
    return Entry("adjective", hindi, "x", "", declension, (), ())


@pytest.mark.parametrize(
    "forms",  # direct singular, oblique singular, direct plural, oblique plural
    [
        "लड़का लड़के लड़के लड़कों",
        "कुत्ता कुत्ते कुत्ते कुत्तों",
        "अंडा अंडे अंडे अंडों",
        "कुर्ता कुर्ते कुर्ते कुर्तों",
        "लड़की लड़की लड़कियाँ लड़कियों",
        "रस्सी रस्सी रस्सियाँ रस्सियों",
        "मिठाई मिठाई मिठाइयाँ मिठाइयों",
        "किताब किताब किताबें किताबों",
        "मेज़ मेज़ मेज़ें मेज़ों",
        "गेंद गेंद गेंदें गेंदों",
        "कविता कविता कविताएँ कविताओं",
        "माला माला मालाएँ मालाओं",
        "बुढ़िया बुढ़िया बुढ़ियाँ बुढ़ियों",
        "गुड़िया गुड़िया गुड़ियाँ गुड़ियों",
        "किसान किसान किसान किसानों",
        "आदमी आदमी आदमी आदमियों",
        "हाथी हाथी हाथी हाथियों",
        "बढ़ई बढ़ई बढ़ई बढ़इयों",
        "भाई भाई भाई भाइयों",
        "लड्डू लड्डू लड्डू लड्डुओं",
        "आलू आलू आलू आलुओं",
        "भालू भालू भालू भालुओं",
        "कवि कवि कवि कवियों",
        "बहन बहन बहनें बहनों",
        "औरत औरत औरतें औरतों",
        "दोस्त दोस्त दोस्त दोस्तों",
    ],
)
def test_noun_forms(forms: str) -> None:
    direct, oblique, plural, oblique_plural = forms.split()
    entry = noun(direct)
    assert noun_form(entry) == direct
    assert noun_form(entry, oblique=True) == oblique
    assert noun_form(entry, plural=True) == plural
    assert noun_form(entry, plural=True, oblique=True) == oblique_plural


@pytest.mark.parametrize(
    ("stem", "forms"),  # masculine, masculine plural, feminine, feminine plural (alone)
    [
        ("जा", "गया गए गई गईं"),
        ("कर", "किया किए की कीं"),
        ("दे", "दिया दिए दी दीं"),
        ("पी", "पिया पिए पी पीं"),
        ("खा", "खाया खाए खाई खाईं"),
        ("आ", "आया आए आई आईं"),
        ("बना", "बनाया बनाए बनाई बनाईं"),
        ("धो", "धोया धोए धोई धोईं"),
        ("सो", "सोया सोए सोई सोईं"),
        ("रो", "रोया रोए रोई रोईं"),
        ("ला", "लाया लाए लाई लाईं"),
        ("लिख", "लिखा लिखे लिखी लिखीं"),
        ("पढ़", "पढ़ा पढ़े पढ़ी पढ़ीं"),
        ("देख", "देखा देखे देखी देखीं"),
        ("बैठ", "बैठा बैठे बैठी बैठीं"),
        ("मिल", "मिला मिले मिली मिलीं"),
        ("मुस्कुरा", "मुस्कुराया मुस्कुराए मुस्कुराई मुस्कुराईं"),
    ],
)
def test_perfective(stem: str, forms: str) -> None:
    expected = forms.split()
    assert [perfective(stem, agreement) for agreement in (M, MM, F, FF)] == expected
    # With है after it, the feminine plural is like the singular: आई हैं.
    assert perfective(stem, FF, alone=False) == expected[2]
    assert [perfective(stem, agreement, alone=False) for agreement in (M, MM, F)] == expected[:3]


@pytest.mark.parametrize(
    ("stem", "forms"),  # मैं (m), मैं (f), तुम, वह (m), वह (f), वे
    [
        ("जा", "जाऊँगा जाऊँगी जाओगे जाएगा जाएगी जाएँगे"),
        ("आ", "आऊँगा आऊँगी आओगे आएगा आएगी आएँगे"),
        ("पी", "पिऊँगा पिऊँगी पियोगे पिएगा पिएगी पिएँगे"),
        ("दे", "दूँगा दूँगी दोगे देगा देगी देंगे"),
        ("सो", "सोऊँगा सोऊँगी सोओगे सोएगा सोएगी सोएँगे"),
        ("लिख", "लिखूँगा लिखूँगी लिखोगे लिखेगा लिखेगी लिखेंगे"),
        ("पढ़", "पढ़ूँगा पढ़ूँगी पढ़ोगे पढ़ेगा पढ़ेगी पढ़ेंगे"),
        ("कर", "करूँगा करूँगी करोगे करेगा करेगी करेंगे"),
        ("हँस", "हँसूँगा हँसूँगी हँसोगे हँसेगा हँसेगी हँसेंगे"),
    ],
)
def test_future(stem: str, forms: str) -> None:
    assert [future(stem, agreement) for agreement in (I_M, I_F, YOU, M, F, MM)] == forms.split()


def test_future_of_we_and_of_women() -> None:
    assert future("जा", WE) == "जाएँगे"
    assert future("जा", FF) == "जाएँगी"
    assert future("जा", YOU_F) == "जाओगी"
    assert future("दे", YOU_F) == "दोगी"
    assert future("दे", FF) == "देंगी"


def test_habitual() -> None:
    assert [habitual("जा", agreement) for agreement in (M, MM, F, FF)] == ["जाता", "जाते", "जाती", "जाती"]
    assert habitual("जा", FF, alone=True) == "जातीं"
    assert habitual("पी", M) == "पीता" and habitual("दे", F) == "देती"


@pytest.mark.parametrize(
    ("stem", "form"),
    [("जा", "जाओ"), ("लिख", "लिखो"), ("पढ़", "पढ़ो"), ("दे", "दो"), ("पी", "पियो"), ("धो", "धोओ"), ("बना", "बनाओ")],
)
def test_imperative(stem: str, form: str) -> None:
    assert imperative(stem, polite=False) == form


@pytest.mark.parametrize(
    ("stem", "form"),
    [("जा", "जाइए"), ("लिख", "लिखिए"), ("कर", "कीजिए"), ("दे", "दीजिए"), ("पी", "पीजिए"), ("धो", "धोइए")],
)
def test_polite_imperative(stem: str, form: str) -> None:
    assert imperative(stem, polite=True) == form


def test_auxiliaries() -> None:
    assert [present_aux(a) for a in (I_M, I_F, WE, YOU, YOU_F, M, F, MM, FF)] == [
        "हूँ",
        "हूँ",
        "हैं",
        "हो",
        "हो",
        "है",
        "है",
        "हैं",
        "हैं",
    ]
    assert [past_aux(a) for a in (I_M, I_F, WE, YOU, YOU_F, M, F, MM, FF)] == [
        "था",
        "थी",
        "थे",
        "थे",
        "थीं",
        "था",
        "थी",
        "थे",
        "थीं",
    ]


def test_endings() -> None:
    assert [ending("क", a) for a in (M, MM, F, FF)] == ["का", "के", "की", "की"]
    assert [ending("मेर", a) for a in (M, MM, F, FF)] == ["मेरा", "मेरे", "मेरी", "मेरी"]
    assert [ending("रह", a) for a in (M, MM, F, FF)] == ["रहा", "रहे", "रही", "रही"]
    assert ending("थ", FF, nasal=True) == "थीं"


@pytest.mark.parametrize(
    ("word", "forms"),  # masculine, masculine oblique, masculine plural, feminine, feminine plural
    [
        ("छोटा", "छोटा छोटे छोटे छोटी छोटी"),
        ("नया", "नया नए नए नई नई"),
        ("महँगा", "महँगा महँगे महँगे महँगी महँगी"),
        ("बड़ा", "बड़ा बड़े बड़े बड़ी बड़ी"),
        ("पीला", "पीला पीले पीले पीली पीली"),
    ],
)
def test_adjectives(word: str, forms: str) -> None:
    found = [adjective_form(adjective(word, "a"), agreement) for agreement in (M, MM, F, FF)]
    found.insert(1, adjective_form(adjective(word, "a"), M, oblique=True))
    assert found == forms.split()
    assert adjective_form(adjective(word, "a"), F, oblique=True) == found[3]


def test_invariant_adjectives_stay() -> None:
    for word in ("सुंदर", "लाल", "मेहनती", "ख़ुश"):
        assert {adjective_form(adjective(word, "x"), a, o) for a in (M, MM, F, FF) for o in (True, False)} == {word}


def test_english() -> None:
    assert [be_present(person) for person in ("I", "he", "they")] == ["am", "is", "are"]
    assert [be_past(person) for person in ("I", "he", "they")] == ["was", "was", "were"]
    assert [article(word) for word in ("apple", "book", "umbrella", "old", "Egg")] == ["an", "a", "an", "an", "an"]
    assert noun("आम").plural == "mangoes" and noun("बच्चा").plural == "children" and noun("किताब").plural == "books"


# ------------------------------------------------------------------------------------------------ the lexicon


def test_declensions_fit_the_words() -> None:
    """The column that says how a noun inflects agrees with its gender and its last letter."""
    for entry in (*entries("noun"), *entries("place"), *entries("surface")):
        if not entry.declension:
            continue
        assert entry.gender in ("m", "f"), entry
        last = {"a": "ा", "i": ("ी", "ई"), "aa": "ा", "iya": "िया"}.get(entry.declension, "")
        assert entry.hindi.endswith(last), entry
        if entry.declension in ("a", "x"):
            assert entry.gender == "m", entry
        if entry.declension in ("i", "f", "aa", "iya"):
            assert entry.gender == "f", entry
        if entry.declension == "aa":
            assert not entry.hindi.endswith("िया"), entry
        if entry.declension == "f":
            assert not entry.hindi.endswith(("ी", "ई", "ा")), entry
        if entry.declension == "x":  # रसोइया is the one in -ा that stays, and is never many
            assert not entry.hindi.endswith("ा") or entry.hindi == "रसोइया", entry


def test_inflected_adjectives_end_in_aa() -> None:
    for entry in entries("adjective"):
        assert entry.declension in ("a", "x"), entry
        assert entry.declension == "x" or entry.hindi.endswith(("ा", "थका हुआ")), entry


def test_each_verb_has_four_english_forms() -> None:
    for entry in entries("verb"):
        third, past, participle, ing = entry.forms
        assert third.endswith("s") and ing.endswith("ing"), entry
        assert past and participle and entry.declension in ("", "ne"), entry


def test_no_entry_stands_twice() -> None:
    for pos, found in lexicon().items():
        pairs = [(entry.hindi, entry.english) for entry in found if entry.hindi != "खेल"]  # with an object and without
        assert len(pairs) == len(set(pairs)), pos


def test_one_noun_one_english_word() -> None:
    """A noun with two meanings would leave open which English word to expect."""
    nouns = [entry.hindi for entry in entries("noun")]
    assert len(set(nouns)) == len(nouns)
