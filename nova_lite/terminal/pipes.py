"""Consoles that write to a pipe, which its reader may close."""

import typing

from rich import console


class Console(console.Console):  # noqa: TID251
    """A rich console that raises BrokenPipeError after its reader has closed the pipe.

    The console of rich raises SystemExit(1), which says that the command failed.
    """

    def on_broken_pipe(self) -> typing.NoReturn:
        """Raise BrokenPipeError."""
        raise BrokenPipeError('the reader of the output has closed the pipe')
