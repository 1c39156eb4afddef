"""Records of the ports of servers.

In nova they belong to a cache, not to the server: a change does not set the server's time of
update, by which users list servers.

A saga or a build writes at its end ports that it has read earlier from the network service. The API
may have changed the security groups of a port since: each such change gives the port's entry a
higher `groups_version`, and `merged` keeps the groups with the higher version.
"""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite.db import rows
from nova_lite.db.cell import instances
from nova_lite.dialects import execute
from nova_lite.dialects import writing

TABLE = instances.TABLE
_INFO = sa.select(TABLE.c.network_info).where(
    TABLE.c.uuid == sa.bindparam('uuid'), TABLE.c.deleted.is_(False), TABLE.c.hidden.is_(False)
)
# The condition of servers that were built and are not deleted.
_PAGE = (
    sa.select(TABLE.c.id, TABLE.c.uuid, TABLE.c.task_state, TABLE.c.network_info)
    .where(
        TABLE.c.id > sa.bindparam('after_id'),
        TABLE.c.deleted.is_(False),
        TABLE.c.hidden.is_(False),
        TABLE.c.launched_at.is_not(None),
    )
    .order_by(TABLE.c.id)
    .limit(sa.bindparam('most', type_=sa.Integer))
)
_PRESENT = (TABLE.c.deleted.is_(False), TABLE.c.hidden.is_(False))
_HOSTS = (
    sa.select(TABLE.c.host)
    .where(TABLE.c.host > sa.bindparam('after'), *_PRESENT)
    .distinct()
    .order_by(TABLE.c.host)
    .limit(sa.bindparam('most', type_=sa.Integer))
)
_ON_HOSTS = sa.select(TABLE.c.uuid, TABLE.c.host, TABLE.c.task_state, TABLE.c.network_info).where(
    TABLE.c.host.in_(sa.bindparam('hosts')), *_PRESENT
)
_UNCHANGED = {'updated_at': TABLE.c.updated_at}
# The columns that `instances.update` needs before the end of a build, and that `of_build` reads.
_BUILT = writing.locking(instances.FORMER.add_columns(TABLE.c.network_info, TABLE.c.build))
GROUPS, VERSION = 'security_groups', 'groups_version'
# Key of a build: entries of ports whose groups the API has changed, because the record of a server
# has no network information during the build.
OF_BUILD = 'port_groups'
Info: typing.TypeAlias = list[dict[str, typing.Any]]


def of(connection: sa.Connection, uuid: str) -> Info:
    """Return the network information of a server that is neither deleted nor hidden, or []."""
    found = execute.value(connection, _INFO, {'uuid': uuid})
    return found or []


def page(connection: sa.Connection, after_id: int, most: int) -> Sequence[rows.Row]:
    """Return id, uuid, task and network information of servers with ids greater than `after_id`."""
    return execute.every(connection, _PAGE, {'after_id': after_id, 'most': most})


def hosts_after(connection: sa.Connection, host: str, most: int) -> list[str]:
    """Return at most `most` hosts with servers, in the order of their names, after `host`."""
    return list(execute.values(connection, _HOSTS, {'after': host, 'most': most}))


def on_hosts(connection: sa.Connection, hosts: Iterable[str]) -> Sequence[rows.Row]:
    """Return uuid, host, task and network information of the servers of hosts."""
    return execute.every(connection, _ON_HOSTS, {'hosts': execute.filled(hosts)})


def merged(recorded: Info | None, info: Info) -> Info:
    """Return network information that was read before, with groups that the API changed since.

    recorded: network information of a row that this transaction has locked
    """
    known = {vif['id']: vif for vif in recorded or () if vif.get(VERSION)}
    return [_with_newer_groups(vif, known.get(vif['id'])) for vif in info]


def _with_newer_groups(
    vif: dict[str, typing.Any], recorded: dict[str, typing.Any] | None
) -> dict[str, typing.Any]:
    if recorded is None or recorded[VERSION] <= vif.get(VERSION, 0):
        return vif
    return {**vif, GROUPS: recorded[GROUPS], VERSION: recorded[VERSION]}


def lock_built(connection: sa.Connection, uuid: str) -> rows.Row | None:
    """Return the row of a server whose build ends, for `instances.update` and `of_build`."""
    return execute.first(connection, _BUILT, {'uuid': uuid})


def of_build(row: rows.Row | None, info: Info) -> Info:
    """Return `merged` information at the end of a build. row: result of `lock_built`"""
    build = (row.build if row is not None else None) or {}
    return merged(build.get(OF_BUILD), info)


def store_groups(
    connection: sa.Connection,
    row: rows.Row,
    names: Iterable[str],
    of_ports: Mapping[str, list[str]],
) -> None:
    """Store the security groups that the API has given to the ports of a server.

    row: locked by this transaction; of_ports: {id of a port: ids of its groups}
    """
    values: dict[str, typing.Any] = {GROUPS: list(names)}
    if row.network_info:
        values['network_info'] = [_changed(vif, of_ports) for vif in row.network_info]
    elif row.build:
        stored = [_changed({'id': port_id}, of_ports) for port_id in of_ports]
        values['build'] = {**row.build, OF_BUILD: stored}
    change(connection, row.uuid, values)


def _changed(
    vif: dict[str, typing.Any], of_ports: Mapping[str, list[str]]
) -> dict[str, typing.Any]:
    if vif['id'] not in of_ports:
        return vif
    return {**vif, GROUPS: of_ports[vif['id']], VERSION: vif.get(VERSION, 0) + 1}


def store(connection: sa.Connection, uuid: str, info: Info, /, **where: typing.Any) -> None:
    """Store network information of a locked row. See `change`."""
    change(connection, uuid, {'network_info': info}, **where)


def forget(connection: sa.Connection, uuid: str, port_ids: Collection[str]) -> None:
    """Remove ports that their owners have deleted from the record of a server in any state."""
    row = instances.held(connection, uuid)
    if row is not None and row.network_info:
        kept = [vif for vif in row.network_info if vif['id'] not in port_ids]
        store(connection, uuid, kept)


def renew(connection: sa.Connection, uuid: str, info: Info, /, **where: typing.Any) -> None:
    """Lock a row and store `merged` information that was read before. See `change`."""
    row = instances.held(connection, uuid)
    recorded = None if row is None else row.network_info
    store(connection, uuid, merged(recorded, info), **where)


def change(
    connection: sa.Connection, uuid: str, values: rows.Values, /, **where: typing.Any
) -> None:
    """Change columns about the ports of a server that is not deleted, but not `updated_at`.

    where: {column: value that it must have}. Raise StateChanged if no such server exists.
    """
    found = rows.change(
        connection, TABLE, values, computed=_UNCHANGED, uuid=uuid, deleted=False, **where
    )
    if not found:
        detail = f'it does not exist with {where}' if where else 'it does not exist'
        raise exception.StateChanged(what='Instance', key=uuid, detail=detail)
