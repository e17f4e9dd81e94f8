"""The library of the course: text, corpora, attention, models, search, training, evaluation, plots."""

__version__ = "0.1.0"
