"""The undo of a drill: at its end, or by a later command after its process was killed."""

from collections.abc import Callable
from collections.abc import Iterator
import contextlib

from nova_lite import exception
from nova_lite.lab.console import interrupts
from nova_lite.lab.scenarios import clients
from nova_lite.lab.scenarios import kept
from nova_lite.lab.scenarios import restoring
from nova_lite.lab.scenarios import stage as stages
from nova_lite.lab.scenarios import timeline as timelines

GOES_ON = 'The drill is being undone, which Ctrl-C does not stop: it takes minutes at most'
KEPT = 'Delete the record of the drill'
LATER = 'it is kept. `nova-lite scenario undo`, or the next drill in the cloud, undoes the rest'


class Remaining(exception.Conflict):
    msg = (
        'Scenario %(name)s, whose process was killed, has changed the cloud, and not all could be '
        'undone: %(what)s. Correct that, and repeat `nova-lite scenario undo`'
    )


def undo(stage: stages.Stage, timeline: timelines.Timeline) -> None:
    """Restore the cloud, and delete the record of the drill unless something remains.

    Neither signals nor an output that cannot be written end it.
    """
    with _printed_if_possible(timeline), interrupts.ignored(timeline.say, GOES_ON):
        is_restored = True
        for text, failure in restoring.restore(stage):
            timeline.add(timelines.UNDO, text, ok=not failure, detail=failure)
            is_restored = is_restored and not failure
        if is_restored:
            stage.record.delete()
        else:
            timeline.add(timelines.UNDO, KEPT, ok=False, detail=LATER)


@contextlib.contextmanager
def _printed_if_possible(timeline: timelines.Timeline) -> Iterator[None]:
    """Go on in the block when the terminal or the reader of the output is gone.

    The next line after the block raises the error.
    """
    say = timeline.say

    def try_to_say(line: str) -> None:
        with contextlib.suppress(OSError):
            say(line)

    timeline.say = try_to_say
    try:
        yield
    finally:
        timeline.say = say


def undo_former(cloud: clients.Cloud, lock: int, say: Callable[[str], None]) -> str | None:
    """Undo the changes of a drill whose process was killed. Return its name, None without one.

    lock: descriptor of `kept.locked`; say: prints a line. Raise Unreadable, Remaining
    """
    record = kept.left(cloud.directory)
    if record is None:
        return None
    timeline = timelines.Timeline(say)
    text = f'Undo the changes of scenario {record.scenario}, whose process was killed'
    timeline.add(timelines.UNDO, text)
    undo(stages.Stage(cloud, {}, record, lock), timeline)
    failed = [f'{each.text}: {each.detail}' for each in timeline.events if not each.ok]
    if failed:
        raise Remaining(name=record.scenario, what='; '.join(failed[:-1]))
    return record.scenario
