"""The last decisions, with the reasons of refused hosts: for logs, faults and `nova-lite why`."""

import collections
import collections.abc
import dataclasses
import datetime
import typing

from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import offers
from nova_lite.scheduler import query

PLACEMENT = 'placement'
REQUEST_FILTER = 'request filter'
# {server uuid: {host: {weigher: weight}}}
Weights: typing.TypeAlias = dict[str, dict[str, dict[str, float]]]


class Refusals:
    """The reasons why hosts were refused, in order.

    of_host: {host: (stage, reason)}; a stage is the name of a filter, 'claim', or one of the stages
        of `select`. A later refusal replaces an earlier one
    """

    def __init__(self) -> None:
        self.of_host: dict[str, tuple[str, str]] = {}

    def add(self, stage: str, host: str, reason: str) -> None:
        """Record that a stage refuses a host (its name)."""
        self.of_host[host] = (stage, reason)

    def clear(self, hosts: collections.abc.Iterable[str]) -> None:
        """Drop the reasons of these hosts, which are checked again."""
        if self.of_host:
            for host in hosts:
                self.of_host.pop(host, None)

    def summary(self, total: int, offered: int) -> str:
        """Return one line for people: 'Of 4 hosts, refused by: placement 3, ComputeFilter 1.'"""
        if not total:
            return 'No host is known.'
        counts = collections.Counter({PLACEMENT: total - offered})
        counts.update(stage for stage, _reason in self.of_host.values())
        parts = [f'{stage} {count}' for stage, count in counts.items() if count]
        if not parts:
            return f'None of {total} hosts was refused.'
        return f'Of {total} host{"s" if total != 1 else ""}, refused by: {", ".join(parts)}.'


@dataclasses.dataclass
class Record:
    """A stored decision about a batch of like servers.

    notes: [(request filter, text about its effect)]; queries: the queries to placement
    wanted: the ResourceRequest; offered: uuids of the providers that placement offered
    weights: those of the best hosts; chosen: {server uuid: host}; error: reason of a failure
    filtered: whether a request filter found that no host is suitable
    """

    request_id: str
    instance_uuids: tuple[str, ...]
    at: datetime.datetime = dataclasses.field(default_factory=runtime.now)
    notes: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    queries: offers.Queries = ()
    wanted: query.ResourceRequest | None = None
    offered: frozenset[str] = frozenset()
    refusals: Refusals = dataclasses.field(default_factory=Refusals)
    weights: Weights = dataclasses.field(default_factory=dict)
    chosen: dict[str, str] = dataclasses.field(default_factory=dict)
    alternates: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    error: str | None = None
    filtered: bool = False


class Decisions:
    """The newest decision about each server. Their servers and their refusals are limited."""

    REFUSALS_PER_SERVER = 100

    def __init__(self, servers: int) -> None:
        self._servers = servers
        self._lock = runtime.Lock()
        self._records: collections.OrderedDict[str, Record] = collections.OrderedDict()
        self._refusals = 0

    def add(self, record: Record) -> None:
        """Store a decision in place of earlier decisions about its servers."""
        with self._lock:
            for uuid in record.instance_uuids:
                self._drop(uuid)
                self._records[uuid] = record
                self._refusals += len(record.refusals.of_host)
            while self._is_full():
                self._drop(next(iter(self._records)))

    def _is_full(self) -> bool:
        """Return whether there are too many servers, or too many refusals of all but the newest."""
        count = len(self._records)
        many = self._refusals > self._servers * self.REFUSALS_PER_SERVER
        return count > self._servers or (many and count > 1)

    def _drop(self, uuid: str) -> None:
        record = self._records.pop(uuid, None)
        if record is not None:
            self._refusals -= len(record.refusals.of_host)

    def get(self, uuid: str) -> Record:
        """Return the last decision about a server. Raise DecisionNotFound."""
        with self._lock:
            if uuid not in self._records:
                raise exception.DecisionNotFound(uuid=uuid)
            return self._records[uuid]
