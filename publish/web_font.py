"""The font for Hindi as browsers want it."""

from __future__ import annotations

import shutil
from pathlib import Path


def web_font(folder: Path) -> Path:
    """Write every Devanagari letter and ligature of the course's font into `folder`, compressed, with its licence."""
    import fontpkg_noto_sans_devanagari as package
    from fontTools import subset

    (source,) = (Path(package.ROOT) / "files").glob("*.ttf")
    options = subset.Options(flavor="woff2", layout_features=["*"], notdef_outline=True)
    font = subset.load_font(str(source), options)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=[*range(0x0900, 0x0980), *range(0xA8E0, 0xA900), 0x200C, 0x200D, 0x25CC, 0x20])
    cutter.subset(font)
    path = folder / "NotoSansDevanagari.woff2"
    subset.save_font(font, str(path), options)
    licence = next(Path(package.ROOT).rglob("LICENSE"))
    shutil.copy2(licence, folder / "NotoSansDevanagari-LICENSE.txt")
    return path
