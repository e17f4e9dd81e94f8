"""The Transformer's parts against PyTorch's own, and the whole against what it promises."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lib.seq2seq import count_parameters
from lib.transformer import (
    EncoderLayer,
    MultiHeadAttention,
    TinyTransformer,
    TransformerConfig,
    causal_mask,
    merge_heads,
    self_attention,
    sinusoidal_positions,
    split_heads,
)

PRECISION = [(torch.float32, 1e-6), (torch.float64, 1e-12)]
MASK = torch.tensor([[True] * 5, [True, True, True, False, False]])  # (B, S)


def draw(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def ids(*shape: int, seed: int = 0) -> Tensor:
    return torch.randint(1, 20, shape, generator=torch.Generator().manual_seed(seed))


def tiny(**changes: int | float) -> TinyTransformer:
    torch.manual_seed(0)
    sizes = {"source_vocab": 20, "target_vocab": 21, "size": 12, "heads": 3, "layers": 2} | changes
    return TinyTransformer(TransformerConfig(**sizes)).double().eval()


def step_by_step(model: TinyTransformer, source: Tensor, mask: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    memory = model.encode(source, mask)
    state, logits, weights = model.start(memory), [], []
    for position, tokens in enumerate(target.unbind(1)):
        assert state.position == position
        logit, state, weight = model.step(tokens, state, memory)
        logits.append(logit)
        weights.append(weight)
    return torch.stack(logits, 1), torch.stack(weights, 1)


# --- heads, against torch.nn.MultiheadAttention


def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    """Theirs keeps the three input matrices in one, stacked."""
    with torch.no_grad():
        theirs.in_proj_bias.normal_()
        theirs.out_proj.bias.normal_()
        parts = (ours.query_projection, ours.key_projection, ours.value_projection)
        for part, weight, bias in zip(
            parts, theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3), strict=True
        ):
            part.weight.copy_(weight)
            part.bias.copy_(bias)
        ours.output_projection.load_state_dict(theirs.out_proj.state_dict())


@pytest.mark.parametrize(("dtype", "tolerance"), PRECISION)
@pytest.mark.parametrize("masked", [False, True])
def test_multi_head_attention_equals_torch(dtype: torch.dtype, tolerance: float, masked: bool) -> None:
    torch.manual_seed(0)
    ours, theirs = MultiHeadAttention(12, 3).to(dtype), nn.MultiheadAttention(12, 3, batch_first=True).to(dtype)
    copy_attention(ours, theirs)
    queries, states = draw(2, 4, 12, dtype=dtype), draw(2, 5, 12, seed=1, dtype=dtype)
    found, weights = ours(queries, ours.project(states), MASK if masked else None)
    hidden = ~MASK if masked else None  # theirs says True for padding
    expected = theirs(queries, states, states, key_padding_mask=hidden, average_attn_weights=False)
    assert weights.shape == (2, 3, 4, 5)
    assert (found - expected[0]).abs().max() <= tolerance
    assert (weights - expected[1]).abs().max() <= tolerance


def test_multi_head_attention_with_the_causal_mask_equals_torch() -> None:
    ours, theirs = MultiHeadAttention(12, 3).double(), nn.MultiheadAttention(12, 3, batch_first=True).double()
    copy_attention(ours, theirs)
    states = draw(4, 4, 12)  # as many sentences as words: the mask must not be taken for one of source words
    found, weights = ours(states, ours.project(states), causal_mask(4)[None])
    expected, _ = theirs(states, states, states, attn_mask=~causal_mask(4))
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    assert (weights.triu(1) == 0).all()


def test_split_heads_cuts_each_state_and_merge_heads_undoes_it() -> None:
    states = torch.arange(2 * 3 * 4).view(2, 3, 4)
    heads = split_heads(states, 2)
    assert heads.shape == (2, 2, 3, 2)
    assert heads[0, 0].tolist() == [[0, 1], [4, 5], [8, 9]]  # the first half of each of the first three states
    assert heads[0, 1].tolist() == [[2, 3], [6, 7], [10, 11]]
    assert torch.equal(merge_heads(heads), states)


def copy_layer(ours: nn.Module, theirs: nn.Module) -> None:
    """Their norms are numbered in the order in which they are used, and so are ours."""
    copy_attention(ours.attention if hasattr(ours, "attention") else ours.self_attention, theirs.self_attn)
    norms = [theirs.norm1, theirs.norm2]
    if hasattr(ours, "cross_attention"):
        copy_attention(ours.cross_attention, theirs.multihead_attn)
        norms.append(theirs.norm3)
    mine = [part for part in ours.children() if isinstance(part, nn.LayerNorm)]
    pairs = zip(
        [*mine, ours.feedforward[0], ours.feedforward[2]], [*norms, theirs.linear1, theirs.linear2], strict=True
    )
    for part, other in pairs:
        with torch.no_grad():
            other.weight.add_(torch.randn_like(other.weight) * 0.1)
            other.bias.normal_()
        part.load_state_dict(other.state_dict())


@pytest.mark.parametrize(("dtype", "tolerance"), PRECISION)
def test_encoder_layer_equals_torch(dtype: torch.dtype, tolerance: float) -> None:
    torch.manual_seed(0)
    ours = EncoderLayer(TransformerConfig(20, 20, size=12, heads=3, feedforward=30)).to(dtype).eval()
    theirs = nn.TransformerEncoderLayer(12, 3, 30, 0.0, batch_first=True, norm_first=True).to(dtype).eval()
    copy_layer(ours, theirs)
    states = draw(2, 5, 12, dtype=dtype)
    expected = theirs(states, src_key_padding_mask=~MASK)[MASK]
    assert (ours(states, MASK)[MASK] - expected).abs().max() <= tolerance * expected.abs().max()


def test_the_whole_model_equals_torch() -> None:
    """Two layers each side, their own final norms; embeddings times sqrt(D), plus positions."""
    model, source, target = tiny(feedforward=30), ids(2, 5), ids(2, 4, seed=1)
    options = {"dropout": 0.0, "batch_first": True, "norm_first": True, "dtype": torch.float64}
    readers = [nn.TransformerEncoderLayer(12, 3, 30, **options).eval() for _ in range(2)]
    writers = [nn.TransformerDecoderLayer(12, 3, 30, **options).eval() for _ in range(2)]
    for ours, theirs in zip([*model.encoder_layers, *model.decoder_layers], [*readers, *writers], strict=True):
        copy_layer(ours, theirs)
    for norm in (model.encoder_norm, model.decoder_norm):
        nn.init.normal_(norm.weight)
        nn.init.normal_(norm.bias)

    x = model.source_embedding(source) * 12**0.5 + sinusoidal_positions(5, 12)
    for reader in readers:
        x = reader(x, src_key_padding_mask=~MASK)
    x = model.encoder_norm(x)
    y = model.target_embedding(target) * 12**0.5 + sinusoidal_positions(4, 12)
    for writer in writers:
        y = writer(y, x, tgt_mask=~causal_mask(4), memory_key_padding_mask=~MASK)
    expected = model.output(model.decoder_norm(y))
    torch.testing.assert_close(model(source, MASK, target)[0], expected, rtol=0, atol=1e-12)


# --- self-attention: order and time


def test_self_attention_equals_torch_and_knows_no_order() -> None:
    states, order = draw(2, 5, 4), torch.tensor([3, 0, 4, 1, 2])
    found, weights = self_attention(states)
    expected = F.scaled_dot_product_attention(states, states, states)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    shuffled, permuted = self_attention(states[:, order])
    torch.testing.assert_close(shuffled, found[:, order])
    torch.testing.assert_close(permuted, weights[:, order][:, :, order])


def test_with_positions_the_order_counts() -> None:
    states, order = draw(1, 5, 4), torch.tensor([3, 0, 4, 1, 2])
    positions = sinusoidal_positions(5, 4).double()
    found, _ = self_attention(states + positions)
    shuffled, _ = self_attention(states[:, order] + positions)
    assert (shuffled - found[:, order]).abs().max() > 0.01


def test_causal_mask_by_hand() -> None:
    assert causal_mask(3).tolist() == [[True, False, False], [True, True, False], [True, True, True]]
    assert causal_mask(2, past=1).tolist() == [[True, True, False], [True, True, True]]
    assert causal_mask(1, past=3).all()


@pytest.mark.parametrize("size", [2, 6, 16])
def test_positions_are_the_formula_written_as_a_loop(size: int) -> None:
    found = sinusoidal_positions(50, size)
    assert found.shape == (50, size)
    for p in range(50):
        for i in range(size // 2):
            angle = p / 10000 ** (2 * i / size)
            assert found[p, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert found[p, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)
    assert torch.equal(sinusoidal_positions(3, size, start=47), found[47:])


def test_positions_stay_exact_far_out() -> None:
    assert sinusoidal_positions(1, 2, start=100_000)[0, 0].item() == pytest.approx(math.sin(100_000), abs=1e-6)


def test_the_future_changes_nothing() -> None:
    model, source, target = tiny(), ids(2, 5), ids(2, 6, seed=1)
    before, weights = model(source, MASK, target)
    for t in range(1, 6):
        other = target.clone()
        other[:, t:] = other[:, t:] % 19 + 1  # another word at every later place
        after, after_weights = model(source, MASK, other)
        torch.testing.assert_close(after[:, :t], before[:, :t], rtol=0, atol=1e-12)
        torch.testing.assert_close(after_weights[:, :t], weights[:, :t], rtol=0, atol=1e-12)
        assert ((after[:, t] - before[:, t]).abs().amax(-1) > 1e-6).all()


def test_every_earlier_word_counts() -> None:
    model, source, target = tiny(), ids(1, 5), ids(1, 6, seed=1)
    before, _ = model(source, MASK[:1], target)
    for t in range(6):
        other = target.clone()
        other[:, t] = other[:, t] % 19 + 1
        after, _ = model(source, MASK[:1], other)
        assert (after[:, -1] - before[:, -1]).abs().max() > 1e-6


# --- the whole model


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("length", [1, 5])
@pytest.mark.parametrize("steps", [1, 4])
@pytest.mark.parametrize("batch", [1, 2])
def test_step_by_step_with_the_cache_is_teacher_forcing(layers: int, length: int, steps: int, batch: int) -> None:
    model = tiny(layers=layers)
    source, target, mask = ids(batch, length), ids(batch, steps, seed=1), MASK[:batch, :length]
    logits, weights = model(source, mask, target)
    assert logits.shape == (batch, steps, 21)
    assert weights.shape == (batch, steps, length)
    torch.testing.assert_close(step_by_step(model, source, mask, target), (logits, weights), rtol=0, atol=1e-12)


def test_weights_are_zero_on_padding_and_rows_sum_to_one() -> None:
    _, weights = tiny()(ids(2, 5), MASK, ids(2, 4))
    assert (weights[1, :, 3:] == 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 4, dtype=torch.float64))


def test_weights_are_the_mean_over_the_heads_of_the_last_layer() -> None:
    model, seen = tiny(), []
    for layer in model.decoder_layers:
        layer.cross_attention.register_forward_hook(lambda _module, _inputs, output: seen.append(output[1]))
    _, weights = model(ids(2, 5), MASK, ids(2, 4))
    assert torch.equal(weights, seen[-1].mean(1))
    assert not torch.equal(seen[0], seen[-1])


def test_a_sentence_knows_nothing_of_its_neighbours_or_of_padding() -> None:
    model, source, target = tiny(), ids(1, 3), ids(1, 4, seed=1)
    alone = model(source, torch.ones(1, 3, dtype=torch.bool), target)[0]
    for seed in range(3):
        batch = ids(4, 9, seed=seed)  # random ids under the padding too
        batch[2, :3] = source
        mask = torch.arange(9)[None] < torch.tensor([9, 1, 3, 0])[:, None]
        targets = ids(4, 7, seed=seed + 10)
        targets[2, :4] = target
        logits = model(batch, mask, targets)[0]
        torch.testing.assert_close(logits[2:3, :4], alone, rtol=0, atol=1e-12)


@pytest.mark.parametrize("lengths", [(3, 0), (0, 0)])
def test_empty_sources(lengths: tuple[int, int]) -> None:
    model = tiny().train()
    mask = torch.arange(5)[None] < torch.tensor(lengths)[:, None]
    source, target = ids(2, 5), ids(2, 4)
    logits, weights = model(source, mask, target)
    assert (model.encode(source, mask).states[~mask] == 0).all()
    assert torch.isfinite(logits).all()
    assert (weights[1] == 0).all()
    logits.square().sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters())
    torch.testing.assert_close(step_by_step(model, source, mask, target)[0], logits, rtol=0, atol=1e-12)


def test_the_source_is_projected_once_and_each_target_word_once() -> None:
    model, rows = tiny(), {"source": 0, "target": 0}

    def count(which: str) -> None:
        def hook(_module: nn.Module, inputs: tuple[Tensor], _output: Tensor) -> None:
            rows[which] += inputs[0].shape[1]

        layer = model.decoder_layers[0]
        part = layer.cross_attention if which == "source" else layer.self_attention
        part.key_projection.register_forward_hook(hook)

    count("source")
    count("target")
    step_by_step(model, ids(2, 5), MASK, ids(2, 7))
    assert rows == {"source": 5, "target": 7}


def test_select_reorders_and_repeats_the_rows() -> None:
    model, source, target = tiny(), ids(2, 5), ids(2, 4, seed=1)
    expected, _ = model(source, MASK, target)
    memory = model.encode(source, MASK)
    _, state, _ = model.step(target[:, 0], model.start(memory), memory)
    rows = torch.tensor([1, 0, 1])
    memory, state = memory.select(rows), state.select(rows)
    for t in range(1, 4):
        logits, state, _ = model.step(target[rows, t], state, memory)
        torch.testing.assert_close(logits, expected[rows, t], rtol=0, atol=1e-12)


def test_dropout_is_off_in_evaluation_and_on_in_training() -> None:
    model, source, target = tiny(dropout=0.5), ids(2, 5), ids(2, 4)
    assert torch.equal(model(source, MASK, target)[0], model(source, MASK, target)[0])
    model.train()
    assert not torch.equal(model(source, MASK, target)[0], model(source, MASK, target)[0])


def test_longer_sentences_than_any_table() -> None:
    model = tiny(layers=1)
    logits, _ = model(ids(1, 600), torch.ones(1, 600, dtype=torch.bool), ids(1, 700))
    assert torch.isfinite(logits).all()


def test_number_of_parameters_by_hand() -> None:
    # D = 4, inner width 16, one layer each, 10 source and 11 target words.
    attention = 4 * (4 * 4 + 4)  # four projections with bias
    feedforward = (4 * 16 + 16) + (16 * 4 + 4)
    norm = 2 * 4
    encoder = attention + feedforward + 2 * norm
    decoder = 2 * attention + feedforward + 3 * norm
    expected = (10 + 11) * 4 + encoder + decoder + 2 * norm + (4 * 11 + 11)
    assert count_parameters(TinyTransformer(TransformerConfig(10, 11, size=4, heads=2, layers=1))) == expected


def test_embeddings_start_at_the_scale_of_the_positions() -> None:
    embedding = TinyTransformer(TransformerConfig(2000, 20, size=64)).source_embedding.weight
    assert (embedding[1:] * math.sqrt(64)).var().item() == pytest.approx(1, rel=0.05)
    assert (embedding[0] == 0).all()  # padding


def test_it_learns_to_reverse() -> None:
    torch.manual_seed(0)
    model = TinyTransformer(TransformerConfig(12, 12, size=32, heads=2, layers=1))
    optimiser = torch.optim.Adam(model.parameters(), lr=4e-3)
    for _ in range(200):
        source = torch.randint(3, 12, (32, 4))
        target = torch.cat([torch.full((32, 1), 2), source.flip(1)], dim=1)
        logits, _ = model(source, source > 0, target[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert loss.item() < math.log(9) / 4  # nine words, each as likely as the others: a guess costs log 9


# --- errors


def test_heads_must_divide_the_size() -> None:
    with pytest.raises(ValueError, match="a state of size 10 cannot be cut into 4 equal heads: heads must divide it"):
        TinyTransformer(TransformerConfig(20, 20, size=10, heads=4))


def test_an_odd_size_has_no_positions() -> None:
    with pytest.raises(ValueError, match="size 5 is odd"):
        sinusoidal_positions(3, 5)


def test_no_layers() -> None:
    with pytest.raises(ValueError, match="layers=0: give a whole number, 1 or more"):
        TransformerConfig(20, 20, layers=0)


def test_the_padding_rules_are_those_of_the_recurrent_models() -> None:
    model, source, target = tiny(), ids(2, 5), ids(2, 4)
    with pytest.raises(TypeError, match="the source mask has type torch.int64"):
        model(source, MASK.long(), target)
    with pytest.raises(ValueError, match="a real token after padding"):
        model(source, MASK.flip(1), target)
    with pytest.raises(ValueError, match=r"\(2, 5\) and its mask \(2, 4\)"):
        model(source, MASK[:, :4], target)
    with pytest.raises(ValueError, match="source ids run from 25 to 25, the model knows 0 to 19"):
        model(torch.full((2, 5), 25), MASK, target)
    with pytest.raises(ValueError, match="target ids run from 25 to 25, the model knows 0 to 20"):
        model(source, MASK, torch.full((2, 4), 25))


def test_as_many_source_as_target_sentences_are_asked_for() -> None:
    model = TinyTransformer(TransformerConfig(20, 20, size=8, heads=2, layers=1))
    source = torch.ones(2, 3, dtype=torch.long)
    with pytest.raises(ValueError, match="2 source and 3 target"):
        model(source, source > 0, torch.ones(3, 2, dtype=torch.long))
