"""Config drives: the definition of a guest with the files of its drive.

A drive is written when its guest is created on a node, from the server's record at that time. After
the build no record has the administrator's password and the personality files, so only the drive
of a build contains them.
"""

import base64
from collections.abc import Iterable
from collections.abc import Sequence
import dataclasses

from nova_lite.compute import site as sites
from nova_lite.metadata import drive
from nova_lite.metadata import instance_metadata
from nova_lite.objects import block_device
from nova_lite.objects import instance as objects
from nova_lite.virt import model


def written(
    site: sites.Site,
    spec: model.GuestSpec,
    instance: objects.Instance,
    block_devices: Sequence[block_device.BlockDevice],
    *,
    network_info: Iterable[model.Json] | None = None,
    options: model.Json | None = None,
) -> model.GuestSpec:
    """Return the definition of a guest, with its config drive if it has one.

    network_info: see guests.spec_of; options: those of the build
    """
    if not spec.config_drive:
        return spec
    options = options or {}
    found = drive.files(
        instance_metadata.gather(
            site.conf,
            instance,
            block_devices,
            services=site.vendor_services,
            network_info=network_info,
        ),
        admin_pass=options.get('admin_pass'),
        injected=[
            (path, base64.b64decode(contents))
            for path, contents in options.get('injected_files', ())
        ],
    )
    return dataclasses.replace(spec, drive=drive.pack(found))
