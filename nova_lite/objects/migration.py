"""Migration: the record of one move, as daemons pass it around."""

from oslo_versionedobjects import fields

from nova_lite.objects import base


@base.Registry.register
class Migration(base.Object):
    """A move. Its uuid is also the consumer of the source's allocation, and the saga's.

    memory_* and disk_* are bytes
    """

    # 1.0: first version
    VERSION = '1.0'
    fields = {
        'id': fields.IntegerField(),
        'uuid': fields.UUIDField(),
        'instance_uuid': fields.UUIDField(),
        'migration_type': fields.StringField(),
        'status': fields.StringField(),
        'source_compute': fields.StringField(nullable=True),
        'source_node': fields.StringField(nullable=True),
        'dest_compute': fields.StringField(nullable=True),
        'dest_node': fields.StringField(nullable=True),
        'dest_host': fields.StringField(nullable=True),
        'old_instance_type_id': fields.IntegerField(nullable=True),
        'new_instance_type_id': fields.IntegerField(nullable=True),
        'hidden': fields.BooleanField(),
        'cross_cell_move': fields.BooleanField(),
        'user_id': fields.StringField(nullable=True),
        'project_id': fields.StringField(nullable=True),
        'memory_total': fields.IntegerField(nullable=True),
        'memory_processed': fields.IntegerField(nullable=True),
        'memory_remaining': fields.IntegerField(nullable=True),
        'disk_total': fields.IntegerField(nullable=True),
        'disk_processed': fields.IntegerField(nullable=True),
        'disk_remaining': fields.IntegerField(nullable=True),
    }
