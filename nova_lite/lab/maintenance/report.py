"""Output of the commands: plan, progress and result; with --json one document at the end.

A terminal shows a progress bar; other outputs get plain lines. With --json only the document goes
to standard output, and all other lines go to standard error.
"""

import collections
import contextlib
import json
import sys
import typing

from nova_lite.lab.maintenance import mover
from nova_lite.lab.maintenance import mover_pool
from nova_lite.lab.maintenance import plan as plans
from nova_lite.terminal import pipes
from nova_lite.terminal import progress_display


class Report:
    """Prints one run. As a context manager it removes the progress bar at the end."""

    def __init__(self, *, as_json: bool = False) -> None:
        self._as_json = as_json
        self._console = pipes.Console(stderr=as_json, highlight=False, soft_wrap=True)
        self._open = contextlib.ExitStack()
        self._count: progress_display.Count | None = None
        self._ended = self._total = 0

    def __enter__(self) -> typing.Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._open.close()

    def say(self, text: str) -> None:
        """Print one line."""
        self._console.print(text, markup=False)
        # The reader of a pipe gets the line at once.
        self._console.file.flush()

    # ---- the plan ----

    def plan(self, title: str, entries: list[plans.Entry]) -> None:
        """Print a summary of the plan, and a line for each server."""
        counts = collections.Counter(entry.how for entry in entries)
        summary = ', '.join(f'{counts[how]} {how}' for how in plans.How if counts[how])
        self.say(f'{title}: {summary or "no servers"}')
        width = max((len(entry.name) for entry in entries), default=0)
        status = max((len(entry.status) for entry in entries), default=0)
        for entry in entries:
            line = (
                f'  {entry.how:<8}  {entry.uuid}  {entry.name:<{width}}  '
                f'{entry.status:<{status}}  {entry.reason}'
            )
            self.say(line.rstrip())

    # ---- progress ----

    def begin(self, total: int) -> None:
        """Start the progress bar for a number of servers."""
        self._total = total
        if self._console.is_terminal and total:
            count = progress_display.Count('leaving', total, on=self._console)
            self._count = self._open.enter_context(count)

    def heard(self, kind: str, entry: plans.Entry | None, said: typing.Any) -> None:
        """Print an event of a MoverPool."""
        if entry and kind == mover_pool.BEGAN:
            self.say(f'{entry.name}: {entry.how}')
        elif entry and kind == mover_pool.NOTE:
            self.say(f'{entry.name}: {said}')
        elif kind == mover_pool.ENDED:
            self._ended += 1
            self.say(f'[{self._ended}/{self._total}] {line_of(said)}')
            if self._count is not None:
                self._count.add()
        else:
            names = ', '.join(each.name for each in said) or 'nothing'
            self.say(
                f'Interrupted: no further move is started. In progress: {names}. Interrupt '
                'again to exit; these moves continue.'
            )

    # ---- the result ----

    def result(self, host: str, entries: list[plans.Entry], outcomes: list[mover.Outcome]) -> int:
        """Print the outcome of each server. Return 0 if no server is left on the host, else 1."""
        rest = [
            mover.Outcome(
                entry,
                mover.What.WAITS if entry.how is plans.How.WAITS else mover.What.LEFT,
                entry.how,
                reason=entry.reason,
            )
            for entry in entries
            if not entry.is_work
        ]
        every = [*outcomes, *rest]
        counts = collections.Counter(outcome.what for outcome in every)
        summary = ', '.join(f'{counts[what]} {what}' for what in mover.What if counts[what])
        self.say(f'{host}: {summary or "no servers"}')
        for outcome in every:
            if outcome.what in (mover.What.WAITS, mover.What.LEFT):
                self.say(f'  {line_of(outcome)}')
        if self._as_json:
            self.document({'host': host, 'servers': [shown(outcome) for outcome in every]})
        return 1 if counts[mover.What.LEFT] else 0

    def document(self, content: plans.Json) -> None:
        """Print a document as JSON if --json was given."""
        if self._as_json:
            json.dump(content, sys.stdout, indent=2)
            print(flush=True)


def line_of(outcome: mover.Outcome) -> str:
    """Return an outcome as one line of text."""
    if outcome.what in (mover.What.MOVED, mover.What.WAITS) and outcome.host:
        text = f'{outcome.entry.name}: moved to {outcome.host} ({outcome.how})'
    else:
        text = f'{outcome.entry.name}: {outcome.what}'
    if outcome.reason:
        text += f': {outcome.reason}'
    return text


def planned(entry: plans.Entry) -> plans.Json:
    """Return an entry in the format of the JSON document."""
    return {
        'id': entry.uuid,
        'name': entry.name,
        'status': entry.status,
        'how': entry.how,
        'reason': entry.reason or None,
    }


def shown(outcome: mover.Outcome) -> plans.Json:
    """Return an outcome in the format of the JSON document."""
    return {
        'id': outcome.entry.uuid,
        'name': outcome.entry.name,
        'how': outcome.how,
        'outcome': outcome.what,
        'host': outcome.host,
        'reason': outcome.reason or None,
    }
