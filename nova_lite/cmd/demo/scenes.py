"""The scenes of the demo, by name, in the order they are played."""

import collections

from nova_lite.cmd.demo import booting

SCENES = collections.OrderedDict(
    (
        ('boot', booting.boot),
        ('lifecycle', booting.lifecycle),
        ('no-valid-host', booting.no_valid_host),
        ('multi-create', booting.multi_create),
    )
)
