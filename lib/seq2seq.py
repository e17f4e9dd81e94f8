"""Recurrent encoder–decoders: one encoder, four ways for the decoder to use what it has read.

| order      | what the decoder sees of the source                                           | from                |
|------------|-------------------------------------------------------------------------------|---------------------|
| `none`     | the encoder's final state, handed over once                                   | Sutskever et al. 2014 |
| `fixed`    | that final state again at every step                                          | Cho et al. 2014     |
| `bahdanau` | a context looked up with s_{t-1}; it enters the recurrent step                 | Bahdanau et al. 2014 |
| `luong`    | a context looked up with s_t; it enters the output layer                       | Luong et al. 2015   |

The order (when is the query taken?) and the score (how is it compared?) are two choices: any scorer of
`lib.attention` works in either order. Every model answers to the same four calls, which is all that search and
training know of it:

    memory = model.encode(source, source_mask)            once for a sentence
    state = model.start(memory)                           the state before the first target word
    logits, state, weights = model.step(tokens, state, memory)
    logits, weights = model(source, source_mask, target)  teacher forcing: the whole target at once

Letters: B batch, S source length, T target length, E embedding, H hidden, V vocabulary, L layers, G gates × H.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from lib.attention import SCORERS, Score, attend, make_scorer, sparing
from lib.settings import require, whole

ORDERS = ("none", "fixed", "bahdanau", "luong")
CELLS = {"lstm": nn.LSTM, "gru": nn.GRU}


@dataclass(frozen=True)
class ModelConfig:
    """Everything that decides the shape of a model; it is saved beside the weights.

    `encoder_hidden` is the width of an encoder state h_i, both directions together; None means `hidden`.
    `scorer` and `input_feeding` matter only where there is attention. `tied`: the output layer has no words of its
    own, the logit of a word is the product with its embedding (Press & Wolf 2017).
    """

    source_vocab: int
    target_vocab: int
    embedding: int = 256
    hidden: int = 256
    encoder_hidden: int | None = None
    layers: int = 1
    bidirectional: bool = False
    cell: str = "lstm"
    order: str = "luong"
    scorer: str = "dot"
    input_feeding: bool = False
    dropout: float = 0.0
    tied: bool = False
    pad_id: int = 0

    def __post_init__(self) -> None:
        _check_choice("cell", self.cell, tuple(CELLS))
        _check_choice("order", self.order, ORDERS)
        _check_choice("scorer", self.scorer, SCORERS)
        sizes = "source_vocab target_vocab embedding hidden encoder_hidden layers"
        require(self, sizes, whole(1), "a whole number, 1 or more")
        require(self, "dropout", lambda share: 0 <= share < 1, "at least 0 and less than 1")
        words = min(self.source_vocab, self.target_vocab)
        require(self, "pad_id", lambda n: 0 <= n < words, f"an id of both vocabularies, 0 to {words - 1}")
        if self.input_feeding and self.order != "luong":
            raise ValueError(f"input_feeding=True with order={self.order!r}: input feeding belongs to order='luong'")
        if self.bidirectional and self.state_size % 2:
            raise ValueError(f"encoder states of size {self.state_size} cannot be halved between two directions")

    @property
    def state_size(self) -> int:
        """Width of one encoder state h_i."""
        return self.hidden if self.encoder_hidden is None else self.encoder_hidden


@dataclass(frozen=True)
class Memory:
    """What the encoder leaves behind for the decoder, one row a sentence."""

    states: Tensor  # (B, S, D) the encoder states h_i: the values
    keys: Tensor  # (B, S, A) the same states as the scorer wants them, projected once
    mask: Tensor  # (B, S)
    final: tuple[Tensor, ...]  # each (L, B, D): the last states, for an LSTM with its cells

    def select(self, rows: Tensor) -> Memory:
        """The memory of the sentences `rows` (indices, repeats allowed)."""
        final = tuple(part.index_select(1, rows) for part in self.final)
        return Memory(self.states[rows], self.keys[rows], self.mask[rows], final)


@dataclass(frozen=True)
class State:
    """Where the decoder stands, one row a hypothesis."""

    recurrent: tuple[Tensor, ...]  # each (L, B, H): s_t, for an LSTM with its cells
    feed: Tensor | None = None  # (B, H): the last attentional vector, with input feeding

    def select(self, rows: Tensor) -> State:
        """The state of the hypotheses `rows` (indices, repeats allowed)."""
        feed = None if self.feed is None else self.feed[rows]
        return State(tuple(part.index_select(1, rows) for part in self.recurrent), feed)


class Encoder(nn.Module):
    """Reads the source; state h_i sums up word i in the light of what was read around it."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        directions = 2 if config.bidirectional else 1
        self.layers, self.directions = config.layers, directions
        self.embedding = nn.Embedding(config.source_vocab, config.embedding, padding_idx=config.pad_id)
        self.dropout = nn.Dropout(config.dropout)
        self.rnn = CELLS[config.cell](
            config.embedding,
            config.state_size // directions,
            config.layers,
            batch_first=True,
            bidirectional=config.bidirectional,
            dropout=config.dropout if config.layers > 1 else 0.0,
        )

    def forward(self, source: Tensor, mask: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        """source (B, S), mask (B, S) -> states (B, S, D) and the final states, each (L, B, D)."""
        embedded = self.dropout(self.embedding(source))  # (B, S, E)
        # Packing lets the backward direction start at each sentence's own last word, and the final state be the
        # one after it. Without it both would have read padding.
        lengths = mask.sum(1)  # (B)
        packed = pack_padded_sequence(embedded, lengths.clamp(min=1).cpu(), batch_first=True, enforce_sorted=False)
        states, final = self.rnn(packed)
        states, _ = pad_packed_sequence(states, batch_first=True, total_length=source.shape[1])  # (B, S, D)
        final = final if isinstance(final, tuple) else (final,)
        real = lengths > 0  # an empty sentence was read as one padding token: forget it
        final = tuple(self._join_directions(part) * real[:, None] for part in final)
        return states * mask[:, :, None], final

    def _join_directions(self, final: Tensor) -> Tensor:
        """(L * directions, B, D / directions) -> (L, B, D)"""
        batch = final.shape[1]
        final = final.view(self.layers, self.directions, batch, -1)
        return final.transpose(1, 2).reshape(self.layers, batch, -1)


class Recurrence(nn.Module):
    """The decoder's recurrent layers, unrolled at once (`forward`) or one step at a time (`step`).

    The input of a step has two parts: the embedded word, known beforehand in teacher forcing, and an extra vector
    (a context, or the last attentional vector) that only the step before provides. `project` takes the first
    part through the input weights for the whole target in one product; the loop only adds the second.
    """

    def __init__(self, config: ModelConfig, extra: int) -> None:
        super().__init__()
        self.embedding = config.embedding
        dropout = config.dropout if config.layers > 1 else 0.0
        self.rnn = CELLS[config.cell](
            config.embedding + extra, config.hidden, config.layers, batch_first=True, dropout=dropout
        )

    def forward(self, inputs: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        """inputs (B, T, E + extra) -> all top states s_1 … s_T (B, T, H) and the last state of every layer."""
        outputs, last = self.rnn(inputs, state if len(state) > 1 else state[0])
        return outputs, last if isinstance(last, tuple) else (last,)

    def project(self, embedded: Tensor) -> Tensor:
        """The embedded words' share of the first layer's gates: (B, T, E) -> (B, T, G)."""
        return F.linear(embedded, self.rnn.weight_ih_l0[:, : self.embedding], self.rnn.bias_ih_l0)

    def step(self, projected: Tensor, extra: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        """One step: projected (B, G), extra (B, X), state each (L, B, H) -> s_t (B, H) and the new state."""
        rnn, cell = self.rnn, _lstm_cell if isinstance(self.rnn, nn.LSTM) else _gru_cell
        from_input = projected + F.linear(extra, rnn.weight_ih_l0[:, self.embedding :])  # (B, G)
        new, output = [], extra
        for layer in range(rnn.num_layers):
            if layer > 0:
                output = F.dropout(output, rnn.dropout, self.training)
                from_input = F.linear(output, *self._weights("ih", layer))
            old = tuple(part[layer] for part in state)  # each (B, H)
            from_state = F.linear(old[0], *self._weights("hh", layer))  # (B, G)
            new.append(cell(from_input, from_state, old))
            output = new[-1][0]  # (B, H)
        return output, tuple(torch.stack(parts) for parts in zip(*new, strict=True))

    def _weights(self, kind: str, layer: int) -> tuple[Tensor, Tensor]:
        return getattr(self.rnn, f"weight_{kind}_l{layer}"), getattr(self.rnn, f"bias_{kind}_l{layer}")


def _lstm_cell(from_input: Tensor, from_state: Tensor, old: tuple[Tensor, ...]) -> tuple[Tensor, Tensor]:
    """c = f ∘ c' + i ∘ g,  h = o ∘ tanh(c)  (Hochreiter & Schmidhuber 1997; gates in PyTorch's order)."""
    i, f, g, o = (from_input + from_state).chunk(4, dim=-1)  # each (B, H)
    c = torch.sigmoid(f) * old[1] + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def _gru_cell(from_input: Tensor, from_state: Tensor, old: tuple[Tensor, ...]) -> tuple[Tensor]:
    """h = (1 - z) ∘ n + z ∘ h',  n = tanh(W x + r ∘ U h')  (Cho et al. 2014; gates in PyTorch's order)."""
    r_in, z_in, n_in = from_input.chunk(3, dim=-1)  # each (B, H)
    r_state, z_state, n_state = from_state.chunk(3, dim=-1)
    z = torch.sigmoid(z_in + z_state)
    n = torch.tanh(n_in + torch.sigmoid(r_in + r_state) * n_state)
    return (n + z * (old[0] - n),)


class Bridge(nn.Module):
    """Hands the encoder's final state over to the decoder.

    A state that fits is handed over as it is (Sutskever et al. 2014). One of another size, or from two directions,
    goes through a matrix first: s_0 = tanh(W h) (Bahdanau et al. 2014). An LSTM's cell goes through one of its own,
    unsquashed.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.fits = config.state_size == config.hidden and not config.bidirectional
        parts = 0 if self.fits else 2 if config.cell == "lstm" else 1
        self.projections = nn.ModuleList(nn.Linear(config.state_size, config.hidden) for _ in range(parts))

    def forward(self, final: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """final, each (L, B, D) -> each (L, B, H)"""
        if self.fits:
            return final
        state, *cell = (project(part) for project, part in zip(self.projections, final, strict=True))
        return torch.tanh(state), *cell


class PlainDecoder(nn.Module):
    """No attention: `none` starts from the encoder's final state, `fixed` also reads it again at every step."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.repeat = config.order == "fixed"
        self.recurrence = Recurrence(config, config.state_size if self.repeat else 0)
        self.combine = nn.Linear(config.hidden + config.state_size, config.hidden) if self.repeat else None

    def keys(self, states: Tensor) -> Tensor:
        """Nothing is looked up here, so the states stay as they are."""
        return states

    def unroll(self, embedded: Tensor, state: State, memory: Memory) -> tuple[Tensor, State, None]:
        """embedded (B, T, E) -> features (B, T, H) for the output layer, the last state, no weights."""
        if not self.repeat:
            outputs, recurrent = self.recurrence(embedded, state.recurrent)  # (B, T, H)
            return outputs, State(recurrent), None
        context = memory.final[0][-1]  # (B, D): the one fixed vector
        contexts = context[:, None].expand(-1, embedded.shape[1], -1)  # (B, T, D)
        outputs, recurrent = self.recurrence(torch.cat([embedded, contexts], dim=-1), state.recurrent)
        features = torch.tanh(self.combine(torch.cat([outputs, contexts], dim=-1)))
        return features, State(recurrent), None


class LuongDecoder(nn.Module):
    """Query after the step: s_t = RNN(y_{t-1}, s_{t-1});  c_t = attend(s_t);  s~_t = tanh(W [s_t; c_t]).

    No step needs the context of the step before, so the whole target is unrolled at once. Input feeding gives
    that up: s_t = RNN([y_{t-1}; s~_{t-1}], s_{t-1}).
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.input_feeding = config.input_feeding
        self.recurrence = Recurrence(config, config.hidden if config.input_feeding else 0)
        self.combine = nn.Linear(config.hidden + config.state_size, config.hidden)
        self.scorer = make_scorer(config.scorer, config.hidden, config.state_size)

    def keys(self, states: Tensor) -> Tensor:
        """The encoder states as the scorer wants them, once for a sentence: (B, S, D) -> (B, S, A)."""
        return self.scorer.project(states)

    def unroll(self, embedded: Tensor, state: State, memory: Memory) -> tuple[Tensor, State, Tensor]:
        """embedded (B, T, E) -> features s~ (B, T, H), the last state, weights (B, T, S)."""
        if self.input_feeding:
            return self._unroll_with_feeding(embedded, state, memory)
        outputs, recurrent = self.recurrence(embedded, state.recurrent)  # (B, T, H)
        features, weights = self._look(outputs, memory, self.scorer)
        return features, State(recurrent), weights

    def _look(self, outputs: Tensor, memory: Memory, score: Score) -> tuple[Tensor, Tensor]:
        context, weights = attend(outputs, memory.keys, memory.states, memory.mask, score)  # (B, T, D)
        return torch.tanh(self.combine(torch.cat([outputs, context], dim=-1))), weights

    def _unroll_with_feeding(self, embedded: Tensor, state: State, memory: Memory) -> tuple[Tensor, State, Tensor]:
        recurrent, feed = state.recurrent, state.feed
        score = sparing(self.scorer, embedded.shape[1], memory.keys)
        features, weights = [], []
        for projected in self.recurrence.project(embedded).unbind(1):  # (B, G), T times
            output, recurrent = self.recurrence.step(projected, feed, recurrent)
            feature, weight = self._look(output[:, None], memory, score)  # (B, 1, H), (B, 1, S)
            feed = feature[:, 0]
            features.append(feature)
            weights.append(weight)
        return torch.cat(features, dim=1), State(recurrent, feed), torch.cat(weights, dim=1)


class BahdanauDecoder(nn.Module):
    """Query before the step: c_t = attend(s_{t-1});  s_t = RNN([y_{t-1}; c_t], s_{t-1}).

    The output layer sees tanh(W [s_t; c_t; y_{t-1}]) (the paper has a maxout unit there). Each step needs the
    step before, so this loop cannot be unrolled; what does not depend on it stays outside.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.recurrence = Recurrence(config, config.state_size)
        self.combine = nn.Linear(config.hidden + config.state_size + config.embedding, config.hidden)
        self.scorer = make_scorer(config.scorer, config.hidden, config.state_size)

    def keys(self, states: Tensor) -> Tensor:
        """The encoder states as the scorer wants them, once for a sentence: (B, S, D) -> (B, S, A)."""
        return self.scorer.project(states)

    def unroll(self, embedded: Tensor, state: State, memory: Memory) -> tuple[Tensor, State, Tensor]:
        """embedded (B, T, E) -> features (B, T, H), the last state, weights (B, T, S)."""
        recurrent = state.recurrent
        score = sparing(self.scorer, embedded.shape[1], memory.keys)
        outputs, contexts, weights = [], [], []
        for projected in self.recurrence.project(embedded).unbind(1):  # (B, G), T times
            query = recurrent[0][-1][:, None]  # (B, 1, H): s_{t-1} of the top layer
            context, weight = attend(query, memory.keys, memory.states, memory.mask, score)  # (B, 1, D)
            output, recurrent = self.recurrence.step(projected, context[:, 0], recurrent)
            outputs.append(output)
            contexts.append(context)
            weights.append(weight)
        joined = [torch.stack(outputs, dim=1), torch.cat(contexts, dim=1), embedded]
        features = torch.tanh(self.combine(torch.cat(joined, dim=-1)))  # (B, T, H)
        return features, State(recurrent), torch.cat(weights, dim=1)


DECODERS = {"none": PlainDecoder, "fixed": PlainDecoder, "bahdanau": BahdanauDecoder, "luong": LuongDecoder}


class Seq2Seq(nn.Module):
    """An encoder, a bridge, one of the decoders and an output layer."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder = Encoder(config)
        self.bridge = Bridge(config)
        self.embedding = nn.Embedding(config.target_vocab, config.embedding, padding_idx=config.pad_id)
        self.dropout = nn.Dropout(config.dropout)
        self.output = nn.Linear(config.hidden, config.embedding if config.tied else config.target_vocab)
        self.word_bias = nn.Parameter(torch.zeros(config.target_vocab)) if config.tied else None
        if config.tied:  # logits must begin small, and they are products with embeddings here
            with torch.no_grad():
                self.embedding.weight.mul_(config.embedding**-0.5)
        # The decoder comes last, and in it the scorer: with the same seed, models that differ in the scorer alone
        # start with the same weights everywhere else.
        self.decoder = DECODERS[config.order](config)

    def encode(self, source: Tensor, source_mask: Tensor) -> Memory:
        """Read the source once: ids (B, S) and mask (B, S) -> `Memory`."""
        check_ids("source", source, self.config.source_vocab)
        check_source_mask(source, source_mask)
        states, final = self.encoder(source, source_mask)  # (B, S, D)
        return Memory(states, self.decoder.keys(states), source_mask, final)

    def start(self, memory: Memory) -> State:
        """The decoder state s_0, as the bridge makes it from the encoder's final state."""
        recurrent = self.bridge(memory.final)  # each (L, B, H)
        feed = torch.zeros_like(recurrent[0][-1]) if self.config.input_feeding else None
        return State(recurrent, feed)

    def step(self, tokens: Tensor, state: State, memory: Memory) -> tuple[Tensor, State, Tensor | None]:
        """One target word: tokens y_{t-1} (B) -> logits (B, V), the new state, weights (B, S) or None."""
        logits, state, weights = self._decode(tokens[:, None], state, memory)
        return logits[:, 0], state, None if weights is None else weights[:, 0]

    def forward(self, source: Tensor, source_mask: Tensor, target: Tensor) -> tuple[Tensor, Tensor | None]:
        """Teacher forcing: target in (B, T), beginning with <s> -> logits (B, T, V), weights (B, T, S) or None."""
        memory = self.encode(source, source_mask)
        check_batch(source, target)
        logits, _, weights = self._decode(target, self.start(memory), memory)
        return logits, weights

    def _decode(self, target: Tensor, state: State, memory: Memory) -> tuple[Tensor, State, Tensor | None]:
        check_ids("target", target, self.config.target_vocab)
        embedded = self.dropout(self.embedding(target))  # (B, T, E)
        features, state, weights = self.decoder.unroll(embedded, state, memory)  # (B, T, H)
        logits = self.output(self.dropout(features))  # (B, T, V), tied (B, T, E)
        if self.config.tied:
            logits = F.linear(logits, self.embedding.weight, self.word_bias)  # (B, T, V)
        return logits, state, weights


def count_parameters(model: nn.Module) -> int:
    """How many numbers training can change."""
    return sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)


def _check_choice(what: str, given: str, choices: tuple[str, ...]) -> None:
    if given not in choices:
        raise ValueError(f"{what}={given!r} is not known: choose one of {', '.join(choices)}")


def check_batch(source: Tensor, target: Tensor) -> None:
    """ValueError unless there are as many source as target sentences."""
    if len(source) != len(target):
        raise ValueError(f"{len(source)} source and {len(target)} target sentences: a batch has one of each a pair")


def check_ids(what: str, ids: Tensor, vocabulary: int) -> None:
    """ValueError unless `ids` has shape (B, L) with L ≥ 1 and every id is in the vocabulary."""
    if ids.dim() != 2 or ids.shape[1] == 0:
        raise ValueError(f"{what} ids have shape {tuple(ids.shape)}: expected (batch, length) with length ≥ 1")
    if ids.numel() and not 0 <= int(ids.min()) <= int(ids.max()) < vocabulary:
        raise ValueError(
            f"{what} ids run from {int(ids.min())} to {int(ids.max())}, the model knows 0 to {vocabulary - 1}: "
            "encode with the tokenizer that the model was made for"
        )


def check_source_mask(source: Tensor, mask: Tensor) -> None:
    """TypeError or ValueError unless `mask` is boolean, as large as `source`, and has its padding at the end."""
    if mask.dtype != torch.bool:
        raise TypeError(f"the source mask has type {mask.dtype}: it must be boolean, True for a real token")
    if mask.shape != source.shape:
        raise ValueError(
            f"the source has shape {tuple(source.shape)} and its mask {tuple(mask.shape)}: must be equal"
        )
    if bool((mask[:, 1:] & ~mask[:, :-1]).any()):
        raise ValueError("the source mask has a real token after padding: padding goes at the end of a sentence")
