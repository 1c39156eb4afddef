"""Ctrl-C and SIGTERM, handled by a command for a time."""

from collections.abc import Callable
from collections.abc import Iterator
import contextlib
import signal
import typing

SIGNALS = (signal.SIGINT, signal.SIGTERM)

# A function of the number of a signal and of the frame that it interrupts.
Handler: typing.TypeAlias = Callable[[int, typing.Any], object]


@contextlib.contextmanager
def handled(handler: Handler) -> Iterator[None]:
    """Call a function at each Ctrl-C or SIGTERM within the block.

    Raise ValueError unless this is the main thread: others receive no signals.
    """
    before = {number: signal.signal(number, handler) for number in SIGNALS}
    try:
        yield
    finally:
        for number, former in before.items():
            signal.signal(number, former)


@contextlib.contextmanager
def ignored(say: Callable[[str], None], text: str) -> Iterator[None]:
    """Print a text at each Ctrl-C or SIGTERM within the block, and go on. say: prints a line"""

    def handle(_number: int, _frame: typing.Any) -> None:
        say(text)

    with contextlib.ExitStack() as stack:
        # Other threads than the main thread receive no signals.
        with contextlib.suppress(ValueError):
            stack.enter_context(handled(handle))
        yield
