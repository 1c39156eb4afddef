"""Make nova's queries to placement; run by the interpreter of nova's environment.

  python nova_queries.py < pairs.jsonl    the query of nova for each pair, a line of JSON

A pair is one of nova_guests. It runs the request filters about a guest and the conversion of a
request of an installed nova, and imports nothing of nova_lite.
"""

import json
import pathlib
import sys
import typing
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from nova import config
from nova import context
from nova import exception
from nova import objects
from nova.scheduler import request_filter
from nova.scheduler import utils
from nova.virt import hardware
import nova_guests

UUID = '8f5a0b52-3a0e-4c3c-9d1b-6a2f1f1f0c12'
# Request filters that read flavor and image alone.
OF_GUEST = (
    'transform_image_metadata', 'packed_virtqueue_filter', 'ephemeral_encryption_filter',
    'virtio_sound_filter', 'tpm_secret_security_filter',
)  # fmt: skip
EMPTY = (
    'requested_destination', 'instance_group', 'force_hosts', 'force_nodes', 'availability_zone',
    'limits', 'retry', 'ignore_hosts',
)  # fmt: skip


def queries(
    pair: nova_guests.Pair, ctxt: context.RequestContext
) -> list[list[tuple[str, str]]] | str | None:
    """Return [query, query for old hosts] of a pair; a refusal's text; None if the API refuses."""
    if nova_guests.verdict(pair, ctxt)['kind']:
        return None
    try:
        spec = _spec(pair)
        # The driver of the hypervisor reads them. Here the scheduler refuses them.
        hardware.get_usb_model(spec.flavor, spec.image)
        hardware.get_redirected_usb_ports(spec.flavor, spec.image)
        for each in request_filter.ALL_REQUEST_FILTERS:
            if each.__name__ in OF_GUEST:
                each(ctxt, spec)
        made = [
            utils.ResourceRequest.from_request_spec(spec, enable_pinning_translate=pinned)
            for pinned in (True, False)
        ]
    except exception.NovaException as error:
        return str(error)
    return [sorted(urllib.parse.parse_qsl(each.to_querystring())) for each in made]


def _spec(pair: nova_guests.Pair) -> typing.Any:
    flavor = nova_guests.flavor_of(pair, pair['extra_specs'])
    image = objects.ImageMeta.from_dict({**nova_guests.IMAGE, 'properties': pair['properties']})
    return objects.RequestSpec(
        flavor=flavor,
        image=image,
        numa_topology=hardware.numa_get_constraints(flavor, image),
        is_bfv=False,
        num_instances=1,
        instance_uuid=UUID,
        requested_resources=[],
        scheduler_hints={},
        request_level_params=objects.RequestLevelParams(),
        pci_requests=objects.InstancePCIRequests(requests=[]),
        **dict.fromkeys(EMPTY),
    )


if __name__ == '__main__':
    config.parse_args(['nova'], default_config_files=[])
    config.CONF.set_override('image_metadata_prefilter', True, 'scheduler')
    objects.register_all()
    CTXT = context.get_admin_context()
    for line in sys.stdin:
        print(json.dumps(queries(json.loads(line), CTXT)))
