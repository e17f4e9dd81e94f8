"""Batches: every pair once an epoch, the shift by one asserted literally, and little padding on real data."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import torch

from lib.batching import Batch, Encoded, batches, encode_pairs, make_batch, pad, real_token_share
from lib.corpus import Pair, load
from lib.text import EOS, UNK, WordTokenizer

DATA: list[Encoded] = [([10 + n] * (1 + n % 7) + [EOS], [50 + n] * (n % 5)) for n in range(53)]


def places(stream) -> list[list[int]]:
    return [batch.indices.tolist() for batch in stream]


# ------------------------------------------------------------------------------------------------ padding


def test_the_shift_is_literal() -> None:
    """Targets of different lengths in one batch, one of them empty."""
    batch = make_batch([([7, 8, 3], [5, 6]), ([9, 3], [4]), ([3], [])], [2, 0, 1])
    assert batch.source.tolist() == [[7, 8, 3], [9, 3, 0], [3, 0, 0]]
    assert batch.source_mask.tolist() == [[True, True, True], [True, True, False], [True, False, False]]
    assert batch.target_in.tolist() == [[2, 5, 6], [2, 4, 0], [2, 0, 0]]
    assert batch.target_out.tolist() == [[5, 6, 3], [4, 3, 0], [3, 0, 0]]
    assert batch.target_mask.tolist() == [[True, True, True], [True, True, False], [True, False, False]]
    assert batch.indices.tolist() == [2, 0, 1]
    assert batch.source.dtype == batch.target_in.dtype == batch.target_out.dtype == torch.long
    assert batch.source_mask.dtype == batch.target_mask.dtype == torch.bool


def test_pad_by_hand() -> None:
    ids, mask = pad([[5], [], [6, 7]], pad_id=9)
    assert ids.tolist() == [[5, 9], [9, 9], [6, 7]]
    assert mask.tolist() == [[True, False], [False, False], [True, True]]


@pytest.mark.parametrize("rows", [1, 3])
def test_only_empty_sequences_are_one_column_of_padding(rows: int) -> None:
    ids, mask = pad([[]] * rows)
    assert ids.shape == mask.shape == (rows, 1)
    assert ids.tolist() == [[0]] * rows and not mask.any()
    assert ids.dtype == torch.long


def test_no_sequences_are_an_empty_rectangle() -> None:
    ids, mask = pad([])
    assert len(ids) == len(mask) == 0 and ids.shape == mask.shape
    assert ids.dtype == torch.long and mask.dtype == torch.bool


def test_the_mask_counts_tokens_not_ids() -> None:
    """A real token whose id is that of padding is still real."""
    assert pad([[0, 1], [1]])[1].tolist() == [[True, True], [True, False]]


def test_encode_pairs_by_hand() -> None:
    hindi, english = WordTokenizer.train(["क ख"], "hi"), WordTokenizer.train(["a b"], "en")
    pairs = [Pair("ख क", "a"), Pair("ग", "b b x"), Pair("", "")]
    assert encode_pairs(pairs, hindi, english) == [([5, 4, EOS], [4]), ([UNK, EOS], [5, 5, UNK]), ([EOS], [])]


def test_moving_keeps_everything() -> None:
    batch = make_batch(DATA[:5], range(5))
    moved = batch.to(torch.device("cpu"))
    assert isinstance(moved, Batch)
    assert all(torch.equal(getattr(moved, name), getattr(batch, name)) for name in vars(batch))
    meta = batch.to(torch.device("meta"))
    assert all(getattr(meta, name).device.type == "meta" for name in vars(batch))


# ------------------------------------------------------------------------------------------------ an epoch


@pytest.mark.parametrize("bucket", [True, False])
@pytest.mark.parametrize("size", [1, 2, 8, 53, 100])
def test_every_pair_once_an_epoch(size: int, bucket: bool) -> None:
    for epoch in range(3):
        groups = places(batches(DATA, size, seed=1, epoch=epoch, bucket=bucket))
        assert sorted(place for group in groups for place in group) == list(range(53))
        assert sorted(map(len, groups), reverse=True)[:-1] == [size] * (len(groups) - 1)
        assert len(groups) == -(-53 // size)


def test_the_rows_are_those_of_the_places() -> None:
    for batch in batches(DATA, 8):
        for row, place in enumerate(batch.indices.tolist()):
            source, target = DATA[place]
            assert batch.source[row][batch.source_mask[row]].tolist() == source
            assert batch.target_in[row][batch.target_mask[row]].tolist() == [2, *target]
            assert batch.target_out[row][batch.target_mask[row]].tolist() == [*target, 3]
            assert not batch.source[row][~batch.source_mask[row]].any()
            assert not batch.target_out[row][~batch.target_mask[row]].any()


@pytest.mark.parametrize("bucket", [True, False])
def test_the_order_follows_from_seed_and_epoch_alone(bucket: bool) -> None:
    def order(seed: int, epoch: int) -> list[list[int]]:
        return places(batches(DATA, 8, seed, epoch, bucket))

    first = order(0, 0)
    torch.manual_seed(99)
    assert order(0, 0) == first
    assert len({str(order(seed, epoch)) for seed in range(3) for epoch in range(3)}) == 9


def test_two_processes_make_the_same_batches() -> None:
    program = (
        "from lib.batching import batches\n"
        "data = [([5] * (n % 9) + [3], [6] * (n % 4)) for n in range(100)]\n"
        "print([batch.indices.tolist() for batch in batches(data, 7, seed=3, epoch=2)])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(outputs) == 1


def test_batches_do_not_change_the_data() -> None:
    before = [(list(source), list(target)) for source, target in DATA]
    list(batches(DATA, 8))
    assert before == DATA


def test_length_does_not_rise_over_the_epoch() -> None:
    data = [([5] * n + [EOS], [6]) for n in range(200)]
    widths = [batch.source.shape[1] for batch in batches(data, 10)]
    assert widths != sorted(widths) and widths != sorted(widths, reverse=True)


def test_equal_lengths_meet_in_new_company() -> None:
    data = [([5, EOS], [6])] * 40
    epochs = [{frozenset(group) for group in places(batches(data, 8, epoch=epoch))} for epoch in (0, 1)]
    assert epochs[0] != epochs[1]


# ------------------------------------------------------------------------------------------------ several processes


@pytest.mark.parametrize(("size", "world"), [(8, 2), (8, 3), (4, 4), (53, 5), (13, 4), (26, 2)])
def test_processes_share_every_batch(size: int, world: int) -> None:
    """Equally many steps for all, nobody without a pair, together every pair once: the batches of one process."""
    alone = places(batches(DATA, size, seed=1))
    shares = [places(batches(DATA, size, seed=1, rank=rank, world=world)) for rank in range(world)]
    together = [sorted(sum(step, [])) for step in zip(*shares, strict=True)]
    assert sorted(sum(together, [])) == list(range(53))
    assert all(step for share in shares for step in share)
    if 53 % size == 0 or 53 % size >= world:  # else the few that are left over go with the batch before
        assert together == [sorted(step) for step in alone]
    else:
        assert len(together) == len(alone) - 1


def test_wrong_shares_are_refused() -> None:
    for rank, world in ((2, 2), (-1, 2), (0, 0)):
        with pytest.raises(ValueError, match=f"rank={rank} and world={world}"):
            batches(DATA, 8, rank=rank, world=world)
    with pytest.raises(ValueError, match="batch_size=2 and 53 pairs .* 3 processes"):
        batches(DATA, 2, world=3)
    with pytest.raises(ValueError, match="batch_size=8 and 2 pairs .* 3 processes"):
        batches(DATA[:2], 8, world=3)


# ------------------------------------------------------------------------------------------------ how much is real


def test_share_by_hand() -> None:
    """Source 3 + 1 of 2 × 3, target with its mark 2 + 1 of 2 × 2: 7 of 10."""
    assert real_token_share([make_batch([([7, 8, 3], [5]), ([3], [])], [0, 1])]) == 0.7


def test_buckets_leave_little_padding_on_real_data() -> None:
    pairs = load("train")[:6_000]
    hindi, english = WordTokenizer.train(pairs.sources, "hi"), WordTokenizer.train(pairs.targets, "en")
    data = encode_pairs(pairs, hindi, english)
    bucketed = real_token_share(batches(data, 64))
    assert 0.9 <= bucketed <= 1.0
    assert real_token_share(batches(data, 64, bucket=False)) < bucketed - 0.2


# ------------------------------------------------------------------------------------------------ errors


def test_errors_are_clear() -> None:
    for size in (0, -1):
        with pytest.raises(ValueError, match=f"batch_size={size}: .* at least one"):
            next(batches(DATA, size))
    with pytest.raises(ValueError, match="no pairs"):
        next(batches([], 4))
    with pytest.raises(ValueError, match="no batches"):
        real_token_share([])
