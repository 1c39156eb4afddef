"""Output of commands as JSON or as text."""

from collections.abc import Callable
import json
import typing

T = typing.TypeVar('T')


def show(found: T, as_text: Callable[[T], None], *, as_json: bool) -> None:
    """Print `found` as JSON, or call as_text(found), which prints it as text."""
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        as_text(found)
