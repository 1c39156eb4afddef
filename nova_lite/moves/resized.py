"""What confirm and revert share: a server in VERIFY_RESIZE and its migration.

The source keeps the guest as it was, the migration holds the source's allocations,
the server has its former flavor in `old_flavor`. Source: reference/nova/moves 3.1 to 3.4.
"""

from nova_lite.db.cell import migrations
from nova_lite.moves import move


class Resized(move.Move):
    """Base of the sagas that end a resize.

    arguments: 'migration_uuid'
    """

    def ends(self, connection):
        """Where both ends are: what steps must know without reading it again."""
        row = migrations.get(connection, self.migration_uuid)
        return {
            'source': {'host': row.source_compute, 'node': row.source_node},
            'dest': {'host': row.dest_compute, 'node': row.dest_node},
            'stays': row.source_compute == row.dest_compute,
            'vm_state': row.old_vm_state,
        }

    def end(self, which, step):
        """What a move method of the compute at one end is asked with.

        which: 'source' or 'dest'; step: for the key
        """
        return {
            **self.began[which],
            'instance_uuid': self.instance_uuid,
            'move': self.migration_uuid,
            'key': self.key(step),
        }

    @property
    def began(self):
        """What `ends` said when the saga began."""
        return self.data[self.steps()[0].name]
