"""Changes by users while their server changes cells: kept or refused, never lost."""

import fixtures

from nova_lite import runtime
from nova_lite.moves.parts import cross_cell
from nova_lite.moves.parts import cross_cell_revert
from tests.fixtures import crossing
from tests.fixtures import moving
from tests.fixtures import saga_faults
from tests.functional import moves_base
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests

Mode = saga_faults.Mode
HOSTS = ('cell1-host1', 'cell2-host1')
THERE = (cross_cell.SNAPSHOT, cross_cell.SPAWN, cross_cell.SHOW, cross_cell.SWITCH, cross_cell.HIDE)
BACK = (cross_cell_revert.SHOW, cross_cell_revert.SWITCH, 'hide-destination-records')


class Writer(fixtures.Fixture):
    """Renames a server as fast as it can, in a thread of its own, and looks at once.

    name: the last one that was accepted; wrong: what was not seen after it was accepted
    """

    def __init__(self, cloud, server):
        super().__init__()
        self.cloud, self.server = cloud, server
        self.name, self.count, self.wrong = server.name, 0, []
        self._stopping = runtime.Event()

    def _setUp(self):
        self.cloud.admin.authorize()
        self._thread = runtime.spawn(self._write, name='writer')
        self.addCleanup(self.stop)

    def stop(self):
        """Write no more; wait until that is so."""
        self._stopping.set()
        self._thread.join()

    def _write(self):
        path = f'/servers/{self.server.id}'
        while not self._stopping.is_set():
            name = f'name-{self.count}'
            answer = self.cloud.api('PUT', path, json={'server': {'name': name}})
            if answer.status_code != 200:
                self.wrong.append((name, answer.status_code, answer.text))
                continue
            self.name, self.count = name, self.count + 1
            seen = self.cloud.api('GET', path).json()
            if seen.get('server', {}).get('name') != name:
                self.wrong.append((name, seen))


@sample.in_turns(2)
class ChangesTest(moves_base.MovesTest):
    settings = moves_base.ONE_HOST_EACH

    def setUp(self):
        super().setUp()
        self.faults = self.useFixture(saga_faults.SagaFaults(self.cloud))
        self.crossing = crossing.Crossing(self.cloud)

    def other(self, server):
        """The host in the other cell."""
        found = self.cloud.admin.compute.get_server(server.id)
        return next(host for host in HOSTS if host != found.compute_host)

    def change(self, server, text):
        """Change all that may be changed during a move; what was accepted."""
        path = f'/servers/{server.id}'
        lock = {'lock': {'locked_reason': text}}
        asked = {
            'name': ('PUT', path, {'server': {'name': text}}),
            'metadata': ('PUT', f'{path}/metadata', {'metadata': {'text': text}}),
            'tags': ('PUT', f'{path}/tags', {'tags': [text]}),
            'locked_reason': ('POST', f'{path}/action', lock),
        }
        codes = {}
        for what, (method, where, body) in asked.items():
            answer = self.cloud.api(method, where, version=moving.LATEST, json=body)
            codes[what] = answer.status_code
            self.assertIn(answer.status_code, (200, 202, 409), answer.text)
        return {what for what, code in codes.items() if code != 409}

    def seen(self, server):
        found = self.cloud.api('GET', f'/servers/{server.id}', version=moving.LATEST).json()
        return {
            'name': found['server']['name'],
            'metadata': found['server']['metadata'].get('text'),
            'tags': next(iter(found['server']['tags']), None),
            'locked_reason': found['server']['locked_reason'],
        }

    def play(self, server, *, kind, step, mode, act):
        """One move during which everything is changed at a step; what was lost."""
        text, accepted = f'{step}, {mode}'.replace(',', ';'), set()
        before = self.seen(server)
        self.faults.fault = saga_faults.Fault(
            kind, step, mode, meanwhile=lambda: accepted.update(self.change(server, text))
        )
        act()
        self.assertEqual('done', self.faults.ended(server).state)
        self.assertTrue(self.faults.fault.met)
        self.faults.fault = None
        wanted = {what: text if what in accepted else was for what, was in before.items()}
        return [] if self.seen(server) == wanted else [(step, mode, accepted, self.seen(server))]

    def test_at_every_step(self):
        server, wrong = self.boot(), []
        for step in THERE:
            for mode in (Mode.DURING_BEFORE, Mode.DURING_AFTER):
                host = {'host': self.other(server)}
                wrong += self.play(
                    server,
                    kind='cross-cell-migrate',
                    step=step,
                    mode=mode,
                    act=lambda host=host: self.stage.act(server, 'migrate', host),
                )
                self.stage.act(server, 'confirmResize', status=204)
                self.crossing.idle(server)
        self.assertEqual([], wrong)

    def test_at_every_step_back(self):
        server, wrong = self.boot(), []
        for step in BACK:
            for mode in (Mode.DURING_BEFORE, Mode.DURING_AFTER):
                self.stage.act(server, 'migrate', {'host': self.other(server)})
                self.cloud.wait(server, 'VERIFY_RESIZE')
                self.crossing.idle(server)
                wrong += self.play(
                    server,
                    kind='cross-cell-revert',
                    step=step,
                    mode=mode,
                    act=lambda: self.stage.act(server, 'revertResize'),
                )
        self.assertEqual([], wrong)

    def test_refused_while_nobody_moves_it_on(self):
        """The super-conductor has died between the copy and the switch."""
        server = self.boot()
        self.faults.fault = saga_faults.Fault(
            'cross-cell-migrate', cross_cell.SWITCH, Mode.DIES_BEFORE
        )
        self.stage.act(server, 'migrate', {'host': self.other(server)})
        self.cloud.wait_for(lambda: self.faults.fault.met, 'the super-conductor to die')
        message = self.refused(
            409, 'PUT', f'/servers/{server.id}', {'server': {'name': 'too soon'}}
        )
        self.assertIn('is changing cells', message)
        self.faults.ended(server)
        self.api('PUT', f'/servers/{server.id}', {'server': {'name': 'in time'}})
        found = self.cloud.wait(server, 'VERIFY_RESIZE')
        self.assertEqual('in time', found.name)

    def test_taken_back(self):
        """A move that is undone after the copy leaves a server that can be changed."""
        server = self.boot()
        self.faults.fault = saga_faults.Fault('cross-cell-migrate', cross_cell.SHOW, Mode.AFTER)
        self.stage.act(server, 'migrate', {'host': self.other(server)})
        self.assertEqual('undone', self.faults.ended(server).state)
        self.api('PUT', f'/servers/{server.id}', {'server': {'name': 'still here'}})
        self.assertEqual('still here', self.cloud.wait(server).name)

    def test_deleted_as_it_is_switched(self):
        """The owner dies after it deletes the copy. The server is gone by then."""
        server = self.boot()
        fault = saga_faults.Fault('cross-cell-migrate', cross_cell.SWITCH, Mode.DURING_BEFORE)

        def delete():
            self.cloud.admin.compute.delete_server(server.id)
            fault.step, fault.mode, fault.met = cross_cell.DELETE, Mode.DIES_AFTER, False

        fault.meanwhile = delete
        self.faults.fault = fault
        self.stage.act(server, 'migrate', {'host': self.other(server)})
        self.cloud.wait_for(
            lambda: fault.step == cross_cell.DELETE and fault.met, 'the super-conductor to die'
        )
        self.cloud.wait_gone(server)
        self.assertEqual('done', self.faults.ended(server).state)

    def test_while_it_moves(self):
        server = self.boot()
        writer = self.useFixture(Writer(self.cloud, server))
        for end, status in (('confirmResize', 204), ('revertResize', 202)) * 4:
            self.stage.act(server, 'migrate', {'host': self.other(server)})
            self.cloud.wait(server, 'VERIFY_RESIZE')
            self.stage.act(server, end, status=status)
            self.cloud.wait(server)
            self.crossing.idle(server)
        writer.stop()
        self.assertEqual([], writer.wrong)
        self.assertEqual(writer.name, self.cloud.admin.compute.get_server(server.id).name)
