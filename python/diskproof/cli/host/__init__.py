"""`diskproof host …`: the machines of a study over many hosts. One file a verb."""

PURPOSE = "The machines of a study over many hosts; needs Ray: pip install 'diskproof[hosts]'."

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
