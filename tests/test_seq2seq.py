"""The recurrent models against PyTorch, against the equations written out in NumPy, and against what they promise."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from lib.attention import SCORERS
from lib.seq2seq import ORDERS, Memory, ModelConfig, Recurrence, Seq2Seq, State, count_parameters

# Every way to use the source: the four orders, and Luong's with input feeding.
KINDS = {order: {"order": order, "scorer": "general"} for order in ORDERS}
KINDS["feeding"] = {"order": "luong", "scorer": "additive", "input_feeding": True}
SHAPES = list(itertools.product(["lstm", "gru"], [1, 2], [False, True]))  # cell, layers, two directions
MASK = torch.tensor([[True] * 5, [True, True, True, False, False]])  # (B, S)


def ids(*shape: int, seed: int = 0) -> Tensor:
    return torch.randint(1, 10, shape, generator=torch.Generator().manual_seed(seed))


def make(kind: str = "luong", **changes: object) -> Seq2Seq:
    torch.manual_seed(0)
    sizes = {"source_vocab": 10, "target_vocab": 11, "embedding": 3, "hidden": 5, "encoder_hidden": 4}
    return Seq2Seq(ModelConfig(**(sizes | KINDS[kind] | changes))).double().eval()


def step_by_step(model: Seq2Seq, source: Tensor, mask: Tensor, target: Tensor) -> tuple[Tensor, Tensor | None]:
    memory = model.encode(source, mask)
    state, logits, weights = model.start(memory), [], []
    for tokens in target.unbind(1):
        logit, state, weight = model.step(tokens, state, memory)
        logits.append(logit)
        weights.append(weight)
    return torch.stack(logits, 1), None if weights[0] is None else torch.stack(weights, 1)


def same(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


# --- shapes, and the two ways to run a model


@pytest.mark.parametrize("kind", ["bahdanau", "feeding"])
@pytest.mark.parametrize("scorer", ["additive", "concat"])
def test_sums_of_long_sentences_are_computed_again_not_kept(
    kind: str, scorer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make(kind, scorer=scorer)
    source, target = ids(2, 5), ids(2, 4, seed=1)
    sums = model.encode(source, MASK).keys.numel()  # B · S · A

    def run() -> tuple[Tensor, list[Tensor], int]:
        """Logits, gradients, and how many tensors as large as a step's sums (B, 1, S, A) are kept."""
        kept: list[int] = []
        with torch.autograd.graph.saved_tensors_hooks(lambda x: kept.append(x.numel()) or x, lambda x: x):
            logits = model(source, MASK, target)[0]
        gradients = torch.autograd.grad(logits.square().sum(), list(model.parameters()))
        return logits.detach(), list(gradients), kept.count(sums)

    logits, gradients, kept = run()
    monkeypatch.setattr("lib.attention.MOST_KEPT", 0)
    again, gradients_again, kept_again = run()
    same(again, logits)
    for found, expected in zip(gradients_again, gradients, strict=True):
        same(found, expected)
    assert kept >= 4 + kept_again  # one for each target step


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("cell", "layers", "bidirectional"), SHAPES)
def test_step_by_step_is_teacher_forcing(kind: str, cell: str, layers: int, bidirectional: bool) -> None:
    model = make(kind, cell=cell, layers=layers, bidirectional=bidirectional)  # encoder size 4, decoder size 5
    for batch, length, steps in itertools.product([1, 2], [1, 5], [1, 4]):
        source, target, mask = ids(batch, length), ids(batch, steps, seed=1), MASK[:batch, :length]
        logits, weights = model(source, mask, target)
        assert logits.shape == (batch, steps, 11)
        stepped, step_weights = step_by_step(model, source, mask, target)
        same(stepped, logits)
        if kind in ("none", "fixed"):
            assert weights is None and step_weights is None
        else:
            assert weights.shape == (batch, steps, length)
            same(step_weights, weights)
            same(weights.sum(-1), torch.ones(batch, steps, dtype=torch.float64))
            assert (weights.masked_select(~mask[:, None]) == 0).all()


@pytest.mark.parametrize("scorer", SCORERS)
@pytest.mark.parametrize("kind", ["bahdanau", "luong", "feeding"])
def test_any_scorer_works_in_any_order(kind: str, scorer: str) -> None:
    model = make(kind, scorer=scorer, encoder_hidden=5)
    source, target = ids(2, 5), ids(2, 4, seed=1)
    logits, weights = model(source, MASK, target)
    same(step_by_step(model, source, MASK, target)[0], logits)
    assert ((weights > 0) == MASK[:, None]).all()
    logits.square().sum().backward()
    assert all(p.grad is not None and torch.isfinite(p.grad).all() for p in model.parameters())


@pytest.mark.parametrize("cell", ["lstm", "gru"])
@pytest.mark.parametrize("layers", [1, 2])
def test_a_step_of_the_recurrence_is_torch(cell: str, layers: int) -> None:
    torch.manual_seed(0)
    config = ModelConfig(10, 10, embedding=3, hidden=5, layers=layers, cell=cell)
    recurrence = Recurrence(config, extra=4).double()
    embedded, extra = torch.randn(2, 6, 3).double(), torch.randn(2, 6, 4).double()
    state = tuple(torch.randn(layers, 2, 5).double() for _ in range(2 if cell == "lstm" else 1))
    torchs = {"lstm": nn.LSTM, "gru": nn.GRU}[cell](7, 5, layers, batch_first=True).double()
    torchs.load_state_dict(recurrence.rnn.state_dict())
    outputs, last = torchs(torch.cat([embedded, extra], -1), state if cell == "lstm" else state[0])

    projected = recurrence.project(embedded)
    for t in range(6):
        output, state = recurrence.step(projected[:, t], extra[:, t], state)
        same(output, outputs[:, t])
    for found, expected in zip(state, last if cell == "lstm" else (last,), strict=True):
        same(found, expected)


@pytest.mark.parametrize(
    ("kind", "calls"), [("none", 1), ("fixed", 1), ("luong", 1), ("bahdanau", 0), ("feeding", 0)]
)
def test_without_feeding_the_whole_target_is_one_call(kind: str, calls: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model, steps, whole = make(kind), [], []
    step = Recurrence.step
    monkeypatch.setattr(Recurrence, "step", lambda *arguments: steps.append(1) or step(*arguments))
    model.decoder.recurrence.rnn.register_forward_hook(
        lambda _module, inputs, _output: whole.append(inputs[0].shape[1])
    )
    model(ids(2, 5), MASK, ids(2, 7))
    assert whole == [7] * calls
    assert len(steps) == (0 if calls else 7)


@pytest.mark.parametrize("kind", ["luong", "bahdanau", "feeding"])
def test_the_keys_are_projected_once_for_a_sentence(kind: str) -> None:
    model, calls = make(kind), []
    model.decoder.scorer.key_projection.register_forward_hook(lambda *_: calls.append(1))
    step_by_step(model, ids(2, 5), MASK, ids(2, 7))
    assert len(calls) == 1


# --- the equations, written out in NumPy


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def lstm_step(
    w: dict[str, np.ndarray], end: str, x: np.ndarray, h: np.ndarray, c: np.ndarray
) -> tuple[np.ndarray, ...]:
    gates = w["weight_ih" + end] @ x + w["bias_ih" + end] + w["weight_hh" + end] @ h + w["bias_hh" + end]
    i, f, g, o = np.split(gates, 4)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def gru_step(w: dict[str, np.ndarray], end: str, x: np.ndarray, h: np.ndarray) -> tuple[np.ndarray]:
    r_x, z_x, n_x = np.split(w["weight_ih" + end] @ x + w["bias_ih" + end], 3)
    r_h, z_h, n_h = np.split(w["weight_hh" + end] @ h + w["bias_hh" + end], 3)
    z = sigmoid(z_x + z_h)
    return ((1 - z) * np.tanh(n_x + sigmoid(r_x + r_h) * n_h) + z * h,)


def arrays(module: nn.Module) -> dict[str, np.ndarray]:
    return {name: value.detach().numpy() for name, value in module.named_parameters()}


def linear(layer: nn.Linear, x: np.ndarray) -> np.ndarray:
    bias = 0 if layer.bias is None else layer.bias.detach().numpy()
    return layer.weight.detach().numpy() @ x + bias


def look(scores: list[float], states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    alpha = np.exp(scores) / np.exp(scores).sum()
    return alpha @ states, alpha


def test_bahdanau_is_the_equations_of_the_paper() -> None:
    """Two-way LSTM encoder, additive score with s_{t-1}, context into the step: one sentence, no batch."""
    model = make("bahdanau", scorer="additive", bidirectional=True, encoder_hidden=4, hidden=5, cell="lstm")
    source, target = [3, 7, 2, 9], [2, 4, 4]
    x = model.encoder.embedding.weight.detach().numpy()[source]
    y = model.embedding.weight.detach().numpy()[target]
    reader, writer = arrays(model.encoder.rnn), arrays(model.decoder.recurrence.rnn)

    states, final = np.zeros((4, 4)), []
    for end, half, order in (("_l0", slice(0, 2), range(4)), ("_l0_reverse", slice(2, 4), range(3, -1, -1))):
        h, c = np.zeros(2), np.zeros(2)
        for i in order:
            h, c = lstm_step(reader, end, x[i], h, c)
            states[i, half] = h
        final.append((h, c))
    s = np.tanh(linear(model.bridge.projections[0], np.concatenate([final[0][0], final[1][0]])))
    cell = linear(model.bridge.projections[1], np.concatenate([final[0][1], final[1][1]]))

    scorer, logits, weights = model.decoder.scorer, [], []
    w_s, w_h = scorer.query_projection, scorer.key_projection
    for word in y:
        scores = [float(scorer.v.detach().numpy() @ np.tanh(linear(w_s, s) + linear(w_h, h))) for h in states]
        context, alpha = look(scores, states)
        s, cell = lstm_step(writer, "_l0", np.concatenate([word, context]), s, cell)
        feature = np.tanh(linear(model.decoder.combine, np.concatenate([s, context, word])))
        logits.append(linear(model.output, feature))
        weights.append(alpha)

    found, found_weights = model(torch.tensor([source]), torch.ones(1, 4, dtype=torch.bool), torch.tensor([target]))
    np.testing.assert_allclose(found[0].detach().numpy(), np.stack(logits), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found_weights[0].detach().numpy(), np.stack(weights), rtol=0, atol=1e-12)


@pytest.mark.parametrize("feeding", [False, True])
def test_luong_is_the_equations_of_the_paper(feeding: bool) -> None:
    """One-way GRU encoder, general score with s_t, context into the output layer; s~ fed on if asked."""
    model = make("luong", input_feeding=feeding, encoder_hidden=4, hidden=5, cell="gru")
    source, target = [3, 7, 2, 9], [2, 4, 4]
    x = model.encoder.embedding.weight.detach().numpy()[source]
    y = model.embedding.weight.detach().numpy()[target]
    reader, writer = arrays(model.encoder.rnn), arrays(model.decoder.recurrence.rnn)

    h, states = np.zeros(4), []
    for word in x:
        (h,) = gru_step(reader, "_l0", word, h)
        states.append(h)
    s, attentional, logits = np.tanh(linear(model.bridge.projections[0], h)), np.zeros(5), []
    general = model.decoder.scorer.key_projection.weight.detach().numpy()
    for word in y:
        (s,) = gru_step(writer, "_l0", np.concatenate([word, attentional]) if feeding else word, s)
        context, _ = look([float(s @ general @ h) for h in states], np.stack(states))
        attentional = np.tanh(linear(model.decoder.combine, np.concatenate([s, context])))
        logits.append(linear(model.output, attentional))

    found, _ = model(torch.tensor([source]), torch.ones(1, 4, dtype=torch.bool), torch.tensor([target]))
    np.testing.assert_allclose(found[0].detach().numpy(), np.stack(logits), rtol=0, atol=1e-12)


@pytest.mark.parametrize(("cell", "kind"), [("lstm", nn.LSTM), ("gru", nn.GRU)])
@pytest.mark.parametrize("layers", [1, 2])
def test_without_attention_one_rnn_starts_where_the_other_stopped(cell: str, kind: type, layers: int) -> None:
    """One direction and equal sizes: the final state is handed over untouched (Sutskever et al. 2014)."""
    model = make("none", encoder_hidden=5, cell=cell, layers=layers)
    reader, writer = (kind(3, 5, layers, batch_first=True).double() for _ in range(2))
    reader.load_state_dict(model.encoder.rnn.state_dict())
    writer.load_state_dict(model.decoder.recurrence.rnn.state_dict())
    source, target = ids(2, 5), ids(2, 4, seed=1)
    _, final = reader(model.encoder.embedding(source))
    outputs, _ = writer(model.embedding(target), final)
    same(model(source, torch.ones(2, 5, dtype=torch.bool), target)[0], model.output(outputs))
    assert count_parameters(model.bridge) == 0


@pytest.mark.parametrize("changes", [{"encoder_hidden": 4}, {"hidden": 4, "bidirectional": True}])
def test_a_final_state_that_does_not_fit_goes_through_a_matrix(changes: dict[str, object]) -> None:
    model = make("luong", **changes)
    memory = model.encode(ids(2, 5), MASK)
    state, cell = model.start(memory).recurrent
    to_state, to_cell = model.bridge.projections
    same(state, torch.tanh(memory.final[0] @ to_state.weight.T + to_state.bias))
    same(cell, memory.final[1] @ to_cell.weight.T + to_cell.bias)


def fixed_from_bahdanau(attentive: Seq2Seq) -> Seq2Seq:
    """A `fixed` model with the weights of a Bahdanau model whose output layer does not look at y_{t-1}."""
    fixed = make("fixed")
    with torch.no_grad():
        attentive.decoder.combine.weight[:, 5 + 4 :] = 0
    weights = {k: v for k, v in attentive.state_dict().items() if "scorer" not in k}
    weights["decoder.combine.weight"] = weights["decoder.combine.weight"][:, : 5 + 4]
    fixed.load_state_dict(weights)
    return fixed


def test_fixed_is_attention_over_the_final_state_alone() -> None:
    attentive = make("bahdanau")
    fixed, source, target = fixed_from_bahdanau(attentive), ids(2, 5), ids(2, 4, seed=1)
    memory = attentive.encode(source, MASK)
    last = memory.final[0][-1][:, None]  # (B, 1, D): the one state there is to look at
    alone = Memory(last, attentive.decoder.scorer.project(last), MASK[:, :1], memory.final)
    state, logits = attentive.start(alone), []
    for tokens in target.unbind(1):
        logit, state, weight = attentive.step(tokens, state, alone)
        assert (weight == 1).all()
        logits.append(logit)
    same(fixed(source, MASK, target)[0], torch.stack(logits, 1))


def test_with_one_source_word_attention_and_fixed_are_the_same() -> None:
    attentive = make("bahdanau")
    source, mask, target = ids(3, 1), torch.ones(3, 1, dtype=torch.bool), ids(3, 4, seed=1)
    same(fixed_from_bahdanau(attentive)(source, mask, target)[0], attentive(source, mask, target)[0])


# --- padding, empty sentences, neighbours


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("cell", "layers", "bidirectional"), SHAPES)
def test_a_sentence_knows_nothing_of_its_neighbours_or_of_padding(
    kind: str, cell: str, layers: int, bidirectional: bool
) -> None:
    model = make(kind, cell=cell, layers=layers, bidirectional=bidirectional)
    source, target = ids(1, 3), ids(1, 4, seed=1)
    alone, _ = model(source, torch.ones(1, 3, dtype=torch.bool), target)
    for seed, width in ((1, 3), (2, 4), (3, 13)):  # without padding, and with one and ten more columns
        batch = ids(4, width, seed=seed)  # random ids under the padding too
        batch[2, :3] = source
        mask = torch.arange(width)[None] < torch.tensor([width, 1, 3, 0])[:, None]
        targets = ids(4, 7, seed=seed + 10)
        targets[2, :4] = target
        same(model(batch, mask, targets)[0][2:3, :4], alone)


@pytest.mark.parametrize("bidirectional", [False, True])
def test_encoder_states_and_final_state_of_a_padded_sentence(bidirectional: bool) -> None:
    model = make(layers=2, bidirectional=bidirectional)
    source = ids(2, 5)
    memory = model.encode(source, MASK)
    alone = model.encode(source[1:, :3], MASK[1:, :3])
    same(memory.states[1:, :3], alone.states)
    assert (memory.states[1, 3:] == 0).all()
    for part, expected in zip(memory.final, alone.final, strict=True):
        assert part.shape == (2, 2, 4)  # layers, batch, both directions together
        same(part[:, 1:], expected)
    # The final state: forwards the state at the last real word, backwards the one at the first.
    half = 2 if bidirectional else 4
    same(memory.final[0][-1, 1, :half], memory.states[1, 2, :half])
    same(memory.final[0][-1, 1, half:], memory.states[1, 0, half:])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cell", ["lstm", "gru"])
@pytest.mark.parametrize("lengths", [(3, 0), (0, 0)])
def test_empty_sources(kind: str, cell: str, lengths: tuple[int, int]) -> None:
    model = make(kind, cell=cell, layers=2, bidirectional=True).train()
    mask = torch.arange(5)[None] < torch.tensor(lengths)[:, None]
    source, target = ids(2, 5), ids(2, 4)
    logits, weights = model(source, mask, target)
    assert (model.encode(source, mask).states[1] == 0).all()
    assert torch.isfinite(logits).all()
    assert weights is None or (weights[1] == 0).all()
    logits.square().sum().backward()
    assert all(p.grad is None or torch.isfinite(p.grad).all() for p in model.parameters())
    if lengths == (0, 0):
        assert all((p.grad == 0).all() for p in model.encoder.parameters())


def test_the_loss_gives_no_gradient_to_what_stands_under_the_padding() -> None:
    model = make(bidirectional=True)
    source = torch.tensor([[1, 2, 3, 8, 9]])
    logits, _ = model(source, torch.tensor([[True, True, True, False, False]]), ids(1, 4))
    logits.sum().backward()
    moved = model.encoder.embedding.weight.grad.abs().sum(1) > 0
    assert moved.nonzero().flatten().tolist() == [1, 2, 3]


# --- attention looks at the encoder, and only there


@pytest.mark.parametrize("kind", ["luong", "bahdanau", "feeding"])
def test_changing_one_encoder_state_changes_its_weight(kind: str) -> None:
    model = make(kind)
    memory = model.encode(ids(2, 5), MASK)
    states = memory.states.clone()
    states[:, 1] += 1
    changed = replace(memory, states=states, keys=model.decoder.scorer.project(states))
    tokens = torch.tensor([3, 4])
    before, after = (model.step(tokens, model.start(memory), m)[2] for m in (memory, changed))
    assert ((before[:, 1] - after[:, 1]).abs() > 1e-6).all()


@pytest.mark.parametrize("kind", ["luong", "bahdanau", "feeding"])
def test_permuting_the_encoder_states_permutes_the_weights_and_nothing_else(kind: str) -> None:
    model = make(kind)
    memory, order, tokens = model.encode(ids(2, 5), MASK), torch.tensor([2, 4, 0, 1, 3]), torch.tensor([3, 4])
    shuffled = replace(memory, states=memory.states[:, order], keys=memory.keys[:, order], mask=memory.mask[:, order])
    logits, _, weights = model.step(tokens, model.start(memory), memory)
    again, _, permuted = model.step(tokens, model.start(shuffled), shuffled)
    same(permuted, weights[:, order])
    same(again, logits)


def test_the_orders_differ_in_when_they_ask() -> None:
    """Bahdanau asks with s_0, before it reads the first word; Luong with s_1, after it."""
    for kind, asks_before in (("bahdanau", True), ("luong", False)):
        model = make(kind)
        memory = model.encode(ids(2, 5), MASK)
        first, second = (model.step(torch.full((2,), word), model.start(memory), memory)[2] for word in (3, 4))
        assert torch.equal(first, second) == asks_before


def test_bahdanau_asks_with_the_top_layer() -> None:
    model = make("bahdanau", layers=2)
    memory = model.encode(ids(2, 5), MASK)
    state, tokens = model.start(memory), torch.tensor([3, 4])
    _, _, weights = model.step(tokens, state, memory)
    for layer, matters in ((0, False), (1, True)):
        hidden = state.recurrent[0].clone()
        hidden[layer] += 1
        _, _, after = model.step(tokens, State((hidden, state.recurrent[1])), memory)
        assert torch.equal(after, weights) != matters


def test_fixed_reads_the_final_state_of_the_top_layer() -> None:
    model = make("fixed", layers=2)
    memory = model.encode(ids(2, 5), MASK)
    state, tokens = model.start(memory), torch.tensor([3, 4])
    logits, _, _ = model.step(tokens, state, memory)
    for layer, matters in ((0, False), (1, True)):
        final = memory.final[0].clone()
        final[layer] += 1
        after, _, _ = model.step(tokens, state, replace(memory, final=(final, memory.final[1])))
        assert torch.equal(after, logits) != matters


def test_without_attention_only_the_final_state_reaches_the_decoder() -> None:
    model, tokens = make("none"), torch.tensor([3, 4])
    memory = model.encode(ids(2, 5), MASK)
    blank = replace(memory, states=torch.zeros_like(memory.states), keys=torch.zeros_like(memory.keys))
    found, expected = (model.step(tokens, model.start(m), m)[0] for m in (blank, memory))
    assert torch.equal(found, expected)


# --- memory and state


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_select_reorders_and_repeats_the_rows(kind: str, cell: str) -> None:
    model = make(kind, cell=cell, layers=2, bidirectional=True)
    source, target, rows = ids(2, 5), ids(2, 4, seed=1), torch.tensor([1, 0, 1])
    expected, _ = model(source, MASK, target)
    memory = model.encode(source, MASK)
    _, state, _ = model.step(target[:, 0], model.start(memory), memory)
    memory, state = memory.select(rows), state.select(rows)
    assert torch.equal(memory.mask, MASK[rows])
    for t in range(1, 4):
        logits, state, _ = model.step(target[rows, t], state, memory)
        same(logits, expected[rows, t])


def test_a_step_leaves_the_old_state_as_it_was() -> None:
    for kind in KINDS:
        model = make(kind)
        memory = model.encode(ids(2, 5), MASK)
        state = model.start(memory)
        first, _, _ = model.step(torch.tensor([3, 4]), state, memory)
        model.step(torch.tensor([5, 6]), state, memory)
        assert torch.equal(model.step(torch.tensor([3, 4]), state, memory)[0], first)


# --- dropout, parameters


@pytest.mark.parametrize("kind", KINDS)
def test_dropout_is_off_in_evaluation_and_on_in_training(kind: str) -> None:
    model, source, target = make(kind, dropout=0.5, layers=2), ids(2, 5), ids(2, 4)
    expected, _ = make(kind, dropout=0.0, layers=2)(source, MASK, target)  # same seed, same weights
    same(model(source, MASK, target)[0], expected)
    model.train()
    assert not torch.equal(model(source, MASK, target)[0], model(source, MASK, target)[0])


@pytest.mark.parametrize("kind", KINDS)
def test_the_output_layer_sees_dropped_features(kind: str) -> None:
    model, seen = make(kind, dropout=0.5).train(), []
    model.output.register_forward_hook(lambda _module, inputs, _output: seen.append(inputs[0]))
    model(ids(2, 5), MASK, ids(2, 50))
    assert (seen[0] == 0).double().mean().item() == pytest.approx(0.5, abs=0.1)  # of 500 numbers


@pytest.mark.parametrize("kind", ["bahdanau", "feeding"])
def test_dropout_between_layers_is_on_in_the_loop_too(kind: str) -> None:
    model = make(kind, dropout=0.5, layers=2).train()
    for part in model.modules():  # leave only the dropout between the decoder's layers
        if isinstance(part, nn.Dropout):
            part.p = 0.0
    model.encoder.rnn.dropout = 0.0
    source, target = ids(2, 5), ids(2, 4)
    assert not torch.equal(model(source, MASK, target)[0], model(source, MASK, target)[0])


# By hand for V = 10 and 11, E 3, encoder 4 = 2 × 2, decoder 5; an LSTM of i inputs and n cells has 4 n (i + n + 2).
ENCODER = 10 * 3 + 2 * 4 * 2 * (3 + 2 + 2)
SHARED = ENCODER + 2 * (4 * 5 + 5) + 11 * 3 + (5 * 11 + 11)  # two bridges, target embedding, output layer
PARAMETERS = [
    ("none", SHARED + 4 * 5 * (3 + 5 + 2)),  # nothing to combine: s_t goes to the output layer as it is
    ("fixed", SHARED + 4 * 5 * (3 + 4 + 5 + 2) + (9 * 5 + 5)),
    ("luong", SHARED + 4 * 5 * (3 + 5 + 2) + (9 * 5 + 5) + 5 * 4),  # general score: 5 × 4
    ("bahdanau", SHARED + 4 * 5 * (3 + 4 + 5 + 2) + (12 * 5 + 5) + 5 * 4),
    ("feeding", SHARED + 4 * 5 * (3 + 5 + 5 + 2) + (9 * 5 + 5) + (5 * 5 + 5 * 4 + 5)),  # additive with A = 5
]


@pytest.mark.parametrize(("kind", "expected"), PARAMETERS)
def test_number_of_parameters_by_hand(kind: str, expected: int) -> None:
    assert count_parameters(make(kind, bidirectional=True)) == expected


def test_frozen_parameters_are_not_counted() -> None:
    model = make()
    everything = count_parameters(model)
    model.output.requires_grad_(False)
    assert count_parameters(model) == everything - (5 * 11 + 11)


def test_the_padding_embedding_is_zero_and_stays_so() -> None:
    model = make(pad_id=3)
    logits, _ = model(torch.full((2, 5), 3), MASK, torch.full((2, 4), 3))
    logits.sum().backward()
    for embedding in (model.encoder.embedding, model.embedding):
        assert (embedding.weight[3] == 0).all()
        assert (embedding.weight.grad[3] == 0).all()


# --- errors


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"cell": "rnn"}, "cell='rnn' is not known: choose one of lstm, gru"),
        ({"order": "keras"}, "order='keras' is not known: choose one of none, fixed, bahdanau, luong"),
        ({"scorer": "cosine"}, "scorer='cosine' is not known: choose one of dot, scaled_dot, general"),
        ({"order": "bahdanau", "input_feeding": True}, "input feeding belongs to order='luong'"),
        ({"encoder_hidden": 5, "bidirectional": True}, "encoder states of size 5 cannot be halved between two"),
    ],
)
def test_a_config_that_cannot_be_built_is_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ModelConfig(10, 11, **wrong)


def test_dot_between_unequal_sizes_is_refused() -> None:
    with pytest.raises(ValueError, match="the decoder state has size 5 and the encoder states have size 4"):
        make(scorer="dot")
    make("none", scorer="dot")  # where there is no attention, there is nothing to compare


def test_masks_that_are_not_source_masks_are_refused() -> None:
    model, source, target = make(), ids(2, 5), ids(2, 4)
    with pytest.raises(TypeError, match=r"the source mask has type torch\.int64: it must be boolean"):
        model(source, MASK.long(), target)
    with pytest.raises(ValueError, match=r"the source has shape \(2, 5\) and its mask \(5, 2\): must be equal"):
        model(source, MASK.T, target)
    with pytest.raises(ValueError, match="the source mask has a real token after padding: padding goes at the end"):
        model(source, MASK.flip(1), target)
    with pytest.raises(ValueError, match="a real token after padding"):
        model(source, ~MASK, target)  # the other convention: True for padding


def test_ids_out_of_range_are_refused() -> None:
    model, source, target = make(), ids(2, 5), ids(2, 4)
    with pytest.raises(ValueError, match="source ids run from 10 to 10, the model knows 0 to 9: encode with"):
        model(torch.full((2, 5), 10), MASK, target)
    with pytest.raises(ValueError, match="target ids run from -1 to -1, the model knows 0 to 10"):
        model(source, MASK, torch.full((2, 4), -1))
    with pytest.raises(ValueError, match="target ids run from 11 to 11"):
        memory = model.encode(source, MASK)
        model.step(torch.tensor([11, 11]), model.start(memory), memory)


def test_ids_of_another_shape_are_refused() -> None:
    model = make()
    with pytest.raises(ValueError, match=r"source ids have shape \(5,\): expected \(batch, length\)"):
        model(ids(5), MASK[0], ids(2, 4))
    with pytest.raises(
        ValueError, match=r"target ids have shape \(2, 0\): expected \(batch, length\) with length ≥ 1"
    ):
        model(ids(2, 5), MASK, ids(2, 0))


@pytest.mark.parametrize("wrong", [{"hidden": 0}, {"layers": 0}, {"encoder_hidden": 0}, {"pad_id": 9}])
def test_sizes_that_make_no_model_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(wrong))}="):
        ModelConfig(**{"source_vocab": 9, "target_vocab": 9, **wrong})


def test_as_many_sources_as_targets() -> None:
    model = Seq2Seq(ModelConfig(9, 9, 4, 4))
    source = torch.full((2, 3), 5)
    with pytest.raises(ValueError, match="2 source and 1 target sentences"):
        model(source, source > 0, torch.full((1, 3), 5))
