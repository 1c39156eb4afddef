"""Whether a server can go live from its host to the one that was chosen.

Nothing is changed on either host before both have agreed (reference/nova/moves 4.1).
"""

from nova_lite import exception
from nova_lite import saga
from nova_lite import states
from nova_lite.db.cell import actions
from nova_lite.db.cell import host_usage
from nova_lite.moves import relocation

CHECK_DEST = 'check destination'
CHECK_SOURCE = 'check source'
DEST_EVENT = 'compute_check_can_live_migrate_destination'
SOURCE_EVENT = 'compute_check_can_live_migrate_source'
MOVABLE = (states.PowerState.RUNNING, states.PowerState.PAUSED)


class Checked(relocation.Relocation):
    """The checks of a live migration.

    arguments: 'synchronous': the API waits for them
    """

    tasks = (states.TaskState.MIGRATING,)

    @property
    def conductor_event(self):
        if self.arguments['synchronous']:
            return 'conductor_migrate_server'
        return 'conductor_live_migrate_instance'

    def check_server(self):
        """The guest must run, and its host answer."""
        row = self.row()
        if row.power_state not in MOVABLE:
            raise exception.InstanceInvalidState(
                action='os-migrateLive',
                instance_id=row.uuid,
                attr='power_state',
                state=row.power_state,
            )
        if not self.is_up(row.host):
            raise exception.ServiceIsDown(binary='nova-compute', host=row.host)
        # It has changed nothing, and may look once more.
        return saga.Skipped()

    def require_fit(self, row, node):
        """Refuse the server's own host, and one whose memory does not suffice."""
        if node.host == row.host:
            raise exception.MigrationPreCheckError(reason=f'the server is on {row.host} already')
        used = self.read(host_usage.by_node).get((node.host, node.hypervisor_hostname))
        free_mb = node.memory_mb - node.reserved_memory_mb - (used[2] if used else 0)
        if free_mb < row.memory_mb:
            raise exception.MigrationPreCheckError(
                reason=f'{node.host} has not the memory the server needs'
            )

    def check_dest(self):
        """check_can_live_migrate_destination."""
        host = self.destination.service_host
        self.progress(started=(DEST_EVENT, host))
        return self.ask_host(
            host,
            self.compute.check_can_live_migrate_destination,
            instance=self.instance(self.row()),
            node=self.destination.nodename,
            source=self._source_facts(),
            key=self.key(CHECK_DEST),
        )

    def _source_facts(self):
        """What is on record of the source's hypervisor, as a driver tells it."""
        node = self.node_row(self.began['host'], self.began['node'])
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

    def check_source(self):
        """check_can_live_migrate_source."""
        host = self.began['host']
        self.progress(
            ended=(DEST_EVENT, self.destination.service_host), started=(SOURCE_EVENT, host)
        )
        return self.ask_host(
            host,
            self.compute.check_can_live_migrate_source,
            instance=self.instance(self.row()),
            dest=self.data[CHECK_DEST]['facts'],
            key=self.key(CHECK_SOURCE),
        )

    def end_dest_check(self):
        self.write(self.end_refused, DEST_EVENT, self.destination.service_host)

    def end_source_check(self):
        self.write(self.end_refused, SOURCE_EVENT, self.began['host'])

    def accept(self):
        """The checks have passed: from here on it is the hosts' work."""
        self.write(self._accept)
        self.data['checked'] = True

    def _accept(self, connection):
        ended = (SOURCE_EVENT, self.began['host'])
        self._progress(connection, {}, self.tasks, status=None, started=None, ended=ended)
        actions.finish_event(
            connection, self.instance_uuid, self.ctxt.request_id, self.conductor_event
        )
