"""Times of the classes of tests, by which stestr divides them among its workers.

stestr gives each worker an equal share of the time that the tests took before. In a fresh clone
stestr knows no times, so that one worker may end ten minutes after the other. `load` gives stestr
the times of tests/durations.txt. After a whole run of the tests

    python -m tools.durations

writes that file. A line has the seconds of a class and its first test: stestr adds up the known
times of the tests of a class, so one test stands for the class.
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
# Shorter classes are divided well enough by taking turns.
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
    """Write the table from the runs of this directory; the longest run of a class counts."""
    runs = repository.RepositoryFactory().open(directory)
    found: dict[str, tuple[str, float]] = {}
    for number in runs.get_run_ids():
        for group, took in measured(runs.get_test_run(number)).items():
            found[group] = max(found.get(group, took), took, key=lambda each: each[1])
    lines = [
        f'{seconds:7.1f} {first}\n'
        for first, seconds in sorted(found.values())
        if seconds >= LEAST_S
    ]
    with open(os.path.join(directory, TABLE), 'w', encoding='utf-8') as table:
        table.writelines(lines)


def measured(run: typing.Any) -> dict[str, tuple[str, float]]:
    """Return {class: (its first test, seconds)} of a run in stestr's repository.

    The time between two tests of a worker counts for the class of the second test, which then
    starts the fixtures that its tests share.
    """
    seen: list[typing.Any] = []
    collector = testtools.StreamToDict(seen.append)
    collector.startTestRun()
    run.get_test().run(collector)
    collector.stopTestRun()
    # A run that was interrupted has tests without an end.
    tests = [each for each in seen if None not in each['timestamps']]
    first: dict[str, str] = {}
    took: dict[str, float] = collections.defaultdict(float)
    ended: dict[frozenset[str], datetime.datetime] = {}
    for test in sorted(tests, key=lambda each: each['timestamps'][0]):
        begun, end = test['timestamps']
        worker, name = frozenset(test['tags']), utils.cleanup_test_name(test['id'])
        group = name.rpartition('.')[0]
        first.setdefault(group, name)
        took[group] += (end - ended.get(worker, begun)).total_seconds()
        ended[worker] = end
    return {group: (name, took[group]) for group, name in first.items()}


if __name__ == '__main__':
    save()
