"""The end of a history: all is mended, and after a while nothing may be left to do."""

from nova_lite import conf as conf_module
from nova_lite.db.api import sagas
from nova_lite.verify import bounds
from nova_lite.verify import reader as reader_module
from nova_lite.verify import settling
from tests.sim import kernel
from tests.sim.world import places as places_module

SETTLE_S = 60
BOUNDS = bounds.Bounds(work=SETTLE_S, audit=SETTLE_S, power=SETTLE_S)
# Why a server may be in ERROR although nothing went wrong.
REFUSALS = ('No valid host', 'Exceeded maximum number of retries')


class Ending:
    """cloud: a world.cloud.Cloud that is whole; caller: a workload.caller.Caller"""

    def __init__(self, cloud, ledger, caller):
        self._cloud, self._ledger, self._caller = cloud, ledger, caller

    def check(self):
        """Report what is not as it should be."""
        path = self._cloud.places.path('etc', f'{places_module.APIS[0]}.conf')
        reader = reader_module.Reader(conf_module.make_conf(files=[path]), places_module.ROOT)
        try:
            self._verify(reader)
            self._sagas(reader.api_db.read(sagas.every))
        finally:
            reader.close()
        self._servers()

    def _verify(self, reader):
        verdict = settling.look(reader, settle_s=SETTLE_S, bounds=BOUNDS)
        found = [*verdict.findings, *verdict.unsettled]
        if found:
            self._ledger.violation('verify: ' + '; '.join(map(str, found)))

    def _sagas(self, rows):
        left = [f'{row.uuid} {row.kind} {row.state}' for row in rows if row.active_for]
        if left:
            self._ledger.violation(f'open sagas: {left}')
        kernel.current().log('sagas', len(rows))

    def _servers(self):
        """What was acknowledged is there, once; what was deleted is not."""
        code, found = self._caller.send('list', 'GET', '/servers/detail?all_tenants=1')
        listed = [each['id'] for each in found['servers']] if code == 200 else []
        if len({*listed}) < len(listed):
            self._ledger.violation(f'listed twice: {sorted(listed)}')
        for uuid in self._ledger.standing():
            if uuid not in listed:
                self._ledger.violation(f'lost server {uuid}')
        for uuid in self._ledger.gone:
            if uuid in listed:
                self._ledger.violation(f'undead server {uuid}')
        for server in found['servers']:
            self._state(server)

    def _state(self, server):
        told = f'{server["id"]} {server["status"]} {server["OS-EXT-STS:task_state"]}'
        kernel.current().log('server', told)
        if server['OS-EXT-STS:task_state'] is not None or server['status'] in ('BUILD', 'UNKNOWN'):
            self._ledger.violation(f'not ended: {told}')
        if server['status'] == 'ERROR' and not self._ledger.is_explained(0):
            fault = server.get('fault', {}).get('message', '')
            if not fault.startswith(REFUSALS):
                self._ledger.violation(f'unexplained ERROR: {told}: {fault}')
