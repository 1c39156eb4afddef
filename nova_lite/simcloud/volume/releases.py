"""Protection of attachments that a server uses against deletion by users (CVE-2023-2088).

If a user detaches a volume from a running server without the compute service, the host stays
connected to an address that another volume may get. So only services, which send their own
token, may do this.
"""

from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import external_events
from nova_lite.simcloud import faults


def check(
    caller: callers.Caller, compute: external_events.Sender, rows: list[database.Row]
) -> None:
    """Raise Conflict if a server uses one of these attachments and the caller is no service.

    Call this outside of transactions, because it sends requests to the compute service.
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
