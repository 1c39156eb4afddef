"""Measure proposals to placement, each alone, over SQLite in this process.

  python -m tools.placement_proposals --rounds 5 --hosts 100

For each round and each proposal, requests are sent to the real placement without and with it. They
make hosts with 21 traits and three inventories, claim, and ask for candidates. Printed are medians
of CPU ms a request. The page contributor/proposals-to-placement describes the proposals.
"""

import argparse
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
import contextlib
import functools
import resource
import statistics
import sys
import tempfile
import typing

import requests

from nova_lite import runtime
from nova_lite.daemons.wsgi import placement
from nova_lite.dialects import execute
from nova_lite.lab.private_apis import placement_requests
from nova_lite.lab.private_apis import placement_statements
from nova_lite.lab.tuned_placement import reused
from tests.fixtures import http

HEADERS = {'X-Auth-Token': 'admin', 'OpenStack-API-Version': 'placement 1.39'}
TRAITS, CANDIDATES = 21, 30
STOCK = {'VCPU': {'total': 80}, 'MEMORY_MB': {'total': 80000}, 'DISK_GB': {'total': 8000}}
CLAIM = {'VCPU': 1, 'MEMORY_MB': 5, 'DISK_GB': 1}
KINDS = ('host', 'claim', 'candidates')
# {proposal: names of the attributes that are replaced for it}
PROPOSALS = {
    'compiled JSON schemas': ('jsonschema',),
    'one INSERT of traits': ('_add_traits_to_provider',),
    'known resource classes': ('ResourceClassCache',),
    'aliases made once': ('sa',),
    'all changes': (),
}
Figures = dict[str, float]


@contextlib.contextmanager
def changed(names: Sequence[str]) -> Iterator[None]:
    """Replace attributes of placement's modules in the context. names: of these; all if empty"""
    own = []
    changes = (
        *placement_requests.changes(reused.CompiledValidation(), reused.KnownAliases()),
        *placement_statements.changes(execute),
    )
    for owner, name, value in changes:
        if not names or name in names:
            own.append((owner, name, getattr(owner, name)))
            setattr(owner, name, value)
    try:
        yield
    finally:
        for owner, name, value in own:
            setattr(owner, name, value)


class Work:
    """Requests to placement at a URL. hosts: how many are made at a time"""

    def __init__(self, url: str, hosts: int) -> None:
        self._url, self._hosts = url, hosts
        found = self._ask('GET', '/traits?name=startswith:COMPUTE_').json()
        self._traits = found['traits'][:TRAITS]

    def measure(self) -> Figures:
        """Return the CPU ms of a request of each kind. The hosts are deleted at the end."""
        hosts = [runtime.new_uuid() for _number in range(self._hosts)]
        servers = [runtime.new_uuid() for _number in range(self._hosts)]
        given = zip(hosts, servers, strict=True)
        found = {
            'host': _cpu_ms([functools.partial(self._add, host) for host in hosts]),
            'claim': _cpu_ms([functools.partial(self._claim, *pair) for pair in given]),
            'candidates': _cpu_ms([self._candidates] * CANDIDATES),
        }
        for server in servers:
            self._ask('DELETE', f'/allocations/{server}')
        for host in hosts:
            self._ask('DELETE', f'/resource_providers/{host}')
        return found

    def _add(self, host: str) -> None:
        path = f'/resource_providers/{host}'
        self._ask('POST', '/resource_providers', {'name': host, 'uuid': host})
        for generation, (part, value) in enumerate(
            (('traits', self._traits), ('inventories', STOCK))
        ):
            body = {part: value, 'resource_provider_generation': generation}
            self._ask('PUT', f'{path}/{part}', body)

    def _claim(self, host: str, server: str) -> None:
        body = {
            'allocations': {host: {'resources': CLAIM}},
            'consumer_generation': None,
            'consumer_type': 'INSTANCE',
            'project_id': 'project',
            'user_id': 'user',
        }
        self._ask('PUT', f'/allocations/{server}', body)

    def _candidates(self) -> None:
        wanted = ','.join(f'{name}:{amount}' for name, amount in CLAIM.items())
        self._ask('GET', f'/allocation_candidates?resources={wanted}')

    def _ask(self, method: str, path: str, body: typing.Any = None) -> requests.Response:
        response = requests.request(
            method, self._url + path, json=body, headers=HEADERS, timeout=60
        )
        response.raise_for_status()
        return response


def _cpu_ms(calls: Sequence[Callable[[], None]]) -> float:
    began = _cpu_seconds()
    for call in calls:
        call()
    return 1000 * (_cpu_seconds() - began) / len(calls)


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measure(rounds: int, hosts: int) -> dict[str, list[tuple[Figures, Figures]]]:
    """Return {proposal: [(figures without it, figures with it) of a round]}."""
    found: dict[str, list[tuple[Figures, Figures]]] = {name: [] for name in PROPOSALS}
    with tempfile.TemporaryDirectory() as directory:
        app = placement.make_app(f'sqlite:///{directory}/placement', auth_strategy='noauth')
        with http.Direct({'/placement': app}) as server:
            work = Work(f'{server.url}/placement', hosts)
            # Compiles the statements.
            work.measure()
            for _round in range(rounds):
                for name, attributes in PROPOSALS.items():
                    without = work.measure()
                    with changed(attributes):
                        found[name].append((without, work.measure()))
    return found


def table(measured: dict[str, list[tuple[Figures, Figures]]]) -> str:
    """Return the medians as text: without, with, and the part that is saved."""
    lines = [' ' * 24 + ''.join(f'{kind:>24}' for kind in KINDS)]
    for name, pairs in measured.items():
        line = f'{name:24}'
        for kind in KINDS:
            without, having = (
                statistics.median(pair[index][kind] for pair in pairs) for index in (0, 1)
            )
            line += f'{without:9.1f}{having:7.1f}{100 * (1 - having / without):6.0f} %'
        lines.append(line)
    return '\n'.join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--rounds', type=int, default=5, metavar='N')
    parser.add_argument('--hosts', type=int, default=100, metavar='N')
    args = parser.parse_args(argv)
    print(table(measure(args.rounds, args.hosts)))
    return 0


if __name__ == '__main__':
    sys.exit(main())
