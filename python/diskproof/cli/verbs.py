"""Verbs of the command line, and verbs that have verbs of their own: `diskproof disk …`."""

from collections.abc import Mapping

from cyclopts import App

MODULES = {"import": "importing", "list": "listing"}
"""Where a verb is a word of Python's own."""


def add_verbs(app: App, package: str, purposes: Mapping[str, str], examples: Mapping[str, str]) -> None:
    """Add verbs by name, each a module and a function of a package.

    They are not imported, so that `--help` does not load the libraries behind the reports.
    """
    for verb, purpose in purposes.items():
        module = MODULES.get(verb, verb)
        example = f"Example: {examples[verb]}" if verb in examples else ""
        app.command(f"{package}.{module}:{module}", name=verb, help=purpose, help_epilogue=example)


def group(
    parent: App, name: str, purpose: str, purposes: Mapping[str, str], examples: Mapping[str, str]
) -> App:
    """Return a verb of `parent` that has verbs of its own, in the package of its name."""
    app = App(
        name=name,
        help=purpose,
        default_parameter=parent.default_parameter,
        help_format="plaintext",
        version_flags=[],
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    add_verbs(app, f"diskproof.cli.{name}", purposes, examples)
    return app
