# %% [markdown]
# # 02 · Attention, traced by hand
#
# In notebook 01 a decoder with attention kept its quality on sentences where a single vector failed. Here you open that
# mechanism and follow every number in it with a pencil: four scores, four weights, one context vector, one word. Nothing
# is trained and nothing is hidden. The vectors have three entries, so you can redo each line on paper, and you should.
#
# **What you will be able to do**
#
# - score, normalise and combine: compute one step of attention by hand and in three lines of NumPy;
# - predict from the scores alone which weights are equal, which grow, and what changes none of them;
# - follow a decoder through a whole sentence, and say what it takes besides the context;
# - show with an experiment that attention sees states, not words, and why the encoder is still recurrent;
# - mask padding, and recognise two ways that look like masking and are not.
#
# **Time on two cores:** a few seconds of running, 75 minutes of reading with a pencil.

# %%
import numpy as np

from lib.plots import curves, heatmap, heatmap_table, use_course_style

use_course_style()


def show(numbers):
    """Four digits after the point, and no −0.0000."""
    return "[" + ", ".join(f"{round(float(x), 4) + 0.0:7.4f}" for x in numbers) + "]"


# %% [markdown]
# ## 1. One sentence, four states, one question
#
# The sentence is मैं स्कूल जाता हूँ (*maiṁ skūl jātā hūm̐*), *I go to school*. Word for word: *I school go am*. English wants the verb second, Hindi
# keeps it for the end, and *to* has no word of its own on the Hindi side. So whoever writes the English must move about in the
# Hindi: first मैं, then on to जाता, then back to स्कूल.
#
# An encoder has read the four words and kept one hidden state for each. A decoder has read the start mark `<s>` and is in its
# first state $s_1$. One step of attention takes these and does four things:
#
# | move | in words | formula |
# |---|---|---|
# | score | how well does each state answer the decoder's question? | $e_i = s_1 \cdot h_i$ |
# | normalise | turn scores into shares that sum to 1 | $\alpha_i = \exp(e_i) / \sum_j \exp(e_j)$ |
# | combine | average the states with these shares | $c_1 = \sum_i \alpha_i h_i$ |
# | generate | choose a word from the context *and* the state | softmax of $W_o\,[s_1; c_1]$ |
#
# ```text
#     h1     h2     h3     h4        the encoder's states, all of them kept
#      \      |      |     /
#       score each one with s1       4 scores     <---  s1, the decoder's state
#                 |                                      |
#              softmax               4 weights           |
#                 |                                      |
#           weighted average         1 context  c1       |
#                 |                                      |
#                 +------->  output layer on [s1; c1]  <-+
#                                     |
#                                the next word
# ```
#
# Trained states have hundreds of entries that nobody can read. These were picked for easy arithmetic, so they say nothing
# about what a trained network would look at. The *procedure* is the real one, to the last digit.
#
# Two letters mean something else here than in notebook 00: `H` is the matrix of the four states, one in each row, and from section 10 on `E` is the table
# of word vectors. `D` is the size of a state, here of encoder and decoder alike; in section 14, `A` is the size in which the additive score compares.

# %%
words = ["मैं", "स्कूल", "जाता", "हूँ"]
H = np.array(
    [
        [1.0, 0.0, 1.0],  # h1: मैं
        [0.0, 1.0, 1.0],  # h2: स्कूल
        [1.0, 1.0, 0.0],  # h3: जाता
        [-1.0, 0.0, 1.0],  # h4: हूँ
    ]
)  # (S, D) = (4, 3)
s1 = np.array([1.0, 0.0, 0.0])  # (D,)

# %% [markdown]
# ## 2. Score
#
# The score of a state is its dot product with $s_1$: multiply entry by entry, then add up. Luong et al. (2015) use this one.
#
# **Predict.** $s_1 = [1, 0, 0]$ asks about one entry of each $h_i$ and ignores the rest. Write down the four scores before you
# run the cell. Which two are equal?

# %%
for i, h in enumerate(H, start=1):
    products = " + ".join(f"({s:.0f})({x:.0f})" for s, x in zip(s1, h))
    print(f"e{i} = s1 · h{i} = {products} = {s1 @ h:2.0f}")

# %% [markdown]
# **What you saw.** $s_1$ picks out the first entry of each state: 1, 0, 1, −1. A score may be negative; it is no probability yet.
#
# ## 3. Normalise
#
# Each score goes through $\exp$, which makes it positive and keeps the order. Dividing by the sum makes shares of them.
#
# **Predict.** Without a calculator: which weights are equal? Which is the smallest? Is the smallest 0?

# %%
scores = [1, 0, 1, -1]
powers = [np.exp(e) for e in scores]
for i, (e, power) in enumerate(zip(scores, powers), start=1):
    print(f"exp(e{i}) = exp({e:2}) = {power:.5f}")
total = sum(powers)
print(f"sum     = {' + '.join(f'{power:.5f}' for power in powers)} = {total:.5f}")
alphas = [power / total for power in powers]
for i, (power, share) in enumerate(zip(powers, alphas), start=1):
    print(f"alpha{i}  = {power:.5f} / {total:.5f} = {share:.4f}")

# %% [markdown]
# **What you saw.** $\alpha = [0.3995, 0.1470, 0.3995, 0.0541]$. Three checks before you trust such a result, none of which needs
# a calculator:
#
# 1. **Ties stay ties.** $e_1 = e_3$, so $\alpha_1 = \alpha_3$. All four divide by the *same* sum, and $\exp$ gives equal results for
#    equal inputs. You need not know either of them.
# 2. **The order is kept.** $\exp$ is strictly increasing, so $e_1 = e_3 > e_2 > e_4$ becomes $\alpha_1 = \alpha_3 > \alpha_2 > \alpha_4$.
# 3. **All are positive and they sum to 1.** $\exp$ never reaches 0, so even हूँ keeps a little.
#
# **Predict.** Add up the four *printed* weights. Do you get 1?

# %%
rounded = [round(share, 4) for share in alphas]
print("tie:              ", bool(alphas[0] == alphas[2]))
print("order kept:       ", bool(alphas[0] > alphas[1] > alphas[3] > 0))
print("exact weights sum to 1:", bool(abs(sum(alphas) - 1) < 1e-12))
print("printed weights:  ", " + ".join(f"{share:.4f}" for share in rounded), f"= {sum(rounded):.4f}")

# %% [markdown]
# **What you saw.** The printed weights sum to 1.0001. That is rounding and no mistake: here all four
# happened to be rounded upwards. Keep this in mind when you check a weight matrix: test for "close to 1", never for "= 1".
#
# ## 4. Combine
#
# The context vector is the average of the four states, each counted with its weight.
#
# **Predict.** Use the printed weights and your pencil for the first entry, $0.3995(1) + 0.1470(0) + 0.3995(1) + 0.0541(-1)$. Then do the
# second and third. Do you expect the same four digits as a computer that never rounds on the way?

# %%
for k, name in enumerate("xyz"):
    products = " + ".join(f"{share:.4f}({h[k]:.0f})" for share, h in zip(rounded, H))
    pencil = sum(share * h[k] for share, h in zip(rounded, H))
    exact = sum(share * h[k] for share, h in zip(alphas, H))
    print(f"c1_{name} = {products} = {pencil:.4f}    unrounded: {exact:.4f}")

# %% [markdown]
# **What you saw.** $c_1 = [0.7449, 0.5464, 0.6005]$. The pencil ends one unit higher in the last place twice (0.5465 and 0.6006), because it
# added numbers that had been rounded before. Round once, at the end.
#
# ## 5. The same in three lines
#
# A matrix times a vector takes all four dot products at once, and a row of weights times the matrix is the weighted average.

# %%
e1 = H @ s1  # (S, D) (D,) -> (S,)
alpha1 = np.exp(e1) / np.exp(e1).sum()  # (S,)
c1 = alpha1 @ H  # (S,) (S, D) -> (D,)

print("scores ", show(e1))
print("weights", show(alpha1))
print("context", show(c1))

# %% [markdown]
# For the rest of this notebook the lines become two small functions. You will see in section 6 why `softmax` subtracts the largest
# score first.


# %%
def softmax(scores):
    """Shares that sum to 1 along the last axis."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def attend(state, states):
    """Context and weights for one decoder state (D,) over encoder states (S, D)."""
    weights = softmax(states @ state)  # (S,)
    return weights @ states, weights  # (D,), (S,)


# %%
context, weights = attend(s1, H)
assert np.allclose(weights, [0.3995, 0.1470, 0.3995, 0.0541], atol=5e-5), "check the weights"
assert np.allclose(context, [0.7449, 0.5464, 0.6005], atol=5e-5), "check the context"
print("attend gives the numbers of the pencil")

# %% [markdown]
# The course's library has an `attend` of its own, for batches and on PyTorch. Notebook 05 runs this example through it, and
# a test compares the two functions.
#
# ## 6. What softmax notices, and what it does not
#
# **Predict.** (a) Add 100 to all four scores. (b) Multiply all four by 2. (c) Multiply all by −1. In which cases do the weights
# change, and how?

# %%
print("as they are    ", show(softmax(e1)))
print("all + 100      ", show(softmax(e1 + 100)))
print("all − 7        ", show(softmax(e1 - 7)))
print("all × 2        ", show(softmax(2 * e1)))
print("all × −1       ", show(softmax(-e1)))

# %% [markdown]
# **What you saw.** Adding the same number to every score changes nothing: $\exp(e + 100) = \exp(e)\exp(100)$, and the second factor
# cancels. Only *differences* between scores count; the ratio of two weights is $\alpha_i / \alpha_j = \exp(e_i - e_j)$. Multiplying
# stretches the differences, so it changes the weights, and a negative factor turns the order around.
#
# The first fact is useful. A 64-bit number cannot hold $\exp(1000)$. Subtracting the largest score makes every exponent 0 or less, and the
# weights are the same:

# %%
large = e1 + 1000
with np.errstate(over="ignore", invalid="ignore"):  # the warnings are the point, but not in your face
    naive = np.exp(large) / np.exp(large).sum()
print("exp(1000) as it is:      ", naive)
print("largest score subtracted:", show(softmax(large)))
print(f"alpha1 / alpha4 = {alpha1[0] / alpha1[3]:.4f}, exp(e1 − e4) = {np.exp(2):.4f}")

# %% [markdown]
# The second fact has a name: **temperature**. Dividing the scores by $\tau$ is the same as multiplying them by $1/\tau$.
#
# **Predict.** What are the weights when the factor is 0? And what do they approach when it is very large? Remember the tie.

# %%
factors = [0, 0.5, 1, 2, 4, 8]
table = np.array([softmax(factor * e1) for factor in factors])  # (6, S)
heatmap_table(table, words, [f"scores × {factor}" for factor in factors], digits=4, alt_digits=4)

# %% tags=["nbval-ignore-output"]
factors = np.linspace(0, 5, 11)
rows = np.array([softmax(factor * e1) for factor in factors])  # (11, S)
names = {"मैं and जाता, tied": 0, "स्कूल": 1, "हूँ": 3}
series = {name: (factors, rows[:, place]) for name, place in names.items()}
alt = (
    "Line chart of the weights against the factor on the scores. All start at 0.25. "
    "The tied मैं and जाता rise towards 0.5 each; स्कूल falls towards 0, and हूँ faster."
)
title = "Larger scores, sharper attention"
curves(series, "factor on the scores", "weight", title, ylim=(0, 0.55), alt=alt)

# %% [markdown]
# **What you saw.** Factor 0 gives every place 0.25: all scores are equal, the average is the plain mean. A large factor brings the
# weights to 0.5, 0, 0.5, 0: softmax sharpens towards the *largest*, and there are two of them. However sharp, a tie is never decided.
#
# Keep one consequence for notebook 03: longer vectors make larger dot products, and larger scores make sharper weights.
#
# ## 7. The next step starts from scratch
#
# Suppose the decoder has moved on and its state is now $s_2 = [0, 0, 1]$. The four encoder states are still the same.
#
# **Predict.** Which place gets the largest weight? Compute the four scores first; it takes ten seconds.

# %%
s2 = np.array([0.0, 0.0, 1.0])
c2, alpha2 = attend(s2, H)
print("scores ", show(H @ s2))
print("weights", show(alpha2))
print("context", show(c2))
print("places with the largest weight:", [i + 1 for i in range(4) if alpha2[i] == alpha2.max()])
print("np.argmax names only place", int(alpha2.argmax()) + 1)

# %% [markdown]
# **What you saw.** $s_2$ picks out the third entry: 1, 1, 0, 1. Three places share the largest weight, $e / (3e + 1) = 0.2969$ each, and
# जाता gets $1 / (3e + 1) = 0.1092$. "The largest weight" can be a tie. `np.argmax` hides that: it names the first and keeps silent
# about the others. When you read "the model looks at word 1", ask how the reader of the weights broke ties.
#
# **Predict.** Step 1 had given मैं and जाता most of the weight. How much of that is left in step 2? What would change if you computed
# step 2 first, and step 1 afterwards?

# %%
in_order = [attend(state, H)[1] for state in (s1, s2)]
reversed_order = [attend(state, H)[1] for state in (s2, s1)]
print("step 2 computed before step 1, same weights:", np.array_equal(in_order, reversed_order[::-1]))
print("context with step 2's own weights:   ", show(alpha2 @ H))
print("context with step 1's weights reused:", show(alpha1 @ H))

# %% tags=["nbval-ignore-output"]
title = "Two steps, two sets of weights"
heatmap([alpha1, alpha2], words, ["step 1", "step 2"], title, target_name="decoder")

# %% [markdown]
# **What you saw.** Nothing is left. `attend` takes a state and the encoder's states, and no earlier weights. There is no alignment table that is
# filled once for the sentence: each step asks its own question and gets its own row. With the weights of step 1 reused, the decoder would read
# the same mixture twice.
#
# What does carry over is the decoder's *state*. Some models also feed the last context back in; then earlier weights have an influence, but only
# through the state that asks the next question.
#
# ## 8. A mixture, and not the last state
#
# A decoder without attention gets $h_4 = [-1, 0, 1]$ to start with, and nothing else from the source. That is the bottleneck of notebook 01.
#
# **Predict.** Is $c_1$ equal to one of the states? Which is nearest, which is farthest?

# %%
for i, h in enumerate(H):
    print(f"distance from c1 to h{i + 1}: {np.linalg.norm(c1 - h):.4f}    weight {alpha1[i]:.4f}")
print("very sharp scores (× 50), context:", show(softmax(50 * e1) @ H))

# %% [markdown]
# **What you saw.** $c_1$ is none of the four: it lies between them. In this example it is farthest from $h_4$, the one state that a decoder
# without attention would have been given. Even with very sharp weights the context is $[1, 0.5, 0.5]$, half $h_1$ and half $h_3$: the tie again.
#
# Note that $h_1$ and $h_3$ have equal weight, and $c_1$ is nearer to $h_1$. The small weights of स्कूल and हूँ pull too; both have a 1 in the
# third entry, as $h_1$ has.
#
# ## 9. Generate: from context to word
#
# The context is joined to the decoder's state, and an output layer turns the six numbers into one number for each word of the target
# vocabulary, the **logits**. A second softmax makes probabilities of them. It is the same function over another list: the first softmax
# shares weight among *places in the source*, this one among *words of the target language*.
#
# Our vocabulary has five entries. The matrix was chosen by hand, with small whole numbers:

# %%
vocabulary = ["I", "go", "to", "school", "</s>"]
W_out = np.array(
    [
        # on s_t      on c_t
        [1, 0, 0, 1, -1, 0],  # I
        [0, 1, -1, 0, 1, -1],  # go
        [0, -1, 2, 0, -1, 0],  # to
        [0, 1, 0, -1, 1, 0],  # school
        [-2, -1, 1, -2, 1, -1],  # </s>
    ]
)  # (V, 2 D) = (5, 6)

# %% [markdown]
# **Predict.** Compute the logit of *I* by hand: the first row times $[1, 0, 0, 0.7449, 0.5464, 0.6005]$. Then that of *go*. Which will win?

# %%
joined = np.concatenate([s1, c1])  # (2 D,)
logits = W_out @ joined  # (V,)
probabilities = softmax(logits)
print(f"logit of I = 1(1) + 1({c1[0]:.4f}) − 1({c1[1]:.4f}) = {logits[0]:.4f}")
for word, logit, p in zip(vocabulary, logits, probabilities):
    print(f"{word:8} logit {logit:7.4f}   probability {p:.4f}")
print("chosen:", vocabulary[int(logits.argmax())])

# %% [markdown]
# **What you saw.** The largest probability belongs to *I*. Taking the largest is called *greedy*; one may also draw a word at random with these
# probabilities, or keep several candidates (beam search, notebook 04).
#
# ## 10. The loop: the word goes back in
#
# Who made $s_1$, and who makes the next state? A recurrent step, from the last state and the last word:
#
# $$s_t = U s_{t-1} + E[y_{t-1}], \qquad s_0 = h_4$$
#
# The first word, $y_0$, is the start mark `<s>`. $E$ holds a vector for each word, $U$ moves the three entries one place on. A real cell puts gates or a tanh around the sum; without them our states
# stay whole numbers. The state is updated first and asks afterwards: that is Luong's order. In Bahdanau's order $s_{t-1}$ asks and the context goes into
# the update that makes $s_t$. Score and order are two choices, and notebook 03 measures them apart.

# %%
U = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]])  # (a, b, c) becomes (c, a, b)
E = {"<s>": [0, 1, 0], "I": [1, 0, -1], "go": [1, -1, 0], "to": [-1, 1, 1], "school": [-2, -1, 0]}

print("U h4 =", (U @ H[3]).astype(int), " E[<s>] =", E["<s>"], " sum s1 =", (U @ H[3] + E["<s>"]).astype(int))
print("U s1 =", (U @ s1).astype(int), " E[I] =", E["I"], " sum s2 =", (U @ s1 + E["I"]).astype(int))

# %% [markdown]
# The sum gives the $s_1$ you started from. The word *I* then leads to $[1, 1, -1]$, so this, and not the what-if state of section 7, is
# what our little decoder asks next. (The what-if state will turn up. Watch for it.)
#
# **Predict.** Compute the four scores for $[1, 1, -1]$. Which Hindi word gets the most weight while the decoder looks for its second word?


# %%
def decode(states, matrix=W_out, limit=6):
    """Write greedily until </s>; returns a list of (word, state, weights, context, probabilities)."""
    state, word, steps = states[-1], "<s>", []
    while word != "</s>" and len(steps) < limit:
        state = U @ state + E[word]  # (D,)
        context, weights = attend(state, states)  # (D,), (S,)
        probabilities = softmax(matrix @ np.concatenate([state, context]))  # (V,)
        word = vocabulary[int(probabilities.argmax())]
        steps.append((word, state, weights, context, probabilities))
    return steps


steps = decode(H)
print(" ".join(word for word, *_ in steps))

# %%
for t, (word, state, weights, context, probabilities) in enumerate(steps, start=1):
    print(f"step {t}: state {state.astype(int)}")
    print("   scores ", show(H @ state))
    print("   weights", show(weights))
    print("   context", show(context))
    print("   I, go, to, school, </s>", show(probabilities), "→", word)

# %% tags=["nbval-ignore-output"]
written = [word for word, *_ in steps]
weights = [weights for _, _, weights, _, _ in steps]
heatmap(weights, words, written, "Where the decoder looks")

# %% [markdown]
# **What you saw.** Read the picture row by row, and each row sums to 1. *go* looks most at जाता, *school* at स्कूल, `</s>` at हूँ. The pointer goes forward
# to the verb and then *back*: that is the word order problem of section 1, solved by asking anew at each step. *to* has no Hindi word of its own; there the
# state is $[0, 0, 1]$, the what-if state, with its three-way tie. And *I* is written while मैं and जाता tie.
#
# These numbers were made by hand to work. What a *trained* model looks at is a question for measurement, and notebook 04 measures it.
#
# ### Why not from the context alone?
#
# **Predict.** A source of one single word, स्कूल, has one state, $h_2$. What are the weights, at every step, whatever the decoder asks? If the next word
# depended on $c_t$ only, what would the translation be?

# %%
one_word = H[1:2]  # (1, D)
context_only = W_out.copy()
context_only[:, :3] = 0  # the half of the matrix that reads s_t

for name, matrix in (("state and context", W_out), ("context only", context_only)):
    steps_here = decode(one_word, matrix)
    print(f"{name:18}", " ".join(word for word, *_ in steps_here))
    for _, state, weights, context, _ in steps_here[:2]:
        print("     state", show(state), " weights", show(weights), " context", show(context))

# %% [markdown]
# **What you saw.** With one source word the only weight is 1, so the context is $h_2$ at every step. Two different states, one context: the first must lead
# to *school*, the second to `</s>`. Without $s_t$ the output layer sees the same input twice and must give the same answer twice, for *any* matrix. It says
# *school* until the limit stops it. The context tells what is relevant in the source; what has been written already is known to the state alone.
#
# **Predict.** Now the whole sentence again, with the right states, but with one half of the matrix covered. Which words survive?

# %%
state_only = W_out.copy()
state_only[:, 3:] = 0  # the half that reads c_t
joined = [np.concatenate([state, context]) for _, state, _, context, _ in steps]
halves = {"both halves": W_out, "context only": context_only, "state only": state_only}
for name, matrix in halves.items():
    logits = np.array(joined) @ matrix.T  # (T, V)
    best = [[w for w, x in zip(vocabulary, row) if np.isclose(x, row.max())] for row in logits]
    print(f"{name:14}", " ".join("/".join(ties) for ties in best))

# %% [markdown]
# **What you saw.** Neither half is enough. The context alone writes *school* in place of *to* and does not know when to stop. The state alone cannot decide
# between *to* and *school* in step 4.
#
# ## 11. States, not words
#
# People often say that attention lets the decoder look back at the source *words*. It does not. When the encoder has finished, the decoder never meets a
# Hindi word or its embedding again; it has the states $h_1, \dots, h_S$. Each state is made by a recurrent step, so it holds its word mixed with everything
# read before. A small encoder shows it, with weights fixed by hand:
#
# $$h_i = \tanh(x_i + R\,h_{i-1}), \qquad h_0 = 0$$

# %%
embedding = {
    "मैं": [1, 0, 0], "वह": [0, 0, 1], "स्कूल": [0, 1, 0], "जाता": [1, 1, 0],
    "हूँ": [-1, 0, 1], "है": [-1, 1, 0], "कल": [0, -1, 1], "गया": [1, 0, -1],
    "जाऊँगा": [0, 1, 1], "राम": [1, 0, 1], "सीता": [0, 1, -1], "ने": [0, 0, -1],
    "को": [-1, 0, 0], "देखा": [1, -1, 0],
}  # fmt: skip
R = 0.5 * U  # half of the last state, moved one place on


def encode(sentence):
    """One state for each word, read from left to right: (S, D)."""
    states, h = [], np.zeros(3)
    for word in sentence.split():
        h = np.tanh(embedding[word] + R @ h)
        states.append(h)
    return np.array(states)


# %% [markdown]
# **Predict.** स्कूल is the second word of both sentences below, and has one embedding. (The second, वह स्कूल जाता है, *vah skūl jātā hai*, is *he goes to
# school*; है is *is*.) Is its state the same? The last line gives its state where it is read alone.

# %%
for sentence in ("मैं स्कूल जाता हूँ", "वह स्कूल जाता है"):
    position = sentence.split().index("स्कूल")
    print(sentence)
    print("   embedding of स्कूल:", show(embedding["स्कूल"]))
    print("   state of स्कूल:    ", show(encode(sentence)[position]))
print("state of स्कूल, read alone:", show(encode("स्कूल")[0]))

# %% [markdown]
# **What you saw.** One word, one embedding, and in each sentence another state. Compare both with स्कूल read alone, $[0, 0.7616, 0]$. After मैं the second
# entry is larger, 0.8811; after वह it is the first, 0.3634 in place of 0. Half of the last state, moved one place on, has come in. When a weight says "स्कूल", it says "the state that stood at स्कूल".
#
# **Predict.** कल means *yesterday* or *tomorrow*; the verb decides. मैं कल गया (*maiṁ kal gayā*) is *I went yesterday*, मैं कल जाऊँगा (*maiṁ kal jāūm̐gā*) is *I will go tomorrow*. Does the
# state of कल differ between the two?


# %%
def encode_backward(sentence):
    """The same encoder, reading from right to left; the states are put back in the order of the words."""
    return encode(" ".join(reversed(sentence.split())))[::-1]


went, will_go = "मैं कल गया", "मैं कल जाऊँगा"
print("कल forward :", show(encode(went)[1]), show(encode(will_go)[1]))
print("कल backward:", show(encode_backward(went)[1]), show(encode_backward(will_go)[1]))

# %% [markdown]
# **What you saw.** Reading forward, both states are equal: the sentences are the same up to कल, and the verb has not been read. "Everything read so far" means
# *so far*. The backward reader has met the verb first. Bahdanau et al. (2014) join both readings in each $h_i$, and in Hindi, where the verb comes last, you see why.
#
# ## 12. Does the encoder still have to be recurrent?
#
# The decoder may look at any place, so why not hand it the embeddings and save the encoder?
#
# **Predict.** राम ने सीता को देखा is *Ram saw Sita*. सीता ने राम को देखा is *Sita saw Ram*. The second is the first with two words exchanged. Attend over
# the five raw embeddings with some state. How do the two contexts differ?

# %%
ram_saw, sita_saw = "राम ने सीता को देखा", "सीता ने राम को देखा"
for sentence in (ram_saw, sita_saw):
    raw = np.array([embedding[word] for word in sentence.split()])  # (S, D)
    context, weights = attend(s1, raw)
    print(sentence)
    print("   weights", show(weights), " context", show(context))

# %%
rng = np.random.default_rng(0)
askers = rng.normal(size=(1000, 3))  # a thousand decoder states
readers = {"embeddings": lambda s: np.array([embedding[word] for word in s.split()]), "recurrent": encode}
for name, reader in readers.items():
    first, second = reader(ram_saw), reader(sita_saw)
    same = [np.allclose(attend(s, first)[0], attend(s, second)[0], rtol=0, atol=1e-9) for s in askers]
    print(f"{name:10} same context for {sum(same):,} of 1,000 decoder states")

# %% [markdown]
# **What you saw.** Over raw embeddings the weights change places together with the words, and the sum does not care: every context is the same for both sentences,
# whoever asks. A decoder that starts from the same state would have to write the same translation for *Ram saw Sita* and *Sita saw Ram*. Dot attention over
# embeddings sees a bag of words. The recurrent states differ, because each depends on what came before it.
#
# Attention replaces the one vector between encoder and decoder. It does not do the encoder's work. The recurrence *can* be replaced, by attention among the source
# words together with marks for their positions; that is a second idea, the Transformer's, and notebook 05 is about it.
#
# ## 13. Padding
#
# Sentences of a batch are filled up to the same length. Beside a sentence of six words, such as राम ने सीता को देखा था, ours gets two places of padding. Let
# their states be all zeros.
#
# **Predict.** What score does a state of zeros get? So how much weight does it take: none, little, or as much as some real word?

# %%
padded = np.vstack([H, np.zeros((2, 3))])  # (6, D)
real = np.array([True, True, True, True, False, False])
scores = padded @ s1
unmasked = softmax(scores)
zeroed = np.where(real, unmasked, 0.0)
masked = softmax(np.where(real, scores, -1e9))
for name, row in (("no mask", unmasked), ("weight set to 0 after", zeroed), ("score set low before", masked)):
    print(f"{name:22}", show(row), f"sum {row.sum():.4f}")
    print(f"{'':22} context", show(row @ padded), " equals c1:", np.allclose(row @ padded, c1))

# %% [markdown]
# **What you saw.** A score of 0 is no "nothing": $\exp(0) = 1$, so each padding place takes as much weight as स्कूल. Setting the *weights* to 0 afterwards leaves a row
# that sums to 0.7728, and the context is still wrong. What must be set very low is the *score*, before the softmax: then $\exp$ gives 0, the sum runs over real words only, and
# the context is $c_1$ again. (You could also zero the weights and divide by their new sum. It comes to the same, in one more step.)
#
# **Predict.** Without a mask, what happens to our sentence in a batch with a sentence of 14 words? Of 54?

# %%
for extra in (0, 2, 10, 50):
    row = softmax(np.vstack([H, np.zeros((extra, 3))]) @ s1)
    print(f"{extra:2} padding places: {row[4:].sum():.4f} of the weight on padding, {row[0]:.4f} on h1")

# %% [markdown]
# **What you saw.** Without a mask, a translation depends on which other sentences happen to be in the batch. Notebook 03 lets you
# find a missing mask from that symptom.
#
# ## 14. "Additive" and "multiplicative"
#
# The dot product is one way to compare a state with a question. Bahdanau et al. (2014) use a small network: $e = v^\top \tanh(W_s s + W_h h)$. Both numbers for one pair, $s_1$ and $h_1$:

# %%
W_s = np.array([[1, 0, 0], [0, 1, 0]])  # (A, D) = (2, 3)
W_h = np.array([[0, 0, 1], [1, -1, 0]])  # (A, D)
v = np.array([1, -1])  # (A,)

h1 = H[0]
print(f"dot:      1·1 + 0·0 + 0·1 = {s1 @ h1:.0f}")
print("additive: W_s s1 =", (W_s @ s1).astype(int), "  W_h h1 =", (W_h @ h1).astype(int))
summed = W_s @ s1 + W_h @ h1
print("          sum    =", summed.astype(int), "  tanh   =", show(np.tanh(summed)))
print(f"          v · tanh = 1({np.tanh(2):.4f}) − 1({np.tanh(1):.4f}) = {v @ np.tanh(summed):.4f}")

# %% [markdown]
# The names say where state and question meet: in the first line their entries are *multiplied* with each other, in the second two projections are *added*. "Multiplicative" covers one more
# score, Luong's *general*: $s^\top W h$. With the identity for $W$ it is the dot product; with a matrix that is not square it compares vectors of different sizes.
#
# **Predict.** Make the question ten times, then a hundred times as long. What happens to each score?

# %%
for factor in (1, 10, 100):
    s = factor * s1
    print(f"s1 × {factor:3}:  dot {s @ h1:6.1f}   additive {v @ np.tanh(W_s @ s + W_h @ h1):.4f}")
print("the additive score can never exceed |v1| + |v2| =", np.abs(v).sum())
print("general with W = identity equals dot:", bool(s1 @ np.eye(3) @ h1 == s1 @ h1))

# %% [markdown]
# **What you saw.** A product grows with its factors, without limit. In the sum, tanh holds each entry between −1 and 1, so the score stays within bounds that $v$ sets. Neither is better by that alone;
# notebook 03 compares them in training.

# %% [markdown] tags=["explorer-place"]
# ## 15. Turn the question slowly
#
# Move the decoder's state from $s_1 = [1, 0, 0]$ to $s_2 = [0, 0, 1]$ in five even steps, and read the table below from top to bottom. **Predict** first: at one end मैं ties with जाता, at the
# other with स्कूल and हूँ. Does मैं have to share in the middle too?

# %%
shares = np.linspace(0, 1, 5)
settings = np.array([(1 - share) * s1 + share * s2 for share in shares])  # (5, D)
moved = np.array([attend(state, H)[1] for state in settings])  # (5, S)
labels = [f"s = [{state[0]:.2f}, 0, {state[2]:.2f}]" for state in settings]
for label, row in zip(labels, moved):
    print(f"{label}   weights {show(row)}   context {show(row @ H)}")

# %% tags=["nbval-ignore-output"]
title = "The question turns, the weights follow"
heatmap(moved, words, labels, title, target_name="decoder state")

# %% [markdown]
# **What you saw.** In the middle मैं leads alone. Its score is 1 all the way, since $h_1$ answers both questions equally well, while जाता gives way before स्कूल and हूँ have caught up.
# The weights change smoothly with the state. That smoothness is what lets training adjust them, little by little.

# %% [markdown]
# Now do it by hand. Drag the three entries of the state. **Predict** before each: (a) from $s_1$, raise entry 2 to 1: which weight grows most? (b) At temperature
# 0.1, what is left of स्कूल? At 5? (c) Let both places of padding take part. (d) Which state makes all weights equal, and where does the context lie then?

# %% tags=["nbval-ignore-output"]
from lib.explore import worked_example

worked_example()

# %% [markdown]
# **What you saw.** The context (black) never leaves the area between the states it averages. A low temperature pulls it to the winner, or, with a tie, to the middle of the winners. Padding pulls it
# towards the origin. The state of zeros asks nothing, and the context is the plain mean.
#
# To (a): the weight of जाता grows most, from 0.3995 to 0.5600, since its score rises from 1 to 2. To (d): the state of zeros, and no other; the context is then
# $[0.25, 0.5, 0.75]$, the mean of the four states.

# %% [markdown] tags=["exercise-place"]
# ## Try it yourself
#
# Each exercise is a function to write. Fill in its body, run its cell, then run the `check` below it: your function is tried on
# many shapes against another computation, and a mistake that is known gets its name. `hint("2.1")` gives a hint, a stronger one each time;
# `solution("2.1")` shows ours once you have tried.

# %%
from lib.exercises import check, hint, solution

# %% [markdown]
# ### Exercise 2.1 · Dot scores, all at once
#
# *easy, 5 minutes*
#
# Write `dot_scores(queries, keys)` in NumPy, without a loop: entry [t, i] is the dot product of query t and key i.
#
# - `queries`: shape (T, D), one decoder state a row. `keys`: shape (S, D), one encoder state a row.
# - Result: shape (T, S): a row for each question, a column for each source word.


# %%
def dot_scores(queries: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """The dot product of every query with every key."""
    ...


# %%
check("2.1", dot_scores)

# %% [markdown]
# ### Exercise 2.2 · A softmax that survives 1000
#
# *easy, 10 minutes*
#
# Write `tempered_softmax(scores, temperature)` in NumPy: over the last axis, entry i is exp(e_i / temperature),
# divided by the sum of these over the row.
#
# - `scores`: shape (S), (T, S) or (B, T, S), any size of numbers, ±1000 as well. `temperature`: a number above 0.
# - Result: the shape and the type of `scores`; every row sums to 1. `scores` itself stays as it was.


# %%
def tempered_softmax(scores: np.ndarray, temperature: float) -> np.ndarray:
    """Softmax over the last axis, at a temperature."""
    ...


# %%
check("2.2", tempered_softmax)

# %% [markdown]
# ### Exercise 2.3 · A whole decode step
#
# *medium, 20 minutes*
#
# Write `decode_step(state, states, mask, output)` in NumPy: score, normalise, combine, generate.
#
# - `state`: shape (D), the decoder's state, the question. `states`: shape (S, D), the encoder's states, keys and
#   values.
# - `mask`: shape (S), boolean, True for a real word. Weights on padding are exactly 0; a sentence without a real word
#   has weights of zero, and a context of zeros.
# - `output`: shape (V, 2 D), the matrix of the output layer, which reads [state; context] as in section 9.
# - Result: three things, `(word, context, weights)`: the number of the most likely target word (an `int`), shape (D),
#   shape (S).


# %%
def decode_step(
    state: np.ndarray, states: np.ndarray, mask: np.ndarray, output: np.ndarray
) -> tuple[int, np.ndarray, np.ndarray]:
    """One step of the decoder: the word it writes, the context, the weights."""
    ...


# %%
check("2.3", decode_step)

# %% [markdown]
# ### Without a checker
#
# *(15 minutes, your own)* **A program that shows the idea.** Write a short program in which one question is put to several states, and whose output makes the core idea visible to someone who
# has not read this notebook. Run it with at least three different questions: one where a single state wins, one with a tie, and one where all weights are equal. Say for each, before you run
# it, what it will print.
#
# The masked softmax for a whole batch and the additive score of section 14 are exercises 3.1 and 3.2 of the next notebook.

# %% [markdown] tags=["bug-lab-place"]
# ## Bug lab: the picture that is one row off
#
# *easy, 10 minutes* · `hint("2.bug")`
#
# A colleague draws where the decoder looks. No error, no warning: as many rows as labels, every row sums to 1. Yet
# the picture says that *I* looks at जाता and *school* at हूँ. This function prepares the rows of the picture.
#
# - `read`: a list of shape (T), the word that the decoder takes in at each step; the first is `<s>`.
# - `written`: a list of shape (T), the word that it gives out at each step. In training the two lists do not follow
#   from each other: the decoder reads the reference, whatever it writes.
# - `weights`: shape (T, S), where it looked at each step.
# - Result: the labels, a list of shape (T), and the rows, shape (T, S), so that each row explains the word beside it.
#
# Say first at which end of the decoder each list is found. Then repair the function.


# %%
def picture_rows(read: list[str], written: list[str], weights: np.ndarray) -> tuple[list[str], np.ndarray]:
    return read, weights


# %% tags=["nbval-ignore-output"]
fed = ["<s>", "I", "go", "to", "school"]
weights = np.array([weights for _, _, weights, _, _ in steps])  # (T, S)
labels, rows = picture_rows(fed, written, weights)
heatmap(rows, words, labels, "The colleague's picture")

# %%
check("2.bug", picture_rows)

# %% [markdown] tags=["recall-place"]
# ## Recall
#
# Answer from memory, without scrolling up. You see an answer only after an attempt; a wrong one is told why. What you had to dig for comes back when
# you are about to forget it: in notebook 06, or in a terminal with `python3 run.py review`. Without a kernel, the questions stand here as text with folded answers.

# %%
from lib.recall import recall

recall("02")

# %% [markdown]
# ## Summary
#
# - Score, normalise, combine, generate: attention is a weighted average of encoder states, with weights from a softmax over scores.
# - Equal scores give equal weights. Adding the same number to all scores changes nothing; multiplying them makes the weights sharper or flatter.
# - Each decoder step computes its own weights from its own state. The word is chosen from state *and* context, and goes back in.
# - Attention sees states, not words. Order and context come from the encoder, so it still has to be recurrent, or be replaced by something that knows positions.
# - Mask the score before the softmax. A zero vector is not a mask, and a weight set to 0 afterwards is not one either.
#
# ## Read on
#
# Bahdanau, Cho and Bengio 2014: *Neural Machine Translation by Jointly Learning to Align and Translate* (arXiv 1409.0473) · Luong, Pham and Manning 2015: *Effective Approaches to Attention-based Neural Machine
# Translation* (arXiv 1508.04025) · next: [03 · Additive or dot: five scores, one model](03_additive_and_dot.ipynb), where the scores are trained and compared.
