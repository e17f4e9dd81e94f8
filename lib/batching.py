"""From pairs to padded batches: sentences of similar length share a batch, every one exactly once in an epoch.

Letters: B batch, S source length, T target length. A mask is boolean and True means a real token.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from lib.corpus import Pair
from lib.text import BOS, EOS, PAD, Tokenizer, WordTokenizer

Encoded = tuple[list[int], list[int]]  # source ids with </s>; target ids with neither <s> nor </s>


@dataclass(frozen=True)
class Batch:
    """Padded sentences. `target_in` is what the decoder reads (`<s> a b`), `target_out` what it should write."""

    source: Tensor  # (B, S)
    source_mask: Tensor  # (B, S)
    target_in: Tensor  # (B, T)
    target_out: Tensor  # (B, T)
    target_mask: Tensor  # (B, T)
    indices: Tensor  # (B) places in the data

    def to(self, device: torch.device) -> Batch:
        """The same batch on another device."""
        return Batch(*(getattr(self, part.name).to(device) for part in fields(self)))


def pad(sequences: Sequence[Sequence[int]], pad_id: int = PAD) -> tuple[Tensor, Tensor]:
    """Fill up to the longest: ids (B, L) and mask (B, L). An empty sequence is all padding; L is at least 1."""
    longest = max(1, *map(len, sequences)) if sequences else 1
    ids = torch.tensor([[*row, *[pad_id] * (longest - len(row))] for row in sequences], dtype=torch.long)
    lengths = torch.tensor([len(row) for row in sequences])
    return ids.view(-1, longest), torch.arange(longest)[None] < lengths[:, None]


def encode_pairs(
    pairs: Iterable[Pair], source_tokenizer: Tokenizer | WordTokenizer, target_tokenizer: Tokenizer | WordTokenizer
) -> list[Encoded]:
    """Ids of every pair. The source ends with `</s>`, so it is never empty."""
    end = source_tokenizer.eos_id
    return [([*source_tokenizer.encode(pair.source), end], target_tokenizer.encode(pair.target)) for pair in pairs]


def batches(
    data: Sequence[Encoded],
    batch_size: int,
    seed: int = 0,
    epoch: int = 0,
    bucket: bool = True,
    rank: int = 0,
    world: int = 1,
    first: int = 0,
) -> Iterator[Batch]:
    """One epoch: every pair once, in an order that follows from seed and epoch alone.

    bucket: put sentences of similar length together. Pairs are shuffled first, so those of equal length meet in new
    company each epoch; then whole batches are shuffled, so that length does not rise over the epoch.

    rank, world: of `world` processes this is number `rank`, and it gets its share of every batch. All take equally
    many steps, and together, at each step, they see the `batch_size` pairs that one process alone would see.

    first: begin with this batch of the epoch; those before it are not even made.

    Raises:
        ValueError: no data, a batch smaller than 1 or than the number of processes, a rank outside 0 … world - 1.
    """
    _check_sizes(len(data), batch_size, rank, world)
    order = list(range(len(data)))
    generator = random.Random(f"{seed} {epoch}")
    generator.shuffle(order)
    if bucket:
        order.sort(key=lambda place: (len(data[place][0]), len(data[place][1])))
    groups = [order[start : start + batch_size] for start in range(0, len(order), batch_size)]
    if len(groups[-1]) < world:  # too few for a share each: they go with the batch before
        groups[-2:] = [groups[-2] + groups[-1]]
    generator.shuffle(groups)
    shares = (places[rank::world] for places in groups[first:])
    return (make_batch([data[place] for place in places], places) for places in shares)


def batches_per_epoch(pairs: int, batch_size: int, world: int = 1) -> int:
    """How many batches `batches` makes of so many pairs; a last one too small for a share each is no batch."""
    full, rest = divmod(pairs, batch_size)
    return full + (rest >= world)


def _check_sizes(pairs: int, batch_size: int, rank: int, world: int) -> None:
    if batch_size < 1:
        raise ValueError(f"batch_size={batch_size}: a batch has at least one sentence")
    if not pairs:
        raise ValueError("there are no pairs to make batches of")
    if not 0 <= rank < world:
        raise ValueError(f"rank={rank} and world={world}: ranks count from 0 to world - 1")
    if min(batch_size, pairs) < world:
        raise ValueError(
            f"batch_size={batch_size} and {pairs} pairs cannot be shared by {world} processes: each needs a sentence"
        )


def make_batch(rows: Sequence[Encoded], places: Sequence[int]) -> Batch:
    """Pad some pairs; the target is shifted by one for teacher forcing."""
    source, source_mask = pad([source for source, _ in rows])
    target_in, target_mask = pad([[BOS, *target] for _, target in rows])
    target_out, _ = pad([[*target, EOS] for _, target in rows])
    return Batch(source, source_mask, target_in, target_out, target_mask, torch.tensor(places))


def fingerprint(data: Sequence[Encoded], most: int = 10_000) -> tuple[int, int]:
    """The number of pairs and a checksum of at most about so many of them, to recognise the same data again."""
    check = 0
    for place in range(0, len(data), max(1, len(data) // most)):
        check = zlib.crc32(repr(data[place]).encode(), check)
    return len(data), check


def real_token_share(stream: Iterable[Batch]) -> float:
    """Real tokens among all that are computed, source and target together, between 0 and 1."""
    real = computed = 0
    for batch in stream:
        for mask in (batch.source_mask, batch.target_mask):
            real, computed = real + int(mask.sum()), computed + mask.numel()
    if not computed:
        raise ValueError("there are no batches to count tokens in")
    return real / computed
