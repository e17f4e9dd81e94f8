"""Ids to padded batches: stand-in."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, fields

import torch
from torch import Tensor

Encoded = tuple[list[int], list[int]]


@dataclass(frozen=True)
class Batch:
    source: Tensor
    source_mask: Tensor
    target_in: Tensor
    target_out: Tensor
    target_mask: Tensor
    indices: Tensor

    def to(self, device):
        return Batch(*(getattr(self, f.name).to(device) for f in fields(self)))


def pad(sequences, pad_id=0):
    longest = max(map(len, sequences))
    ids = torch.full((len(sequences), longest), pad_id)
    mask = torch.zeros(len(sequences), longest, dtype=torch.bool)
    for r, s in enumerate(sequences):
        ids[r, : len(s)] = torch.tensor(s, dtype=torch.long)
        mask[r, : len(s)] = True
    return ids, mask


def encode_pairs(pairs, source_tokenizer, target_tokenizer):
    return [([*source_tokenizer.encode(p.source), 3], target_tokenizer.encode(p.target)) for p in pairs]


def batches(encoded, batch_size, seed=0, epoch=0, bucket=True) -> Iterator[Batch]:
    rng = random.Random(f"{seed}/{epoch}")
    order = list(range(len(encoded)))
    rng.shuffle(order)
    if bucket:
        order.sort(key=lambda i: (len(encoded[i][0]), len(encoded[i][1])))
    groups = [order[i : i + batch_size] for i in range(0, len(order), batch_size)]
    rng.shuffle(groups)
    for g in groups:
        s, sm = pad([encoded[i][0] for i in g])
        ti, tm = pad([[2, *encoded[i][1]] for i in g])
        to, _ = pad([[*encoded[i][1], 3] for i in g])
        yield Batch(s, sm, ti, to, tm, torch.tensor(g))
