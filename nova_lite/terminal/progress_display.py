"""Progress of a command: animated on a terminal, plain lines elsewhere.

`Steps` tells of one thing after the other, `Count` of many of the same kind. Both
write to the streams that they are given: results go to standard output, so what only tells of
progress towards them goes to standard error.
"""

import sys
import typing

from nova_lite import runtime
from nova_lite.terminal import pipes

# Seconds between two lines of a count if the output is no terminal.
LINE_S = 5.0


def _console(stream: typing.TextIO) -> pipes.Console:
    return pipes.Console(file=stream, highlight=False, soft_wrap=True, markup=False)


class Steps:
    """A title and the steps below it, of which the last begun is under way.

    passing: of steps that are over nothing stays on a terminal
    """

    def __init__(
        self, title: str, *, stream: typing.TextIO | None = None, passing: bool = False
    ) -> None:
        self._title, self._passing = title, passing
        self._console = _console(stream or sys.stdout)
        # Of rich.status and rich.progress, which only terminals import.
        self._status: typing.Any = None
        self._step: str | None = None
        self._began = 0.0

    def __enter__(self) -> typing.Self:
        if self._console.is_terminal:
            self._status = self._console.status(self._title)
            self._status.start()
        if not (self._status and self._passing):
            self._print(self._title)
        return self

    def begin(self, text: str) -> None:
        """Begin the next step; the one before is over."""
        self._end('done')
        self._step, self._began = text, runtime.monotonic()
        if self._status:
            self._status.update(text)
        else:
            self._print(f'  {text}')

    def _end(self, how: str) -> None:
        if self._step is not None and self._status and not self._passing:
            seconds = runtime.monotonic() - self._began
            self._print(f'  {self._step}: {how} after {seconds:.1f} s')
        self._step = None

    def _print(self, text: str) -> None:
        self._console.print(text)
        self._console.file.flush()

    def __exit__(
        self, kind: type[BaseException] | None, _error: object, _traceback: object
    ) -> None:
        self._end('done' if kind is None else 'ended')
        if self._status:
            self._status.stop()


class Count:
    """So many of so many: a bar on a terminal, a line from time to time elsewhere.

    total: None when it is not known; on: a rich Console whose lines are to be above the bar
    estimates: whether to show how long the rest will take
    """

    def __init__(
        self,
        title: str,
        total: int | None,
        *,
        stream: typing.TextIO | None = None,
        on: pipes.Console | None = None,
        estimates: bool = False,
    ) -> None:
        self._title, self._total, self._estimates = title, total, estimates
        self._console = on or _console(stream or sys.stderr)
        self._done = 0
        self._lock = runtime.Lock()
        # Work that takes so long may change the clock of this process.
        self._clock = runtime.Runtime().monotonic if estimates else runtime.monotonic
        self._began = self._told = self._clock()
        # As above.
        self._bar: typing.Any = None
        self._task: int | None = None

    def __enter__(self) -> typing.Self:
        if self._console.is_terminal:
            # Only terminals need it.
            from rich import progress

            self._bar = progress.Progress(
                progress.TextColumn('{task.description}'),
                progress.BarColumn(),
                progress.MofNCompleteColumn(),
                progress.TimeElapsedColumn(),
                *([progress.TimeRemainingColumn()] if self._estimates else []),
                console=self._console,
                transient=True,
            )
            self._task = self._bar.add_task(self._title, total=self._total)
            self._bar.start()
        return self

    def add(self, number: int = 1) -> None:
        """So many more are done; any thread may say so."""
        with self._lock:
            self._done += number
            if self._bar:
                self._bar.update(self._task, completed=self._done)
            elif self._clock() - self._told >= LINE_S:
                self._told = self._clock()
                self._line()

    def _line(self) -> None:
        total = '' if self._total is None else f' of {self._total}'
        left = ''
        if self._estimates and self._total and self._done:
            passed = self._clock() - self._began
            seconds = passed / self._done * (self._total - self._done)
            left = f', about {seconds:.0f} s left'
        self._console.print(f'{self._title}: {self._done}{total}{left}', markup=False)
        self._console.file.flush()

    def __exit__(self, *_error: object) -> None:
        if self._bar:
            self._bar.stop()
