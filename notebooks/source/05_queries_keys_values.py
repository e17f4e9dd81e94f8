# %% [markdown]
# # 05 · Queries, keys and values
#
# You have computed attention by hand, compared its scores and trained a system with it. Now you give its parts three other
# names, and find yourself inside a Transformer. Each step of the way is an equality you can check; for attention itself, against PyTorch's own code.
#
# **What you will be able to do**
#
# - map decoder state and encoder states to query, keys and values, and say when keys and values differ;
# - let a sentence attend to itself, and show why positions must then be added;
# - hide the future with a causal mask and check that nothing leaks;
# - explain a key–value cache in one sentence;
# - compare a tiny Transformer with your recurrent model in quality, alignment and time.
#
# **Time on two cores:** about 3 minutes of running, 50 minutes of reading and thinking.

# %%
import inspect
import time

import torch
from torch.nn import functional as F

from lib import experiments, transformer
from lib.attention import attend, dot_score, scaled_dot_score
from lib.plots import curves, heatmap, use_course_style
from lib.seq2seq import count_parameters
from lib.training import TrainConfig

torch.manual_seed(0)
use_course_style()

# %% [markdown]
# ## 1. The same recipe, renamed
#
# | so far | from now on | its part |
# |---|---|---|
# | decoder state $s_t$ | **query** | the question |
# | encoder states $h_i$, when they are scored | **keys** | what each place says it has |
# | encoder states $h_i$, when they are averaged | **values** | what each place gives |
#
# In notebook 02 the encoder states did double duty: $h_i$ was key and value. Nothing in the recipe demands that. Here is the worked example of that
# notebook again, through the library:

# %%
H = torch.tensor([[1.0, 0, 1], [0, 1, 1], [1, 1, 0], [-1, 0, 1]])[None]  # (1, S, 3): मैं स्कूल जाता हूँ
s_1 = torch.tensor([[[1.0, 0, 0]]])  # (1, 1, 3)

context, weights = attend(query=s_1, keys=H, values=H, score=dot_score)
print("weights", [round(w, 4) for w in weights[0, 0].tolist()])
print("context", [round(c, 4) for c in context[0, 0].tolist()])

# %% [markdown]
# The numbers of your pencil. **Predict:** if you multiply all *keys* by 2 and leave the values alone, what changes? And the other way round?

# %%
for name, keys, values in (("keys doubled", 2 * H, H), ("values doubled", H, 2 * H)):
    context, weights = attend(s_1, keys, values, score=dot_score)
    print(
        f"{name:15} weights",
        [round(w, 4) for w in weights[0, 0].tolist()],
        " context",
        [round(c, 4) for c in context[0, 0].tolist()],
    )

# %% [markdown]
# **What you saw.** Keys decide *where* to look, values decide *what* is read there. Two jobs, so a trained model may well want two different vectors for them.
#
# ## 2. Equal to PyTorch, to rounding
#
# The Transformer's attention is $\mathrm{softmax}(QK^\top / \sqrt{d})\,V$: the scaled dot score of notebook 03. PyTorch has it as a single function.
# **Predict** the largest difference to ours in float32, and in float64.


# %%
def difference(dtype):
    query, keys, values = (torch.randn(4, n, 64, dtype=dtype) for n in (7, 9, 9))
    mask = torch.arange(9)[None] < torch.tensor([9, 5, 3, 1])[:, None]  # (B, S): four sentences of different length
    ours, _ = attend(query, keys, values, mask, scaled_dot_score)
    theirs = F.scaled_dot_product_attention(query, keys, values, attn_mask=mask[:, None, :])
    return (ours - theirs).abs().max().item()


print("float32, at most 1e-6: ", difference(torch.float32) <= 1e-6)
print("float64, at most 1e-12:", difference(torch.float64) <= 1e-12)

# %% [markdown]
# ## 3. A sentence that attends to itself
#
# So far the query came from the decoder and the keys from the encoder. Let both come from the *same* sentence: each word asks, all words answer, and each gets a new
# vector that is a mixture of the whole sentence. That is **self-attention**. Here over four encoder states, with no projection at all:

# %%
mixed, weights = attend(query=H, keys=H, values=H, score=scaled_dot_score)  # (1, 4, 3), (1, 4, 4)
labels = ["मैं", "स्कूल", "जाता", "हूँ"]
alt = "Heat map, 4 words by 4 words: each row has its largest weight on the word itself."
print("each word looks most at itself:", weights[0].argmax(-1).tolist() == [0, 1, 2, 3])
heatmap(weights[0], labels, labels, title="Self-attention over the worked example", alt=alt)

# %% [markdown]
# **What you saw.** Without projections a vector is most similar to itself, so each word mostly keeps looking at itself. Learned matrices $W_Q, W_K, W_V$ change
# that: a verb can ask "who is my subject?" with a query that differs from its own key.
#
# Note what has gone: the recurrence. No row waits for another; all are computed in one product.
#
# ## 4. What goes missing with it: the order
#
# **Predict.** Shuffle the four states and apply self-attention again. How does the result change?

# %%
order = torch.tensor([2, 0, 3, 1])
shuffled, _ = attend(H[:, order], H[:, order], H[:, order], score=scaled_dot_score)
print("the result is the old one, shuffled the same way:", torch.allclose(shuffled, mixed[:, order]))

# %% [markdown]
# Nothing else changes: self-attention sees a *bag* of words. राम ने सीता को देखा and सीता ने राम को देखा would be one and the same. In notebook 02 the
# recurrent encoder kept the order, because it read word after word. A Transformer adds a vector to each position instead:

# %%
print(inspect.getsource(transformer.sinusoidal_positions))
positions = transformer.sinusoidal_positions(4, 3 + 1)[None, :, :3]  # (1, 4, 3)
placed, placed_again = H + positions, H[:, order] + positions
with_positions, _ = attend(placed, placed, placed, score=scaled_dot_score)
again, _ = attend(placed_again, placed_again, placed_again, score=scaled_dot_score)
print("with positions, still only shuffled:", torch.allclose(again, with_positions[:, order]))

# %% [markdown]
# This answers a question of notebook 02 from the other side. *With attention, does the encoder still need to be recurrent?* In the recurrent models of this course, yes:
# the recurrence is what puts context and order into $h_i$. It can be replaced, by self-attention **and** positions, but not merely dropped.
#
# ## 5. Hide the future
#
# A decoder that attends to itself must not see words it has yet to write. The **causal mask** lets position $t$ see positions $1 \dots t$.

# %%
mask = transformer.causal_mask(4)
print(mask.int())
_, weights = attend(H, H, H, mask[None], scaled_dot_score)
print("weight on the future:", weights[0].triu(1).sum().item())

# %% [markdown]
# **Predict.** Change the last word. Which of the four results may change?

# %%
changed = H.clone()
changed[:, 3] = torch.tensor([5.0, -5.0, 5.0])
before, after = (attend(x, x, x, mask[None], scaled_dot_score)[0] for x in (H, changed))
print("result changed at each position:", (before != after).any(-1)[0].tolist())

# %% [markdown]
# ## 6. Several heads
#
# One set of weights per word is one kind of question. **Multi-head** attention cuts the vectors into parts and asks several questions side by side, with the same `attend`:

# %%
print(inspect.getsource(transformer.MultiHeadAttention.forward))

# %%
mine = transformer.MultiHeadAttention(size=32, heads=4).double()
theirs = torch.nn.MultiheadAttention(32, 4, batch_first=True, bias=True).double()
with torch.no_grad():  # give both the same weights; PyTorch keeps three of the matrices in one
    parts = (mine.query_projection, mine.key_projection, mine.value_projection)
    theirs.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
    theirs.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
    theirs.out_proj.load_state_dict(mine.output_projection.state_dict())

x = torch.randn(2, 6, 32, dtype=torch.float64)
apart = (mine(x, mine.project(x))[0] - theirs(x, x, x)[0]).abs().max().item()
print("equal to torch.nn.MultiheadAttention, at most 1e-12:", apart <= 1e-12)

# %% [markdown]
# ## 7. Keys once, values once
#
# While a translation grows word by word, the keys and values of what is already there do not change. Keep them and compute only the new word's query, key and value: that
# is the **key–value cache**. You know it from notebook 03, where the encoder states were projected once for a sentence. A count instead of a promise: a decoder
# that recomputes everything projects $1 + 2 + \dots + T$ positions, one with a cache $T$.

# %%
config = transformer.TransformerConfig(source_vocab=50, target_vocab=50, size=32, heads=4, layers=2)
tiny = transformer.TinyTransformer(config).eval()
source, target = torch.randint(4, 50, (1, 5)), torch.randint(4, 50, (1, 7))
whole, _ = tiny(source, source > 0, target)  # all at once, causal mask

memory = tiny.encode(source, source > 0)
state, steps = tiny.start(memory), []
for token in target.unbind(1):  # one at a time, with the cache
    logits, state, _ = tiny.step(token, state, memory)
    steps.append(logits)
print("step by step with the cache equals all at once:", torch.allclose(torch.stack(steps, 1), whole, atol=1e-5))

# %% [markdown]
# ## 8. A tiny Transformer against the recurrent model
#
# Same language, same batches, same number of updates; the recurrent model is the one of notebook 01, with about a fifth more parameters. **Predict** three things: which learns faster *per update*, which is better on long
# sentences, and which is faster to *train* against which is faster to *use*.

# %% tags=["slow"]
task = experiments.core_task()
settings = experiments.core_config(steps=700)
recurrent = experiments.train_model(task, settings, label="recurrent", **experiments.WITH_ATTENTION)

# %% tags=["slow"]
gentle = TrainConfig(steps=700, learning_rate=1e-3)  # a fifth of the LSTM's; try 5e-3 and watch
self_attentive = experiments.train_transformer(
    task, gentle, label="Transformer", size=96, heads=4, layers=2, feedforward=256
)

# %%
pair = {"recurrent": recurrent, "Transformer": self_attentive}
sizes = [count_parameters(trained.model) for trained in pair.values()]
print("parameters within a factor of 1.25:", max(sizes) / min(sizes) <= 1.25)

# %% tags=["nbval-ignore-output"]
curves(
    {name: (range(1, len(t.history.losses) + 1), t.history.smoothed()) for name, t in pair.items()},
    xlabel="update",
    ylabel="loss per token (nats)",
    title="Learning curves",
)

# %% tags=["slow", "nbval-ignore-output"]
quality = {name: experiments.quality(trained.translator, task.test) for name, trained in pair.items()}
for name, trained in pair.items():
    q = quality[name]
    print(
        f"{name:12} {trained.history.seconds:4.0f} s of training, exact match {q['exact_match']:.2f}, "
        f"alignment error rate {q['alignment_error_rate']:.2f}, pointing accuracy {q['pointing_accuracy']:.2f}"
    )

# %%
for name, trained in pair.items():
    fell = trained.history.smoothed()[-1] / trained.history.losses[0]
    print(f"{name}: the loss fell to less than a fifth of its first value: {fell < 0.2}")
print(
    "the recurrent model is ahead in exact match:",
    quality["recurrent"]["exact_match"] > quality["Transformer"]["exact_match"],
)

# %% [markdown]
# **What you saw.** Both learn the language in a few hundred updates. After so few, on a language so small, the recurrent model is ahead: in exact match, and in where it
# points. The Transformer's weights are a mean over the heads of its last layer, and its states were mixed from the whole sentence in two layers. Each model got a learning rate of its
# own; with other rates and more updates the distance changes: try it. What made Transformers win is not in this table: data, hardware, and the subject of the next section.
#
# ## 9. Parallel and sequential time
#
# In training all target positions are known, so a Transformer computes them in one pass, and so does a decoder in Luong order except for its recurrent layer, which must
# go word by word. In use, both go word by word. Measured on your machine: one forward pass over sources of growing length, encoder only.


# %% tags=["slow", "nbval-ignore-output"]
def encoder_milliseconds(model, length, repeats=5):
    source = torch.randint(4, 60, (16, length))
    mask, times = torch.ones_like(source, dtype=torch.bool), []
    with torch.no_grad():
        for _ in range(repeats):
            begin = time.perf_counter()
            model.encode(source, mask)
            times.append(1000 * (time.perf_counter() - begin))
    return min(times)


lengths = (10, 40, 160, 640)
cost = {name: [encoder_milliseconds(trained.model.cpu(), n) for n in lengths] for name, trained in pair.items()}
curves(
    {name: (lengths, values) for name, values in cost.items()},
    xlabel="source words",
    ylabel="milliseconds",
    title="One encoder pass, batch 16",
)

# %% [markdown]
# The recurrent time grows with the length; the attention's *number of scores* grows with its square, which a processor with two cores feels sooner than a large GPU does. What the GPU
# likes is that there is no waiting: a recurrent encoder takes one step after another, as many as there are words; in a Transformer of two layers only the
# second layer waits for the first, whatever the length.
#
# Google's system of 2016 (GNMT) still had recurrent layers, with additive attention from the bottom decoder layer; a year later the recurrence was gone. The attention stayed.

# %% [markdown] tags=["explorer-place"]
# ## Query, key, value at a glance
#
# **Predict.** (a) जाता asks without projections: at whom does it look most, and why? (b) With $W_Q$ and $W_K$ it finds मैं. Which entries do the two matrices compare? (c) Take random vectors of 256
# entries and switch the division by $\sqrt{d}$ on and off: what happens to the largest weight?

# %% tags=["nbval-ignore-output"]
from lib.explore import query_key_value

query_key_value()

# %% [markdown]
# **What you saw.** Without projections query and key are the same vector, so a word finds itself. The matrices let a word ask for something it is not. And with wide vectors it is the division that keeps the
# softmax from deciding before anything was learned.

# %% [markdown] tags=["exercise-place"]
# ## Try it yourself
#
# Each exercise is a function to write. Fill in its body, run its cell, then run the `check` below it: your function is tried on
# many shapes against another computation, and a mistake that is known gets its name. `hint("5.1")` gives a hint, a stronger one each time;
# `solution("5.1")` shows ours once you have tried.

# %%
from torch import Tensor

from lib.exercises import check, hint, solution

# %% [markdown]
# ### Exercise 5.1 · The causal mask
#
# *easy, 5 minutes*
#
# Write `causal_mask(steps, past)` in PyTorch, without a loop: who may look at whom in the target.
#
# - `steps`: T new words. `past`: how many words were there before them (0 in training; more with a key cache).
# - Result: shape (T, past + T), boolean. Entry [t, i] is True where new word t may look at word i: all of the past,
#   the new words before it, and itself.


# %%
def causal_mask(steps: int, past: int) -> Tensor:
    """True where a new word may look."""
    ...


# %%
check("5.1", causal_mask)

# %% [markdown]
# ### Exercise 5.2 · Split into heads, and back
#
# *medium, 10 minutes*
#
# Write `split_heads(states, heads)` in PyTorch: cut each state into equal slices, one a head. Head n gets the n-th
# slice of every state, neighbouring numbers together, so that joining the slices again gives the state.
#
# - `states`: shape (B, L, D). `heads`: N, which divides D.
# - Result: shape (B, N, L, D / N).


# %%
def split_heads(states: Tensor, heads: int) -> Tensor:
    """(B, L, D) -> (B, N, L, D / N)"""
    ...


# %%
check("5.2", split_heads)

# %% [markdown]
# ### Exercise 5.3 · Multi-head attention from three projections
#
# *hard, 25 minutes*
#
# Write `multi_head(queries, memory, W_q, W_k, W_v, W_o, heads)` in PyTorch. Queries, keys and values are projections:
# `queries @ W_q.T`, `memory @ W_k.T` and `memory @ W_v.T`. Slice n of a query looks up slice n of the keys and values
# by the scaled dot product; what the heads find is joined again and goes through `W_o`.
#
# - `queries`: shape (B, T, D). `memory`: shape (B, S, D). The four matrices: shape (D, D), no bias. `heads`: N, which
#   divides D.
# - Result: shape (B, T, D).


# %%
def multi_head(
    queries: Tensor,
    memory: Tensor,
    W_q: Tensor,
    W_k: Tensor,
    W_v: Tensor,
    W_o: Tensor,
    heads: int,
) -> Tensor:
    """Several small lookups side by side."""
    ...


# %%
check("5.3", multi_head)

# %% [markdown]
# ### Without a checker
#
# 1. *(5 minutes)* A causal mask that lets each position see only the last 3: which line of yours changes?
# 2. *(10 minutes)* A two-head attention in which one head attends to the previous position only: which weights does it show?
# 3. *(a drawing)* Draw a mind map that joins attention to at least three other things you have studied, and label each line with the relation.

# %% [markdown] tags=["bug-lab-place"]
# ## Bug lab: attention that never sees the encoder
#
# *medium, 10 minutes* · `hint("5.bug")`
#
# A popular kind of program computes its weights from the decoder alone. It trains, its loss falls, its heat maps look
# neat. The symptom is measured below: exchange the source sentence for another, and the weights stay exactly the
# same.
#
# - `query`: shape (B, T, D), decoder states. `keys`: shape (B, S, D) and `values`: shape (B, S, Dv), of the encoder.
#   `weight`: shape (D, D), a learned matrix.
# - Result: the context, shape (B, T, Dv), and the weights, shape (B, T, S). The score must be that of Luong's
#   *general* attention, q_tᵀ W k_i.
#
# Say first which argument the weights do not depend on. Then repair the function.


# %%
def look_up(query: Tensor, keys: Tensor, values: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ weight  # (B, T, D): a score for each of D places
    weights = torch.softmax(scores[..., : keys.shape[1]], dim=-1)  # (B, T, S): as many as the sentence has
    return weights @ values, weights


# %%
check("5.bug", look_up)

# %% [markdown] tags=["recall-place"]
# ## Recall
#
# Answer from memory, without scrolling up. You see an answer only after an attempt; a wrong one is told why. What you had to dig for comes back when
# you are about to forget it: in notebook 06, or in a terminal with `python3 run.py review`. Without a kernel, the questions stand here as text with folded answers.

# %%
from lib.recall import recall

recall("05")

# %% [markdown]
# ## Summary
#
# - Query, key and value are roles; in recurrent attention the encoder states play two of them.
# - The scaled dot score with a softmax and a weighted sum is the Transformer's attention, to rounding.
# - Self-attention needs positions, and a decoder's needs a causal mask.
# - A key–value cache is "project once" applied to the words already written.
# - What Transformers gained first of all is that nothing has to wait.
#
# ## Read on
#
# Vaswani et al. 2017: *Attention Is All You Need* (arXiv 1706.03762) · Wu et al. 2016 (arXiv 1609.08144) for the last great recurrent system.
