"""`diskproof history …`: runs of one study over time. One file a verb."""

PURPOSE = "Runs of one study over time (docs/history.md)."

VERBS = {
    "decide": "Find the run that changed something, and measure before and after side by side.",
}

EXAMPLES = {
    "decide": "diskproof history decide shop",
}
