"""The source of a live migration, as the super-conductor calls it."""

import os

import testtools

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.compute import live_source
from nova_lite.compute import replies
from nova_lite.db.cell import migrations
from tests.fixtures import cell as cell_fixture

SOURCE, DEST = 'host-1', 'host-2'
# A round, and then what post-copy moves, take half a second each.
ENDLESS = """
extends: instant
hosts:
  - match: '*'
    live_migration:
      {bandwidth_mb_s: 1024, dirty_rate_mb_s: 50, converges: false, post_copy: true}
"""


class SourceTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.cell = self.useFixture(cell_fixture.Cell())
        self.ctxt = context.admin().for_saga(runtime.new_uuid(), 1)
        self.uuid, self.move = self.cell.boot(), runtime.new_uuid()
        # An end that is near is always waited for.
        self.patch(replies, 'SHORT_S', 5)

    def begin(self):
        """Start a copy that does not end by itself."""
        profile = os.path.join(self.cell.directory, 'behaviour.yaml')
        with open(profile, 'w') as text:
            text.write(ENDLESS)
        driver = self.cell.driver
        driver.use_profile(profile)
        values = {
            'uuid': self.move,
            'instance_uuid': self.uuid,
            'migration_type': 'live-migration',
            'status': 'preparing',
            'source_compute': SOURCE,
            'dest_compute': DEST,
        }
        self.cell.db.write(migrations.create, values)
        spec = driver.get_guest(SOURCE, self.uuid).spec
        self.ticket = driver.pre_live_migration(DEST, spec, self.move, key='p').result['ticket']
        self.patch(replies, 'SHORT_S', 0)
        self.assertIn('pending', self.copy())
        self.patch(replies, 'SHORT_S', 5)

    def copy(self):
        return self.call('live_migration', ticket=self.ticket, block_migration=True, key='copy')

    def call(self, method, **kwargs):
        """Ask the source, as RPC would."""
        return getattr(self.cell.answers, method)(
            self.ctxt, SOURCE, self.cell.instance(self.uuid), move=self.move, **kwargs
        )

    def end(self, how):
        getattr(self.cell.driver, how)(SOURCE, self.uuid, self.move, key=how)

    def test_a_copy_does_not_begin_after_an_abort(self):
        spec = self.cell.driver.get_guest(SOURCE, self.uuid).spec
        prepared = self.cell.driver.pre_live_migration(DEST, spec, self.move, key='p')
        self.ticket = prepared.result['ticket']
        self.end('abort_live_migration')
        self.assertRaises(exception.LiveMigrationAborted, self.copy)

    def test_nothing_stays_when_post_copy_ends_during_the_call(self):
        self.begin()
        self.end('force_complete_live_migration')
        while 'handover' not in self.copy():
            pass
        self.assertIn('departed', str(self.cell.guests()[self.uuid]))
        self.assertEqual(
            {'done': True, 'dropped': True}, self.call('post_live_migration', key='clean')
        )
        self.assertNotIn('departed', str(self.cell.guests()[self.uuid]))

    def test_hypervisor_that_cannot_abort(self):
        self.begin()
        profile = os.path.join(self.cell.directory, 'behaviour.yaml')
        with open(profile, 'w') as text:
            text.write(ENDLESS.replace('post_copy: true', 'post_copy: true, abort: false'))
        self.cell.driver.use_profile(profile)
        answered = []
        site = self.cell.compute.site
        self.patch(
            site.conductor,
            'live_migration_answered',
            lambda _ctxt, **facts: answered.append((facts['command'], facts['error'])),
        )
        live_source.fulfil(site, self.ctxt, SOURCE, self.uuid, self.move, command=live_source.ABORT)
        ((command, error),) = answered
        self.assertEqual(live_source.ABORT, command)
        self.assertIn(f'The hypervisor of host {SOURCE} cannot abort', error)
        self.assertIn('pending', self.copy())

    def test_an_abort_while_the_call_waits_is_no_failure(self):
        self.begin()
        poll, driver = self.cell.driver.poll, self.cell.driver

        def aborted(job_id):
            self.end('abort_live_migration')
            return poll(job_id)

        self.patch(replies.runtime, 'sleep', lambda seconds: self.patch(driver, 'poll', aborted))
        self.assertRaises(exception.LiveMigrationAborted, self.copy)
