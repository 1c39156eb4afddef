"""The manager of the cell conductor, which writes a cell's database for its computes.

It knows neither the API database nor the top bus. It only delegates: the transactions are in
the modules whose names end with `_reports`.
Source: reference/nova/cells-and-rpc 4.
"""

from collections.abc import Callable
import functools
import typing

from oslo_config import cfg
from oslo_log import log
import sqlalchemy as sa

from nova_lite import context
from nova_lite import exception
from nova_lite.clients import client_set
from nova_lite.conductor import action_reports
from nova_lite.conductor import audit
from nova_lite.conductor import build_reports
from nova_lite.conductor import device_reports
from nova_lite.conductor import evacuation_reports
from nova_lite.conductor import host_reports
from nova_lite.conductor import image_orders
from nova_lite.conductor import late_builds
from nova_lite.conductor import live_reports
from nova_lite.conductor import reclaim
from nova_lite.conductor import recording
from nova_lite.conductor import reschedule
from nova_lite.conductor import usage_audit
from nova_lite.db import transactions
from nova_lite.db.cell import fence
from nova_lite.db.cell import live_turns
from nova_lite.db.cell import services
from nova_lite.objects import instance_group
from nova_lite.rpc.methods import compute as compute_rpc
from nova_lite.rpc.methods import conductor as methods

LOG = log.getLogger(__name__)

BINARY, TOPIC = services.CONDUCTOR, 'conductor'


Ctxt: typing.TypeAlias = context.RequestContext
P = typing.ParamSpec('P')
T = typing.TypeVar('T')
# Seconds between two runs of each periodic task.
Periodic: typing.TypeAlias = tuple[float, Callable[[], None]]


def _report(
    function: Callable[typing.Concatenate[sa.Connection, Ctxt, P], T],
) -> Callable[typing.Concatenate['CellConductor', Ctxt, P], T]:
    """Return a method of ConductorAPI that is one transaction, refused if the epoch is old."""

    @functools.wraps(function)
    def method(self: 'CellConductor', ctxt: Ctxt, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._write(function, ctxt, *args, **kwargs)

    return method


def _fenced(
    function: Callable[typing.Concatenate[sa.Connection, Ctxt, P], T],
    ctxt: Ctxt,
    /,
    *args: P.args,
    **kwargs: P.kwargs,
) -> Callable[[sa.Connection], T]:
    """Return a transaction that is refused if the caller's epoch is old."""

    def fenced(connection: sa.Connection) -> T:
        fence.check(connection, ctxt)
        return function(connection, ctxt, *args, **kwargs)

    return fenced


class CellConductor:
    """Implements ConductorAPI.

    db: the cell's Database; compute: a ComputeAPI client onto the cell's bus
    peers: a ConductorAPI client onto it
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        *,
        db: transactions.Database,
        compute: compute_rpc.ComputeAPI,
        peers: methods.ConductorAPI,
        clients: client_set.Clients,
    ) -> None:
        self.conf, self.db, self._peers = conf, db, peers
        self.joined = recording.joined_by_kind(db)
        self._usage_audit = usage_audit.UsageAudit(conf, db)
        self._rescheduler = reschedule.Reschedule(
            self._write,
            db.read,
            compute=compute,
            placement=clients.placement,
            counts=build_reports.counts(conf),
        )
        self._reclaim = reclaim.Reclaim(conf, db.write, db.read, compute=compute)
        self._late_builds = late_builds.LateBuilds(conf, self._write, db.read)
        self._audit = audit.Audit(
            db.write,
            db.read,
            rescheduler=self._rescheduler,
            clients=clients,
            idle_s=conf.conductor.audit_idle_s,
        )
        self._image_orders = image_orders.ImageOrders(db.write, db.read, clients.image)

    def _write(
        self,
        function: Callable[typing.Concatenate[sa.Connection, Ctxt, P], T],
        ctxt: Ctxt,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Make one transaction, which is refused if the caller's epoch is old."""
        return self.db.write(_fenced(function, ctxt, *args, **kwargs))

    # ---- life -------------------------------------------------------------

    def start(self) -> None:
        """Add the service of a new conductor."""
        self.db.write(host_reports.introduce, self.conf.host, BINARY, TOPIC)

    def started(self) -> None:
        """Send the first heartbeat."""
        try:
            self.report()
        except exception.Unavailable as error:
            LOG.warning('Cannot send the first heartbeat: %s. Retrying later.', error)

    def stop(self) -> None:
        """Do nothing: each call is one transaction."""

    def report(self) -> None:
        """Send this conductor's heartbeat over the bus that hosts use for theirs.

        So it arrives, at any conductor of the cell, only while heartbeats of hosts can arrive.
        """
        self._peers.report_conductor(context.admin(), host=self.conf.host)

    def audit(self) -> None:
        """Finish work without a host or process, end late builds, reclaim soft-deleted servers."""
        self._audit.run()
        self._late_builds.run()
        self._reclaim.run()
        self._image_orders.run()

    def periodics(self) -> list[Periodic]:
        """Return [(seconds, method)] of the periodic tasks."""
        interval_s = self.conf.conductor.audit_interval
        usage = [(interval_s, self._usage_audit.run)] if self.conf.instance_usage_audit else []
        return [(interval_s, self.audit), *usage]

    def heartbeats(self) -> list[Periodic]:
        """Return [(seconds, method)] of the heartbeats of the conductor."""
        return [(self.conf.report_interval, self.report)]

    # ---- hosts ------------------------------------------------------------

    def report_conductor(self, ctxt: context.RequestContext, host: str) -> None:
        down_s = self.conf.service_down_time
        excused = self.db.write(host_reports.report, host, BINARY, TOPIC, down_s)
        if excused:
            LOG.warning(
                'No conductor of the cell was heard for more than %s s. That time does not count '
                'for the %s hosts that were up before: they could not be heard either.',
                down_s * services.DEAF,
                excused,
            )

    def beat(
        self,
        ctxt: context.RequestContext,
        hosts: list[str],
        version: int,
        starting: list[str] | None = None,
    ) -> dict[str, dict[str, bool]]:
        returned: dict[str, dict[str, bool]] = {}
        while True:
            rest = [host for host in hosts if host not in returned]
            try:
                found = self._write(
                    host_reports.beat,
                    ctxt,
                    rest,
                    version,
                    starting,
                    enabled=self.conf.enable_new_services,
                )
            except host_reports.Returned as error:
                returned |= error.hosts
                continue
            return found | returned

    report_nodes = _report(host_reports.report_nodes)

    def host_records(
        self, ctxt: context.RequestContext, hosts: list[str], instances: list[str] | None = None
    ) -> list[methods.HostRecord]:
        return self.db.read(host_reports.records, hosts, instances)

    def held_guests(self, ctxt: context.RequestContext, host: str, guests: list[str]) -> list[str]:
        return self.db.read(host_reports.held_guests, host, guests)

    def unfinished(
        self, ctxt: context.RequestContext, hosts: list[str], idle_s: float
    ) -> list[methods.Unfinished]:
        return self.db.read(host_reports.unfinished, hosts, idle_s)

    def check_epoch(self, ctxt: context.RequestContext) -> None:
        # Its transactions have nearly always recorded the epoch before it calls a host.
        if not self.db.read(fence.is_newest, ctxt):
            self.db.write(fence.check, ctxt)

    def reports(
        self, ctxt: context.RequestContext, kind: str, reports: list[methods.Json]
    ) -> list[typing.Any] | None:
        return self.joined[kind].write_all(
            [(Ctxt.from_wire(each['context']), each['arguments']) for each in reports]
        )

    # ---- building ---------------------------------------------------------

    def build_started(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance_uuid: str,
        node: str,
        group: instance_group.Group | None,
    ) -> str | bool:
        found: str | bool = self.joined['build_started'].write(
            ctxt, host=host, instance_uuid=instance_uuid, node=node, group=group
        )
        return found

    def build_finished(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance_uuid: str,
        network_info: list[methods.Json],
        block_devices: list[methods.Json],
        power_state: int,
    ) -> bool:
        found: bool = self.joined['build_finished'].write(
            ctxt,
            host=host,
            instance_uuid=instance_uuid,
            network_info=network_info,
            block_devices=block_devices,
            power_state=power_state,
        )
        return found

    def build_failed(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance_uuid: str,
        failure: methods.Failure,
        keep_host: bool,
    ) -> bool:
        return self._write(
            build_reports.fail,
            ctxt,
            host,
            instance_uuid,
            failure=failure,
            keep_host=keep_host,
            counts=build_reports.counts(self.conf),
        )

    def build_is_over(self, ctxt: context.RequestContext, host: str, instance_uuid: str) -> bool:
        return self.db.write(build_reports.is_over, host, instance_uuid)

    def build_cleared(self, ctxt: context.RequestContext, host: str, instance_uuid: str) -> bool:
        return self.db.write(build_reports.clear, host, instance_uuid)

    def reschedule_build(
        self, ctxt: context.RequestContext, host: str, instance_uuid: str, failure: methods.Failure
    ) -> None:
        self._rescheduler.leave(ctxt, host, instance_uuid, failure)

    # ---- actions of one step ----------------------------------------------

    action_started = _report(action_reports.start)
    action_finished = _report(action_reports.finish)
    action_failed = _report(action_reports.fail)

    def delete_started(
        self, ctxt: context.RequestContext, host: str, instance_uuid: str, event: str
    ) -> methods.Json:
        found: methods.Json = self.joined['delete_started'].write(
            ctxt, host=host, instance_uuid=instance_uuid, event=event
        )
        return found

    def instance_deleted(
        self, ctxt: context.RequestContext, host: str, instance_uuid: str, event: str
    ) -> None:
        self.joined['instance_deleted'].write(
            ctxt, host=host, instance_uuid=instance_uuid, event=event
        )

    update_block_devices = _report(device_reports.change_block_devices)
    report_volume_usage = _report(device_reports.count_volumes)

    def power_states(self, ctxt: context.RequestContext, states: list[methods.Json]) -> None:
        self._write(action_reports.note_power, ctxt, states)

    update_shares = _report(device_reports.change_shares)

    def instance_records(
        self, ctxt: context.RequestContext, host: str, instance_uuid: str
    ) -> methods.Json:
        return self.db.read(host_reports.instance_records, host, instance_uuid)

    # ---- live migration and evacuation ------------------------------------

    live_migration_turn = _report(live_turns.take)
    live_migration_progress = _report(live_reports.note_progress)
    live_migration_answered = _report(live_reports.answer_command)

    def ended_moves(self, ctxt: context.RequestContext, instances: list[str]) -> dict[str, str]:
        return self.db.read(live_reports.ended_moves, instances)

    def confirmed_moves(self, ctxt: context.RequestContext, moves: list[str]) -> list[str]:
        return self.db.read(live_reports.confirmed_moves, moves)

    def evacuations_from(
        self, ctxt: context.RequestContext, hosts: list[str]
    ) -> list[methods.Evacuation]:
        return self.db.read(evacuation_reports.left_on, hosts)

    evacuation_cleaned = _report(evacuation_reports.cleaned)
