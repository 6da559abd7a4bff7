"""Every speed goal, or those that are named: what `make bench` runs.

The groups of bench/load.py and bench/disk.py together. Ends with 1 if a goal of either is missed.
"""

import argparse
import sys
from collections.abc import Callable, Sequence

import disk
import load
from speed.verdict import Judged, conclude

PROGRAMS: tuple[tuple[Callable[[Sequence[str]], list[Judged]], tuple[str, ...]], ...] = (
    (load.main, load.GROUPS),
    (disk.main, disk.GROUPS),
)


def main() -> int:
    """Run the benches that have a group among those that are asked for."""
    every = [group for _, groups in PROGRAMS for group in groups]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="the shortest run that exercises everything")
    parser.add_argument("--only", nargs="+", choices=every, default=every, help="some of the goals")
    arguments = parser.parse_args()
    judged = []
    for run, groups in PROGRAMS:
        asked = [group for group in groups if group in arguments.only]
        if asked:
            judged += run([*(["--smoke"] if arguments.smoke else []), "--only", *asked])
    return conclude(judged)


if __name__ == "__main__":
    sys.exit(main())
