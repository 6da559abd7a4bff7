"""`diskproof disk …`: virtual disks, and what any disk does. One file a verb."""

from cyclopts import App

VERBS = {
    "profile": "Measure a directory, a block device or an attached virtual disk with fio.",
}


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
        app.command(f"diskproof.cli.disk.{verb}:{verb}", help=purpose)
    return app
