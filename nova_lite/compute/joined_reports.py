"""Reports of a compute process to its conductor: those that wait together are one message.

Reports may be repeated. If the conductor refuses one of a message, none is recorded, and each is
sent by itself.
"""

from collections.abc import Sequence
import functools
import typing

from nova_lite import context
from nova_lite.rpc.methods import conductor as conductor_rpc
from nova_lite.runtime import combine

# Reports of one message.
MOST = 20

Ctxt: typing.TypeAlias = context.RequestContext
Report: typing.TypeAlias = tuple[Ctxt, conductor_rpc.Json]


class JoinedReports:
    """Reports that many servers make at the same time, by the names of their methods."""

    def __init__(self, conductor: conductor_rpc.ConductorAPI) -> None:
        self._conductor = conductor
        self._combiners: dict[str, combine.Combiner[Report, typing.Any]] = {
            kind: combine.Combiner(functools.partial(self._together, kind), MOST)
            for kind in conductor_rpc.TOGETHER
        }

    def build_started(self, ctxt: Ctxt, **arguments: typing.Any) -> str | bool:
        found: str | bool = self._call('build_started', ctxt, arguments)
        return found

    def build_finished(self, ctxt: Ctxt, **arguments: typing.Any) -> bool:
        found: bool = self._call('build_finished', ctxt, arguments)
        return found

    def delete_started(self, ctxt: Ctxt, **arguments: typing.Any) -> conductor_rpc.Json:
        found: conductor_rpc.Json = self._call('delete_started', ctxt, arguments)
        return found

    def instance_deleted(self, ctxt: Ctxt, **arguments: typing.Any) -> None:
        self._call('instance_deleted', ctxt, arguments)

    def _call(self, kind: str, ctxt: Ctxt, arguments: conductor_rpc.Json) -> typing.Any:
        method = getattr(self._conductor, kind)
        alone = functools.partial(method, ctxt, **arguments)
        return self._combiners[kind].call((ctxt, arguments), alone)

    def _together(self, kind: str, reports: Sequence[Report]) -> list[typing.Any] | None:
        return self._conductor.reports(
            reports[0][0],
            kind=kind,
            reports=[
                {'context': ctxt.to_wire(), 'arguments': arguments} for ctxt, arguments in reports
            ],
        )
