"""Files on a disk that fills up, refuses, or holds something else; and a run that is killed twenty times."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
import torch

import lib
from lib.checkpoint import load_checkpoint, remove_leftovers, save_checkpoint, write_atomically
from lib.seq2seq import ModelConfig, Seq2Seq
from lib.text import WordTokenizer

PROJECT = Path(lib.__file__).resolve().parent.parent
NOUNS = {"किताब": "book", "चाय": "tea", "रोटी": "bread", "चिट्ठी": "letter", "पानी": "water", "फल": "fruit"}
WHO = {"राम": "Ram", "सीता": "Sita", "मोहन": "Mohan", "लड़का": "the boy", "राधा": "Radha"}
LINES = [f"{en} brought {n}\t{who} {noun} लाया\n" for who, en in WHO.items() for noun, n in NOUNS.items()]
KILLS = 20


def small() -> tuple[Seq2Seq, WordTokenizer, WordTokenizer]:
    source, target = WordTokenizer.train(["राम चाय लाया"], "hi"), WordTokenizer.train(["Ram brought tea"], "en")
    return Seq2Seq(ModelConfig(source.vocab_size, target.vocab_size, 4, 4)), source, target


def test_a_full_disk_is_one_clear_error_and_the_old_file_stays(tmp_path: Path, monkeypatch) -> None:
    """/dev/full is the kernel's own full disk: every write to it fails with ENOSPC."""
    path = tmp_path / "last.pt"
    save_checkpoint(path, *small())
    before, real = path.read_bytes(), tempfile.mkstemp

    def on_a_full_disk(**where) -> tuple[int, str]:
        handle, name = real(**where)
        os.close(handle)
        return os.open("/dev/full", os.O_WRONLY), name

    monkeypatch.setattr(tempfile, "mkstemp", on_a_full_disk)
    with pytest.raises(
        OSError, match="last.pt could not be written: the disk is full; the earlier file is as it was"
    ):
        save_checkpoint(path, *small())
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("reason", ["EROFS", "EACCES"])
def test_a_read_only_folder_is_one_clear_error(tmp_path: Path, monkeypatch, reason: str) -> None:
    def refuse(**where) -> None:
        code = getattr(__import__("errno"), reason)
        raise OSError(code, os.strerror(code), str(tmp_path))

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    with pytest.raises(OSError, match="could not be written: (the folder is read-only|you may not write there)$"):
        save_checkpoint(tmp_path / "last.pt", *small())
    assert list(tmp_path.iterdir()) == []


def test_weights_that_are_no_numbers_do_not_replace_good_ones(tmp_path: Path) -> None:
    model, *tokenizers = small()
    save_checkpoint(tmp_path / "last.pt", model, *tokenizers)
    before = (tmp_path / "last.pt").read_bytes()
    with torch.no_grad():
        model.output.bias[0] = torch.inf
    with pytest.raises(FloatingPointError, match="last.pt was not written: weights in output.bias"):
        save_checkpoint(tmp_path / "last.pt", model, *tokenizers)
    assert (tmp_path / "last.pt").read_bytes() == before


@pytest.mark.parametrize("part", [0, 1, 2, 3, 10, 50, 90, 99])
def test_a_file_cut_anywhere_is_one_clear_error(tmp_path: Path, part: int) -> None:
    path = tmp_path / "last.pt"
    save_checkpoint(path, *small())
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) * part // 100])
    with pytest.raises(ValueError, match=r"last.pt \(\d+ bytes\) is not a whole checkpoint of this course"):
        load_checkpoint(path)


def test_another_program_s_file_and_another_version_are_named(tmp_path: Path) -> None:
    torch.save({"weights": torch.ones(3)}, tmp_path / "other.pt")
    with pytest.raises(ValueError, match="not a whole checkpoint of this course"):
        load_checkpoint(tmp_path / "other.pt")
    torch.save({"format": 1}, tmp_path / "old.pt")
    with pytest.raises(ValueError, match="format 1, this version of the course reads format 2"):
        load_checkpoint(tmp_path / "old.pt")


class Harmful:
    def __reduce__(self):
        return os.system, ("echo harm",)


def test_a_file_with_code_in_it_is_not_run(tmp_path: Path, capfd) -> None:
    torch.save({"format": 2, "model": Harmful()}, tmp_path / "harm.pt")
    with pytest.raises(ValueError, match="not a whole checkpoint"):
        load_checkpoint(tmp_path / "harm.pt")
    assert capfd.readouterr().out == ""


def test_what_a_killed_writer_left_is_taken_away(tmp_path: Path) -> None:
    (tmp_path / ".last.pt.abc123").write_bytes(b"half")
    write_atomically(tmp_path / "last.pt", lambda file: file.write(b"whole"))
    remove_leftovers(tmp_path / "last.pt")
    assert [path.name for path in tmp_path.iterdir()] == ["last.pt"]


# ------------------------------------------------------------------------------------------------- killed and resumed

COMMAND = ["--steps", "600", "--batch-size", "8", "--embedding", "8", "--hidden", "8", "--dropout", "0.3"]
COMMAND += ["--vocab-size", "300", "--dev", "4", "--test", "4", "--save-every", "8", "--evaluate-every", "60"]
COMMAND += ["--patience", "0", "--average", "0.9", "--warmup", "10", "--course", "0"]
# Starts `python -m lib` again and again without importing PyTorch again: a copy of this process for each line of
# standard input. A line is a number of seconds and "start" or "save": the copy is killed so long after its start, or
# after it has replaced last.pt. Printed is what ended the copy.
KILLER = """
import os, signal, sys, time
import torch, lib.cli, lib.runs, lib.evaluation
torch.optim.Adam([torch.nn.Parameter(torch.ones(1))])  # imports the rest of PyTorch
last = os.path.join(sys.argv[sys.argv.index("--out") + 1], "last.pt")
age = lambda: os.stat(last).st_mtime_ns if os.path.exists(last) else 0
for line in sys.stdin:
    delay, after = line.split()
    before, child = age(), os.fork()
    if not child:
        os._exit(lib.cli.main(sys.argv[1:]))
    look = os.WEXITED | os.WNOHANG | os.WNOWAIT
    while after == "save" and age() == before and os.waitid(os.P_PID, child, look) is None:
        time.sleep(0.001)
    time.sleep(float(delay))
    os.kill(child, signal.SIGKILL)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def python(*arguments: str, **settings) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(PROJECT)}
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", **settings)


@pytest.mark.skipif(sys.platform == "win32", reason="no fork, no SIGKILL")
def test_a_run_killed_twenty_times_ends_with_the_same_weights(tmp_path: Path) -> None:
    """Bit for bit, with dropout, averaged weights and the best model; killed while it starts, trains and writes."""
    corpus = tmp_path / "pairs.txt"
    corpus.write_text("".join(LINES), encoding="utf-8")
    train = ["train", "--corpus", str(corpus), *COMMAND, "--out"]
    whole = python("-m", "lib", *train, str(tmp_path / "whole"))
    assert whole.returncode == 0, whole.stderr

    moments = random.Random(time.time_ns())
    early = [f"{moments.uniform(0, 0.4)} start" for _ in range(4)]
    kills = [*early, *(f"{moments.uniform(0, 0.1)} save" for _ in range(KILLS - 4))]
    moments.shuffle(kills)
    resume = [*train, str(tmp_path / "killed"), "--resume"]
    killer = python("-c", KILLER, *resume, input="\n".join(kills))
    assert killer.stdout.split() == [str(-signal.SIGKILL)] * KILLS, (kills, killer.stderr)
    assert killer.stderr.count("going on at step") >= KILLS // 2, f"it hardly ever got to train: {killer.stderr}"

    end = python("-m", "lib", *resume)
    assert end.returncode == 0 and "going on at step" in end.stderr and "step 600" in end.stderr, end.stderr
    for name in ("last.pt", "best.pt"):
        a, b = (torch.load(tmp_path / run / name, weights_only=True) for run in ("whole", "killed"))
        for state in (a, b):
            (state["trainer"] or {"history": {}})["history"]["seconds"] = 0.0
        assert_same(a, b, f"{name}, killed {kills}")
    assert {path.name for path in (tmp_path / "killed").iterdir()} == {
        *(".lock", "config.json", "last.pt", "best.pt", "dev.tsv", "test.tsv")
    }


def assert_same(a: object, b: object, where: str) -> None:
    """Equal to the last bit, at every depth."""
    assert type(a) is type(b), where
    if isinstance(a, dict):
        assert a.keys() == b.keys(), where
        for key in a:
            assert_same(a[key], b[key], f"{where}: {key}")
    elif isinstance(a, list | tuple):
        assert len(a) == len(b), where
        for number, (left, right) in enumerate(zip(a, b, strict=True)):
            assert_same(left, right, f"{where}: {number}")
    elif isinstance(a, torch.Tensor):
        assert torch.equal(a, b), where
    else:
        assert a == b, where
