"""Actions on a server match the requests and their answers."""

import dataclasses
import types

import testtools

from tests.sim.oracle import deeds
from tests.sim.oracle import effects
from tests.sim.oracle import excuses
from tests.sim.workload import caller
from tests.sim.workload import ledger
from tests.sim.workload import outside
from tests.sim.workload import owners
from tests.sim.workload import profiles
from tests.sim.world import faults

REPLY = faults.Fault(
    'http', 'lost answer', process='client', where='', begin=0, end=10, requests=()
)
# After all that happens here.
NEVER = 10.0**9
POWER = effects.POWER
SERVER = {'id': 'uuid', 'status': 'ACTIVE', 'OS-EXT-SRV-ATTR:host': 'host1'}


TIMES = {'start_time': '2027-01-15T08:00:00', 'updated_at': '2027-01-15T08:00:01'}


UNREACHED = 'Host host2 cannot take instance uuid: it cannot connect to volume v'


def removal(request_id):
    """Return a request to remove a port."""
    url = 'http://api-1.sim/servers/uuid/os-interface/port'
    return caller.Call('client', 'detach', 'DELETE', url, 0, request_id=request_id, code=202)


def migration(host, began=0, **answer):
    """Return a request to migrate, to a host or to any. answer: see caller.Call"""
    url, body = 'http://api-1.sim/servers/uuid/action', {'migrate': host and {'host': host}}
    return caller.Call('client', 'migrate', 'POST', url, began, ended=began, body=body, **answer)


def findings(refused=(), calls=(), host=None, *, task=None, details=None, reasons=None, **action):
    """Return what is found of a server with the actions of some calls, the first as given.

    host: the one that was asked for; task: the server's; details: of the failure
    reasons: for which hosts may refuse servers; default: one, and that of `details`
    """
    done = {'action': 'stop', 'request_id': 'req-1', 'user_id': 'client', 'message': None}
    done |= {**TIMES, **action}
    if reasons is None:
        reasons = ['No valid host', *([profiles.UNREACHED] if details == UNREACHED else [])]
    book = ledger.Ledger(excuses.Excuses(types.SimpleNamespace(injected=[]), reasons))
    book.accepted('uuid', host)
    book.refused.update(refused)
    for call in calls:
        book.answered(call, '')
    ids = [call.request_id for call in calls if call.request_id not in (None, 'req-1')]
    others = [{**done, 'request_id': each, 'message': None} for each in ids]
    found = {'instanceActions': [done, *others]}
    found['instanceAction'] = {'events': [{'details': details}]}
    asking = types.SimpleNamespace(send=lambda *_args: (200, found))
    return list(deeds.Deeds(asking, book).findings({**SERVER, 'OS-EXT-STS:task_state': task}))


def attachment(*, patient):
    """Return what is found of an attachment that failed because its host had frozen."""
    frozen = faults.Fault('nemesis', 'freeze', '', 'compute-cell1', 0, NEVER)
    world = types.SimpleNamespace(injected=[frozen])
    book = ledger.Ledger(excuses.Excuses(world), patient=patient)
    book.accepted('uuid')
    url = 'http://api-1.sim/servers/uuid/os-volume_attachments'
    asked = caller.Call('client', 'attach', 'POST', url, 0, request_id='req-1', code=202)
    asked.answer = {'volumeAttachment': {'volumeId': 'volume'}}
    book.answered(asked, '')
    done = {'action': 'attach_volume', 'request_id': 'req-1', 'user_id': 'client', **TIMES}
    found = {'instanceActions': [{**done, 'message': 'Error'}], 'migrations': []}
    found |= {'instanceAction': {'events': []}, 'volumeAttachments': []}
    asking = types.SimpleNamespace(send=lambda *_args: (200, found))
    return list(deeds.Deeds(asking, book).findings({**SERVER, 'OS-EXT-STS:task_state': None}))


def failed_build(message, excused):
    """Return what is found of a server that could not be built. excused: an Excuses"""
    action = {'action': 'create', 'request_id': 'req-1', 'user_id': 'client', 'message': 'Error'}
    found = {'instanceActions': [{**TIMES, **action}], 'instanceAction': {'events': []}}
    server = {**SERVER, 'OS-EXT-STS:task_state': None, 'status': 'ERROR'}
    server |= {'OS-EXT-SRV-ATTR:host': None, 'fault': {'message': message}}
    asking = types.SimpleNamespace(send=lambda *_args: (200, found))
    return list(deeds.Deeds(asking, ledger.Ledger(excused)).findings(server))


class DeedsTestCase(testtools.TestCase):
    def test_accepted_devices_wait_for_hosts(self):
        self.assertEqual([], attachment(patient=False))
        (found,) = attachment(patient=True)
        self.assertIn('failed without a fault: uuid attach_volume req-1', found)

    def test_what_a_user_asked_for_is_well(self):
        self.assertEqual([], findings())
        self.assertEqual([], findings(refused={'req-2': 409}))

    def test_what_no_user_asked_for(self):
        self.assertEqual(['no user asked for it: uuid stop req-1'], findings(user_id='admin'))

    def test_an_audit_stops_what_an_administrator_said_to_be_active(self):
        action = {'action': 'stop', 'request_id': 'req-1', 'user_id': None, 'message': None}
        found = {'instanceActions': [{**action, **TIMES}]}
        asking = types.SimpleNamespace(send=lambda *_args: (200, found))
        for state, expected in (('active', 0), ('error', 1)):
            book = ledger.Ledger(excuses.Excuses(types.SimpleNamespace(injected=[])))
            book.outside.begin(outside.RESET, 'uuid', state)
            server = {**SERVER, 'OS-EXT-STS:task_state': None}
            self.assertEqual(expected, len(list(deeds.Deeds(asking, book).findings(server))))

    def test_a_conflict_with_the_request_itself(self):
        found = findings(refused={'req-1': 409})
        self.assertEqual(['answered 409, but it was done: uuid stop req-1'], found)

    def test_a_conflict_whose_action_failed(self):
        found = findings(refused={'req-1': 409}, action='resize', message='Error')
        self.assertEqual([], found)

    def test_a_refused_request_whose_action_failed(self):
        found = findings(refused={'req-1': 404}, action='detach_volume', message='Error')
        self.assertEqual([], found)

    def test_what_a_deletion_interrupts_may_fail(self):
        self.assertEqual([], findings(task='deleting', action='create', message='Error'))

    def test_of_two_requests_to_remove_one_thing_either_may_fail(self):
        deed = {'action': 'detach_interface', 'message': 'Error'}
        first, second = removal('req-1'), removal('req-2')
        self.assertEqual([], findings(calls=(first, second), **deed))
        self.assertEqual([], findings(calls=(second, first), **deed))

    def test_a_server_is_on_the_host_that_was_asked_for_until_it_moves(self):
        self.assertEqual([], findings(host='host1'))
        self.assertEqual(['not where requested: uuid'], findings(host='host2'))
        self.assertEqual([], findings(host='host2', action='live-migration'))

    def test_a_move_fails_for_a_reason_that_is_on_record(self):
        deed = {'action': 'migrate', 'message': 'Error'}
        told = 'No valid host was found.'
        self.assertEqual(1, len(findings(details=told, reasons=(), **deed)))
        named = [migration('host2', request_id='req-1', code=202)]
        self.assertEqual([], findings(calls=named, details=told, reasons=(), **deed))
        for details, expected in (
            ('No valid host was found.', 0),
            ('finish_migration of guest uuid failed: injected failure of finish_migration', 0),
            ('Compute host host2 could not be found.', 1),
            (None, 1),
        ):
            found = findings(details=details, **deed)
            self.assertEqual(expected, len(found))

    def test_a_copy_fails_where_hosts_refuse_it(self):
        details = 'snapshot of guest uuid failed on host1: injected failure of snapshot'
        for reasons, expected in ((None, 1), ([profiles.UNCOPIED], 0)):
            deed = {'action': 'createImage', 'message': 'Error'}
            found = findings(details=details, reasons=reasons, **deed)
            self.assertEqual(expected, len(found))

    def test_an_unshelve_fails_whose_image_its_owner_deleted(self):
        found = {'instanceAction': {'events': [{'details': 'Image image-1 could not be found.'}]}}
        action = {'request_id': 'req-1', 'user_id': 'client', 'message': 'Error', **TIMES}
        asking = types.SimpleNamespace(send=lambda *_args: (200, found))
        for name, image, expected in (
            ('unshelve', 'image-1', 0),
            ('unshelve', 'image-2', 1),
            ('rebuild', 'image-1', 1),
        ):
            book = ledger.Ledger(excuses.Excuses(types.SimpleNamespace(injected=[])))
            book.outside.begin(owners.DELETE_IMAGE, image)
            found['instanceActions'] = [{**action, 'action': name}]
            server = {**SERVER, 'OS-EXT-STS:task_state': None}
            self.assertEqual(expected, len(list(deeds.Deeds(asking, book).findings(server))))

    def test_a_crash_dump_fails_of_a_guest_that_was_off(self):
        url, body = 'http://api-1.sim/servers/uuid/action', {'trigger_crash_dump': None}
        deed = {'action': 'trigger_crash_dump', 'message': 'Error'}
        deed['details'] = 'Cannot trigger_crash_dump guest uuid: its power state is SHUTDOWN.'
        for power, expected in ((1, 1), (4, 0)):
            look = caller.Look({'id': 'uuid', deeds.TASK: None, POWER: power}, 3)
            given = {'body': body, 'request_id': 'req-1', 'code': 202, 'look': look}
            dump = caller.Call('client', 'crash_dump', 'POST', url, 4, ended=4, **given)
            self.assertEqual(expected, len(findings(calls=[dump], **deed)))

    def test_a_soft_deletion_interrupts_actions(self):
        action = {'action': 'stop', 'request_id': 'req-1', 'user_id': 'client', 'message': 'Error'}
        found = {'instanceActions': [{**action, **TIMES}], 'instanceAction': {'events': []}}
        asking = types.SimpleNamespace(send=lambda *_args: (200, found))
        _request_id, began, ended = deeds._work(found['instanceActions'][0])
        for moment, expected in ((ended, 0), (began - 10, 1)):
            book = ledger.Ledger(excuses.Excuses(types.SimpleNamespace(injected=[])), kept_s=15)
            url = 'http://api-1.sim/servers/uuid'
            given = {'ended': moment, 'request_id': 'req-2', 'code': 204}
            deletion = caller.Call('client', 'delete', 'DELETE', url, moment, **given)
            book.deletions.answered('uuid', deletion, keeps=True)
            server = {**SERVER, deeds.TASK: None}
            self.assertEqual(expected, len(list(deeds.Deeds(asking, book).findings(server))))

    def test_a_build_fails_while_no_host_can_report(self):
        """A process that is frozen has left the database of their cell locked."""
        refused = 'No valid host was found. Of 3 hosts, refused by: '
        frozen = faults.Fault(
            'nemesis', 'freeze', where='', process='super-1', begin=0, end=0, requests=()
        )
        for locked, reason, expected in (
            (('cell1',), 'ComputeFilter 3.', 0),
            (('cell1',), 'ServerGroupAntiAffinityFilter 3.', 2),
            (('api',), 'ComputeFilter 3.', 2),
        ):
            fault = dataclasses.replace(frozen, locked=locked, end=NEVER)
            found = excuses.Excuses(types.SimpleNamespace(injected=[fault]))
            self.assertEqual(expected, len(failed_build(refused + reason, found)))

    def test_a_move_to_the_own_host_fails_if_a_client_named_it(self):
        deed = {'action': 'live-migration', 'message': 'Error', 'reasons': ['No valid host']}
        told = 'Migration pre-check error: the server is already on host host1'
        named = migration('host1', request_id='req-1', code=202)
        self.assertEqual([], findings(calls=[named], details=told, **deed))
        self.assertEqual(1, len(findings(details=told, **deed)))

    def test_a_server_that_its_client_saw_on_another_host(self):
        deed = {'action': 'live-migration', 'message': 'Error', 'reasons': ['No valid host']}
        told = 'Migration pre-check error: the server is already on host host1'
        for host, shown, task, rivals, expected in (
            ('host1', 'host1', None, (), 0),
            ('host1', 'host2', None, (), 1),
            ('host2', 'host2', None, (), 1),
            # What was seen may be over by the time of the request.
            ('host1', 'host2', 'migrating', (), 0),
            ('host1', 'host2', None, (4,), 0),
            ('host1', 'host2', None, (2, 6), 1),
        ):
            look = caller.Look({'id': 'uuid', deeds.HOST: shown, deeds.TASK: task}, 3)
            named = migration(host, 5, request_id='req-1', code=202, look=look)
            others = [migration(None, at, request_id=f'req-{at}', code=202) for at in rivals]
            found = findings(calls=[named, *others], details=told, **deed)
            self.assertEqual(expected, len(found))

    def test_a_move_to_a_host_that_does_not_reach_the_volumes(self):
        deed = {'action': 'migrate', 'message': 'Error', 'details': UNREACHED}
        known = {'request_id': 'req-1', 'code': 202}
        for call, expected in (
            (migration('host2', **known), 0),
            (migration('host3', **known), 1),
            (migration(None, **known), 1),
        ):
            self.assertEqual(expected, len(findings(calls=[call], **deed)))

    def test_such_a_move_whose_request_was_not_answered(self):
        book = ledger.Ledger(excuses.Excuses(types.SimpleNamespace(injected=[REPLY])))
        book.answered(migration('host2', began=3.5), '')
        for began, expected in ((3, ['host2']), (2, []), (4, [])):
            self.assertEqual(expected, book.named_hosts('uuid', 'req-1', began))
        self.assertEqual([], book.named_hosts('another', 'req-1', 3))
