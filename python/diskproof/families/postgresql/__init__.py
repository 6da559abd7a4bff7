"""PostgreSQL."""

from collections.abc import Iterator

from diskproof.families.facts import FamilyFacts, Need, read
from diskproof.families.options import Server
from diskproof.families.values import Values, is_off, is_set
from diskproof.wording import Message, say

ON = frozenset({"on"})

NEEDS = {
    # All values but off flush here first; they differ in what a standby must do.
    "synchronous_commit": Need(
        "the last commits may be lost",
        keeps=frozenset({"on", "local", "remote_write", "remote_apply"}),
        log="redo",
        called="WAL",
        waits=frozenset({"on", "local", "remote_write", "remote_apply"}),
    ),
    "fsync": Need("the database may not come up again", keeps=ON, log="redo", waits=ON),
    # A half-written page is repaired from its whole image in the WAL.
    "full_page_writes": Need("torn pages are not repaired", keeps=ON),
}


def _contradictions(values: Values, _: Server) -> Iterator[Message]:
    commits = is_set(values, "synchronous_commit", "on") or "synchronous_commit" not in values
    if is_off(values, "fsync") and commits:
        yield say(
            "fsync = off with synchronous_commit = on: a commit waits for a flush that is never made, and "
            "after a power cut the database may not come up"
        )
    if is_off(values, "full_page_writes") and not is_off(values, "fsync"):
        yield say(
            "full_page_writes = off with fsync = on: a page that is half written in a power cut stays torn, "
            "unless the file system writes whole pages"
        )


POSTGRESQL = FamilyFacts(
    **read("postgresql"),
    needs=lambda _: NEEDS,
    relaxed=lambda _: {"synchronous_commit": "off"},
    # PostgreSQL documentation, WAL settings; the same in all versions since 9.1
    defaults=lambda *_: dict.fromkeys(NEEDS, "on"),
    contradictions=_contradictions,
)
