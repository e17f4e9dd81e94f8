"""Files that are whole or absent: a model with all it needs, written in one move and read with suspicion."""

from __future__ import annotations

import errno
import io
import os
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import torch
from torch import nn

from lib.distributed import pick_device
from lib.seq2seq import ModelConfig, Seq2Seq
from lib.text import Tokenizer, WordTokenizer, load_tokenizer
from lib.transformer import TinyTransformer, TransformerConfig

MODELS = {"Seq2Seq": (Seq2Seq, ModelConfig), "TinyTransformer": (TinyTransformer, TransformerConfig)}
CHECKPOINT_FORMAT = 2
AnyTokenizer = Tokenizer | WordTokenizer
_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "your share of the disk is used up",
    errno.EFBIG: "the file is larger than this system allows",
    errno.EROFS: "the folder is read-only",
    errno.EACCES: "you may not write there",
    errno.EPERM: "you may not write there",
}


class HasState(Protocol):
    """A trainer, as far as a file is concerned."""

    def state_dict(self) -> dict[str, Any]: ...


@dataclass
class Checkpoint:
    """What `load_checkpoint` gives back."""

    model: nn.Module
    source_tokenizer: AnyTokenizer
    target_tokenizer: AnyTokenizer
    trainer: dict[str, Any] | None  # for Trainer.load_state_dict
    about: dict[str, Any]  # what the writer wanted to be remembered: plain values


def save_checkpoint(
    path: str | os.PathLike[str],
    model: nn.Module,
    source_tokenizer: AnyTokenizer,
    target_tokenizer: AnyTokenizer,
    trainer: HasState | dict[str, Any] | None = None,
    about: dict[str, Any] | None = None,
    weights: dict[str, torch.Tensor] | None = None,
) -> None:
    """Write a model with all it needs into one file: whole, or not at all.

    The file holds plain types and tensors only, so `torch.load(weights_only=True)` reads it.

    Args:
        trainer: a trainer or its `state_dict()`, to go on from there.
        about: plain values to be kept beside the model.
        weights: in place of those that the model has now, for example those of the best evaluation.

    Raises:
        FloatingPointError: a weight is not a finite number; such a file would replace a good one.
        OSError: it could not be written, with the reason.
    """
    weights = model.state_dict() if weights is None else weights
    if broken := [name for name, value in weights.items() if not torch.isfinite(value).all()]:
        raise FloatingPointError(f"{path} was not written: weights in {broken[0]} are not finite numbers")
    content = {
        "format": CHECKPOINT_FORMAT,
        "model": type(model).__name__,
        "config": asdict(model.config),
        "weights": weights,
        "source_tokenizer": source_tokenizer.to_bytes(),
        "target_tokenizer": target_tokenizer.to_bytes(),
        "trainer": trainer.state_dict() if hasattr(trainer, "state_dict") else trainer,
        "about": about or {},
    }
    memory = io.BytesIO()  # first here: PyTorch's own writer hides why a disk refuses
    torch.save(content, memory)
    write_atomically(Path(path), lambda file: file.write(memory.getbuffer()))


def write_atomically(path: Path, write: Callable[[BinaryIO], Any]) -> None:
    """Call `write(file)` on a temporary file beside `path`, then put it in its place in one move.

    Whatever goes wrong, the earlier file stays as it was and no temporary one is left behind; only a process that
    is killed leaves one, named `.NAME.…`, which `remove_leftovers` takes away.

    Raises:
        OSError: of the same kind as the system's, in one sentence with the reason.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(name, 0o644)  # a temporary file is for its owner alone; this one is to be shared
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        reason = _REASONS.get(error.errno, error.strerror or str(error))
        kept = "; the earlier file is as it was" if path.exists() else ""
        raise OSError(error.errno, f"{path} could not be written: {reason}{kept}") from error


def remove_leftovers(path: Path) -> None:
    """Delete the temporary files of writers of `path` that were killed."""
    for leftover in path.parent.glob(f".{path.name}.*"):
        leftover.unlink(missing_ok=True)


def load_checkpoint(path: str | os.PathLike[str], device: torch.device | None = None) -> Checkpoint:
    """Read what `save_checkpoint` wrote, onto `device` (by default the one `pick_device` chooses).

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is not a whole checkpoint of this course, or of another version of it.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no checkpoint at {path}: train first, or give the path of a saved one")
    path.open("rb").close()  # a file that may not be read says so itself
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
        found = content["format"]
        if found == CHECKPOINT_FORMAT:
            return _rebuild(content, device or pick_device())
    except (MemoryError, torch.OutOfMemoryError):
        raise
    except Exception as error:
        raise ValueError(
            f"{path} ({path.stat().st_size} bytes) is not a whole checkpoint of this course "
            f"({type(error).__name__}): it may be truncated, or another kind of file. Use another copy or train again"
        ) from error
    raise ValueError(
        f"{path} has format {found}, this version of the course reads format {CHECKPOINT_FORMAT}: train again"
    )


def _rebuild(content: dict[str, Any], device: torch.device) -> Checkpoint:
    model_class, config_class = MODELS[content["model"]]
    model = model_class(config_class(**content["config"]))
    model.load_state_dict(content["weights"])
    tokenizers = [load_tokenizer(content[f"{side}_tokenizer"]) for side in ("source", "target")]
    return Checkpoint(model.to(device), *tokenizers, content["trainer"], content["about"])
