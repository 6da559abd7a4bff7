"""Whether the copies that repair a torn page are on the disk before the page is."""

from collections.abc import Iterator

from diskproof.audit.check import Apart, Configuration, Problem, Said, Untold, check
from diskproof.audit.configuration import WHICH_SERVER, effective, server_of
from diskproof.audit.durability import (
    METHOD,
    copies_unflushed,
    method_untold,
    possible,
    promises_safety,
    without_copies,
)


@check(
    "unflushed-doublewrite",
    reason="A torn page is repaired from its copy in the doublewrite buffer. Where the copy was not flushed "
    "before the page was written, a disk's volatile cache may tear both, at the safest level too.",
    remedy="a disk whose cache outlives a power cut, or innodb_flush_method = fsync (then data "
    "lie in the system's page cache as well)",
    source="MySQL's source, storage/innobase/buf/buf0dblwr.cc, is_fsync_required, from 8.0.20 on; "
    "seen in docs/durability.md",
)
def unflushed_doublewrite(configuration: Configuration) -> Iterator[Said]:
    """Say where MySQL writes pages before the doublewrite buffer's copies of them are flushed."""
    server = server_of(configuration)
    if server.is_postgresql:
        yield Apart("PostgreSQL has no doublewrite buffer")
        return
    values = effective(configuration)
    said = [copies_unflushed(values, one) for one in possible(server)]
    if without_copies(values):
        yield Apart("no copies are made: the doublewrite buffer is off")
    elif method_untold(configuration):
        yield Untold(f"`{METHOD}`, which the server's answer leaves out")
    elif all(said):
        promised = promises_safety(configuration.level)
        yield Problem("warning" if promised else "note", str(said[0]))
    elif any(said):
        yield Untold(WHICH_SERVER)
