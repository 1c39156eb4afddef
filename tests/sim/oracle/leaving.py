"""Failures that stay as in nova: each ends as its row of the table says, and none is undone."""

import sqlalchemy as sa

from nova_lite.db.api import sagas
from nova_lite.saga import step as saga_step
from nova_lite.states import nova_failures

SERVERS = sa.text('SELECT * FROM instances WHERE NOT deleted AND NOT hidden')
NEWEST = sa.text(
    'SELECT request_id FROM instance_actions WHERE instance_uuid = :uuid ORDER BY id DESC LIMIT 1'
)
MIGRATION = sa.text('SELECT status FROM migrations WHERE uuid = :uuid AND NOT hidden')
FAILED = ('failed', 'left')
DELETIONS = ('deleting', 'soft-deleting')


class Leaving:
    """counts: of the journal of the kernel; resets: see changing.States"""

    def __init__(self, counts, resets):
        self._counts, self._resets, self._uuids = counts, resets, set()

    def explains(self, finding):
        """Return whether a finding of `verify` is about a server that such a failure has met.

        `verify` itself explains a failure only until another saga works at the server. Allocations
        that a failure has left are taken along by the next move, and belong to its migration then.
        """
        return "invariant='I4'" in finding or any(uuid in finding for uuid in self._uuids)

    def findings(self, reader):
        """Yield what ends otherwise than its row says."""
        servers = {}
        for cell in reader.cells.every():
            for row in cell.db.read(lambda connection: connection.execute(SERVERS).all()):
                servers[row.uuid] = cell, row
        seen = set()
        for saga in reader.api_db.read(sagas.every):
            newest, _ = saga.instance_uuid not in seen, seen.add(saga.instance_uuid)
            if saga.instance_uuid not in servers or not saga.finished_at:
                continue
            cell, server = servers[saga.instance_uuid]
            if server.task_state not in DELETIONS and not server.deleted_at:
                yield from self._of(reader, saga, cell, server, newest=newest)

    def _of(self, reader, saga, cell, server, *, newest):
        told = f'{saga.kind} {saga.uuid} of {server.uuid}'
        expected = {
            failure.name
            for event in reader.api_db.read(sagas.events, saga.uuid)
            if event.what in FAILED and saga.error
            for failure in nova_failures.FAILURES
            if failure.fits(saga.kind, event.step, saga.error['type'], saga.arguments)
        }
        left = saga.data.get(saga_step.LEFT_AS)
        if left is None:
            if expected:
                yield f'{told} was not left as {" or ".join(sorted(expected))}'
            return
        failure = nova_failures.BY_NAME[left['name']]
        self._uuids |= {server.uuid, saga.arguments.get('migration_uuid') or saga.uuid}
        self._counts[f'left: {failure.name}'] += 1
        if newest:
            yield from self._ends(saga, cell, server, failure=failure, told=told)

    def _ends(self, saga, cell, server, *, failure, told):
        """Yield what differs from the row, unless somebody has worked at the server since."""
        values = {'uuid': server.uuid}
        newest = cell.db.read(lambda connection: connection.execute(NEWEST, values).scalar())
        if newest != saga.context.get('request_id') or self._resets(server.uuid):
            return
        wanted = failure.vm_state
        if server.vm_state != (wanted or server.vm_state) or (
            wanted is None and server.vm_state == 'error'
        ):
            yield f'{told} left it {server.vm_state}: not as {failure.name}'
        if server.task_state and not failure.keeps_task:
            yield f'{told} left the task {server.task_state}: not as {failure.name}'
        values = {'uuid': saga.arguments.get('migration_uuid') or saga.uuid}
        status = cell.db.read(lambda connection: connection.execute(MIGRATION, values).scalar())
        if failure.migration and status != failure.migration:
            yield f'{told} left a migration {status}: not as {failure.name}'
