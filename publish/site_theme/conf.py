"""Settings of Sphinx for the site of the course; `publish/site.py` lays out the sources and starts it."""

from docutils import nodes
from sphinx.application import Sphinx

from publish.mathml import mathml
from publish.site import finish

project = "Sequence-to-sequence with attention"
copyright = "the authors of the course; text and code under MIT, sentences under CC-BY-4.0"
extensions = ["myst_nb"]
exclude_patterns = ["_static", "_templates", "files"]
html_theme = "furo"
html_title = "Attention, measured"
html_static_path = ["_static"]
html_css_files = ["course.css"]
html_favicon = "_static/icon.svg"
html_js_files = [("course.js", {"defer": "defer"})]
templates_path = ["_templates"]
html_use_index = False
smartquotes = False  # quotation marks stay as they are in the notebooks
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": False}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
language = "en"
nb_execution_mode = "off"
nb_mime_priority_overrides = [("html", "text/html", 0)]  # it holds the text alternative
nb_merge_streams = True
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header", "misc.highlighting_failure"]


def visit_math(translator, node: nodes.math) -> None:
    translator.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def visit_math_block(translator, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="formula">{mathml(node.astext(), block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Draw formulas as MathML: no script is loaded."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    app.config.html_math_renderer = "mathml"
    app.connect("html-page-context", finish)
