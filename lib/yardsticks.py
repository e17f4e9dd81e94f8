"""What the bench measures against: the matrix products of a training step alone, and the loop that tutorials use.

The products are the floor: no step that computes the same thing can be faster than they are on the machine at hand.
The loop computes the same loss from the same weights, one target word at a time. Nothing else in the course uses it.

Letters: B batch, S source length, T target length, E embedding, H hidden, A inner size of a scorer, V vocabulary.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from lib.attention import concat_score, masked_softmax
from lib.batching import Batch
from lib.seq2seq import Seq2Seq
from lib.text import EOS
from lib.training import token_loss


def random_batch(batch: int, source: int, target: int, vocabulary: int) -> Batch:
    """Words drawn at random, no padding: what is timed does not depend on which words they are."""

    def words(length: int) -> Tensor:
        return torch.randint(EOS + 1, vocabulary, (batch, length))

    masks = [torch.ones(batch, length, dtype=torch.bool) for length in (source, target)]
    return Batch(words(source), masks[0], words(target), words(target), masks[1], torch.arange(batch))


@dataclass(frozen=True)
class Product:
    """(rows, inner) @ (inner, columns): for each of `batch` matrices, in each of `steps` steps one after another."""

    name: str
    rows: int
    inner: int
    columns: int
    steps: int = 1
    batch: int = 1

    @property
    def flops(self) -> int:
        """A multiplication and an addition for each term, forward and for the gradients of both factors: 2 · 3."""
        return 6 * self.batch * self.steps * self.rows * self.inner * self.columns


def step_products(order: str, batch: int, source: int, target: int, vocabulary: int, hidden: int) -> list[Product]:
    """The matrix products of one LSTM training step with E = H: dot in Luong order, additive in Bahdanau order.

    Embeddings are look-ups and the optimiser is no product: neither is here.
    """
    gates, words, steps = 4 * hidden, batch * source, batch * target
    encoder = [
        Product("encoder, input", words, hidden, gates),
        Product("encoder, hidden", batch, hidden, gates, steps=source),
        Product("decoder, input", steps, hidden, gates),
        Product("decoder, hidden", batch, hidden, gates, steps=target),
    ]
    output = Product("output layer", steps, hidden, vocabulary)
    if order == "luong":
        return [
            *encoder,
            Product("score", target, hidden, source, batch=batch),
            Product("context", target, source, hidden, batch=batch),
            Product("combine", steps, 2 * hidden, hidden),
            output,
        ]
    return [
        *encoder,
        Product("decoder, context", batch, hidden, gates, steps=target),
        Product("keys", words, hidden, hidden),
        Product("queries", batch, hidden, hidden, steps=target),
        Product("score", words, hidden, 1, steps=target),
        Product("context", 1, source, hidden, steps=target, batch=batch),
        Product("combine", steps, 3 * hidden, hidden),
        output,
    ]


def products_alone(products: Iterable[Product]) -> Callable[[], None]:
    """A function that computes the products and nothing else, forward and backward.

    What is sequential stays so: with `steps`, the product and the gradient of its left factor come step by step. The
    gradient of the right factor, the weights, is one product over all steps, which is the fastest way.
    """
    jobs = [(product, *_factors(product)) for product in products]

    def run() -> None:
        for product, left, right, gradient, all_left, all_gradient in jobs:
            for _ in range(product.steps):
                left @ right
                gradient @ right.transpose(-1, -2)
            all_left.transpose(-1, -2) @ all_gradient

    return run


def _factors(product: Product) -> tuple[Tensor, ...]:
    """Left and right factor and the gradient of the result; then left and gradient of all steps, joined."""
    front = (product.batch,) if product.batch > 1 else ()
    rows, inner, columns, every = product.rows, product.inner, product.columns, product.steps * product.rows
    shapes = ((rows, inner), (inner, columns), (rows, columns), (every, inner), (every, columns))
    return tuple(torch.randn(*front, *shape) for shape in shapes)


def tutorial_loss(model: Seq2Seq, batch: Batch) -> Tensor:
    """The loss per token of `model` as tutorials compute it: word by word, everything inside the loop.

    Attention call, output layer and cross-entropy in each step; the keys projected anew in each step. The encoder
    reads the source in one call, as most tutorials do. For one layer, dot in Luong or additive in Bahdanau order.
    """
    decoder, rnn = model.decoder, model.decoder.recurrence.rnn
    states, state = model.encoder.rnn(model.encoder.embedding(batch.source))  # (B, S, H)
    total = torch.zeros(())
    for t in range(batch.target_in.shape[1]):
        word = model.embedding(batch.target_in[:, t])  # (B, E)
        if model.config.order == "luong":
            output, state = rnn(word[:, None], state)  # (B, 1, H)
            context = _tutorial_context(output @ states.transpose(1, 2), states, batch.source_mask)  # (B, H)
            parts = [output[:, 0], context]
        else:
            scorer = decoder.scorer
            weight = torch.cat([scorer.query_projection.weight, scorer.key_projection.weight], dim=1)  # (A, 2H)
            scores = concat_score(state[0].transpose(0, 1), states, weight, scorer.v)  # (B, 1, S)
            context = _tutorial_context(scores, states, batch.source_mask)  # (B, H)
            output, state = rnn(torch.cat([word, context], dim=-1)[:, None], state)
            parts = [output[:, 0], context, word]
        logits = model.output(torch.tanh(decoder.combine(torch.cat(parts, dim=-1))))  # (B, V)
        total = total + token_loss(logits[:, None], batch.target_out[:, t, None], batch.target_mask[:, t, None])
    return total / batch.target_mask.sum()


def _tutorial_context(scores: Tensor, states: Tensor, mask: Tensor) -> Tensor:
    """scores (B, 1, S), states (B, S, H), mask (B, S) -> (B, H)"""
    return (masked_softmax(scores, mask[:, None]) @ states)[:, 0]


class PeakMemory(TorchDispatchMode):
    """Inside `with PeakMemory(model) as memory:` counts the bytes of the tensors alive; `memory.peak` is their most.

    The weights of the model, there before, are not counted; their gradients are.
    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.now = self.peak = 0
        self.known: dict[int, object] = {part.untyped_storage()._cdata: None for part in model.parameters()}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for tensor in tree_leaves(result):
            if isinstance(tensor, Tensor) and tensor.untyped_storage()._cdata not in self.known:
                self._add(tensor.untyped_storage())
        return result

    def _add(self, storage: torch.UntypedStorage) -> None:
        place, size = storage._cdata, storage.nbytes()

        def drop(_: object) -> None:
            del self.known[place]
            self.now -= size

        self.known[place] = weakref.ref(storage, drop)
        self.now += size
        self.peak = max(self.peak, self.now)
