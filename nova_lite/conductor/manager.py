"""The cell conductor: the only writer of a cell's database on behalf of its computes.

It knows neither the API database nor the top bus. Only delegation: the transactions are
in the modules of reports.
Source: reference/nova/cells-and-rpc 4.
"""

import typing

from oslo_config import cfg
from oslo_log import log

from nova_lite.clients import release
from nova_lite.conductor import action_reports
from nova_lite.conductor import audit
from nova_lite.conductor import build_reports
from nova_lite.conductor import evacuation_reports
from nova_lite.conductor import host_reports
from nova_lite.conductor import live_reports
from nova_lite.conductor import reclaim
from nova_lite.conductor import reschedule
from nova_lite.db import engine
from nova_lite.db.cell import fence
from nova_lite.db.cell import services
from nova_lite.rpcapi import compute as compute_rpc

LOG = log.getLogger(__name__)

BINARY, TOPIC = services.CONDUCTOR, 'conductor'


class Clients(release.Clients, typing.Protocol):
    """The clients of all services that a cell's conductor uses."""

    @property
    def placement(self) -> reschedule.Placement: ...


class CellConductor:
    """Implements ConductorAPI.

    db: the cell's Database; compute: a ComputeAPI client onto the cell's bus
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        *,
        db: engine.Database,
        compute: compute_rpc.ComputeAPI,
        clients: Clients,
    ) -> None:
        self.conf, self.db = conf, db
        self._rescheduler = reschedule.Reschedule(
            self._write, db.read, compute=compute, placement=clients.placement
        )
        self._reclaim = reclaim.Reclaim(conf, db.write, db.read, compute=compute)
        self._audit = audit.Audit(
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
        excused = self.db.write(host_reports.report, self.conf.host, BINARY, TOPIC, down_s)
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
                found = self._write(host_reports.beat, ctxt, rest, version)
            except host_reports.Returned as error:
                returned |= error.hosts
                continue
            return found | returned

    def report_nodes(self, ctxt, nodes):
        return self._write(host_reports.report_nodes, ctxt, nodes)

    def host_records(self, ctxt, hosts, instances=None):
        return self.db.read(host_reports.records, hosts, instances)

    def held_guests(self, ctxt, host, guests):
        return self.db.read(host_reports.held_guests, host, guests)

    def unfinished(self, ctxt, hosts, idle_s):
        return self.db.read(host_reports.unfinished, hosts, idle_s)

    def check_epoch(self, ctxt):
        self.db.write(fence.check, ctxt)

    # ---- building ---------------------------------------------------------

    def build_started(self, ctxt, host, instance_uuid, node, group):
        return self._write(build_reports.start, ctxt, host, instance_uuid, node=node, group=group)

    def build_finished(
        self, ctxt, host, instance_uuid, *, network_info, block_devices, power_state
    ):
        return self._write(
            build_reports.finish,
            ctxt,
            host,
            instance_uuid,
            block_devices=block_devices,
            values={'network_info': network_info, 'power_state': power_state},
        )

    def build_failed(self, ctxt, host, instance_uuid, failure, keep_host):
        return self._write(
            build_reports.fail, ctxt, host, instance_uuid, failure=failure, keep_host=keep_host
        )

    def build_is_over(self, ctxt, host, instance_uuid):
        return self.db.write(build_reports.is_over, host, instance_uuid)

    def build_cleared(self, ctxt, host, instance_uuid):
        return self.db.write(build_reports.clear, host, instance_uuid)

    def reschedule_build(self, ctxt, host, instance_uuid, failure):
        self._rescheduler.leave(ctxt, host, instance_uuid, failure)

    # ---- actions of one step ----------------------------------------------

    def action_started(
        self, ctxt, host, instance_uuid, event, *, task_state, expect_task, interrupted=()
    ):
        report = action_reports.Report(host, instance_uuid, event, expect_task)
        self._write(
            action_reports.start, ctxt, report, task_state=task_state, interrupted=interrupted
        )

    def action_finished(self, ctxt, host, instance_uuid, event, *, changes, expect_task):
        report = action_reports.Report(host, instance_uuid, event, expect_task)
        return self._write(action_reports.finish, ctxt, report, changes=changes)

    def action_failed(self, ctxt, host, instance_uuid, event, *, expect_task, failure):
        report = action_reports.Report(host, instance_uuid, event, expect_task)
        return self._write(action_reports.fail, ctxt, report, failure=failure)

    def delete_started(self, ctxt, host, instance_uuid, event):
        return self._write(action_reports.start_delete, ctxt, host, instance_uuid, event=event)

    def instance_deleted(self, ctxt, host, instance_uuid, event):
        self._write(action_reports.end, ctxt, host, instance_uuid, event=event)

    def update_network_info(self, ctxt, host, instance_uuid, network_info):
        self._write(action_reports.change_network_info, ctxt, host, instance_uuid, network_info)

    def update_block_devices(self, ctxt, host, instance_uuid, block_devices, gone):
        self._write(
            action_reports.change_block_devices,
            ctxt,
            host,
            instance_uuid,
            changed=block_devices,
            gone=gone,
        )

    def power_states(self, ctxt, states):
        self._write(action_reports.note_power, ctxt, states)

    def instance_records(self, ctxt, host, instance_uuid):
        return self.db.read(host_reports.instance_records, host, instance_uuid)

    # ---- live migration and evacuation ------------------------------------

    def live_migration_turn(self, ctxt, host, migration_uuid, limit):
        return self._write(live_reports.take_turn, ctxt, host, migration_uuid, limit=limit)

    def live_migration_progress(self, ctxt, host, migration_uuid, counters):
        return self._write(
            live_reports.note_progress, ctxt, host, migration_uuid, counters=counters
        )

    def live_migration_answered(self, ctxt, host, migration_uuid, wish, error):
        self._write(live_reports.answer_wish, ctxt, host, migration_uuid, wish=wish, error=error)

    def ended_moves(self, ctxt, instances):
        return self.db.read(live_reports.ended_moves, instances)

    def evacuations_from(self, ctxt, hosts):
        return self.db.read(evacuation_reports.left_on, hosts)

    def evacuation_cleaned(self, ctxt, host, migration_uuid):
        self._write(evacuation_reports.cleaned, ctxt, host, migration_uuid)


def _fenced(connection, function, ctxt, args, kwargs):
    fence.check(connection, ctxt)
    return function(connection, ctxt, *args, **kwargs)
