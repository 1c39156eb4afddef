"""Resume unfinished work of the hosts, after a restart or a lost message.

The cell finds unfinished work by the servers' tasks. The work is started again under its own
request id, so effects that took place are found and not repeated. Work that does not end in
several attempts is given up with a fault. A deletion, and the cleanup of a failed build or of a
build whose server was deleted without its host, are never given up, but tried less and less
often. Work on a node without power waits.
"""

import collections
import typing

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite import states
from nova_lite.clients import backups
from nova_lite.clients import release
from nova_lite.compute import build as build_module
from nova_lite.compute import delete
from nova_lite.compute import guest_work
from nova_lite.compute import images
from nova_lite.compute import passwords
from nova_lite.compute import power
from nova_lite.compute import site
from nova_lite.objects import instance as objects
from nova_lite.objects import selection as selection_objects
from nova_lite.rpc.methods import conductor as conductor_rpc
from nova_lite.states import transitions
from nova_lite.virt import model

LOG = log.getLogger(__name__)

ATTEMPTS = 3
# Work that is never given up is tried in the first runs, and later only in each so many runs,
# because calls of a neighbour that hangs occupy threads that other work needs.
FIRST, EACH = 2, 4
Task = states.TaskState
POWER: dict[str | None, str] = {
    task: name
    for name, action in power.ACTIONS.items()
    for task in action.tasks
    if action.event != transitions.POWER_UPDATE
}
# {name of an action: target of the power update that does it}
TARGETS = {'start': 'POWER_ON', 'stop': 'POWER_OFF'}
# No record has the password.
REPEATED = frozenset(power.ACTIONS) - {passwords.ACTION}
# The API's note of the image to boot from, in a server's system metadata.
RESCUE_IMAGE = 'rescue_image_ref'
# Name of the work on a build that is over, in the log.
CLEAR = 'what a build has left'
IMAGES = frozenset(images.SNAPSHOT.tasks)


class Manager(typing.Protocol):
    """The methods of a ComputeManager with which work is resumed."""

    def rebuild_after_loss(
        self, ctxt: context.RequestContext, host: str, order: build_module.Order
    ) -> None: ...

    def clear_build(
        self, ctxt: context.RequestContext, host: str, order: build_module.Order
    ) -> None: ...

    def delete_instance(
        self, ctxt: context.RequestContext, host: str, instance: objects.Instance
    ) -> None: ...

    def power_update(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        target_power_state: str,
    ) -> None: ...

    def reboot_instance(
        self, ctxt: context.RequestContext, host: str, instance: objects.Instance, reboot_type: str
    ) -> None: ...

    def rescue_instance(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        rescue_image_ref: str | None,
    ) -> None: ...

    def snapshot_instance(
        self, ctxt: context.RequestContext, host: str, instance: objects.Instance, image_id: str
    ) -> None: ...


class Resume:
    """Resumes unfinished work. manager: a Manager, whose methods messages call as well"""

    def __init__(self, site: site.Site, manager: Manager) -> None:
        self._site, self._manager = site, manager
        self._attempts = collections.Counter[tuple[str, str | None, bool]]()

    def run(self, idle_s: float) -> None:
        """Resume work that has not changed for `idle_s` seconds."""
        found = self._site.conductor.unfinished(
            context.admin(), hosts=self._site.up_hosts(), idle_s=idle_s
        )
        up = self._site.driver.up_nodes()
        for work in found:
            instance = work['instance']
            busy = self._site.jobs.has((instance.host, instance.uuid))
            node = self._site.node_of(instance.host, instance)
            if not busy and node in up:
                ctxt = context.RequestContext.from_wire(work['context'])
                with ctxt.bound():
                    self._take_up(ctxt, work)
        current = {self._name(work) for work in found}
        for name in [name for name in self._attempts if name not in current]:
            del self._attempts[name]

    def _name(self, work: conductor_rpc.Unfinished) -> tuple[str, str | None, bool]:
        instance = work['instance']
        return instance.uuid, work['context'].get('request_id'), _is_over(work)

    def _take_up(self, ctxt: context.RequestContext, work: conductor_rpc.Unfinished) -> None:
        instance = work['instance']
        self._attempts[self._name(work)] += 1
        attempt = self._attempts[self._name(work)]
        deletes = instance.task_state in delete.DELETE.tasks
        clears = _is_over(work)
        if (deletes or clears) and attempt > FIRST and attempt % EACH:
            return
        LOG.info('Resuming %s of server %s', instance.task_state or CLEAR, instance.uuid)
        if deletes:
            self._manager.delete_instance(ctxt, instance.host, instance)
        elif clears:
            self._manager.clear_build(ctxt, instance.host, _order(work))
        elif attempt > ATTEMPTS:
            error = exception.NovaLiteError(
                f'{instance.task_state} could not be finished in {ATTEMPTS} attempts'
            )
            self._give_up(ctxt, work, error)
        elif _is_building(work):
            self._build(ctxt, work)
        elif POWER.get(instance.task_state) in REPEATED:
            self._power(ctxt, work)
        elif instance.task_state in IMAGES and (order := _image_order(ctxt, instance)):
            self._manager.snapshot_instance(ctxt, instance.host, instance, order.image_id)
        else:
            self._give_up(ctxt, work, _interrupted(instance))

    def _build(self, ctxt: context.RequestContext, work: conductor_rpc.Unfinished) -> None:
        if not work['build']:
            error = exception.NovaLiteError('the arguments of the build are missing')
            self._give_up(ctxt, work, error)
            return
        self._manager.rebuild_after_loss(ctxt, work['instance'].host, _order(work))

    def _power(self, ctxt: context.RequestContext, work: conductor_rpc.Unfinished) -> None:
        instance = work['instance']
        name = POWER[instance.task_state]
        if name.startswith('reboot_'):
            kind = name.removeprefix('reboot_').upper()
            self._manager.reboot_instance(ctxt, instance.host, instance, kind)
        elif name == 'rescue':
            image_id = instance.system_metadata.get(RESCUE_IMAGE)
            self._manager.rescue_instance(ctxt, instance.host, instance, image_id)
        elif _is_update(work):
            self._manager.power_update(ctxt, instance.host, instance, TARGETS[name])
        else:
            getattr(self._manager, f'{name}_instance')(ctxt, instance.host, instance)

    def _give_up(
        self,
        ctxt: context.RequestContext,
        work: conductor_rpc.Unfinished,
        error: exception.NovaLiteError,
    ) -> None:
        key = work['instance'].host, work['instance'].uuid
        self._site.jobs.run(key, self._end(ctxt, work, error))

    def _end(
        self,
        ctxt: context.RequestContext,
        work: conductor_rpc.Unfinished,
        error: exception.NovaLiteError,
    ) -> guest_work.Work[None]:
        """Clear the task of work that is given up; work for `guest_work`."""
        instance = work['instance']
        host, uuid = instance.host, instance.uuid
        LOG.warning('Cannot resume the work on server %s: %s', uuid, error)
        if _is_building(work):
            failure: conductor_rpc.Failure = {'error': error.message, 'details': None}
            yield from guest_work.insist(
                self._site.conductor.build_failed,
                ctxt,
                host=host,
                instance_uuid=uuid,
                failure=failure,
                keep_host=True,
            )
            return
        if instance.task_state in IMAGES:
            yield from guest_work.persist(release.drop_snapshots, self._site.image, ctxt, uuid)
        action, changes = self._what_is_left(ctxt, work)
        yield from power.fail(self._site, ctxt, host, uuid, action, error=error, changes=changes)

    def _what_is_left(
        self, ctxt: context.RequestContext, work: conductor_rpc.Unfinished
    ) -> tuple[power.Failing, model.Json]:
        """Return (action, changes of the record) of an action that is given up."""
        instance = work['instance']
        if instance.task_state in IMAGES:
            return images.action_of(ctxt, instance), {}
        name = POWER[instance.task_state]
        action = power.ACTIONS[power.UPDATES[TARGETS[name]] if _is_update(work) else name]
        node = self._site.node_of(instance.host, instance)
        if instance.task_state in (Task.SOFT_DELETING, Task.RESTORING):
            return action, power.left_behind(self._site, node, instance.uuid, action)
        try:
            guest = self._site.driver.get_guest(node, instance.uuid)
        except exception.GuestNotFound:
            return action, {'vm_state': states.VmState.ERROR}
        changes: model.Json = {'power_state': int(guest.power_state)}
        if guest.rescued and states.VmState.RESCUED in action.transition.results:
            changes['vm_state'] = states.VmState.RESCUED
        return action, changes


def _is_update(work: conductor_rpc.Unfinished) -> bool:
    """Return whether work on the power of a guest is a power update."""
    return work.get('event') == transitions.POWER_UPDATE


def _image_order(ctxt: context.RequestContext, instance: objects.Instance) -> backups.Order | None:
    """Return the note of this request for an image; None if it is that of another request."""
    return backups.noted(instance.system_metadata, ctxt.request_id)


def _is_building(work: conductor_rpc.Unfinished) -> bool:
    return work['instance'].vm_state == states.VmState.BUILDING or work.get('continues', False)


def _is_over(work: conductor_rpc.Unfinished) -> bool:
    """Return whether the build of the server is over, so that only its remains are cleaned up."""
    return work['instance'].task_state is None and not _is_building(work)


def _order(work: conductor_rpc.Unfinished) -> build_module.Order:
    build = work['build'] or {}
    return build_module.Order(
        instance=work['instance'],
        selection=selection_objects.Selection(**build['selection']),
        block_devices=work['block_devices'],
        requested_networks=build.get('requested_networks'),
        options=build.get('options', {}),
    )


def _interrupted(instance: objects.Instance) -> exception.NovaLiteError:
    return exception.NovaLiteError(f'{instance.task_state} was interrupted by a restart')
