"""The page of what is known of servers' options, made from the facts that the audit goes by."""

from diskproof.audit.option_facts import LIVES, Flavour, Life, Version

FLAVOURS: tuple[tuple[Flavour, str], ...] = (
    ("MySQL", "MySQL and Percona Server"),
    ("MariaDB", "MariaDB"),
    ("PostgreSQL", "PostgreSQL"),
)

INTRO = (
    "What `diskproof audit` holds an option file against: when an option that bears on storage, or that "
    "people often publish, came and went. Of an option that is not here nothing is claimed. A server does "
    "not start with an option that it does not have, unless the table says otherwise. What is said of "
    "MariaDB and PostgreSQL is held against the installed servers whenever the tests run; what is said of "
    "MySQL comes from its documentation alone."
)


def page(note: str) -> str:
    """Return the page, with the note that it is not to be edited."""
    parts = ["# Options of servers", note, INTRO]
    for flavour, title in FLAVOURS:
        rows = [
            "| option | since | deprecated | removed | instead | source |",
            "|---|---|---|---|---|---|",
            *(_row(life) for life in sorted(LIVES, key=lambda life: life.name) if life.flavour == flavour),
        ]
        parts += [f"## {title}", "\n".join(rows)]
    return "\n\n".join(parts) + "\n"


def _row(life: Life) -> str:
    removed = "never there" if life.never else _dotted(life.removed)
    if life.still_taken:
        removed += ", taken without effect"
    cells = (
        f"`{life.name}`",
        _dotted(life.since),
        _dotted(life.deprecated),
        removed,
        life.instead,
        life.source,
    )
    return f"| {' | '.join(cells)} |"


def _dotted(version: Version | None) -> str:
    return "" if version is None else ".".join(map(str, version))
