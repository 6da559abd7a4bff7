"""What became of InnoDB's pages, and of their copies, in cuts whose database did not come up.

    python tools/doublewrite.py runs/doublewrite/20260314-101500/cuts/c007-02 [ANOTHER ...]

Reads the evidence of a cut: the log of requests, the disk's bytes before and after it, and the server's log.
Two writes of the same 16 KiB to different places are a copy and, later, its page.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

from diskproof.crash import evidence

PAGE, SECTOR = 16_384, 4_096
NAMED = re.compile(r"page id: space=(\d+), page number=(\d+)")

PageId = tuple[int, int]
"""Space and number."""


@dataclass(frozen=True)
class Written:
    """A page or a copy, as a request wrote it."""

    request: int
    place: int


@dataclass
class Page:
    """A page that was written after its copy."""

    copy: Written
    last: Written
    contents: set[bytes]
    """Digests of all that its place ever held as a whole."""
    copies: set[int]
    """The places of its copies."""


TITLES = (
    "Cut",
    "Page and copy at risk",
    "Torn, and no whole copy left",
    "Reported by InnoDB",
    "Reported, and among these",
)


def main() -> int:
    """Print a row for each cut."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cuts", nargs="+", type=Path, help="evidence of cuts: RUN/cuts/ID")
    print(f"| {' | '.join(TITLES)} |\n| --- |{' ---: |' * (len(TITLES) - 1)}")
    for folder in parser.parse_args().cuts:
        at_risk, beyond_repair, reported = examine(folder)
        figures = (at_risk, beyond_repair, reported, reported & beyond_repair)
        print(f"| {folder.name} | {' | '.join(str(len(pages)) for pages in figures)} |", flush=True)
    return 0


def examine(folder: Path) -> tuple[set[PageId], set[PageId], set[PageId]]:
    """Return the pages at risk together with their copy, those beyond repair, and those reported."""
    [disk] = evidence.ToReplay.model_validate_json((folder / evidence.REPLAY).read_text()).disks
    log, before = folder / disk.log, folder / disk.image
    with before.open("rb") as held:
        pages, stable = read_log(records(log), held)
    with replayed(log, before) as left:
        at_risk = {
            name for name, page in pages.items() if not {page.copy.request, page.last.request} & stable
        }
        beyond_repair = {name for name in at_risk if not repairable(pages[name], left)}
    told = (folder / "recovery" / "error.log").read_text(errors="replace")
    return at_risk, beyond_repair, {(int(space), int(number)) for space, number in NAMED.findall(told)}


@contextmanager
def replayed(log: Path, before: Path) -> Iterator[BinaryIO]:
    """Serve a disk with what the cut of a log left of the bytes before it."""
    with tempfile.TemporaryDirectory() as scratch:
        mount, control = Path(scratch) / "mount", Path(scratch) / "control"
        mount.mkdir()
        disk = ["null", "--size", str(before.stat().st_size), "--image", str(before)]
        places = ["--mount", str(mount), "--socket", str(control)]
        words = ["diskproof-disk", "serve", *disk, *places]
        with subprocess.Popen(words, stdout=subprocess.PIPE) as served:
            assert served.stdout is not None
            served.stdout.readline()  # it is ready
            try:
                asked = ["diskproof-disk", "control", str(control), "replay", str(log)]
                subprocess.run(asked, check=True, stdout=subprocess.DEVNULL)
                with (mount / "disk").open("rb") as left:
                    yield left
            finally:
                served.terminate()


Record = tuple[str, dict[str, Any], bytes]


def records(log: Path) -> Iterator[Record]:
    """Yield the records of a log of requests (docs/disk.md) after its header, with the bytes of writes."""
    with log.open("rb") as file:
        file.readline()
        for line in file:
            [(kind, values)] = json.loads(line).items()
            yield kind, values, file.read(values["length_bytes"]) if kind == "write" else b""


def read_log(found: Iterator[Record], before: BinaryIO) -> tuple[dict[PageId, Page], set[int]]:
    """Return the pages that were written after a copy, and the writes that no cut could take any more."""
    pages: dict[PageId, Page] = {}
    first: dict[bytes, Written] = {}
    stable = set()
    for kind, values, data in found:
        if kind == "stable":
            stable.add(values["number"])
        for start in range(0, len(data) - PAGE + 1, SECTOR):
            content = data[start : start + PAGE]
            here = Written(values["number"], values["offset_bytes"] + start)
            copy = first.setdefault(digest(content), here)
            if copy.place == here.place or not any(content[:38]):
                continue
            # FIL_PAGE_SPACE_ID and FIL_PAGE_OFFSET
            name = int.from_bytes(content[34:38]), int.from_bytes(content[4:8])
            page = pages.setdefault(name, Page(copy, here, {digest(read(before, here.place))}, set()))
            page.copy, page.last = copy, here
            page.contents.add(digest(content))
            page.copies.add(copy.place)
    return pages, stable


def repairable(page: Page, left: BinaryIO) -> bool:
    """Return whether a page is whole, old or new, or a whole copy of it is left."""
    return any(digest(read(left, place)) in page.contents for place in (page.last.place, *page.copies))


def read(file: BinaryIO, place: int) -> bytes:
    """Return the 16 KiB at a place."""
    file.seek(place)
    return file.read(PAGE)


def digest(content: bytes) -> bytes:
    """Return what tells contents apart."""
    return blake2b(content, digest_size=16).digest()


if __name__ == "__main__":
    sys.exit(main())
