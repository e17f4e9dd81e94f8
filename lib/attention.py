"""Attention in four moves: score, normalise, combine, and the mask that keeps padding out.

Read this file from top to bottom: it is the heart of the course. Every other model here, recurrent or not,
calls `attend` with one of the five scorers.

Letters: B batch, S source length, T target length, D size of a query or key, A inner size of a scorer.
A mask is boolean and True means a real token.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

Score = Callable[[Tensor, Tensor], Tensor]  # query (..., T, D), keys (..., S, D) -> (..., T, S)
# An additive score of more sums than this (16 MB of floats) is computed for a few target steps at a time.
MOST_SUMS = 2**22
# And so is one that is asked for a target step at a time, where all steps of a sentence would keep more than this.
MOST_KEPT = 2**26


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Turn scores into weights: softmax over the last axis, as if the masked positions were not there.

    alpha_i = exp(e_i) / sum_j exp(e_j), where i and j run over the positions with mask True.

    Args:
        scores: (..., S), any floating type.
        mask: boolean, broadcastable to `scores`; True is a real token. None: every position is real.

    Returns:
        (..., S). Weights on masked positions are exactly 0; a row with no real position is all zeros, and its
        gradient is zero as well, never NaN.

    Raises:
        TypeError: the mask is not boolean.
        ValueError: the mask does not fit the scores.
    """
    if mask is None:
        return torch.softmax(scores, dim=-1)
    _check_mask(scores, mask)
    # It is the score that gets the very low value, before the softmax. Zeroing weights afterwards would leave
    # rows that no longer sum to one.
    lowest = torch.finfo(scores.dtype).min
    weights = torch.softmax(scores.masked_fill(~mask, lowest), dim=-1)
    # Only a fully masked row still has weight on padding here (it is uniform). This makes it zero.
    return weights.masked_fill(~mask, 0.0)


def attend(
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    mask: Tensor | None = None,
    score: Score | None = None,
) -> tuple[Tensor, Tensor]:
    """Look up `values` by how well each key answers the query.

    e_ti = score(q_t, k_i),  alpha_t = softmax(e_t),  c_t = sum_i alpha_ti v_i

    Args:
        query: (..., T, D).
        keys: (..., S, D), already projected if the scorer projects them.
        values: (..., S, Dv).
        mask: boolean, True is a real token; (B, S), or anything that broadcasts to (..., T, S).
        score: (query, keys) -> (..., T, S); the default is `dot_score`.

    Returns:
        context (..., T, Dv) and weights (..., T, S).
    """
    scores = (score or dot_score)(query, keys)  # (..., T, S)
    if mask is not None and mask.dim() == 2 and scores.dim() > 2:
        _check_source_length(scores, mask)
        # (B, 1, …, 1, S): the same source words are real for every target step, and for every head
        mask = mask.view(len(mask), *[1] * (scores.dim() - 2), -1)
    weights = masked_softmax(scores, mask)  # (..., T, S)
    return weights @ values, weights  # (..., T, Dv), (..., T, S)


# --------------------------------------------------------------------------- the five scores, as pure functions


def dot_score(query: Tensor, keys: Tensor) -> Tensor:
    """e_ti = q_t · k_i (Luong et al. 2015). Query and keys must have the same size.

    query (..., T, D), keys (..., S, D) -> (..., T, S)
    """
    if query.shape[-1] != keys.shape[-1]:
        raise ValueError(
            f"dot_score: the query has size {query.shape[-1]} and the keys have size {keys.shape[-1]}; a dot "
            "product needs equal sizes. Use the general score, or give both the same size"
        )
    return query @ keys.transpose(-1, -2)


def scaled_dot_score(query: Tensor, keys: Tensor) -> Tensor:
    """e_ti = q_t · k_i / sqrt(D) (Vaswani et al. 2017).

    The dot product of two vectors of D independent parts with variance 1 has variance D; the division brings it
    back to 1, so that the softmax does not saturate as D grows.

    query (..., T, D), keys (..., S, D) -> (..., T, S)
    """
    return dot_score(query / math.sqrt(query.shape[-1]), keys)


def general_score(query: Tensor, keys: Tensor, weight: Tensor) -> Tensor:
    """e_ti = q_tᵀ W k_i (Luong et al. 2015). Query and keys may differ in size.

    query (..., T, Dq), keys (..., S, Dk), weight (Dq, Dk) -> (..., T, S)
    """
    return dot_score(query, F.linear(keys, weight))


def concat_score(query: Tensor, keys: Tensor, weight: Tensor, v: Tensor) -> Tensor:
    """e_ti = vᵀ tanh(W [q_t; k_i]) (Luong et al. 2015), written as it is read: join, project, squash, weigh.

    query (..., T, Dq), keys (..., S, Dk), weight (A, Dq + Dk), v (A) -> (..., T, S)
    """
    steps, source = query.shape[-2], keys.shape[-2]
    queries = query.unsqueeze(-2).expand(*query.shape[:-1], source, query.shape[-1])  # (..., T, S, Dq)
    pairs = keys.unsqueeze(-3).expand(*keys.shape[:-2], steps, source, keys.shape[-1])  # (..., T, S, Dk)
    return torch.tanh(F.linear(torch.cat([queries, pairs], dim=-1), weight)) @ v  # (..., T, S)


def additive_score(query: Tensor, keys: Tensor, query_weight: Tensor, key_weight: Tensor, v: Tensor) -> Tensor:
    """e_ti = vᵀ tanh(W_s q_t + W_h k_i) (Bahdanau et al. 2014).

    The same function as `concat_score` with W = [W_s W_h]; the difference is what it costs, since W_h k_i can be
    computed once for a sentence.

    query (..., T, Dq), keys (..., S, Dk), query_weight (A, Dq), key_weight (A, Dk), v (A) -> (..., T, S)
    """
    return _weigh_sums(F.linear(query, query_weight), F.linear(keys, key_weight), v)


def _weigh_sums(query: Tensor, keys: Tensor, v: Tensor) -> Tensor:
    """vᵀ tanh(q_t + k_i) for projected query (..., T, A) and keys (..., S, A) -> (..., T, S).

    The sums have size (..., T, S, A), which for long sentences is more than all the rest. So above `MOST_SUMS` they
    are computed for a few target steps at a time, kept no longer than that, and computed again in the backward pass.
    """
    batch = math.prod(torch.broadcast_shapes(query.shape[:-2], keys.shape[:-2]))
    step_sums = batch * keys.shape[-2] * keys.shape[-1]  # for one target step
    if query.shape[-2] * step_sums <= MOST_SUMS:
        return _weigh_all_sums(query, keys, v)
    steps = max(1, MOST_SUMS // step_sums)
    parts = (
        checkpoint(_weigh_all_sums, part, keys, v, use_reentrant=False, preserve_rng_state=False)
        for part in query.split(steps, dim=-2)
    )
    return torch.cat(list(parts), dim=-2)


def _weigh_all_sums(query: Tensor, keys: Tensor, v: Tensor) -> Tensor:
    return torch.tanh(query.unsqueeze(-2) + keys.unsqueeze(-3)) @ v


# ------------------------------------------------------------- the same scores as modules, where there are weights


class DotScorer(nn.Module):
    """`dot_score`, or `scaled_dot_score` with scale=True. It has no parameters.

    Every scorer has two methods: `project(states)` makes the keys, once for a sentence; `forward(query, keys)`
    scores them, at every step.
    """

    def __init__(self, query_size: int, key_size: int, scale: bool = False) -> None:
        super().__init__()
        if query_size != key_size:
            raise ValueError(
                f"dot attention: the decoder state has size {query_size} and the encoder states have size "
                f"{key_size}; a dot product needs equal sizes. Use scorer='general', or give both the same size"
            )
        self.scale = scale

    def project(self, states: Tensor) -> Tensor:
        """The keys are the states as they are: (B, S, D) -> (B, S, D)."""
        return states

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """query (B, T, D), keys (B, S, D) -> (B, T, S)"""
        return scaled_dot_score(query, keys) if self.scale else dot_score(query, keys)


class GeneralScorer(nn.Module):
    """`general_score`: a bilinear form. W k_i is computed once for a sentence."""

    def __init__(self, query_size: int, key_size: int) -> None:
        super().__init__()
        self.key_projection = nn.Linear(key_size, query_size, bias=False)

    def project(self, states: Tensor) -> Tensor:
        """W k_i: (B, S, Dk) -> (B, S, Dq)"""
        return self.key_projection(states)

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """query (B, T, Dq), projected keys (B, S, Dq) -> (B, T, S)"""
        return dot_score(query, keys)


class AdditiveScorer(nn.Module):
    """`additive_score`: a small network with one hidden layer of size A. W_h k_i is computed once for a sentence."""

    def __init__(self, query_size: int, key_size: int, size: int) -> None:
        super().__init__()
        self.query_projection = nn.Linear(query_size, size, bias=False)
        self.key_projection = nn.Linear(key_size, size, bias=False)
        self.v = nn.Parameter(torch.empty(size).uniform_(-1, 1) / math.sqrt(size))

    def project(self, states: Tensor) -> Tensor:
        """W_h k_i: (B, S, Dk) -> (B, S, A)"""
        return self.key_projection(states)

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """query (B, T, Dq), projected keys (B, S, A) -> (B, T, S)"""
        return _weigh_sums(self.query_projection(query), keys, self.v)


class ConcatScorer(nn.Module):
    """`concat_score` with its one matrix W, cut into the half that meets the query and the half that meets the keys.

    W [q; k] = W_q q + W_k k, so the keys' half is computed once for a sentence here too. It is the additive score
    with another starting point: one matrix over q and k together is drawn from a narrower range than two.
    """

    def __init__(self, query_size: int, key_size: int, size: int) -> None:
        super().__init__()
        self.query_size = query_size
        self.projection = nn.Linear(query_size + key_size, size, bias=False)
        self.v = nn.Parameter(torch.empty(size).uniform_(-1, 1) / math.sqrt(size))

    def project(self, states: Tensor) -> Tensor:
        """The keys' half of W k: (B, S, Dk) -> (B, S, A)"""
        return F.linear(states, self.projection.weight[:, self.query_size :])

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """query (B, T, Dq), projected keys (B, S, A) -> (B, T, S)"""
        return _weigh_sums(F.linear(query, self.projection.weight[:, : self.query_size]), keys, self.v)


def sparing(scorer: nn.Module, steps: int, keys: Tensor) -> Score:
    """The scorer, for `steps` calls with the same keys (B, S, A): above `MOST_KEPT` sums, one that keeps none.

    It computes them again in the backward pass. A score without sums is its own best, and so is one whose sums are
    too many in a single call already: it computes them again by itself.
    """
    too_many = keys.numel() <= MOST_SUMS and steps * keys.numel() > MOST_KEPT
    if not too_many or not isinstance(scorer, (AdditiveScorer, ConcatScorer)):
        return scorer
    return partial(checkpoint, scorer, use_reentrant=False, preserve_rng_state=False)


SCORERS = ("dot", "scaled_dot", "general", "concat", "additive")


def make_scorer(name: str, query_size: int, key_size: int, size: int | None = None) -> nn.Module:
    """Build the scorer called `name` for the given sizes; `size` is A, by default the size of the query."""
    size = size or query_size
    if name in ("dot", "scaled_dot"):
        return DotScorer(query_size, key_size, scale=name == "scaled_dot")
    if name == "general":
        return GeneralScorer(query_size, key_size)
    if name == "concat":
        return ConcatScorer(query_size, key_size, size)
    if name == "additive":
        return AdditiveScorer(query_size, key_size, size)
    raise ValueError(f"no scorer is called {name!r}: choose one of {', '.join(SCORERS)}")


def _check_mask(scores: Tensor, mask: Tensor) -> None:
    if mask.dtype != torch.bool:
        raise TypeError(f"the mask has type {mask.dtype}: it must be boolean, True for a real token (ids != pad_id)")
    _check_source_length(scores, mask)
    try:
        fits = torch.broadcast_shapes(mask.shape, scores.shape) == scores.shape
    except RuntimeError:
        fits = False
    if not fits:
        raise ValueError(f"{_shapes(scores, mask)}: the mask must broadcast to the scores")


def _check_source_length(scores: Tensor, mask: Tensor) -> None:
    if mask.shape[-1] != scores.shape[-1]:
        raise ValueError(f"{_shapes(scores, mask)}: the last axis of both is the source length")


def _shapes(scores: Tensor, mask: Tensor) -> str:
    return f"mask has shape {tuple(mask.shape)}, scores have {tuple(scores.shape)}"
