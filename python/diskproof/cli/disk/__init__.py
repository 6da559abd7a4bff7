"""`diskproof disk …`: virtual disks, and what any disk does. One file a verb."""

from cyclopts import App

VERBS = {
    "list": "List the virtual disks that can be attached and those that are attached.",
    "show": "Show a virtual disk's parameters and the source of each.",
    "attach": "Attach a virtual disk as a block device, by default with a file system on it.",
    "detach": "Detach a virtual disk and delete its contents.",
    "verify": "Compare a virtual disk with the published figures of the real one.",
    "profile": "Measure a directory, a block device or an attached virtual disk with fio.",
}

EXAMPLES = {
    "show": "diskproof disk show intel-x25-e",
    "attach": "diskproof disk attach fujitsu-mbc2073rc",
    "detach": "diskproof disk detach fujitsu-mbc2073rc",
    "verify": "diskproof disk verify intel-x25-e --simulate",
    "profile": "diskproof disk profile /mnt/ssd --quick",
}

MODULES = {"list": "listing"}
"""Where a verb is a word of Python's own."""


def disk_app(parent: App) -> App:
    """Return the verbs that `diskproof disk` has."""
    app = App(
        name="disk",
        help="Virtual disks that behave like published ones, and profiles of any disk.",
        default_parameter=parent.default_parameter,
        help_format="plaintext",
        version_flags=[],
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    for verb, purpose in VERBS.items():
        module = MODULES.get(verb, verb)
        example = f"Example: {EXAMPLES[verb]}" if verb in EXAMPLES else ""
        app.command(f"diskproof.cli.disk.{module}:{module}", name=verb, help=purpose, help_epilogue=example)
    return app
