"""Properties of an image in the format of records of servers.

The image service takes values of 65535 characters, and as many properties as it is
configured for. The properties are stored several times for each server, sent to the scheduler and
shown with the server. So they are limited here, in the same way for each kind of database.
"""

import json

from nova_lite import exception
from nova_lite.clients import session

# As in nova's system metadata.
VALUE_LENGTH = 255
# Properties with mappings of devices, which are parsed and not stored.
SKIPPED = ('mappings', 'block_device_mapping', 'img_mappings', 'img_block_device_mapping')
SIZE = 256 * 1024


def of(image: session.Json | None) -> dict[str, str | None]:
    """Return {name: text or None} of an image (or None), values cut to VALUE_LENGTH characters.

    Raise ImageNotUsable if all properties together have more than SIZE bytes.
    """
    if image is None:
        return {}
    found = {
        name: None if value is None else str(value)[:VALUE_LENGTH]
        for name, value in (image['properties'] or {}).items()
        if name not in SKIPPED
    }
    size = len(json.dumps(found))
    if size > SIZE:
        raise exception.ImageNotUsable(
            image_id=image['id'],
            reason=f'its properties take {size} bytes, more than the limit of {SIZE}',
        )
    return found
