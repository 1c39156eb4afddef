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
    uuid = req.args['server_id']
    try:
        server = server_access.load(req, uuid)
    except server_access.Unreachable as error:
        if req.minor < PARTIAL:
            raise
        return _partial(req, error.mapping)
    req.authorize(rules.SHOW, server.target)
    return {'server': represent(req, server)}


def represent(req, server, *, full=True):
    """Return the representation of a loaded server.

    full: also what only GET answers carry below 2.75
    """
    look = view.Look(req, full=full, show=True)
    row = server.row
    if server.cell is None:
        look.tags[server.uuid] = sorted(server.build_request.tags)
    else:
        found = server_access.read_cell(
            req,
            server.cell,
            server.mapping,
            instance_lists.details,
            [server.uuid],
            look.columns(),
            tags=look.wants_tags,
            hosts=look.wants_hosts,
        )
        look.take(found)
        row = found['rows'].get(server.uuid, row)
    if look.with_groups or look.wants_specs:
        look.groups, look.specs = req.app.api_db.read(_from_api_db, look, server.uuid)
    look.name_groups([row])
    return view.detail(look, row)


def _from_api_db(connection, look, uuid):
    groups = server_groups.groups_of(connection, [uuid]) if look.with_groups else {}
    specs = request_specs.stored(connection, [uuid]) if look.wants_specs else {}
    return groups, specs


def _partial(req, mapping):
    req.authorize(rules.SHOW, {'project_id': mapping.project_id, 'user_id': mapping.user_id})
    return {'server': partial.show(req, mapping)}
