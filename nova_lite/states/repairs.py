"""The repairs that an operator of nova makes, by the states of a server.

`nova_failures` has those of failures that are left as in nova; `REPAIRS` those of all other states,
the first row that fits counts. Data only.
"""

import dataclasses
import typing

from nova_lite import states
from nova_lite.states import nova_failures

_V, _T = states.VmState, states.TaskState


class Situation(typing.NamedTuple):
    """The states of a server. host_down: whether the service of its host is not up

    is_moving: whether a saga works at the server
    failure: name of the row of `nova_failures` by which its newest saga has failed, or None
    """

    vm_state: str
    task_state: str | None = None
    on_host: bool = True
    host_down: bool = False
    is_moving: bool = False
    failure: str | None = None


@dataclasses.dataclass(frozen=True)
class Repair:
    """The repair of servers in some states. None as the value of a condition: any

    name: of the row, in words with hyphens; title: text for people
    commands: in order, with {server}, {host} and {migration}
    is_needed: whether the server does not work, or not for long, without the repair
    """

    name: str
    title: str
    commands: tuple[str, ...] = ()
    is_needed: bool = True
    vm_states: tuple[str, ...] | None = None
    tasks: tuple[str, ...] | None = None
    has_task: bool | None = None
    on_host: bool | None = None
    host_down: bool | None = None
    is_moving: bool | None = None

    def fits(self, found: Situation) -> bool:
        """Return whether a server is in these states."""
        conditions = (
            (self.has_task, found.task_state is not None),
            (self.on_host, found.on_host),
            (self.host_down, found.host_down),
            (self.is_moving, found.is_moving),
        )
        return (
            (self.vm_states is None or found.vm_state in self.vm_states)
            and (self.tasks is None or found.task_state in self.tasks)
            and all(wanted is None or wanted == value for wanted, value in conditions)
        )


_FAULT = 'openstack server show -c fault {server}'
_EVENTS = 'openstack server event list {server}'
_SERVICE = 'openstack compute service list --service nova-compute --host {host}'
_DOWN = 'openstack compute service set --down {host} nova-compute'
_EVACUATE = 'openstack server evacuate {server}'

REPAIRS = (
    Repair(
        'moving',
        'A move of the server is in progress, which ends by itself.',
        ('openstack server migration list --server {server}', _EVENTS),
        is_needed=False,
        is_moving=True,
    ),
    Repair(
        'deletion',
        'The server is being deleted. If its host does not return, delete the server without it.',
        ('openstack server delete --force {server}',),
        tasks=(_T.DELETING, _T.SOFT_DELETING),
    ),
    Repair(
        'task-on-lost-host',
        'The host is down, and the server has a task that the host does not carry out.',
        (_SERVICE, _DOWN, 'openstack server set --state error {server}', _EVACUATE),
        has_task=True,
        host_down=True,
    ),
    Repair(
        'lost-host',
        'The host is down. Start the host, or rebuild the server on another host.',
        (_SERVICE, _DOWN, _EVACUATE),
        vm_states=(_V.ACTIVE, _V.STOPPED, _V.ERROR),
        host_down=True,
    ),
    Repair(
        'lost-host-of-other-states',
        'The host is down. Start the host: servers in this state cannot be evacuated.',
        (_SERVICE,),
        host_down=True,
    ),
    Repair(
        'task',
        'The server has a task. If no service works at it, reset the state of the server.',
        (
            _EVENTS,
            'openstack server set --state active {server}',
            'openstack server reboot --hard {server}',
        ),
        has_task=True,
    ),
    Repair(
        'error-without-host',
        'The server is in ERROR on no host. If it has run before, make another server of its '
        'volume, or of the image of its shelving, before it is deleted: a deletion deletes that '
        'image.',
        (_FAULT, 'openstack server delete {server}'),
        vm_states=(_V.ERROR,),
        on_host=False,
    ),
    Repair(
        'error',
        'The server is in ERROR. A hard reboot defines its guest again, and keeps its disk; a rebuild '
        'replaces the disk.',
        (
            _FAULT,
            'openstack server reboot --hard {server}',
            'openstack server rebuild {server}',
        ),
        vm_states=(_V.ERROR,),
    ),
    Repair(
        'resized',
        'The resize waits for a confirmation or a revert.',
        ('openstack server resize confirm {server}', 'openstack server resize revert {server}'),
        is_needed=False,
        vm_states=(_V.RESIZED,),
    ),
    Repair('none', 'The server needs no repair.', is_needed=False),
)


def of(found: Situation) -> Repair:
    """Return the repair of a server."""
    failure = nova_failures.BY_NAME.get(found.failure or '')
    if failure is not None and failure.stays(found.vm_state, found.task_state):
        text = f'{failure.title}. As in nova: {failure.nova}'.replace('``', '')
        return Repair(failure.name, text, failure.repair)
    return next(repair for repair in REPAIRS if repair.fits(found))
