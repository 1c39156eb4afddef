"""Kinds of sagas: the class of each journal row, and the steps that a kind may have."""

import functools
import types

from nova_lite import context
from nova_lite import exception
from nova_lite.moves import attach_interface
from nova_lite.moves import attach_volume
from nova_lite.moves import confirm
from nova_lite.moves import crash_dump
from nova_lite.moves import detach_interface
from nova_lite.moves import detach_volume
from nova_lite.moves import evacuate
from nova_lite.moves import live_migrate
from nova_lite.moves import rebuild
from nova_lite.moves import resize
from nova_lite.moves import revert
from nova_lite.moves import shares
from nova_lite.moves import shelve
from nova_lite.moves import swap_volume
from nova_lite.moves import unshelve
from nova_lite.moves import volume_image
from nova_lite.saga import journal
from nova_lite.saga import step
from nova_lite.saga import values


class NoSuchKind(exception.NotFound):
    msg = 'There is no kind of saga %(kind)r. Use one of: %(known)s.'


SAGAS: tuple[type[step.Saga], ...] = (
    resize.Resize,
    confirm.ConfirmResize,
    revert.RevertResize,
    live_migrate.LiveMigration,
    evacuate.Evacuation,
    rebuild.Rebuild,
    shelve.Shelve,
    shelve.ShelveOffload,
    unshelve.Unshelve,
    attach_volume.AttachVolume,
    detach_volume.DetachVolume,
    swap_volume.SwapVolume,
    attach_interface.AttachInterface,
    detach_interface.DetachInterface,
    shares.ShareAttachment,
    crash_dump.CrashDump,
    volume_image.VolumeImage,
)

# The newest version of each kind. Earlier versions stay in SAGAS while journals may have them.
KINDS = {
    kind: saga for saga in sorted(SAGAS, key=lambda saga: saga.version) for kind in saga.kinds()
}


def of(record: journal.Record) -> type[step.Saga]:
    """Return the class that runs the saga of a journal row. Raise UnknownPlan."""
    kept = record.data.get(step.PLAN)
    # A saga without a plan has not begun.
    return _find(record.kind, kept and kept['version'])


def _find(kind: str, version: int | None) -> type[step.Saga]:
    newest = KINDS.get(kind)
    if newest is None:
        raise journal.UnknownPlan(f'this release has no saga of kind {kind}')
    for each in (newest, *SAGAS):
        if kind in each.kinds() and version in (None, *versions(each)):
            return each
    raise journal.UnknownPlan(f'this release has no version {version} of saga {kind}')


def require(kind: str) -> None:
    """Raise NoSuchKind unless the kind exists."""
    if kind not in KINDS:
        raise NoSuchKind(kind=kind, known=', '.join(sorted(KINDS)))


def sets_task(kind: str) -> bool:
    """Return whether sagas of a kind set a task of their server, as moves do."""
    return bool(getattr(KINDS.get(kind), 'tasks', ()))


def arguments(kind: str, given: journal.Data) -> journal.Data:
    """Return the arguments of a saga as the journal stores them, for an Intent.

    Raise UnknownPlan if the kind has no such argument, or requires one that is missing.
    """
    kept = values.arguments(KINDS[kind], {'cell': None, 'order': None, **given}).as_dict()
    return {name: kept[name] for name in kept if name in given or name == values.VERSION}


def specimen(
    kind: str,
    way: step.Way,
    saga_class: type[step.Saga] | None = None,
    version: int | None = None,
) -> step.Saga:
    """Return a saga with the plan of a Way. Its steps cannot be run.

    saga_class: default: that of the newest version; version: default: that of the class
    """
    made: type[step.Saga] = saga_class or KINDS[kind]
    missing = dict.fromkeys(values.required(made))
    record = types.SimpleNamespace(
        kind=kind,
        uuid='',
        instance_uuid='',
        epoch=1,
        error=None,
        arguments={**missing, **way.arguments},
        data=way.data if version is None else {step.PLAN: {'version': version}, **way.data},
    )
    return made(None, record, context.admin())


def plans(
    kind: str, saga_class: type[step.Saga] | None = None, version: int | None = None
) -> list[step.Steps]:
    """Return the different plans of a kind. saga_class, version: see `specimen`"""
    ways = (saga_class or KINDS[kind]).ways
    made = [specimen(kind, way, saga_class, version).steps() for way in ways]
    return list({tuple(step.id for step in plan): plan for plan in made}.values())


@functools.cache
def steps(kind: str) -> dict[str, step.Step]:
    """Return {id: Step} of all steps that a kind may have, in all its versions."""
    return {
        each.id: each
        for saga in SAGAS
        if kind in saga.kinds()
        for version in versions(saga)
        for plan in plans(kind, saga, version)
        for each in plan
    }


def versions(saga: type[step.Saga]) -> tuple[int, ...]:
    """Return the versions of the plans that a class runs, the newest last."""
    return (*saga.former_versions, saga.version)


@functools.cache
def calls(kind: str) -> frozenset[str]:
    """Return the names of the methods of computes that a kind requires."""
    return frozenset(name for each in steps(kind).values() for name in each.calls)
