"""Selection: the host that the scheduler chose, or an alternate."""

import typing

from oslo_versionedobjects import fields

from nova_lite.objects import base


@base.Registry.register
class Selection(base.Object):
    """A host with the data to claim on it again.

    allocation_request: placement's allocation request as JSON text
    consumer_generation: that of the claim; None for an alternate, on which nothing is claimed
    """

    # 1.0: first version
    VERSION = '1.0'
    fields = {
        'service_host': fields.StringField(),
        'nodename': fields.StringField(),
        'compute_node_uuid': fields.UUIDField(),
        'cell_uuid': fields.UUIDField(),
        'availability_zone': base.optional(fields.StringField),
        'allocation_request': base.optional(fields.StringField),
        'allocation_request_version': base.optional(fields.StringField),
        'consumer_generation': base.optional(fields.IntegerField),
    }

    service_host: str
    nodename: str
    compute_node_uuid: str
    cell_uuid: str
    availability_zone: str | None
    allocation_request: str | None
    allocation_request_version: str | None
    consumer_generation: int | None

    def __init__(self, *args: typing.Any, **kwargs: typing.Any) -> None:
        super().__init__(*args, **kwargs)
        self.obj_set_defaults()

    @classmethod
    def from_dict(cls, values: dict[str, typing.Any]) -> typing.Self:
        """Return the Selection of plain values as from `as_dict`."""
        return cls(**values)
