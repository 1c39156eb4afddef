"""Each invariant finds its damage in a small nova, and nothing else."""

import datetime

import testtools

from nova_lite import runtime
from nova_lite.lab.audit import catalogue
from nova_lite.lab.audit import command
from nova_lite.lab.audit import settings
from nova_lite.verify import age_limits
from tests.unit.lab.audit import base

AGES = age_limits.AgeLimits(work=3600.0)
OLD = runtime.naive_now() - datetime.timedelta(days=1)


def _server(nova, cell, **values):
    """Add a server that has everything but volumes and ports."""
    row = {'uuid': base.GONE, 'vm_state': 'active', 'host': None, 'hidden': False, **values}
    nova.add(cell, 'instances', **row)


def _known(nova, cell_id=3):
    nova.add('api', 'instance_mappings', instance_uuid=base.GONE, cell_id=cell_id,
             queued_for_delete=False, created_at=OLD)  # fmt: skip
    nova.add('api', 'request_specs', instance_uuid=base.GONE, spec='{}')


def _migration(nova, **values):
    row = {'uuid': base.MOVE, 'instance_uuid': base.SERVER, 'migration_type': 'resize'}
    row |= {'source_compute': 'host-2', 'source_node': 'node-2', 'status': 'finished'}
    nova.add('cell1', 'migrations', **row | values)


def _mapped_but_deleted(nova):
    _known(nova)
    _server(nova, 'cell2', deleted=5)


def _mapped_but_archived(nova):
    _known(nova)
    nova.add('cell2', 'shadow_instances', uuid=base.GONE, deleted=5)


def _two_cells(nova):
    _server(nova, 'cell2', uuid=base.SERVER)


def _unmapped(nova):
    _server(nova, 'cell2')
    nova.add('api', 'request_specs', instance_uuid=base.GONE, spec='{}')


def _hidden(nova):
    _server(nova, 'cell2', uuid=base.SERVER, hidden=True)


def _without_spec(nova):
    _known(nova)
    nova.run('api', 'DELETE FROM request_specs WHERE instance_uuid = :uuid', uuid=base.GONE)
    _server(nova, 'cell2')


def _device_left(nova):
    nova.add('cell2', 'block_device_mapping', uuid='left', instance_uuid=base.GONE)


def _host_elsewhere(nova):
    nova.run('api', "UPDATE host_mappings SET cell_id = 2 WHERE host = 'host-2'")


def _host_twice(nova):
    nova.add('cell2', 'services', host='host-1', binary='nova-compute')


def _node_left(nova):
    nova.add('cell2', 'compute_nodes', uuid=base.OTHER_NODE, host='old', hypervisor_hostname='old')


def _service_up(nova):
    nova.add('cell2', 'services', host='new', binary='nova-compute',
             last_seen_up=runtime.naive_now())  # fmt: skip


def _renamed(nova):
    nova.run('cell1', "UPDATE instances SET node = 'old'")


def _moved_claim(nova):
    nova.services.allocations[base.OTHER_NODE][base.SERVER] = dict(base.HELD)


def _offloaded(nova):
    _known(nova)
    _server(nova, 'cell2', vm_state='shelved_offloaded')
    nova.services.allocations[base.OTHER_NODE][base.GONE] = dict(base.HELD)


def _orphan(nova):
    nova.services.allocations[base.OTHER_NODE][base.GONE] = dict(base.HELD)


def _migration_over(nova):
    _migration(nova, status='confirmed')
    nova.services.allocations[base.OTHER_NODE][base.MOVE] = dict(base.HELD)


def _volume(**values):
    return lambda nova: nova.services.volumes[0].update(values)


def _attachment(nova, **values):
    nova.services.attachments.append({'id': 'left', 'volume_id': base.VOLUME, **values})


def _task(**values):
    def damage(nova):
        columns = ', '.join(f'{name} = :{name}' for name in values)
        nova.run('cell1', f'UPDATE instances SET {columns}, updated_at = :old', **values, old=OLD)

    return damage


def _sql(database, statement):
    return lambda nova: nova.run(database, statement)


# {id of an invariant: damages, each with that finding alone}
DAMAGES = {
    'R1': (_mapped_but_deleted, _mapped_but_archived),
    'R2': (_known,),
    'R3': (_sql('api', 'UPDATE instance_mappings SET cell_id = 3'),),
    'R4': (_unmapped,),
    'R5': (_two_cells,),
    'R6': (_hidden,),
    'R7': (lambda nova: nova.add('api', 'build_requests', instance_uuid=base.SERVER),),
    'R8': (lambda nova: _known(nova, cell_id=None),),
    'R9': (
        lambda nova: nova.add('api', 'build_requests', instance_uuid=base.GONE, created_at=OLD),
    ),
    'R10': (_without_spec,),
    'R11': (lambda nova: nova.add('api', 'request_specs', instance_uuid=base.GONE, spec='{}'),),
    'R12': (_device_left,),
    'H1': (lambda nova: nova.add('api', 'host_mappings', host='old', cell_id=2),),
    'H2': (_host_elsewhere,),
    'H3': (_sql('api', "DELETE FROM host_mappings WHERE host = 'host-2'"),),
    'H4': (_host_twice,),
    'H5': (_node_left,),
    'H6': (_service_up,),
    'H7': (_renamed,),
    'H8': (lambda nova: nova.add('api', 'aggregate_hosts', aggregate_id=7, host='old'),),
    'H9': (lambda nova: nova.services.providers.pop(base.OTHER_NODE),),
    'H10': (_sql('cell2', 'UPDATE compute_nodes SET deleted = id'),),
    'H11': (lambda nova: nova.services.aggregates[base.NODE].clear(),),
    'H12': (lambda nova: nova.services.aggregates[base.OTHER_NODE].append(base.AGGREGATE),),
    'P1': (lambda nova: nova.services.allocations[base.NODE].clear(),),
    'P2': (lambda nova: nova.services.allocations[base.NODE][base.SERVER].update(MEMORY_MB=64),),
    'P3': (_moved_claim,),
    'P4': (_offloaded,),
    'P5': (_orphan,),
    'P6': (_migration_over,),
    'V1': (lambda nova: nova.services.attachments.clear(),),
    'V2': (lambda nova: _attachment(nova, instance=base.SERVER),),
    'V3': (lambda nova: _attachment(nova, instance=base.GONE),),
    'V4': (lambda nova: nova.services.volumes.clear(),),
    'V5': (_volume(status='available'), _volume(status='error')),
    'N1': (lambda nova: nova.services.ports[0].update(device_id=base.GONE),),
    'N2': (
        lambda nova: nova.services.ports[0].update({'binding:host_id': 'host-2'}),
        lambda nova: nova.services.ports[0].update({'binding:host_id': ''}),
    ),
    'T1': (_task(task_state='migrating'),),
    'T2': (_task(vm_state='building'),),
    'T3': (lambda nova: _migration(nova, status='migrating', updated_at=OLD),),
    'T4': (_migration,),
    'T5': (_task(vm_state='resized'),),
}
# Other invariants that a damage breaks.
BESIDES = {'H10': {'H6'}}


class InvariantsTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.nova = self.useFixture(base.Nova())

    def audit(self, ages=AGES):
        """Return ({id, ...}, the Checker)."""
        verdict, checker = command.audit(
            settings.read(self.nova.conf), settle_s=0, ages=ages, say=lambda text: None
        )
        self.found = verdict.findings
        return {finding.invariant for finding in verdict.findings}, checker

    def test_undamaged(self):
        self.assertEqual(set(), self.audit()[0], self.found)
        self.assertEqual({'GET'}, self.nova.services.methods)

    def test_each_provider_has_its_command(self):
        uuids = (base.NODE, base.OTHER_NODE)
        for uuid in uuids:
            self.nova.services.allocations[uuid] = {base.GONE: {'VCPU': 1}}
        _migration(self.nova, status='error')
        for uuid in uuids:
            self.nova.services.allocations[uuid][base.MOVE] = {'VCPU': 1}
        nested = {'uuid': 'nested', 'name': 'nested', 'root_provider_uuid': base.OTHER_NODE}
        self.nova.services.providers['nested'] = {**nested, 'generation': 1}
        for uuid in (base.OTHER_NODE, 'nested'):
            self.nova.services.allocations.setdefault(uuid, {})[base.SERVER] = {'VCPU': 1}
        _ids, checker = self.audit()
        for invariant, providers in (
            ('P3', (base.OTHER_NODE, 'nested')),
            ('P5', uuids),
            ('P6', uuids),
        ):
            found = [each for each in self.found if each.invariant == invariant]
            self.assertEqual(2, len(found), self.found)
            for provider in providers:
                [finding] = [each for each in found if provider in each.detail]
                self.assertIn(provider, checker.remedies[finding])

    def test_every_invariant_has_a_damage(self):
        self.assertEqual([each.id for each in catalogue.every()], list(DAMAGES))


def _test(invariant, damage):
    def test(self):
        damage(self.nova)
        found, checker = self.audit()
        self.assertEqual({invariant} | BESIDES.get(invariant, set()), found, self.found)
        # Placeholders are filled, and nothing is left to guess.
        for text in checker.remedies.values():
            self.assertNotIn('{', text)
            self.assertTrue(text)

    return test


for _id, _damages in DAMAGES.items():
    for _number, _damage in enumerate(_damages):
        setattr(InvariantsTest, f'test_{_id}_{_number}', _test(_id, _damage))
