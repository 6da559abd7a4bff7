"""Whether the copies that repair a torn page are on the disk before the page is."""

from collections.abc import Iterator

from diskproof.audit.check import Configuration, NothingToCheckError, Problem, Said, Untold, check
from diskproof.audit.configuration import effective, server_of
from diskproof.audit.durability import method_untold, possible_servers, promises_safety
from diskproof.families import of
from diskproof.families.mysql.durability import METHOD, copies_unflushed, without_copies
from diskproof.families.options import WHICH_SERVER


@check(
    "unflushed-doublewrite",
    reason="A torn page is repaired from its copy in the doublewrite buffer. If the copy was not flushed "
    "before the page was written, a disk's volatile cache may tear both, also at the safest level.",
    remedy="a disk whose cache survives a power cut, or innodb_flush_method = fsync (then data "
    "lie in the system's page cache as well)",
    source="MySQL's source, storage/innobase/buf/buf0dblwr.cc, is_fsync_required, from 8.0.20 on; "
    "seen in docs/durability.md",
)
def unflushed_doublewrite(configuration: Configuration) -> Iterator[Said]:
    """Find MySQL servers that write pages before the doublewrite buffer's copies of them are flushed."""
    family = server_of(configuration).family
    if family != "mysql":
        raise NothingToCheckError(f"{of(family).title} has no doublewrite buffer")
    values = effective(configuration)
    found = [copies_unflushed(values, one) for one in possible_servers(configuration)]
    if without_copies(values):
        raise NothingToCheckError("no copies are made: the doublewrite buffer is off")
    if method_untold(configuration):
        yield Untold("`{method}`, which the server's answer leaves out", method=METHOD)
    elif all(found) and found[0]:
        yield Problem("warning" if promises_safety(configuration.level) else "note", found[0])
    elif any(found):
        yield Untold(WHICH_SERVER)
