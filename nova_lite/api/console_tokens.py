"""The connection data of a console token, for the proxies to which users connect.

Source: reference/nova/api-surface 2.5.
"""

from nova_lite import cells
from nova_lite import exception
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api.policies import system as rules
from nova_lite.db import rows
from nova_lite.db.cell import console_tokens

URL = '/os-console-auth-tokens/{console_token}'
TLS_PORT_SHOWN = 99
QUERY = {'2.1': schema_parts.query({}), '2.99': schema_parts.query({}, strict=True)}


class TokenNotFound(exception.NotFound):
    msg = 'Token not found'


@operation.operation('GET', URL, until='2.30', faults=(400,))
def refuse(_req: request.Request) -> None:
    """Refuse: before 2.31 only RDP consoles could be requested, which do not exist any more."""
    raise exception.Invalid('The requested console type details are not accessible')


@operation.operation(
    'GET', URL, since='2.31', policy=rules.CONSOLE_TOKENS, query=QUERY, faults=(400, 403, 404)
)
def show(req: request.Request) -> operation.Result:
    """Show the console of a token that has not expired."""
    answers, _silent = cells.split(
        req.app.cells.scatter(console_tokens.find, req.args['console_token'])
    )
    for row in answers.values():
        if row is not None:
            return {'console': _view(req, row)}
    raise TokenNotFound()


def _view(req: request.Request, row: rows.Row) -> operation.Body:
    shown = {
        'instance_uuid': row.instance_uuid,
        'host': row.host,
        'port': row.port,
        'internal_access_path': None,
    }
    if req.minor >= TLS_PORT_SHOWN:
        # Only consoles of the type spice-direct have one.
        shown['tls_port'] = None
    return shown
