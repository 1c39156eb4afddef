"""The rules that are asked after each commit, on databases with a few rows."""

import json
import sqlite3

import testtools

from nova_lite.states import transitions
from tests.sim.oracle import changing
from tests.sim.oracle import limits
from tests.sim.oracle import mapped
from tests.sim.oracle import placing

TRAIT = 'CUSTOM_LICENSED'


def cell(*servers):
    """The database of a cell.

    servers: (uuid, host, group, traits required, deleted, vm_state, more columns ...)
    """
    connection = sqlite3.connect(':memory:')
    connection.execute(
        'CREATE TABLE instances '
        '(uuid, host, group_uuid, flavor, deleted, vm_state, task_state, deleted_at)'
    )
    for uuid, host, group, traits, deleted, state, *more in servers:
        flavor = {'extra_specs': {f'trait:{trait}': 'required' for trait in traits}}
        connection.execute(
            'INSERT INTO instances VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
            [uuid, host, group, json.dumps(flavor), deleted, state, *(more or (None, None))],
        )
    return connection


def api(accepted=(), leaving=()):
    """The API database with build requests, (uuid, withdrawn), and servers that are deleted."""
    connection = sqlite3.connect(':memory:')
    connection.execute('CREATE TABLE build_requests (instance_uuid, withdrawn)')
    connection.execute('CREATE TABLE instance_mappings (instance_uuid, queued_for_delete)')
    connection.executemany('INSERT INTO build_requests VALUES (?, ?)', accepted)
    connection.executemany('INSERT INTO instance_mappings VALUES (?, 1)', [[u] for u in leaving])
    return connection


def _told(look, *, hidden=False, launched_on='host', **vm_states):
    """Return what `look` finds of servers at rest in a cell."""
    made = sqlite3.connect(':memory:')
    made.execute(
        'CREATE TABLE instances (uuid, vm_state, task_state, deleted, hidden, launched_on)'
    )
    rows = [(uuid, vm_state, hidden, launched_on) for uuid, vm_state in vm_states.items()]
    made.executemany('INSERT INTO instances VALUES (?, ?, NULL, 0, ?, ?)', rows)
    return look({'cell1': made})


class RulesTestCase(testtools.TestCase):
    def test_states_change_as_the_table_has_it(self):
        for before, after in (
            (('active', None), ('active', 'powering-off')),
            (('active', 'powering-off'), ('stopped', None)),
            (('active', 'powering-off'), ('active', 'deleting')),
            (('active', 'reboot_started'), ('active', 'rebooting_hard')),
            (('active', 'resize_migrating'), ('active', 'resize_finish')),
            (('active', 'resize_finish'), ('resized', None)),
            (('active', 'resize_finish'), ('error', None)),
            (('resized', None), ('active', None)),
            (('resized', 'resize_reverting'), ('stopped', None)),
            (('shelved', 'shelving_offloading'), ('shelved_offloaded', 'shelving_offloading')),
            (('building', 'spawning'), ('building', 'scheduling')),
            (('active', None), ('stopped', None)),
        ):
            self.assertTrue(transitions.is_allowed(before, after), (before, after))

    def test_other_changes_are_none_of_the_table(self):
        for before, after in (
            (('stopped', None), ('stopped', 'pausing')),
            (('stopped', None), ('active', None)),
            (('stopped', None), ('paused', None)),
            (('active', 'powering-off'), ('paused', None)),
            (('active', 'powering-off'), ('active', 'migrating')),
            (('active', None), ('resized', None)),
            (('active', None), ('error', None)),
            (('active', 'resize_finish'), ('resized', 'deleting')),
            (('active', 'deleting'), ('active', 'rebooting')),
            (('rescued', None), ('stopped', None)),
        ):
            self.assertFalse(transitions.is_allowed(before, after), (before, after))

    def test_the_state_of_each_server_is_compared_with_its_last(self):
        look = changing.States()
        self.assertIsNone(_told(look, a='active', b='stopped'))
        self.assertIsNone(_told(look, a='stopped', b='stopped'))
        found = _told(look, a='stopped', b='active', c='active')
        self.assertEqual('b in cell1 went from stopped and None to active and None', found)

    def test_an_administrator_may_have_reset_a_state(self):
        """Also while an offload destroys the guest, which is on record then."""
        for resets, explained in ((('active',), True), ((), False)):
            look = changing.States(lambda _uuid, resets=resets: resets)
            self.assertIsNone(_told(look, a='stopped'))
            self.assertEqual(explained, _told(look, a='active') is None)
            self.assertIsNotNone(_told(look, a='resized'))
            self.assertEqual(explained, _told(look, a='shelved_offloaded') is None)
            self.assertEqual(explained, look._is_of_reset('a', ('active', 'deleting'), built=True))
            self.assertFalse(look._is_of_reset('a', ('active', 'rebooting'), built=True))

    def test_a_build_that_was_reset_may_fail(self):
        for resets, launched_on, explained in (
            (('active',), None, True),
            (('active',), 'host', False),
            ((), None, False),
        ):
            look = changing.States(lambda _uuid, resets=resets: resets)
            self.assertIsNone(_told(look, launched_on=launched_on, a='active'))
            found = _told(look, launched_on=launched_on, a='error')
            self.assertEqual(explained, found is None)

    def test_a_completed_live_migration_leaves_no_error(self):
        for vm_state, resets, passing in (
            ('active', (), True),
            ('error', (), False),
            ('error', ('error',), True),
        ):
            database = cell()
            database.executescript(
                'ALTER TABLE instances ADD COLUMN hidden;'
                'CREATE TABLE migrations (uuid, instance_uuid, migration_type, status);'
                f"INSERT INTO instances (uuid, vm_state, deleted, hidden) VALUES ('a', '{vm_state}', 0, 0);"
                "INSERT INTO migrations VALUES ('m', 'a', 'live-migration', 'running');"
            )
            look = changing.Arrivals(lambda _uuid, resets=resets: resets)
            self.assertIsNone(look({'cell1': database}))
            database.execute("UPDATE migrations SET status = 'completed'")
            self.assertEqual(passing, look({'cell1': database}) is None, (vm_state, resets))
            # A later error belongs to another request.
            database.execute("UPDATE instances SET vm_state = 'error'")
            self.assertIsNone(look({'cell1': database}))

    def test_a_hidden_copy_is_not_followed(self):
        look = changing.States()
        self.assertIsNone(_told(look, a='stopped'))
        self.assertIsNone(_told(look, hidden=True, a='active'))
        self.assertIsNone(_told(look, a='resized'))

    def test_members_of_a_group_are_apart(self):
        one = ('a', 'host1', 'group', (), 0, 'active')
        other = ('b', 'host1', 'group', (), 0, 'active')
        self.assertIsNone(placing.anti_affinity(1)({'cell1': cell(one), 'cell2': cell(other)}))
        for passing in (
            ('b', 'host2', 'group', (), 0, 'active'),
            ('b', 'host1', 'other', (), 0, 'active'),
            ('b', 'host1', 'group', (), 1, 'active'),
            ('b', 'host1', 'group', (), 0, 'building'),
            ('b', 'host1', 'group', (), 0, 'active', 'deleting', None),
            ('b', 'host1', 'group', (), 0, 'soft-delete', None, 'T1'),
        ):
            self.assertIsNone(placing.anti_affinity(1)({'cell1': cell(one, passing)}))
        found = placing.anti_affinity(1)({'cell1': cell(one, other)})
        self.assertEqual('2 members of anti-affinity group group on host1', found)

    def test_a_host_may_have_more_members_than_one(self):
        members = [(name, 'host1', 'group', (), 0, 'active') for name in 'abc']
        look = placing.anti_affinity(2)
        self.assertIsNone(look({'cell1': cell(*members[:2])}))
        found = look({'cell1': cell(*members)})
        self.assertEqual('3 members of anti-affinity group group on host1', found)

    def test_members_of_a_group_are_together(self):
        one = ('a', 'host1', 'group', (), 0, 'active')
        away = ('b', 'host2', 'group', (), 0, 'active')
        self.assertIsNone(placing.affinity({'cell1': cell(one), 'cell2': cell(one)}))
        for passing in (
            ('b', 'host2', 'other', (), 0, 'active'),
            ('b', 'host2', 'group', (), 1, 'active'),
            ('b', 'host2', 'group', (), 0, 'building'),
            ('b', 'host2', 'group', (), 0, 'active', 'deleting', None),
        ):
            self.assertIsNone(placing.affinity({'cell1': cell(one, passing)}))
        found = placing.affinity({'cell1': cell(one), 'cell2': cell(away)})
        self.assertEqual('members of affinity group group on host2 and on host1', found)

    def test_what_a_server_needs_is_claimed_where_it_is(self):
        one, claims = sqlite3.connect(':memory:'), sqlite3.connect(':memory:')
        one.execute('CREATE TABLE instances (uuid, host, node, deleted, vm_state, task_state)')
        rows = [
            ('a', 'active', 'h1', None),
            ('b', 'active', 'h1', 'deleting'),
            ('c', 'building', 'h1', None),
            ('d', 'shelved_offloaded', None, None),
        ]
        for uuid, state, host, task in rows:
            values = [uuid, host, host, state, task]
            one.execute('INSERT INTO instances VALUES (?, ?, ?, 0, ?, ?)', values)
        claims.execute('CREATE TABLE allocations (consumer_id, resource_provider_id)')
        claims.execute('CREATE TABLE resource_providers (id, name)')
        claims.execute("INSERT INTO resource_providers VALUES (1, 'h1'), (2, 'h2')")
        for provider in (2, 1):
            claims.execute('DELETE FROM allocations')
            claims.execute('INSERT INTO allocations VALUES (?, ?)', ['a', provider])
            found = placing.claimed({'placement': claims, 'cell1': one})
            wrong = 'a is on h1, where nothing is claimed for it' if provider == 2 else None
            self.assertEqual(wrong, found)

    def test_a_server_holds_resources_of_one_host(self):
        def claimed(*rows):
            connection = sqlite3.connect(':memory:')
            connection.execute('CREATE TABLE allocations (consumer_id, resource_provider_id)')
            connection.executemany('INSERT INTO allocations VALUES (?, ?)', rows)
            return placing.single_claims({'placement': connection})

        # Several kinds of resources, and those of its source, which its move holds.
        self.assertIsNone(claimed(('a', 1), ('a', 1), ('move of a', 2), ('b', 2)))
        self.assertEqual('a holds resources of 2 hosts', claimed(('a', 1), ('a', 2)))

    def test_an_isolated_host_takes_who_asks_for_its_trait(self):
        look = placing.isolation('host1', TRAIT)
        passing = [
            ('a', 'host1', None, (TRAIT,), 0, 'active'),
            ('b', 'host2', None, (), 0, 'active'),
            ('c', 'host1', None, (), 0, 'error'),
        ]
        self.assertIsNone(look({'cell1': cell(*passing)}))
        found = look({'cell1': cell(*passing, ('d', 'host1', None, ('OTHER',), 0, 'active'))})
        self.assertEqual(f'd is on host1, which is isolated for {TRAIT}', found)

    def test_a_project_has_no_more_than_its_quota(self):
        look = limits.servers(2)
        there = [(name, 'host1', None, (), 0, 'active') for name in 'ab']
        gone = ('c', 'host1', None, (), 1, 'active')
        # A server is in both databases while it is handed over.
        accepted = [('b', 0), ('d', 1)]
        self.assertIsNone(look({'api': api(accepted), 'cell1': cell(*there, gone)}))
        found = look({'api': api([('d', 0)]), 'cell1': cell(*there)})
        self.assertEqual('3 servers with a quota of 2', found)
        leaving = {'api': api([('d', 0)], leaving='a'), 'cell1': cell(*there)}
        self.assertIsNone(look(leaving))
        # It was being recorded in its cell when its build request was withdrawn.
        withdrawn = {'api': api([('a', 1), ('d', 0)]), 'cell1': cell(*there)}
        self.assertIsNone(look(withdrawn))


class MappedTestCase(testtools.TestCase):
    """A server of cell 1 is on `host`."""

    def found(self, *, cells=(1,), hosts=(('host', 1),), servers=(('server', 1),)):
        databases = {name: sqlite3.connect(':memory:') for name in ('api', 'cell1')}
        for name, statement in (
            ('api', 'CREATE TABLE cell_mappings (id)'),
            ('api', 'CREATE TABLE host_mappings (host, cell_id)'),
            ('api', 'CREATE TABLE instance_mappings (instance_uuid, cell_id)'),
            ('cell1', 'CREATE TABLE instances (uuid, host, deleted, hidden)'),
            ('cell1', "INSERT INTO instances VALUES ('server', 'host', 0, 0)"),
        ):
            databases[name].execute(statement)
        for table, rows in (
            ('cell_mappings', [[each] for each in cells]),
            ('host_mappings', hosts),
            ('instance_mappings', servers),
        ):
            for row in rows:
                marks = ', '.join('?' * len(row))
                databases['api'].execute(f'INSERT INTO {table} VALUES ({marks})', row)
        return mapped.mapped(databases)

    def test_all_is_mapped(self):
        self.assertIsNone(self.found())

    def test_a_build_maps_its_server_later(self):
        self.assertIsNone(self.found(hosts=(), servers=(('server', None),)))

    def test_a_host_with_servers_is_not_mapped(self):
        self.assertEqual('server is on host, which is not mapped', self.found(hosts=()))

    def test_a_cell_does_not_exist(self):
        text = '%s is mapped to a cell that does not exist'
        self.assertEqual(text % 'host', self.found(cells=()))
        self.assertEqual(text % 'server', self.found(cells=(), hosts=()))
