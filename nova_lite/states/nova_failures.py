"""The table of failures that nova leaves where they occur, and that nova_lite undoes or repeats.

With ``[conductor] failures = nova`` a move ends as its row says. The sagas, `verify`, `repairs` and
the documentation read the rows, and tools.judge_failures compares rows with a nova. Data only.
Source: reference/nova/moves 3.5, 4 and 5.
"""

from collections.abc import Mapping
import dataclasses
import enum
import typing

from nova_lite import states

# The key in a server's metadata that sets the mode of one server, with a Mode as its value.
METADATA_KEY = 'nova-lite-failures'


class Mode(enum.StrEnum):
    """The end of moves that fail. METADATA: as the metadata of the server say, else UNDO."""

    UNDO = 'undo'
    NOVA = 'nova'
    METADATA = 'metadata'


class Known(enum.StrEnum):
    """The source of the knowledge of what nova leaves."""

    COMPARED = 'compared with nova'
    DOCUMENTED = "nova's documentation"


class Left(typing.NamedTuple):
    """A kind of finding that `verify` explains by a failure.

    invariant, what: of findings.Finding, the latter up to its first space
    """

    invariant: str
    what: str


@dataclasses.dataclass(frozen=True)
class Failure:
    """One kind of failure. name: unique, in words with hyphens

    title: text for people
    kinds, steps: the kinds of sagas and the ids of their steps that fail so; () for a failure that
        is not one of a saga
    errors: names of the classes of errors that count; () for all
    other_than: names of the classes of errors that do not count
    arguments: arguments that the saga must have
    keeps: ids of steps whose effects stay; all other steps are undone
    vm_state: of the server afterwards; None if it stays
    keeps_task: whether the server keeps its task, if it has one
    guest_off: whether the undo leaves the guest off at the host that it would have left
    has_fault: whether the server gets a fault
    migration: status of the migration afterwards; None if the saga has none, or if it stays
    here, nova: what nova_lite and what nova leave
    left: what `verify` explains
    repair: commands of an operator of nova, in order, with {server}, {migration} and {host}
    known: how it is known what nova leaves
    """

    name: str
    title: str
    kinds: tuple[str, ...]
    steps: tuple[str, ...]
    here: str
    nova: str
    errors: tuple[str, ...] = ()
    other_than: tuple[str, ...] = ()
    arguments: Mapping[str, object] = dataclasses.field(default_factory=dict)
    keeps: tuple[str, ...] = ()
    vm_state: states.VmState | None = states.VmState.ERROR
    keeps_task: bool = False
    guest_off: bool = False
    has_fault: bool = True
    migration: states.MigrationStatus | None = None
    left: tuple[Left, ...] = ()
    repair: tuple[str, ...] = ()
    known: Known = Known.DOCUMENTED

    def fits(self, kind: str, step: str, error: str, arguments: Mapping[str, object]) -> bool:
        """Return whether a saga fails so. error: name of the class of the error"""
        return (
            kind in self.kinds
            and step in self.steps
            and (not self.errors or error in self.errors)
            and error not in self.other_than
            and all(arguments.get(name) == value for name, value in self.arguments.items())
        )

    def stays(self, vm_state: str, task_state: str | None) -> bool:
        """Return whether a server in these states is still as the failure has left it."""
        if self.keeps_task and task_state is None:
            return False
        return (self.keeps_task or self.vm_state is not None) and (
            self.vm_state is None or vm_state == self.vm_state
        )


_REBOOT = 'openstack server reboot --hard {server}'
_RESET = 'openstack server set --state active {server}'
_SERVICE = 'openstack compute service list --host {host}'
_DELETE = 'openstack server delete {server}'
_FREE = 'openstack resource provider allocation delete {migration}'
_HEAL = (
    _FREE,
    'openstack resource provider allocation delete {server}',
    'nova-manage placement heal_allocations --instance {server}',
)
_TASK, _GUEST = Left('I6', 'server'), Left('I5', 'guest')
_ALLOCATION, _POWER = Left('I4', 'consumer'), Left('I9', 'power')
_ACROSS = ('cross-cell-resize', 'cross-cell-migrate')
# Moves that may go to another cell and stay in the cell have the same steps.
_RESIZES = ('resize', 'migrate', *_ACROSS)
_AT_DESTINATION = (
    'choose-destination',
    'record-destination',
    'bind-ports-to-destination',
    'reserve-volumes-for-destination',
    'claim-on-destination',
    'resize-at-source',
    'activate-destination-bindings',
)

FAILURES = (
    Failure(
        name='resize-on-destination',
        title='A resize that the destination cannot finish',
        kinds=_RESIZES,
        steps=('finish-on-destination',),
        keeps=(*_AT_DESTINATION, 'hold-source-allocation'),
        migration=states.MigrationStatus.ERROR,
        here='The server is at its source as before. Also if ports are not plugged in time.',
        nova='The server is in ERROR on the destination, with its former flavor and the allocation of '
        'the new one. The source keeps the stopped guest, and has no allocation.',
        left=(_GUEST, _ALLOCATION),
        repair=(_REBOOT, 'openstack resource provider allocation show {server}'),
        known=Known.COMPARED,
    ),
    Failure(
        name='resize-on-source',
        title='A resize that the source cannot hand over',
        kinds=_RESIZES,
        steps=('resize-at-source',),
        keeps=('resize-at-source',),
        migration=states.MigrationStatus.ERROR,
        here='The server is at its source as before.',
        nova='The server is in ERROR at its source. Its guest is as the failure has left it.',
        repair=(_REBOOT,),
        known=Known.COMPARED,
    ),
    Failure(
        name='confirm-on-source',
        title='A confirmation that the source cannot clean up',
        kinds=('confirm-resize', 'cross-cell-confirm'),
        steps=('clean-up-at-source',),
        migration=states.MigrationStatus.ERROR,
        here='The source is asked again for about a minute. Then the migration is confirmed, the server '
        'can be used, and the audit of the source removes the rest.',
        nova='The server is in ERROR on the destination, where its guest runs. The source keeps a stopped '
        'guest, and has no allocation.',
        left=(_GUEST,),
        repair=(_RESET,),
        known=Known.COMPARED,
    ),
    Failure(
        name='revert-on-destination',
        title='A revert that cannot remove the guest at the destination',
        kinds=('revert-resize',),
        steps=('destroy-on-destination',),
        migration=states.MigrationStatus.ERROR,
        here='The destination is asked again. Then the server is in VERIFY_RESIZE as before, and can be '
        'confirmed or reverted.',
        nova='The server is in ERROR on the destination. The source keeps a stopped guest, and the '
        'migration keeps the allocation of the source.',
        left=(_GUEST, _ALLOCATION),
        repair=(_REBOOT, _FREE),
        known=Known.COMPARED,
    ),
    Failure(
        name='revert-on-source',
        title='A revert that the source cannot finish',
        kinds=('revert-resize',),
        steps=('finish-revert-on-source',),
        migration=states.MigrationStatus.ERROR,
        here='The source is asked again for about a minute. Then the server is in ERROR at its source.',
        nova='The server is in ERROR at its source after the first failure.',
        repair=(_REBOOT,),
        known=Known.COMPARED,
    ),
    Failure(
        name='cross-cell-snapshot',
        title='A move to another cell whose source cannot copy the disk',
        kinds=_ACROSS,
        steps=('stop-and-snapshot-at-source',),
        keeps=('stop-and-snapshot-at-source',),
        vm_state=None,
        migration=states.MigrationStatus.ERROR,
        here='The server is at its source as before.',
        nova='The server is at its source, and its guest stays off. The next audit of the host records '
        'it as ``SHUTOFF``.',
        left=(_POWER,),
        repair=('openstack server start {server}',),
    ),
    Failure(
        name='cross-cell-guest',
        title='A move to another cell that fails after the guest has left',
        kinds=_ACROSS,
        steps=('leave-source', 'spawn-on-destination'),
        guest_off=True,
        migration=states.MigrationStatus.ERROR,
        here='The server is at its source as before.',
        nova='The server is in ERROR at its source, and its guest stays off.',
        repair=(_REBOOT,),
    ),
    Failure(
        name='live-migration-copy',
        title='A live migration that the driver of the source cannot do',
        kinds=('live-migration',),
        steps=('copy',),
        errors=('DriverError',),
        keeps=('choose-destination', 'hold-source-allocation'),
        has_fault=False,
        migration=states.MigrationStatus.ERROR,
        here='The server is at its source as before.',
        nova='The server is in ERROR at its source, where its guest runs on. It holds the allocation of '
        'the destination, and the migration that of the source.',
        left=(_ALLOCATION,),
        repair=(_RESET, *_HEAL),
        known=Known.COMPARED,
    ),
    Failure(
        name='live-migration-arrival',
        title='A live migration whose destination cannot take the guest over',
        kinds=('live-migration',),
        steps=('start-guest-on-destination',),
        migration=states.MigrationStatus.ERROR,
        here='The destination is asked three times. Then the server is in ERROR there.',
        nova='The server is in ERROR on the destination after the first failure. The migration keeps the '
        'allocation of the source.',
        left=(_ALLOCATION,),
        repair=(_REBOOT, _FREE),
        known=Known.COMPARED,
    ),
    Failure(
        name='live-migration-departure',
        title='A live migration whose source cannot clean up',
        kinds=('live-migration',),
        steps=('clean-up-source',),
        migration=states.MigrationStatus.ERROR,
        here='The source is asked three times. Then the migration is completed, the server can be used, '
        'and the audit of the source removes the rest.',
        nova='The server is in ERROR on the destination, where its guest runs. The migration keeps the '
        'allocation of the source.',
        left=(_GUEST, _ALLOCATION),
        repair=(_RESET, _FREE),
        known=Known.COMPARED,
    ),
    Failure(
        name='shelve-on-host',
        title='A shelving whose host cannot stop the guest or copy its disk',
        kinds=('shelve',),
        steps=('stop-and-snapshot',),
        keeps=('stop-and-snapshot',),
        vm_state=None,
        here='The guest is started again if it ran. A paused or suspended server is ``SHUTOFF``.',
        nova='The server keeps its state, and its guest is as the failure has left it. If that is off, the '
        'next audit of the host records the server as ``SHUTOFF``.',
        left=(_POWER,),
        repair=('openstack server start {server}',),
        known=Known.COMPARED,
    ),
    Failure(
        name='rebuild-on-host',
        title='A rebuild that the host cannot do',
        kinds=('rebuild',),
        steps=('destroy-former-guest', 'write-image', 'rebuild-guest'),
        here='The host is asked three times before the server is in ERROR.',
        nova='The server is in ERROR after the first failure, and may have no guest. Placement holds nothing '
        'for it.',
        repair=('openstack server rebuild {server}',),
        known=Known.COMPARED,
    ),
    Failure(
        name='rebuild-on-lost-host',
        title='A rebuild whose host is down',
        kinds=('rebuild',),
        steps=('give-up-former-guest',),
        errors=('ServiceIsDown',),
        vm_state=None,
        keeps_task=True,
        has_fault=False,
        here='The server is as before, with its former image. The action has the error.',
        nova='The server keeps the task ``rebuilding`` and shows the new image.',
        left=(_TASK,),
        repair=(_SERVICE, _RESET, 'openstack server rebuild {server}'),
        known=Known.COMPARED,
    ),
    Failure(
        name='forced-evacuation-without-room',
        title='An evacuation to a forced host that is full',
        kinds=('evacuation',),
        steps=('choose-destination',),
        errors=('NoValidHost',),
        arguments={'forced': True},
        vm_state=None,
        has_fault=False,
        migration=states.MigrationStatus.ERROR,
        here='The server is in ERROR, as after each evacuation that finds no host.',
        nova='The server is on the lost host as before.',
        repair=('openstack server evacuate {server}',),
        known=Known.COMPARED,
    ),
    Failure(
        name='unshelve-without-image',
        title='An unshelve of an offloaded server whose image was deleted',
        kinds=('unshelve',),
        steps=('find-image',),
        errors=('ImageNotFound',),
        keeps_task=True,
        here='The server is shelved and offloaded as before, with a fault.',
        nova='The server is in ERROR on no host, and keeps the task ``unshelving``.',
        left=(_TASK, Left('I9', 'server')),
        repair=('openstack server set --state error {server}', _DELETE),
        known=Known.COMPARED,
    ),
    Failure(
        name='attach-volume-on-host',
        title='A volume that the host cannot attach',
        kinds=('attach-volume',),
        steps=('attach-on-host',),
        vm_state=None,
        keeps_task=True,
        here='The event of the action has the reason.',
        nova='The server gets a fault as well, which is shown if it is in ERROR.',
        repair=('openstack server event list {server}',),
        known=Known.COMPARED,
    ),
    Failure(
        name='password-on-host',
        title='A password that the host cannot set',
        kinds=(),
        steps=(),
        here='``changePassword`` has been answered with 202. The server is in ERROR.',
        nova='``changePassword`` waits for the host, and returns 409. The server is in ERROR.',
        repair=(_REBOOT,),
    ),
)
BY_NAME = {failure.name: failure for failure in FAILURES}


def find(kind: str, step: str, error: Exception, arguments: Mapping[str, object]) -> Failure | None:
    """Return the row for a saga with arguments in which a step has failed, or None."""
    name = type(error).__name__
    return next((each for each in FAILURES if each.fits(kind, step, name, arguments)), None)


def applies(mode: str, metadata: Mapping[str, str]) -> bool:
    """Return whether a server fails as in nova. mode: a Mode; metadata: that of the server"""
    asked = metadata.get(METADATA_KEY)
    if mode == Mode.UNDO:
        return False
    return asked == Mode.NOVA if mode == Mode.METADATA else asked != Mode.UNDO
