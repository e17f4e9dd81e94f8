# %% [markdown]
# # 06 · Review
#
# What you read yesterday feels familiar today, and that feeling is a poor witness. What you could still *say*, without the page before you,
# is another matter. In one well-known experiment (Roediger and Karpicke 2006), students who read a text twice remembered more of it after five
# minutes than students who read it once and then tried to recall it. After a week it was the other way round. This notebook asks you again what you have been asked
# in the others, each question on the day when it is worth it.
#
# **What you will be able to do**
#
# - see what is due today, from all notebooks, and answer it here or in a terminal;
# - read from two pictures what you know by now, and when the next reviews fall;
# - say why a question comes back after two days, and later after two weeks;
# - find your progress, carry it to another machine, begin anew, or take the questions with you to Anki.
#
# **Time on two cores:** seconds of running, 10 minutes of reading. Then come back for some minutes a day, and run it from the top.

# %%
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from lib.bank import load_questions
from lib.journal import Journal, JournalError, local_now
from lib.plots import use_course_style
from lib.question_text import export_anki
from lib.review import calendar_picture, knowledge_picture, reset, review, summary
from lib.schedule import due, due_dates, knowledge

use_course_style()
questions = load_questions()
mine = Journal()

# %% [markdown]
# ## 1. Whose memory is this?
#
# Every answer you give in `recall("01")` and its sisters is written down as one line of a file, your *journal*. Nothing else is stored; all that you see below is
# computed from these lines. Is there anything in yours?

# %%
is_empty = not mine.read().attempts
print("No: what follows shows somebody else's." if is_empty else "Yes: what follows is yours.")

# %% [markdown]
# While yours is empty, this notebook shows the journal of somebody who is nine days into the course, and pretends that today is her tenth day,
# Wednesday 11 March 2026. Once you have answered a question in another notebook, run this one again: it is then about you. Here is what she answered,
# a line for each day: first what she had right, then what she had wrong.

# %%
start = datetime(2026, 3, 2, 18, tzinfo=UTC)  # a Monday
story = [
    (0, "01-handed-over 01-which-curve 01-leak-check", "01-bits-needed"),
    (1, "01-bits-needed 01-context-has-fixed-size", "01-buckets"),
    (2, "01-handed-over 01-leak-check 01-which-curve 01-buckets 02-tie 02-scores", "02-weights-by-pencil"),
    (3, "01-bits-needed 01-context-has-fixed-size 02-weights-by-pencil 02-context", "02-temperature"),
    (7, "02-tie 02-scores 02-weights-by-pencil 02-row-sum 01-buckets", "02-mask-with-zero 02-temperature"),
    (8, "02-mask-with-zero 03-general-scores", "03-parameters"),
]

# %% [markdown]
# Her journal is kept in a folder that vanishes with this notebook's kernel, so that it never mixes with yours.

# %%
folder = TemporaryDirectory()
somebody = Journal(Path(folder.name, "somebody.jsonl"))
for day, right, wrong in story:
    for name in right.split():
        somebody.record(name, True, now=start + timedelta(days=day))
    for name in wrong.split():
        somebody.record(name, False, now=start + timedelta(days=day))

journal, now = (somebody, start + timedelta(days=9)) if is_empty else (mine, local_now())
print(f"{len(journal.read().attempts)} answers to {len(due_dates(journal, now, questions))} questions")

# %% [markdown]
# ## 2. What is due today
#
# **Predict**, for her: `02-tie` was right on day 2 and again on day 7, `03-parameters` was wrong yesterday, `02-context` was right once, on day 3. Which of
# them are due on day 9?

# %%
print(summary(journal, now, questions).splitlines()[0].split(";")[0])
for question in due(journal, now, questions):
    print(f"notebook {question.notebook}  {question.concept.title:28} {question.id}")

# %% [markdown]
# Longest overdue first. `02-tie` is not among them: it was right twice, with days between, and rests. The other two are.
#
# **Now answer.** The next cell shows the questions that are due, whichever notebook they come from. It works as it does there: the answer appears after an attempt,
# a hint costs a little (the question comes back sooner), and a wrong answer gets its reason. Your *first* answer of a day decides when the question comes back; all later ones on
# that day are practice. So after a mistake, try again for as long as you like. (While the journal is not yours, neither is what you answer here: it
# vanishes with the kernel.)

# %% tags=["nbval-ignore-output"]
review(journal, now)

# %% [markdown]
# The same without a browser, in a terminal, from the course's folder: `python3 run.py review`.
#
# ## 3. What you know
#
# For each concept with an answer: the share of its questions that should come to mind *now*. A question counts with the probability that you still know it, which is
# near 1 on the day of a right answer and falls from then on. It counts 0 while its last review was wrong, and 0 if you have never answered it.
# So a short bar means one of two things, and the label says which.

# %%
knowledge_picture(journal, now, questions)

# %% [markdown]
# Which concept is worth opening its notebook again? One where much was answered and little is known:

# %%
shares = knowledge(journal, now, questions)  # concept: (share known, how many answered, how many there are)
of_answered = {title: share * total / answered for title, (share, answered, total) in shares.items() if answered}
weakest = min(of_answered, key=of_answered.get)
print(weakest)
print(next(question.concept.place for question in questions if question.concept.title == weakest))

# %% [markdown]
# ## 4. When the next reviews fall
#
# The next two weeks. What is overdue falls on today. If a day is too full, leave some: nothing is lost, and the longest overdue come first the next time.

# %%
calendar_picture(journal, now, questions)

# %% [markdown]
# ## 5. Why then?
#
# Ask too early, and the answer costs you nothing and teaches you nothing. Ask too late, and it is gone. The days are set by FSRS, a model of memory
# that was fitted to the reviews of thousands of learners (Ye, Su and Cao 2022, and the package `fsrs`). For each question it keeps two numbers: how hard it is
# for you, and its *stability*, the days in which the probability that you know it falls from 1 to 0.9. A review falls on the day when 0.9 is reached.
# A right answer makes the stability grow, and by more the nearer you were to forgetting; a wrong one sets it back.
#
# Suppose that you answer one question on exactly the days when it is due. **Predict:** after how many days does it come back, if every answer is right? And what does
# one mistake at the third review do?


# %%
def gaps(answers: str) -> list[int]:
    """Days to the next review after each answer, right (r) or wrong (w), each given on the day when it is due."""
    log, moment, days = Journal(Path(folder.name, f"{answers}.jsonl")), start, []
    for answer in answers:
        log.record("02-tie", answer == "r", now=moment)
        days.append((due_dates(log, moment, questions)["02-tie"] - moment.date()).days)
        moment += timedelta(days=days[-1])
    return days


found = {answers: gaps(answers) for answers in ("rrrrr", "rrwrr", "wrrrr")}
for answers, days in found.items():
    print(answers, days)

# %% [markdown]
# Five right answers carry a question for more than a year. That is why so many questions cost you only minutes a day, and fewer each week. A
# mistake brings the question back within days, and from then on its gaps grow more slowly than those of a new one: the model now takes it for a hard one.

# %%
always, one_mistake = found["rrrrr"], found["rrwrr"]
print("each right answer at least doubles the gap:", all(b >= 2 * a for a, b in zip(always, always[1:])))
print("after the mistake it is back within a week:", one_mistake[2] <= 7)
print("and then the gaps grow again, but more slowly:", one_mistake[2] < one_mistake[3] < always[1])

# %% [markdown]
# ## 6. Your history, and the file it is in
#
# The last ten answers in the journal, newest first:

# %%
for attempt in reversed(journal.read().attempts[-10:]):
    result = {True: "right", False: "wrong", None: "rated by yourself"}[attempt.correct]
    print(f"{attempt.time:%Y-%m-%d}  {attempt.question:28} {result}")

# %% [markdown]
# And the file. It is yours: text that you can open, copy and keep. It is in your user's data folder, not in the course's, so that a fresh copy of the course
# finds it again:
#
# | system | folder |
# |---|---|
# | Linux | `~/.local/share/attention-course` |
# | macOS | `~/Library/Application Support/attention-course` |
# | Windows | `%LOCALAPPDATA%\attention-course` |
#
# The variable `COURSE_DATA` names another one. On your machine, now (in a terminal: `python3 run.py review --where`):

# %% tags=["nbval-ignore-output"]
print(mine.path)

# %% [markdown]
# A line of it holds one attempt:

# %%
line = json.loads(journal.path.read_text(encoding="utf-8").splitlines()[0])
print(", ".join(line))

# %% [markdown]
# `key` is a random name for the line; it is how an import recognises lines that are there already. Lines are only ever added, each in one write, so two open notebooks lose nothing. And if one line is
# damaged, by a full disk or by an editor? It costs that line, and you are told:

# %%
damaged = Journal(Path(folder.name, "damaged.jsonl"))
for name in ("02-tie", "02-scores", "02-context"):
    damaged.record(name, True, now=start)
lines = damaged.path.read_text(encoding="utf-8").splitlines()
damaged.path.write_text("\n".join([lines[0], lines[1][:40], lines[2]]) + "\n", encoding="utf-8")

log = damaged.read()
print("read:", [attempt.question for attempt in log.attempts])
print("left out:", [problem.split(":")[0] for problem in log.damaged])

# %% [markdown]
# ## 7. Another machine, and a new beginning
#
# An export is one file. Importing it *adds* what the other journal lacks, in either direction and as often as you like; in a terminal
# `python3 run.py review --export mine.jsonl`, and there `python3 run.py review --import mine.jsonl`.

# %%
copy = Path(folder.name, "mine.jsonl")
laptop = Journal(Path(folder.name, "laptop.jsonl"))
exported = journal.export(copy)
first, _ = laptop.import_(copy)
second, _ = laptop.import_(copy)
print("all lines arrive:", first == exported)
print("a second import adds:", second)
print("the same is due on both:", due(laptop, now, questions) == due(journal, now, questions))

# %% [markdown]
# To begin anew (`python3 run.py review --reset`) takes a word of confirmation. What you had is not deleted but renamed, in the same folder.

# %%
print(reset())

# %% [markdown]
# ## 8. Anki
#
# If you review with Anki anyway, take the questions there: front the question, back its answer and the explanation, tagged by notebook and concept. Importing a newer deck
# updates the cards and keeps Anki's own schedule. The diagnoses of wrong answers stay here; a card cannot know what you answered. The export needs the package
# `genanki`, which the course does not install by itself. In a terminal: `python3 run.py review --anki course.apkg`.

# %% tags=["nbval-ignore-output"]
try:
    count = export_anki(Path(folder.name, "course.apkg"))
    print(f"{count} questions written; name a folder of your own to keep the file")
except JournalError as error:
    print(error)

# %% [markdown]
# ## Summary
#
# - Recall, not reading, is what shows you what you know, and it is what makes it stay.
# - A question comes back when you are about to lose it: after days at first, after months later.
# - The first answer of a day counts; what follows is practice.
# - Your progress is one text file, from which everything here is computed: yours to move, to copy, to begin anew.
#
# ## Read on
#
# Roediger and Karpicke 2006, *Test-Enhanced Learning*, Psychological Science 17 · Cepeda et al. 2006, *Distributed Practice in Verbal Recall Tasks*, Psychological
# Bulletin 132 · Ye, Su and Cao 2022, *A Stochastic Shortest Path Algorithm for Optimizing Spaced Repetition Scheduling*, KDD.
