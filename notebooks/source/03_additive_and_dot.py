# %% [markdown]
# # 03 · Additive or dot: five scores, one model
#
# Attention needs a number that says how well an encoder state answers the decoder's question. Bahdanau et al. (2014)
# let a small network compute it, Luong et al. (2015) a dot product. "Which is better?" is the question everyone asks;
# this notebook takes it apart into questions that can be measured: what does a score cost, what does it learn, does
# it point at the right word, and *when* is the question asked?
#
# **What you will be able to do**
#
# - write down five scores and tell which need parameters, and which need equal sizes;
# - say what each costs in time and memory as sentences get longer;
# - keep two choices apart that are often mixed up: the *score* and the *order*;
# - explain why a Transformer divides by $\sqrt{d}$;
# - find a missing mask from its symptom.
#
# **Time on two cores:** about 4 minutes of running, 45 minutes of reading and thinking.

# %%
import inspect
import math

import torch

from lib import attention, experiments
from lib.attention import SCORERS, attend, dot_score, make_scorer, masked_softmax
from lib.plots import curves, use_course_style
from lib.seq2seq import ModelConfig, Seq2Seq, count_parameters

use_course_style()

# %% [markdown]
# ## 1. Five ways to compare a question with a key
#
# $q$ is the decoder's state (the query), $k_i$ an encoder state (the key).
#
# | score | formula | family |
# |---|---|---|
# | dot | $q \cdot k_i$ | multiplicative |
# | scaled dot | $q \cdot k_i / \sqrt{d}$ | multiplicative |
# | general | $q^\top W k_i$ | multiplicative |
# | concat | $v^\top \tanh(W [q; k_i])$ | additive |
# | additive | $v^\top \tanh(W_s q + W_h k_i)$ | additive |
#
# The names fit: in the first family query and key are *multiplied* coordinate by coordinate, in the second two
# projections are *added* before they are squashed. "Multiplicative" covers dot and general; dot needs a query and a key
# of the same size, general does not.

# %%
for score in (attention.dot_score, attention.additive_score):
    print(inspect.getsource(score))

# %% [markdown]
# **Predict.** Two of the five compute the same function, written differently. Which?

# %%
torch.manual_seed(0)
query, keys = torch.randn(2, 5, 6), torch.randn(2, 3, 4)  # (B, T, Dq), (B, S, Dk)
W_s, W_h, v = torch.randn(8, 6), torch.randn(8, 4), torch.randn(8)

additive = attention.additive_score(query, keys, W_s, W_h, v)
concat = attention.concat_score(query, keys, torch.cat([W_s, W_h], dim=1), v)
print("scores have shape", tuple(additive.shape))
print("concat with W = [W_s W_h] equals additive:", torch.allclose(additive, concat, atol=1e-5))

# %% [markdown]
# **What you saw.** $W[q;k] = W_s q + W_h k$: one matrix beside another. So any difference you ever see between "concat" and
# "additive" comes from where training started, or from a bug, not from the formula. Luong et al. got poor results
# with concat and suspected their own set-up; it is no evidence against additive scores.

# %%
try:
    dot_score(query, keys)
except ValueError as error:
    print(error)

# %% [markdown]
# ## 2. What a score costs
#
# With $T$ target and $S$ source words there are $T \cdot S$ scores. **Predict** for each score, at hidden size 256: how
# many parameters? And which must hold more than $T \cdot S$ numbers on the way?

# %%
for name in SCORERS:
    print(f"{name:10} {count_parameters(make_scorer(name, 256, 256)):8,} parameters")

# %% [markdown]
# Now the numbers that training has to keep for the backward pass (per score of one query and one key), as the sentence
# grows. They are counted, not timed, so they are the same on every machine.

# %%
kept = {}
for name in SCORERS:
    kept[name] = [experiments.score_cost(name, length, 64, batch=2, repeats=1)["floats"] for length in (10, 40, 160)]
    per_pair = kept[name][-1] / (2 * 160 * 160)
    print(
        f"{name:10}", *(f"{n:12,}" for n in kept[name]), f"   at length 160: {per_pair:6.1f} for each query and key"
    )

# %% [markdown]
# **What you saw.** The dot family keeps queries and keys, which grow with the length; the additive family keeps a whole vector of
# size 64 for *every pair*, which grows with its square. That is one reason why the dot product is used so widely.
#
# Memory can be bought back with time. Above 4 million of these sums the library computes the additive score for a few target words at
# a time, keeps none of the sums, and computes them again in the backward pass. Here are 26 million:

# %%
long = experiments.score_cost("additive", 160, 64, batch=16, repeats=1)["floats"]
print(f"additive, eight times the batch: {long:,} numbers kept, not {8 * kept['additive'][-1]:,}")

# %% [markdown]
# Time tells the same story as memory; it depends on your machine, so look and do not compare:

# %% tags=["nbval-ignore-output"]
lengths = (10, 20, 40, 80)
times = {name: [1000 * experiments.score_cost(name, n, 256)["seconds"] for n in lengths] for name in SCORERS}
curves(
    {name: (lengths, values) for name, values in times.items()},
    xlabel="source and target words",
    ylabel="milliseconds, forward and backward",
    title="Cost of scoring alone, hidden size 256, batch 16",
)

# %%
print("at 80 words additive takes at least twice as long as dot:", times["additive"][-1] >= 2 * times["dot"][-1])

# %% [markdown]
# Growth over a wider range of lengths and sizes was measured beforehand and stored:

# %%
stored = experiments.measured("growth")
print("made by:", stored["command"])
rows = [row for row in stored["rows"] if row["hidden"] == 256]
longest = max(row["length"] for row in rows)
seconds = {row["scorer"]: row["seconds"] for row in rows if row["length"] == longest}
print(f"at length {longest}, additive more than 20 times as long as dot:", seconds["additive"] > 20 * seconds["dot"])

# %% [markdown]
# One saving matters for all: the keys do not change while a sentence is translated, so `project` computes them **once for a
# sentence** and every step re-uses them. Remember this when you meet the "key–value cache" in notebook 05.
#
# ## 3. What a score learns
#
# Five models, the same in all but the score: same data, same batches, same steps, same starting weights in everything but the score. **Predict** the
# ranking of the learning curves.

# %% tags=["slow"]
task = experiments.core_task()
settings = experiments.core_config(steps=400)
models = {
    name: experiments.train_model(task, settings, name, order="luong", scorer=name, **experiments.SCORER_MODEL)
    for name in SCORERS
}

# %% tags=["nbval-ignore-output"]
curves(
    {name: (range(1, len(m.history.losses) + 1), m.history.smoothed(25)) for name, m in models.items()},
    xlabel="step",
    ylabel="loss per token (nats)",
    title="Five scores, one model",
)

# %% [markdown]
# Three measures of them, which notebook 04, section 7, takes up again. *Exact match* you know. The **alignment error rate** compares the largest weights with the grammar's
# own links between Hindi and English words: 0 is perfect. **Pointing accuracy** asks for English content words only whether their largest weight lies on their Hindi
# word: 1 is perfect. A *sure* link joins a word and its translation, a *possible* one an article or a helper that could belong there.

# %% tags=["nbval-ignore-output"]
short = [pair for pair in task.test if len(pair.source.split()) < 16]
quality = {name: experiments.quality(trained.translator, short) for name, trained in models.items()}
for name, values in quality.items():
    print(
        f"{name:10} exact match {values['exact_match']:.2f}   alignment error rate "
        f"{values['alignment_error_rate']:.3f}   pointing accuracy {values['pointing_accuracy']:.3f}"
    )

# %%
losses = {name: trained.history.smoothed()[-1] for name, trained in models.items()}
print("dot ends with a lower loss than scaled dot:", losses["dot"] < losses["scaled_dot"])
print("dot ends with a lower loss than additive:", losses["dot"] < losses["additive"])
beside = max(values["pointing_or_possible"] for values in quality.values())
exact = max(values["pointing_accuracy"] for values in quality.values())
print("the best score points at a word that a sure or a possible link allows, at least 0.75:", beside >= 0.75)
print("at a word with a sure link, at least 0.65, and less often than that:", 0.65 <= exact < beside)

# %% [markdown]
# **What you saw.** After a few hundred updates the scores are not alike. Dot is ahead; scaled dot points least well. One reason is in sight: the states of an
# LSTM are small numbers, so their dot products are moderate as they are, and divided by $\sqrt{128}$ (the states of these models have 128 entries) they leave the
# softmax almost flat, until training has made the states larger. The additive scores begin flat too, with small random $v$. Would they catch up? Raise `steps` and see; it
# is the experiment to do before anyone calls one score better. The answer holds for this model, this language and this many updates.
#
# ## 4. Score and order are two choices
#
# | | Luong order | Bahdanau order |
# |---|---|---|
# | the question is asked with | $s_t$, after the recurrent step | $s_{t-1}$, before it |
# | the context enters | the output layer | the recurrent step |
# | the whole target at once in teacher forcing | yes | no: each step needs the context of the step before |
#
# "Bahdanau attention" is an additive score *in the first place because of the paper*, and in Bahdanau order for the same reason. Many programs
# called so use the additive score in Luong order. Nothing forces the pairs: any score goes with either order.

# %%
from lib.seq2seq import BahdanauDecoder, LuongDecoder

print(inspect.getsource(LuongDecoder.unroll))
print(inspect.getsource(BahdanauDecoder.unroll))

# %% [markdown]
# **Predict.** In which order does the first target word's attention know that `<s>` was read? What does that leave for the query at
# step 1 in Bahdanau order?

# %%
torch.manual_seed(0)
source = torch.randint(4, 50, (1, 6))
mask = torch.ones_like(source, dtype=torch.bool)
for order in ("luong", "bahdanau"):
    model = Seq2Seq(ModelConfig(50, 50, 16, 16, order=order)).eval()
    first = [model(source, mask, torch.tensor([[start]]))[1] for start in (2, 9)]  # two different first inputs
    print(f"{order:9} weights of step 1 depend on the first input:", not torch.allclose(*first))

# %% [markdown]
# **What you saw.** In Bahdanau order the first query is $s_0$, made from the encoder's final state alone; the word that was just written
# influences the *next* look. The whole grid of five scores and two orders was trained beforehand:

# %%
grid = experiments.measured("scorers")
print("made by:", grid["command"], "  updates:", grid["steps"])
columns = ("exact_match", "alignment_error_rate", "pointing_accuracy", "pointing_or_possible")
print("score      order    ", *columns, "processor seconds")
for row in grid["rows"]:
    numbers = (f"{row[column]:{len(column)}.2f}" for column in columns)
    print(f"{row['scorer']:10} {row['order']:9}", *numbers, f"{row['processor_seconds']:7.0f}")

# %% [markdown]
# Read the table by columns. Dot leads in both orders. Bahdanau order takes longer for as many updates, for each of the five, since its loop cannot be unrolled.
# With dot and with general it translates clearly more sentences exactly; with the other three the difference is too small to be read. It also has nearly
# a third more parameters, because the context is an input of the recurrent step. And each of the five *points* less well in Bahdanau order: translating and
# pointing are two things. A single seed stands behind each line, so do not read more into a difference of a few hundredths.
#
# ## 5. Why divide by √d
#
# Take a query and a key of $d$ independent coordinates with mean 0 and variance 1. Each product of coordinates has variance 1, and a dot product
# adds $d$ of them: its variance is $d$. **Predict:** at $d = 512$, how large is the typical largest weight among 20 random keys? (Uniform
# would be 0.05.)

# %%
generator = torch.Generator().manual_seed(0)
widths = (2, 8, 32, 128, 512)
peaks = {"dot": [], "scaled dot": []}
for d in widths:
    query, keys = torch.randn(500, 1, d, generator=generator), torch.randn(500, 20, d, generator=generator)
    for name, scale in (("dot", 1.0), ("scaled dot", 1 / math.sqrt(d))):
        peaks[name].append(masked_softmax(dot_score(query, keys) * scale).amax(-1).mean().item())
    print(f"d = {d:3}: variance of the dot product / d = {dot_score(query, keys).var().item() / d:.1f}")

# %%
alt = "Two curves over the width d: the largest weight rises towards 1 for dot and stays below 0.3 for scaled dot."
print(
    "largest weight at d = 512: dot above 0.9:",
    peaks["dot"][-1] > 0.9,
    "  scaled below 0.3:",
    peaks["scaled dot"][-1] < 0.3,
)
curves(
    {name: (widths, values) for name, values in peaks.items()},
    xlabel="width d",
    ylabel="mean largest weight",
    title="Random vectors: how peaked is the softmax?",
    alt=alt,
)

# %% [markdown]
# A weight near 1 before anything was learned is bad news, because a **saturated** softmax passes on no gradient:

# %%
for scale in (1.0, 1 / math.sqrt(512)):
    scores = (dot_score(query, keys) * scale).requires_grad_()  # (500, 1, 20), d = 512
    masked_softmax(scores)[..., 0].sum().backward()
    print(f"scale {scale:.3f}: mean size of the gradient above 0.002: {scores.grad.abs().mean().item() > 0.002}")

# %% [markdown]
# The states of an LSTM are small (between −1 and 1, mostly nearer to 0), so here unscaled dot products do well, as you saw in section 3. In a
# Transformer, with normalised vectors of variance one, they would not.
#
# ## 6. The leak
#
# Sentences in a batch are padded to the same length. Scores on padding must not take part. What is set to a very low number is the *score*, before
# the softmax; then padding gets weight exactly 0 and the rest sums to 1. **Predict:** what if you leave the mask out? Does the model "learn to ignore padding"?

# %%
print(inspect.getsource(masked_softmax).split('"""')[2])

# %%
torch.manual_seed(1)
states, query = torch.randn(1, 3, 8), torch.randn(1, 1, 8)
for padding in (0, 2, 20):
    padded = torch.nn.functional.pad(states, (0, 0, 0, padding))  # zero states, as after an embedding of zeros
    mask = torch.arange(3 + padding)[None] < 3
    careless, careful = attend(query, padded, padded)[1], attend(query, padded, padded, mask)[1]
    print(
        f"{padding:2} positions of padding: weight left for the sentence, without mask "
        f"{careless[..., :3].sum().item():.2f}, with mask {careful[..., :3].sum().item():.2f}"
    )

# %% [markdown]
# **What you saw.** A score of zero is not a weight of zero: $e^0 = 1$. Without a mask the sentence's translation depends on its neighbours in the
# batch: the same input, another output. No training can repair that, since the neighbours change from batch to batch.

# %% [markdown] tags=["explorer-place"]
# ## Two scores, one sentence
#
# Two of your five models read the same sentence. Point at a token, or reach it with the Tab key, and only its lines remain. Then let both write the words of one model: now each row of weights has
# a partner, and the table says how far the two lie apart. **Predict** first: which words will they disagree on?

# %% tags=["nbval-ignore-output"]
from lib.explore import compare_scorers

sentence = min(short, key=lambda pair: abs(len(pair.source.split()) - 7)).source
compare_scorers({name: models[name].translator for name in ("dot", "additive")}, sentence)

# %% [markdown] tags=["exercise-place"]
# ## Try it yourself
#
# Each exercise is a function to write. Fill in its body, run its cell, then run the `check` below it: your function is tried on
# many shapes against another computation, and a mistake that is known gets its name. `hint("3.1")` gives a hint, a stronger one each time;
# `solution("3.1")` shows ours once you have tried.

# %%
from collections.abc import Callable

from torch import Tensor

from lib.exercises import check, hint, solution

# %% [markdown]
# ### Exercise 3.1 · Masked softmax
#
# *medium, 15 minutes*
#
# Write `masked_weights(scores, mask)` in PyTorch: softmax over the source words, as if padding were not there.
#
# - `scores`: shape (B, T, S), any size of numbers. `mask`: shape (B, S), boolean, True for a real word; the same
#   source words are real for every target step.
# - Result: shape (B, T, S), the type of `scores`. Weights on padding are exactly 0; every other row sums to 1; a
#   sentence without a single real word gets zeros, never nan. `scores` stays as it was.


# %%
def masked_weights(scores: Tensor, mask: Tensor) -> Tensor:
    """Softmax over the last axis, real words only."""
    ...


# %%
check("3.1", masked_weights)

# %% [markdown]
# ### Exercise 3.2 · The additive score
#
# *medium, 15 minutes*
#
# Write `additive_score(query, keys, query_weight, key_weight, v)` in PyTorch, without a loop: entry [b, t, i] is vᵀ
# tanh(W_s q_t + W_h k_i).
#
# - `query`: shape (B, T, Dq). `keys`: shape (B, S, Dk). `query_weight`, which is W_s: shape (A, Dq). `key_weight`,
#   which is W_h: shape (A, Dk). `v`: shape (A).
# - Result: shape (B, T, S).


# %%
def additive_score(query: Tensor, keys: Tensor, query_weight: Tensor, key_weight: Tensor, v: Tensor) -> Tensor:
    """vᵀ tanh(W_s q_t + W_h k_i) for every t and i."""
    ...


# %%
check("3.2", additive_score)

# %% [markdown]
# ### Exercise 3.3 · The general score, keys projected once
#
# *hard, 20 minutes*
#
# Write `general_scorer(keys, weight)` in PyTorch. It does all that can be done once for a sentence, and returns a
# *function* `score(query)` for every step that follows: entry [b, t, i] is q_tᵀ W k_i.
#
# - `keys`: shape (B, S, Dk). `weight`, which is W: shape (Dq, Dk). Query and keys differ in size.
# - Result: a function. Given a `query` of shape (B, T, Dq) it returns scores of shape (B, T, S). It must not use
#   `weight` any more: the check destroys that matrix in between.


# %%
def general_scorer(keys: Tensor, weight: Tensor) -> Callable[[Tensor], Tensor]:
    """A function of the query: q_tᵀ W k_i, with W k_i computed once."""
    ...


# %%
check("3.3", general_scorer)

# %% [markdown] tags=["bug-lab-place"]
# ## Bug lab: the model that translates differently in company
#
# *easy, 10 minutes* · `hint("3.bug")`
#
# Alone, a sentence gets one context; beside a longer sentence it gets another. The symptom is measured below.
#
# - `query`: shape (B, T, D). `keys`: shape (B, S, D). `values`: shape (B, S, Dv). `mask`: shape (B, S), boolean, True
#   for a real word.
# - Result: the context, shape (B, T, Dv), and the weights, shape (B, T, S). A sentence without a real word has
#   weights and a context of zeros.
#
# Say first where the weight of the real words has gone. Then repair the function.


# %%
def careless_attend(query: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ keys.transpose(1, 2)  # (B, T, S)
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


# %%
check("3.bug", careless_attend)

# %% [markdown] tags=["recall-place"]
# ## Recall
#
# Answer from memory, without scrolling up. You see an answer only after an attempt; a wrong one is told why. What you had to dig for comes back when
# you are about to forget it: in notebook 06, or in a terminal with `python3 run.py review`. Without a kernel, the questions stand here as text with folded answers.

# %%
from lib.recall import recall

recall("03")

# %% [markdown]
# ## Summary
#
# - Five scores, two families; concat and additive are one function.
# - Dot costs nothing extra in memory; additive keeps a vector for every pair of words.
# - Keys are projected once for a sentence.
# - The order, when the question is asked and where the context goes, is a separate choice from the score.
# - Dividing by $\sqrt d$ keeps the softmax from saturating; the mask keeps padding out, before the softmax.
#
# ## Read on
#
# Luong, Pham, Manning 2015: *Effective Approaches to Attention-based Neural Machine Translation* (arXiv 1508.04025), whose table 4 compares scores at matched
# settings (global dot 18.6, general 17.3 BLEU) · Bahdanau, Cho, Bengio 2014 (arXiv 1409.0473), appendix A. Next: **04 · A full training**.
