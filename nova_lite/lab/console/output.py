"""Output of commands as JSON or as text."""

from collections.abc import Callable
import json
import os
import sys
import typing

T = typing.TypeVar('T')
# Exit code, as in shells, after the reader of the output has closed the pipe.
UNREAD = 141


def show(found: T, as_text: Callable[[T], None], *, as_json: bool) -> None:
    """Print `found` as JSON, or call as_text(found), which prints it as text."""
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        as_text(found)


def discard() -> None:
    """Discard the rest of the output at exit, without a second BrokenPipeError."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
