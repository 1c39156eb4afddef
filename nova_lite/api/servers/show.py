"""GET /servers/{server_id}."""

import typing

import sqlalchemy as sa

from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import server_access
from nova_lite.api.policies import servers as rules
from nova_lite.api.servers import partial
from nova_lite.api.servers import view
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.db.api import request_specs
from nova_lite.db.api import server_groups
from nova_lite.db.cell import instance_lists

# {server uuid: uuid of its group} and {server uuid: request spec}
FromApi: typing.TypeAlias = tuple[dict[str, str], dict[str, session.Json]]

# The microversion from which the known fields are shown while a cell is down.
PARTIAL = 69


@operation.operation(
    'GET',
    '/servers/{server_id}',
    load=False,
    faults=(403, 404),
)
def show(req: request.Request) -> operation.Result:
    """Show one server. From 2.69 on, show the known fields while its cell does not answer."""
    reader = _Reader(view.Viewer(req, show=True))
    try:
        server = server_access.load(req, req.args['server_id'], reader=reader)
    except server_access.Unreachable as error:
        if req.minor < PARTIAL:
            raise
        return _partial(req, error.mapping)
    req.authorize(rules.SHOW, server.target)
    return {'server': _view(reader.viewer, server, server.row)}


class _Reader(server_access.Reader[FromApi, instance_lists.Details]):
    """Reads other shown data together with the record of a server.

    viewer: the view.Viewer that gets the data
    """

    def __init__(self, viewer: view.Viewer) -> None:
        self.viewer = viewer

    def from_api_db(self, connection: sa.Connection, uuid: str) -> FromApi:
        """Return {server uuid: group} and {server uuid: request spec}, each empty if not shown."""
        viewer = self.viewer
        groups = server_groups.groups_of(connection, [uuid]) if viewer.with_groups else {}
        specs = request_specs.stored(connection, [uuid]) if viewer.wants_specs else {}
        return groups, specs

    def from_cell(self, connection: sa.Connection, uuid: str) -> instance_lists.Details:
        """Return the Details of one server."""
        viewer = self.viewer
        return instance_lists.details(
            connection, [uuid], viewer.columns(), tags=viewer.wants_tags, hosts=viewer.wants_hosts
        )

    def take(
        self, uuid: str, from_api_db: FromApi, from_cell: instance_lists.Details | None
    ) -> rows.Row | None:
        self.viewer.groups, self.viewer.specs = from_api_db
        if from_cell is None:
            return None
        self.viewer.take(from_cell)
        return from_cell['rows'].get(uuid)


def represent(
    req: request.Request, server: server_access.Server, *, full: bool = True
) -> session.Json:
    """Return the representation of a loaded server.

    full: include fields that only GET answers have below 2.75
    """
    reader = _Reader(view.Viewer(req, full=full, show=True))
    uuid, found = server.uuid, None
    if server.is_in_cell:
        found = server_access.read_cell(req, server.cell, server.mapping, reader.from_cell, uuid)
    row = reader.take(uuid, req.app.api_db.read(reader.from_api_db, uuid), found)
    return _view(reader.viewer, server, row or server.row)


def _view(viewer: view.Viewer, server: server_access.Server, row: rows.Row) -> session.Json:
    if not server.is_in_cell:
        viewer.tags[server.uuid] = sorted(server.build_tags)
    viewer.name_groups([row])
    return view.detail(viewer, row)


def _partial(req: request.Request, mapping: rows.Row) -> operation.Body:
    req.authorize(rules.SHOW, {'project_id': mapping.project_id, 'user_id': mapping.user_id})
    return {'server': partial.show(req, mapping)}
