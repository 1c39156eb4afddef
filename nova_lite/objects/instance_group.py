"""InstanceGroup: a server group with its members and their current hosts."""

import typing

from oslo_versionedobjects import fields

from nova_lite.objects import base


class Group(typing.TypedDict):
    """The fields of a server group with which cells check its policy."""

    uuid: str
    policy: str
    rules: typing.NotRequired[dict[str, typing.Any] | None]


@base.Registry.register
class InstanceGroup(base.Object):
    """A server group.

    policy: affinity, anti-affinity, soft-affinity or soft-anti-affinity
    rules: {'max_server_per_host': n} or empty
    hosts: {host: number of members on it}
    """

    # 1.0: first version
    VERSION = '1.0'
    fields = {
        'uuid': fields.UUIDField(),
        'project_id': fields.StringField(nullable=True),
        'user_id': fields.StringField(nullable=True),
        'name': fields.StringField(),
        'policy': fields.StringField(),
        'rules': fields.DictOfIntegersField(default={}),
        'members': fields.ListOfStringsField(default=[]),
        'hosts': fields.DictOfIntegersField(default={}),
    }

    def __init__(self, *args: typing.Any, **kwargs: typing.Any) -> None:
        super().__init__(*args, **kwargs)
        self.obj_set_defaults()
