"""A file of hosts on a disk that is full: SQLite's own limit of pages makes it so."""

import sqlite3

import testtools

from nova_lite import exception
from nova_lite.virt import model
from tests.unit.virt.sim import base

SLOW = 'extends: instant\nhosts: [{delays: {spawn: 10}}]'
MANY = 100000


class FullDiskTest(base.SimTestCase):
    def limit(self, hosts, pages):
        with hosts._store.read() as connection:
            connection.execute(f'PRAGMA max_page_count = {pages}')

    def fill(self, hosts, key):
        """Start guests until nothing can be written."""
        self.limit(hosts, 1)
        for number in range(MANY):
            hosts.spawn('n2', base.guest_spec(f'{key}-{number}'), key=f'{key}-{number}')

    def test_what_has_begun_goes_on_once_there_is_space(self):
        hosts = self.hosts(SLOW)
        job = hosts.spawn('n1', base.guest_spec(), key='k')
        error = self.assertRaises(exception.DiskFull, self.fill, hosts, 'a')
        self.assertIn(self.path('a'), str(error))
        self.assertTrue(error.transient)
        # Also the next one begins a transaction of its own.
        self.assertRaises(exception.DiskFull, self.fill, hosts, 'b')
        self.limit(hosts, MANY)
        self.clock.advance(10)
        self.assertEqual(model.JobState.DONE, hosts.poll(job.id).state)
        hosts.spawn('n1', base.guest_spec('another'), key='l')

    def test_defects_remain_what_they_are(self):
        hosts = self.hosts()
        with testtools.ExpectedException(sqlite3.OperationalError), hosts._store.write() as tx:
            tx.execute('SELEKT 1')
