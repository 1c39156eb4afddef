"""Judge pairs of flavor and image as nova does; run by the interpreter of nova's environment.

  python nova_guests.py < pairs.jsonl    the verdict of nova on each pair, a line of JSON

A pair is {'vcpus', 'memory_mb', 'extra_specs', 'properties', 'check'}; check is one of create,
resize and rebuild. It runs the checks of an installed nova and imports nothing of nova_lite.
"""

from collections.abc import Mapping
import json
import sys
import typing
import warnings

warnings.simplefilter('ignore')

from nova import config  # noqa: E402
from nova import context  # noqa: E402
from nova import exception  # noqa: E402
from nova import objects  # noqa: E402
from nova.compute import api  # noqa: E402
from nova.pci import request as pci  # noqa: E402
from nova.virt import hardware  # noqa: E402

# Extra specs of the flavor of a server that is resized, as in tools.judge_guests.
FORMER = {'hw:tpm_version': '2.0'}
Pair: typing.TypeAlias = Mapping[str, typing.Any]

IMAGE = {
    'id': '8f5a0b52-3a0e-4c3c-9d1b-6a2f1f1f0c11',
    'name': 'judged',
    'status': 'active',
    'min_ram': 0,
    'min_disk': 0,
    'size': 1,
    'disk_format': 'qcow2',
    'container_format': 'bare',
}


def flavor_of(pair: Pair, extra_specs: Mapping[str, str]) -> typing.Any:
    """Return a flavor with the sizes of a pair."""
    return objects.Flavor(
        id=1,
        flavorid='1',
        name='judged',
        vcpus=pair['vcpus'],
        memory_mb=pair['memory_mb'],
        root_gb=1,
        ephemeral_gb=0,
        swap=0,
        extra_specs=extra_specs,
    )


def judge(pair: Pair, ctxt: context.RequestContext) -> None:
    """Raise the error that nova raises for the flavor and the image of a pair."""
    flavor = flavor_of(pair, pair['extra_specs'])
    image = {**IMAGE, 'properties': pair['properties']}
    api.API._validate_flavor_image_nostatus(
        ctxt, image, flavor, None, validate_numa=True, validate_pci=pair['check'] != 'rebuild'
    )
    meta = objects.ImageMeta.from_dict(image)
    if pair['check'] == 'resize':
        api.API._validate_vtpm_secret_security(flavor_of(pair, FORMER), flavor, meta)
    else:
        hardware.get_sound_model(flavor, meta)
    if pair['check'] == 'create':
        if hardware.get_ephemeral_encryption_constraint(flavor, meta):
            hardware.get_ephemeral_encryption_format(flavor, meta)
        hardware.numa_get_constraints(flavor, meta)
        policy = hardware.get_pci_numa_policy_constraint(flavor, meta)
        pci.get_pci_requests_from_flavor(flavor, affinity_policy=policy)


def verdict(pair: Pair, ctxt: context.RequestContext) -> dict[str, str | None]:
    """Return {'kind': name of nova's exception or None, 'reason': its text}."""
    try:
        judge(pair, ctxt)
    except exception.NovaException as error:
        return {'kind': type(error).__name__, 'reason': str(error)}
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        return {'kind': f'*{type(error).__name__}', 'reason': str(error)}  # its API answers 500
    return {'kind': None, 'reason': None}


if __name__ == '__main__':
    config.parse_args(['nova'], default_config_files=[])
    objects.register_all()
    CTXT = context.get_admin_context()
    for line in sys.stdin:
        print(json.dumps(verdict(json.loads(line), CTXT)))
