"""The scenes of the demo by name, in the order in which they are played."""

from collections.abc import Callable

from nova_lite.lab.demo import booting
from nova_lite.lab.demo import cross_cell
from nova_lite.lab.demo import live_migration
from nova_lite.lab.demo import placing
from nova_lite.lab.demo import presenter as presenters
from nova_lite.lab.demo import resize

SCENES: dict[str, Callable[[presenters.Presenter], None]] = {
    'boot': booting.boot,
    'lifecycle': booting.lifecycle,
    'no-valid-host': booting.no_valid_host,
    'multi-create': booting.multi_create,
    'resize': resize.resize,
    'named-host': resize.named_host,
    'live-migration': live_migration.watched,
    'live-migration-ended-early': live_migration.ended_early,
    'live-migration-checked': live_migration.checked,
    'evacuation': live_migration.evacuation,
    'cross-cell': cross_cell.moves,
    'requested-host': placing.requested_host,
    'licensed-aggregate': placing.licensed_aggregate,
}
