"""`diskproof history …`: runs of one study over time. One file a verb."""

from cyclopts import App

from diskproof.cli.verbs import group

VERBS = {
    "decide": "Find the run that changed something, and measure before and after side by side.",
}

EXAMPLES = {
    "decide": "diskproof history decide shop",
}


def history_app(parent: App) -> App:
    """Return the verbs that `diskproof history` has."""
    return group(parent, "history", "Runs of one study over time (docs/history.md).", VERBS, EXAMPLES)
