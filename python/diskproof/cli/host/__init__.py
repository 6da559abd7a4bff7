"""`diskproof host …`: the machines of a study over many hosts. One file a verb."""

from cyclopts import App

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

MODULES = {"list": "listing"}
"""Where a verb is a word of Python's own."""


def host_app(parent: App) -> App:
    """Return the verbs that `diskproof host` has."""
    app = App(
        name="host",
        help="The machines of a study over many hosts; needs Ray: pip install 'diskproof[hosts]'.",
        default_parameter=parent.default_parameter,
        help_format="plaintext",
        version_flags=[],
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    for verb, purpose in VERBS.items():
        module = MODULES.get(verb, verb)
        example = f"Example: {EXAMPLES[verb]}" if verb in EXAMPLES else ""
        app.command(f"diskproof.cli.host.{module}:{module}", name=verb, help=purpose, help_epilogue=example)
    return app
