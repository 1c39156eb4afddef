"""Weighers of the servers on a host: members of a group, like images, the server itself."""

from nova_lite.scheduler import hosts
from nova_lite.scheduler import scheduling_request
from nova_lite.scheduler.weighers import base


class ServerGroupSoftAffinityWeigher(base.Weigher):
    """More members of a soft-affinity group."""

    option = 'soft_affinity_weight_multiplier'

    def measure(self, request: scheduling_request.Request) -> base.Measure | None:
        group = request.group
        if group is None or group.policy != 'soft-affinity':
            return None
        return lambda host: group.members_on[host.host]


class ServerGroupSoftAntiAffinityWeigher(base.Weigher):
    """Fewer members of a soft-anti-affinity group."""

    option = 'soft_anti_affinity_weight_multiplier'

    def measure(self, request: scheduling_request.Request) -> base.Measure | None:
        group = request.group
        if group is None or group.policy != 'soft-anti-affinity':
            return None
        return lambda host: -group.members_on[host.host]


class CrossCellWeigher(base.Weigher):
    """Prefer the current cell of a server that may move to another cell."""

    option = 'cross_cell_move_weight_multiplier'
    minimum = -1
    maximum = 1

    def measure(self, request: scheduling_request.Request) -> base.Measure | None:
        destination = request.destination
        if destination is None or not destination.allow_cross_cell_move or not destination.cell:
            return None
        cell_uuid = destination.cell
        return lambda host: 1 if host.cell_uuid == cell_uuid else -1


class ImagePropertiesWeigher(base.Weigher):
    """More servers whose images have the same properties.

    image_props_weight_setting may give each property a weight of its own.
    """

    option = 'image_props_weight_multiplier'

    def measure(self, request: scheduling_request.Request) -> base.Measure | None:
        setting = self.options.image_props_weight_setting
        wanted = [
            (item, setting.get(item[0], 0.0) if setting else 1.0)
            for item in request.image_properties.items()
        ]
        if not wanted:
            return None

        def value(host: hosts.HostState) -> float:
            found = host.image_properties or {}
            return sum(found.get(item, 0) * weight for item, weight in wanted)

        return value
