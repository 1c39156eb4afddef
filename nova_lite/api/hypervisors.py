"""Hypervisors, in the forms of every microversion.

Before 2.53 they go by number and have resources of their own for search and
servers; from 2.88 they lack what placement knows better, and carry their uptime.
Source: reference/nova/api-surface 2.5.
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
import json
import operator
import typing

from nova_lite import exception
from nova_lite.api import hypervisor_records
from nova_lite.api import identifiers
from nova_lite.api import operation
from nova_lite.api import paging
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api import uptimes
from nova_lite.api.policies import hosts as rules
from nova_lite.api.servers import view as server_view
from nova_lite.db.cell import services

View: typing.TypeAlias = Callable[[request.Request, hypervisor_records.Hypervisor], operation.Body]

ALL = '/os-hypervisors'
ONE = '/os-hypervisors/{hypervisor_id}'

# ---- schemas ----------------------------------------------------------------

WITH_SERVERS = {'with_servers': schema_parts.single(schema_parts.BOOLEAN)}
PATTERN = {'hypervisor_hostname_pattern': schema_parts.single(schema_parts.HOST)}
ONE_PAGE = {
    'limit': schema_parts.single(schema_parts.NUMBER),
    'marker': schema_parts.single(schema_parts.ANY_TEXT),
}
LIST_QUERY = {
    '2.1': schema_parts.query({}),
    '2.33': schema_parts.query(schema_parts.PAGE),
    '2.53': schema_parts.query({**ONE_PAGE, **PATTERN, **WITH_SERVERS}, strict=True),
}
SHOW_QUERY = {'2.1': schema_parts.query({}), '2.53': schema_parts.query(WITH_SERVERS, strict=True)}


class UnknownHypervisor(exception.NotFound):
    msg = "Hypervisor with ID '%(hypervisor_id)s' could not be found."


class NoMatch(exception.NotFound):
    msg = "No hypervisor matching '%(pattern)s' could be found."


class HostIsDown(exception.Invalid):
    msg = 'Compute service of %(host)s is unavailable at this time.'


# ---- lists ------------------------------------------------------------------


@operation.operation('GET', ALL, policy=rules.HYPERVISORS, query=LIST_QUERY, faults=(400, 403, 404))
def list_hypervisors(req: request.Request) -> operation.Result:
    """Names and states, in pages from 2.33."""
    return _list(req, _brief)


@operation.operation(
    'GET',
    f'{ALL}/detail',
    policy=rules.HYPERVISORS_DETAIL,
    query=LIST_QUERY,
    faults=(400, 403, 404),
)
def list_in_detail(req: request.Request) -> operation.Result:
    """List all hypervisors with details."""
    return _list(req, _detail, usage=req.minor < 88)


def _list(req: request.Request, view: View, usage: bool = False) -> operation.Body:
    found: Sequence[hypervisor_records.Hypervisor] = hypervisor_records.every(req, usage=usage)
    pattern = req.param('hypervisor_hostname_pattern')
    if pattern is not None:
        if 'limit' in req.params or 'marker' in req.params:
            raise exception.Invalid(
                'Paging over hypervisors with the hypervisor_hostname_pattern query '
                'parameter is not supported.'
            )
        found = _matching(found, pattern)
    marker = None
    if req.minor >= 33:
        # Markers are uuids or numbers at each microversion, unlike ids in paths.
        other = operator.attrgetter('node.id' if req.minor >= 53 else 'node.uuid')
        found, marker = paging.page(req, found, lambda each: _id(req, each), other)
    shown = [view(req, each) for each in found]
    _add_servers(req, found, shown)
    if view is _detail:
        _add_uptimes(req, found, shown)
    return paging.with_next(req, 'hypervisors', shown, marker)


def _matching(
    found: Iterable[hypervisor_records.Hypervisor], pattern: str
) -> list[hypervisor_records.Hypervisor]:
    chosen = hypervisor_records.matching(found, pattern)
    if not chosen:
        raise NoMatch(pattern=pattern)
    return chosen


# ---- one --------------------------------------------------------------------


@operation.operation(
    'GET', ONE, policy=rules.HYPERVISOR_SHOW, query=SHOW_QUERY, faults=(400, 403, 404)
)
def show(req: request.Request) -> operation.Result:
    """Show one hypervisor in detail."""
    found = [_find(req, usage=req.minor < 88)]
    shown = [_detail(req, found[0])]
    _add_servers(req, found, shown)
    _add_uptimes(req, found, shown)
    return {'hypervisor': shown[0]}


@operation.operation(
    'GET',
    f'{ONE}/uptime',
    until='2.87',
    policy=rules.HYPERVISOR_UPTIME,
    faults=(400, 403, 404, 501),
)
def show_uptime(req: request.Request) -> operation.Result:
    """Show the output of `uptime` on the host."""
    found = _find(req)
    if not services.is_up(found.service, req.conf.service_down_time):
        raise HostIsDown(host=found.node.host)
    return {'hypervisor': {**_brief(req, found), 'uptime': uptimes.ask(req, found)}}


def _find(req: request.Request, usage: bool = False) -> hypervisor_records.Hypervisor:
    given = req.args['hypervisor_id']
    if req.minor >= 53:
        found = hypervisor_records.every(req, usage=usage, uuid=identifiers.uuid(given))
    elif given.isascii() and given.isdigit():
        found = hypervisor_records.every(req, usage=usage, id=identifiers.number(given))
    else:
        found = []
    if not found:
        raise UnknownHypervisor(hypervisor_id=given)
    return found[0]  # a number may be that of nodes in several cells: the first cell's


# ---- gone by now --------------------------------------------------------------


@operation.operation(
    'GET',
    f'{ALL}/statistics',
    until='2.87',
    policy=rules.HYPERVISORS_STATISTICS,
    faults=(403,),
)
def statistics(req: request.Request) -> operation.Result:
    """Show the sums over the hypervisors whose service is enabled."""
    found = [
        each for each in hypervisor_records.every(req, usage=True) if not each.service.disabled
    ]
    sums = {name: sum(each.amounts[name] for each in found) for name in hypervisor_records.SUMS}
    return {'hypervisor_statistics': {'count': len(found), **sums}}


@operation.operation(
    'GET', f'{ONE}/search', until='2.52', policy=rules.HYPERVISOR_SEARCH, faults=(400, 403, 404)
)
def search(req: request.Request) -> operation.Result:
    """Hypervisors with this text in their name."""
    found = _matching(hypervisor_records.every(req), req.args['hypervisor_id'])
    return {'hypervisors': [_brief(req, each) for each in found]}


@operation.operation(
    'GET', f'{ONE}/servers', until='2.52', policy=rules.HYPERVISOR_SERVERS, faults=(403, 404)
)
def list_servers(req: request.Request) -> operation.Result:
    """Servers on hypervisors with this text in their name."""
    found = _matching(hypervisor_records.every(req), req.args['hypervisor_id'])
    shown = [_brief(req, each) for each in found]
    _put_servers(req, found, shown)
    return {'hypervisors': shown}


# ---- views ------------------------------------------------------------------


def _id(req: request.Request, found: hypervisor_records.Hypervisor) -> int | str:
    identifier: int | str = found.node.uuid if req.minor >= 53 else found.node.id
    return identifier


def _brief(req: request.Request, found: hypervisor_records.Hypervisor) -> operation.Body:
    up = services.is_up(found.service, req.conf.service_down_time)
    return {
        'id': _id(req, found),
        'hypervisor_hostname': found.node.hypervisor_hostname,
        'state': 'up' if up else 'down',
        'status': 'disabled' if found.service.disabled else 'enabled',
    }


def _detail(req: request.Request, found: hypervisor_records.Hypervisor) -> operation.Body:
    node, service = found.node, found.service
    shown = {
        **_brief(req, found),
        'hypervisor_type': node.hypervisor_type,
        'hypervisor_version': node.hypervisor_version,
        'host_ip': node.host_ip,
        'service': {
            'id': service.uuid if req.minor >= 53 else service.id,
            'host': service.host,
            'disabled_reason': service.disabled_reason,
        },
    }
    if req.minor < 88:
        cpu_info = node.cpu_info if req.minor >= 28 else json.dumps(node.cpu_info)
        shown.update(found.amounts, cpu_info=cpu_info)
    return shown


def _add_uptimes(
    req: request.Request,
    found: Sequence[hypervisor_records.Hypervisor],
    shown: Sequence[operation.Body],
) -> None:
    if req.minor >= 88:
        for each, uptime in zip(shown, uptimes.of(req, found), strict=True):
            each['uptime'] = uptime


def _add_servers(
    req: request.Request,
    found: Sequence[hypervisor_records.Hypervisor],
    shown: Sequence[operation.Body],
) -> None:
    wanted = req.param('with_servers')
    if wanted is not None and schema_parts.is_true(wanted):
        _put_servers(req, found, shown)


def _put_servers(
    req: request.Request,
    found: Sequence[hypervisor_records.Hypervisor],
    shown: Sequence[operation.Body],
) -> None:
    """Add the servers. Up to 2.74 hypervisors without servers have no such key."""
    grouped = hypervisor_records.servers(found)
    template = req.conf.instance_name_template
    for hypervisor, each in zip(found, shown, strict=True):
        node = hypervisor.node
        rows = grouped.get((node.host, node.hypervisor_hostname), [])
        if rows or req.minor >= 75:
            each['servers'] = [
                {'uuid': row.uuid, 'name': server_view.instance_name(template, row)} for row in rows
            ]
