"""Placement's providers, hosts, groups, work in progress and quota."""

import types

from nova_lite.db.api import models as api_models
from nova_lite.db.cell import models as cell_models
from nova_lite.verify import messaging
from nova_lite.verify import observed
from tests.unit.verify import base

WHAT = 'provider the uuid of host-1 (host-1)'


class ProvidersTest(base.VerifyTest):
    def have(self, **values):
        fields = vars(base.sound())['providers'][base.NODE]
        known = {name: getattr(fields, name) for name in observed.Provider.__dataclass_fields__}
        self.snapshot.providers = {base.NODE: observed.Provider(**{**known, **values})}
        return self.found()

    def test_missing(self):
        self.snapshot.providers = {}
        self.assertEqual([f'I4 {WHAT}: does not exist in placement'], self.found())

    def test_without_a_node(self):
        self.snapshot.providers['stray'] = self.snapshot.providers[base.NODE]
        self.assertEqual(['I5 provider stray (host-1): has no compute node'], self.found())

    def test_aggregates(self):
        self.assertEqual(
            [f"I4 aggregates of {WHAT}: are [] in placement and ['an aggregate'] on record"],
            self.have(aggregates=frozenset()),
        )
        self.snapshot.aggregates[0][1].clear()
        self.assertEqual(
            [f"I4 aggregates of {WHAT}: are ['an aggregate'] in placement and [] on record"],
            self.have(),
        )
        self.assertEqual([], self.have(aggregates=frozenset(('of others',))))

    def test_inventories(self):
        self.assertEqual(
            [f'I4 VCPU of {WHAT}: is 9, on record is 8'],
            self.have(inventories={'VCPU': {'total': 9}}),
        )

    def test_status(self):
        self.cell.services[0].disabled = True
        (found,) = self.found()
        self.assertIn('lacks COMPUTE_STATUS_DISABLED', found)


class MembershipTest(base.VerifyTest):
    def test_host_mapping_without_service(self):
        self.snapshot.host_mappings.append(base.host_mapping('host-9'))
        self.assertEqual(['I5 host mapping host-9: has no compute service in cell1'], self.found())

    def test_service_without_node(self):
        service = base.service('host-2')
        self.cell.services.append(service)
        self.assertEqual(['I5 compute service host-2: is up and has no compute node'], self.found())
        self.cell.down = frozenset(('host-2',))
        self.assertEqual([], self.found())

    def test_service_without_host_mapping(self):
        self.snapshot.host_mappings = []
        self.assertEqual(['I5 host host-1: in cell1 has servers and no mapping'], self.found())

    def test_member_that_is_gone(self):
        group = base.row(api_models.InstanceGroup, uuid='g', policy='soft-affinity', rules={})
        self.snapshot.groups = {'g': (group, {base.SERVER, 'gone'})}
        self.assertEqual(['I5 member gone of group g: does not exist'], self.found())


class WorkTest(base.VerifyTest):
    def test_task_state(self):
        self.set(task_state='pausing')
        self.assertEqual(['I6 server a server: in cell1 is pausing for too long'], self.found())
        self.assertEqual([], self.found(work=7200))

    def test_build_that_nobody_goes_on_with(self):
        self.set(vm_state='building')
        self.assertEqual(['I7 server a server: in cell1 has been BUILD for too long'], self.found())

    def test_saga(self):
        self.snapshot.sagas = [base.saga(created_at=base.LONG_AGO)]
        self.assertEqual(
            ['I6 saga a saga (resize): of server a server has not ended; at s'], self.found()
        )

    def test_saga_that_does_not_get_clean(self):
        """However long its server is free; it may hold the server again, to clean up."""
        duty = {'step': 'unbind', 'alone': True, 'data': {}, 'error': 'Unavailable: why'}
        for active_for in (None, base.SERVER):
            cleans = base.saga(
                active_for=active_for,
                state='cleaning',
                created_at=base.LONG_AGO,
                finished_at=base.LONG_AGO,
                data={'_duties': [duty], '_left': {'unbind': 'why'}},
            )
            self.snapshot.sagas = [cleans]
            self.assertEqual(
                [
                    'I6 saga a saga (resize): of server a server has not finished its cleanup: '
                    'unbind (Unavailable: why)'
                ],
                self.found(),
            )
            cleans.finished_at = base.NOW
            self.assertEqual([], self.found())

    def test_saga_that_left_something(self):
        self.snapshot.sagas = [base.saga(active_for=None, data={'_left': {'x': 'why'}})]
        self.assertEqual([], self.found())
        ended = base.saga(active_for=None, state='done', data={'_left': {'drop binding': 'why'}})
        self.snapshot.sagas = [ended]
        self.assertEqual(
            ['I6 saga a saga (resize): of server a server did not clean up: drop binding'],
            self.found(journal=True),
        )
        ended.data = {'_not_undone': {'plug': 'why'}, '_tries': {'plug': 3}}
        (found,) = self.found(journal=True)
        self.assertIn('did not clean up: plug', found)
        ended.data['_cleaned'] = ['plug']
        self.assertEqual([], self.found(journal=True))
        ended.data['_left'] = {'drop binding': 'why'}
        self.assertEqual(1, len(self.found(journal=True)))
        ended.instance_uuid = 'deleted'
        self.assertEqual([], self.found(journal=True))

    def test_open_event(self):
        self.cell.open_events = [
            types.SimpleNamespace(
                event='compute_stop',
                action='stop',
                instance_uuid=base.SERVER,
                start_time=base.LONG_AGO,
            )
        ]
        self.assertEqual(
            ['I6 event compute_stop of server a server: in cell1 has not ended; action stop'],
            self.found(),
        )
        self.snapshot.sagas = [base.saga()]
        self.assertEqual([], self.found())


class ActionsTest(base.VerifyTest):
    def have(self, action, started_at=base.LONG_AGO):
        row = base.row(
            cell_models.InstanceAction,
            action=action,
            instance_uuid=base.SERVER,
            start_time=started_at,
        )
        self.cell.eventless = [row]
        return self.found()

    def test_that_has_a_saga(self):
        found = [
            'I7 action rebuild of server a server: in cell1 has not ended, and nothing carries it out'
        ]
        self.assertEqual(found, self.have('rebuild'))
        self.assertEqual([], self.have('rebuild', base.NOW))
        self.snapshot.sagas = [base.saga()]
        self.assertEqual([], self.have('rebuild'))

    def test_that_nothing_carries_out(self):
        for action in ('live-migration', 'createImage'):
            (found,) = self.have(action)
            self.assertIn(f'action {action} of server', found)

    def test_that_a_later_request_may_have_replaced(self):
        for action in ('lock', 'delete'):
            self.assertEqual([], self.have(action))


class LimitsTest(base.VerifyTest):
    def test_exceeded(self):
        self.snapshot.limits[base.PROJECT]['ram'] = 32
        self.assertEqual(
            ['I11 project a project: limit of ram: is 32, and 64 are used'], self.found()
        )
        self.assertEqual([], self.found(limits=False))

    def test_no_limit(self):
        self.snapshot.limits[base.PROJECT] = dict.fromkeys(('instances', 'cores', 'ram'), -1)
        self.assertEqual([], self.found())


class QueuesTest(base.VerifyTest):
    def test_consumers(self):
        self.snapshot.queues = [('top', 'a', 1), ('top', 'b', 0), ('cell1', 'c', None)]
        self.assertEqual(
            [
                'I5 queue b: on the bus of top has no consumer',
                'I5 queue c: on the bus of cell1 does not exist',
            ],
            self.found(),
        )

    def test_that_must_be_there(self):
        self.cell.services.append(base.service('host-2'))
        self.cell.down = frozenset(('host-2',))
        self.assertEqual(['conductor', 'compute.host-1'], messaging.of_cell(self.cell))

    def test_of_hosts_without_a_service(self):
        self.cell.former_hosts = frozenset(('b', 'a'))
        self.assertEqual(['compute.a', 'compute.b'], messaging.of_former_hosts(self.cell))
        self.snapshot.unowned_queues = [('cell1', 'compute.a')]
        self.assertEqual(['I5 queue compute.a: on the bus of cell1 has no owner'], self.found())


class LateClaimsTest(base.VerifyTest):
    """A scheduler answered when the server had been deleted before it was built."""

    def test_of_a_server_that_was_withdrawn(self):
        self.snapshot.allocations['gone'] = {base.NODE: {'VCPU': 1}}
        held = f"{{'{base.NODE}': {{'VCPU': 1}}}}"
        self.assertEqual([f'I4 consumer gone: should hold {{}} and holds {held}'], self.found())
        self.snapshot.withdrawn = {'gone': base.build_request('gone', created_at=base.NOW)}
        self.assertEqual([], self.found())
        self.assertEqual([f'I4 consumer gone: was withdrawn and holds {held}'], self.found(work=0))
