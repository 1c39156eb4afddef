"""Hypervisors that lose guests, and an operator who has them made again."""

import contextlib

from nova_lite import runtime
from nova_lite.virt import model
from nova_lite.virt.sim import store
from tests.sim import kernel
from tests.sim.world import cloud as cloud_module

FATE = 'guest lost'
RESIDENTS = 'SELECT node, uuid FROM guests WHERE role = ? ORDER BY uuid'
DELETE = 'DELETE FROM guests WHERE node = ? AND uuid = ? AND role = ?'
# A server that is rebooted hard has its guest again in this time, or is going away.
REMADE_WITHIN_S = 120
REST_S = 1


class Losses:
    """path: of a cell's guests; caller: the operator's"""

    def __init__(self, path, faults, caller):
        self._path, self._faults, self._caller = path, faults, caller
        self._stream = kernel.current().stream('losses')

    def run(self, until, number):
        """Lose a guest at so many moments until a virtual time."""
        now = kernel.current()
        begin = now.time()
        moments = sorted(self._stream.uniform(begin, until) for _ in range(number))
        threads = []
        for moment in moments:
            now.sleep(max(0.0, moment - now.time()))
            uuid = self._lose()
            if uuid is not None:
                threads.append(runtime.spawn(self._mend, uuid, name='operator'))
        for thread in threads:
            thread.join()

    def _lose(self):
        with self._opened() as opened, opened.write() as tx:
            found = tx.execute(RESIDENTS, [model.Role.RESIDENT]).fetchall()
            # Drawn in any case: those that follow are the same then.
            chance, happens = self._stream.random(), self._stream.happens(1, FATE)
            if not found or not happens:
                return None
            node, uuid = found[int(chance * len(found))][:2]
            tx.execute(DELETE, [node, uuid, model.Role.RESIDENT])
            self._faults.note('nemesis', FATE, uuid, process=node)
        return uuid

    def _mend(self, uuid):
        """Reboot the server hard until its guest is there again."""
        now = kernel.current()
        deadline = now.time() + REMADE_WITHIN_S
        while now.time() < deadline and not self._is_there(uuid):
            body = {'reboot': {'type': 'HARD'}}
            code, _found = self._caller.send('mend', 'POST', f'/servers/{uuid}/action', body)
            if code == 404:
                return
            now.sleep(REST_S)
        if now.time() >= deadline:
            now.fail(f'the guest of {uuid} was not made again')

    def _is_there(self, uuid):
        with self._opened() as opened, opened.read() as connection:
            found = connection.execute(RESIDENTS, [model.Role.RESIDENT]).fetchall()
        return uuid in [row['uuid'] for row in found]

    @contextlib.contextmanager
    def _opened(self):
        """The file, as another process of the hypervisor's machine opens it."""
        with kernel.current().process('losses', machine=cloud_module.HYPERVISORS).entered():
            with contextlib.closing(store.Store(self._path)) as opened:
                yield opened
