"""Signatures of the cell conductor about what servers use."""

import typing

from nova_lite import context
from nova_lite import rpc


class VolumeUsage(typing.TypedDict):
    """The counters of a volume in the guest of a server.

    since, at: when they began at zero, and the present, in seconds by the clock of the host
    """

    instance_uuid: str
    volume_id: str
    since: float
    at: float
    reads: int
    read_bytes: int
    writes: int
    write_bytes: int


class Usage:
    """Reports of hosts that are only made if an option asks for them."""

    @rpc.call(since='1.0')
    def report_volume_usage(
        self, ctxt: context.RequestContext, host: str, usage: list[VolumeUsage]
    ) -> None:
        """Record what servers of the host have read from their volumes and written to them.

        Volumes that a server does not have any more are skipped.
        """
