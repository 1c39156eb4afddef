"""Selection: one host the scheduler chose, or an alternate for it."""

from oslo_versionedobjects import fields

from nova_lite.objects import base


@base.Registry.register
class Selection(base.Object):
    """A host with what is needed to claim it again.

    allocation_request: placement's allocation request as JSON text
    consumer_generation: that of the claim; None for an alternate, which is not claimed
    """

    # 1.0: first version
    VERSION = '1.0'
    fields = {
        'service_host': fields.StringField(),
        'nodename': fields.StringField(),
        'compute_node_uuid': fields.UUIDField(),
        'cell_uuid': fields.UUIDField(),
        'availability_zone': fields.StringField(nullable=True, default=None),
        'allocation_request': fields.StringField(nullable=True, default=None),
        'allocation_request_version': fields.StringField(nullable=True, default=None),
        'consumer_generation': fields.IntegerField(nullable=True, default=None),
    }

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.obj_set_defaults()
