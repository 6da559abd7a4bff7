"""`diskproof load …`: loads that are read from servers' logs. One file a verb."""

from cyclopts import App

from diskproof.cli.verbs import group

VERBS = {
    "import": "Read a server's log of statements as a load that a study can replay.",
}

EXAMPLES = {
    "import": "diskproof load import /var/log/mysql/slow.log -o shop.load",
}


def load_app(parent: App) -> App:
    """Return the verbs that `diskproof load` has."""
    return group(parent, "load", "Your own load, from a server's log (docs/replay.md).", VERBS, EXAMPLES)
