"""Rights to end an attachment: not a user's while the server has the volume (CVE-2023-2088).

A volume that is detached from a running server without the compute service leaves its host
connected to an address that another volume may get. Services show by their token that they
may do this.
"""

from nova_lite.simcloud import faults


def check(caller, compute, rows):
    """Raise Conflict if a server uses one of these attachments and no service asks.

    compute: events.Events or events.Silent; asked outside of transactions
    """
    if caller.vouched:
        return
    for row in rows:
        is_live = row['instance_uuid'] and row['connection_info']
        if is_live and compute.uses(row['instance_uuid'], row['volume_id'], row['id']):
            raise faults.Conflict(
                'ConflictNovaUsingAttachment: Detach volume from instance '
                f'{row["instance_uuid"]} using the Compute API'
            )
