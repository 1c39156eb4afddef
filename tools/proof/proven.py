"""Operations that clients used with success, from request logs.

A log is a file of [api]request_log, named after its run of tests::

    build/requests/tempest.jsonl

The data file has the microversions of each client by operation::

    GET /servers:
      novaclient: 2.1, 2.79
"""

import collections
from collections.abc import Container
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import json
import pathlib
import re
import typing

import yaml

from nova_lite.api import microversion
from nova_lite.api import operation as operations
from tools.proof import nova

# Microversions by client.
Clients: typing.TypeAlias = Mapping[str, Iterable[microversion.Version]]
# Clients by operation.
Proven: typing.TypeAlias = Mapping[str, Clients]

LOGS = pathlib.Path('build', 'requests')
SUFFIX = '.jsonl'
PATH = nova.PATH.with_name('proven.yaml')
HEADER = """\
# Written by python -m tools.proof from the request logs of tests: which client has used which
# operation with success, at which microversions.
"""
GONE_STATUS = 410
# The document of the version is Nova's `GET /` of that version, and no operation here.
DOCUMENT, DOCUMENT_PATH = 'GET /', '/v2.1/'
# (pattern of runs, pattern of user agents, client): the first match names the sender of a request.
AGENTS = (
    ('tempest', r'python-urllib3|tempest|^$', 'Tempest'),
    ('clients-rally', r'python-novaclient', 'Rally'),
    # OpenStackClient sends the user agent of openstacksdk.
    ('clients-openstackclient', r'openstacksdk', 'OpenStackClient'),
    ('.*', r'python-novaclient', 'novaclient'),
    ('.*', r'openstacksdk', 'openstacksdk'),
)


@dataclasses.dataclass(frozen=True)
class Request:
    """A request that was answered with success."""

    operation: str
    client: str
    version: microversion.Version


def log(run: str) -> pathlib.Path:
    """Delete the request log of a run of tests. Return its path, for a new run."""
    LOGS.mkdir(parents=True, exist_ok=True)
    path = (LOGS / run).with_suffix(SUFFIX).absolute()
    path.unlink(missing_ok=True)
    return path


def read(
    paths: Iterable[pathlib.Path], registry: Iterable[operations.Operation]
) -> dict[str, dict[str, set[microversion.Version]]]:
    """Return {operation: {client: versions}} of log files. registry: all operations"""
    gone = {str(each) for each in registry if each.faults == {GONE_STATUS}}
    found: dict[str, dict[str, set[microversion.Version]]] = collections.defaultdict(
        lambda: collections.defaultdict(set)
    )
    for path in paths:
        with open(path) as lines:
            for line in lines:
                request = _request(path.name.removesuffix(SUFFIX), json.loads(line), gone)
                if request is not None:
                    found[request.operation][request.client].add(request.version)
    return found


def _request(run: str, line: Mapping[str, typing.Any], gone: Container[str]) -> Request | None:
    name, status = _name(line), line['status']
    client = _client(run, line['client'] or '')
    if name is None or client is None:
        return None
    if status != GONE_STATUS if name in gone else status >= 400:
        return None
    return Request(name, client, microversion.parse(line['microversion']))


def _name(line: Mapping[str, typing.Any]) -> str | None:
    is_document = line['method'] == 'GET' and line['path'] == DOCUMENT_PATH
    name: str | None = DOCUMENT if is_document else line['operation']
    return name


def _client(run: str, agent: str) -> str | None:
    for runs, agents, client in AGENTS:
        if re.match(runs, run) and re.match(agents, agent):
            return client
    return None


def dump(found: Proven) -> str:
    """Return the text of the data file."""
    content = {
        name: {
            client: ', '.join(map(str, sorted(versions)))
            for client, versions in sorted(clients.items())
        }
        for name, clients in sorted(found.items())
    }
    return HEADER + yaml.safe_dump(content, sort_keys=False, width=100)


def load(text: str | None = None) -> dict[str, dict[str, list[microversion.Version]]]:
    """Return {operation: {client: [version, ...]}} of a text. Default: of the data file."""
    content = yaml.safe_load(PATH.read_text() if text is None else text) or {}
    return {
        name: {
            client: [microversion.parse(each) for each in versions.split(', ')]
            for client, versions in clients.items()
        }
        for name, clients in content.items()
    }


def wrong(found: Proven, registry: Iterable[operations.Operation]) -> list[str]:
    """Return a line for each operation that does not exist, or not at a microversion."""
    by_name: dict[str, list[operations.Operation]] = collections.defaultdict(list)
    for each in registry:
        by_name[str(each)].append(each)
    lines = []
    for name, clients in found.items():
        if name == DOCUMENT:
            continue
        if name not in by_name:
            lines.append(f'{name} is not an operation')
            continue
        lines += [
            f'{name} is not offered at {version}'
            for versions in clients.values()
            for version in versions
            if not any(each.offered(version) for each in by_name[name])
        ]
    return lines
