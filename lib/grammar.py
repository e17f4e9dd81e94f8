"""The controlled Hindi–English language: correct Hindi, one English translation each, gold word alignments.

This file makes sentences out of clauses (`lib.clauses`), pairs out of sentences, and the splits of the course out of
pairs. The words are in `data/lexicon.tsv`, their inflection in `lib.morphology`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lib.clauses import Adjuncts, Clause, Clauses, Participant, Plan
from lib.corpus import Pair, ParallelCorpus, comparison_key
from lib.lexicon import Verb, entries
from lib.morphology import THIRD, Agreement, imperative
from lib.phrases import English, Phrase, VerbGroup, Word, fixed, write

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
SEED_SENTENCE = "मैं स्कूल जाता हूँ"  # kept out of every split

# Tenses that may stand together in one sentence.
COMPANY = (
    ("habit", "can", "want"),
    ("progressive",),
    ("past", "past_progressive"),
    ("future",),
    ("used_to",),
    ("perfect",),
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A whole sentence before its words are counted: mark is "?" for a question."""

    phrase: Phrase
    tags: tuple[str, ...]
    mark: str = ""

    def pair(self, stop: bool) -> Pair:
        """Count the words and write both sides; `stop` ends a statement with । and a full stop."""
        hindi, english = self.phrase.hindi, list(self.phrase.english)
        if self.mark or stop:
            mark = Word(self.mark or "।")
            hindi = [*hindi, mark]
            english.append(English(self.mark or ".", (mark,)))
        places = {id(word): place for place, word in enumerate(hindi)}
        sure = {(places[id(w)], t) for t, word in enumerate(english) for w in word.sure}
        possible = {(places[id(w)], t) for t, word in enumerate(english) for w in word.possible if id(w) in places}
        tags = tuple(tag for tag in TAGS if tag in self.tags)
        target = write([word.text for word in english])
        target = target[0].upper() + target[1:]
        return Pair(
            write([word.text for word in hindi]), target, tuple(sorted(sure)), tuple(sorted(possible - sure)), tags
        )


class Grammar(Clauses):
    """A generator of pairs. Equal seeds give equal pairs, in any process.

    Args:
        core: the sub-language of notebook 01, about seventy Hindi words, every length from `min_words` to `max_words`.
    """

    # --------------------------------------------------------------------------------------------- sentences

    def statement(self) -> Sentence:
        """One clause, now and then with होना as its verb."""
        clause = self.being(Plan()) if not self.core and self.chance(0.12) else self.clause()
        return Sentence(clause.phrase(), clause.tags)

    def question(self) -> Sentence:
        """A yes–no question with क्या in front, or one with कौन, कहाँ, कब, क्यों, क्या, किसने before its answer's place."""
        kind = self.random.choice(("yes_no", "yes_no", "who", "where", "when", "why", "what", "with_whom"))
        sentence = getattr(self, f"_ask_{kind}")()
        return replace(sentence, mark="?", tags=(*sentence.tags, "questions"))

    def _ask_yes_no(self) -> Sentence:
        frame = self.random.choice((None, None, None, "being"))
        tense = None if frame else self.random.choice(("habit", "progressive", "past", "future", "can", "want"))
        plan = Plan(tense=tense, asked=True, adjuncts=0.4)
        clause = self.being(plan) if frame else self.clause(plan)
        kya = Word("क्या")
        # Asked, the first English auxiliary stands where क्या stands.
        first, *rest = clause.question()
        return Sentence(
            Phrase([kya, *clause.hindi()], [replace(first, possible=(*first.possible, kya)), *rest]), clause.tags
        )

    def _ask_who(self) -> Sentence:
        """कौन स्कूल जा रहा है? – Who is going to school? After ने: किसने."""
        who, whom = Word("कौन"), Word("किसने")
        subject = Participant(
            Phrase([who], [English("who", (who,))]), Phrase([whom], [English("who", (whom,))]), THIRD, pronoun=True
        )
        frame = self.random.choice(("transitive", "motion", "activity", "living"))
        tense = self.random.choice(("habit", "progressive", "past", "future", "want"))
        tense = "habit" if frame == "living" else tense
        clause = self.clause(Plan(subject, tense, False, frame=frame, adjuncts=0.3))
        return Sentence(clause.phrase(), clause.tags)

    def _asked(self, word: str, english: str, clause: Clause, before: str = "complement") -> Sentence:
        """Put the question word where its answer would stand in Hindi, and first in English."""
        asked = Word(word)
        hindi = [*clause.subject.hindi, *clause.adjuncts.hindi()]
        hindi += [*clause.complement.hindi, asked] if before == "verb" else [asked, *clause.complement.hindi]
        hindi += clause.verb.hindi
        return Sentence(Phrase(hindi, [English(english, (asked,)), *clause.question()]), clause.tags)

    def _ask_where(self) -> Sentence:
        """राम कहाँ जा रहा है? – Where is Ram going?"""
        if self.chance(0.5):
            clause = self.motion(self._simple(("progressive", "future"), next(iter(entries("verb", "goto")))))
            clause.complement = Phrase()
        else:
            clause = self.activity(self._simple(("progressive", "past_progressive", "future"), None))
            clause.adjuncts = Adjuncts()
        return self._asked("कहाँ", "where", clause)

    def _ask_when(self) -> Sentence:
        frame = self.random.choice(("motion", "transitive", "meeting"))
        clause = self.clause(replace(self._simple(("future",), None), frame=frame))
        return self._asked("कब", "when", clause)

    def _ask_why(self) -> Sentence:
        frame = self.random.choice(("activity", "transitive", "motion"))
        clause = self.clause(replace(self._simple(("progressive", "past_progressive"), None), frame=frame))
        return self._asked("क्यों", "why", clause)

    def _ask_what(self) -> Sentence:
        """राम क्या पढ़ रहा है? – What is Ram reading? Before the verb, क्या asks for the object."""
        clause = self.transitive(self._simple(("progressive", "past_progressive", "habit", "future"), None))
        clause.complement = Phrase()
        return self._asked("क्या", "what", clause)

    def _ask_with_whom(self) -> Sentence:
        """राम किसके साथ खेल रहा है? – Who is Ram playing with?"""
        clause = self.motion(self._simple(("progressive", "future"), next(iter(entries("verb", "goto")))))
        clause.adjuncts = Adjuncts()
        whom, together = Word("किसके"), Word("साथ")
        hindi = [*clause.subject.hindi, whom, together, *clause.complement.hindi, *clause.verb.hindi]
        english = [English("who", (whom,)), *clause.question(), English("with", (together,))]
        return Sentence(Phrase(hindi, english), (*clause.tags, "postpositions"))

    def _simple(self, tenses: Sequence[str], verb: Verb | None) -> Plan:
        return Plan(tense=self.random.choice(tenses), negative=False, asked=True, adjuncts=0.0, verb=verb, time=False)

    def command(self) -> Sentence:
        """यह किताब मत पढ़ो – Do not read this book. To तुम."""
        negative = self.chance(0.7)
        if self.chance(0.5):
            verbs = [verb for verb in entries("verb") if any(kind.startswith("object:") for kind in verb.kinds)]
            verb = self.random.choice(verbs)
            kind = self.random.choice(sorted(kind[7:] for kind in verb.kinds if kind.startswith("object:")))
            noun = self.entry("noun", kind)
            thing = self.noun_participant(noun, "") if noun.declension == "mass" else self.this(noun)
            complement, tags = thing.direct, thing.tags
        else:
            verb, goal = next(iter(entries("verb", "goto"))), self.entry("goal")
            complement, tags = fixed(goal.hindi, goal.english), ()
        when = [fixed("आज", "today")] if self.chance(0.3) else []
        word, no = Word(imperative(verb)), Word("मत")
        start = [English("do", (), (word,)), English("not", (no,))] if negative else []
        adjuncts = Adjuncts(when)
        group = VerbGroup([*([no] if negative else []), word], start, [English(verb.english, (word,))])
        clause = Clause(Phrase(), adjuncts, complement, group, tags)
        return Sentence(clause.phrase(), (*clause.tags, *(["negation"] if negative else [])))

    def relative(self) -> Sentence:
        """जो लड़का बग़ीचे में खेल रहा है वह मेरा भाई है – The boy who is playing in the garden is my brother."""
        noun = self.entry("noun", "person")
        agreement = Agreement(3, False, noun.gender)
        jo, head, vah = Word("जो"), Word(noun.hindi), Word("वह")
        # Inside, जो लड़का is the subject; in English it has left for the front and *who* stands in its place.
        inner = Participant(Phrase([jo, head], [English("who", (jo,))]), Phrase(), agreement)
        tense = self.random.choice(("habit", "progressive", "past_progressive", "future", "want"))
        frame = self.random.choice(("transitive", "motion", "activity", "living"))
        tense = "habit" if frame == "living" else tense
        clause = self.clause(Plan(inner, tense, False, frame=frame, adjuncts=0.5))
        outer = Participant(Phrase([vah]), Phrase(), agreement)
        if self.chance(0.5):
            main = self.being(Plan(outer, tense="present", adjuncts=0.0))
        else:
            plan = Plan(outer, self.random.choice(("habit", "future", "want")), None, adjuncts=0.3, time=False)
            main = self.clause(plan)
        known = [
            English("the", (), (head,)),
            *(English(text, (head,), (vah,)) for text in noun.english.split()),
        ]
        english = [*known, *clause.english(), *main.predicate()]
        tags = {*clause.tags, *main.tags, "relative"} - {"verb_gender"}
        return Sentence(Phrase([*clause.hindi(), *main.hindi()], english), tuple(sorted(tags)))

    def joined(self, clauses: int) -> Sentence:
        """Clauses joined by और – and, लेकिन – but, and at most one क्योंकि – because. All in one time."""
        tenses = self.random.choice(COMPANY)
        reason = self.random.randrange(1, clauses) if self.chance(0.4) else 0
        first = self.clause(self._plan_among(tenses))
        phrase, tags = first.phrase(), [*first.tags, "coordination"]
        for number in range(1, clauses):
            if number == reason:
                clause, link = self.reason(tenses), ("क्योंकि", "because")
            else:
                clause = self.clause(self._plan_among(tenses))
                link = ("लेकिन", "but") if self.chance(0.3) else ("और", "and")
            phrase = phrase + fixed(*link) + clause.phrase()
            tags += clause.tags
        return Sentence(phrase, tuple(tags))

    def _plan_among(self, tenses: Sequence[str]) -> Plan:
        return Plan(tense=self.random.choice(tenses), adjuncts=0.4)

    def reason(self, tenses: Sequence[str]) -> Clause:
        """Why: because someone is hungry, or wants something."""
        past = tenses[0] in ("past", "used_to")
        if self.chance(0.6):
            return self.being(Plan(self.subject(), tense="past" if past else "present"))
        return self.clause(Plan(tense="wanted" if past else "want", negative=False, adjuncts=0.2, time=False))

    def paired(self) -> Sentence:
        """जब … तब – when, अगर … तो – if: the Hindi second half has a word of its own, English a comma."""
        if self.chance(0.5):
            tense = self.random.choice(("habit", "past_progressive"))
            first, second, then, marker, english = tense, tense, "तब", "जब", "when"
        else:
            # English says the condition in the present, Hindi in the future.
            first, second, then, marker, english = "future", "future", "तो", "अगर", "if"
        a = self.clause(Plan(tense=first, negative=False, adjuncts=0.3, time=False))
        b = self.clause(Plan(tense=second, adjuncts=0.3, time=False))
        opening, closing = Word(marker), Word(then)
        if marker == "अगर":
            main = a.verb.hindi[0]
            verb = a.verb.verb
            a.verb = VerbGroup(a.verb.hindi, [], [English(verb.third if a.person == "he" else verb.english, (main,))])
        hindi = [opening, *a.hindi(), closing, *b.hindi()]
        phrase = Phrase(hindi, [English(english, (opening,), (closing,)), *a.english(), English(","), *b.english()])
        return Sentence(phrase, (*a.tags, *b.tags, "coordination"))

    def reported(self) -> Sentence:
        """राम कहता है कि … – Ram says that …"""
        verb = self.entry("verb", "say")
        outer = self.finite(Plan(tense="habit", negative=False), verb, "habit", Adjuncts(), Phrase(), None, ())
        inner = self.clause(Plan(adjuncts=0.4))
        that = fixed("कि", "that")
        return Sentence(outer.phrase() + that + inner.phrase(), (*outer.tags, *inner.tags, "coordination"))

    # ------------------------------------------------------------------------------------------ drawing pairs

    def sentence(self) -> Sentence:
        """One sentence of a random kind."""
        kind = self.random.random()
        if kind < 0.52:
            return self.statement()
        if kind < 0.64:
            return self.question()
        if kind < 0.68:
            return self.command()
        if kind < 0.76:
            return self.relative()
        if kind < 0.82:
            return self.paired()
        if kind < 0.86:
            return self.reported()
        return self.joined(self.random.choices((2, 3, 4, 5, 6), weights=(5, 3, 2, 2, 2))[0])

    def generate(
        self,
        n: int,
        min_words: int = 3,
        max_words: int = 40,
        tags: Iterable[str] | None = None,
        stops: bool | None = None,
    ) -> list[Pair]:
        """Draw `n` different pairs.

        Args:
            min_words, max_words: of the Hindi side, punctuation not counted.
            tags: only pairs that show one of these phenomena.
            stops: end statements with a stop; None: half of them, but none in the sub-language.
        """
        wanted, found, seen = frozenset(tags or TAGS), [], set()
        if tags and not wanted <= set(TAGS):
            raise ValueError(f"tags {sorted(wanted - set(TAGS))} are not known: choose from {', '.join(TAGS)}")
        misses = 0
        while len(found) < n:
            pair = self._draw(min_words, max_words, stops)
            key = pair and comparison_key(pair.source, "hi")
            if not pair or key in seen or (tags and not wanted & set(pair.tags)):
                misses += 1
                if misses > 2_000 + 500 * n:
                    raise ValueError(
                        f"only {len(found)} of {n} pairs found with {min_words} to {max_words} words and tags "
                        f"{sorted(wanted) if tags else 'any'}: ask for fewer, or for a wider range"
                    )
                continue
            seen.add(key)
            found.append(pair)
        return found

    def _draw(self, min_words: int, max_words: int, stops: bool | None) -> Pair | None:
        if self.core:
            sentence = self._of_length(self.random.randint(min_words, max_words))
        elif min_words > 30:
            sentence = self.joined(self.random.randint(min_words // 7, max_words // 6))
        else:
            sentence = self.sentence()
        if not min_words <= len(sentence.phrase.hindi) <= max_words:
            return None
        stop = (not self.core and self.chance(0.5)) if stops is None else stops
        return sentence.pair(stop)

    def _of_length(self, words: int) -> Sentence:
        """Clauses joined until there are `words` words; the last ones are drawn until the length is right."""
        parts: list[Clause] = []
        count = 0
        while True:
            left = words - count
            clause = self.clause(Plan(adjuncts=0.15 if left < 6 else 0.8))
            size = len(clause.hindi())
            rest = left - size
            if rest == 0 or rest >= 4:
                parts.append(clause)
                count += size + 1
                if rest == 0:
                    break
        phrase, tags = parts[0].phrase(), list(parts[0].tags)
        links = [("और", "and"), ("लेकिन", "but"), ("क्योंकि", "because")]
        for clause in parts[1:]:
            link = self.random.choice(links)
            if link[0] == "क्योंकि":
                links.remove(link)  # a reason for a reason is hard to follow
            phrase = phrase + fixed(*link) + clause.phrase()
            tags += [*clause.tags, "coordination"]
        return Sentence(phrase, tuple(tags))

    # --------------------------------------------------------------------------------------- minimal pairs

    def gender_minimal_pairs(self, n: int, distance: int) -> list[Pair]:
        """Pairs that differ in nothing but the gender of the verb, he and she in turn; `n` in all.

        distance: how many words stand between वह and its main verb (जाता, पढ़ेगी), 1 to 14.
        """
        if not 1 <= distance <= 14:
            raise ValueError(
                f"distance={distance}: the grammar makes sentences with 1 to 14 words between वह and its verb"
            )
        pairs, seen, misses = [], set(), 0
        while len(pairs) < n:
            misses += 1
            if misses > 2_000 + 200 * n:
                raise ValueError(
                    f"only {len(pairs)} of {n} sentences have {distance} words between वह and its verb: ask for fewer"
                )
            seed = self.random.getrandbits(64)
            he, she = (self._distant(seed, gender, distance) for gender in "mf")
            if he is None or he.source in seen:
                continue
            seen.add(he.source)
            pairs += [he, she]
        return pairs[:n]

    def _distant(self, seed: int, gender: str, distance: int) -> Pair | None:
        """The clause of this seed with वह as its subject, if its main verb stands at the distance."""
        grammar = Grammar(seed, self.core)
        subject = grammar.he_or_she(gender)
        tense = grammar.random.choice(("habit", "future"))
        frame = grammar.random.choice(("transitive", "motion"))
        fullness = 0.2 if distance < 4 else 1.0 if distance < 7 else 2.5
        clause = grammar.clause(Plan(subject, tense, False, frame=frame, adjuncts=fullness))
        if distance > 5:
            grammar.lengthen(clause, distance - 1 - sum(map(len, (clause.adjuncts.hindi(), clause.complement.hindi))))
        between = len(clause.adjuncts.hindi()) + len(clause.complement.hindi)
        return Sentence(clause.phrase(), clause.tags).pair(stop=False) if between == distance else None

    def lengthen(self, clause: Clause, words: int) -> None:
        """Add companions and receivers (three words each) and an hour (two words) that the clause does not have yet."""
        has = {word.text for word in clause.adjuncts.hindi()}
        if words >= 2 and "को" not in has:
            self.hour(clause.adjuncts)
            words -= 2
        if words >= 2 and "साथ" not in has:
            clause.adjuncts.add(self.together(), "postpositions")
            words -= 3
        if words >= 2 and "लिए" not in has and clause.verb.verb and "benefit" in clause.verb.verb.kinds:
            clause.adjuncts.add(self.for_someone(), "postpositions")

    def kal_minimal_pairs(self, n: int) -> list[Pair]:
        """कल with a past and with a future verb in turn, the rest of the sentence alike; `n` in all."""
        pairs, seen = [], set()
        while len(pairs) < n:
            seed = self.random.getrandbits(64)
            yesterday, tomorrow = (self._with_kal(seed, tense) for tense in ("past_progressive", "future"))
            if yesterday is None or tomorrow is None or yesterday.source in seen:
                continue
            seen.add(yesterday.source)
            pairs += [yesterday, tomorrow]
        return pairs[:n]

    def _with_kal(self, seed: int, tense: str) -> Pair | None:
        grammar = Grammar(seed, self.core)
        frame = grammar.random.choice(("transitive", "motion"))
        clause = grammar.clause(Plan(tense=tense, negative=False, frame=frame, adjuncts=0.9))
        found = "kal" in clause.tags and len(clause.hindi()) <= 14
        return Sentence(clause.phrase(), clause.tags).pair(stop=False) if found else None


# ------------------------------------------------------------------------------------------------------ the splits

LONGEST_IN_TRAINING = 44


def build_splits(
    seed: int = 0, train: int = 24_000, held_out: int = 1_000, challenge: int = 120
) -> dict[str, ParallelCorpus]:
    """All corpora of the course: dev, test, long, one challenge set for each tag, and what is left for training.

    No Hindi sentence stands in two of them, compared without punctuation and spaces, and no English one of a held-out
    set stands in training. The seed sentence is in none.
    """
    taken = {comparison_key(SEED_SENTENCE, "hi")}
    english: set[str] = set()
    splits: dict[str, ParallelCorpus] = {}

    def take(name: str, pairs: Iterable[Pair], size: int, training: bool = False) -> None:
        kept = []
        for pair in pairs:
            key, target = comparison_key(pair.source, "hi"), comparison_key(pair.target, "en")
            if len(kept) < size and key not in taken and not (training and target in english):
                taken.add(key)
                kept.append(pair)
                if not training:
                    english.add(target)
        splits[name] = ParallelCorpus(kept)

    for number, tag in enumerate(TAGS):
        take(f"challenge/{tag}", challenge_pairs(Grammar(1_000 * seed + number + 1), tag, 2 * challenge), challenge)
    grammar = Grammar(1_000 * seed)
    take("dev", grammar.generate(2 * held_out, max_words=LONGEST_IN_TRAINING), held_out)
    take("test", grammar.generate(2 * held_out, max_words=LONGEST_IN_TRAINING), held_out)
    take("long", grammar.generate(300, LONGEST_IN_TRAINING + 1, 60), 300)
    take("train", grammar.generate(train * 5 // 4, max_words=LONGEST_IN_TRAINING), train, training=True)
    return splits


def challenge_pairs(grammar: Grammar, tag: str, n: int) -> list[Pair]:
    """Sentences that need what the tag names, and little else."""
    if tag == "verb_gender":
        return [pair for distance in (2, 3, 4, 6, 8, 10) for pair in grammar.gender_minimal_pairs(n // 6, distance)]
    if tag == "kal":
        return grammar.kal_minimal_pairs(n)
    return grammar.generate(n, max_words=12 if tag not in ("coordination", "relative") else 20, tags=[tag])


def write_splits(folder: str | Path, seed: int = 0) -> None:
    """Write every corpus of `build_splits` to `folder`/NAME.tsv."""
    for name, corpus in build_splits(seed).items():
        corpus.write_tsv(Path(folder) / f"{name}.tsv")
