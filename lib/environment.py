"""Is everything there, and how fast is this machine? Used by notebook 00."""

from __future__ import annotations

import platform
import re
import sys
import time
from importlib.metadata import PackageNotFoundError, version

# What the course needs at least. requirements.txt says the same; a test compares them.
LEAST_VERSIONS = {
    "torch": "2.9",
    "numpy": "2.0",
    "matplotlib": "3.11",
    "ipywidgets": "8.1",
    "sentencepiece": "0.2.1",
    "sacrebleu": "2.5",
    "fontpkg-noto-sans-devanagari": "2.7",
}
LEAST_PYTHON = (3, 11)


def check_environment() -> list[str]:
    """One line for Python, each package and the shaping of Hindi: "ok", or what is wrong and what to do."""
    lines = [_line("python", platform.python_version(), ".".join(map(str, LEAST_PYTHON)))]
    lines += [_line(name, installed(name), least) for name, least in LEAST_VERSIONS.items()]
    return [*lines, _shaping_line()]


def versions() -> dict[str, str]:
    """The versions of Python and of every package that the course needs, "missing" where there is none."""
    found = {name: installed(name) or "missing" for name in LEAST_VERSIONS}
    return {"python": sys.version.split()[0], "system": platform.platform(), **found}


def installed(name: str) -> str | None:
    """The installed version of a package, None if there is none."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def at_least(found: str, least: str) -> bool:
    """Is version `found` at least `least`? Compares the leading numbers; "2.13.0+cpu" is 2.13.0."""
    return _numbers(found) >= _numbers(least)


def _numbers(text: str) -> list[int]:
    leading = re.match(r"\d+(\.\d+)*", text)
    numbers = [int(part) for part in leading[0].split(".")] if leading else [0]
    while numbers and numbers[-1] == 0:  # 2.0 and 2 are the same
        numbers.pop()
    return numbers


def _line(name: str, found: str | None, least: str) -> str:
    label = f"{name:29} ≥ {least:6}"
    if found is None:
        return f"{label} missing: run python3 run.py lab again, or pip install -r requirements.txt"
    if not at_least(found, least):
        return f"{label} too old ({found}): run python3 run.py lab again, or pip install -U '{name}>={least}'"
    return f"{label} ok"


def _shaping_line() -> str:
    from matplotlib import ft2font

    if getattr(ft2font, "__libraqm_version__", None) is None:
        return "Hindi in pictures: this matplotlib cannot shape it, labels will be written in Latin letters"
    return "Hindi in pictures: ok"


def milliseconds_per_step(repeats: int = 8) -> float:
    """The median time of one training step (B 64, S 20, T 22, V 1,000, E = H = 256, dot scores, Luong order)."""
    import torch

    from lib.seq2seq import ModelConfig, Seq2Seq
    from lib.training import token_loss

    model = Seq2Seq(ModelConfig(source_vocab=1_000, target_vocab=1_000))
    optimiser = torch.optim.Adam(model.parameters())
    source, target = torch.randint(4, 1_000, (64, 20)), torch.randint(4, 1_000, (64, 22))
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        logits, _ = model(source, torch.ones_like(source, dtype=torch.bool), target)
        token_loss(logits, target, torch.ones_like(target, dtype=torch.bool)).backward()
        optimiser.step()
        optimiser.zero_grad()
        times.append(time.perf_counter() - begin)
    return 1_000 * sorted(times)[repeats // 2]
