"""Replaces a file atomically, again and again: write, fsync, rename, and fsync of the directory or not."""

import os
import sys
from pathlib import Path

verb, directory, sync = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
file = directory / "number"


def replace(content: str) -> None:
    new = directory / "number.new"
    with new.open("w") as written:
        written.write(content)
        written.flush()
        if sync != "nothing":
            os.fsync(written.fileno())
    new.rename(file)
    if sync == "directory":
        descriptor = os.open(directory, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)


if verb == "load":
    for number in range(1, 1_000_000):
        print("begin", number, flush=True)
        replace(f"{number}\n")
        print("ack", number, flush=True)
elif file.exists():  # check: a number that is there has replaced all before it
    print(*range(1, int(file.read_text()) + 1), sep="\n")
