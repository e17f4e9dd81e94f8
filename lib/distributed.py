"""One process or several: which one this is, what it computes on, and sums over all of them.

`torchrun` starts the same program several times and tells each copy its number in the environment. A program that
is started alone finds nothing there, and every function of this file is then free of charge: the trainer is written
once for both cases.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import torch
from torch import Tensor, nn
from torch import distributed as dist

TIMEOUT = timedelta(minutes=5)  # a process that hangs; one that dies is noticed at once
_LOST = re.compile("gloo|nccl|peer|connection|socket|timed? ?out", re.IGNORECASE)  # in the backends' own messages


class LostProcess(RuntimeError):
    """Another process of the same run has ended or does not answer."""


def pick_device() -> torch.device:
    """CUDA where there is one, else the CPU. Apple's MPS is not chosen: packed RNNs are unreliable there.

    Of several GPUs it is the current one, which `processes` sets to one GPU for each process.
    """
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def rank() -> int:
    """The number of this process, from 0; process 0 writes the files and shows the progress."""
    return dist.get_rank() if _several() else 0


def world() -> int:
    """How many processes train together."""
    return dist.get_world_size() if _several() else 1


@contextmanager
def processes(timeout: timedelta = TIMEOUT) -> Iterator[None]:
    """Join the other processes that torchrun has started, if it has: gloo on CPUs, nccl on GPUs.

    Raises:
        LostProcess: another process ended while this one was waiting for it.
        RuntimeError: the processes do not see each other, or are more than there are GPUs.
    """
    expected = int(os.environ.get("WORLD_SIZE", "1"))
    if expected == 1:
        yield
        return
    try:
        _join(expected, timeout)
        yield
    except RuntimeError as error:
        if isinstance(error, torch.OutOfMemoryError) or not _LOST.search(str(error)):
            raise
        cause = str(error).strip().splitlines()[-1][:160]
        raise LostProcess(f"another process of this run has ended or does not answer ({cause})") from error
    dist.destroy_process_group()


def _join(expected: int, timeout: timedelta) -> None:
    if cuda := torch.cuda.is_available():
        local, gpus = int(os.environ.get("LOCAL_RANK", "0")), torch.cuda.device_count()
        if local >= gpus:
            raise RuntimeError(f"process {local} of this machine has no GPU, it has {gpus}: start one for each")
        torch.cuda.set_device(local)
    dist.init_process_group("nccl" if cuda else "gloo", timeout=timeout)
    counted = int(sum_over_processes(torch.ones((), device=pick_device())))
    if not expected == world() == counted:
        raise RuntimeError(f"{expected} processes were started, but {counted} of them train together")


def sum_over_processes(values: Tensor) -> Tensor:
    """The sum of `values` over all processes, in place; of one process alone, the values themselves."""
    if _several():
        dist.all_reduce(values)
    return values


def gather(value: Any) -> list[Any]:
    """The plain value or CPU tensor of every process, in the order of their numbers."""
    if not _several():
        return [value]
    found: list[Any] = [None] * world()
    dist.all_gather_object(found, value)
    return found


def agree(what: str, value: Any) -> None:
    """Make sure that all processes hold the same value: otherwise they would train different things together."""
    found = gather(value)
    if any(other != found[0] for other in found):
        given = ", ".join(f"{number}: {other}" for number, other in enumerate(found))
        raise ValueError(f"the processes have different {what} ({given}): give all of them the same files and flags")


def synchronised(model: nn.Module) -> nn.Module:
    """The model with gradients averaged over all processes in every backward pass; alone, the model itself."""
    if not _several():
        return model
    on_gpu = next(model.parameters()).is_cuda
    return nn.parallel.DistributedDataParallel(model, device_ids=[torch.cuda.current_device()] if on_gpu else None)


def random_state() -> dict[str, Tensor]:
    """The states of PyTorch's random numbers in this process, on the CPU and on its GPU."""
    state = {"cpu": torch.get_rng_state()}
    if torch.cuda.is_available():
        state["cuda"] = torch.cuda.get_rng_state()
    return state


def set_random_state(states: list[dict[str, Tensor]], fallback: int) -> None:
    """Go on with this process's state out of those of all; if they were not as many, from the seed `fallback`."""
    if len(states) != world():
        torch.manual_seed(fallback + rank())
        return
    own = states[rank()]
    torch.set_rng_state(own["cpu"])
    if torch.cuda.is_available() and "cuda" in own:
        torch.cuda.set_rng_state(own["cuda"])


def _several() -> bool:
    return dist.is_available() and dist.is_initialized()
