"""The compute daemon: answers RPC for one or many hosts, by delegation.

Its configuration has no database, and this package imports none. The driver keeps guests and jobs,
the cell keeps the records, so a manager that was killed continues after a restart where it
stopped. Source: reference/nova/cells-and-rpc 4.1.
"""

from collections.abc import Callable
from collections.abc import Iterable
import functools
import typing

from oslo_config import cfg
from oslo_log import log

from nova_lite import context
from nova_lite import runtime
from nova_lite.clients import neighbours as client_set
from nova_lite.compute import audit
from nova_lite.compute import build
from nova_lite.compute import build_turns
from nova_lite.compute import claims
from nova_lite.compute import delete
from nova_lite.compute import device_calls
from nova_lite.compute import evacuate
from nova_lite.compute import fence
from nova_lite.compute import guest_work
from nova_lite.compute import guests
from nova_lite.compute import hardware
from nova_lite.compute import heartbeat
from nova_lite.compute import images
from nova_lite.compute import inventory
from nova_lite.compute import live_dest
from nova_lite.compute import live_source
from nova_lite.compute import passwords
from nova_lite.compute import plugs
from nova_lite.compute import power
from nova_lite.compute import replies
from nova_lite.compute import resume
from nova_lite.compute import site
from nova_lite.compute import snapshot_based
from nova_lite.compute import volume_usage
from nova_lite.metadata import vendor_services
from nova_lite.objects import instance as objects
from nova_lite.objects import selection as selections
from nova_lite.rpc.methods import conductor as conductor_rpc
from nova_lite.rpc.methods.compute import arguments
from nova_lite.virt import driver as protocol
from nova_lite.virt import model

LOG = log.getLogger(__name__)

Ctxt: typing.TypeAlias = context.RequestContext

START, RENEWED = ('the process', 'start'), ('the process', 'queues')
# The kind of work on a guest: a repeated deletion does not start the deletion again.
DELETE = 'delete'


def _power(name: str) -> Callable[['ComputeManager', Ctxt, str, objects.Instance], None]:
    """Return a method of ComputeAPI that does an action of `power.ACTIONS`."""

    def method(self: 'ComputeManager', ctxt: Ctxt, host: str, instance: objects.Instance) -> None:
        self._act(ctxt, host, instance, name)

    return method


class ComputeManager:
    """Implements ComputeAPI.

    hosts: names of the service hosts of this process
    reported: whether placement already has the inventories, so that the first report
        comes at its regular time
    parts: objects that implement further methods of ComputeAPI
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        *,
        hosts: Iterable[str],
        driver: protocol.Driver,
        conductor: conductor_rpc.ConductorAPI,
        neighbours: client_set.Neighbours,
        reported: bool = False,
    ) -> None:
        self.conf = conf
        self._reported = reported
        jobs = guest_work.Jobs(driver, threads=conf.compute.job_threads)
        self.site = site.Site(
            conf=conf,
            hosts=tuple(hosts),
            nodes=site.nodes_of(tuple(hosts), driver.list_nodes()),
            driver=driver,
            conductor=conductor,
            placement=neighbours.placement,
            network=neighbours.network,
            volume=neighbours.volume,
            share=neighbours.share,
            image=neighbours.image,
            vendor_services=vendor_services.Services(conf),
            jobs=jobs,
            hardware=hardware.Hardware(driver, conf),
            claims=claims.Claims(driver, lambda node: self._inventory.note_held(node)),
            plugs=plugs.Plugs(),
            build_turns=build_turns.BuildTurns(conf, jobs.wake),
        )
        self._inventory = self.site.inventory = inventory.Inventory(self.site)
        self._audit = audit.Audit(self.site)
        self._resume = resume.Resume(self.site, self)
        self.fence = fence.Fence(conductor)
        self.parts = (
            snapshot_based.SnapshotBased(self.site),
            live_source.LiveSource(self.site),
            live_dest.LiveDestination(self.site),
            evacuate.Evacuation(self.site),
            device_calls.DeviceCalls(self.site),
        )
        self._heartbeat = heartbeat.Heartbeat(self.site, self._inventory, lambda: self.is_coming_up)

    # ---- life -------------------------------------------------------------

    def start(self) -> None:
        """Start: register the hosts and resume unfinished work in the background."""
        self.site.jobs.start()
        self.site.jobs.run(START, self._come_up(), here=False)

    def stop(self) -> bool:
        """Wait until running work has reached its next wait. Return whether it did so in time.

        Guests and the driver's jobs continue, and the next start resumes the work.
        """
        return self.site.jobs.stop(self.conf.graceful_shutdown_timeout)

    def _come_up(self) -> guest_work.Work[None]:
        yield from guest_work.insist(self.beat)
        yield from guest_work.insist(self._resume.run, 0)
        if not self._reported:
            yield from guest_work.insist(self._inventory.report)
        LOG.info('%s hosts are in service', len(self.site.hosts))

    def queues_renewed(self) -> None:
        """Resume work whose messages may be lost with the former queues of the hosts."""
        self.site.jobs.run(RENEWED, self._find_lost(), here=False, kind='renewed')

    def _find_lost(self) -> guest_work.Work[None]:
        LOG.info('The queues were declared again. Searching for work without a message.')
        yield from guest_work.insist(self._resume.run, 0)

    @property
    def is_coming_up(self) -> bool:
        """Return whether the hosts have not yet reported after the start."""
        return self.site.jobs.has(START)

    def periodics(self) -> list[tuple[float, Callable[[], None]]]:
        """Return [(seconds, method)] of the periodic tasks."""
        options, poll_s = self.conf.compute, self.conf.volume_usage_poll_interval
        return [
            (options.resource_update_interval, self.report_inventory),
            (options.audit_interval, self.audit),
            *([(poll_s, self.report_volume_usage)] if poll_s > 0 else ()),
        ]

    def heartbeats(self) -> list[tuple[float, Callable[[], None]]]:
        """Return [(seconds, method)] of the heartbeats of the hosts."""
        return [(self.conf.report_interval, self.beat)]

    def beat(self) -> None:
        """Send one heartbeat for all hosts that are up."""
        self._heartbeat.send()

    def report_inventory(self) -> None:
        """Report changes of the hosts to the cell and placement."""
        if not self.is_coming_up:
            self._inventory.report()

    def report_volume_usage(self) -> None:
        """Report the counters of the volumes of running guests to the cell."""
        volume_usage.report_all(self.site)

    def audit(self) -> None:
        """Compare guests and records, and resume unfinished work."""
        self._audit.run()
        self._resume.run(self.conf.compute.audit_interval)

    # ---- life of a server -------------------------------------------------

    def build_instance(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        *,
        selection: selections.Selection,
        block_devices: arguments.Devices,
        requested_networks: arguments.Networks,
        options: model.Json,
    ) -> None:
        order = build.Order(instance, selection, block_devices, requested_networks, options)
        self._build(ctxt, host, order)

    def build_instances(
        self, ctxt: context.RequestContext, host: str, builds: list[arguments.Json]
    ) -> None:
        for values in builds:
            own = Ctxt.from_wire(values.pop('context'))
            with own.bound():
                self._build(own, host, build.Order(**values), here=False)

    def rebuild_after_loss(
        self, ctxt: context.RequestContext, host: str, order: build.Order
    ) -> None:
        """Repeat an unfinished build; see `resume`."""
        order.again = True
        self._build(ctxt, host, order)

    def _build(
        self, ctxt: context.RequestContext, host: str, order: build.Order, *, here: bool = True
    ) -> None:
        work = build.Build(self.site, ctxt, host, order).run()
        self.site.jobs.run((host, order.instance.uuid), work, here=here)

    def clear_build(self, ctxt: context.RequestContext, host: str, order: build.Order) -> None:
        """Clean up a failed build on its host; see `resume`."""
        work = build.Build(self.site, ctxt, host, order).clear()
        self.site.jobs.run((host, order.instance.uuid), work)

    def external_instance_event(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance_uuid: str,
        events: list[arguments.Json],
    ) -> None:
        plugged = {event['tag']: event['status'] for event in events}
        key = host, instance_uuid
        if self.site.plugs.note(key, plugged):
            self.site.jobs.wake(key)

    def delete_instance(
        self, ctxt: context.RequestContext, host: str, instance: objects.Instance
    ) -> None:
        self._delete(ctxt, host, instance)

    def delete_instances(
        self, ctxt: context.RequestContext, host: str, deletions: list[arguments.Json]
    ) -> None:
        for values in deletions:
            own = Ctxt.from_wire(values['context'])
            with own.bound():
                self._delete(own, host, values['instance'], here=False)

    def _delete(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        *,
        here: bool = True,
    ) -> None:
        work = delete.delete(self.site, ctxt, host, instance)
        self.site.jobs.run((host, instance.uuid), work, interrupts=True, kind=DELETE, here=here)

    # ---- power ------------------------------------------------------------

    def _act(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        name: str,
    ) -> None:
        self._run(host, instance, name, power.act(self.site, ctxt, host, instance, name=name))

    def _run(
        self, host: str, instance: objects.Instance, name: str, work: guest_work.Work[None]
    ) -> None:
        interrupts = power.ACTIONS[name].interrupts
        self.site.jobs.run((host, instance.uuid), work, interrupts=interrupts)

    start_instance = _power('start')
    stop_instance = _power('stop')

    def power_update(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        target_power_state: str,
    ) -> None:
        self._act(ctxt, host, instance, power.UPDATES[target_power_state])

    soft_delete_instance = _power('soft_delete')
    restore_instance = _power('restore')

    def reboot_instance(
        self, ctxt: context.RequestContext, host: str, instance: objects.Instance, reboot_type: str
    ) -> None:
        self._act(ctxt, host, instance, f'reboot_{reboot_type.lower()}')

    pause_instance = _power('pause')
    unpause_instance = _power('unpause')
    suspend_instance = _power('suspend')
    resume_instance = _power('resume')

    def rescue_instance(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        rescue_image_ref: str | None,
    ) -> None:
        spec = guests.spec_of(self.conf, instance, image_id=rescue_image_ref)
        node = self.site.node_of(host, instance)
        spec = self.site.claims.keep_nodes(node, spec)
        check = images.check_rescue(self.site, ctxt, node, spec)
        start = functools.partial(
            self.site.driver.change_power, action=model.PowerAction.RESCUE, spec=spec
        )
        work = power.act(self.site, ctxt, host, instance, name='rescue', check=check, start=start)
        self._run(host, instance, 'rescue', work)

    unrescue_instance = _power('unrescue')

    def check_set_admin_password(
        self, ctxt: context.RequestContext, host: str, instance_uuid: str, has_agent: bool
    ) -> None:
        passwords.check(self.site, host, instance_uuid, has_agent=has_agent)

    def set_admin_password(
        self, ctxt: context.RequestContext, host: str, instance: objects.Instance, password: str
    ) -> None:
        work = passwords.change(self.site, ctxt, host, instance, password)
        self.site.jobs.run((host, instance.uuid), work)

    def trigger_crash_dump(
        self, ctxt: context.RequestContext, host: str, instance: objects.Instance, key: str
    ) -> replies.Reply:
        action = model.PowerAction.TRIGGER_CRASH_DUMP
        node = self.site.node_of(host, instance)
        job = self.site.driver.change_power(node, instance.uuid, action, key=key)
        return replies.reply(self.site.driver, job)

    # ---- images and reading -----------------------------------------------

    def snapshot_instance(
        self, ctxt: context.RequestContext, host: str, instance: objects.Instance, image_id: str
    ) -> None:
        work = images.snapshot(self.site, ctxt, host, instance, image_id=image_id)
        self.site.jobs.run((host, instance.uuid), work)

    def get_console_output(
        self, ctxt: context.RequestContext, host: str, instance_uuid: str, tail_length: int | None
    ) -> str:
        return self.site.driver.get_console_output(
            self.site.node_with(host, instance_uuid), instance_uuid, tail_length
        )

    def get_diagnostics(
        self, ctxt: context.RequestContext, host: str, instance_uuid: str
    ) -> model.Json:
        node = self.site.node_with(host, instance_uuid)
        guests.require_running(self.site.driver, node, instance_uuid, action='get_diagnostics')
        return self.site.driver.get_diagnostics(node, instance_uuid)

    # ---- the host ---------------------------------------------------------

    def guest_ports(self, ctxt: context.RequestContext, host: str) -> dict[str, list[str]]:
        return {
            guest.uuid: [
                device.id
                for device in guest.spec.devices
                if device.kind is model.DeviceKind.INTERFACE
            ]
            for node in self.site.nodes[host]
            for guest in self.site.driver.list_guests(node)
            if guest.role is model.Role.RESIDENT
        }

    def set_host_enabled(self, ctxt: context.RequestContext, host: str, enabled: bool) -> None:
        self._inventory.set_enabled(host, enabled)

    def host_uptime(self, ctxt: context.RequestContext, host: str) -> str:
        facts = self.site.driver.get_facts(self.site.nodes[host][0])
        up_s = max(0, int(runtime.timestamp() - facts.booted_at))
        hours, minutes = up_s % 86400 // 3600, up_s % 3600 // 60
        return f' {runtime.now():%H:%M:%S} up {up_s // 86400} days, {hours:2}:{minutes:02}'

    def cache_images(
        self, ctxt: context.RequestContext, host: str, image_ids: list[str]
    ) -> dict[str, images.Cached]:
        return images.cache(self.site, ctxt, host, image_ids)
