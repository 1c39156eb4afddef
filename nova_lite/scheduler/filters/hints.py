"""Filters that act on scheduler hints of the user."""

import collections.abc
import ipaddress
import json
import operator
import typing

from nova_lite import exception
from nova_lite.scheduler import hosts
from nova_lite.scheduler import scheduling_request
from nova_lite.scheduler.filters import base


class SameHostFilter(base.Filter):
    """Hint same_host: the host has at least one of these servers."""

    once = True

    def rule(self, request: scheduling_request.Request) -> base.Refuse | None:
        if not request.hints.get('same_host'):
            return None
        wanted = request.hosts_of_hint('same_host')
        return lambda host: None if host.host in wanted else 'has none of the servers in same_host'


class DifferentHostFilter(base.Filter):
    """Hint different_host: the host has none of these servers."""

    once = True

    def rule(self, request: scheduling_request.Request) -> base.Refuse | None:
        avoided = request.hosts_of_hint('different_host')
        if not avoided:
            return None
        return lambda host: 'has a server in different_host' if host.host in avoided else None


class SimpleCIDRAffinityFilter(base.Filter):
    """Hints build_near_host_ip and cidr: the host's address is in that network."""

    once = True

    def rule(self, request: scheduling_request.Request) -> base.Refuse | None:
        near = request.hint('build_near_host_ip')
        if near is None:
            return None
        size = request.hint('cidr')
        bits = '24' if size is None else size.lstrip('/')
        try:
            network = ipaddress.ip_network(f'{near}/{bits}', strict=False)
        except ValueError as error:
            raise exception.RequestFilterFailed(reason=str(error)) from error

        def refuse(host: hosts.HostState) -> str | None:
            if host.host_ip and ipaddress.ip_address(host.host_ip) in network:
                return None
            return f'{host.host_ip} is not in {network}'

        return refuse


# {operator: function of the values after it}
Operator: typing.TypeAlias = collections.abc.Callable[[list[typing.Any]], bool]


def _all_pairs(
    function: collections.abc.Callable[[typing.Any, typing.Any], bool],
) -> Operator:
    """Return an operator that is true if `function` holds for the first value and each further."""
    return lambda values: (
        len(values) > 1 and all(function(values[0], other) for other in values[1:])
    )


OPERATORS: dict[str, Operator] = {
    '=': _all_pairs(operator.eq),
    '<': _all_pairs(operator.lt),
    '>': _all_pairs(operator.gt),
    '<=': _all_pairs(operator.le),
    '>=': _all_pairs(operator.ge),
    'in': lambda values: len(values) > 1 and values[0] in values[1:],
    'and': all,
    'or': any,
    'not': lambda values: not any(values),
}


class JsonFilter(base.Filter):
    """Hint query: an expression such as ["and", [">=", "$free_ram_mb", 1024], ...]."""

    def rule(self, request: scheduling_request.Request) -> base.Refuse | None:
        text = request.hint('query')
        if not text:
            return None
        try:
            query = json.loads(text)
        except ValueError as error:
            raise exception.RequestFilterFailed(
                reason=f'the hint query is not JSON: {error}'
            ) from error

        def refuse(host: hosts.HostState) -> str | None:
            try:
                return None if _evaluate(query, host) else f'does not satisfy {text}'
            except TypeError as error:
                return f'{text} cannot be evaluated: {error}'

        return refuse


def _evaluate(query: typing.Any, host: hosts.HostState) -> typing.Any:
    """Return the value of an expression for a host."""
    if isinstance(query, str) and query.startswith('$'):
        return _look_up(query[1:].split('.'), host)
    if not isinstance(query, list):
        return query
    if not query:
        return True
    name, *arguments = query
    if not isinstance(name, str) or name not in OPERATORS:
        raise TypeError(f'{name!r} is not an operator')
    return OPERATORS[name]([_evaluate(argument, host) for argument in arguments])


def _look_up(path: list[str], host: hosts.HostState) -> typing.Any:
    name, *inner = path
    found = getattr(host, name) if name in hosts.FACTS else host.stats.get(name)
    for name in inner:
        found = found.get(name) if isinstance(found, dict) else None
    return found
