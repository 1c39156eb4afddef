"""The command `nova-lite scenario`: lists, shows, runs and undoes drills."""

from collections.abc import Callable
import dataclasses
import json
import signal
import sys
import typing

from nova_lite.lab.console import interrupts
from nova_lite.lab.console import output
from nova_lite.lab.scenarios import clients
from nova_lite.lab.scenarios import drill as drills
from nova_lite.lab.scenarios import kept
from nova_lite.lab.scenarios import needs
from nova_lite.lab.scenarios import page
from nova_lite.lab.scenarios import running
from nova_lite.lab.scenarios import timeline as timelines
from nova_lite.lab.scenarios import undoing
from nova_lite.terminal import text_tables

PASSED, NOT_AS_EXPECTED = 0, 1
RESULTS = {True: 'passed', False: 'not as expected'}


def list_all(*, as_json: bool) -> None:
    """Print all drills."""
    found = [_summary(drills.read(name)) for name in drills.names()]

    def show(found: list[dict[str, typing.Any]]) -> None:
        columns = ('Name', 'Purpose', 'Cluster', 'Seconds', 'Needs')
        rows = [[*list(each.values())[:-1], ', '.join(each['needs'])] for each in found]
        text_tables.show(columns, rows)

    output.show(found, show, as_json=as_json)


def _summary(drill: drills.Drill) -> dict[str, typing.Any]:
    return {
        'name': drill.name,
        'title': drill.title,
        'cluster': drill.cluster,
        'seconds': drill.seconds,
        'needs': needs.of(drill),
    }


def show(name: str, *, as_json: bool) -> None:
    """Print one drill. Raise NoSuchDrill."""
    drill = drills.read(name)
    document = {**dataclasses.asdict(drill), 'cluster': drill.cluster, 'needs': needs.of(drill)}
    output.show(document, lambda _found: print(page.text(drill)), as_json=as_json)


def run(name: str, directory: str, *, as_json: bool) -> int:
    """Run a drill in the cloud of a state directory. Return the exit code.

    With JSON, the timeline is printed on standard error as the drill goes on.
    """
    drill = drills.read(name)
    stream = sys.stderr if as_json else sys.stdout

    def say(line: str) -> None:
        print(line, file=stream, flush=True)

    timeline = play(name, directory, say)
    result = RESULTS[timeline.is_as_expected]
    if as_json:
        found = {'scenario': name, 'result': result, 'timeline': timeline.as_json()}
        print(json.dumps(found, indent=2))
    else:
        say(f'{drill.title}: {result}')
        if drill.leaves:
            say(drill.leaves)
    return PASSED if timeline.is_as_expected else NOT_AS_EXPECTED


def play(
    name: str,
    directory: str,
    say: Callable[[str], None],
    hand_over: running.HandOver | None = None,
) -> timelines.Timeline:
    """Run a drill or its exam. Return its timeline. Raise the errors of running.Run.play."""
    # The cloud is restored after SIGTERM and SIGHUP, as it is after Ctrl-C.
    with interrupts.handled(signal.default_int_handler):
        return running.Run(drills.read(name), clients.Cloud(directory), say).play(hand_over)


def undo(directory: str, *, as_json: bool) -> None:
    """Undo the changes of a drill whose process was killed. Raise Busy, Unreadable, Remaining.

    With JSON, the timeline is printed on standard error.
    """

    def say(line: str) -> None:
        print(line, file=sys.stderr if as_json else sys.stdout, flush=True)

    cloud = clients.Cloud(directory)
    cloud.control.require_running()
    with kept.locked(directory) as lock:
        name = undoing.undo_former(cloud, lock, say)
    if as_json:
        print(json.dumps({'undone': name}, indent=2))
    elif name is None:
        say('There is nothing to undo: no drill was killed')
    else:
        say(f'Scenario {name} is undone')
