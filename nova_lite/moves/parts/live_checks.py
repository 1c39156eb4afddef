"""Whether a server can go live from its host to the one that was chosen.

Nothing is changed on either host before both have agreed (reference/nova/moves 4.1).
"""

from nova_lite import exception
from nova_lite import saga
from nova_lite import states
from nova_lite.db.cell import host_usage
from nova_lite.moves import part
from nova_lite.moves import places

CHECK_DEST = 'check destination'
CHECK_SOURCE = 'check source'
DEST_EVENT = 'compute_check_can_live_migrate_destination'
SOURCE_EVENT = 'compute_check_can_live_migrate_source'
MOVABLE = (states.PowerState.RUNNING, states.PowerState.PAUSED)


class LiveChecks(part.Part):
    """move: the saga, with a Relocation as `relocation`; event: which ends with the checks"""

    def __init__(self, move, event):
        super().__init__(move)
        self._event = event

    # ---- the server ----

    def of_server(self):
        """The step that sees that the guest runs, and that its host answers."""
        return places.SOURCE_RECORDS.step('check server', self._check_server)

    def _check_server(self):
        row = self._move.row()
        if row.power_state not in MOVABLE:
            raise exception.InstanceInvalidState(
                action='os-migrateLive',
                instance_id=row.uuid,
                attr='power_state',
                state=row.power_state,
            )
        if not self._move.is_up(row.host):
            raise exception.ServiceIsDown(binary='nova-compute', host=row.host)
        # It has changed nothing, and may look once more.
        return saga.Skipped()

    def require_fit(self, row, node):
        """Refuse the server's own host, and one whose memory does not suffice."""
        if node.host == row.host:
            raise exception.MigrationPreCheckError(
                reason=f'the server is already on host {row.host}'
            )
        used = self._move.read(host_usage.by_node).get((node.host, node.hypervisor_hostname))
        free_mb = node.memory_mb - node.reserved_memory_mb - (used[2] if used else 0)
        if free_mb < row.memory_mb:
            raise exception.MigrationPreCheckError(
                reason=f'host {node.host} does not have enough free memory for the server'
            )

    # ---- both hosts ----

    def of_hosts(self):
        """The steps that ask both ends."""
        return (
            places.DEST_HOST.step(
                CHECK_DEST,
                self._check_dest,
                self._end_dest_check,
                calls=('check_can_live_migrate_destination',),
            ),
            places.SOURCE_HOST.step(
                CHECK_SOURCE,
                self._check_source,
                self._end_source_check,
                calls=('check_can_live_migrate_source',),
            ),
        )

    @property
    def _source(self):
        return self._move.began['host']

    @property
    def _dest(self):
        return self._move.destination.service_host

    def _check_dest(self):
        """check_can_live_migrate_destination."""
        move = self._move
        move.progress(started=(DEST_EVENT, self._dest))
        return move.relocation.ask(
            self._dest,
            move.compute.check_can_live_migrate_destination,
            instance=move.instance(move.row()),
            node=move.destination.nodename,
            source=self._source_facts(),
            key=move.key(CHECK_DEST),
        )

    def _source_facts(self):
        """What is on record of the source's hypervisor, as a driver tells it."""
        node = self._move.relocation.node_row(self._source, self._move.began['node'])
        return {
            'hypervisor_hostname': node.hypervisor_hostname,
            'hypervisor_type': node.hypervisor_type,
            'hypervisor_version': node.hypervisor_version,
            'architecture': node.cpu_info.get('arch'),
            'host_ip': node.host_ip,
            'booted_at': 0.0,
            'cpu_info': node.cpu_info,
            'supported_instances': node.supported_instances,
            'traits': [],
        }

    def _check_source(self):
        """check_can_live_migrate_source."""
        move = self._move
        move.progress(ended=(DEST_EVENT, self._dest), started=(SOURCE_EVENT, self._source))
        return move.relocation.ask(
            self._source,
            move.compute.check_can_live_migrate_source,
            instance=move.instance(move.row()),
            dest=move.data[CHECK_DEST]['facts'],
            key=move.key(CHECK_SOURCE),
        )

    def _end_dest_check(self):
        self._move.write(self._move.end_refused, DEST_EVENT, self._dest)

    def _end_source_check(self):
        self._move.write(self._move.end_refused, SOURCE_EVENT, self._source)

    # ---- both have agreed ----

    def accepting(self):
        """The step with which the checks have passed: from here on it is the hosts' work."""
        return places.SOURCE_RECORDS.step('accept destination', self._accept)

    def _accept(self):
        self._accept_in()
        self._move.data['checked'] = True

    @part.transaction
    def _accept_in(self, connection):
        move = self._move
        move.note_progress(connection, ended=(SOURCE_EVENT, self._source))
        move.end_event(connection, self._event, None)
