"""RequestSpec and its parts: the contents of a scheduling request.

The fields in `STORED` are stored; the other fields are valid for one request only.
Source: reference/nova/moves 6, reference/nova/scheduling 3 and 9.
"""

import collections.abc
import typing

from oslo_versionedobjects import fields

from nova_lite.objects import base
from nova_lite.objects import flavor as flavors
from nova_lite.objects import image as images
from nova_lite.objects import instance_group  # noqa: F401  (registers its class)


@base.Registry.register
class Destination(base.Object):
    """The destination that a request names; never stored.

    host, node: exact names; cell: uuid of the only cell that is allowed
    aggregates: one comma-separated list of uuids per condition; all conditions must hold
    forbidden_aggregates: uuids of aggregates that are not allowed
    """

    # 1.0: first version
    VERSION = '1.0'
    fields = {
        'host': base.optional(fields.StringField),
        'node': base.optional(fields.StringField),
        'cell': base.optional(fields.StringField),
        'aggregates': fields.ListOfStringsField(default=[]),
        'forbidden_aggregates': fields.ListOfStringsField(default=[]),
        'allow_cross_cell_move': fields.BooleanField(default=False),
    }
    host: str | None
    node: str | None
    cell: str | None
    aggregates: list[str]
    forbidden_aggregates: list[str]
    allow_cross_cell_move: bool

    def __init__(self, *args: typing.Any, **kwargs: typing.Any) -> None:
        super().__init__(*args, **kwargs)
        self.obj_set_defaults()

    @property
    def only_cell(self) -> str | None:
        """Return the uuid of the cell that the server may not leave; None for any cell."""
        return None if self.allow_cross_cell_move else self.cell

    def require_aggregates(self, uuids: collections.abc.Iterable[str]) -> None:
        """Add one condition: the provider is in any of these aggregates."""
        self.aggregates = [*self.aggregates, ','.join(uuids)]

    def forbid_aggregates(self, uuids: collections.abc.Iterable[str]) -> None:
        """Add aggregates to the forbidden ones."""
        self.forbidden_aggregates = sorted({*self.forbidden_aggregates, *uuids})


@base.Registry.register
class RequestGroup(base.Object):
    """One (possibly numbered) group of resources and conditions.

    suffix: '' for the group without a suffix, which may spread over a provider tree
    member_of: see Destination.aggregates
    """

    # 1.0: first version
    VERSION = '1.0'
    fields = {
        'suffix': fields.StringField(default=''),
        'resources': fields.DictOfIntegersField(default={}),
        'required_traits': fields.ListOfStringsField(default=[]),
        'forbidden_traits': fields.ListOfStringsField(default=[]),
        'member_of': fields.ListOfStringsField(default=[]),
        'forbidden_aggregates': fields.ListOfStringsField(default=[]),
        'in_tree': base.optional(fields.StringField),
    }
    suffix: str
    resources: dict[str, int]
    required_traits: list[str]
    forbidden_traits: list[str]
    member_of: list[str]
    forbidden_aggregates: list[str]
    in_tree: str | None

    def __init__(self, *args: typing.Any, **kwargs: typing.Any) -> None:
        super().__init__(*args, **kwargs)
        self.obj_set_defaults()


@base.Registry.register
class RequestSpec(base.Object):
    """The request of one server, or of a batch of like servers, to the scheduler.

    current_host: the host of a server that moves
    current_cell: the cell of a server that has one; its allocations stay, and the claim is added
        to them
    check_type: 'rebuild' only checks whether the current host is suitable for another image
    requested_networks: [{'network_id', 'port_id', 'vnic_type'}]; unknown values are None. See
        `port_devices` for 'device'
    same_subtree: one comma-separated list of suffixes per condition
    """

    # 1.0: first version
    VERSION = '1.0'
    STORED = (
        'instance_uuid',
        'project_id',
        'user_id',
        'num_instances',
        'flavor',
        'image',
        'availability_zone',
        'scheduler_hints',
        'force_hosts',
        'force_nodes',
        'group_uuid',
        'is_bfv',
        'security_groups',
    )

    fields = {
        'instance_uuid': fields.UUIDField(),
        'project_id': fields.StringField(nullable=True),
        'user_id': fields.StringField(nullable=True),
        'num_instances': fields.IntegerField(default=1),
        'flavor': fields.ObjectField('Flavor'),
        'image': fields.ObjectField('ImageMeta', nullable=True, default=None),
        'availability_zone': base.optional(fields.StringField),
        'scheduler_hints': fields.DictOfListOfStringsField(default={}),
        'force_hosts': fields.ListOfStringsField(default=[]),
        'force_nodes': fields.ListOfStringsField(default=[]),
        'group_uuid': base.optional(fields.UUIDField),
        'is_bfv': fields.BooleanField(default=False),
        'security_groups': fields.ListOfStringsField(default=[]),
        # for one request only
        'ignore_hosts': fields.ListOfStringsField(default=[]),
        'requested_destination': fields.ObjectField('Destination', nullable=True, default=None),
        'requested_resources': fields.ListOfObjectsField('RequestGroup', default=[]),
        'same_subtree': fields.ListOfStringsField(default=[]),
        'requested_networks': base.JsonField(default=[]),
        'instance_group': fields.ObjectField('InstanceGroup', nullable=True, default=None),
        'root_required': fields.ListOfStringsField(default=[]),
        'root_forbidden': fields.ListOfStringsField(default=[]),
        'current_host': base.optional(fields.StringField),
        'current_cell': base.optional(fields.StringField),
        'check_type': base.optional(fields.StringField),
    }
    instance_uuid: str
    project_id: str | None
    user_id: str | None
    num_instances: int
    security_groups: list[str]
    flavor: flavors.Flavor
    image: images.ImageMeta | None
    availability_zone: str | None
    scheduler_hints: dict[str, list[str]]
    force_hosts: list[str]
    force_nodes: list[str]
    group_uuid: str | None
    is_bfv: bool
    ignore_hosts: list[str]
    requested_destination: Destination | None
    requested_resources: list[RequestGroup]
    same_subtree: list[str]
    requested_networks: list[dict[str, typing.Any]]
    root_required: list[str]
    root_forbidden: list[str]
    current_host: str | None
    current_cell: str | None
    check_type: str | None

    def __init__(self, *args: typing.Any, **kwargs: typing.Any) -> None:
        super().__init__(*args, **kwargs)
        self.obj_set_defaults()

    def stored(self) -> base.Data:
        """Return {field: plain value} of the stored fields, for a JSON column."""
        values = self.as_dict()
        return {name: values[name] for name in self.STORED if name in values}

    @classmethod
    def restore(cls, values: base.Data) -> typing.Self:
        """Return the spec of the stored fields. Fields that are valid for one request are empty."""
        values = dict(values)
        values['flavor'] = flavors.Flavor(**values['flavor'])
        if values.get('image') is not None:
            values['image'] = images.ImageMeta(**values['image'])
        return cls(**values)

    def destination(self) -> Destination:
        """Return the requested destination. Create it if there is none."""
        if self.requested_destination is None:
            self.requested_destination = Destination()
        return self.requested_destination

    def hint(self, name: str) -> str | None:
        """Return the first value of a scheduler hint, or None."""
        values = self.scheduler_hints.get(name)
        return values[0] if values else None
