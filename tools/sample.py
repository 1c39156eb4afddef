"""Samples of the long tables of faults and kills for a run of the tests.

A part of most tables, and of the seeds of the simulation, runs with every commit, and each commit
takes another part. Of the table of faults of sagas a sixth of the scenarios run, and each commit
combines the cases differently. The environment variable NOVA_LITE_TEST_SAMPLE sets the number of
the sample. By default the number is made from the commit that is checked out; without a commit it
is 0. The same number takes the same cases again.
"""

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
import functools
import os
import subprocess
import typing
import unittest

Item = typing.TypeVar('Item')
Case = typing.TypeVar('Case', bound=type[unittest.TestCase])

VARIABLE = 'NOVA_LITE_TEST_SAMPLE'
# Set by tools.run_tests: tests that take turns do so. Without it a command runs all of them.
TURNS = 'NOVA_LITE_TEST_TURNS'
TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DIGITS = 6
LOADER = 'unittest.loader'
# Lowest bits of the number that do not choose modules.
MODULE_BITS = 16


@functools.cache
def number() -> int:
    """Return the number of this run's sample."""
    given = os.environ.get(VARIABLE)
    return int(given) if given else of_commit(TOP)


def of_commit(directory: str) -> int:
    """Return a number made from the commit checked out in a directory; 0 without one."""
    try:
        done = subprocess.run(
            ['git', '-C', directory, 'rev-parse', '--verify', '--quiet', 'HEAD'],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        return 0
    return int(done.stdout[:DIGITS], 16) if done.returncode == 0 else 0


def replay() -> str:
    """Return the setting of the environment with which the same cases run again."""
    return f'{VARIABLE}={number()}'


def turn(items: Sequence[Item], every: int, first: int = 0) -> Sequence[Item]:
    """Return the items whose turn it is, one of `every`; all items where none take turns.

    first: index of the first item of sample 0
    """
    if not os.environ.get(TURNS):
        return items
    return items[(first + number()) % every :: every]


def modules_in_turn(suite: unittest.TestSuite) -> unittest.TestSuite:
    """Return the tests of a suite whose modules run with this commit, a third of them.

    All of them where none take turns. The choice does not depend on that of `turn`: both have other
    digits of the number.
    """
    if not os.environ.get(TURNS):
        return suite
    tests = list(_tests_of(suite))
    names = sorted({_module_of(test) for test in tests} - {LOADER})
    # A module that cannot be imported fails with each commit.
    chosen = {LOADER, *names[(number() >> MODULE_BITS) % 3 :: 3]}
    return unittest.TestSuite(test for test in tests if _module_of(test) in chosen)


def _module_of(test: unittest.TestCase) -> str:
    """Return the module in the name of a test; LOADER for one that stands for a module."""
    name = test.id()
    if name.startswith(LOADER):
        return LOADER
    return name.partition('(')[0].rpartition('.')[0].rpartition('.')[0]


def _tests_of(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for each in suite:
        if isinstance(each, unittest.TestSuite):
            yield from _tests_of(each)
        else:
            yield each


def in_turns(every: int, first: int = 0) -> Callable[[Case], Case]:
    """Return a decorator that leaves those tests of a class whose turn it is, see `turn`."""

    def decorate(case: Case) -> Case:
        names = unittest.defaultTestLoader.getTestCaseNames(case)
        for name in set(names).difference(turn(names, every, first)):
            # The loader ignores it, also where the test is inherited.
            setattr(case, name, None)
        return case

    return decorate
