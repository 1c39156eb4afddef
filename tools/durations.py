"""Times of tests, by which stestr divides them among its workers.

stestr gives each worker an equal share of the time that the tests took before. In a fresh clone
stestr knows no times, so that one worker may end ten minutes after the other. `load` gives stestr
the times of tests/durations.txt. After a whole run of the tests

    python -m tools.durations

writes that file. A line has the seconds of a test: stestr adds up the known times of the tests of
a class. The time of short tests counts for the first test of their class. Tests that take turns
(tools/sample.py) have lines only if the run had NOVA_LITE_TEST_TURNS set to nothing.
"""

import collections
import datetime
from dbm import dumb
import os
import typing

from stestr import utils
from stestr.repository import file as repository
import testtools

TABLE = os.path.join('tests', 'durations.txt')
TIMES = 'times.dbm'
# Shorter classes and tests are divided well enough by taking turns.
LEAST_S = 2


def load(directory: str = '.') -> None:
    """Give stestr the times of the table, if there is one and nothing has run here."""
    path = os.path.join(directory, TABLE)
    if os.path.exists(os.path.join(directory, '.stestr')) or not os.path.exists(path):
        return
    made = repository.RepositoryFactory().initialise(directory)
    with open(path, encoding='utf-8') as table:
        rows = [line.strip().split(' ', 1) for line in table]
    with dumb.open(os.path.join(made.base, TIMES), 'c') as times:
        times.update({first.encode(): seconds.encode() for seconds, first in rows})


def save(directory: str = '.') -> None:
    """Write the table from the runs of this directory; the longest run of a test counts."""
    runs = repository.RepositoryFactory().open(directory)
    found: dict[str, float] = collections.defaultdict(float)
    for number in runs.get_run_ids():
        for name, seconds in measured(runs.get_test_run(number)).items():
            found[name] = max(found[name], seconds)
    lines = [f'{seconds:7.1f} {name}\n' for name, seconds in sorted(_shortened(found).items())]
    with open(os.path.join(directory, TABLE), 'w', encoding='utf-8') as table:
        table.writelines(lines)


def _shortened(found: dict[str, float]) -> dict[str, float]:
    """Return the long ones of {test: seconds}; short ones count for the first test of a class."""
    kept: dict[str, float] = {}
    first: dict[str, str] = {}
    for name, seconds in sorted(found.items()):
        to = name if seconds >= LEAST_S else first.setdefault(name.rpartition('.')[0], name)
        kept[to] = kept.get(to, 0) + seconds
    return {name: seconds for name, seconds in kept.items() if seconds >= LEAST_S}


def measured(run: typing.Any) -> dict[str, float]:
    """Return {test: seconds} of a run in stestr's repository.

    The time between two tests of a worker counts for the second test, whose class then starts the
    fixtures that its tests share.
    """
    seen: list[typing.Any] = []
    collector = testtools.StreamToDict(seen.append)
    collector.startTestRun()
    run.get_test().run(collector)
    collector.stopTestRun()
    # A run that was interrupted has tests without an end.
    tests = [each for each in seen if None not in each['timestamps']]
    took: dict[str, float] = collections.defaultdict(float)
    ended: dict[frozenset[str], datetime.datetime] = {}
    for test in sorted(tests, key=lambda each: each['timestamps'][0]):
        begun, end = test['timestamps']
        worker, name = frozenset(test['tags']), utils.cleanup_test_name(test['id'])
        took[name] += (end - ended.get(worker, begun)).total_seconds()
        ended[worker] = end
    return took


if __name__ == '__main__':
    save()
