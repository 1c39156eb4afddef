"""Groups of resources for the PCI devices of a flavor, in the query for candidates."""

from collections.abc import Iterator

from nova_lite import exception
from nova_lite.lifecycle.guests import pci as guest_pci
from nova_lite.objects import request_spec


def of(spec: request_spec.RequestSpec) -> Iterator[request_spec.RequestGroup]:
    """Yield one group for each device of a spec's flavor. Raise NoValidHost.

    Placement chooses the provider of each group, so that devices may be of different cards.
    """
    number = 0
    for plain in spec.flavor.get('devices') or ():
        if guest_pci.is_virtual(plain):
            # The extra specs of the flavor are groups already.
            continue
        if len(plain['specs']) > 1:
            reason = f'placement has no alternatives as alias {plain["name"]} has'
            raise exception.NoValidHost(reason=reason)
        wanted = guest_pci.Spec.of(plain['specs'][0])
        for _unit in range(plain['count']):
            number += 1
            yield request_spec.RequestGroup(
                suffix=f'_pci{number}',
                resources={wanted.placed_class: 1},
                required_traits=list(wanted.traits),
            )
