"""Lines of a text file, plain or gzip, in memory that does not grow with the file.

Bytes and line feeds alone decide: no locale, no quoting, and U+2028 or a form feed inside a line does not end it.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

LONGEST = 1 << 20  # bytes of a line; what is longer is no sentence, and a file without line feeds would fill memory
Line = tuple[int, str, str]  # number from 1, text without line end, why it cannot be used (or an empty text)


def numbered_lines(path: str | Path) -> Iterator[Line]:
    """The lines of a UTF-8 file, in order. A line too long or with NUL bytes comes without text, but with a reason.

    Raises:
        FileNotFoundError, IsADirectoryError: at once; for what the file holds, ValueError when the line is reached:
        another encoding, carriage returns alone, a gzip file that is cut short, a zip archive.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, expected a file: name one of the files in it")
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path} (looked for {path.absolute()}): check name and folder")
    return _decoded(path)


@contextmanager
def writer(path: str | Path) -> Iterator[BinaryIO]:
    """A file to write bytes to; compressed, the same bytes each time, if its name ends in .gz."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as file:
        if path.suffix == ".gz":
            with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
                yield packed
        else:
            yield file


def _decoded(path: Path) -> Iterator[Line]:
    number = 0
    with open(path, "rb") as file:
        try:
            for number, raw in enumerate(_raw_lines(_unpacked(path, file)), start=1):
                too_long = len(raw) > LONGEST
                if number == 1:
                    _check_first(path, raw)
                    raw = raw.removeprefix(b"\xef\xbb\xbf")
                if too_long:
                    yield number, "", f"longer than {LONGEST:,} bytes"
                elif b"\0" in raw:
                    yield number, "", "has a NUL byte, which is no text"
                else:
                    yield number, raw.decode().rstrip("\r\n"), ""
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}, line {number}: not UTF-8 ({error.reason}); save the file as UTF-8") from None
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(
                f"{path}, after line {number}: this gzip file is cut short or damaged; copy or download it again"
            ) from error


def _unpacked(path: Path, file: io.BufferedReader) -> io.BufferedReader:
    """The file, or what is packed in it: its first bytes tell, not its name."""
    begin = file.peek(4)[:4]
    if begin[:2] == b"\x1f\x8b":
        return io.BufferedReader(gzip.GzipFile(fileobj=file), 1 << 17)
    if begin == b"PK\x03\x04":
        raise ValueError(f"{path}, line 1: this is a zip archive; unpack it and name the text file in it")
    if path.suffix == ".gz":
        raise ValueError(
            f"{path}, line 1: the name ends in .gz, but this is not a gzip file; download it again, or if it is "
            "plain text, take .gz off its name"
        )
    return file


def _raw_lines(file: io.BufferedReader) -> Iterator[bytes]:
    """Lines with their line feed; of one that is too long only the beginning, longer than `LONGEST` by one byte."""
    while raw := file.readline(LONGEST + 1):
        rest = raw if len(raw) > LONGEST else b"\n"
        while rest and not rest.endswith(b"\n"):
            rest = file.readline(LONGEST)
        yield raw


def _check_first(path: Path, raw: bytes) -> None:
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in raw:
        raise ValueError(f"{path}, line 1: this looks like a UTF-16 file; save it as UTF-8")
    if b"\r" in raw.rstrip(b"\r\n") and not raw.endswith(b"\n"):
        raise ValueError(f"{path}, line 1: lines end with a carriage return alone; save it with line feeds")
