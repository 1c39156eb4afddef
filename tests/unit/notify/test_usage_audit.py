"""instance.exists of a usage audit: once for each server that existed on a host in a period."""

import datetime

import testtools

from nova_lite import context
from nova_lite import runtime
from nova_lite.conf import audit_periods
from nova_lite.db.cell import task_log
from nova_lite.notify import watch
from tests.fixtures import cell
from tests.fixtures import clock
from tests.unit.notify import test_watch

AT = datetime.datetime


class PeriodsTest(testtools.TestCase):
    def test_last(self):
        for setting, before, beginning, ending in (
            ('hour', AT(2026, 3, 5, 7, 20), AT(2026, 3, 5, 6), AT(2026, 3, 5, 7)),
            ('hour', AT(2026, 3, 5, 7), AT(2026, 3, 5, 6), AT(2026, 3, 5, 7)),
            ('hour@30', AT(2026, 3, 5, 0, 20), AT(2026, 3, 4, 22, 30), AT(2026, 3, 4, 23, 30)),
            ('day', AT(2026, 3, 1, 7), AT(2026, 2, 28), AT(2026, 3, 1)),
            ('day@8', AT(2026, 3, 1, 7), AT(2026, 2, 27, 8), AT(2026, 2, 28, 8)),
            ('month', AT(2026, 1, 1), AT(2025, 12, 1), AT(2026, 1, 1)),
            ('month@15', AT(2026, 1, 14), AT(2025, 11, 15), AT(2025, 12, 15)),
            ('year', AT(2026, 1, 14), AT(2025, 1, 1), AT(2026, 1, 1)),
            ('year@4', AT(2026, 1, 14), AT(2024, 4, 1), AT(2025, 4, 1)),
        ):
            with self.subTest(setting, before=before):
                self.assertEqual((beginning, ending), audit_periods.last(setting, before))

    def test_settings_that_are_none(self):
        for setting in (
            'week',
            'hour@60',
            'day@24',
            'month@0',
            'month@29',
            'year@13',
            'month@',
            '',
        ):
            self.assertRaises(ValueError, audit_periods.begin, setting, AT(2026, 1, 1))


class AuditTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(clock.ManualClock())
        self.cell = self.useFixture(cell.Cell())
        conf = self.cell.conf
        conf.set_override('instance_usage_audit', True)
        conf.set_override('instance_usage_audit_period', 'hour')
        conf.set_override('notification_format', 'both', group='notifications')
        self.notifier = test_watch.Notifier(conf)
        self.cell.db.watcher = watch.Watcher(conf, self.notifier)
        self.cell.conductor.beat(context.admin(), [*self.cell.hosts], 1)

    def audit(self):
        """{server: (publisher, period)} of the notifications of an audit."""
        self.notifier.kept.clear()
        (run,) = [method for _s, method in self.cell.conductor.periodics()][1:]
        run()
        self.assertLessEqual({*self.notifier.types()}, {'instance.exists'})
        found = {}
        for _host, body, older in self.notifier.kept:
            data = body['payload']['nova_object.data']
            period = data['audit_period']['nova_object.data']
            self.assertEqual('compute.instance.exists', older['event_type'])
            self.assertEqual(data['uuid'], older['payload']['instance_id'])
            self.assertNotIn(data['uuid'], found)
            found[data['uuid']] = (body['publisher_id'], *period.values())
        return found

    def test_servers_of_a_period(self):
        """Also those that were deleted in it, but not those of the next one."""
        self.clock.advance(60)
        first, second, third = (self.cell.boot(hosts=(f'host-{n}',)) for n in (1, 2, 1))
        self.cell.delete(third)
        self.clock.advance(3600)
        deleted = self.cell.boot()
        self.cell.delete(deleted)
        found = self.audit()
        self.assertEqual({first, second, third}, {*found})
        self.assertEqual(
            {'nova-compute:host-1', 'nova-compute:host-2'}, {each[0] for each in found.values()}
        )
        beginning, ending = (AT.fromisoformat(text) for text in found[first][1:])
        self.assertEqual(datetime.timedelta(hours=1), ending - beginning)
        self.assertEqual(beginning.hour, self.cell.row(first).launched_at.hour)
        self.assertEqual({}, self.audit())
        self.clock.advance(3600)
        self.assertEqual({first, second, deleted}, {*self.audit()})
        self.clock.advance(3600)
        self.assertEqual({first, second}, {*self.audit()})

    def test_the_record(self):
        self.cell.boot()
        self.clock.advance(3600)
        self.audit()
        setting = self.cell.conf.instance_usage_audit_period
        period = audit_periods.last(setting, runtime.naive_now())
        found = self.cell.db.read(task_log.of_period, period)
        self.assertEqual(
            [('host-1', 'DONE', 1, 0), ('host-2', 'DONE', 0, 0), ('host-3', 'DONE', 0, 0)],
            [(row.host, row.state, row.task_items, row.errors) for row in found],
        )
        self.assertRaises(
            task_log.AlreadyAudited, self.cell.db.write, task_log.audit, 'host-1', period
        )

    def test_a_period_is_not_audited_again_after_a_purge(self):
        self.cell.boot()
        self.clock.advance(3600)
        self.assertNotEqual({}, self.audit())
        began = runtime.naive_now()
        self.assertEqual(0, self.cell.db.write(task_log.purge))
        self.assertEqual({}, self.audit())
        self.clock.advance(3600)
        self.assertNotEqual({}, self.audit())
        self.assertEqual(0, self.cell.db.write(task_log.purge, began))
        self.assertEqual(3, self.cell.db.write(task_log.purge))

    def test_a_purge_before_the_first_audit(self):
        self.assertEqual(0, self.cell.db.write(task_log.purge))

    def test_two_conductors(self):
        """One that was slower finds that the other has audited the host."""
        self.cell.boot()
        self.clock.advance(3600)
        read = self.cell.db.read
        self.audit()
        self.addCleanup(setattr, self.cell.db, 'read', read)
        self.cell.db.read = lambda function, *args, **kwargs: (
            [] if function is task_log.of_period else read(function, *args, **kwargs)
        )
        self.assertEqual({}, self.audit())

    def test_none_without_the_option(self):
        self.cell.conf.set_override('instance_usage_audit', False)
        self.assertEqual(1, len(self.cell.conductor.periodics()))
