"""The scheduler: which host a server goes to; on the top bus."""

from collections.abc import Sequence
import typing

from nova_lite import context
from nova_lite import rpc
from nova_lite.objects import request_spec
from nova_lite.objects import selection
from nova_lite.rpc import interface


class SchedulerAPI(rpc.Interface):
    """Any number of schedulers; each keeps what it reads for a second at most."""

    topic, version = 'scheduler', '1.0'
    server_argument = 'scheduler'

    @rpc.call(since='1.0', timeout=interface.LONG)
    def select_destinations(
        self,
        ctxt: context.RequestContext,
        spec: request_spec.RequestSpec,
        instance_uuids: Sequence[str],
        alternates: bool = True,
        beside: Sequence[str] = (),
    ) -> list[list[selection.Selection]]:
        """Choose and claim a host for each server, all of them or none.

        spec: RequestSpec of the first, for all; spec.current_host is set for a
        server that is on a host
        beside: providers (uuids) of which the servers may hold something already. What
        they hold of others is of an earlier question, whose answer was lost
        Returns [[Selection, ...], ...] in the order of instance_uuids: the host that
        was claimed, then alternates in its cell, not claimed. Raises NoValidHost, and
        AllocationConflict for such an earlier claim.
        """

    @rpc.call(since='1.0')
    def why(
        self,
        ctxt: context.RequestContext,
        instance_uuid: str,
        host: str | None = None,
        scheduler: str | None = None,
    ) -> dict[str, typing.Any]:
        """Return the last decision about a server that the scheduler has in memory.

        host: only what became of this one, with what keeps it from fulfilling the
        request now if placement did not offer it
        scheduler: the name of the one to ask; whichever takes it first if None
        Returns {'instance_uuid', 'request_id', 'at', 'chosen', 'alternates', 'error',
        'request_filters': [[name, what it did]], 'queries': [text],
        'hosts': [{'host', 'stage', 'reason', 'weight', 'weights'}], 'more': hosts left out}.
        weights: {weigher: weight}, and weight their sum, of the best hosts; else None and {}
        stage: 'chosen', 'alternate', 'passed', 'placement', 'claim', a filter's name, ...
        Raises DecisionNotFound: it was long ago, or another scheduler's.
        """
