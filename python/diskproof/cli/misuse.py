"""What is wrong with a command line, and the command that shows the right one."""

import shlex

from cyclopts import CoercionError, CycloptsError, MissingArgumentError, UnusedCliTokensError

PLAIN_TYPES = {int: "a whole number", float: "a number"}
"""What an option takes, as a user would say it."""


def misused(error: CycloptsError) -> str:
    """Say what is wrong with a command line, and which command shows what it takes."""
    verb = " ".join(error.command_chain or ())
    said = _said(error, f"{verb}: " if verb else "")
    command = " ".join(filter(None, ["diskproof", verb, "--help"]))
    return f"{said}{'' if said.endswith('?') else ';'} `{command}` shows the options"


def _said(error: CycloptsError, of: str) -> str:
    match error:
        case UnusedCliTokensError():
            left = shlex.join(error.unused_tokens or ())
            return f"{of}unknown argument `{left}`"
        case CoercionError() if error.target_type in PLAIN_TYPES and error.token is not None:
            wanted = PLAIN_TYPES[error.target_type]
            return f"{error.token.keyword or error.token.value} takes {wanted}, not `{error.token.value}`"
        case MissingArgumentError() if error.argument is not None:
            name = error.argument.name
            return f"{of}{name} needs a value" if error.keyword else f"{of}{name} is missing"
    said = " ".join(str(error).split()).partition(" Available commands:")[0].rstrip(".")
    return f"{of}{said[:1].lower()}{said[1:]}"
