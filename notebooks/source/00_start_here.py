# %% [markdown]
# # 00 · Start here
#
# A Hindi sentence goes in, an English one comes out:
#
# > मैं स्कूल जाता हूँ → *I go to school*
#
# Four words, and only the first keeps its place. Hindi says *I – school – go – am*, English *I – go – to – school*. The verb
# has moved, *to* has appeared from nowhere, and the last Hindi word has dissolved into *go*. A program that reads from left to right and
# forgets what it has passed cannot do this: the second English word needs the third Hindi one. This course is about the idea that made such
# reaching back possible, **attention**, from one step by pencil to a trained system and to the threshold of the Transformer.
#
# Three words come up in every notebook. The **encoder** is the half of such a program that reads the Hindi sentence, one word after the other,
# and keeps what it has read as a list of numbers, its *state*. The **decoder** is the half that writes the English one. It begins with what the
# encoder hands over and with a start sign `<s>`, writes one word at a time, and reads back each word it has written. It stops when it writes the **end
# sign** `</s>`, which it chooses as it chooses any word. Without attention, the encoder hands over its last state alone; with attention, the decoder
# may look at the states of all words.
#
# **What you need.** Python and a first acquaintance with PyTorch (tensors, a module, a training loop). You do not need Hindi.
#
# **What you will be able to do after this notebook**
#
# - find your way through the course, and know how long each part takes;
# - check that your machine has all it needs, Hindi letters included;
# - use predictions and recall so that you remember more than you read.
#
# **Time on two cores:** 10 minutes to read, 4 for the questions, a few seconds of running.
#
# ## What is special here
#
# Every claim in this course is *measured in it*, on your machine, while you watch. "One fixed vector is a bottleneck" is a curve with intervals.
# The calculation by hand is repeated by the library to the last digit. "Attention looks at the right word" is an error rate against alignments that are
# known to be right. "A Transformer is the same recipe renamed" is an equality with PyTorch's own code.
#
# | notebook | question | minutes to read | to run | exercises + recall |
# |---|---|---|---|---|
# | 01 The bottleneck | what is lost when a sentence must pass through one vector? | 40 | 3–6 | 45 + 31 |
# | 02 Attention by hand | what exactly is computed, number by number? | 75 | ¼ | 45 + 46 |
# | 03 Additive or dot | which score, at what cost, and when is it asked? | 45 | 2–4 | 60 + 27 |
# | 04 A full training | what does a real system need, and how is it measured? | 60 | 3–5 | 70 + 34 |
# | 05 Queries, keys and values | how does this become a Transformer? | 50 | 2–4 | 50 + 28 |
# | 06 Review | what am I about to forget? | 10 | ¼ | – |
#
# The last column is in minutes too: those that the exercises and the bug lab name, and one for each recall question. Tasks without a checker come on
# top. With all of it, a notebook takes two to three hours; you need not do it in one sitting.
#
# ## 1. Does your machine have what it needs?
#
# Each line names a package, the least version the course needs, and whether yours will do.

# %%
from lib.environment import check_environment

for line in check_environment():
    print(line)

# %% [markdown]
# Anything that is not *ok*? Close this, and in the course's folder run `python3 run.py lab` once more (or
# `pip install -r requirements.txt` if you installed by hand).
#
# ## 2. Hindi on your screen
#
# In Devanagari, letters join and change places: in कि the sign ि is *typed* after क and *drawn* before it; क + ् + ष becomes क्ष. Pictures in
# this course are drawn by matplotlib, which needs a shaping engine for that. Compare the picture with the text:
#
# > कि &nbsp;&nbsp; क्ष &nbsp;&nbsp; हिन्दी &nbsp;&nbsp; विद्यार्थी &nbsp;&nbsp; ▁किताब
#
# Boxes in this *text* instead of letters? Then your system has no font for Hindi. On Debian and Ubuntu, `sudo apt install fonts-noto-core` (or
# `fonts-deva`) brings one; afterwards start the browser again. Windows and macOS come with one. The course's *pictures* bring their own font, so they can be
# right where the text is not.

# %%
from lib.plots import heatmap, use_course_style

use_course_style()
alt = "A heat map with five Hindi samples as labels. They should look as in the text above."
samples = ["कि", "क्ष", "हिन्दी", "विद्यार्थी", "▁किताब"]
heatmap(
    [[0.5, 0.2, 0.1, 0.1, 0.1], [0.1, 0.1, 0.2, 0.2, 0.4]], samples, ["first", "second"], title="Letters", alt=alt
)

# %% [markdown]
# ## 3. The language you will work with
#
# The course has a language of its own: correct Hindi, made by a grammar, with one right English translation for each sentence and with
# links that say which English word comes from which Hindi word. These few words come back most often:
#
# | Hindi | say | meaning |
# |---|---|---|
# | मैं | *maiṁ* | I |
# | वह | *vah* | he, she |
# | स्कूल | *skūl* | school |
# | जाता | *jātā* | goes, going (of a man or boy) |
# | गया | *gayā* | went (of a man or boy) |
# | हूँ | *hūm̐* | am |
# | है | *hai* | is |
# | कल | *kal* | yesterday, tomorrow |
#
# Here are two sentences of the training set that have कल in them, each of one clause. कल is *yesterday* or *tomorrow*; what tells them apart?

# %%
from lib.corpus import load

train = load("train")
print(f"{len(train):,} pairs to learn from")
for tense in ("yesterday", "tomorrow"):
    found = (pair for pair in train if "kal" in pair.tags and "coordination" not in pair.tags)
    pair = next(pair for pair in found if tense in pair.target)
    print(f"\n{pair.source}\n{pair.target}")

# %% [markdown]
# The verb, at the very end. In a longer sentence it is the verb of the clause that कल stands in. And the links of one short sentence, as the grammar knows them:

# %%
from lib.text import words

pair = next(pair for pair in train if len(words(pair.source)) == 5 and "kal" in pair.tags)
hindi, english = words(pair.source), words(pair.target)
for source, target in pair.sure:
    print(f"{hindi[source]} – {english[target]}")

# %% [markdown]
# Thirteen things that Hindi and English do differently are marked in it, and each will be measured apart in notebook 04:

# %%
from lib.grammar import TAGS

print(", ".join(TAGS))

# %% [markdown]
# ## 4. How fast is it, and which versions?
#
# One training step of a model somewhat larger than those of the notebooks, measured here. The times on the first page of each notebook are for two cores that need about
# 100 milliseconds for it; expect yours to scale. The versions are for a question to someone else.

# %% tags=["nbval-ignore-output"]
from lib.environment import milliseconds_per_step, versions

print(f"{milliseconds_per_step():.0f} ms a training step")
for name, version in versions().items():
    print(f"{name:29} {version}")

# %% [markdown]
# ## 5. How to learn with this course
#
# Reading feels like learning, and mostly is not. Two habits make the difference:
#
# 1. **Predict, then run.** Before each experiment you find a line that begins with **Predict**. Write your answer down, on paper, before you run the
#    cell. A wrong prediction is worth more than a right one: it shows you the idea you did not know you had.
# 2. **Recall.** At the end of each notebook stand questions. Answer them without looking, in words or numbers, and only then open the answer.
#    Come back after a day, a week, a month: what you had to dig for stays.
#
# Try it now, with questions on what you have just seen.

# %% [markdown] tags=["recall-place"]
# ## Recall
#
# Answer from memory, without scrolling up. You see an answer only after an attempt; a wrong one is told why. What you had to dig for comes back when
# you are about to forget it: in notebook 06, or in a terminal with `python3 run.py review`. Without a kernel, the questions stand here as text with folded answers.

# %%
from lib.recall import recall

recall("00")

# %% [markdown]
# ## Where things are
#
# - `notebooks/`: these lessons. `lib/`: the library they share; it is short and meant to be read. Start with `lib/attention.py`.
# - `data/`: the language of the course, with a data card.
# - Letters used everywhere: `B` batch, `S` source length, `T` target length, `E` embedding size, `H` hidden size, `D` size of an encoder state, `A` size
#   in which a score compares, `V` vocabulary size. Encoder states $h_i$, decoder state $s_t$, score $e_{ti}$, weight $\alpha_{ti}$, context $c_t$. A mask
#   is `True` where there is a real word. One exception: in notebook 02, `H` is the matrix of all encoder states, and `E` the table of word vectors.
#
# ## Summary
#
# - Hindi and English differ in order, in what is said in a word of its own, and in where gender shows.
# - Attention is the means to look back at the right place; the course measures each claim about it.
# - Predict before you run; recall before you open the answer.
#
# Next: [01 · The bottleneck](01_bottleneck.ipynb).
