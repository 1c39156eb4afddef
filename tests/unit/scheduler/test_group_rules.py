"""Hosts of members of server groups, for each policy and place of the other members.

The rules are written here once more, as nova has them: an affinity group is where its members
are, the one that is to move included; a host has no more than so many members of an
anti-affinity group, but the one that is to move may stay on its host. Besides, both ends of
the open moves of others count (decision 0011). They are compared with the scheduler's
filters, and with the check in the transaction that assigns the host.
"""

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import server_groups
from nova_lite.db.cell import group_places
from nova_lite.scheduler import filters
from nova_lite.scheduler import groups
from nova_lite.scheduler import host_states
from nova_lite.scheduler import scheduling_request
from tests.unit.scheduler import base
from tests.unit.scheduler import cloud

GROUPS = server_groups.TABLE
HOSTS = ('a', 'b', 'c')
POLICIES = (('affinity', 1), ('anti-affinity', 1), ('anti-affinity', 2))


class Member:
    """A member in some state, and the hosts on which it counts by nova's rules.

    own: columns of its record; move: columns of a migration
    placed: a host that the scheduler has just chosen for it; dies: its deletion was accepted
    """

    def __init__(self, counts, *, move=None, placed=None, dies=None, **own):
        self.counts, self.move, self.placed, self.dies, self.own = counts, move, placed, dies, own


def move(kind, status, source, dest):
    return {'migration_type': kind, 'status': status, 'source_compute': source,
            'source_node': source, 'dest_compute': dest, 'dest_node': dest}  # fmt: skip


OTHERS = {
    'none': None,
    'at rest': Member('b', host='b'),
    'beside it': Member('a', host='a'),
    'in error': Member('b', host='b', vm_state='error'),
    'off': Member('b', host='b', vm_state='stopped'),
    'deleted': Member('', host='b', deleted=True),
    'being deleted': Member('', host='b', task_state='deleting', dies=True),
    'softly deleted': Member('', host='b', vm_state='soft-delete', dies=True),
    'offloaded': Member('', vm_state='shelved_offloaded'),
    'shelved': Member('b', host='b', vm_state='shelved'),
    'being built': Member('b', host='b', vm_state='building', task_state='spawning'),
    'placed for its build': Member('b', vm_state='building', task_state='scheduling', placed='b'),
    'failed to build': Member('', vm_state='error', placed='b'),
    'placed for its move': Member('bc', host='b', task_state='resize_prep', placed='c'),
    'failed to move': Member('b', host='b', placed='c'),
    'placed to be unshelved': Member(
        'b', vm_state='shelved_offloaded', task_state='unshelving', placed='b'
    ),
    'not unshelved': Member('', vm_state='shelved_offloaded', placed='b'),
    'being copied': Member(
        'bc', host='b', task_state='migrating', move=move('live-migration', 'running', 'b', 'c')
    ),
    'not confirmed': Member(
        'bc', host='c', vm_state='resized', move=move('resize', 'finished', 'b', 'c')
    ),
    'asked to be evacuated': Member(
        'b', host='b', task_state='rebuilding', move=move('evacuation', 'accepted', 'b', 'c')
    ),
    'being evacuated': Member(
        'bc', host='b', task_state='rebuilding', move=move('evacuation', 'pre-migrating', 'b', 'c')
    ),
    'was evacuated': Member('c', host='c', move=move('evacuation', 'done', 'b', 'c')),
    'was not evacuated': Member('b', host='b', move=move('evacuation', 'error', 'b', 'c')),
}  # fmt: skip
# What is done with the member for which a host is chosen; all but builds from host a.
OWN = {
    'build': Member('', vm_state='building', task_state='scheduling'),
    'build again': Member('', vm_state='building', task_state='scheduling', placed='b'),
    'unshelve': Member('', vm_state='shelved_offloaded', task_state='unshelving'),
    'resize': Member('a', host='a', task_state='resize_prep',
                     move=move('resize', 'pre-migrating', 'a', None)),
    'resize again': Member('a', host='a', task_state='resize_prep', placed='b',
                           move=move('resize', 'pre-migrating', 'a', 'b')),
    'live migration': Member('a', host='a', task_state='migrating',
                             move=move('live-migration', 'accepted', 'a', None)),
    'forced to another host before': Member('a', host='a', task_state='migrating',
                                            move=move('live-migration', 'accepted', 'a', 'c')),
    'evacuation': Member('a', host='a', task_state='rebuilding',
                         move=move('evacuation', 'accepted', 'a', None)),
    'evacuation to b': Member('a', host='a', task_state='rebuilding',
                              move=move('evacuation', 'accepted', 'a', 'b')),
    'evacuation to b again': Member('a', host='a', task_state='rebuilding', placed='b',
                                    move=move('evacuation', 'pre-migrating', 'a', 'b')),
}  # fmt: skip


def allowed(policy, most, own, others):
    """Return the hosts to which nova would let the member go."""
    used = {host for other in others for host in other.counts}
    if policy == 'affinity':
        return (used | set(own.counts)) or set(HOSTS)
    if policy == 'anti-affinity':
        crowd = {host: sum(host in other.counts for other in others) for host in HOSTS}
        return {host for host in HOSTS if host in own.counts or crowd[host] < most}
    raise ValueError(policy)


def change_group(connection, uuid, policy, most):
    """Give a group another policy."""
    values = {'policy': policy, 'rules': {'max_server_per_host': most}}
    connection.execute(GROUPS.update().where(GROUPS.c.uuid == uuid).values(**values))


class GroupRulesTest(cloud.CloudTestCase):
    def setUp(self):
        super().setUp()
        for host in HOSTS:
            self.add_host(host)
        self.states = host_states.HostStates(self.conf, self.cells)
        self.rules = filters.load(self.conf)
        self.nodes = self.states.get(self.states.version()).hosts

    def add(self, group_uuid, member):
        """Record a member, and what the scheduler has just chosen for it. Return its uuid."""
        columns = dict(member.own)
        if member.dies:
            columns['deleted_at'] = runtime.naive_now()
        uuid = self.add_server(group_uuid=group_uuid, **columns)
        if member.dies or columns.get('deleted'):
            self.api_db.write(instance_mappings.set_queued_for_delete, [uuid])
        if member.move:
            ends = dict(member.move)
            self.add_migration(
                uuid, ends.pop('source_compute'), ends.pop('dest_compute'),
                **{key: ends[key] for key in ('migration_type', 'status')},
            )  # fmt: skip
        if member.placed:
            spec = base.make_spec(current_host=columns.get('host'))
            node = self.nodes[base.uuid_of(member.placed)]
            wanted = {'allocations': {}, 'mappings': {}}
            self.states.place(uuid, node, base.make_request(spec), wanted)
        return uuid

    def cases(self):
        """Yield (name, own member, other members)."""
        for operation, own in OWN.items():
            for state, other in OTHERS.items():
                yield f'{operation}, other {state}', own, [other] if other else []
            yield f'{operation}, two others', own, [OTHERS['at rest'], OTHERS['being copied']]

    def test_every_policy_operation_and_state_of_another_member(self):
        wrong = []
        for name, own, others in self.cases():
            group_uuid = self.add_group('affinity')
            uuids = [self.add(group_uuid, member) for member in (own, *others)]
            self.join(group_uuid, uuids)
            for policy, most in POLICIES:
                self.api_db.write(change_group, group_uuid, policy, most)
                for problem in self.problems(
                    group_uuid, uuids[0], own, others=others, policy=policy, most=most
                ):
                    wrong.append(f'{name}, {policy} {most}: {problem}')
        self.assertEqual([], wrong)

    def problems(self, group_uuid, uuid, own, *, others, policy, most):
        """Yield differences of the filters and of the check from the rules."""
        expected = allowed(policy, most, own, others)
        found = self.passed_by_filters(group_uuid, uuid, own)
        if found != expected:
            yield f'filters pass {sorted(found)}, not {sorted(expected)}'
        # No move ends where it begins, and there the check has nothing to assign.
        ends = set(HOSTS) - set(own.counts)
        late = self.passed_by_the_check(group_uuid, uuid, policy=policy, most=most, hosts=ends)
        if late != self.late(policy, most, others) & ends:
            yield f'the check passes {sorted(late)}'

    def test_weights_of_soft_policies(self):
        """The member that is to move counts on its host, as in nova, and nowhere else."""
        for operation, own in OWN.items():
            with self.subTest(operation):
                group_uuid = self.add_group('soft-affinity')
                other = OTHERS['at rest']
                uuids = [self.add(group_uuid, member) for member in (own, other)]
                self.join(group_uuid, uuids)
                group, _hosts = self.read(group_uuid, uuids[0], own)
                expected = dict.fromkeys(own.counts + other.counts, 1)
                self.assertEqual(expected, dict(group.members_on))

    @staticmethod
    def late(policy, most, others):
        """Return what nova's check on the host passes: it counts the records of others alone."""
        counted = [Member(other.own.get('host', '')) if other.placed else other for other in others]
        return allowed(policy, most, Member(''), counted)

    def join(self, group_uuid, uuids):
        row = self.api_db.read(cloud.server_groups.get, group_uuid)
        self.api_db.write(cloud.server_groups.add_members, row, uuids)

    def read(self, group_uuid, uuid, own):
        spec = base.make_spec(group_uuid=group_uuid, current_host=own.own.get('host'))
        known = set(groups.NEEDED.values())
        return groups.read(self.cells, self.states, spec, known, own=[uuid])

    def passed_by_filters(self, group_uuid, uuid, own):
        group, hosts_of = self.read(group_uuid, uuid, own)
        spec = base.make_spec(group_uuid=group_uuid, current_host=own.own.get('host'))
        request = scheduling_request.Request(spec, [uuid], group=group, hosts_of=hosts_of)
        refusals = [rule for each in self.rules if (rule := each.rule(request)) is not None]
        return {
            node.host
            for node in self.nodes.values()
            if not any(refuse(node) for refuse in refusals)
        }

    def passed_by_the_check(self, group_uuid, uuid, *, policy, most, hosts):
        group = {'uuid': group_uuid, 'policy': policy, 'rules': {'max_server_per_host': most}}
        passed = set()
        for host in hosts:
            try:
                self.cell_dbs[base.CELL1].write(group_places.check, uuid, host, group)
            except exception.GroupPolicyViolated:
                continue
            passed.add(host)
        return passed
