"""GET /servers/{server_id}."""

from nova_lite.api import operation
from nova_lite.api import server_access
from nova_lite.api.servers import partial
from nova_lite.api.servers import view
from nova_lite.db.api import request_specs
from nova_lite.db.api import server_groups
from nova_lite.db.cell import instance_lists
from nova_lite.policies import servers as rules

# From here on what is known of a server whose cell is down is told.
PARTIAL = 69


@operation.operation(
    'GET',
    '/servers/{server_id}',
    load=False,
    faults=(403, 404),
)
def show(req):
    """One server; from 2.69 on also what is known while its cell is down."""
    reader = _Reader(view.Look(req, show=True))
    try:
        server = server_access.load(req, req.args['server_id'], reader=reader)
    except server_access.Unreachable as error:
        if req.minor < PARTIAL:
            raise
        return _partial(req, error.mapping)
    req.authorize(rules.SHOW, server.target)
    return {'server': _view(reader.look, server, server.row)}


class _Reader(server_access.Reader):
    """Reads with a server's record whatever else is shown of it.

    look: the view.Look that takes it
    """

    def __init__(self, look):
        self.look = look

    def from_api_db(self, connection, uuid):
        """Return {server uuid: group} and {server uuid: request spec}, each if it is shown."""
        look = self.look
        groups = server_groups.groups_of(connection, [uuid]) if look.with_groups else {}
        specs = request_specs.stored(connection, [uuid]) if look.wants_specs else {}
        return groups, specs

    def from_cell(self, connection, uuid):
        """Return the Details of one server."""
        look = self.look
        return instance_lists.details(
            connection, [uuid], look.columns(), tags=look.wants_tags, hosts=look.wants_hosts
        )

    def take(self, uuid, from_api_db, from_cell):
        self.look.groups, self.look.specs = from_api_db
        if from_cell is None:
            return None
        self.look.take(from_cell)
        return from_cell['rows'].get(uuid)


def represent(req, server, *, full=True):
    """Return the representation of a loaded server.

    full: also what only GET answers carry below 2.75
    """
    reader = _Reader(view.Look(req, full=full, show=True))
    uuid, found = server.uuid, None
    if server.cell is not None:
        found = server_access.read_cell(req, server.cell, server.mapping, reader.from_cell, uuid)
    row = reader.take(uuid, req.app.api_db.read(reader.from_api_db, uuid), found)
    return _view(reader.look, server, row or server.row)


def _view(look, server, row):
    if server.cell is None:
        look.tags[server.uuid] = sorted(server.build_request.tags)
    look.name_groups([row])
    return view.detail(look, row)


def _partial(req, mapping):
    req.authorize(rules.SHOW, {'project_id': mapping.project_id, 'user_id': mapping.user_id})
    return {'server': partial.show(req, mapping)}
