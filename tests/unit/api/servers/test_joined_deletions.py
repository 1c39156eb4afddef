"""Deletions of different requests that are accepted together, and what one may do to the others."""

import functools

from nova_lite import context
from nova_lite import exception
from nova_lite.api.servers import delete
from nova_lite.db import rows
from nova_lite.db.api import instance_mappings
from nova_lite.db.cell import actions
from nova_lite.db.cell import deletions
from nova_lite.db.cell import instances
from tests.fixtures import combining
from tests.unit.api.servers import base


class TestTogether(base.Case):
    """Servers on two hosts that are up."""

    def setUp(self):
        super().setUp()
        self.api.add_host('host2')
        hosts = ('host1', 'host1', 'host2')
        self.uuids = [self.api.add_server(host=host, node=host) for host in hosts]
        self.cell = self.api.cell('cell1')
        self.writes = []
        self.count(self.cell.db, self.api.api_db)

    def count(self, *databases):
        for database in databases:
            write = database.write

            def counted(function, *args, write=write, **kwargs):
                self.writes.append(function.__name__)
                return write(function, *args, **kwargs)

            database.write = counted
            self.addCleanup(setattr, database, 'write', write)

    def delete(self, *uuids):
        """Return the results or errors of deletions that meet."""
        joint, self.contexts = self.api.app.deletions, []
        calls = []
        for uuid in uuids:
            ctxt = context.RequestContext(user_id='alice', project_id='alpha', overwrite=False)
            self.contexts.append(ctxt)
            request = deletions.Request(ctxt, self.api.row(uuid), delete.NOT_RESIZED)
            calls.append(functools.partial(joint.accept, self.cell, request))
        # Each of them is as it was when its request has read it.
        self.meanwhile()
        key = (self.cell.uuid, *self.cell.urls)
        return combining.together(joint.combiner, calls, key=key)

    def meanwhile(self):
        """Change what the requests have read."""

    def assert_accepted(self, *uuids):
        for uuid in uuids:
            self.assertEqual('deleting', self.api.row(uuid).task_state)
            mapping = self.api.api_db.read(instance_mappings.get, uuid)
            self.assertTrue(mapping.queued_for_delete)

    def test_one_transaction_of_each_database_and_one_message_to_each_host(self):
        found = self.delete(*self.uuids)
        self.assertEqual(self.uuids, [each.row.uuid for each in found])
        self.assertEqual([True] * 3, [each.answers for each in found])
        self.assertEqual(['accept', 'set_queued_for_delete'], self.writes)
        self.assert_accepted(*self.uuids)
        for ctxt, uuid in zip(self.contexts, self.uuids, strict=True):
            action = self.cell.db.read(actions.get, uuid, ctxt.request_id)
            self.assertEqual(('delete', 'alice'), (action.action, action.user_id))
        (both, first), (single, second) = self.sent()
        self.assertEqual(('delete_instances', 'host1'), (both, first['host']))
        self.assertEqual(
            [
                (ctxt.request_id, uuid)
                for ctxt, uuid in zip(self.contexts[:2], self.uuids[:2], strict=True)
            ],
            [(each['context']['request_id'], each['instance'].uuid) for each in first['deletions']],
        )
        self.assertEqual(('delete_instance', 'host2'), (single, second['host']))
        self.assertEqual(self.uuids[2], second['instance'].uuid)

    def test_one_that_has_moved_is_refused_alone(self):
        moved = self.uuids[1]
        self.meanwhile = lambda: self.cell.db.write(instances.force, moved, {'host': 'host2'})
        first, second, third = self.delete(*self.uuids)
        self.assertIsInstance(second, exception.StateChanged)
        self.assertEqual([True] * 2, [each.answers for each in (first, third)])
        self.assert_accepted(self.uuids[0], self.uuids[2])
        self.assertIsNone(self.api.row(moved).task_state)
        found = self.cell.db.read(rows.every, actions.ACTIONS)
        self.assertEqual({self.uuids[0], self.uuids[2]}, {each.instance_uuid for each in found})
        self.assertEqual(2, len(found))

    def test_one_that_is_deleted_is_not_found(self):
        gone = self.uuids[0]
        self.meanwhile = lambda: self.cell.db.write(instances.mark_deleted, gone)
        first, *others = self.delete(*self.uuids)
        self.assertIsInstance(first, exception.InstanceNotFound)
        self.assertEqual(self.uuids[1:], [each.row.uuid for each in others])
        self.assert_accepted(*self.uuids[1:])

    def test_a_server_twice(self):
        """Both requests have an action, and their host gets both."""
        self.delete(self.uuids[0], self.uuids[0])
        self.assert_accepted(self.uuids[0])
        self.assertEqual(2, len(self.cell.db.read(rows.every, actions.ACTIONS)))
        ((method, arguments),) = self.sent()
        self.assertEqual(('delete_instances', 2), (method, len(arguments['deletions'])))

    def test_a_host_that_is_down_is_sent_nothing(self):
        lost = self.api.add_server(host='nowhere', node='nowhere')
        found = self.delete(lost, self.uuids[2])
        self.assertEqual([False, True], [each.answers for each in found])
        self.assertEqual(['host2'], [arguments['host'] for _method, arguments in self.sent()])

    def test_a_bus_that_does_not_answer(self):
        """The audits of the hosts find the deletions."""
        silent = exception.Unavailable(service='The bus', reason='test')
        self.api.compute['cell1'].answers['delete_instances'] = silent
        found = self.delete(*self.uuids)
        self.assertEqual([True] * 3, [each.answers for each in found])
        self.assert_accepted(*self.uuids)
        # The other host gets its message.
        self.assertEqual('delete_instance', self.sent()[-1][0])

    def test_a_commit_whose_result_is_unknown(self):
        """Each request ends with that error, and none is made again."""
        lost = exception.Unavailable(service='The database', reason='test', may_have_committed=True)
        write = self.cell.db.write

        def commit(*args, **kwargs):
            write(*args, **kwargs)
            raise lost

        self.cell.db.write = commit
        self.assertEqual([lost] * 3, self.delete(*self.uuids))
        self.assertEqual(['accept'], self.writes)
        self.assertEqual([], self.sent())


class TestCost(base.Case):
    def test_a_deletion_alone_reads_the_server_once(self):
        uuid = self.api.add_server()
        reads, read = [], self.api.cell('cell1').db.read
        self.api.cell('cell1').db.read = lambda function, *args, **kwargs: (
            reads.append(function) or read(function, *args, **kwargs)
        )
        self.ok('DELETE', f'/servers/{uuid}', code=204)
        self.assertEqual(1, len(reads))
        self.assertEqual('deleting', self.api.row(uuid).task_state)
