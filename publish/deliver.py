"""Put what was built into a folder, and lose nothing there that somebody else made."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path

LEDGER = ".course-build.json"  # what the last build put there: the digest of each file


class InTheWay(ValueError):
    """Something that no build made, or that was changed since, stands where a file has to go."""


def deliver(built: Path, out: Path) -> None:
    """Copy every file of `built` into `out`, and take away what the build before left and this one has not.

    Only files that a build wrote, and that are still as it wrote them, are replaced or taken away; everything else in
    `out` stays: submissions, marks, a `.git`.

    Raises:
        InTheWay: a file to be written is there already and is not such a one; then nothing is changed.
    """
    ledger = out / LEDGER
    try:
        before = dict(json.loads(ledger.read_text(encoding="utf-8"))) if ledger.is_file() else {}
    except (ValueError, TypeError):
        raise InTheWay(f"{ledger} is damaged: move the folder away, or give another with --out") from None
    files = [path for path in built.rglob("*") if path.is_file() and path != built / LEDGER]
    now = {path.relative_to(built).as_posix(): digest(path) for path in files}
    refuse_if_taken(out, now, before)
    for name in sorted(before.keys() - now.keys()):
        if (out / name).is_file() and digest(out / name) == before[name]:
            (out / name).unlink()
            remove_empty((out / name).parent, out)
    for name in now:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(built / name, out / name)
    out.mkdir(parents=True, exist_ok=True)
    ledger.write_text(json.dumps(now, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def refuse_if_taken(out: Path, now: dict[str, str], before: dict[str, str]) -> None:
    """Raise InTheWay, naming them, if files to be written are there and not as the build before left them."""
    taken = [
        name
        for name, content in now.items()
        if os.path.lexists(out / name) and digest(out / name) not in (content, before.get(name))
    ]
    if taken:
        changed = any(name in before for name in taken)
        what = "changed since a build wrote them" if changed else "not made by this command"
        more = f" and {len(taken) - 3} more" if len(taken) > 3 else ""
        files = ", ".join(str(out / name) for name in sorted(taken)[:3])
        raise InTheWay(f"{files}{more}: {what}; move them away, or give another folder with --out")


def digest(path: Path) -> str:
    """SHA-256 of a file; of anything else "": it is never what a build wrote."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def remove_empty(folder: Path, top: Path) -> None:
    """Remove a folder below `top` that has become empty, and those above it that have."""
    while folder != top and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
