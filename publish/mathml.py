"""Formulas as MathML, which a browser draws and a screen reader speaks without any program or connection."""

from __future__ import annotations

import html
import re

from latex2mathml.converter import convert

# As lib.question_text writes formulas into HTML.
IN_HTML = re.compile(r'<(span|div) class="math (inline|block)">\s*\$\$?(.+?)\$\$?\s*</\1>', re.DOTALL)
# A minus that begins something: without its form, a browser sets it like one between two numbers.
SIGN = re.compile(r"(<mo[^>]*>(?:\[|&#x00028;|&#x0002C;|&#x0003D;|&#x02248;)</mo>)<mo>(&#x02212;)</mo>")


def mathml(formula: str, block: bool = False) -> str:
    """One formula in TeX as a <math> element."""
    drawn = convert(formula.strip(), display="block" if block else "inline")
    return SIGN.sub(r'\1<mo form="prefix">\2</mo>', drawn)


def formulas_in(page: str) -> str:
    """A piece of HTML with its marked formulas as MathML."""
    return IN_HTML.sub(lambda found: mathml(html.unescape(found[3]), found[2] == "block"), page)
