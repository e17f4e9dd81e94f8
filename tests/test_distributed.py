"""Several processes: the same steps as one, the same run after a death, and no undistributed copies."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from torch import distributed as dist

import lib
from lib import distributed
from lib.batching import batches, batches_per_epoch
from lib.cli import main

PROJECT = Path(lib.__file__).resolve().parent.parent
WHO = {"राम": "Ram", "बूढ़ी सीता देवी": "old lady Sita", "मोहन": "Mohan", "पड़ोस का लड़का": "the boy from next door"}
WHAT = {"किताब": "book", "एक कप गरम चाय": "a cup of hot tea", "रोटी": "bread", "चिट्ठी": "letter", "फल": "fruit"}
LINES = [f"{en} brought {e}\t{hi} {h} लाया\n" for hi, en in WHO.items() for h, e in WHAT.items()]
SIZES = ["--batch-size", "6", "--embedding", "8", "--hidden", "8", "--vocab-size", "300", "--dev", "3"]
SIZES += ["--test", "2", "--warmup", "10", "--patience", "0", "--course", "0", "--repeats", "1"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "pairs.txt"
    path.write_text("".join(LINES), encoding="utf-8")
    return path


def start(arguments: list[str]) -> subprocess.Popen[str]:
    """torchrun with two processes on this machine."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "lib"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(PROJECT)}
    return subprocess.Popen(command + arguments, env=environment, stderr=subprocess.PIPE, encoding="utf-8")


def two_processes(arguments: list[str]) -> str:
    run = start(arguments)
    _, said = run.communicate(timeout=120)
    assert run.returncode == 0, said
    return said


def last(folder: Path) -> dict:
    return torch.load(folder / "last.pt", weights_only=True)


def test_two_processes_give_the_weights_of_one(tmp_path: Path, corpus: Path) -> None:
    """To rounding: each step sees the same six pairs, three in each process, with unequal numbers of tokens."""
    train = ["train", "--corpus", str(corpus), *SIZES, "--steps", "25", "--evaluate-every", "10", "--dropout", "0"]
    said = two_processes([*train, "--out", str(tmp_path / "two")])
    assert "on 2 × " in said and said.count("finished at step 25") == 1  # one speaks, one writes
    assert main([*train, "--out", str(tmp_path / "one")]) == 0
    one, two = last(tmp_path / "one"), last(tmp_path / "two")
    for name in ("losses", "dev_losses"):
        assert two["trainer"]["history"][name] == pytest.approx(one["trainer"]["history"][name], rel=1e-5)
    for name, weights in one["weights"].items():
        torch.testing.assert_close(two["weights"][name], weights, rtol=1e-4, atol=1e-5)


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks for the processes in /proc")
def test_a_death_ends_the_other_and_all_go_on_afterwards(tmp_path: Path, corpus: Path) -> None:
    """Process 1 is killed; the other says so within a minute, and the resumed run ends as if nothing had been."""
    train = ["train", "--corpus", str(corpus), *SIZES, "--steps", "200", "--save-every", "5", "--dropout", "0.3"]
    two_processes([*train, "--out", str(tmp_path / "whole")])
    train += ["--out", str(tmp_path / "killed"), "--resume"]
    run = start(train)
    while not (tmp_path / "killed" / "last.pt").exists():
        assert run.poll() is None, run.stderr.read()
        time.sleep(0.005)
    os.kill(process_with_rank(run.pid, 1), signal.SIGKILL)
    killed = time.monotonic()
    _, said = run.communicate(timeout=60)
    assert time.monotonic() - killed < 60 and run.returncode != 0
    assert "python -m lib (process 0): another process of this run has ended" in said and "--resume" in said
    stopped_at = last(tmp_path / "killed")["trainer"]["step"]
    assert stopped_at < 200
    assert f"going on at step {stopped_at}" in two_processes(train)
    whole, resumed = last(tmp_path / "whole"), last(tmp_path / "killed")
    assert resumed["trainer"]["history"]["losses"] == whole["trainer"]["history"]["losses"]
    for name, weights in whole["weights"].items():
        assert torch.equal(resumed["weights"][name], weights), name


def process_with_rank(parent: int, rank: int) -> int:
    for child in Path(f"/proc/{parent}/task/{parent}/children").read_text().split():
        if f"\0RANK={rank}\0".encode() in Path(f"/proc/{child}/environ").read_bytes():
            return int(child)
    raise AssertionError(f"torchrun {parent} has no process of rank {rank}")


@pytest.mark.parametrize(
    ("pairs", "size", "world"), [(22, 8, 2), (17, 8, 2), (16, 8, 2), (9, 4, 4), (3, 8, 1), (3, 8, 3)]
)
def test_the_number_of_batches_is_known_beforehand(pairs: int, size: int, world: int) -> None:
    data = [([5] * (i % 4 + 1), [6]) for i in range(pairs)]
    for rank in range(world):
        assert len(list(batches(data, size, rank=rank, world=world))) == batches_per_epoch(pairs, size, world)


def test_an_epoch_can_begin_in_the_middle() -> None:
    data = [([5] * (i % 4 + 1), [6]) for i in range(22)]
    whole = [batch.indices.tolist() for batch in batches(data, 4, seed=3, epoch=1)]
    assert [batch.indices.tolist() for batch in batches(data, 4, seed=3, epoch=1, first=2)] == whole[2:]


def test_undistributed_copies_are_refused(monkeypatch) -> None:
    """Two were started, but each would train alone."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for name, value in {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "RANK": 0, "WORLD_SIZE": 1}.items():
        monkeypatch.setenv(name, str(value))
    try:
        with pytest.raises(RuntimeError, match="2 processes were started, but 1 of them train together"):
            distributed._join(2, distributed.TIMEOUT)
    finally:
        dist.destroy_process_group()


def test_processes_with_different_data_are_refused(monkeypatch) -> None:
    monkeypatch.setattr(distributed, "gather", lambda value: [value, (21, 7)])
    with pytest.raises(ValueError, match=r"different data \(0: \(22, 7\), 1: \(21, 7\)\): give all of them the same"):
        distributed.agree("data", (22, 7))
    distributed.agree("data", (21, 7))


def test_only_a_lost_process_is_called_one() -> None:
    os.environ["WORLD_SIZE"] = "1"
    try:
        with pytest.raises(RuntimeError, match="^Connection closed by peer"), distributed.processes():
            raise RuntimeError("Connection closed by peer")  # alone, there is nobody to lose
    finally:
        del os.environ["WORLD_SIZE"]


def test_random_states_belong_to_their_process_and_to_as_many_of_them() -> None:
    torch.manual_seed(5)
    own = distributed.random_state()
    expected = torch.rand(3)
    distributed.set_random_state([own], fallback=1)
    assert torch.equal(torch.rand(3), expected)
    distributed.set_random_state([own, own], fallback=1)  # saved by two, resumed by one
    found = torch.rand(3)
    torch.manual_seed(1)
    assert torch.equal(torch.rand(3), found) and not torch.equal(found, expected)
