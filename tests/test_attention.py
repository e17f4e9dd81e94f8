"""Attention against loops in NumPy, against PyTorch's own kernel, and against numbers worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from lib.attention import (
    SCORERS,
    AdditiveScorer,
    ConcatScorer,
    DotScorer,
    GeneralScorer,
    additive_score,
    attend,
    concat_score,
    dot_score,
    general_score,
    make_scorer,
    masked_softmax,
    scaled_dot_score,
)

B, T, S, D, DK, A = 2, 5, 3, 4, 6, 7  # all different, so that a swapped axis cannot go unnoticed
MASK = torch.tensor([[True, True, True], [True, False, False]])  # (B, S)


def draw(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def scorer_case(name: str) -> tuple[Callable[..., Tensor], tuple[Tensor, ...], Callable[..., float]]:
    """A score, its arguments, and e_ti of one query and one key in plain NumPy."""
    query, same, other = draw(B, T, D, seed=1), draw(B, S, D, seed=2), draw(B, S, DK, seed=3)
    v = draw(A, seed=4)
    if name == "dot":
        return dot_score, (query, same), lambda q, k: sum(q[d] * k[d] for d in range(D))
    if name == "scaled_dot":
        return scaled_dot_score, (query, same), lambda q, k: sum(q[d] * k[d] for d in range(D)) / D**0.5
    if name == "general":
        return (
            general_score,
            (query, other, draw(D, DK, seed=5)),
            lambda q, k, w: sum(q[i] * w[i, j] * k[j] for i in range(D) for j in range(DK)),
        )
    if name == "concat":
        return (
            concat_score,
            (query, other, draw(A, D + DK, seed=6), v),
            lambda q, k, w, v: sum(v[a] * math.tanh(float(w[a] @ np.concatenate([q, k]))) for a in range(A)),
        )
    return (
        additive_score,
        (query, other, draw(A, D, seed=7), draw(A, DK, seed=8), v),
        lambda q, k, ws, wh, v: sum(v[a] * math.tanh(float(ws[a] @ q + wh[a] @ k)) for a in range(A)),
    )


# --- the five scores


@pytest.mark.parametrize("name", SCORERS)
def test_score_is_the_formula_written_as_a_loop(name: str) -> None:
    score, (query, keys, *weights), one = scorer_case(name)
    arrays = [w.numpy() for w in weights]
    expected = np.empty((B, T, S))
    for b in range(B):
        for t in range(T):
            for i in range(S):
                expected[b, t, i] = one(query[b, t].numpy(), keys[b, i].numpy(), *arrays)
    found = score(query, keys, *weights)
    assert found.shape == (B, T, S)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", SCORERS)
def test_gradient_of_every_score(name: str) -> None:
    score, arguments, _ = scorer_case(name)
    assert torch.autograd.gradcheck(score, [a.clone().requires_grad_() for a in arguments])


@pytest.mark.parametrize("name", SCORERS)
def test_scores_need_no_batch_and_accept_several_batch_axes(name: str) -> None:
    score, (query, keys, *weights), _ = scorer_case(name)
    whole = score(query, keys, *weights)
    torch.testing.assert_close(score(query[0], keys[0], *weights), whole[0])
    torch.testing.assert_close(score(query[:, None], keys[:, None], *weights), whole[:, None])


def test_concat_is_additive_with_the_matrices_side_by_side() -> None:
    _, (query, keys, w_s, w_h, v), _ = scorer_case("additive")
    joined = concat_score(query, keys, torch.cat([w_s, w_h], dim=1), v)
    torch.testing.assert_close(joined, additive_score(query, keys, w_s, w_h, v), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("most", [1, 3 * B * S * A, B * T * S * A])  # one step at a time; three, then two; all five
def test_additive_in_parts_is_additive_at_once(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    score, arguments, _ = scorer_case("additive")
    leaves = [argument.clone().requires_grad_() for argument in arguments]
    expected = score(*leaves)
    gradients = torch.autograd.grad(expected.square().sum(), leaves)
    monkeypatch.setattr("lib.attention.MOST_SUMS", most)
    found = score(*leaves)
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
    for got, wanted in zip(torch.autograd.grad(found.square().sum(), leaves), gradients, strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-12, atol=1e-12)


def test_additive_in_parts_keeps_no_sums_for_the_backward_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """At once, the squashed sums (B, T, S, A) are kept; in parts nothing that has both a T and an S axis is."""
    score, arguments, _ = scorer_case("additive")
    leaves = [argument.clone().requires_grad_() for argument in arguments]

    def largest_kept() -> int:
        kept = [0]
        with torch.autograd.graph.saved_tensors_hooks(lambda x: kept.append(x.numel()) or x, lambda x: x):
            score(*leaves)
        return max(kept)

    assert largest_kept() == B * T * S * A
    monkeypatch.setattr("lib.attention.MOST_SUMS", 1)
    assert largest_kept() < B * T * S * A // 2


def test_general_with_the_identity_is_dot() -> None:
    query, keys = draw(B, T, D, seed=1), draw(B, S, D, seed=2)
    identity = torch.eye(D, dtype=torch.float64)
    torch.testing.assert_close(general_score(query, keys, identity), dot_score(query, keys))


def test_scaling_keeps_the_variance_of_a_score_at_one() -> None:
    # The variance of a sum of D products of independent unit-variance numbers is D. 40,000 scores of D = 64.
    query, keys = draw(200, 64, seed=1), draw(200, 64, seed=2)
    assert dot_score(query, keys).var().item() == pytest.approx(64, rel=0.1)
    assert scaled_dot_score(query, keys).var().item() == pytest.approx(1, rel=0.1)


# --- scorers with weights


def pure(name: str, module: torch.nn.Module, query: Tensor, keys: Tensor) -> Tensor:
    """The pure function of the same name, fed with the module's weights."""
    if name == "dot":
        return dot_score(query, keys)
    if name == "scaled_dot":
        return scaled_dot_score(query, keys)
    if name == "general":
        return general_score(query, keys, module.key_projection.weight)
    if name == "concat":
        return concat_score(query, keys, module.projection.weight, module.v)
    return additive_score(query, keys, module.query_projection.weight, module.key_projection.weight, module.v)


@pytest.mark.parametrize("name", SCORERS)
def test_module_equals_pure_function(name: str) -> None:
    key_size = D if "dot" in name else DK
    module = make_scorer(name, D, key_size, A).double()
    query, keys = draw(B, T, D, seed=1), draw(B, S, key_size, seed=2)
    found = module(query, module.project(keys))
    torch.testing.assert_close(found, pure(name, module, query, keys), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "expected"),
    # dot has none; general Dq · Dk; concat A (Dq + Dk) + A; additive A Dq + A Dk + A
    [("dot", 0), ("scaled_dot", 0), ("general", 4 * 4), ("concat", 7 * 8 + 7), ("additive", 7 * 4 + 7 * 4 + 7)],
)
def test_number_of_parameters(name: str, expected: int) -> None:
    assert sum(p.numel() for p in make_scorer(name, 4, 4, 7).parameters()) == expected


@pytest.mark.parametrize("name", SCORERS)
def test_only_projecting_reads_the_weights_of_the_keys(name: str) -> None:
    """After `project`, the keys' weights may vanish: nothing is projected a second time."""
    module = make_scorer(name, D, D, A).double()
    query, keys = draw(B, T, D, seed=1), draw(B, S, D, seed=2)
    expected, projected = pure(name, module, query, keys).detach(), module.project(keys).detach()
    with torch.no_grad():
        if name in ("general", "additive"):
            module.key_projection.weight.fill_(math.nan)
        if name == "concat":
            module.projection.weight[:, D:].fill_(math.nan)
    torch.testing.assert_close(module(query, projected).detach(), expected, rtol=1e-12, atol=1e-12)


def test_make_scorer_builds_what_it_is_asked_for() -> None:
    kinds = [type(make_scorer(name, D, D)) for name in SCORERS]
    assert kinds == [DotScorer, DotScorer, GeneralScorer, ConcatScorer, AdditiveScorer]
    assert make_scorer("additive", D, DK).v.shape == (D,)  # the inner size is the size of the query, unless given


# --- masked softmax


def test_weights_on_padding_are_zero_and_rows_sum_to_one() -> None:
    weights = masked_softmax(draw(B, T, S), MASK[:, None])
    assert (weights[1, :, 1:] == 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, T, dtype=torch.float64), rtol=0, atol=1e-15)


def test_masked_softmax_is_the_softmax_over_what_is_left() -> None:
    scores = draw(T, 4)
    mask = torch.tensor([True, False, True, True])
    weights = masked_softmax(scores, mask)
    for row, found in zip(scores.tolist(), weights.tolist(), strict=True):
        total = sum(math.exp(row[i]) for i in (0, 2, 3))
        assert found == pytest.approx(
            [math.exp(row[0]) / total, 0, math.exp(row[2]) / total, math.exp(row[3]) / total]
        )


def test_large_scores_under_the_mask_do_not_leak() -> None:
    scores = torch.tensor([[0.0, 0.0, 1e30], [-1e30, -1e30, 3e38]])
    weights = masked_softmax(scores, torch.tensor([True, True, False]))
    assert weights.tolist() == [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0]]


def test_without_a_mask_every_position_is_real() -> None:
    scores = draw(B, T, S)
    assert torch.equal(masked_softmax(scores), masked_softmax(scores, torch.ones(1, 1, S, dtype=torch.bool)))


def test_gradient_of_masked_softmax() -> None:
    mask = torch.tensor([[[True, True, True]], [[True, False, True]]])
    assert torch.autograd.gradcheck(lambda e: masked_softmax(e, mask), draw(B, T, S).requires_grad_())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_a_row_without_real_words_is_zero_and_its_gradient_too(dtype: torch.dtype) -> None:
    query, keys = draw(2, T, D).to(dtype).requires_grad_(), draw(2, S, D, seed=1).to(dtype).requires_grad_()
    mask = torch.tensor([[True, True, False], [False, False, False]])
    context, weights = attend(query, keys, keys, mask)
    assert weights.dtype == context.dtype == dtype
    assert (weights[1] == 0).all() and (context[1] == 0).all()
    assert torch.isfinite(context).all()
    (context.square().sum() + weights.square().sum()).backward()
    for gradient in (query.grad, keys.grad):
        assert torch.isfinite(gradient).all()
        assert (gradient[1] == 0).all()
        assert (gradient[0] != 0).any()


# --- attend, against PyTorch's own kernel


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-6), (torch.float64, 1e-12)])
@pytest.mark.parametrize("mask", [None, MASK], ids=["no mask", "mask"])
def test_attend_equals_scaled_dot_product_attention(
    dtype: torch.dtype, tolerance: float, mask: Tensor | None
) -> None:
    query, keys, values = (
        draw(B, T, 8, dtype=dtype),
        draw(B, S, 8, seed=1, dtype=dtype),
        draw(B, S, 9, seed=2, dtype=dtype),
    )
    context, weights = attend(query, keys, values, mask, scaled_dot_score)
    expected = F.scaled_dot_product_attention(query, keys, values, None if mask is None else mask[:, None])
    assert (context - expected).abs().max() <= tolerance
    # With the identity for values the kernel gives its weights away.
    identity = torch.eye(S, dtype=dtype).expand(B, S, S)
    expected = F.scaled_dot_product_attention(query, keys, identity, None if mask is None else mask[:, None])
    assert (weights - expected).abs().max() <= tolerance


def test_attend_takes_a_mask_for_each_step_and_for_heads() -> None:
    query, keys = draw(B, 2, T, D), draw(B, 2, T, D, seed=1)  # (B, heads, T, D)
    mask = torch.ones(T, T, dtype=torch.bool).tril()[None, None]
    context, _ = attend(query, keys, keys, mask, scaled_dot_score)
    expected = F.scaled_dot_product_attention(query, keys, keys, is_causal=True)
    torch.testing.assert_close(context, expected, rtol=1e-12, atol=1e-12)


def test_attend_without_a_batch() -> None:
    query, keys = draw(B, T, D), draw(B, S, D, seed=1)
    context, weights = attend(query, keys, keys, MASK)
    alone = attend(query[1], keys[1], keys[1], MASK[1])
    torch.testing.assert_close(alone, (context[1], weights[1]))


def test_values_and_keys_may_differ_in_size() -> None:
    context, weights = attend(draw(B, T, D), draw(B, S, D), draw(B, S, 9), MASK)
    assert context.shape == (B, T, 9)
    assert weights.shape == (B, T, S)


# --- the worked example: मैं स्कूल जाता हूँ

H = torch.tensor([[[1.0, 0, 1], [0, 1, 1], [1, 1, 0], [-1, 0, 1]]], dtype=torch.float64)  # (1, S, 3)


def test_worked_example_first_step() -> None:
    # s_1 = [1, 0, 0] picks the first component of each h_i: the scores are 1, 0, 1, -1.
    context, weights = attend(torch.tensor([[[1.0, 0, 0]]], dtype=torch.float64), H, H)
    # e + 1 + e + 1/e = 2.71828 + 1 + 2.71828 + 0.36788 = 6.80444
    total = math.exp(1) + math.exp(0) + math.exp(1) + math.exp(-1)
    assert round(total, 5) == 6.80444
    alpha = [math.exp(e) / total for e in (1, 0, 1, -1)]
    assert [round(a, 4) for a in alpha] == [0.3995, 0.1470, 0.3995, 0.0541]
    assert weights[0, 0].tolist() == pytest.approx(alpha, abs=1e-15)
    # c = alpha_1 (1, 0, 1) + alpha_2 (0, 1, 1) + alpha_3 (1, 1, 0) + alpha_4 (-1, 0, 1), component by component
    by_hand = [alpha[0] + alpha[2] - alpha[3], alpha[1] + alpha[2], alpha[0] + alpha[1] + alpha[3]]
    assert context[0, 0].tolist() == pytest.approx(by_hand, abs=1e-15)
    assert [round(c, 4) for c in context[0, 0].tolist()] == [0.7449, 0.5464, 0.6005]


def test_worked_example_second_step_is_a_tie_of_three() -> None:
    # s_2 = [0, 0, 1] picks the third component: scores 1, 1, 0, 1, so alpha = e, e, 1, e over 3 e + 1.
    _, weights = attend(torch.tensor([[[0.0, 0, 1]]], dtype=torch.float64), H, H)
    first, second, third, fourth = weights[0, 0].tolist()
    assert first == second == fourth == pytest.approx(math.e / (3 * math.e + 1))
    assert third == pytest.approx(1 / (3 * math.e + 1))


# --- what attention depends on


@pytest.mark.parametrize("name", SCORERS)
def test_changing_one_encoder_state_changes_its_weight(name: str) -> None:
    module = make_scorer(name, D, D).double()
    query, states = draw(B, T, D), draw(B, S, D, seed=1)
    changed = states.clone()
    changed[:, 1] += 1.0
    _, before = attend(query, module.project(states), states, score=module)
    _, after = attend(query, module.project(changed), changed, score=module)
    assert ((before[:, :, 1] - after[:, :, 1]).abs() > 1e-6).all()
    # The odds of the other two words stay as they were: only their share of the whole changes.
    torch.testing.assert_close(after[:, :, 0] / after[:, :, 2], before[:, :, 0] / before[:, :, 2])


@pytest.mark.parametrize("name", SCORERS)
def test_permuting_the_states_permutes_the_weights(name: str) -> None:
    module = make_scorer(name, D, D).double()
    query, states, order = draw(B, T, D), draw(B, S, D, seed=1), torch.tensor([2, 0, 1])
    context, weights = attend(query, module.project(states), states, MASK, module)
    shuffled = states[:, order]
    again, permuted = attend(query, module.project(shuffled), shuffled, MASK[:, order], module)
    torch.testing.assert_close(permuted, weights[:, :, order])
    torch.testing.assert_close(again, context)


def test_keys_decide_where_and_values_what() -> None:
    query, keys, values = draw(B, T, D), draw(B, S, D, seed=1), draw(B, S, D, seed=2)
    context, weights = attend(query, keys, values)
    doubled, same = attend(query, keys, 2 * values)
    assert torch.equal(same, weights)
    torch.testing.assert_close(doubled, 2 * context)


# --- errors


def test_a_mask_of_numbers_is_refused() -> None:
    with pytest.raises(TypeError, match=r"the mask has type torch\.int64: it must be boolean, True for a real token"):
        masked_softmax(torch.zeros(2, 3), torch.ones(2, 3, dtype=torch.long))


def test_a_mask_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError) as caught:
        masked_softmax(torch.zeros(2, 7), torch.ones(2, 5, dtype=torch.bool))
    message = "mask has shape (2, 5), scores have (2, 7): the last axis of both is the source length"
    assert str(caught.value) == message


def test_a_transposed_mask_is_refused() -> None:
    with pytest.raises(ValueError, match=r"scores have \(2, 5, 3\): the last axis of both is the source length"):
        attend(draw(B, T, D), draw(B, S, D), draw(B, S, D), MASK.T)


@pytest.mark.parametrize("shape", [(4, 3), (2, 2, 5, 3)])
def test_a_mask_that_would_enlarge_or_not_fit_the_scores_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="the mask must broadcast to the scores"):
        masked_softmax(draw(B, T, S), torch.ones(shape, dtype=torch.bool))


@pytest.mark.parametrize("score", [dot_score, scaled_dot_score])
def test_dot_of_unequal_sizes_is_refused(score: Callable[..., Tensor]) -> None:
    with pytest.raises(ValueError, match="the query has size 4 and the keys have size 6; a dot product needs equal"):
        score(draw(B, T, 4), draw(B, S, 6))
    with pytest.raises(ValueError, match="the decoder state has size 4 and the encoder states have size 6"):
        make_scorer("dot", 4, 6)


def test_an_unknown_scorer_is_refused_with_the_choices() -> None:
    with pytest.raises(ValueError, match="no scorer is called 'cosine': choose one of dot, scaled_dot, general"):
        make_scorer("cosine", 4, 4)


def test_a_mask_of_another_source_length_is_named_as_it_was_given() -> None:
    with pytest.raises(ValueError, match=r"mask has shape \(2, 5\), scores have \(2, 4, 7\): the last axis of both"):
        attend(torch.randn(2, 4, 3), torch.randn(2, 7, 3), torch.randn(2, 7, 3), torch.ones(2, 5, dtype=torch.bool))


def test_a_mask_of_the_source_holds_for_every_head_where_batch_and_steps_are_equal() -> None:
    """(B, S) against scores (B, N, T, S) with B = T: right only if the mask is not taken for one over (T, S)."""
    query, keys = torch.randn(3, 2, 3, 4), torch.randn(3, 2, 5, 4)
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0]], dtype=torch.bool)
    _, weights = attend(query, keys, keys, mask)
    for row in range(3):
        real = int(mask[row].sum())
        _, alone = attend(query[row], keys[row, :, :real], keys[row, :, :real])
        assert torch.allclose(weights[row, :, :, :real], alone, atol=1e-6)
        assert not weights[row, :, :, real:].any()
