"""`diskproof completion`: completion for a shell."""

from collections.abc import Callable
from typing import Literal

from cyclopts import App

from diskproof.cli.screen import put


def completion_for(app: App) -> Callable[[Literal["bash", "zsh", "fish"]], None]:
    """Return the verb that prints the completion of `app`."""

    def completion(shell: Literal["bash", "zsh", "fish"], /) -> None:
        """Print the completion script for a shell.

        Parameters
        ----------
        shell
            Try: eval "$(diskproof completion bash)"

        """
        put(app.generate_completion(shell=shell) + "\n")

    return completion
