"""`python -m lib COMMAND …`: train on your own pairs, translate, evaluate, inspect, measure, review."""

from __future__ import annotations

import sys


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code. `review` and `bench` have options of their own."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["review"]:
        from lib.review import main as run
    elif arguments[:1] == ["bench"]:
        from lib.bench import main as run
    else:
        from lib.cli import main as run

        return run(arguments)
    return run(arguments[1:])


if __name__ == "__main__":
    sys.exit(main())
