"""The cell conductor: the only writer of a cell's database on behalf of its computes.

It knows neither the API database nor the top bus. Only delegation: the
transactions are in `cell_hosts`, `cell_builds` and `cell_actions`.
Source: reference/nova/cells-and-rpc 4.
"""

from oslo_log import log

from nova_lite.conductor import cell_actions
from nova_lite.conductor import cell_audit
from nova_lite.conductor import cell_builds
from nova_lite.conductor import cell_evacuations
from nova_lite.conductor import cell_hosts
from nova_lite.conductor import cell_live
from nova_lite.conductor import fence
from nova_lite.conductor import reclaim
from nova_lite.conductor import reschedule
from nova_lite.db.cell import services

LOG = log.getLogger(__name__)

BINARY, TOPIC = services.CONDUCTOR, 'conductor'


class CellConductor:
    """Implements ConductorAPI.

    db: the cell's Database; compute: a ComputeAPI client onto the cell's bus;
    clients: of placement, network, volume and image, as attributes
    """

    def __init__(self, conf, *, db, compute, clients):
        self.conf, self.db = conf, db
        self._rescheduler = reschedule.Reschedule(
            self._write, db.read, compute=compute, placement=clients.placement
        )
        self._reclaim = reclaim.Reclaim(conf, db.write, db.read, compute=compute)
        self._audit = cell_audit.Audit(
            db.write,
            db.read,
            rescheduler=self._rescheduler,
            clients=clients,
            idle_s=conf.conductor.audit_idle_s,
        )

    def _write(self, function, ctxt, *args, **kwargs):
        """One transaction, refused as a whole when the caller's epoch is old."""
        return self.db.write(_fenced, function, ctxt, args, kwargs)

    # ---- life -------------------------------------------------------------

    def start(self):
        """Record the first heartbeat."""
        self.db.write(services.beat, [self.conf.host], BINARY, TOPIC)

    def stop(self):
        """Nothing to do: every call is one transaction."""

    def report(self):
        """Record this conductor's heartbeat."""
        down_s = self.conf.service_down_time
        excused = self.db.write(cell_hosts.report, self.conf.host, BINARY, TOPIC, down_s)
        if excused:
            LOG.warning(
                'No conductor of the cell has reported for more than %s s, so it is unknown '
                'which hosts are down. %s hosts that were up before remain up for as long.',
                down_s,
                excused,
            )

    def audit(self):
        """Finish what was left without a host, delete what was kept long enough."""
        self._audit.run()
        self._reclaim.run()

    def periodics(self):
        """(seconds between, method) of what is done again and again."""
        return [(self.conf.conductor.audit_interval, self.audit)]

    def heartbeats(self):
        """(seconds between, method) of what tells that the conductor is up."""
        return [(self.conf.report_interval, self.report)]

    # ---- hosts ------------------------------------------------------------

    def beat(self, ctxt, hosts, version):
        returned = {}
        while True:
            rest = [host for host in hosts if host not in returned]
            try:
                found = self._write(cell_hosts.beat, ctxt, rest, version)
            except cell_hosts.Returned as error:
                returned |= error.hosts
                continue
            return found | returned

    def report_nodes(self, ctxt, nodes):
        return self._write(cell_hosts.report_nodes, ctxt, nodes)

    def host_records(self, ctxt, hosts, instances=None):
        return self.db.read(cell_hosts.records, hosts, instances)

    def held_guests(self, ctxt, host, guests):
        return self.db.read(cell_hosts.held_guests, host, guests)

    def unfinished(self, ctxt, hosts, idle_s):
        return self.db.read(cell_hosts.unfinished, hosts, idle_s)

    def check_epoch(self, ctxt):
        self.db.write(fence.check, ctxt)

    # ---- building ---------------------------------------------------------

    def build_started(self, ctxt, host, instance_uuid, node, group):
        return self._write(cell_builds.start, ctxt, host, instance_uuid, node=node, group=group)

    def build_finished(
        self, ctxt, host, instance_uuid, *, network_info, block_devices, power_state
    ):
        return self._write(
            cell_builds.finish,
            ctxt,
            host,
            instance_uuid,
            block_devices=block_devices,
            values={'network_info': network_info, 'power_state': power_state},
        )

    def build_failed(self, ctxt, host, instance_uuid, failure, keep_host):
        return self._write(
            cell_builds.fail, ctxt, host, instance_uuid, failure=failure, keep_host=keep_host
        )

    def build_is_over(self, ctxt, host, instance_uuid):
        return self.db.write(cell_builds.is_over, host, instance_uuid)

    def build_cleared(self, ctxt, host, instance_uuid):
        return self.db.write(cell_builds.clear, host, instance_uuid)

    def reschedule_build(self, ctxt, host, instance_uuid, failure):
        self._rescheduler.leave(ctxt, host, instance_uuid, failure)

    # ---- actions of one step ----------------------------------------------

    def action_started(
        self, ctxt, host, instance_uuid, event, *, task_state, expect_task, interrupted=()
    ):
        report = cell_actions.Report(host, instance_uuid, event, expect_task)
        self._write(
            cell_actions.start, ctxt, report, task_state=task_state, interrupted=interrupted
        )

    def action_finished(self, ctxt, host, instance_uuid, event, *, changes, expect_task):
        report = cell_actions.Report(host, instance_uuid, event, expect_task)
        return self._write(cell_actions.finish, ctxt, report, changes=changes)

    def action_failed(self, ctxt, host, instance_uuid, event, *, expect_task, failure):
        report = cell_actions.Report(host, instance_uuid, event, expect_task)
        return self._write(cell_actions.fail, ctxt, report, failure=failure)

    def delete_started(self, ctxt, host, instance_uuid, event):
        return self._write(cell_actions.start_delete, ctxt, host, instance_uuid, event=event)

    def instance_deleted(self, ctxt, host, instance_uuid, event):
        self._write(cell_actions.end, ctxt, host, instance_uuid, event=event)

    def update_network_info(self, ctxt, host, instance_uuid, network_info):
        self._write(cell_actions.change_network_info, ctxt, host, instance_uuid, network_info)

    def update_block_devices(self, ctxt, host, instance_uuid, block_devices, gone):
        self._write(
            cell_actions.change_block_devices,
            ctxt,
            host,
            instance_uuid,
            changed=block_devices,
            gone=gone,
        )

    def power_states(self, ctxt, states):
        self._write(cell_actions.note_power, ctxt, states)

    def instance_records(self, ctxt, host, instance_uuid):
        return self.db.read(cell_hosts.instance_records, host, instance_uuid)

    # ---- live migration and evacuation ------------------------------------

    def live_migration_turn(self, ctxt, host, migration_uuid, limit):
        return self._write(cell_live.take_turn, ctxt, host, migration_uuid, limit=limit)

    def live_migration_progress(self, ctxt, host, migration_uuid, counters):
        return self._write(cell_live.note_progress, ctxt, host, migration_uuid, counters=counters)

    def live_migration_answered(self, ctxt, host, migration_uuid, wish, error):
        self._write(cell_live.answer_wish, ctxt, host, migration_uuid, wish=wish, error=error)

    def ended_moves(self, ctxt, instances):
        return self.db.read(cell_live.ended_moves, instances)

    def evacuations_from(self, ctxt, hosts):
        return self.db.read(cell_evacuations.left_on, hosts)

    def evacuation_cleaned(self, ctxt, host, migration_uuid):
        self._write(cell_evacuations.cleaned, ctxt, host, migration_uuid)


def _fenced(connection, function, ctxt, args, kwargs):
    fence.check(connection, ctxt)
    return function(connection, ctxt, *args, **kwargs)
