"""The scenes of the demo, by name, in the order they are played."""

import collections

from nova_lite.demo import booting
from nova_lite.demo import cross_cell
from nova_lite.demo import live
from nova_lite.demo import moving
from nova_lite.demo import placing

SCENES = collections.OrderedDict(
    (
        ('boot', booting.boot),
        ('lifecycle', booting.lifecycle),
        ('no-valid-host', booting.no_valid_host),
        ('multi-create', booting.multi_create),
        ('resize', moving.resize),
        ('named-host', moving.named_host),
        ('live-migration', live.watched),
        ('live-migration-ended-early', live.ended_early),
        ('live-migration-checked', live.checked),
        ('evacuation', live.evacuation),
        ('cross-cell', cross_cell.moves),
        ('requested-host', placing.requested_host),
        ('licensed-aggregate', placing.licensed_aggregate),
    )
)
