"""4.1 · The shift of teacher forcing · easy · 10 minutes

Write `shift(sentences, bos, eos, pad)` in PyTorch: what the decoder reads and what it should write.

- `sentences`: a list of B target sentences, each a list of ids without marks; one of them may be empty. `bos`,
  `eos`, `pad`: the ids of `<s>`, `</s>` and padding.
- Result: three tensors, `(read, write, mask)`, each of shape (B, T), where T is the longest sentence plus 1. `read`
  and `write` hold `torch.long`. `mask` is boolean, True where `write` is to be predicted, `</s>` included.
- An id in a sentence may be equal to `pad`: only the lengths say what is real.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

NAME = "shift"
HINTS = (
    "Write both rows for `I go` on paper, one below the other. How long is each?",
    "`<s>` stands only in what is read, `</s>` only in what is written. Where does `</s>` stand in a short "
    "sentence of a wide batch?",
    "Build each row as a list, mark, words and padding, and make the tensor at the end. The mask follows from "
    "`len(sentence) + 1`.",
)


def stub(sentences: list[list[int]], bos: int, eos: int, pad: int) -> tuple[Tensor, Tensor, Tensor]:
    """What the decoder reads, what it should write, and where."""
    ...


def solution(sentences: list[list[int]], bos: int, eos: int, pad: int) -> tuple[Tensor, Tensor, Tensor]:
    width = max(map(len, sentences))
    gaps = [[pad] * (width - len(sentence)) for sentence in sentences]
    read = torch.tensor([[bos, *sentence, *gap] for sentence, gap in zip(sentences, gaps, strict=True)])
    write = torch.tensor([[*sentence, eos, *gap] for sentence, gap in zip(sentences, gaps, strict=True)])
    lengths = torch.tensor([len(sentence) + 1 for sentence in sentences])
    return read, write, torch.arange(width + 1)[None] < lengths[:, None]


def reference(sentences: list[list[int]], bos: int, eos: int, pad: int) -> tuple[Tensor, Tensor, Tensor]:
    """Place by place."""
    shape = len(sentences), 1 + max(map(len, sentences))
    read, write, mask = torch.full(shape, pad), torch.full(shape, pad), torch.zeros(shape, dtype=torch.bool)
    for b, sentence in enumerate(sentences):
        read[b, 0], write[b, len(sentence)] = bos, eos
        for t, word in enumerate(sentence):
            read[b, t + 1] = write[b, t] = word
        mask[b, : len(sentence) + 1] = True
    return read, write, mask


def violation(result: tuple, sentences: list[list[int]], bos: int, eos: int, pad: int) -> str | None:
    read, write, mask = (part.tolist() for part in result)
    for b, sentence in enumerate(sentences):
        if sum(mask[b]) != len(sentence) + 1:
            return f"row {b} of the mask has {sum(mask[b])} True; its sentence has {len(sentence)} words and a </s>"
        real = [word for word, keep in zip(write[b], mask[b], strict=True) if keep]
        if real.count(eos) != 1:
            return f"the real part of row {b} of `write` holds </s> {real.count(eos)} times; it must be once"
        if read[b][0] != bos:
            return f"row {b} of `read` begins with {read[b][0]}; the first thing a decoder reads is <s>, here {bos}"
    return None


def _rows(sentences, build, pad):
    """Padded rows and their lengths."""
    rows = [build(sentence) for sentence in sentences]
    width = max(map(len, rows))
    return torch.tensor([row + [pad] * (width - len(row)) for row in rows])


def _mask(sentences, extra=1, width=None):
    lengths = torch.tensor([len(sentence) for sentence in sentences])
    return torch.arange(width or (int(lengths.max()) + 1))[None] < lengths[:, None] + extra


def wrong_no_shift(sentences, bos, eos, pad):
    """Nothing is shifted: the decoder reads the very word that it should write, and learns to copy it. Its loss falls
    to zero, and without the reference it can do nothing."""
    write = _rows(sentences, lambda words: [*words, eos], pad)
    return write.clone(), write, _mask(sentences)


def wrong_same_start(sentences, bos, eos, pad):
    """`write` begins with `<s>` as well. The decoder should write the word *after* the one it reads, and never
    `<s>`."""
    read = _rows(sentences, lambda words: [bos, *words], pad)
    return read, read.clone(), _mask(sentences)


def wrong_exchanged(sentences, bos, eos, pad):
    """Reading and writing have changed places: yours shifts the other way, towards the past."""
    read, write = (_rows(sentences, build, pad) for build in (lambda w: [bos, *w], lambda w: [*w, eos]))
    return write, read, _mask(sentences)


def wrong_end_at_edge(sentences, bos, eos, pad):
    """`</s>` stands at the right edge of the batch, after the padding. Each sentence ends where its own words end."""
    read = _rows(sentences, lambda words: [bos, *words], pad)
    words = _rows(sentences, lambda words: [*words, pad], pad)[:, :-1]
    return read, torch.cat([words, torch.full((len(sentences), 1), eos)], dim=1), _mask(sentences)


def wrong_no_end(sentences, bos, eos, pad):
    """`</s>` is missing from what is to be written. A model that is never shown an end does not stop."""
    read = _rows(sentences, lambda words: [bos, *words], pad)
    return read, _rows(sentences, lambda words: [*words, pad], pad), _mask(sentences)


def wrong_end_not_counted(sentences, bos, eos, pad):
    """Your mask leaves out `</s>`: it is written there, but the loss does not count it, and the model does not learn
    to stop."""
    read, write = (_rows(sentences, build, pad) for build in (lambda w: [bos, *w], lambda w: [*w, eos]))
    return read, write, _mask(sentences, extra=0)


def wrong_one_too_long(sentences, bos, eos, pad):
    """Both rows carry both marks. After `</s>` there is nothing to write, so the decoder need not read it; T should
    be one less."""
    read = _rows(sentences, lambda words: [bos, *words, eos], pad)
    write = _rows(sentences, lambda words: [*words, eos, pad], pad)
    return read, write, _mask(sentences, width=read.shape[1])


def wrong_mask_from_ids(sentences, bos, eos, pad):
    """You take the mask from `write != pad`. Where a real word has that id, or padding is done with `</s>`, it is
    wrong; only the lengths are sure."""
    read, write = (_rows(sentences, build, pad) for build in (lambda w: [bos, *w], lambda w: [*w, eos]))
    return read, write, write != pad


def cases() -> Iterator[tuple[str, tuple]]:
    yield "an empty sentence", ([[]], 1, 2, 0)
    yield "one word", ([[7]], 1, 2, 0)
    yield "two words", ([[7, 8]], 1, 2, 0)
    yield "a long and a short sentence", ([[7, 8, 9], [5]], 1, 2, 0)
    yield "padding done with </s>", ([[7, 8], [5]], 1, 2, 2)
    yield "three sentences, one empty", ([[7, 8, 9, 6], [], [5, 4]], 2, 3, 0)
