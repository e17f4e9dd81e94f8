"""`python -m lib COMMAND …`: train on your own pairs, translate, evaluate, inspect, repeat an experiment."""

from __future__ import annotations

import sys

from lib.cli import main

if __name__ == "__main__":
    sys.exit(main())
