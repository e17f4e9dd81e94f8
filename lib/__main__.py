"""`python -m lib experiment NAME …`: make a stored measurement of the course again."""

from __future__ import annotations

import argparse
import sys


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit code is 0 on success and 2 for a request that cannot be met."""
    from lib.experiments import EXPERIMENTS, store

    parser = argparse.ArgumentParser(prog="python -m lib", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    experiment = commands.add_parser("experiment", help="run experiments and store what they measured")
    experiment.add_argument(
        "names", nargs="+", choices=list(EXPERIMENTS), metavar="NAME", help=", ".join(EXPERIMENTS)
    )
    for name in parser.parse_args(arguments).names:
        print(f"{name}: written to {store(name)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
