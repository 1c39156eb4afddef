"""Which saga class runs which kind of journal row."""

from nova_lite.moves import attach_interface
from nova_lite.moves import attach_volume
from nova_lite.moves import confirm
from nova_lite.moves import cross_cell
from nova_lite.moves import cross_cell_confirm
from nova_lite.moves import cross_cell_revert
from nova_lite.moves import detach_interface
from nova_lite.moves import detach_volume
from nova_lite.moves import evacuate
from nova_lite.moves import live_migrate
from nova_lite.moves import rebuild
from nova_lite.moves import resize
from nova_lite.moves import revert
from nova_lite.moves import shelve
from nova_lite.moves import swap_volume
from nova_lite.moves import unshelve
from nova_lite.saga import journal
from nova_lite.saga import step

SAGAS = (
    resize.Resize,
    resize.Migrate,
    confirm.ConfirmResize,
    revert.RevertResize,
    cross_cell.CrossCellResize,
    cross_cell.CrossCellMigrate,
    cross_cell_confirm.CrossCellConfirm,
    cross_cell_revert.CrossCellRevert,
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
)
FIRST = 1
# The newest version of each kind. Former ones stay in SAGAS until none is under way any more.
KINDS = {saga.kind: saga for saga in sorted(SAGAS, key=lambda saga: saga.version)}


def of(record):
    """The class that runs the saga of a journal row; raises UnknownPlan."""
    kept = record.data.get(step.PLAN)
    if kept is None:
        # Begun before plans were kept, or not yet.
        return _find(record.kind, FIRST if record.position else None)
    return _find(record.kind, kept['version'])


def _find(kind, version):
    newest = KINDS.get(kind)
    if newest is None:
        raise journal.UnknownPlan(f'{kind} is no kind of saga here')
    for saga in (newest, *SAGAS):
        if saga.kind == kind and version in (None, saga.version):
            return saga
    raise journal.UnknownPlan(f'{kind} has no version {version} here')
