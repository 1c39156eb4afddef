"""GET /servers/{server_id}."""

import sqlalchemy as sa

from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import server_access
from nova_lite.api.policies import servers as rules
from nova_lite.api.servers import partial
from nova_lite.api.servers import view
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import request_specs
from nova_lite.db.api import server_groups
from nova_lite.db.cell import instance_lists

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


class _Reader(server_access.Reader[instance_lists.Details]):
    """Reads other shown data together with the record of a server.

    viewer: the view.Viewer that gets the data
    """

    def __init__(self, viewer: view.Viewer) -> None:
        self.viewer = viewer
        if viewer.with_groups:
            self.more = (*self.more, server_groups.OF_MAPPING)
        if viewer.wants_specs:
            self.more = (*self.more, request_specs.OF_MAPPING)

    def from_cell(self, connection: sa.Connection, uuid: str) -> instance_lists.Details:
        """Return the Details of one server."""
        viewer = self.viewer
        return instance_lists.details(
            connection,
            [uuid],
            viewer.columns(),
            tags=viewer.wants_tags,
            down_after_s=viewer.down_after_s,
        )

    def take(self, mapping: rows.Row, from_cell: instance_lists.Details | None) -> rows.Row | None:
        uuid, viewer = mapping.instance_uuid, self.viewer
        if viewer.with_groups and mapping.group_uuid:
            viewer.groups = {uuid: mapping.group_uuid}
        if viewer.wants_specs and mapping.spec:
            viewer.specs = {uuid: mapping.spec}
        if from_cell is None:
            return None
        viewer.take(from_cell)
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
    mapping = req.app.api_db.read(instance_mappings.find, uuid, reader.more)
    row = None if mapping is None else reader.take(mapping, found)
    return _view(reader.viewer, server, row or server.row)


def _view(viewer: view.Viewer, server: server_access.Server, row: rows.Row) -> session.Json:
    if not server.is_in_cell:
        viewer.tags[server.uuid] = sorted(server.build_tags)
    viewer.name_groups([row])
    return view.detail(viewer, row)


def _partial(req: request.Request, mapping: rows.Row) -> operation.Body:
    req.authorize(rules.SHOW, {'project_id': mapping.project_id, 'user_id': mapping.user_id})
    return {'server': partial.show(req, mapping)}
