"""GET /servers/{server_id}."""

from nova_lite.api import operation
from nova_lite.api import server_access
from nova_lite.api.servers import partial
from nova_lite.api.servers import view
from nova_lite.db.api import request_specs
from nova_lite.db.api import server_groups
from nova_lite.db.cell import instance_lists
from nova_lite.policies import servers as rules

# From here on the response has what is known of a server whose cell is down.
PARTIAL = 69


@operation.operation(
    'GET',
    '/servers/{server_id}',
    load=False,
    faults=(403, 404),
)
def show(req):
    """Show one server; from 2.69 on also what is known while its cell is down."""
    reader = _Reader(view.Viewer(req, show=True))
    try:
        server = server_access.load(req, req.args['server_id'], reader=reader)
    except server_access.Unreachable as error:
        if req.minor < PARTIAL:
            raise
        return _partial(req, error.mapping)
    req.authorize(rules.SHOW, server.target)
    return {'server': _view(reader.viewer, server, server.row)}


class _Reader(server_access.Reader):
    """Reads with a server's record whatever else is shown of it.

    viewer: the view.Viewer that takes it
    """

    def __init__(self, viewer):
        self.viewer = viewer

    def from_api_db(self, connection, uuid):
        """Return {server uuid: group} and {server uuid: request spec}, each if it is shown."""
        viewer = self.viewer
        groups = server_groups.groups_of(connection, [uuid]) if viewer.with_groups else {}
        specs = request_specs.stored(connection, [uuid]) if viewer.wants_specs else {}
        return groups, specs

    def from_cell(self, connection, uuid):
        """Return the Details of one server."""
        viewer = self.viewer
        return instance_lists.details(
            connection, [uuid], viewer.columns(), tags=viewer.wants_tags, hosts=viewer.wants_hosts
        )

    def take(self, uuid, from_api_db, from_cell):
        self.viewer.groups, self.viewer.specs = from_api_db
        if from_cell is None:
            return None
        self.viewer.take(from_cell)
        return from_cell['rows'].get(uuid)


def represent(req, server, *, full=True):
    """Return the representation of a loaded server.

    full: also what only GET answers carry below 2.75
    """
    reader = _Reader(view.Viewer(req, full=full, show=True))
    uuid, found = server.uuid, None
    if server.is_in_cell:
        found = server_access.read_cell(req, server.cell, server.mapping, reader.from_cell, uuid)
    row = reader.take(uuid, req.app.api_db.read(reader.from_api_db, uuid), found)
    return _view(reader.viewer, server, row or server.row)


def _view(viewer, server, row):
    if not server.is_in_cell:
        viewer.tags[server.uuid] = sorted(server.build_request.tags)
    viewer.name_groups([row])
    return view.detail(viewer, row)


def _partial(req, mapping):
    req.authorize(rules.SHOW, {'project_id': mapping.project_id, 'user_id': mapping.user_id})
    return {'server': partial.show(req, mapping)}
