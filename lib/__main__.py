"""`python -m lib`: `experiment NAME …` makes a measurement again, `review` is recall, `bench` measures speed."""

from __future__ import annotations

import argparse
import sys


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit code is 0 on success and 2 for a request that cannot be met."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["review"]:  # has options of its own, and needs nothing heavy
        from lib.review import main as review

        return review(arguments[1:])
    if arguments[:1] == ["bench"]:
        from lib.bench import main as bench

        return bench(arguments[1:])
    from lib.experiments import EXPERIMENTS, store

    parser = argparse.ArgumentParser(prog="python -m lib", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("review", help="answer what is due today; `review --help` says what else it does")
    commands.add_parser("bench", help="measure speed on this machine; `bench --help` says what")
    experiment = commands.add_parser("experiment", help="run experiments and store what they measured")
    experiment.add_argument(
        "names", nargs="+", choices=list(EXPERIMENTS), metavar="NAME", help=", ".join(EXPERIMENTS)
    )
    for name in parser.parse_args(arguments).names:
        print(f"{name}: written to {store(name)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
