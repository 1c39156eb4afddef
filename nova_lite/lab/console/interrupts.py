"""Signals that must not interrupt the end of a command."""

from collections.abc import Callable
from collections.abc import Iterator
import contextlib
import signal
import typing

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def ignored(say: Callable[[str], None], text: str) -> Iterator[None]:
    """Print a text at each Ctrl-C or SIGTERM within the block, and go on. say: prints a line"""

    def handle(_number: int, _frame: typing.Any) -> None:
        say(text)

    try:
        before = {number: signal.signal(number, handle) for number in SIGNALS}
    # Other threads than the main thread receive no signals.
    except ValueError:
        before = {}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
