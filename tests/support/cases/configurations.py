"""For each check of a server's settings, settings in which it fails and sound ones."""

from diskproof.audit import doublewrite, durability, effect, idle, options, spelling
from diskproof.audit.check import Configuration
from diskproof.results.imported import AskedOption, Settings, Source
from support.cases import Case

GIB = 2**30


def settings_of(
    text: str, *, observed: bool = False, version: str | None = None, kind: str = "my.cnf"
) -> Settings:
    """Return settings of ``name = value`` between semicolons; a name alone has no value."""
    found: list[AskedOption] = []
    for part in filter(None, map(str.strip, text.split(";"))):
        name, equals, value = (word.strip() for word in part.partition("="))
        found.append(AskedOption(name=name, value=value if equals else None, line=len(found) + 1))
    return Settings(
        source=Source(file="my.cnf", format=kind),
        observed=observed,
        values={one.name: one.value for one in found},
        options=[] if observed else found,
        version=version,
    )


def configuration(
    text: str,
    server: str | None = "MySQL 8.0.36",
    *,
    observed: str | None = None,
    level: str = "",
    beside: tuple[Configuration, ...] = (),
    differs_in: tuple[str, ...] | None = None,
    memory_bytes: int | None = None,
) -> Configuration:
    """Return such settings with what is known around them."""
    kind = "postgresql.conf" if server and "Postgre" in server else "my.cnf"
    return Configuration(
        settings_of(text, kind=kind),
        None if observed is None else settings_of(observed, observed=True),
        level,
        beside,
        differs_in,
        server,
        memory_bytes,
    )


SAFE = "innodb_flush_log_at_trx_commit=1; sync_binlog=1; log_bin=ON; innodb_doublewrite=ON"
FAST = "innodb_flush_log_at_trx_commit=2; sync_binlog=0; log_bin=ON; innodb_doublewrite=ON"
DECLARED = ("innodb_flush_log_at_trx_commit", "sync_binlog")


def _beside(text: str, declared: tuple[str, ...]) -> Configuration:
    other = configuration(text, level="fast")
    return configuration(SAFE, level="safest", beside=(other,), differs_in=declared)


CONFIGURATION_CASES: tuple[Case[Configuration], ...] = (
    Case(
        spelling.misspelt_option,
        fails=configuration("innodb_buffer_pool_sise=1G"),
        says=r"`innodb_buffer_pool_sise` is no option; did you mean `innodb_buffer_pool_size`\?",
        passes=configuration("innodb_buffer_pool_size=1G"),
    ),
    Case(
        options.repeated_option,
        fails=configuration("sync_binlog=1; sync_binlog=0"),
        says="to 1 and then to 0 in line 2; the last one holds",
        passes=configuration(SAFE),
    ),
    Case(
        idle.idle_option,
        fails=configuration("thread_pool_size=20", "Percona Server 5.7.27-30"),
        says="`thread_handling` is not `pool-of-threads`",
        passes=configuration("thread_pool_size=20; thread_handling=pool-of-threads", "11.4.2-MariaDB"),
    ),
    Case(
        durability.mixed_durability,
        fails=configuration("innodb_flush_log_at_trx_commit=2; sync_binlog=1; log_bin=/b"),
        says="each commit still waits for the binary log's flush",
        passes=configuration(SAFE, level="safest"),
    ),
    Case(
        doublewrite.unflushed_doublewrite,
        fails=configuration(SAFE, "MySQL 8.4.3", level="safest"),
        says="innodb_flush_method = O_DIRECT, its default there: MySQL 8.4.3 writes a page before its copy",
        passes=configuration(SAFE, "10.11.19-MariaDB", level="safest"),
    ),
    Case(
        options.same_level,
        fails=_beside(SAFE, DECLARED),
        says="`safest` and `fast` differ in no option",
        passes=_beside(FAST, DECLARED),
    ),
    Case(
        options.undeclared_difference,
        fails=_beside(FAST, ("sync_binlog",)),
        says="differ in `innodb_flush_log_at_trx_commit` too: 1 and 2",
        passes=_beside(FAST, DECLARED),
    ),
    Case(
        effect.took_effect,
        fails=configuration("innodb_buffer_pool_size=1G", observed="innodb_buffer_pool_size=134217728"),
        says="reads back as 134217728, but 1G was asked for",
        passes=configuration("innodb_buffer_pool_size=1G", observed="innodb_buffer_pool_size=1073741824"),
    ),
    Case(
        options.memory,
        fails=configuration("innodb_buffer_pool_size=6G", memory_bytes=4 * GIB),
        says="6 GiB of the machine's 4 GiB",
        passes=configuration("innodb_buffer_pool_size=2G", memory_bytes=4 * GIB),
    ),
)
