"""`diskproof load …`: loads that are read from servers' logs. One file a verb."""

PURPOSE = "Your own load, from a server's log (docs/replay.md)."

VERBS = {
    "import": "Read a server's log of statements as a load that a study can replay.",
}

EXAMPLES = {
    "import": "diskproof load import /var/log/mysql/slow.log -o shop.load",
}
