"""The frame of a program for people: its standard streams, its last output, and its interrupts."""

from collections.abc import Callable
import os
import signal
import sys

from nova_lite.lab.console import messages
from nova_lite.lab.console import output

INTERRUPTED = 130
LAST_STREAM = 2


def run(program: Callable[[], int], *, name: str, failed: int) -> int:
    """Call a program, and write out what it has printed. Return its exit code.

    Ctrl-C and a reader that has closed the pipe end the program without a traceback.
    name: of the program in messages; failed: exit code if the output cannot be written, for
        example to a full disk
    """
    _open_missing()
    try:
        try:
            return program()
        finally:
            # At the end of the interpreter, an error could no longer change the exit code.
            sys.stdout.flush()
    except BrokenPipeError:
        output.discard()
        return output.UNREAD
    except OSError as error:
        output.discard()
        print(f'{name}: standard output: {messages.cause(error)}', file=sys.stderr)
        return failed
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        # At the end of the interpreter, Ctrl-C would cause a traceback.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, signal.SIG_DFL)


def _open_missing() -> None:
    """Open the standard streams that are closed, as after `>&-` in a shell.

    Otherwise the first file or connection that the program opens would take the place of one.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= LAST_STREAM:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, 'w', closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, 'w', closefd=False)
