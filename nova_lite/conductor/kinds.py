"""Which saga class runs which kind of journal row."""

from nova_lite.conductor import attach_interface
from nova_lite.conductor import attach_volume
from nova_lite.conductor import confirm
from nova_lite.conductor import cross_cell
from nova_lite.conductor import cross_cell_confirm
from nova_lite.conductor import cross_cell_revert
from nova_lite.conductor import detach_interface
from nova_lite.conductor import detach_volume
from nova_lite.conductor import evacuate
from nova_lite.conductor import live_migrate
from nova_lite.conductor import rebuild
from nova_lite.conductor import resize
from nova_lite.conductor import revert
from nova_lite.conductor import shelve
from nova_lite.conductor import swap_volume
from nova_lite.conductor import unshelve

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
KINDS = {saga.kind: saga for saga in SAGAS}
