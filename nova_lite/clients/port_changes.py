"""Changes of a port that depend on what it has: no other request's change is lost by them."""

from collections.abc import Callable
import typing

from nova_lite import exception
from nova_lite.clients import items
from nova_lite.clients import session

# Each loss of the race is another change of the same port. These are rare.
ATTEMPTS = 5

# What to set, given the port; None to leave it as it is.
Change: typing.TypeAlias = Callable[[session.Json], session.Json | None]


class PortChanged(exception.Conflict):
    msg = 'Port %(port_id)s was changed by another request. Send the request again.'


def change(
    service: session.Neighbour,
    ctxt: session.Ctxt,
    port: session.Json,
    values_of: Change,
    **options: typing.Any,
) -> None:
    """Change a port, computed again from the port when another request changed it meanwhile.

    port: as it was read; options: as_user and errors, see Neighbour.call
    Raises PortNotFound, or PortChanged when it loses the race each time.
    """
    ports = items.Items(service, '/ports', missing=(exception.PortNotFound, 'port_id'))
    changed = session.raising(PortChanged, port_id=port['id'])
    errors = {412: changed, **options.pop('errors', {})}
    for attempt in range(ATTEMPTS):
        values = values_of(port)
        if values is None:
            return
        revision = port.get('revision_number')
        headers = {} if revision is None else {'If-Match': f'revision_number={revision}'}
        body = {'port': values}
        try:
            ports.call(
                ctxt, 'PUT', port['id'], json=body, headers=headers, errors=errors, **options
            )
            return
        except PortChanged:
            if attempt + 1 == ATTEMPTS:
                raise
        port = ports.call(ctxt, 'GET', port['id']).json()['port']
