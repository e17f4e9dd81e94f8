"""Makes `pip install -e .` (the last line of requirements.txt) put this folder on the path, and nothing else.

It is the build backend that pyproject.toml names (PEP 517 and 660). The usual one writes the folder's name as it is
into a .pth file, which Python 3.11 and 3.12 read in the encoding of the locale: in a folder named किताब, under
Windows or LC_ALL=C, no Python of that environment would start any more. Or it installs an import hook, which is asked
last, so that `import lib` finds any stray folder named lib first. This one writes a path entry in plain ASCII; it
needs nothing from the network either.
"""

from __future__ import annotations

import base64
import hashlib
import re
import tomllib
import zipfile
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent


def build_editable(wheel_directory: str, config_settings: object = None, metadata_directory: object = None) -> str:
    """Write a wheel that holds one path entry, and return its name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = re.search(r'__version__ = "(.+)"', (ROOT / "lib" / "__init__.py").read_text(encoding="utf-8"))
    stem = f"{project['name'].replace('-', '_')}-{version[1]}"
    metadata = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {version[1]}\n"
    metadata += f"Requires-Python: {project['requires-python']}\n"
    for extra, names in project.get("optional-dependencies", {}).items():
        metadata += f"Provides-Extra: {extra}\n"
        metadata += "".join(f'Requires-Dist: {name}; extra == "{extra}"\n' for name in names)
    files = {
        f"{project['name']}.pth": f"import sys; sys.path.append({ascii(str(ROOT))})\n",
        f"{stem}.dist-info/METADATA": metadata,
        f"{stem}.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = f"{stem}.dist-info/RECORD"
    files[record] = "".join(_record_line(*file) for file in files.items()) + f"{record},,\n"
    with zipfile.ZipFile(Path(wheel_directory, f"{stem}-py3-none-any.whl"), "w") as wheel:
        for name, content in files.items():
            wheel.writestr(name, content)
    return f"{stem}-py3-none-any.whl"


def _record_line(name: str, content: str) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content.encode()).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content.encode())}\n"


def build_wheel(wheel_directory: str, config_settings: object = None, metadata_directory: object = None) -> NoReturn:
    """Refuse: the library reads `data/` beside it, so it works from this folder only."""
    raise SystemExit("The course works from its own folder: install it with `pip install -e .`, not `pip install .`")


def build_sdist(sdist_directory: str, config_settings: object = None) -> NoReturn:
    """Refuse, as `build_wheel` does."""
    raise SystemExit("The course is handed on as its folder (git clone), not as a package.")
