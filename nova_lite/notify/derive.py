"""The tables from changed records to notifications.

The records are those of servers' actions and their events, which each operation writes. So a
notification agrees with the record, and is sent when the record is committed.
Source: reference/nova/moves 7, reference/nova/cells-and-rpc 6.
"""

import dataclasses
import typing

from nova_lite.db import notes
from nova_lite.notify import payloads
from nova_lite.notify import spec_payloads
from nova_lite.notify import usage_payloads

API, CONDUCTOR, COMPUTE = 'nova-api', 'nova-conductor', 'nova-compute'
SCHEDULER = 'nova-scheduler'
START, END, ERROR = 'start', 'end', 'error'
BOTH = (START, END)
ALL = (START, END, ERROR)
# The host of a notification: that of the event, or the source of the migration.
OWN, SOURCE = 'own', 'source'


@dataclasses.dataclass(frozen=True)
class Notification:
    """The notification of one event of a server's action: `instance.ACTION.PHASE`.

    phases: phases of the event that have a notification; at: OWN or SOURCE
    error_as: action whose `.error` is sent for a failure, if it is not this action
    plain: whether its type is `instance.ACTION`, without a phase
    asked: the action of the request, if its event belongs to several
    """

    action: str
    phases: tuple[str, ...] = BOTH
    payload: type[payloads.InstancePayload] = payloads.InstanceActionPayload
    binary: str = COMPUTE
    at: str = OWN
    error_as: str | None = None
    move: bool = False
    plain: bool = False
    asked: str | None = None

    def type_of(self, phase: str) -> str | None:
        """Return the event type for a phase of the event, or None if it has none."""
        if phase == ERROR and self.error_as:
            return f'instance.{self.error_as}.error'
        if phase not in self.phases:
            return None
        return f'instance.{self.action}' + ('' if self.plain else f'.{phase}')

    def types(self) -> list[str]:
        """Return the event types of all phases."""
        return [found for found in map(self.type_of, ALL) if found]


def _moves(action: str, **more: typing.Any) -> Notification:
    return Notification(action, move=True, **more)


# The state of the server before the move, for accounting.
_EXISTS = _moves('exists', phases=(START,), payload=payloads.InstanceExistsPayload, plain=True)
_PREP = (
    _EXISTS,
    _moves('resize_prep', payload=payloads.InstanceActionResizePrepPayload, error_as='resize'),
)
_LEAVE = (_moves('resize', phases=ALL),)
_FINISH = (_moves('resize_finish', error_as='resize'),)
_REVERTED = (_moves('resize_revert', phases=(END,)),)
_VOLUME: dict[str, typing.Any] = {'payload': payloads.InstanceActionVolumePayload}
_SHARE: dict[str, typing.Any] = {'payload': payloads.InstanceActionSharePayload, 'phases': ALL}
_SNAPSHOT = (Notification('snapshot', payload=payloads.InstanceActionSnapshotPayload),)

# Notifications of an event of an action. Starts are sent in this order, ends in reverse.
EVENTS = {
    'compute__do_build_and_run_instance': (
        Notification('create', phases=ALL, payload=payloads.InstanceCreatePayload),
    ),
    'compute_terminate_instance': (Notification('delete'), Notification('shutdown')),
    'api_local_delete': (Notification('delete', binary=API),),
    'compute_soft_delete_instance': (Notification('soft_delete'),),
    'compute_restore_instance': (Notification('restore'),),
    'compute_start_instance': (Notification('power_on'),),
    'compute_stop_instance': (Notification('power_off'),),
    'compute_power_update': (
        Notification('power_on', asked='start'),
        Notification('power_off', asked='stop'),
    ),
    'compute_reboot_instance': (Notification('reboot', phases=ALL),),
    'compute_pause_instance': (Notification('pause'),),
    'compute_unpause_instance': (Notification('unpause'),),
    'compute_suspend_instance': (Notification('suspend'),),
    'compute_resume_instance': (Notification('resume'),),
    'compute_rescue_instance': (
        Notification('rescue', payload=payloads.InstanceActionRescuePayload),
    ),
    'compute_unrescue_instance': (Notification('unrescue'),),
    'compute_trigger_crash_dump': (Notification('trigger_crash_dump'),),
    'compute_snapshot_instance': _SNAPSHOT,
    'compute_backup_instance': _SNAPSHOT,
    'compute_attach_volume': (Notification('volume_attach', phases=ALL, **_VOLUME),),
    'compute_detach_volume': (Notification('volume_detach', **_VOLUME),),
    'api_attach_volume': (Notification('volume_attach', phases=ALL, binary=API, **_VOLUME),),
    'api_detach_volume': (Notification('volume_detach', binary=API, **_VOLUME),),
    'compute_swap_volume': (
        Notification('volume_swap', phases=ALL, payload=payloads.InstanceActionVolumeSwapPayload),
    ),
    'compute_allow_share': (Notification('share_attach', **_SHARE),),
    'compute_deny_share': (Notification('share_detach', **_SHARE),),
    'compute_attach_interface': (Notification('interface_attach', phases=ALL),),
    'compute_detach_interface': (Notification('interface_detach'),),
    'compute_prep_resize': _PREP,
    'compute_prep_snapshot_based_resize_at_dest': _PREP,
    'compute_resize_instance': _LEAVE,
    'compute_prep_snapshot_based_resize_at_source': _LEAVE,
    'compute_finish_resize': _FINISH,
    'compute_finish_snapshot_based_resize_at_dest': _FINISH,
    'compute_confirm_resize': (_moves('resize_confirm'),),
    'compute_revert_resize': (_EXISTS, _moves('resize_revert', phases=(START,))),
    'compute_finish_revert_resize': _REVERTED,
    'compute_finish_revert_snapshot_based_resize_at_source': _REVERTED,
    'compute_pre_live_migration': (_moves('live_migration_pre'),),
    'compute_post_live_migration_at_destination': (
        _moves('live_migration_post', at=SOURCE),
        _moves('live_migration_post_dest'),
    ),
    'compute_rollback_live_migration_at_destination': (
        _moves('live_migration_rollback', at=SOURCE),
        _moves('live_migration_rollback_dest'),
    ),
    'compute_live_migration_abort': (_moves('live_migration_abort'),),
    'compute_live_migration_force_complete': (_moves('live_migration_force_complete'),),
    'compute_rebuild_instance': (
        _EXISTS,
        _moves('rebuild', phases=ALL, payload=payloads.InstanceActionRebuildPayload),
    ),
    'compute_shelve_instance': (Notification('shelve'),),
    'compute_shelve_offload_instance': (Notification('shelve_offload'),),
    'compute_unshelve_instance': (Notification('unshelve'),),
}

# Event of a conductor's work: the task of `compute_task.TASK.error`, sent when it fails.
TASKS = {
    'conductor_schedule_and_build_instances': 'build_instances',
    'conductor_migrate_server': 'migrate_server',
    'conductor_live_migrate_instance': 'migrate_server',
    'rebuild_server': 'rebuild_server',
}
# Notification when the conductor's part has succeeded.
SCHEDULED = {
    'rebuild_server': Notification(
        'rebuild_scheduled',
        payload=payloads.InstanceActionRebuildPayload,
        binary=CONDUCTOR,
        move=True,
    ),
}

# Actions without events: one notification each, without a phase.
ACTIONS = {
    'evacuate': Notification('evacuate', binary=API, move=True),
    'lock': Notification('lock', binary=API),
    'unlock': Notification('unlock', binary=API),
}

UPDATE = 'instance.update'
# The note of a usage audit, which finds that a server exists.
EXISTS_NOTE, EXISTS = 'exists', 'instance.exists'
EXCEPTION = 'compute.exception'

# Records without a server: {kind of note: its phases} (none: one notification).
RECORDS = {
    'aggregate.create': (payloads.AggregatePayload, BOTH),
    'aggregate.delete': (payloads.AggregatePayload, BOTH),
    'aggregate.add_host': (payloads.AggregatePayload, BOTH),
    'aggregate.remove_host': (payloads.AggregatePayload, BOTH),
    'aggregate.update_prop': (payloads.AggregatePayload, BOTH),
    'aggregate.update_metadata': (payloads.AggregatePayload, BOTH),
    'aggregate.cache_images': (payloads.AggregatePayload, BOTH),
    'aggregate.cache_images.progress': (payloads.AggregateCachePayload, ()),
    'flavor.create': (payloads.FlavorPayload, ()),
    'flavor.update': (payloads.FlavorPayload, ()),
    'flavor.delete': (payloads.FlavorPayload, ()),
    'keypair.create': (payloads.KeypairPayload, BOTH),
    'keypair.import': (payloads.KeypairPayload, BOTH),
    'keypair.delete': (payloads.KeypairPayload, BOTH),
    'server_group.create': (payloads.ServerGroupPayload, ()),
    'server_group.delete': (payloads.ServerGroupPayload, ()),
    'server_group.add_member': (payloads.ServerGroupPayload, ()),
    'service.create': (payloads.ServiceStatusPayload, ()),
    'service.update': (payloads.ServiceStatusPayload, ()),
    'service.delete': (payloads.ServiceStatusPayload, ()),
    'scheduler.select_destinations': (spec_payloads.RequestSpecPayload, BOTH),
    'metrics.update': (usage_payloads.MetricsPayload, ()),
    'volume.usage': (usage_payloads.VolumeUsagePayload, ()),
}

# Records about a host, which their facts name.
OF_HOSTS = ('metrics.update', 'volume.usage')


def concerns(note: notes.Note) -> bool:
    """Return whether a note may lead to a notification."""
    if note.what == 'event':
        return _is_told(note.facts['event'], note.facts['phase'])
    if note.what == 'action':
        return note.facts['action'] in ACTIONS
    return note.what in (EXISTS_NOTE, 'change') or note.what in RECORDS


def _is_told(event: str, phase: str) -> bool:
    """Return whether a phase of an event may lead to a notification."""
    if phase == ERROR:
        return event in EVENTS or event in TASKS or event.startswith('compute_')
    if event in TASKS:
        return phase == END and event in SCHEDULED
    return any(declared.type_of(phase) for declared in EVENTS.get(event, ()))


def needs_moves(note: notes.Note) -> bool:
    """Return whether the server's migration is part of the notifications of a note."""
    if note.what == 'event':
        event = note.facts['event']
        return event in SCHEDULED or any(declared.move for declared in EVENTS.get(event, ()))
    return note.what == 'action' and ACTIONS[note.facts['action']].move


def needs_tags(note: notes.Note) -> bool:
    """Return whether the server's tags are part of the notifications of a note."""
    if note.what == 'event':
        declared = EVENTS.get(note.facts['event'], ())
        return any('tags' in each.payload.fields for each in declared)
    return note.what == 'change'


def every_type() -> dict[str, tuple[type[payloads.Payload], str]]:
    """Return {event type: (payload class, publisher)} of all event types."""
    found: dict[str, tuple[type[payloads.Payload], str]] = {}
    for declared in [each for several in EVENTS.values() for each in several]:
        found |= dict.fromkeys(declared.types(), (declared.payload, declared.binary))
    for task in TASKS.values():
        found[f'compute_task.{task}.error'] = (payloads.ComputeTaskPayload, CONDUCTOR)
    for declared in (*SCHEDULED.values(), *ACTIONS.values()):
        found[f'instance.{declared.action}'] = (declared.payload, declared.binary)
    found[UPDATE] = (payloads.InstanceUpdatePayload, COMPUTE)
    found[EXCEPTION] = (payloads.ExceptionPayload, COMPUTE)
    for what, (kind, phases) in RECORDS.items():
        names = [f'{what}.{phase}' for phase in phases] or [what]
        found |= dict.fromkeys(names, (kind, publisher_of(what)))
    return dict(sorted(found.items()))


def publisher_of(what: str) -> str:
    """Return the binary that publishes a record without a server."""
    if what.startswith('service.'):
        return 'the service'
    if what in OF_HOSTS:
        return COMPUTE
    if what.startswith('aggregate.cache_images'):
        return CONDUCTOR
    return SCHEDULER if what.startswith('scheduler.') else API
