"""Choices of hosts for different builds: those that wait for the scheduler are one call.

The scheduler decides about each request by itself, so none suffers from the refusal of another one.
"""

from collections.abc import Sequence
import functools
import typing

from nova_lite import context
from nova_lite import exception
from nova_lite.objects import request_spec
from nova_lite.objects import selection
from nova_lite.rpc.methods import scheduler as scheduler_rpc
from nova_lite.runtime import combine

# Requests of one call. All of them wait for the slowest decision.
MOST = 8

Chosen: typing.TypeAlias = list[list[selection.Selection]]


class JoinedSelections:
    """The builds of a super-conductor that need hosts. Safe to use from several threads."""

    def __init__(self, scheduler: scheduler_rpc.SchedulerAPI) -> None:
        self._scheduler = scheduler
        self._combiner: combine.Combiner[scheduler_rpc.Request, Chosen | exception.NovaLiteError]
        self._combiner = combine.Combiner(self._select_together, MOST)

    def select(
        self,
        ctxt: context.RequestContext,
        *,
        spec: request_spec.RequestSpec,
        instance_uuids: Sequence[str],
        alternates: bool,
    ) -> Chosen:
        """Choose and claim hosts, as SchedulerAPI.select_destinations.

        Requests for members of a server group wait for their group, and are not joined with others.
        """
        alone = functools.partial(
            self._scheduler.select_destinations,
            ctxt,
            spec=spec,
            instance_uuids=instance_uuids,
            alternates=alternates,
        )
        if spec.group_uuid is not None:
            return alone()
        request: scheduler_rpc.Request = {
            'context': ctxt.to_wire(),
            'spec': spec,
            'instance_uuids': list(instance_uuids),
            'alternates': alternates,
        }
        found = self._combiner.call(request, alone)
        if isinstance(found, exception.NovaLiteError):
            raise found
        return found

    def _select_together(
        self, requests: Sequence[scheduler_rpc.Request]
    ) -> list[Chosen | exception.NovaLiteError]:
        ctxt = context.RequestContext.from_wire(requests[0]['context'])
        return [
            _error(*answer['error']) if answer['error'] is not None else answer['selections']
            for answer in self._scheduler.select_each(ctxt, requests=list(requests))
        ]


def _error(kind: str, message: str, facts: dict[str, typing.Any]) -> exception.NovaLiteError:
    known = getattr(exception, kind, None)
    if known is None:
        # The error of a plugin, of which this process has no class.
        return exception.RemoteError(type=kind, value=message)
    made: exception.NovaLiteError = known(message, **facts)
    return made
