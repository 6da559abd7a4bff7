"""`diskproof host …`: the machines of a study over many hosts. One file a verb."""

from cyclopts import App

from diskproof.cli.verbs import group

VERBS = {
    "start": "Make this machine the head of a cluster, and a host of it.",
    "join": "Make this machine a host of a cluster.",
    "list": "List the hosts of the cluster that this machine is in.",
    "leave": "End what `start` or `join` started on this machine.",
}

EXAMPLES = {
    "start": "diskproof host start --head --token-file token --label db1",
    "join": "diskproof host join 10.0.0.1 --token-file token --label db2",
}


def host_app(parent: App) -> App:
    """Return the verbs that `diskproof host` has."""
    purpose = "The machines of a study over many hosts; needs Ray: pip install 'diskproof[hosts]'."
    return group(parent, "host", purpose, VERBS, EXAMPLES)
