"""Tests that hold the same conversation with a real service and with simcloud.

Each difference fails the test, unless deviations.csv lists it for this very test; so does a
listed difference that is no more.
"""

import abc
import csv
import functools
import pathlib

import testtools

from tests.fixtures import simcloud
from tests.peers import transcript

DEVIATIONS = pathlib.Path(__file__).parent / 'deviations.csv'


def listed(test):
    """The differences that deviations.csv lists for a test, as transcript.differences."""
    with DEVIATIONS.open(newline='') as file:
        return {
            (row['request'], row['field'], row['real'], row['simcloud'])
            for row in csv.DictReader(file)
            if row['test'] == test
        }


def same(conversation):
    """Make a test of a method that holds a conversation with one peer, a Transcript."""

    @functools.wraps(conversation)
    def test(case):
        peers = [case.begin(peer) for peer in (case.real, case.simcloud)]
        for peer in peers:
            conversation(case, peer)
        found = transcript.differences(*peers)
        expected = listed(f'{type(case).__name__}.{conversation.__name__}')
        for title, rows in (('Unlisted', found - expected), ('No more', expected - found)):
            if rows:
                case.addDetail(
                    title, testtools.content.text_content('\n'.join(map(str, sorted(rows))))
                )
        case.assertEqual((set(), set()), (found - expected, expected - found))

    return test


class PeersTest(testtools.TestCase, abc.ABC):
    """Has simcloud and one real service for all tests of a class."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.real, cls.simcloud = cls.make_real(), simcloud.SimCloud(auth='noauth')
        for fixture in (cls.real, cls.simcloud):
            fixture.setUp()
            cls.addClassCleanup(fixture.cleanUp)

    @classmethod
    @abc.abstractmethod
    def make_real(cls):
        """Return the fixture of the real service."""

    @abc.abstractmethod
    def begin(self, peer):
        """Return the Transcript of a new conversation with one of the two."""
