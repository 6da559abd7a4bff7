"""Verbs of the command line, and verbs that have verbs of their own: `diskproof disk …`."""

from types import ModuleType

from cyclopts import App

MODULES = {"import": "importing", "list": "listing"}
"""Where a verb is a word of Python's own."""


def add_verbs(app: App, package: ModuleType) -> None:
    """Add the `VERBS` of a package, each a module and a function, with the `EXAMPLES` that it has.

    They are not imported, so that `--help` does not load the libraries behind the reports.
    """
    for verb, purpose in package.VERBS.items():
        module = MODULES.get(verb, verb)
        example = f"Example: {package.EXAMPLES[verb]}" if verb in package.EXAMPLES else ""
        app.command(f"{package.__name__}.{module}:{module}", name=verb, help=purpose, help_epilogue=example)


def add_group(app: App, package: ModuleType) -> None:
    """Add a verb that has the verbs of a package, whose name it has."""
    group = App(
        name=package.__name__.rpartition(".")[2],
        help=package.PURPOSE,
        default_parameter=app.default_parameter,
        help_format="plaintext",
        version_flags=[],
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    add_verbs(group, package)
    app.command(group)
