"""Consoles whose reader may go away."""

import typing

from rich import console


class Console(console.Console):
    """A rich console that raises BrokenPipeError after its reader has closed the pipe.

    The console of rich raises SystemExit(1), which says that the command failed.
    """

    def on_broken_pipe(self) -> typing.NoReturn:
        """Raise BrokenPipeError."""
        raise BrokenPipeError('nobody reads the output any longer')
