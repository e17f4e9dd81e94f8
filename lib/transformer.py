"""A tiny Transformer (Vaswani et al. 2017), built from the same `attend` as the recurrent models.

The looking up is not new, the asking is: queries, keys and values are three projections of the states; several small
lookups run side by side (heads); the words of a sentence look at each other (self-attention); and since nothing is
recurrent, the place of a word is added to it as a vector. The four calls are those of `lib.seq2seq.Seq2Seq`.

Letters: B batch, S source length, T target length, L either of them, D size of a state, N heads, V vocabulary.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from lib.attention import attend, scaled_dot_score
from lib.seq2seq import check_batch, check_ids, check_source_mask
from lib.settings import require, whole


def self_attention(states: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Every state looks at every state of its own sentence: query, key and value are the states themselves.

    states (B, S, D), mask (B, S) or (1, S, S) -> (B, S, D) and weights (B, S, S). Permuted states, permuted result.
    """
    return attend(states, states, states, mask, scaled_dot_score)


def causal_mask(steps: int, past: int = 0) -> Tensor:
    """Who may look at whom in the target: step t sees itself and what came before, never what comes after.

    Boolean (T, past + T), for T steps after `past` earlier ones. Give it to `attend` with a batch axis,
    `causal_mask(T)[None]`: two axes alone would mean (B, S), which source words are real.
    """
    return torch.ones(steps, past + steps, dtype=torch.bool).tril(past)


def sinusoidal_positions(length: int, size: int, start: int = 0) -> Tensor:
    """PE(p, 2i) = sin(p / 10000^(2i/D)),  PE(p, 2i+1) = cos(p / 10000^(2i/D))  (Vaswani et al. 2017).

    (L, D) for the positions p = start, start + 1, …; there is no longest sentence. `size` D must be even.
    """
    if size % 2:
        raise ValueError(f"size {size} is odd, but in a position every sine has its cosine: choose an even size")
    positions = torch.arange(start, start + length, dtype=torch.float64)[:, None]  # (L, 1)
    angles = positions * 10_000.0 ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)  # (L, D / 2)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1).float()  # (L, D): sin, cos, sin, cos, …


def split_heads(states: Tensor, heads: int) -> Tensor:
    """Cut each state into equal slices, one a head: (B, L, D) -> (B, N, L, D / N)."""
    return states.unflatten(-1, (heads, -1)).transpose(1, 2)


def merge_heads(states: Tensor) -> Tensor:
    """Undo `split_heads`: (B, N, L, D / N) -> (B, L, D)."""
    return states.transpose(1, 2).flatten(2)


class KeysValues(NamedTuple):
    """What can be looked up: the projected keys and values of some positions, each (B, N, L, D / N)."""

    keys: Tensor
    values: Tensor

    def select(self, rows: Tensor) -> KeysValues:
        """The rows `rows` of the batch (indices, repeats allowed)."""
        return KeysValues(self.keys[rows], self.values[rows])


class MultiHeadAttention(nn.Module):
    """Slice n of W_q x looks up slice n of W_k m and W_v m; what the N heads find is joined and projected by W_o.

    As in a scorer, `project` is called once for the states that are looked at, `forward` for every look.
    """

    def __init__(self, size: int, heads: int) -> None:
        super().__init__()
        if heads < 1 or size % heads:
            raise ValueError(f"a state of size {size} cannot be cut into {heads} equal heads: heads must divide it")
        self.heads = heads
        self.query_projection, self.key_projection = nn.Linear(size, size), nn.Linear(size, size)
        self.value_projection, self.output_projection = nn.Linear(size, size), nn.Linear(size, size)

    def project(self, states: Tensor) -> KeysValues:
        """states (B, S, D) -> keys and values, each (B, N, S, D / N)."""
        keys, values = self.key_projection(states), self.value_projection(states)  # (B, S, D)
        return KeysValues(split_heads(keys, self.heads), split_heads(values, self.heads))

    def forward(self, queries: Tensor, known: KeysValues, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """queries (B, T, D), mask (B, S) or (1, T, S) -> (B, T, D) and the weights of each head, (B, N, T, S)."""
        if mask is not None and mask.dim() == 3:
            mask = mask[:, None]  # (1, 1, T, S): the same for every head
        query = split_heads(self.query_projection(queries), self.heads)  # (B, N, T, D / N)
        context, weights = attend(query, known.keys, known.values, mask, scaled_dot_score)  # (B, N, T, D / N)
        return self.output_projection(merge_heads(context)), weights


@dataclass(frozen=True)
class TransformerConfig:
    """Everything that decides the shape of a model; `feedforward` None means four times `size`."""

    source_vocab: int
    target_vocab: int
    size: int = 128
    heads: int = 4
    layers: int = 2
    feedforward: int | None = None
    dropout: float = 0.0
    pad_id: int = 0

    def __post_init__(self) -> None:
        sizes = "source_vocab target_vocab size heads layers feedforward"
        require(self, sizes, whole(1), "a whole number, 1 or more")
        require(self, "dropout", lambda share: 0 <= share < 1, "at least 0 and less than 1")
        words = min(self.source_vocab, self.target_vocab)
        require(self, "pad_id", lambda n: 0 <= n < words, f"an id of both vocabularies, 0 to {words - 1}")


class EncoderLayer(nn.Module):
    """Look around in the sentence, then digest: x += attention(norm(x)); x += feedforward(norm(x)) ("pre-norm")."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(config.size, config.heads)
        self.feedforward = _feedforward(config)
        self.attention_norm, self.feedforward_norm = nn.LayerNorm(config.size), nn.LayerNorm(config.size)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """states (B, S, D), mask (B, S) -> (B, S, D)"""
        normed = self.attention_norm(states)
        read, _ = self.attention(normed, self.attention.project(normed), mask)
        states = states + self.dropout(read)
        return states + self.dropout(self.feedforward(self.feedforward_norm(states)))


class DecoderLayer(nn.Module):
    """Look back in the target, look over to the source, then digest."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(config.size, config.heads)
        self.cross_attention = MultiHeadAttention(config.size, config.heads)
        self.feedforward = _feedforward(config)
        self.self_norm, self.cross_norm, self.feedforward_norm = (nn.LayerNorm(config.size) for _ in range(3))
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self, states: Tensor, past: KeysValues, causal: Tensor, source: KeysValues, source_mask: Tensor
    ) -> tuple[Tensor, KeysValues, Tensor]:
        """states (B, T, D) -> (B, T, D), the keys and values so far, the weights on the source (B, N, T, S)."""
        normed = self.self_norm(states)
        new = self.self_attention.project(normed)
        past = KeysValues(torch.cat([past.keys, new.keys], 2), torch.cat([past.values, new.values], 2))
        read, _ = self.self_attention(normed, past, causal)
        states = states + self.dropout(read)
        read, weights = self.cross_attention(self.cross_norm(states), source, source_mask)
        states = states + self.dropout(read)
        return states + self.dropout(self.feedforward(self.feedforward_norm(states))), past, weights


@dataclass(frozen=True)
class Memory:
    """What the encoder leaves behind for the decoder, one row a sentence."""

    states: Tensor  # (B, S, D)
    known: tuple[KeysValues, ...]  # for each decoder layer: the states as its heads want them, projected once
    mask: Tensor  # (B, S)

    def select(self, rows: Tensor) -> Memory:
        """The memory of the sentences `rows` (indices, repeats allowed)."""
        return Memory(self.states[rows], tuple(layer.select(rows) for layer in self.known), self.mask[rows])


@dataclass(frozen=True)
class State:
    """Where the decoder stands, one row a hypothesis: the keys and values of its words so far (the key cache)."""

    past: tuple[KeysValues, ...]  # for each decoder layer
    position: int  # how many target words that is

    def select(self, rows: Tensor) -> State:
        """The state of the hypotheses `rows` (indices, repeats allowed)."""
        return State(tuple(layer.select(rows) for layer in self.past), self.position)


class TinyTransformer(nn.Module):
    """Two stacks of layers; the weights it returns are the last layer's look at the source, mean over the heads."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.source_embedding = nn.Embedding(config.source_vocab, config.size, padding_idx=config.pad_id)
        self.target_embedding = nn.Embedding(config.target_vocab, config.size, padding_idx=config.pad_id)
        self.encoder_layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.layers))
        self.decoder_layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.layers))
        self.encoder_norm, self.decoder_norm = nn.LayerNorm(config.size), nn.LayerNorm(config.size)
        self.output = nn.Linear(config.size, config.target_vocab)
        self.dropout = nn.Dropout(config.dropout)
        self.apply(_start_weights)

    def encode(self, source: Tensor, source_mask: Tensor) -> Memory:
        """Read the source once: ids (B, S) and mask (B, S) -> `Memory`."""
        check_ids("source", source, self.config.source_vocab)
        check_source_mask(source, source_mask)
        states = self._embed(self.source_embedding, source)  # (B, S, D)
        for layer in self.encoder_layers:
            states = layer(states, source_mask)
        states = self.encoder_norm(states) * source_mask[:, :, None]
        known = tuple(layer.cross_attention.project(states) for layer in self.decoder_layers)
        return Memory(states, known, source_mask)

    def start(self, memory: Memory) -> State:
        """The state before the first target word: nothing yet to look back at."""
        return State(tuple(KeysValues(keys[:, :, :0], values[:, :, :0]) for keys, values in memory.known), 0)

    def step(self, tokens: Tensor, state: State, memory: Memory) -> tuple[Tensor, State, Tensor]:
        """One target word: tokens y_{t-1} (B) -> logits (B, V), the new state, weights (B, S)."""
        logits, state, weights = self._decode(tokens[:, None], state, memory)
        return logits[:, 0], state, weights[:, 0]

    def forward(self, source: Tensor, source_mask: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """Teacher forcing: target in (B, T), beginning with <s> -> logits (B, T, V), weights (B, T, S)."""
        memory = self.encode(source, source_mask)
        check_batch(source, target)
        logits, _, weights = self._decode(target, self.start(memory), memory)
        return logits, weights

    def _decode(self, target: Tensor, state: State, memory: Memory) -> tuple[Tensor, State, Tensor]:
        """Read T more words at once: all of them in training, one in a step; `state` says what came before."""
        check_ids("target", target, self.config.target_vocab)
        states = self._embed(self.target_embedding, target, state.position)  # (B, T, D)
        causal = causal_mask(target.shape[1], state.position)[None].to(target.device)  # (1, T, past + T)
        seen = []
        for layer, past, known in zip(self.decoder_layers, state.past, memory.known, strict=True):
            states, past, weights = layer(states, past, causal, known, memory.mask)
            seen.append(past)
        state, weights = State(tuple(seen), state.position + target.shape[1]), weights.mean(1)  # (B, T, S)
        return self.output(self.decoder_norm(states)), state, weights  # (B, T, V)

    def _embed(self, embedding: nn.Embedding, ids: Tensor, start: int = 0) -> Tensor:
        """sqrt(D) · embedding + position: ids (B, L) -> (B, L, D)"""
        embedded = embedding(ids) * math.sqrt(self.config.size)
        return self.dropout(embedded + sinusoidal_positions(ids.shape[1], self.config.size, start).to(embedded))


def _feedforward(config: TransformerConfig) -> nn.Sequential:
    """W_2 relu(W_1 x): what a word makes of what it has read, (…, D) -> (…, D)."""
    inner = config.feedforward or 4 * config.size
    return nn.Sequential(nn.Linear(config.size, inner), nn.ReLU(), nn.Linear(inner, config.size))


def _start_weights(module: nn.Module) -> None:
    """Glorot's range for matrices; embeddings so small that sqrt(D) times as much has variance 1, like a sine."""
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        nn.init.zeros_(module.bias)
    elif isinstance(module, nn.Embedding):
        module.weight.data /= math.sqrt(module.embedding_dim)  # it was drawn with variance 1
