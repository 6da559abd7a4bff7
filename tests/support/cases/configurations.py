"""For each check of a server's settings, settings in which it fails and sound ones."""

from diskproof.audit import durability, effect, options
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
) -> Configuration:
    """Return such settings with what is known around them."""
    kind = "postgresql.conf" if server and "Postgre" in server else "my.cnf"
    return Configuration(
        settings_of(text, kind=kind),
        None if observed is None else settings_of(observed, observed=True),
        level,
        server,
    )


SAFE = "innodb_flush_log_at_trx_commit=1; sync_binlog=1; log_bin=ON; innodb_doublewrite=ON"
FAST = "innodb_flush_log_at_trx_commit=2; sync_binlog=0; log_bin=ON; innodb_doublewrite=ON"
CONFIGURATION_CASES: tuple[Case[Configuration], ...] = (
    Case(
        options.misspelt_option,
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
        durability.mixed_durability,
        fails=configuration("innodb_flush_log_at_trx_commit=2; sync_binlog=1; log_bin=/b"),
        says="each commit still waits for the binary log's flush",
        passes=configuration(SAFE, level="safest"),
    ),
    Case(
        durability.unflushed_doublewrite,
        fails=configuration(SAFE, "MySQL 8.4.3", level="safest"),
        says="innodb_flush_method = O_DIRECT, its default there: MySQL 8.4.3 writes a page before its copy",
        passes=configuration(SAFE, "10.11.19-MariaDB", level="safest"),
    ),
    Case(
        effect.took_effect,
        fails=configuration("innodb_buffer_pool_size=1G", observed="innodb_buffer_pool_size=134217728"),
        says="reads back as 134217728, but 1G was asked for",
        passes=configuration("innodb_buffer_pool_size=1G", observed="innodb_buffer_pool_size=1073741824"),
    ),
)
