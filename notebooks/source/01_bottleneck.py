# %% [markdown]
# # 01 · The bottleneck
#
# A translator who may read a sentence once, must then close the book, and may carry only one index card to the
# next room: that is an early neural translation model that worked well. The card has the same size for every
# sentence. In this notebook you build that model, give it sentences of 3 to 40 words, and measure where it begins to
# lose things. Then you open the book again, with attention.
#
# **What you will be able to do**
#
# - say what an encoder hands to a decoder, and how large it is;
# - predict how translation quality falls with length, and check the prediction against a measured curve;
# - separate what a fixed vector can *hold* from what can be *learned* through it;
# - explain why one Hindi verb ending, at the end of the clause, decides between *he* and *she*.
#
# **Time on two cores:** about 5 minutes of running (more where notebook 00 measured more than 100 milliseconds a step), 40 minutes of
# reading and thinking.

# %%
import inspect

import numpy as np
import torch

from lib import experiments
from lib.evaluation import bleu, by_length, mean_row
from lib.grammar import Grammar
from lib.plots import curves, use_course_style
from lib.seq2seq import ModelConfig, Seq2Seq, count_parameters

use_course_style()

# %% [markdown]
# ## 1. Two networks and one vector between them
#
# Sutskever, Vinyals and Le (2014) joined two recurrent networks. The **encoder** reads the source one word at a
# time; each word changes its hidden state. After the last word that state goes to the **decoder**, which writes
# the translation one word at a time and reads back each word it has written, until it writes the end mark `</s>`.
#
# **Predict.** An encoder with 256 hidden units reads a sentence of 4 words, then one of 40. How many numbers does
# it hand over each time?

# %%
model = Seq2Seq(ModelConfig(source_vocab=100, target_vocab=100, hidden=256, order="none"))

for length in (4, 40):
    source = torch.randint(4, 100, (1, length))  # (B, S): one sentence of random words
    memory = model.encode(source, source_mask=torch.ones_like(source, dtype=torch.bool))
    state = model.start(memory)
    print(f"{length:2} words in, handed over:", [tuple(part.shape) for part in state.recurrent])

# %% [markdown]
# **What you saw.** Both times two blocks of 256 numbers (an LSTM has a hidden state and a cell). Whatever the
# decoder will need, who did it, to whom, when, in which clause, has to be in there before it writes its first word.
# More words do not make the block larger. This is the **bottleneck**.
#
# Here is everything the decoder without attention does. `repeat` is off here, so it goes into the first branch and ends there. Note what does
# *not* appear in that branch: the source. (The lines below it are a variant of Cho et al., which shows the final state to the decoder again at every
# step. A task at the end of this notebook tries it.)

# %%
from lib.seq2seq import PlainDecoder

print(inspect.getsource(PlainDecoder.unroll))

# %% [markdown]
# ## 2. A language in which length is the only difficulty
#
# To measure the effect of length alone, every length must be equally common and the words must stay the same. The
# course has a small sub-language for that: about seventy Hindi words, sentences of 3 to 40 words, correct Hindi,
# one right English translation each. Long sentences are short clauses joined by और, लेकिन and क्योंकि.

# %% tags=["slow"]
task = experiments.core_task()
lengths = np.array(experiments.source_lengths(task.test))

print("training pairs:", len(task.train), " held out for testing:", len(task.test))
for length in (4, 8, 14):
    pair = task.test[int(np.flatnonzero(lengths == length)[0])]
    print(f"\n{length} words  {pair.source}\n         {pair.target}")

# %% [markdown]
# No test sentence stands in the training set, and the two sets are equally spread over the lengths:

# %%
shared = set(task.train.sources) & set(task.test.sources)
print("test sentences seen in training:", len(shared))
print("shortest and longest:", lengths.min(), lengths.max())
edges = (0, 8, 16, 24, 32, 99)
counts = np.histogram(lengths, bins=edges)[0]
print("every bucket has at least 100 test sentences:", bool(counts.min() >= 100))

# %% [markdown]
# ## 3. The experiment
#
# Two models read the same pairs in the same order for the same number of updates:
#
# | | without attention | with attention |
# |---|---|---|
# | decoder sees | the final encoder state, once | at every step a weighted average of *all* encoder states |
# | reads the source | forwards (as in Sutskever et al.) | in both directions (as in Bahdanau et al.) |
# | hidden units | 208 | 192 |
#
# The model without attention gets a few more hidden units, so that both have the same number of parameters within
# 5 %: nobody can say that attention won by being larger. But the two differ in two things, as the two papers do:
# attention, *and* the second direction. Which of them does the work? Keep the question; section 6 has the other two
# of the four combinations.
#
# **Predict.** Write down two numbers for each model: the share of *perfect* translations for sentences shorter
# than 8 words, and for sentences of 32 words or more.

# %%
print(inspect.getsource(experiments.train_model))

# %%
settings = experiments.core_config(steps=1_400)
print(f"{settings.steps:,} updates of {settings.batch_size} sentences, learning rate {settings.learning_rate}")
print("without attention:", experiments.WITHOUT_ATTENTION)
print("with attention:   ", experiments.WITH_ATTENTION)

# %% tags=["slow"]
plain = experiments.train_model(task, settings, "without attention", **experiments.WITHOUT_ATTENTION)

# %% tags=["slow"]
attentive = experiments.train_model(task, settings, "with attention", **experiments.WITH_ATTENTION)

# %% [markdown]
# Were the conditions as promised? The time is yours, so it is not compared with ours.

# %% tags=["nbval-ignore-output"]
for name, trained in (("without", plain), ("with", attentive)):
    seconds, loss = trained.history.seconds, trained.history.smoothed()[-1]
    print(f"{name:8} attention: {seconds:4.0f} s, loss {loss:.3f}")

# %%
sizes = [count_parameters(trained.model) for trained in (plain, attentive)]
print("parameters:", *(f"{size:,}" for size in sizes))
print("within 5 %:", max(sizes) / min(sizes) <= 1.05)
print("same number of updates:", len(plain.history.losses) == len(attentive.history.losses))

# %% [markdown]
# Now the 1,000 held-out sentences. **Exact match** is strict: one wrong word and the sentence counts as wrong. The
# intervals are 95 % Wilson intervals for a proportion: the range of true success rates that the counts allow.

# %% tags=["slow"]
correct = {
    "without attention": experiments.solved(plain.translator, task.test),
    "with attention": experiments.solved(attentive.translator, task.test),
}
buckets = {name: by_length(hits, lengths) for name, hits in correct.items()}

# %%
curves(
    buckets,
    xlabel="source words",
    ylabel="exact match",
    title="One vector against attention",
    alt="With attention the line stays high, without it falls as sentences get longer.",
    ylim=(0, 1.02),
)

# %%
short_plain, long_plain = buckets["without attention"][0], buckets["without attention"][-1]
long_attentive = buckets["with attention"][-1]
print("without attention, shortest sentences, at least 0.95:", short_plain.mean >= 0.95)
print("with attention, longest sentences, at least 0.75:", long_attentive.mean >= 0.75)
print("gap on the longest sentences, at least 0.50:", long_attentive.mean - long_plain.mean >= 0.50)
print("their 95 % intervals do not touch:", long_attentive.low > long_plain.high)

# %% [markdown]
# And the four numbers you predicted. They differ a little from machine to machine, so yours are not compared with ours.

# %% tags=["nbval-ignore-output"]
for name, rows in buckets.items():
    print(f"{name:17}  {rows[0].label} words: {rows[0].mean:.2f}   {rows[-1].label} words: {rows[-1].mean:.2f}")

# %% [markdown]
# **What you saw.** The model without attention is *good*: on short sentences it makes almost no mistake. It knows
# the words, the grammar, the word order. It is not a weak model that is bad everywhere; it is a strong model that
# fails where more has to pass through the one vector than training has found out how to put there. Remember it: you
# will be asked at the end.
#
# Cho et al. (2014) saw the same on real English–French: quality held on short sentences and fell quickly with
# length. Bahdanau et al. (2014) then gave the decoder all encoder states. On their test sentences the model without
# attention trained on sentences of up to 50 words reached BLEU 17.82, the one with attention 26.75.
#
# ## 4. The same curve in BLEU
#
# Exact match is all or nothing. **BLEU** compares runs of one to four words with the reference and gives partial
# credit. **Predict:** will the fall of the model without attention look steeper or flatter in BLEU?


# %% tags=["slow"]
def bleu_by_length(translator):
    found = translator.translate(task.test.sources)
    scores = []
    for low, high in zip(edges, edges[1:], strict=False):
        rows = [i for i, n in enumerate(lengths) if low <= n < high]
        scores.append(bleu([found[i].text for i in rows], [task.test[i].target for i in rows]).value)
    return scores


plain_bleu, attentive_bleu = bleu_by_length(plain.translator), bleu_by_length(attentive.translator)

# %%
labels = [row.label for row in buckets["with attention"]]
curves(
    {"without attention": (labels, plain_bleu), "with attention": (labels, attentive_bleu)},
    xlabel="source words",
    ylabel="BLEU",
    title="The same sentences, partial credit",
    alt="BLEU against source words. Both lines begin high, the one without attention falls.",
    ylim=(0, 102),
)

# %%
print("both at least 95 BLEU on the shortest:", min(plain_bleu[0], attentive_bleu[0]) >= 95)
print("without attention BLEU falls with length:", plain_bleu[0] > plain_bleu[2] > plain_bleu[4])
left = {"exact match": long_plain.mean / short_plain.mean, "BLEU": plain_bleu[4] / plain_bleu[0]}
print("share left on the longest, exact match below half of BLEU's:", left["exact match"] < 0.5 * left["BLEU"])

# %% [markdown]
# **What you saw.** Flatter. The decoder without attention still writes fluent English of the right kind; it is the
# *facts* that get lost, who went where. Look at one of its long failures beside the reference:

# %% tags=["nbval-ignore-output"]
failures = np.flatnonzero(~correct["without attention"] & correct["with attention"] & (lengths >= 20))
pair = task.test[int(failures[0])]
print("source   ", pair.source)
print("reference", pair.target)
print("no attention", plain.translator.translate([pair.source])[0].text)
print("attention   ", attentive.translator.translate([pair.source])[0].text)

# %% [markdown]
# ## 5. *He* or *she*: a decision that waits for the last words
#
# वह means both *he* and *she*. Hindi shows the gender on the verb, and the verb stands at the end:
#
# - वह रोज़ स्कूल **जाता** है → ***He** goes to school every day*
# - वह रोज़ स्कूल **जाती** है → ***She** goes to school every day*
#
# The first English word depends on the last Hindi words. The grammar can make such pairs with as many words in
# between as you like. **Predict:** as the distance grows from 2 to 8 words, what happens to each model's choice
# of the first word? (A coin gets 0.5.)

# %% tags=["slow"]
grammar = Grammar(seed=1, core=True)
distances = (2, 3, 4, 5, 6, 7, 8)


def right_pronoun(translator, distance, count=50):
    pairs = grammar.gender_minimal_pairs(count, distance)
    found = translator.translate([pair.source for pair in pairs])
    firsts = zip(found, pairs, strict=True)
    return np.array([f.text.split(" ")[0] == pair.target.split(" ")[0] for f, pair in firsts])


pronouns = {
    name: [right_pronoun(trained.translator, distance) for distance in distances]
    for name, trained in (("without attention", plain), ("with attention", attentive))
}

# %% tags=["nbval-ignore-output"]
curves(
    {
        name: [mean_row(str(d), hits) for d, hits in zip(distances, rows, strict=True)]
        for name, rows in pronouns.items()
    },
    xlabel="words between वह and its verb",
    ylabel="right first word",
    title="He or she?",
    ylim=(0, 1.02),
)

# %%
print("with attention, every distance, at least 0.90:", min(h.mean() for h in pronouns["with attention"]) >= 0.90)

# %% [markdown]
# **What you saw.** The model with attention gets it right at every distance measured. That of the model without
# depends on your run; look at your picture before you read on. One sentence with one subject is not much to remember, so
# even a fixed vector can often carry the gender of a single verb over eight words. It is with *many* clauses, each with a
# verb and a gender of its own, that it runs out, as section 3 showed. Distance alone is not the problem; the number of
# facts is.
#
# ## 6. What does the work? Four controls, stored
#
# Two questions are open. *Is it attention or the second direction?* The other two of the four combinations answer that.
# *Is the vector too small?* If that were all, a vector twice as wide should repair everything, and the order of the source
# words should not matter: the same words have to fit either way. Training these takes longer than this notebook may, so
# they were run beforehand, with two random seeds, and stored with the command that makes them again. There are six rows:
#
# | row | decoder sees | source is read | hidden units |
# |---|---|---|---|
# | no attention | the final state | forwards | 208 |
# | no attention, both ways | the final state | in both directions | 192 |
# | attention, forwards only | all states | forwards | 192 |
# | attention | all states | in both directions | 192 |
# | no attention, source reversed | the final state | from the last word to the first | 208 |
# | no attention, twice as wide | the final state | forwards | 416 |
#
# The first and the fourth have the settings of the two models you have just trained. **Predict:** put the six in
# order, by their share of perfect translations of sentences of 16 to 23 words.

# %%
stored = experiments.measured("bottleneck")
print("made by:", stored["command"])
print("runs:", len(stored["rows"]), " seeds:", stored["seeds"])


def mean_over_seeds(variant, bucket):
    rows = [row["buckets"] for row in stored["rows"] if row["variant"] == variant]
    return float(np.mean([row[bucket]["mean"] for row in rows]))


print("updates of each run:", stored["steps"], " exact match, from the shortest sentences to the longest:")
parameters = {row["variant"]: row["parameters"] for row in stored["rows"]}
variants = list(parameters)
for variant in variants:
    shares = " ".join(f"{mean_over_seeds(variant, bucket):.2f}" for bucket in range(5))
    print(f"{variant:30}{shares}   {parameters[variant]:9,} parameters")

# %%
longest = {variant: mean_over_seeds(variant, 4) for variant in variants}
middle = {variant: mean_over_seeds(variant, 2) for variant in variants}
print(
    "longest: one direction with attention above all without:",
    all(longest["attention, forwards only"] > value + 0.3 for v, value in longest.items() if v.startswith("no")),
)
print(
    "the second direction adds most to attention:", longest["attention"] > longest["attention, forwards only"] + 0.2
)
print("and nothing without it:", middle["no attention, both ways"] < middle["no attention"])
for name in ("no attention, source reversed", "no attention, twice as wide"):
    print(f"16 to 23 words, {name[14:]}: above plain by more than 0.2:", middle[name] > middle["no attention"] + 0.2)

# %%
curves(
    {v: (labels, [mean_over_seeds(v, b) for b in range(5)]) for v in variants},
    xlabel="source words",
    ylabel="exact match",
    title="Stored: mean over the seeds",
    ylim=(0, 1.02),
)

# %% [markdown]
# **What you saw.** *Attention does the work*: with one direction only it still translates more than half of the longest sentences,
# where every model without it is close to zero. The second direction adds the rest: a state $h_i$ that has read on both
# sides of its word is a better thing to look up. Without attention it is of no use here (that row has about an eighth fewer
# parameters than the first, and its two directions must pass through a matrix on the way to the decoder).
#
# *And the vector?* Twice the width helps, for more than three times the parameters. Turning the source around helps as much and costs nothing, with a
# vector of the same size. Neither comes near the longest sentences.
#
# Sutskever et al. (2014) met this on real data: turning the source around took their single model from BLEU 26.17
# to 30.59. Nothing about the size of the vector had changed. What changed is the path that the gradient travels:
# the first words of the source now stand next to the first words of the target. So the bottleneck is two things:
#
# 1. **capacity**, how much one vector can hold, and
# 2. **learnability**, how well training can find out what to put there, over that many steps.
#
# Attention helps with both: every source word has a state of its own, one step away from every target word.
#
# ## 7. What attention changes, in one line
#
# The encoder keeps all its states $h_1 \dots h_S$. At every step $t$ the decoder compares its own state with each
# of them, turns the comparison into weights $\alpha_{ti}$ that sum to one, and reads the weighted average
# $c_t = \sum_i \alpha_{ti} h_i$, the **context**. Nothing is compressed beforehand; what matters is decided
# at each step anew. In notebook 02 you do this with pencil and paper. As a preview, here are the weights of the
# model you trained, for a sentence of the kind of section 5. **Predict** for the row *He* or *She*: does it look at वह, at the verb, or at both?

# %% tags=["nbval-ignore-output"]
from lib.plots import heatmap

sentence = grammar.gender_minimal_pairs(2, 4)[0]
found = attentive.translator.translate([sentence.source])[0]
heatmap(found.weights, found.source_pieces, found.target_pieces, title=sentence.target)

# %% [markdown] tags=["explorer-place"]
# Read the picture row by row: each row is one English word and sums to one. Ask of each row: which Hindi word would
# *you* have looked at?
#
# **What you saw.** In our picture nearly all the weight of the row *He* is on वह, although it is the verb that decides between *he* and *she*. Yours may
# differ a little. How can the word come out right? The state at वह has two halves, and the one that reads backwards began at the end of the sentence: it
# had read the verb before it came to वह, and may have carried the gender along. That is an explanation, not a proof. The picture shows which states are
# read; it does not show what is in them.

# %% [markdown] tags=["exercise-place"]
# ## Try it yourself
#
# Each exercise is a function to write. Fill in its body, run its cell, then run the `check` below it: your function is tried on
# many shapes against another computation, and a mistake that is known gets its name. `hint("1.1")` gives a hint, a stronger one each time;
# `solution("1.1")` shows ours once you have tried.

# %%
from lib.exercises import check, hint, solution

# %% [markdown]
# ### Exercise 1.1 · Exact matches by length
#
# *easy, 10 minutes*
#
# Write `exact_by_length(lengths, translations, references, edges)`: the share of sentences that are translated
# exactly, in each group of lengths.
#
# - `lengths`, `translations`, `references`: lists of shape (N), one entry a sentence: source words, and two texts.
# - `edges`: a rising list of shape (G + 1). Group g holds the lengths with `edges[g] <= length < edges[g + 1]`.
# - Result: a list of shape (G) with a share between 0 and 1 for each group, and `None` for a group without a
#   sentence: nothing was measured there. Sentences outside all groups count nowhere.


# %%
def exact_by_length(
    lengths: list[int],
    translations: list[str],
    references: list[str],
    edges: list[int],
) -> list[float | None]:
    """The share of exact matches in each group of lengths, None where a group is empty."""
    ...


# %%
check("1.1", exact_by_length)

# %% [markdown]
# ### Exercise 1.2 · The parameters of an LSTM
#
# *easy, 10 minutes*
#
# Write `lstm_parameters(inputs, hidden, layers)`: the number of parameters of an LSTM in one direction, as PyTorch
# builds it.
#
# - One layer has four gates (input, forget, cell, output). Each gate has a matrix of shape (hidden, inputs) for the
#   input, one of shape (hidden, hidden) for the state, and two bias vectors of shape (hidden).
# - A second layer reads the states of the first, a third those of the second.
# - Result: a whole number. For `inputs=1, hidden=1, layers=1` it is 16: count it on paper first.


# %%
def lstm_parameters(inputs: int, hidden: int, layers: int) -> int:
    """How many parameters an LSTM has."""
    ...


# %%
check("1.2", lstm_parameters)

# %% [markdown]
# ### Exercise 1.3 · The final states of two directions
#
# *medium, 10 minutes*
#
# An encoder that reads in both directions ends with a state for each layer and direction, in this order: layer 0
# forwards, layer 0 backwards, layer 1 forwards, and so on. Write `join_directions(final, directions)` in PyTorch:
# one state a layer, forwards first, to hand over to the decoder.
#
# - `final`: shape (L * directions, B, D / directions), as `nn.LSTM` gives it. `directions`: 1 or 2.
# - Result: shape (L, B, D).


# %%
def join_directions(final: torch.Tensor, directions: int) -> torch.Tensor:
    """(L * directions, B, D / directions) -> (L, B, D)"""
    ...


# %%
check("1.3", join_directions)

# %% [markdown]
# ### Without a checker
#
# 1. *(5 minutes)* Before you compute: an LSTM with 256 units hands over two blocks of 256 floats of 32 bits. How many
#    bits is that, and how many bits does it take to name one of 70 words 40 times? Is capacity in this crude sense
#    the limit?
# 2. *(15 minutes)* The order `"fixed"` (Cho et al.) shows the same vector to the decoder again at every step. Train it with
#    `experiments.train_model(task, settings, **{**experiments.WITHOUT_ATTENTION, "order": "fixed"})`; it has half as many
#    parameters again. Predict first: which bucket gains most?

# %% [markdown] tags=["bug-lab-place"]
# ## Bug lab: the encoder that reads padding
#
# *medium, 15 minutes* · `hint("1.bug")`
#
# A colleague's backward encoder translates a sentence differently when a longer one stands beside it. This is the
# function that computes its final state; the symptom is measured below.
#
# - `words`: shape (B, S, E), the vectors of the words, padding on the right, which may hold any numbers. `mask`:
#   shape (B, S), boolean, True for a real word.
# - `W`: shape (H, E), `U`: shape (H, H), `b`: shape (H). One step is `tanh(W x + U state + b)`, from a state of
#   zeros.
# - Result: shape (B, H), the state after the *first* word, since it reads from right to left. A sentence without a
#   real word leaves the state at zero.
#
# Say first what the encoder has read before it comes to the last real word. Then repair the function.


# %%
def read_backwards(words: np.ndarray, mask: np.ndarray, W: np.ndarray, U: np.ndarray, b: np.ndarray) -> np.ndarray:
    state = np.zeros((len(words), len(b)), dtype=words.dtype)  # (B, H)
    for i in reversed(range(words.shape[1])):
        state = np.tanh(words[:, i] @ W.T + state @ U.T + b)
    return state


# %%
check("1.bug", read_backwards)

# %% [markdown]
# When yours passes, compare with the encoder of this course. It does not loop in Python; it tells PyTorch the lengths. The same
# test, one line:

# %%
model = Seq2Seq(ModelConfig(100, 100, 8, 8, order="none", bidirectional=True))
ids = torch.tensor([[5, 6, 7, 0, 0, 0, 0]])
alone = model.encode(ids[:, :3], ids[:, :3] != 0).final[0]
in_batch = model.encode(ids, ids != 0).final[0]
print("our final states, alone and padded, differ by less than 1e-6:", bool((alone - in_batch).abs().max() < 1e-6))

# %% [markdown] tags=["recall-place"]
# ## Recall
#
# Answer from memory, without scrolling up. You see an answer only after an attempt; a wrong one is told why. What you had to dig for comes back when
# you are about to forget it: in notebook 06, or in a terminal with `python3 run.py review`. Without a kernel, the questions stand here as text with folded answers.

# %%
from lib.recall import recall

recall("01")

# %% [markdown]
# ## Summary
#
# - Without attention, one state of fixed size is all that passes from encoder to decoder.
# - Such a model can be excellent on short sentences and useless on long ones: the failure follows length.
# - BLEU falls more gently than exact match, because fluent English survives when the facts are lost.
# - Capacity is only half of it: the order of the source matters too, so what can be *learned* through the vector counts.
# - Attention keeps all encoder states and decides at each step which of them to read.
#
# ## Read on
#
# Sutskever, Vinyals, Le: *Sequence to Sequence Learning with Neural Networks* (arXiv 1409.3215) · Cho et al.: *On the
# Properties of Neural Machine Translation* (arXiv 1409.1259) · Bahdanau, Cho, Bengio: *Neural Machine Translation by Jointly
# Learning to Align and Translate* (arXiv 1409.0473). Next:
# [02 · Attention, traced by hand](02_hand_traced_attention.ipynb).
