"""The commands as people use them: files, exit codes, one-line errors, Ctrl-C."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

import lib
from lib.batching import encode_pairs
from lib.checkpoint import load_checkpoint
from lib.cli import main
from lib.commands import chunks, read_lines
from lib.corpus import ParallelCorpus
from lib.evaluation import bleu
from lib.runs import RunConfig, RunFolder, settings_by_part, stop_signals
from lib.search import Translator
from lib.training import dev_loss

PROJECT = Path(lib.__file__).resolve().parent.parent
NOUNS = {"किताब": "book", "चाय": "tea", "रोटी": "bread", "चिट्ठी": "letter", "पानी": "water", "फल": "fruit"}
WHO = {"राम": "Ram", "सीता": "Sita", "मोहन": "Mohan", "लड़का": "The boy", "राधा": "Radha", "मीना": "Mina"}
LINES = [f"{en} brought {n}.\t{who} {noun} लाया।\n" for who, en in WHO.items() for noun, n in NOUNS.items()]
SMALL = ["--batch-size", "8", "--embedding", "12", "--hidden", "16", "--vocab-size", "300", "--dev", "4"]
SMALL += ["--test", "4", "--warmup", "10", "--dropout", "0", "--course", "0", "--repeats", "1", "--average", "0"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("किताब dir, x") / "pairs.txt"
    path.write_text("".join(LINES), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def run(corpus: Path) -> Path:
    """A finished run that has learned something."""
    folder = corpus.parent / "run"
    flags = ["--steps", "150", "--evaluate-every", "30", "--save-every", "50", "--learning-rate", "0.02"]
    assert main(["train", "--corpus", str(corpus), "--out", str(folder), *SMALL, *flags]) == 0
    return folder


def lib_process(*arguments: str, **settings) -> subprocess.Popen:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(PROJECT), "LC_ALL": "C"}
    command = [sys.executable, "-m", "lib", *arguments]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, encoding="utf-8", **settings)


def test_a_run_leaves_its_settings_its_model_and_what_it_held_out(run: Path) -> None:
    left = {"config.json", "last.pt", "best.pt", "dev.tsv", "test.tsv"}
    assert {path.name for path in run.iterdir()} == left | {".lock"}
    config = json.loads((run / "config.json").read_text(encoding="utf-8"))
    assert config["training"]["steps"] == 150 and config["model"]["hidden"] == 16 and config["data"]["dev"] == 4
    dev, test = (ParallelCorpus.read(run / f"{name}.tsv") for name in ("dev", "test"))
    assert len(dev) == len(test) == 4 and not set(dev.sources) & set(test.sources)


def test_the_best_file_holds_the_weights_of_the_best_look(run: Path) -> None:
    """Measured again in a fresh model, on the pairs that were watched."""
    best, history = load_checkpoint(run / "best.pt"), load_checkpoint(run / "last.pt").trainer["history"]
    assert best.about["dev_loss"] == min(history["dev_losses"])
    watched = encode_pairs(ParallelCorpus.read(run / "dev.tsv"), best.source_tokenizer, best.target_tokenizer)
    assert dev_loss(best.model, watched) == pytest.approx(min(history["dev_losses"]), rel=1e-5)


def test_the_same_config_file_gives_the_same_model(run: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    assert main(["train", "--config", str(run / "config.json"), "--out", str(again)]) == 0
    one, two = (torch.load(folder / "best.pt", weights_only=True)["weights"] for folder in (run, again))
    assert all(torch.equal(one[name], two[name]) for name in one)


def test_flags_win_over_the_config_file(run: Path, tmp_path: Path) -> None:
    flags = ["--config", str(run / "config.json"), "--steps", "2", "--no-bidirectional", "--scorer", "general"]
    assert main(["train", *flags, "--out", str(tmp_path / "other")]) == 0
    config = RunConfig.read(tmp_path / "other" / "config.json")
    assert (config.training.steps, config.model["bidirectional"], config.model["scorer"]) == (2, False, "general")
    assert config.training.learning_rate == 0.02


def test_a_finished_run_that_is_resumed_stays_as_it_is(run: Path, capsys) -> None:
    before = torch.load(run / "last.pt", weights_only=True)["weights"]
    assert main(["train", "--out", str(run), "--resume"]) == 0
    assert "going on at step 150 of 150" in capsys.readouterr().err
    after = torch.load(run / "last.pt", weights_only=True)["weights"]
    assert all(torch.equal(before[name], after[name]) for name in before)


# -------------------------------------------------------------------------------------------------------- translate


def expected(run: Path, lines: list[str]) -> list[str]:
    saved = load_checkpoint(run / "best.pt")
    translator = Translator(saved.model, saved.source_tokenizer, saved.target_tokenizer)
    return [found.text for found in translator.translate(lines, 5, alpha=1.0)]


def test_a_file_is_translated_line_by_line_in_order(run: Path, tmp_path: Path, capsysbinary) -> None:
    lines = ["राम चाय लाया।", "", "मोहन फल लाया।", "   ", "राम चाय लाया।", "सीता किताब लाया। " * 3, "🙂"]
    (tmp_path / "in.txt").write_bytes(("\ufeff" + "\r\n".join(lines)).encode())
    for size in ("1", "2", "64"):
        assert main(["translate", "--model", str(run), str(tmp_path / "in.txt"), "--batch-size", size]) == 0
        assert capsysbinary.readouterr().out.decode().split("\n") == [*expected(run, lines), ""]
    out = tmp_path / "out.txt"
    assert main(["translate", "--model", str(run / "best.pt"), str(tmp_path / "in.txt"), "--out", str(out)]) == 0
    assert out.read_bytes().decode().split("\n") == [*expected(run, lines), ""]
    assert "Ram" in expected(run, lines)[0]


def test_standard_input_is_answered_line_by_line(run: Path) -> None:
    """With batches of one, each line is answered before the next is asked; the locale plays no part."""
    with lib_process("translate", "--model", str(run), "--batch-size", "1", stdin=-1, stdout=-1) as process:
        for line in ("राम चाय लाया।", "मोहन फल लाया।"):
            process.stdin.write(line + "\n")
            process.stdin.flush()
            assert process.stdout.readline() == expected(run, [line])[0] + "\n"
        process.stdin.close()
        assert process.wait(timeout=60) == 0 and process.stderr.read() == ""


def test_a_line_that_is_not_utf8_is_named_and_those_before_are_translated(
    run: Path, monkeypatch, capsysbinary
) -> None:
    given = "राम चाय लाया।\nमोहन फल लाया।\n".encode() + b"caf\xe9\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
    assert main(["translate", "--model", str(run)]) == 1
    out, err = (text.decode() for text in capsysbinary.readouterr())
    assert out.splitlines() == expected(run, given.decode(errors="replace").splitlines()[:2])
    assert err == "python -m lib: standard input, line 3: not UTF-8; save the text as UTF-8\n"


@pytest.mark.parametrize(
    ("given", "flags", "said"),
    [
        ("राम चाय लाया।\n".encode(), ["--beam-size", "0"], "beam"),
        ("राम चाय लाया।\n".encode(), ["--alpha", "-1"], "alpha"),
        (b"caf\xe9\n", [], "line 1: not UTF-8"),
    ],
)
def test_what_cannot_be_translated_leaves_an_earlier_file_as_it_was(
    run: Path, tmp_path: Path, capsys, given: bytes, flags: list[str], said: str
) -> None:
    (tmp_path / "in.txt").write_bytes(given)
    (tmp_path / "out.txt").write_text("mine")
    command = ["translate", "--model", str(run), str(tmp_path / "in.txt"), "--out", str(tmp_path / "out.txt")]
    assert said in complaint(capsys, [*command, *flags])
    assert (tmp_path / "out.txt").read_text() == "mine"


def test_half_a_translation_does_not_take_the_place_of_a_whole_one(run: Path, tmp_path: Path, capsys) -> None:
    (tmp_path / "in.txt").write_bytes("राम चाय लाया।\n".encode() * 70 + b"caf\xe9\n")
    (tmp_path / "out.txt").write_text("mine")
    flags = ["--batch-size", "1", str(tmp_path / "in.txt"), "--out", str(tmp_path / "out.txt")]
    said = complaint(capsys, ["translate", "--model", str(run), *flags])
    assert "line 71: not UTF-8" in said and said.endswith(f"the lines before it are in {tmp_path / 'out.txt'}.part")
    assert (tmp_path / "out.txt").read_text() == "mine"
    assert len((tmp_path / "out.txt.part").read_text("utf-8").splitlines()) == 70


def test_batches_of_nothing_are_refused(run: Path, tmp_path: Path, capsys) -> None:
    for size in ("0", "-1"):
        said = complaint(capsys, ["translate", "--model", str(run), os.devnull, "--batch-size", size])
        assert said.endswith(f"--batch-size {size}: give a whole number, 1 or more")
    assert "penalties 0 to 100" in complaint(
        capsys, ["translate", "--model", str(run), str(run / "dev.tsv"), "--alpha", "1e300"]
    )


@pytest.mark.skipif(os.name == "nt", reason="closes a stream as a POSIX shell does")
@pytest.mark.parametrize("close", ["<&-", ">&-"])
def test_a_closed_stream_is_one_line(run: Path, close: str) -> None:
    command = f'"{sys.executable}" -m lib translate --model "{run}" {close}'
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    done = subprocess.run(command, shell=True, env=environment, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    assert done.returncode == 1 and done.stderr.decode().startswith(
        "python -m lib: standard input or output is closed"
    )


def test_a_packed_file_is_translated(run: Path, tmp_path: Path, capsysbinary) -> None:
    (tmp_path / "in.gz").write_bytes(gzip.compress("राम चाय लाया।\n".encode()))
    assert main(["translate", "--model", str(run), str(tmp_path / "in.gz")]) == 0
    assert capsysbinary.readouterr().out.decode() == expected(run, ["राम चाय लाया।"])[0] + "\n"


def test_a_file_is_not_translated_onto_itself(run: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    text = "राम चाय लाया।\n"
    path = tmp_path / "same.txt"
    path.write_text(text, encoding="utf-8")
    said = "is the file to be translated: name another"
    assert said in complaint(capsys, ["translate", "--model", str(run), str(path), "--out", str(path)])
    with path.open(encoding="utf-8") as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert said in complaint(capsys, ["translate", "--model", str(run), "--out", str(path)])
    assert path.read_text(encoding="utf-8") == text


def test_nothing_to_translate_gives_an_empty_file(run: Path, tmp_path: Path) -> None:
    (tmp_path / "in.txt").touch()
    assert main(["translate", "--model", str(run), str(tmp_path / "in.txt"), "--out", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out").read_bytes() == b""


def test_lines_end_at_line_feeds_only_and_chunks_keep_all() -> None:
    text = "a\u2028b\x0bc\r\n\nd".encode()
    assert list(read_lines(io.BytesIO(text), "x")) == ["a\u2028b\x0bc", "", "d"]
    assert list(chunks("abcde", 2)) == [["a", "b"], ["c", "d"], ["e"]] and list(chunks("", 2)) == []


def test_a_reader_that_has_seen_enough_is_no_error(run: Path, tmp_path: Path) -> None:
    (tmp_path / "many.txt").write_text("राम चाय लाया।\n" * 3_000, encoding="utf-8")
    flags = ["--model", str(run), "--batch-size", "4", "--beam-size", "1"]
    with lib_process("translate", *flags, str(tmp_path / "many.txt"), stdout=-1) as process:
        assert process.stdout.readline()
        process.stdout.close()
        assert process.wait(timeout=60) == 0 and process.stderr.read() == ""


# ---------------------------------------------------------------------------------------------- evaluate and inspect


def test_evaluate_measures_the_pairs_that_were_held_out(run: Path, capsys) -> None:
    assert main(["evaluate", "--model", str(run), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    test = ParallelCorpus.read(run / "test.tsv")
    assert figures["pairs"] == 4 and figures["corpus"] == str(run / "test.tsv")
    score = bleu(expected(run, test.sources), test.targets)
    assert figures["BLEU"] == {"value": score.value, "signature": score.signature}
    assert main(["evaluate", "--model", str(run / "last.pt"), "--corpus", str(run / "dev.tsv")]) == 0
    shown = capsys.readouterr().out
    assert "4 pairs of" in shown and "BLEU" in shown and "version:" in shown and "exact match" in shown


def test_inspect_says_what_is_in_a_file(run: Path, capsys) -> None:
    assert main(["inspect", "--model", str(run / "last.pt"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["step"] == facts["training: steps"] == 150 and facts["shape: hidden"] == 16
    assert list(facts["dev losses"]) == ["30", "60", "90", "120", "150"] and facts["pairs"] == 28
    assert main(["inspect", "--model", str(run)]) == 0
    assert "best.pt" in capsys.readouterr().out


def test_help_names_every_command_and_every_setting(capsys) -> None:
    for arguments in (["--help"], ["train", "--help"]):
        with pytest.raises(SystemExit) as end:
            main(arguments)
        assert end.value.code == 0
    shown = capsys.readouterr().out
    assert all(command in shown for command in ("train", "translate", "evaluate", "inspect", "torchrun", "--resume"))
    for settings in settings_by_part().values():
        assert all(f"--{name.replace('_', '-')}" in shown for name in settings)


# ------------------------------------------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize("arguments", [[], ["fly"], ["train"], ["train", "--out", "x", "--steps", "many"]])
def test_wrong_usage_is_exit_code_2(arguments: list[str], capsys) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2 and "usage: python -m lib" in capsys.readouterr().err


def test_a_run_needs_a_corpus(tmp_path: Path, capsys) -> None:
    with pytest.raises(SystemExit) as end:
        main(["train", "--out", str(tmp_path / "new")])
    assert end.value.code == 2 and "--corpus takes one file" in capsys.readouterr().err


FILES = {
    "empty.txt": b"",
    "utf16.txt": "Wow!\tवाह!\n".encode("utf-16"),
    "latin.txt": b"caf\xe9\t\xe0\n",
    "english.txt": b"only one column\n" * 3,
    "long.txt": ("a " * 70 + "\t" + "क " * 70 + "\n").encode() * 30,
    "few.txt": "Wow!\tवाह!\n".encode() * 3,
    "config.json": b'{"training": {"stepps": 3}}',
    "list.json": b"[1]",
    "broken.json": b'{"training": ',
    "kind.json": b'{"training": {"steps": "many"}}',
}
WRONG = [
    ("--corpus nothing.txt", "no .*file.*nothing.txt|nothing.txt: No such file"),
    ("--corpus .", "is a folder|Is a directory"),
    ("--corpus empty.txt", "empty.txt has no pair to train on: 0 pairs read, 0 lines dropped"),
    ("--corpus utf16.txt", "utf16.txt, line 1: this looks like a UTF-16 file"),
    ("--corpus latin.txt", "latin.txt, line 1: not UTF-8"),
    ("--corpus english.txt", "no pair to train on: 0 pairs read, 3 lines dropped; the first: line 1, 1 column"),
    ("--corpus long.txt", "no pair to train on: 30 pairs read, 0 lines dropped; 30 pairs too long"),
    ("--corpus few.txt --dev 2 --test 2", "3 pairs are too few for dev=2 and test=2"),
    ("--corpus pairs.txt english.txt", "lines"),
    ("--corpus pairs.txt --vocab-size 10", "vocab_size=10 is too small"),
    ("--corpus pairs.txt --steps 0", "steps=0: give a whole number, 1 or more$"),
    ("--corpus pairs.txt --batch-size -1", "batch_size=-1: give a whole number, 1 or more$"),
    ("--corpus pairs.txt --learning-rate nan", "learning_rate=nan: give a number above 0"),
    ("--corpus pairs.txt --learning-rate inf", "learning_rate=inf: give a number above 0"),
    ("--corpus pairs.txt --clip 0", "clip=0.0: give a number above 0"),
    ("--corpus pairs.txt --patience -1", "patience=-1: give a whole number, 0 or more"),
    ("--corpus pairs.txt --test -5", "test=-5: give a whole number, 0 or more"),
    ("--corpus pairs.txt --save-every 0", "save_every=0: give a whole number, 1 or more"),
    ("--corpus pairs.txt --average 1", "average=1.0: give at least 0 and less than 1"),
    ("--corpus pairs.txt --dropout 1.5", "dropout=1.5: give at least 0 and less than 1"),
    ("--corpus pairs.txt --hidden 0", "hidden=0: give a whole number, 1 or more"),
    ("--corpus pairs.txt --piece-dropout nan", "piece_dropout=nan: give at least 0"),
    ("--corpus pairs.txt --out pairs.txt", "pairs.txt is a file: --out names a folder"),
    ("--corpus pairs.txt --scorer cosine", "scorer='cosine' is not known: choose one of"),
    ("--corpus pairs.txt --evaluate-every 0", "patience=4 counts looks at the dev set"),
    ("--corpus pairs.txt --config config.json", "there is no setting 'stepps'"),
    ("--corpus pairs.txt --config broken.json", "broken.json is not a config.json"),
    ("--corpus pairs.txt --config kind.json", "give a whole number"),
    ("--corpus pairs.txt --config list.json", "list.json is not a config.json"),
    ("--corpus pairs.txt --seed 99999999999999999999999", "seed=9+: give a whole number from 0 to"),
    ("--corpus pairs.txt --source-column 1", "belong together: give both"),
    ("--corpus pairs.txt --source-column 2 --target-column 2", "are both 2: give two columns"),
    ("--corpus pairs.txt --source-column 0 --target-column 2", "source_column=0: give a whole number, 1 or more"),
    ("--corpus pairs.txt --learning-rate 3e38", "the loss is .* no weight was changed"),
]


def complaint(capsys, arguments: list[str]) -> str:
    """The one line that a failing command ends with."""
    assert main(arguments) == 1
    out, err = capsys.readouterr()
    lines = [line for line in err.splitlines() if line.startswith("python -m lib: ")]
    assert out == "" and len(lines) == 1 and err.endswith(lines[0] + "\n") and "Traceback" not in err
    return lines[0]


@pytest.mark.parametrize(("flags", "said"), WRONG)
def test_what_cannot_be_trained_on_is_one_line(
    corpus: Path, tmp_path: Path, monkeypatch, capsys, flags, said
) -> None:
    shutil.copy(corpus, tmp_path / "pairs.txt")
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    small = ["--embedding", "8", "--hidden", "8", "--steps", "30", "--warmup", "1", "--course", "0"]
    line = complaint(capsys, ["train", "--out", "new", *small, *flags.split()])
    assert re.search(said, line), line
    assert not (tmp_path / "new" / "last.pt").exists()


def test_a_folder_with_another_run_is_left_alone(run: Path, corpus: Path, tmp_path: Path, capsys) -> None:
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    train = ["train", "--out", str(run)]
    assert "holds a run already: add --resume" in complaint(capsys, [*train, "--corpus", str(corpus)])
    assert "learning_rate 0.02 → 0.5" in complaint(capsys, [*train, "--resume", "--learning-rate", "0.5"])
    other = tmp_path / "other.txt"
    other.write_text("".join(LINES[:-1]), encoding="utf-8")
    assert "give it the same corpus" in complaint(capsys, [*train, "--resume", "--corpus", str(other)])
    assert {path.name: path.read_bytes() for path in run.iterdir()} == before


def test_a_model_whose_run_is_lost_is_not_trained_over(run: Path, corpus: Path, tmp_path: Path, capsys) -> None:
    folder = tmp_path / "run"
    shutil.copytree(run, folder)
    (folder / "last.pt").unlink()
    best = (folder / "best.pt").read_bytes()
    resume = ["train", "--corpus", str(corpus), "--out", str(folder), "--resume", *SMALL, "--steps", "2"]
    assert "holds best.pt, but no last.pt to go on from" in complaint(capsys, resume)
    assert (folder / "best.pt").read_bytes() == best


def test_models_that_are_none_are_one_line(run: Path, tmp_path: Path, capsys) -> None:
    assert "no checkpoint at" in complaint(capsys, ["inspect", "--model", str(tmp_path / "nothing")])
    assert "there is no model in" in complaint(capsys, ["inspect", "--model", str(tmp_path)])
    (tmp_path / "last.pt").write_bytes((run / "last.pt").read_bytes()[:1000])
    for command in ("inspect", "evaluate", "translate"):
        assert "is not a whole checkpoint" in complaint(capsys, [command, "--model", str(tmp_path)])
    resume = ["train", "--config", str(run / "config.json"), "--out", str(tmp_path), "--resume"]
    assert "config.json" in complaint(capsys, resume)  # nobody knows what that run was asked to do
    shutil.copy(run / "config.json", tmp_path)
    assert "is not a whole checkpoint" in complaint(capsys, resume)
    assert "No such file" in complaint(capsys, ["translate", "--model", str(run), str(tmp_path / "nothing.txt")])


@pytest.mark.skipif(not Path("/sys/kernel").is_dir(), reason="a folder that even root cannot write")
def test_a_read_only_folder_shows_before_the_work(corpus: Path, capsys) -> None:
    line = complaint(capsys, ["train", "--corpus", str(corpus), *SMALL, "--out", "/sys/kernel/run"])
    assert "/sys/kernel/run could not be written: " in line


def test_a_disk_that_fills_up_while_training_loses_nothing(run: Path, tmp_path: Path) -> None:
    """The system refuses files above 100 kB: the first save of a larger model fails, its folder stays clean."""
    limit = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
    code = limit + "from lib.cli import main; sys.exit(main(sys.argv[1:]))"
    flags = ["--config", str(run / "config.json"), "--hidden", "64", "--out", str(tmp_path / "full")]
    done = subprocess.run(
        [sys.executable, "-c", code, "train", *flags], capture_output=True, encoding="utf-8", cwd=PROJECT
    )
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "best.pt could not be written: the file is larger than this system allows" in done.stderr
    assert {path.name for path in (tmp_path / "full").iterdir()} == {"config.json", "dev.tsv", "test.tsv", ".lock"}


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_run_saves_and_goes_on(run: Path, tmp_path: Path, number: int, code: int, capsys) -> None:
    folder = tmp_path / "run"
    train = ["train", "--config", str(run / "config.json"), "--out", str(folder), "--save-every", "20"]
    with lib_process(*train, "--steps", "300", "--patience", "0") as process:
        while not (folder / "last.pt").exists():
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.005)
        process.send_signal(number)
        said = process.stderr.read()
        assert process.wait(timeout=30) == code
    step = torch.load(folder / "last.pt", weights_only=True)["trainer"]["step"]
    assert f"stopped and saved at step {step}: go on with the same command and --resume" in said and step < 300
    assert main(["train", "--out", str(folder), "--resume"]) == 0
    assert f"going on at step {step} of 300" in capsys.readouterr().err


@pytest.mark.parametrize("mine", ["dev.tsv", "test.tsv", "config.json"])
def test_a_run_overwrites_no_file_that_no_run_wrote(corpus: Path, tmp_path: Path, capsys, mine: str) -> None:
    (tmp_path / mine).write_text("{}")
    said = complaint(capsys, ["train", "--corpus", str(corpus), "--out", str(tmp_path), *SMALL, "--steps", "2"])
    assert f"{mine} is not of a run and would be overwritten" in said
    assert {path.name for path in tmp_path.iterdir()} == {mine, ".lock"} and (tmp_path / mine).read_text() == "{}"


def test_a_run_does_not_overwrite_its_corpus_and_may_begin_again(corpus: Path, tmp_path: Path, capsys) -> None:
    command = ["train", "--out", str(tmp_path), *SMALL, "--steps", "2", "--corpus"]
    assert main([*command, str(corpus)]) == 0
    for name in ("last.pt", "best.pt"):
        (tmp_path / name).unlink(missing_ok=True)  # as if it had been stopped before its first save
    capsys.readouterr()
    assert "test.tsv is not of a run" in complaint(capsys, [*command, str(tmp_path / "test.tsv")])
    assert main([*command, str(corpus)]) == 0


def test_two_runs_do_not_share_a_folder(corpus: Path, tmp_path: Path, capsys) -> None:
    folder = RunFolder(tmp_path)
    with folder.alone():
        said = complaint(capsys, ["train", "--corpus", str(corpus), "--out", str(tmp_path), *SMALL, "--steps", "2"])
    assert f"another process trains in {tmp_path}" in said and [path.name for path in tmp_path.iterdir()] == [".lock"]


def test_another_language_has_its_columns_told(corpus: Path, tmp_path: Path, capsys) -> None:
    french = tmp_path / "fr.txt"
    french.write_text("".join(f"{who} lit {n}\t7\t{who} reads {n}\n" for who in "ABCDEFGH" for n in range(9)))
    command = ["train", "--corpus", str(french), "--out", str(tmp_path / "run"), *SMALL, "--steps", "2"]
    assert "neither side is clearly Hindi: say which columns" in complaint(capsys, command)
    assert main([*command, "--source-column", "1", "--target-column", "3"]) == 0
    assert ParallelCorpus.read(tmp_path / "run" / "dev.tsv").sources[0].split()[1] == "lit"
    capsys.readouterr()
    measure = ["evaluate", "--model", str(tmp_path / "run"), "--corpus", str(french), "--json"]
    assert main([*measure, "--source-column", "1", "--target-column", "3"]) == 0
    assert json.loads(capsys.readouterr().out)["pairs"] == 72


def test_an_unknown_experiment_is_named_before_any_begins(capsys) -> None:
    assert "there is no experiment 'nope'" in complaint(capsys, ["experiment", "growth", "nope"])


def test_two_files_in_the_wrong_order_are_noticed(tmp_path: Path, capsys) -> None:
    for place, name in enumerate(("en.txt", "hi.txt")):
        lines = [line.rstrip("\n").split("\t")[place] for line in LINES]
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    for order, warned in ((("en.txt", "hi.txt"), True), (("hi.txt", "en.txt"), False)):
        files, out = [str(tmp_path / name) for name in order], str(tmp_path / order[0]) + ".run"
        assert main(["train", "--corpus", *files, "--out", out, *SMALL, "--steps", "2"]) == 0
        assert ("the second file is Hindi" in capsys.readouterr().err) == warned


@pytest.mark.skipif(os.name == "nt", reason="no such signal")
def test_the_end_of_the_terminal_saves_unless_nohup(monkeypatch) -> None:
    monkeypatch.setattr(signal, "getsignal", lambda number: signal.SIG_DFL)
    assert stop_signals() == [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
    monkeypatch.setattr(signal, "getsignal", lambda number: signal.SIG_IGN)
    assert stop_signals() == [signal.SIGINT, signal.SIGTERM]
