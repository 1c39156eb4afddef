"""The scheduler, which selects the hosts of servers; on the top bus."""

from collections.abc import Sequence
import typing

from nova_lite import context
from nova_lite import rpc
from nova_lite.objects import request_spec
from nova_lite.objects import selection
from nova_lite.rpc import interface


class Request(typing.TypedDict):
    """Arguments of `select_destinations`. context: that of RequestContext.to_wire"""

    context: dict[str, typing.Any]
    spec: request_spec.RequestSpec
    instance_uuids: list[str]
    alternates: bool


class Answer(typing.TypedDict):
    """An answer to a Request. error: [name of the class, message, kwargs], or None"""

    selections: list[list[selection.Selection]]
    error: tuple[str, str, dict[str, typing.Any]] | None


class SchedulerAPI(rpc.Interface):
    """The interface of any number of schedulers, each of which caches data for a second at most."""

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
        claims: bool = True,
        fresh: bool = False,
    ) -> list[list[selection.Selection]]:
        """Choose and claim a host for each server, all of them or none.

        spec: RequestSpec of the first server, valid for all; spec.current_host is set for a
            server that is on a host
        beside: uuids of providers on which the servers may have allocations already. Allocations on
            other providers are those of an earlier call, whose reply was lost
        claims: False: only choose; the caller claims
        fresh: read hosts and placement for this decision, because a claim on the former choice was
            refused
        Returns [[Selection, ...], ...] in the order of instance_uuids: the claimed host, followed
        by alternates in its cell, without a claim. Raises NoValidHost, and AllocationConflict for
        the claim of an earlier call.
        """

    @rpc.call(since='1.0', timeout=interface.LONG)
    def select_each(self, ctxt: context.RequestContext, requests: list[Request]) -> list[Answer]:
        """Do `select_destinations` for each of several requests. Return an answer for each."""

    @rpc.call(since='1.0')
    def why(
        self,
        ctxt: context.RequestContext,
        instance_uuid: str,
        host: str | None = None,
        scheduler: str | None = None,
    ) -> dict[str, typing.Any]:
        """Return the last decision about a server that the scheduler has in memory.

        host: return only this host, and if placement did not offer it, the conditions of the
            request that it does not meet now
        scheduler: name of the scheduler to call; None: any
        Returns {'instance_uuid', 'request_id', 'at', 'chosen', 'alternates', 'error',
        'request_filters': [[name, text about its effect]], 'queries': [text],
        'hosts': [{'host', 'stage', 'reason', 'weight', 'weights'}], 'more': number of omitted
        hosts}.
        weights: {weigher: weight} of the best hosts, and weight: their sum; {} and None for others
        stage: 'chosen', 'alternate', 'passed', 'placement', 'claim', a filter's name, ...
        Raises DecisionNotFound if this scheduler no longer has the decision, or has not made it.
        """
