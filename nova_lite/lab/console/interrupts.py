"""Ctrl-C, SIGTERM and the end of the terminal, handled by a command for a time."""

from collections.abc import Callable
from collections.abc import Iterator
import contextlib
import signal
import typing

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

# A function of the number of a signal and of the frame that it interrupts.
Handler: typing.TypeAlias = Callable[[int, typing.Any], object]


@contextlib.contextmanager
def handled(handler: Handler) -> Iterator[None]:
    """Call a function at each of the signals within the block.

    A signal that the process ignores stays ignored, such as SIGHUP after `nohup`.
    Raise ValueError unless this is the main thread: others receive no signals.
    """
    heard = [each for each in SIGNALS if signal.getsignal(each) is not signal.SIG_IGN]
    before = {number: signal.signal(number, handler) for number in heard}
    try:
        yield
    finally:
        for number, former in before.items():
            signal.signal(number, former)


@contextlib.contextmanager
def ignored(say: Callable[[str], None], text: str) -> Iterator[None]:
    """Print a text at each of the signals within the block, and go on. say: prints a line"""

    def handle(_number: int, _frame: typing.Any) -> None:
        # A signal can interrupt a print, and another print within it raises RuntimeError.
        with contextlib.suppress(RuntimeError):
            say(text)

    with contextlib.ExitStack() as stack:
        # Other threads than the main thread receive no signals.
        with contextlib.suppress(ValueError):
            stack.enter_context(handled(handle))
        yield
