"""Times of the classes of tests, by which stestr divides them among its workers.

stestr gives each worker an equal share of the time that the tests took before. In a fresh
clone it knows no times and takes turns, and one worker may end ten minutes after the other.
`load` tells it what tests/durations.txt says. After a whole run of the tests

    python -m tools.durations

writes that file. A line has the seconds of a class and its first test: stestr adds up
the times that it knows of a class, so one test stands for all.
"""

import collections
from dbm import dumb
import os

from stestr import utils
from stestr.repository import file as repository
import testtools

TABLE = os.path.join('tests', 'durations.txt')
TIMES = 'times.dbm'
# Shorter classes are divided well enough by taking turns.
LEAST_S = 2


def load(directory='.'):
    """Give stestr the times of the table, if there is one and nothing has run here."""
    path = os.path.join(directory, TABLE)
    if os.path.exists(os.path.join(directory, '.stestr')) or not os.path.exists(path):
        return
    made = repository.RepositoryFactory().initialise(directory)
    with open(path, encoding='utf-8') as table:
        rows = [line.strip().split(' ', 1) for line in table]
    with dumb.open(os.path.join(made.base, TIMES), 'c') as times:
        times.update({first: seconds for seconds, first in rows})


def save(directory='.'):
    """Write the table from the runs of this directory; the longest run of a class counts."""
    runs = repository.RepositoryFactory().open(directory)
    found = {}
    for number in runs.get_run_ids():
        for group, told in measured(runs.get_test_run(number)).items():
            found[group] = max(found.get(group, told), told, key=lambda each: each[1])
    lines = [
        f'{seconds:7.1f} {first}\n'
        for first, seconds in sorted(found.values())
        if seconds >= LEAST_S
    ]
    with open(os.path.join(directory, TABLE), 'w', encoding='utf-8') as table:
        table.writelines(lines)


def measured(run):
    """{class: (its first test, seconds)} of a run in stestr's repository.

    What passes between two tests of a worker is part of the second one's class, which
    starts what its tests share then.
    """
    seen = []
    collector = testtools.StreamToDict(seen.append)
    collector.startTestRun()
    run.get_test().run(collector)
    collector.stopTestRun()
    # A run that was interrupted has tests without an end.
    tests = [each for each in seen if None not in each['timestamps']]
    first, took, ended = {}, collections.Counter(), {}
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
