"""Hosts of the live page, which a viewer asks for."""

import testtools

from nova_lite.lab.page import details
from tests.fixtures import clock
from tests.unit.lab.page import readings


class Reader:
    """Answers with hosts; each is loaded by as many vCPUs as its name says."""

    def __init__(self, *names):
        self.names = names

    def read(self):
        here = readings.here(*self.names)
        loads = {name: {'VCPU': (int(name), 1000)} for name in self.names}
        return readings.whole([(readings.cell('cell1'), here)], loads=loads)


class TestHosts(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = clock.ManualRuntime()
        self.useFixture(clock.Installed(self.clock))

    def source(self, *names):
        self.reader = Reader(*names)
        return details.Source(
            self.reader, lambda: readings.NO_FAULTS, lambda: None, lambda uuid: None
        )

    def names(self, source, **query):
        return [host['name'] for host in source.hosts(**query)['hosts']]

    def test_the_most_loaded_come_first(self):
        self.assertEqual(['3', '2', '1'], self.names(self.source('1', '3', '2')))

    def test_their_number_is_bounded(self):
        found = self.source(*map(str, range(details.MOST + 1))).hosts()
        self.assertEqual((details.MOST, True), (len(found['hosts']), found['more']))
        self.assertEqual(str(details.MOST), found['hosts'][0]['name'])

    def test_which(self):
        source = self.source('1', '12', '2')
        self.assertEqual(['12', '2'], self.names(source, q='2', cell='cell1', zone='nova'))
        self.assertEqual([], self.names(source, cell='cell2'))
        self.assertEqual([], self.names(source, zone='elsewhere'))

    def test_they_are_of_the_last_document_unless_it_is_old(self):
        source = self.source('1')
        source.document()
        self.reader.names = ('2',)
        self.assertEqual(['1'], self.names(source))
        self.clock.advance(details.FRESH_S)
        self.assertEqual(['2'], self.names(source))
