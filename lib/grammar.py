"""The controlled Hindi–English language: correct Hindi, one English translation each, gold word alignments.

This file makes sentences out of clauses (`lib.clauses`), pairs out of sentences, and the splits of the course out of
pairs. The words are in `data/lexicon.tsv`, their inflection in `lib.morphology`, conventions in `data/README.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from lib.corpus import Pair, ParallelCorpus, comparison_key
from lib.lexicon import entries
from lib.participants import Plan
from lib.phrases import Phrase, one
from lib.sentences import Sentences
from lib.statements import LINKS, TAGS, Sentence, join, pair_of

SEED_SENTENCE = ("मैं स्कूल जाता हूँ", "I go to school")  # kept out of every split
LONGEST_IN_TRAINING = 44
FARTHEST = 15  # words between वह and its verb


class Grammar(Sentences):
    """A generator of pairs. Equal seeds give equal pairs, in any process.

    Args:
        core: the sub-language of about seventy Hindi words in which every length is equally common.
    """

    def __init__(self, seed: int = 0, core: bool = False) -> None:
        super().__init__(seed, core)
        self.spare: dict[tuple[str, int], list[tuple[Phrase, list[str]]]] = {}  # clauses by tense and length
        self.names = {entry.hindi for entry in (*entries("name"), *entries("noun", "person", core))}

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
        wanted = frozenset(tags or ())
        if not wanted <= frozenset(TAGS):
            raise ValueError(f"tags {sorted(wanted - frozenset(TAGS))} are not known: choose from {', '.join(TAGS)}")
        found: dict[str, Pair] = {}
        misses = 0
        while len(found) < n:
            pair = self._draw(min_words, max_words, stops)
            if pair is not None and pair.source.rstrip("।") not in found and (not wanted or wanted & {*pair.tags}):
                found[pair.source.rstrip("।")] = pair
            elif (misses := misses + 1) > 5_000 + 500 * n:
                asked = f"{min_words} to {max_words} words and tags {sorted(wanted) or 'any'}"
                raise ValueError(
                    f"only {len(found)} of {n} pairs found with {asked}: ask for fewer, or a wider range"
                )
        return list(found.values())

    def _draw(self, min_words: int, max_words: int, stops: bool | None) -> Pair | None:
        self.begin()
        if self.core:
            sentence = self.of_length(self.random.randint(min_words, max_words))
        elif min_words > 30:
            sentence = self.joined(self.random.randint(min_words // 7, max_words // 6))
        else:
            sentence = self.sentence()
        if not min_words <= len(sentence.phrase.hindi) <= max_words:
            return None
        stop = (not self.core and self.chance(0.5)) if stops is None else stops
        return pair_of(sentence, stop)

    def of_length(self, words: int) -> Sentence:
        """Clauses of one tense joined until there are exactly `words` words."""
        tense = self.one_of(self.tenses if words > 4 else ("habit", "future") if words == 4 else ("future",))
        least = 5 if tense == "past_progressive" else 4  # words of the shortest clause that can still be added
        phrase, tags, left, contrast = Phrase(), [], words, False
        said: list[str] = []  # the names in the last clause: they are not in the next one
        while left:
            added, found = self.clause_within(tense, left, said)
            rest = left - len(added.hindi)
            if rest and rest <= least:
                kept = self.spare.setdefault((tense, len(added.hindi)), [])
                if len(kept) < 20:
                    kept.append((added, found))
                continue
            said = [word.text for word in added.hindi if word.text in self.names]
            phrase.extend(added)
            tags += found
            if rest:
                but = not contrast and self.chance(0.2)
                contrast = contrast or but
                phrase.extend(one(*LINKS[but]))
                tags.append("coordination")
            left = rest - 1 if rest else 0
        return Sentence(phrase, tags)

    def clause_within(self, tense: str, left: int, said: list[str]) -> tuple[Phrase, list[str]]:
        """A clause, now and then with its reason; one that did not fit elsewhere if it has exactly `left` words."""
        spare = self.spare.get((tense, left))
        if spare and not any(word.text in said for word in spare[-1][0].hindi):
            return spare.pop()
        self.used[:] = said[:1] + said[1:][-2:]
        clause = self.clause(Plan(tense=tense, rich=0.1 if left < 6 else 0.4 if left < 9 else 0.6))
        if "state" not in clause.base.kinds or left < 9 or self.chance(0.8):
            return clause.phrase(), clause.tags
        reason = self.reason(clause)
        because = join(clause.phrase(), ("क्योंकि", "because"))
        return because + reason.phrase(), [*clause.tags, *reason.tags, "coordination"]

    # ----------------------------------------------------------------------------------------- minimal pairs

    def gender_minimal_pairs(self, n: int, distance: int) -> list[Pair]:
        """Sentences about him and about her in turn, alike but for the gender of the verb; `n` in all.

        distance: how many words stand between वह and the finite verb that shows the gender, 1 to 15.
        """
        farthest = 12 if self.core else FARTHEST
        if not 1 <= distance <= farthest:
            raise ValueError(f"distance={distance}: the language has 1 to {farthest} words between वह and its verb")
        return self._twins(n, lambda twin, which: twin.distant("mf"[which], distance))

    def kal_minimal_pairs(self, n: int) -> list[Pair]:
        """कल with a past and with a future verb in turn, the rest of the sentence alike; `n` in all."""
        return self._twins(n, lambda twin, which: twin.with_kal(("past_progressive", "future")[which]), (3, 1))

    def _twins(
        self, n: int, make: Callable[[Grammar, int], Pair | None], ends: tuple[int, int] = (2, 2)
    ) -> list[Pair]:
        """Two sentences from the same dice that differ in nothing but their last words, so many as `ends` says."""
        found: dict[str, tuple[Pair, Pair]] = {}
        misses = 0
        while 2 * len(found) < n:
            seed = self.random.getrandbits(64)
            first = make(Grammar(seed, self.core), 0)
            second = first and make(Grammar(seed, self.core), 1)
            alike = second and first.source.split()[: -ends[0]] == second.source.split()[: -ends[1]]
            if not alike or first.source in found:
                misses += 1
                if misses > 5_000 + 500 * n:
                    raise ValueError(f"only {2 * len(found)} of {n} sentences found: ask for fewer")
                continue
            found[first.source] = (first, second)
        return [pair for twins in found.values() for pair in twins][:n]

    def distant(self, gender: str, distance: int) -> Pair | None:
        """A clause about वह, if its verb stands at the distance."""
        he, tense = self.he(gender), self.one_of(("habit", "future"))
        frame = self.one_of(("object", "object", "go"))
        clause = self.clause(Plan(he, tense, False, frame=frame, rich=min(1.0, distance / 10)))
        if len(clause.before_verb()) + len(clause.verb.host) != distance + 1:
            return None
        return pair_of(Sentence(clause.phrase(), clause.tags), stop=False)

    def with_kal(self, tense: str) -> Pair | None:
        frame = self.one_of(("object", "go", "act", "whom"))
        verb = self.verb_for(frame, "past_progressive", None)
        if "accident" in verb.kinds:  # nobody will break a cup tomorrow
            return None
        clause = self.clause(Plan(None, tense, False, frame=frame, rich=0.5, verb=verb))
        if "kal" not in clause.tags or len(clause.hindi()) > 12:
            return None
        return pair_of(Sentence(clause.phrase(), clause.tags), stop=False)


# ------------------------------------------------------------------------------------------------------ the splits


def build_splits(
    seed: int = 0, train: int = 24_000, held_out: int = 1_000, challenge: int = 120
) -> dict[str, ParallelCorpus]:
    """All corpora of the course: a challenge set for each tag, dev, test, long, and what is left for training.

    No Hindi sentence stands in two of them, compared without punctuation and spaces, and no English one of a held-out
    set stands in training. The seed sentence is in none.
    """
    shares = Shares()
    for number, tag in enumerate(TAGS):
        grammar = Grammar(1_000 * seed + number + 1)
        shares.take(f"challenge/{tag}", challenge_pairs(grammar, tag, 2 * challenge), challenge)
    grammar = Grammar(1_000 * seed)
    for name in ("dev", "test"):
        shares.take(name, grammar.generate(held_out * 3 // 2, max_words=LONGEST_IN_TRAINING), held_out)
    shares.take("long", grammar.generate(300, LONGEST_IN_TRAINING + 1, 60), 300)
    shares.take("train", grammar.generate(train * 5 // 4, max_words=LONGEST_IN_TRAINING), train)
    return shares.splits


class Shares:
    """Splits that have nothing in common: `take` fills one from pairs that none before it has."""

    def __init__(self) -> None:
        self.taken = {comparison_key(SEED_SENTENCE[0], "hi")}
        self.english = {comparison_key(SEED_SENTENCE[1], "en")}
        self.splits: dict[str, ParallelCorpus] = {}

    def take(self, name: str, pairs: Sequence[Pair], size: int) -> None:
        """The first `size` pairs that are new; minimal pairs come in twos and stay together."""
        kept: list[Pair] = []
        together = 2 if name in ("challenge/verb_gender", "challenge/kal") else 1
        for start in range(0, len(pairs), together):
            group = pairs[start : start + together]
            keys = [comparison_key(pair.source, "hi") for pair in group]
            targets = [comparison_key(pair.target, "en") for pair in group]
            known = self.taken & {*keys} or (name == "train" and self.english & {*targets})
            if known or len(kept) >= size:
                continue
            self.taken.update(keys)
            kept += group
            if name != "train":
                self.english.update(targets)
        self.splits[name] = ParallelCorpus(kept[:size])


def challenge_pairs(grammar: Grammar, tag: str, n: int) -> list[Pair]:
    """Sentences that need what the tag names, and little else."""
    if tag == "verb_gender":
        each = [grammar.gender_minimal_pairs(n // 6, distance) for distance in (2, 3, 5, 7, 9, 11)]
        half = n // 24 * 2  # he and she stay together, and every distance is in the first half
        return [pair for pairs in each for pair in pairs[:half]] + [pair for pairs in each for pair in pairs[half:]]
    if tag == "kal":
        return grammar.kal_minimal_pairs(n)
    if tag in ("questions", "relative", "coordination"):
        return grammar.generate(n, max_words=16, tags=[tag])
    return grammar.simple(n, tag)


def write_splits(folder: str | Path, seed: int = 0) -> None:
    """Write every corpus of `build_splits` to `folder`/NAME.tsv."""
    for name, corpus in build_splits(seed).items():
        path = Path(folder) / f"{name}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        corpus.write_tsv(path)
