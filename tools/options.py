"""docs/options.md: what is known of servers' options, from the facts that the audit uses."""

from diskproof.families.options import FAMILY_OF, Flavour, Life, Version, dotted, options_of

FLAVOURS: tuple[tuple[Flavour, str], ...] = (
    ("MySQL", "MySQL and Percona Server"),
    ("MariaDB", "MariaDB"),
    ("PostgreSQL", "PostgreSQL"),
)

INTRO = (
    "Options that bear on storage or are often published: when each server got them and lost them. "
    "`diskproof audit` checks option files against this page, and claims nothing about other options.\n\n"
    "A server does not start with an option that it does not have, unless the table says otherwise. The "
    "tests check the entries of MariaDB and PostgreSQL against the installed servers. The entries of MySQL "
    "come from its documentation alone."
)


def page(note: str) -> str:
    """Return the page, with the note that it is generated."""
    parts = ["# Options of servers", note, INTRO]
    for flavour, title in FLAVOURS:
        rows = [
            "| option | since | deprecated | removed | instead | source |",
            "|---|---|---|---|---|---|",
            *(_row(name, life) for name, life in sorted(_lives(flavour).items())),
        ]
        parts += [f"## {title}", "\n".join(rows)]
    return "\n\n".join(parts) + "\n"


def _lives(flavour: Flavour) -> dict[str, Life]:
    lives = options_of(FAMILY_OF[flavour]).lives[flavour]
    return {name: life for life in lives for name in life.options}


def _row(name: str, life: Life) -> str:
    removed = "never there" if life.never else _dotted(life.removed)
    if life.still_taken:
        removed += ", taken without effect"
    cells = (
        f"`{name}`",
        _dotted(life.since),
        _dotted(life.deprecated),
        removed,
        life.instead,
        life.source,
    )
    return f"| {' | '.join(cells)} |"


def _dotted(version: Version | None) -> str:
    return "" if version is None else dotted(version)
